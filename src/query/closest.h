/* Closest points of convex shapes, as an operation of the engine: an element is a row. */
#ifndef ABUT_QUERY_CLOSEST_H
#define ABUT_QUERY_CLOSEST_H

#include "engine/batch/batch.h"
#include "query/shape.h"
#include <abut/closest.h>

/* Polytopes and marks of vertices may each use 1 / CLOSEST_SCRATCH_SHARES of a device's scratch
 * memory per slot. */
#define CLOSEST_SCRATCH_SHARES 4

/* Buffers of buffer pool 0: first those with arrays of the caller. */
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
  CLOSEST_BUFFERS /* the following ones are for derivatives */
};

typedef struct closest_call {
  batch_call base;
  abut_closest_batch *batch;
  shape_list *list;
  double tolerance;
  size_t iterations, corners;
  size_t width;    /* numbers per pose */
  uint8_t *status; /* the caller's array, or our own */
  uint8_t *own;
  bool curved; /* some shape is curved */
  bool solved; /* answers are inputs and not computed */
  size_t unsettled, rejected;
  const abut_closest_smoothing *smoothing; /* or NULL */
} closest_call;

/* The data of a call on a device. */
typedef struct closest_on {
  buffer *one, *two; /* the shapes of all rows, if rows have none of their own */
  buffer *reals[DEVICE_SLOTS], *places[DEVICE_SLOTS]; /* for polytopes */
  size_t workers;  /* number of work-items with room for polytopes */
  buffer *marks;   /* of vertices, for each work-item that chooses them; only for derivatives */
  size_t choosers; /* number of these work-items */
} closest_on;

/* Sets up a call and adds its arrays: inputs and, unless they are inputs too, answers. */
abut_status closest_start(closest_call *c, abut_context handle_, abut_closest_batch *batch,
                          const operation *o, const abut_closest_smoothing *smoothing);

/* Adds an array of reals in the same kind of memory as the batch's arrays. */
void closest_add(closest_call *c, const char *name, size_t id, size_t width, const void *in,
                 void *out);
void closest_add_input(closest_call *c, const char *name, size_t id, size_t width,
                       const void *in); /* NULL: zeros */

/* Adds an array of integers of `size` bytes in host memory. */
void closest_add_integers(closest_call *c, const char *name, size_t id, size_t width, size_t size,
                          const void *in, void *out);

/* Runs a call that was set up, counts the outcomes of its rows, and frees its own memory. */
abut_status closest_run(closest_call *c);
void closest_end(closest_call *c);

/* Solves rows for the batch's own poses, unless that is already done. on->user is a closest_on. */
extern const operation closest_operation;

/* Returns the number of work-items that share a chunk's rows if each has `bytes` of scratch memory:
 * enough to occupy a CPU; on other devices as many as the scratch memory allows. */
size_t closest_workers(const device *d, size_t bytes, size_t rows);

/* Solves a chunk's rows for poses of `width` numbers in the given buffers. */
typedef struct closest_query {
  buffer *pose1, *pose2, *warm; /* warm may be NULL */
  buffer *d, *n, *p1, *p2, *gap, *status, *iterations, *simplex;
  double cutoff;
} closest_query;
abut_status closest_launch_query(batch_on *on, size_t slot, chunk c, const closest_query *q,
                                 size_t width);

#endif
