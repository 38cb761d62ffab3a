/* Whether the dampers and springs of joints and actuators hold at a scene's step. */
#ifndef ABUT_WORLD_DRIVES_H
#define ABUT_WORLD_DRIVES_H

#include "scene/constants.h"

/* Of the tree whose drives hold at the shortest steps alone. */
typedef struct drive_limit {
  double step;  /* [s] the longest with which its speeds do not grow from step to step; the
                   scene's: all holds */
  size_t trees; /* that do not hold at the scene's step */
  size_t link;  /* whose joint is driven the hardest, by what it moves */
  int actuator; /* which does most of it, or -1: the joint's own damping and stiffness */
} drive_limit;

/* Looks at worlds near the scene's start, without contacts, limits and bounds of forces. */
abut_status drives_limit(const scene_def *s, const scene_constants *c, drive_limit *out);

#endif
