/* Poses as numbers: twists and quaternions, steps, and derivatives along steps.
 *
 * Conventions are those of <abut/manifold.h>. A pose X = (R, t) maps a point x of the body's frame
 * to R x + t in the world. Its numbers are one of two kinds. ABUT_POSE_TWIST has the six numbers of
 * a twist s = (rho, omega), X = exp(s), translation part first [m], then radians.
 * ABUT_POSE_QUATERNION has seven, x, y, z, qw, qx, qy, qz, with a quaternion of any length above 0.
 * P is 6 or 7.
 *
 * These functions need no device and no context. An array documented as `real` holds float or
 * double by `precision`, which should be the context's own for arrays from its calls. All is
 * computed in double and rounded once. N is the number of poses; rows are contiguous. An output may
 * be the same array as an input of the same shape; otherwise it must not overlap an input.
 *
 * A pose whose numbers are not finite, or whose quaternion has length 0, gives a row of NaN, as in
 * abut_contacts, and does not affect the others. The same holds for a step that is not finite. A
 * gradient that is not finite affects only its own row. Lengths saturate at 1e100 m, angles at
 * 1e50. Errors of all functions: ABUT_ERROR_ARGUMENT for an array that is NULL if N is not 0, for
 * other overlaps of arrays, and for an unknown precision, kind or frame.
 */
#ifndef ABUT_POSE_H
#define ABUT_POSE_H

#include <abut/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes poses from twists.
 *
 * twists  real (N, 6), of any length
 * poses   real (N, 7), quaternions of length 1
 */
ABUT_API abut_status abut_pose_exp(abut_precision precision, size_t count, const void *twists,
                                   void *poses);

/* Computes the shortest twists from poses, with |omega| <= pi. A quaternion and its negative, of
 * any length, give the same twist. If qw is exactly 0, a half turn, the first nonzero number of
 * omega is positive. Only there omega jumps to its negative.
 *
 * poses   real (N, 7)
 * twists  real (N, 6)
 */
ABUT_API abut_status abut_pose_log(abut_precision precision, size_t count, const void *poses,
                                   void *twists);

/* Computes the products of poses, left right: x is mapped to left(right(x)). With left =
 * inverse(pose of A) and right = pose of B, the products are the poses of B relative to A. Twists
 * are the shortest ones, as from abut_pose_log.
 *
 * left, right, products   real (N, P)
 */
ABUT_API abut_status abut_pose_compose(abut_precision precision, abut_pose_kind kind, size_t count,
                                       const void *left, const void *right, void *products);

/* Computes the inverses of poses.
 *
 * poses, inverses   real (N, P)
 */
ABUT_API abut_status abut_pose_invert(abut_precision precision, abut_pose_kind kind, size_t count,
                                      const void *poses, void *inverses);

/* Frame of a small motion xi = (u, theta): u is a translation [m], theta a rotation [rad]. The
 * motion is exp of a twist in each frame. Frames differ in the axes, and in the point that theta
 * turns about. */
typedef enum abut_frame {
  ABUT_FRAME_BODY = 0,   /* X exp(xi): the body's axes, about the body's origin */
  ABUT_FRAME_WORLD = 1,  /* exp(xi) X: the world's axes, about the world's origin, so that a
                            rotation moves a distant body far */
  ABUT_FRAME_ALIGNED = 2 /* the world's axes, about the body's origin: R becomes exp(theta) R,
                            and t becomes t + u without rotation, else t + J(theta) u */
} abut_frame;

/* Moves each pose by a step. A quaternion in the result has length 1 and is close to its old
 * direction. A twist in the result is as by abut_pose_log: for a step of 0 it is the same pose and,
 * beyond |omega| = pi, has other numbers.
 *
 * poses    real (N, P)
 * steps    real (N, 6), of any length
 * stepped  real (N, P)
 */
ABUT_API abut_status abut_pose_step(abut_precision precision, abut_pose_kind kind, abut_frame frame,
                                    size_t count, const void *poses, const void *steps,
                                    void *stepped);

/* Converts gradients with respect to a pose's own numbers, as from abut_vjp and abut_gradient, to
 * gradients along steps. The result is the derivative with respect to xi, at xi = 0, of the
 * differentiated function at the pose after the step xi. If that function is an energy, the
 * negative of the result is the force on the body and its moment, about the frame's point and along
 * its axes.
 *
 * poses      real (N, P)
 * gradients  real (N, P)
 * steps      real (N, 6)
 *
 * The conversion is in closed form. It is accurate near omega = 0 and everywhere else except near
 * |omega| = 2 pi and its multiples. There a twist's numbers do not distinguish all small motions,
 * and the gradients along the others grow without bound. Twists of abut_pose_log and abut_pose_step
 * stay within pi.
 */
ABUT_API abut_status abut_gradient_to_frame(abut_precision precision, abut_pose_kind kind,
                                            abut_frame frame, size_t count, const void *poses,
                                            const void *gradients, void *steps);

/* Converts gradients along steps to gradients with respect to a pose's own numbers: the inverse
 * direction of abut_gradient_to_frame. It converts forces of the caller's own, such as gravity, to
 * the form of gradients of contacts, and is never singular. A quaternion's part of the result is
 * orthogonal to the quaternion, as in abut_vjp.
 *
 * poses      real (N, P)
 * steps      real (N, 6)
 * gradients  real (N, P)
 */
ABUT_API abut_status abut_gradient_from_frame(abut_precision precision, abut_pose_kind kind,
                                              abut_frame frame, size_t count, const void *poses,
                                              const void *steps, void *gradients);

/* Converts the blocks of abut_jacobian to derivatives along steps, each row as by
 * abut_gradient_to_frame. This is for Newton-type solvers whose unknowns are steps.
 *
 * moving   the bodies that step: K = 6 columns for one body, or 12 for both, body 1's before body
 *          2's
 * batch    the batch of the call of abut_jacobian: its kind, poses and list are read; poses and
 *          list in host memory
 * blocks   real (entries of the list, 8, 2 P), or NULL: the list's own
 * steps    real (entries of the list, 8, K); may start where the blocks do
 * Errors: ABUT_ERROR_ARGUMENT also for an entry whose pose is not in the batch; the text names it.
 * Entries of a list that has overflowed count up to its capacity.
 */
ABUT_API abut_status abut_jacobian_to_frame(abut_precision precision, abut_frame frame,
                                            abut_moving moving, const abut_batch *batch,
                                            const void *blocks, void *steps);

#ifdef __cplusplus
}
#endif
#endif
