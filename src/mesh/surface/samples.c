#include "mesh/surface/samples.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/surface/plot.h"
#include "mesh/surface/sides.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARP_COSINE 0.8660254037844387 /* 30 degrees */
#define RUN 512                         /* triangles per piece of work */
/* of its thickness: the depth in the middle of a thin part, except near its rim */
#define SLAB_SHARE 0.4
/* of the true depth: the least depth of the spline in the middle of a thin part */
#define LOST_SHARE 0.25
#define NOTHING UINT32_MAX

/* Low triangles are sampled along one or a few lines of close candidates. A candidate becomes a
 * sample if no earlier sample is near. Shares of the sampling distance. */
#define LOW 0.8
#define COLUMN 0.5
#define ROW 0.25
/* For other triangles, all of whose candidates become samples. */
#define WIDE_COLUMN 1.2
#define WIDE_ROW 0.8
/* For long low triangles, most of which are next to a similar one: the largest distance from it,
 * and the number of candidates from which a triangle is long. */
#define BESIDE 0.1
#define LONG 16
#define KEPT 8     /* number of the last such triangles that are stored */
#define LEAN 0.5   /* cosine: a sample does not represent faces that are inclined more */
#define LISTS 2048 /* hash lists of samples by position */

/* A sample that represents its neighbourhood. */
typedef struct standing {
  float normal[3];
  uint32_t sample, next;
} standing;

/* A candidate of a long low triangle: the sample that represents it, and its share of the area. */
typedef struct stood_for {
  uint32_t sample;
  float share;
} stood_for;

/* A long low triangle with its candidates. */
typedef struct sliver {
  const double *corners;
  double normal[3];
  size_t first, count; /* range in stood_for */
} sliver;

typedef struct found {
  sample *at;
  size_t count, room;
  standing *near;
  size_t near_count, near_room;
  uint32_t *lists; /* (LISTS) first entry in `near`; NOTHING: empty */
  stood_for *stood;
  size_t stood_count, stood_room;
  sliver kept[KEPT];
  size_t slivers;
  abut_status status;
} found;

typedef struct search {
  const sampler *from;
  double spacing;
  size_t level;
  found *of_run;
} search;

/* ---- evaluation of a spline ---- */

static bool lies_in_block(const spline *s, const double x[3], size_t level)
{
  int32_t at[3];
  const double cell = spline_spacing(s, level) * ABUT_GRID_BLOCK;
  for (int k = 0; k < 3; ++k) {
    at[k] = (int32_t)floor((x[k] - s->origin[k]) / cell);
  }
  return !level || spline_find(s, level, at) >= 0;
}

static bool is_at_edge(const sampler *q, const double x[3])
{
  return q->edges && tree_nearest(q->edges, x, q->edge_reach * q->edge_reach).at != UINT32_MAX;
}

/* Finds whether the gap in front of a point is filled. The faces of a gap are about parallel. */
static void look_across(const sampler *q, const double n[3], sample *to)
{
  const double across = tree_cast(q->inside->near, to->x, n, 1e-9 * q->of->diagonal, q->thin);
  double middle[3];
  if (!(across < q->thin)) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    middle[k] = to->x[k] + 0.5 * across * n[k];
  }
  to->is_filled = spline_value(q->s, middle, q->s->level_count) <= 0.0 &&
                  solid_distance(q->inside, middle) > SLAB_SHARE * across;
  to->across = to->is_filled ? across : 0.0;
}

/* Evaluates the spline at a point of the surface with outer normal n. */
static void judge(const sampler *q, const double n[3], sample *to)
{
  const double value = spline_value(q->s, to->x, q->s->level_count);
  to->error = fabs(value);
  to->at_edge = is_at_edge(q, to->x);
  if (!(q->thin > 0.0)) {
    return;
  }
  if (q->gaps) {
    look_across(q, n, to);
  }
  const double inward[3] = {-n[0], -n[1], -n[2]};
  const double through = tree_cast(q->inside->near, to->x, inward, 1e-9 * q->of->diagonal, q->thin);
  const double into = 0.5 * (through < q->thin ? through : q->thin);
  double middle[3];
  for (int k = 0; k < 3; ++k) {
    middle[k] = to->x[k] + into * inward[k];
  }
  const double there = spline_value(q->s, middle, q->s->level_count);
  if (through < q->thin) {
    const double depth = sqrt(tree_nearest(q->inside->near, middle, HUGE_VAL).distance2);
    to->is_thin = true;
    to->through = through;
    to->is_lost = there > -LOST_SHARE * depth;
    to->is_rim = depth < SLAB_SHARE * through;
    to->is_wedge = through < q->wedge || to->is_rim;
    to->error = fmax(to->error, fabs(there + depth));
  } else {
    to->is_lost = to->is_wedge = there > 0.0; /* the spline is positive inside */
  }
}

/* ---- samples ---- */

static abut_status add_sample(const search *q, found *to, const double x[3], const plot *p,
                              double area)
{
  void *memory = to->at;
  TRY(grow(&memory, &to->room, to->count + 1, sizeof *to->at));
  to->at = memory;
  sample *one = &to->at[to->count++];
  memset(one, 0, sizeof *one);
  memcpy(one->x, x, sizeof one->x);
  one->area = area;
  judge(q->from, p->normal, one);
  return ABUT_SUCCESS;
}

static uint32_t *list_at(const search *q, const found *to, const double x[3], const int shift[3])
{
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (int k = 0; k < 3; ++k) {
    const int64_t cell = (int64_t)floor((x[k] - q->from->of->lower[k]) / q->spacing) + shift[k];
    h = (h ^ (uint64_t)cell) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return &to->lists[h % LISTS];
}

/* Finds a sample within `reach` of x whose face has a similar normal to n, or NOTHING. */
static uint32_t stands_near(const search *q, const found *to, const double x[3], const double n[3],
                            double reach)
{
  double within[3];
  int shift[3], least[3], most[3];
  for (int k = 0; k < 3; ++k) {
    const double at = (x[k] - q->from->of->lower[k]) / q->spacing, share = reach / q->spacing;
    within[k] = at - floor(at);
    least[k] = within[k] < share ? -1 : 0;
    most[k] = within[k] + share > 1.0 ? 1 : 0;
  }
  for (shift[0] = least[0]; shift[0] <= most[0]; ++shift[0]) {
    for (shift[1] = least[1]; shift[1] <= most[1]; ++shift[1]) {
      for (shift[2] = least[2]; shift[2] <= most[2]; ++shift[2]) {
        uint32_t at = *list_at(q, to, x, shift);
        for (; at != NOTHING; at = to->near[at].next) {
          const standing *s = &to->near[at];
          const double *o = to->at[s->sample].x;
          const double d[3] = {o[0] - x[0], o[1] - x[1], o[2] - x[2]};
          if (dot(d, d) <= reach * reach && (double)s->normal[0] * n[0] +
                                                (double)s->normal[1] * n[1] +
                                                (double)s->normal[2] * n[2] >
                                              LEAN) {
            return s->sample;
          }
        }
      }
    }
  }
  return NOTHING;
}

static abut_status add_standing(const search *q, found *to, const plot *p)
{
  static const int here[3] = {0, 0, 0};
  void *memory = to->near;
  TRY(grow(&memory, &to->near_room, to->near_count + 1, sizeof *to->near));
  to->near = memory;
  const uint32_t name = (uint32_t)to->near_count++;
  uint32_t *list = list_at(q, to, to->at[to->count - 1].x, here);
  standing *s = &to->near[name];
  *s = (standing){.sample = (uint32_t)to->count - 1, .next = *list};
  for (int k = 0; k < 3; ++k) {
    s->normal[k] = (float)p->normal[k];
  }
  *list = name;
  return ABUT_SUCCESS;
}

static abut_status add_stood_for(found *to, uint32_t which, double share)
{
  void *memory = to->stood;
  TRY(grow(&memory, &to->stood_room, to->stood_count + 1, sizeof *to->stood));
  to->stood = memory;
  to->stood[to->stood_count++] = (stood_for){which, (float)share};
  return ABUT_SUCCESS;
}

/* Whether a triangle is next to one of the last long low ones: its corners, and thus all its
 * points, are within `reach`. The samples of that one then take over its area. */
static bool lies_beside(found *to, const plot *p, const double *c, double reach)
{
  for (size_t i = 0; i < to->slivers && i < KEPT; ++i) {
    const sliver *s = &to->kept[i];
    double point[3];
    if (s->count && dot(s->normal, p->normal) > LEAN &&
        corners_nearest(s->corners, c, point) <= reach * reach &&
        corners_nearest(s->corners, c + 3, point) <= reach * reach &&
        corners_nearest(s->corners, c + 6, point) <= reach * reach) {
      for (size_t k = 0; k < s->count; ++k) {
        const stood_for *f = &to->stood[s->first + k];
        to->at[f->sample].area += p->area * (double)f->share;
      }
      return true;
    }
  }
  return false;
}

/* Makes samples of the candidates that are not near a sample. */
static abut_status take_low(const search *q, found *to, const plot *p, const double *c)
{
  const bool is_long = p->count > LONG;
  const double beside = is_long ? BESIDE * q->spacing : 0.0;
  const double reach = q->spacing - p->cover - beside;
  const size_t first = to->stood_count;
  if (is_long && lies_beside(to, p, c, beside)) {
    return ABUT_SUCCESS;
  }
  for (double i = 0.0; i < p->rows; i += 1.0) {
    double low;
    const double columns = plot_columns(p, i, &low);
    for (double j = 0.0; j < columns; j += 1.0) {
      double x[3];
      const double area = p->area * plot_place(p, low, columns, j, x) / p->shares;
      if (!lies_in_block(q->from->s, x, q->level)) {
        continue;
      }
      uint32_t which = stands_near(q, to, x, p->normal, reach);
      if (which != NOTHING) {
        to->at[which].area += area;
      } else {
        which = (uint32_t)to->count;
        TRY(add_sample(q, to, x, p, area));
        TRY(add_standing(q, to, p));
      }
      if (is_long) {
        TRY(add_stood_for(to, which, area / p->area));
      }
    }
  }
  if (is_long) {
    sliver *s = &to->kept[to->slivers++ % KEPT];
    *s = (sliver){.corners = c, .first = first, .count = to->stood_count - first};
    memcpy(s->normal, p->normal, sizeof s->normal);
  }
  return ABUT_SUCCESS;
}

static abut_status take_wide(const search *q, found *to, const plot *p)
{
  for (double i = 0.0; i < p->rows; i += 1.0) {
    double low;
    const double columns = plot_columns(p, i, &low);
    for (double j = 0.0; j < columns; j += 1.0) {
      double x[3];
      const double area = p->area * plot_place(p, low, columns, j, x) / p->shares;
      if (lies_in_block(q->from->s, x, q->level)) {
        TRY(add_sample(q, to, x, p, area));
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status take_triangle(const search *q, found *to, const double *c)
{
  plot p;
  if (!plot_set(&p, c)) {
    return ABUT_SUCCESS;
  }
  const bool is_low = p.height < LOW * q->spacing;
  plot_cut(&p, (is_low ? COLUMN : WIDE_COLUMN) * q->spacing,
           (is_low ? ROW : WIDE_ROW) * q->spacing);
  return is_low ? take_low(q, to, &p, c) : take_wide(q, to, &p);
}

static abut_status take_run(const search *q, size_t i, found *to)
{
  const tree *t = q->from->inside->near;
  const size_t end = (i + 1) * RUN < t->count ? (i + 1) * RUN : t->count;
  void *memory;
  TRY(allocate(&memory, LISTS, sizeof *to->lists));
  memset(memory, 0xff, LISTS * sizeof *to->lists);
  to->lists = memory;
  for (size_t at = i * RUN; at < end; ++at) {
    /* Closing triangles of holes are estimates, and are not sampled. */
    const bool is_border = t == &q->from->inside->border;
    if (is_border || q->from->of->polygon[t->triangle[at]] != NO_POLYGON) {
      TRY(take_triangle(q, to, t->corners + 9 * at));
    }
  }
  return ABUT_SUCCESS;
}

static void search_run(void *user, size_t i)
{
  search *q = user;
  found *to = &q->of_run[i];
  to->status = take_run(q, i, to);
  free(to->lists);
  free(to->near);
  free(to->stood);
}

abut_status samples_take(const sampler *from, double spacing, size_t level, sample **out,
                         size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t runs = (from->inside->near->count + RUN - 1) / RUN;
  void *memory = NULL, *all = NULL;
  *out = NULL;
  *count = 0;
  TRY_DONE(allocate(&memory, runs, sizeof(found)));
  search q = {from, spacing, level, memory};
  parallel_for(runs, search_run, &q);
  for (size_t i = 0; i < runs; ++i) {
    *count += q.of_run[i].count;
    status = q.of_run[i].status != ABUT_SUCCESS ? ABUT_ERROR_MEMORY : status;
  }
  if (status != ABUT_SUCCESS) {
    status = fail(status, "not enough memory for points of the surface");
    goto done;
  }
  TRY_DONE(allocate(&all, *count, sizeof(sample)));
  *out = all;
  for (size_t i = 0; i < runs; ++i) {
    if (q.of_run[i].count) {
      memcpy(all, q.of_run[i].at, q.of_run[i].count * sizeof(sample));
      all = (sample *)all + q.of_run[i].count;
    }
  }
done:
  for (size_t i = 0; memory && i < runs; ++i) {
    free(((found *)memory)[i].at);
  }
  free(memory);
  return status;
}

/* ---- largest errors ---- */

#define CLIMBS 32 /* number of samples of each class from which searches start */
/* steps of a search; each tries four directions, and the step is halved if none is better */
#define STEPS 10

typedef struct climb {
  const sampler *from;
  double spacing;
  sample *at;
} climb;

/* Finds two tangents of a triangle. */
static bool tangents(const double *c, double u[3], double v[3])
{
  plot p;
  if (!plot_set(&p, c)) {
    return false;
  }
  memcpy(u, p.u, sizeof p.u);
  cross(p.normal, p.u, v);
  return true;
}

/* Takes the point of the surface nearest to x if its error is larger than the last one and it is of
 * the same class. */
static bool try_place(const sampler *q, const double x[3], sample *best, uint32_t *at)
{
  const nearest there = tree_nearest(q->inside->near, x, HUGE_VAL);
  const double error = fabs(spline_value(q->s, there.point, q->s->level_count));
  if (!(error > best->error) || is_at_edge(q, there.point) != best->at_edge) {
    return false;
  }
  memcpy(best->x, there.point, sizeof best->x);
  best->error = error;
  *at = there.at;
  return true;
}

/* Searches uphill from a sample. */
static void climb_from(void *user, size_t i)
{
  const climb *c = user;
  const tree *t = c->from->inside->near;
  sample *best = &c->at[i];
  uint32_t at = tree_nearest(t, best->x, HUGE_VAL).at;
  double step = 0.5 * c->spacing;
  for (int n = 0; n < STEPS; ++n) {
    double u[3], v[3];
    const sample before = *best;
    bool any = false;
    if (!tangents(t->corners + 9 * (size_t)at, u, v)) {
      return;
    }
    for (int way = 0; way < 4; ++way) {
      const double by = way % 2 ? -step : step, *d = way < 2 ? u : v;
      double x[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = before.x[k] + by * d[k];
      }
      any = try_place(c->from, x, best, &at) || any;
    }
    step *= any ? 1.0 : 0.5;
  }
}

/* Finds the worst samples of a class that are not near each other. Returns their number. samples:
 * sorted, the worst first. */
static size_t worst_of(const sample *samples, size_t count, bool at_edge, double apart, sample *out)
{
  size_t used = 0;
  for (size_t i = 0; i < count && used < CLIMBS; ++i) {
    bool is_near = samples[i].at_edge != at_edge;
    for (size_t k = 0; k < used && !is_near; ++k) {
      double d[3];
      for (int a = 0; a < 3; ++a) {
        d[a] = samples[i].x[a] - out[k].x[a];
      }
      is_near = dot(d, d) < apart * apart;
    }
    if (!is_near) {
      out[used++] = samples[i];
    }
  }
  return used;
}

static int compare_worst(const void *a, const void *b)
{
  const sample *x = a, *y = b;
  return x->error != y->error ? (x->error > y->error ? -1 : 1) : memcmp(x->x, y->x, sizeof x->x);
}

void samples_climb(const sampler *from, double spacing, sample *samples, size_t count,
                   double most[2])
{
  sample at[2 * CLIMBS];
  qsort(samples, count, sizeof *samples, compare_worst);
  size_t used = worst_of(samples, count, false, 2.0 * spacing, at);
  used += worst_of(samples, count, true, 2.0 * spacing, at + used);
  climb c = {from, spacing, at};
  parallel_for(used, climb_from, &c);
  most[0] = most[1] = 0.0;
  for (size_t i = 0; i < used; ++i) {
    most[at[i].at_edge] = fmax(most[at[i].at_edge], at[i].error);
  }
}

/* ---- sharp sides ---- */

static bool normal_of(const surface *s, size_t triangle, double n[3])
{
  triangle_area(s, triangle, n);
  const double size = sqrt(dot(n, n));
  for (int k = 0; k < 3; ++k) {
    n[k] /= size > 0.0 ? size : 1.0;
  }
  return size > 0.0;
}

/* Sides of more than two triangles are sharp. */
static bool is_sharp(const surface *s, uint32_t side, uint32_t across)
{
  double m[3], n[3];
  return across == SIDE_TANGLED ||
         (across < SIDE_TANGLED && side < across && normal_of(s, side / 3, m) &&
          normal_of(s, across / 3, n) && dot(m, n) < SHARP_COSINE);
}

abut_status sharp_sides(const surface *s, double **corners, size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t sides = 3 * s->triangle_count;
  void *memory = NULL, *out = NULL;
  *corners = NULL;
  *count = 0;
  TRY_DONE(allocate(&memory, sides, sizeof(uint32_t)));
  uint32_t *sharp = memory;
  for (uint32_t i = 0; i < sides; ++i) {
    if (is_sharp(s, i, s->across[i])) {
      sharp[(*count)++] = i;
    }
  }
  TRY_DONE(allocate(&out, *count, 9 * sizeof(double)));
  *corners = out;
  for (size_t i = 0; i < *count; ++i) {
    double *to = *corners + 9 * i;
    memcpy(to, s->points + 3 * (size_t)s->triangles[sharp[i]], 3 * sizeof *to);
    memcpy(to + 3, s->points + 3 * (size_t)s->triangles[side_next(sharp[i])], 3 * sizeof *to);
    memcpy(to + 6, to + 3, 3 * sizeof *to);
  }
done:
  free(memory);
  return status;
}
