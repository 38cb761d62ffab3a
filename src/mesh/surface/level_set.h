/* Triangulates the zero set of a field sampled on a lattice (Lorensen and Cline 1987, Marching
 * Cubes). */
#ifndef ABUT_SURFACE_LEVEL_SET_H
#define ABUT_SURFACE_LEVEL_SET_H

#include "mesh/surface/surface.h"

/* The nodes origin + spacing (i, j, k), the last index fastest. */
typedef struct lattice {
  double origin[3], spacing; /* [m] */
  size_t size[3];            /* at least 2 each */
} lattice;

size_t lattice_count(const lattice *l);

/* Makes triangles that separate the nodes with a field of at most 0 from the others,
 * counterclockwise seen from the positive side. They are a manifold, and closed except where the
 * zero set leaves the lattice. There may be none. values: (lattice_count). The surface has points,
 * triangles, a box, its diagonal, area and volume. `across` must be set by surface_pair_sides;
 * `polygon` and `shell` are NULL. Fails with ABUT_ERROR_MEMORY. */
abut_status level_set_create(const lattice *l, const float *values, surface *out);

/* Recomputes the box, its diagonal, the area and the volume of a surface. */
void level_set_measure(surface *s);

/* Returns the volume between a triangle and the box's lower corner. The sum over a closed surface
 * is its volume. */
double level_set_volume(const surface *s, size_t triangle);

#endif
