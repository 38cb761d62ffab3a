/* Derivatives of contact manifolds with respect to the shapes of their bodies: vertices of meshes,
 * stated features, and the numbers of the primitives of the fields.
 *
 * docs/derivatives.md lists the numbers that can vary, and docs/dev/spec.md, section 4, has the
 * formulas. A body's mesh and its field are independent of each other, even if one was made from
 * the other, unless ABUT_SHAPE_FOLLOW is set. The elements that a selection ranks and keeps count
 * as constant, as in derivatives with respect to poses.
 */
#ifndef ABUT_SHAPE_H
#define ABUT_SHAPE_H

#include <abut/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Derivatives with respect to the numbers of one body, in its own frame and in the order of its
 * definition (abut_body_def). The planes of all polyhedra are one array, one polyhedron after the
 * other; so are all clouds' points and all grids' coefficients. An array that is NULL is not
 * computed. All arrays are double, in host memory, whatever the context's precision. The units
 * below are per unit of a contact's output. */
typedef struct abut_shape_gradients {
  double *vertices;          /* (vertices, 3) [1/m] */
  double *axes;              /* (superquadrics, 3) [1/m] */
  double *exponents;         /* (superquadrics, 2) */
  double *position;          /* (superquadrics, 3) [1/m] */
  double *rotation;          /* (superquadrics, 3), by the twist w of R exp(hat w) at w = 0, in the
                                primitive's own axes [1/rad] */
  double *plane_normals;     /* (planes, 3): by the body's normals of length 1, whatever their
                                length was in the definition; each normal may also change its
                                length */
  double *plane_points;      /* (planes, 3) [1/m] */
  double *cloud_points;      /* (points, 3) [1/m] */
  double *cloud_normals;     /* (points, 3), like plane_normals */
  double *cloud_widths;      /* (points) [1/m] */
  double *grid_coefficients; /* (coefficients) [1/m]: of each grid, x slowest, and then of the
                                blocks of its levels in turn, (8, 8, 8) each. Block coefficients
                                that must be 0 get 0 */
  double *core_half;         /* (cores, 3) [1/m]; the third number of a disc is 0. The derivative
                                with respect to a length of 0 is one-sided */
  double *core_radius;       /* (cores) [1/m] */
  double *core_position;     /* (cores, 3) [1/m] */
  double *core_rotation;     /* (cores, 3), like `rotation` */
  double *feature_vertices;  /* (feature_vertices, 3) [1/m] of stated features. Without stated
                                features the vertices above are the features. Centres and axes of
                                arcs, circles and cones do not vary */
  double *vertex_radius; /* (feature_vertices) [1/m]; the derivative with respect to a radius of 0
                            is one-sided */
  double *edge_radius;   /* (feature_edges) [1/m], likewise */
} abut_shape_gradients;

/* Directions of the numbers of one body: the arrays of abut_shape_gradients, for one pose or, in
 * sums, for all poses. NULL is zero. All numbers must be finite. */
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
  size_t polyhedra, pointclouds, grids; /* number of primitives that the planes, points and
                                           coefficients belong to */
  size_t cores;
  size_t feature_vertices, feature_edges; /* features that the definition states */
} abut_shape_sizes;

/* Gets how many numbers describe a body. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_shape_sizes(abut_body body, abut_shape_sizes *sizes);

/* Gets how many numbers each primitive of a body has: planes (polyhedra), points (pointclouds),
 * coefficients (grids). Any array may be NULL. */
ABUT_API abut_status abut_get_shape_counts(abut_body body, size_t *planes, size_t *points,
                                           size_t *coefficients);

/* Options of derivatives with respect to shapes: bits. */
typedef enum abut_shape_want {
  ABUT_SHAPE_SUMS = 0,      /* summed over the poses of the batch */
  ABUT_SHAPE_EACH_POSE = 1, /* one row for each pose instead: the arrays get a first axis of
                               poses */
  ABUT_SHAPE_FOLLOW = 2     /* meshes move along with the zero sets of their fields. To first
                               order, a change of the distance phi at a vertex by dphi moves the
                               vertex by -g dphi / |g|^2, with g the gradient of phi there. The
                               derivatives with respect to the vertices are added to those
                               with respect to the primitives through this relation. Meant for
                               meshes whose vertices are on their fields */
} abut_shape_want;

/* Computes the vector-Jacobian product with respect to shapes: gradients, with respect
 * to both bodies' numbers, of the sum over all poses of all outputs times their cotangents.
 *
 * cotangents      as for abut_vjp; cotangents of weights must be NULL
 * shape1, shape2  the gradients wanted for each body; or NULL
 * want            bits of abut_shape_want
 *
 * Sums are made in double, over blocks of 256 poses in the order of the batch, so that they are the
 * same to the bit for any chunks and for any devices of one kind. A pose that is not finite is left
 * out of sums (its status in the batch shows it), and its rows are NaN. A number that no contact
 * depends on gets 0. Every finite pose gives finite derivatives, as in abut_vjp.
 *
 * The batch has the poses, and also takes values and statuses. It must be of one pair and not in a
 * state, and must have no compact list and no second smoothing. Height fields do not vary. Errors:
 * ABUT_ERROR_ARGUMENT; ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_shape_vjp(abut_pair pair, abut_batch *batch,
                                    const abut_cotangents *cotangents,
                                    const abut_shape_gradients *shape1,
                                    const abut_shape_gradients *shape2, uint32_t want);

/* Computes the gradient of a reduction with respect to shapes, summed over all poses or for each
 * pose. Otherwise as abut_shape_vjp. ABUT_REDUCE_SOFT_DISTANCE, which depends on weights, is
 * refused. */
ABUT_API abut_status abut_shape_gradient(abut_pair pair, abut_batch *batch,
                                         abut_reduction reduction,
                                         const abut_shape_gradients *shape1,
                                         const abut_shape_gradients *shape2, uint32_t want);

/* Computes the Jacobian-vector product with respect to shapes: for each pose, the outputs'
 * derivatives along a direction of both bodies' numbers and of the poses.
 *
 * - shape1, shape2: the direction of each body's numbers; or NULL for zero
 * - along: tangents of the poses, as for abut_jvp; or NULL for zero
 * - tangents: the outputs' tangents, as for abut_jvp
 * - want: bits of abut_shape_want. With ABUT_SHAPE_EACH_POSE directions have one row for each pose;
 *   otherwise all poses have the same direction. With ABUT_SHAPE_FOLLOW a mesh moves along with its
 *   field in addition to the direction of its own vertices
 *
 * It is the transpose of abut_shape_vjp, to rounding. Tangents of a pose that are not finite affect
 * only that pose's outputs. Block coefficients of grids that must be 0 do not move.
 *
 * The batch is as for abut_shape_vjp; it may be in OpenCL memory, directions are in host memory.
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
