/* The numbered buffers of worlds on a device.
 *
 * Where a comment says that an array is (worlds, a, b), the chunk's worlds lie in it one behind the
 * other, each with an array (a, b). nq, nv and nu are the numbers of positions, degrees of freedom
 * and actuators; other sizes are those of world_sizes and the macros of geometry/world.h. */
#ifndef ABUT_WORLD_BUFFERS_H
#define ABUT_WORLD_BUFFERS_H

#include <stddef.h>

#define POSE_WIDTH 7     /* of a body's pose: position, quaternion */
#define POOL_OF_WORLDS 1 /* contacts of pairs are found in the other buffer pool, number 0 */

/* The buffers of the worlds' buffer pool. IN_ are inputs of the caller's and OUT_ outputs, in the
 * shapes that include/abut/world.h names. WORLD_ are the steps' own; a comment has the shape of one
 * world's row, and rows lie one behind the other unless it names blocks. BAR stands for a
 * cotangent. A buffer that a call does not use has no bytes. */
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
  /* Cotangents that a VJP is given. A JVP's tangents of q and v take the first and the third of
   * these. */
  IN_STATE_BAR,
  IN_RECORD_BAR,
  IN_ACCELERATION_BAR,
  IN_LINK_FORCES_BAR,
  IN_PAIR_FORCES_BAR,
  /* The first three are the state from which the next step starts, and so the answer after the
   * last. */
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
  /* What every step uses. */
  WORLD_ENERGY,        /* (ENERGY_REALS) energy and momentum */
  WORLD_U,             /* (nu) the controls of the step at work */
  WORLD_PARAMETERS_OF, /* (PARAMETERS) filled where the caller gives any of them */
  WORLD_SCRATCH,       /* blocks of LANES worlds: the tree, from world_sizes' at_rotation on */
  WORLD_SINGULARS,     /* 0 where the mass matrix is positive definite, else 1 */
  /* World pairs and their contacts, of which only the chunk as a whole has rows. The pool is the
   * contacts of all world pairs, one behind the other. */
  WORLD_PAIRS,       /* (world pairs, WORLD_PAIR_INTS) ints, type by type and world by world */
  WORLD_PAIR_COUNTS, /* (types + 1, worlds) ints: world pairs of each type; the last row is the
                        broad phase's own */
  WORLD_PAIR_FIRSTS, /* (types + 1, worlds) ints: the first world pair of each type, and the first
                        place in the list below */
  WORLD_ACTIVE_LIST, /* (world pairs) ints: world pairs that have contacts, world by world */
  WORLD_PUSHES,      /* (world pairs, PUSH_REALS) where forces on links or of pairs are asked for */
  WORLD_ACTIVE_SUMS, /* (world pairs, world_sizes' active_reals): what the contacts of active pairs
                       add up to */
  WORLD_ACTIVE_PAIRS, /* (worlds, ACTIVE_PAIRS_INTS) ints: where a world's active pairs are in that
                         list */
  WORLD_CONTACTS, /* (pool, CONTACT_PLANES) what CONTACT_... of geometry/world.h names, world pair
                     by world pair */
  WORLD_CONTACT_PLACES, /* (pool) ints: the place of each contact in its segment */
  WORLD_SLOTS,          /* (pool) ints: the slot of each contact, written where somebody asks */
  WORLD_POOL_SUMS, /* (blocks of COUNT_BLOCK world pairs) ints: what the world pairs of a launch set
                      take of the pool */
  WORLD_POOL_TOTALS,  /* (launch sets + 1) ints: how many contacts all launch sets before each one
                         have */
  WORLD_WORK,         /* (work) the memory of Newton's method */
  WORLD_ORDER,        /* (ORDER_INTS) ints: its graph of trees and their order of elimination */
  WORLD_ORDER_SUMS,   /* two ints; the chunk as a whole has one for each block of COUNT_BLOCK
                         worlds, and one */
  WORLD_NEXT_Q,       /* (nq) the state after the step, until it is accepted */
  WORLD_NEXT_V,       /* (nv) */
  WORLD_ACCELERATION, /* (nv) what a law's `solve` finds */
  WORLD_CONSTRAINT_FORCE, /* (nv) J' lambda, the sum of contacts, limits and friction losses */
  /* Of RK4: a stage's state, its rates, and the sums over stages of rates and accelerations. */
  WORLD_STAGE_Q, /* (nq) */
  WORLD_STAGE_V, /* (nv) */
  WORLD_RATES,   /* (nv) */
  WORLD_SUMS,    /* (2 nv) */
  /* The gradients of a VJP. The tangents of parameters that a JVP is given take OUT_MASS_BAR to
   * OUT_GRAVITY_BAR. */
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
  /* States of a rollout: a state is q, v and the last acceleration, state_width numbers. */
  WORLD_CHECKPOINTS, /* (segments, state_width) where each segment begins */
  WORLD_SEGMENT,     /* (steps of a segment + 1, state_width) all states of the segment at work */
  WORLD_ITERATIONS,  /* takes OUT_ITERATIONS' place where steps are computed a second time */
  /* The step that is differentiated: the state before it, and the cotangents of a reverse pass. */
  WORLD_Q,                /* (nq) */
  WORLD_V,                /* (nv) */
  WORLD_W,                /* (nv) the acceleration from which the step was solved, for
                             `keeps_guess` */
  WORLD_STATE_BAR,        /* (2 nv) of q' and v', then in their place of q and v */
  WORLD_U_BAR,            /* (nu) */
  WORLD_ACCELERATION_BAR, /* (nv) b of docs/dev/cone-formulas.md, section 10 */
  WORLD_MULTIPLIERS,      /* (nv) y = H^-1 b there */
  WORLD_BARS,             /* (pool, BAR_PLANES) of each contact's p, d, n and activity */
  WORLD_GROUP_ADJOINT, /* (world pairs, GROUP_ADJOINT); springs have (worlds, groups, GROUP_ADJOINT)
                        */
  WORLD_ROW_ADJOINT,   /* (ROW_ADJOINT, nv) */
  WORLD_ADJOINT,       /* blocks of LANES worlds, from world_sizes' at_back_links on */
  /* Of RK4: q, v, acceleration and rates of each stage; the cotangents of the step's q and v and of
   * the stages' rates and accelerations; the sum of the stages' cotangents of controls. */
  WORLD_STAGES,      /* (4, nq + 3 nv) */
  WORLD_STAGES_KEPT, /* (steps, 4, nq + 3 nv) those of steps of the segment at work before its
                        last one */
  WORLD_STAGE_BARS,  /* (10, nv) */
  WORLD_U_SUM,       /* (nu) */
  WORLD_END,         /* (state_width) the rollout's last state, while a reverse pass uses OUT_Q to
                        OUT_W */
  WORLD_GOOD,        /* an int: 0 where the step of a world has no derivatives */
  /* Of Jacobians and tangents. Rows of `seed_width` numbers are by q, v, controls and
   * parameters. */
  WORLD_BASIS,    /* (6 or nv, world pairs, GROUP_ADJOINT), see basis_by_dof of law/law.h; springs
                     have (worlds, 6, groups, GROUP_ADJOINT) */
  WORLD_JACOBIAN, /* (stages, nv, seed_width) of the accelerations */
  WORLD_TANGENT_WORK, /* (2 seed_width + 8 nv) memory */
  WORLD_MATRIX,       /* (2 nv, seed_width) of the whole step */
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
  WORLD_KEPT,  /* what a law's step leaves for its derivatives; only hard contacts have it */
  OUT_ESCAPED, /* how hard contacts' derivatives went: docs/dev/lcp-formulas.md, section 9 */
  /* Of springs. */
  IN_SPRINGS,
  IN_A,
  OUT_INVERSE,
  OUT_SPRINGS_BAR,
  WORLD_IMPLICIT, /* (nv) the acceleration (v' - v) / h of an implicit step */
  /* Of scenes that sweep. */
  SWEEP_FROM,     /* (nq) where the rest of the step begins */
  SWEEP_MEET,     /* (nq) memory: where bodies meet */
  SWEEP_TREE,     /* as WORLD_SCRATCH: links at SWEEP_FROM */
  SWEEP_END_TREE, /* links at WORLD_NEXT_Q; then links where bodies meet, and the mass matrix
                     there */
  SWEEP_MARKS,    /* (SWEEP_INTS) ints: what sweeping knows of a world */
  SWEEP_STATE,    /* (SWEEP_REALS) */
  SWEEP_ROOM,     /* (SWEEP_WORK) memory of an impact */
  SWEEP_FROM_1,   /* (7) poses of the bodies of the pair at work, and what ccd_bodies says of
                     them */
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
  /* Of their derivatives. */
  SWEEP_V,         /* (nv) the velocity at the step's end before any impact */
  SWEEP_KEPT,      /* (SWEEP_EVENTS + 1, SWEEP_KEPT_REALS) what the step's impacts have acted on */
  SWEEP_KEPT_ROWS, /* (SWEEP_KEPT_ROW) ints */
  SWEEP_DUALS_OF,  /* (LANES, SWEEP_DUAL_REALS) memory */
  SWEEP_BARS,      /* (SWEEP_SEED + SWEEP_SEEDS) cotangents of what an impact acts on, first of
                      q */
  SWEEP_SLOPES,    /* (SWEEP_SLOPES_OF) cotangents of mass scales, friction and moved links */
  /* Of the broad phase. Of the last two only the chunk as a whole has rows. */
  BROAD_BOXES,  /* blocks of LANES worlds: (bodies, BROAD_NUMBERS) */
  BROAD_MASKS,  /* (runs) ints, a bit for each candidate that is kept */
  BROAD_SUMS,   /* (types + 1, blocks of COUNT_BLOCK worlds) ints: world pairs before each block */
  BROAD_TOTALS, /* (types) ints */
  OUT_COUNTS,   /* (WORLD_COUNTS) ints */
  OUT_FAST_LINKS, /* (2) ints */
  WORLD_BUFFERS   /* Each law numbers its own buffers from here on: a call has one law. */
};

/* One of these numbers, or one of a law's own. */
typedef size_t world_buffer;

#endif
