/* Derivatives of steps of worlds for array frameworks: by the numbers of q, including all four of a
 * quaternion. The library's own derivatives are in the tangent space. */
#ifndef ABUTPY_WORLDS_H
#define ABUTPY_WORLDS_H

#include <abut/world.h>

/* Outputs of a step that have cotangents: (count, nq), (count, nv); recorded states (count, kept,
 * nq), (count, kept, nv); (count, nv); (count, links, 6), (count, candidates, 3). */
enum {
  BAR_Q,
  BAR_V,
  BAR_Q_RECORD,
  BAR_V_RECORD,
  BAR_ACCELERATION,
  BAR_LINK_FORCES,
  BAR_PAIR_FORCES,
  WORLD_BARS
};

/* Inputs that have gradients, with the inputs' shapes. */
enum {
  SLOPE_Q,
  SLOPE_V,
  SLOPE_U,
  SLOPE_MASS_SCALE,
  SLOPE_FRICTION,
  SLOPE_STIFFNESS,
  SLOPE_GRAVITY,
  SLOPE_SPRINGS,
  SLOPE_P,
  SLOPE_D,
  SLOPE_N,
  SLOPE_ACTIVITY,
  WORLD_SLOPES
};

/* size: bytes of a real. worlds: as for abut_step_worlds, with arrays in host memory. If their
 * cotangents are given, q_next and q_record must be the results of the steps and are only read.
 * bars: NULL is 0. slopes: NULL is not wanted. escaped: as in abut_worlds_gradients; NULL: without
 * it. Sets worlds->failures. */
abut_status abutpy_vjp_worlds(abut_scene scene, size_t size, abut_worlds *worlds,
                              const void *const *bars, void *const *slopes, uint32_t *escaped);

/* Forward mode: tangents of inputs (SLOPE_*, except those of springs and contacts) and of outputs
 * (those before BAR_ACCELERATION). NULL is 0 for inputs and not wanted for outputs. Also writes the
 * outputs that `worlds` wants. */
abut_status abutpy_jvp_worlds(abut_scene scene, size_t size, abut_worlds *worlds,
                              const void *const *tangents, void *const *made);

#endif
