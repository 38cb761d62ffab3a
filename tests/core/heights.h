/* Height fields that tests share. */
#ifndef ABUT_TESTS_HEIGHTS_H
#define ABUT_TESTS_HEIGHTS_H

#include <abut/body.h>
#include <stdint.h>

enum { HEIGHT_ROWS = 11, HEIGHT_COLUMNS = 14 };

/* A random wave of half lengths 0.6 and 0.5 m times `size`, 0.15 m high or so, with noise at every
 * node, the steeper the rougher. It points into itself. */
typedef struct height_sample {
  abut_height_field field;
  double heights[HEIGHT_ROWS * HEIGHT_COLUMNS];
} height_sample;

void height_sample_make(height_sample *s, uint64_t *seed, double roughness, double size,
                        abut_operation operation);

#endif
