/* The convex hull of a set of points, which may be flat: its vertices and which of them are
 * neighbours. Needs no device. */
#ifndef ABUT_QUERY_HULL_H
#define ABUT_QUERY_HULL_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hull {
  size_t count;       /* of its vertices */
  uint32_t *vertices; /* (count) which of the points they are, ascending */
  int *rings; /* (count + 1) where in this array the neighbours of each vertex begin, and where the
                 last one's end; then the neighbours, by their places among `vertices`, ascending */
  size_t ring_ints;  /* of that array */
  size_t dimensions; /* 3; 2 of a flat one, 1 of a segment, 0 of a point */
} hull;

/* Finds the hull of (count, 3) finite points, one at least. Of equal points the first one counts.
 *
 * Neighbours are those of the facets, cut into triangles; of a flat hull, those of its polygon. A
 * set counts as flat where none of it is off a plane by more than 1e-10 of its extent or by some
 * roundings of its coordinates; a segment and a point likewise. Where qhull finds no hull, it is
 * given another chance with its own way of moving points by some roundings; where this fails, too,
 * all points are vertices and none has neighbours, so that the shape is still the right one. What
 * is left out lies outside the hull by some roundings, at worst about 1e-12 of the extent; among
 * vertices that are as near to each other as that, going from neighbour to neighbour need not lead
 * to the farthest one. On failure, which memory alone can be the cause of, *out is empty. */
abut_status hull_create(hull *out, const double *points, size_t count);
void hull_free(hull *h);

#endif
