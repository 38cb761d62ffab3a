/* Scatters random points over a surface, uniformly by area. */
#ifndef ABUT_INSPECT_SCATTER_H
#define ABUT_INSPECT_SCATTER_H

#include "mesh/surface/surface.h"

/* Puts points on the first `triangles` triangles of a surface, which have a positive area. The
 * result is the same for the same seed. points: (count, 3) [m]. Fails with ABUT_ERROR_MEMORY. */
abut_status scatter(const surface *s, size_t triangles, uint64_t seed, size_t count,
                    double *points);

#endif
