/* Calls for derivatives: one answer to the bit however a batch is split, poses that are refused,
 * values beside derivatives, and what is refused: test_derivatives_calls PRECISION. */
#include "slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 23, SCENES = 4, PARTS = 34 };

/* Every derivative of a batch, row by row: VJP, JVP, of each reduction the gradient, the Hessian's
 * gradient and product, and the VJP with its tangent. */
typedef struct result {
  size_t count, row[PARTS]; /* bytes a pose */
  char *rows[PARTS];
} result;

static void keep(result *r, int *part, const slopes *s, const void *array, size_t width)
{
  const size_t row = width * real_size(s->precision);
  r->row[*part] = row;
  r->rows[*part] = malloc(row * s->count + 1);
  memcpy(r->rows[(*part)++], array, row * s->count);
}

static bool collect(slopes *s, result *r)
{
  int part = 0;
  memset(r, 0, sizeof *r);
  r->count = s->count;
  bool ran = CHECK_OK(slopes_vjp(s, ALL_BARS)) && CHECK_OK(slopes_jvp(s));
  for (int side = 0; side < 2; ++side) {
    keep(r, &part, s, s->gradient[side], s->width);
  }
  for (int i = 0; i < 4; ++i) {
    keep(r, &part, s, s->tangents[i], slopes_out(s, i));
  }
  for (int i = 0; i < 4; ++i) {
    ran = CHECK_OK(slopes_gradient(s, (abut_reduction)i)) && ran;
    keep(r, &part, s, s->gradient[0], s->width);
    keep(r, &part, s, s->gradient[1], s->width);
    ran = CHECK_OK(slopes_hessian(s, (abut_reduction)i)) && ran;
    keep(r, &part, s, s->gradient[0], s->width);
    keep(r, &part, s, s->gradient[1], s->width);
    keep(r, &part, s, s->product[0], s->width);
    keep(r, &part, s, s->product[1], s->width);
  }
  ran = CHECK_OK(slopes_vjp_tangent(s, ALL_BARS)) && ran;
  keep(r, &part, s, s->gradient[0], s->width);
  keep(r, &part, s, s->gradient[1], s->width);
  keep(r, &part, s, s->product[0], s->width);
  keep(r, &part, s, s->product[1], s->width);
  return check(part == PARTS, "%d of %d parts", part, PARTS) && ran;
}

static void result_free(result *r)
{
  for (int i = 0; i < PARTS; ++i) {
    free(r->rows[i]);
  }
}

/* Row `i` of `a` and row `k` of `b` agree to the bit. */
static bool same_row(const result *a, size_t i, const result *b, size_t k, const char *what)
{
  for (int part = 0; part < PARTS; ++part) {
    const size_t row = a->row[part];
    if (!check(!memcmp(a->rows[part] + i * row, b->rows[part] + k * row, row),
               "%s: part %d of pose %zu differs", what, part, i)) {
      return false;
    }
  }
  return true;
}

static void same(const result *a, const result *b, const char *what)
{
  for (size_t i = 0; i < a->count && same_row(a, i, b, i, what); ++i) {
  }
}

/* ---- scenes ---- */

static abut_smoothing smoothing_of(int index)
{
  abut_smoothing s = abut_default_smoothing();
  s.select = index % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s.sort = 0.05;
  s.penetration = s.neighbour = 0.05;
  s.union_ = 0.03;
  s.length = 0.5;
  s.inside = index >= 2;
  s.trace = index == 3 ? 2 : 0;
  s.floor = index == 3 ? 1e-3 : 0.0;
  s.edges[0] = index == 2 ? 0 : 5;
  s.edges[1] = 4;
  s.vertices[0] = 3;
  s.vertices[1] = index == 2 ? 0 : 4;
  return s;
}

typedef struct scene {
  abut_context context;
  abut_body bodies[2];
  abut_pair pair;
  slopes s;
} scene;

static abut_pose_kind kind_of(int index)
{
  return index % 3 == 1 ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION;
}

static bool make_scene(abut_precision precision, int index, uint32_t chunk, uint64_t scratch,
                       scene *t)
{
  uint64_t seed = 500 + 31 * (uint64_t)index;
  const abut_smoothing smoothing = smoothing_of(index);
  if (!open_context(precision, chunk, scratch, &t->context) ||
      !random_body(t->context, &seed, &t->bodies[0]) ||
      !random_body(t->context, &seed, &t->bodies[1]) ||
      !CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &smoothing, &t->pair)) ||
      !slopes_create(&t->s, t->pair, precision, kind_of(index), POSES, seed)) {
    return false;
  }
  for (size_t i = 0; i < 2 * POSES; ++i) {
    double pose[7];
    random_pose(&seed, 0.3, pose);
    slopes_put(&t->s, (int)(i % 2), i / 2, pose);
  }
  return true;
}

static void end_scene(scene *t)
{
  slopes_free(&t->s);
  CHECK_OK(abut_destroy_context(t->context));
}

/* ---- the same to the bit ---- */

/* Pose `i` of `s` in a call of its own. */
static bool collect_one(const slopes *s, size_t i, result *r)
{
  slopes one;
  const size_t real = real_size(s->precision), row = s->width * real;
  if (!slopes_create(&one, s->pair, s->precision, s->kind, 1, 1)) {
    return false;
  }
  for (int side = 0; side < 2; ++side) {
    memcpy(one.pose[side], (char *)s->pose[side] + i * row, row);
    memcpy(one.along[side], (char *)s->along[side] + i * row, row);
  }
  for (int k = 0; k < 4; ++k) {
    const size_t bars = slopes_out(s, k) * real;
    memcpy(one.bars[k], (char *)s->bars[k] + i * bars, bars);
    memcpy(one.bar_tangents[k], (char *)s->bar_tangents[k] + i * bars, bars);
  }
  const bool ran = collect(&one, r);
  slopes_free(&one);
  return ran;
}

static void test_split(abut_precision precision, int index, const result *whole)
{
  static const struct {
    uint32_t chunk;
    uint64_t scratch;
    const char *what;
  } ways[] = {{0, 0, "another context"},
              {1, 0, "chunks of one"},
              {7, 0, "chunks of seven"},
              {0, 1, "the least scratch"}};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
    scene t;
    result part;
    if (make_scene(precision, index, ways[i].chunk, ways[i].scratch, &t) && collect(&t.s, &part)) {
      same(whole, &part, ways[i].what);
      result_free(&part);
    }
    end_scene(&t);
  }
}

static void test_bits(scene *t, int index, const result *whole)
{
  result again;
  if (collect(&t->s, &again)) {
    same(whole, &again, "a second run");
    result_free(&again);
  }
  for (size_t i = 0; i < POSES; i += usual_share() ? 6 : UNLESS_SANITIZED(1, 6)) {
    if (collect_one(&t->s, i, &again)) {
      same_row(whole, i, &again, 0, "a call each");
      result_free(&again);
    }
  }
  /* What other cotangents left in the scratch memory does not show. */
  CHECK_OK(slopes_vjp(&t->s, 1u << OUT_ACTIVITY));
  if (collect(&t->s, &again)) {
    same(whole, &again, "after a call for less");
    result_free(&again);
  }
  if (!usual_share() || index % 2) {
    test_split(t->s.precision, index, whole);
  }
}

/* ---- poses that are refused ---- */

static size_t numbers_in(const slopes *s, const result *r, size_t pose)
{
  size_t numbers = 0;
  for (int part = 0; part < PARTS; ++part) {
    const size_t width = r->row[part] / real_size(s->precision);
    for (size_t i = pose * width; i < (pose + 1) * width; ++i) {
      numbers += !isnan(real_at(r->rows[part], s->precision, i));
    }
  }
  return numbers;
}

static void test_refused(scene *t, const result *whole)
{
  slopes *s = &t->s;
  static const size_t bad[] = {0, 3, 8, 15, 22};
  const size_t width = s->width;
  result some;
  bool refused[POSES] = {false};
  void *pose[2];
  for (int side = 0; side < 2; ++side) {
    pose[side] = malloc(POSES * width * real_size(s->precision));
    memcpy(pose[side], s->pose[side], POSES * width * real_size(s->precision));
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    refused[bad[i]] = true;
    const double what = i == 1 ? INFINITY : i == 2 ? -INFINITY : NAN;
    real_put(s->pose[i % 2], s->precision, bad[i] * width + i, what);
  }
  for (size_t k = 3; k < 7 && width == 7; ++k) { /* and no quaternion */
    refused[11] = refused[15] = true;
    real_put(s->pose[0], s->precision, 11 * width + k, 0.0);
    real_put(s->pose[1], s->precision, 15 * width + k, -0.0);
  }
  if (collect(s, &some)) {
    for (size_t i = 0; i < POSES; ++i) {
      check((s->status[i] != ABUT_POSE_OK) == refused[i], "pose %zu has status %u", i,
            s->status[i]);
      if (refused[i]) {
        const size_t numbers = numbers_in(s, &some, i);
        check(!numbers, "refused pose %zu has %zu numbers", i, numbers);
      } else {
        same_row(whole, i, &some, i, "beside refused poses");
      }
    }
    result_free(&some);
  }
  for (int side = 0; side < 2; ++side) {
    memcpy(s->pose[side], pose[side], POSES * width * real_size(s->precision));
    free(pose[side]);
  }
}

/* ---- values beside derivatives ---- */

/* Largest difference of two calls' outputs, relative to a metre, and whether all bits agree. */
static double off(const outputs *a, const outputs *b, unsigned arrays, bool *bits)
{
  double worst = 0.0;
  *bits = true;
  for (int array = 0; array < OUT_ARRAYS; ++array) {
    const size_t count = a->count * out_width(a, array);
    if (!(arrays & 1u << array)) {
      continue;
    }
    *bits = *bits && !memcmp(a->arrays[array], b->arrays[array], count * real_size(a->precision));
    for (size_t i = 0; i < count; ++i) {
      const double x = fabs(out_at(a, array, i) - out_at(b, array, i));
      worst = x > worst || isnan(x) ? x : worst;
    }
  }
  return worst;
}

static bool contacts_of(const slopes *s, abut_pair pair, outputs *o)
{
  abut_batch batch = slopes_batch(s);
  abut_layout layout;
  CHECK_OK(abut_get_layout(pair, &layout));
  if (!outputs_create(o, pair, s->precision, s->count, s->count * layout.contacts, 0.01)) {
    return false;
  }
  batch.compact = &o->compact;
  batch.status = o->status;
  outputs_attach(o, &batch, 0, OUT_ALL);
  return CHECK_OK(abut_contacts(pair, &batch));
}

typedef enum beside { BESIDE_VJP, BESIDE_JVP, BESIDE_GRADIENT, BESIDE_HESSIAN, BESIDES } beside;

static abut_status run_beside(beside b, const slopes *s, abut_batch *batch)
{
  const abut_cotangents bars = {.p = s->bars[0],
                                .d = s->bars[1],
                                .n = s->bars[2],
                                .activity = s->bars[3]};
  const abut_gradients gradients = {s->gradient[0], s->gradient[1]};
  const abut_gradients products = {s->product[0], s->product[1]};
  const abut_pose_tangents along = {s->along[0], s->along[1]};
  const abut_tangents tangents = {.p = s->tangents[0],
                                  .d = s->tangents[1],
                                  .n = s->tangents[2],
                                  .activity = s->tangents[3]};
  switch (b) {
  case BESIDE_VJP:
    return abut_vjp(s->pair, s->derivatives, batch, &bars, &gradients);
  case BESIDE_JVP:
    return abut_jvp(s->pair, s->derivatives, batch, &along, &tangents);
  case BESIDE_GRADIENT:
    return abut_gradient(s->pair, s->derivatives, batch, ABUT_REDUCE_ENERGY, &gradients);
  default:
    return abut_hessian_product(s->pair, batch, ABUT_REDUCE_ENERGY, &along, &gradients, &products);
  }
}

/* Values agree with those of abut_contacts to rounding: a program on duals, or fields with their
 * Jacobians, add up in another order. They are the same to the bit where they are computed apart:
 * beside a JVP or a Hessian product for reductions or a list, and with a pair for derivatives, be
 * it the same one. */
static void test_values(scene *t)
{
  static const unsigned asked[] = {OUT_ALL, 0xfu, 1u << OUT_N, 1u << OUT_SOFT};
  static const double rounding[2] = {5e-4, 1e-12};
  const slopes *s = &t->s;
  outputs plain, o;
  double worst = 0.0;
  if (!contacts_of(s, t->pair, &plain)) {
    return;
  }
  for (int b = 0; b < BESIDES; ++b) {
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i) {
      for (int list = 0; list < 2; ++list) {
        abut_batch batch = slopes_batch(s);
        bool bits;
        outputs_create(&o, t->pair, s->precision, POSES, plain.compact.capacity, 0.01);
        outputs_attach(&o, &batch, 0, asked[i]);
        batch.compact = list ? &o.compact : NULL;
        CHECK_OK(run_beside((beside)b, s, &batch));
        const double error = off(&plain, &o, asked[i], &bits);
        const bool apart = b % 2 && (list || asked[i] >= 1u << OUT_MEAN);
        check(apart ? bits : error <= rounding[s->precision],
              "values %x beside %d, list %d, are off by %g", asked[i], b, list, error);
        check(!list || o.compact.count == plain.compact.count, "%zu contacts listed, not %zu",
              o.compact.count, plain.compact.count);
        worst = fmax(worst, error);
        outputs_free(&o);
      }
    }
  }
  printf("values beside derivatives: within %.1e of those alone\n", worst);
  outputs_free(&plain);
}

/* Asking changes no VJP, JVP and Hessian to the bit; gradients of reductions to rounding. */
static void test_asking_changes_nothing(scene *t, const result *whole)
{
  slopes *s = &t->s;
  outputs o;
  outputs_create(&o, t->pair, s->precision, POSES, 4, 0.01);
  for (int list = 0; list < 2; ++list) {
    abut_batch batch = slopes_batch(s);
    outputs_attach(&o, &batch, 0, list ? OUT_ALL : 0xfu);
    CHECK_OK(run_beside(BESIDE_VJP, s, &batch));
    check(!memcmp(s->gradient[0], whole->rows[0], POSES * whole->row[0]) &&
            !memcmp(s->gradient[1], whole->rows[1], POSES * whole->row[1]),
          "a VJP changes with what is asked beside it");
    CHECK_OK(run_beside(BESIDE_JVP, s, &batch));
    for (int i = 0; i < 4; ++i) {
      check(!memcmp(s->tangents[i], whole->rows[2 + i], POSES * whole->row[2 + i]),
            "a JVP changes with what is asked beside it");
    }
    CHECK_OK(run_beside(BESIDE_GRADIENT, s, &batch));
    const int energy = 6 + 6 * ABUT_REDUCE_ENERGY;
    for (size_t i = 0; i < POSES * s->width; ++i) {
      const double a = slopes_at(s, s->gradient[0], i);
      const double b = real_at(whole->rows[energy], s->precision, i);
      check(fabs(a - b) <= (s->precision == ABUT_FLOAT64 ? 1e-12 : 1e-4) * (1.0 + fabs(a)),
            "a gradient changes by %g with what is asked beside it", a - b);
    }
    CHECK_OK(run_beside(BESIDE_HESSIAN, s, &batch));
    check(!memcmp(s->product[1], whole->rows[energy + 5], POSES * whole->row[energy + 5]),
          "a Hessian product changes with what is asked beside it");
  }
  outputs_free(&o);
}

/* ---- what is refused ---- */

static void refuses(abut_status got, abut_status wanted, const char *text, const char *what)
{
  check(got == wanted, "%s gives %s, not %s", what, abut_status_name(got),
        abut_status_name(wanted));
  check(strstr(abut_last_error(), text) != NULL, "%s: the text is '%s', without '%s'", what,
        abut_last_error(), text);
}

static void test_arguments(scene *t)
{
  const slopes *s = &t->s;
  abut_batch batch = slopes_batch(s);
  const abut_gradients to = {s->gradient[0], s->gradient[1]};
  const abut_cotangents bars = {.d = s->bars[1]}, none = {0};
  const abut_pose_tangents along = {s->along[0], NULL};
  const abut_tangents tangents = {0};
  const abut_pair pair = s->pair, same_pair = ABUT_SAME_PAIR;
  const abut_status bad = ABUT_ERROR_ARGUMENT;
  refuses(abut_vjp(pair, same_pair, &batch, &none, &to), bad, "cotangent of at least one output",
          "no cotangent");
  refuses(abut_vjp(pair, same_pair, &batch, NULL, &to), bad, "cotangent of at least one output",
          "cotangents of NULL");
  refuses(abut_vjp(pair, same_pair, &batch, &bars, NULL), bad, "at least one gradient array",
          "no gradients");
  refuses(abut_vjp(pair, same_pair, NULL, &bars, &to), bad, "batch", "no batch");
  refuses(abut_jvp(pair, same_pair, &batch, NULL, &tangents), bad, "a tangent of a pose",
          "no direction");
  refuses(abut_jvp(pair, same_pair, &batch, &along, NULL), bad, "an array for the tangent",
          "no tangents");
  refuses(abut_jvp(pair, same_pair, NULL, &along, &tangents), bad, "batch", "no batch");
  refuses(abut_gradient(pair, same_pair, &batch, (abut_reduction)6, &to), bad, "reduction 6",
          "an unknown reduction");
  refuses(abut_gradient(pair, same_pair, &batch, (abut_reduction)-1, &to), bad, "reduction -1",
          "a negative reduction");
  refuses(abut_gradient(pair, same_pair, &batch, ABUT_REDUCE_ENERGY, NULL), bad,
          "at least one gradient array", "no gradients");
  refuses(abut_hessian_product(pair, &batch, (abut_reduction)9, &along, NULL, &to), bad,
          "reduction 9", "an unknown reduction");
  refuses(abut_hessian_product(pair, &batch, ABUT_REDUCE_ENERGY, NULL, NULL, &to), bad,
          "at least one tangent", "no direction");
  refuses(abut_hessian_product(pair, &batch, ABUT_REDUCE_ENERGY, &along, &to, NULL), bad,
          "products", "no products");
  refuses(abut_vjp_tangent(pair, &batch, &none, &none, &along, NULL, &to), bad,
          "cotangent of at least one output", "no cotangent and no tangent of one");
  refuses(abut_vjp_tangent(pair, &batch, NULL, NULL, &along, NULL, &to), bad,
          "cotangent of at least one output", "cotangents of NULL");
  refuses(abut_vjp_tangent(pair, &batch, &bars, NULL, &along, &to, NULL), bad,
          "an array for a tangent", "no room for tangents");
  refuses(abut_vjp_tangent(pair, NULL, &bars, NULL, &along, NULL, &to), bad, "batch", "no batch");
  refuses(abut_jacobian(pair, same_pair, &batch, s->bars[0]), bad, "list", "no list");
  refuses(abut_jacobian(pair, same_pair, NULL, s->bars[0]), bad, "batch", "no batch");
  batch.pose2 = NULL;
  refuses(abut_vjp(pair, same_pair, &batch, &bars, &to), bad, "their array is NULL",
          "one pose of two");
  batch.cookie = 0;
  refuses(abut_jvp(pair, same_pair, &batch, &along, &tangents), bad, "abut_default_batch",
          "a batch without its cookie");
}

static void test_handles(scene *t)
{
  const slopes *s = &t->s;
  abut_batch batch = slopes_batch(s);
  const abut_gradients to = {s->gradient[0], s->gradient[1]};
  const abut_cotangents bars = {.d = s->bars[1]};
  const abut_pose_tangents along = {s->along[0], NULL};
  const abut_tangents tangents = {0};
  const abut_smoothing smoothing = smoothing_of(0);
  abut_pair stale;
  CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &smoothing, &stale));
  CHECK_OK(abut_destroy_pair(stale));
  const abut_pair none = {0, 0}, handles[] = {none, stale};
  for (int i = 0; i < 2; ++i) {
    const char *text = i ? "stale" : "null";
    const abut_pair h = handles[i];
    const abut_status bad = ABUT_ERROR_HANDLE;
    refuses(abut_vjp(h, none, &batch, &bars, &to), bad, text, "abut_vjp");
    refuses(abut_jvp(h, none, &batch, &along, &tangents), bad, text, "abut_jvp");
    refuses(abut_gradient(h, none, &batch, ABUT_REDUCE_ENERGY, &to), bad, text, "abut_gradient");
    refuses(abut_hessian_product(h, &batch, ABUT_REDUCE_ENERGY, &along, &to, &to), bad, text,
            "abut_hessian_product");
    refuses(abut_vjp_tangent(h, &batch, &bars, NULL, &along, NULL, &to), bad, text,
            "abut_vjp_tangent");
    abut_compact list = {0};
    batch.compact = &list;
    refuses(abut_jacobian(h, none, &batch, NULL), bad, text, "abut_jacobian");
    batch.compact = NULL;
  }
  refuses(abut_vjp(s->pair, stale, &batch, &bars, &to), ABUT_ERROR_HANDLE, "stale",
          "a stale pair for derivatives");
}

/* No poses is no error; arrays that are not wanted are left alone. */
static void test_nothing(scene *t)
{
  slopes *s = &t->s, empty = t->s;
  result r;
  empty.count = 0;
  if (collect(&empty, &r)) {
    result_free(&r);
  }
  abut_batch batch = slopes_batch(&empty);
  abut_compact list = {0};
  batch.pose1 = batch.pose2 = NULL;
  batch.compact = &list;
  CHECK_OK(abut_jacobian(s->pair, ABUT_SAME_PAIR, &batch, NULL));
  /* One body's gradient alone is the same. */
  CHECK_OK(slopes_vjp(s, ALL_BARS));
  const size_t bytes = POSES * s->width * real_size(s->precision);
  void *alone = calloc(1, bytes);
  const abut_cotangents bars = {.p = s->bars[0],
                                .d = s->bars[1],
                                .n = s->bars[2],
                                .activity = s->bars[3]};
  const abut_gradients second = {NULL, alone}, nobody = {NULL, NULL};
  batch = slopes_batch(s);
  CHECK_OK(abut_vjp(s->pair, ABUT_SAME_PAIR, &batch, &bars, &second));
  check(!memcmp(alone, s->gradient[1], bytes), "one body's gradient alone differs");
  CHECK_OK(abut_vjp(s->pair, ABUT_SAME_PAIR, &batch, &bars, &nobody));
  /* A missing tangent is one of zeros. */
  const abut_pose_tangents first = {s->along[0], NULL};
  const abut_tangents to = {.d = s->tangents[1]};
  CHECK_OK(abut_jvp(s->pair, ABUT_SAME_PAIR, &batch, &first, &to));
  void *d = malloc(POSES * s->contacts * real_size(s->precision));
  memcpy(d, s->tangents[1], POSES * s->contacts * real_size(s->precision));
  memset(alone, 0, bytes);
  const abut_pose_tangents zeros = {s->along[0], alone};
  CHECK_OK(abut_jvp(s->pair, ABUT_SAME_PAIR, &batch, &zeros, &to));
  check(!memcmp(d, s->tangents[1], POSES * s->contacts * real_size(s->precision)),
        "a tangent of NULL is not zero");
  free(alone);
  free(d);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  for (int i = 0; i < SCENES; ++i) {
    scene t;
    result whole;
    if (make_scene(precision, i, 0, 0, &t) && collect(&t.s, &whole)) {
      test_bits(&t, i, &whole);
      test_refused(&t, &whole);
      test_values(&t);
      test_asking_changes_nothing(&t, &whole);
      test_arguments(&t);
      test_handles(&t);
      test_nothing(&t);
      result_free(&whole);
    }
    end_scene(&t);
  }
  return check_finish();
}
