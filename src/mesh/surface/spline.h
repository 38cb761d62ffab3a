/* A cubic B-spline with finer blocks over parts of it, as described for abut_grid, during
 * construction. Coefficients are float from the start, so finer levels also correct the rounding of
 * coarser ones. */
#ifndef ABUT_SURFACE_SPLINE_H
#define ABUT_SURFACE_SPLINE_H

#include <abut/body.h>

#define SPLINE_LEVELS 8
#define BLOCK_NODES (ABUT_GRID_BLOCK * ABUT_GRID_BLOCK * ABUT_GRID_BLOCK)
#define BLOCK_REACH (ABUT_GRID_BLOCK + 3) /* nodes -1 to 9, which its cells read */

typedef struct spline_block {
  int32_t at[3];
  int32_t child[8]; /* blocks of the next level, by octant; -1: none */
  float node[BLOCK_REACH * BLOCK_REACH * BLOCK_REACH];
} spline_block;

typedef struct spline_level {
  spline_block *blocks;
  size_t count, room;
} spline_level;

typedef struct spline {
  size_t size[3];
  double origin[3], spacing;
  float *coarse;
  int32_t *map; /* blocks of level 1 over the coarse grid; -1: none */
  size_t map_size[3];
  spline_level levels[SPLINE_LEVELS + 1]; /* index 0 is unused */
  size_t level_count;
} spline;

/* Allocates coarse coefficients, all 0, without blocks. */
abut_status spline_create(spline *s, const size_t size[3], const double origin[3], double spacing);
void spline_free(spline *s);

/* Makes the coarse spline from values (size) at its nodes. */
void spline_fit(spline *s, const double *values);

/* Returns the spacing of a level; level 0 is the coarse grid. */
double spline_spacing(const spline *s, size_t level);

/* Returns a block's index on a level, or -1. */
int32_t spline_find(const spline *s, size_t level, const int32_t at[3]);

/* Adds an empty block to the last level or a new one. Its parent must exist. */
abut_status spline_add(spline *s, size_t level, const int32_t at[3]);

/* Makes the last level's coefficients from values (count, 8, 8, 8), the remaining errors at its
 * nodes. */
abut_status spline_fit_level(spline *s, const double *values);

/* Returns the spline's value from the coarse grid and the first `levels` levels. x must be in the
 * grid, at least a cell from its ends. */
double spline_value(const spline *s, const double x[3], size_t levels);

#endif
