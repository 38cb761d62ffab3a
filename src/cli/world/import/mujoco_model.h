/* MuJoCo's own header, and one access for what versions keep differently, from 2.2.2 to 4.0.0. */
#ifndef ABUT_CLI_IMPORT_MUJOCO_MODEL_H
#define ABUT_CLI_IMPORT_MUJOCO_MODEL_H

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdbool.h>
#include <stddef.h>

/* 330 is 3.3.0; from 3.4 on 3004000 is 3.4.0. */
#if mjVERSION_HEADER < 1000000
#define MUJOCO_MAJOR (mjVERSION_HEADER / 100)
#define MUJOCO_MINOR (mjVERSION_HEADER / 10 % 10)
#define MUJOCO_PATCH (mjVERSION_HEADER % 10)
#else
#define MUJOCO_MAJOR (mjVERSION_HEADER / 1000000)
#define MUJOCO_MINOR (mjVERSION_HEADER / 1000 % 1000)
#define MUJOCO_PATCH (mjVERSION_HEADER % 1000)
#endif
#define MUJOCO_SINCE(major, minor, patch)                                    \
  (1000000 * MUJOCO_MAJOR + 1000 * MUJOCO_MINOR + MUJOCO_PATCH >=            \
   1000000 * (major) + 1000 * (minor) + (patch))

/* Whether one of some numbers is not 0, as NaN is not. */
static inline bool any_of(const mjtNum *x, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (!(x[i] >= 0 && x[i] <= 0)) {
      return true;
    }
  }
  return false;
}

/* ---- options ---- */

static inline bool springs_are_off(const mjModel *m)
{
#if MUJOCO_SINCE(3, 3, 6)
  return m->opt.disableflags & mjDSBL_SPRING;
#else
  return m->opt.disableflags & mjDSBL_PASSIVE;
#endif
}

static inline bool dampers_are_off(const mjModel *m)
{
#if MUJOCO_SINCE(3, 3, 6)
  return m->opt.disableflags & mjDSBL_DAMPER;
#else
  return m->opt.disableflags & mjDSBL_PASSIVE;
#endif
}

static inline bool damps_explicitly(const mjModel *m)
{
#if MUJOCO_SINCE(3, 0, 0)
  return m->opt.disableflags & mjDSBL_EULERDAMP;
#else
  (void)m;
  return false;
#endif
}

static inline bool has_exact_diagonal(const mjModel *m)
{
#if MUJOCO_SINCE(3, 9, 0)
  return m->opt.enableflags & mjENBL_DIAGEXACT;
#else
  (void)m;
  return false;
#endif
}

/* Whether pairs by geoms' bits, or explicit ones, are looked at; once there was an option. */
static inline bool takes_dynamic_pairs(const mjModel *m)
{
#if MUJOCO_SINCE(3, 0, 0)
  (void)m;
  return true;
#else
  return m->opt.collision != mjCOL_PAIR;
#endif
}

static inline bool takes_explicit_pairs(const mjModel *m)
{
#if MUJOCO_SINCE(3, 0, 0)
  (void)m;
  return true;
#else
  return m->opt.collision != mjCOL_DYNAMIC;
#endif
}

/* ---- bodies and joints ---- */

static inline bool has_gravity_compensation(const mjModel *m, int body)
{
#if MUJOCO_SINCE(2, 3, 1)
  return any_of(m->body_gravcomp + body, 1);
#else
  (void)m, (void)body;
  return false;
#endif
}

static inline bool limits_actuator_force(const mjModel *m, int joint)
{
#if MUJOCO_SINCE(2, 3, 7)
  return m->jnt_actfrclimited[joint];
#else
  (void)m, (void)joint;
  return false;
#endif
}

static inline bool has_nonlinear_spring(const mjModel *m, int joint)
{
#if MUJOCO_SINCE(4, 0, 0)
  return any_of(m->jnt_stiffnesspoly + mjNPOLY * joint, mjNPOLY) ||
         any_of(m->jnt_springyield + joint, 1);
#elif MUJOCO_SINCE(3, 7, 0)
  return any_of(m->jnt_stiffnesspoly + mjNPOLY * joint, mjNPOLY);
#else
  (void)m, (void)joint;
  return false;
#endif
}

static inline bool has_nonlinear_damper(const mjModel *m, int dof)
{
#if MUJOCO_SINCE(3, 7, 0)
  return any_of(m->dof_dampingpoly + mjNPOLY * dof, mjNPOLY);
#else
  (void)m, (void)dof;
  return false;
#endif
}

/* ---- contacts ---- */

/* How much farther than at touch contacts of two geoms press, or of an explicit pair where `pair`
 * is not below 0. */
static inline mjtNum contact_margin(const mjModel *m, int geom1, int geom2, int pair)
{
#if MUJOCO_SINCE(3, 9, 0)
  return pair >= 0 ? m->pair_margin[pair] : m->geom_margin[geom1] + m->geom_margin[geom2];
#elif MUJOCO_SINCE(3, 5, 0)
  return pair >= 0 ? m->pair_margin[pair] - m->pair_gap[pair]
                   : m->geom_margin[geom1] + m->geom_margin[geom2] -
                       (m->geom_gap[geom1] + m->geom_gap[geom2]);
#else
  return pair >= 0 ? m->pair_margin[pair] - m->pair_gap[pair]
                   : fmax(m->geom_margin[geom1], m->geom_margin[geom2]) -
                       fmax(m->geom_gap[geom1], m->geom_gap[geom2]);
#endif
}

/* A geom's own part of that. */
static inline mjtNum own_margin(const mjModel *m, int geom)
{
#if MUJOCO_SINCE(3, 9, 0)
  return m->geom_margin[geom];
#else
  return m->geom_margin[geom] - m->geom_gap[geom];
#endif
}

/* The bodies of an <exclude>. */
static inline void excluded_bodies(const mjModel *m, int exclude, int bodies[2])
{
  const unsigned signature = (unsigned)m->exclude_signature[exclude];
#if MUJOCO_SINCE(3, 0, 0)
  const int first = 0;
#else
  const int first = 1;
#endif
  bodies[0] = (int)(signature >> 16) - first;
  bodies[1] = (int)(signature & 0xFFFF) - first;
}

static inline bool has_friction_reference(const mjModel *m, int pair)
{
#if MUJOCO_SINCE(2, 3, 6)
  return any_of(m->pair_solreffriction + mjNREF * pair, mjNREF);
#else
  (void)m, (void)pair;
  return false;
#endif
}

/* A surface that moves, or sticks. */
static inline bool has_active_surface(const mjModel *m, int geom)
{
#if MUJOCO_SINCE(3, 11, 0)
  return any_of(m->geom_surfacevel + 6 * geom, 6) || any_of(m->geom_adhesion + geom, 1);
#else
  (void)m, (void)geom;
  return false;
#endif
}

static inline bool sticks(const mjModel *m, int pair)
{
#if MUJOCO_SINCE(3, 11, 0)
  return any_of(m->pair_adhesion + pair, 1);
#else
  (void)m, (void)pair;
  return false;
#endif
}

/* ---- actuators ---- */

static inline int actuator_count(const mjModel *m)
{
#if MUJOCO_SINCE(3, 11, 0)
  return (int)m->nactuator;
#else
  return m->nu;
#endif
}

/* Whether it has one control and one force. */
static inline bool is_plain_actuator(const mjModel *m, int actuator)
{
#if MUJOCO_SINCE(3, 11, 0)
  return m->actuator_ctrlnum[actuator] == 1 && m->actuator_outnum[actuator] == 1;
#else
  (void)m, (void)actuator;
  return true;
#endif
}

/* Its first control, and its first force. */
static inline int actuator_control(const mjModel *m, int actuator)
{
#if MUJOCO_SINCE(3, 11, 0)
  return m->actuator_ctrladr[actuator];
#else
  (void)m;
  return actuator;
#endif
}

static inline int actuator_output(const mjModel *m, int actuator)
{
#if MUJOCO_SINCE(3, 11, 0)
  return m->actuator_outadr[actuator];
#else
  (void)m;
  return actuator;
#endif
}

static inline bool is_actuator_off(const mjModel *m, int actuator)
{
#if MUJOCO_SINCE(3, 0, 1)
  const int group = m->actuator_group[actuator];
  return group >= 0 && group < 31 && m->opt.disableactuator & (1 << group);
#else
  (void)m, (void)actuator;
  return false;
#endif
}

/* Damping or armature of its own, or a delay. */
static inline bool has_actuator_extras(const mjModel *m, int actuator)
{
#if MUJOCO_SINCE(3, 7, 0)
  return any_of(m->actuator_damping + actuator, 1) || any_of(m->actuator_armature + actuator, 1) ||
         any_of(m->actuator_dampingpoly + mjNPOLY * actuator, mjNPOLY) ||
         any_of(m->actuator_delay + actuator, 1);
#else
  (void)m, (void)actuator;
  return false;
#endif
}

/* ---- what versions may lack ---- */

static inline int flex_count(const mjModel *m)
{
#if MUJOCO_SINCE(3, 0, 0)
  return (int)m->nflex;
#else
  (void)m;
  return 0;
#endif
}

static inline bool is_equality_on(const mjModel *m, int equality)
{
#if MUJOCO_SINCE(3, 0, 0)
  return m->eq_active0[equality];
#else
  return m->eq_active[equality];
#endif
}

#endif
