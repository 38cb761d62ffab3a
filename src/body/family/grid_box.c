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
#include "geometry/layout.h"
#include <math.h>

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

static double coefficient(const grid_view *g, size_t i, size_t j, size_t k)
{
  return packed_number(g->of, g->first + GRID_STRIDE + (i * g->size[1] + j) * g->size[2] + k);
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

static bool may_be_near(const grid_view *g, const size_t cell[3])
{
  double c[64], least = HUGE_VAL;
  const double limit = g->limit[!is_rim(g, cell)];
  for (size_t n = 0; n < 64; ++n) {
    c[n] = coefficient(g, cell[0] - 1 + n / 16, cell[1] - 1 + n / 4 % 4, cell[2] - 1 + n % 4);
    least = c[n] < least ? c[n] : least;
  }
  return least <= limit && grid_cell_least(c) <= limit; /* a spline is a mean of its coefficients */
}

/* Widens cells by those that have a node among their 4 x 4 x 4 coefficients. */
static void add_node(const grid_view *g, const size_t node[3], cell_range *r)
{
  for (int k = 0; k < 3; ++k) {
    const size_t low = node[k] > 3 ? node[k] - 2 : 1, end = node[k] + 2;
    const size_t most = g->size[k] - 2;
    r->low[k] = low < r->low[k] ? low : r->low[k];
    r->end[k] = end > r->end[k] ? (end < most ? end : most) : r->end[k];
  }
}

/* The cells of all coefficients that are not above the limit: a spline is a mean of its
 * coefficients. */
static cell_range cells_of_nodes(const grid_view *g)
{
  cell_range r = {{g->size[0], g->size[1], g->size[2]}, {0, 0, 0}};
  const double limit = fmax(g->limit[0], g->limit[1]);
  size_t at[3];
  for (at[0] = 0; at[0] < g->size[0]; ++at[0]) {
    for (at[1] = 0; at[1] < g->size[1]; ++at[1]) {
      for (at[2] = 0; at[2] < g->size[2]; ++at[2]) {
        if (coefficient(g, at[0], at[1], at[2]) <= limit) {
          add_node(g, at, &r);
        }
      }
    }
  }
  return r;
}

static bool any_near(const grid_view *g, const cell_range *r)
{
  size_t cell[3];
  for (cell[0] = r->low[0]; cell[0] < r->end[0]; ++cell[0]) {
    for (cell[1] = r->low[1]; cell[1] < r->end[1]; ++cell[1]) {
      for (cell[2] = r->low[2]; cell[2] < r->end[2]; ++cell[2]) {
        if (may_be_near(g, cell)) {
          return true;
        }
      }
    }
  }
  return false;
}

/* Takes layers off, from all six sides, in which no cell is near. */
static void shrink(const grid_view *g, cell_range *r)
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
      if (any_near(g, &layer)) {
        break;
      }
      r->low[k] += !(side % 2);
      r->end[k] -= side % 2;
    }
  }
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
  shrink(&g, &r);
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
