/* The kernels of one chunk, in order: forward, and back from cotangents. */
#ifndef ABUT_MANIFOLD_RUN_H
#define ABUT_MANIFOLD_RUN_H

#include "manifold/pair.h"

/* What a run must compute: bits WANT_* of cl/geometry/layout.h and more of the same. */
typedef struct wanted {
  int arrays;     /* outputs that kernels must write */
  int cotangents; /* outputs whose cotangents a reverse pass will bring; 0: there is none */
  bool reduced, compact, blocks; /* blocks: a Jacobian of every entry of a compact list */
  bool vertices_alone; /* nothing asks for edge-edge contacts */
  bool shared_d, shared_activity; /* one row of cotangents for all poses */
} wanted;

/* One run of a call: a pair, the program (plain numbers or duals), what is wanted; then, on a
 * device, what lies there. */
typedef struct run {
  pair *pair;
  program_id program;
  wanted wanted;
  int pose_width; /* 6 or 7 */
  abut_memory memory;               /* of the caller's arrays */
  device *device;
  resident_pair *on;
  const resident_body *bodies[2];
  buffer **scratch;                 /* of the device's slot */
  buffer *external[SCRATCH_BUFFERS]; /* the caller's own cl_mem in place of scratch, for a chunk */
} run;

/* Bytes a pose of each scratch buffer, 0 where the run does not need it. */
void scratch_bytes(const run *r, size_t bytes[SCRATCH_BUFFERS]);

/* Refuses what kernels, which count the numbers of a pose in int, would count wrongly. */
abut_status check_scratch(const run *r);

/* Makes every buffer that a chunk of `poses` needs and the caller has not given. Buffers are kept
 * and only grow. */
abut_status prepare_scratch(const run *r, size_t poses);

/* All of a pair's in a slot of a device, of every program. */
void free_scratch(resident_pair *on, size_t slot);

/* Launches everything for the `count` poses in SCRATCH_POSE_*. */
abut_status run_forward(const run *r, size_t count);
abut_status run_reductions(const run *r, size_t count);
abut_status run_compact(const run *r, size_t count, double threshold, size_t capacity);

/* After run_forward with wanted.cotangents: SCRATCH_*_BAR of the outputs, or shared rows, ->
 * SCRATCH_GRADIENT_*. */
abut_status run_reverse(const run *r, size_t count);

/* ---- shared by the two passes ---- */
static inline buffer *run_buffer(const run *r, scratch_id id)
{
  return r->external[id] ? r->external[id] : r->scratch[id];
}

#define BUFFER(r, id) ARG_BUFFER(run_buffer(r, id))
#define LAUNCH_RUN(r, kernel, x, y, ...) \
  LAUNCH_IN((r)->device, (r)->program, kernel, x, y, __VA_ARGS__)

/* A scratch buffer of body `side`, from body 1's. */
#define OF_SIDE(id, side) ((scratch_id)((int)(id) + (side)))

/* Points whose field is asked for: three planes of `padded`, see cl/kernels/field.cl. */
typedef struct point_set {
  buffer *memory;
  size_t base, stride, padded;
} point_set;

/* Planes of a field: phi alone; with the normal; with phi's gradient; all derivatives. */
typedef enum field_kind {
  FIELD_DISTANCE,
  FIELD_NORMAL,
  FIELD_GRADIENT,
  FIELD_JET
} field_kind;

size_t field_planes(field_kind kind);
field_kind vertex_field_kind(const run *r, int side);      /* at all vertices of a body */
field_kind contact_field_kind(const run *r);               /* at the vertices in contact */
int frame_across(int side);                                /* FRAME_* from a body to the other */
int frame_world(int side);
size_t lane_blocks(const run *r, size_t count);
bool gated(const run *r);
bool edges_run(const run *r);                              /* edge-edge contacts are computed */
bool edge_activity(const run *r);                          /* and their activities matter */
bool side_scored(const run *r, int side);                  /* a selection reads a body's field */
size_t pair_slots(const run *r);                           /* pairs in whole blocks */
size_t witness_stride(const run *r);                       /* of SCRATCH_WITNESS, a pose */
point_set edge_ends(const run *r, int side);
point_set witness_set(const run *r, int side, uint32_t step); /* after so many tracing steps */
abut_status field_at(const run *r, size_t poses, field_kind kind, point_set at, int frame, int of,
                     scratch_id out);
abut_status vertex_score_kernel(const run *r, size_t poses, int side);
abut_status edge_score_kernel(const run *r, size_t poses, int side);
size_t wrench_blocks(const run *r);

#endif
