/* Compares a field with the surface that it approximates: the shared volume of the solids, and the
 * distance between the surfaces. */
#ifndef ABUT_INSPECT_MEASURE_H
#define ABUT_INSPECT_MEASURE_H

#include "mesh/inspect/extent.h"
#include "mesh/surface/solid.h"
#include <abut/inspect.h>

/* Cells where a field and a mesh differ. They cover the mesh's box and MEASURE_PAD more on each
 * side, the last index fastest. */
#define MEASURE_CELLS 128
#define MEASURE_PAD 10
#define MEASURE_SIDE (MEASURE_CELLS + 2 * MEASURE_PAD)

enum { CELL_OF_MESH = 1, CELL_OF_FIELD = 2 }; /* bits */

/* Marks whether the middle of each cell is in the mesh and in the field. inside: of the surface.
 * cells: (MEASURE_SIDE^3) */
abut_status measure_cells(const field_of *f, const surface *s, const solid *inside,
                          unsigned char *cells);

/* Makes the field's surface around a surface's box with cells of 1/220 of its diagonal. It
 * continues beyond the box as far as the field extends, with longer cells if that is far. Its parts
 * are not joined. Fails with ABUT_ERROR_BODY if no part is around the box. */
abut_status measure_zero_set(const field_of *f, const surface *s, const extent *e, surface *out);

#endif
