#include "body/family/grid_bounds.h"

#include "body/family/bernstein.h"
#include <math.h>

#define SIDE ABUT_GRID_BLOCK
#define NODES (SIDE * SIDE * SIDE)
#define RIM 4        /* layers of nodes with nonzero weight in the rim's cells */
#define ROUNDINGS 64 /* of a sum of 64 terms and its subsequent operations */
#define SLOPE_LEAST 1.1
#define BRICK 2 /* cells per side of a brick, for which one common bound is computed first */

static double at(const abut_grid *g, size_t i, size_t j, size_t k)
{
  return g->coefficients[(i * g->size[1] + j) * g->size[2] + k];
}

static double largest(const abut_grid *g)
{
  double most = 0.0;
  for (size_t i = 0; i < g->size[0] * g->size[1] * g->size[2]; ++i) {
    most = fmax(most, fabs(g->coefficients[i]));
  }
  return most;
}

/* ---- the slope in a cell ---- */

typedef void along_row(const double *c, size_t stride, double *out);

/* Processes all rows of 4 x 4 x 4 numbers along an axis with stride 16, 4 or 1. Inlined, so that
 * loops have no calls: these cells dominate the loading time of a stored field. */
static inline __attribute__((always_inline)) void along(along_row *f, size_t stride,
                                                        const double *from, double *to)
{
  for (size_t row = 0; row < 16; ++row) {
    const size_t first = stride == 1 ? 4 * row : stride == 4 ? row / 4 * 16 + row % 4 : row;
    f(from + first, stride, to + first);
  }
}

/* The square of the largest gradient in a cell with these 64 coefficients. */
static double cell_slope2(const double c[64])
{
  double z[64], z_slope[64], zy[64], part[64], g[3][64], most = 0.0;
  along(bernstein, 1, c, z);
  along(bernstein_slope, 1, c, z_slope);
  along(bernstein, 4, z, zy);
  along(bernstein_slope, 16, zy, g[0]);
  along(bernstein_slope, 4, z, part);
  along(bernstein, 16, part, g[1]);
  along(bernstein, 4, z_slope, part);
  along(bernstein, 16, part, g[2]);
  for (size_t i = 0; i < 64; ++i) {
    const double square = g[0][i] * g[0][i] + g[1][i] * g[1][i] + g[2][i] * g[2][i];
    most = square > most ? square : most;
  }
  return most;
}

static void read_cell(const abut_grid *g, const size_t cell[3], double c[64])
{
  for (size_t n = 0; n < 64; ++n) {
    c[n] = at(g, cell[0] + n / 16, cell[1] + n / 4 % 4, cell[2] + n % 4);
  }
}

double grid_cell_slope2(const abut_grid *g, const size_t cell[3])
{
  double c[64];
  read_cell(g, cell, c);
  return cell_slope2(c);
}

double grid_cell_least(const double c[64])
{
  double z[64], zy[64], zyx[64], least = HUGE_VAL;
  along(bernstein, 1, c, z);
  along(bernstein, 4, z, zy);
  along(bernstein, 16, zy, zyx);
  for (size_t i = 0; i < 64; ++i) {
    least = zyx[i] < least ? zyx[i] : least;
  }
  return least;
}

/* ---- the slope in all cells ---- */

/* Cells from the first (inclusive) to the end (exclusive). */
typedef struct cells {
  size_t low[3], end[3];
} cells;

/* A coarser and cheaper bound for a brick of cells, from the largest difference along each axis. 0
 * where distances are below -correction. */
static double brick_slope2(const abut_grid *g, const cells *b, double correction)
{
  const size_t x = g->size[1] * g->size[2], y = g->size[2];
  double most[3] = {0.0, 0.0, 0.0}, highest = -HUGE_VAL;
  for (size_t i = b->low[0]; i < b->end[0] + 3; ++i) {
    for (size_t j = b->low[1]; j < b->end[1] + 3; ++j) {
      const double *row = g->coefficients + i * x + j * y;
      const size_t next_x = i < b->end[0] + 2 ? x : 0, next_y = j < b->end[1] + 2 ? y : 0;
      for (size_t k = b->low[2]; k < b->end[2] + 3; ++k) {
        const double dx = fabs(row[k + next_x] - row[k]), dy = fabs(row[k + next_y] - row[k]);
        const double dz = fabs(row[k + (k < b->end[2] + 2)] - row[k]);
        most[0] = dx > most[0] ? dx : most[0];
        most[1] = dy > most[1] ? dy : most[1];
        most[2] = dz > most[2] ? dz : most[2];
        highest = row[k] > highest ? row[k] : highest;
      }
    }
  }
  return highest + correction > 0.0 ? most[0] * most[0] + most[1] * most[1] + most[2] * most[2]
                                    : 0.0;
}

/* Returns the largest bound, at least `most`. */
static double cells_slope2(const abut_grid *g, const cells *b, double correction, double most)
{
  double c[64];
  size_t cell[3];
  for (cell[0] = b->low[0]; cell[0] < b->end[0]; ++cell[0]) {
    for (cell[1] = b->low[1]; cell[1] < b->end[1]; ++cell[1]) {
      for (cell[2] = b->low[2]; cell[2] < b->end[2]; ++cell[2]) {
        const cells one = {{cell[0], cell[1], cell[2]}, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
        if (brick_slope2(g, &one, correction) > most) {
          read_cell(g, cell, c);
          most = fmax(most, cell_slope2(c));
        }
      }
    }
  }
  return most;
}

/* The largest slope in cells where corrected distances may be above 0. Paths from outside to the
 * surface pass through these. The slope of a true distance is 1; only slopes above SLOPE_LEAST are
 * searched. */
static double coarse_slope(const abut_grid *g, double correction)
{
  const double least = SLOPE_LEAST * g->spacing;
  const size_t count[3] = {g->size[0] - 3, g->size[1] - 3, g->size[2] - 3};
  double most = least * least;
  cells b;
  for (b.low[0] = 0; b.low[0] < count[0]; b.low[0] = b.end[0]) {
    b.end[0] = b.low[0] + BRICK < count[0] ? b.low[0] + BRICK : count[0];
    for (b.low[1] = 0; b.low[1] < count[1]; b.low[1] = b.end[1]) {
      b.end[1] = b.low[1] + BRICK < count[1] ? b.low[1] + BRICK : count[1];
      for (b.low[2] = 0; b.low[2] < count[2]; b.low[2] = b.end[2]) {
        b.end[2] = b.low[2] + BRICK < count[2] ? b.low[2] + BRICK : count[2];
        if (brick_slope2(g, &b, correction) > most) {
          most = cells_slope2(g, &b, correction, most);
        }
      }
    }
  }
  return sqrt(most) / g->spacing;
}

/* ---- corrections ---- */

/* Whether a node's weight is nonzero in the rim. Node m affects coordinates from m - 2 to m + 2. */
static int in_rim(const abut_grid *g, size_t level, const int32_t *block, size_t node)
{
  const double scale = (double)((size_t)1 << level);
  const size_t place[3] = {node / (SIDE * SIDE), node / SIDE % SIDE, node % SIDE};
  for (size_t k = 0; k < 3; ++k) {
    const double m = (double)SIDE * (double)block[k] + (double)place[k];
    if (m - 2.0 < 2.0 * scale || m + 2.0 > ((double)g->size[k] - 3.0) * scale) {
      return 1;
    }
  }
  return 0;
}

/* Whether any node of a block has nonzero weight in the rim. */
static int block_in_rim(const abut_grid *g, size_t level, const int32_t *block)
{
  return in_rim(g, level, block, 0) || in_rim(g, level, block, NODES - 1);
}

typedef struct extent {
  double least, most, size; /* at most 0; at least 0; the largest absolute value */
} extent;

/* Extent of a level's coefficients, or of those with nonzero weight in the rim. */
static extent level_extent(const abut_grid *g, size_t level, int rim)
{
  const abut_grid_level *l = &g->levels[level - 1];
  extent e = {0.0, 0.0, 0.0};
  for (size_t b = 0; b < l->block_count; ++b) {
    const double *c = l->coefficients + b * NODES;
    const int32_t *block = l->blocks + 3 * b;
    if (rim && !block_in_rim(g, level, block)) {
      continue;
    }
    for (size_t i = 0; i < NODES; ++i) {
      if (c[i] != 0.0 && (!rim || in_rim(g, level, block, i))) {
        e.least = c[i] < e.least ? c[i] : e.least;
        e.most = c[i] > e.most ? c[i] : e.most;
      }
    }
  }
  e.size = fmax(e.most, -e.least);
  return e;
}

/* Slope bound of a level, whose neighbouring coefficients differ by at most the extent. */
static double level_slope(const abut_grid *g, size_t level, extent e)
{
  return sqrt(3.0) * (e.most - e.least) * (double)((size_t)1 << level) / g->spacing;
}

/* ---- the rim ---- */

static int is_outer(const abut_grid *g, size_t axis, size_t i)
{
  return i < RIM || i + RIM >= g->size[axis];
}

/* The least and the largest coefficient of the outer layers. */
static extent rim_extent(const abut_grid *g)
{
  extent e = {HUGE_VAL, -HUGE_VAL, 0.0};
  for (size_t i = 0; i < g->size[0]; ++i) {
    for (size_t j = 0; j < g->size[1]; ++j) {
      const int outer = is_outer(g, 0, i) || is_outer(g, 1, j);
      for (size_t k = 0; k < g->size[2]; ++k) {
        if (outer || is_outer(g, 2, k)) {
          e.least = fmin(e.least, at(g, i, j, k));
          e.most = fmax(e.most, at(g, i, j, k));
        }
      }
    }
  }
  return e;
}

static extent rim_corrections(const abut_grid *g)
{
  extent sum = {0.0, 0.0, 0.0};
  for (size_t level = 1; level <= g->level_count; ++level) {
    const extent e = level_extent(g, level, 1);
    sum.least += e.least;
    sum.most += e.most;
  }
  return sum;
}

double grid_rim_least(const abut_grid *g)
{
  return rim_extent(g).least + rim_corrections(g).least;
}

/* The least outward difference of the outer layers along one axis. */
static double outward_along(const abut_grid *g, size_t axis)
{
  const size_t n = g->size[axis], u = (axis + 1) % 3, v = (axis + 2) % 3;
  double least = HUGE_VAL;
  size_t low[3], high[3];
  for (size_t i = 0; i + 1 < RIM; ++i) {
    for (low[u] = 0; low[u] < g->size[u]; ++low[u]) {
      for (low[v] = 0; low[v] < g->size[v]; ++low[v]) {
        high[u] = low[u];
        high[v] = low[v];
        low[axis] = i;
        high[axis] = i + 1;
        least = fmin(least, at(g, low[0], low[1], low[2]) - at(g, high[0], high[1], high[2]));
        low[axis] = n - 2 - i;
        high[axis] = n - 1 - i;
        least = fmin(least, at(g, high[0], high[1], high[2]) - at(g, low[0], low[1], low[2]));
      }
    }
  }
  return least / g->spacing;
}

/* A number m such that g . d >= m |d| for every d that points outwards along the axes. */
static double outward(const abut_grid *g, double rounding, double steepest)
{
  double least = fmin(outward_along(g, 0), fmin(outward_along(g, 1), outward_along(g, 2)));
  for (size_t level = 1; level <= g->level_count; ++level) {
    least -= level_slope(g, level, level_extent(g, level, 1));
  }
  least -= rounding;
  return least >= 0.0 ? least : fmax(sqrt(3.0) * least, -steepest);
}

grid_bounds grid_bounds_of(const abut_grid *g, double real_epsilon)
{
  const double rounding = ROUNDINGS * real_epsilon * largest(g);
  const extent rim = rim_extent(g), finer = rim_corrections(g);
  grid_bounds b = {.correction = rounding, .rounding = rounding};
  for (size_t level = 1; level <= g->level_count; ++level) {
    const extent e = level_extent(g, level, 0);
    b.correction += e.size;
    b.fine_slope += level_slope(g, level, e);
  }
  b.slope = GRID_SLACK * coarse_slope(g, b.correction) + rounding / g->spacing;
  b.fine_slope += b.slope;
  b.outward = outward(g, rounding / g->spacing, b.fine_slope);
  b.rim_least = fmax(rim.least + finer.least - rounding, 0.0);
  b.rim_most = rim.most + finer.most + rounding;
  return b;
}
