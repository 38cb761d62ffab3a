/* The blocks of a grid's corrections by position: a map of the blocks of level 1, and for each
 * block its children by octant. Blocks are numbered through all levels. */
#ifndef ABUT_FAMILY_GRID_TREE_H
#define ABUT_FAMILY_GRID_TREE_H

#include <abut/body.h>

typedef struct grid_tree {
  int32_t *map;      /* (sides[0], sides[1], sides[2]), -1: none */
  int32_t *children; /* (blocks, 8), z fastest */
  size_t sides[3];
  size_t blocks;
} grid_tree;

/* Gives the map's sides for a grid with valid sizes. */
void grid_map_sides(const abut_grid *g, size_t sides[3]);

/* Fails, and names grid i, if a block is repeated, is outside the grid, or is not inside a block of
 * the previous level. */
abut_status grid_tree_create(const abut_grid *g, size_t i, grid_tree *out);
void grid_tree_free(grid_tree *t);

/* Returns the number of a block of `level` (from 1), or -1. */
int32_t grid_tree_find(const grid_tree *t, size_t level, const int32_t at[3]);

/* The numbers of the 27 blocks around a position of `level`, including the block itself, x slowest.
 * -1: none. */
typedef struct grid_around {
  int32_t number[27];
  bool inner[27]; /* for nodes by position along each axis: near the previous block, interior, near
                     the next block */
} grid_around;

grid_around grid_blocks_around(const grid_tree *t, size_t level, const int32_t *at);

/* Whether the four cells along each axis around a node are all in blocks. Other nodes must be 0. */
bool grid_node_is_inner(const grid_around *a, const int node[3]);

/* Returns the coefficients of a block by its number. */
const double *grid_block(const abut_grid *g, size_t number);

#endif
