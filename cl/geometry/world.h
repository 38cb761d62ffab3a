// A scene of moving links on a device, as host and kernels read it: sizes, a table of ints and a
// table of reals.
#ifndef GEOMETRY_WORLD_H
#define GEOMETRY_WORLD_H

// Joints, in the order of the scene's words.
#define JOINT_IS_FIXED 0
#define JOINT_IS_HINGE 1
#define JOINT_IS_SLIDE 2
#define JOINT_IS_BALL 3
#define JOINT_IS_FREE 4

// Bits of a world's status; docs/cone.md, section 12.
#define WORLD_NOT_FINITE 1
#define WORLD_DIVERGED 2
#define WORLD_OVERFLOW 4
#define WORLD_NOT_CONVERGED 8
#define WORLD_SINGULAR 16
#define WORLD_BAD_INPUT 32
#define WORLD_SQUEEZED 64
#define WORLD_FAST 128
#define WORLD_GAINED 256
#define WORLD_STATUSES 9
#define WORLD_STOPPED (WORLD_NOT_FINITE | WORLD_DIVERGED | WORLD_SINGULAR | WORLD_BAD_INPUT)

// Only ints, so that host and device agree on the layout. at_...: where tables begin among the
// ints or the reals, or where a world's numbers begin in its block.
typedef struct world_sizes {
  int links, nq, nv, nu;
  int pairs;  // of the scene, each with its parameters
  int groups; // of contacts between two links: a pair's, or of a pair's those of two links
  int rows;   // on one degree of freedom each: limits and friction loss
  int iterations, line_iterations, capacity;
  int pyramidal, exact, damped;
  int hard;      // contacts of a world that are chosen, 0: of none; its rows are at most hard_rows
  int hard_rows, elastic;
  int spring; // 1: contacts are springs between clouds
  // ints
  int at_links, at_actuators, at_rows, at_groups, at_group_dofs;
  // reals
  int at_link_reals, at_dof_reals, at_actuator_reals, at_row_reals, at_group_reals;
  int at_springs; // of each pair its parameters, where contacts are springs
  // numbers of a world, see memory.cl
  int at_rotation, at_origin, at_anchor, at_arm, at_axis, at_velocity, at_acceleration, at_force;
  int at_composite, at_mass, at_factor, at_smooth, at_bias, at_free, at_quaternion;
  int at_mobility, at_row_weights, at_columns; // where `exact` or weak groups ask for them
  int at_push; // where contacts are springs
  int numbers;
  // numbers of a world's reverse pass
  int at_back_links, at_back_y, at_back_z, at_back_slow, at_back_less, at_back_q, at_back_v;
  int at_back_u, at_back_parameters, back_numbers;
  // reals of a world that one work-group has to itself
  int at_columns_of, at_mass_of, at_hessian, at_vectors, at_row_terms, work;
  int contact_planes; // numbers of a world's contacts
} world_sizes;

// Ints of a link, an actuator, a row, a group, and of a degree of freedom that moves a group.
#define LINK_PARENT 0
#define LINK_TYPE 1
#define LINK_Q 2
#define LINK_V 3
#define LINK_INTS 4
#define ACTUATOR_KIND 0
#define ACTUATOR_Q 1
#define ACTUATOR_V 2
#define ACTUATOR_LIMITED 3
#define ACTUATOR_INTS 4
#define ROW_KIND 0
#define ROW_Q 1
#define ROW_V 2
#define ROW_INTS 3
#define ROW_LOW 0
#define ROW_HIGH 1
#define ROW_LOSS 2
#define GROUP_A 0 // link of body 1, or -1
#define GROUP_B 1
#define GROUP_PAIR 2
#define GROUP_DOFS 3    // that move its links against each other
#define GROUP_DOF_AT 4  // their place in the table
#define GROUP_PLANE 5   // contacts for which there is room
#define GROUP_AT 6      // where its contacts begin among a world's
#define GROUP_WEAK 7    // its links' inverse weights may say nothing
#define GROUP_INTS 8
#define MOVER_DOF 0
#define MOVER_LINK 1
#define MOVER_SIGN 2
#define MOVER_INTS 3

// Reals of the scene, a link, a degree of freedom, an actuator, a row, a pair.
#define WORLD_STEP 0
#define WORLD_IMPRATIO 1
#define WORLD_TOLERANCE 2
#define WORLD_LINE_TOLERANCE 3
#define WORLD_CONE_SMOOTHING 4
#define WORLD_LIMIT_SMOOTHING 5
#define WORLD_DIVERGENCE 6
#define WORLD_ERROR_REDUCTION 7 // of hard contacts, as all that follows
#define WORLD_SLOP 8
#define WORLD_CORRECTION 9
#define WORLD_LIMIT_MARGIN 10
#define WORLD_BOUNCE 11
#define WORLD_THRESHOLD 12
#define WORLD_REALS 13
#define LINK_POSITION 0
#define LINK_QUATERNION 3
#define LINK_JOINT 7 // the joint's position
#define LINK_AXIS 10
#define LINK_MASS 13
#define LINK_COM 14
#define LINK_INERTIA 17 // xx, yy, zz, xy, xz, yz
#define LINK_STIFFNESS 23
#define LINK_REST 24
#define LINK_REALS 25
#define DOF_DAMPING 0
#define DOF_ARMATURE 1
#define DOF_REALS 2
#define ACTUATOR_GEAR 0
#define ACTUATOR_KP 1
#define ACTUATOR_KV 2
#define ACTUATOR_LOW 3
#define ACTUATOR_HIGH 4
#define ACTUATOR_REALS 5
// Softness: K and B of a reference acceleration, impedance.
#define SOFT_K 0
#define SOFT_B 1
#define SOFT_D0 2
#define SOFT_D1 3
#define SOFT_WIDTH 4
#define SOFT_MIDDLE 5
#define SOFT_POWER 6
#define SOFT_REALS 7
#define ROW_SOFT 0
#define ROW_END SOFT_REALS        // of a limit; of friction loss its force
#define ROW_WEIGHT (SOFT_REALS + 1) // the degree of freedom's inverse weight
#define ROW_REALS (SOFT_REALS + 2)
#define ROW_SPRING_K 0 // in the softness' place, where contacts are springs
#define ROW_SPRING_E 1
#define ROW_SPRING_V 2
#define ROW_SPRING_SMOOTH 3 // 1: dissipation is smooth
#define GROUP_SOFT 0
#define GROUP_MARGIN SOFT_REALS
#define GROUP_WEIGHT (SOFT_REALS + 1) // inverse weights of both links
#define GROUP_FLAT (SOFT_REALS + 2)   // 1: without friction
#define GROUP_RESTITUTION (SOFT_REALS + 3)
#define GROUP_REACH (SOFT_REALS + 4) // hard contacts farther apart are none
#define GROUP_MERGED (SOFT_REALS + 5) // and those that are nearer to each other are one
#define GROUP_DEPTH (SOFT_REALS + 6)  // over which activities rise; 0: of contacts that are given
#define GROUP_HALF (SOFT_REALS + 7)   // half of its thinner body's thickness; 0: not known
#define GROUP_BALLS (SOFT_REALS + 8)  // around its bodies: centre in the link, radius, of each side
#define BALL_REALS 4
#define GROUP_REALS (SOFT_REALS + 8 + 2 * BALL_REALS)

// A world's parameters: mass scale of each link, friction and stiffness of each pair, gravity.
#define PARAMETERS(links, pairs) ((links) + 2 * (pairs) + 3)

// Planes of a contact: point from the group's centre, frame, reference acceleration, stiffness,
// distance less the margin, activity.
#define CONTACT_POINT 0
#define CONTACT_FRAME 3
#define CONTACT_REFERENCE 12
#define CONTACT_D 15
#define CONTACT_DISTANCE 16
#define CONTACT_ACTIVITY 17
#define CONTACT_PLANES 18
// Planes of a contact's cotangents, in the order of VALUE_* of geometry/layout.h.
#define BAR_P 0
#define BAR_D 3
#define BAR_N 4
#define BAR_ACTIVITY 7
#define BAR_PLANES 8
// A composite body: mass, mass times com, inertia about the link's origin.
#define COMPOSITE_NUMBERS 10

// What the solver keeps: vectors of nv numbers, and numbers of a row.
#define VECTOR_FREE 0
#define VECTOR_ACC 1
#define VECTOR_STEP 2
#define VECTOR_GRADIENT 3
#define VECTOR_SCALE 4
#define VECTOR_PUSH 5                // J' lambda
#define VECTOR_TURN 6                // M (acc - free)
#define VECTOR_ALONG 7               // M step
#define VECTOR_HELD 8                // M free
#define VECTORS 9
#define ROW_TERM_D 0
#define ROW_TERM_REF 1
#define ROW_TERMS 2

// Kinetic and potential energy; momentum, angular momentum.
#define ENERGY_REALS 8

// Of each contact an int, its place in its segment; of a group where each of its segments begins,
// and the end. Odd segments are of points that body 2 owns.
#define SEGMENTS_MOST 4
#define GROUP_MARKS (SEGMENTS_MOST + 1)

// What a reverse pass knows of a group. Wrenches: cotangents of its relative twist about its centre
// (moment, force) where joints move by the multiplier, the acceleration, the velocity; then what
// moving and turning either link does to its contacts (moment about the link's origin, force), and
// the cotangents of its pair's friction and stiffness; then of its mobility, the lower triangle.
#define BACK_MULTIPLIER 0
#define BACK_ACCELERATION 6
#define BACK_VELOCITY 12
#define BACK_POSE_A 18
#define BACK_POSE_B 24
#define BACK_FRICTION 30
#define BACK_STIFFNESS 31
#define BACK_MOBILITY 32
#define GROUP_BACK 53

// Of hard contacts: how many are chosen, of how many, and how many rows they, limits and friction
// losses make; of each a group and its place there; of each row behind them the one of the scene's table.
#define HARD_COUNT 0
#define HARD_KEPT 1
#define HARD_ROWS 2
#define HARD_CHOSEN 3
#define HARD_INTS(most, rows) (HARD_CHOSEN + 2 * (most) + (rows))
// Of candidates a group, a place there, whether one is taken, and whether it is idle.
#define HARD_CANDIDATE 4
// How derivatives see bounces: not at all, by collisions in time, by least squares.
#define HARD_STIFF 0
#define HARD_COLLISION 1
#define HARD_PAPER 2
// Numbers of a world's hard contacts, of m rows: J and inv(M) J' (m, nv) each; of each row how its target
// goes with the distance, its restitution where it bounces, else 0; a vector of nv.
#define HARD_REALS(m, nv) (2 * (m) * (nv) + 2 * (m) + (nv))
// Room of their derivatives: what collisions in time add to dq'/dq and dv'/dq (nv, nv) each, then
// three matrices of m rows (m, m), three vectors of m, and a vector of nv of each row.
#define HARD_BACK(m, nv) (2 * (nv) * (nv) + 3 * (m) * (m) + 3 * (m) + (m) * (nv))

// Numbers of a world whose classes descent may choose: the cotangents that its way back began with, of
// the state and of parameters, and how large the gradient of the answer's own classes is.
#define HARD_ESCAPE(nv, parameters) (2 * (nv) + (parameters) + 1)

// Of each degree of freedom, what rows do to q, v and the diagonal of inv(M).
#define ROW_BACK_Q 0
#define ROW_BACK_V 1
#define ROW_BACK_WEIGHT 2
#define ROW_BACK 3

// Numbers of a world's reverse pass beside those of world_sizes: of each link five pairs of vectors,
// cotangents of what it does under the multiplier, the acceleration, the velocity, of its true
// acceleration and of its pose, and two twists.
#define LINK_BACK_TWIST_Y 0
#define LINK_BACK_TWIST_Z 6
#define LINK_BACK_Y 12
#define LINK_BACK_Z 18
#define LINK_BACK_V 24
#define LINK_BACK_A 30
#define LINK_BACK_POSE 36
#define LINK_BACK 42

#endif
