/* How far the field of a cloud of faces lies off them. */
#ifndef ABUT_WORLD_CLOUD_GAP_H
#define ABUT_WORLD_CLOUD_GAP_H

#include <abut/spring.h>

/* The most, half way between the middles of faces and their corners, as a share of the mesh's diagonal; 0 of
 * a cloud that is of no faces. */
double cloud_gap(const abut_cloud *c);

#endif
