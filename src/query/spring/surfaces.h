/* Clouds' meshes in the kernels' layout (cl/kernels/spring/points.cl), for soft points. */
#ifndef ABUT_SPRING_SURFACES_H
#define ABUT_SPRING_SURFACES_H

#include "base/reals.h"
#include <abut/spring.h>

typedef struct packed_surfaces {
  int *ints;
  size_t int_count;
  reals vertices;
} packed_surfaces;

/* Checks meshes and packs them in a context's precision. Free with surfaces_free, also after a
 * failure. */
abut_status pack_surfaces(const abut_cloud *clouds, size_t count, size_t real_size,
                          packed_surfaces *out);
void surfaces_free(packed_surfaces *p);

#endif
