/* Bounds of a grid's spline from its coefficients: the spline and its derivatives are weighted
 * means of the coefficients and of their differences. */
#ifndef ABUT_FAMILY_GRID_BOUNDS_H
#define ABUT_FAMILY_GRID_BOUNDS_H

#include <abut/body.h>

#define GRID_SLACK (1.0 + 1e-6) /* factor for the rounding of bounds */

typedef struct grid_bounds {
  double slope;      /* of the spline without corrections, where it may be nonnegative */
  double fine_slope; /* of the spline with corrections */
  double correction; /* the largest sum of corrections */
  double outward; /* least outward growth of distances in the rim's cells, to which clipping moves
                     points from outside */
  double rim_least, rim_most; /* distances there */
  double rounding;            /* rounding error of a distance; the other bounds include it */
} grid_bounds;

/* real_epsilon: precision of the spline's evaluation. The bounds include its rounding. */
grid_bounds grid_bounds_of(const abut_grid *g, double real_epsilon);

/* An upper bound on the square of the spline's gradient times the spacing, without corrections, in
 * the cell with the given first coefficient. */
double grid_cell_slope2(const abut_grid *g, const size_t cell[3]);

/* A lower bound on the spline of these 4 x 4 x 4 coefficients in their cell. */
double grid_cell_least(const double c[64]);

/* The least distance in the rim's cells, by the coefficients; must be positive. */
double grid_rim_least(const abut_grid *g);

#endif
