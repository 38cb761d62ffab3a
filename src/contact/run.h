/* Launches the kernels of one chunk in order: forward, and in reverse from cotangents. */
#ifndef ABUT_CONTACT_RUN_H
#define ABUT_CONTACT_RUN_H

#include "engine/batch/batch.h"
#include "geometry/sites.h"
#include "contact/pair.h"

/* What a run must compute. `arrays` and `cotangents` consist of the bits WANT_* of
 * cl/geometry/layout.h. */
typedef struct wanted {
  int arrays;                 /* the outputs that kernels must write */
  int cotangents;             /* the cotangents at the start of a reverse pass; 0: no such pass */
  bool distances;             /* reductions that need weights are wanted */
  bool middles, middles_back; /* distances by the bodies' middles are read; have cotangents */
  bool reduced, compact, blocks;  /* blocks: a Jacobian for each entry of a compact list */
  bool vertices_alone;            /* no result needs edge-edge contacts */
  bool shared_d, shared_activity; /* all poses share one row of cotangents */
  bool motions;   /* tangents are motions of body 2 instead of the poses' parameters */
  bool listed;    /* with a cutoff: only contacts in the caller's list are computed */
  bool active;    /* only active contacts are wanted */
  bool sum;       /* the gradient of a sum over active contacts is wanted */
  bool shaped[2]; /* derivatives with respect to the shape of this body are wanted */
  bool mesh_moves[2], field_moves[2]; /* tangents are also along this body's vertices, primitives */
  double cutoff; /* of a pair's run: only contacts that can reach this activity are computed; 0:
                    all, also if bounds cannot decide */
} wanted;

/* A direction of one body's numbers on a device: its packed numbers (kernels/shape/along.cl),
 * followed by its vertices. */
typedef struct run_moves {
  buffer *numbers;
  size_t stride; /* reals between the poses' directions; 0 if all share one */
  size_t mesh;   /* offset of the vertices, or of features (contact/shape_features.h) */
} run_moves;

/* One run of a call: a pair, the program (on plain numbers or on duals), the wanted results, and on
 * a device, its data there. */
typedef struct run {
  pair *pair;
  program_id program;
  wanted wanted;
  int pose_width; /* 6 or 7 */
  int motion;     /* with wanted.motions: the motion of the first tangent */
  device *device;
  resident_pair *on;
  const resident_body *bodies[2];
  const chunk_memory *memory; /* its scratch, in the device's slot */
  run_moves moves[2];
} run;

/* Returns the sites of both bodies' fields for which derivatives with respect to shape are wanted.
 */
field_sites run_sites(const run *r);

/* Numbers, reals and ints per pose in each scratch buffer. On duals, a number consists of several
 * reals. */
typedef struct sizes {
  size_t number[SCRATCH_BUFFERS];
  size_t real[SCRATCH_BUFFERS];
  size_t integer[SCRATCH_BUFFERS];
} sizes;

/* Finds the bytes per pose of each scratch buffer; 0 if the run does not need it. */
void scratch_bytes(const run *r, size_t bytes[SCRATCH_BUFFERS]);

/* Rejects sizes for which kernels' int counts of the numbers of a pose would overflow. */
abut_status check_scratch(const run *r);

/* Entries per pose for which Jacobian blocks are computed at a time. */
#define BLOCK_ENTRIES 64
size_t block_entries(const run *r);

/* Computes frames and statuses of the `count` poses in SCRATCH_POSE_*. */
abut_status run_frames(const run *r, size_t count);

/* Launches everything for the `count` poses in SCRATCH_POSE_*. */
abut_status run_forward(const run *r, size_t count);
abut_status run_reductions(const run *r, size_t count);
abut_status run_distances(const run *r, size_t count, double temperature);
abut_status run_middles(const run *r, size_t count); /* to SCRATCH_MIDDLES */
abut_status run_compact(const run *r, size_t count, double threshold, size_t capacity);

/* Reverse passes after run_forward with wanted.cotangents. run_wrenches goes from SCRATCH_*_BAR of
 * the outputs, or rows shared by all poses, to SCRATCH_WRENCHES. run_reverse continues to
 * SCRATCH_GRADIENT_*. */
abut_status run_wrenches(const run *r, size_t count);
abut_status run_reverse(const run *r, size_t count);

/* Continues after run_wrenches to SCRATCH_SHAPE_* for bodies with wanted.shaped. */
abut_status run_shapes(const run *r, size_t count);

/* ---- shared by the two passes ---- */
static inline buffer *run_buffer(const run *r, scratch_id id)
{
  return memory_buffer(r->memory, id);
}

#define BUFFER(r, id) ARG_BUFFER(run_buffer(r, id))
/* The buffers of all outputs of run r, and of all their cotangents. */
#define OUTPUT_BUFFER(member, id, reals) BUFFER(r, SCRATCH_##id)
#define OUTPUT_BUFFER_OF_BARS(member, id, reals) BUFFER(r, SCRATCH_##id##_BAR)
#define OUTPUT_BUFFERS CONTACT_OUTPUTS(OUTPUT_BUFFER, AND_COMMA)
#define OUTPUT_BUFFERS_OF_BARS CONTACT_OUTPUTS(OUTPUT_BUFFER_OF_BARS, AND_COMMA)
#define LAUNCH_RUN(r, kernel, x, y, ...) \
  LAUNCH_IN((r)->device, (r)->program, kernel, x, y, __VA_ARGS__)

/* The argument with the constant data of the run's pair. */
#define HEAD(r) ARG_BUFFER((r)->on->head)

/* The scratch buffer of body `side`, given body 1's. */
#define OF_SIDE(id, side) ((scratch_id)((int)(id) + (side)))

/* Points at which a field is evaluated: three planes of `padded` numbers (cl/kernels/field.h). */
typedef struct point_set {
  buffer *memory;
  size_t base, stride, padded;
} point_set;

/* Wanted results of a field: phi, phi and the normal, phi and its gradient, or all derivatives. */
typedef enum field_kind { FIELD_DISTANCE, FIELD_NORMAL, FIELD_GRADIENT, FIELD_JET } field_kind;

size_t field_planes(field_kind kind);
field_kind vertex_field_kind(const run *r, int side); /* at all vertices of a body */
field_kind contact_field_kind(const run *r);          /* at the vertices in contact */
const pair_elements *elements(const run *r, int of);  /* VERTICES_OF, EDGES_OF a side */
size_t lane_blocks(const run *r, size_t count);
bool gated(const run *r);
bool edges_run(const run *r);  /* whether contacts of pairs of edges are computed */
bool fields_run(const run *r); /* whether contacts of edges with fields are computed */
bool edges_in_fields(const run *r, int side); /* this body's edges in the other's field */
bool edge_activity(const run *r);             /* whether their activities are needed, too */
bool edges_weighed(const run *r);             /* or their weights */
bool weights_back(const run *r); /* whether the weights' cotangents are propagated, too */
double soft_temperature(const run *r, const abut_reductions *of); /* for a soft distance */
bool side_scored(const run *r, int side); /* whether a selection reads a body's field */
size_t pair_slots(const run *r);          /* pairs in whole blocks */
size_t witness_stride(const run *r);      /* of SCRATCH_WITNESS, per pose */
point_set kept_vertices(const run *r, int side);
buffer *edge_ends(const run *r, int side);
point_set witness_set(const run *r, int side, uint32_t step); /* after `step` tracing steps */
abut_status field_at(const run *r, size_t poses, field_kind kind, point_set at, int frame, int of,
                     scratch_id out);
abut_status vertex_score_kernel(const run *r, size_t poses, int side);
abut_status edge_score_kernel(const run *r, size_t poses, int side);
size_t wrench_blocks(const run *r);
launch_argument vertex_radii(const run *r, int side); /* a buffer, read if a vertex has a radius */
launch_argument edge_rails(const run *r, int side);   /* likewise, for edges in fields */
bool radii_vary(const run *r); /* whether derivatives with respect to features' radii are wanted */

#endif
