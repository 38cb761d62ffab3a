/* Oriented point clouds as kernels read them (cl/geometry/spring.h). */
#ifndef ABUT_SPRING_PACK_H
#define ABUT_SPRING_PACK_H

#include "base/reals.h"
#include <abut/spring.h>

typedef struct packed_clouds {
  int *heads;
  size_t head_count;
  reals shapes;
} packed_clouds;

/* Checks clouds and packs them in a context's precision. Free with packed_free, failed or not. */
abut_status pack_clouds(const abut_cloud *clouds, size_t count, size_t real_size,
                        packed_clouds *out);
void packed_free(packed_clouds *p);

/* Returns how many points a cloud has when padded to whole blocks of lanes, however wide these
 * are. */
size_t cloud_padded(const abut_cloud *cloud);

#endif
