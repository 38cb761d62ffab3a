/* Derivatives of a list's entries, and of sums over active contacts, against those of the whole
 * manifold: test_list_derivatives PRECISION GOLDEN_FOLDER. With ABUT_TEST_USUAL=1 of pairs of many
 * contacts fewer poses, and of edges in fields each way once. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 20, CAPACITY = 120000, PARTS = 4 };

static abut_precision precision;
static size_t pose_count = POSES;                 /* of each pair */
static const size_t widths[PARTS] = {3, 1, 3, 1}; /* p, d, n, activity */

/* A pair's poses, list, and numbers for all contacts of which the list picks some. */
typedef struct trial {
  const char *what;
  abut_pair pair;
  abut_layout layout;
  void *pose[2], *along[2];
  abut_compact list;
  void *dense[PARTS], *sparse[PARTS];
} trial;

static void *zeros(size_t count)
{
  return calloc(count + 1, real_size(precision));
}

static void copy_entry(const trial *t, int part, size_t entry, bool to_dense)
{
  const size_t at = (size_t)t->list.pose[entry] * t->layout.contacts + t->list.slot[entry];
  const size_t bytes = widths[part] * real_size(precision);
  char *dense = (char *)t->dense[part] + at * bytes;
  char *sparse = (char *)t->sparse[part] + entry * bytes;
  memcpy(to_dense ? dense : sparse, to_dense ? sparse : dense, bytes);
}

static abut_batch batch_of(const trial *t)
{
  abut_batch b = abut_default_batch();
  b.count = pose_count;
  b.poses = ABUT_POSE_TWIST;
  b.pose1 = t->pose[0];
  b.pose2 = t->pose[1];
  return b;
}

/* The largest number, and the largest difference beside it. */
static double relative(const void *a, const void *b, size_t count)
{
  double most = 1e-30, worst = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double x = real_at(a, precision, i), y = real_at(b, precision, i);
    most = fmax(most, fabs(x));
    worst = fabs(x - y) > worst || !(x == x && y == y) ? fabs(x - y) : worst;
    worst = (x == x && y == y) ? worst : NAN;
    if (!(worst == worst)) {
      return worst;
    }
  }
  return worst / most;
}

static double limit(void)
{
  return precision == ABUT_FLOAT64 ? 1e-8 : 1e-2;
}

static void compare_vjp(const trial *t, int given)
{
  void *g[4];
  for (int i = 0; i < 4; ++i) {
    g[i] = zeros(6 * pose_count);
  }
  const abut_gradients full = {g[0], g[1]}, listed = {g[2], g[3]};
  const abut_cotangents all = {.p = given & 1 ? t->dense[0] : NULL,
                               .d = given & 2 ? t->dense[1] : NULL,
                               .n = given & 4 ? t->dense[2] : NULL,
                               .activity = given & 8 ? t->dense[3] : NULL};
  const abut_cotangents some = {.p = given & 1 ? t->sparse[0] : NULL,
                                .d = given & 2 ? t->sparse[1] : NULL,
                                .n = given & 4 ? t->sparse[2] : NULL,
                                .activity = given & 8 ? t->sparse[3] : NULL};
  abut_batch batch = batch_of(t);
  CHECK_OK(abut_vjp(t->pair, ABUT_SAME_PAIR, &batch, &all, &full));
  CHECK_OK(abut_list_vjp(t->pair, &batch, &t->list, &some, &listed));
  for (int i = 0; i < 2; ++i) {
    const double off = relative(g[i], g[2 + i], 6 * pose_count);
    check(off <= limit(), "%s: VJP %d of a list by pose %d is off by %.3g", t->what, given, i + 1,
          off);
  }
  for (int i = 0; i < 4; ++i) {
    free(g[i]);
  }
}

static void compare_jvp(const trial *t)
{
  const size_t entries = t->list.count;
  void *got[PARTS];
  for (int k = 0; k < PARTS; ++k) {
    got[k] = zeros(entries * widths[k]);
  }
  const abut_pose_tangents along = {t->along[0], t->along[1]};
  const abut_tangents full = {.p = t->dense[0],
                              .d = t->dense[1],
                              .n = t->dense[2],
                              .activity = t->dense[3]};
  const abut_tangents listed = {.p = got[0], .d = got[1], .n = got[2], .activity = got[3]};
  abut_batch batch = batch_of(t);
  CHECK_OK(abut_jvp(t->pair, ABUT_SAME_PAIR, &batch, &along, &full));
  CHECK_OK(abut_list_jvp(t->pair, &batch, &t->list, &along, &listed));
  for (int k = 0; k < PARTS; ++k) {
    for (size_t i = 0; i < entries; ++i) {
      copy_entry(t, k, i, false);
    }
    const double off = relative(t->sparse[k], got[k], entries * widths[k]);
    check(off <= limit(), "%s: JVP of a list's output %d is off by %.3g", t->what, k, off);
    free(got[k]);
  }
}

/* Sums over active contacts by two ways: a dense output beside them makes all be computed. */
static void compare_sums(const trial *t)
{
  void *g[4], *sums[4], *d = zeros(pose_count * t->layout.contacts);
  for (int i = 0; i < 4; ++i) {
    g[i] = zeros(6 * pose_count);
    sums[i] = zeros(pose_count);
  }
  const abut_gradients gradients[2] = {{g[0], g[1]}, {g[2], g[3]}};
  for (int energy = 0; energy < 2; ++energy) {
    const abut_reduction reduction = energy ? ABUT_REDUCE_ENERGY : ABUT_REDUCE_ACTIVITY;
    for (int way = 0; way < 2; ++way) {
      abut_batch batch = batch_of(t);
      batch.d = way ? NULL : d;
      batch.reductions.activity = sums[2 * way];
      batch.reductions.energy = sums[2 * way + 1];
      CHECK_OK(abut_gradient(t->pair, ABUT_SAME_PAIR, &batch, reduction, &gradients[way]));
    }
    for (int i = 0; i < 2; ++i) {
      const double off = relative(g[i], g[2 + i], 6 * pose_count);
      check(off <= limit(), "%s: the gradient of sum %d by pose %d is off by %.3g", t->what, energy,
            i + 1, off);
      const double by = relative(sums[i], sums[2 + i], pose_count);
      check(by <= 0.1 * limit(), "%s: sum %d is off by %.3g", t->what, i, by);
    }
  }
  for (int i = 0; i < 4; ++i) {
    free(g[i]);
    free(sums[i]);
  }
  free(d);
}

static void make_list(trial *t, double threshold)
{
  t->list = (abut_compact){.threshold = threshold, .capacity = CAPACITY};
  t->list.pose = calloc(CAPACITY, sizeof(uint32_t));
  t->list.slot = calloc(CAPACITY, sizeof(uint32_t));
  abut_batch batch = batch_of(t);
  batch.compact = &t->list;
  CHECK_OK(abut_contacts(t->pair, &batch));
}

static void try_pair(const abut_body bodies[2], const abut_smoothing *s, const char *what,
                     double threshold)
{
  trial t = {.what = what};
  uint64_t seed = 17;
  const size_t every = POSES / pose_count;
  abut_body_info info;
  if (!CHECK_OK(abut_create_pair(bodies[0], bodies[1], s, &t.pair))) {
    return;
  }
  CHECK_OK(abut_get_layout(t.pair, &t.layout));
  CHECK_OK(abut_get_body_info(bodies[0], &info));
  for (int side = 0; side < 2; ++side) {
    t.pose[side] = zeros(6 * pose_count);
    t.along[side] = zeros(6 * pose_count);
    for (size_t i = 0; i < 6 * POSES; ++i) {
      const double size = i % 6 < 3 ? (side ? 0.5 : 0.1) * info.diagonal : 1.5;
      const double at = size * random_normal(&seed), along = random_normal(&seed);
      if (i / 6 % every == every / 2) { /* of the share these touch */
        real_put(t.pose[side], precision, i / 6 / every * 6 + i % 6, at);
        real_put(t.along[side], precision, i / 6 / every * 6 + i % 6, along);
      }
    }
  }
  make_list(&t, threshold);
  check(t.list.count > 20, "%s: only %zu contacts are listed", what, t.list.count);
  for (int k = 0; k < PARTS; ++k) {
    t.dense[k] = zeros(pose_count * t.layout.contacts * widths[k]);
    t.sparse[k] = zeros(t.list.count * widths[k]);
    for (size_t i = 0; i < t.list.count * widths[k]; ++i) {
      real_put(t.sparse[k], precision, i, random_normal(&seed));
    }
    for (size_t i = 0; i < t.list.count; ++i) {
      copy_entry(&t, k, i, true);
    }
  }
  compare_vjp(&t, 15);
  compare_vjp(&t, 8);
  compare_vjp(&t, 2);
  compare_vjp(&t, 5);
  compare_sums(&t);
  compare_jvp(&t);
  for (int i = 0; i < PARTS; ++i) {
    free(t.dense[i]);
    free(t.sparse[i]);
  }
  for (int side = 0; side < 2; ++side) {
    free(t.pose[side]);
    free(t.along[side]);
  }
  free(t.list.pose);
  free(t.list.slot);
  CHECK_OK(abut_destroy_pair(t.pair));
}

/* ---- entries of two pairs ---- */

enum { HALF = POSES / 2, MIXED_CAPACITY = 40000 };

/* A batch of poses and derivatives of a list of it; rows of entries in all arrays. */
typedef struct mixed_trial {
  void *pose[2], *along[2], *gradient[2], *bars[PARTS], *tangents[PARTS];
  abut_compact list;
} mixed_trial;

static void mixed_create(mixed_trial *m, size_t poses)
{
  *m = (mixed_trial){.list = {.threshold = 1e-3, .capacity = MIXED_CAPACITY}};
  m->list.pose = calloc(MIXED_CAPACITY, sizeof(uint32_t));
  m->list.slot = calloc(MIXED_CAPACITY, sizeof(uint32_t));
  for (int i = 0; i < 2; ++i) {
    m->pose[i] = zeros(6 * poses);
    m->along[i] = zeros(6 * poses);
    m->gradient[i] = zeros(6 * poses);
  }
  for (int k = 0; k < PARTS; ++k) {
    m->bars[k] = zeros(MIXED_CAPACITY * widths[k]);
    m->tangents[k] = zeros(MIXED_CAPACITY * widths[k]);
  }
}

static void mixed_free(mixed_trial *m)
{
  free(m->list.pose);
  free(m->list.slot);
  for (int i = 0; i < 2; ++i) {
    free(m->pose[i]);
    free(m->along[i]);
    free(m->gradient[i]);
  }
  for (int k = 0; k < PARTS; ++k) {
    free(m->bars[k]);
    free(m->tangents[k]);
  }
}

static void mixed_derive(const mixed_trial *m, abut_pair pair, abut_batch batch)
{
  const abut_cotangents bars = {.p = m->bars[0],
                                .d = m->bars[1],
                                .n = m->bars[2],
                                .activity = m->bars[3]};
  const abut_gradients gradients = {m->gradient[0], m->gradient[1]};
  const abut_pose_tangents along = {m->along[0], m->along[1]};
  const abut_tangents tangents = {.p = m->tangents[0],
                                  .d = m->tangents[1],
                                  .n = m->tangents[2],
                                  .activity = m->tangents[3]};
  batch.poses = ABUT_POSE_TWIST;
  batch.pose1 = m->pose[0];
  batch.pose2 = m->pose[1];
  CHECK_OK(abut_list_vjp(pair, &batch, &m->list, &bars, &gradients));
  CHECK_OK(abut_list_jvp(pair, &batch, &m->list, &along, &tangents));
}

static char *row_of(void *array, size_t row, size_t width)
{
  return (char *)array + row * width * real_size(precision);
}

static void copy_row(void *to, size_t at, void *from, size_t row, size_t width)
{
  memcpy(row_of(to, at, width), row_of(from, row, width), width * real_size(precision));
}

/* The entries of one of the pairs by themselves, against the same among the other's. */
static void compare_half(mixed_trial *all, abut_pair pair, size_t which)
{
  mixed_trial m;
  size_t wrong = 0, count = 0;
  abut_batch batch = abut_default_batch();
  mixed_create(&m, HALF);
  batch.count = HALF;
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < HALF; ++i) {
      copy_row(m.pose[side], i, all->pose[side], 2 * i + which, 6);
      copy_row(m.along[side], i, all->along[side], 2 * i + which, 6);
    }
  }
  for (size_t i = 0; i < all->list.count; ++i) {
    if (all->list.pose[i] % 2 == which) {
      m.list.pose[m.list.count] = all->list.pose[i] / 2;
      m.list.slot[m.list.count] = all->list.slot[i];
      for (int k = 0; k < PARTS; ++k) {
        copy_row(m.bars[k], m.list.count, all->bars[k], i, widths[k]);
      }
      ++m.list.count;
    }
  }
  check(m.list.count > 10, "pair %zu: only %zu contacts", which, m.list.count);
  mixed_derive(&m, pair, batch);
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < HALF; ++i) {
      wrong += memcmp(row_of(m.gradient[side], i, 6), row_of(all->gradient[side], 2 * i + which, 6),
                      6 * real_size(precision)) != 0;
    }
  }
  for (size_t i = 0; i < all->list.count; ++i) {
    for (int k = 0; all->list.pose[i] % 2 == which && k < PARTS; ++k) {
      wrong += memcmp(row_of(m.tangents[k], count, widths[k]),
                      row_of(all->tangents[k], i, widths[k]),
                      widths[k] * real_size(precision)) != 0;
    }
    count += all->list.pose[i] % 2 == which;
  }
  check(!wrong, "pair %zu of two in a batch: %zu rows differ from its own", which, wrong);
  mixed_free(&m);
}

/* Gates and SoftSort in turn: of one pair the entries alone are computed, of the other all. */
static void try_two_pairs(const abut_body bodies[2])
{
  mixed_trial m;
  abut_smoothing s;
  abut_pair pairs[2];
  uint32_t which[POSES];
  uint64_t seed = 23;
  abut_batch batch = abut_default_batch();
  CHECK_OK(abut_fit_edge_pairs(bodies[0], bodies[1], &s));
  CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pairs[0]));
  s.select = ABUT_SELECT_SOFTSORT;
  s.edges[0] = 5;
  CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pairs[1]));
  mixed_create(&m, POSES);
  for (size_t i = 0; i < 6 * POSES; ++i) {
    for (int side = 0; side < 2; ++side) {
      real_put(m.pose[side], precision, i, (i % 6 < 3 ? 0.2 : 1.0) * random_normal(&seed));
      real_put(m.along[side], precision, i, random_normal(&seed));
    }
    which[i / 6] = (uint32_t)(i / 6 % 2);
  }
  batch.count = POSES;
  batch.pose1 = m.pose[0];
  batch.pose2 = m.pose[1];
  batch.pairs = pairs;
  batch.pair_count = 2;
  batch.pair = which;
  batch.compact = &m.list;
  CHECK_OK(abut_contacts(ABUT_BATCH_PAIRS, &batch));
  batch.compact = NULL;
  for (int k = 0; k < PARTS; ++k) {
    for (size_t i = 0; i < m.list.count * widths[k]; ++i) {
      real_put(m.bars[k], precision, i, random_normal(&seed));
    }
  }
  mixed_derive(&m, ABUT_BATCH_PAIRS, batch);
  compare_half(&m, pairs[0], 0);
  compare_half(&m, pairs[1], 1);
  mixed_free(&m);
  CHECK_OK(abut_destroy_pair(pairs[0]));
  CHECK_OK(abut_destroy_pair(pairs[1]));
}

/* Nothing touches: a list of no entry gives gradients of 0, with cotangents or without. */
static void try_empty(abut_context context)
{
  const double half[3] = {0.5, 0.5, 0.5};
  abut_body box;
  abut_smoothing s;
  abut_pair pairs[2];
  abut_batch batch = abut_default_batch();
  const abut_cotangents bars = {.p = NULL};
  const abut_compact list = {.count = 0};
  void *poses = zeros(6 * POSES), *gradient[2] = {zeros(6 * POSES), zeros(6 * POSES)};
  if (!make_box(context, half, &box) || !CHECK_OK(abut_fit_edge_pairs(box, box, &s)) ||
      !CHECK_OK(abut_create_pair(box, box, &s, &pairs[0]))) {
    return;
  }
  s.select = ABUT_SELECT_SOFTSORT;
  CHECK_OK(abut_create_pair(box, box, &s, &pairs[1]));
  const abut_gradients gradients = {gradient[0], gradient[1]};
  batch.count = POSES;
  batch.pose1 = batch.pose2 = poses;
  for (int i = 0; i < 4; ++i) {
    size_t wrong = 0;
    for (size_t k = 0; k < 6 * POSES; ++k) {
      real_put(gradient[0], precision, k, 7.0);
      real_put(gradient[1], precision, k, 7.0);
    }
    CHECK_OK(abut_list_vjp(pairs[i / 2], &batch, &list, i % 2 ? &bars : NULL, &gradients));
    for (size_t k = 0; k < 6 * POSES; ++k) {
      wrong += real_at(gradient[0], precision, k) != 0.0;
      wrong += real_at(gradient[1], precision, k) != 0.0;
    }
    check(!wrong, "pair %d: %zu numbers of an empty list's gradients are not 0", i / 2, wrong);
  }
  batch.derivatives = batch.pairs = pairs;
  batch.pair_count = 2;
  batch.pair = calloc(POSES, sizeof(uint32_t));
  check(abut_list_vjp(ABUT_BATCH_PAIRS, &batch, &list, &bars, &gradients) == ABUT_ERROR_ARGUMENT &&
          strstr(abut_last_error(), "second smoothing"),
        "says: %s", abut_last_error());
  free((void *)(uintptr_t)batch.pair);
  free(poses);
  free(gradient[0]);
  free(gradient[1]);
  CHECK_OK(abut_destroy_pair(pairs[0]));
  CHECK_OK(abut_destroy_pair(pairs[1]));
  CHECK_OK(abut_destroy_body(box));
}

/* All of them, or two. */
static void try_ways(const abut_body bodies[2], const char *name, bool all)
{
  char what[96];
  abut_smoothing s;
  CHECK_OK(abut_fit_edge_pairs(bodies[0], bodies[1], &s));
  for (int way = all ? 0 : 1; way < 6; way += all ? 1 : 2) {
    if (!all && way == 5) {
      break;
    }
    s.select = way == 4 ? ABUT_SELECT_SOFTSORT : ABUT_SELECT_GATE;
    s.sort = 2.0 * s.penetration;
    s.edges[0] = way == 3 ? 3 : 16;
    s.edges[1] = way == 2 ? 7 : 12;
    s.vertices[0] = way == 5 ? 20 : 0;
    s.floor = way & 1 ? 1e-2 : 0.0;
    s.inside = way == 2;
    s.margin = way == 1 ? 2.0 * s.penetration : 0.0;
    s.two_sided = way != 3;
    s.edge_edge = true;
    snprintf(what, sizeof what, "%s, way %d", name, way);
    try_pair(bodies, &s, what, way == 1 ? 0.05 : 1e-3);
  }
}

/* Of edges in fields, with cones at last: all ways, or from `only` on every fourth. */
static void try_fields(const abut_body bodies[2], const char *name, int only)
{
  char what[96];
  abut_smoothing s;
  CHECK_OK(abut_fit_smoothing(bodies[0], bodies[1], &s));
  s.edge_contacts = ABUT_EDGES_FIELD;
  s.edges[0] = s.edges[1] = 0;
  for (int way = only < 0 ? 0 : only; way < 5; way += only < 0 ? 1 : 4) {
    s.samples = way == 1 ? 4 : 1;
    s.floor = way == 1 ? 1e-2 : 0.0;
    s.two_sided = way != 2;
    s.cone_inner = 15.0;
    s.cone_outer = way > 2 ? 35.0 : 0.0;
    s.cone_hold = 2.0;
    s.cone_inset = way == 4 ? 2.0 * s.penetration : 0.0;
    s.margin = way == 4 ? 2.0 * s.penetration : 0.0;
    snprintf(what, sizeof what, "%s in fields, way %d", name, way);
    try_pair(bodies, &s, what, way == 1 ? 0.05 : 1e-3);
  }
}

int main(int argc, char **argv)
{
  static const char *const names[] = {"figure-gate", "box-on-box", "composed", "grids-fine"};
  precision = precision_of(argc, argv);
  abut_context context;
  if (argc < 3 || !test_context(precision, &context)) {
    return 77;
  }
  try_empty(context);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    const bool many = i % 2 == 0; /* contacts */
    abut_body bodies[2];
    char path[4096];
    pose_count = usual_share() && many ? POSES / 4 : POSES;
    for (int k = 0; k < 2; ++k) {
      snprintf(path, sizeof path, "%s/%s/%c.body.json", argv[2], names[i], "ab"[k]);
      if (!CHECK_OK(abut_load_body(context, path, &bodies[k]))) {
        return check_finish();
      }
    }
    try_ways(bodies, names[i], i == 0);
    try_fields(bodies, names[i], usual_share() ? (int)i : -1);
    try_two_pairs(bodies);
    CHECK_OK(abut_destroy_body(bodies[0]));
    CHECK_OK(abut_destroy_body(bodies[1]));
  }
  return finish_context(context);
}
