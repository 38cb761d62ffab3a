/* Pictures of a pair, and of scenes (world.h). Fields are sphere-traced on the device, with
 * contacts on top. */
#ifndef ABUT_RENDER_H
#define ABUT_RENDER_H

#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The camera looks at the visible bodies, in perspective: 30 degrees over the shorter side of the
 * picture, z up. At azimuth 0 the camera is on the x axis, at azimuth pi/2 on the y axis. With a
 * positive elevation it looks down. */
typedef struct abut_view {
  uint32_t width, height;    /* pixels, 1 to 16384 each */
  double azimuth, elevation; /* [rad] of the camera around the scene, finite */
  double zoom;               /* at 1 the bodies fill nine tenths of the picture's width or height,
                                at 2 they are twice as large; in [1e-3, 1e3] */
  double threshold;          /* contacts of at least this activity are drawn; in [0, 1] */
  bool contacts;             /* draw contact points and their normals, and the scale of
                                activities */
  uint32_t cookie;           /* set by abut_default_view */
} abut_view;

/* Returns a view of 900 x 700 pixels from azimuth 0.6 and elevation 0.35, with contacts of an
 * activity from 0.05. */
ABUT_API abut_view abut_default_view(void);

/* Draws one pose of a pair.
 *
 * A body is the zero set of its field, with the pair's smoothing, within the box of its mesh and of
 * its added primitives. Body 1 is blue, body 2 sand, and the background white. A contact is a ball
 * at p with an arrow along n, coloured by its activity from pale yellow (0) to dark purple (1). A
 * contact that a body hides is fainter. Pictures of less than 160 pixels a side have no scale of
 * activities.
 *
 * The same call gives the same bytes. Pictures of other devices and precisions differ in the last
 * digit, and in a few pixels on edges. The time grows with the pixels that the bodies fill, times
 * their primitives: a bare mesh of thousands of vertices takes seconds on a CPU. All devices of the
 * context share the rays.
 *
 * kind          of both poses
 * pose1, pose2  double (6) or (7), by `kind`; rounded once to the context's precision
 * rgb           uint8 (height, width, 3), rows from the top; unchanged after an error
 * Errors: ABUT_ERROR_ARGUMENT (a number of the view out of its range, or a pose that is not finite
 * or has a quaternion of length 0), ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, OpenCL's codes.
 */
ABUT_API abut_status abut_render(abut_pair pair, abut_pose_kind kind, const double *pose1,
                                 const double *pose2, const abut_view *view, uint8_t *rgb);

/* A body and its pose. */
typedef struct abut_placed_body {
  abut_body body;
  double pose[7]; /* x, y, z [m], qw, qx, qy, qz, a quaternion of any length above 0 */
} abut_placed_body;

/* Draws one pose of a pair, with other bodies around it.
 *
 * As abut_render, and with the same bytes if there are no other bodies. The camera holds all bodies
 * in view, nearer bodies hide farther ones, and close bodies darken each other. The others have six
 * colours, by their index among the others, repeated from the first. Only the pair's contacts are
 * drawn. A body of the pair has the same shape among the others. Any other body has the smoothing
 * of abut_fit_smoothing for the body with itself.
 *
 * others  (count), of the pair's context; a body may be there several times; NULL if count is 0
 * Errors: as abut_render, also for the others.
 */
ABUT_API abut_status abut_render_with(abut_pair pair, abut_pose_kind kind, const double *pose1,
                                      const double *pose2, const abut_placed_body *others,
                                      size_t count, const abut_view *view, uint8_t *rgb);

#ifdef __cplusplus
}
#endif
#endif
