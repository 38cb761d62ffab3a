/* A walk goes over a surface to the point that is nearest to a place. */
#ifndef ABUT_SURFACE_WALK_H
#define ABUT_SURFACE_WALK_H

#include "mesh/surface/surface.h"

/* Moves x to the nearest point that a walk finds from the first corner of a side, from vertex to
 * vertex as long as it comes nearer: of a thin sheet it stays on the side where it begins. Does not
 * go over open and tangled sides, nor onto what closes holes. */
void walk_to_nearest(const surface *s, uint32_t side, double x[3]);

#endif
