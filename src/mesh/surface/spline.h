/* This is a cubic B-spline with finer blocks over parts of it, as abut_grid describes, while it is
 * made.
 *
 * Coefficients are float from the beginning: what is left to finer levels is what the rounded ones
 * leave. */
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
  spline_level levels[SPLINE_LEVELS + 1]; /* from 1 */
  size_t level_count;
} spline;

/* Makes room for coarse coefficients, all 0, and no blocks. */
abut_status spline_create(spline *s, const size_t size[3], const double origin[3], double spacing);
void spline_free(spline *s);

/* Makes the coarse spline of values (size) at its nodes. */
void spline_fit(spline *s, const double *values);

/* Returns the spacing of a level; 0 is the coarse one. */
double spline_spacing(const spline *s, size_t level);

/* Returns a block's number on a level, -1 where there is none. */
int32_t spline_find(const spline *s, size_t level, const int32_t at[3]);

/* Adds an empty block to the last level or the one behind it; its parent is there. */
abut_status spline_add(spline *s, size_t level, const int32_t at[3]);

/* Makes the last level's coefficients of values (count, 8, 8, 8), what is missing at its nodes. */
abut_status spline_fit_level(spline *s, const double *values);

/* Returns the spline's value by the coarse grid and the first `levels` levels. x lies in the grid,
 * at least a cell from its ends. */
double spline_value(const spline *s, const double x[3], size_t levels);

#endif
