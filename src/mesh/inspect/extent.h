/* Where a field may be 0 or less: boxes about its primitives, and blocks of cells that cover what
 * of these lies beyond a box. */
#ifndef ABUT_INSPECT_EXTENT_H
#define ABUT_INSPECT_EXTENT_H

#include "body/family/family.h"
#include "mesh/inspect/field_at.h"
#include <stdint.h>

typedef struct extent {
  box *boxes; /* of added primitives */
  size_t count;
  bool endless; /* others have no end, and no box */
} extent;

abut_status extent_create(const field_of *f, extent *out);
void extent_free(extent *e);

#define INNER_BLOCKS 4 /* along each side of the box within */

/* Blocks of cells beyond a box, on its cells continued: each has as many cells along a side as a
 * quarter of the box, and these are 2^level as long, with the least level by which the blocks are
 * not too many. */
typedef struct outskirts {
  double origin[3], step[3]; /* of the box within: its lower corner, and its cells [m] */
  size_t cells[3];           /* of a block along its sides, before they grow by the level */
  unsigned level;
  int64_t (*at)[3]; /* blocks, sorted: the place of each, counted in blocks from the
                       origin */
  size_t count;
} outskirts;

/* Fills in `level` and the blocks. */
abut_status outskirts_create(const extent *e, outskirts *o);
void outskirts_free(outskirts *o);

/* Gives the lower corner of a block and the length of its cells [m]. */
void outskirts_place(const outskirts *o, size_t block, double corner[3], double step[3]);

/* Returns which block is at a place counted in blocks, or `count`. */
size_t outskirts_find(const outskirts *o, const int64_t at[3]);

#endif
