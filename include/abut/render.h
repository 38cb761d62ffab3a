/* Pictures of a pair, and of scenes (world.h): fields sphere-traced on the device, contacts on
 * top. */
#ifndef ABUT_RENDER_H
#define ABUT_RENDER_H

#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The camera looks at what can be seen of the bodies, in perspective: 30 degrees over the shorter
 * side of the picture, z up. At azimuth 0 it stands on the x axis, at azimuth pi/2 on the y axis;
 * a positive elevation looks down. */
typedef struct abut_view {
  uint32_t width, height;    /* pixels, 1 to 16384 each */
  double azimuth, elevation; /* [rad] of the camera around the scene, finite */
  double zoom;               /* at 1 the bodies fill nine tenths of the picture's width or height,
                                at 2 they are twice as large; in [1e-3, 1e3] */
  double threshold;          /* contacts of at least this activity are drawn; in [0, 1] */
  bool contacts;             /* draw contact points and their normals, and the bar of activities */
  uint32_t cookie;           /* set by abut_default_view */
} abut_view;

/* 900 x 700 pixels from azimuth 0.6 and elevation 0.35, contacts of an activity from 0.05. */
ABUT_API abut_view abut_default_view(void);

/* Draws one pose of a pair.
 *
 * A body is the zero set of its field, with the pair's smoothing, within the box of its mesh and
 * of its added primitives; body 1 is blue, body 2 sand, the background white. A contact is a ball
 * at p with an arrow along n, coloured by its activity from pale yellow (0) to dark purple (1);
 * one that a body hides is fainter. Pictures of less than 160 pixels a side have no bar of
 * activities.
 *
 * The same call gives the same bytes. Pictures of other devices and precisions differ in the last
 * digit, and here and there on an edge. Time grows with the pixels that the bodies fill, times
 * their primitives: a bare mesh of thousands of vertices takes seconds on a CPU. All devices of the
 * context share the rays.
 *
 * kind          of both poses
 * pose1, pose2  double (6) or (7), by `kind`; rounded once to the context's precision
 * rgb           uint8 (height, width, 3), rows from the top; left as it was after an error
 * Errors: ABUT_ERROR_ARGUMENT (a number of the view out of its range, or a pose that is not finite
 * or has a quaternion of length 0), ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, OpenCL's codes.
 */
ABUT_API abut_status abut_render(abut_pair pair, abut_pose_kind kind, const double *pose1,
                                 const double *pose2, const abut_view *view, uint8_t *rgb);

/* A body and where it stands. */
typedef struct abut_placed_body {
  abut_body body;
  double pose[7]; /* x, y, z [m], qw, qx, qy, qz, a quaternion of any length above 0 */
} abut_placed_body;

/* Draws one pose of a pair, and other bodies that stand around it.
 *
 * As abut_render, and with the same bytes where there are no others. The camera holds all bodies in
 * view, the nearer hides the farther, and what stands close darkens. Others have colours of their
 * own: six, by their place among the others, then again from the first. Contacts are those of the
 * pair alone. A body of the pair looks the same among the others; any other one has the smoothing
 * that fits it and itself, as abut_fit_smoothing tells.
 *
 * others  (count), of the pair's context, a body as often as wanted; NULL where count is 0
 * Errors: as abut_render, of the others too.
 */
ABUT_API abut_status abut_render_with(abut_pair pair, abut_pose_kind kind, const double *pose1,
                                      const double *pose2, const abut_placed_body *others,
                                      size_t count, const abut_view *view, uint8_t *rgb);

#ifdef __cplusplus
}
#endif
#endif
