/* A call over a batch of poses: contacts and what is derived from them, as an operation of the
 * engine. Each of its runs has a buffer pool of its own. */
#ifndef ABUT_MANIFOLD_CALL_H
#define ABUT_MANIFOLD_CALL_H

#include "batch/batch.h"
#include "batch/order.h"
#include "manifold/compact_list.h"
#include "manifold/mixed.h"
#include "manifold/outputs.h"
#include "manifold/run.h"
#include <abut/derivatives.h>

typedef struct call call;

/* A call at work on one device: its runs in each slot, and room for what is scattered. */
typedef struct call_on {
  const call *call;
  batch_on *batch;
  run runs[DEVICE_SLOTS][BUFFER_POOLS];
  int *status;    /* (chunk) */
  double *values; /* rows of reductions */
  size_t room;    /* poses in these */
  size_t rejected; /* of the chunk */
  piece *piece;   /* the chunk's part of the compact list, while it is read */
} call_on;

/* What a call does with a chunk beside its values: bring up, launch, read. */
typedef abut_status (*call_step)(call_on *on, size_t slot, chunk c);

/* A call. The first run gives the values, the last one the derivatives; they are the same run
 * unless these have a smoothing, or a program, of their own. */
struct call {
  batch_call base;
  run runs[BUFFER_POOLS]; /* not on any device yet; of several pairs, the first one's */
  const abut_pair *lists[BUFFER_POOLS]; /* each run's pairs of a batch of several, or NULL */
  batch_order order;             /* of their entries, while the call is at work */
  size_t contacts;               /* that a row of the caller's has */
  int run_count;
  abut_batch *batch;
  size_t real_bytes;
  call_step upload, launch, collect; /* or NULL */
  const void *user;
  const abut_pose_tangents *along; /* of the poses, for a run on duals; NULL: zero */
  compact_list list;               /* where the batch wants one */
};

/* The pair that says which context a call is for: the argument, or the first one of a batch of
 * several pairs. The batch may be anything. */
const abut_pair *call_owner(const abut_pair *handle_, const abut_batch *batch);

/* Checks a batch and sets up a call with one run of the pair, on plain numbers, of the batch's own
 * outputs. */
abut_status call_start(call *c, abut_pair pair, abut_batch *batch);

/* Adds a run of its own for derivatives: another pair of the same bodies, or other program. Of a
 * batch of several pairs, one for each of its list, which stay the caller's. */
abut_status call_add_run(call *c, const abut_pair *pairs, program_id program);

static inline run *values_run(call *c)
{
  return &c->runs[0];
}

static inline run *derivatives_run(call *c)
{
  return &c->runs[c->run_count - 1];
}

/* The same of a device's slot. */
static inline run *values_on(call_on *on, size_t slot)
{
  return &on->runs[slot][0];
}

static inline run *derivatives_on(call_on *on, size_t slot)
{
  return &on->runs[slot][on->call->run_count - 1];
}

/* Arrays for the derivatives' run to read, or that it leaves: cotangents and tangents of an output
 * of contacts. An array of NULL is none. A run on duals takes the cotangents' own tangents, too,
 * and where only one of both is there zeros for the other. */
void call_add_bars(call *c, const contact_output *o, const void *array, const void *tangents);
void call_add_tangents(call *c, const contact_output *o, void *array);

/* Rows of `width` plain reals that the derivatives' run leaves, whatever its numbers are. */
void call_add_rows(call *c, const char *name, scratch_id id, void *array, size_t width);

/* Gradients of the poses. part: of a run on duals, 0 values, 1 derivatives. */
void call_add_gradients(call *c, size_t part, const abut_gradients *to);

/* Runs all chunks on all devices. */
abut_status call_finish(call *c);

/* ---- shared by the call's own files ---- */
extern const operation poses_operation;

/* Activities below it need not be computed for what a run's batch wants; 0: all must. */
double call_cutoff(const run *r, const abut_batch *b);

/* Takes back what chunks have left in the caller's batch. */
void call_empty(call *c);

/* The poses, and what the batch itself wants. */
void call_add_arrays(call *c);

/* The arrays of reductions, in the order of their numbers in SCRATCH_REDUCED. */
void list_reductions(const abut_reductions *r, void *arrays[REDUCED_REALS]);

#endif
