// The soft-minimum contact model "spring": what host and kernels both name.
#ifndef GEOMETRY_SPRING_H
#define GEOMETRY_SPRING_H

// A cloud's ints: how many points, these padded to whole SPRING_PADs, tiles; where its numbers
// begin, and what they are of its parts: records, kernels (-1: a Gaussian a point, by its record),
// planes, tiles.
#define SPRING_HEAD_INTS 8
#define SPRING_COUNT 0
#define SPRING_PADDED 1
#define SPRING_TILES 2
#define SPRING_RECORDS 3
#define SPRING_KERNELS 4
#define SPRING_PLANES 5
#define SPRING_TILE_RECORDS 6
#define SPRING_ORDER 7 // among the ints: each point's place in the caller's arrays

#define SPRING_PAD 16
#define SPRING_TILE 16 // points that are passed over together

// Numbers of a cloud, before its records: its centre, the square of the distance from which it is
// far, and the kernel that exponents are relative to there.
#define SPRING_ABOUT 10
#define SPRING_FAR2 3
#define SPRING_REFERENCE 4
// Of a point: position, normal, logarithm of its weight and 1 / eps1, both for powers of two.
#define SPRING_RECORD 8
#define SPRING_KERNEL 6      // the inverse of E: xx, xy, xz, yy, yz, zz
#define SPRING_PLANE_COUNT 4 // position, logarithm of the weight
#define SPRING_TILE_RECORD \
  6 // centre, radius, the largest logarithm of a weight, the least 1 / eps1

#define SPRING_NEVER 1e30 // minus the logarithm of a padded point's weight

// A pair of bodies: the pose of body 1 in body 2's frame, its velocity there, the rest.
#define SPRING_FRAME 40
#define SPRING_TURN 0
#define SPRING_SHIFT 9
#define SPRING_SPEED 12 // of body 1's material point at body 2's origin, relative to body 2
#define SPRING_SPIN 15
#define SPRING_PARAMETERS 18
#define SPRING_WORLD 24  // body 2's axes
#define SPRING_SPIN_2 33 // each body's own, in its own axes
#define SPRING_SPIN_1 36
#define SPRING_POISON 39

#define SPRING_PARAMETER_COUNT 6
#define SPRING_K 0
#define SPRING_MU 1
#define SPRING_V_D 2
#define SPRING_V_S 3
#define SPRING_EPS2 4
#define SPRING_EPS3 5

// Over all points: the least separation less its weight's share, the inverse of the sum of weights,
// the soft distance.
#define SPRING_MEANS 3

// About body 2's origin, in its axes: force on body 1, moment on it, moment on body 2.
#define SPRING_WRENCH 9

// Rows force, moment, distance; columns shift and turn of body 1 in body 2's frame, relative
// velocity and spin, parameters.
#define SPRING_ROWS 7
#define SPRING_COLUMNS 18
#define SPRING_SLOPES (SPRING_ROWS * SPRING_COLUMNS)

// A cloud of faces: ints of its vertices and the faces around each, see kernels/spring/points.cl.
#define SPRING_SURFACE_INTS 6
#define SPRING_SURFACE_COUNT 0
#define SPRING_SURFACE_FACES 1
#define SPRING_SURFACE_STARTS 2
#define SPRING_SURFACE_OF 3
#define SPRING_SURFACE_CORNERS 4
#define SPRING_SURFACE_VERTICES 5
#define SPRING_SOFT_SUMS 8 // of a soft point and each body: position times share, share

#define SPRING_SLICES 16 // in which a pair's points are added up

// Options of a call.
#define SPRING_SMOOTH 1
#define SPRING_PLANE 2

#endif
