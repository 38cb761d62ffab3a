/* A call over a batch of poses, which computes contacts and their derivatives, as an operation of
 * the engine. Each of its runs has its own buffer pool. */
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

/* A call in progress on one device: its runs in each slot, and room for results that are scattered
 * to the caller's arrays. */
typedef struct call_on {
  const call *call;
  batch_on *batch;
  run runs[DEVICE_SLOTS][BUFFER_POOLS];
  int *status;                    /* (chunk) */
  double *values;                 /* rows of reductions */
  size_t room;                    /* capacity of these in poses */
  size_t rejected;                /* number of rejected poses in the chunk */
  piece *piece;                   /* the chunk's part of the compact list, while it is read */
  shape_piece *shapes;            /* the chunk's part of sums of shape derivatives, likewise */
  buffer *moves[DEVICE_SLOTS][2]; /* directions of bodies' numbers in each slot, or NULL */
  resident_pair moving; /* for the pair whose meshes move along them; no head if there is none */
} call_on;

/* A call of poses_operation, or of an operation with that base, which adds its own results to the
 * values. The first run gives the values and the last one the derivatives. These are the same run
 * unless derivatives have their own smoothing or program. */
struct call {
  batch_call base;
  run runs[BUFFER_POOLS]; /* not on a device yet; in a batch of several pairs, for the first pair */
  const abut_pair *lists[BUFFER_POOLS]; /* each run's pairs in a batch of several pairs, or NULL */
  batch_order order; /* order of such a batch's entries while the call is in progress */
  size_t contacts;   /* capacity of a row of the caller's arrays, in contacts */
  int run_count;
  abut_batch *batch;
  size_t real_bytes;
  memory_range beside[BATCH_BESIDE]; /* the ranges in base.beside */
  const void *user;                  /* data of the derived operation */
  const abut_pose_tangents *along;   /* tangents of the poses, for a run on duals; NULL: zero */
  compact_list list;                 /* used if the batch wants a list */
};

/* Returns the pair that determines a call's context: the argument, or the first pair of a batch of
 * several pairs. The batch need not have been checked. */
const abut_pair *call_owner(const abut_pair *handle_, const abut_batch *batch);

/* Checks a batch, and sets up a call with one run of the pair on plain numbers, for the batch's own
 * outputs. */
abut_status call_start(call *c, abut_pair pair, abut_batch *batch);

/* Adds a separate run for derivatives, with another pair of the same bodies or another program. For
 * a batch of several pairs, `pairs` has one for each of the batch's; the caller still owns it. */
abut_status call_add_run(call *c, const abut_pair *pairs, program_id program);

static inline run *values_run(call *c)
{
  return &c->runs[0];
}

static inline run *derivatives_run(call *c)
{
  return &c->runs[c->run_count - 1];
}

/* Return the same two runs in a slot of a device. */
static inline run *values_on(call_on *on, size_t slot)
{
  return &on->runs[slot][0];
}

static inline run *derivatives_on(call_on *on, size_t slot)
{
  return &on->runs[slot][on->call->run_count - 1];
}

/* Add arrays that the derivatives' run reads or writes: cotangents and tangents of an output of
 * contacts. NULL arrays are ignored. A run on duals also takes the cotangents' tangents; if only
 * one of the two is given, the other is zero. */
void call_add_bars(call *c, const contact_output *o, const void *array, const void *tangents);
void call_add_tangents(call *c, const contact_output *o, void *array);

/* Adds the tangents of all wanted outputs. */
void call_add_output_tangents(call *c, const abut_tangents *t);

/* Makes the derivatives' run. It is the same as the values' run, unless derivatives have another
 * smoothing or need duals while the batch wants results that only the plain program computes. */
abut_status call_add_derivatives(call *c, abut_pair handle_, abut_pair derivatives,
                                 program_id program);

/* Launch step of an operation: the forward pass of the derivatives' run, if that is separate. */
abut_status call_launch_derivatives(batch_on *b, size_t slot, chunk c);

/* Adds rows of `width` reals that the derivatives' run writes. They are plain reals for every
 * program. */
void call_add_rows(call *c, const char *name, scratch_id id, void *array, size_t width);

/* Adds host memory of the caller that is not an array of the engine: `count` rows of `row` bytes
 * that the call reads or writes. NULL is ignored. */
void call_add_range(call *c, const char *name, const void *array, size_t count, size_t row,
                    memory_use use);

/* Adds gradients of the poses. For a run on duals, `part` 0 selects values and 1 derivatives. */
void call_add_gradients(call *c, size_t part, const abut_gradients *to);

/* Runs all chunks on all devices. */
abut_status call_finish(call *c);

/* Computes a batch's values: its outputs, reductions and list. on->user is a call_on. In an
 * operation with this base, its statuses and its part of the list have been read when `collect` is
 * called. */
extern const operation poses_operation;

/* ---- shared by the files of calls ---- */

/* Returns the activity below which contacts can be skipped for the wanted results of a run's batch,
 * or 0 if all are needed. */
double call_cutoff(const run *r, const abut_batch *b);

/* Adds the poses, and the arrays of the batch itself. */
void call_add_arrays(call *c);

/* Adds memory that the call uses besides the engine's arrays: statuses, reductions, the compact
 * list. */
void call_add_ranges(call *c);

/* Lists the arrays of reductions in the order of their numbers in SCRATCH_REDUCED. */
void list_reductions(const abut_reductions *r, void *arrays[REDUCED_REALS]);

#endif
