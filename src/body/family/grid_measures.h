/* What a grid is packed with beside its coefficients: bounds, which take longer to find than all
 * else of a body that is loaded, so that those of larger grids are kept on disk. */
#ifndef ABUT_FAMILY_GRID_MEASURES_H
#define ABUT_FAMILY_GRID_MEASURES_H

#include "body/family/grid_bounds.h"
#include "body/family/grid_near.h"

typedef struct grid_measures {
  grid_bounds bounds;
  grid_near near;
} grid_measures;

/* real_epsilon: as of grid_bounds_of. *out is empty on failure. */
abut_status grid_measure(const abut_grid *g, const grid_tree *t, double real_epsilon,
                         grid_measures *out);
void grid_measures_free(grid_measures *m);

#endif
