/* The convex hull of a set of points, which may be flat: its vertices and their neighbours. Runs on
 * the host only. */
#ifndef ABUT_QUERY_HULL_H
#define ABUT_QUERY_HULL_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hull {
  size_t count;       /* of its vertices */
  uint32_t *vertices; /* (count) their indices among the points, ascending */
  int *rings; /* (count + 1) start of each vertex's neighbours in this array, and the end of the
                 last one's; then the neighbours, by index in `vertices`, ascending */
  size_t ring_ints;  /* size of that array */
  size_t dimensions; /* 3; 2 for a flat one, 1 for a segment, 0 for a point */
} hull;

/* Computes the hull of (count, 3) finite points, at least one. The first of equal points is used.
 *
 * Neighbours are those in the facets, cut into triangles; for a flat hull, those in its polygon. A
 * set counts as flat if all points are within 1e-10 of its extent, or within some roundings of its
 * coordinates, of a plane; segments and points likewise. If qhull finds no hull, it is run again
 * with its option to perturb points by some roundings. If this fails too, all points are vertices
 * without neighbours, so the shape is still correct. Omitted points are outside the hull by some
 * roundings, at most about 1e-12 of the extent. Among vertices as close as that, a walk from
 * neighbour to neighbour may not reach the farthest one. Fails only for lack of memory; *out is
 * then empty. */
abut_status hull_create(hull *out, const double *points, size_t count);
void hull_free(hull *h);

#endif
