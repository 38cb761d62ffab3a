/* Derivatives of steps of worlds as frameworks of arrays have them: by the numbers of q, of which a
 * quaternion's are four. The library's own are in the tangent space. */
#ifndef ABUTPY_WORLDS_H
#define ABUTPY_WORLDS_H

#include <abut/world.h>

/* Outputs of a step that have cotangents: (count, nq), (count, nv); of kept states (count, kept,
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

/* Inputs that have gradients, of the inputs' shapes. */
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

/* size: of a real, in bytes. worlds: as of abut_step_worlds, arrays in host memory; q_next and
 * q_record, where their cotangents are given, are what the steps gave and are read alone. bars:
 * NULL is 0; slopes: NULL is not wanted. escaped: of abut_worlds_gradients, NULL: without that.
 * Sets worlds->failures. */
abut_status abutpy_vjp_worlds(abut_scene scene, size_t size, abut_worlds *worlds,
                              const void *const *bars, void *const *slopes, uint32_t *escaped);

/* The other way: tangents (SLOPE_*, those of springs and contacts excepted) of what steps are
 * given, and of what they give (BAR_*, the acceleration and what follows it excepted); NULL is 0,
 * or not wanted. What `worlds` wants is written too. */
abut_status abutpy_jvp_worlds(abut_scene scene, size_t size, abut_worlds *worlds,
                              const void *const *tangents, void *const *made);

#endif
