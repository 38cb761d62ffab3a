/* Bounds of a grid's spline, of its coefficients: the spline and its derivatives lie among weighted
 * means of them and of their differences. */
#ifndef ABUT_FAMILY_GRID_BOUNDS_H
#define ABUT_FAMILY_GRID_BOUNDS_H

#include <abut/body.h>

#define GRID_SLACK (1.0 + 1e-6) /* of what bounds round */

typedef struct grid_bounds {
  double slope;      /* of the spline without corrections, where it may not be negative */
  double fine_slope; /* with them */
  double correction; /* the largest of their sums */
  double outward;    /* how fast distances rise outwards, at least, in the cells of the rim: those
                        in which clipped points lie that clipping moved */
  double rim_least, rim_most; /* distances there */
  double rounding;            /* of a distance, among the others already */
} grid_bounds;

/* real_epsilon: of the precision in which the spline is to be evaluated; bounds hold beside its
 * rounding. */
grid_bounds grid_bounds_of(const abut_grid *g, double real_epsilon);

/* Not less than the square of the gradient of the spline without corrections, times the spacing,
 * anywhere in the cell whose first coefficient is given. */
double grid_cell_slope2(const abut_grid *g, const size_t cell[3]);

/* Not more than the spline of these 4 x 4 x 4 coefficients anywhere in their cell. */
double grid_cell_least(const double c[64]);

/* The least distance in the rim's cells, by the coefficients; it must be above 0. */
double grid_rim_least(const abut_grid *g);

#endif
