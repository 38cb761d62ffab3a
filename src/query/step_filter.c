/* Computes the largest safe fraction of a step of many vertices. Pairs whose boxes come close are
 * queried block by block. Each query covers the whole step, so that its result does not depend on
 * other pairs. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/reals.h"
#include "engine/device/context.h"
#include <abut/ccd.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab071703u
#define BLOCK ((size_t)1 << 16) /* pairs per query */
#define VERTICES_MOST 4

/* Vertices of a row, and of its first feature. */
static const size_t vertices_of[ABUT_CCD_KINDS] = {2, 3, 4, 4};
static const size_t first_of[ABUT_CCD_KINDS] = {1, 1, 1, 2};

abut_step_filter_def abut_default_step_filter_def(void)
{
  abut_step_filter_def def;
  memset(&def, 0, sizeof def);
  def.keep = 0.1;
  def.most = 1.0;
  def.cookie = COOKIE;
  return def;
}

typedef struct place {
  size_t lanes, row;
} place;

typedef struct filter {
  abut_context context;
  const abut_step_filter_def *def;
  size_t size;        /* bytes of a real */
  double unit;        /* half a unit in the last place of 1 */
  double most;        /* def->most, rounded down to a real */
  reals ends;         /* (vertex_count, 3) x + step */
  abut_ccd_kind kind; /* of the current block: */
  size_t count;
  reals x0, x1, errors;
  place *places;
  reals toi;
  uint8_t *status;
} filter;

static double start_of(const filter *f, size_t i)
{
  return real_of(f->def->x, f->size, i);
}

static double end_of(const filter *f, size_t i)
{
  return real_of(f->ends.data, f->size, i);
}

/* ---- checks ---- */

static abut_status check_lanes(const abut_step_filter_def *def, size_t i)
{
  const abut_ccd_lanes *l = &def->lanes[i];
  if ((int)l->kind < 0 || (int)l->kind >= ABUT_CCD_KINDS) {
    return fail(ABUT_ERROR_ARGUMENT, "lanes %zu: unknown kind of pairs %d", i, (int)l->kind);
  }
  if (l->count && !l->vertices) {
    return fail(ABUT_ERROR_ARGUMENT, "lanes %zu: the count is %zu pairs, but their array is NULL",
                i, l->count);
  }
  for (size_t k = 0; k < l->count * vertices_of[l->kind]; ++k) {
    if (l->vertices[k] >= def->vertex_count) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "lanes %zu: pair %zu uses vertex %u, but there are only %zu vertices", i,
                  k / vertices_of[l->kind], l->vertices[k], def->vertex_count);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_def(const abut_step_filter_def *def)
{
  if (def->vertex_count && (!def->x || !def->step)) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu vertices, but their %s are NULL",
                def->vertex_count, def->x ? "steps" : "positions");
  }
  if (def->lanes_count && !def->lanes) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu lanes, but their array is NULL",
                def->lanes_count);
  }
  if (!(def->separation >= 0.0 && isfinite(def->separation))) {
    return fail(ABUT_ERROR_ARGUMENT, "separation is %g; it must be finite and at least 0",
                def->separation);
  }
  if (!(def->keep >= 0.0 && def->keep < 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "`keep` of the step filter is %g; it must be in [0, 1)",
                def->keep);
  }
  if (!(def->most >= 0.0 && def->most <= 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "`most` of the step filter is %g; it must be in [0, 1]",
                def->most);
  }
  for (size_t i = 0; i < def->lanes_count; ++i) {
    TRY(check_lanes(def, i));
  }
  return ABUT_SUCCESS;
}

/* ---- boxes ---- */

static bool has_one_twice(const uint32_t *vertices, size_t count)
{
  for (size_t i = 1; i < count; ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (vertices[i] == vertices[k]) {
        return true;
      }
    }
  }
  return false;
}

/* Computes the range of a feature along an axis, from its position at time 0 to that at `most`. */
static void range_of(const filter *f, const uint32_t *vertices, size_t count, size_t axis,
                     double range[2])
{
  range[0] = HUGE_VAL;
  range[1] = -HUGE_VAL;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = 3 * (size_t)vertices[i] + axis;
    const double from = start_of(f, at), to = from + f->most * (end_of(f, at) - from);
    range[0] = fmin(range[0], fmin(from, to));
    range[1] = fmax(range[1], fmax(from, to));
  }
}

/* Returns the gap between the boxes of a pair along the axis with the largest gap. */
static double gap_between(const filter *f, const uint32_t *vertices)
{
  const size_t first = first_of[f->kind], second = vertices_of[f->kind] - first;
  double gap = -HUGE_VAL;
  for (size_t axis = 0; axis < 3; ++axis) {
    double a[2], b[2];
    range_of(f, vertices, first, axis, a);
    range_of(f, vertices + first, second, axis, b);
    gap = fmax(gap, fmax(a[0] - b[1], b[0] - a[1]));
  }
  return gap;
}

/* Returns an upper bound on the distance at time 0: the smallest distance between two vertices. */
static double farthest(const filter *f, const uint32_t *vertices)
{
  const size_t first = first_of[f->kind];
  double least = HUGE_VAL;
  for (size_t i = 0; i < first; ++i) {
    for (size_t j = first; j < vertices_of[f->kind]; ++j) {
      double sum = 0.0;
      for (size_t axis = 0; axis < 3; ++axis) {
        const double d =
          start_of(f, 3 * (size_t)vertices[i] + axis) - start_of(f, 3 * (size_t)vertices[j] + axis);
        sum += d * d;
      }
      least = fmin(least, sum);
    }
  }
  return sqrt(least);
}

/* Returns a bound on the error of a pair's coordinates during the step, from the rounding of its
 * own vertices. */
static double error_of(const filter *f, const uint32_t *vertices)
{
  double largest = 0.0;
  for (size_t i = 0; i < 3 * vertices_of[f->kind]; ++i) {
    const size_t at = 3 * (size_t)vertices[i / 3] + i % 3;
    largest = fmax(largest, fmax(fabs(start_of(f, at)), fabs(end_of(f, at))));
  }
  return 4.0 * f->unit * largest;
}

/* Returns whether a pair may come closer than allowed. The allowed distance grows by `keep` times
 * the initial distance, so disjoint boxes alone are not sufficient. */
static bool comes_near(const filter *f, const uint32_t *vertices)
{
  const double gap = gap_between(f, vertices), xi = f->def->separation, up = 1.0 + 32.0 * f->unit;
  const double apart = gap - 6.0 * error_of(f, vertices); /* with rounding of the boxes */
  if (!(apart > xi * up)) {
    return true;
  }
  return f->def->keep > 0.0 &&
         !(apart > (xi + f->def->keep * fmax(farthest(f, vertices) - xi, 0.0)) * up);
}

/* ---- blocks ---- */

static bool is_before(const abut_step_filter_result *r, place p)
{
  return p.lanes < r->lanes || (p.lanes == r->lanes && p.row < r->row);
}

/* Takes the smallest time of a block. */
static abut_status take(const filter *f, abut_step_filter_result *r)
{
  for (size_t i = 0; i < f->count; ++i) {
    const place p = f->places[i];
    const int status = f->status[i] & ABUT_CCD_END;
    const double toi = real_of(f->toi.data, f->size, i);
    if (status == ABUT_CCD_BAD_INPUT) {
      return fail(
        ABUT_ERROR_ARGUMENT,
        "lanes %zu: the vertices of pair %zu are so far apart that their difference overflows",
        p.lanes, p.row);
    }
    if (status != ABUT_CCD_FREE && (toi < r->share || (toi == r->share && is_before(r, p)))) {
      r->share = toi;
      r->status = (abut_ccd_status)status;
      r->lanes = p.lanes;
      r->row = p.row;
    }
  }
  return ABUT_SUCCESS;
}

static abut_status ask(filter *f, abut_step_filter_result *r)
{
  if (!f->count) {
    return ABUT_SUCCESS;
  }
  abut_ccd_queries q = abut_default_ccd_queries();
  q.count = f->count;
  q.kind = f->kind;
  q.x0 = f->x0.data;
  q.x1 = f->x1.data;
  q.separation = f->def->separation;
  q.keep = f->def->keep;
  q.end = f->most;
  q.errors = f->errors.data;
  q.plain = true;
  q.toi = f->toi.data;
  q.status = f->status;
  TRY(abut_run_ccd_queries(f->context, &q));
  r->asked += f->count;
  const abut_status status = take(f, r);
  f->count = 0;
  return status;
}

static void gather(filter *f, const uint32_t *vertices, place p)
{
  const size_t count = vertices_of[f->kind];
  for (size_t i = 0; i < 3 * count; ++i) {
    const size_t at = 3 * (size_t)vertices[i / 3] + i % 3;
    reals_set(&f->x0, 3 * count * f->count + i, start_of(f, at));
    reals_set(&f->x1, 3 * count * f->count + i, end_of(f, at));
  }
  const double error = error_of(f, vertices) * (1.0 + FLT_EPSILON); /* a real may be smaller */
  reals_set(&f->errors, f->count, error);
  f->places[f->count++] = p;
}

static abut_status ask_lanes(filter *f, size_t lanes, abut_step_filter_result *r)
{
  const abut_ccd_lanes *l = &f->def->lanes[lanes];
  const size_t count = vertices_of[l->kind];
  for (size_t row = 0; row < l->count; ++row) {
    const uint32_t *vertices = l->vertices + count * row;
    if (!has_one_twice(vertices, count) && comes_near(f, vertices)) {
      gather(f, vertices, (place){lanes, row});
    }
    if (f->count == BLOCK) {
      TRY(ask(f, r));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status ask_kinds(filter *f, abut_step_filter_result *r)
{
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    f->kind = (abut_ccd_kind)kind;
    for (size_t i = 0; i < f->def->lanes_count; ++i) {
      if (f->def->lanes[i].kind == f->kind) {
        TRY(ask_lanes(f, i, r));
      }
    }
    TRY(ask(f, r));
  }
  return ABUT_SUCCESS;
}

/* ---- the call ---- */

/* Computes the ends of the step in the same way as the caller, and bounds on their rounding. */
static abut_status find_ends(filter *f)
{
  const abut_step_filter_def *def = f->def;
  TRY(reals_create(&f->ends, 3 * def->vertex_count, f->size));
  for (size_t i = 0; i < 3 * def->vertex_count; ++i) {
    const double from = start_of(f, i), step = real_of(def->step, f->size, i);
    reals_set(&f->ends, i, from + step); /* float's sum is double's, rounded once more */
    if (!isfinite(from) || !isfinite(step) || !isfinite(end_of(f, i))) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "vertex %zu is at %g and its step is %g along axis %zu: one of them or their sum "
                  "is not finite",
                  i / 3, from, step, i % 3);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status make_block(filter *f)
{
  size_t pairs = 0;
  void *memory = NULL;
  for (size_t i = 0; i < f->def->lanes_count && pairs < BLOCK; ++i) {
    pairs += f->def->lanes[i].count < BLOCK ? f->def->lanes[i].count : BLOCK;
  }
  pairs = pairs < BLOCK ? pairs : BLOCK;
  TRY(reals_create(&f->x0, 3 * VERTICES_MOST * pairs, f->size));
  TRY(reals_create(&f->x1, 3 * VERTICES_MOST * pairs, f->size));
  TRY(reals_create(&f->errors, pairs, f->size));
  TRY(reals_create(&f->toi, pairs, f->size));
  TRY(allocate(&memory, pairs, sizeof *f->places));
  f->places = memory;
  TRY(allocate(&memory, pairs, sizeof *f->status));
  f->status = memory;
  return ABUT_SUCCESS;
}

static void filter_free(filter *f)
{
  free(f->ends.data);
  free(f->x0.data);
  free(f->x1.data);
  free(f->errors.data);
  free(f->toi.data);
  free(f->places);
  free(f->status);
}

static double rounded_down(double x, size_t size)
{
  const float near = (float)x;
  if (size == sizeof(double)) {
    return x;
  }
  return (double)((double)near > x ? nextafterf(near, 0.0f) : near);
}

abut_status abut_step_filter(abut_context handle_, const abut_step_filter_def *def,
                             abut_step_filter_result *result)
{
  ENTER(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  if (!def || !result || def->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_step_filter: the output pointer is NULL, or the "
                                     "definition was not made by abut_default_step_filter_def");
  }
  TRY(check_def(def));
  filter f = {.context = handle_, .def = def, .size = context_real_bytes(c)};
  f.unit = f.size == sizeof(double) ? 0.5 * DBL_EPSILON : 0.5 * (double)FLT_EPSILON;
  f.most = rounded_down(def->most, f.size);
  abut_step_filter_result r = {.share = f.most, .lanes = SIZE_MAX, .row = SIZE_MAX};
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(find_ends(&f));
  TRY_DONE(make_block(&f));
  TRY_DONE(ask_kinds(&f, &r));
  *result = r;
done:
  filter_free(&f);
  return status;
}
