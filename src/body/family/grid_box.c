/* The region where a grid's distance may be at most `reach` (cl/geometry/grid.inl).
 *
 * Without clipping, the distance is the spline. In each cell it is bounded by its Bernstein
 * coefficients, minus the largest corrections (GRID_CORRECTION, which includes rounding). With
 * clipping, let phi_c be the spline at the clipped point, d the distance by which clipping moved
 * the point, and m GRID_OUTWARD. Then phi^2 >= phi_c^2 + 2 m phi_c d + d^2 and phi >= phi_c / 2. So
 * phi <= reach requires phi_c <= 2 reach or, with m >= 0, phi_c <= reach: clipped points are in
 * cells below that limit, too. Along an axis, coordinates u >= 2 are not clipped at the lower end,
 * nor are those clipped to 2 or more. Coordinates below 1 are moved by at least 1 - u. The result
 * is the box of the cells below their limit. If it contains cells at an end of the grid, it is
 * extended beyond their clipped points by the largest possible d. */
#include "body/family/grid_box.h"

#include "body/family/grid_bounds.h"
#include "body/family/parts.h"
#include "base/limits.h"
#include "geometry/layout.h"
#include <math.h>
#include <string.h>

#define RIM 1 /* layers of cells at an end that contain clipped points */

typedef struct grid_view {
  const packed *of;
  size_t first, size[3];
  double reach, limit[2]; /* of distances in the rim's cells and in others */
} grid_view;

/* Cell i along an axis is between the coordinates i and i + 1; only 1 to size - 3 are used. The end
 * is exclusive. */
typedef struct cell_range {
  size_t low[3], end[3];
} cell_range;

/* `count` coefficients of a row, from node (i, j, k) on. */
static void coefficients(const grid_view *g, size_t i, size_t j, size_t k, size_t count,
                         double *out)
{
  const size_t at = g->of->base + g->first + GRID_STRIDE + (i * g->size[1] + j) * g->size[2] + k;
  if (g->of->real_bytes == sizeof(double)) {
    memcpy(out, (const double *)g->of->shape + at, count * sizeof *out);
    return;
  }
  for (size_t n = 0; n < count; ++n) {
    out[n] = (double)((const float *)g->of->shape)[at + n];
  }
}

static double record(const grid_view *g, size_t which)
{
  return packed_number(g->of, g->first + which);
}

static grid_view view(const packed *p, size_t first, double reach)
{
  grid_view g = {.of = p, .first = first};
  for (size_t k = 0; k < 3; ++k) {
    g.size[k] = (size_t)record(&g, GRID_SIZES + k);
  }
  g.reach = reach * (1.0 + FIELD_ROUNDINGS * packed_epsilon(p));
  g.limit[1] = g.reach + record(&g, GRID_CORRECTION);
  g.limit[0] =
    (record(&g, GRID_OUTWARD) < 0.0 ? 2.0 * g.reach : g.reach) + record(&g, GRID_CORRECTION);
  return g;
}

/* ---- cells ---- */

static bool is_rim(const grid_view *g, const size_t cell[3])
{
  for (int k = 0; k < 3; ++k) {
    if (cell[k] < 1 + RIM || cell[k] + 3 + RIM > g->size[k]) {
      return true;
    }
  }
  return false;
}

/* For a row of cells along z that begins at `first`, finds the least of the 4 x 4 coefficients
 * beside each of its nodes. */
static void least_across(const grid_view *g, const size_t first[3], size_t nodes, double *least)
{
  double row[GRID_SIDE_MOST];
  coefficients(g, first[0] - 1, first[1] - 1, first[2] - 1, nodes, least);
  for (size_t n = 1; n < 16; ++n) {
    coefficients(g, first[0] - 1 + n / 4, first[1] - 1 + n % 4, first[2] - 1, nodes, row);
    for (size_t k = 0; k < nodes; ++k) {
      least[k] = row[k] < least[k] ? row[k] : least[k];
    }
  }
}

/* Whether a cell with a coefficient at or below the limit may be near. */
static bool is_near(const grid_view *g, const size_t cell[3], double limit)
{
  double c[64];
  for (size_t n = 0; n < 16; ++n) {
    coefficients(g, cell[0] - 1 + n / 4, cell[1] - 1 + n % 4, cell[2] - 1, 4, c + 4 * n);
  }
  return grid_cell_least(c) <= limit;
}

/* Whether any of `count` cells along z from `first` may be near. The spline is a mean of its
 * coefficients. */
static bool row_near(const grid_view *g, const size_t first[3], size_t count)
{
  double least[GRID_SIDE_MOST];
  least_across(g, first, count + 3, least);
  for (size_t k = 0; k < count; ++k) {
    const size_t cell[3] = {first[0], first[1], first[2] + k};
    const double limit = g->limit[!is_rim(g, cell)];
    const bool below = least[k] <= limit || least[k + 1] <= limit || least[k + 2] <= limit ||
                       least[k + 3] <= limit;
    if (below && is_near(g, cell, limit)) {
      return true;
    }
  }
  return false;
}

/* Whether a run of nodes has a coefficient at or below the limit. */
static bool any_below(const grid_view *g, const cell_range *nodes, double limit)
{
  const size_t count = nodes->end[2] - nodes->low[2];
  double row[GRID_SIDE_MOST];
  for (size_t i = nodes->low[0]; i < nodes->end[0]; ++i) {
    for (size_t j = nodes->low[1]; j < nodes->end[1]; ++j) {
      int below = 0;
      coefficients(g, i, j, nodes->low[2], count, row);
      for (size_t k = 0; k < count; ++k) {
        below |= row[k] <= limit;
      }
      if (below) {
        return true;
      }
    }
  }
  return false;
}

/* Removes layers for which `any` is false, from all six sides. */
static void shrink(const grid_view *g, bool (*any)(const grid_view *, const cell_range *, double),
                   double limit, cell_range *r)
{
  for (int side = 0; side < 6; ++side) {
    const int k = side / 2;
    while (r->low[k] < r->end[k]) {
      cell_range layer = *r;
      if (side % 2) {
        layer.low[k] = r->end[k] - 1;
      } else {
        layer.end[k] = r->low[k] + 1;
      }
      if (any(g, &layer, limit)) {
        break;
      }
      r->low[k] += !(side % 2);
      r->end[k] -= side % 2;
    }
  }
}

/* The cells that have a coefficient at or below the limit among their 4 x 4 x 4. The spline is a
 * mean of its coefficients. */
static cell_range cells_of_nodes(const grid_view *g)
{
  cell_range r = {{0, 0, 0}, {g->size[0], g->size[1], g->size[2]}};
  shrink(g, any_below, fmax(g->limit[0], g->limit[1]), &r);
  for (int k = 0; k < 3; ++k) {
    const size_t low = r.low[k], end = r.end[k] + 1, most = g->size[k] - 2;
    if (low >= r.end[k]) {
      return (cell_range){{1, 1, 1}, {1, 1, 1}};
    }
    r.low[k] = low > 3 ? low - 2 : 1;
    r.end[k] = end < most ? end : most;
  }
  return r;
}

static bool any_near(const grid_view *g, const cell_range *r, double limit)
{
  (void)limit; /* each cell has its own limit */
  size_t cell[3] = {0, 0, r->low[2]};
  for (cell[0] = r->low[0]; cell[0] < r->end[0]; ++cell[0]) {
    for (cell[1] = r->low[1]; cell[1] < r->end[1]; ++cell[1]) {
      if (row_near(g, cell, r->end[2] - r->low[2])) {
        return true;
      }
    }
  }
  return false;
}

/* ---- beyond the cells ---- */

/* An upper bound on the distance by which clipping may move a point whose distance is within reach.
 * With m >= 0 and p the rim's least distance, it is the root of p^2 + 2 m p d + d^2 = reach^2. With
 * k = -m > 0, it follows from d - k p <= sqrt(reach^2 - (1 - k^2) p^2), where the largest possible
 * p is the worst case. */
static double most_moved(const grid_view *g)
{
  const double m = record(g, GRID_OUTWARD), least = record(g, GRID_RIM_LEAST);
  if (m >= 0.0) {
    const double along = m * least, square = along * along + g->reach * g->reach - least * least;
    return fmax(sqrt(fmax(square, 0.0)) - along, 0.0);
  }
  const double most = fmin(2.0 * g->reach, record(g, GRID_RIM_MOST));
  return most * -m + sqrt(g->reach * g->reach + fmax(m * m - 1.0, 0.0) * most * most);
}

/* Devices compute a coordinate from its difference to the grid's origin along each axis, so the
 * rounding error is a share of these terms. */
static double place(const grid_view *g, size_t axis, double coordinate, double beyond, double sign)
{
  const double origin = record(g, axis), along = record(g, GRID_SPACING) * coordinate;
  const double size = fabs(origin) + record(g, GRID_SPACING) * (double)g->size[axis] + beyond;
  return origin + along + sign * (beyond + FIELD_ROUNDINGS * packed_epsilon(g->of) * size);
}

void grid_box(const packed *p, size_t first, double reach, box *b)
{
  const grid_view g = view(p, first, reach);
  const double beyond = most_moved(&g);
  cell_range r = cells_of_nodes(&g);
  double lower[3], upper[3];
  shrink(&g, any_near, 0.0, &r);
  for (size_t k = 0; k < 3; ++k) {
    if (r.low[k] >= r.end[k]) {
      return;
    }
    lower[k] = place(&g, k, (double)r.low[k], r.low[k] <= RIM ? beyond : 0.0, -1.0);
    upper[k] = place(&g, k, (double)r.end[k], r.end[k] + 2 + RIM > g.size[k] ? beyond : 0.0, 1.0);
  }
  box_cover(b, lower);
  box_cover(b, upper);
}
