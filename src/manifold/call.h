/* A call over a batch: its runs, what each device does with a chunk, what comes back to the
 * caller's arrays. */
#ifndef ABUT_MANIFOLD_CALL_H
#define ABUT_MANIFOLD_CALL_H

#include "manifold/compact_list.h"
#include "manifold/run.h"
#include "schedule/schedule.h"

typedef struct call call;

/* A call at work on one device: its runs in each slot, and room for what is scattered. */
typedef struct call_on {
  const call *call;
  run runs[DEVICE_SLOTS][2];
  int *status;    /* (chunk) */
  double *values; /* rows of reductions */
  void *zeros;    /* (chunk, P) */
  size_t room;    /* poses in these */
  double computed; /* when what the call's own `collect` launched had ended, by now(); or 0 */
  piece *piece;   /* the chunk's part of the compact list, while it is read */
} call_on;

/* What a call does with a chunk beside its values: bring up, launch, read. */
typedef abut_status (*call_step)(call_on *on, size_t slot, chunk c);

/* A call. The first run gives the values, the last one the derivatives; they are the same run
 * unless these have a smoothing, or a program, of their own. */
struct call {
  run runs[2]; /* not on any device yet */
  int run_count;
  context *context;
  abut_batch *batch;
  size_t real_bytes;
  call_step upload, launch, collect; /* or NULL */
  const void *user;
  const void *along[2]; /* tangents of the poses for a run on duals; NULL: zero */
  compact_list *list;   /* where the batch wants one */
  pthread_mutex_t *lock; /* of what devices add to the batch: `rejected`, the list */
};

/* Checks a batch and sets up a call with one run of the pair, on plain numbers, of the batch's own
 * outputs. */
abut_status call_start(call *c, abut_pair pair, abut_batch *batch);

/* Adds a run of its own for derivatives: another pair of the same bodies, or other program. */
abut_status call_add_run(call *c, abut_pair pair, program_id program);

run *values_run(call *c);
run *derivatives_run(call *c);

/* The same of a device's slot. */
run *values_on(call_on *on, size_t slot);
run *derivatives_on(call_on *on, size_t slot);

/* Refuses an array in the caller's OpenCL memory that is none or too short. An array of NULL, or of
 * the host, is right. */
abut_status check_array(const call *c, const void *array, size_t width, const char *what);

/* Runs all chunks on all devices. */
abut_status call_finish(call *c);

/* Brings `c.count` rows of `width` reals of the caller's array to a run's scratch. */
abut_status put_rows(run *r, scratch_id id, const void *array, chunk c, size_t width);

/* Brings rows of `width` reals back to the caller's array, if it is there. part: 0 values, 1
 * derivatives of a run on duals. */
abut_status get_rows(const run *r, scratch_id id, int part, void *array, chunk c, size_t width);

#endif
