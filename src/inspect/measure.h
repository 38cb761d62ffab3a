/* A field is compared with the surface that it stands for: of two solids the volume that they share, of
 * two surfaces how far they are apart. */
#ifndef ABUT_INSPECT_MEASURE_H
#define ABUT_INSPECT_MEASURE_H

#include "inspect/field_at.h"
#include <abut/inspect.h>

/* Compares a field with a surface of surface_create, as abut_measure_fit says. */
abut_status measure_fit(const field_of *f, const surface *s, abut_fit *out);

/* This is where a field and a mesh differ: cells over the mesh's box and MEASURE_PAD more on each side,
 * the last index fastest. */
#define MEASURE_CELLS 128
#define MEASURE_PAD 10
#define MEASURE_SIDE (MEASURE_CELLS + 2 * MEASURE_PAD)

enum { CELL_OF_MESH = 1, CELL_OF_FIELD = 2 }; /* bits */

/* Tells of each cell whether its middle lies in the mesh and in the field. cells: (MEASURE_SIDE^3) */
abut_status measure_cells(const field_of *f, const surface *s, unsigned char *cells);

/* Makes the field's surface around a surface's box, with cells of 1/220 of its diagonal. Fails with
 * ABUT_ERROR_BODY where there is none. */
abut_status measure_zero_set(const field_of *f, const surface *s, surface *out);

#endif
