/* The distance between the zero set of a cloud's field and the faces that the cloud was made of. */
#ifndef ABUT_SCENE_CLOUD_GAP_H
#define ABUT_SCENE_CLOUD_GAP_H

#include <abut/spring.h>

/* Sets *out to the largest field error found, relative to the mesh's diagonal. Two errors are
 * measured. Halfway from the middle of a face to its corners, on the face, the error is the field's
 * magnitude. Along the normal from a face up to the next face, the error is the field's depth,
 * because these places are outside. *out is 0 for a cloud that was not made of faces. */
abut_status cloud_gap(const abut_cloud *c, double *out);

#endif
