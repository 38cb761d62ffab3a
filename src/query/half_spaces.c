#include "query/half_spaces.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SQUARE (4.0 * COORDINATE_MOST) /* larger than everything within bounds */
#define MARGIN 1e-7                    /* [m], more than the rounding error of such squares */
#define SAME 1e-12 /* relative to the size: corners within this distance are joined */

/* A plane n . x = offset; n has length 1. */
typedef struct plane {
  double n[3], offset;
} plane;

/* A convex polygon, and room for the result of cutting it with a plane. */
typedef struct polygon {
  double *at, *rest; /* (room, 3), (rest_room, 3) */
  size_t count, room, rest_room;
} polygon;

/* Converts a plane to its normal and its distance from the point `middle`. */
static plane plane_of(const double given[6], const double middle[3])
{
  plane p;
  const double scale = fmax(fabs(given[0]), fmax(fabs(given[1]), fabs(given[2])));
  double length2 = 0.0;
  p.offset = 0.0;
  for (int k = 0; k < 3; ++k) {
    p.n[k] = given[k] / scale;
    length2 += p.n[k] * p.n[k];
  }
  for (int k = 0; k < 3; ++k) {
    p.n[k] /= sqrt(length2);
    p.offset += p.n[k] * (given[3 + k] - middle[k]);
  }
  return p;
}

/* Starts with a square in the plane, centred at its point nearest to the middle.
 * There is room for its four corners. */
static void begin_square(polygon *g, const plane *p, double half)
{
  double u[3] = {0.0, 0.0, 0.0}, v[3], length;
  int least = 0;
  for (int k = 1; k < 3; ++k) {
    least = fabs(p->n[k]) < fabs(p->n[least]) ? k : least;
  }
  u[(least + 1) % 3] = p->n[(least + 2) % 3];
  u[(least + 2) % 3] = -p->n[(least + 1) % 3];
  length = sqrt(dot(u, u));
  for (int k = 0; k < 3; ++k) {
    u[k] *= half / length;
  }
  for (int k = 0; k < 3; ++k) {
    v[k] = p->n[(k + 1) % 3] * u[(k + 2) % 3] - p->n[(k + 2) % 3] * u[(k + 1) % 3];
  }
  g->count = 4;
  for (int i = 0; i < 4; ++i) {
    const double s = i == 0 || i == 3 ? 1.0 : -1.0, t = i < 2 ? 1.0 : -1.0;
    for (int k = 0; k < 3; ++k) {
      g->at[3 * i + k] = p->offset * p->n[k] + s * u[k] + t * v[k];
    }
  }
}

static void add_corner(polygon *g, size_t *count, const double x[3])
{
  memcpy(g->rest + 3 * *count, x, 3 * sizeof *x);
  ++*count;
}

static abut_status make_room(double **at, size_t *room, size_t count)
{
  void *memory = *at;
  TRY(grow(&memory, room, count, 3 * sizeof **at));
  *at = memory;
  return ABUT_SUCCESS;
}

/* Keeps the part of the polygon in the plane's half-space. This adds at most one corner, except by
 * rounding: corners of an edge in the plane may alternate between both sides. */
static abut_status cut(polygon *g, const plane *p)
{
  size_t count = 0;
  TRY(make_room(&g->rest, &g->rest_room, 2 * g->count));
  for (size_t i = 0; i < g->count; ++i) {
    const double *a = g->at + 3 * i, *b = g->at + 3 * ((i + 1) % g->count);
    const double above = dot(p->n, a) - p->offset, next = dot(p->n, b) - p->offset;
    if (above <= 0.0) {
      add_corner(g, &count, a);
    }
    if ((above < 0.0 && next > 0.0) || (above > 0.0 && next < 0.0)) {
      const double share = above / (above - next);
      const double x[3] = {a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]),
                           a[2] + share * (b[2] - a[2])};
      add_corner(g, &count, x);
    }
  }
  const polygon was = *g;
  *g = (polygon){was.rest, was.at, count, was.rest_room, was.room};
  return ABUT_SUCCESS;
}

/* Adds the corners of each plane's face, which starts as a square and is cut by all others. */
static abut_status find_faces(corners *out, size_t *capacity, polygon *g, const plane *planes,
                              size_t count, double half)
{
  out->count = 0;
  TRY(make_room(&g->at, &g->room, 4));
  TRY(make_room(&g->rest, &g->rest_room, 4)); /* either may hold the initial square */
  for (size_t i = 0; i < count; ++i) {
    begin_square(g, &planes[i], half);
    for (size_t j = 0; j < count && g->count; ++j) {
      TRY(j == i ? ABUT_SUCCESS : cut(g, &planes[j]));
    }
    if (!g->count) {
      continue;
    }
    TRY(make_room(&out->at, capacity, out->count + g->count));
    memcpy(out->at + 3 * out->count, g->at, g->count * 3 * sizeof(double));
    out->count += g->count;
  }
  return ABUT_SUCCESS;
}

/* Computes the box around all corners; returns half of its longest side. */
static double box_around(const corners *c, double middle[3])
{
  double half = 0.0;
  for (int k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < c->count; ++i) {
      low = fmin(low, c->at[3 * i + k]);
      high = fmax(high, c->at[3 * i + k]);
    }
    middle[k] = 0.5 * (low + high);
    half = fmax(half, 0.5 * (high - low));
  }
  return half;
}

/* Joins corners at the same place, because each corner is found once per face. */
static void join(corners *c, double distance)
{
  size_t kept = 0;
  for (size_t i = 0; i < c->count; ++i) {
    size_t k = 0;
    while (k < kept && !(fabs(c->at[3 * k] - c->at[3 * i]) <= distance &&
                         fabs(c->at[3 * k + 1] - c->at[3 * i + 1]) <= distance &&
                         fabs(c->at[3 * k + 2] - c->at[3 * i + 2]) <= distance)) {
      ++k;
    }
    if (k == kept) {
      memmove(c->at + 3 * kept++, c->at + 3 * i, 3 * sizeof *c->at);
    }
  }
  c->count = kept;
}

/* Finds corners twice: first roughly within all bounds, then to rounding accuracy with squares of
 * about the polyhedron's size around its middle. */
static abut_status find(corners *out, polygon *g, plane *p, const double *planes, size_t count)
{
  double middle[3] = {0.0, 0.0, 0.0}, half = SQUARE;
  size_t capacity = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < count; ++i) {
      p[i] = plane_of(planes + 6 * i, middle);
    }
    TRY(find_faces(out, &capacity, g, p, count, half));
    out->is_bounded = !out->count || all_within(out->at, 3 * out->count, COORDINATE_MOST);
    if (!out->count || !out->is_bounded) {
      return ABUT_SUCCESS;
    }
    if (pass == 0) {
      half = 8.0 * box_around(out, middle) + MARGIN;
    }
  }
  join(out, SAME * half);
  for (size_t i = 0; i < 3 * out->count; ++i) {
    out->at[i] += middle[i % 3];
  }
  return ABUT_SUCCESS;
}

abut_status find_corners(corners *out, const double *planes, size_t count)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  polygon g = {0};
  *out = (corners){0};
  TRY_DONE(allocate(&memory, count, sizeof(plane)));
  TRY_DONE(find(out, &g, memory, planes, count));
done:
  free(memory);
  free(g.at);
  free(g.rest);
  if (status != ABUT_SUCCESS) {
    corners_free(out);
  }
  return status;
}

void corners_free(corners *c)
{
  free(c->at);
  *c = (corners){0};
}
