// The locations of the packed numbers of a body, a pose and a chunk: the layouts that the kernels
// share with the host, which packs.
#ifndef GEOMETRY_LAYOUT_H
#define GEOMETRY_LAYOUT_H

#include "geometry/families.h"
#include "geometry/outputs.h"
#include "geometry/reductions.h"

// A body's head, integers: the number of added and of subtracted primitives, an entry for each
// operation and family, and then ranges.
#define HEAD_ADDED 0
#define HEAD_SUBTRACTED 1
#define HEAD_ENTRIES 2
#define HEAD_ENTRY(operation, family) \
  (HEAD_ENTRIES + ((operation)*FAMILY_COUNT + (family)) * ENTRY_INTS)
#define HEAD_RANGES HEAD_ENTRY(2, 0)

// The entry of one operation's primitives of a family: their number, the start of their numbers in
// the body's reals, and the start of their ranges in the head.
#define ENTRY_COUNT 0
#define ENTRY_BASE 1
#define ENTRY_RANGES 2
#define ENTRY_INTS 3

// The range of a primitive of varying size: its start relative to its entry's base, and its number
// of planes or points.
#define RANGE_INTS 2

// The numbers of a superquadric: rotation to the body frame (9), position (3), 1/axes (3), e1,
// 1/e1, e2, 1/e2, 1e-12 |axes|^2 under the root of r, the radius of the sphere around it, the
// factors that scale the ellipsoid of its axes to contain it and to be inside it, and the map of
// body directions to units of its axes (9), which is 1/axes times the rotation's transpose.
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

// One operation's superquadrics are followed by the spheres around them, for evaluation in lanes:
// planes x, y, z and radius, each padded to a multiple of BALL_PADDING.
#define BALL_PADDING 16
#define BALL_PLANES 4
#define PADDED_BALLS(count) (((count) + BALL_PADDING - 1) / BALL_PADDING * BALL_PADDING)

// The numbers of a plane: normal (3), normal . point.
#define PLANE_STRIDE 4

// A cloud begins with its own record: centre (3), the squared distance beyond which exponents are
// relative, and the log2(e) / (2 width^2) of its widest point. Its points follow: position (3),
// normal (3), 1/width^2, log2(e) / (2 width^2). A range counts only the points.
#define POINT_STRIDE 8
#define CLOUD_FAR2 3
#define CLOUD_WIDEST 4

// A grid begins with its own record: origin (3), spacing, inverse of the spacing, sizes (3), sizes
// of the map (3); the largest slope of the spline where it may be nonnegative inside, without
// and with its corrections; the largest reduction of a distance by the corrections; the least
// outward slope, the least distance and the largest distance at the places of clipped points; and a
// reach, GRID_NEAR.
//
// Its coefficients follow. Then there are three maps, with a number for each 4 x 4 x 4 cells:
// the index of their block of level 1 or -1, the largest slope within GRID_NEAR of them, and the
// largest correction within GRID_NEAR of them. The blocks of all levels follow. Coefficients and
// each map are padded to multiples of GRID_PADDING. A range counts the levels.
#define GRID_STRIDE 32
#define GRID_SPACING 3
#define GRID_SPACING_INV 4
#define GRID_SIZES 5
#define GRID_MAP 8
#define GRID_SLOPE 11
#define GRID_FINE_SLOPE 12
#define GRID_CORRECTION 13
#define GRID_OUTWARD 14
#define GRID_RIM_LEAST 15
#define GRID_RIM_MOST 16
#define GRID_NEAR 17
#define GRID_PADDING 16
#define GRID_PADDED(count) (((count) + GRID_PADDING - 1) / GRID_PADDING * GRID_PADDING)
#define GRID_MAPS 3
#define GRID_MAP_CELLS 4 // a side of a block of level 1, in cells of the grid

// A block has 8 cells per side. Its numbers are the index of the next level's block in each octant
// (z fastest; -1: none), and the coefficients of its nodes -1 to 9 per side. The outermost nodes
// belong to its neighbours.
#define GRID_CELLS 8
#define GRID_CHILDREN 8
#define GRID_NODES 11
#define GRID_BLOCK_STRIDE 1344

// A height field begins with its own record: half lengths along x and y, cells per metre along
// both, nodes along both, the depth of the base below 0, the rounding error of a height, the
// largest height, and the largest sqrt(1 + |slope|^2); and a reach, HEIGHT_NEAR, which limits a
// lookup of the map to a few of its blocks.
//
// Its coefficients follow, in rows along x. The spline's coefficients extend one node around the
// heights, and HEIGHT_FLAT rows and columns around them repeat the outermost ones. Then there are
// the levels of a map of the largest sqrt(1 + |slope|^2): a number for every HEIGHT_MAP_CELLS cells
// per side, then for twice as many each, up to one for all. A range counts the levels.
#define HEIGHT_STRIDE 16
#define HEIGHT_CELLS 2
#define HEIGHT_NODES 4
#define HEIGHT_BASE 6
#define HEIGHT_ROUNDING 7
#define HEIGHT_MOST 8
#define HEIGHT_SLANT 9
#define HEIGHT_NEAR 10
#define HEIGHT_FLAT 2
#define HEIGHT_BORDER (1 + HEIGHT_FLAT) // nodes around the heights
#define HEIGHT_SIDE(nodes) ((nodes) + 2 * HEIGHT_BORDER)
#define HEIGHT_SPANS(nodes) (HEIGHT_SIDE(nodes) - 3) // cells, including flat ones
#define HEIGHT_MAP_CELLS 4
#define HEIGHT_MAP_SIDE(nodes) ((HEIGHT_SPANS(nodes) + HEIGHT_MAP_CELLS - 1) / HEIGHT_MAP_CELLS)
#define HEIGHT_MAP_NEXT(side) (((side) + 1) / 2)

// The numbers of a core: rotation to the body frame (9), position (3), half lengths (3; for a disc
// its radius, its half length, 0), the width w = radius / 2 of the rounding and 1 / w, the square
// of radius / 100 under roots, the offset that phi subtracts from its root, CORE_IS_*, whether it
// has an inside, and the rounding error of a distance.
#define CORE_STRIDE 24
#define CORE_POSITION 9
#define CORE_HALF 12
#define CORE_WIDTH 15
#define CORE_WIDTH_INV 16
#define CORE_SOFT 17
#define CORE_OFFSET 18
#define CORE_KIND 19
#define CORE_SOLID 20
#define CORE_ROUNDING 21
#define CORE_IS_BOX 0
#define CORE_IS_DISC 1

// The frames of a pose pair, 12 reals each (rotation, translation), and then a number added to
// every output of the pose: 0, or NaN for a bad pose.
#define FRAME_WORLD_1 0  // body 1 -> world
#define FRAME_WORLD_2 12 // body 2 -> world
#define FRAME_1_TO_2 24  // body 1 -> body 2
#define FRAME_2_TO_1 36  // body 2 -> body 1
#define FRAME_POISON 48
#define FRAME_STRIDE 49

// The frames from body `side` to the other one, and to the world, and the one from body 1, in whose
// frame witness points are written, to body `side`; -1 means no frame.
#define FRAME_ACROSS(side) ((side) ? FRAME_2_TO_1 : FRAME_1_TO_2)
#define FRAME_WORLD(side) ((side) ? FRAME_WORLD_2 : FRAME_WORLD_1)
#define FRAME_FROM_1(side) ((side) ? FRAME_1_TO_2 : -1)

// Motions of body 2 in body 1's frame, along which all results of a pose pair are differentiated:
// translations along the axes, then rotations about body 2's origin.
#define MOTIONS 6

// The effect of the poses' numbers on the bodies: body 1's rotation to the world (9) and body 2's
// origin in body 1's frame (3); then, six for each number of pose 1, body 1's translation and
// rotation in its own axes, and, six for each number of pose 2, body 2's motions.
#define STEPS_ROTATION 0
#define STEPS_ORIGIN 9
#define STEPS_1 12
#define STEPS_2 54
#define STEPS_REALS 96

// The input of a Hessian: force and moment of body 2 against body 1, about body 2's origin in body
// 1's axes, and their derivatives, six numbers for each motion.
#define SLOPES_FORCE 0
#define SLOPES_MOMENT 3
#define SLOPES_MOTIONS 6
#define SLOPES_REALS (SLOPES_MOTIONS + 6 * MOTIONS)

// The planes of a field with its derivatives (field_jet): phi, normal (3), gradient of phi (3),
// Jacobian of the normal (9, row by row).
#define JET_PLANE_NORMAL 1
#define JET_PLANE_GRADIENT 4
#define JET_PLANE_JACOBIAN 7
#define JET_PLANES 16

// Planes in scratch for each point, edge or pair of edges.
#define POINT_PLANES 3
#define FIELD_PLANES 4      // phi, its normal or gradient; FIELD_JET: JET_PLANES
#define ENDS_PLANES 6       // an edge's first end, its second end
#define PAIR_ENDS_PLANES 12 // the ends of body 1's edge, then of body 2's

// A block's share of a pose's wrenches: force and moment of body 2 against body 1, then those of
// both bodies together in the world, all in body 1's frame.
#define WRENCH_REALS 12

// The planes of witness pairs in scratch, and of their cotangents: e1 (3) and e2 (3) in body 1's
// frame, and con.
#define WITNESS_PLANES 7
#define WITNESS_E2 3
#define WITNESS_CON 6

// The planes of edge pairs' factors, dbar and both activities, and the planes of their cotangents.
// With gates these are followed by a pair's contributions to the gate weights of its edge of body 1
// and of body 2.
#define FACTORS_PLANES 3
#define FACTORS_BAR_WEIGHTS FACTORS_PLANES
#define FACTORS_BAR_PLANES(gated) ((gated) ? FACTORS_BAR_WEIGHTS + 2 : FACTORS_PLANES)

// The planes of normal cones (geometry/cone.inl): axis (3), half angle, its cosine and its sine,
// and the inset of the feature. Those of vertices follow the radii, first in the order of the
// sorted vertices and then in the mesh's order, like the radii.
#define CONE_ANGLE 3
#define CONE_COSINE 4
#define CONE_SINE 5
#define CONE_INSET 6
#define CONE_PLANES 7
#define RADII_CONES(kept, padded) ((2 + ((kept) ? CONE_PLANES : 0)) * (padded))
#define RADII_PLANES (2 + 2 * CONE_PLANES)

// A zone of a seam (geometry/seam.inl): three axes (3 each) in the frame of its body; along each
// axis the start of the rise, and the end of the fall; one over the length of rise and fall; and 1
// if contacts outside of the zone count, 0 if those inside count.
#define ZONE_AXES 0
#define ZONE_LOW 9
#define ZONE_HIGH 12
#define ZONE_INVERSE 15
#define ZONE_OUTSIDE 16
#define ZONE_REALS 17

// The planes of a body's edges as contacts in fields (geometry/edge_field.inl): the first end (3),
// the vector to the second (3, 0 for an arc), the arc's radius vectors at the first end and across
// (3 each), its angle (0: a straight edge), the length, the radius, the term of a score in addition
// to the distances of its ends, 1 for a quarter of a circle, and the edge's cone (CONE_*).
#define EDGE_P 0
#define EDGE_U 3
#define EDGE_E1 6
#define EDGE_E2 9
#define EDGE_ANGLE 12
#define EDGE_LENGTH 13
#define EDGE_RADIUS 14
#define EDGE_SCORE 15
#define EDGE_QUARTER 16
#define EDGE_CONE 17
#define EDGE_PLANES (EDGE_CONE + CONE_PLANES)

// The planes of the places of both ends' points of retained edges.
#define EDGE_PLACES 2

// The score of a padding element is below every real one.
#define SCORE_NONE (-REAL_BIG)

// An entry of the compact list: the ints pose, slot and two features, and COMPACT_REALS reals
// (geometry/outputs.h). The rows of a Jacobian's block are those of listed outputs.
#define COMPACT_INTS 4
#define BLOCK_ROWS VALUE_PLANES

// Sorted vertices in one sphere: one bound decides about all of them.
#define BALL_VERTICES 16
#define VERTEX_BALL_PLANES 4 // centre (3), radius

// Decisions about a pose if only active contacts are requested: whether an edge contact can be
// active, and which bodies' selections need more vertices than were within reach.
#define PLAN_EDGES 0
#define PLAN_MORE 1 // of body 1, of body 2
#define PLAN_INTS 3

// The planes of edge pairs if only active contacts are requested: e1 (3), e2 (3), dbar, con, for
// both activities the factor that needs no field, the opposing distances at e1 and e2, and bounds
// of both activities.
#define NEAR_E1 0
#define NEAR_E2 3
#define NEAR_DBAR 6
#define NEAR_CON 7
#define NEAR_FACTORS 8
#define NEAR_OPPOSING 10
#define NEAR_BOUNDS 12
#define NEAR_PLANES 14

// Bits of the listed kinds of contacts of a pose.
#define LISTED_VERTICES_1 1
#define LISTED_VERTICES_2 2
#define LISTED_PAIRS 4

// The planes of such pairs' cotangents: for listed pairs e1 (3), e2 (3) and both activities'
// factors; then dbar, con, and the contributions of each side's softmax to the other body's gate
// weights.
#define PAIR_BAR_E1 0
#define PAIR_BAR_E2 3
#define PAIR_BAR_FACTORS 6
#define PAIR_BAR_LISTED 8
#define PAIR_BAR_DBAR 8
#define PAIR_BAR_CON 9
#define PAIR_BAR_WEIGHTS 10
#define PAIR_BAR_PLANES 12

// The starts of a pose's entries by kind, and their end.
#define SEGMENT_INTS 5

// Bits of a pose's status. With one of POSE_REJECTED there are no results. POSE_DEEP means that the
// contacts that count have less than half of the depth that middles or other contacts show, and
// that this depth exceeds DEEP_PENETRATIONS penetrations.
#define POSE_REJECTED 3
#define POSE_DEEP 4
#define DEEP_PENETRATIONS 4

#define NO_FEATURE 0xffffffffu

#endif
