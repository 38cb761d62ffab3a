/* Points cover a surface: each next one where none is near (Gonzalez 1985, farthest-first
 * traversal), of candidates spread over faces and sharp edges. */
#ifndef ABUT_SURFACE_COVER_H
#define ABUT_SURFACE_COVER_H

#include "base/memory.h"
#include "mesh/surface/queue.h"
#include "mesh/surface/surface.h"

typedef struct candidate {
  double at[3];
  float normal[3];
  float weight;    /* of its distance */
  float distance2; /* [m^2] to the nearest point */
} candidate;

typedef struct cover {
  arena memory;
  const surface *s;
  const uint32_t *region;
  double spacing; /* of so many points in a lattice of equal triangles [m] */
  candidate *candidates;
  size_t count;
  uint32_t *start, *listed; /* candidates by the cells that they lie in */
  size_t mask;
  queue far;
} cover;

/* These are points with outward normals (unit, or 0 where there is none). */
typedef struct cover_points {
  double *at, *normal; /* (count, 3) */
  size_t count;
} cover_points;

/* Makes candidates for about `wanted` points. What is passed must stay: region by
 * outline_create. */
abut_status cover_create(const surface *s, const uint32_t *region, size_t wanted, cover *out);

/* Adds points until no candidate is farther than `radius` [m] from one whose normal does not point
 * the other way, or until there are `most`. at, normal: room for as many. A candidate on a sharp
 * edge counts as farther off than it is. */
void cover_fill(cover *c, cover_points *points, double radius, size_t most);
void cover_free(cover *c);

#endif
