/* Launches that springs between clouds ask for, whoever has their poses: a call on pairs, or a step of
 * worlds. */
#ifndef ABUT_SPRING_RUN_H
#define ABUT_SPRING_RUN_H

#include "batch/batch.h"
#include <abut/spring.h>

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
  SPRING_JACOBIANS,
  SPRING_ALONG_1, /* twists along which derivatives are */
  SPRING_ALONG_2,
  SPRING_ALONG_FRAMES,
  SPRING_ALONG_BARS_1,
  SPRING_ALONG_BARS_2,
  SPRING_DUAL_FRAMES,
  SPRING_DUAL_PHI,
  SPRING_DUAL_MEANS,
  SPRING_DUAL_PARTS,
  SPRING_DUAL_SUMS,
  SPRING_DUAL_SLOPE_PARTS,
  SPRING_DUAL_JACOBIANS,
  SPRING_VERTEX_WEIGHTS, /* of soft collision points, as all that follows */
  SPRING_TOPS,
  SPRING_POINT_SUMS,
  SPRING_POINTS,
  SPRING_DIRECTIONS, /* along which Jacobians have derivatives */
  SPRING_JACOBIANS_ALONG
};

/* Pairs of bodies, one a row of the buffers. */
typedef struct spring_run {
  device *device;
  const chunk_memory *memory;
  size_t count;
  buffer *heads, *shapes;         /* packed clouds */
  buffer *pairs;                  /* two clouds of each pair */
  size_t first_pair, pair_stride; /* stride 0: of all alike */
  size_t pose_width;
  buffer *law; /* parameters, `law_stride` apart */
  size_t law_stride;
  int options; /* SPRING_... of geometry/spring.h */
  size_t room; /* padded points of the largest pair */
} spring_run;

int spring_options(abut_dissipation dissipation, abut_reaction reaction);

/* What each pair takes beside its arrays; slopes: for spring_run_slopes. */
void spring_run_bytes(size_t room, size_t real, bool slopes, size_t bytes[BANK_BUFFERS]);

/* From poses, twists and laws to frames, separations and soft means. */
abut_status spring_run_separations(const spring_run *r);

/* After it: wrenches and distances. */
abut_status spring_run_forces(const spring_run *r);

/* After these: Jacobians. */
abut_status spring_run_slopes(const spring_run *r);

/* What spring_run_along takes beside. */
void spring_along_bytes(size_t room, size_t real, size_t bytes[BANK_BUFFERS]);

/* After spring_run_forces: sums and Jacobians with their derivatives along the twists at
 * SPRING_ALONG_1 and SPRING_ALONG_2, added to the bodies' own. */
abut_status spring_run_along(const spring_run *r);

/* After it: sums, wrenches and Jacobians, plus `step` times their derivatives. */
abut_status spring_run_ahead(const spring_run *r, double step);

/* After spring_run_forces: the Jacobians' derivatives along SPRING_DIRECTIONS. */
abut_status spring_run_second(const spring_run *r);

/* After these, as often as one likes: from cotangents of wrenches and distances to gradients. */
abut_status spring_run_back(const spring_run *r);

#endif
