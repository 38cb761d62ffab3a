#include "mesh/surface/thin.h"

#include "base/error.h"
#include "mesh/surface/quadric.h"
#include "mesh/surface/sides.h"
#include "math/vector.h"
#include "mesh/surface/walk.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GONE UINT32_MAX
/* weight of the distance from the original vertices, relative to 1 for planes: keeps flat parts
 * evenly covered, and every minimum well-conditioned */
#define EVEN 1e-4
#define CREASE 0.866      /* cosine of the angle from which an edge stays in place */
#define CREASE_WEIGHT 0.3 /* for length squared, where planes have area */
#define CLOSING_WEIGHT 0.01
/* squared, in edge lengths: minima farther from the edge's middle are rejected */
#define FAR2 4.0
#define FOLD 0.2        /* least cosine between a triangle's normals before and after */
#define DEGREE_MOST 200 /* edges at the two ends */

/* ---- vertices ---- */

/* Makes one vertex per fan of triangles. If two fans meet in a point, each has its own. */
static void name_fan(thinner *t, uint32_t side)
{
  const uint32_t name = (uint32_t)t->vertex_count++;
  uint32_t at = side;
  do {
    t->corner[at] = name;
    at = t->across[side_before(at)];
  } while (at < SIDE_TANGLED && at != side);
  if (at == side) {
    return;
  }
  for (at = t->across[side]; at < SIDE_TANGLED; at = t->across[at]) {
    at = side_next(at);
    t->corner[at] = name;
  }
}

static abut_status add_vertices(thinner *t)
{
  const surface *s = t->s;
  const size_t corners = 3 * s->triangle_count;
  void *memory;
  memset(t->corner, 0xff, corners * sizeof *t->corner);
  for (uint32_t i = 0; i < corners; ++i) {
    if (t->corner[i] == GONE) {
      name_fan(t, i);
    }
  }
  TRY(arena_allocate(&t->memory, &memory, t->vertex_count, sizeof(thin_vertex)));
  t->vertices = memory;
  t->left = t->vertex_count;
  for (uint32_t i = 0; i < corners; ++i) {
    thin_vertex *v = &t->vertices[t->corner[i]];
    v->side = i;
    v->origin = i;
    v->is_fixed = v->is_fixed || t->across[i] >= SIDE_TANGLED ||
                  t->across[side_before(i)] >= SIDE_TANGLED;
    for (size_t k = 0; k < 3; ++k) {
      v->at[k] = (s->points[3 * (size_t)s->triangles[i] + k] - s->lower[k]) / s->diagonal;
    }
  }
  return ABUT_SUCCESS;
}

/* ---- errors ---- */

static thin_vertex *vertex(const thinner *t, uint32_t side)
{
  return &t->vertices[t->corner[side]];
}

/* Finds twice the area vector of a side's triangle. */
static void area_of(const thinner *t, uint32_t side, double area[3])
{
  const thin_vertex *a = vertex(t, side);
  double u[3], v[3];
  difference(vertex(t, side_next(side))->at, a->at, u);
  difference(vertex(t, side_before(side))->at, a->at, v);
  cross(u, v, area);
}

static bool is_closing(const thinner *t, uint32_t side)
{
  return side / 3 >= t->s->triangle_count - t->s->closing_count;
}

static void add_plane(thinner *t, uint32_t side)
{
  double n[3];
  area_of(t, side, n);
  const double size = sqrt(dot(n, n));
  if (!(size > 0.0)) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    n[k] /= size;
  }
  const double weight = 0.5 * size * (is_closing(t, side) ? CLOSING_WEIGHT : 1.0);
  for (uint32_t k = 0; k < 3; ++k) {
    thin_vertex *v = vertex(t, side + k);
    quadric_plane(&v->error, n, v->at, weight);
    quadric_point(&v->error, v->at, EVEN * weight / 3.0);
  }
}

/* Adds a plane through a sharp edge, perpendicular to one of its triangles. */
static void add_upright(thinner *t, uint32_t side, const double area[3])
{
  thin_vertex *a = vertex(t, side), *b = vertex(t, side_next(side));
  double d[3], n[3];
  difference(b->at, a->at, d);
  cross(d, area, n);
  const double size = sqrt(dot(n, n));
  if (!(size > 0.0)) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    n[k] /= size;
  }
  quadric_plane(&a->error, n, a->at, CREASE_WEIGHT * dot(d, d));
  quadric_plane(&b->error, n, b->at, CREASE_WEIGHT * dot(d, d));
}

static void add_crease(thinner *t, uint32_t side)
{
  const uint32_t other = t->across[side];
  double mine[3], others[3];
  if (other >= SIDE_TANGLED || side > other) {
    return;
  }
  area_of(t, side, mine);
  area_of(t, other, others);
  if (is_closing(t, side) == is_closing(t, other) &&
      dot(mine, others) >= CREASE * sqrt(dot(mine, mine) * dot(others, others))) {
    return;
  }
  add_upright(t, side, mine);
  add_upright(t, other, others);
}

/* Finds the position and the cost of the vertex that replaces an edge. */
static double best_place(const thin_vertex *a, const thin_vertex *b, double x[3])
{
  const quadric q = quadric_sum(&a->error, &b->error);
  double middle[3], d[3], off[3];
  difference(b->at, a->at, d);
  for (int k = 0; k < 3; ++k) {
    middle[k] = 0.5 * (a->at[k] + b->at[k]);
  }
  if (quadric_least(&q, x)) {
    difference(x, middle, off);
    if (dot(off, off) <= FAR2 * dot(d, d)) {
      return fmax(quadric_value(&q, x), 0.0);
    }
  }
  const double *const places[3] = {a->at, b->at, middle};
  double least = HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    const double value = fmax(quadric_value(&q, places[i]), 0.0);
    if (value < least) {
      least = value;
      memcpy(x, places[i], 3 * sizeof *x);
    }
  }
  return least;
}

static uint32_t edge_of(const thinner *t, uint32_t side)
{
  return side < t->across[side] ? side : t->across[side];
}

static void put_edge(thinner *t, uint32_t side)
{
  const thin_vertex *a = vertex(t, side), *b = vertex(t, side_next(side));
  double x[3];
  if (!a->is_fixed && !b->is_fixed) {
    queue_put(&t->edges, edge_of(t, side), (float)best_place(a, b, x));
  }
}

static void put_edges(thinner *t)
{
  for (uint32_t i = 0; i < 3 * t->s->triangle_count; ++i) {
    if (t->corner[i] != GONE && t->across[i] < SIDE_TANGLED && i < t->across[i]) {
      put_edge(t, i);
    }
  }
}

abut_status thin_create(const surface *s, thinner *out)
{
  thinner *t = out;
  const size_t corners = 3 * s->triangle_count;
  abut_status status = ABUT_SUCCESS;
  void *memory;
  *t = (thinner){.s = s};
  TRY_DONE(arena_allocate(&t->memory, &memory, corners, sizeof(uint32_t)));
  t->across = memory;
  TRY_DONE(arena_allocate(&t->memory, &memory, corners, sizeof(uint32_t)));
  t->corner = memory;
  TRY_DONE(queue_create(&t->edges, &t->memory, corners, corners / 2));
  memcpy(t->across, s->across, corners * sizeof *t->across);
  TRY_DONE(add_vertices(t));
  for (uint32_t i = 0; i < corners; i += 3) {
    add_plane(t, i);
  }
  for (uint32_t i = 0; i < corners; ++i) {
    add_crease(t, i);
  }
  put_edges(t);
done:
  if (status != ABUT_SUCCESS) {
    thin_free(t);
  }
  return status;
}

/* ---- collapsing ---- */

/* Returns the next side around a side's first corner, which is not fixed. */
static uint32_t turn(const thinner *t, uint32_t side)
{
  return t->across[side_before(side)];
}

/* Whether the two ends have no common neighbours except those of the edge's two triangles, which
 * preserves the topology. */
static bool keeps_form(thinner *t, uint32_t side)
{
  const uint32_t back = t->across[side], stamp = ++t->stamp;
  size_t degree = 0, common = 0;
  uint32_t at = side;
  do {
    vertex(t, side_next(at))->seen = stamp;
    at = turn(t, at);
  } while (at != side && ++degree < DEGREE_MOST);
  at = back;
  do {
    common += vertex(t, side_next(at))->seen == stamp;
    at = turn(t, at);
  } while (at != back && ++degree < DEGREE_MOST);
  /* Without the last two sides, which were not counted: two closed fans of at least three. */
  return degree < DEGREE_MOST && degree >= 5 && common == 2;
}

/* Whether no triangle around a side's first corner folds over when the corner moves to x. The two
 * triangles at the edge are removed. */
static bool keeps_sides(const thinner *t, uint32_t side, const double x[3])
{
  const uint32_t gone[2] = {side / 3, t->across[side] / 3};
  uint32_t at = side;
  do {
    if (at / 3 != gone[0] && at / 3 != gone[1]) {
      const double *b = vertex(t, side_next(at))->at, *c = vertex(t, side_before(at))->at;
      double before[3], after[3], u[3], v[3];
      area_of(t, at, before);
      difference(b, x, u);
      difference(c, x, v);
      cross(u, v, after);
      if (dot(before, after) < FOLD * sqrt(dot(before, before) * dot(after, after))) {
        return false;
      }
    }
    at = turn(t, at);
  } while (at != side);
  return true;
}

/* Removes a triangle, where `side` belongs to the collapsed edge. */
static void take_out(thinner *t, uint32_t side)
{
  const uint32_t one = t->across[side_next(side)], two = t->across[side_before(side)];
  t->across[one] = two;
  t->across[two] = one;
  vertex(t, one)->side = one; /* one begins at the opposite corner, the other at the edge's */
  vertex(t, two)->side = two;
  for (uint32_t k = 0; k < 3; ++k) {
    t->corner[side - side % 3 + k] = GONE;
  }
}

static double off_origin(const thinner *t, const thin_vertex *v, const double x[3])
{
  const double *p = t->s->points + 3 * (size_t)t->s->triangles[v->origin];
  double d[3];
  for (int k = 0; k < 3; ++k) {
    d[k] = (p[k] - t->s->lower[k]) / t->s->diagonal - x[k];
  }
  return dot(d, d);
}

static void collapse(thinner *t, uint32_t side, const double x[3])
{
  const uint32_t back = t->across[side], kept = t->corner[side], lost = t->corner[back];
  const uint32_t ends[4] = {side_next(side), side_before(side), side_next(back), side_before(back)};
  thin_vertex *u = &t->vertices[kept], *v = &t->vertices[lost];
  for (int i = 0; i < 4; ++i) {
    queue_remove(&t->edges, edge_of(t, ends[i]));
  }
  uint32_t at = back;
  do {
    t->corner[at] = kept;
    at = turn(t, at);
  } while (at != back);
  take_out(t, side);
  take_out(t, back);
  u->error = quadric_sum(&u->error, &v->error);
  u->origin = off_origin(t, v, x) < off_origin(t, u, x) ? v->origin : u->origin;
  memcpy(u->at, x, sizeof u->at);
  v->side = GONE;
  --t->left;
  at = u->side;
  do {
    put_edge(t, at);
    at = turn(t, at);
  } while (at != u->side);
}

static void collapse_queued(thinner *t, size_t wanted)
{
  while (t->left > wanted && t->edges.count) {
    const uint32_t side = t->edges.heap[0].id;
    double x[3];
    queue_remove(&t->edges, side);
    best_place(vertex(t, side), vertex(t, side_next(side)), x);
    /* A rejected edge is queued again once its neighbourhood has changed. */
    if (keeps_form(t, side) &&
        (t->may_fold || (keeps_sides(t, side, x) && keeps_sides(t, t->across[side], x)))) {
      collapse(t, side, x);
    }
  }
}

void thin_to(thinner *t, size_t wanted)
{
  collapse_queued(t, wanted);
  if (t->left > wanted && !t->may_fold) {
    t->may_fold = true;
    put_edges(t);
    collapse_queued(t, wanted);
  }
}

/* ---- the result ---- */

/* Finds the position of a vertex on the surface. */
static void place_on(const thinner *t, const thin_vertex *v, double x[3])
{
  const surface *s = t->s;
  if (v->is_fixed) {
    memcpy(x, s->points + 3 * (size_t)s->triangles[v->origin], 3 * sizeof *x);
    return;
  }
  for (int k = 0; k < 3; ++k) {
    x[k] = s->lower[k] + v->at[k] * s->diagonal;
  }
  walk_to_nearest(s, v->origin, x);
}

/* Fixed fans that share a point of the surface also share it in the result. name: the point of each
 * vertex. */
static abut_status keep_points(const thinner *t, surface *out, uint32_t *name, uint32_t *fixed)
{
  void *memory;
  TRY(allocate(&memory, t->left, 3 * sizeof(double)));
  out->points = memory;
  memset(fixed, 0xff, t->s->point_count * sizeof *fixed);
  for (size_t i = 0; i < t->vertex_count; ++i) {
    const thin_vertex *v = &t->vertices[i];
    if (v->side == GONE) {
      continue;
    }
    uint32_t *one = &fixed[t->s->triangles[v->origin]];
    if (v->is_fixed && *one != GONE) {
      name[i] = *one;
      continue;
    }
    name[i] = (uint32_t)out->point_count++;
    place_on(t, v, out->points + 3 * (size_t)name[i]);
    if (v->is_fixed) {
      *one = name[i];
    }
  }
  return ABUT_SUCCESS;
}

static abut_status keep_triangles(const thinner *t, const uint32_t *name, surface *out)
{
  void *memory;
  size_t count = 0;
  for (size_t i = 0; i < t->s->triangle_count; ++i) {
    count += t->corner[3 * i] != GONE;
  }
  TRY(allocate(&memory, count, 3 * sizeof(uint32_t)));
  out->triangles = memory;
  for (uint32_t i = 0; i < t->s->triangle_count; ++i) {
    if (t->corner[3 * i] == GONE) {
      continue;
    }
    for (uint32_t k = 0; k < 3; ++k) {
      out->triangles[3 * out->triangle_count + k] = name[t->corner[3 * i + k]];
    }
    ++out->triangle_count;
    out->closing_count += is_closing(t, 3 * i);
  }
  return ABUT_SUCCESS;
}

abut_status thin_surface(const thinner *t, surface *out)
{
  void *name = NULL, *fixed = NULL;
  abut_status status = ABUT_SUCCESS;
  *out = (surface){.diagonal = t->s->diagonal, .area = t->s->area, .volume = t->s->volume};
  memcpy(out->lower, t->s->lower, sizeof out->lower);
  memcpy(out->upper, t->s->upper, sizeof out->upper);
  TRY_DONE(allocate(&name, t->vertex_count, sizeof(uint32_t)));
  TRY_DONE(allocate(&fixed, t->s->point_count, sizeof(uint32_t)));
  TRY_DONE(keep_points(t, out, name, fixed));
  TRY_DONE(keep_triangles(t, name, out));
done:
  free(name);
  free(fixed);
  if (status != ABUT_SUCCESS) {
    surface_free(out);
  }
  return status;
}

void thin_free(thinner *t)
{
  arena_free(&t->memory);
  *t = (thinner){0};
}
