/* The contact mesh of a surface: vertices that cover it, and its true edges. */
#ifndef ABUT_SURFACE_SKIN_H
#define ABUT_SURFACE_SKIN_H

#include "mesh/surface/surface.h"

#define SKIN_VERTICES 1000 /* by default */

typedef struct skin {
  double *vertices; /* (vertex_count, 3); the last `added` of them belong to no edge */
  size_t vertex_count;
  uint32_t *edges; /* (edge_count, 2), i < j, lexicographic, unique */
  size_t edge_count;
  size_t merged;  /* triangles that are coplanar with a neighbour */
  size_t thinned; /* vertices removed to reach the wanted number */
  size_t added;   /* vertices added on long faces and edges */
} skin;

/* Makes a contact mesh with about `vertices` vertices; 0: SKIN_VERTICES. UINT32_MAX: all vertices
 * of the surface that are not inside flat faces, and no others. The number is smaller if fewer
 * cover the surface. It is larger for many shells, each of which retains four, and for surfaces
 * that are not manifolds. */
abut_status skin_create(const surface *s, size_t vertices, skin *out);
void skin_free(skin *s);

#endif
