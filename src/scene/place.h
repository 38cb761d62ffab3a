/* The places of links and their bodies (docs/dev/cone-formulas.md, section 4). A place is seven
 * numbers: a position, and a quaternion (w, x, y, z) of length 1. */
#ifndef ABUT_SCENE_PLACE_H
#define ABUT_SCENE_PLACE_H

#include "scene/definition.h"

#define PLACE 7

/* Computes a link's place from its parent's, which is NULL for the world, and from its joint's
 * positions q. A quaternion in q may have any length above 0. */
void place_link(const scene_link *l, const double *parent, const double *q, double place[PLACE]);

/* Computes a body's place from its link's. */
void place_body(const scene_body *b, const double link[PLACE], double place[PLACE]);

/* Rotates a direction from the place's own axes to those of the world. */
void place_turn(const double place[PLACE], const double x[3], double out[3]);

#endif
