/* The numbered buffers of worlds on a device.
 *
 * An array described as (worlds, a, b) holds the chunk's worlds in sequence, each with an array (a,
 * b). nq, nv and nu are the numbers of positions, degrees of freedom and actuators; other sizes are
 * members of world_sizes or macros of geometry/world.h. */
#ifndef ABUT_WORLD_BUFFERS_H
#define ABUT_WORLD_BUFFERS_H

#include <stddef.h>

#define POSE_WIDTH 7     /* a body's pose: position, quaternion */
#define POOL_OF_WORLDS 1 /* the manifold uses the other buffer pool, number 0 */

/* The buffers of the worlds' buffer pool. IN_ are the caller's inputs and OUT_ its outputs, with
 * the shapes of include/abut/world.h. WORLD_ are internal; a comment gives the shape of one world's
 * row. Rows are contiguous unless the comment names blocks. BAR denotes a cotangent. A buffer that
 * a call does not use has no bytes. */
enum {
  /* State, controls, parameters and given contacts. */
  IN_Q,
  IN_V,
  IN_W,
  IN_U,
  IN_MASS_SCALE,
  IN_FRICTION,
  IN_STIFFNESS,
  IN_GRAVITY,
  IN_P,
  IN_D,
  IN_N,
  IN_ACTIVITY,
  /* Cotangents for a VJP. In a JVP the first and the third hold the tangents of q and v. */
  IN_STATE_BAR,
  IN_RECORD_BAR,
  IN_ACCELERATION_BAR,
  IN_LINK_FORCES_BAR,
  IN_PAIR_FORCES_BAR,
  /* The first three hold the state at the start of the next step, and so the result after the last
     step. */
  OUT_Q,
  OUT_V,
  OUT_W,
  OUT_Q_RECORD,
  OUT_V_RECORD,
  OUT_STATUS,
  OUT_STATUS_STEP,
  OUT_ITERATIONS,
  OUT_MASS,
  OUT_BIAS,
  OUT_SMOOTH,
  OUT_ACCELERATION,
  OUT_CONSTRAINT,
  OUT_MULTIPLIERS,
  OUT_LINK_FORCES,
  OUT_PAIR_FORCES,
  OUT_PAIR_NORMALS,
  OUT_ENERGY,
  OUT_MOMENTUM,
  OUT_ENERGY_RECORD,
  /* Used by every step. */
  WORLD_ENERGY,        /* (ENERGY_REALS) energy and momentum */
  WORLD_U,             /* (nu) the controls of the current step */
  WORLD_PARAMETERS_OF, /* (PARAMETERS) filled if the caller gives any parameters */
  WORLD_SCRATCH,       /* blocks of LANES worlds: the tree, from world_sizes.at_rotation on */
  WORLD_SINGULARS,     /* 0 if the mass matrix is positive definite, else 1 */
  /* World pairs and their contacts. Rows belong to the whole chunk, not to worlds. The pool holds
     the contacts of all world pairs in sequence. */
  WORLD_PAIRS,        /* (world pairs, WORLD_PAIR_INTS) ints, ordered by type, then by world */
  WORLD_PAIR_COUNTS,  /* (types + 1, worlds) ints: the number of world pairs of each type; the broad
                         phase uses the last row */
  WORLD_PAIR_FIRSTS,  /* (types + 1, worlds) ints: the first world pair of each type; the last row:
                         the world's first place in WORLD_ACTIVE_LIST */
  WORLD_ACTIVE_LIST,  /* (world pairs) ints: the active pairs, ordered by world */
  WORLD_PUSHES,       /* (world pairs, PUSH_REALS) if forces on links or of pairs are wanted */
  WORLD_ACTIVE_SUMS,  /* (world pairs, world_sizes.active_reals) sums over the contacts of active
                         pairs */
  WORLD_ACTIVE_PAIRS, /* (worlds, ACTIVE_PAIRS_INTS) ints: the range of a world in WORLD_ACTIVE_LIST
                       */
  WORLD_CONTACTS, /* (pool, CONTACT_PLANES) the numbers CONTACT_... of geometry/world.h, ordered by
                     world pair */
  WORLD_CONTACT_PLACES, /* (pool) ints: the index of each contact in its segment */
  WORLD_SLOTS,          /* (pool) ints: the slot of each contact, if it is needed */
  WORLD_POOL_SUMS, /* (blocks of COUNT_BLOCK world pairs) ints: the pool space of the world pairs of
                      a launch set */
  WORLD_POOL_TOTALS, /* (launch sets + 1) ints: the contacts of all launch sets before each one */
  WORLD_WORK,        /* (work) scratch of Newton's method */
  WORLD_ORDER,       /* (ORDER_INTS) ints: the graph of trees and their order of elimination */
  WORLD_ORDER_SUMS,  /* two ints per world; the whole chunk has one per block of COUNT_BLOCK worlds,
                        plus one */
  WORLD_NEXT_Q,      /* (nq) the state after the step, until the world accepts it */
  WORLD_NEXT_V,      /* (nv) */
  WORLD_ACCELERATION,     /* (nv) result of a law's `solve` */
  WORLD_CONSTRAINT_FORCE, /* (nv) J' lambda, summed over contacts, limits and friction losses */
  /* RK4: the state and the rates of a stage; the sums of rates and accelerations over stages. */
  WORLD_STAGE_Q, /* (nq) */
  WORLD_STAGE_V, /* (nv) */
  WORLD_RATES,   /* (nv) */
  WORLD_SUMS,    /* (2 nv) */
  /* The gradients of a VJP. In a JVP, OUT_MASS_BAR to OUT_GRAVITY_BAR hold the tangents of the
     parameters. */
  OUT_Q_BAR,
  OUT_V_BAR,
  OUT_U_BAR,
  OUT_MASS_BAR,
  OUT_FRICTION_BAR,
  OUT_STIFFNESS_BAR,
  OUT_GRAVITY_BAR,
  OUT_P_BAR,
  OUT_D_BAR,
  OUT_N_BAR,
  OUT_ACTIVITY_BAR,
  /* States of a rollout. A state is q, v and the last acceleration: state_width numbers. */
  WORLD_CHECKPOINTS, /* (segments, state_width) the start of each segment */
  WORLD_SEGMENT,     /* (steps of a segment + 1, state_width) all states of the current segment */
  WORLD_ITERATIONS,  /* replaces OUT_ITERATIONS when steps are recomputed */
  /* The step that is differentiated: the state before it, and the cotangents of the reverse pass.
   */
  WORLD_Q,                /* (nq) */
  WORLD_V,                /* (nv) */
  WORLD_W,                /* (nv) the acceleration at which the solver started, for `keeps_guess` */
  WORLD_STATE_BAR,        /* (2 nv) the cotangent of q' and v', then of q and v */
  WORLD_U_BAR,            /* (nu) */
  WORLD_ACCELERATION_BAR, /* (nv) b of docs/dev/cone-formulas.md, section 10 */
  WORLD_MULTIPLIERS,      /* (nv) y = H^-1 b there */
  WORLD_BARS,             /* (pool, BAR_PLANES) of each contact's p, d, n and activity */
  WORLD_GROUP_ADJOINT, /* (world pairs, GROUP_ADJOINT); springs: (worlds, groups, GROUP_ADJOINT) */
  WORLD_ROW_ADJOINT,   /* (ROW_ADJOINT, nv) */
  WORLD_ADJOINT,       /* blocks of LANES worlds, from world_sizes.at_back_links on */
  /* RK4: q, v, acceleration and rates of each stage; the cotangents of the step's q and v and of
     the stages' rates and accelerations; the sum of the stages' control cotangents. */
  WORLD_STAGES,      /* (4, nq + 3 nv) */
  WORLD_STAGES_KEPT, /* (steps, 4, nq + 3 nv) the stages of earlier steps of the current segment */
  WORLD_STAGE_BARS,  /* (10, nv) */
  WORLD_U_SUM,       /* (nu) */
  WORLD_END,  /* (state_width) saves the rollout's last state while a reverse pass uses OUT_Q to
                 OUT_W */
  WORLD_GOOD, /* an int: 0 if the step of a world has no derivatives */
  /* Jacobians and tangents. A row of `seed_width` numbers is a derivative with respect to q, v,
     controls and parameters. */
  WORLD_BASIS,    /* (6 or nv, world pairs, GROUP_ADJOINT), see basis_by_dof of law/law.h; springs:
                     (worlds, 6, groups, GROUP_ADJOINT) */
  WORLD_JACOBIAN, /* (stages, nv, seed_width) Jacobian of the accelerations */
  WORLD_TANGENT_WORK, /* (2 seed_width + 8 nv) scratch */
  WORLD_MATRIX,       /* (2 nv, seed_width) Jacobian of the whole step */
  WORLD_TANGENT,      /* (seed_width) */
  IN_U_TANGENT,
  OUT_Q_TANGENT,
  OUT_V_TANGENT,
  OUT_Q_RECORD_TANGENT,
  OUT_V_RECORD_TANGENT,
  OUT_A,
  OUT_B,
  OUT_P_MASS,
  OUT_P_FRICTION,
  OUT_P_STIFFNESS,
  OUT_P_GRAVITY,
  WORLD_KEPT,  /* what a step keeps for its derivatives; only hard contacts use it */
  OUT_ESCAPED, /* outcome of the derivatives of hard contacts: docs/dev/lcp-formulas.md, section 9
                */
  /* Springs. */
  IN_SPRINGS,
  IN_A,
  OUT_INVERSE,
  OUT_SPRINGS_BAR,
  WORLD_IMPLICIT, /* (nv) the acceleration (v' - v) / h of an implicit step */
  /* Scenes that sweep. */
  SWEEP_FROM,     /* (nq) the start of the remaining step */
  SWEEP_MEET,     /* (nq) scratch: the positions at the impact */
  SWEEP_TREE,     /* as WORLD_SCRATCH: the links at SWEEP_FROM */
  SWEEP_END_TREE, /* the links at WORLD_NEXT_Q; then those at the impact, with the mass matrix */
  SWEEP_MARKS,    /* (SWEEP_INTS) ints: state of the sweep of a world */
  SWEEP_STATE,    /* (SWEEP_REALS) */
  SWEEP_ROOM,     /* (SWEEP_WORK) scratch of an impact */
  SWEEP_FROM_1, /* (7) poses of the bodies of the current pair; the results of ccd_bodies follow */
  SWEEP_TO_1,
  SWEEP_FROM_2,
  SWEEP_TO_2,
  SWEEP_TIME,
  SWEEP_FOUND, /* a byte */
  SWEEP_KIND,
  SWEEP_FEATURE_1,
  SWEEP_FEATURE_2,
  SWEEP_P1,
  SWEEP_P2,
  SWEEP_NORMAL,
  SWEEP_CANDIDATES,
  SWEEP_PLACES,
  /* Derivatives of sweeps. */
  SWEEP_V,         /* (nv) the velocity at the end of the step before any impact */
  SWEEP_KEPT,      /* (SWEEP_EVENTS + 1, SWEEP_KEPT_REALS) the inputs of the step's impacts */
  SWEEP_KEPT_ROWS, /* (SWEEP_KEPT_ROW) ints */
  SWEEP_DUALS_OF,  /* (LANES, SWEEP_DUAL_REALS) scratch */
  SWEEP_BARS,   /* (SWEEP_SEED + SWEEP_SEEDS) cotangents of the inputs of an impact; those of q are
                   first */
  SWEEP_SLOPES, /* (SWEEP_SLOPES_OF) cotangents of mass scales, friction and moved links */
  /* Broad phase. The last two have rows for the whole chunk only. */
  BROAD_BOXES,  /* blocks of LANES worlds: (bodies, BROAD_NUMBERS) */
  BROAD_MASKS,  /* (runs) ints, one bit per candidate: whether it is kept */
  BROAD_SUMS,   /* (types + 1, blocks of COUNT_BLOCK worlds) ints: the world pairs before each block
                 */
  BROAD_TOTALS, /* (types) ints */
  OUT_COUNTS,   /* (WORLD_COUNTS) ints */
  OUT_FAST_LINKS, /* (2) ints */
  WORLD_BUFFERS   /* Each law numbers its own buffers from here on; a call has only one law. */
};

/* One of these numbers, or a number of the law's own. */
typedef size_t world_buffer;

#endif
