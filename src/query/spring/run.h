/* The kernel launches for springs between clouds, used by calls on pairs and by steps of worlds. */
#ifndef ABUT_SPRING_RUN_H
#define ABUT_SPRING_RUN_H

#include "engine/batch/batch.h"
#include <abut/spring.h>

/* The buffers of buffer pool 0. */
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
  SPRING_JACOBIANS,
  SPRING_TANGENT_1, /* the twists along which derivatives are taken */
  SPRING_TANGENT_2,
  SPRING_TANGENT_FRAMES,
  SPRING_TANGENT_BARS_1,
  SPRING_TANGENT_BARS_2,
  SPRING_DUAL_FRAMES,
  SPRING_DUAL_PHI,
  SPRING_DUAL_MEANS,
  SPRING_DUAL_PARTS,
  SPRING_DUAL_SUMS,
  SPRING_DUAL_SLOPE_PARTS,
  SPRING_DUAL_JACOBIANS,
  SPRING_VERTEX_WEIGHTS, /* from this one to SPRING_POINTS: for soft collision points */
  SPRING_TOPS,
  SPRING_POINT_SUMS,
  SPRING_POINTS,
  SPRING_DIRECTIONS, /* the directions along which Jacobians have derivatives */
  SPRING_JACOBIANS_TANGENT
};

/* Pairs of bodies, each with one row in the buffers. */
typedef struct spring_run {
  device *device;
  const chunk_memory *memory;
  size_t count;
  buffer *heads, *shapes;         /* packed clouds */
  buffer *pairs;                  /* the two clouds of each pair */
  size_t first_pair, pair_stride; /* a stride of 0: all pairs have the same clouds */
  size_t pose_width;
  buffer *law; /* the pairs' parameters, law_stride apart */
  size_t law_stride;
  int options; /* SPRING_SMOOTH, SPRING_PLANE of geometry/spring.h */
  size_t room; /* padded points of the largest pair */
} spring_run;

int spring_options(abut_dissipation dissipation, abut_reaction reaction);

/* Returns the bytes that each pair needs besides its arrays; with `slopes`, those of
 * spring_run_slopes too. */
void spring_run_bytes(size_t room, size_t real, bool slopes, size_t bytes[POOL_BUFFERS]);

/* Computes frames, separations and soft means from poses, twists and laws. */
abut_status spring_run_separations(const spring_run *r);

/* Call after spring_run_separations: computes wrenches and distances. */
abut_status spring_run_forces(const spring_run *r);

/* Call after these two: computes Jacobians. */
abut_status spring_run_slopes(const spring_run *r);

/* Returns the additional bytes that each pair needs for spring_run_tangent. */
void spring_tangent_bytes(size_t room, size_t real, size_t bytes[POOL_BUFFERS]);

/* Call after spring_run_forces: computes sums and Jacobians with their derivatives along the twists
 * in SPRING_TANGENT_1 and SPRING_TANGENT_2, which are changes of the bodies' own twists. */
abut_status spring_run_tangent(const spring_run *r);

/* Call after spring_run_tangent: computes sums, wrenches and Jacobians, plus `step` times their
 * derivatives. */
abut_status spring_run_ahead(const spring_run *r, double step);

/* Call after spring_run_forces: computes the Jacobians' derivatives along SPRING_DIRECTIONS. */
abut_status spring_run_second(const spring_run *r);

/* Call after these, any number of times: computes gradients from cotangents of wrenches and
 * distances. */
abut_status spring_run_adjoint(const spring_run *r);

#endif
