/* Arrays of derivatives with respect to the shapes of both bodies, as written by `gradient --by
 * shape` and read by `jvp --by shape`. */
#ifndef ABUT_CLI_SHAPE_ARRAYS_H
#define ABUT_CLI_SHAPE_ARRAYS_H

#include "core/inputs.h"
#include "core/outputs.h"

#define SHAPE_NAMES 18 /* arrays per body */

typedef struct shape_arrays {
  size_t rows; /* number of poses, or 0 for sums */
  size_t counts[2][SHAPE_NAMES];
  double *numbers[2][SHAPE_NAMES];
  abut_shape_gradients to[2];
} shape_arrays;

/* Allocates both bodies' arrays. shape_free frees them, after a failure too. */
exit_code shape_room(shape_arrays *a, const session *s, size_t rows);
void shape_free(shape_arrays *a);

/* Adds the arrays that are not empty, as a_NAME and b_NAME. */
void shape_add(const shape_arrays *a, outputs *l);

/* Reads a direction of both bodies' numbers: all arrays with these names, with one row for each of
 * `rows` poses, or with rows 0 one for all. to[i] are valid until inputs_close. *found is set if
 * there were any. */
exit_code shape_read(inputs *f, const session *s, size_t rows, abut_shape_tangents to[2],
                     bool *found);

/* Returns whether this is the name of a direction's array. */
bool shape_is_name(const char *name);

/* Returns the largest magnitude of all numbers. */
double shape_largest(const shape_arrays *a);

#endif
