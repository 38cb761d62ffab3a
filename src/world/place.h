/* Where links and their bodies are. A place is seven numbers: position, and quaternion (w, x, y, z)
 * of length 1. */
#ifndef ABUT_WORLD_PLACE_H
#define ABUT_WORLD_PLACE_H

#include "world/scene_def.h"

#define PLACE 7

/* A link's place by its parent's (NULL: the world's) and its joint's positions, whose quaternion
 * may have any length above 0. */
void place_link(const scene_link *l, const double *parent, const double *q, double place[PLACE]);

/* A body's place by its link's. */
void place_body(const scene_body *b, const double link[PLACE], double place[PLACE]);

/* A direction of the place's own axes in those of the world. */
void place_turn(const double place[PLACE], const double x[3], double out[3]);

#endif
