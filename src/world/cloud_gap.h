/* How far the field of a cloud of faces lies off them. */
#ifndef ABUT_WORLD_CLOUD_GAP_H
#define ABUT_WORLD_CLOUD_GAP_H

#include <abut/spring.h>

/* By how much the field is off at the most, as a share of the mesh's diagonal: its size half way between the
 * middles of faces and their corners, which lies on the faces, and how deep inside it says that places are
 * which lie outside, on the way from faces to what is next along their normals. 0 of a cloud that is of no
 * faces. */
abut_status cloud_gap(const abut_cloud *c, double *out);

#endif
