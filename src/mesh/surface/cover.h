/* Covers a surface with points. Each next point is the candidate farthest from the previous ones
 * (Gonzalez 1985, farthest-first traversal). Candidates are spread over faces and sharp edges. */
#ifndef ABUT_SURFACE_COVER_H
#define ABUT_SURFACE_COVER_H

#include "base/memory.h"
#include "mesh/surface/queue.h"
#include "mesh/surface/surface.h"

typedef struct candidate {
  double at[3];
  float normal[3];
  float weight;    /* factor of its distance */
  float distance2; /* [m^2] to the nearest point */
} candidate;

typedef struct cover {
  arena memory;
  const surface *s;
  const uint32_t *region;
  double spacing; /* of this number of points in a triangular lattice [m] */
  candidate *candidates;
  size_t count;
  uint32_t *start, *listed; /* candidates by the cells that contain them */
  size_t mask;
  queue far;
} cover;

/* Points with outward normals (unit vectors, or 0 where undefined). */
typedef struct cover_points {
  double *at, *normal; /* (count, 3) */
  size_t count;
} cover_points;

/* Makes candidates for about `wanted` points. The arguments must remain valid. region: from
 * outline_create. */
abut_status cover_create(const surface *s, const uint32_t *region, size_t wanted, cover *out);

/* Adds points until every candidate is within `radius` [m] of a point whose normal is not opposite,
 * or until there are `most` points. at, normal: room for `most`. Distances of candidates on sharp
 * edges count more. */
void cover_fill(cover *c, cover_points *points, double radius, size_t most);
void cover_free(cover *c);

#endif
