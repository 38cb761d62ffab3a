/* Derivatives with respect to a grid's coefficients: each value of the spline depends on 64 of each
 * level. */
#ifndef ABUT_FAMILY_GRID_SLOPES_H
#define ABUT_FAMILY_GRID_SLOPES_H

#include "base/reals.h"
#include <abut/body.h>

/* Returns the number of a grid's coefficients, including those of its blocks. */
size_t grid_coefficient_count(const abut_grid *g);

/* Adds the derivatives at one point to `sum`, which has one number per packed number of the grid.
 * first: index of the grid's record in `shape`. levels: levels of corrections. u: the clipped
 * point, in cells. bar, slope_bar, curve_bar: cotangents of the spline and of its first and second
 * derivatives with respect to u. The latter are ordered xx, yy, zz, xy, xz, yz; mixed ones include
 * their symmetric counterparts. */
void grid_add_slopes(const reals *shape, size_t first, size_t levels, const double u[3], double bar,
                     const double slope_bar[3], const double curve_bar[6], double *sum);

/* Writes these derivatives with respect to each coefficient: first the grid's, then those of each
 * level's blocks. Coefficients that must be 0 get 0. Only the sizes and blocks of the grid are
 * read. */
abut_status grid_slopes_write(const abut_grid *g, const double *sum, double *to);

/* Writes changes of these coefficients in the order of the packed grid; NULL stands for no change.
 * Coefficients that must be 0 do not change. */
abut_status grid_moves_pack(const abut_grid *g, const double *by, double *packed);

#endif
