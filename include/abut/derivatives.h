/* Derivatives of contact manifolds with respect to poses.
 *
 * Every output of abut_contacts is differentiated through everything that it depends on: the
 * bodies' fields and the curvature of their normals, both ways of selection with their ranks and
 * weights, the soft nearest neighbour, sphere tracing, and the poses' own parameters. The order of
 * a selection counts as constant (docs/dev/spec.md, 1), and d|x|/dx is 0 at 0.
 *
 * Gradients are with respect to the given numbers: the six of a twist, or the seven of a position
 * and a quaternion. A gradient's quaternion part is orthogonal to the quaternion. Every finite pose
 * gives finite derivatives. Derivatives that leave the format saturate, from 1e10 on in float32 and
 * from 1e30 in float64. A pose that is not finite gets NaN in its own derivatives. Results are the
 * same to the bit from run to run, for any split of the batch.
 *
 * All functions take the batch of abut_contacts: its poses, and those of its outputs that are
 * wanted with the derivatives (there may be none). P is 6 or 7 by the batch's kind of poses, N its
 * count, C the pair's contact slots.
 *
 * Values that are computed with derivatives equal those of abut_contacts to rounding, not to the
 * bit: fields with their derivatives round differently.
 *
 * The smoothing of derivatives: `derivatives`, unless it is ABUT_SAME_PAIR, is another pair of the
 * same two bodies. It must retain the same numbers of vertices and edges, on each side either all
 * in mesh order or as many by rank. Values, and a reduction's cotangents, are computed with `pair`.
 * Cotangents and tangents are propagated through the manifold of `derivatives`: a hard forward pass
 * with a soft backward pass. Each pair ranks by its own field. Slots of rank k may therefore hold
 * different elements in the two pairs if their `union_` or `plane` differ. abut_vjp_tangent,
 * abut_hessian_product and abut_hessian take no second pair.
 */
#ifndef ABUT_DERIVATIVES_H
#define ABUT_DERIVATIVES_H

#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No second smoothing: the pair's own smoothing is used. */
#define ABUT_SAME_PAIR ((abut_pair){0, 0})

/* One array for each body. */
typedef struct abut_gradients {
  void *pose1, *pose2; /* real (N, P), or NULL where it is not wanted */
} abut_gradients;

typedef struct abut_pose_tangents {
  const void *pose1, *pose2; /* real (N, P), or NULL for zero */
} abut_pose_tangents;

typedef struct abut_cotangents {
  const void *p;        /* real (N, C, 3), or NULL for zero */
  const void *d;        /* real (N, C), or NULL for zero */
  const void *n;        /* real (N, C, 3), or NULL for zero */
  const void *activity; /* real (N, C), or NULL for zero */
  const void *weight;   /* real (N, C), or NULL for zero */
} abut_cotangents;

typedef struct abut_tangents {
  void *p;        /* real (N, C, 3), or NULL where it is not wanted */
  void *d;        /* real (N, C), or NULL */
  void *n;        /* real (N, C, 3), or NULL */
  void *activity; /* real (N, C), or NULL */
  void *weight;   /* real (N, C), or NULL */
} abut_tangents;

/* Computes the vector-Jacobian product: for each pose, the gradient of the sum of all outputs times
 * their cotangents. A cotangent that is not finite affects only its own pose's gradient. */
ABUT_API abut_status abut_vjp(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                              const abut_cotangents *cotangents, const abut_gradients *gradients);

/* Computes the derivative of the result of abut_vjp, for each pose, along tangents of the poses and
 * of the cotangents. Second derivatives of functions of contacts need this.
 *
 * cotangents          those of abut_vjp
 * cotangent_tangents  their own tangents. `cotangents` and `cotangent_tangents` may each be NULL
 *                     for zero, but together they need at least one array
 * along               tangents of the poses; or NULL for zero
 * gradients           out: the result of abut_vjp, to rounding; or NULL
 * tangents            out: its derivative
 * The function takes no second smoothing. Arrays are in the batch's memory. A cotangent, or a
 * pose's tangent, that is not finite affects only its own pose's result; a cotangent's tangent that
 * is not finite may count as 0. The result of abut_vjp has kinks, such as the part of normals'
 * cotangents where a grid's spline passes to its next piece. The derivative there is that of one
 * side. */
ABUT_API abut_status abut_vjp_tangent(abut_pair pair, abut_batch *batch,
                                      const abut_cotangents *cotangents,
                                      const abut_cotangents *cotangent_tangents,
                                      const abut_pose_tangents *along,
                                      const abut_gradients *gradients,
                                      const abut_gradients *tangents);

/* Computes the Jacobian-vector product: for each pose, the outputs' derivatives along the poses'
 * tangents. */
ABUT_API abut_status abut_jvp(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                              const abut_pose_tangents *along, const abut_tangents *tangents);

/* Computes abut_vjp for only the entries of a list of contacts, in the list's order.
 *
 * list        count, pose and slot are read. Entries are sorted by pose, then by slot, each once,
 *             as in a compact list of abut_contacts; contacts may have any activity
 * cotangents  real (list->count, 3) or (list->count), in host memory; NULL for zero
 * The batch has the poses and may take their statuses. It has no other outputs, no compact list and
 * no second smoothing. A finite pose without entries gets a gradient of 0. Gradients must not
 * overlap cotangents.
 *
 * Cost: only the elements that the entries depend on, if SoftSort selects nothing, no vertices are
 * selected and no tracing steps are taken; else as much as abut_vjp. The derivatives are those of
 * the whole manifold's outputs, to rounding. Errors: ABUT_ERROR_ARGUMENT names the entry that is
 * out of range or out of order. */
ABUT_API abut_status abut_list_vjp(abut_pair pair, abut_batch *batch, const abut_compact *list,
                                   const abut_cotangents *cotangents,
                                   const abut_gradients *gradients);

/* Computes abut_jvp for only the entries of a list of contacts, in the list's order. The tangents
 * are real (list->count, 3) or (list->count), in host memory; NULL where they are not wanted. All
 * else is as in abut_list_vjp. */
ABUT_API abut_status abut_list_jvp(abut_pair pair, abut_batch *batch, const abut_compact *list,
                                   const abut_pose_tangents *along, const abut_tangents *tangents);

/* One smooth number for each pose, from distances and activities. No manifold is stored. */
typedef enum abut_reduction {
  ABUT_REDUCE_MEAN_DISTANCE = 0, /* mean of d over all C contacts [m] */
  ABUT_REDUCE_ACTIVITY = 1,      /* sum of activity */
  ABUT_REDUCE_ENERGY = 2,        /* sum of activity max(-d, 0)^2 [m^2] */
  ABUT_REDUCE_SOFT_MINIMUM = 3,  /* -tau log sum exp(-d / tau) of the vertex contacts,
                                    tau = penetration [m] */
  ABUT_REDUCE_DISTANCE = 4,      /* smallest d of contacts whose weight is at least 1/2, with the
                                    derivatives of the contact that has it [m] */
  ABUT_REDUCE_SOFT_DISTANCE = 5  /* -T log sum weight exp(-d / T), T = batch->reductions.temperature
                                    [m] */
} abut_reduction;

/* Computes the gradient of a reduction for each pose. batch->reductions takes the reduction's
 * value. */
ABUT_API abut_status abut_gradient(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                                   abut_reduction reduction, const abut_gradients *gradients);

/* Computes the Hessian of a reduction times a tangent, for each pose: the derivative of the result
 * of abut_gradient along the poses' tangents. `gradients` takes the gradient itself, or is NULL.
 * The energy has no second derivative where a distance is 0; there the derivative from outside is
 * used. */
ABUT_API abut_status abut_hessian_product(abut_pair pair, abut_batch *batch,
                                          abut_reduction reduction, const abut_pose_tangents *along,
                                          const abut_gradients *gradients,
                                          const abut_gradients *products);

/* The bodies to whose poses a Hessian belongs. */
typedef enum abut_moving {
  ABUT_BOTH_BODIES = 0, /* K = 2 P columns, pose 1's numbers before pose 2's */
  ABUT_BODY_1 = 1,      /* K = P */
  ABUT_BODY_2 = 2
} abut_moving;

/* Computes the whole Hessian of a reduction, for each pose, in one call. It equals the results of
 * abut_hessian_product for each unit tangent, to rounding, and costs as much as six of them for any
 * K.
 *
 * gradients  out: the gradient, of both poses; or NULL
 * hessian    real (N, K, K), row by row, symmetric up to rounding. A quaternion's length has no
 *            effect: the Hessian times the quaternion itself is minus the gradient with
 *            respect to the quaternion
 * A pose that is not finite gets NaN. Arrays are in the batch's memory. */
ABUT_API abut_status abut_hessian(abut_pair pair, abut_batch *batch, abut_reduction reduction,
                                  abut_moving moving, const abut_gradients *gradients,
                                  void *hessian);

/* Computes Jacobian blocks of the contacts in batch->compact, which must be set. Blocks are in the
 * order of that list. The rows of the block of entry i are p (3), d, n (3), activity, and its
 * columns are pose 1 (P), pose 2 (P).
 *
 * blocks   real (capacity of the list, 8, 2 P); NULL for a list with `grows`, whose `blocks` are
 *          used
 *
 * Cost: if abut_list_jvp computes only the entries, and the list's threshold is above 0, the cost
 * is that of the elements that the entries depend on, with six tangents at a time. Otherwise it is
 * a forward pass of all contacts with these tangents. An overflow of the list is an overflow here;
 * the blocks of the entries that are there are right. */
ABUT_API abut_status abut_jacobian(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                                   void *blocks);

/* Computes the gradient of only the witness points of two edges. Arrays are as in
 * abut_witness_edges. Cotangents (`_bar`) and tangents have the shapes of the arrays that they
 * belong to. NULL is zero for an input, and not wanted for an output. */
ABUT_API abut_status abut_witness_edges_vjp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *edges1, const void *edges2,
                                            const void *points1_bar, const void *points2_bar,
                                            const void *interior_bar, void *edges1_bar,
                                            void *edges2_bar);

/* Computes the derivatives of only the witness points of two edges along tangents of the edges.
 * Arrays are as in abut_witness_edges_vjp. */
ABUT_API abut_status abut_witness_edges_jvp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *edges1, const void *edges2,
                                            const void *edges1_tangent, const void *edges2_tangent,
                                            void *points1_tangent, void *points2_tangent,
                                            void *interior_tangent);

/* Computes the gradient of only the smooth projection of points onto triangles. Arrays are as in
 * abut_witness_faces and abut_witness_edges_vjp. A query that is rejected gives NaN. */
ABUT_API abut_status abut_witness_faces_vjp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *points, const void *triangles,
                                            const void *projected_bar, void *points_bar,
                                            void *triangles_bar, uint8_t *status, size_t *rejected);

/* Computes the derivatives of only the smooth projection along tangents of the points and
 * triangles. Arrays are as in abut_witness_faces_vjp. A query that is rejected gives NaN. */
ABUT_API abut_status abut_witness_faces_jvp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *points, const void *triangles,
                                            const void *points_tangent,
                                            const void *triangles_tangent, void *projected_tangent,
                                            uint8_t *status, size_t *rejected);

#ifdef __cplusplus
}
#endif
#endif
