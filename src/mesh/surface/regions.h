/* Finds the flat regions of a surface. */
#ifndef ABUT_SURFACE_REGIONS_H
#define ABUT_SURFACE_REGIONS_H

#include "mesh/surface/surface.h"

/* region: (triangle_count), output. merged: the number of triangles that share a region with a
 * neighbour. The rules are those of outline_create. */
abut_status regions_find(const surface *s, double deviation, uint32_t *region, size_t *merged);

#endif
