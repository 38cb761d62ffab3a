/* A pair of bodies with its smoothing, its slots and the device memory that its calls reuse. */
#ifndef ABUT_MANIFOLD_PAIR_H
#define ABUT_MANIFOLD_PAIR_H

#include "body/body.h"
#include <abut/manifold.h>

/* Scratch and output buffers of one chunk. Those of a body come in pairs, body 1's first. */
typedef enum scratch_id {
  SCRATCH_POSE_1, SCRATCH_POSE_2,
  SCRATCH_FRAMES, SCRATCH_STATUS,
  SCRATCH_FIELD_1, SCRATCH_FIELD_2,               /* opposing field at all vertices */
  SCRATCH_SCORES,
  SCRATCH_VERTEX_INDEX_1, SCRATCH_VERTEX_INDEX_2, /* ranked elements */
  SCRATCH_VERTEX_TOP,
  SCRATCH_KEPT_VERTICES, SCRATCH_KEPT_FIELD, SCRATCH_VERTEX_WEIGHTS,
  SCRATCH_EDGE_INDEX_1, SCRATCH_EDGE_INDEX_2,
  SCRATCH_EDGE_TOP,
  SCRATCH_ENDS_1, SCRATCH_ENDS_2,
  SCRATCH_EDGE_WEIGHTS_1, SCRATCH_EDGE_WEIGHTS_2,
  SCRATCH_WITNESS, SCRATCH_OWN_1, SCRATCH_OWN_2, SCRATCH_OPPOSING_1, SCRATCH_OPPOSING_2,
  SCRATCH_FACTORS,
  SCRATCH_P, SCRATCH_D, SCRATCH_N, SCRATCH_ACTIVITY,
  SCRATCH_REDUCED,
  SCRATCH_COUNTS, SCRATCH_OFFSETS, SCRATCH_LIST, SCRATCH_VALUES,
  SCRATCH_BUFFERS
} scratch_id;

typedef struct pair {
  owned base;
  context *context;
  handle self;
  abut_body bodies[2];
  abut_smoothing smoothing;
  abut_layout layout;
  bool selected_vertices[2], selected_edges[2];
  buffer *coefficients, *layout_ints;
  buffer *scratch[SCRATCH_BUFFERS];
} pair;

/* The pair of a handle, or NULL with an error text. */
pair *pair_get(abut_pair p);

#endif
