/* Derivatives of contact manifolds with respect to poses.
 *
 * Every output of abut_contacts is differentiated through all that it depends on: the bodies'
 * fields and their normals' curvature, both ways of selection with their ranks and weights, the
 * soft nearest neighbour, sphere tracing, and the poses' own parameters. The order of a selection
 * counts as constant (docs/dev/spec.md, 1), and d|x|/dx is 0 at 0.
 *
 * Gradients are with respect to the numbers given: the six of a twist, or the seven of a position
 * and a quaternion, where the quaternion's part is orthogonal to it. Every finite pose gives
 * finite derivatives (where true ones leave the format they stop, from 1e10 on in float32 and 1e30
 * in float64); a pose that is not finite gets NaN in its own. Results are the same to the bit from
 * run to run, however the batch is split.
 *
 * All functions take the batch of abut_contacts: its poses, and whatever of its outputs is wanted
 * beside the derivatives (it may be none). P is 6 or 7 by the batch's kind of poses, N its count,
 * C the pair's contact slots.
 *
 * Values beside derivatives are those of abut_contacts to rounding, not to the bit: fields with
 * their derivatives round differently.
 *
 * The smoothing of derivatives: `derivatives`, where it is not ABUT_SAME_PAIR, is another pair of
 * the same two bodies which keeps the same numbers of vertices and edges, on each side either all
 * in mesh order or so many by rank. Values, and a reduction's cotangents, come from `pair`, and
 * what carries cotangents and tangents through the manifold from `derivatives`: a hard forward pass
 * with a soft backward one. Each pair ranks by its own field: slots of rank k need not hold the
 * same element in both where their `union_` or `plane` differ. abut_vjp_tangent,
 * abut_hessian_product and abut_hessian take no second pair.
 */
#ifndef ABUT_DERIVATIVES_H
#define ABUT_DERIVATIVES_H

#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No second smoothing: the pair's own. */
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

/* Vector-Jacobian product: of each pose, the gradient of the sum of all outputs times their
 * cotangents. A cotangent that is not finite spoils its own pose's gradient. */
ABUT_API abut_status abut_vjp(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                              const abut_cotangents *cotangents, const abut_gradients *gradients);

/* The derivative of abut_vjp's answer, of each pose, along tangents of the poses and of the
 * cotangents: what second derivatives of anything made of contacts need.
 *
 * cotangents          those of abut_vjp
 * cotangent_tangents  their own tangents; either of both may be NULL for zero, but not both be
 *                     without an array
 * along               tangents of the poses; or NULL for zero
 * gradients           take abut_vjp's answer, to rounding; or NULL
 * tangents            take its derivative
 * It takes no second smoothing; arrays lie where the batch's do. A cotangent, and a pose's tangent,
 * that is not finite spoils its own pose's answer; a cotangent's tangent that is not finite may
 * count as 0. Where abut_vjp's answer has a kink, as the part of normals' cotangents has where a
 * grid's spline passes to its next piece, the derivative is that of one side. */
ABUT_API abut_status abut_vjp_tangent(abut_pair pair, abut_batch *batch,
                                      const abut_cotangents *cotangents,
                                      const abut_cotangents *cotangent_tangents,
                                      const abut_pose_tangents *along,
                                      const abut_gradients *gradients,
                                      const abut_gradients *tangents);

/* Jacobian-vector product: of each pose, the outputs' derivatives along the poses' tangents. */
ABUT_API abut_status abut_jvp(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                              const abut_pose_tangents *along, const abut_tangents *tangents);

/* The same of the entries of a list of contacts, in its order.
 *
 * list        count, pose and slot are read: sorted by pose, then by slot, each once, such as
 *             abut_contacts leaves a compact list; of contacts of any activity
 * cotangents  real (list->count, 3) or (list->count), in host memory; NULL for zero
 * tangents    likewise; NULL where it is not wanted
 * The batch gives the poses, and may take their statuses: it has no other outputs, no compact list
 * and no second smoothing. A finite pose without entries gets a gradient of 0. Gradients must not
 * lie over cotangents.
 *
 * Cost: where nothing is selected by SoftSort, no vertices are selected and no tracing steps are
 * taken, what the entries depend on; else as much as abut_vjp and abut_jvp. The derivatives are
 * those of the whole manifold's outputs, to rounding.
 * Errors: ABUT_ERROR_ARGUMENT names the entry that is out of range or order. */
ABUT_API abut_status abut_list_vjp(abut_pair pair, abut_batch *batch, const abut_compact *list,
                                   const abut_cotangents *cotangents,
                                   const abut_gradients *gradients);
ABUT_API abut_status abut_list_jvp(abut_pair pair, abut_batch *batch, const abut_compact *list,
                                   const abut_pose_tangents *along, const abut_tangents *tangents);

/* One smooth number a pose, from distances and activities; no manifold is kept in memory. */
typedef enum abut_reduction {
  ABUT_REDUCE_MEAN_DISTANCE = 0, /* mean of d over all C contacts [m] */
  ABUT_REDUCE_ACTIVITY = 1,      /* sum of activity */
  ABUT_REDUCE_ENERGY = 2,        /* sum of activity max(-d, 0)^2 [m^2] */
  ABUT_REDUCE_SOFT_MINIMUM = 3,  /* -tau log sum exp(-d / tau) of the vertex contacts,
                                    tau = penetration [m] */
  ABUT_REDUCE_DISTANCE = 4,      /* least d of contacts whose weight is at least 1/2, and the
                                    derivatives of the contact that it is of [m] */
  ABUT_REDUCE_SOFT_DISTANCE = 5  /* -T log sum weight exp(-d / T), T = batch->reductions.temperature
                                    [m] */
} abut_reduction;

/* Gradient of a reduction, for each pose. The reduction's value comes by batch->reductions. */
ABUT_API abut_status abut_gradient(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                                   abut_reduction reduction, const abut_gradients *gradients);

/* Hessian of a reduction times a tangent, for each pose: the derivative of abut_gradient's answer
 * along the poses' tangents. `gradients` takes the gradient itself, or is NULL. The energy has no
 * second derivative where a distance is 0; there the one from outside is taken. */
ABUT_API abut_status abut_hessian_product(abut_pair pair, abut_batch *batch,
                                          abut_reduction reduction, const abut_pose_tangents *along,
                                          const abut_gradients *gradients,
                                          const abut_gradients *products);

/* Whose poses a Hessian is of. */
typedef enum abut_moving {
  ABUT_BOTH_BODIES = 0, /* K = 2 P columns, pose 1's numbers before pose 2's */
  ABUT_BODY_1 = 1,      /* K = P */
  ABUT_BODY_2 = 2
} abut_moving;

/* The whole Hessian of a reduction, for each pose, in one call: what abut_hessian_product gives for
 * each unit tangent, to rounding, at the price of six of these whatever K is.
 *
 * gradients  the gradient, of both poses; or NULL
 * hessian    real (N, K, K), row by row, symmetric up to rounding. A quaternion's length says
 *            nothing: times the quaternion itself the Hessian is minus the gradient by it
 * A pose that is not finite gets NaN. Arrays lie where the batch's do. */
ABUT_API abut_status abut_hessian(abut_pair pair, abut_batch *batch, abut_reduction reduction,
                                  abut_moving moving, const abut_gradients *gradients,
                                  void *hessian);

/* Jacobian blocks of the contacts in batch->compact, which must be there and gives their order and
 * number: entry i's rows p (3), d, n (3), activity by columns pose 1 (P), pose 2 (P).
 *
 * blocks   real (capacity of the list, 8, 2 P); NULL where the list grows, whose `blocks` they are
 *
 * Cost: where abut_list_jvp computes the entries alone, and the list's threshold is above 0, what
 * they depend on, with six tangents at a time; else a forward pass of all contacts with these. An
 * overflow of the list is an overflow here; the blocks of the entries that are there are right. */
ABUT_API abut_status abut_jacobian(abut_pair pair, abut_pair derivatives, abut_batch *batch,
                                   void *blocks);

/* Witness points alone. Arrays as in abut_witness_edges and abut_witness_faces; cotangents and
 * tangents have the shapes of what they belong to. NULL: zero of an input, not wanted of an output.
 * A face query that is rejected gives NaN. */
ABUT_API abut_status abut_witness_edges_vjp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *edges1, const void *edges2,
                                            const void *points1_bar, const void *points2_bar,
                                            const void *interior_bar, void *edges1_bar,
                                            void *edges2_bar);
ABUT_API abut_status abut_witness_edges_jvp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *edges1, const void *edges2,
                                            const void *edges1_tangent, const void *edges2_tangent,
                                            void *points1_tangent, void *points2_tangent,
                                            void *interior_tangent);
ABUT_API abut_status abut_witness_faces_vjp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *points, const void *triangles,
                                            const void *projected_bar, void *points_bar,
                                            void *triangles_bar, uint8_t *status, size_t *rejected);
ABUT_API abut_status abut_witness_faces_jvp(abut_context context, const abut_smoothing *smoothing,
                                            size_t count, const void *points, const void *triangles,
                                            const void *points_tangent,
                                            const void *triangles_tangent, void *projected_tangent,
                                            uint8_t *status, size_t *rejected);

#ifdef __cplusplus
}
#endif
#endif
