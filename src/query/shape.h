/* Convex shapes on the host, and lists of them in the kernels' layout (cl/geometry/shape.h). */
#ifndef ABUT_QUERY_SHAPE_H
#define ABUT_QUERY_SHAPE_H

#include "base/reals.h"
#include "engine/device/context.h"
#include "geometry/shape.h"
#include <abut/closest.h>

/* A shape. It never changes after its creation. */
typedef struct shape {
  owned base;
  context *context;
  abut_shape_info info;
  int head[SHAPE_INTS]; /* without positions, which belong to a list */
  int *rings; /* (ring_ints) of hulls and boxes: SHAPE_COUNT + 1 positions, relative to its own
                 start, then the neighbours; else NULL */
  size_t ring_ints;
  double record[SHAPE_REALS];
  double *planes;   /* (3, SHAPE_PADDED) of hulls and boxes, relative to the middle of their box */
  double *vertices; /* (info.vertices, 3) as given */
  size_t lists;     /* number of lists that contain it */
} shape;

/* Makes a shape in a context whose lock the caller holds. Errors: those of abut_create_shape. */
abut_status shape_create(context *c, const abut_shape_def *def, abut_shape *out);

/* Returns the shape of a handle, or NULL with an error text. */
shape *shape_get(abut_shape s);

/* A packed list of shapes of one context. `ints` has the heads, then the rings. `numbers` has the
 * records, then the vertices; each shape's vertices start at a multiple of SHAPE_PAD. */
typedef struct shape_list {
  owned base;
  context *context;
  abut_shape *shapes; /* (count) */
  size_t count;
  uint64_t used; /* time of the last use, as a counter */
  size_t holds;  /* number of calls in progress that use it */
  int *ints;
  size_t ints_count;
  reals numbers;
  size_t vertices_most;     /* largest number for one shape; 0 without hulls and boxes */
  double rates[2][MEMBERS]; /* rows per second of queries, without and with derivatives; see
                               batch_group.rates */
  buffer *ints_on[MEMBERS]; /* by the context's members; NULL: not uploaded yet */
  buffer *numbers_on[MEMBERS];
} shape_list;

/* Returns the list of `count` shapes. The same handles in the same order give the same list,
 * already packed and on devices. A list is retained until one of its shapes is destroyed or
 * SHAPE_LISTS_MOST other lists have been used since. Errors: ABUT_ERROR_HANDLE for a null or stale
 * handle or one of another context, with its index; ABUT_ERROR_ARGUMENT for no shapes, for too
 * many, or if SHAPE_LISTS_MOST other lists are in use. */
abut_status shape_list_of(context *c, const abut_shape *shapes, size_t count, shape_list **out);

/* Between these calls a list is not freed, even if a progress function of the caller starts other
 * calls. */
void shape_list_hold(shape_list *l);
void shape_list_let_go(shape_list *l);

/* Uploads a list to a member of its context, unless it is already there. */
abut_status shape_list_on(shape_list *l, size_t place);

/* Frees the lists that contain a shape, before the shape is destroyed. */
void shape_lists_forget(const shape *s);

#endif
