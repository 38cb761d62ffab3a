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
    const double x = v[k] + 0.0; /* -0 is 0 */
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

abut_status weld_near(maker *m, bool *any)
{
  surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *cells = NULL, *marks = NULL;
  places p = {0};
  const double size = WELD_SHARE * s->diagonal;
  *any = false;
  TRY_DONE(allocate(&marks, s->point_count, 1));
  if (!mark_open(m, marks) || !(size > 0.0)) {
    goto done;
  }
  TRY_DONE(allocate(&memory, s->point_count, sizeof(uint32_t)));
  TRY_DONE(allocate(&cells, s->point_count, sizeof(uint32_t)));
  uint32_t *to = memory, *following = cells;
  const unsigned char *is_open = marks;
  TRY_DONE(places_create(&p, s->point_count));
  for (size_t i = 0; i < s->point_count; ++i) {
    to[i] = (uint32_t)i;
    following[i] = NONE;
    if (!is_open[i]) {
      continue;
    }
    /* Lists by cells of twice the reach: what is near lies in one of eight. */
    const double *v = point_of(s, (uint32_t)i);
    int64_t cell[3], side_of[3];
    for (int k = 0; k < 3; ++k) {
      const double u = (v[k] - s->lower[k]) / (2.0 * size);
      cell[k] = (int64_t)floor(u);
      side_of[k] = u - floor(u) < 0.5 ? -1 : 1;
    }
    for (int n = 0; n < 8 && to[i] == i; ++n) {
      uint64_t words[3];
      for (int k = 0; k < 3; ++k) {
        words[k] = (uint64_t)(cell[k] + (n >> k & 1 ? side_of[k] : 0));
      }
      for (uint32_t o = p.at[hash_words(words, 3) & p.mask]; o != NONE; o = following[o]) {
        const double *w = point_of(s, o);
        const double d[3] = {v[0] - w[0], v[1] - w[1], v[2] - w[2]};
        if (length(d) <= size) {
          to[i] = o;
          *any = true;
          ++m->report->welded;
          break;
        }
      }
    }
    if (to[i] == i) {
      const uint64_t words[3] = {(uint64_t)cell[0], (uint64_t)cell[1], (uint64_t)cell[2]};
      uint32_t *list = &p.at[hash_words(words, 3) & p.mask];
      following[i] = *list;
      *list = (uint32_t)i;
    }
  }
  for (size_t i = 0; *any && i < 3 * s->triangle_count; ++i) {
    s->triangles[i] = to[s->triangles[i]];
  }
done:
  free(memory);
  free(cells);
  free(marks);
  free(p.at);
  return status;
}
