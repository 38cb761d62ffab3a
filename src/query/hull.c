#include "query/hull.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/vector.h"
#include <float.h>
#include <libqhull_r/libqhull_r.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAT 1e-10                    /* relative to the extent */
#define ROUNDINGS (8.0 * DBL_EPSILON) /* relative to the largest coordinate */
#define THIN 1e-4                     /* relative to the extent */
#define EXTENT_LEAST 1e-100 /* smallest extent of more than a point, whose square is not 0 [m] */
#define WORDS 512           /* bytes */

/* A set of points whose hull is computed. */
typedef struct point_set {
  size_t count;     /* of distinct points */
  uint32_t *origin; /* index of each among the given points, ascending */
  double *at; /* (count, 3) relative to the middle of their box, scaled to a longest side of 1 */
  size_t dimensions;
  double from[3];    /* a frame: the first point on its first axis ... */
  double axes[3][3]; /* ... as many unit axes as dimensions ... */
  double widths[3];  /* ... and the largest distance along each */
} point_set;

/* ---- distinct points ---- */

typedef struct keyed_point {
  const double *at;
  uint32_t index;
} keyed_point;

static int compare_points(const void *left, const void *right)
{
  const keyed_point *a = left, *b = right;
  for (int k = 0; k < 3; ++k) {
    if (a->at[k] != b->at[k]) {
      return a->at[k] < b->at[k] ? -1 : 1;
    }
  }
  return a->index < b->index ? -1 : a->index > b->index;
}

static bool is_equal(const double *a, const double *b)
{
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static int compare_indices(const void *left, const void *right)
{
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

/* Keeps the first of equal points. */
static abut_status keep_different(point_set *s, const double *points, size_t count)
{
  void *memory = NULL, *indices = NULL;
  TRY(allocate(&indices, count, sizeof(uint32_t)));
  s->origin = indices;
  TRY(allocate(&memory, count, sizeof(keyed_point)));
  keyed_point *sorted = memory;
  for (size_t i = 0; i < count; ++i) {
    sorted[i] = (keyed_point){points + 3 * i, (uint32_t)i};
  }
  qsort(sorted, count, sizeof *sorted, compare_points);
  for (size_t i = 0; i < count; ++i) {
    if (!i || !is_equal(sorted[i].at, sorted[i - 1].at)) {
      s->origin[s->count++] = sorted[i].index;
    }
  }
  free(memory);
  qsort(s->origin, s->count, sizeof *s->origin, compare_indices);
  return ABUT_SUCCESS;
}

/* ---- dimensions ---- */

/* Computes the box of the distinct points; returns its longest side. */
static double find_box(const point_set *s, const double *points, double middle[3], double *largest)
{
  double extent = 0.0;
  *largest = 0.0;
  for (int k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < s->count; ++i) {
      low = fmin(low, points[3 * (size_t)s->origin[i] + k]);
      high = fmax(high, points[3 * (size_t)s->origin[i] + k]);
    }
    middle[k] = low + 0.5 * (high - low);
    extent = fmax(extent, high - low);
    *largest = fmax(*largest, fmax(fabs(low), fabs(high)));
  }
  return extent;
}

static abut_status scale(point_set *s, const double *points, const double middle[3], double extent)
{
  void *memory = NULL;
  TRY(allocate(&memory, s->count, 3 * sizeof(double)));
  s->at = memory;
  for (size_t i = 0; i < s->count; ++i) {
    for (int k = 0; k < 3; ++k) {
      s->at[3 * i + k] = (points[3 * (size_t)s->origin[i] + k] - middle[k]) / extent;
    }
  }
  return ABUT_SUCCESS;
}

/* Computes a point's coordinates along the axes found so far, and the remaining vector from the
 * frame's origin. Axes are subtracted one after the other, because a short axis is not orthogonal
 * to a long one up to rounding. */
static void coordinates(const point_set *s, size_t i, double along[3], double rest[3])
{
  for (int k = 0; k < 3; ++k) {
    rest[k] = s->at[3 * i + k] - s->from[k];
  }
  for (size_t axis = 0; axis < s->dimensions; ++axis) {
    along[axis] = dot(rest, s->axes[axis]);
    for (int k = 0; k < 3; ++k) {
      rest[k] -= along[axis] * s->axes[axis][k];
    }
  }
}

/* Adds the axis towards the point farthest from the line or plane of the previous axes. Returns
 * false if no point is farther than the tolerance. */
static bool add_axis(point_set *s, double tolerance)
{
  double most = -1.0, best[3] = {0}, along[3], rest[3];
  for (size_t i = 0; i < s->count; ++i) {
    coordinates(s, i, along, rest);
    if (dot(rest, rest) > most) {
      most = dot(rest, rest);
      memcpy(best, rest, sizeof best);
    }
  }
  const double width = sqrt(most);
  if (!(width > tolerance)) {
    return false;
  }
  for (int k = 0; k < 3; ++k) {
    s->axes[s->dimensions][k] = best[k] / width;
  }
  s->widths[s->dimensions++] = width;
  return true;
}

/* Finds the dimension of the set, and a frame with as many axes. The frame starts at an extreme
 * point of the first axis, so that its first width is at least half of the largest distance. */
static abut_status find_frame(point_set *s, const double *points)
{
  double middle[3], largest;
  const double extent = find_box(s, points, middle, &largest);
  if (!(extent > EXTENT_LEAST && extent > ROUNDINGS * largest)) {
    return ABUT_SUCCESS; /* a point */
  }
  TRY(scale(s, points, middle, extent));
  const double tolerance = fmax(FLAT, ROUNDINGS * largest / extent);
  size_t first = 0;
  for (size_t i = 1; i < s->count; ++i) {
    first = dot(s->at + 3 * i, s->at + 3 * i) > dot(s->at + 3 * first, s->at + 3 * first) ? i
                                                                                          : first;
  }
  memcpy(s->from, s->at + 3 * first, sizeof s->from);
  while (s->dimensions < 3 && add_axis(s, tolerance)) {
  }
  return ABUT_SUCCESS;
}

/* ---- the hull's parts ---- */

/* Two vertices on a common facet, by their indices in the set. */
typedef struct hull_link {
  uint32_t from, to;
} hull_link;

typedef struct links {
  hull_link *at;
  size_t count, capacity;
} links;

static abut_status add_link(links *l, uint32_t from, uint32_t to)
{
  void *at = l->at;
  TRY(grow(&at, &l->capacity, l->count + 2, sizeof(hull_link)));
  l->at = at;
  l->at[l->count++] = (hull_link){from, to};
  l->at[l->count++] = (hull_link){to, from};
  return ABUT_SUCCESS;
}

static int compare_links(const void *left, const void *right)
{
  const hull_link *a = left, *b = right;
  if (a->from != b->from) {
    return a->from < b->from ? -1 : 1;
  }
  return a->to < b->to ? -1 : a->to > b->to;
}

/* Sorts the links and removes duplicates. */
static void sort_links(links *l)
{
  size_t kept = 0;
  if (l->count) {
    qsort(l->at, l->count, sizeof *l->at, compare_links);
  }
  for (size_t i = 0; i < l->count; ++i) {
    if (!kept || compare_links(&l->at[i], &l->at[kept - 1]) != 0) {
      l->at[kept++] = l->at[i];
    }
  }
  l->count = kept;
}

/* Takes as vertices those at which links start, or all points. place: the vertex index of each
 * point of the set. */
static void take_vertices(hull *h, const point_set *s, const links *l, bool all, uint32_t *place)
{
  if (all) {
    memcpy(h->vertices, s->origin, s->count * sizeof *h->vertices);
    h->count = s->count;
    return;
  }
  for (size_t i = 0; i < l->count; ++i) {
    if (!i || l->at[i].from != l->at[i - 1].from) {
      place[l->at[i].from] = (uint32_t)h->count;
      h->vertices[h->count++] = s->origin[l->at[i].from];
    }
  }
}

static void take_rings(hull *h, const links *l, const uint32_t *place)
{
  size_t next = 0;
  for (size_t vertex = 0; vertex < h->count; ++vertex) {
    h->rings[vertex] = (int)(h->count + 1 + next);
    for (; next < l->count && place[l->at[next].from] == vertex; ++next) {
      h->rings[h->count + 1 + next] = (int)place[l->at[next].to];
    }
  }
  h->rings[h->count] = (int)(h->count + 1 + next);
}

/* Makes the hull from links, or with `all` from all points of the set without links. */
static abut_status take(hull *h, const point_set *s, links *l, bool all)
{
  abut_status status = ABUT_SUCCESS;
  void *vertices = NULL, *rings = NULL, *place = NULL;
  sort_links(l);
  TRY_DONE(allocate(&place, s->count, sizeof(uint32_t)));
  TRY_DONE(allocate(&vertices, s->count, sizeof *h->vertices));
  h->vertices = vertices;
  take_vertices(h, s, l, all, place);
  h->ring_ints = h->count + 1 + l->count;
  TRY_DONE(allocate(&rings, h->ring_ints, sizeof *h->rings));
  h->rings = rings;
  take_rings(h, l, place);
done:
  free(place);
  return status;
}

/* ---- qhull ---- */

/* Writes the points of a set of two or three dimensions for qhull. A flat or nearly flat set is
 * written in its frame's axes, each stretched to length 1. This preserves the hull. qhull's
 * tolerances are relative to the largest coordinate, so the set must not be thin. */
static void stretch(const point_set *s, double *out)
{
  const size_t width = s->dimensions;
  const bool thin = width < 3 || s->widths[1] < THIN || s->widths[2] < THIN;
  for (size_t i = 0; i < s->count; ++i) {
    double along[3], rest[3];
    coordinates(s, i, along, rest);
    for (size_t k = 0; k < width; ++k) {
      out[width * i + k] = thin ? along[k] / s->widths[k] : s->at[3 * i + k];
    }
  }
}

static abut_status add_facet(links *l, qhT *qhull, const facetT *facet)
{
  vertexT *a, **ap, *b, **bp;
  FOREACHsetelement_(vertexT, facet->vertices, a)
  {
    for (bp = ap; (b = *bp++) != NULL;) {
      TRY(
        add_link(l, (uint32_t)qh_pointid(qhull, a->point), (uint32_t)qh_pointid(qhull, b->point)));
    }
  }
  return ABUT_SUCCESS;
}

/* Runs qhull, which returns from errors by longjmp. It prints only into `words`; it ends the
 * process only if a second error occurs while the first is reported. *found: whether there is a
 * hull. */
static abut_status run(qhT *qhull, FILE *words, double *points, const point_set *s,
                       const char *options, links *l, bool *found)
{
  char command[16];
  snprintf(command, sizeof command, "qhull %s", options);
  const int code =
    qh_new_qhull(qhull, (int)s->dimensions, (int)s->count, points, False, command, NULL, words);
  *found = code == qh_ERRnone;
  if (code == qh_ERRmem) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for the hull of %zu points", s->count);
  }
  for (facetT *facet = qhull->facet_list; *found && facet && facet->next; facet = facet->next) {
    TRY(add_facet(l, qhull, facet));
  }
  return ABUT_SUCCESS;
}

static abut_status try_qhull(double *points, const point_set *s, const char *options, links *l,
                             bool *found)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  char text[WORDS];
  int long_pieces, long_bytes;
  *found = false;
  l->count = 0;
  FILE *words = fmemopen(text, sizeof text, "w");
  if (!words) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for the messages of qhull");
  }
  TRY_DONE(allocate(&memory, 1, sizeof(qhT)));
  qhT *qhull = memory;
  status = run(qhull, words, points, s, options, l, found);
  qh_freeqhull(qhull, !qh_ALL);
  if (!qhull->qhmem.LASTsize) { /* qhull frees its tables only if all of them were created */
    free(qhull->qhmem.sizetable);
    free(qhull->qhmem.freelists);
  }
  qh_memfreeshort(qhull, &long_pieces, &long_bytes);
done:
  free(memory);
  fclose(words);
  return status;
}

static abut_status find_facets(const point_set *s, links *l, bool *found)
{
  static const char *const ways[] = {"Qt", "QJ"};
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(allocate(&memory, s->count, s->dimensions * sizeof(double)));
  *found = false;
  for (size_t i = 0; !*found && i < sizeof ways / sizeof *ways; ++i) {
    stretch(s, memory);
    TRY_DONE(try_qhull(memory, s, ways[i], l, found));
  }
done:
  free(memory);
  return status;
}

/* ---- the whole hull ---- */

/* Links both ends along the first axis. */
static abut_status find_ends(const point_set *s, links *l)
{
  size_t low = 0, high = 0;
  for (size_t i = 1; i < s->count; ++i) {
    low = dot(s->at + 3 * i, s->axes[0]) < dot(s->at + 3 * low, s->axes[0]) ? i : low;
    high = dot(s->at + 3 * i, s->axes[0]) > dot(s->at + 3 * high, s->axes[0]) ? i : high;
  }
  return add_link(l, (uint32_t)low, (uint32_t)high);
}

abut_status hull_create(hull *out, const double *points, size_t count)
{
  abut_status status = ABUT_SUCCESS;
  point_set s = {0};
  links l = {0};
  bool found = true;
  *out = (hull){0};
  TRY_DONE(keep_different(&s, points, count));
  TRY_DONE(find_frame(&s, points));
  if (s.dimensions == 0) {
    s.count = 1;
  } else if (s.dimensions == 1) {
    TRY_DONE(find_ends(&s, &l));
  } else {
    TRY_DONE(find_facets(&s, &l, &found));
  }
  out->dimensions = s.dimensions;
  TRY_DONE(take(out, &s, &l, !found || s.dimensions == 0));
done:
  free(s.origin);
  free(s.at);
  free(l.at);
  if (status != ABUT_SUCCESS) {
    hull_free(out);
  }
  return status;
}

void hull_free(hull *h)
{
  free(h->vertices);
  free(h->rings);
  *h = (hull){0};
}
