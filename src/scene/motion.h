/* How links move with the positions of their joints: derivatives of places (scene/place.h). */
#ifndef ABUT_SCENE_MOTION_H
#define ABUT_SCENE_MOTION_H

#include "scene/constants.h"
#include "scene/place.h"

/* Adds to d (nv) what a wrench on a link, a force and a moment about the link's origin along the
 * world's axes, does along the degrees of freedom of the link's joint, and moves the wrench to its
 * parent's origin. Returns the parent, WORLD for a link that the world bears. */
int motion_pull(const scene_def *s, const scene_constants *c, const double (*places)[PLACE],
                int link, double wrench[6], double *d);

/* Finds the twist of a link, its origin's velocity and its angular velocity along the world's axes,
 * from those of all links before it and from the rates d (nv) in the tangent space of q. */
void motion_twist(const scene_def *s, const scene_constants *c, const double (*places)[PLACE],
                  const double *d, int link, double (*twists)[6]);

/* How a place changes with its twist, and the wrench that cotangents of a place's numbers are. */
void motion_rates(const double place[PLACE], const double twist[6], double rates[PLACE]);
void motion_wrench(const double place[PLACE], const double bar[PLACE], double wrench[6]);

#endif
