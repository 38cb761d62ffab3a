/* A second smoothing for derivatives, Jacobian blocks, quaternions: test_derivatives_pairs
 * PRECISION. */
#include "slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 9, SCENES = 4 };

typedef struct scene {
  abut_context context;
  abut_precision precision;
  abut_body bodies[2];
  abut_smoothing smoothing; /* of `hard` */
  abut_pair hard, soft;
} scene;

static abut_smoothing smoothing_of(int index, double softness)
{
  abut_smoothing s = abut_default_smoothing();
  s.select = index % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s.sort = 0.05 * softness;
  s.penetration = s.neighbour = 0.05 * softness;
  s.union_ = 0.03 * softness;
  s.distance = 1e-6 * softness * softness;
  s.inside = index >= 2;
  s.trace = index == 3 ? 1 : 0;
  s.floor = index == 3 ? 1e-3 : 0.0;
  s.edges[0] = index == 2 ? 0 : 5;
  s.edges[1] = 4;
  s.vertices[0] = index == 1 ? 0 : 3; /* all: blocks of the list's contacts alone */
  s.vertices[1] = index == 1 || index == 2 ? 0 : 4;
  return s;
}

static bool make_scene(abut_precision precision, int index, uint32_t chunk, scene *t)
{
  uint64_t seed = 900 + 17 * (uint64_t)index;
  abut_smoothing soft = smoothing_of(index, 3.0);
  soft.trace = index == 1; /* may differ, as may the way of selection */
  soft.select = index == 3 ? ABUT_SELECT_SOFTSORT : soft.select;
  t->precision = precision;
  t->smoothing = smoothing_of(index, 1.0);
  return open_context(precision, chunk, 0, &t->context) &&
         random_body(t->context, &seed, &t->bodies[0]) &&
         random_body(t->context, &seed, &t->bodies[1]) &&
         CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &t->smoothing, &t->hard)) &&
         CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &soft, &t->soft));
}

static bool make_slopes(const scene *t, abut_pair pair, abut_pose_kind kind, slopes *s)
{
  uint64_t seed = 71;
  if (!slopes_create(s, pair, t->precision, kind, POSES, 72)) {
    return false;
  }
  for (size_t i = 0; i < 2 * POSES; ++i) {
    double pose[7];
    random_pose(&seed, 0.3, pose);
    for (int k = 3; k < 7 && kind == ABUT_POSE_QUATERNION; ++k) {
      pose[k] *= 1.7;
    }
    slopes_put(s, (int)(i % 2), i / 2, pose);
  }
  return true;
}

/* Largest difference of two arrays, relative to the largest number of `b`. */
static double relative(const slopes *s, const void *a, const void *b, size_t count)
{
  double most = 0.0, worst = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double error = fabs(slopes_at(s, a, i) - slopes_at(s, b, i));
    most = fmax(most, fabs(slopes_at(s, b, i)));
    worst = error > worst || isnan(error) ? error : worst;
  }
  return most > 0.0 ? worst / most : worst;
}

static bool same(const slopes *a, void *const x[2], void *const y[2])
{
  const size_t bytes = a->count * a->width * real_size(a->precision);
  return !memcmp(x[0], y[0], bytes) && !memcmp(x[1], y[1], bytes);
}

/* ---- hard values, soft derivatives ---- */

static abut_batch with_outputs(const slopes *s, outputs *o, unsigned arrays)
{
  abut_batch batch = slopes_batch(s);
  outputs_create(o, s->pair, s->precision, s->count, s->count * s->contacts, 0.01);
  outputs_attach(o, &batch, 0, arrays);
  batch.status = o->status;
  return batch;
}

static void same_values(const outputs *a, const outputs *b, unsigned arrays, const char *what)
{
  for (int i = 0; i < OUT_ARRAYS; ++i) {
    const size_t bytes = a->count * out_width(a, i) * real_size(a->precision);
    check(!(arrays & 1u << i) || !memcmp(a->arrays[i], b->arrays[i], bytes),
          "%s: array %d differs from the hard pair's", what, i);
  }
}

/* Values are the hard pair's to the bit, what comes of cotangents and tangents the soft pair's. */
static void test_arrays(const slopes *hard, slopes *soft, const outputs *values)
{
  slopes mixed = *hard;
  const unsigned asked[] = {OUT_ALL, 0xf, 0};
  mixed.derivatives = soft->pair;
  CHECK_OK(slopes_vjp(soft, ALL_BARS));
  CHECK_OK(slopes_jvp(soft));
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i) {
    outputs o;
    abut_batch batch = with_outputs(&mixed, &o, asked[i]);
    const abut_cotangents bars = {.p = mixed.bars[0],
                                  .d = mixed.bars[1],
                                  .n = mixed.bars[2],
                                  .activity = mixed.bars[3]};
    const abut_gradients gradients = {mixed.gradient[0], mixed.gradient[1]};
    CHECK_OK(abut_vjp(mixed.pair, mixed.derivatives, &batch, &bars, &gradients));
    same_values(&o, values, asked[i], "a VJP of another smoothing");
    check(same(&mixed, mixed.gradient, soft->gradient), "the VJP is not the soft pair's");
    const abut_pose_tangents along = {mixed.along[0], mixed.along[1]};
    const abut_tangents to = {.p = mixed.tangents[0],
                              .d = mixed.tangents[1],
                              .n = mixed.tangents[2],
                              .activity = mixed.tangents[3]};
    CHECK_OK(abut_jvp(mixed.pair, mixed.derivatives, &batch, &along, &to));
    same_values(&o, values, asked[i], "a JVP of another smoothing");
    for (int k = 0; k < 4; ++k) {
      check(!memcmp(mixed.tangents[k], soft->tangents[k],
                    POSES * slopes_out(soft, k) * real_size(soft->precision)),
            "the JVP of output %d is not the soft pair's", k);
    }
    outputs_free(&o);
  }
}

/* Cotangents of a reduction from given values. */
static void reduction_bars(const scene *t, const outputs *o, abut_reduction reduction, size_t edges,
                           slopes *to)
{
  const size_t contacts = o->contacts;
  const double tau = t->smoothing.penetration;
  for (size_t i = 0; i < POSES * contacts; ++i) {
    const size_t slot = i % contacts, first = i - slot;
    const double d = out_at(o, OUT_D, i), deep = d < 0.0 ? -d : 0.0;
    double d_bar = 0.0, activity_bar = 0.0;
    if (reduction == ABUT_REDUCE_MEAN_DISTANCE) {
      d_bar = 1.0 / (double)contacts;
    } else if (reduction == ABUT_REDUCE_ACTIVITY) {
      activity_bar = 1.0;
    } else if (reduction == ABUT_REDUCE_ENERGY) {
      d_bar = -2.0 * deep * out_at(o, OUT_ACTIVITY, i);
      activity_bar = deep * deep;
    } else if (slot < edges) {
      double sum = 0.0;
      for (size_t k = first; k < first + edges; ++k) {
        sum += exp((d - out_at(o, OUT_D, k)) / tau);
      }
      d_bar = 1.0 / sum;
    }
    real_put(to->bars[OUT_D], to->precision, i, d_bar);
    real_put(to->bars[OUT_ACTIVITY], to->precision, i, activity_bar);
  }
}

/* A reduction's cotangents come from hard values, and the soft pair carries them on. */
static void test_reductions(const scene *t, const slopes *hard, slopes *soft, const outputs *values)
{
  slopes mixed = *hard;
  abut_layout layout;
  abut_get_layout(t->hard, &layout);
  mixed.derivatives = soft->pair;
  for (int k = 0; k < 4; ++k) {
    outputs o;
    for (int asked = 0; asked < 2; ++asked) {
      abut_batch batch = with_outputs(&mixed, &o, asked ? OUT_ALL : 0);
      const abut_gradients to = {mixed.gradient[0], mixed.gradient[1]};
      CHECK_OK(abut_gradient(mixed.pair, mixed.derivatives, &batch, (abut_reduction)k, &to));
      same_values(&o, values, asked ? OUT_ALL : 0, "a gradient of another smoothing");
      reduction_bars(t, values, (abut_reduction)k, layout.edge_offset[0], soft);
      CHECK_OK(slopes_vjp(soft, 1u << OUT_D | 1u << OUT_ACTIVITY));
      for (int side = 0; side < 2; ++side) {
        const double error =
          relative(soft, mixed.gradient[side], soft->gradient[side], POSES * soft->width);
        check(error <= (t->precision == ABUT_FLOAT64 ? 1e-12 : 1e-4),
              "reduction %d, body %d: the gradient is off by %g", k, side + 1, error);
      }
      outputs_free(&o);
    }
  }
}

static void test_hard_and_soft(const scene *t)
{
  slopes hard, soft, own;
  outputs values;
  if (!make_slopes(t, t->hard, ABUT_POSE_TWIST, &hard) ||
      !make_slopes(t, t->soft, ABUT_POSE_TWIST, &soft) ||
      !make_slopes(t, t->hard, ABUT_POSE_TWIST, &own)) {
    return;
  }
  abut_batch batch = with_outputs(&hard, &values, OUT_ALL);
  CHECK_OK(abut_contacts(t->hard, &batch));
  test_arrays(&hard, &soft, &values);
  test_reductions(t, &hard, &soft, &values);
  /* A pair may be named as its own: the same derivatives, and values of the plain program. */
  own.derivatives = t->hard;
  CHECK_OK(slopes_vjp(&hard, ALL_BARS));
  CHECK_OK(slopes_vjp(&own, ALL_BARS));
  check(same(&own, own.gradient, hard.gradient), "a pair with itself gives another VJP");
  for (int k = 0; k < 4; ++k) {
    CHECK_OK(slopes_gradient(&hard, (abut_reduction)k));
    CHECK_OK(slopes_gradient(&own, (abut_reduction)k));
    for (int side = 0; side < 2; ++side) {
      const double error =
        relative(&own, own.gradient[side], hard.gradient[side], POSES * own.width);
      check(error <= (t->precision == ABUT_FLOAT64 ? 1e-12 : 1e-4),
            "reduction %d: a pair with itself gives another gradient, by %g", k, error);
    }
  }
  outputs_free(&values);
  slopes_free(&hard);
  slopes_free(&soft);
  slopes_free(&own);
}

static void test_other_pairs(const scene *t)
{
  abut_smoothing s = t->smoothing;
  abut_pair others[6];
  abut_layout layout;
  slopes x;
  CHECK_OK(abut_create_pair(t->bodies[1], t->bodies[0], &s, &others[0]));
  CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[0], &s, &others[1]));
  s.vertices[0] = 2;
  CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &s, &others[2]));
  s = t->smoothing;
  s.edges[1] = 3;
  CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &s, &others[3]));
  s = t->smoothing;
  s.edge_edge = false;
  CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &s, &others[4]));
  /* As many vertices, but by rank where the other has them in mesh order, or the reverse. */
  s = t->smoothing;
  CHECK_OK(abut_get_layout(t->hard, &layout));
  s.vertices[0] = s.vertices[0] ? 0 : (uint32_t)layout.vertices[0];
  s.edges[0] = s.edges[0] ? 0 : (uint32_t)layout.edges[0];
  CHECK_OK(abut_create_pair(t->bodies[0], t->bodies[1], &s, &others[5]));
  if (!make_slopes(t, t->hard, ABUT_POSE_QUATERNION, &x)) {
    return;
  }
  for (int i = 0; i < 6; ++i) {
    x.derivatives = others[i];
    const char *text = i < 2 ? "other bodies" : "layout";
    const abut_status got[3] = {slopes_vjp(&x, ALL_BARS), slopes_jvp(&x),
                                slopes_gradient(&x, ABUT_REDUCE_ENERGY)};
    for (int k = 0; k < 3; ++k) {
      check(got[k] == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), text),
            "other pair %d, call %d: %s, '%s'", i, k, abut_status_name(got[k]), abut_last_error());
    }
    CHECK_OK(abut_destroy_pair(others[i]));
  }
  slopes_free(&x);
}

/* ---- Jacobian blocks ---- */

typedef struct blocks {
  abut_compact list;
  void *data;
  size_t columns;
} blocks;

static abut_status run_blocks(const slopes *s, size_t capacity, blocks *b)
{
  abut_batch batch = slopes_batch(s);
  memset(b, 0, sizeof *b);
  b->columns = 2 * s->width;
  b->list.threshold = 0.05;
  b->list.capacity = capacity;
  b->list.pose = calloc(capacity + 1, sizeof(uint32_t));
  b->list.slot = calloc(capacity + 1, sizeof(uint32_t));
  b->data = calloc(capacity * 8 * b->columns + 1, real_size(s->precision));
  batch.compact = &b->list;
  return abut_jacobian(s->pair, s->derivatives, &batch, b->data);
}

static void blocks_free(blocks *b)
{
  free(b->list.pose);
  free(b->list.slot);
  free(b->data);
}

/* Row `row` of 8 of output numbers p, d, n, activity: which array, and where in it. */
static size_t place_of(const slopes *s, const blocks *b, size_t entry, size_t row, int *array)
{
  const size_t slot = b->list.pose[entry] * s->contacts + b->list.slot[entry];
  *array = row < 3 ? OUT_P : row == 3 ? OUT_D : row < 7 ? OUT_N : OUT_ACTIVITY;
  return row < 3 ? 3 * slot + row : row == 3 || row == 7 ? slot : 3 * slot + row - 4;
}

static double block_at(const slopes *s, const blocks *b, size_t entry, size_t row, size_t column)
{
  return slopes_at(s, b->data, (8 * entry + row) * b->columns + column);
}

/* The largest of a row, but at least 1. */
static double largest_of(const slopes *s, const blocks *b, size_t entry, size_t row)
{
  double most = 1.0;
  for (size_t column = 0; column < b->columns; ++column) {
    most = fmax(most, fabs(block_at(s, b, entry, row, column)));
  }
  return most;
}

/* A column is the JVP along one parameter, to rounding: of the row's largest number. */
static void test_columns(slopes *s, const blocks *b)
{
  double worst = 0.0;
  for (size_t column = 0; column < b->columns; ++column) {
    for (size_t i = 0; i < s->count * s->width; ++i) {
      for (size_t side = 0; side < 2; ++side) {
        real_put(s->along[side], s->precision, i, side * s->width + i % s->width == column);
      }
    }
    CHECK_OK(slopes_jvp(s));
    for (size_t entry = 0; entry < b->list.count; ++entry) {
      for (size_t row = 0; row < 8; ++row) {
        int array;
        const size_t at = place_of(s, b, entry, row, &array);
        const double off =
          fabs(slopes_at(s, s->tangents[array], at) - block_at(s, b, entry, row, column)) /
          largest_of(s, b, entry, row);
        worst = off <= worst ? worst : off; /* a NaN stays */
      }
    }
  }
  printf("columns of Jacobian blocks are JVPs to %.1e\n", worst);
  check(worst <= (s->precision == ABUT_FLOAT64 ? 1e-11 : 1e-4), "columns differ from JVPs by %g",
        worst);
}

/* A row is the VJP of one output, to rounding: every seventh entry. */
static void test_rows(slopes *s, const blocks *b)
{
  double worst = 0.0;
  size_t rows = 0;
  for (size_t entry = 0; entry < b->list.count; entry += 7) {
    for (size_t row = 0; row < 8; ++row) {
      const double most = largest_of(s, b, entry, row);
      int array;
      const size_t at = place_of(s, b, entry, row, &array), pose = b->list.pose[entry];
      for (int i = 0; i < 4; ++i) {
        memset(s->bars[i], 0, s->count * slopes_out(s, i) * real_size(s->precision));
      }
      real_put(s->bars[array], s->precision, at, 1.0);
      CHECK_OK(slopes_vjp(s, ALL_BARS));
      for (size_t column = 0; column < b->columns; ++column) {
        const void *gradient = s->gradient[column / s->width];
        const double g = slopes_at(s, gradient, pose * s->width + column % s->width);
        worst = fmax(worst, fabs(g - block_at(s, b, entry, row, column)) / most);
      }
      ++rows;
    }
  }
  printf("rows of Jacobian blocks: %zu are VJPs to %.1e\n", rows, worst);
  check(rows && worst <= (s->precision == ABUT_FLOAT64 ? 1e-11 : 5e-3),
        "rows differ from VJPs by %g", worst);
}

static void test_blocks(const scene *t, abut_pose_kind kind, bool soft)
{
  slopes s;
  blocks all, some;
  if (!make_slopes(t, t->hard, kind, &s)) {
    return;
  }
  if (CHECK_OK(run_blocks(&s, POSES * s.contacts, &all))) {
    check(all.list.count > 20, "%zu active contacts", all.list.count);
    test_columns(&s, &all);
    test_rows(&s, &all);
  }
  const size_t half = all.list.count / 2, block = 8 * all.columns * real_size(s.precision);
  for (size_t capacity = 0; capacity <= half; capacity += half) {
    check(run_blocks(&s, capacity, &some) == ABUT_ERROR_OVERFLOW, "%zu of %zu blocks fit", capacity,
          all.list.count);
    check(some.list.count == all.list.count, "%zu are counted", some.list.count);
    check(!memcmp(some.data, all.data, capacity * block), "the first %zu blocks differ", capacity);
    blocks_free(&some);
  }
  if (soft) { /* the list is the hard pair's, the blocks are the soft one's */
    s.derivatives = t->soft;
    CHECK_OK(run_blocks(&s, POSES * s.contacts, &some));
    check(some.list.count == all.list.count &&
            !memcmp(some.list.slot, all.list.slot, all.list.count * sizeof(uint32_t)),
          "the list is not the hard pair's");
    slopes other;
    make_slopes(t, t->soft, kind, &other);
    test_columns(&other, &some);
    slopes_free(&other);
    blocks_free(&some);
  }
  blocks_free(&all);
  slopes_free(&s);
}

/* The same blocks in chunks of two. */
static void test_split_blocks(abut_precision precision, int index)
{
  blocks b[2];
  slopes s[2];
  scene t[2];
  for (int i = 0; i < 2; ++i) {
    if (!make_scene(precision, index, i ? 2 : 0, &t[i]) ||
        !make_slopes(&t[i], t[i].hard, ABUT_POSE_TWIST, &s[i]) ||
        !CHECK_OK(run_blocks(&s[i], POSES * s[i].contacts, &b[i]))) {
      return;
    }
  }
  check(b[0].list.count == b[1].list.count &&
          !memcmp(b[0].data, b[1].data, b[0].list.count * 8 * b[0].columns * real_size(precision)),
        "blocks depend on chunks");
  const size_t half = b[0].list.count / 2;
  blocks_free(&b[1]);
  check(run_blocks(&s[1], half, &b[1]) == ABUT_ERROR_OVERFLOW &&
          !memcmp(b[0].data, b[1].data, half * 8 * b[0].columns * real_size(precision)),
        "the first blocks of an overflow depend on chunks");
  for (int i = 0; i < 2; ++i) {
    blocks_free(&b[i]);
    slopes_free(&s[i]);
    CHECK_OK(abut_destroy_context(t[i].context));
  }
}

/* ---- quaternions ---- */

/* d pose / d twist by central differences of the closed form, times the gradient by pose. */
static void adjoint_twist(const double twist[6], const double by_pose[7], double by_twist[6])
{
  const double step = 1e-5;
  for (int i = 0; i < 6; ++i) {
    double at[6], pose[2][7];
    memcpy(at, twist, sizeof at);
    at[i] = twist[i] + step;
    exponential(at, pose[1]);
    at[i] = twist[i] - step;
    exponential(at, pose[0]);
    by_twist[i] = 0.0;
    for (int k = 0; k < 7; ++k) {
      by_twist[i] += by_pose[k] * (pose[1][k] - pose[0][k]) / (2.0 * step);
    }
  }
}

/* Orthogonal to the quaternion; the same as by twists, through the poses of the twists. */
static void test_quaternions(const scene *t)
{
  static const double turns[POSES] = {0.0, 1e-6, 0.1, 1.0, 2.0, 3.1, 3.14159, 4.0, 9.0};
  slopes twists, poses;
  uint64_t seed = 3;
  double twist[2][POSES][6];
  if (!make_slopes(t, t->hard, ABUT_POSE_TWIST, &twists) ||
      !make_slopes(t, t->hard, ABUT_POSE_QUATERNION, &poses)) {
    return;
  }
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < POSES; ++i) {
      double pose[7], *x = twist[side][i];
      random_pose(&seed, 0.3, pose);
      const double size = sqrt(pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]);
      for (size_t k = 0; k < 3; ++k) {
        x[k] = pose[k];
        x[3 + k] = pose[4 + k] / size * turns[(i + 4 * (size_t)side) % POSES];
      }
      exponential(x, pose);
      slopes_put(&twists, side, i, x);
      slopes_put(&poses, side, i, pose);
    }
  }
  for (int i = 0; i < 4; ++i) {
    memcpy(poses.bars[i], twists.bars[i], POSES * slopes_out(&poses, i) * real_size(t->precision));
  }
  CHECK_OK(slopes_vjp(&twists, ALL_BARS));
  CHECK_OK(slopes_vjp(&poses, ALL_BARS));
  const bool wide = t->precision == ABUT_FLOAT64;
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < POSES; ++i) {
      double by_pose[7], by_twist[6], along = 0.0, size = 0.0;
      for (size_t k = 0; k < 7; ++k) {
        by_pose[k] = slopes_at(&poses, poses.gradient[side], 7 * i + k);
        size = fmax(size, fabs(by_pose[k]));
        along += k < 3 ? 0.0 : by_pose[k] * slopes_at(&poses, poses.pose[side], 7 * i + k);
      }
      check(fabs(along) <= (wide ? 1e-14 : 1e-6) * size,
            "pose %zu: a gradient of %g along the "
            "quaternion, of %g",
            i, along, size);
      adjoint_twist(twist[side][i], by_pose, by_twist);
      for (size_t k = 0; k < 6; ++k) {
        const double g = slopes_at(&twists, twists.gradient[side], 6 * i + k);
        check(fabs(g - by_twist[k]) <= (wide ? 1e-9 : 1e-2) * size,
              "pose %zu, body %d, place %zu: %g by twist, %g by quaternion", i, side + 1, k, g,
              by_twist[k]);
      }
    }
  }
  slopes_free(&twists);
  slopes_free(&poses);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  for (int i = 0; i < SCENES; ++i) {
    scene t;
    if (make_scene(precision, i, 0, &t)) {
      test_hard_and_soft(&t);
      test_other_pairs(&t);
      test_blocks(&t, i % 2 ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION, true);
      test_split_blocks(precision, i);
      test_quaternions(&t);
    }
    CHECK_OK(abut_destroy_context(t.context));
  }
  return check_finish();
}
