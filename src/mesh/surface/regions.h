/* A surface has flat regions. */
#ifndef ABUT_SURFACE_REGIONS_H
#define ABUT_SURFACE_REGIONS_H

#include "mesh/surface/surface.h"

/* region: (triangle_count), out. Returns by `merged` how many triangles lie in one region with a
 * neighbour. Of the outline's rules. */
abut_status regions_find(const surface *s, double deviation, uint32_t *region, size_t *merged);

#endif
