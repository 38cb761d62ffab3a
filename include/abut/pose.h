/* Poses as numbers: twists and quaternions, steps, and derivatives along steps.
 *
 * Conventions are those of <abut/manifold.h>. A pose X = (R, t) takes a point x of the body's frame
 * to R x + t in the world's. Its numbers are either (ABUT_POSE_TWIST) the six of a twist
 * s = (rho, omega), X = exp(s), translation part first [m], then radians, or (ABUT_POSE_QUATERNION)
 * the seven x, y, z, qw, qx, qy, qz, of a quaternion of any length above 0. P is 6 or 7.
 *
 * Nothing here needs a device or a context. An array named `real` holds float or double by
 * `precision`, which is a context's own where arrays come from its calls; all is computed in double
 * and rounded once. N is the count of poses; rows lie one behind the other. An output may lie where
 * an input of the same shape does; otherwise it must not overlap an input.
 *
 * A pose whose numbers are not finite, or whose quaternion has length 0, gives a row of NaN, as in
 * abut_contacts, and touches no other; so does a step that is not finite. A gradient that is not
 * finite spoils its own row. Lengths saturate at 1e100 m, angles at 1e50. Errors of all functions:
 * ABUT_ERROR_ARGUMENT for an array that is NULL where N is not 0, for arrays that overlap
 * otherwise, and for a precision, kind or frame that there is not.
 */
#ifndef ABUT_POSE_H
#define ABUT_POSE_H

#include <abut/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Poses from twists.
 *
 * twists  real (N, 6), of any length
 * poses   real (N, 7), quaternions of length 1
 */
ABUT_API abut_status abut_pose_exp(abut_precision precision, size_t count, const void *twists,
                                   void *poses);

/* Twists from poses: the shortest, |omega| <= pi. A quaternion and its negative, of whatever
 * length, give the same twist. Where qw is exactly 0, a half turn, the first number of omega that
 * is not 0 is positive: there omega jumps to its negative, and only there.
 *
 * poses   real (N, 7)
 * twists  real (N, 6)
 */
ABUT_API abut_status abut_pose_log(abut_precision precision, size_t count, const void *poses,
                                   void *twists);

/* The products left right: x goes to left(right(x)). With left = inverse(pose of A) and right =
 * pose of B, they are the poses of B seen from A. Twists come out as by abut_pose_log.
 *
 * left, right, products   real (N, P)
 */
ABUT_API abut_status abut_pose_compose(abut_precision precision, abut_pose_kind kind, size_t count,
                                       const void *left, const void *right, void *products);

/* The inverses of poses.
 *
 * poses, inverses   real (N, P)
 */
ABUT_API abut_status abut_pose_invert(abut_precision precision, abut_pose_kind kind, size_t count,
                                      const void *poses, void *inverses);

/* What a small motion xi = (u, theta) is measured in: u moves [m], theta turns [rad]. The motion is
 * exp of a twist each time; frames differ in the axes, and in the point that theta turns about. */
typedef enum abut_frame {
  ABUT_FRAME_BODY = 0,   /* X exp(xi): the body's axes, about the body's origin */
  ABUT_FRAME_WORLD = 1,  /* exp(xi) X: the world's axes, about the world's origin, so that a body
                            far from it goes a long way */
  ABUT_FRAME_ALIGNED = 2 /* the world's axes, about the body's origin: R becomes exp(theta) R, and
                            t becomes t + u where nothing turns, t + J(theta) u else */
} abut_frame;

/* Poses after a step each. A quaternion comes out with length 1, close to its old direction, a
 * twist as by abut_pose_log, which for a step of 0 is the same pose and, beyond |omega| = pi, other
 * numbers.
 *
 * poses    real (N, P)
 * steps    real (N, 6), of any length
 * stepped  real (N, P)
 */
ABUT_API abut_status abut_pose_step(abut_precision precision, abut_pose_kind kind, abut_frame frame,
                                    size_t count, const void *poses, const void *steps,
                                    void *stepped);

/* Gradients along steps, from gradients by a pose's own numbers, such as abut_vjp and abut_gradient
 * give: the derivative by xi, at xi = 0, of what is differentiated, at the pose after the step xi.
 * Their negative is the force on the body and its moment, about the frame's point and along its
 * axes, if what is differentiated is an energy.
 *
 * poses      real (N, P)
 * gradients  real (N, P)
 * steps      real (N, 6)
 *
 * In closed form, accurate near omega = 0 and everywhere else but near |omega| = 2 pi and its
 * multiples: there numbers of a twist do not tell all small motions apart, and what they say of
 * the rest grows without bound. Twists of abut_pose_log and abut_pose_step stay within pi.
 */
ABUT_API abut_status abut_gradient_to_frame(abut_precision precision, abut_pose_kind kind,
                                            abut_frame frame, size_t count, const void *poses,
                                            const void *gradients, void *steps);

/* The way back: gradients by the numbers, from gradients along steps. Takes forces of the caller's
 * own, such as gravity, to where gradients of contacts are; never singular. Of a quaternion the
 * result is orthogonal to it, as that of abut_vjp.
 *
 * poses      real (N, P)
 * steps      real (N, 6)
 * gradients  real (N, P)
 */
ABUT_API abut_status abut_gradient_from_frame(abut_precision precision, abut_pose_kind kind,
                                              abut_frame frame, size_t count, const void *poses,
                                              const void *steps, void *gradients);

/* Blocks of abut_jacobian along steps: each row as by abut_gradient_to_frame, for Newton-type
 * solvers whose unknowns are steps.
 *
 * moving   whose steps: K = 6 columns of one body's, or 12 of both, body 1's before body 2's
 * batch    of that call: its kind, poses and list are read; poses and list in host memory
 * blocks   real (entries of the list, 8, 2 P), or NULL: the list's own
 * steps    real (entries of the list, 8, K); may begin where the blocks do
 * Errors: ABUT_ERROR_ARGUMENT also for an entry of a pose that the batch has not, which it names.
 * Entries of a list that has overflowed count up to its capacity.
 */
ABUT_API abut_status abut_jacobian_to_frame(abut_precision precision, abut_frame frame,
                                            abut_moving moving, const abut_batch *batch,
                                            const void *blocks, void *steps);

#ifdef __cplusplus
}
#endif
#endif
