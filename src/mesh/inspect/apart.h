/* How far two surfaces are apart is asked at random points of both. */
#ifndef ABUT_INSPECT_APART_H
#define ABUT_INSPECT_APART_H

#include "mesh/surface/surface.h"

/* Of the way from the first surface to the second, then back [m]. */
typedef struct distances {
  double mean[2], most[2];
  double beyond;     /* share of the first surface that is farther from the second than a
                        limit */
  double over_holes; /* share of the second that is nearest to what closes holes of the
                        first: it is left out */
} distances;

/* Lets 30,000 points of each surface ask for the nearest of 200,000 points of the other one. What
 * closes holes of the first counts for none of it: no points lie on it, and those of the second
 * surface that are nearer to it than to any point of the first ask for nothing; where all of them
 * are, their distances are 0. The second has no such faces. Both have some area. The same surfaces
 * give the same answer. */
abut_status surfaces_apart(const surface *a, const surface *b, double limit, distances *out);

#endif
