/* The oriented point clouds of a scene's bodies, for springs. */
#ifndef ABUT_SCENE_CLOUDS_H
#define ABUT_SCENE_CLOUDS_H

#include "scene/definition.h"

typedef struct scene_clouds {
  size_t count;
  abut_cloud *clouds; /* Bodies of the same file, or of the same shape and lengths, share one if
                         their eps1 is the same. All planes with the same eps1 share one. */
  int *of;    /* by scene_body_number: index of the body's cloud; -1: the body is in no pair */
  double gap; /* the largest cloud_gap among the clouds of files */
  size_t gap_link, gap_body; /* first body with that cloud: link, and its number there */
} scene_clouds;

/* Makes the clouds of all bodies in pairs. Refuses a pair of two planes, which have no points for
 * contacts. *out is empty on failure. */
abut_status scene_clouds_load(const scene_def *s, scene_clouds *out);
void scene_clouds_free(scene_clouds *c);

#endif
