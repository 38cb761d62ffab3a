/* Pages that show contacts in a browser: one self-contained HTML file.
 *
 * A page holds the bodies' meshes, the poses, and for every pose the contacts above an activity. It
 * turns and plays the bodies, and shows the values of abut_contacts for each contact. docs/view.md
 * describes its use and contents. A page makes no network requests, unless it is made for a server.
 */
#ifndef ABUT_PAGE_H
#define ABUT_PAGE_H

#include <abut/manifold.h>
#include <abut/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_page_options {
  double threshold;     /* the page has contacts of at least this activity; in [1/255, 1] */
  size_t first;         /* the frame that the page shows first and in its picture */
  const double *time;   /* (count) time of each frame [s], not decreasing; NULL: frames have only
                           numbers */
  const double *energy; /* (count, 2) of a scene: kinetic and potential [J]; NULL: not shown */
  const double *v;      /* (count, nv) velocities, for a scene. The page then shows the force of
                           each contact, and the sum on each link of a free joint [N], from one
                           step after each frame with the scene's own parameters; NULL: not shown */
  const double *u;      /* (count, nu) controls of that step. A scene with actuators needs them
                           for `v`. NULL: unknown */
  const char *names[2]; /* of a pair's bodies, in UTF-8; NULL: the name of the file, or "body 1",
                           "body 2" */
  uint32_t picture_width, picture_height; /* pixels of the picture for browsers that cannot draw
                                             the page, at most 4096; either 0: none */
  abut_progress progress; /* for a pair: called with the number of frames whose contacts are
                             computed; returning false stops the call with ABUT_ERROR_CANCELLED.
                             NULL: not called */
  void *user;
  bool live;       /* for a server, which docs/view.md describes. The page has no contacts and no
                      picture. It requests the contacts of a frame, of other poses and of other
                      smoothing from the address it was loaded from, when they are viewed */
  uint32_t cookie; /* set by abut_default_page_options */
} abut_page_options;

/* Returns options for contacts of an activity from 0.05, the first frame first, and a picture of
 * 640 x 480 pixels. */
ABUT_API abut_page_options abut_default_page_options(void);

/* Makes the page of a pair of bodies at poses, one frame per pose.
 *
 * Distances and normals in the page are 16-bit integers, with distances as shares of the largest.
 * Activities have 8 bits; positions are floats. A pose that is not finite gives a frame without
 * that body. Bodies are shown by their mesh as given, or by the surface of their field if it has no
 * faces. Surfaces of more than 60,000 triangles are thinned.
 *
 * - kind: of all poses
 * - pose1, pose2: double (count, 6) or (count, 7), by `kind`; count is at least 1
 * - *html: the page, UTF-8, with a 0 after its *bytes bytes; free it with abut_free. NULL after an
 *   error
 * Errors: ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE, ABUT_ERROR_MEMORY, ABUT_ERROR_CANCELLED, those of
 * devices.
 */
ABUT_API abut_status abut_format_pair_page(abut_pair pair, abut_pose_kind kind, size_t count,
                                           const double *pose1, const double *pose2,
                                           const abut_page_options *options, char **html,
                                           size_t *bytes);

/* Makes the page of a scene at positions q (count, nq) in double, one frame per row. The page has
 * the contacts of all pairs, as from abut_find_contacts, and their forces, as from
 * abut_find_contact_forces. Springs have no contacts in the page. If there are no forces, the page
 * says why.
 *
 * Errors: as above, and those of these functions and of abut_step_worlds; ABUT_ERROR_ARGUMENT for
 * velocities of a scene whose contacts are given, and for velocities without `u` of a scene with
 * actuators. */
ABUT_API abut_status abut_format_scene_page(abut_scene scene, size_t count, const double *q,
                                            const abut_page_options *options, char **html,
                                            size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
