/* A call over a batch of poses, which gives contacts and what is derived from them, as an operation
 * of the engine. Each of its runs has a buffer pool of its own. */
#ifndef ABUT_CONTACT_CALL_H
#define ABUT_CONTACT_CALL_H

#include "engine/batch/batch.h"
#include "engine/batch/order.h"
#include "contact/compact_list.h"
#include "contact/mixed.h"
#include "contact/outputs.h"
#include "contact/run.h"
#include "contact/shape_sums.h"
#include <abut/derivatives.h>

typedef struct call call;

/* A call at work on one device: its runs in each slot, and room for what is scattered to the
 * caller's arrays. */
typedef struct call_on {
  const call *call;
  batch_on *batch;
  run runs[DEVICE_SLOTS][BUFFER_POOLS];
  int *status;                    /* (chunk) */
  double *values;                 /* rows of reductions */
  size_t room;                    /* poses for which these have room */
  size_t rejected;                /* how many poses of the chunk have been rejected */
  piece *piece;                   /* the chunk's part of the compact list, while it is read */
  shape_piece *shapes;            /* its part of sums of derivatives by shapes, likewise */
  buffer *moves[DEVICE_SLOTS][2]; /* directions of bodies' numbers, in each slot; or NULL */
  resident_pair moving; /* of the pair whose meshes move along them; without a head, none */
} call_on;

/* A call, of poses_operation or of one whose base that is, which adds to it what the call does
 * beside values. The first run gives the values and the last one the derivatives; these are the
 * same run unless derivatives have a smoothing, or a program, of their own. */
struct call {
  batch_call base;
  run runs[BUFFER_POOLS]; /* not on any device yet; in a batch of several pairs, of the first one */
  const abut_pair *lists[BUFFER_POOLS]; /* each run's pairs in a batch of several, or NULL */
  batch_order order;                    /* of such a batch's entries, while the call is at work */
  size_t contacts;                      /* for how many a row of the caller's has room */
  int run_count;
  abut_batch *batch;
  size_t real_bytes;
  memory_range beside[BATCH_BESIDE]; /* what base.beside lists */
  const void *user;                  /* what its operation works with */
  const abut_pose_tangents *along;   /* tangents of the poses, for a run on duals; NULL: zero */
  compact_list list;                 /* where the batch wants one */
};

/* Returns the pair that says which context a call is for: the argument, or the first pair of a
 * batch of several. The batch need not have been checked. */
const abut_pair *call_owner(const abut_pair *handle_, const abut_batch *batch);

/* Checks a batch and sets up a call with one run of the pair, on plain numbers, for the batch's own
 * outputs. */
abut_status call_start(call *c, abut_pair pair, abut_batch *batch);

/* Adds a run of its own for derivatives, with another pair of the same bodies or another program.
 * For a batch of several pairs `pairs` has one for each of the batch's, and stays the caller's. */
abut_status call_add_run(call *c, const abut_pair *pairs, program_id program);

static inline run *values_run(call *c)
{
  return &c->runs[0];
}

static inline run *derivatives_run(call *c)
{
  return &c->runs[c->run_count - 1];
}

/* Return the same two runs in a device's slot. */
static inline run *values_on(call_on *on, size_t slot)
{
  return &on->runs[slot][0];
}

static inline run *derivatives_on(call_on *on, size_t slot)
{
  return &on->runs[slot][on->call->run_count - 1];
}

/* Add arrays that the derivatives' run reads or leaves: cotangents and tangents of an output of
 * contacts. An array of NULL is none. A run on duals takes the cotangents' own tangents, too; where
 * only one of the two is given, zeros stand in for the other. */
void call_add_bars(call *c, const contact_output *o, const void *array, const void *tangents);
void call_add_tangents(call *c, const contact_output *o, void *array);

/* Adds the tangents of all outputs that are wanted. */
void call_add_output_tangents(call *c, const abut_tangents *t);

/* Makes the derivatives' run. It is the values' own, unless derivatives have another smoothing, or
 * are on duals while the batch wants what only the plain program computes. */
abut_status call_add_derivatives(call *c, abut_pair handle_, abut_pair derivatives,
                                 program_id program);

/* A launch of an operation: the derivatives' own forward pass, where it is not the values'. */
abut_status call_launch_derivatives(batch_on *b, size_t slot, chunk c);

/* Adds rows of `width` reals that the derivatives' run leaves, which are plain whatever numbers it
 * computes with. */
void call_add_rows(call *c, const char *name, scratch_id id, void *array, size_t width);

/* Adds memory of the caller's on the host that is no array of the engine's: `count` rows of `row`
 * bytes that the call reads or writes. An array of NULL is none. */
void call_add_range(call *c, const char *name, const void *array, size_t count, size_t row,
                    memory_use use);

/* Adds gradients of the poses. For a run on duals, `part` is 0 for their values and 1 for their
 * derivatives. */
void call_add_gradients(call *c, size_t part, const abut_gradients *to);

/* Runs all chunks on all devices. */
abut_status call_finish(call *c);

/* Gives a batch's values: its outputs, reductions and list. on->user is a call_on, whose statuses,
 * and part of the list, `collect` of an operation with this base finds read. */
extern const operation poses_operation;

/* ---- shared by the call's own files ---- */

/* Returns the activity below which nothing needs to be computed for what a run's batch wants, or 0
 * where everything must. */
double call_cutoff(const run *r, const abut_batch *b);

/* Adds the poses, and what the batch itself wants. */
void call_add_arrays(call *c);

/* Adds what the call touches beside the engine's arrays: statuses, reductions, the compact list. */
void call_add_ranges(call *c);

/* Lists the arrays of reductions in the order of their numbers in SCRATCH_REDUCED. */
void list_reductions(const abut_reductions *r, void *arrays[REDUCED_REALS]);

#endif
