#include "body/family/grid_near.h"

#include "base/error.h"
#include "base/memory.h"
#include "body/family/grid_bounds.h"
#include "geometry/layout.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE ABUT_GRID_BLOCK
#define NODES (SIDE * SIDE * SIDE)
#define AROUND_SHARE 10 /* reciprocal share of the map's longest side */

/* ---- corrections ---- */

/* The largest coefficient of each block, by its number. */
static void find_own(const abut_grid *g, size_t blocks, double *own)
{
  for (size_t b = 0; b < blocks; ++b) {
    const double *c = grid_block(g, b);
    for (size_t i = 0; i < NODES; ++i) {
      const double size = fabs(c[i]);
      own[b] = size > own[b] ? size : own[b];
    }
  }
}

/* The largest of all blocks whose coefficients a block's cells read. */
static double reached(const grid_tree *t, const double *own, size_t level, const int32_t *at)
{
  double most = 0.0;
  for (int32_t n = 0; n < 27; ++n) {
    const int32_t beside[3] = {at[0] + n / 9 - 1, at[1] + n / 3 % 3 - 1, at[2] + n % 3 - 1};
    const int32_t found = grid_tree_find(t, level, beside);
    most = found >= 0 && own[found] > most ? own[found] : most;
  }
  return most;
}

/* The largest sum of corrections of all levels in each block. Children have higher numbers than
 * their parents. */
static void add_levels(const abut_grid *g, const grid_tree *t, const double *own, double *sum)
{
  size_t number = t->blocks;
  for (size_t level = g->level_count; level >= 1; --level) {
    const abut_grid_level *l = &g->levels[level - 1];
    for (size_t b = l->block_count; b-- > 0;) {
      double below = 0.0;
      --number;
      for (size_t k = 0; k < GRID_CHILDREN; ++k) {
        const int32_t child = t->children[GRID_CHILDREN * number + k];
        below = child >= 0 && sum[child] > below ? sum[child] : below;
      }
      sum[number] = below + reached(t, own, level, l->blocks + 3 * b);
    }
  }
}

static abut_status find_corrections(const abut_grid *g, const grid_tree *t, double *out)
{
  abut_status status = ABUT_SUCCESS;
  void *own = NULL, *sum = NULL;
  TRY_DONE(allocate(&own, t->blocks, sizeof(double)));
  TRY_DONE(allocate(&sum, t->blocks, sizeof(double)));
  find_own(g, t->blocks, own);
  add_levels(g, t, own, sum);
  for (size_t i = 0; i < t->sides[0] * t->sides[1] * t->sides[2]; ++i) {
    out[i] = t->map[i] >= 0 ? ((double *)sum)[t->map[i]] : 0.0;
  }
done:
  free(own);
  free(sum);
  return status;
}

/* ---- slopes ---- */

/* A lattice of numbers at a grid's nodes, with the strides along each axis. */
typedef struct lattice {
  const size_t *size;
  size_t stride[3];
} lattice;

/* Replaces each number by the maximum of `window` numbers from it on along an axis; near the end,
 * of fewer. */
static void spread_on(const lattice *l, size_t axis, size_t window, double *at)
{
  const size_t count = l->size[0] * l->size[1] * l->size[2], stride = l->stride[axis];
  for (size_t i = 0; i < count; ++i) {
    const size_t left = l->size[axis] - i / stride % l->size[axis];
    double most = at[i];
    for (size_t k = 1; k < window && k < left; ++k) {
      most = at[i + k * stride] > most ? at[i + k * stride] : most;
    }
    at[i] = most;
  }
}

/* The largest difference along an axis among the 4 x 4 x 4 coefficients from each node on. */
static void find_differences(const abut_grid *g, const lattice *l, size_t axis, double *out)
{
  const size_t count = l->size[0] * l->size[1] * l->size[2], stride = l->stride[axis];
  for (size_t i = 0; i < count; ++i) {
    const bool is_last = i / stride % l->size[axis] + 1 == l->size[axis];
    out[i] = is_last ? 0.0 : fabs(g->coefficients[i + stride] - g->coefficients[i]);
  }
  for (size_t a = 0; a < 3; ++a) {
    spread_on(l, a, a == axis ? 3 : 4, out);
  }
}

/* A cell of the grid and a bound on its squared gradient. */
typedef struct steep {
  double bound;
  size_t cell[3]; /* its first coefficient */
} steep;

static int compare_steep(const void *a, const void *b)
{
  const double x = ((const steep *)a)->bound, y = ((const steep *)b)->bound;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* The cells inside a map cell in which distances may be above 0, sorted by falling bound. */
static size_t find_cells(const abut_grid *g, const size_t place[3], const double *sum,
                         const double *highest, double correction, steep *out)
{
  size_t low[3], end[3], f[3], count = 0;
  for (int k = 0; k < 3; ++k) { /* coordinates begin one node after a cell's first coefficient */
    const size_t first = place[k] * GRID_MAP_CELLS, most = g->size[k] - 3;
    low[k] = first ? first - 1 : 0;
    end[k] = first + GRID_MAP_CELLS - 1 < most ? first + GRID_MAP_CELLS - 1 : most;
  }
  for (f[0] = low[0]; f[0] < end[0]; ++f[0]) {
    for (f[1] = low[1]; f[1] < end[1]; ++f[1]) {
      for (f[2] = low[2]; f[2] < end[2]; ++f[2]) {
        const size_t at = (f[0] * g->size[1] + f[1]) * g->size[2] + f[2];
        if (highest[at] + correction > 0.0) {
          out[count++] = (steep){sum[at], {f[0], f[1], f[2]}};
        }
      }
    }
  }
  qsort(out, count, sizeof *out, compare_steep);
  return count;
}

/* The steepest cell inside each map cell. The sum of the squared largest differences bounds a
 * gradient, which is a mean of differences. Only cells that could exceed the present maximum by
 * this bound are examined in detail. highest: the largest coefficient of each cell. */
static void find_steepest(const abut_grid *g, const grid_tree *t, const double *sum,
                          const double *highest, const double *correction, double *out)
{
  steep cells[GRID_MAP_CELLS * GRID_MAP_CELLS * GRID_MAP_CELLS];
  size_t at = 0, place[3];
  for (place[0] = 0; place[0] < t->sides[0]; ++place[0]) {
    for (place[1] = 0; place[1] < t->sides[1]; ++place[1]) {
      for (place[2] = 0; place[2] < t->sides[2]; ++place[2], ++at) {
        const size_t count = find_cells(g, place, sum, highest, correction[at], cells);
        double most = 0.0;
        for (size_t i = 0; i < count && cells[i].bound > most; ++i) {
          most = fmax(most, fmin(grid_cell_slope2(g, cells[i].cell), cells[i].bound));
        }
        out[at] = sqrt(most) / g->spacing;
      }
    }
  }
}

static abut_status find_slopes(const abut_grid *g, const grid_tree *t, const double *correction,
                               double *out)
{
  abut_status status = ABUT_SUCCESS;
  const lattice l = {g->size, {g->size[1] * g->size[2], g->size[2], 1}};
  const size_t count = g->size[0] * l.stride[0];
  void *part = NULL, *sum_memory = NULL;
  TRY_DONE(allocate(&part, count, sizeof(double)));
  TRY_DONE(allocate(&sum_memory, count, sizeof(double)));
  double *sum = sum_memory, *along = part;
  for (size_t axis = 0; axis < 3; ++axis) {
    find_differences(g, &l, axis, along);
    for (size_t i = 0; i < count; ++i) {
      sum[i] += along[i] * along[i];
    }
  }
  memcpy(along, g->coefficients, count * sizeof(double));
  for (size_t a = 0; a < 3; ++a) {
    spread_on(&l, a, 4, along);
  }
  find_steepest(g, t, sum, along, correction, out);
done:
  free(part);
  free(sum_memory);
  return status;
}

/* ---- both, including neighbours ---- */

/* Replaces each number by the maximum of itself and its neighbours. */
static abut_status spread_around(const grid_tree *t, double *at)
{
  const size_t count = t->sides[0] * t->sides[1] * t->sides[2];
  const size_t stride[3] = {t->sides[1] * t->sides[2], t->sides[2], 1};
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof(double)));
  double *before = memory;
  for (size_t axis = 0; axis < 3; ++axis) {
    memcpy(before, at, count * sizeof(double));
    for (size_t i = 0; i < count; ++i) {
      const size_t place = i / stride[axis] % t->sides[axis];
      if (place) {
        at[i] = fmax(at[i], before[i - stride[axis]]);
      }
      if (place + 1 < t->sides[axis]) {
        at[i] = fmax(at[i], before[i + stride[axis]]);
      }
    }
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* Number of map cells to examine on each side. Spheres around neighbouring vertices extend about
 * this far. */
static size_t cells_around(const grid_tree *t)
{
  const size_t most = t->sides[0] > t->sides[1] ? t->sides[0] : t->sides[1];
  const size_t longest = most > t->sides[2] ? most : t->sides[2];
  return (longest + AROUND_SHARE - 1) / AROUND_SHARE;
}

abut_status grid_near_create(const abut_grid *g, const grid_tree *t, grid_near *out)
{
  abut_status status = ABUT_SUCCESS;
  const size_t around = cells_around(t);
  const size_t count = t->sides[0] * t->sides[1] * t->sides[2];
  void *memory = NULL;
  *out = (grid_near){0};
  TRY_DONE(allocate(&memory, count, sizeof(double)));
  out->slope = memory;
  TRY_DONE(allocate(&memory, count, sizeof(double)));
  out->correction = memory;
  TRY_DONE(find_corrections(g, t, out->correction));
  TRY_DONE(find_slopes(g, t, out->correction, out->slope));
  for (size_t i = 0; i < around; ++i) {
    TRY_DONE(spread_around(t, out->slope));
    TRY_DONE(spread_around(t, out->correction));
  }
  out->reach = (double)(around * GRID_MAP_CELLS) * g->spacing;
done:
  if (status != ABUT_SUCCESS) {
    grid_near_free(out);
  }
  return status;
}

void grid_near_free(grid_near *n)
{
  free(n->slope);
  free(n->correction);
  *n = (grid_near){0};
}
