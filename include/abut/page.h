/* Pages that show contacts in a browser: one file of HTML, which needs nothing but itself.
 *
 * A page holds the bodies' meshes, the poses, and of every pose the contacts of some activity; it
 * turns, plays, and tells of each contact what abut_contacts gave. docs/view.md says how it is used
 * and what it holds. It asks no host for anything, unless it is made for a server.
 */
#ifndef ABUT_PAGE_H
#define ABUT_PAGE_H

#include <abut/manifold.h>
#include <abut/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_page_options {
  double threshold;     /* contacts of at least this activity are in the page; in [1/255, 1] */
  size_t first;         /* the frame that the page shows first, and that its picture is of */
  const double *time;   /* (count) of each frame [s], not before the one before; NULL: frames
                           have numbers alone */
  const double *energy; /* (count, 2) of a scene: kinetic and potential [J]; NULL: not shown */
  const double *v;      /* (count, nv) of a scene: velocities. The page shows then what each
                           contact pushes with, and what all push each link of a free joint with
                           [N], by one step from each frame with the scene's own parameters;
                           NULL: not shown */
  const double *u;      /* (count, nu) controls of that step; of a scene with actuators `v` needs
                           them. NULL: not known */
  const char *names[2]; /* of a pair's bodies, in UTF-8; NULL: the name of the file, or "body 1",
                           "body 2" */
  uint32_t picture_width, picture_height; /* pixels of the picture for browsers that draw nothing,
                                             at most 4096; either 0: none */
  abut_progress progress; /* of a pair: told how many frames have their contacts; false ends the
                             call with ABUT_ERROR_CANCELLED. NULL: not told */
  void *user;
  bool live;       /* for a server, which docs/view.md describes. The page has no contacts
                      and no picture: it asks the address that it was loaded from for those
                      of a frame as it comes to be looked at, and of other poses and
                      smoothing */
  uint32_t cookie; /* set by abut_default_page_options */
} abut_page_options;

/* Contacts of an activity from 0.05, the first frame first, a picture of 640 x 480 pixels. */
ABUT_API abut_page_options abut_default_page_options(void);

/* Makes the page of a pair of bodies at poses, a frame each.
 *
 * Distances and normals in the page are 16-bit integers, distances as shares of the largest,
 * activities 8-bit ones; positions are floats. A pose that is not finite is a frame without that
 * body. Bodies are shown by their mesh as it was given, or by the surface of their field where it
 * has no faces; surfaces of more than 60,000 triangles are thinned.
 *
 * - kind: of all poses
 * - pose1, pose2: double (count, 6) or (count, 7), by `kind`; count is at least 1
 * - *html: the page, UTF-8, with a 0 behind its *bytes bytes; free it with abut_free. NULL after
 *   an error
 * Errors: ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, ABUT_ERROR_CANCELLED,
 * those of devices.
 */
ABUT_API abut_status abut_format_pair_page(abut_pair pair, abut_pose_kind kind, size_t count,
                                           const double *pose1, const double *pose2,
                                           const abut_page_options *options, char **html,
                                           size_t *bytes);

/* Makes the page of a scene at positions q (count, nq) in double, a frame each, with the contacts
 * of all its pairs, found as abut_find_contacts does, and their forces as abut_find_contact_forces
 * does. Where contacts are springs there are none. Where there are no forces the page says why.
 *
 * Errors: as above, and those of these functions and of abut_step_worlds; ABUT_ERROR_ARGUMENT for
 * velocities of a scene whose contacts are given, and of one that has actuators without `u`. */
ABUT_API abut_status abut_format_scene_page(abut_scene scene, size_t count, const double *q,
                                            const abut_page_options *options, char **html,
                                            size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
