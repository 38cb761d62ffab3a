/* The arrays that simulate writes: the only list, for naming them and for reading --states. */
#ifndef ABUT_CLI_SIMULATED_H
#define ABUT_CLI_SIMULATED_H

/* clang-format off */
#define SIMULATED_ARRAYS(ARRAY)              \
  ARRAY(Q, q)                                \
  ARRAY(V, v)                                \
  ARRAY(W, w)                                \
  ARRAY(TIME, time)                          \
  ARRAY(ENERGY, energy)                      \
  ARRAY(STATUS, status)                      \
  ARRAY(STATUS_STEP, status_step)            \
  ARRAY(LINK_POSE, link_pose)                \
  ARRAY(DISTANCE, distance)                  \
  ARRAY(LINK_FORCE, link_force)              \
  ARRAY(PAIR_FORCE, pair_force)              \
  ARRAY(PAIR_NORMAL, pair_normal)            \
  ARRAY(CONTACT_COUNT, contact_count)        \
  ARRAY(CONTACT_BODIES, contact_bodies)      \
  ARRAY(CONTACT_SLOT, contact_slot)          \
  ARRAY(CONTACT_P, contact_p)                \
  ARRAY(CONTACT_D, contact_d)                \
  ARRAY(CONTACT_N, contact_n)                \
  ARRAY(CONTACT_ACTIVITY, contact_activity)
/* clang-format on */

#define SIMULATED_NUMBER(ID, name) SIMULATED_##ID,
typedef enum simulated { SIMULATED_ARRAYS(SIMULATED_NUMBER) SIMULATED_COUNT } simulated;

/* Their names, by these numbers. */
extern const char *const simulated_names[SIMULATED_COUNT];

#endif
