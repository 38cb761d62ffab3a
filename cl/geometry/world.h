// A scene of moving links, with the layout that the host writes and kernels read: sizes, a table of
// ints and a table of reals, and the layouts of each world's data. Formulas:
// docs/dev/cone-formulas.md.
#ifndef GEOMETRY_WORLD_H
#define GEOMETRY_WORLD_H

#include "geometry/joints.h"

// Bits of a world's status. docs/dev/cone-formulas.md, section 12, describes when each is set.
#define WORLD_NOT_FINITE 1
#define WORLD_DIVERGED 2
#define WORLD_OVERFLOW 4
#define WORLD_NOT_CONVERGED 8
#define WORLD_SINGULAR 16
#define WORLD_BAD_INPUT 32
#define WORLD_SQUEEZED 64
#define WORLD_FAST 128
#define WORLD_GAINED 256
#define WORLD_SWEPT 512
#define WORLD_SWEEP_LIMIT 1024
#define WORLD_DEEP 2048
#define WORLD_STATUSES 12
#define WORLD_STOPPED (WORLD_NOT_FINITE | WORLD_DIVERGED | WORLD_SINGULAR | WORLD_BAD_INPUT)

// The sizes of a scene. All members are ints, so that host and device agree on the layout. Members
// at_... are the starts of tables among the ints or the reals, or the starts of numbers among those
// of a world (kernels/world/memory.cl).
typedef struct world_sizes {
  int links, nq, nv, nu; // nu: all controls, first those of actuators, then those of moved links
  int actuators;
  int pairs;  // of the scene, listed or automatic
  int listed; // pairs; these are the first ones
  // of friction and of stiffness: one for each listed pair, and for each body in automatic pairs
  int columns;
  int groups;      // of contacts: those of one pair between the same two links
  int rows;        // each on one degree of freedom: limits and friction loss
  int coordinates; // weighted sums of joints' positions: tendons, then those of equalities
  int tendons, equalities;
  int trees;  // of links: M has a block for each, and zeros between them
  int blocks; // numbers of all trees' square blocks
  int iterations, line_iterations, capacity;
  int pyramidal, exact, damped;
  int hard;     // the most contacts of a world that are chosen if they are hard, otherwise 0
  int tangents; // friction rows of a hard contact: 2, 4 or 8
  int hard_rows, elastic; // most rows of its problem; HARD_STIFF, HARD_COLLISION or HARD_PAPER
  // what the contact law asks for
  int pair_springs;   // 1 where each pair has numbers of a spring, among them its friction; else
                      // friction is of parameters
  int zero_stiffness; // 1 where a body's stiffness may be 0, else it is MIN_STIFFNESS at least
  int active_reals;   // what the contacts of an active pair add up to
  int newton;         // 1 where the solver has islands and panels
  // where tables begin among the ints
  int at_links, at_actuators, at_rows, at_groups, at_group_dofs, at_dofs, at_trees, at_tree_dofs;
  int at_coordinates, at_members, at_equalities;
  // starts of tables among the reals
  int at_link_reals, at_dof_reals, at_actuator_reals, at_row_reals, at_group_reals;
  int at_springs; // the numbers of each pair's spring, if pairs have them
  int at_member_reals, at_tendon_reals, at_equality_reals;
  // starts of a world's numbers in its block
  int at_rotation, at_origin, at_anchor, at_arm, at_axis, at_velocity, at_acceleration, at_force;
  int at_composite, at_mass, at_factor, at_smooth, at_bias, at_free, at_quaternion;
  // with equalities: the matrix M + J' D J, whose factor is at_factor; the factor of M itself; the
  // acceleration without equalities; and an equality's rows. Without equalities all but the last
  // are those of M.
  int at_system, at_mass_factor, at_unheld, at_equality;
  int at_mobility, at_row_weights, at_columns; // only if the diagonal is exact or a group is weak
  int at_constraint_force;                     // the constraint force, if pairs have springs
  int numbers;
  // starts of the numbers of a world's reverse pass in its block
  int at_back_links, at_back_y, at_back_z, at_back_slow, at_back_less, at_back_q, at_back_v;
  int at_back_u, at_back_parameters, back_numbers;
  // for each group the lower triangle of the cotangent of its mobility, if the mobility exists
  int at_back_mobility;
  // starts of the solver's reals in a world's row of `work`
  int at_axes_of, at_mass_of, at_vectors, at_row_terms, at_islands, at_room, at_passes, at_panels,
    work;
  int pooled; // 1 if panels are in a pool of all worlds, whose size each step reports
  int slots;  // the most contacts of a world
} world_sizes;

// Ints of a link, of an actuator, of a row on one degree of freedom (a joint's limit or friction
// loss), of a group, of a mover (a degree of freedom that moves a group's links against each
// other), of a degree of freedom, and of a tree.
#define LINK_PARENT 0
#define LINK_TYPE 1
#define LINK_Q 2
#define LINK_V 3
#define LINK_TREE 4 // -1 if no degree of freedom moves it
#define LINK_U 5    // start of a moved link's controls, otherwise -1
#define LINK_INTS 6
#define ACTUATOR_FEELS 0 // whether its force depends on q or v
#define ACTUATOR_Q 1
#define ACTUATOR_V 2
#define ACTUATOR_LIMITED 3
#define ACTUATOR_CLAMPED 4
#define ACTUATOR_TENDON 5 // the tendon whose joints it moves, or -1
#define ACTUATOR_INTS 6
#define ROW_KIND 0
#define ROW_Q 1
#define ROW_V 2
#define ROW_INTS 3
#define ROW_LOW 0
#define ROW_HIGH 1
#define ROW_LOSS 2
#define GROUP_A 0 // the link of body 1, -1 for the world
#define GROUP_B 1
#define GROUP_PAIR 2
#define GROUP_DOFS 3   // its number of movers
#define GROUP_DOF_AT 4 // their start in the table of movers
#define GROUP_WEAK 5   // 1 if its links' inverse weights may be meaningless (contacts.cl)
#define GROUP_SLOT 6   // number of slots of the previous groups
// the column of friction and of stiffness of its pair, or of its first body
#define GROUP_COLUMN_A 7
#define GROUP_COLUMN_B 8 // the same column, or that of its second body
#define GROUP_CENTRE 9   // the link to whose origin its contacts are relative
#define GROUP_TURNS 10   // the side, 0 or 1, with whose body pyramids of friction rotate
#define GROUP_INTS 11
#define MOVER_DOF 0
#define MOVER_LINK 1
#define MOVER_SIGN 2
#define MOVER_INTS 3
#define DOF_TREE 0
#define DOF_PLACE 1 // its index among its tree's degrees of freedom
#define DOF_INTS 2
#define TREE_DOFS 0 // its number of degrees of freedom
// their start, in order, in the table of trees' degrees of freedom
#define TREE_DOF_AT 1
#define TREE_BLOCK 2 // start of its square block, row by row, among the blocks of all trees
#define TREE_INTS 3

// Ints of a coordinate, of one of its members, a joint, and of an equality.
#define COORDINATE_AT 0 // its first member
#define COORDINATE_COUNT 1
#define COORDINATE_INTS 2
#define MEMBER_Q 0
#define MEMBER_V 1
#define MEMBER_INTS 2
#define EQUALITY_CONNECT 0     // two points coincide
#define EQUALITY_WELD 1        // and do not rotate against each other
#define EQUALITY_COORDINATES 2 // one coordinate is a polynomial of another
#define EQUALITY_ROWS(kind) ((kind) == EQUALITY_CONNECT ? 3 : (kind) == EQUALITY_WELD ? 6 : 1)
#define EQUALITY_KIND 0
#define EQUALITY_A 1 // a link, -1 for the world; or a coordinate
#define EQUALITY_B 2 // the same; -1 if there is no second coordinate
#define EQUALITY_TREE 3
#define EQUALITY_INTS 4

#define HALF_UNKNOWN 1e30

// Reals of the scene, of a link, of a degree of freedom, of an actuator, of a row, and of a group.
#define WORLD_STEP 0
#define WORLD_IMPRATIO 1
#define WORLD_TOLERANCE 2
#define WORLD_LINE_TOLERANCE 3
#define WORLD_CONE_SMOOTHING 4
#define WORLD_LIMIT_SMOOTHING 5
#define WORLD_DIVERGENCE 6
#define WORLD_HALF_LEAST 7      // the least known GROUP_HALF, HALF_UNKNOWN if none is known
#define WORLD_REACH_MOST 8      // the largest group_reach
#define WORLD_ERROR_REDUCTION 9 // this and all following ones are for hard contacts
#define WORLD_SLOP 10
#define WORLD_CORRECTION 11
#define WORLD_LIMIT_MARGIN 12
#define WORLD_BOUNCE 13
#define WORLD_THRESHOLD 14
#define WORLD_REALS 15
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
#define ACTUATOR_LEAST 5 // of the control
#define ACTUATOR_MOST 6
#define ACTUATOR_GAIN 7 // beyond kp: the force is gain u + bias + kp (u - l) - kv l'
#define ACTUATOR_BIAS 8
#define ACTUATOR_REALS 9
// A softness (docs/dev/cone-formulas.md, section 8): K and B of the reference acceleration, then
// the impedance.
#define SOFT_K 0
#define SOFT_B 1
#define SOFT_D0 2
#define SOFT_D1 3
#define SOFT_WIDTH 4
#define SOFT_MIDDLE 5
#define SOFT_POWER 6
#define SOFT_REALS 7
#define ROW_SOFT 0
#define ROW_END SOFT_REALS          // the position of a limit, or the force of a friction loss
#define ROW_WEIGHT (SOFT_REALS + 1) // the inverse weight of its degree of freedom
#define ROW_REALS (SOFT_REALS + 2)
#define ROW_SPRING_K 0 // for springs, limit springs' numbers replace the softness
#define ROW_SPRING_E 1
#define ROW_SPRING_V 2
#define ROW_SPRING_SMOOTH 3 // 1 if their dissipation is smooth
#define GROUP_SOFT 0
#define GROUP_MARGIN SOFT_REALS
#define GROUP_WEIGHT (SOFT_REALS + 1) // the sum of both links' inverse weights
#define GROUP_FLAT (SOFT_REALS + 2)   // 1 if its contacts have no friction
#define GROUP_RESTITUTION (SOFT_REALS + 3)
#define GROUP_REACH (SOFT_REALS + 4)  // the margin: hard contacts at a larger distance do not count
#define GROUP_MERGED (SOFT_REALS + 5) // hard contacts nearer to each other are merged
// for springs and hard contacts: the depth over which activities rise, 0 for given ones
#define GROUP_DEPTH (SOFT_REALS + 6)
#define GROUP_HALF (SOFT_REALS + 7)  // half of its thinner body's thickness, 0 if unknown
#define GROUP_BALLS (SOFT_REALS + 8) // a sphere around each body: its centre in the link, radius
#define BALL_REALS 4
// GROUP_HALF for sweeping, 0 if sweeping excludes the group
#define GROUP_SWEEP_HALF (GROUP_BALLS + 2 * BALL_REALS)
// the distance at which sweeping stops its bodies
#define GROUP_APART (GROUP_BALLS + 2 * BALL_REALS + 1)
// 1 if its spring's dissipation is smooth
#define GROUP_SMOOTH (GROUP_BALLS + 2 * BALL_REALS + 2)
// for the body of side GROUP_TURNS: its quaternion in its link, and the weights of its axes x and y
// relative to z
#define GROUP_AXES (GROUP_BALLS + 2 * BALL_REALS + 3)
#define GROUP_ACROSS (GROUP_BALLS + 2 * BALL_REALS + 7)
// distance below a contact's point, against its normal, at which its force acts: half of the
// margin, 0 for given contacts
#define GROUP_MIDDLE (GROUP_BALLS + 2 * BALL_REALS + 8)
// sum of the farthest distances of both bodies' spheres from their links' origins
#define GROUP_SPAN (GROUP_BALLS + 2 * BALL_REALS + 9)
#define GROUP_REALS (GROUP_BALLS + 2 * BALL_REALS + 10)
// A tendon's reals. Its spring pulls if the tendon's length is outside of the rest range.
#define TENDON_STIFFNESS 0
#define TENDON_DAMPING 1
#define TENDON_LOW 2
#define TENDON_HIGH 3
#define TENDON_REALS 4
// An equality's reals: a softness and inverse weights; then for links the place of either side, a
// position and a quaternion, or for coordinates a polynomial and both initial values.
#define EQUALITY_SOFT 0
#define EQUALITY_WEIGHT SOFT_REALS
#define EQUALITY_TURN_WEIGHT (SOFT_REALS + 1)
#define EQUALITY_TORQUE (SOFT_REALS + 2)
#define EQUALITY_PLACE_A (SOFT_REALS + 3)
#define EQUALITY_PLACE_B (SOFT_REALS + 10)
#define EQUALITY_POLYNOMIAL EQUALITY_PLACE_A
#define EQUALITY_START_A (SOFT_REALS + 8)
#define EQUALITY_START_B (SOFT_REALS + 9)
#define EQUALITY_REALS (SOFT_REALS + 17)

// The number of a world's parameters: mass_scale (links), friction (columns), stiffness (columns),
// gravity (3).
#define PARAMETERS(links, columns) ((links) + 2 * (columns) + 3)

// The planes of a world pair's contacts: point (3) relative to the group's centre, the frame's
// rows n, t1 and t2 (9), reference acceleration (3), stiffness D, distance less the margin, and
// activity.
#define CONTACT_POINT 0
#define CONTACT_FRAME 3
#define CONTACT_REFERENCE 12
#define CONTACT_D 15
#define CONTACT_DISTANCE 16
#define CONTACT_ACTIVITY 17
#define CONTACT_PLANES 18
// The planes of a world pair's contacts' cotangents, in the order of VALUE_* of geometry/layout.h.
#define BAR_P 0
#define BAR_D 3
#define BAR_N 4
#define BAR_ACTIVITY 7
#define BAR_PLANES 8
// The numbers of a composite body: mass, mass times centre of mass (3), inertia about the link's
// origin (xx, yy, zz, xy, xz, yz).
#define COMPOSITE_NUMBERS 10

// The data of Newton's method for a world: for each degree of freedom the twist (angular velocity,
// velocity) of its link about the link's origin at a rate of 1, and the position of that origin;
// vectors of nv numbers, two numbers of each row, and numbers of each island, at the index of its
// least tree.
#define AXIS_AT 6
#define AXIS_REALS 9
#define VECTOR_FREE 0
#define VECTOR_ACC 1
#define VECTOR_STEP 2
#define VECTOR_GRADIENT 3
#define VECTOR_SCALE 4
#define VECTOR_CONSTRAINT_FORCE 5 // J' lambda, the constraint force
#define VECTOR_TURN 6             // M (acc - free)
#define VECTOR_ALONG 7            // M step, or acc - free
#define VECTOR_HELD 8             // M free
#define VECTORS 9
// Numbers of each link, used only on CPUs (GPUs also reserve room): its origin relative to its
// parent's origin, its twist about its origin, the sums of contacts on it and its descendants
// (kernels/world/passes.cl), and whether there are such contacts.
#define PASS_ARM 0
#define PASS_TWIST 3
#define PASS_SUMS 9
#define PASS_SUMS_REALS 32 // 27, padded to whole lanes
#define PASS_LOADED 41
#define PASS_REALS 42
// The numbers of an active pair of the world: the twist of link a against link b of its group at an
// acceleration and along a step, the sums over its contacts (kernels/world/cost.cl; at most 27
// numbers), and the friction of its contacts.
#define ACTIVE_TWIST 0
#define ACTIVE_ALONG 6
#define ACTIVE_SUMS 12
#define ACTIVE_FRICTION 39
#define ACTIVE_REALS 40
// of springs at contacts a world pair has its wrench on body 1 in the place of these
#define SPRING_SUMS 6
// Sums over a world pair's contacts, as outputs: a wrench on body 1 about the group's centre
// (moment, force), and the sum of the normal forces.
#define PUSH_NORMAL 6
#define PUSH_REALS 7
#define ROW_TERM_D 0
#define ROW_TERM_REF 1
#define ROW_TERMS 2
#define ISLAND_LAST 0   // the last decrement
#define ISLAND_START 1  // minus the slope of the cost at the start of a line
#define ISLAND_TURNED 2 // the contributions of M to slope and bend
#define ISLAND_BENT 3
#define ISLAND_AT 4 // the position on the line, and its bounds
#define ISLAND_LOW 5
#define ISLAND_HIGH 6
#define ISLAND_SLOPE 7
#define ISLAND_BEND 8
#define ISLAND_SUM 9
#define ISLAND_NUMBERS 10

// The ints of a world's graph of trees (kernels/world/panels.cl): ORDER_ARRAYS arrays with one int
// for each tree, the start of its panels in the pool, and rows of bits, one per tree and one for
// room.
#define ORDER_ISLAND 0 // the least tree of its island
#define ORDER_STATE 1  // ISLAND_... of the island with this least tree
#define ORDER_TREES 2  // the trees in the order of elimination
#define ORDER_PLACE 3  // the place of each tree in it
#define ORDER_DEGREE 4
#define ORDER_ROWS 5  // number of rows of its panel
#define ORDER_PANEL 6 // start of its panel
#define ORDER_ARRAYS 7
#define ORDER_FIRST(trees) (ORDER_ARRAYS * (trees))
#define ORDER_BITS(trees) (ORDER_FIRST(trees) + 1)
#define ORDER_WORDS(trees) (((trees) + 31) / 32)
#define ORDER_INTS(trees) (ORDER_BITS(trees) + ORDER_WORDS(trees) * ((trees) + 1))
#define ISLAND_AT_WORK 1
#define ISLAND_SEARCHES 2 // along a line
#define ISLAND_ENDS 4
#define ISLAND_FAILED 8
#define ISLAND_MOVES 16 // away from its last evaluation
// The distance of a panel's columns; the largest number of degrees of freedom of a world whose
// panels need no pool; and the largest number of reals in the panels of such a world. `squares` is
// the sum of the squares of trees' degrees of freedom. In the pool worlds begin at multiples of
// PANEL_UNIT, and all of a chunk's worlds have at most ORDER_SUM_MOST of these units.
#define PANEL_STRIDE(rows, lanes) (((rows) + (lanes)-1) / (lanes) * (lanes))
#define PANEL_DOFS_MOST 128
#define PANELS_MOST(nv, squares, lanes) (((nv) * (nv) + (squares)) / 2 + ((nv) + 1) * (lanes))
#define PANEL_UNIT 16
#define ORDER_SUM_MOST 0x7fffffff

// The work of a world's solves so far: the number of solves, and the sums over all solves of world
// pairs, active pairs, contacts, active islands and numbers of panels.
#define COUNT_SOLVES 0
#define COUNT_ITEMS 1
#define COUNT_ENTRIES 2
#define COUNT_CONTACTS 3
#define COUNT_ISLANDS 4
#define COUNT_PANEL_NUMBERS 5
#define WORLD_COUNTS 6

// A world's energy and momentum: kinetic, potential, linear (3), angular about the world's origin
// (3).
#define ENERGY_REALS 8

// Contacts come in segments: vertices of body 1, vertices of body 2, edge contacts with points on
// body 1, and with points on body 2. A contact has an int, its place in its segment. Body 2 owns
// the points of odd segments.
#define SEGMENTS_MOST 4

// A world pair is a pair of bodies (a contact group) in one world of a chunk, if the broad phase
// keeps it. World pairs of one pair type are consecutive, world by world; the manifold computes
// them together. The contacts of all world pairs are in one pool, where those of a world pair form
// planes (CONTACT_PLANES, plane) that begin with the pool's contact `at`; `plane` is their number,
// rounded up to whole lanes. The marks are the first contact of each segment, and the end.
#define WORLD_PAIR_WORLD 0
#define WORLD_PAIR_GROUP 1
#define WORLD_PAIR_AT 2
#define WORLD_PAIR_PLANE 3
#define WORLD_PAIR_MARKS 4
#define WORLD_PAIR_END (WORLD_PAIR_MARKS + SEGMENTS_MOST)
#define WORLD_PAIR_INTS (WORLD_PAIR_END + 1)

// The active pairs of a world are its world pairs that have contacts, ordered by pair type and then
// by group. Their numbers are in one list for all worlds; each world has two ints: where its active
// pairs begin in that list, and how many there are.
#define ACTIVE_PAIRS_AT 0
#define ACTIVE_PAIRS_COUNT 1
#define ACTIVE_PAIRS_INTS 2

// The broad phase (kernels/world/broad.cl). A body has its pose on its link and two boxes in its
// own axes: one around the points by which it makes contacts, and one around the reach of its
// field. In a world it has its position, its quaternion, and the ends of both boxes along the
// world's axes. A candidate is a group with its two bodies. The candidates of a type fill whole
// runs, with groups of -1 as padding.
#define BOX_CENTRE 0
#define BOX_HALF 3
#define BOX_REALS 6
#define BROAD_POINTS 7
#define BROAD_FIELD (BROAD_POINTS + BOX_REALS)
#define BROAD_REALS (BROAD_FIELD + BOX_REALS)
#define BROAD_NUMBERS BROAD_REALS
#define CANDIDATE_A 0
#define CANDIDATE_B 1
#define CANDIDATE_GROUP 2
#define CANDIDATE_KEPT 3 // 1 if it is never excluded
#define CANDIDATE_INTS 4
#define CANDIDATE_RUN 32
#define TYPE_RUN 0
#define TYPE_RUNS 1
#define TYPE_INTS 2
#define COUNT_BLOCK 256 // worlds or world pairs that are counted together

// How the contacts of a segment, or their cotangents, lie in the arrays p, d, n and activity and in
// a list of their places. Kernels take it by value. All members are ints, so that host and device
// agree on the layout.
typedef struct contact_layout {
  int row;   // how many numbers of p and of n each world pair has
  int rows3; // 1 where it has row / 3 of d and of activity, 0 where it has as many of these
  int at_p, at_d, at_n, at_activity; // where the segment begins in a world pair's row of each
  int step3; // how far one contact's vector is from the next one's; numbers are 1 apart
  int plane; // how far one component of a vector is from the next
  int count; // how many contacts there are; -1: as many as the first int of the world pair's list
             // says
  int place_at; // where their places begin in a list that all world pairs share, else -1
  int list_at;  // where in a row of the list its own numbers begin
  int list_row; // how many ints each world pair has of the list, where it has its own
} contact_layout;

// The data of a world pair in a reverse pass, or of a group if contacts are springs. First there
// are three wrenches (moment, force): the cotangents of the group's relative twist about its centre
// as joints move by the multiplier y, by the acceleration and by the velocity. Then for either link
// there is a wrench about the link's origin: the cotangent of its pose by its contacts. Then there
// are the cotangents of friction and stiffness of the pair, and the lower triangle, row by row, of
// the cotangent of the mobility (6, 6).
#define BACK_MULTIPLIER 0
#define BACK_ACCELERATION 6
#define BACK_VELOCITY 12
#define BACK_POSE_A 18
#define BACK_POSE_B 24
#define BACK_FRICTION 30
#define BACK_STIFFNESS 31
#define BACK_MOBILITY 32
#define MOBILITY_PART 21
#define GROUP_ADJOINT (BACK_MOBILITY + MOBILITY_PART)

// Sweeping (kernels/world/sweep.cl) has at most SWEEP_EVENTS impacts per step. A world has ints:
// whether it is still active, and the group of its first impact, -1 for none. Its reals are the
// remaining share of the step, the shares of this at which its bodies meet and at which they are
// stopped, the outward normal of body 2 at the meeting, and the midpoint between the bodies.
#define SWEEP_EVENTS 15
#define SWEEP_ACTIVE 0
#define SWEEP_GROUP 1
#define SWEEP_INTS 2
#define SWEEP_REST 0
#define SWEEP_TOI 1
#define SWEEP_STOP 2
#define SWEEP_N 3
#define SWEEP_P 6
#define SWEEP_REALS 9
// The memory of an impact: J (3, nv), inv(L) J' (3, nv), a vector of nv.
#define SWEEP_WORK(nv) (7 * (nv))

// The data of a step's impacts for their derivatives. A world has an int, its number of impacts,
// and then the ints of each: its group, the kind of the features that meet (CCD_...), 1 if the
// middle of a patch is hit, the number of SWEEP_DIRECTIONS in which each body's own vertices are
// farthest, and 1 for the last impact of a step. An impact's reals are the share at which bodies
// meet and the share of the step that was left; the corners of the features (4, 3), the vertex
// before the triangle's or body 1's edge before body 2's, and the means of each body's farthest
// vertices (2, 3), in the meshes' own axes; and the state: the start of the rest of the step, its
// end, and the velocity.
#define SWEEP_DIRECTIONS 8
#define SWEEP_KEPT_GROUP 0
#define SWEEP_KEPT_KIND 1
#define SWEEP_KEPT_WHOLE 2
#define SWEEP_KEPT_COUNTS 3
#define SWEEP_KEPT_LAST 5
#define SWEEP_KEPT_INTS 6
#define SWEEP_KEPT_ROW (1 + SWEEP_KEPT_INTS * (SWEEP_EVENTS + 1))
#define SWEEP_KEPT_TOI 0
#define SWEEP_KEPT_REST 1
#define SWEEP_KEPT_CORNERS 2
#define SWEEP_KEPT_MEANS 14
#define SWEEP_KEPT_STATE 20
#define SWEEP_KEPT_REALS(nq, nv) (SWEEP_KEPT_STATE + 2 * (nq) + (nv))

// The tangent of the state on which an impact acts: of the start of the rest of the step, of its
// end, of the velocity (nv each), and of the remaining share of the step. A cotangent has the same
// layout. Parameters of an impact are the links' mass scales, the controls of moved links and the
// friction of its pair.
#define SWEEP_SEED(nv) (3 * (nv) + 1)
#define SWEEP_SEEDS(nv, links, moved) (SWEEP_SEED(nv) + (links) + (moved) + 1)
// The cotangents of parameters: mass scales, columns of friction, controls of moved links.
#define SWEEP_SLOPES_OF(links, columns, moved) ((links) + (columns) + (moved))
// The memory of LANES directions of derivative of an impact, in numbers of LANES: a tree; the start
// of the rest of the step, its end and the meeting; parameters and controls; v, J and inv(L) J'
// (nv, 7) and a vector of nv. The tangents follow; they are not numbers but derivatives only.
#define SWEEP_DUALS(numbers, nq, nv, nu, parameters) \
  ((numbers) + 3 * (nq) + (parameters) + (nu) + 8 * (nv))
#define SWEEP_DUAL_REALS(numbers, nq, nv, nu, parameters) \
  (2 * SWEEP_DUALS(numbers, nq, nv, nu, parameters) + SWEEP_SEED(nv))

// The ints of a world's hard contacts: the number of chosen contacts, the number of contacts from
// which they were chosen, and the number of rows of contacts, limits and friction losses. Then each
// chosen contact has its world pair and its place in that pair. Each row after the contacts' rows
// has its place in the scene's table of rows.
#define HARD_COUNT 0
#define HARD_KEPT 1
#define HARD_ROWS 2
#define HARD_CHOSEN 3
#define HARD_INTS(most, rows) (HARD_CHOSEN + 2 * (most) + (rows))
// The ints of a candidate: its world pair, its place there, whether it is taken, and whether it is
// idle.
#define HARD_CANDIDATE 4
// How derivatives treat bounces (docs/dev/lcp-formulas.md, section 8): not at all, as collisions in
// time, or by least squares.
#define HARD_STIFF 0
#define HARD_COLLISION 1
#define HARD_PAPER 2
// The numbers of a world's hard contacts, with m rows: J and J inv(M), (m, nv) each; for each row
// the derivative of its target speed with respect to its distance; for each row its restitution, or
// 0 if it does not bounce; a vector of nv; and for each row its parts along two tangents.
#define HARD_ALONG(m, nv) (2 * (m) * (nv) + 2 * (m) + (nv))
#define HARD_REALS(m, nv) (HARD_ALONG(m, nv) + 2 * (m))
// The memory for derivatives of hard contacts. It begins with the contributions of collisions in
// time to dq'/d(q, u) and to dv'/d(q, u), (nv, nv + moved) each, where u are the controls of moved
// links. Then there are three matrices (m, m), three vectors of m, for each row a vector of nv,
// and two vectors of m. Two vectors of nv are last, and begin at HARD_SHARES.
#define HARD_SHARES(m, nv, moved) \
  (2 * (nv) * ((nv) + (moved)) + 3 * (m) * (m) + 5 * (m) + (m) * (nv))
#define HARD_ADJOINT(m, nv, moved) (HARD_SHARES(m, nv, moved) + 2 * (nv))

// The numbers of a world in which descent may choose the classes (docs/dev/lcp-formulas.md, section
// 9): the cotangents of the state and of the parameters at the start of the reverse pass, and the
// size of the gradient with the solution's own classes.
#define HARD_ESCAPE(nv, parameters) (2 * (nv) + (parameters) + 1)

// The planes (ROW_ADJOINT, nv) of the contributions of rows on single degrees of freedom to the
// cotangents of q, of v and of the diagonal of inv(M).
#define ROW_BACK_Q 0
#define ROW_BACK_V 1
#define ROW_BACK_WEIGHT 2
#define ROW_ADJOINT 3

// The numbers of a link in the reverse pass. First its twists (angular velocity, velocity of its
// origin) if joints move by y and by z. Then five pairs of vectors, a moment and a force each: the
// cotangents of the link's twist under y, of that under z, of its velocity, of its true
// acceleration, and of its pose.
#define LINK_BACK_TWIST_Y 0
#define LINK_BACK_TWIST_Z 6
#define LINK_BACK_Y 12
#define LINK_BACK_Z 18
#define LINK_BACK_V 24
#define LINK_BACK_A 30
#define LINK_BACK_POSE 36
#define LINK_ADJOINT 42

#endif
