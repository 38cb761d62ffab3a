/* Simplifies a surface by collapsing edges, starting with the least change (Garland and Heckbert
 * 1997, Surface Simplification Using Quadric Error Metrics). */
#ifndef ABUT_SURFACE_THIN_H
#define ABUT_SURFACE_THIN_H

#include "base/memory.h"
#include "mesh/surface/queue.h"
#include "mesh/surface/surface.h"

/* v(x) = x A x + 2 b x + c: a weighted sum of squared distances to planes and points. */
typedef struct quadric {
  double xx, xy, xz, yy, yz, zz, x, y, z, c;
} quadric;

typedef struct thin_vertex {
  quadric error;
  double at[3];    /* in diagonals, from the box's lower corner */
  uint32_t side;   /* one that begins here; UINT32_MAX: the vertex was removed */
  uint32_t origin; /* a side of the surface that begins near here */
  uint32_t seen;   /* stamp of the last visit */
  bool is_fixed;   /* at an open or tangled side */
} thin_vertex;

typedef struct thinner {
  arena memory;
  const surface *s;
  thin_vertex *vertices;
  size_t vertex_count, left;
  uint32_t *corner; /* (3 triangle_count) its vertex; UINT32_MAX: the triangle was removed */
  uint32_t *across;
  queue edges; /* by their lower side */
  uint32_t stamp;
  bool may_fold; /* set when no other collapse is left */
} thinner;

/* The surface must remain valid. */
abut_status thin_create(const surface *s, thinner *out);

/* Reduces the number of vertices to `wanted`, or as far as possible without closing holes.
 * Triangles fold only if that number cannot be reached otherwise. */
void thin_to(thinner *t, size_t wanted);

/* Makes a surface from the remaining triangles, with points moved onto the original. It has the box
 * and area of the original; `polygon` is NULL. */
abut_status thin_surface(const thinner *t, surface *out);
void thin_free(thinner *t);

#endif
