#include "body/family/grid_tree.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include <stdlib.h>

#define NODES (ABUT_GRID_BLOCK * ABUT_GRID_BLOCK * ABUT_GRID_BLOCK)

void grid_map_sides(const abut_grid *g, size_t sides[3])
{
  for (int k = 0; k < 3; ++k) {
    sides[k] = (g->size[k] + GRID_MAP_CELLS - 2) / GRID_MAP_CELLS; /* for size - 1 cells */
  }
}

static abut_status allocate_tree(const abut_grid *g, grid_tree *t)
{
  void *memory = NULL;
  for (size_t l = 0; l < g->level_count; ++l) {
    t->blocks += g->levels[l].block_count;
  }
  grid_map_sides(g, t->sides);
  const size_t cells = t->sides[0] * t->sides[1] * t->sides[2];
  TRY(allocate(&memory, cells, sizeof *t->map));
  t->map = memory;
  TRY(allocate(&memory, t->blocks, 8 * sizeof *t->children));
  t->children = memory;
  for (size_t i = 0; i < cells; ++i) {
    t->map[i] = -1;
  }
  for (size_t i = 0; i < 8 * t->blocks; ++i) {
    t->children[i] = -1;
  }
  return ABUT_SUCCESS;
}

/* Returns the entry for a block of the first level; NULL outside the grid. */
static int32_t *root_of(const grid_tree *t, const int32_t at[3])
{
  size_t index = 0;
  for (int k = 0; k < 3; ++k) {
    if (at[k] < 0 || (size_t)at[k] >= t->sides[k]) {
      return NULL;
    }
    index = index * t->sides[k] + (size_t)at[k];
  }
  return &t->map[index];
}

/* Does the same for any level. Also NULL if no block of the previous level contains it. */
static int32_t *place_of(const grid_tree *t, size_t level, const int32_t at[3])
{
  if (at[0] < 0 || at[1] < 0 || at[2] < 0) {
    return NULL;
  }
  const int32_t root[3] = {at[0] >> (level - 1), at[1] >> (level - 1), at[2] >> (level - 1)};
  int32_t *place = root_of(t, root);
  for (size_t shift = level - 1; place && shift-- > 0;) {
    const int32_t octant =
      (at[0] >> shift & 1) * 4 + (at[1] >> shift & 1) * 2 + (at[2] >> shift & 1);
    place = *place >= 0 ? &t->children[8 * (size_t)*place + (size_t)octant] : NULL;
  }
  return place;
}

int32_t grid_tree_find(const grid_tree *t, size_t level, const int32_t at[3])
{
  const int32_t *place = place_of(t, level, at);
  return place ? *place : -1;
}

static abut_status add_level(const abut_grid *g, size_t i, size_t level, int32_t first,
                             grid_tree *t)
{
  const abut_grid_level *l = &g->levels[level - 1];
  for (size_t b = 0; b < l->block_count; ++b) {
    const int32_t *at = l->blocks + 3 * b;
    int32_t *place = place_of(t, level, at);
    if (!place) {
      return fail(ABUT_ERROR_BODY,
                  "grid %zu, level %zu: block %zu, at %d %d %d, is not inside any %s", i, level, b,
                  at[0], at[1], at[2],
                  level == 1 ? "cell of the grid" : "block of the previous level");
    }
    if (*place >= 0) {
      return fail(ABUT_ERROR_BODY, "grid %zu, level %zu: block %zu, at %d %d %d, is a duplicate", i,
                  level, b, at[0], at[1], at[2]);
    }
    *place = first + (int32_t)b;
  }
  return ABUT_SUCCESS;
}

abut_status grid_tree_create(const abut_grid *g, size_t i, grid_tree *out)
{
  int32_t first = 0;
  *out = (grid_tree){0};
  abut_status status = allocate_tree(g, out);
  for (size_t level = 1; status == ABUT_SUCCESS && level <= g->level_count; ++level) {
    status = add_level(g, i, level, first, out);
    first += (int32_t)g->levels[level - 1].block_count;
  }
  if (status != ABUT_SUCCESS) {
    grid_tree_free(out);
  }
  return status;
}

void grid_tree_free(grid_tree *t)
{
  free(t->map);
  free(t->children);
  *t = (grid_tree){0};
}

/* Whether all blocks that the cells around a node touch exist. `at` is one of 27 positions of the
 * node. */
static bool reaches_blocks(const grid_around *a, int at)
{
  const int place[3] = {at / 9, at / 3 % 3, at % 3};
  int low[3], high[3]; /* range of blocks that it touches, within 0 to 2 */
  for (int k = 0; k < 3; ++k) {
    low[k] = place[k] == 0 ? 0 : 1;
    high[k] = place[k] == 2 ? 2 : 1;
  }
  for (int x = low[0]; x <= high[0]; ++x) {
    for (int y = low[1]; y <= high[1]; ++y) {
      for (int z = low[2]; z <= high[2]; ++z) {
        if (a->number[9 * x + 3 * y + z] < 0) {
          return false;
        }
      }
    }
  }
  return true;
}

grid_around grid_blocks_around(const grid_tree *t, size_t level, const int32_t *at)
{
  grid_around a;
  for (int n = 0; n < 27; ++n) {
    const int32_t place[3] = {at[0] + n / 9 - 1, at[1] + n / 3 % 3 - 1, at[2] + n % 3 - 1};
    a.number[n] = grid_tree_find(t, level, place);
  }
  for (int n = 0; n < 27; ++n) {
    a.inner[n] = reaches_blocks(&a, n);
  }
  return a;
}

static int place_along(int node)
{
  return node < 2 ? 0 : node > ABUT_GRID_BLOCK - 2 ? 2 : 1;
}

bool grid_node_is_inner(const grid_around *a, const int node[3])
{
  return a->inner[9 * place_along(node[0]) + 3 * place_along(node[1]) + place_along(node[2])];
}

const double *grid_block(const abut_grid *g, size_t number)
{
  size_t l = 0;
  for (; number >= g->levels[l].block_count; ++l) {
    number -= g->levels[l].block_count;
  }
  return g->levels[l].coefficients + number * NODES;
}
