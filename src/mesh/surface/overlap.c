/* Integrals over sections perpendicular to x. In a section, triangles are segments. Between the
 * heights y of their ends and crossings, the intersections with a line along z are linear in y, so
 * a section's integrals are exact. Integrals over x are adaptive, starting from pieces that end
 * where shells do. */
#include "mesh/surface/overlap.h"

#include "base/error.h"
#include "base/memory.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 16         /* least number of pieces of the extent */
#define VERTICES_MOST 256 /* up to this number of points, pieces end at each of them */
#define SHELLS_MOST 512   /* up to this number of shells, pieces end at their ends */
#define DEPTH_MOST 18
#define SECTIONS_MOST 50000
#define TOLERANCE 1e-6 /* of the volume, for a piece */
#define LEAST 1e-9     /* of the volume: smaller results are rounding errors */

typedef struct segment {
  double y[2], z[2]; /* y[0] < y[1] */
  int turn;          /* change of the winding number along z at the crossing */
} segment;

typedef struct cutter {
  const overlap_mesh *m;
  segment *segments; /* (triangle_count) of one section, sorted by their lower ends */
  size_t count;
  double *heights; /* where the order of segments along z may change */
  size_t height_count, height_room;
  size_t *active;             /* (triangle_count) segments at a height */
  struct crossing *crossings; /* (triangle_count) */
  double scale;               /* the sum of absolute volumes [m^3] */
  size_t left;                /* remaining number of sections */
} cutter;

typedef struct crossing {
  double z;
  const segment *of;
} crossing;

/* ---- a section ---- */

static int compare_segments(const void *a, const void *b)
{
  const segment *x = a, *y = b;
  return (x->y[0] > y->y[0]) - (x->y[0] < y->y[0]);
}

static int compare_numbers(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int compare_crossings(const void *a, const void *b)
{
  const crossing *x = a, *y = b;
  return (x->z > y->z) - (x->z < y->z);
}

/* Cuts the edge from a corner below x to one that is not below. The result is identical for both
 * adjacent triangles. */
static void cut_edge(const double *low, const double *high, double x, double *y, double *z)
{
  const double t = (x - low[0]) / (high[0] - low[0]);
  *y = low[1] + t * (high[1] - low[1]);
  *z = low[2] + t * (high[2] - low[2]);
}

static void cut_triangle(cutter *c, const uint32_t *t, double x)
{
  double y[2], z[2];
  const double *p[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = c->m->points + 3 * (size_t)t[k];
  }
  for (int k = 0; k < 3; ++k) {
    const double *from = p[k], *to = p[(k + 1) % 3];
    const bool up = from[0] < x && to[0] >= x, down = from[0] >= x && to[0] < x;
    if (up || down) { /* from where the boundary leaves the lower side to where it returns */
      cut_edge(up ? from : to, up ? to : from, x, &y[down], &z[down]);
    }
  }
  if (y[0] != y[1]) {
    const int back = y[0] > y[1];
    c->segments[c->count++] = (segment){{y[back], y[!back]}, {z[back], z[!back]}, back ? 1 : -1};
  }
}

static void cut(cutter *c, double x)
{
  c->count = 0;
  for (size_t i = 0; i < c->m->triangle_count; ++i) {
    const uint32_t *t = c->m->triangles + 3 * i;
    const bool below = c->m->points[3 * (size_t)t[0]] < x;
    if ((c->m->points[3 * (size_t)t[1]] < x) != below ||
        (c->m->points[3 * (size_t)t[2]] < x) != below) {
      cut_triangle(c, t, x);
    }
  }
  qsort(c->segments, c->count, sizeof *c->segments, compare_segments);
}

static double z_at(const segment *s, double y)
{
  return s->z[0] + (y - s->y[0]) / (s->y[1] - s->y[0]) * (s->z[1] - s->z[0]);
}

static abut_status add_height(cutter *c, double y)
{
  if (c->height_count == c->height_room) {
    const size_t room = 2 * c->height_room + 64;
    void *grown;
    TRY(allocate(&grown, room, sizeof *c->heights));
    if (c->height_count) {
      memcpy(grown, c->heights, c->height_count * sizeof *c->heights);
    }
    free(c->heights);
    c->heights = grown;
    c->height_room = room;
  }
  c->heights[c->height_count++] = y;
  return ABUT_SUCCESS;
}

/* Adds the height at which two segments cross, if any. */
static abut_status add_crossing(cutter *c, const segment *a, const segment *b)
{
  const double low = fmax(a->y[0], b->y[0]), high = fmin(a->y[1], b->y[1]);
  if (!(low < high) || fmin(a->z[0], a->z[1]) > fmax(b->z[0], b->z[1]) ||
      fmin(b->z[0], b->z[1]) > fmax(a->z[0], a->z[1])) {
    return ABUT_SUCCESS;
  }
  const double below = z_at(a, low) - z_at(b, low), above = z_at(a, high) - z_at(b, high);
  return below * above < 0.0 ? add_height(c, low + (high - low) * below / (below - above))
                             : ABUT_SUCCESS;
}

/* Removes the active segments that end at or below y. Returns the number that remains. */
static size_t drop_ended(const cutter *c, double y, size_t active)
{
  size_t count = 0;
  for (size_t i = 0; i < active; ++i) {
    if (c->segments[c->active[i]].y[1] > y) {
      c->active[count++] = c->active[i];
    }
  }
  return count;
}

static abut_status find_heights(cutter *c)
{
  size_t active = 0;
  c->height_count = 0;
  for (size_t i = 0; i < c->count; ++i) {
    TRY(add_height(c, c->segments[i].y[0]));
    TRY(add_height(c, c->segments[i].y[1]));
    active = drop_ended(c, c->segments[i].y[0], active);
    for (size_t k = 0; k < active; ++k) {
      TRY(add_crossing(c, &c->segments[c->active[k]], &c->segments[i]));
    }
    c->active[active++] = i;
  }
  if (c->height_count) { /* sections outside the surface have none, and maybe no array */
    qsort(c->heights, c->height_count, sizeof *c->heights, compare_numbers);
  }
  return ABUT_SUCCESS;
}

/* Adds the integrals of `times` between two segments over heights from low to high: 1; y, z; yy,
 * zz, yz. */
static void add_between(const segment *a, const segment *b, double low, double high, double times,
                        double sums[6])
{
  /* Gauss quadrature, exact up to degree 5. */
  static const double at[3] = {0.1127016653792583, 0.5, 0.8872983346207417};
  static const double weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
  for (int i = 0; i < 3; ++i) {
    const double y = low + at[i] * (high - low), w = times * weight[i] * (high - low);
    const double from = z_at(a, y), to = z_at(b, y), square = 0.5 * (to * to - from * from);
    sums[0] += w * (to - from);
    sums[1] += w * y * (to - from);
    sums[2] += w * square;
    sums[3] += w * y * y * (to - from);
    sums[4] += w * (to * to * to - from * from * from) / 3.0;
    sums[5] += w * y * square;
  }
}

/* Adds the excess between two heights, where the order of the active segments is constant. */
static void add_strip(const cutter *c, size_t active, double low, double high, double sums[6])
{
  const double middle = 0.5 * (low + high);
  int sum = 0, winding = 0;
  for (size_t i = 0; i < active; ++i) {
    const segment *s = &c->segments[c->active[i]];
    c->crossings[i] = (crossing){z_at(s, middle), s};
    sum += s->turn;
  }
  if (sum) {
    return; /* the surface is open here */
  }
  qsort(c->crossings, active, sizeof *c->crossings, compare_crossings);
  for (size_t i = 0; i + 1 < active; ++i) {
    winding += c->crossings[i].of->turn;
    const int excess = winding > 0 ? winding - 1 : winding;
    if (excess) {
      add_between(c->crossings[i].of, c->crossings[i + 1].of, low, high, excess, sums);
    }
  }
}

/* Computes the integrals of the section at x. */
static abut_status section(cutter *c, double x, double out[OVERLAP_MOMENTS])
{
  double a[6] = {0.0};
  size_t active = 0, next = 0;
  c->left -= c->left > 0;
  cut(c, x);
  TRY(find_heights(c));
  for (size_t i = 0; i + 1 < c->height_count; ++i) {
    active = drop_ended(c, c->heights[i], active);
    while (next < c->count && c->segments[next].y[0] <= c->heights[i]) {
      c->active[active++] = next++;
    }
    if (c->heights[i] < c->heights[i + 1]) {
      add_strip(c, active, c->heights[i], c->heights[i + 1], a);
    }
  }
  const double all[OVERLAP_MOMENTS] = {a[0], x * a[0], a[1],     a[2],     x * x * a[0],
                                       a[3], a[4],     x * a[1], x * a[2], a[5]};
  memcpy(out, all, sizeof all);
  return ABUT_SUCCESS;
}

/* ---- all sections ---- */

static abut_status rule(cutter *c, double low, double high, double out[OVERLAP_MOMENTS])
{
  static const double at[4] = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281,
                               0.9305681557970263};
  static const double weight[4] = {0.17392742256872692, 0.32607257743127307, 0.32607257743127307,
                                   0.17392742256872692};
  double one[OVERLAP_MOMENTS];
  memset(out, 0, sizeof one);
  for (int i = 0; i < 4; ++i) {
    TRY(section(c, low + at[i] * (high - low), one));
    for (int k = 0; k < OVERLAP_MOMENTS; ++k) {
      out[k] += weight[i] * (high - low) * one[k];
    }
  }
  return ABUT_SUCCESS;
}

static abut_status integrate(cutter *c, double low, double high,
                             const double whole[OVERLAP_MOMENTS], int depth,
                             double out[OVERLAP_MOMENTS])
{
  const double middle = 0.5 * (low + high);
  double left[OVERLAP_MOMENTS], right[OVERLAP_MOMENTS];
  TRY(rule(c, low, middle, left));
  TRY(rule(c, middle, high, right));
  if (depth >= DEPTH_MOST || !c->left ||
      fabs(whole[0] - left[0] - right[0]) <= TOLERANCE * c->scale) {
    for (int k = 0; k < OVERLAP_MOMENTS; ++k) {
      out[k] += left[k] + right[k];
    }
    return ABUT_SUCCESS;
  }
  TRY(integrate(c, low, middle, left, depth + 1, out));
  return integrate(c, middle, high, right, depth + 1, out);
}

/* Lists the ends of pieces, from the least x to the largest. */
static abut_status list_ends(const overlap_mesh *m, double **out, size_t *count)
{
  const bool vertices = m->point_count <= VERTICES_MOST,
             shells = !vertices && m->shell && m->shell_count <= SHELLS_MOST;
  const size_t own = vertices ? m->point_count : shells ? 2 * m->shell_count : 0;
  void *memory;
  TRY(allocate(&memory, own + PIECES + 1, sizeof(double)));
  double *ends = memory, low = HUGE_VAL, high = -HUGE_VAL;
  for (size_t i = 0; shells && i < m->shell_count; ++i) {
    ends[2 * i] = HUGE_VAL;
    ends[2 * i + 1] = -HUGE_VAL;
  }
  for (size_t i = 0; i < 3 * m->triangle_count; ++i) {
    const double x = m->points[3 * (size_t)m->triangles[i]];
    low = fmin(low, x);
    high = fmax(high, x);
    if (shells) {
      double *of = ends + 2 * (size_t)m->shell[i / 3];
      of[0] = fmin(of[0], x);
      of[1] = fmax(of[1], x);
    }
  }
  for (size_t i = 0; vertices && i < own; ++i) {
    ends[i] = m->points[3 * i];
  }
  for (size_t i = 0; i <= PIECES; ++i) {
    ends[own + i] = low + (high - low) * (double)i / PIECES;
  }
  qsort(ends, own + PIECES + 1, sizeof *ends, compare_numbers);
  *out = ends;
  *count = own + PIECES + 1;
  return ABUT_SUCCESS;
}

/* The sum of the absolute volumes of all shells. */
static double volume_of(const overlap_mesh *m)
{
  const double *o = m->points + 3 * (size_t)m->triangles[0];
  double sum = 0.0;
  for (size_t i = 0; i < m->triangle_count; ++i) {
    double p[3][3];
    for (size_t k = 0; k < 9; ++k) {
      p[k / 3][k % 3] = m->points[3 * (size_t)m->triangles[3 * i + k / 3] + k % 3] - o[k % 3];
    }
    sum += (p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
            p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
            p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
           6.0;
  }
  return sum;
}

abut_status surface_overlap(const overlap_mesh *mesh, double out[OVERLAP_MOMENTS])
{
  cutter c = {.m = mesh};
  abut_status status = ABUT_SUCCESS;
  void *memory;
  double *ends = NULL, whole[OVERLAP_MOMENTS];
  size_t count = 0;
  memset(out, 0, OVERLAP_MOMENTS * sizeof *out);
  if (!mesh->triangle_count) {
    return ABUT_SUCCESS;
  }
  c.scale = fabs(volume_of(mesh));
  c.left = SECTIONS_MOST;
  TRY_DONE(allocate(&memory, mesh->triangle_count, sizeof *c.segments));
  c.segments = memory;
  TRY_DONE(allocate(&memory, mesh->triangle_count, sizeof *c.active));
  c.active = memory;
  TRY_DONE(allocate(&memory, mesh->triangle_count, sizeof *c.crossings));
  c.crossings = memory;
  TRY_DONE(list_ends(mesh, &ends, &count));
  for (size_t i = 0; i + 1 < count; ++i) {
    if (ends[i] < ends[i + 1] && isfinite(ends[i]) && isfinite(ends[i + 1])) {
      TRY_DONE(rule(&c, ends[i], ends[i + 1], whole));
      TRY_DONE(integrate(&c, ends[i], ends[i + 1], whole, 0, out));
    }
  }
  if (!(fabs(out[0]) > LEAST * c.scale)) {
    memset(out, 0, OVERLAP_MOMENTS * sizeof *out);
  }
done:
  free(ends);
  free(c.segments);
  free(c.active);
  free(c.crossings);
  free(c.heights);
  return status;
}
