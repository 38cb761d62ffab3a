/* Where a field may be 0 or less: boxes around its primitives, and blocks of cells that cover the
 * parts of these boxes outside an inner box. */
#ifndef ABUT_INSPECT_EXTENT_H
#define ABUT_INSPECT_EXTENT_H

#include "body/family/family.h"
#include "mesh/inspect/field_at.h"
#include <stdint.h>

typedef struct extent {
  box *boxes; /* of added primitives */
  size_t count;
  bool endless; /* a primitive is unbounded and has no box */
} extent;

abut_status extent_create(const field_of *f, extent *out);
void extent_free(extent *e);

#define INNER_BLOCKS 4 /* along each side of the inner box */

/* Blocks of cells outside the inner box, on its lattice. Each block has as many cells along a side
 * as a quarter of the inner box. The cells are 2^level times longer, with the lowest level for
 * which the number of blocks fits. */
typedef struct outskirts {
  double origin[3], step[3]; /* of the inner box: its lower corner, and its cells [m] */
  size_t cells[3];           /* cells along the sides of a block, before they grow with the level */
  unsigned level;
  int64_t (*at)[3]; /* sorted indices of the blocks, counted in blocks from the origin */
  size_t count;
} outskirts;

/* Fills in `level` and the blocks. */
abut_status outskirts_create(const extent *e, outskirts *o);
void outskirts_free(outskirts *o);

/* Gives the lower corner of a block and the length of its cells [m]. */
void outskirts_place(const outskirts *o, size_t block, double corner[3], double step[3]);

/* Returns the block at an index counted in blocks, or `count`. */
size_t outskirts_find(const outskirts *o, const int64_t at[3]);

#endif
