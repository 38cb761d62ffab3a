/* Motion of links with the positions of their joints: derivatives of places (scene/place.h). */
#ifndef ABUT_SCENE_MOTION_H
#define ABUT_SCENE_MOTION_H

#include "scene/constants.h"
#include "scene/place.h"

/* Projects a wrench on a link onto the degrees of freedom of the link's joint, adds the result to d
 * (nv), and moves the wrench to the parent's origin. The wrench is a force and a moment about the
 * link's origin, in the world's axes. Returns the parent, WORLD if the link is attached to the
 * world. */
int motion_pull(const scene_def *s, const scene_constants *c, const double (*places)[PLACE],
                int link, double wrench[6], double *d);

/* Computes the twist of a link, its origin's velocity and its angular velocity in the world's axes,
 * from those of all links before it and from the rates d (nv) in the tangent space of q. */
void motion_twist(const scene_def *s, const scene_constants *c, const double (*places)[PLACE],
                  const double *d, int link, double (*twists)[6]);

/* Compute the rate of a place's numbers from its twist, and the wrench that corresponds to
 * cotangents of a place's numbers. */
void motion_rates(const double place[PLACE], const double twist[6], double rates[PLACE]);
void motion_wrench(const double place[PLACE], const double bar[PLACE], double wrench[6]);

#endif
