/* Derivatives of VJPs along poses and cotangents: against differences of VJPs, against Hessian
 * products of reductions whose cotangents are written out, linear, and what is refused:
 * test_vjp_tangents PRECISION. */
#include "slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 9, SCENES = 4, REJECTED = 3 };

typedef struct scene {
  abut_context context;
  abut_body bodies[2];
  abut_pair pair;
  slopes s;
} scene;

static abut_smoothing smoothing_of(int index)
{
  abut_smoothing s = abut_default_smoothing();
  s.select = index % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s.sort = s.penetration = s.neighbour = 0.05;
  s.union_ = 0.03;
  s.length = 0.5;
  s.trace = index == 3 ? 2 : index == 0;
  s.edges[0] = 4;
  s.edges[1] = 3;
  s.vertices[0] = index == 1 ? 0 : 3;
  return s;
}

static bool make_scene(abut_precision precision, int index, scene *t)
{
  uint64_t seed = 700 + (uint64_t)index;
  const abut_pose_kind kind = index % 2 ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  const abut_smoothing smoothing = smoothing_of(index);
  if (!open_context(precision, 0, 0, &t->context) ||
      !smooth_body(t->context, &seed, &t->bodies[0]) ||
      !smooth_body(t->context, &seed, &t->bodies[1]) ||
      !CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &smoothing, &t->pair)) ||
      !slopes_create(&t->s, t->pair, precision, kind, POSES, seed)) {
    return false;
  }
  for (size_t i = 0; i < 2 * POSES; ++i) {
    double pose[7];
    random_pose(&seed, 0.3, pose);
    pose[3] *= 1.5; /* quaternions of other lengths than 1 */
    slopes_put(&t->s, (int)(i % 2), i / 2, pose);
  }
  real_put(t->s.pose[0], precision, REJECTED * t->s.width + 1, NAN);
  return true;
}

static void end_scene(scene *t)
{
  slopes_free(&t->s);
  CHECK_OK(abut_destroy_context(t->context));
}

/* ---- rows of both bodies ---- */

static size_t row_bytes(const slopes *s)
{
  return POSES * s->width * real_size(s->precision);
}

static double by_number(const slopes *s, void *const of[2], size_t pose, size_t i)
{
  return slopes_at(s, of[i / s->width], pose * s->width + i % s->width);
}

/* Copies of both bodies' rows. */
static void keep(const slopes *s, void *const from[2], void *to[2])
{
  for (int side = 0; side < 2; ++side) {
    to[side] = malloc(row_bytes(s));
    memcpy(to[side], from[side], row_bytes(s));
  }
}

static void drop(void *of[2])
{
  free(of[0]);
  free(of[1]);
}

static double off(double worst, double difference)
{
  return fabs(difference) <= worst ? worst : fabs(difference); /* a NaN stays */
}

/* The largest difference of a + scale b from c, each pose's relative to its largest number of c,
 * but at least 1e-2. */
static double apart(const slopes *s, void *const a[2], double scale, void *const b[2],
                    void *const c[2])
{
  double worst = 0.0;
  for (size_t pose = 0; pose < POSES; ++pose) {
    double most = 1e-2;
    for (size_t i = 0; i < 2 * s->width; ++i) {
      most = fmax(most, fabs(by_number(s, c, pose, i)));
    }
    for (size_t i = 0; pose != REJECTED && i < 2 * s->width; ++i) {
      const double sum = by_number(s, a, pose, i) + scale * by_number(s, b, pose, i);
      worst = off(worst, (sum - by_number(s, c, pose, i)) / most);
    }
  }
  return worst;
}

static bool same(const slopes *s, void *const a[2], void *const b[2])
{
  bool equal = true;
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < POSES * s->width; ++i) {
      const double x = slopes_at(s, a[side], i), y = slopes_at(s, b[side], i);
      equal = equal && (x == y || (isnan(x) && isnan(y)));
    }
  }
  return equal;
}

static double limit_of(const slopes *s)
{
  return s->precision == ABUT_FLOAT64 ? 1e-11 : 2e-4;
}

/* ---- against differences ---- */

/* All inputs, so far along their tangents. */
static void move(slopes *s, unsigned given, const slopes *from, double step)
{
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < POSES * s->width; ++i) {
      ((double *)s->pose[side])[i] =
        slopes_at(from, from->pose[side], i) + step * slopes_at(from, from->along[side], i);
    }
  }
  for (int k = 0; k < 4; ++k) {
    for (size_t i = 0; given & 1u << k && i < POSES * slopes_out(s, k); ++i) {
      ((double *)s->bars[k])[i] =
        slopes_at(from, from->bars[k], i) + step * slopes_at(from, from->bar_tangents[k], i);
    }
  }
}

/* Central differences in double: of all outputs together, and of each. */
static void test_differences(scene *t, int index, unsigned given)
{
  const double step = 3e-8;
  slopes *s = &t->s, moved;
  void *side[2][2], *slope[2];
  if (!slopes_create(&moved, t->pair, s->precision, s->kind, POSES, 1)) {
    return;
  }
  for (int way = 0; way < 2; ++way) {
    move(&moved, given, s, way ? step : -step);
    CHECK_OK(slopes_vjp(&moved, given));
    keep(s, moved.gradient, side[way]);
  }
  CHECK_OK(slopes_vjp_tangent(s, given));
  keep(s, side[1], slope);
  for (size_t i = 0; i < 2 * POSES * s->width; ++i) {
    double *to = slope[i / (POSES * s->width)];
    const size_t k = i % (POSES * s->width);
    to[k] = (to[k] - ((double *)side[0][i / (POSES * s->width)])[k]) / (2.0 * step);
  }
  void *const none[2] = {s->gradient[0], s->gradient[1]};
  const double worst = apart(s, slope, 0.0, none, s->product);
  printf("scene %d, outputs %x: differences to %.1e\n", index, given, worst);
  check(worst <= 2e-6, "scene %d, outputs %x: %g off differences", index, given, worst);
  drop(side[0]);
  drop(side[1]);
  drop(slope);
  slopes_free(&moved);
}

/* ---- linear ---- */

static abut_status tangent_of(slopes *s, const abut_cotangents *bars,
                              const abut_cotangents *bar_tangents, const abut_pose_tangents *along)
{
  abut_batch batch = slopes_batch(s);
  const abut_gradients products = {s->product[0], s->product[1]};
  return abut_vjp_tangent(s->pair, &batch, bars, bar_tangents, along, NULL, &products);
}

static void check_apart(const slopes *s, double worst, const char *what)
{
  printf("%s: to %.1e\n", what, worst);
  check(worst <= limit_of(s), "%s: %g off", what, worst);
}

/* The answer is the sum of that along the poses and that along the cotangents; the latter is the
 * VJP of the cotangents' tangents; the gradient beside it is the VJP. */
static void test_parts(scene *t)
{
  slopes *s = &t->s;
  const abut_cotangents bars = {.p = s->bars[0],
                                .d = s->bars[1],
                                .n = s->bars[2],
                                .activity = s->bars[3]};
  const abut_cotangents of_bars = {.p = s->bar_tangents[0],
                                   .d = s->bar_tangents[1],
                                   .n = s->bar_tangents[2],
                                   .activity = s->bar_tangents[3]};
  const abut_pose_tangents along = {s->along[0], s->along[1]}, nowhere = {NULL, NULL};
  void *all[2], *gradient[2], *poses[2], *cotangents[2], *vjp[2];
  CHECK_OK(slopes_vjp_tangent(s, ALL_BARS));
  keep(s, s->product, all);
  keep(s, s->gradient, gradient);
  CHECK_OK(tangent_of(s, &bars, NULL, &along));
  keep(s, s->product, poses);
  CHECK_OK(tangent_of(s, NULL, &of_bars, NULL));
  keep(s, s->product, cotangents);
  CHECK_OK(tangent_of(s, &bars, &of_bars, &nowhere));
  check_apart(s, apart(s, s->product, 0.0, s->product, cotangents), "without tangents of poses");
  abut_batch batch = slopes_batch(s);
  const abut_gradients to = {s->gradient[0], s->gradient[1]};
  CHECK_OK(abut_vjp(s->pair, ABUT_SAME_PAIR, &batch, &of_bars, &to));
  keep(s, s->gradient, vjp);
  CHECK_OK(slopes_vjp(s, ALL_BARS));
  check_apart(s, apart(s, poses, 1.0, cotangents, all), "the sum of its parts");
  check_apart(s, apart(s, cotangents, 0.0, vjp, vjp), "the VJP of cotangents' tangents");
  check_apart(s, apart(s, gradient, 0.0, gradient, s->gradient), "the VJP beside it");
  drop(all);
  drop(gradient);
  drop(poses);
  drop(cotangents);
  drop(vjp);
}

/* Along one pose's tangent and along the other's: their sum. */
static void test_sides(scene *t)
{
  slopes *s = &t->s;
  const abut_cotangents bars = {.p = s->bars[0],
                                .d = s->bars[1],
                                .n = s->bars[2],
                                .activity = s->bars[3]};
  const abut_pose_tangents both = {s->along[0], s->along[1]};
  const abut_pose_tangents first = {s->along[0], NULL}, second = {NULL, s->along[1]};
  void *one[2], *other[2];
  CHECK_OK(tangent_of(s, &bars, NULL, &first));
  keep(s, s->product, one);
  CHECK_OK(tangent_of(s, &bars, NULL, &second));
  keep(s, s->product, other);
  CHECK_OK(tangent_of(s, &bars, NULL, &both));
  check_apart(s, apart(s, one, 1.0, other, s->product), "both poses' tangents");
  drop(one);
  drop(other);
}

/* ---- against reductions ---- */

/* What a reduction's cotangents are, with their tangents along the poses', written out. */
static void of_reduction(const slopes *s, abut_reduction reduction, const double *v,
                         const double *slope, double *out)
{
  const double depth = fmax(-v[0], 0.0), rate = v[0] < 0.0 ? -slope[0] : 0.0;
  memset(out, 0, 4 * sizeof *out);
  if (reduction == ABUT_REDUCE_MEAN_DISTANCE) {
    out[0] = 1.0 / (double)s->contacts;
  } else if (reduction == ABUT_REDUCE_ACTIVITY) {
    out[1] = 1.0;
  } else {
    out[0] = -2.0 * v[1] * depth;
    out[1] = depth * depth;
    out[2] = -2.0 * (slope[1] * depth + v[1] * rate);
    out[3] = 2.0 * depth * rate;
  }
}

/* Values and tangents come from a JVP, as a chain of derivatives has them. */
static void test_reduction(scene *t, abut_reduction reduction)
{
  slopes *s = &t->s;
  const size_t count = POSES * s->contacts, real = real_size(s->precision);
  void *values[2] = {calloc(count, real), calloc(count, real)};
  void *bars[4];
  abut_batch batch = slopes_batch(s);
  const abut_pose_tangents along = {s->along[0], s->along[1]};
  const abut_tangents to = {.d = s->tangents[OUT_D], .activity = s->tangents[OUT_ACTIVITY]};
  batch.d = values[0];
  batch.activity = values[1];
  CHECK_OK(abut_jvp(s->pair, ABUT_SAME_PAIR, &batch, &along, &to));
  for (int k = 0; k < 4; ++k) {
    bars[k] = calloc(count, real);
  }
  for (size_t i = 0; i < count; ++i) {
    const double v[2] = {slopes_at(s, values[0], i), slopes_at(s, values[1], i)};
    const double slope[2] = {slopes_at(s, s->tangents[OUT_D], i),
                             slopes_at(s, s->tangents[OUT_ACTIVITY], i)};
    double of[4];
    of_reduction(s, reduction, v, slope, of);
    for (int k = 0; k < 4; ++k) {
      real_put(bars[k], s->precision, i, of[k]);
    }
  }
  const bool energy = reduction == ABUT_REDUCE_ENERGY;
  const bool d = reduction != ABUT_REDUCE_ACTIVITY;
  const bool a = reduction != ABUT_REDUCE_MEAN_DISTANCE;
  const abut_cotangents cotangents = {.d = d ? bars[0] : NULL, .activity = a ? bars[1] : NULL};
  const abut_cotangents tangents = {.d = bars[2], .activity = bars[3]};
  void *product[2];
  CHECK_OK(tangent_of(s, &cotangents, energy ? &tangents : NULL, &along));
  keep(s, s->product, product);
  CHECK_OK(slopes_hessian(s, reduction));
  char text[64];
  snprintf(text, sizeof text, "the Hessian product of reduction %d", (int)reduction);
  check_apart(s, apart(s, product, 0.0, product, s->product), text);
  drop(product);
  for (int k = 0; k < 4; ++k) {
    free(bars[k]);
  }
  free(values[0]);
  free(values[1]);
}

/* ---- what comes beside ---- */

/* Values, reductions and a list change nothing, nor does an answer in its tangents' place. */
static void test_beside(scene *t)
{
  slopes *s = &t->s;
  void *plain[2], *kept[2];
  outputs o;
  CHECK_OK(slopes_vjp_tangent(s, ALL_BARS));
  keep(s, s->product, plain);
  keep(s, s->along, kept);
  const abut_cotangents bars = {.p = s->bars[0],
                                .d = s->bars[1],
                                .n = s->bars[2],
                                .activity = s->bars[3]};
  const abut_cotangents of_bars = {.p = s->bar_tangents[0],
                                   .d = s->bar_tangents[1],
                                   .n = s->bar_tangents[2],
                                   .activity = s->bar_tangents[3]};
  const abut_pose_tangents along = {s->along[0], s->along[1]};
  const abut_gradients products = {s->product[0], s->product[1]};
  if (outputs_create(&o, t->pair, s->precision, POSES, POSES * s->contacts, 0.01)) {
    for (int list = 0; list < 2; ++list) {
      abut_batch batch = slopes_batch(s);
      batch.compact = list ? &o.compact : NULL;
      outputs_attach(&o, &batch, 0, list ? OUT_ALL : 0xfu);
      CHECK_OK(abut_vjp_tangent(s->pair, &batch, &bars, &of_bars, &along, NULL, &products));
      check(same(s, s->product, plain), "what is asked beside it changes it (%d)", list);
    }
    outputs_free(&o);
  }
  abut_batch batch = slopes_batch(s);
  const abut_gradients over = {s->along[0], s->along[1]};
  CHECK_OK(abut_vjp_tangent(s->pair, &batch, &bars, &of_bars, &along, NULL, &over));
  check(same(s, s->along, plain), "in its tangents' place it is another");
  for (int side = 0; side < 2; ++side) {
    memcpy(s->along[side], kept[side], row_bytes(s));
  }
  drop(plain);
  drop(kept);
}

/* A cotangent of pose 1 is none. */
static void spoil(slopes *s, int output, void *const before[2])
{
  const size_t at = slopes_out(s, output);
  const double number = slopes_at(s, s->bars[output], at);
  bool finite[2] = {true, true};
  real_put(s->bars[output], s->precision, at, NAN);
  CHECK_OK(slopes_vjp_tangent(s, ALL_BARS));
  real_put(s->bars[output], s->precision, at, number);
  for (size_t i = 0; i < 2 * POSES * s->width; ++i) {
    const size_t pose = i / (2 * s->width), k = i % (2 * s->width);
    const double product = by_number(s, s->product, pose, k);
    finite[0] = finite[0] && (pose != 1 || isfinite(by_number(s, s->gradient, pose, k)));
    finite[1] = finite[1] && (pose != 1 || isfinite(product));
    check(pose == 1 || pose == REJECTED || product == by_number(s, before, pose, k),
          "pose 1's cotangent reaches pose %zu", pose);
  }
  check(!finite[0] && !finite[1], "output %d: a cotangent that is no number leaves no trace in %s",
        output, finite[0] ? "gradients" : "their tangents");
}

/* A rejected pose has no numbers; a cotangent that is none spoils its own pose's answer alone. */
static void test_no_numbers(scene *t)
{
  slopes *s = &t->s;
  void *before[2];
  CHECK_OK(slopes_vjp_tangent(s, ALL_BARS));
  keep(s, s->product, before);
  for (size_t i = 0; i < 2 * s->width; ++i) {
    check(isnan(by_number(s, s->product, REJECTED, i)) &&
            isnan(by_number(s, s->gradient, REJECTED, i)),
          "a rejected pose has numbers");
  }
  check(s->status[REJECTED] != ABUT_POSE_OK && s->status[0] == ABUT_POSE_OK, "statuses are wrong");
  for (int output = 0; output < 4; ++output) {
    spoil(s, output, before);
  }
  drop(before);
}

static void test_second_smoothing(scene *t)
{
  slopes *s = &t->s;
  abut_batch batch = slopes_batch(s);
  const uint32_t own[POSES] = {0};
  const abut_cotangents bars = {.d = s->bars[OUT_D]};
  const abut_gradients to = {s->product[0], s->product[1]};
  batch.pairs = batch.derivatives = &t->pair;
  batch.pair_count = 1;
  batch.pair = own;
  const abut_status status =
    abut_vjp_tangent(ABUT_BATCH_PAIRS, &batch, &bars, NULL, NULL, NULL, &to);
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), "second smoothing"),
        "a second smoothing: %s, '%s'", abut_status_name(status), abut_last_error());
  batch = slopes_batch(s);
  batch.count = 0;
  CHECK_OK(abut_vjp_tangent(t->pair, &batch, &bars, NULL, NULL, NULL, &to));
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  for (int i = 0; i < SCENES; ++i) {
    scene t;
    if (make_scene(precision, i, &t)) {
      for (unsigned output = 0; precision == ABUT_FLOAT64 && output <= 4; ++output) {
        test_differences(&t, i, output < 4 ? 1u << output : ALL_BARS);
      }
      test_parts(&t);
      test_sides(&t);
      test_reduction(&t, ABUT_REDUCE_MEAN_DISTANCE);
      test_reduction(&t, ABUT_REDUCE_ACTIVITY);
      test_reduction(&t, ABUT_REDUCE_ENERGY);
      test_beside(&t);
      test_no_numbers(&t);
      test_second_smoothing(&t);
    }
    end_scene(&t);
  }
  return check_finish();
}
