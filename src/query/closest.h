/* Closest points of convex shapes, as an operation of the engine: an element is a row of the
 * batch. */
#ifndef ABUT_QUERY_CLOSEST_H
#define ABUT_QUERY_CLOSEST_H

#include "engine/batch/batch.h"
#include "query/shape.h"
#include <abut/closest.h>

/* Polytopes and marks of vertices may take such a part each, of each slot, of a device's
 * scratch. */
#define CLOSEST_SCRATCH_SHARES 4

/* Buffers of buffer pool 0: first what the caller has arrays for. */
enum {
  CLOSEST_ONE,
  CLOSEST_TWO,
  CLOSEST_POSE_1,
  CLOSEST_POSE_2,
  CLOSEST_WARM,
  CLOSEST_D,
  CLOSEST_N,
  CLOSEST_P1,
  CLOSEST_P2,
  CLOSEST_GAP,
  CLOSEST_STATUS,
  CLOSEST_ITERATIONS,
  CLOSEST_SIMPLEX,
  CLOSEST_BUFFERS /* from here on those of derivatives */
};

typedef struct closest_call {
  batch_call base;
  abut_closest_batch *batch;
  shape_list *list;
  double tolerance;
  size_t iterations, corners;
  size_t width;    /* numbers of a pose */
  uint8_t *status; /* the caller's, or our own */
  uint8_t *own;
  bool curved; /* some shape is */
  bool solved; /* answers are read instead of computed */
  size_t unsettled, rejected;
  const abut_closest_smoothing *smoothing; /* or NULL */
} closest_call;

/* What a call keeps on a device. */
typedef struct closest_on {
  buffer *one, *two; /* the shapes of all rows, where rows have none of their own */
  buffer *reals[DEVICE_SLOTS], *places[DEVICE_SLOTS]; /* of polytopes */
  size_t workers;                                     /* how many of these there are room for */
  buffer *marks;   /* of vertices, for each work-item that chooses them; of derivatives alone */
  size_t choosers; /* how many these are */
} closest_on;

/* Sets up a call, and adds its arrays: inputs and, unless they are read, answers. */
abut_status closest_start(closest_call *c, abut_context handle_, abut_closest_batch *batch,
                          const operation *o, const abut_closest_smoothing *smoothing);

/* Adds an array of reals that lies where the batch's do. */
void closest_add(closest_call *c, const char *name, size_t id, size_t width, const void *in,
                 void *out);
void closest_add_input(closest_call *c, const char *name, size_t id, size_t width,
                       const void *in); /* NULL: zeros */

/* The same of integers, which lie in host memory, of `size` bytes. */
void closest_add_integers(closest_call *c, const char *name, size_t id, size_t width, size_t size,
                          const void *in, void *out);

/* Runs a call that was set up, counts what became of its rows, and frees what is its own. */
abut_status closest_run(closest_call *c);
void closest_end(closest_call *c);

/* Solves rows for the batch's own poses, unless they are solved already. on->user is a
 * closest_on. */
extern const operation closest_operation;

/* How many work-items share a chunk's rows where each has `bytes` of scratch of its own: as many as
 * keep a CPU busy, and on others as the scratch holds. */
size_t closest_workers(const device *d, size_t bytes, size_t rows);

/* Solves a chunk's rows for poses, of `width` numbers, that lie in the given buffers. */
typedef struct closest_query {
  buffer *pose1, *pose2, *warm; /* warm: or NULL */
  buffer *d, *n, *p1, *p2, *gap, *status, *iterations, *simplex;
  double cutoff;
} closest_query;
abut_status closest_launch_query(batch_on *on, size_t slot, chunk c, const closest_query *q,
                                 size_t width);

#endif
