/* Whole Hessians: against products with unit tangents, against differences of gradients, one body's
 * against both bodies', and what is refused: test_hessians PRECISION. */
#include "slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 7, SCENES = 4, REJECTED = 3, REDUCTIONS = 4 };

typedef struct scene {
  abut_context context;
  abut_body bodies[2];
  abut_pair pair, other;
  slopes s;
} scene;

static abut_smoothing smoothing_of(int index)
{
  abut_smoothing s = abut_default_smoothing();
  s.select = index % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s.sort = s.penetration = s.neighbour = 0.05;
  s.union_ = 0.03;
  s.length = 0.5;
  s.trace = index == 3 ? 1 : 0;
  s.edges[0] = 4;
  s.edges[1] = 3;
  s.vertices[0] = index == 1 ? 0 : 3;
  return s;
}

static bool make_scene(abut_precision precision, int index, uint32_t chunk, scene *t)
{
  uint64_t seed = 900 + (uint64_t)index;
  const abut_pose_kind kind = index % 2 ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  const abut_smoothing first = smoothing_of(index), second = smoothing_of(index + 1);
  if (!open_context(precision, chunk, 0, &t->context) ||
      !smooth_body(t->context, &seed, &t->bodies[0]) ||
      !smooth_body(t->context, &seed, &t->bodies[1]) ||
      !CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &first, &t->pair)) ||
      !CHECK_OK(abut_create_pair(t->bodies[1], t->bodies[0], &second, &t->other)) ||
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

/* Both bodies' Hessians, and in s->gradient the gradients. */
static double *take_hessian(scene *t, abut_pair pair, abut_moving moving, abut_reduction reduction)
{
  slopes *s = &t->s;
  const size_t k = (moving == ABUT_BOTH_BODIES ? 2 : 1) * s->width, count = POSES * k * k;
  const abut_gradients gradients = {s->gradient[0], s->gradient[1]};
  const abut_pair pairs[2] = {t->pair, t->other};
  const uint32_t own[POSES] = {0, 1, 1, 0, 1, 0, 1};
  abut_batch batch = slopes_batch(s);
  void *got = calloc(count, real_size(s->precision));
  double *out = calloc(count, sizeof *out);
  if (!pair.generation) {
    batch.pairs = pairs;
    batch.pair_count = 2;
    batch.pair = own;
  }
  CHECK_OK(abut_hessian(pair, &batch, reduction, moving, &gradients, got));
  check(batch.rejected == 1 && s->status[REJECTED], "%zu poses are rejected", batch.rejected);
  for (size_t i = 0; i < count; ++i) {
    out[i] = real_at(got, s->precision, i);
  }
  free(got);
  return out;
}

/* The largest number of a pose's Hessian, but at least 1e-3. */
static double largest(const double *h, size_t count)
{
  double most = 1e-3;
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(h[i]));
  }
  return most;
}

static double off(double worst, double difference)
{
  return fabs(difference) <= worst ? worst : fabs(difference); /* a NaN stays */
}

/* Every pose moves along number `column` of both poses'. */
static void move_along(slopes *s, size_t column)
{
  for (size_t i = 0; i < POSES * s->width; ++i) {
    for (size_t side = 0; side < 2; ++side) {
      real_put(s->along[side], s->precision, i, side * s->width + i % s->width == column);
    }
  }
}

static double by_number(const slopes *s, void *const of[2], size_t pose, size_t i)
{
  return slopes_at(s, of[i / s->width], pose * s->width + i % s->width);
}

/* A column is the product with a unit tangent; the gradient is that call's. */
static void test_products(scene *t, abut_reduction reduction, const double *h)
{
  slopes *s = &t->s;
  const size_t k = 2 * s->width, bytes = POSES * s->width * real_size(s->precision);
  double worst = 0.0, slope = 0.0;
  void *gradient[2] = {malloc(bytes), malloc(bytes)};
  memcpy(gradient[0], s->gradient[0], bytes);
  memcpy(gradient[1], s->gradient[1], bytes);
  for (size_t column = 0; column < k; ++column) {
    move_along(s, column);
    CHECK_OK(slopes_hessian(s, reduction));
    for (size_t i = 0; i < POSES * k; ++i) {
      const size_t pose = i / k, row = i % k;
      if (pose != REJECTED) {
        const double most = largest(h + pose * k * k, k * k);
        worst = off(worst, (by_number(s, s->product, pose, row) - h[i * k + column]) / most);
        slope =
          off(slope,
              (by_number(s, gradient, pose, row) - by_number(s, s->gradient, pose, row)) / most);
      }
    }
  }
  printf("Hessian of reduction %d: products to %.1e, gradient to %.1e\n", (int)reduction, worst,
         slope);
  const double limit = s->precision == ABUT_FLOAT64 ? 1e-11 : 1e-4;
  check(worst <= limit && slope <= limit, "reduction %d: %g off products, %g off gradients",
        (int)reduction, worst, slope);
  free(gradient[0]);
  free(gradient[1]);
}

/* Central differences of gradients, in double alone. */
static void test_differences(scene *t, abut_reduction reduction, const double *h)
{
  slopes *s = &t->s;
  const size_t k = 2 * s->width;
  const double step = 1e-6;
  double worst = 0.0;
  for (size_t column = 0; column < k; ++column) {
    double side[2][POSES * 14], middle[POSES * 7], *pose = s->pose[column / s->width];
    memcpy(middle, pose, POSES * s->width * sizeof *middle);
    for (int way = 0; way < 2; ++way) {
      for (size_t i = 0; i < POSES; ++i) {
        const size_t at = i * s->width + column % s->width;
        pose[at] = middle[at] + (way ? step : -step);
      }
      CHECK_OK(slopes_gradient(s, reduction));
      for (size_t i = 0; i < POSES * k; ++i) {
        side[way][i] = by_number(s, s->gradient, i / k, i % k);
      }
    }
    memcpy(pose, middle, POSES * s->width * sizeof *middle);
    for (size_t i = 0; i < POSES * k; ++i) {
      const double slope = (side[1][i] - side[0][i]) / (2.0 * step);
      const double most = largest(h + i / k * k * k, k * k);
      worst = i / k == REJECTED ? worst : off(worst, (slope - h[i * k + column]) / most);
    }
  }
  printf("Hessian of reduction %d: differences to %.1e\n", (int)reduction, worst);
  check(worst <= 1e-5, "reduction %d: %g off differences", (int)reduction, worst);
}

/* Symmetric; NaN where the pose is rejected; one body's is a block of both bodies'. */
static void test_form(scene *t, abut_reduction reduction, const double *h)
{
  const size_t w = t->s.width, k = 2 * w;
  const double limit = t->s.precision == ABUT_FLOAT64 ? 1e-11 : 1e-4;
  double worst = 0.0;
  size_t numbers = 0, moved = 0;
  for (size_t i = 0; i < POSES * k * k; ++i) {
    const size_t pose = i / (k * k), row = i / k % k, column = i % k;
    const double *own = h + pose * k * k;
    if (pose == REJECTED) {
      numbers += !isnan(h[i]);
    } else {
      worst = off(worst, (own[row * k + column] - own[column * k + row]) / largest(own, k * k));
    }
  }
  check(!numbers, "a rejected pose has %zu numbers", numbers);
  check(worst <= limit, "reduction %d: %g off symmetry", (int)reduction, worst);
  for (int body = 0; body < 2; ++body) {
    double *one = take_hessian(t, t->pair, body ? ABUT_BODY_2 : ABUT_BODY_1, reduction);
    for (size_t i = 0; i < POSES * w * w; ++i) {
      const size_t row = i / w % w + (size_t)body * w, column = i % w + (size_t)body * w;
      const double both = h[i / (w * w) * k * k + row * k + column];
      moved += both != one[i] && !(isnan(both) && isnan(one[i]));
    }
    free(one);
  }
  check(!moved, "%zu numbers of one body's Hessian are others", moved);
}

/* Entries of two pairs in one batch, and chunks of two: to the bit. */
static void test_ways(scene *t, int index, abut_reduction reduction, const double *h)
{
  const size_t k = 2 * t->s.width, size = k * k * sizeof *h;
  scene parts;
  double *of_other = take_hessian(t, t->other, ABUT_BOTH_BODIES, reduction);
  double *mixed = take_hessian(t, ABUT_BATCH_PAIRS, ABUT_BOTH_BODIES, reduction);
  for (size_t i = 0; i < POSES; ++i) {
    const bool second = i == 1 || i == 2 || i == 4 || i == 6;
    check(i == REJECTED || !memcmp(mixed + i * k * k, (second ? of_other : h) + i * k * k, size),
          "pose %zu of several pairs is another", i);
  }
  if (make_scene(t->s.precision, index, 2, &parts)) {
    double *again = take_hessian(&parts, parts.pair, ABUT_BOTH_BODIES, reduction);
    for (size_t i = 0; i < POSES; ++i) {
      check(i == REJECTED || !memcmp(again + i * k * k, h + i * k * k, size),
            "pose %zu depends on chunks", i);
    }
    free(again);
  }
  end_scene(&parts);
  free(of_other);
  free(mixed);
}

static void refuses(abut_status status, const char *text, const char *what)
{
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), text), "%s: %s, '%s'", what,
        abut_status_name(status), abut_last_error());
}

static void test_refusals(scene *t)
{
  abut_batch batch = slopes_batch(&t->s);
  double room[4];
  const abut_pair same[2] = {t->pair, t->other};
  const uint32_t own[POSES] = {0};
  refuses(abut_hessian(t->pair, &batch, (abut_reduction)9, ABUT_BODY_1, NULL, room), "reduction 9",
          "no such reduction");
  refuses(abut_hessian(t->pair, &batch, ABUT_REDUCE_ENERGY, (abut_moving)3, NULL, room),
          "value 3 for the bodies", "no such bodies");
  refuses(abut_hessian(t->pair, &batch, ABUT_REDUCE_ENERGY, ABUT_BODY_1, NULL, NULL),
          "the array for the Hessians is NULL", "no room");
  batch.pairs = batch.derivatives = same;
  batch.pair_count = 2;
  batch.pair = own;
  refuses(abut_hessian(ABUT_BATCH_PAIRS, &batch, ABUT_REDUCE_ENERGY, ABUT_BODY_1, NULL, room),
          "second smoothing", "a second smoothing");
  batch = slopes_batch(&t->s);
  batch.count = 0;
  CHECK_OK(abut_hessian(t->pair, &batch, ABUT_REDUCE_ENERGY, ABUT_BODY_1, NULL, NULL));
}

static void test_reduction(scene *t, int index, abut_reduction reduction)
{
  double *h = take_hessian(t, t->pair, ABUT_BOTH_BODIES, reduction);
  test_products(t, reduction, h);
  if (t->s.precision == ABUT_FLOAT64 && reduction != ABUT_REDUCE_ENERGY) { /* it has kinks */
    test_differences(t, reduction, h);
  }
  test_form(t, reduction, h);
  test_ways(t, index, reduction, h);
  free(h);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  for (int i = 0; i < SCENES; ++i) {
    scene t;
    if (make_scene(precision, i, 0, &t)) {
      for (int k = 0; k < REDUCTIONS; ++k) {
        test_reduction(&t, i, (abut_reduction)k);
      }
      test_refusals(&t);
    }
    end_scene(&t);
  }
  return check_finish();
}
