/* Oriented point clouds in the kernels' layout (cl/geometry/spring.h). */
#ifndef ABUT_SPRING_PACK_H
#define ABUT_SPRING_PACK_H

#include "base/reals.h"
#include <abut/spring.h>

typedef struct packed_clouds {
  int *heads;
  size_t head_count;
  reals shapes;
} packed_clouds;

/* Checks clouds and packs them in a context's precision. Free with packed_free, also after a
 * failure. */
abut_status pack_clouds(const abut_cloud *clouds, size_t count, size_t real_size,
                        packed_clouds *out);
void packed_free(packed_clouds *p);

/* Returns the number of points of a cloud when padded to whole blocks of lanes of any width. */
size_t cloud_padded(const abut_cloud *cloud);

#endif
