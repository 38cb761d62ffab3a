#include "body/family/grid_slopes.h"

#include "base/error.h"
#include "base/memory.h"
#include "body/family/grid_tree.h"
#include "geometry/layout.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK_NODES ((size_t)(ABUT_GRID_BLOCK * ABUT_GRID_BLOCK * ABUT_GRID_BLOCK))

size_t grid_coefficient_count(const abut_grid *g)
{
  size_t count = g->size[0] * g->size[1] * g->size[2];
  for (size_t l = 0; l < g->level_count; ++l) {
    count += g->levels[l].block_count * BLOCK_NODES;
  }
  return count;
}

/* The four basis functions of a cubic B-spline at t, and their derivatives. */
static void basis(double t, double value[4], double slope[4])
{
  const double s = 1.0 - t;
  const double sixth = 1.0 / 6.0;
  value[0] = s * s * s * sixth;
  value[1] = (3.0 * t * t * t - 6.0 * t * t + 4.0) * sixth;
  value[2] = (3.0 * s * s * s - 6.0 * s * s + 4.0) * sixth;
  value[3] = t * t * t * sixth;
  slope[0] = -0.5 * s * s;
  slope[1] = 1.5 * t * t - 2.0 * t;
  slope[2] = -1.5 * s * s + 2.0 * s;
  slope[3] = 0.5 * t * t;
}

/* Their second derivatives. */
static void bends(double t, double curve[4])
{
  curve[0] = 1.0 - t;
  curve[1] = 3.0 * t - 2.0;
  curve[2] = 1.0 - 3.0 * t;
  curve[3] = t;
}

/* A level's cell: the index of its first coefficient, and the strides along x and y. */
typedef struct cell {
  size_t first, stride_x, stride_y;
  double t[3];
} cell;

/* Adds flat along + rest plain to a row of coefficients. */
static void add_row(const double *restrict along, const double *restrict plain, double flat,
                    double rest, double *restrict row)
{
  for (size_t k = 0; k < 4; ++k) {
    row[k] += flat * along[k] + rest * plain[k];
  }
}

static void add_cell(const cell *at, double bar, const double slope_bar[3], double scale,
                     double *sum)
{
  double value[3][4], slope[3][4];
  for (int k = 0; k < 3; ++k) {
    basis(at->t[k], value[k], slope[k]);
  }
  const double steep[3] = {scale * slope_bar[0], scale * slope_bar[1], scale * slope_bar[2]};
  /* Along z, each row of four is a combination of these two vectors, so a coefficient takes two
   * products. */
  double along[4];
  for (size_t k = 0; k < 4; ++k) {
    along[k] = bar * value[2][k] + steep[2] * slope[2][k];
  }
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      const double flat = value[0][i] * value[1][j];
      const double rest =
        steep[0] * slope[0][i] * value[1][j] + steep[1] * value[0][i] * slope[1][j];
      add_row(along, value[2], flat, rest, sum + at->first + i * at->stride_x + j * at->stride_y);
    }
  }
}

/* Adds the contribution of the second derivatives. */
static void bend_cell(const cell *at, const double bar[6], double scale, double *sum)
{
  double value[3][4], slope[3][4], curve[3][4];
  const double twice = scale * scale;
  for (int k = 0; k < 3; ++k) {
    basis(at->t[k], value[k], slope[k]);
    bends(at->t[k], curve[k]);
  }
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      double *row = sum + at->first + i * at->stride_x + j * at->stride_y;
      const double flat = bar[0] * curve[0][i] * value[1][j] + bar[1] * value[0][i] * curve[1][j] +
                          2.0 * bar[3] * slope[0][i] * slope[1][j];
      const double rise =
        2.0 * (bar[4] * slope[0][i] * value[1][j] + bar[5] * value[0][i] * slope[1][j]);
      const double bend = bar[2] * value[0][i] * value[1][j];
      for (size_t k = 0; k < 4; ++k) {
        row[k] += twice * (flat * value[2][k] + rise * slope[2][k] + bend * curve[2][k]);
      }
    }
  }
}

static bool any(const double *bars, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (bars[i] != 0.0) {
      return true;
    }
  }
  return false;
}

/* Returns the integer below x, limited to low and high, which are nonnegative integers. */
static double below(double x, double low, double high)
{
  return x >= high ? high : x > low ? (double)(long)x : low;
}

/* Visits the levels in the same way as grid_spline of cl/geometry/grid.inl. */
void grid_add_slopes(const reals *shape, size_t first, size_t levels, const double u[3], double bar,
                     const double slope_bar[3], const double curve_bar[6], double *sum)
{
  const bool bent = any(curve_bar, 6);
  double at[3] = {u[0], u[1], u[2]}, low = 1.0, scale = 1.0, most[3];
  size_t side[3], map[3];
  if (bar == 0.0 && !any(slope_bar, 3) && !bent) {
    return;
  }
  for (size_t k = 0; k < 3; ++k) {
    side[k] = (size_t)reals_get(shape, first + GRID_SIZES + k);
    map[k] = (size_t)reals_get(shape, first + GRID_MAP + k);
    most[k] = (double)side[k] - 3.0;
  }
  const size_t nodes = side[0] * side[1] * side[2], cells = map[0] * map[1] * map[2];
  const size_t blocks = GRID_STRIDE + GRID_PADDED(nodes) + GRID_MAPS * GRID_PADDED(cells);
  size_t links = GRID_STRIDE + GRID_PADDED(nodes);
  /* The first node is -1 for a block and 0 for the grid, whose first cell begins at node 1. */
  size_t begin = GRID_STRIDE;
  for (size_t level = 0;; ++level) {
    size_t i[3], before = level ? 0 : 1;
    cell c = {.stride_x = side[1] * side[2], .stride_y = side[2]};
    for (size_t k = 0; k < 3; ++k) {
      const double whole = below(at[k], low, most[k]);
      i[k] = (size_t)whole - before;
      c.t[k] = at[k] - whole;
    }
    c.first = begin + i[0] * c.stride_x + i[1] * c.stride_y + i[2];
    add_cell(&c, bar, slope_bar, scale, sum);
    if (bent) {
      bend_cell(&c, curve_bar, scale, sum);
    }
    if (level == levels) {
      return;
    }
    size_t b[3];
    for (size_t k = 0; k < 3; ++k) {
      b[k] = (size_t)below(at[k] / GRID_MAP_CELLS, 0.0, (double)map[k] - 1.0);
    }
    const double block = reals_get(shape, first + links + (b[0] * map[1] + b[1]) * map[2] + b[2]);
    if (!(block >= 0.0)) {
      return;
    }
    links = blocks + (size_t)block * GRID_BLOCK_STRIDE;
    begin = links + GRID_CHILDREN;
    for (size_t k = 0; k < 3; ++k) {
      at[k] = 2.0 * (at[k] - (double)(b[k] * GRID_MAP_CELLS));
      side[k] = GRID_NODES;
      map[k] = 2;
      most[k] = GRID_CELLS - 1;
    }
    low = 0.0;
    scale *= 2.0;
  }
}

#define PACKED_NODES ((size_t)GRID_NODES * GRID_NODES * GRID_NODES)

/* Returns the index among the coefficients of all blocks of the n-th number in a packed block,
 * which has the nodes -1 to 9. Returns SIZE_MAX if no block has it. */
static size_t node_of(const grid_around *a, size_t n)
{
  const size_t x = n / (GRID_NODES * GRID_NODES) + ABUT_GRID_BLOCK - 1;
  const size_t y = n / GRID_NODES % GRID_NODES + ABUT_GRID_BLOCK - 1,
               z = n % GRID_NODES + ABUT_GRID_BLOCK - 1;
  const int32_t of =
    a->number[x / ABUT_GRID_BLOCK * 9 + y / ABUT_GRID_BLOCK * 3 + z / ABUT_GRID_BLOCK];
  const size_t at =
    (x % ABUT_GRID_BLOCK * ABUT_GRID_BLOCK + y % ABUT_GRID_BLOCK) * ABUT_GRID_BLOCK +
    z % ABUT_GRID_BLOCK;
  return of >= 0 ? (size_t)of * BLOCK_NODES + at : SIZE_MAX;
}

/* Nodes that must be 0 for a field without seams do not vary. */
static void clear_outer(const grid_around *a, double *block)
{
  for (int n = 0; n < (int)BLOCK_NODES; ++n) {
    const int node[3] = {n / (ABUT_GRID_BLOCK * ABUT_GRID_BLOCK),
                         n / ABUT_GRID_BLOCK % ABUT_GRID_BLOCK, n % ABUT_GRID_BLOCK};
    if (!grid_node_is_inner(a, node)) {
      block[n] = 0.0;
    }
  }
}

static void clear_blocks(const abut_grid *g, const grid_tree *tree, double *blocks)
{
  for (size_t level = 1; level <= g->level_count; ++level) {
    const abut_grid_level *l = &g->levels[level - 1];
    for (size_t b = 0; b < l->block_count; ++b, blocks += BLOCK_NODES) {
      const grid_around a = grid_blocks_around(tree, level, l->blocks + 3 * b);
      clear_outer(&a, blocks);
    }
  }
}

static size_t first_block(const abut_grid *g, const grid_tree *tree)
{
  const size_t cells = tree->sides[0] * tree->sides[1] * tree->sides[2];
  return GRID_STRIDE + GRID_PADDED(g->size[0] * g->size[1] * g->size[2]) +
         GRID_MAPS * GRID_PADDED(cells);
}

abut_status grid_slopes_write(const abut_grid *g, const double *sum, double *to)
{
  const size_t nodes = g->size[0] * g->size[1] * g->size[2];
  grid_tree tree;
  memcpy(to, sum + GRID_STRIDE, nodes * sizeof *to);
  if (!g->level_count) {
    return ABUT_SUCCESS;
  }
  TRY(grid_tree_create(g, 0, &tree));
  memset(to + nodes, 0, (grid_coefficient_count(g) - nodes) * sizeof *to);
  const double *packed = sum + first_block(g, &tree) + GRID_CHILDREN;
  for (size_t level = 1; level <= g->level_count; ++level) {
    const abut_grid_level *l = &g->levels[level - 1];
    for (size_t b = 0; b < l->block_count; ++b, packed += GRID_BLOCK_STRIDE) {
      const grid_around a = grid_blocks_around(&tree, level, l->blocks + 3 * b);
      for (size_t n = 0; n < PACKED_NODES; ++n) {
        const size_t at = node_of(&a, n);
        if (at != SIZE_MAX) {
          to[nodes + at] += packed[n];
        }
      }
    }
  }
  clear_blocks(g, &tree, to + nodes);
  grid_tree_free(&tree);
  return ABUT_SUCCESS;
}

/* Copies the coefficients of all blocks to the packed blocks' nodes; NULL stands for zeros. */
static void read_blocks(const abut_grid *g, const grid_tree *tree, const double *from,
                        double *packed)
{
  packed += first_block(g, tree) + GRID_CHILDREN;
  for (size_t level = 1; level <= g->level_count; ++level) {
    const abut_grid_level *l = &g->levels[level - 1];
    for (size_t b = 0; b < l->block_count; ++b, packed += GRID_BLOCK_STRIDE) {
      const grid_around a = grid_blocks_around(tree, level, l->blocks + 3 * b);
      for (size_t n = 0; n < PACKED_NODES; ++n) {
        const size_t at = from ? node_of(&a, n) : SIZE_MAX;
        packed[n] = at == SIZE_MAX ? 0.0 : from[at];
      }
    }
  }
}

abut_status grid_moves_pack(const abut_grid *g, const double *by, double *packed)
{
  const size_t nodes = g->size[0] * g->size[1] * g->size[2],
               blocks = grid_coefficient_count(g) - nodes;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  grid_tree tree;
  for (size_t i = 0; i < nodes; ++i) {
    packed[GRID_STRIDE + i] = by ? by[i] : 0.0;
  }
  if (!g->level_count) {
    return ABUT_SUCCESS;
  }
  TRY(grid_tree_create(g, 0, &tree));
  if (by) {
    TRY_DONE(allocate(&memory, blocks, sizeof *by));
    memcpy(memory, by + nodes, blocks * sizeof *by);
    clear_blocks(g, &tree, memory);
  }
  read_blocks(g, &tree, memory, packed);
done:
  free(memory);
  grid_tree_free(&tree);
  return status;
}
