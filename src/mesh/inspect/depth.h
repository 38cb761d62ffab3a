/* How deep a field says that places of a mesh lie, over how far they are from its surface. */
#ifndef ABUT_INSPECT_DEPTH_H
#define ABUT_INSPECT_DEPTH_H

#include "mesh/inspect/volumes.h"

/* Fills in depth_ratio_*, by the middles of at most 20,000 cells that are the mesh's and the
 * field's. */
abut_status measure_depth(const field_of *f, const surface *s, solid *inside, const volumes *v,
                          abut_fit *out);

#endif
