/* Checks whether damping and stiffness of joints and actuators are stable at a scene's time step.
 */
#ifndef ABUT_WORLD_DRIVES_H
#define ABUT_WORLD_DRIVES_H

#include "scene/constants.h"

/* The tree that needs the shortest step. */
typedef struct drive_limit {
  double step;  /* the longest step [s] at which speeds do not grow from step to step; the scene's
                   own step if all trees are stable */
  size_t trees; /* the number of trees that are unstable at the scene's step */
  size_t link;  /* the link with the stiffest drive, relative to the inertia that it moves */
  int
    actuator; /* the actuator that contributes most, or -1: the joint's own damping and stiffness */
} drive_limit;

/* Examines worlds near the scene's start, without contacts, limits and force bounds. */
abut_status drives_limit(const scene_def *s, const scene_constants *c, drive_limit *out);

#endif
