/* Pictures of a pair: both fields sphere-traced on the device, contacts on top. */
#ifndef ABUT_RENDER_H
#define ABUT_RENDER_H

#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_view {
  uint32_t width, height;     /* pixels */
  double azimuth, elevation;  /* [rad] of the camera around the scene, z up */
  double zoom;                /* 1 shows both bodies whole */
  double threshold;           /* contacts of at least this activity are drawn */
  bool contacts;              /* draw contact points and their normals */
  uint32_t cookie;            /* set by abut_default_view */
} abut_view;

abut_view abut_default_view(void);

/* Draws one pose of a pair.
 *
 * pose1, pose2  double (6) or (7), by `kind`
 * rgb           uint8 (height, width, 3), rows from the top
 */
abut_status abut_render(abut_pair pair, abut_pose_kind kind, const double *pose1,
                        const double *pose2, const abut_view *view, uint8_t *rgb);

#ifdef __cplusplus
}
#endif
#endif
