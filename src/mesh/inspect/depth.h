/* The ratio of a field's depth at points of a mesh to their distance from the surface. */
#ifndef ABUT_INSPECT_DEPTH_H
#define ABUT_INSPECT_DEPTH_H

#include "mesh/inspect/volumes.h"

/* Fills in depth_ratio_* from the middles of at most 20,000 cells that are in both the mesh and the
 * field. */
abut_status measure_depth(const field_of *f, const surface *s, solid *inside, const volumes *v,
                          abut_fit *out);

#endif
