/* Makes triangles fewer by collapsing edges, the one first that moves the surface least (Garland
 * and Heckbert 1997, Surface Simplification Using Quadric Error Metrics). */
#ifndef ABUT_SURFACE_THIN_H
#define ABUT_SURFACE_THIN_H

#include "base/memory.h"
#include "mesh/surface/queue.h"
#include "mesh/surface/surface.h"

/* v(x) = x A x + 2 b x + c: the sum of squared distances to planes and points, by weight. */
typedef struct quadric {
  double xx, xy, xz, yy, yz, zz, x, y, z, c;
} quadric;

typedef struct thin_vertex {
  quadric error;
  double at[3];    /* in units of the diagonal, from the box's lower corner */
  uint32_t side;   /* one that begins here; UINT32_MAX: the vertex has gone */
  uint32_t origin; /* a side of the surface that begins near here */
  uint32_t seen;   /* a stamp */
  bool is_fixed;   /* at an open or tangled side */
} thin_vertex;

typedef struct thinner {
  arena memory;
  const surface *s;
  thin_vertex *vertices;
  size_t vertex_count, left;
  uint32_t *corner; /* (3 triangle_count) its vertex; UINT32_MAX: the triangle has gone */
  uint32_t *across;
  queue edges; /* by their lower side */
  uint32_t stamp;
  bool may_fold; /* nothing else is left to do */
} thinner;

/* The surface must stay. */
abut_status thin_create(const surface *s, thinner *out);

/* Goes on to `wanted` vertices, or as far as no hole closes. Triangles fold only where it would not
 * come so far without. */
void thin_to(thinner *t, size_t wanted);

/* Makes a surface of what is left: points, moved onto the whole one, and triangles; box and area of
 * the whole; `polygon` is NULL. */
abut_status thin_surface(const thinner *t, surface *out);
void thin_free(thinner *t);

#endif
