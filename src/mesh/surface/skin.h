/* The contact mesh of a surface has vertices that cover it, and its true edges. */
#ifndef ABUT_SURFACE_SKIN_H
#define ABUT_SURFACE_SKIN_H

#include "mesh/surface/surface.h"

#define SKIN_VERTICES 1000 /* by default */

typedef struct skin {
  double *vertices; /* (vertex_count, 3); the last `added` of them belong to no edge */
  size_t vertex_count;
  uint32_t *edges; /* (edge_count, 2), i < j, lexicographic, none twice */
  size_t edge_count;
  size_t merged;  /* triangles that lie in one plane with a neighbour */
  size_t thinned; /* vertices left out to make them as few as wanted */
  size_t added;   /* vertices put on long faces and edges */
} skin;

/* Makes it of about as many vertices as wanted; 0: SKIN_VERTICES; UINT32_MAX: of all vertices of
 * the surface that flat faces do not swallow, and of no others. Fewer do where they cover the
 * surface; more are left of many shells, of which each keeps four, and of what is no manifold. */
abut_status skin_create(const surface *s, size_t vertices, skin *out);
void skin_free(skin *s);

#endif
