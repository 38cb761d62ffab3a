/* Swept collision (CCD) of two meshes, each between two poses: the inputs of the kernel ccd_bodies
 * besides the meshes. */
#ifndef ABUT_BODY_CCD_BODIES_H
#define ABUT_BODY_CCD_BODIES_H

#include "body/ccd_mesh.h"

/* Capacity of a work-item's scratch: vertices of both meshes, and features of mesh 2 in whole
 * groups. It may exceed what two meshes need. */
typedef struct ccd_room {
  size_t vertices, plane;
} ccd_room;

ccd_room ccd_room_of(const ccd_mesh *one, const ccd_mesh *two);

/* Rejects sizes that exceed the kernels' integers. */
abut_status ccd_check_room(const ccd_room *r);

/* The scratch of all work-items that share the rows of a launch. */
typedef struct ccd_scratch {
  ccd_room room;
  size_t workers;
  buffer *reals, *ints;
} ccd_scratch;

/* Makes scratch for launches of at most `count` rows. After a failure, ccd_scratch_free frees the
 * partial result. */
abut_status ccd_scratch_make(device *d, const ccd_room *room, size_t count, ccd_scratch *out);
void ccd_scratch_free(ccd_scratch *s);

/* Settings common to all rows, as in abut_ccd_batch. */
typedef struct ccd_settings {
  double separation, keep, tolerance, centre[2][3];
  bool exact; /* times are exact to rounding; otherwise they are certified lower bounds */
} ccd_settings;

/* Uploads numbers in the device's precision, for any settings. */
abut_status ccd_numbers_upload(device *d, const double *numbers, size_t count, buffer **out);
abut_status ccd_settings_upload(device *d, const ccd_settings *s, buffer **out);

/* Rows to compute. All buffers are on the device. Results have the shapes of abut_ccd_batch. */
typedef struct ccd_rows {
  const ccd_mesh *mesh[2]; /* uploaded to the member by ccd_mesh_on */
  size_t place, count;     /* the member; number of rows */
  buffer *from[2], *to[2]; /* (count, width) poses */
  size_t width;            /* 6 or 7 */
  bool arc;
  buffer *settings;
  size_t iterations; /* limit for a window's query */
  buffer *toi, *status, *kind, *feature[2], *p[2], *n, *candidates;
  buffer *places; /* (count, 2) ints: first pair in contact, in kernels' order */
} ccd_rows;

/* Arguments of kernels that process rows: meshes, poses, settings, count. */
#define CCD_PATHS(r)                                                                               \
  ARG_BUFFER((r)->mesh[0]->ints_on[(r)->place]), ARG_BUFFER((r)->mesh[0]->numbers_on[(r)->place]), \
    ARG_BUFFER((r)->mesh[1]->ints_on[(r)->place]),                                                 \
    ARG_BUFFER((r)->mesh[1]->numbers_on[(r)->place]), ARG_BUFFER((r)->from[0]),                    \
    ARG_BUFFER((r)->to[0]), ARG_BUFFER((r)->from[1]), ARG_BUFFER((r)->to[1]), ARG_INT((r)->width), \
    ARG_INT((r)->arc), ARG_BUFFER((r)->settings), ARG_INT((r)->count)

abut_status ccd_launch(device *d, const ccd_rows *r, const ccd_scratch *s);

#endif
