/* A field is compared with the surface that it stands for: of two solids the volume that they
 * share, of two surfaces how far they are apart. */
#ifndef ABUT_INSPECT_MEASURE_H
#define ABUT_INSPECT_MEASURE_H

#include "mesh/inspect/extent.h"
#include "mesh/surface/solid.h"
#include <abut/inspect.h>

/* This is where a field and a mesh differ: cells over the mesh's box and MEASURE_PAD more on each
 * side, the last index fastest. */
#define MEASURE_CELLS 128
#define MEASURE_PAD 10
#define MEASURE_SIDE (MEASURE_CELLS + 2 * MEASURE_PAD)

enum { CELL_OF_MESH = 1, CELL_OF_FIELD = 2 }; /* bits */

/* Tells of each cell whether its middle lies in the mesh and in the field. inside: the surface's.
 * cells: (MEASURE_SIDE^3) */
abut_status measure_cells(const field_of *f, const surface *s, const solid *inside,
                          unsigned char *cells);

/* Makes the field's surface around a surface's box, with cells of 1/220 of its diagonal, and beyond
 * as far as the field reaches, where that is far with longer ones. Its parts are not joined. Fails
 * with ABUT_ERROR_BODY where none of it is around the box. */
abut_status measure_zero_set(const field_of *f, const surface *s, const extent *e, surface *out);

#endif
