/* A walk over a surface to the point nearest to a place. */
#ifndef ABUT_SURFACE_WALK_H
#define ABUT_SURFACE_WALK_H

#include "mesh/surface/surface.h"

/* Moves x to the nearest point found by a walk from the first corner of a side. The walk moves from
 * vertex to vertex while the distance decreases, so on a thin sheet it stays on its side. It does
 * not cross open or tangled sides, nor enter triangles that close holes. */
void walk_to_nearest(const surface *s, uint32_t side, double x[3]);

#endif
