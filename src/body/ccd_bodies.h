/* How far two meshes may go between two poses each: what the kernel ccd_bodies needs beside
 * them. */
#ifndef ABUT_BODY_CCD_BODIES_H
#define ABUT_BODY_CCD_BODIES_H

#include "body/ccd_mesh.h"

/* What a work-item's scratch has room for: so many vertices of both meshes, and so many features of
 * mesh 2, in whole groups. Room for more than two meshes have does no harm. */
typedef struct ccd_room {
  size_t vertices, plane;
} ccd_room;

ccd_room ccd_room_of(const ccd_mesh *one, const ccd_mesh *two);

/* Refuses more room than kernels count. */
abut_status ccd_check_room(const ccd_room *r);

/* The scratch of all work-items that share the rows of a launch. */
typedef struct ccd_scratch {
  ccd_room room;
  size_t workers;
  buffer *reals, *ints;
} ccd_scratch;

/* Makes scratch for launches of `count` rows or fewer. Whatever is there after a failure is freed
 * by ccd_scratch_free, too. */
abut_status ccd_scratch_make(device *d, const ccd_room *room, size_t count, ccd_scratch *out);
void ccd_scratch_free(ccd_scratch *s);

/* What all rows share, as abut_ccd_batch has it. */
typedef struct ccd_settings {
  double separation, keep, tolerance, centre[2][3];
  bool exact; /* times are those at which the distance is kept, to rounding; else certified, and
                 so early */
} ccd_settings;

/* Uploads numbers in the device's precision: of any settings. */
abut_status ccd_numbers_upload(device *d, const double *numbers, size_t count, buffer **out);
abut_status ccd_settings_upload(device *d, const ccd_settings *s, buffer **out);

/* Rows to be computed. All buffers lie on the device; answers are written in the shapes of
 * abut_ccd_batch. */
typedef struct ccd_rows {
  const ccd_mesh *mesh[2]; /* which ccd_mesh_on has brought to the member */
  size_t place, count;     /* the member; how many rows */
  buffer *from[2], *to[2]; /* (count, width) poses */
  size_t width;            /* 6 or 7 */
  bool arc;
  buffer *settings;
  size_t iterations; /* of a window's query at most */
  buffer *toi, *status, *kind, *feature[2], *p[2], *n, *candidates;
  buffer *places; /* (count, 2) ints: the first pair to touch, as kernels sort features */
} ccd_rows;

/* Arguments of kernels that go through rows: meshes, poses, settings, count. */
#define CCD_PATHS(r)                                                                               \
  ARG_BUFFER((r)->mesh[0]->ints_on[(r)->place]), ARG_BUFFER((r)->mesh[0]->numbers_on[(r)->place]), \
    ARG_BUFFER((r)->mesh[1]->ints_on[(r)->place]),                                                 \
    ARG_BUFFER((r)->mesh[1]->numbers_on[(r)->place]), ARG_BUFFER((r)->from[0]),                    \
    ARG_BUFFER((r)->to[0]), ARG_BUFFER((r)->from[1]), ARG_BUFFER((r)->to[1]), ARG_INT((r)->width), \
    ARG_INT((r)->arc), ARG_BUFFER((r)->settings), ARG_INT((r)->count)

abut_status ccd_launch(device *d, const ccd_rows *r, const ccd_scratch *s);

#endif
