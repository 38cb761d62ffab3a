/* The blocks of a grid's corrections by their places: a map of those of level 1, and of each block
 * the blocks of the next level in its octants, numbered through all levels. */
#ifndef ABUT_FAMILY_GRID_TREE_H
#define ABUT_FAMILY_GRID_TREE_H

#include <abut/body.h>

typedef struct grid_tree {
  int32_t *map;      /* (sides[0], sides[1], sides[2]), -1: none */
  int32_t *children; /* (blocks, 8), z fastest */
  size_t sides[3];
  size_t blocks;
} grid_tree;

/* The map's sides of a grid whose sizes are in range. */
void grid_map_sides(const abut_grid *g, size_t sides[3]);

/* Fails, naming grid i, where a block is there twice, lies outside the grid or in no block of the
 * level before. */
abut_status grid_tree_create(const abut_grid *g, size_t i, grid_tree *out);
void grid_tree_free(grid_tree *t);

/* The number of a block of `level`, from 1, or -1. */
int32_t grid_tree_find(const grid_tree *t, size_t level, const int32_t at[3]);

/* The numbers of the 27 blocks around one of `level` at a place, its own among them, -1 where there
 * is none: x slowest. */
typedef struct grid_around {
  int32_t number[27];
  bool inner[27]; /* of nodes by where they lie along each axis: near the block before, within, near
                     the one behind */
} grid_around;

grid_around grid_blocks_around(const grid_tree *t, size_t level, const int32_t *at);

/* Whether the four cells along each axis around a node all lie in blocks: others are 0. */
bool grid_node_is_inner(const grid_around *a, const int node[3]);

/* The coefficients of the block with a number. */
const double *grid_block(const abut_grid *g, size_t number);

#endif
