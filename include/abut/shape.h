/* Derivatives of contact manifolds with respect to the shapes of their bodies: vertices of meshes,
 * stated features, and the numbers of the primitives that fields are made of.
 *
 * What varies is said in docs/derivatives.md, its formulas in docs/dev/spec.md, section 4. A body's
 * mesh and its field are independent of each other, also where one was made from the other, unless
 * `follow` is asked for. Which elements a selection ranks and keeps counts as constant, as in
 * derivatives by poses.
 */
#ifndef ABUT_SHAPE_H
#define ABUT_SHAPE_H

#include <abut/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Derivatives by the numbers of one body, in its own frame and in the order of its definition
 * (abut_body_def): all polyhedra's planes lie one behind the other, and so do all clouds' points
 * and all grids' coefficients. An array of NULL is not wanted. double, in host memory, whatever the
 * context's precision: per unit of a contact's output and per the unit that stands here. */
typedef struct abut_shape_gradients {
  double *vertices;          /* (vertices, 3) [1/m] */
  double *axes;              /* (superquadrics, 3) [1/m] */
  double *exponents;         /* (superquadrics, 2) */
  double *position;          /* (superquadrics, 3) [1/m] */
  double *rotation;          /* (superquadrics, 3), by the twist w of R exp(hat w) at w = 0, in the
                                primitive's own axes [1/rad] */
  double *plane_normals;     /* (planes, 3): by the normals of length 1 that the body has,
                                whatever length they had in its definition, each free to change
                                its length, too */
  double *plane_points;      /* (planes, 3) [1/m] */
  double *cloud_points;      /* (points, 3) [1/m] */
  double *cloud_normals;     /* (points, 3), as plane_normals */
  double *cloud_widths;      /* (points) [1/m] */
  double *grid_coefficients; /* (coefficients) [1/m]: of each grid, x slowest, and then of the
                                blocks of its levels in turn, (8, 8, 8) each, of which those that
                                must be 0 get 0 */
  double *core_half;         /* (cores, 3) [1/m]; the third of a disc is 0. That of a length of 0
                                is one-sided */
  double *core_radius;       /* (cores) [1/m] */
  double *core_position;     /* (cores, 3) [1/m] */
  double *core_rotation;     /* (cores, 3), as rotation */
  double *feature_vertices;  /* (feature_vertices, 3) [1/m] of stated features. Without these the
                                vertices above are features. Centres and axes of arcs, circles and
                                cones do not vary */
  double *vertex_radius;     /* (feature_vertices) [1/m]; that of a radius of 0 is one-sided */
  double *edge_radius;       /* (feature_edges) [1/m], likewise */
} abut_shape_gradients;

/* Directions of the numbers of one body: the arrays of abut_shape_gradients, of one pose or, in
 * sums, of all. NULL is zero. All numbers are finite. */
typedef struct abut_shape_tangents {
  const double *vertices, *axes, *exponents, *position, *rotation; /* [m], [m], none, [m], [rad] */
  const double *plane_normals, *plane_points;                      /* none, [m] */
  const double *cloud_points, *cloud_normals, *cloud_widths;       /* [m], none, [m] */
  const double *grid_coefficients;                                 /* [m] */
  const double *core_half, *core_radius, *core_position, *core_rotation; /* [m], [m], [m], [rad] */
  const double *feature_vertices, *vertex_radius, *edge_radius;          /* [m] */
} abut_shape_tangents;

/* How many numbers these arrays have. The cloud of a mesh (cloud_from_mesh, bodies without
 * primitives) is the last one. */
typedef struct abut_shape_sizes {
  size_t vertices, superquadrics, planes, points, coefficients;
  size_t polyhedra, pointclouds, grids; /* how many primitives planes, points and coefficients are
                                           of */
  size_t cores;
  size_t feature_vertices, feature_edges; /* those that the definition states */
} abut_shape_sizes;

/* Says how many numbers describe a body. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_shape_sizes(abut_body body, abut_shape_sizes *sizes);

/* Says how many of these are of each primitive: planes (polyhedra), points (pointclouds),
 * coefficients (grids). Any of them may be NULL. */
ABUT_API abut_status abut_get_shape_counts(abut_body body, size_t *planes, size_t *points,
                                           size_t *coefficients);

/* How derivatives by shapes are wanted: bits. */
typedef enum abut_shape_want {
  ABUT_SHAPE_SUMS = 0,      /* summed over the poses of the batch */
  ABUT_SHAPE_EACH_POSE = 1, /* arrays with a row for each pose before the axes above, instead */
  ABUT_SHAPE_FOLLOW = 2     /* meshes move along with the zero sets of their fields: to first
                               order, a change that changes the distance phi at a vertex by dphi
                               moves it by -g dphi / |g|^2, with g the gradient of phi there. The
                               derivatives by the primitives get what those by vertices give
                               through this. Meant for meshes that lie on their fields */
} abut_shape_want;

/* Vector-Jacobian product by shapes: of the sum over all poses of all outputs times their
 * cotangents, the gradients by both bodies' numbers.
 *
 * cotangents      as of abut_vjp; of weights there may be none
 * shape1, shape2  what is wanted of each body; or NULL
 * want            bits of abut_shape_want
 *
 * Sums are made in double, of blocks of 256 poses in the order of the batch, so that they are the
 * same to the bit whatever the chunks and the devices of one kind. A pose that is not finite is
 * left out of sums (the batch's statuses tell), and its rows are NaN. A number that no contact
 * depends on gets 0. Every finite pose gives finite derivatives, as in abut_vjp.
 *
 * The batch gives the poses, and takes values and statuses beside; it is of one pair, not on a
 * state, and without a compact list and a second smoothing. Height fields do not vary. Errors:
 * ABUT_ERROR_ARGUMENT; ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_shape_vjp(abut_pair pair, abut_batch *batch,
                                    const abut_cotangents *cotangents,
                                    const abut_shape_gradients *shape1,
                                    const abut_shape_gradients *shape2, uint32_t want);

/* The gradient of a reduction, summed over all poses, or each pose's: as abut_shape_vjp otherwise.
 * Of ABUT_REDUCE_SOFT_DISTANCE, which is made of weights, there is none. */
ABUT_API abut_status abut_shape_gradient(abut_pair pair, abut_batch *batch,
                                         abut_reduction reduction,
                                         const abut_shape_gradients *shape1,
                                         const abut_shape_gradients *shape2, uint32_t want);

/* Jacobian-vector product by shapes: of each pose, the outputs' derivatives along a direction of
 * both bodies' numbers, and of the poses'.
 *
 * - shape1, shape2: the direction of each body's numbers; or NULL for zero
 * - along: tangents of the poses, as of abut_jvp; or NULL for zero
 * - tangents: take the outputs' tangents, as of abut_jvp
 * - want: bits of abut_shape_want: with ABUT_SHAPE_EACH_POSE directions have a row for each
 *   pose, else all poses have the same; with ABUT_SHAPE_FOLLOW a mesh moves along with its field
 *   beside the direction of its own vertices
 *
 * It is the transpose of abut_shape_vjp, to rounding. A pose's tangents that are not finite spoil
 * its own outputs' tangents. Of grids' blocks the coefficients that must be 0 do not move.
 *
 * The batch is as of abut_shape_vjp; it may lie in OpenCL memory, directions lie in host memory.
 * Errors: ABUT_ERROR_ARGUMENT, also for a direction that is not finite; ABUT_ERROR_MEMORY;
 * ABUT_ERROR_TOO_LARGE. */
ABUT_API abut_status abut_shape_jvp(abut_pair pair, abut_batch *batch,
                                    const abut_shape_tangents *shape1,
                                    const abut_shape_tangents *shape2,
                                    const abut_pose_tangents *along, const abut_tangents *tangents,
                                    uint32_t want);

#ifdef __cplusplus
}
#endif
#endif
