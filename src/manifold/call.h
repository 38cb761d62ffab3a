/* A call over a batch: its runs, the chunks, and what comes back to the caller's arrays. */
#ifndef ABUT_MANIFOLD_CALL_H
#define ABUT_MANIFOLD_CALL_H

#include "manifold/run.h"

typedef struct call call;

/* What a call does with a chunk once its values are there. */
typedef abut_status (*call_chunk)(call *c, size_t first, size_t count);

/* A call in progress. The first run gives the values, the last one the derivatives; they are the
 * same run unless these have a smoothing, or a program, of their own. */
struct call {
  run runs[2];
  int run_count;
  abut_batch *batch;
  size_t real_bytes;
  call_chunk chunk;      /* or NULL */
  const void *user;
  const void *along[2];  /* tangents of the poses for a run on duals; NULL: zero */
  void *zeros;           /* (chunk, P) */
  int *status;    /* (chunk) */
  double *values; /* room for what is scattered: reductions, compact list */
  int *list;
  size_t list_capacity;
  size_t list_first, list_found; /* entries of the compact list that this chunk has brought */
};

/* Checks a batch and sets up a call with one run of the pair, on plain numbers, of the batch's own
 * outputs. */
abut_status call_start(call *c, abut_pair pair, abut_batch *batch);

/* Adds a run of its own for derivatives: another pair of the same bodies, or other program. */
abut_status call_add_run(call *c, abut_pair pair, program_id program);

run *values_run(call *c);
run *derivatives_run(call *c);

/* Runs all chunks; frees what the call holds whatever happens. */
abut_status call_finish(call *c);

/* Uploads `count` rows of `bytes` of the caller's array into a scratch buffer of a run. */
abut_status put_rows(const run *r, scratch_id id, const void *array, size_t first, size_t count,
                     size_t bytes);

/* Reads rows of `width` reals into the caller's array, if it is there. part: 0 values, 1
 * derivatives of a run on duals. */
abut_status get_rows(const run *r, scratch_id id, int part, void *array, size_t first,
                     size_t count, size_t width);

#endif
