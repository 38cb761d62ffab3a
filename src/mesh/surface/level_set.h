/* The zero set of a field that is known on a lattice becomes triangles (Lorensen and Cline 1987,
 * Marching Cubes). */
#ifndef ABUT_SURFACE_LEVEL_SET_H
#define ABUT_SURFACE_LEVEL_SET_H

#include "mesh/surface/surface.h"

/* These are the nodes origin + spacing (i, j, k), the last index fastest. */
typedef struct lattice {
  double origin[3], spacing; /* [m] */
  size_t size[3];            /* at least 2 each */
} lattice;

size_t lattice_count(const lattice *l);

/* Makes triangles that part the nodes where the field is 0 or less from the others,
 * counterclockwise seen from where it is positive. They are a manifold, closed but for where the
 * zero set leaves the lattice; there may be none of them. values: (lattice_count). The surface has
 * points, triangles, a box, its diagonal, area and volume; `across` is by surface_pair_sides, and
 * `polygon` and `shell` are NULL. Fails with ABUT_ERROR_MEMORY. */
abut_status level_set_create(const lattice *l, const float *values, surface *out);

/* Finds the box, its diagonal, the area and the volume of what has points and triangles, anew. */
void level_set_measure(surface *s);

/* Returns the volume between a triangle and the box's lower corner: of a closed surface these add
 * up. */
double level_set_volume(const surface *s, size_t triangle);

#endif
