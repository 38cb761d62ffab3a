/* Convex shapes on the host, and lists of them as kernels read them (cl/geometry/shape.h). */
#ifndef ABUT_QUERY_SHAPE_H
#define ABUT_QUERY_SHAPE_H

#include "base/reals.h"
#include "engine/device/context.h"
#include "geometry/shape.h"
#include <abut/closest.h>

/* A shape. Nothing of it changes once it is made. */
typedef struct shape {
  owned base;
  context *context;
  abut_shape_info info;
  int head[SHAPE_INTS]; /* without places, which are a list's */
  int *rings;           /* (ring_ints) of hulls and boxes: SHAPE_COUNT + 1 places, from its own
                           beginning on, and the neighbours; else NULL */
  size_t ring_ints;
  double record[SHAPE_REALS];
  double *planes;   /* (3, SHAPE_PADDED) of hulls and boxes, from the middle of their box */
  double *vertices; /* (info.vertices, 3) as they were given */
  size_t lists;     /* that it is in */
} shape;

/* Makes a shape in a context of which the caller holds the lock. Errors: those of
 * abut_create_shape. */
abut_status shape_create(context *c, const abut_shape_def *def, abut_shape *out);

/* Returns the shape of a handle, or NULL with an error text. */
shape *shape_get(abut_shape s);

/* A list of shapes of one context, packed. First of `ints` are the heads, then the rings; first of
 * `numbers` are the records, then the vertices, each shape's from a multiple of SHAPE_PAD on. */
typedef struct shape_list {
  owned base;
  context *context;
  abut_shape *shapes; /* (count) */
  size_t count;
  uint64_t used; /* when it was last asked for: lists count up */
  size_t holds;  /* of calls that are at work with it */
  int *ints;
  size_t ints_count;
  reals numbers;
  size_t vertices_most;     /* of one shape; 0 without hulls and boxes */
  double rates[2][MEMBERS]; /* rows a second of queries, and with derivatives; see
                               batch_group.rates */
  buffer *ints_on[MEMBERS]; /* by the context's members; NULL: not there yet */
  buffer *numbers_on[MEMBERS];
} shape_list;

/* Gives the list of `count` shapes. The same handles in the same order give the same list again,
 * packed and on devices. It stays until one of its shapes is destroyed, or until SHAPE_LISTS_MOST
 * others have been asked for since. Errors: ABUT_ERROR_HANDLE for a handle that is null, stale or
 * of another context, by its index; ABUT_ERROR_ARGUMENT for no shapes, for too many, and where that
 * many other lists are held. */
abut_status shape_list_of(context *c, const abut_shape *shapes, size_t count, shape_list **out);

/* Between these a list does not go, whatever a call that the caller's progress function makes asks
 * for. */
void shape_list_hold(shape_list *l);
void shape_list_let_go(shape_list *l);

/* Brings a list to a member of its context; it is there afterwards. */
abut_status shape_list_on(shape_list *l, size_t place);

/* Ends the lists that a shape is in, which is about to go. */
void shape_lists_forget(const shape *s);

#endif
