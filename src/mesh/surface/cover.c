#include "mesh/surface/cover.h"

#include "base/error.h"
#include "mesh/surface/outline.h"
#include "mesh/surface/regions.h"
#include "mesh/surface/sides.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

#define PER_POINT 16                      /* candidates on faces per wanted point */
#define PER_SPACING 6                     /* candidates on edges per spacing */
#define CANDIDATES_MOST ((size_t)1 << 22) /* of each kind */
/* in spacings: larger distances are treated as equal */
#define REACH 2.0
#define CELL 1.5    /* in spacings */
#define SHARP 0.985 /* cosine between two faces: 10 degrees */
/* weight of distances on sharp edges, where contacts are more frequent */
#define EDGE_WEIGHT 1.5f
#define OPPOSITE -0.3 /* cosine between normals on the two sides of a sheet */

static size_t real_count(const surface *s)
{
  return s->triangle_count - s->closing_count;
}

static const double *corner(const surface *s, uint32_t side)
{
  return s->points + 3 * (size_t)s->triangles[side];
}

/* ---- candidates ---- */

static void add_candidate(cover *c, const double at[3], const double normal[3], float weight)
{
  candidate *to = &c->candidates[c->count++];
  const double length = sqrt(dot(normal, normal));
  for (size_t k = 0; k < 3; ++k) {
    to->at[k] = at[k];
    to->normal[k] = length > 0.0 ? (float)(normal[k] / length) : 0.0f;
  }
  to->weight = weight;
}

static double size_of(const surface *s, uint32_t triangle)
{
  double area[3];
  triangle_area(s, triangle, area);
  return sqrt(dot(area, area));
}

/* Gives point i of a sequence that fills a triangle evenly (Roberts's R2, folded). */
static void place_in(const surface *s, uint32_t triangle, size_t i, double at[3])
{
  double u = fmod(0.5 + 0.7548776662466927 * (double)i, 1.0);
  double v = fmod(0.5 + 0.5698402909980532 * (double)i, 1.0);
  if (u + v > 1.0) {
    u = 1.0 - u;
    v = 1.0 - v;
  }
  const double *a = corner(s, 3 * triangle), *b = corner(s, 3 * triangle + 1);
  const double *o = corner(s, 3 * triangle + 2);
  for (int k = 0; k < 3; ++k) {
    at[k] = o[k] + u * (a[k] - o[k]) + v * (b[k] - o[k]);
  }
}

/* Makes one candidate per `step` of area, from triangle to triangle. */
static void add_faces(cover *c, double step, size_t most)
{
  double walked = 0.0;
  size_t done = 0;
  for (uint32_t t = 0; t < real_count(c->s); ++t) {
    double normal[3], at[3];
    walked += size_of(c->s, t);
    for (; done < most && ((double)done + 0.5) * step <= walked; ++done) {
      triangle_area(c->s, t, normal);
      place_in(c->s, t, done, at);
      add_candidate(c, at, normal, 1.0f);
    }
  }
}

/* Whether a side is a sharp edge, or borders triangles that close a hole. Each edge has one such
 * side. Gives the normal there. */
static bool is_sharp(const cover *c, uint32_t side, double normal[3])
{
  const uint32_t other = c->s->across[side];
  double mine[3], others[3];
  const bool is_real = side / 3 < real_count(c->s);
  if (!is_real || other >= SIDE_TANGLED || c->region[side / 3] == c->region[other / 3]) {
    return false;
  }
  triangle_area(c->s, side / 3, mine);
  triangle_area(c->s, other / 3, others);
  const double size = sqrt(dot(mine, mine)), size_too = sqrt(dot(others, others));
  if (c->region[other / 3] == REGION_CLOSING) {
    memcpy(normal, mine, sizeof mine);
    return size > 0.0;
  }
  if (side > other || !(size > 0.0 && size_too > 0.0) ||
      dot(mine, others) > SHARP * size * size_too) {
    return false;
  }
  for (int k = 0; k < 3; ++k) {
    normal[k] = mine[k] / size + others[k] / size_too;
  }
  return true;
}

static double length_of(const surface *s, uint32_t side)
{
  const double *a = corner(s, side), *b = corner(s, side_next(side));
  const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return sqrt(dot(d, d));
}

static void add_edges(cover *c, double step, size_t most)
{
  double walked = 0.0;
  size_t done = 0;
  for (uint32_t i = 0; i < 3 * real_count(c->s); ++i) {
    double normal[3], at[3];
    if (!is_sharp(c, i, normal)) {
      continue;
    }
    const double length = length_of(c->s, i);
    const double *a = corner(c->s, i), *b = corner(c->s, side_next(i));
    for (; done < most && ((double)done + 0.5) * step <= walked + length; ++done) {
      const double share = (((double)done + 0.5) * step - walked) / length;
      for (int k = 0; k < 3; ++k) {
        at[k] = a[k] + share * (b[k] - a[k]);
      }
      add_candidate(c, at, normal, EDGE_WEIGHT);
    }
    walked += length;
  }
}

static abut_status add_candidates(cover *c, size_t wanted)
{
  double area = 0.0, edges = 0.0;
  void *memory;
  for (uint32_t t = 0; t < real_count(c->s); ++t) {
    area += size_of(c->s, t);
  }
  for (uint32_t i = 0; i < 3 * real_count(c->s); ++i) {
    double normal[3];
    edges += is_sharp(c, i, normal) ? length_of(c->s, i) : 0.0;
  }
  c->spacing = sqrt(2.0 * area / (1.7320508 * (double)wanted));
  const size_t on_faces = wanted < CANDIDATES_MOST / PER_POINT ? PER_POINT * wanted
                                                               : CANDIDATES_MOST;
  const double many = c->spacing > 0.0 ? PER_SPACING * edges / c->spacing : 0.0;
  const size_t on_edges = many < (double)(on_faces / 2) ? (size_t)many : on_faces / 2;
  TRY(arena_allocate(&c->memory, &memory, on_faces + on_edges, sizeof(candidate)));
  c->candidates = memory;
  if (area > 0.0) {
    add_faces(c, area / (double)on_faces, on_faces);
  }
  if (on_edges) {
    add_edges(c, edges / (double)on_edges, on_edges);
  }
  return ABUT_SUCCESS;
}

/* ---- cells ---- */

static size_t list_of(const cover *c, const int64_t cell[3])
{
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (int k = 0; k < 3; ++k) {
    h = (h ^ (uint64_t)cell[k]) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return (size_t)h & c->mask;
}

static int64_t cell_of(const cover *c, double x, int axis)
{
  return (int64_t)floor((x - c->s->lower[axis]) / (CELL * c->spacing));
}

static size_t list_at(const cover *c, const double at[3])
{
  const int64_t cell[3] = {cell_of(c, at[0], 0), cell_of(c, at[1], 1), cell_of(c, at[2], 2)};
  return list_of(c, cell);
}

static abut_status list_candidates(cover *c)
{
  void *start, *listed;
  size_t lists = 16;
  while (lists < c->count) {
    lists *= 2;
  }
  c->mask = lists - 1;
  TRY(arena_allocate(&c->memory, &start, lists + 2, sizeof(uint32_t)));
  TRY(arena_allocate(&c->memory, &listed, c->count, sizeof(uint32_t)));
  c->start = start;
  c->listed = listed;
  for (size_t i = 0; i < c->count; ++i) {
    ++c->start[list_at(c, c->candidates[i].at) + 2];
  }
  for (size_t i = 2; i < lists + 2; ++i) {
    c->start[i] += c->start[i - 1];
  }
  for (size_t i = 0; i < c->count; ++i) {
    c->listed[c->start[list_at(c, c->candidates[i].at) + 1]++] = (uint32_t)i;
  }
  return ABUT_SUCCESS;
}

abut_status cover_create(const surface *s, const uint32_t *region, size_t wanted, cover *out)
{
  abut_status status = ABUT_SUCCESS;
  *out = (cover){.s = s, .region = region};
  TRY_DONE(add_candidates(out, wanted));
  TRY_DONE(list_candidates(out));
  TRY_DONE(queue_create(&out->far, &out->memory, out->count, out->count));
done:
  if (status != ABUT_SUCCESS) {
    cover_free(out);
  }
  return status;
}

/* ---- points ---- */

static void put(cover *c, uint32_t i)
{
  const candidate *e = &c->candidates[i];
  queue_put(&c->far, i, -e->weight * sqrtf(e->distance2));
}

/* Updates the candidates within `reach` of a new point, and their keys in the queue if `queued`. */
static void see_point(cover *c, const double at[3], const double normal[3], double reach,
                      bool queued)
{
  int64_t low[3], high[3], cell[3];
  for (int k = 0; k < 3; ++k) {
    low[k] = cell_of(c, at[k] - reach, k);
    high[k] = cell_of(c, at[k] + reach, k);
  }
  for (cell[0] = low[0]; cell[0] <= high[0]; ++cell[0]) {
    for (cell[1] = low[1]; cell[1] <= high[1]; ++cell[1]) {
      for (cell[2] = low[2]; cell[2] <= high[2]; ++cell[2]) {
        const size_t list = list_of(c, cell);
        for (uint32_t i = c->start[list]; i < c->start[list + 1]; ++i) {
          candidate *e = &c->candidates[c->listed[i]];
          const double d[3] = {e->at[0] - at[0], e->at[1] - at[1], e->at[2] - at[2]};
          const float distance2 = (float)dot(d, d);
          const double along = (double)e->normal[0] * normal[0] + (double)e->normal[1] * normal[1] +
                               (double)e->normal[2] * normal[2];
          if (distance2 < e->distance2 && along > OPPOSITE) {
            e->distance2 = distance2;
            if (queued) {
              put(c, c->listed[i]);
            }
          }
        }
      }
    }
  }
}

void cover_fill(cover *c, cover_points *points, double radius, size_t most)
{
  const double reach = REACH * c->spacing;
  if (points->count >= most || !c->count) {
    return;
  }
  for (size_t i = 0; i < c->count; ++i) {
    c->candidates[i].distance2 = (float)(reach * reach);
  }
  for (size_t i = 0; i < points->count; ++i) {
    see_point(c, points->at + 3 * i, points->normal + 3 * i, reach, false);
  }
  for (uint32_t i = 0; i < c->count; ++i) {
    put(c, i);
  }
  while (points->count < most && c->far.count && -c->far.heap[0].key > (float)radius) {
    const uint32_t i = c->far.heap[0].id;
    candidate *e = &c->candidates[i];
    double *at = points->at + 3 * points->count, *normal = points->normal + 3 * points->count;
    const double farthest = -(double)c->far.heap[0].key; /* no candidate is farther */
    for (size_t k = 0; k < 3; ++k) {
      at[k] = e->at[k];
      normal[k] = (double)e->normal[k];
    }
    ++points->count;
    e->distance2 = 0.0f;
    queue_remove(&c->far, i);
    see_point(c, at, normal, farthest, true);
  }
}

void cover_free(cover *c)
{
  arena_free(&c->memory);
  *c = (cover){0};
}
