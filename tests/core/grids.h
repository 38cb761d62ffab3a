/* Grids that tests share, and their fields from the definition: every coefficient times its basis
 * functions, no cell or block looked up. */
#ifndef ABUT_TESTS_GRIDS_H
#define ABUT_TESTS_GRIDS_H

#include <abut/body.h>

enum { SAMPLE_SIDE_X = 13, SAMPLE_SIDE_Y = 12, SAMPLE_SIDE_Z = 14 };
enum { SAMPLE_NODES = SAMPLE_SIDE_X * SAMPLE_SIDE_Y * SAMPLE_SIDE_Z };
enum { SAMPLE_LEVELS = 3, SAMPLE_BLOCKS = 48, SAMPLE_BLOCK = 512 };

/* An ellipsoid, nearly, about the origin, of half a metre times `size`, with random corrections on
 * `levels` levels, at most SAMPLE_LEVELS, in a random half of the blocks that there may be. It
 * points into itself. */
typedef struct grid_sample {
  abut_grid grid;
  abut_grid_level levels[SAMPLE_LEVELS];
  double coefficients[SAMPLE_NODES];
  int32_t blocks[SAMPLE_LEVELS][3 * SAMPLE_BLOCKS];
  double corrections[SAMPLE_LEVELS][SAMPLE_BLOCKS * SAMPLE_BLOCK];
} grid_sample;

void grid_sample_make(grid_sample *s, uint64_t *seed, size_t levels, double size,
                      abut_operation operation);

/* Distance and raw normal (docs/dev/spec.md, section 4). */
double grid_field(const abut_grid *g, const double x[3], double normal[3]);

#endif
