#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

abut_status places_create(places *p, size_t count)
{
  size_t size = 16;
  while (size < 2 * count) {
    size *= 2;
  }
  void *memory = NULL;
  TRY(allocate(&memory, size, sizeof *p->at));
  p->at = memory;
  memset(p->at, 0xff, size * sizeof *p->at);
  p->mask = size - 1;
  return ABUT_SUCCESS;
}

size_t hash_words(const uint64_t *words, size_t count)
{
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < count; ++i) {
    h = (h ^ words[i]) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return (size_t)h;
}

static size_t hash_point(const double *v)
{
  uint64_t words[3];
  for (int k = 0; k < 3; ++k) {
    const double x = v[k] + 0.0; /* turns -0 into 0 */
    memcpy(&words[k], &x, sizeof x);
  }
  return hash_words(words, 3);
}

abut_status weld_equal(const double *vertices, size_t count, uint32_t *to)
{
  places p;
  TRY(places_create(&p, count));
  for (size_t i = 0; i < count; ++i) {
    const double *v = vertices + 3 * i;
    size_t at = hash_point(v) & p.mask;
    for (; p.at[at] != NONE; at = (at + 1) & p.mask) {
      const double *other = vertices + 3 * (size_t)p.at[at];
      if (other[0] == v[0] && other[1] == v[1] && other[2] == v[2]) {
        break;
      }
    }
    if (p.at[at] == NONE) {
      p.at[at] = (uint32_t)i;
    }
    to[i] = p.at[at];
  }
  free(p.at);
  return ABUT_SUCCESS;
}

size_t mark_open(const maker *m, unsigned char *is_open)
{
  const surface *s = m->s;
  size_t count = 0;
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    if (m->across[i] == NONE) {
      is_open[s->triangles[i]] = is_open[end_of(s, i)] = 1;
      ++count;
    }
  }
  return count;
}

/* ---- nearly equal corners ---- */

/* of the shortest side at a corner: corners farther apart are distinct */
#define SHORT_SHARE 0.3
/* least share of a triangle's area that welding must preserve along its normal */
#define AREA_LEAST 0.25

typedef struct weld {
  const maker *m;
  double size;              /* [m] corners within this distance are merged */
  const double *shortest;   /* (point_count) [m] the shortest side at each corner; NULL: ignored */
  places cells;             /* lists of retained corners, by cells of twice the size */
  uint32_t *following, *to; /* (point_count) links of those lists; each corner's replacement */
} weld;

static size_t hash_cell(const int64_t cell[3])
{
  const uint64_t words[3] = {(uint64_t)cell[0], (uint64_t)cell[1], (uint64_t)cell[2]};
  return hash_words(words, 3);
}

/* Finds the nearest retained corner to merge corner i with. If there is none, corner i is retained.
 * Neighbours are in one of eight cells. */
static void weld_corner(weld *w, uint32_t i)
{
  const surface *s = w->m->s;
  const double *v = point_of(s, i);
  double best = w->size;
  int64_t cell[3], side_of[3];
  for (int k = 0; k < 3; ++k) {
    const double u = (v[k] - s->lower[k]) / (2.0 * w->size);
    cell[k] = (int64_t)floor(u);
    side_of[k] = u - floor(u) < 0.5 ? -1 : 1;
  }
  for (int n = 0; n < 8; ++n) {
    int64_t at[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = cell[k] + (n >> k & 1 ? side_of[k] : 0);
    }
    uint32_t o = w->cells.at[hash_cell(at) & w->cells.mask];
    for (; o != NONE; o = w->following[o]) {
      const double *x = point_of(s, o);
      const double d[3] = {v[0] - x[0], v[1] - x[1], v[2] - x[2]};
      const double away = length(d);
      const bool apart = w->shortest && away > SHORT_SHARE * fmin(w->shortest[i], w->shortest[o]);
      if (away <= best && !apart) {
        best = away;
        w->to[i] = o;
      }
    }
  }
  if (w->to[i] == i) {
    uint32_t *list = &w->cells.at[hash_cell(cell) & w->cells.mask];
    w->following[i] = *list;
    *list = i;
  }
}

/* Cancels merges that would make a triangle flat or turn it over. */
static void keep_triangles(weld *w)
{
  const surface *s = w->m->s;
  bool again = true;
  while (again) {
    again = false;
    for (size_t i = 0; i < s->triangle_count; ++i) {
      const uint32_t *t = s->triangles + 3 * i;
      const uint32_t n[3] = {w->to[t[0]], w->to[t[1]], w->to[t[2]]};
      if (n[0] == t[0] && n[1] == t[1] && n[2] == t[2]) {
        continue;
      }
      double before[3], after[9], area[3];
      triangle_area(s, i, before);
      for (size_t k = 0; k < 3; ++k) {
        memcpy(after + 3 * k, point_of(s, n[k]), 3 * sizeof *after);
      }
      corners_area(after, area);
      if (0.5 * dot(area, before) < AREA_LEAST * dot(before, before)) {
        for (size_t k = 0; k < 3; ++k) {
          w->to[t[k]] = t[k];
        }
        again = true;
      }
    }
  }
}

/* Finds the shortest side at each corner. */
static abut_status find_shortest(const surface *s, double **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, s->point_count, sizeof(double)));
  double *shortest = memory;
  for (size_t i = 0; i < s->point_count; ++i) {
    shortest[i] = HUGE_VAL;
  }
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    const uint32_t a = s->triangles[i], b = end_of(s, i);
    const double *p = point_of(s, a), *q = point_of(s, b);
    const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    shortest[a] = fmin(shortest[a], length(d));
    shortest[b] = fmin(shortest[b], length(d));
  }
  *out = shortest;
  return ABUT_SUCCESS;
}

abut_status weld_near(maker *m, double size, const unsigned char *marks, bool *any)
{
  surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *to = NULL, *following = NULL, *open = NULL;
  double *shortest = NULL;
  weld w = {.m = m, .size = size};
  *any = false;
  TRY_DONE(allocate(&open, s->point_count, 1));
  if (!(mark_open(m, open) || marks) || !(size > 0.0)) {
    goto done;
  }
  if (size > WELD_SHARE * s->diagonal) {
    TRY_DONE(find_shortest(s, &shortest));
  }
  TRY_DONE(allocate(&to, s->point_count, sizeof(uint32_t)));
  TRY_DONE(allocate(&following, s->point_count, sizeof(uint32_t)));
  TRY_DONE(places_create(&w.cells, s->point_count));
  const unsigned char *welds = marks ? marks : open;
  w.shortest = shortest;
  w.to = to;
  w.following = following;
  for (size_t i = 0; i < s->point_count; ++i) {
    w.to[i] = (uint32_t)i;
    w.following[i] = NONE;
    if (welds[i]) {
      weld_corner(&w, (uint32_t)i);
    }
  }
  if (shortest) {
    keep_triangles(&w);
  }
  for (size_t i = 0; i < s->point_count; ++i) {
    *any = *any || w.to[i] != i;
    m->report->welded += w.to[i] != i;
  }
  for (size_t i = 0; *any && i < 3 * s->triangle_count; ++i) {
    s->triangles[i] = w.to[s->triangles[i]];
  }
done:
  free(to);
  free(following);
  free(open);
  free(shortest);
  free(w.cells.at);
  return status;
}
