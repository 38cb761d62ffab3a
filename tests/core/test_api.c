/* What a batch gives, and what it costs: test_api PRECISION. */
#include "scene.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 11 };

typedef struct fixture {
  abut_context context;
  abut_precision precision;
  size_t real;
  abut_body bodies[2];
  double pose1[7 * POSES], pose2[7 * POSES];
  void *reals1, *reals2; /* the poses in the context's precision */
} fixture;

static bool make_fixture(abut_context context, abut_precision precision, fixture *f)
{
  uint64_t seed = 12;
  f->context = context;
  f->precision = precision;
  f->real = real_size(precision);
  for (int i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.25, f->pose1 + 7 * i);
    random_pose(&seed, 0.25, f->pose2 + 7 * i);
  }
  f->reals1 = to_reals(f->pose1, 7 * POSES, precision);
  f->reals2 = to_reals(f->pose2, 7 * POSES, precision);
  return random_body(context, &seed, &f->bodies[0]) && random_body(context, &seed, &f->bodies[1]);
}

static abut_smoothing wide_smoothing(void)
{
  abut_smoothing s = abut_default_smoothing();
  s.penetration = s.neighbour = 0.05;
  return s;
}

static bool make_pair(const fixture *f, const abut_smoothing *s, abut_pair *pair, outputs *o)
{
  abut_layout l;
  return CHECK_OK(abut_create_pair(f->bodies[0], f->bodies[1], s, pair)) &&
         CHECK_OK(abut_get_layout(*pair, &l)) &&
         outputs_create(o, *pair, f->precision, POSES, POSES * l.contacts, 0.05) &&
         CHECK_OK(run_poses(*pair, ABUT_POSE_QUATERNION, f->pose1, f->pose2, o));
}

/* Compilers of GPUs contract products and sums as each kernel lets them, and another set of arrays
 * may take another kernel: there what is asked for alone is the same but for rounding, elsewhere to
 * the bit. */
static bool is_same(const fixture *f, const void *all, const void *alone, size_t count)
{
  abut_device_report report;
  size_t devices;
  if (!memcmp(all, alone, count * f->real)) {
    return true;
  }
  double most = 0.0, apart = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double a = real_at(all, f->precision, i);
    most = fmax(most, fabs(a));
    const double off = fabs(a - real_at(alone, f->precision, i));
    if (!isfinite(off)) {
      return false;
    }
    apart = fmax(apart, off);
  }
  return CHECK_OK(abut_context_devices(f->context, &report, 1, &devices)) &&
         report.info.type == ABUT_DEVICE_GPU &&
         apart <= (f->precision == ABUT_FLOAT64 ? 1e-13 : 1e-5) * most;
}

static abut_batch batch_of(const fixture *f)
{
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = f->reals1;
  batch.pose2 = f->reals2;
  return batch;
}

static abut_counters counters_of(const fixture *f)
{
  abut_counters c = {0};
  CHECK_OK(abut_get_counters(f->context, &c));
  return c;
}

/* ---- counters ---- */

static void test_second_batch(const fixture *f)
{
  const abut_smoothing s = wide_smoothing();
  abut_pair pair;
  outputs o;
  abut_device_info info;
  CHECK_OK(abut_context_device(f->context, &info));
  check(counters_of(f).builds == 0, "a new context has built %llu programs",
        (unsigned long long)counters_of(f).builds);
  if (!make_pair(f, &s, &pair, &o)) {
    return;
  }
  const abut_counters before = counters_of(f);
  check(before.builds == (info.type == ABUT_DEVICE_HOST ? 0 : 1), "%llu programs are built",
        (unsigned long long)before.builds);
  double twist[6 * POSES] = {0};
  CHECK_OK(run_poses(pair, ABUT_POSE_TWIST, twist, twist, &o));
  const abut_counters after = counters_of(f);
  check(after.bytes_up - before.bytes_up == 2 * POSES * 6 * f->real,
        "the second batch uploads %llu bytes",
        (unsigned long long)(after.bytes_up - before.bytes_up));
  check(after.builds == before.builds, "the second batch builds programs");
  check(after.resident == before.resident, "the second batch makes %llu bytes resident",
        (unsigned long long)(after.resident - before.resident));
  check(after.launches > before.launches && after.chunks > before.chunks, "launches are counted");
  CHECK_OK(abut_destroy_pair(pair));
  check(counters_of(f).resident < before.resident, "a destroyed pair leaves its memory");
  outputs_free(&o);
}

/* Memory for chunks is the device's: pairs share it. */
static void test_many_pairs(const fixture *f)
{
  enum { PAIRS = 12 };
  const abut_smoothing s = wide_smoothing();
  abut_pair pairs[PAIRS];
  for (int i = 0; i < PAIRS; ++i) {
    outputs o;
    const abut_counters before = counters_of(f);
    if (!make_pair(f, &s, &pairs[i], &o)) { /* and runs it */
      return;
    }
    const uint64_t taken = counters_of(f).resident - before.resident;
    check(i == 0 || taken < 4096, "pair %d takes %llu bytes", i, (unsigned long long)taken);
    outputs_free(&o);
  }
  for (int i = 0; i < PAIRS; ++i) {
    CHECK_OK(abut_destroy_pair(pairs[i]));
  }
}

/* ---- wants ---- */

static void test_wants(const fixture *f)
{
  for (int gate = 0; gate < 2; ++gate) {
    abut_smoothing s = wide_smoothing();
    s.select = gate ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
    s.edges[0] = s.edges[1] = s.vertices[0] = 4;
    abut_pair pair;
    outputs all, one;
    if (!make_pair(f, &s, &pair, &all) || !make_pair(f, &s, &pair, &one)) {
      return;
    }
    for (int i = 0; i < OUT_ARRAYS; ++i) {
      memset(one.arrays[i], 0x5a, POSES * out_width(&one, i) * f->real);
    }
    for (int i = 0; i < OUT_ARRAYS; ++i) {
      const size_t bytes = POSES * out_width(&all, i) * f->real;
      const size_t reduced = 7 * POSES * f->real; /* reductions come down together */
      const bool is_reduced = i >= OUT_MEAN && i < OUT_WEIGHT;
      abut_batch batch = batch_of(f);
      outputs_attach(&one, &batch, 0, 1u << i);
      const abut_counters before = counters_of(f);
      CHECK_OK(abut_contacts(pair, &batch));
      const uint64_t down = counters_of(f).bytes_down - before.bytes_down;
      check(down == POSES * sizeof(int) + (is_reduced ? reduced : bytes),
            "array %d alone brings %llu bytes down", i, (unsigned long long)down);
      check(is_same(f, all.arrays[i], one.arrays[i], bytes / f->real), "array %d alone differs", i);
      for (int k = i + 1; k < OUT_ARRAYS; ++k) {
        check(*(unsigned char *)one.arrays[k] == 0x5a, "array %d is written unasked", k);
      }
    }
    abut_batch none = batch_of(f);
    const abut_counters before = counters_of(f);
    CHECK_OK(abut_contacts(pair, &none));
    check(counters_of(f).bytes_down - before.bytes_down == POSES * sizeof(int),
          "nothing wanted brings statuses down, %llu bytes",
          (unsigned long long)(counters_of(f).bytes_down - before.bytes_down));
    CHECK_OK(abut_destroy_pair(pair));
    outputs_free(&all);
    outputs_free(&one);
  }
}

/* ---- variants ---- */

/* Slots first .. first + count - 1 of `part` are those of `full` from `from` on. */
static void same_slots(const outputs *full, size_t from, const outputs *part, size_t first,
                       size_t count, const char *what)
{
  const size_t real = real_size(full->precision);
  for (int i = OUT_P; i <= OUT_ACTIVITY; ++i) {
    const size_t each = out_width(full, i) / full->contacts * real;
    bool same = true;
    for (size_t pose = 0; pose < full->count; ++pose) {
      const char *a = (const char *)full->arrays[i] + (pose * full->contacts + from) * each;
      const char *b = (const char *)part->arrays[i] + (pose * part->contacts + first) * each;
      same = same && !memcmp(a, b, count * each);
    }
    check(same, "%s: array %d differs from the full run's", what, i);
  }
}

static void test_variants(const fixture *f)
{
  abut_layout full, l;
  outputs whole, part;
  abut_pair pair;
  for (int variant = 0; variant < 3; ++variant) {
    abut_smoothing s = wide_smoothing();
    s.edges[0] = 3;
    s.edges[1] = 5;
    s.vertices[1] = 4;
    if (!make_pair(f, &s, &pair, &whole)) {
      return;
    }
    CHECK_OK(abut_get_layout(pair, &full));
    s.two_sided = variant == 1;
    s.edge_edge = variant == 0;
    if (!make_pair(f, &s, &pair, &part)) {
      return;
    }
    CHECK_OK(abut_get_layout(pair, &l));
    const size_t pairs = s.edge_edge ? 15 : 0, second = s.two_sided ? 4 : 0;
    check(l.vertices[0] == full.vertices[0] && l.vertices[1] == second, "variant %d: vertices",
          variant);
    check(l.edges[0] * l.edges[1] == pairs && l.contacts == l.vertices[0] + second + 2 * pairs &&
            part.contacts == l.contacts,
          "variant %d has %zu contacts", variant, l.contacts);
    same_slots(&whole, 0, &part, 0, l.vertices[0], "vertices of 1");
    same_slots(&whole, full.vertex_offset[1], &part, l.vertex_offset[1], second, "vertices of 2");
    same_slots(&whole, full.edge_offset[0], &part, l.edge_offset[0], 2 * pairs, "edge pairs");
    outputs_free(&whole);
    outputs_free(&part);
  }
}

/* ---- the compact list ---- */

/* The feature of a slot where nothing is selected. */
static void plain_feature(const abut_layout *l, size_t slot, uint32_t feature[2])
{
  feature[0] = feature[1] = ABUT_NO_FEATURE;
  if (slot < l->vertices[0]) {
    feature[0] = (uint32_t)slot;
  } else if (slot < l->edge_offset[0]) {
    feature[1] = (uint32_t)(slot - l->vertex_offset[1]);
  } else {
    const size_t pair = slot - l->edge_offset[slot >= l->edge_offset[1]];
    feature[0] = (uint32_t)(pair / l->edges[1]);
    feature[1] = (uint32_t)(pair % l->edges[1]);
  }
}

/* Entries are the dense arrays' above the threshold, in order. */
static void check_entries(const outputs *o, const abut_layout *l, bool selected)
{
  const abut_compact *c = &o->compact;
  size_t at = 0, wrong = 0;
  for (size_t i = 0; i < o->count * l->contacts; ++i) {
    if (!(real_at(o->arrays[OUT_ACTIVITY], o->precision, i) >= c->threshold)) {
      continue;
    }
    if (at < c->capacity) {
      uint32_t feature[2];
      plain_feature(l, i % l->contacts, feature);
      bool same = c->pose[at] == i / l->contacts && c->slot[at] == i % l->contacts;
      for (size_t k = 0; k < 2; ++k) {
        same = same && (selected ? (c->feature[2 * at + k] == ABUT_NO_FEATURE) ==
                                     (feature[k] == ABUT_NO_FEATURE)
                                 : c->feature[2 * at + k] == feature[k]);
      }
      for (size_t k = 0; k < 3; ++k) {
        same = same && real_at(c->p, o->precision, 3 * at + k) == out_at(o, OUT_P, 3 * i + k) &&
               real_at(c->n, o->precision, 3 * at + k) == out_at(o, OUT_N, 3 * i + k);
      }
      same = same && real_at(c->d, o->precision, at) == out_at(o, OUT_D, i) &&
             real_at(c->activity, o->precision, at) == out_at(o, OUT_ACTIVITY, i);
      wrong += !same;
    }
    ++at;
  }
  check(at == c->count, "the list counts %zu of %zu contacts", c->count, at);
  check(!wrong, "%zu entries of the list are wrong", wrong);
}

static int descending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* Ranked features of vertices: no other vertex has a larger -phi, the distances of an unselected
 * run. */
static void check_ranks(const outputs *all, const abut_layout *full, const outputs *o,
                        const abut_layout *l)
{
  size_t wrong = 0, seen = 0;
  for (size_t i = 0; i < o->compact.count; ++i) {
    const size_t slot = o->compact.slot[i], pose = o->compact.pose[i];
    if (slot >= l->vertices[0]) {
      continue;
    }
    double scores[64];
    for (size_t k = 0; k < full->vertices[0]; ++k) {
      scores[k] = -out_at(all, OUT_D, pose * full->contacts + k);
    }
    const double got = scores[o->compact.feature[2 * i]];
    qsort(scores, full->vertices[0], sizeof *scores, descending);
    wrong += fabs(got - scores[slot]) > 1e-12;
    ++seen;
  }
  check(seen && !wrong, "%zu of %zu vertex features are not of their slot's rank", wrong, seen);
}

static void test_compact(const fixture *f)
{
  abut_layout full, l;
  outputs all, o;
  abut_pair pair;
  abut_smoothing s = wide_smoothing();
  if (!make_pair(f, &s, &pair, &all)) {
    return;
  }
  CHECK_OK(abut_get_layout(pair, &full));
  check_entries(&all, &full, false);
  check(all.compact.count > 20, "%zu entries", all.compact.count);
  for (int gate = 0; gate < 2; ++gate) {
    s.select = gate ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
    s.vertices[0] = 3;
    s.vertices[1] = 2;
    s.edges[0] = 4;
    s.edges[1] = 5;
    if (!make_pair(f, &s, &pair, &o)) {
      return;
    }
    CHECK_OK(abut_get_layout(pair, &l));
    check_entries(&o, &l, true);
    check_ranks(&all, &full, &o, &l);
    outputs_free(&o);
  }
  outputs_free(&all);
}

static void test_overflow(const fixture *f)
{
  const abut_smoothing s = wide_smoothing();
  outputs all;
  abut_pair pair;
  abut_layout l;
  if (!make_pair(f, &s, &pair, &all)) {
    return;
  }
  CHECK_OK(abut_get_layout(pair, &l));
  const size_t capacities[] = {0, 1, 7, all.compact.count - 1, all.compact.count};
  for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; ++i) {
    outputs o;
    if (!outputs_create(&o, pair, f->precision, POSES, capacities[i], 0.05)) {
      return;
    }
    const bool fits = capacities[i] == all.compact.count;
    const abut_status status = run_poses(pair, ABUT_POSE_QUATERNION, f->pose1, f->pose2, &o);
    check(status == (fits ? ABUT_SUCCESS : ABUT_ERROR_OVERFLOW), "capacity %zu gives %s",
          capacities[i], abut_status_name(status));
    check(o.compact.count == all.compact.count, "capacity %zu: count %zu, needed %zu",
          capacities[i], o.compact.count, all.compact.count);
    check_entries(&o, &l, false);
    for (int k = 0; k < OUT_ARRAYS; ++k) {
      check(!memcmp(o.arrays[k], all.arrays[k], POSES * out_width(&o, k) * f->real),
            "capacity %zu: array %d is not complete", capacities[i], k);
    }
    outputs_free(&o);
  }
  /* A list without arrays counts; arrays may be asked for one by one. */
  abut_compact count_only = {.threshold = 0.05};
  abut_batch batch = batch_of(f);
  batch.compact = &count_only;
  check(abut_contacts(pair, &batch) == ABUT_ERROR_OVERFLOW && count_only.count == all.compact.count,
        "a list of no capacity counts %zu", count_only.count);
  abut_compact some = {.threshold = 0.05, .capacity = all.compact.count};
  some.d = calloc(some.capacity, f->real);
  batch.compact = &some;
  CHECK_OK(abut_contacts(pair, &batch));
  check(is_same(f, all.compact.d, some.d, some.capacity), "d of the list alone differs");
  free(some.d);
  count_only.threshold = NAN;
  batch.compact = &count_only;
  check(abut_contacts(pair, &batch) == ABUT_ERROR_ARGUMENT &&
          strstr(abut_last_error(), "the threshold of the list is NaN"),
        "a threshold of NaN: %s", abut_last_error());
  outputs_free(&all);
}

/* ---- reductions ---- */

static void test_reductions(const fixture *f)
{
  const abut_smoothing s = wide_smoothing();
  const double bound = f->precision == ABUT_FLOAT64 ? 1e-13 : 1e-4;
  outputs o;
  abut_pair pair;
  abut_layout l;
  if (!make_pair(f, &s, &pair, &o)) {
    return;
  }
  CHECK_OK(abut_get_layout(pair, &l));
  for (size_t pose = 0; pose < POSES; ++pose) {
    double want[5] = {0, 0, 0, INFINITY, 0}, soft = 0.0;
    for (size_t i = 0; i < l.contacts; ++i) {
      const double d = out_at(&o, OUT_D, pose * l.contacts + i);
      const double a = out_at(&o, OUT_ACTIVITY, pose * l.contacts + i);
      want[0] += d / (double)l.contacts;
      want[1] += a;
      want[2] += a * fmax(-d, 0.0) * fmax(-d, 0.0);
      want[3] = i < l.edge_offset[0] ? fmin(want[3], d) : want[3];
      soft += i < l.edge_offset[0] ? exp(-d / s.penetration) : 0.0;
    }
    want[4] = -s.penetration * log(soft);
    for (int k = 0; k < 5; ++k) {
      const double got = out_at(&o, OUT_MEAN + k, pose);
      check(fabs(got - want[k]) <= bound * fmax(1.0, fabs(want[k])),
            "reduction %d of pose %zu is %.9g, not %.9g", k, pose, got, want[k]);
    }
  }
  outputs_free(&o);
}

/* A square mesh of SIDE x SIDE vertices on a ball's pole. */
static abut_status make_sheet(abut_context context, abut_body *out)
{
  enum { SIDE = 12, CELLS = (SIDE - 1) * (SIDE - 1) };
  const abut_superquadric ball = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  double vertices[SIDE * SIDE * 3];
  uint32_t sizes[CELLS], corners[4 * CELLS];
  abut_body_def def = abut_default_body_def();
  for (uint32_t i = 0; i < SIDE * SIDE; ++i) {
    const double x = 0.1 * (i % SIDE - 5.5), y = 0.1 * ((double)(i / SIDE) - 5.5);
    const double at[3] = {x, y, sqrt(1.0 - x * x - y * y)};
    memcpy(vertices + 3 * (size_t)i, at, sizeof at);
  }
  for (uint32_t i = 0; i < CELLS; ++i) {
    const uint32_t first = i % (SIDE - 1) + SIDE * (i / (SIDE - 1));
    const uint32_t own[4] = {first, first + 1, first + SIDE + 1, first + SIDE};
    sizes[i] = 4;
    memcpy(corners + 4 * (size_t)i, own, sizeof own);
  }
  def.vertices = vertices;
  def.vertex_count = SIDE * SIDE;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = CELLS;
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  return abut_create_body(context, &def, out);
}

/* Poses of more contacts than some drivers give a work-item's loops rounds: Mesa's llvmpipe (22.3)
 * ends them after 65535 without a word. */
static void test_many_slots(const fixture *f)
{
  enum { MANY = 4 };
  const double bound = f->precision == ABUT_FLOAT64 ? 1e-12 : 1e-4;
  double pose1[7 * MANY] = {0}, pose2[7 * MANY] = {0}, sums[3][MANY];
  abut_body sheet;
  abut_pair pair;
  abut_layout l;
  abut_smoothing s = wide_smoothing();
  s.edges[0] = s.edges[1] = s.vertices[0] = s.vertices[1] = 0;
  if (!CHECK_OK(make_sheet(f->context, &sheet)) ||
      !CHECK_OK(abut_create_pair(sheet, sheet, &s, &pair)) ||
      !CHECK_OK(abut_get_layout(pair, &l))) {
    return;
  }
  CHECK(l.contacts > 0xffff);
  void *d = calloc(MANY * l.contacts, f->real), *activity = calloc(MANY * l.contacts, f->real);
  REQUIRE(d && activity);
  for (size_t i = 0; i < MANY; ++i) { /* the other upside down above it */
    real_put(pose1, f->precision, 7 * i + 3, 1.0);
    real_put(pose2, f->precision, 7 * i + 2, 1.9 + 0.02 * (double)i);
    real_put(pose2, f->precision, 7 * i + 4, 1.0);
  }
  abut_batch batch = abut_default_batch();
  batch.count = MANY;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.d = d;
  batch.activity = activity;
  batch.reductions =
    (abut_reductions){.mean_distance = sums[0], .activity = sums[1], .energy = sums[2]};
  CHECK_OK(abut_contacts(pair, &batch));
  for (size_t pose = 0; pose < MANY; ++pose) {
    double want[3] = {0.0, 0.0, 0.0};
    for (size_t i = pose * l.contacts; i < (pose + 1) * l.contacts; ++i) {
      const double x = real_at(d, f->precision, i), a = real_at(activity, f->precision, i);
      want[0] += x / (double)l.contacts;
      want[1] += a;
      want[2] += a * fmax(-x, 0.0) * fmax(-x, 0.0);
    }
    for (int k = 0; k < 3; ++k) {
      const double got = real_at(sums[k], f->precision, pose);
      check(want[k] != 0.0 && fabs(got - want[k]) <= bound * fabs(want[k]),
            "reduction %d of pose %zu of many contacts is %.9g, not %.9g", k, pose, got, want[k]);
    }
  }
  free(d);
  free(activity);
  CHECK_OK(abut_destroy_pair(pair));
  CHECK_OK(abut_destroy_body(sheet));
}

/* ---- batches of any size ---- */

typedef struct watch {
  size_t calls, last, stop_at;
} watch;

static bool watch_progress(size_t done, size_t total, void *user)
{
  watch *w = user;
  check(done > w->last && done <= total, "progress runs from %zu to %zu of %zu", w->last, done,
        total);
  w->last = done;
  ++w->calls;
  return done < w->stop_at;
}

static void test_sizes(const fixture *f)
{
  const abut_smoothing s = wide_smoothing();
  outputs o;
  abut_pair pair;
  if (!make_pair(f, &s, &pair, &o)) {
    return;
  }
  abut_batch batch = batch_of(f);
  batch.count = 0;
  batch.pose1 = batch.pose2 = NULL;
  batch.rejected = 9;
  abut_compact list = {.count = 5};
  batch.compact = &list;
  CHECK_OK(abut_contacts(pair, &batch));
  check(batch.rejected == 0 && list.count == 0, "a batch of none leaves counts of none");
  outputs one;
  if (outputs_create(&one, pair, f->precision, 1, 0, 2.0)) {
    CHECK_OK(run_poses(pair, ABUT_POSE_QUATERNION, f->pose1 + 7 * 4, f->pose2 + 7 * 4, &one));
    check(!memcmp(one.arrays[OUT_D], (char *)o.arrays[OUT_D] + 4 * o.contacts * f->real,
                  o.contacts * f->real),
          "a batch of one differs");
    outputs_free(&one);
  }
  outputs_free(&o);
}

/* 100,003 poses of two boxes against calls of a few, and a call that is stopped. */
static void test_many(const fixture *f)
{
  enum { MANY = 100003 };
  const double half[3] = {0.5, 0.4, 0.3};
  abut_body box;
  abut_pair pair;
  abut_layout l;
  abut_smoothing s = wide_smoothing();
  s.edges[0] = s.edges[1] = 2;
  s.select = ABUT_SELECT_GATE;
  if (!make_box(f->context, half, &box) || !CHECK_OK(abut_create_pair(box, box, &s, &pair)) ||
      !CHECK_OK(abut_get_layout(pair, &l))) {
    return;
  }
  uint64_t seed = 91;
  char *pose1 = calloc(6 * (size_t)MANY, f->real), *pose2 = calloc(6 * (size_t)MANY, f->real);
  char *d = calloc(l.contacts * MANY, f->real), *sum = calloc(MANY, f->real);
  char *part = calloc(l.contacts * 10, f->real);
  for (size_t i = 0; i < 6 * (size_t)MANY; ++i) {
    real_put(pose1, f->precision, i, 0.6 * random_normal(&seed));
    real_put(pose2, f->precision, i, 0.6 * random_normal(&seed));
  }
  watch w = {0, 0, MANY + 1};
  abut_batch batch = abut_default_batch();
  batch.count = MANY;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.d = d;
  batch.reductions.activity = sum;
  batch.progress = watch_progress;
  batch.user = &w;
  CHECK_OK(abut_contacts(pair, &batch));
  check(w.last == MANY && w.calls > 1, "%zu chunks end at %zu", w.calls, w.last);
  size_t infinite = 0;
  for (size_t i = 0; i < l.contacts * MANY; ++i) {
    infinite += !isfinite(real_at(d, f->precision, i));
  }
  check(!infinite, "%zu of many distances are not finite", infinite);
  for (size_t first = 0; first < MANY;
       first += MANY - 10 - first < 9973 ? MANY - 10 - first : 9973) {
    batch.count = 10;
    batch.pose1 = pose1 + first * 6 * f->real;
    batch.pose2 = pose2 + first * 6 * f->real;
    batch.d = part;
    batch.reductions.activity = NULL;
    batch.progress = NULL;
    CHECK_OK(abut_contacts(pair, &batch));
    check(!memcmp(part, d + first * l.contacts * f->real, 10 * l.contacts * f->real),
          "poses from %zu on differ from a call of ten", first);
    if (first == MANY - 10) {
      break;
    }
  }
  w = (watch){0, 0, 1};
  batch.count = MANY;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.d = d;
  batch.progress = watch_progress;
  const abut_status status = abut_contacts(pair, &batch);
  check(status == ABUT_ERROR_CANCELLED && w.calls == 1, "a stopped call gives %s after %zu chunks",
        abut_status_name(status), w.calls);
  free(pose1);
  free(pose2);
  free(d);
  free(sum);
  free(part);
}

/* What a pair was created with comes back. */
static void test_smoothing(fixture *f)
{
  abut_smoothing given, got;
  abut_pair pair;
  CHECK_OK(abut_fit_smoothing(f->bodies[0], f->bodies[1], &given));
  given.penetration *= 0.5;
  given.edges[1] = 3;
  if (CHECK_OK(abut_create_pair(f->bodies[0], f->bodies[1], &given, &pair))) {
    CHECK_OK(abut_get_smoothing(pair, &got));
    CHECK(got.penetration == given.penetration && got.edges[1] == 3 && got.sort == given.sort);
    abut_pair again;
    if (CHECK_OK(abut_create_pair(f->bodies[0], f->bodies[1], &got, &again))) {
      CHECK_OK(abut_destroy_pair(again));
    }
    CHECK(abut_get_smoothing(pair, NULL) == ABUT_ERROR_ARGUMENT);
    CHECK_OK(abut_destroy_pair(pair));
    CHECK(abut_get_smoothing(pair, &got) == ABUT_ERROR_HANDLE);
  }
}

/* Kernels count numbers below the smallest normal one as zero; their callers go on as before. */
static void test_denormals(void)
{
  volatile float least = FLT_MIN;
  least *= 0.5f;
  CHECK(least > 0.0f);
  least *= 2.0f;
  CHECK(least == FLT_MIN);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  fixture f;
  abut_context context = require_context(precision);
  if (make_fixture(context, precision, &f)) {
    test_second_batch(&f);
    test_many_pairs(&f);
    test_wants(&f);
    test_variants(&f);
    test_compact(&f);
    test_overflow(&f);
    test_reductions(&f);
    test_many_slots(&f);
    test_sizes(&f);
    test_many(&f);
    test_smoothing(&f);
    test_denormals();
  }
  free(f.reals1);
  free(f.reals2);
  return finish_context(context);
}
