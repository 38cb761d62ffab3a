/* Derivatives by a grid's coefficients: each place of the spline depends on 64 of each level. */
#ifndef ABUT_FAMILY_GRID_SLOPES_H
#define ABUT_FAMILY_GRID_SLOPES_H

#include "base/reals.h"
#include <abut/body.h>

/* How many coefficients a grid has, those of its blocks among them. */
size_t grid_coefficient_count(const abut_grid *g);

/* Adds what a place gives to the packed grid whose record is at real `first` of `shape`, with
 * `levels` levels of corrections, to a number for each of its packed ones. u: the clipped place, in
 * cells; bar, slope_bar, curve_bar: the cotangents of the spline there and of its first and second
 * derivatives by u, of which xy, xz and yz stand for their twins, too: xx, yy, zz, xy, xz, yz. */
void grid_add_slopes(const reals *shape, size_t first, size_t levels, const double u[3], double bar,
                     const double slope_bar[3], const double curve_bar[6], double *sum);

/* Writes these to the coefficients that they are of: of the grid, then of each level's blocks in
 * turn. Those of blocks that must be 0 get 0. Of the grid sizes and blocks are read, no
 * coefficients. */
abut_status grid_slopes_write(const abut_grid *g, const double *sum, double *to);

/* Puts changes of these coefficients, or none where `by` is NULL, in the places of a packed grid's
 * own; those that must be 0 do not change. */
abut_status grid_moves_pack(const abut_grid *g, const double *by, double *packed);

#endif
