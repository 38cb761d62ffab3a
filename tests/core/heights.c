#include "heights.h"
#include "support/check.h"

#include <math.h>

void height_sample_make(height_sample *s, uint64_t *seed, double roughness, double size,
                        abut_operation operation)
{
  const double phase = 6.0 * random_uniform(seed);
  for (size_t i = 0; i < HEIGHT_ROWS * HEIGHT_COLUMNS; ++i) {
    const double x = (double)(i % HEIGHT_COLUMNS) / HEIGHT_COLUMNS;
    const double y = (double)(i / HEIGHT_COLUMNS) / HEIGHT_ROWS;
    const double wave = 0.15 * sin(7.0 * x + phase) * cos(5.0 * y - phase);
    s->heights[i] = size * (wave + roughness * (random_uniform(seed) - 0.5));
  }
  s->field = (abut_height_field){.heights = s->heights,
                                 .rows = HEIGHT_ROWS,
                                 .columns = HEIGHT_COLUMNS,
                                 .size = {0.6 * size, 0.5 * size},
                                 .base = 0.7 * size,
                                 .operation = operation};
}
