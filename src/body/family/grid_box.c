/* Where a grid's distance may be `reach` or less (cl/geometry/grid.inl).
 *
 * Where no coordinate is clipped the distance is the spline, which in each cell is bounded by its
 * Bernstein coefficients, less what corrections may take (GRID_CORRECTION, which has rounding in
 * it). Elsewhere, with phi_c the spline at the clipped point, d how far clipping moved the point,
 * and m GRID_OUTWARD,
 *   phi^2 >= phi_c^2 + 2 m phi_c d + d^2 and phi >= phi_c / 2.
 * So phi <= reach asks for phi_c <= 2 reach or, with m >= 0, phi_c <= reach: clipped points lie in
 * cells that are not above that, too. Along an axis a coordinate u of 2 or more is not clipped at
 * its lower end, nor is one that is clipped to 2 or more; one below 1 is moved by 1 - u or more.
 * Hence the box of the cells that are not above their limit, and, where this has cells at an end of
 * the grid, what lies beyond their clipped points by no more than d may be. */
#include "body/family/grid_box.h"

#include "body/family/grid_bounds.h"
#include "body/family/parts.h"
#include "base/limits.h"
#include "geometry/layout.h"
#include <math.h>
#include <string.h>

#define RIM 1 /* layers of cells at an end, in which clipped points lie */

typedef struct grid_view {
  const packed *of;
  size_t first, size[3];
  double reach, limit[2]; /* of distances in cells: in the rim's, in others */
} grid_view;

/* Cell i along an axis lies between the coordinates i and i + 1; none but 1 to size - 3 are used.
 * An end is the cell behind the last one. */
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

/* Finds of a row of cells along z, from `first` on, the least of the 4 x 4 coefficients beside each
 * of its nodes. */
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

/* Whether a cell may be near that has a coefficient that is not above the limit. */
static bool is_near(const grid_view *g, const size_t cell[3], double limit)
{
  double c[64];
  for (size_t n = 0; n < 16; ++n) {
    coefficients(g, cell[0] - 1 + n / 4, cell[1] - 1 + n % 4, cell[2] - 1, 4, c + 4 * n);
  }
  return grid_cell_least(c) <= limit;
}

/* Whether any of `count` cells along z, from `first` on, may be near: a spline is a mean of its
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

/* Whether a coefficient of a run of nodes is not above the limit. */
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

/* Takes layers off, from all six sides, of which `any` has nothing. */
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

/* The cells that have a coefficient that is not above the limit among their 4 x 4 x 4: a spline is
 * a mean of its coefficients. */
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
  (void)limit; /* each cell has its own */
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

/* How far clipping may move a point whose distance is within reach. With m >= 0 and p = rim's least
 * this is the root of p^2 + 2 m p d + d^2 = reach^2. With k = -m > 0 it follows from d - k p <=
 * sqrt(reach^2 - (1 - k^2) p^2), whose worst p is the largest that there may be. */
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

/* Along each axis devices find a coordinate by its difference from the grid's origin alone: they
 * are off by parts of what that is made of. */
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
