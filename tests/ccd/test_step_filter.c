/* How far a step may go: test_step_filter PRECISION
 *
 * Closed forms, of all kinds of pairs; which pairs are asked about; random steps, whose every pair
 * keeps its share; what is refused. */
#include "core/scene.h"

#include <abut/ccd.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context home;
static abut_precision precision;

/* By how much a share may be short of the exact one, of distances and speeds near 1 and coordinates
 * up to 130. */
static double slack(void)
{
  return precision == ABUT_FLOAT64 ? 4e-13 : 2e-4;
}

/* Vertices with their steps, and pairs of each kind in lanes of their own. */
enum { VERTICES = 64, PAIRS = 64, LANES = 8 };
typedef struct scene {
  double x[3 * VERTICES], step[3 * VERTICES];
  uint32_t vertices, pairs[LANES][4 * PAIRS];
  abut_ccd_lanes lanes[LANES];
  size_t lanes_count;
  void *reals[2]; /* positions and steps, of the precision */
} scene;

static uint32_t add(scene *s, double x, double y, double z, double step_z)
{
  const size_t at = 3 * (size_t)s->vertices;
  s->x[at] = x;
  s->x[at + 1] = y;
  s->x[at + 2] = z;
  s->step[at] = s->step[at + 1] = 0.0;
  s->step[at + 2] = step_z;
  return s->vertices++;
}

/* Adds a pair behind those of the last lanes, or, of another kind, in new ones. */
static void pair(scene *s, abut_ccd_kind kind, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  static const size_t counts[] = {2, 3, 4, 4};
  const uint32_t all[4] = {a, b, c, d};
  if (!s->lanes_count || s->lanes[s->lanes_count - 1].kind != kind) {
    REQUIRE(s->lanes_count < LANES);
    s->lanes[s->lanes_count] = (abut_ccd_lanes){kind, 0, s->pairs[s->lanes_count]};
    ++s->lanes_count;
  }
  const size_t last = s->lanes_count - 1;
  memcpy(s->pairs[last] + counts[kind] * s->lanes[last].count++, all, counts[kind] * sizeof *all);
}

/* Adds two features of a kind above another, `gap` apart, of which the upper one falls. */
static void fall(scene *s, abut_ccd_kind kind, double gap, double speed)
{
  const double y = 4.0 * s->vertices; /* away from all others */
  if (kind == ABUT_CCD_EDGE_EDGE) {
    const uint32_t a = add(s, 0, y - 1, gap, -speed), b = add(s, 0, y + 1, gap, -speed);
    pair(s, kind, a, b, add(s, -1, y, 0, 0), add(s, 1, y, 0, 0));
    return;
  }
  const uint32_t p = add(s, 0, y, gap, -speed);
  if (kind == ABUT_CCD_POINT_POINT) {
    pair(s, kind, p, add(s, 0, y, 0, 0), 0, 0);
  } else if (kind == ABUT_CCD_POINT_EDGE) {
    const uint32_t a = add(s, -1, y, 0, 0), b = add(s, 2, y, 0, 0);
    pair(s, kind, p, a, b, 0);
  } else {
    const uint32_t a = add(s, -1, y - 1, 0, 0), b = add(s, 2, y - 1, 0, 0),
                   c = add(s, -1, y + 2, 0, 0);
    pair(s, kind, p, a, b, c);
  }
}

static abut_step_filter_def def_of(scene *s)
{
  abut_step_filter_def def = abut_default_step_filter_def();
  def.vertex_count = s->vertices;
  def.x = s->reals[0] = to_reals(s->x, 3 * (size_t)s->vertices, precision);
  def.step = s->reals[1] = to_reals(s->step, 3 * (size_t)s->vertices, precision);
  def.lanes = s->lanes;
  def.lanes_count = s->lanes_count;
  return def;
}

static void scene_free(scene *s)
{
  free(s->reals[0]);
  free(s->reals[1]);
}

static abut_step_filter_result filter(const abut_step_filter_def *def)
{
  abut_step_filter_result r = {0};
  CHECK_OK(abut_step_filter(home, def, &r));
  return r;
}

static void is_bounded(const abut_step_filter_result *r, double share, size_t lanes, size_t row,
                       size_t asked, const char *what)
{
  check(r->share <= share && r->share >= share - slack(), "%s: the share is %.17g, not %.17g", what,
        r->share, share);
  check(r->lanes == lanes && r->row == row, "%s: pair %zu of lanes %zu", what, r->row, r->lanes);
  check(r->status == ABUT_CCD_HIT && r->asked == asked, "%s: status %d, %zu asked", what,
        (int)r->status, r->asked);
}

static void is_free(const abut_step_filter_result *r, double share, size_t asked, const char *what)
{
  const double down = precision == ABUT_FLOAT64 ? 0.0 : 1e-7 * share;
  check(r->share <= share && r->share >= share - down, "%s: the share is %.17g, not %.17g", what,
        r->share, share);
  check(r->lanes == SIZE_MAX && r->row == SIZE_MAX, "%s: pair %zu of lanes %zu", what, r->row,
        r->lanes);
  check(r->status == ABUT_CCD_FREE && r->asked == asked, "%s: status %d, %zu asked", what,
        (int)r->status, r->asked);
}

/* ---- closed forms ---- */

/* A gap of 1 that closes with speed 2 is left to `separation` and a share of what is above it. */
static void test_kinds(void)
{
  static const double separations[] = {0, 0.25}, keeps[] = {0, 0.1, 0.5};
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    scene s = {.vertices = 0};
    fall(&s, (abut_ccd_kind)kind, 1.0, 2.0);
    abut_step_filter_def def = def_of(&s);
    CHECK(def.keep == 0.1 && def.most == 1.0 && def.separation == 0.0);
    for (size_t i = 0; i < 6; ++i) {
      char what[64];
      def.separation = separations[i / 3];
      def.keep = keeps[i % 3];
      const double r = def.separation + def.keep * (1.0 - def.separation);
      const abut_step_filter_result got = filter(&def);
      snprintf(what, sizeof what, "kind %d, separation %g, keep %g", kind, def.separation,
               def.keep);
      is_bounded(&got, 0.5 * (1.0 - r), 0, 0, 1, what);
    }
    scene_free(&s);
  }
}

/* Of many the first to come close bounds the step, of whatever kind, and wherever it is. */
static void test_first(void)
{
  for (int first = 0; first < 2 * ABUT_CCD_KINDS; ++first) {
    scene s = {.vertices = 0};
    char what[64];
    for (int i = 0; i < 2 * ABUT_CCD_KINDS; ++i) {
      fall(&s, (abut_ccd_kind)(ABUT_CCD_KINDS - 1 - i / 2), i == first ? 0.5 : 1.0, 2.0);
    }
    const abut_step_filter_def def = def_of(&s);
    const abut_step_filter_result got = filter(&def);
    snprintf(what, sizeof what, "pair %d is the first", first);
    is_bounded(&got, 0.225, (size_t)first / 2, (size_t)first % 2, 2 * ABUT_CCD_KINDS, what);
    scene_free(&s);
  }
}

/* Of equal ones the first in the order of lanes and rows is told. */
static void test_equal(void)
{
  scene s = {.vertices = 0};
  fall(&s, ABUT_CCD_POINT_TRIANGLE, 2.0, 2.0);
  fall(&s, ABUT_CCD_POINT_POINT, 1.0, 2.0);
  pair(&s, ABUT_CCD_POINT_POINT, s.pairs[1][0], s.pairs[1][1], 0, 0);
  pair(&s, ABUT_CCD_POINT_TRIANGLE, s.pairs[0][0], s.pairs[0][1], s.pairs[0][2], s.pairs[0][3]);
  pair(&s, ABUT_CCD_POINT_POINT, s.pairs[1][0], s.pairs[1][1], 0, 0);
  const abut_step_filter_def def = def_of(&s);
  const abut_step_filter_result got = filter(&def);
  is_bounded(&got, 0.45, 1, 0, 5, "three equal pairs");
  scene_free(&s);
}

static void test_most(void)
{
  static const double mosts[] = {0.0, 0.125, 0.3, 0.44};
  scene s = {.vertices = 0};
  fall(&s, ABUT_CCD_POINT_POINT, 1.0, 2.0);
  abut_step_filter_def def = def_of(&s);
  for (size_t i = 0; i < sizeof mosts / sizeof *mosts; ++i) {
    def.most = mosts[i];
    def.keep = 0.1;
    const abut_step_filter_result got = filter(&def);
    is_free(&got, mosts[i], got.asked, "a step that ends early");
  }
  def.most = 0.46;
  const abut_step_filter_result got = filter(&def);
  is_bounded(&got, 0.45, 0, 0, 1, "a step that ends late");
  scene_free(&s);
}

/* A pair that is too close already lets nothing go. */
static void test_within(void)
{
  scene s = {.vertices = 0};
  fall(&s, ABUT_CCD_POINT_POINT, 1.0, 2.0);
  fall(&s, ABUT_CCD_EDGE_EDGE, 0.25, -1.0); /* parts */
  fall(&s, ABUT_CCD_POINT_EDGE, 0.25, 1.0);
  abut_step_filter_def def = def_of(&s);
  def.separation = 0.5;
  const abut_step_filter_result got = filter(&def);
  CHECK(got.share == 0.0 && got.status == ABUT_CCD_WITHIN);
  CHECK(got.lanes == 1 && got.row == 0);
  CHECK_EQUAL(got.asked, 3);
  scene_free(&s);
}

/* ---- which pairs are asked about ---- */

static void test_nothing(void)
{
  scene s = {.vertices = 0};
  abut_step_filter_def def = abut_default_step_filter_def();
  abut_step_filter_result got = filter(&def);
  is_free(&got, 1.0, 0, "nothing");
  add(&s, 0, 0, 0, 1);
  def = def_of(&s);
  s.lanes[0] = (abut_ccd_lanes){ABUT_CCD_EDGE_EDGE, 0, NULL};
  def.lanes_count = 1;
  def.most = 0.75;
  got = filter(&def);
  is_free(&got, 0.75, 0, "lanes without pairs");
  scene_free(&s);
}

/* What shares a vertex touches all the time. */
static void test_shared_vertices(void)
{
  scene s = {.vertices = 0};
  for (int i = 0; i < 4; ++i) {
    add(&s, i % 2, i / 2, 0, i);
  }
  pair(&s, ABUT_CCD_POINT_POINT, 2, 2, 0, 0);
  pair(&s, ABUT_CCD_POINT_EDGE, 1, 0, 1, 0);
  pair(&s, ABUT_CCD_POINT_EDGE, 1, 0, 0, 0);
  pair(&s, ABUT_CCD_POINT_TRIANGLE, 3, 0, 1, 3);
  pair(&s, ABUT_CCD_EDGE_EDGE, 0, 1, 1, 2);
  pair(&s, ABUT_CCD_EDGE_EDGE, 0, 1, 3, 0);
  const abut_step_filter_def def = def_of(&s);
  const abut_step_filter_result got = filter(&def);
  is_free(&got, 1.0, 0, "shared vertices");
  scene_free(&s);
}

/* Pairs whose boxes stay apart are left out, unless so little is left of their distance that `keep`
 * forbids it. */
static void test_boxes(void)
{
  scene s = {.vertices = 0};
  fall(&s, ABUT_CCD_POINT_TRIANGLE, 10.0, 8.0);
  abut_step_filter_def def = def_of(&s);
  def.keep = 0.0;
  abut_step_filter_result got = filter(&def);
  is_free(&got, 1.0, 0, "2 of 10 is left");
  def.separation = 1.999;
  got = filter(&def);
  is_free(&got, 1.0, 0, "2 is left, more than the separation");
  def.separation = 2.001;
  got = filter(&def);
  is_bounded(&got, 7.999 / 8.0, 0, 0, 1, "2 is left, less than the separation");
  def.most = 0.99;
  got = filter(&def);
  is_free(&got, 0.99, 0, "2.08 is left, more than the separation");
  def.separation = 0.0;
  def.most = 1.0;
  def.keep = 0.5;
  got = filter(&def);
  is_bounded(&got, 5.0 / 8.0, 0, 0, 1, "2 of 10 is left, 5 is to be kept");
  scene_free(&s);
}

/* More pairs than are asked about at a time. */
static void test_many(void)
{
  enum { MANY = 150000, FIRST = 149000 };
  double *x = calloc(6 * MANY, sizeof *x), *step = calloc(6 * MANY, sizeof *step);
  uint32_t *pairs = malloc(2 * MANY * sizeof *pairs);
  uint64_t seed = 7;
  REQUIRE(x && step && pairs);
  for (size_t i = 0; i < MANY; ++i) {
    x[6 * i] = x[6 * i + 3] = random_uniform(&seed);
    x[6 * i + 2] = 1.0;
    step[6 * i + 2] = i == FIRST ? -4.0 : -(2.0 + random_uniform(&seed));
    pairs[2 * i] = (uint32_t)(2 * i);
    pairs[2 * i + 1] = (uint32_t)(2 * i + 1);
  }
  const abut_ccd_lanes lanes[2] = {{ABUT_CCD_POINT_POINT, MANY - 7, pairs},
                                   {ABUT_CCD_POINT_POINT, 7, pairs + 2 * (MANY - 7)}};
  abut_step_filter_def def = abut_default_step_filter_def();
  def.vertex_count = 2 * MANY;
  void *const from = to_reals(x, 6 * MANY, precision), *const by =
                                                         to_reals(step, 6 * MANY, precision);
  def.x = from;
  def.step = by;
  def.lanes = lanes;
  def.lanes_count = 2;
  const abut_step_filter_result got = filter(&def);
  is_bounded(&got, 0.225, 0, FIRST, MANY, "many pairs");
  free(from);
  free(by);
  free(x);
  free(step);
  free(pairs);
}

/* What bounds a step is the same to the bit whatever else is asked, and a vertex that no pair has
 * takes no part. */
static void test_others(void)
{
  enum { OTHERS = 1 << 16 };
  static uint32_t pairs[2 * OTHERS];
  static const uint32_t edges[4] = {0, 1, 2, 3};
  static const double turn[4] = {-0.35, 0.4, 0.15, -0.2}; /* edges that turn as they come */
  double x[21] = {-1, 0, 0.6, 1, 0.1, 0.7, 0.05, -1, 0, 0, 1, 0.1, 5, 5, 1, 5, 5, 0, 0, 0, 0},
         step[21] = {0};
  for (size_t i = 0; i < 4; ++i) {
    step[3 * i] = turn[i];
    step[3 * i + 1] = -turn[3 - i];
    step[3 * i + 2] = (i < 2 ? -1.5 : 0.5) + turn[i];
  }
  step[14] = -1.5; /* a point comes at another one, later */
  x[18] = 1e6;
  for (size_t i = 0; i < OTHERS; ++i) {
    pairs[2 * i] = 4;
    pairs[2 * i + 1] = 5;
  }
  const abut_ccd_lanes lanes[2] = {{ABUT_CCD_EDGE_EDGE, 1, edges},
                                   {ABUT_CCD_POINT_POINT, OTHERS, pairs}};
  void *const from = to_reals(x, 21, precision), *const by = to_reals(step, 21, precision);
  abut_step_filter_def def = abut_default_step_filter_def();
  def.vertex_count = 6;
  def.x = from;
  def.step = by;
  def.lanes = lanes;
  def.lanes_count = 1;
  const abut_step_filter_result alone = filter(&def);
  check(alone.status == ABUT_CCD_HIT && alone.share > 0.05 && alone.share < 0.4, "edges: %.17g",
        alone.share);
  def.lanes_count = 2;
  def.vertex_count = 7;
  const abut_step_filter_result among = filter(&def);
  check(among.share == alone.share && among.lanes == 0 && among.asked == OTHERS + 1,
        "%.17g, not %.17g, of %zu", among.share, alone.share, among.asked);
  free(from);
  free(by);
}

/* ---- random steps ---- */

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void difference(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[k] - b[k];
  }
}

static double point_edge(const double p[3], const double a[3], const double b[3])
{
  double e[3], w[3];
  difference(b, a, e);
  difference(p, a, w);
  const double s = fmin(fmax(dot(w, e) / dot(e, e), 0.0), 1.0);
  for (int k = 0; k < 3; ++k) {
    w[k] -= s * e[k];
  }
  return sqrt(dot(w, w));
}

/* The least |w - s e - t f| of all s, t where they lie in a triangle or a square, else HUGE_VAL. */
static double inside(const double w[3], const double e[3], const double f[3], bool square)
{
  const double ee = dot(e, e), ef = dot(e, f), ff = dot(f, f), we = dot(w, e), wf = dot(w, f);
  const double det = ee * ff - ef * ef, s = (we * ff - wf * ef) / det,
               t = (wf * ee - we * ef) / det;
  double v[3];
  if (!(s >= 0.0 && t >= 0.0 && (square ? s <= 1.0 && t <= 1.0 : s + t <= 1.0))) {
    return HUGE_VAL;
  }
  for (int k = 0; k < 3; ++k) {
    v[k] = w[k] - s * e[k] - t * f[k];
  }
  return sqrt(dot(v, v));
}

static double distance_of(abut_ccd_kind kind, const double v[4][3])
{
  double w[3], e[3], f[3];
  difference(v[0], v[1], w);
  if (kind == ABUT_CCD_POINT_POINT) {
    return sqrt(dot(w, w));
  }
  if (kind == ABUT_CCD_POINT_EDGE) {
    return point_edge(v[0], v[1], v[2]);
  }
  if (kind == ABUT_CCD_POINT_TRIANGLE) {
    difference(v[2], v[1], e);
    difference(v[3], v[1], f);
    return fmin(fmin(point_edge(v[0], v[1], v[2]), point_edge(v[0], v[2], v[3])),
                fmin(point_edge(v[0], v[3], v[1]), inside(w, e, f, false)));
  }
  difference(v[2], v[0], w);
  difference(v[1], v[0], e);
  difference(v[2], v[3], f); /* w - s e - t f between the edges' points */
  return fmin(fmin(fmin(point_edge(v[0], v[2], v[3]), point_edge(v[1], v[2], v[3])),
                   fmin(point_edge(v[2], v[0], v[1]), point_edge(v[3], v[0], v[1]))),
              inside(w, e, f, true));
}

/* A pair's distance after a share of the step, rounded as a caller rounds it. */
static double distance_after(const abut_step_filter_def *def, abut_ccd_kind kind,
                             const uint32_t *vertices, double share)
{
  static const size_t counts[] = {2, 3, 4, 4};
  double v[4][3];
  for (size_t i = 0; i < counts[kind]; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const size_t at = 3 * (size_t)vertices[i] + k;
      const double x = real_at(def->x, precision, at), step = real_at(def->step, precision, at);
      v[i][k] = precision == ABUT_FLOAT64
                  ? x + share * step
                  : (double)((float)x + (float)((float)share * (float)step));
    }
  }
  return distance_of(kind, (const double(*)[3])v);
}

/* Checks that all pairs keep what they are to, and the one that bounds the step not much more. */
static void check_kept(const abut_step_filter_def *def, const abut_step_filter_result *r,
                       const char *what)
{
  static const size_t counts[] = {2, 3, 4, 4};
  const double rounding = 1e-14;
  for (size_t i = 0; i < def->lanes_count; ++i) {
    const abut_ccd_lanes *l = &def->lanes[i];
    for (size_t row = 0; row < l->count; ++row) {
      const uint32_t *vertices = l->vertices + counts[l->kind] * row;
      const double before = distance_after(def, l->kind, vertices, 0.0);
      const double after = distance_after(def, l->kind, vertices, r->share);
      const double kept = def->keep * fmax(before - def->separation, 0.0);
      const double least = def->separation + kept;
      check(r->share == 0.0 || after >= least - rounding,
            "%s: pair %zu of lanes %zu is left %.17g of %.17g, not %.17g", what, row, i, after,
            before, least);
      check(r->lanes != i || r->row != row || r->status != ABUT_CCD_HIT ||
              after <= least + 0.5 * kept + 10.0 * slack(), /* where curved fronts may end */
            "%s: the pair that bounds the step is left %.17g, not %.17g", what, after, least);
    }
  }
}

static void random_scene(uint64_t *seed, scene *s, double stretch)
{
  static const size_t counts[] = {2, 3, 4, 4};
  s->vertices = VERTICES;
  for (size_t i = 0; i < 3 * VERTICES; ++i) {
    s->x[i] = 4.0 * random_uniform(seed);
    s->step[i] = stretch * random_normal(seed);
  }
  for (size_t kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    for (size_t i = 0; i < PAIRS; ++i) {
      uint32_t *v = s->pairs[kind] + counts[kind] * i;
      const uint32_t from = (uint32_t)(VERTICES * random_uniform(seed));
      for (size_t k = 0; k < counts[kind]; ++k) {
        v[k] = (from + (uint32_t)k * 17u) % VERTICES; /* all different */
      }
    }
    s->lanes[kind] = (abut_ccd_lanes){(abut_ccd_kind)kind, PAIRS, s->pairs[kind]};
  }
  s->lanes_count = ABUT_CCD_KINDS;
}

static void test_random(void)
{
  static scene s;
  uint64_t seed = 11;
  size_t hits = 0, frees = 0, withins = 0;
  for (int i = 0; i < 200; ++i) {
    char what[64];
    random_scene(&seed, &s, i % 4 == 3 ? 1e-3 : 1.0);
    abut_step_filter_def def = def_of(&s);
    def.separation = i % 2 ? 0.05 : 0.0;
    def.keep = i % 3 ? 0.1 : 0.0;
    const abut_step_filter_result got = filter(&def);
    snprintf(what, sizeof what, "random step %d", i);
    check_kept(&def, &got, what);
    check((got.status == ABUT_CCD_WITHIN) <= (got.share == 0.0), "%s: within, and a share of %g",
          what, got.share);
    hits += got.status == ABUT_CCD_HIT;
    frees += got.status == ABUT_CCD_FREE;
    withins += got.status == ABUT_CCD_WITHIN;
    scene_free(&s);
  }
  check(hits > 50 && frees > 10 && withins > 10, "%zu hits, %zu free, %zu within", hits, frees,
        withins);
}

/* ---- what is refused ---- */

static void refuses(const abut_step_filter_def *def, const char *text)
{
  abut_step_filter_result r;
  const abut_status status = abut_step_filter(home, def, &r);
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), text), "%s: %s, %s", text,
        abut_status_name(status), abut_last_error());
}

static void test_refused_numbers(const abut_step_filter_def *good)
{
  abut_step_filter_def def = *good;
  const double wrong[] = {-1e-9, NAN, INFINITY, 1.001};
  for (size_t i = 0; i < 4; ++i) {
    def.most = wrong[i];
    refuses(&def, "`most` of the step filter is");
  }
  def.most = 1.0;
  for (size_t i = 0; i < 4; ++i) {
    def.keep = i == 3 ? 1.0 : wrong[i];
    refuses(&def, "`keep` of the step filter is");
  }
  def.keep = 0.1;
  for (size_t i = 0; i < 3; ++i) {
    def.separation = wrong[i];
    refuses(&def, "separation is");
  }
}

static void test_refused_coordinates(void)
{
  const double most = precision == ABUT_FLOAT64 ? DBL_MAX : (double)FLT_MAX;
  scene s = {.vertices = 0};
  abut_step_filter_def def;
  fall(&s, ABUT_CCD_POINT_POINT, 1, 1);
  for (int i = 0; i < 4; ++i) {
    scene bad = s;
    bad.x[4] = i == 0 ? NAN : i == 3 ? most : 0.0;
    bad.step[4] = i == 1 ? INFINITY : i == 2 ? NAN : i == 3 ? most : 0.0;
    def = def_of(&bad);
    refuses(&def, "vertex 1 is at");
    scene_free(&bad);
  }
  s.x[2] = most;
  s.x[5] = -most;
  s.step[2] = -most;
  def = def_of(&s);
  def.keep = 0.9;
  refuses(&def, "difference overflows");
  scene_free(&s);
}

static void test_refused(void)
{
  scene s = {.vertices = 0};
  fall(&s, ABUT_CCD_POINT_POINT, 1, 1);
  fall(&s, ABUT_CCD_EDGE_EDGE, 1, 1);
  const abut_context none = {0, 0};
  abut_step_filter_result r;
  abut_step_filter_def def = def_of(&s);
  const abut_step_filter_def good = def;
  check(abut_step_filter(none, &def, &r) == ABUT_ERROR_HANDLE, "a null context: %s",
        abut_last_error());
  check(abut_step_filter(home, &def, NULL) == ABUT_ERROR_ARGUMENT, "no place: %s",
        abut_last_error());
  refuses(NULL, "abut_default_step_filter_def");
  def.cookie = 0;
  refuses(&def, "abut_default_step_filter_def");
  test_refused_numbers(&good);
  def = good;
  def.x = NULL;
  refuses(&def, "their positions are NULL");
  def = good;
  def.step = NULL;
  refuses(&def, "their steps are NULL");
  def = good;
  def.lanes = NULL;
  refuses(&def, "the count is 2 lanes, but their array is NULL");
  def = good;
  s.pairs[1][2] = s.vertices;
  refuses(&def, "lanes 1: pair 0 uses vertex 6");
  s.lanes[1].vertices = NULL;
  refuses(&def, "lanes 1: the count is 1 pairs, but their array is NULL");
  s.lanes[1].kind = (abut_ccd_kind)4;
  refuses(&def, "lanes 1: unknown kind of pairs 4");
  s.lanes[0].kind = (abut_ccd_kind)-1;
  refuses(&def, "lanes 0: unknown kind of pairs -1");
  scene_free(&s);
  test_refused_coordinates();
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  home = require_context(precision);
  test_kinds();
  test_first();
  test_equal();
  test_most();
  test_within();
  test_nothing();
  test_shared_vertices();
  test_boxes();
  test_many();
  test_others();
  test_random();
  test_refused();
  return finish_context(home);
}
