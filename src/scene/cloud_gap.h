/* How far the zero of a cloud's field lies off the faces that the cloud was made of. */
#ifndef ABUT_SCENE_CLOUD_GAP_H
#define ABUT_SCENE_CLOUD_GAP_H

#include <abut/spring.h>

/* Sets *out to the largest error of the field that is found, as a share of the mesh's diagonal.
 * Half way from the middle of a face to its corners, on the face itself, the error is the field's
 * size. On the way out from a face along its normal, up to the next face, it is the depth that the
 * field tells, since these places lie outside. *out is 0 for a cloud that was not made of faces. */
abut_status cloud_gap(const abut_cloud *c, double *out);

#endif
