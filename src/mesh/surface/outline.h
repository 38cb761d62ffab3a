/* The true edges of a surface: those between its flat regions. */
#ifndef ABUT_SURFACE_OUTLINE_H
#define ABUT_SURFACE_OUTLINE_H

#include "mesh/surface/surface.h"

#define REGION_CLOSING UINT32_MAX /* the region of all triangles that close holes */

typedef struct outline {
  uint32_t *region; /* (triangle_count) the flat region of each triangle */
  uint32_t *edges;  /* (edge_count, 2), points i < j, lexicographic, unique */
  size_t edge_count;
  unsigned char *is_end; /* (point_count) whether an edge ends there */
  size_t end_count;      /* number of such points */
  size_t merged;         /* triangles that share a region with a neighbour */
} outline;

/* Triangles belong to one region if their planes differ by less than a degree from the region's and
 * their corners are within `deviation` [m] of it. Edges between the same two regions are merged if
 * they are straight within the same deviation. */
abut_status outline_create(const surface *s, double deviation, outline *out);
void outline_free(outline *o);

#endif
