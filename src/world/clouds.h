/* The oriented point clouds of a scene's bodies, for springs. */
#ifndef ABUT_WORLD_CLOUDS_H
#define ABUT_WORLD_CLOUDS_H

#include "world/scene_def.h"

typedef struct scene_clouds {
  size_t count;
  abut_cloud *clouds; /* bodies of the same file, or of the same shape and lengths, have one if
                         their eps1 is the same; all planes have one */
  int *of;            /* by scene_body_number; -1: the body is in no pair */
  double gap;         /* the most that a field lies off its faces, as a share of the body's diagonal, */
  size_t gap_link, gap_body; /* and whose */
} scene_clouds;

/* Of all bodies that are in pairs; two planes are no pair. *out is empty on failure. */
abut_status scene_clouds_load(const scene_def *s, scene_clouds *out);
void scene_clouds_free(scene_clouds *c);

#endif
