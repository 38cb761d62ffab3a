#include "grids.h"

#include "support/check.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SIDE ABUT_GRID_BLOCK

/* ---- samples ---- */

static bool has_block(const abut_grid_level *l, const int at[3])
{
  for (size_t i = 0; i < l->block_count; ++i) {
    const int32_t *b = l->blocks + 3 * i;
    if (b[0] == at[0] && b[1] == at[1] && b[2] == at[2]) {
      return true;
    }
  }
  return false;
}

/* Whether all cells within two of a node lie in blocks. */
static bool is_free(const abut_grid_level *l, const int node[3])
{
  for (int i = 0; i < 64; ++i) {
    const int cell[3] = {node[0] - 2 + i / 16, node[1] - 2 + i / 4 % 4, node[2] - 2 + i % 4};
    const int at[3] = {cell[0] < 0 ? -1 : cell[0] / SIDE, cell[1] < 0 ? -1 : cell[1] / SIDE,
                       cell[2] < 0 ? -1 : cell[2] / SIDE};
    if (!has_block(l, at)) {
      return false;
    }
  }
  return true;
}

/* A random half of the blocks that may be there. */
static void put_blocks(grid_sample *s, size_t level, uint64_t *seed)
{
  abut_grid_level *l = &s->levels[level];
  const int sides[3] = {((int)s->grid.size[0] + 2) / 4 << level,
                        ((int)s->grid.size[1] + 2) / 4 << level,
                        ((int)s->grid.size[2] + 2) / 4 << level};
  for (int i = 0; i < sides[0] * sides[1] * sides[2] && l->block_count < SAMPLE_BLOCKS; ++i) {
    const int at[3] = {i / (sides[1] * sides[2]), i / sides[2] % sides[1], i % sides[2]};
    const int parent[3] = {at[0] / 2, at[1] / 2, at[2] / 2};
    if (random_uniform(seed) < 0.7 && (!level || has_block(&s->levels[level - 1], parent))) {
      for (size_t k = 0; k < 3; ++k) {
        s->blocks[level][3 * l->block_count + k] = at[k];
      }
      ++l->block_count;
    }
  }
}

static void put_corrections(grid_sample *s, size_t level, uint64_t *seed)
{
  const abut_grid_level *l = &s->levels[level];
  for (size_t i = 0; i < l->block_count * SAMPLE_BLOCK; ++i) {
    const int32_t *b = l->blocks + i / SAMPLE_BLOCK * 3;
    const int at = (int)(i % SAMPLE_BLOCK);
    const int node[3] = {SIDE * b[0] + at / (SIDE * SIDE), SIDE * b[1] + at / SIDE % SIDE,
                         SIDE * b[2] + at % SIDE};
    s->corrections[level][i] =
      is_free(l, node) ? 0.05 * s->grid.spacing * pow(0.4, (double)level) * random_normal(seed)
                       : 0.0;
  }
}

static double ellipsoid(const double x[3], double size)
{
  const double a[3] = {0.45 * size, 0.3 * size, 0.38 * size};
  double u2 = 0.0, g2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    u2 += x[k] * x[k] / (a[k] * a[k]);
    g2 += x[k] * x[k] / (a[k] * a[k] * a[k] * a[k]);
  }
  return u2 > 0.0 ? sqrt(u2) * (sqrt(u2) - 1.0) / sqrt(g2) : -0.3 * size;
}

void grid_sample_make(grid_sample *s, uint64_t *seed, size_t levels, double size,
                      abut_operation operation)
{
  memset(s, 0, sizeof *s);
  s->grid = (abut_grid){.coefficients = s->coefficients,
                        .size = {SAMPLE_SIDE_X, SAMPLE_SIDE_Y, SAMPLE_SIDE_Z},
                        .spacing = 0.12 * size,
                        .levels = s->levels,
                        .level_count = levels,
                        .operation = operation};
  double x[3];
  for (size_t k = 0; k < 3; ++k) {
    s->grid.origin[k] = -0.5 * s->grid.spacing * (double)(s->grid.size[k] - 1);
  }
  for (size_t i = 0; i < SAMPLE_NODES; ++i) {
    const size_t at[3] = {i / (SAMPLE_SIDE_Y * SAMPLE_SIDE_Z), i / SAMPLE_SIDE_Z % SAMPLE_SIDE_Y,
                          i % SAMPLE_SIDE_Z};
    for (int k = 0; k < 3; ++k) {
      x[k] = s->grid.origin[k] + s->grid.spacing * (double)at[k];
    }
    const double d = ellipsoid(x, 0.6 * size);
    s->coefficients[i] = d + 0.02 * s->grid.spacing * random_normal(seed);
  }
  for (size_t l = 0; l < levels; ++l) {
    s->levels[l].blocks = s->blocks[l];
    s->levels[l].coefficients = s->corrections[l];
    put_blocks(s, l, seed);
    put_corrections(s, l, seed);
  }
}

/* ---- the definition ---- */

/* The cubic B-spline about 0, and its slope. */
static double basis(double v, double *slope)
{
  const double a = fabs(v), sign = v < 0.0 ? -1.0 : 1.0;
  if (a >= 2.0) {
    *slope = 0.0;
    return 0.0;
  }
  if (a >= 1.0) {
    *slope = -sign * (2.0 - a) * (2.0 - a) / 2.0;
    return (2.0 - a) * (2.0 - a) * (2.0 - a) / 6.0;
  }
  *slope = sign * (1.5 * a * a - 2.0 * a);
  return 2.0 / 3.0 - a * a + a * a * a / 2.0;
}

/* A coefficient at a node's share of value and gradient at v, both in the node's spacing. */
static double add_node(double c, const double v[3], const double node[3], double scale, double g[3])
{
  double w[3], slope[3];
  for (int k = 0; k < 3; ++k) {
    w[k] = basis(v[k] - node[k], &slope[k]);
  }
  g[0] += c * scale * slope[0] * w[1] * w[2];
  g[1] += c * scale * w[0] * slope[1] * w[2];
  g[2] += c * scale * w[0] * w[1] * slope[2];
  return c * w[0] * w[1] * w[2];
}

static double add_level(const abut_grid_level *l, double scale, const double u[3], double g[3])
{
  const double v[3] = {scale * u[0], scale * u[1], scale * u[2]};
  double sum = 0.0;
  for (size_t i = 0; i < l->block_count * SAMPLE_BLOCK; ++i) {
    const int32_t *b = l->blocks + i / SAMPLE_BLOCK * 3;
    const size_t at = i % SAMPLE_BLOCK;
    const double node[3] = {SIDE * (double)b[0] + (double)(at / (SIDE * SIDE)),
                            SIDE * (double)b[1] + (double)(at / SIDE % SIDE),
                            SIDE * (double)b[2] + (double)(at % SIDE)};
    if (l->coefficients[i] != 0.0 && fabs(node[0] - v[0]) < 2.0) {
      sum += add_node(l->coefficients[i], v, node, scale, g);
    }
  }
  return sum;
}

static double spline(const abut_grid *grid, const double u[3], double g[3])
{
  const size_t *n = grid->size;
  double sum = 0.0, scale = 1.0;
  for (size_t i = 0; i < n[0] * n[1] * n[2]; ++i) {
    const double node[3] = {(double)(i / (n[1] * n[2])), (double)(i / n[2] % n[1]),
                            (double)(i % n[2])};
    sum += add_node(grid->coefficients[i], u, node, 1.0, g);
  }
  for (size_t l = 0; l < grid->level_count; ++l) {
    scale *= 2.0;
    sum += add_level(&grid->levels[l], scale, u, g);
  }
  return sum;
}

static double ramp(double v)
{
  return v >= 1.0 ? v : v <= -1.0 ? 0.0 : (v + 1.0) * (v + 1.0) * (v + 1.0) * (3.0 - v) / 16.0;
}

double grid_field(const abut_grid *grid, const double x[3], double normal[3])
{
  double u[3], moved[3], g[3] = {0.0, 0.0, 0.0}, moved2 = 0.0, along = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double at = (x[k] - grid->origin[k]) / grid->spacing, n = (double)grid->size[k];
    u[k] = fmin(1.0 + ramp(at - 1.0) - ramp(at - n + 2.0), n - 2.0);
    moved[k] = (at - u[k]) * grid->spacing;
    moved2 += moved[k] * moved[k];
  }
  const double inside = spline(grid, u, g);
  for (int k = 0; k < 3; ++k) {
    g[k] /= grid->spacing;
    along += g[k] * moved[k];
  }
  double distance = inside;
  if (moved2 > 1e-30 * grid->spacing * grid->spacing) {
    distance = sqrt(fmax(inside * inside + 2.0 * inside * along + moved2, inside * inside / 4.0));
  }
  for (int k = 0; k < 3; ++k) {
    normal[k] = distance == inside ? g[k] : (inside * g[k] + moved[k]) / distance;
  }
  return distance;
}
