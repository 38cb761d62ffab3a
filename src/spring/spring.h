/* What calls on pairs of clouds share. */
#ifndef ABUT_SPRING_SPRING_H
#define ABUT_SPRING_SPRING_H

#include "batch/batch.h"
#include "spring/pack.h"

/* Buffers of bank 0. */
enum {
  SPRING_POSES_1,
  SPRING_POSES_2,
  SPRING_TWISTS_1,
  SPRING_TWISTS_2,
  SPRING_LAWS,
  SPRING_PAIRS,
  SPRING_WRENCHES_1,
  SPRING_WRENCHES_2,
  SPRING_DISTANCES,
  SPRING_SEPARATION,
  SPRING_WEIGHTS,
  SPRING_FRAMES,
  SPRING_ROWS_OF_PHI,
  SPRING_MEANS_OF,
  SPRING_PARTS,
  SPRING_SUMS,
  SPRING_SLOPE_PARTS,
  SPRING_POSES_1_BAR,
  SPRING_POSES_2_BAR,
  SPRING_TWISTS_1_BAR,
  SPRING_TWISTS_2_BAR,
  SPRING_LAWS_BAR,
  SPRING_WRENCHES_1_BAR,
  SPRING_WRENCHES_2_BAR,
  SPRING_DISTANCES_BAR,
  SPRING_JACOBIANS
};

typedef struct spring_call {
  batch_call base;
  const abut_spring *pairs;
  packed_clouds clouds;
  size_t room;                      /* padded points of the largest pair */
  bool tells;                       /* separations or weights are wanted */
  abut_spring_gradients *gradients; /* or NULL */
} spring_call;

/* What a call keeps on a device. */
typedef struct spring_on {
  buffer *heads, *shapes;
  buffer *law, *pair; /* of all pairs, where they have none of their own */
} spring_on;

#endif
