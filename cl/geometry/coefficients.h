// Smoothing coefficients as kernels read them: temperatures inverted, base-2 factors folded in.
//
// Only reals, so that host and device agree on the layout; filled by src/manifold/smoothing.c.
#ifndef GEOMETRY_COEFFICIENTS_H
#define GEOMETRY_COEFFICIENTS_H

typedef struct coefficients {
  real length_inv;           // 1 / length
  real union_ln2;            // union * ln 2
  real union_log2e;          // log2(e) / union
  real plane_ln2;            // plane * ln 2
  real plane_log2e;          // log2(e) / plane
  real normal;               // under the root of unit()
  real penetration;          // penetration
  real penetration_inv;      // 1 / penetration
  real neighbour_log2e;      // log2(e) / neighbour
  real clash_inv;            // 1 / clash
  real sign_inv;             // 1 / sign
  real sort_inv;             // 1 / sort
  real sort_log2e;           // log2(e) / sort
  real clip;                 // clip
  real clip_inv;             // 1 / clip
  real minimum_log2e;        // log2(e) / minimum
  real compare_inv;          // 1 / compare
  real ridge;                // ridge
  real distance;             // distance
  real inside;               // 1 where [own phi <= 0] scales edge-edge activity, else 0
} coefficients;

#endif
