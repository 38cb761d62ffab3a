/* A pair of bodies with its smoothing, its slots and the device memory that its calls reuse. */
#ifndef ABUT_MANIFOLD_PAIR_H
#define ABUT_MANIFOLD_PAIR_H

#include "body/body.h"
#include <abut/manifold.h>

/* Scratch and output buffers of one chunk. Those of a body come in pairs, body 1's first. */
typedef enum scratch_id {
  SCRATCH_POSE_1, SCRATCH_POSE_2,
  SCRATCH_TANGENT_1, SCRATCH_TANGENT_2,           /* of the poses, for the program on duals */
  SCRATCH_FRAMES, SCRATCH_STATUS,
  SCRATCH_FIELD_1, SCRATCH_FIELD_2,               /* opposing field at all vertices */
  SCRATCH_SCORES,
  SCRATCH_VERTEX_INDEX_1, SCRATCH_VERTEX_INDEX_2, /* ranked elements */
  SCRATCH_VERTEX_TOP_1, SCRATCH_VERTEX_TOP_2,     /* their scores */
  SCRATCH_KEPT_VERTICES_1, SCRATCH_KEPT_VERTICES_2,
  SCRATCH_KEPT_FIELD_1, SCRATCH_KEPT_FIELD_2,
  SCRATCH_VERTEX_WEIGHTS_1, SCRATCH_VERTEX_WEIGHTS_2, /* of gates; SoftSort's 1 / sums */
  SCRATCH_EDGE_INDEX_1, SCRATCH_EDGE_INDEX_2,
  SCRATCH_EDGE_TOP_1, SCRATCH_EDGE_TOP_2,
  SCRATCH_ENDS_1, SCRATCH_ENDS_2,
  SCRATCH_EDGE_WEIGHTS_1, SCRATCH_EDGE_WEIGHTS_2,
  SCRATCH_WITNESS, SCRATCH_OWN_1, SCRATCH_OWN_2, SCRATCH_OPPOSING_1, SCRATCH_OPPOSING_2,
  SCRATCH_FACTORS,
  SCRATCH_P, SCRATCH_D, SCRATCH_N, SCRATCH_ACTIVITY,
  SCRATCH_REDUCED,
  SCRATCH_COUNTS, SCRATCH_OFFSETS, SCRATCH_LIST, SCRATCH_VALUES,
  /* the reverse pass: cotangents */
  SCRATCH_P_BAR, SCRATCH_D_BAR, SCRATCH_N_BAR, SCRATCH_ACTIVITY_BAR, /* of the outputs */
  SCRATCH_FACTORS_BAR, SCRATCH_WITNESS_BAR, SCRATCH_PAIR_ENDS_BAR, SCRATCH_ENDS_BAR,
  SCRATCH_KEPT_BAR, SCRATCH_WEIGHTS_BAR,
  SCRATCH_RANKED_PARTS, SCRATCH_RANKED_BAR, SCRATCH_SCORES_BAR,
  SCRATCH_FIELD_BAR_1, SCRATCH_FIELD_BAR_2,       /* of phi at all vertices, by selections */
  SCRATCH_WRENCHES,
  SCRATCH_GRADIENT_1, SCRATCH_GRADIENT_2,
  SCRATCH_JACOBIAN,
  SCRATCH_BUFFERS
} scratch_id;

/* A pair on one device. Each slot of the device, and each program, has scratch of its own: values
 * of the one are read while the other is filled. */
typedef struct resident_pair {
  buffer *coefficients, *layout_ints;
  buffer *mean_bar, *one_bar; /* C numbers of 1 / C and of 1, made when they are first needed */
  buffer *scratch[DEVICE_SLOTS][2][SCRATCH_BUFFERS];
} resident_pair;

/* What takes its own time a pose: each program, and Jacobians. */
#define RATE_KINDS (PROGRAM_COUNT + 1)

typedef struct pair {
  owned base;
  context *context;
  handle self;
  abut_body bodies[2];
  abut_smoothing smoothing;
  abut_layout layout;
  bool selected_vertices[2], selected_edges[2];
  resident_pair *on[MEMBERS]; /* by the context's members; NULL: not there yet */
  double rates[RATE_KINDS][MEMBERS]; /* poses a second, see job.rates; by what is computed */
} pair;

/* The pair on a member of its context, brought there when it is first asked for. */
abut_status pair_on(pair *p, size_t place, resident_pair **out);

/* The pair of a handle, or NULL with an error text. */
pair *pair_get(abut_pair p);

#endif
