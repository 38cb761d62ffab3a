#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

typedef struct side {
  uint32_t low, high, at; /* corners; 4 triangle + side */
} side;

static int compare_sides(const void *a, const void *b)
{
  const side *x = a, *y = b;
  return x->low != y->low     ? (x->low < y->low ? -1 : 1)
         : x->high != y->high ? (x->high < y->high ? -1 : 1)
                              : (x->at < y->at ? -1 : x->at > y->at);
}

/* Lists all sides with a counting sort on their lower corner, since large meshes have millions.
 * Each run is sorted. */
static abut_status sort_sides(const surface *s, side **out)
{
  void *memory = NULL, *counts = NULL;
  TRY(allocate(&counts, s->point_count + 2, sizeof(size_t)));
  abut_status status = allocate(&memory, 3 * s->triangle_count, sizeof(side));
  if (status != ABUT_SUCCESS) {
    free(counts);
    return status;
  }
  size_t *start = counts;
  side *sides = memory;
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    const uint32_t a = s->triangles[i], b = end_of(s, i);
    ++start[(a < b ? a : b) + 2];
  }
  for (size_t i = 2; i < s->point_count + 2; ++i) {
    start[i] += start[i - 1];
  }
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    const uint32_t a = s->triangles[i], b = end_of(s, i);
    const uint32_t low = a < b ? a : b;
    sides[start[low + 1]++] = (side){low, a < b ? b : a, (uint32_t)(4 * (i / 3) + i % 3)};
  }
  for (size_t i = 0; i < s->point_count; ++i) {
    qsort(sides + start[i], start[i + 1] - start[i], sizeof *sides, compare_sides);
  }
  free(counts);
  *out = sides;
  return ABUT_SUCCESS;
}

static abut_status add_tangle(maker *m, uint32_t a, uint32_t b)
{
  void *memory = m->tangles;
  TRY(grow(&memory, &m->tangle_room, m->tangle_count + 1, 2 * sizeof *m->tangles));
  m->tangles = memory;
  m->tangles[2 * m->tangle_count] = a;
  m->tangles[2 * m->tangle_count++ + 1] = b;
  return ABUT_SUCCESS;
}

abut_status find_neighbours(maker *m)
{
  const surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  side *sides = NULL;
  void *memory = NULL;
  TRY_DONE(sort_sides(s, &sides));
  TRY_DONE(allocate(&memory, s->triangle_count, 3 * sizeof(uint32_t)));
  free(m->across);
  m->across = memory;
  m->report->tangled_edges = m->tangle_count = 0;
  for (size_t i = 0, end = 0; i < 3 * s->triangle_count; i = end) {
    for (end = i + 1; end < 3 * s->triangle_count && sides[end].low == sides[i].low &&
                      sides[end].high == sides[i].high;
         ++end) {
    }
    for (size_t k = i; k < end; ++k) {
      const uint32_t at = sides[k].at;
      m->across[3 * (at / 4) + at % 4] = end - i == 1   ? NONE
                                         : end - i == 2 ? sides[i == k ? k + 1 : i].at
                                                        : TANGLED;
      if (end - i > 2 && k > i) {
        TRY_DONE(add_tangle(m, sides[i].at / 4, at / 4));
      }
    }
    m->report->tangled_edges += end - i > 2;
  }
done:
  free(sides);
  return status;
}

/* ---- orientation ---- */

void turn(surface *s, size_t triangle)
{
  uint32_t *t = s->triangles + 3 * triangle;
  const uint32_t corner = t[1];
  t[1] = t[2];
  t[2] = corner;
}

bool agrees(const surface *s, uint32_t mine, uint32_t other)
{
  return s->triangles[3 * (mine / 4) + mine % 4] != s->triangles[3 * (other / 4) + other % 4];
}

abut_status find_shells(maker *m, unsigned char *turns)
{
  const surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *queue_memory = NULL;
  TRY_DONE(allocate(&memory, s->triangle_count, sizeof(uint32_t)));
  TRY_DONE(allocate(&queue_memory, s->triangle_count, sizeof(uint32_t)));
  uint32_t *queue = queue_memory;
  free(m->shell);
  m->shell = memory;
  memory = NULL;
  memset(m->shell, 0xff, s->triangle_count * sizeof(uint32_t));
  m->shell_count = 0;
  for (size_t i = 0; i < s->triangle_count; ++i) {
    size_t head = 0, tail = 0;
    if (m->shell[i] != NONE) {
      continue;
    }
    m->shell[i] = (uint32_t)m->shell_count++;
    queue[tail++] = (uint32_t)i;
    while (head < tail) {
      const uint32_t t = queue[head++];
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t other = m->across[3 * (size_t)t + k];
        if (other >= TANGLED) {
          continue;
        }
        const bool against = !agrees(s, 4 * t + k, other);
        const uint32_t o = other / 4;
        if (m->shell[o] == NONE) {
          m->shell[o] = m->shell[i];
          turns[o] = (unsigned char)(turns[t] ^ against);
          queue[tail++] = o;
        } else if ((turns[o] ^ turns[t]) != against) {
          ++m->report->tangled_edges; /* from both sides: a seam of a Moebius strip */
        }
      }
    }
  }
done:
  free(memory);
  free(queue_memory);
  return status;
}

abut_status find_shells_again(maker *m, const surface_report *before)
{
  void *memory = NULL;
  TRY(allocate(&memory, m->s->triangle_count, 1));
  const abut_status status = find_shells(m, memory);
  free(memory);
  m->report->shells = before->shells;
  m->report->tangled_edges = before->tangled_edges;
  return status;
}

abut_status orient(maker *m)
{
  surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *marks = NULL, *memory = NULL;
  TRY_DONE(allocate(&marks, s->triangle_count, 1));
  unsigned char *turns = marks;
  TRY_DONE(find_shells(m, turns));
  TRY_DONE(allocate(&memory, m->shell_count, 2 * sizeof(double)));
  double *areas = memory;
  for (size_t i = 0; i < s->triangle_count; ++i) {
    double area[3];
    triangle_area(s, i, area);
    areas[2 * (size_t)m->shell[i] + turns[i]] += length(area);
  }
  for (size_t i = 0; i < s->triangle_count; ++i) {
    const double *a = areas + 2 * (size_t)m->shell[i];
    if (turns[i] == (a[1] <= a[0])) {
      turn(s, i);
      ++m->report->turned;
    }
  }
  m->report->shells = m->shell_count;
done:
  free(marks);
  free(memory);
  return status;
}
