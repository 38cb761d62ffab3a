/* Bounds that are packed with a grid's coefficients. Computing them takes most of a body's loading
 * time, so those of large grids are cached on disk. */
#ifndef ABUT_FAMILY_GRID_MEASURES_H
#define ABUT_FAMILY_GRID_MEASURES_H

#include "body/family/grid_bounds.h"
#include "body/family/grid_near.h"

typedef struct grid_measures {
  grid_bounds bounds;
  grid_near near;
} grid_measures;

/* real_epsilon: as for grid_bounds_of. *out is empty on failure. */
abut_status grid_measure(const abut_grid *g, const grid_tree *t, double real_epsilon,
                         grid_measures *out);
void grid_measures_free(grid_measures *m);

#endif
