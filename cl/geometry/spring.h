// The soft-minimum contact model "spring": the layouts that the host and the kernels share.
#ifndef GEOMETRY_SPRING_H
#define GEOMETRY_SPRING_H

// The ints of a cloud's head: the number of points, the number padded to whole SPRING_PADs, and the
// number of tiles; then the offsets of its numbers: records, kernels (-1 if every point is a
// Gaussian with the eps1 in its record), planes and tiles.
#define SPRING_HEAD_INTS 8
#define SPRING_COUNT 0
#define SPRING_PADDED 1
#define SPRING_TILES 2
#define SPRING_RECORDS 3
#define SPRING_KERNELS 4
#define SPRING_PLANES 5
#define SPRING_TILE_RECORDS 6
#define SPRING_ORDER 7 // offset, among the ints, of each point's place in the caller's arrays

#define SPRING_PAD 16
#define SPRING_TILE 16 // points that are skipped together

// The numbers before a cloud's records: its centre (3), the square of the distance from its centre
// beyond which a point is far (kernels/spring/cloud.cl), and the kernel (6) of the cloud's widest
// point, to which exponents are relative there.
#define SPRING_ABOUT 10
#define SPRING_FAR2 3
#define SPRING_REFERENCE 4
// The numbers of a point: position (3), unit normal (3), the logarithm of its weight, and 1 / eps1.
// The last two, and kernels, are times log2(e), because exponents are those of powers of two.
#define SPRING_RECORD 8
#define SPRING_KERNEL 6      // the inverse of E: xx, xy, xz, yy, yz, zz
#define SPRING_PLANE_COUNT 4 // planes x, y, z and natural logarithm of the weight
#define SPRING_TILE_RECORD \
  6 // centre, radius, the largest logarithm of a weight, the least 1 / eps1

#define SPRING_NEVER 1e30 // minus the logarithm of a padded point's weight

// The frame of a pair: the pose of body 1 in body 2's frame, rotation (9) and translation (3), its
// velocity and angular velocity relative to body 2 in body 2's axes, and the other data of the pair
// for kernels.
#define SPRING_FRAME 40
#define SPRING_TURN 0
#define SPRING_SHIFT 9
#define SPRING_SPEED 12 // of body 1's material point at body 2's origin, relative to body 2
#define SPRING_SPIN 15
#define SPRING_PARAMETERS 18
#define SPRING_WORLD 24  // body 2's rotation to the world (9)
#define SPRING_SPIN_2 33 // each body's angular velocity in the world, in its own axes
#define SPRING_SPIN_1 36
#define SPRING_POISON 39 // 0, or NaN: added to all results of the pair

#define SPRING_PARAMETER_COUNT 6
#define SPRING_K 0
#define SPRING_MU 1
#define SPRING_V_D 2
#define SPRING_V_S 3
#define SPRING_EPS2 4
#define SPRING_EPS3 5

// Means over all points of a pair: the least phi - eps2 logw, the inverse of the sum of weights
// relative to that of the least, and the soft distance.
#define SPRING_MEANS 3

// The wrench of a pair, about body 2's origin in body 2's axes: force on body 1, moment on body 1,
// moment on body 2.
#define SPRING_WRENCH 9

// The Jacobian of a pair. Its rows are force on body 1, moment on body 1 and distance. Its columns
// are translation and rotation of body 1 in body 2's frame, relative velocity and angular velocity,
// and the parameters.
#define SPRING_ROWS 7
#define SPRING_COLUMNS 18
#define SPRING_SLOPES (SPRING_ROWS * SPRING_COLUMNS)

// The ints of a cloud of faces, which describe its vertices and the faces around each of them
// (kernels/spring/points.cl).
#define SPRING_SURFACE_INTS 6
#define SPRING_SURFACE_COUNT 0
#define SPRING_SURFACE_FACES 1
#define SPRING_SURFACE_STARTS 2
#define SPRING_SURFACE_OF 3
#define SPRING_SURFACE_CORNERS 4
#define SPRING_SURFACE_VERTICES 5
#define SPRING_SOFT_SUMS 8 // of a soft point, for either body: position times share (3), share

#define SPRING_SLICES 16 // the number of parts of a pair's blocks that are summed separately

// Options of a call.
#define SPRING_SMOOTH 1
#define SPRING_PLANE 2

#endif
