/* Weights of contacts, and the distances made of them: test_weights PRECISION. */
#include "scene.h"
#include <abut/state.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 6, P = 7 };

typedef struct trial {
  abut_precision precision;
  abut_body bar;
  abut_pair pair;
  abut_layout layout;
  double penetration;
  void *pose[2];
} trial;

static void *reals_of(const trial *t, size_t count)
{
  void *array = calloc(count ? count : 1, real_size(t->precision));
  check(array != NULL, "no memory for %zu numbers", count);
  return array;
}

static double at(const trial *t, const void *array, size_t i)
{
  return real_at(array, t->precision, i);
}

static abut_batch batch_of(const trial *t)
{
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = t->pose[0];
  batch.pose2 = t->pose[1];
  return batch;
}

/* Bars of 0.4 m that cross at a right angle: the upper one turned about the vertical axis, its
 * edges below, so that both touch by edges alone. Pose i lies gap[i] apart. */
static const double gaps[POSES] = {0.05, 0.01, 0.002, -0.002, -0.005, -0.01};

static bool crossing_bars(abut_context context, abut_precision precision, trial *t)
{
  const double half[3] = {0.2, 0.02, 0.02}, edge = 0.02 * sqrt(2.0);
  abut_smoothing s;
  t->precision = precision;
  if (!make_box(context, half, &t->bar) || !CHECK_OK(abut_fit_edge_pairs(t->bar, t->bar, &s))) {
    return false;
  }
  s.penetration = s.neighbour = t->penetration = 0.002;
  s.compare = 0.005; /* a tenth of an edge puts witness points off by millimetres */
  if (!CHECK_OK(abut_create_pair(t->bar, t->bar, &s, &t->pair)) ||
      !CHECK_OK(abut_get_layout(t->pair, &t->layout))) {
    return false;
  }
  for (int side = 0; side < 2; ++side) {
    t->pose[side] = reals_of(t, P * POSES);
  }
  for (size_t i = 0; i < POSES; ++i) {
    /* Both rest on their edges, turned by an eighth about their own axes. */
    const double roll[7] = {0, 0, 0, cos(0.125 * 3.14159265358979), sin(0.125 * 3.14159265358979),
                            0, 0};
    const double turn[7] = {0.003, -0.004, 2.0 * edge + gaps[i], cos(0.7), 0, 0, sin(0.7)};
    double upper[7];
    compose(turn, roll, upper);
    for (size_t k = 0; k < P; ++k) {
      real_put(t->pose[0], precision, P * i + k, roll[k]);
      real_put(t->pose[1], precision, P * i + k, upper[k]);
    }
  }
  return true;
}

static void test_crossing(const trial *t)
{
  void *distance = reals_of(t, POSES), *least = reals_of(t, POSES), *soft = reals_of(t, POSES);
  abut_batch batch = batch_of(t);
  batch.reductions.distance = distance;
  batch.reductions.minimum_distance = least;
  batch.reductions.soft_distance = soft;
  if (CHECK_OK(abut_contacts(t->pair, &batch))) {
    for (size_t i = 0; i < POSES; ++i) {
      const double d = at(t, distance, i), s = at(t, soft, i);
      check(fabs(d - gaps[i]) < 2e-4, "bars %g m apart: distance %g", gaps[i], d);
      check(s <= d + 1e-6 && s > d - 0.25 * t->penetration, "soft distance %g of %g", s, d);
      check(at(t, least, i) > 0.005, "bars that cross touch by edges: a vertex lies at %g",
            at(t, least, i));
    }
  }
  free(distance);
  free(least);
  free(soft);
}

/* Both distances are what their formulas make of d and weight, at another temperature, too. */
static void test_formulas(const trial *t, double temperature)
{
  const size_t contacts = t->layout.contacts;
  void *d = reals_of(t, POSES * contacts), *w = reals_of(t, POSES * contacts);
  void *distance = reals_of(t, POSES), *soft = reals_of(t, POSES);
  const double slack = t->precision == ABUT_FLOAT32 ? 1e-6 : 1e-12;
  abut_batch batch = batch_of(t);
  batch.d = d;
  batch.weight = w;
  batch.reductions.distance = distance;
  batch.reductions.soft_distance = soft;
  batch.reductions.temperature = temperature;
  if (CHECK_OK(abut_contacts(t->pair, &batch))) {
    const double T = temperature > 0.0 ? temperature : t->penetration / 16.0;
    for (size_t i = 0; i < POSES; ++i) {
      double least = INFINITY, sum = 0.0;
      for (size_t k = i * contacts; k < (i + 1) * contacts; ++k) {
        const double weight = at(t, w, k);
        check(weight >= 0.0 && weight <= 1.0, "a weight is %g", weight);
        check(k % contacts >= t->layout.edge_offset[0] || weight == 1.0, "a vertex weighs %g",
              weight);
        least = weight >= 0.5 ? fmin(least, at(t, d, k)) : least;
      }
      for (size_t k = i * contacts; k < (i + 1) * contacts; ++k) {
        const double weight = at(t, w, k); /* where it is 0, d may be anything */
        sum += weight > 0.0 ? weight * exp((least - at(t, d, k)) / T) : 0.0;
      }
      check(at(t, distance, i) == least, "distance %g, not %g", at(t, distance, i), least);
      check(fabs(at(t, soft, i) - (least - T * log(sum))) < slack, "soft distance %.9g, not %.9g",
            at(t, soft, i), least - T * log(sum));
    }
  }
  free(d);
  free(w);
  free(distance);
  free(soft);
}

/* With a margin, activities are of d - margin; all else stays as it is. Of edges in fields with
 * normal cones, of which `bodies` are. */
static void test_margin(const trial *t, const abut_body bodies[2])
{
  abut_smoothing s;
  abut_pair pair[2];
  abut_layout layout;
  CHECK_OK(abut_fit_smoothing(bodies[0], bodies[1], &s));
  s.margin = NAN;
  check(abut_create_pair(bodies[0], bodies[1], &s, &pair[0]) == ABUT_ERROR_ARGUMENT,
        "a margin that is no number is taken");
  for (int k = 0; k < 2; ++k) {
    s.margin = k ? 4.0 * s.penetration : 0.0;
    CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair[k]));
  }
  CHECK_OK(abut_get_layout(pair[0], &layout));
  const size_t count = POSES * layout.contacts;
  void *d[2], *w[2], *a[2];
  for (int k = 0; k < 2; ++k) {
    abut_batch batch = batch_of(t);
    batch.d = d[k] = reals_of(t, count);
    batch.weight = w[k] = reals_of(t, count);
    batch.activity = a[k] = reals_of(t, count);
    CHECK_OK(abut_contacts(pair[k], &batch));
  }
  const double slack = t->precision == ABUT_FLOAT32 ? 1e-5 : 1e-12;
  size_t woken = 0;
  for (size_t i = 0; i < count; ++i) {
    check(at(t, d[0], i) == at(t, d[1], i) && at(t, w[0], i) == at(t, w[1], i),
          "slot %zu has another depth or weight", i);
    for (int k = 0; k < 2; ++k) {
      const double beneath = ((k ? s.margin : 0.0) - at(t, d[k], i)) / s.penetration;
      check(fabs(at(t, a[k], i) - at(t, w[k], i) / (1.0 + exp(-beneath))) < slack,
            "slot %zu: activity %.9g", i, at(t, a[k], i));
    }
    woken += at(t, d[0], i) > s.penetration && at(t, a[1], i) > 0.4;
  }
  check(woken > 0, "no contact lies within the margin");
  for (int k = 0; k < 2; ++k) {
    free(d[k]);
    free(w[k]);
    free(a[k]);
    CHECK_OK(abut_destroy_pair(pair[k]));
  }
}

static double dot(const trial *t, const void *a, const void *b, size_t first, size_t count)
{
  double sum = 0.0;
  for (size_t i = first; i < first + count; ++i) {
    sum += at(t, a, i) * at(t, b, i);
  }
  return sum;
}

/* Products of weights' cotangents with their derivatives along tangents, both ways; and both
 * gradients with the derivatives of what they are of. */
static void test_both_ways(const trial *t)
{
  const size_t contacts = t->layout.contacts;
  uint64_t seed = 5;
  void *bar = reals_of(t, POSES * contacts), *slope = reals_of(t, POSES * contacts);
  void *along[2] = {reals_of(t, P * POSES), reals_of(t, P * POSES)};
  void *g[2] = {reals_of(t, P * POSES), reals_of(t, P * POSES)};
  for (size_t i = 0; i < POSES * contacts; ++i) {
    real_put(bar, t->precision, i, random_normal(&seed));
  }
  for (size_t i = 0; i < 2 * P * POSES; ++i) {
    real_put(along[i % 2], t->precision, i / 2, random_normal(&seed));
  }
  const abut_pose_tangents directions = {along[0], along[1]};
  const abut_tangents tangents = {.weight = slope};
  const abut_cotangents cotangents = {.weight = bar};
  const abut_gradients gradients = {g[0], g[1]};
  abut_batch batch = batch_of(t);
  bool moved = false;
  if (CHECK_OK(abut_jvp(t->pair, ABUT_SAME_PAIR, &batch, &directions, &tangents)) &&
      CHECK_OK(abut_vjp(t->pair, ABUT_SAME_PAIR, &batch, &cotangents, &gradients))) {
    for (size_t i = 0; i < POSES; ++i) {
      const double forth = dot(t, bar, slope, i * contacts, contacts);
      const double back = dot(t, g[0], along[0], P * i, P) + dot(t, g[1], along[1], P * i, P);
      const double scale = fmax(fabs(forth), 1.0),
                   most = t->precision == ABUT_FLOAT32 ? 1e-3 : 1e-9;
      moved = moved || forth != 0.0;
      check(fabs(forth - back) < most * scale, "weights move by %.9g, not %.9g", back, forth);
    }
  }
  check(moved, "no weight moves");
  free(bar);
  free(slope);
  for (int i = 0; i < 2; ++i) {
    free(along[i]);
    free(g[i]);
  }
}

/* The gradient of a reduction against differences of its values, in double. */
static void test_gradient(const trial *t, abut_reduction reduction)
{
  void *value[2] = {reals_of(t, POSES), reals_of(t, POSES)};
  void *g[2] = {reals_of(t, P * POSES), reals_of(t, P * POSES)};
  void *moved = reals_of(t, P * POSES);
  const abut_gradients gradients = {g[0], g[1]};
  const double step = 1e-6;
  abut_batch batch = batch_of(t);
  CHECK_OK(abut_gradient(t->pair, ABUT_SAME_PAIR, &batch, reduction, &gradients));
  for (size_t k = 0; k < 3; ++k) {
    for (int way = 0; way < 2; ++way) {
      for (size_t i = 0; i < P * POSES; ++i) {
        const double x = at(t, t->pose[1], i);
        real_put(moved, t->precision, i, i % P == k ? x + (way ? step : -step) : x);
      }
      batch = batch_of(t);
      batch.pose2 = moved;
      void **const to = reduction == ABUT_REDUCE_DISTANCE ? &batch.reductions.distance
                                                          : &batch.reductions.soft_distance;
      *to = value[way];
      CHECK_OK(abut_contacts(t->pair, &batch));
    }
    for (size_t i = 0; i < POSES; ++i) {
      const double want = (at(t, value[1], i) - at(t, value[0], i)) / (2.0 * step);
      check(fabs(at(t, g[1], P * i + k) - want) < 1e-4, "gradient %g of reduction %d, not %g",
            at(t, g[1], P * i + k), (int)reduction, want);
    }
  }
  for (int i = 0; i < 2; ++i) {
    free(value[i]);
    free(g[i]);
  }
  free(moved);
}

/* Hessian products of the soft distance against whole Hessians. */
static void test_hessians(const trial *t)
{
  uint64_t seed = 9;
  void *along[2] = {reals_of(t, P * POSES), reals_of(t, P * POSES)};
  void *product[2] = {reals_of(t, P * POSES), reals_of(t, P * POSES)};
  void *whole = reals_of(t, 4 * P * P * POSES);
  for (size_t i = 0; i < 2 * P * POSES; ++i) {
    real_put(along[i % 2], t->precision, i / 2, random_normal(&seed));
  }
  const abut_pose_tangents directions = {along[0], along[1]};
  const abut_gradients products = {product[0], product[1]};
  abut_batch batch = batch_of(t);
  for (int k = 0; k < 2; ++k) {
    const abut_reduction of = k ? ABUT_REDUCE_SOFT_DISTANCE : ABUT_REDUCE_DISTANCE;
    CHECK_OK(abut_hessian_product(t->pair, &batch, of, &directions, NULL, &products));
    CHECK_OK(abut_hessian(t->pair, &batch, of, ABUT_BOTH_BODIES, NULL, whole));
    for (size_t i = 0; i < 2 * P * POSES; ++i) {
      const size_t pose = i / (2 * P), row = i % (2 * P);
      const void *side = product[row / P];
      double sum = 0.0, size = 1.0;
      for (size_t j = 0; j < 2 * P; ++j) {
        const double h = at(t, whole, (pose * 2 * P + row) * 2 * P + j);
        const double term = h * at(t, along[j / P], P * pose + j % P);
        sum += term;
        size += fabs(term);
      }
      const double got = at(t, side, P * pose + row % P);
      check(fabs(got - sum) < (t->precision == ABUT_FLOAT32 ? 1e-3 : 1e-9) * size,
            "a Hessian times a tangent is %g, not %g", got, sum);
    }
  }
  free(whole);
  for (int i = 0; i < 2; ++i) {
    free(along[i]);
    free(product[i]);
  }
}

/* Gradients by both poses, at poses that are moved along a direction by `step`. */
static bool gradients_at(const trial *t, abut_reduction of, void *const along[2], double step,
                         void *const g[2])
{
  void *moved[2] = {reals_of(t, P * POSES), reals_of(t, P * POSES)};
  const abut_gradients gradients = {g[0], g[1]};
  for (size_t i = 0; i < 2 * P * POSES; ++i) {
    const size_t side = i % 2, k = i / 2;
    real_put(moved[side], t->precision, k, at(t, t->pose[side], k) + step * at(t, along[side], k));
  }
  abut_batch batch = batch_of(t);
  batch.pose1 = moved[0];
  batch.pose2 = moved[1];
  const bool good = CHECK_OK(abut_gradient(t->pair, ABUT_SAME_PAIR, &batch, of, &gradients));
  free(moved[0]);
  free(moved[1]);
  return good;
}

/* Hessian products against differences of gradients, in double. */
static void test_curvature(const trial *t, abut_reduction of)
{
  const double step = 1e-6;
  uint64_t seed = 4;
  void *along[2], *product[2], *ahead[2], *back[2];
  for (int i = 0; i < 2; ++i) {
    along[i] = reals_of(t, P * POSES);
    product[i] = reals_of(t, P * POSES);
    ahead[i] = reals_of(t, P * POSES);
    back[i] = reals_of(t, P * POSES);
    for (size_t k = 0; k < P * POSES; ++k) {
      real_put(along[i], t->precision, k, 0.3 * random_normal(&seed));
    }
  }
  const abut_pose_tangents directions = {along[0], along[1]};
  const abut_gradients products = {product[0], product[1]};
  abut_batch batch = batch_of(t);
  CHECK_OK(abut_hessian_product(t->pair, &batch, of, &directions, NULL, &products));
  if (gradients_at(t, of, along, step, ahead) && gradients_at(t, of, along, -step, back)) {
    double largest = 0.0;
    for (size_t i = 0; i < 2 * P * POSES; ++i) {
      largest = fmax(largest, fabs(at(t, product[i % 2], i / 2)));
    }
    check(largest > 1e-3, "a Hessian of nothing but zeros: %g", largest);
    for (size_t i = 0; i < 2 * P * POSES; ++i) {
      const double got = at(t, product[i % 2], i / 2);
      const double want = (at(t, ahead[i % 2], i / 2) - at(t, back[i % 2], i / 2)) / (2.0 * step);
      check(fabs(got - want) < 1e-5 * largest,
            "reduction %d: a Hessian's product is %g, not %g of %g", (int)of, got, want, largest);
    }
  }
  for (int i = 0; i < 2; ++i) {
    free(along[i]);
    free(product[i]);
    free(ahead[i]);
    free(back[i]);
  }
}

/* In arrays of a state, to the bit: weights and both distances, and cotangents of weights. */
static void test_states(abut_context context, const trial *t)
{
  enum { POSE1, POSE2, WEIGHT, DISTANCE, SOFT, BAR, SLOPE1, SLOPE2, ARRAYS };
  const size_t contacts = t->layout.contacts;
  const size_t widths[ARRAYS] = {P, P, contacts, 1, 1, contacts, P, P};
  void *host[ARRAYS], *there[ARRAYS];
  abut_state state;
  uint64_t seed = 6;
  for (int i = 0; i < ARRAYS; ++i) {
    host[i] = reals_of(t, POSES * widths[i]);
    there[i] = reals_of(t, POSES * widths[i]);
  }
  for (size_t i = 0; i < POSES * contacts; ++i) {
    real_put(host[BAR], t->precision, i, random_normal(&seed));
  }
  abut_batch batch = batch_of(t);
  batch.weight = host[WEIGHT];
  batch.reductions.distance = host[DISTANCE];
  batch.reductions.soft_distance = host[SOFT];
  const abut_cotangents bars = {.weight = host[BAR]};
  const abut_gradients gradients = {host[SLOPE1], host[SLOPE2]};
  CHECK_OK(abut_contacts(t->pair, &batch));
  batch = batch_of(t);
  CHECK_OK(abut_vjp(t->pair, ABUT_SAME_PAIR, &batch, &bars, &gradients));
  if (CHECK_OK(abut_create_state(context, POSES, widths, ARRAYS, NULL, &state))) {
    abut_state_array a[ARRAYS];
    for (uint32_t i = 0; i < ARRAYS; ++i) {
      a[i] = (abut_state_array){state, i};
    }
    CHECK_OK(abut_write_state(a[POSE1], 0, POSES, t->pose[0]));
    CHECK_OK(abut_write_state(a[POSE2], 0, POSES, t->pose[1]));
    CHECK_OK(abut_write_state(a[BAR], 0, POSES, host[BAR]));
    batch = batch_of(t);
    batch.memory = ABUT_MEMORY_STATE;
    batch.pose1 = &a[POSE1];
    batch.pose2 = &a[POSE2];
    batch.weight = &a[WEIGHT];
    batch.reductions.distance = &a[DISTANCE];
    batch.reductions.soft_distance = &a[SOFT];
    CHECK_OK(abut_contacts(t->pair, &batch));
    batch.weight = batch.reductions.distance = batch.reductions.soft_distance = NULL;
    const abut_cotangents state_bars = {.weight = &a[BAR]};
    const abut_gradients state_gradients = {&a[SLOPE1], &a[SLOPE2]};
    CHECK_OK(abut_vjp(t->pair, ABUT_SAME_PAIR, &batch, &state_bars, &state_gradients));
    for (int i = WEIGHT; i < ARRAYS; ++i) {
      const size_t bytes = POSES * widths[i] * real_size(t->precision);
      CHECK_OK(abut_read_state(a[i], 0, POSES, there[i]));
      check(!memcmp(host[i], there[i], bytes), "array %d of a state is another", i);
    }
    CHECK_OK(abut_destroy_state(state));
  }
  for (int i = 0; i < ARRAYS; ++i) {
    free(host[i]);
    free(there[i]);
  }
}

/* A list's weights are those of the whole manifold; its derivatives with them, too. */
static void test_lists(const trial *t)
{
  const size_t contacts = t->layout.contacts;
  void *w = reals_of(t, POSES * contacts), *bar = reals_of(t, POSES * contacts);
  void *g[4] = {reals_of(t, P * POSES), reals_of(t, P * POSES), reals_of(t, P * POSES),
                reals_of(t, P * POSES)};
  abut_compact list = {.threshold = 0.01, .grows = true, .weights = true};
  abut_batch batch = batch_of(t);
  batch.weight = w;
  batch.compact = &list;
  if (CHECK_OK(abut_contacts(t->pair, &batch)) && check(list.count, "nothing is active")) {
    void *entries = reals_of(t, list.count);
    for (size_t i = 0; i < list.count; ++i) {
      const size_t k = list.pose[i] * contacts + list.slot[i];
      check(at(t, list.weight, i) == at(t, w, k), "entry %zu weighs %g, not %g", i,
            at(t, list.weight, i), at(t, w, k));
      real_put(bar, t->precision, k, 1.0 + (double)(i % 7));
      real_put(entries, t->precision, i, 1.0 + (double)(i % 7));
    }
    const abut_cotangents all = {.weight = bar}, some = {.weight = entries};
    const abut_gradients of_all = {g[0], g[1]}, of_some = {g[2], g[3]};
    batch = batch_of(t);
    CHECK_OK(abut_vjp(t->pair, ABUT_SAME_PAIR, &batch, &all, &of_all));
    CHECK_OK(abut_list_vjp(t->pair, &batch, &list, &some, &of_some));
    for (size_t i = 0; i < 2 * P * POSES; ++i) {
      const double got = at(t, g[2 + i % 2], i / 2), want = at(t, g[i % 2], i / 2);
      check(fabs(got - want) <= 1e-6 * (1.0 + fabs(want)), "a list's gradient is %g, not %g", got,
            want);
    }
    free(entries);
  }
  abut_free_compact(&list);
  check(list.weights && !list.weight, "an emptied list keeps what it is asked for, and no array");
  list.weights = false;
  batch = batch_of(t);
  batch.compact = &list;
  CHECK_OK(abut_contacts(t->pair, &batch));
  check(!list.weight, "nobody asked for weights");
  abut_free_compact(&list);
  free(w);
  free(bar);
  for (int i = 0; i < 4; ++i) {
    free(g[i]);
  }
}

static void test_refusals(const trial *t)
{
  static const double wrong[] = {-1.0, INFINITY, NAN, 1e-13, 1e-39, 1e-300};
  void *soft = reals_of(t, POSES);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    abut_batch batch = batch_of(t);
    batch.reductions.soft_distance = soft;
    batch.reductions.temperature = wrong[i];
    check(abut_contacts(t->pair, &batch) == ABUT_ERROR_ARGUMENT &&
            strstr(abut_last_error(), "temperature"),
          "a temperature of %g is not refused by its name", wrong[i]);
  }
  free(soft);
}

int main(int argc, char **argv)
{
  trial t = {.precision = precision_of(argc, argv)};
  abut_context context = require_context(t.precision);
  if (crossing_bars(context, t.precision, &t)) {
    test_crossing(&t);
    test_formulas(&t, 0.0);
    test_formulas(&t, 1e-3);
    test_margin(&t, (const abut_body[2]){t.bar, t.bar});
    test_both_ways(&t);
    if (t.precision == ABUT_FLOAT64) {
      test_gradient(&t, ABUT_REDUCE_DISTANCE);
      test_gradient(&t, ABUT_REDUCE_SOFT_DISTANCE);
      test_curvature(&t, ABUT_REDUCE_DISTANCE);
      test_curvature(&t, ABUT_REDUCE_SOFT_DISTANCE);
    }
    test_states(context, &t);
    test_hessians(&t);
    test_lists(&t);
    test_refusals(&t);
  }
  free(t.pose[0]);
  free(t.pose[1]);
  return finish_context(context);
}
