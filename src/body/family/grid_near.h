/* Bounds of a grid's spline around each cell of its map, tighter than the global ones. */
#ifndef ABUT_FAMILY_GRID_NEAR_H
#define ABUT_FAMILY_GRID_NEAR_H

#include "body/family/grid_tree.h"

/* Bounds for each cell of the map and its surroundings. */
typedef struct grid_near {
  double reach;       /* within this distance of any point in the cell [m] */
  double *slope;      /* like grid_bounds.slope, in cells where distances may be above 0 */
  double *correction; /* like grid_bounds.correction */
} grid_near;

abut_status grid_near_create(const abut_grid *g, const grid_tree *t, grid_near *out);
void grid_near_free(grid_near *n);

#endif
