/* Arrays of derivatives by the shapes of both bodies, as `gradient --by shape` writes them. */
#ifndef ABUT_CLI_SHAPE_ARRAYS_H
#define ABUT_CLI_SHAPE_ARRAYS_H

#include "outputs.h"

#define SHAPE_NAMES 11 /* arrays of a body */

typedef struct shape_arrays {
  size_t rows; /* of each pose, or 0 for sums */
  size_t counts[2][SHAPE_NAMES];
  double *numbers[2][SHAPE_NAMES];
  abut_shape_gradients to[2];
} shape_arrays;

/* Room for both bodies' arrays. shape_free frees what there is, on failure, too. */
exit_code shape_room(shape_arrays *a, const scene *s, size_t rows);
void shape_free(shape_arrays *a);

/* Adds those that have numbers, as a_NAME and b_NAME. */
void shape_add(const shape_arrays *a, outputs *l);

/* The largest number of all. */
double shape_largest(const shape_arrays *a);

#endif
