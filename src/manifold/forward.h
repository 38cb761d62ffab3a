/* The kernels of one chunk, in order. */
#ifndef ABUT_MANIFOLD_FORWARD_H
#define ABUT_MANIFOLD_FORWARD_H

#include "manifold/pair.h"

/* What a call needs on the device: bits of cl/geometry/layout.h and more of the same. */
typedef struct wanted {
  int arrays;    /* WANT_P ... that kernels must write */
  bool reduced, compact;
} wanted;

/* One call: a pair, its bodies, what is wanted. */
typedef struct forward_run {
  pair *pair;
  const body *bodies[2];
  device *device;
  wanted wanted;
  int pose_width; /* 6 or 7 */
} forward_run;

/* Bytes a pose of each scratch buffer, 0 where the call does not need it. */
void scratch_bytes(const forward_run *r, size_t bytes[SCRATCH_BUFFERS]);

/* Makes every buffer that a chunk of `poses` needs. Buffers are kept and only grow. */
abut_status prepare_scratch(const forward_run *r, size_t poses);

/* Launches everything for the `count` poses in SCRATCH_POSE_*. */
abut_status forward_chunk(const forward_run *r, size_t count, double threshold, size_t capacity);

#endif
