// Where the packed numbers of a body, a pose and a chunk lie. Shared by the kernels and the packing
// host.
#ifndef GEOMETRY_LAYOUT_H
#define GEOMETRY_LAYOUT_H

// A body's head, integers: for each family the added and the subtracted count, then one (first,
// count) for each polyhedron and each point cloud, added ones first.
#define HEAD_SUPERQUADRICS 0 // added, subtracted
#define HEAD_POLYHEDRA 2
#define HEAD_POINTCLOUDS 4
#define HEAD_SUPERQUADRIC_BASE 6 // offsets into the body's reals
#define HEAD_PLANE_BASE 7
#define HEAD_POINT_BASE 8
#define HEAD_BALLS 9 // added, subtracted: offsets of the superquadrics' spheres
#define HEAD_RANGES 11

// A superquadric: rotation to the body frame (9), position (3), 1/axes (3), e1, 1/e1, e2, 1/e2,
// 1e-12 |axes|^2 under the root of r, the radius of the sphere around it, how often the ellipsoid
// of its axes must be taken to hold it and to lie within it, and the map of body directions to
// units of its axes (9): 1/axes times the rotation's transpose.
#define SUPERQUADRIC_STRIDE 32
#define SUPERQUADRIC_POSITION 9
#define SUPERQUADRIC_AXES_INV 12
#define SUPERQUADRIC_E1 15
#define SUPERQUADRIC_E1_INV 16
#define SUPERQUADRIC_E2 17
#define SUPERQUADRIC_E2_INV 18
#define SUPERQUADRIC_FLOOR 19
#define SUPERQUADRIC_OUTER 20
#define SUPERQUADRIC_MOST 21
#define SUPERQUADRIC_LEAST 22
#define SUPERQUADRIC_MAP 23

// The spheres around one operation's superquadrics, to be walked in lanes: planes x, y, z and
// radius, each padded to a multiple of BALL_PADDING.
#define BALL_PADDING 16
#define BALL_PLANES 4
#define PADDED_BALLS(count) (((count) + BALL_PADDING - 1) / BALL_PADDING * BALL_PADDING)

// A plane: normal (3), normal . point.
#define PLANE_STRIDE 4

// A cloud begins with a record of its own: centre (3), the squared distance beyond which exponents
// are taken relative, and the log2(e) / (2 width^2) of its widest point. Its points follow:
// position (3), normal (3), 1/width^2, log2(e) / (2 width^2). A range counts the points alone.
#define POINT_STRIDE 8
#define CLOUD_FAR2 3
#define CLOUD_WIDEST 4

// A pose pair: frames of 12 reals (rotation, translation), then what is added to every output of
// the pose: 0, or NaN for a pose that has none.
#define FRAME_WORLD_1 0  // body 1 -> world
#define FRAME_WORLD_2 12 // body 2 -> world
#define FRAME_1_TO_2 24  // body 1 -> body 2
#define FRAME_2_TO_1 36  // body 2 -> body 1
#define FRAME_POISON 48
#define FRAME_STRIDE 49

// What a call wants: bits of `want`.
#define WANT_P 1
#define WANT_D 2
#define WANT_N 4
#define WANT_ACTIVITY 8

// The planes of a field with its derivatives (field_jet): phi, normal (3), gradient of phi (3),
// Jacobian of the normal (9, row by row).
#define JET_PLANE_NORMAL 1
#define JET_PLANE_GRADIENT 4
#define JET_PLANE_JACOBIAN 7
#define JET_PLANES 16

// A block's share of a pose's wrenches: force and moment of body 2 against body 1, then of both
// bodies together in the world, all in body 1's frame.
#define WRENCH_REALS 12

// A witness pair in scratch, in planes: e1 (3), e2 (3) in body 1's frame, con.
#define WITNESS_PLANES 7
#define WITNESS_CON 6

// Cotangents of an edge pair's factors: dbar, both activities and, with gates, both activities
// without gate weights times their cotangents.
#define FACTORS_BAR_PLANES(gated) ((gated) ? 5 : 3)

// Score of a padding element: below every real one.
#define SCORE_NONE (-REAL_BIG)

// The manifold's layout as the compact list reads it: first slots, kept counts, whether selected.
#define LAYOUT_VERTICES_2 0
#define LAYOUT_EDGES_1 1
#define LAYOUT_EDGES_2 2
#define LAYOUT_KEPT_V1 3
#define LAYOUT_KEPT_V2 4
#define LAYOUT_KEPT_E1 5
#define LAYOUT_KEPT_E2 6
#define LAYOUT_SELECTED_V1 7
#define LAYOUT_SELECTED_V2 8
#define LAYOUT_SELECTED_E1 9
#define LAYOUT_SELECTED_E2 10
#define LAYOUT_INTS 11

// An entry of the compact list: pose, slot, two features; p (3), d, n (3), activity.
#define COMPACT_INTS 4
#define COMPACT_REALS 8

// Reductions of a pose: mean distance, activity, energy, least distance, soft minimum.
#define REDUCED_REALS 5

#define NO_FEATURE 0xffffffffu

#endif
