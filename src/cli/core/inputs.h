/* Arrays that a command reads from an .npz besides the poses: cotangents, tangents, states. */
#ifndef ABUT_CLI_INPUTS_H
#define ABUT_CLI_INPUTS_H

#include "core/cli.h"

/* Most arrays taken from one file. */
#define INPUTS_MOST 24

/* The dimension of an array that has the rows of a batch, or one of these. */
#define SAME_FOR_ALL (-1) /* none: the array is read as a whole */
#define NOT_WANTED (-2)   /* the array is ignored */
typedef int (*inputs_axis)(const abut_array *a);

typedef struct inputs {
  const char *path;
  abut_npz npz;
  void *owned[INPUTS_MOST]; /* converted or repeated arrays */
  size_t owned_count;
  abut_array_file *file; /* npz holds only some of its rows; NULL: npz holds all */
  inputs_axis axis;
  bool last;         /* of states per row, only the last one */
  size_t all, first; /* rows of the batch, and the first of the loaded ones */
} inputs;

exit_code inputs_open(inputs *f, const char *path);
/* Opens a file that is read one block of rows at a time, for a batch of `all` rows. Arrays have
 * shapes, but no data until inputs_read_rows. */
exit_code inputs_open_rows(inputs *f, const char *path, inputs_axis axis, size_t all);
/* Loads rows first .. first + count - 1 in place of the previous ones, and common data. */
exit_code inputs_read_rows(inputs *f, size_t first, size_t count);
/* Returns the bytes per row of the batch, in the file's numbers and as reals. */
size_t inputs_row_bytes(const inputs *f);
void inputs_close(inputs *f);
/* Returns NULL if there is no array of this name. */
const abut_array *inputs_find(const inputs *f, const char *name);
/* Refuses an array that does not contain numbers, whatever its shape. */
exit_code inputs_check_type(const inputs *f, const abut_array *a);

/* Reads an array of cotangents of the given rank (2 or 3): (N, C) or (N, C, 3), finite, as reals of
 * a precision. *out is NULL if the file lacks it, and valid until inputs_close. */
exit_code inputs_cotangent(inputs *f, const char *name, uint32_t rank, size_t poses,
                           size_t contacts, abut_precision precision, const void **out);

/* Reads an array of this shape with any numbers, as reals of a precision. `what` ends the error
 * text for a different shape and explains the numbers. *out is NULL if the file lacks it, and valid
 * until inputs_close. */
exit_code inputs_numbers(inputs *f, const char *name, uint32_t rank, const size_t *shape,
                         const char *what, abut_precision precision, const void **out);

/* The same for only finite numbers. */
exit_code inputs_finite(inputs *f, const char *name, uint32_t rank, const size_t *shape,
                        const char *what, abut_precision precision, const void **out);

/* Reads tangents of both bodies' poses as (N, width) reals. In the file: `tangent1` and `tangent2`
 * of shape (N, width), or (width) for all poses, one of which may be missing and is then NULL; or
 * `tangent` of shape (2, width). */
exit_code inputs_tangents(inputs *f, size_t poses, size_t width, abut_precision precision,
                          abut_pose_tangents *out);
/* The inputs_axis of a file of tangents. */
int inputs_tangents_axis(const abut_array *a);

#endif
