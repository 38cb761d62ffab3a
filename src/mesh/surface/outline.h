/* The true edges of a surface are those between its flat regions. */
#ifndef ABUT_SURFACE_OUTLINE_H
#define ABUT_SURFACE_OUTLINE_H

#include "mesh/surface/surface.h"

#define REGION_CLOSING UINT32_MAX /* of all triangles that close holes */

typedef struct outline {
  uint32_t *region; /* (triangle_count) the flat region that each lies in */
  uint32_t *edges;  /* (edge_count, 2), points i < j, lexicographic, none twice */
  size_t edge_count;
  unsigned char *is_end; /* (point_count) whether an edge ends there */
  size_t end_count;      /* such points */
  size_t merged;         /* triangles in one region with a neighbour */
} outline;

/* Triangles whose planes differ by less than a degree from their region's, and whose corners lie
 * within `deviation` [m] of it, are one region. Edges between the same two regions that run
 * straight, as exactly, are one. */
abut_status outline_create(const surface *s, double deviation, outline *out);
void outline_free(outline *o);

#endif
