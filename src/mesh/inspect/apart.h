/* Measures the distance between two surfaces at random points of both. */
#ifndef ABUT_INSPECT_APART_H
#define ABUT_INSPECT_APART_H

#include "mesh/surface/surface.h"

/* From the first surface to the second, then the reverse [m]. */
typedef struct distances {
  double mean[2], most[2];
  double beyond;     /* share of the first surface that is farther than a limit from the second */
  double over_holes; /* share of the second that is nearest to the triangles closing holes of the
                        first; it is left out */
} distances;

/* For each of 30,000 points of each surface, finds the nearest of 200,000 points of the other.
 * Triangles that close holes of the first surface are not part of it and get no points. Points of
 * the second surface that are nearer to these triangles than to every point of the first are left
 * out. If all are left out, their distances are 0. The second surface has no such triangles. Both
 * have a positive area. The result is deterministic. */
abut_status surfaces_apart(const surface *a, const surface *b, double limit, distances *out);

#endif
