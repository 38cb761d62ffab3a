/* Arrays that a command reads from an .npz beside the poses: cotangents, tangents, states. */
#ifndef ABUT_CLI_INPUTS_H
#define ABUT_CLI_INPUTS_H

#include "core/cli.h"

/* Most arrays that are taken from one file. */
#define INPUTS_MOST 24

/* Which dimension of an array has the rows of a batch, or one of these. */
#define SAME_FOR_ALL (-1) /* it has none, and is taken whole */
#define NOT_WANTED (-2)   /* it is not looked at */
typedef int (*inputs_axis)(const abut_array *a);

typedef struct inputs {
  const char *path;
  abut_npz npz;
  void *owned[INPUTS_MOST]; /* what was converted or repeated */
  size_t owned_count;
  abut_array_file *file; /* of which npz has some rows alone; NULL: npz has all of it */
  inputs_axis axis;
  bool last;         /* of states of rows, the last one alone */
  size_t all, first; /* rows of the batch, and the first of those that are here */
} inputs;

exit_code inputs_open(inputs *f, const char *path);
/* Opens a file of which the rows of a block are read at a time, of a batch of so many. Arrays have
 * shapes, and no data before inputs_read_rows. */
exit_code inputs_open_rows(inputs *f, const char *path, inputs_axis axis, size_t all);
/* Rows first .. first + count - 1 in place of those before, and what is the same for all. */
exit_code inputs_read_rows(inputs *f, size_t first, size_t count);
/* Bytes that a row of the batch takes among them, in the file's numbers and as reals. */
size_t inputs_row_bytes(const inputs *f);
void inputs_close(inputs *f);
/* NULL where there is none of this name. */
const abut_array *inputs_find(const inputs *f, const char *name);
/* Refuses an array that does not hold numbers, whatever its shape. */
exit_code inputs_check_type(const inputs *f, const abut_array *a);

/* An array of cotangents of the given rank (2 or 3): (N, C) or (N, C, 3), finite, as reals of a
 * precision. *out is NULL where the file lacks it, and valid until inputs_close. */
exit_code inputs_cotangent(inputs *f, const char *name, uint32_t rank, size_t poses,
                           size_t contacts, abut_precision precision, const void **out);

/* An array of this shape, whatever its numbers, as reals of a precision. The ending of the report
 * of another shape says what the numbers are. *out is NULL where the file lacks it, and valid until
 * inputs_close. */
exit_code inputs_numbers(inputs *f, const char *name, uint32_t rank, const size_t *shape,
                         const char *what, abut_precision precision, const void **out);

/* The same of finite numbers alone. */
exit_code inputs_finite(inputs *f, const char *name, uint32_t rank, const size_t *shape,
                        const char *what, abut_precision precision, const void **out);

/* Tangents of both bodies' poses, (N, width) reals: `tangent1` and `tangent2` of shape (N, width)
 * or (width), the same for all poses, of which one may be missing and is then NULL; or `tangent` of
 * shape (2, width). */
exit_code inputs_tangents(inputs *f, size_t poses, size_t width, abut_precision precision,
                          abut_pose_tangents *out);
/* The inputs_axis of a file of them. */
int inputs_tangents_axis(const abut_array *a);

#endif
