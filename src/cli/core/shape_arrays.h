/* Arrays of derivatives by the shapes of both bodies, as `gradient --by shape` writes them and `jvp
 * --by shape` reads them. */
#ifndef ABUT_CLI_SHAPE_ARRAYS_H
#define ABUT_CLI_SHAPE_ARRAYS_H

#include "core/inputs.h"
#include "core/outputs.h"

#define SHAPE_NAMES 18 /* arrays of a body */

typedef struct shape_arrays {
  size_t rows; /* of each pose, or 0 for sums */
  size_t counts[2][SHAPE_NAMES];
  double *numbers[2][SHAPE_NAMES];
  abut_shape_gradients to[2];
} shape_arrays;

/* Room for both bodies' arrays. shape_free frees what there is, on failure, too. */
exit_code shape_room(shape_arrays *a, const session *s, size_t rows);
void shape_free(shape_arrays *a);

/* Adds those that have numbers, as a_NAME and b_NAME. */
void shape_add(const shape_arrays *a, outputs *l);

/* Reads a direction of both bodies' numbers: what arrays of these names there are, with a row for
 * each of `rows` poses, or for all, 0. to[i] are valid until inputs_close. *found says whether
 * there was any. */
exit_code shape_read(inputs *f, const session *s, size_t rows, abut_shape_tangents to[2],
                     bool *found);

/* Tells whether a direction's array has this name. */
bool shape_is_name(const char *name);

/* The largest number of all. */
double shape_largest(const shape_arrays *a);

#endif
