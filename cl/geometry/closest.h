// Closest points of convex shapes (docs/closest.md): what host and kernels both name.
#ifndef GEOMETRY_CLOSEST_H
#define GEOMETRY_CLOSEST_H

// What became of a row, by the numbers of abut_closest_status.
#define CLOSEST_CONVERGED 0
#define CLOSEST_ITERATION_LIMIT 1
#define CLOSEST_DEGENERATE 2
#define CLOSEST_BAD_INPUT 3
#define CLOSEST_BEYOND 4
#define CLOSEST_FLAT 8     // is added to the others
#define CLOSEST_PENDING 64 // closest_apart has left it to closest_overlap

// The scratch of a polytope of so many corners, a multiple of 16, for each work-item: numbers of corners
// (POLYTOPE_CORNER each) and planes of faces (POLYTOPE_FACE_PLANES of 2 corners each); integers likewise.
#define POLYTOPE_CORNER 6
#define POLYTOPE_FACE_PLANES 5
#define POLYTOPE_REALS(corners) ((corners) * (POLYTOPE_CORNER + 2 * POLYTOPE_FACE_PLANES))
#define POLYTOPE_INTS(corners) ((corners) * 23)

#endif
