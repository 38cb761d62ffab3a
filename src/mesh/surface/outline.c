#include "mesh/surface/outline.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/regions.h"
#include "mesh/surface/sides.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An edge between two regions, the smaller first; FIXED if the surface is not a manifold there. */
typedef struct border {
  uint32_t from, to, low, high;
} border;

#define FIXED (UINT32_MAX - 2)

typedef struct tracer {
  arena memory;
  const surface *s;
  double deviation;
  border *borders;
  size_t border_count;
  uint32_t *start, *incident; /* borders at each point: incident[start[i]] to [start[i + 1] - 1] */
  unsigned char *is_used;     /* (border_count) */
  uint32_t *chain, *stack;    /* points of one run; pending pieces of it */
  uint64_t *found;            /* edges, the lower point in the upper half */
  size_t found_count;
} tracer;

static bool is_border(const uint32_t *across, const uint32_t *region, uint32_t side)
{
  const uint32_t other = across[side];
  return other >= SIDE_TANGLED ? region[side / 3] != REGION_CLOSING
                               : side < other && region[side / 3] != region[other / 3];
}

static abut_status find_borders(tracer *t, const uint32_t *region)
{
  const uint32_t *across = t->s->across;
  const uint32_t *v = t->s->triangles;
  void *memory;
  size_t count = 0;
  for (uint32_t i = 0; i < 3 * t->s->triangle_count; ++i) {
    count += is_border(across, region, i);
  }
  TRY(arena_allocate(&t->memory, &memory, count, sizeof(border)));
  t->borders = memory;
  for (uint32_t i = 0; i < 3 * t->s->triangle_count; ++i) {
    if (is_border(across, region, i)) {
      border b = {v[i], v[side_next(i)], FIXED, FIXED};
      if (across[i] < SIDE_TANGLED) {
        const uint32_t mine = region[i / 3], other = region[across[i] / 3];
        b.low = mine < other ? mine : other;
        b.high = mine < other ? other : mine;
      }
      t->borders[t->border_count++] = b;
    }
  }
  return ABUT_SUCCESS;
}

static abut_status find_incident(tracer *t)
{
  void *start, *incident;
  TRY(arena_allocate(&t->memory, &start, t->s->point_count + 2, sizeof(uint32_t)));
  TRY(arena_allocate(&t->memory, &incident, t->border_count, 2 * sizeof(uint32_t)));
  t->start = start;
  t->incident = incident;
  for (size_t i = 0; i < t->border_count; ++i) {
    ++t->start[t->borders[i].from + (size_t)2];
    ++t->start[t->borders[i].to + (size_t)2];
  }
  for (size_t i = 2; i < t->s->point_count + 2; ++i) {
    t->start[i] += t->start[i - 1];
  }
  for (uint32_t i = 0; i < t->border_count; ++i) {
    t->incident[t->start[t->borders[i].from + (size_t)1]++] = i;
    t->incident[t->start[t->borders[i].to + (size_t)1]++] = i;
  }
  return ABUT_SUCCESS;
}

/* Whether exactly two borders meet at a point and separate the same two regions. */
static bool goes_through(const tracer *t, uint32_t point)
{
  const uint32_t *at = t->incident + t->start[point];
  if (t->start[point + (size_t)1] - t->start[point] != 2) {
    return false;
  }
  const border *a = &t->borders[at[0]], *b = &t->borders[at[1]];
  return a->low != FIXED && a->low == b->low && a->high == b->high;
}

/* Returns the squared distance from a point to the segment between two others. */
static double off_segment(const surface *s, uint32_t point, uint32_t from, uint32_t to)
{
  const double *x = s->points + 3 * (size_t)point, *a = s->points + 3 * (size_t)from;
  const double *b = s->points + 3 * (size_t)to;
  double along = 0.0, length = 0.0, off = 0.0;
  for (int k = 0; k < 3; ++k) {
    along += (x[k] - a[k]) * (b[k] - a[k]);
    length += (b[k] - a[k]) * (b[k] - a[k]);
  }
  const double share = length > 0.0 ? fmin(fmax(along / length, 0.0), 1.0) : 0.0;
  for (int k = 0; k < 3; ++k) {
    const double d = x[k] - a[k] - share * (b[k] - a[k]);
    off += d * d;
  }
  return off;
}

static void add_edge(tracer *t, uint32_t a, uint32_t b)
{
  if (a != b) {
    t->found[t->found_count++] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
  }
}

/* Makes the fewest edges within the deviation of the chain (Ramer 1972; Douglas, Peucker 1973). */
static void add_chain(tracer *t, size_t size)
{
  const double limit = t->deviation * t->deviation;
  size_t waiting = 0;
  uint32_t first = 0, last = (uint32_t)size - 1;
  for (;;) {
    double most = limit;
    uint32_t split = 0;
    for (uint32_t i = first + 1; i < last; ++i) {
      const double off = off_segment(t->s, t->chain[i], t->chain[first], t->chain[last]);
      if (off > most) {
        most = off;
        split = i;
      }
    }
    if (split) {
      t->stack[waiting++] = last;
      last = split;
      continue;
    }
    add_edge(t, t->chain[first], t->chain[last]);
    if (!waiting) {
      return;
    }
    first = last;
    last = t->stack[--waiting];
  }
}

/* Follows borders from a point until an end, or back to the point. */
static void trace(tracer *t, uint32_t point, uint32_t at)
{
  const uint32_t begin = point;
  size_t size = 0;
  t->chain[size++] = point;
  for (;;) {
    const border *b = &t->borders[at];
    t->is_used[at] = 1;
    point = b->from == point ? b->to : b->from;
    t->chain[size++] = point;
    if (point == begin || !goes_through(t, point)) {
      break;
    }
    const uint32_t *two = t->incident + t->start[point];
    at = two[0] == at ? two[1] : two[0];
  }
  add_chain(t, size);
}

static abut_status trace_all(tracer *t)
{
  void *used, *chain, *stack, *found;
  const size_t room = t->border_count + 1;
  TRY(arena_allocate(&t->memory, &used, room, 1));
  TRY(arena_allocate(&t->memory, &chain, room, sizeof(uint32_t)));
  TRY(arena_allocate(&t->memory, &stack, room, sizeof(uint32_t)));
  TRY(arena_allocate(&t->memory, &found, room, sizeof(uint64_t)));
  t->is_used = used;
  t->chain = chain;
  t->stack = stack;
  t->found = found;
  /* Closed rings without ends are traced in the second round. */
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < t->s->point_count; ++i) {
      if (round == 0 && goes_through(t, i)) {
        continue;
      }
      for (uint32_t k = t->start[i]; k < t->start[i + (size_t)1]; ++k) {
        if (!t->is_used[t->incident[k]]) {
          trace(t, i, t->incident[k]);
        }
      }
    }
  }
  return ABUT_SUCCESS;
}

static int compare(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static abut_status keep_edges(tracer *t, outline *out)
{
  void *edges, *ends;
  TRY(allocate(&edges, t->found_count, 2 * sizeof(uint32_t)));
  out->edges = edges;
  TRY(allocate(&ends, t->s->point_count, 1));
  out->is_end = ends;
  qsort(t->found, t->found_count, sizeof *t->found, compare);
  for (size_t i = 0; i < t->found_count; ++i) {
    if (i && t->found[i] == t->found[i - 1]) {
      continue;
    }
    uint32_t *e = out->edges + 2 * out->edge_count++;
    e[0] = (uint32_t)(t->found[i] >> 32);
    e[1] = (uint32_t)t->found[i];
    out->end_count += (size_t)!out->is_end[e[0]] + !out->is_end[e[1]];
    out->is_end[e[0]] = out->is_end[e[1]] = 1;
  }
  return ABUT_SUCCESS;
}

static abut_status trace_outline(tracer *t, outline *out)
{
  TRY(find_borders(t, out->region));
  TRY(find_incident(t));
  TRY(trace_all(t));
  return keep_edges(t, out);
}

abut_status outline_create(const surface *s, double deviation, outline *out)
{
  tracer t = {.s = s, .deviation = deviation};
  void *region = NULL;
  *out = (outline){0};
  abut_status status = allocate(&region, s->triangle_count, sizeof(uint32_t));
  if (status == ABUT_SUCCESS) {
    out->region = region;
    status = regions_find(s, deviation, out->region, &out->merged);
  }
  if (status == ABUT_SUCCESS) {
    status = trace_outline(&t, out);
  }
  arena_free(&t.memory);
  if (status != ABUT_SUCCESS) {
    outline_free(out);
  }
  return status;
}

void outline_free(outline *o)
{
  free(o->region);
  free(o->edges);
  free(o->is_end);
  *o = (outline){0};
}
