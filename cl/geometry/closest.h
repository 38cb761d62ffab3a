// Closest points of convex shapes (docs/closest.md): names that the host and the kernels share.
#ifndef GEOMETRY_CLOSEST_H
#define GEOMETRY_CLOSEST_H

// The statuses of a row, with the numbers of abut_closest_status.
#define CLOSEST_CONVERGED 0
#define CLOSEST_ITERATION_LIMIT 1
#define CLOSEST_DEGENERATE 2
#define CLOSEST_BAD_INPUT 3
#define CLOSEST_BEYOND 4
#define CLOSEST_FLAT 8 // these two are added to the others
#define CLOSEST_STEEP 16
#define CLOSEST_END 7      // the bits of the others
#define CLOSEST_PENDING 64 // closest_apart has left it to closest_overlap
#define CLOSEST_AGAIN 65   // float rounds too much: to be repeated in wide numbers

// Methods, with the numbers of abut_closest_method.
#define CLOSEST_EXACT 0
#define CLOSEST_GUMBEL 1
#define CLOSEST_GAUSSIAN 2
#define CLOSEST_ZEROTH 3
#define CLOSEST_FINITE 4

#define SYMMETRIC 6       // numbers of a symmetric matrix: xx xy xz yy yz zz
#define CLOSEST_VALUES 10 // the differentiated values: p1, p2, n, d

// Settings of derivatives. 64-bit numbers are stored in halves, as bits.
typedef struct closest_settings {
  int method, level, samples;
  int vertices_most; // of a shape
  int seed_low, seed_high, first_low, first_high;
} closest_settings;

// The scratch of a polytope with that number of corners, a multiple of 16, for each work-item: wide
// numbers of corners, POLYTOPE_CORNER each, and of planes of faces and keys, POLYTOPE_FACE_PLANES;
// and integers. There are up to two faces for each corner, and more while a corner is added.
#define POLYTOPE_CORNER 6
#define POLYTOPE_FACE_PLANES 5
#define POLYTOPE_FACES(corners) (3 * (corners))
#define POLYTOPE_REALS(corners) \
  ((corners)*POLYTOPE_CORNER + POLYTOPE_FACES(corners) * POLYTOPE_FACE_PLANES)
#define POLYTOPE_INTS(corners) (4 * (corners) + POLYTOPE_FACES(corners) * 9)

#endif
