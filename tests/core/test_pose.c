/* Poses as numbers: exp and log, steps, and gradients along them, against closed forms, difference
 * quotients and the kernels' own: test_pose PRECISION. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static abut_precision precision;
static double rounding; /* of a number near 1, with some to spare */

/* Angles about which forms change. */
static const double angles[] = {0.0,      1e-300,   1e-160, 1e-12, 1e-8,      1e-4,      0.1,
                                0.999999, 1.000001, 2.0,    3.0,   PI - 1e-4, PI - 1e-12};
enum { ANGLES = sizeof angles / sizeof angles[0], POSES = 24 };

static double norm(const double *x, int count)
{
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    sum += x[i] * x[i];
  }
  return sqrt(sum);
}

static bool near(const double *a, const double *b, int count, double tolerance)
{
  for (int i = 0; i < count; ++i) {
    if (!(fabs(a[i] - b[i]) <= tolerance)) {
      return false;
    }
  }
  return true;
}

static bool all_nan(const double *a, int count)
{
  for (int i = 0; i < count; ++i) {
    if (!isnan(a[i])) {
      return false;
    }
  }
  return true;
}

/* ---- one row through a call ---- */

static double reals[4][16]; /* room for a row, aligned for both precisions */

static void *row_in(int i, const double *from, int count)
{
  for (int k = 0; k < count; ++k) {
    real_put(reals[i], precision, (size_t)k, from[k]);
  }
  return reals[i];
}

static void row_out(int i, double *to, int count)
{
  for (int k = 0; k < count; ++k) {
    to[k] = real_at(reals[i], precision, (size_t)k);
  }
}

static int width_of(abut_pose_kind kind)
{
  return kind == ABUT_POSE_TWIST ? 6 : 7;
}

static void pose_exp(const double twist[6], double pose[7])
{
  CHECK_OK(abut_pose_exp(precision, 1, row_in(0, twist, 6), reals[1]));
  row_out(1, pose, 7);
}

static void pose_log(const double pose[7], double twist[6])
{
  CHECK_OK(abut_pose_log(precision, 1, row_in(0, pose, 7), reals[1]));
  row_out(1, twist, 6);
}

static void step(abut_pose_kind kind, abut_frame frame, const double *pose, const double xi[6],
                 double *out)
{
  const int width = width_of(kind);
  CHECK_OK(abut_pose_step(precision, kind, frame, 1, row_in(0, pose, width), row_in(1, xi, 6),
                          reals[0])); /* in place */
  row_out(0, out, width);
}

static void to_frame(abut_pose_kind kind, abut_frame frame, const double *pose,
                     const double *gradient, double out[6])
{
  const int width = width_of(kind);
  CHECK_OK(abut_gradient_to_frame(precision, kind, frame, 1, row_in(0, pose, width),
                                  row_in(1, gradient, width), reals[2]));
  row_out(2, out, 6);
}

static void from_frame(abut_pose_kind kind, abut_frame frame, const double *pose,
                       const double in[6], double *gradient)
{
  const int width = width_of(kind);
  CHECK_OK(abut_gradient_from_frame(precision, kind, frame, 1, row_in(0, pose, width),
                                    row_in(1, in, 6), reals[2]));
  row_out(2, gradient, width);
}

/* A twist of a given angle, as the precision has it. */
static void twist_of(uint64_t *seed, double angle, double twist[6])
{
  double axis[3] = {random_normal(seed), random_normal(seed), random_normal(seed)};
  const double length = norm(axis, 3);
  for (int i = 0; i < 3; ++i) {
    twist[i] = random_normal(seed);
    twist[3 + i] = angle * axis[i] / length;
  }
  row_in(0, twist, 6);
  row_out(0, twist, 6);
}

/* Whether two poses are one, whatever the signs of their quaternions. */
static bool same_pose(const double a[7], const double b[7], double tolerance)
{
  double back[4];
  for (int i = 0; i < 4; ++i) {
    back[i] = -b[3 + i];
  }
  return near(a, b, 3, tolerance) &&
         (near(a + 3, b + 3, 4, tolerance) || near(a + 3, back, 4, tolerance));
}

/* ---- exp and log ---- */

static void test_closed_forms(void)
{
  const double quarter[6] = {1.0, 0.0, 0.5, 0.0, 0.0, 0.5 * PI}, half = sqrt(0.5);
  const double turned[7] = {2.0 / PI, 2.0 / PI, 0.5, half, 0.0, 0.0, half};
  const double shift[6] = {1.0, -2.0, 3.0}, shifted[7] = {1.0, -2.0, 3.0, 1.0};
  double pose[7], twist[6];
  pose_exp(quarter, pose);
  check(near(pose, turned, 7, 4.0 * rounding), "a quarter turn about z goes elsewhere");
  pose_log(turned, twist);
  check(near(twist, quarter, 6, 8.0 * rounding), "and does not come back");
  pose_exp(shift, pose);
  check(near(pose, shifted, 7, 0.0), "a shift is not a shift");
  pose_log(shifted, twist);
  check(near(twist, shift, 6, 0.0), "and does not come back");
  /* A turn of 3 pi / 2 is one of pi / 2 the other way; a half turn has its documented branch. */
  const double long_way[6] = {0.0, 0.0, 0.0, 0.0, 1.5 * PI, 0.0};
  const double short_way[6] = {0.0, 0.0, 0.0, 0.0, -0.5 * PI, 0.0};
  pose_exp(long_way, pose);
  pose_log(pose, twist);
  check(near(twist, short_way, 6, 8.0 * rounding), "log does not take the short way");
  for (int sign = -1; sign <= 1; sign += 2) {
    const double over[7] = {0.0, 0.0, 0.0, 0.0, 0.0, -3.0 * sign, 4.0 * sign};
    const double omega[3] = {0.0, 0.6 * PI, -0.8 * PI};
    pose_log(over, twist);
    check(near(twist + 3, omega, 3, 8.0 * rounding), "a half turn of sign %d takes the other way",
          sign);
  }
}

static void test_round_trips(void)
{
  uint64_t seed = 5;
  for (int i = 0; i < 8 * ANGLES; ++i) {
    const double angle = angles[i % ANGLES];
    double twist[6], pose[7], own[7], back[6];
    twist_of(&seed, angle, twist);
    pose_exp(twist, pose);
    exponential(twist, own);
    check(near(pose, own, 7, 1e-8 + 8.0 * rounding), "exp at %g is not the tests'", angle);
    check(fabs(norm(pose + 3, 4) - 1.0) < 4.0 * rounding, "exp at %g has another length", angle);
    pose_log(pose, back);
    /* Beyond pi by rounding, log takes the other way: the same pose. */
    if (angle < PI - 1e-6) {
      check(near(twist, back, 6, 40.0 * rounding * (1.0 + norm(twist, 3))),
            "log at %g: off by %g, %g, %g and %g, %g, %g", angle, back[0] - twist[0],
            back[1] - twist[1], back[2] - twist[2], back[3] - twist[3], back[4] - twist[4],
            back[5] - twist[5]);
    }
    pose_exp(back, own);
    check(same_pose(pose, own, 40.0 * rounding * (1.0 + norm(twist, 3))), "exp of log at %g",
          angle);
    /* Of small angles every digit comes back. */
    for (int k = 3; angle > 1e-30 && angle < 0.2 && k < 6; ++k) {
      check(fabs(back[k] - twist[k]) <= 8.0 * rounding * angle, "a digit of %g is lost", angle);
    }
  }
}

static void test_any_length(void)
{
  const double lengths[] = {1e-30, 0.3, -1.0, -7.0, 1e30};
  uint64_t seed = 9;
  for (int i = 0; i < 40; ++i) {
    double pose[7], long_pose[7], twist[6], other[6];
    random_pose(&seed, 1.0, pose);
    memcpy(long_pose, pose, sizeof pose);
    for (int k = 3; k < 7; ++k) {
      long_pose[k] *= lengths[i % 5];
    }
    pose_log(pose, twist);
    pose_log(long_pose, other);
    check(norm(twist + 3, 3) < PI + 8.0 * rounding && near(twist, other, 6, 40.0 * rounding),
          "the log of a quaternion of length %g is another", lengths[i % 5]);
  }
}

static void test_products(void)
{
  uint64_t seed = 21;
  for (int i = 0; i < 40; ++i) {
    double a[7], b[7], own[7], got[7], twist[3][6];
    random_pose(&seed, 2.0, a);
    random_pose(&seed, 2.0, b);
    compose(a, b, own);
    CHECK_OK(abut_pose_compose(precision, ABUT_POSE_QUATERNION, 1, row_in(0, a, 7), row_in(1, b, 7),
                               reals[1]));
    row_out(1, got, 7);
    check(near(got, own, 7, 40.0 * rounding), "a product is another");
    pose_log(a, twist[0]);
    pose_log(b, twist[1]);
    CHECK_OK(abut_pose_compose(precision, ABUT_POSE_TWIST, 1, row_in(0, twist[0], 6),
                               row_in(1, twist[1], 6), reals[2]));
    row_out(2, twist[2], 6);
    pose_exp(twist[2], got);
    check(same_pose(got, own, 200.0 * rounding), "a product of twists is another");
    for (int kind = ABUT_POSE_TWIST; kind <= ABUT_POSE_QUATERNION; ++kind) {
      const int width = width_of((abut_pose_kind)kind);
      const double *x = kind == ABUT_POSE_TWIST ? twist[0] : a;
      row_in(0, x, width);
      CHECK_OK(abut_pose_invert(precision, (abut_pose_kind)kind, 1, reals[0], reals[1]));
      CHECK_OK(abut_pose_compose(precision, (abut_pose_kind)kind, 1, reals[0], reals[1], reals[2]));
      row_out(2, got, width);
      const double none[2][7] = {{0.0}, {0.0, 0.0, 0.0, 1.0}};
      check(near(got, none[kind], width, 200.0 * rounding), "an inverse is none");
    }
  }
}

/* ---- steps ---- */

static void test_steps(void)
{
  uint64_t seed = 33;
  for (int i = 0; i < 60; ++i) {
    const abut_frame frame = (abut_frame)(i % 3);
    double pose[7], twist[6], xi[6], move[7], own[7], got[7], by_twist[6];
    random_pose(&seed, 1.0, pose);
    twist_of(&seed, angles[i % ANGLES], xi);
    exponential(xi, move);
    if (frame == ABUT_FRAME_BODY) {
      compose(pose, move, own);
    } else if (frame == ABUT_FRAME_WORLD) {
      compose(move, pose, own);
    } else {
      const double origin[7] = {0.0, 0.0, 0.0, pose[3], pose[4], pose[5], pose[6]};
      compose(move, origin, own); /* about the body's origin, laid into the world's */
      own[0] += pose[0];
      own[1] += pose[1];
      own[2] += pose[2];
    }
    step(ABUT_POSE_QUATERNION, frame, pose, xi, got);
    check(near(got, own, 7, 1e-8 + 100.0 * rounding), "a step in frame %d ends elsewhere", frame);
    pose_log(pose, twist);
    step(ABUT_POSE_TWIST, frame, twist, xi, by_twist);
    pose_exp(by_twist, got);
    check(same_pose(got, own, 1e-8 + 200.0 * rounding), "a step of a twist in frame %d", frame);
  }
}

/* ---- gradients ---- */

/* What is differentiated: a force at a point of the body, which the pose takes elsewhere. */
static double work(abut_pose_kind kind, const double *numbers)
{
  const double point[3] = {0.3, -0.5, 0.7}, force[3] = {1.1, 0.4, -0.8};
  double pose[7], at[3];
  if (kind == ABUT_POSE_TWIST) {
    pose_exp(numbers, pose);
  } else {
    const double length = norm(numbers + 3, 4);
    for (int i = 0; i < 7; ++i) {
      pose[i] = i < 3 ? numbers[i] : numbers[i] / length;
    }
  }
  apply(pose, point, false, at);
  return at[0] * force[0] + at[1] * force[1] + at[2] * force[2];
}

static double quotient(double up, double down)
{
  return (up - down) / 2e-5;
}

static void work_gradient(abut_pose_kind kind, const double *numbers, double *gradient)
{
  const int width = width_of(kind);
  for (int k = 0; k < width; ++k) {
    double up[7], down[7];
    memcpy(up, numbers, (size_t)width * sizeof *up);
    memcpy(down, numbers, (size_t)width * sizeof *down);
    up[k] += 1e-5;
    down[k] -= 1e-5;
    gradient[k] = quotient(work(kind, up), work(kind, down));
  }
}

static void work_along_steps(abut_pose_kind kind, abut_frame frame, const double *numbers,
                             double slope[6])
{
  for (int k = 0; k < 6; ++k) {
    double xi[6] = {0.0}, up[7], down[7];
    xi[k] = 1e-5;
    step(kind, frame, numbers, xi, up);
    xi[k] = -1e-5;
    step(kind, frame, numbers, xi, down);
    slope[k] = quotient(work(kind, up), work(kind, down));
  }
}

/* Difference quotients in float64; any precision is then held to that. */
static void test_slopes(void)
{
  const abut_precision given = precision;
  uint64_t seed = 44;
  for (int i = 0; i < 6 * ANGLES; ++i) {
    const abut_pose_kind kind = (abut_pose_kind)(i / ANGLES % 2);
    const abut_frame frame = (abut_frame)(i / ANGLES % 3);
    const double angle = angles[i % ANGLES] > 3.1 ? 3.14 : angles[i % ANGLES];
    double twist[6], numbers[7], gradient[7], along[6], got[6], back[7], again[6];
    twist_of(&seed, angle, twist);
    precision = ABUT_FLOAT64;
    memcpy(numbers, twist, sizeof twist);
    if (kind == ABUT_POSE_QUATERNION) {
      pose_exp(twist, numbers);
      for (int k = 3; k < 7; ++k) {
        numbers[k] *= 0.7; /* of any length */
      }
    }
    work_gradient(kind, numbers, gradient);
    work_along_steps(kind, frame, numbers, along);
    precision = given;
    to_frame(kind, frame, numbers, gradient, got);
    check(near(got, along, 6, 1e-7 + 100.0 * rounding),
          "kind %d, frame %d, angle %g: off by %g %g %g, %g %g %g", kind, frame, angle,
          got[0] - along[0], got[1] - along[1], got[2] - along[2], got[3] - along[3],
          got[4] - along[4], got[5] - along[5]);
    from_frame(kind, frame, numbers, along, back);
    check(near(back, gradient, width_of(kind), 1e-7 + 100.0 * rounding),
          "kind %d, frame %d, angle %g: the way back", kind, frame, angle);
    to_frame(kind, frame, numbers, back, again);
    check(near(again, along, 6, 200.0 * rounding), "kind %d, frame %d, angle %g: to and fro", kind,
          frame, angle);
  }
}

/* Near 2 pi what a twist tells of small motions fades, but from_frame stays. */
static void test_full_turn(void)
{
  const double twist[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 2.0 * PI};
  const double along[6] = {0.0, 0.0, 1.0, 0.0, 0.0, 1.0};
  double gradient[6], again[6];
  for (int frame = ABUT_FRAME_BODY; frame <= ABUT_FRAME_ALIGNED; ++frame) {
    from_frame(ABUT_POSE_TWIST, (abut_frame)frame, twist, along, gradient);
    to_frame(ABUT_POSE_TWIST, (abut_frame)frame, twist, gradient, again);
    for (int k = 0; k < 6; ++k) {
      check(fabs(gradient[k]) < 10.0, "frame %d, number %d: %g", frame, k, gradient[k]);
      check(isfinite(again[k]), "frame %d, step %d: %g", frame, k, again[k]);
    }
  }
}

/* ---- what is refused, and what is not finite ---- */

static void test_not_finite(void)
{
  const double wrong[3][7] = {{0.0, NAN, 0.0, 1.0},
                              {0.0, 0.0, 0.0, INFINITY, 1.0},
                              {1.0, 2.0, 3.0}};
  const double well[7] = {0.1, 0.2, 0.3, 0.9, 0.1, -0.2, 0.3}, xi[6] = {0.1};
  double out[14];
  for (int i = 0; i < 3; ++i) { /* beside a pose that is right */
    double both[14], steps[12] = {0.0};
    memcpy(both, wrong[i], sizeof wrong[i]);
    memcpy(both + 7, well, sizeof well);
    CHECK_OK(abut_pose_log(precision, 2, row_in(0, both, 14), reals[1]));
    row_out(1, out, 12);
    check(all_nan(out, 6) && isfinite(norm(out + 6, 6)), "a pose of kind %d has a log", i);
    CHECK_OK(abut_pose_step(precision, ABUT_POSE_QUATERNION, ABUT_FRAME_WORLD, 2, reals[0],
                            row_in(1, steps, 12), reals[2]));
    row_out(2, out, 14);
    check(all_nan(out, 7) && isfinite(norm(out + 7, 7)), "a pose of kind %d takes a step", i);
    from_frame(ABUT_POSE_QUATERNION, ABUT_FRAME_BODY, wrong[i], xi, out);
    check(all_nan(out, 7), "a pose of kind %d has a gradient", i);
  }
  for (int frame = ABUT_FRAME_BODY; frame <= ABUT_FRAME_ALIGNED; ++frame) {
    const double far[6] = {INFINITY};
    step(ABUT_POSE_QUATERNION, (abut_frame)frame, well, far, out);
    check(all_nan(out, 7), "an infinite step in frame %d", frame);
  }
  const double most = precision == ABUT_FLOAT64 ? 1e308 : 3e38;
  const double large[6] = {most, -most, most, most, most, -most};
  for (int frame = ABUT_FRAME_BODY; frame <= ABUT_FRAME_ALIGNED; ++frame) {
    step(ABUT_POSE_QUATERNION, (abut_frame)frame, well, large, out);
    check(isfinite(norm(out, 3)) && fabs(norm(out + 3, 4) - 1.0) < 4.0 * rounding,
          "a long step in frame %d", frame);
  }
  pose_exp(large, out);
  check(isfinite(norm(out + 3, 4)) && fabs(norm(out + 3, 4) - 1.0) < 4.0 * rounding &&
          isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]),
        "a long twist");
}

static void refuses(abut_status status, const char *text, const char *what)
{
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), text), "%s gives %s: %s", what,
        abut_status_name(status), abut_last_error());
}

static void test_refusals(void)
{
  double a[14] = {0.0};
  const abut_frame nowhere = (abut_frame)3;
  const abut_pose_kind kind = ABUT_POSE_TWIST;
  refuses(abut_pose_exp(precision, 1, NULL, a), ": an array is NULL", "exp of nothing");
  refuses(abut_pose_exp((abut_precision)2, 1, a, a), "precision 2", "exp of no precision");
  refuses(abut_pose_log(precision, 1, a, NULL), ": an array is NULL", "log to nowhere");
  refuses(abut_pose_compose(precision, kind, 1, a, NULL, a), ": an array is NULL",
          "a product of one");
  refuses(abut_pose_compose(precision, (abut_pose_kind)2, 1, a, a, a), "kind 2", "no kind");
  refuses(abut_pose_invert(precision, kind, 1, NULL, a), ": an array is NULL", "no inverse");
  refuses(abut_pose_step(precision, kind, nowhere, 1, a, a, a), "frame 3", "a step nowhere");
  refuses(abut_pose_step(precision, kind, ABUT_FRAME_BODY, 1, a, NULL, a), ": an array is NULL",
          "no step");
  refuses(abut_gradient_to_frame(precision, kind, nowhere, 1, a, a, a), "frame 3", "no frame");
  refuses(abut_gradient_to_frame(precision, kind, ABUT_FRAME_BODY, 1, a, a, NULL),
          ": an array is NULL", "no steps");
  refuses(abut_gradient_from_frame(precision, kind, nowhere, 1, a, a, a), "frame 3", "no frame");
  refuses(abut_gradient_from_frame(precision, kind, ABUT_FRAME_BODY, 1, NULL, a, a),
          ": an array is NULL", "no poses");
  CHECK_OK(abut_pose_exp(precision, 0, NULL, NULL));
  CHECK_OK(abut_pose_step(precision, kind, ABUT_FRAME_BODY, 0, NULL, NULL, NULL));
  abut_batch batch = abut_default_batch();
  abut_compact list = {.count = 1, .capacity = 1, .pose = (uint32_t[]){3}};
  const abut_frame frame = ABUT_FRAME_BODY;
  refuses(abut_jacobian_to_frame(precision, frame, ABUT_BODY_2, NULL, a, a), "no compact list",
          "no batch");
  refuses(abut_jacobian_to_frame(precision, frame, ABUT_BODY_2, &batch, a, a), "no compact list",
          "no list");
  batch.count = 2;
  batch.pose1 = batch.pose2 = a;
  batch.compact = &list;
  refuses(abut_jacobian_to_frame(precision, frame, (abut_moving)3, &batch, a, a), "unknown value 3",
          "no body");
  refuses(abut_jacobian_to_frame(precision, nowhere, ABUT_BODY_2, &batch, a, a), "frame 3",
          "no frame");
  refuses(abut_jacobian_to_frame(precision, frame, ABUT_BODY_2, &batch, NULL, a),
          ": an array is NULL", "no blocks");
  refuses(abut_jacobian_to_frame(precision, frame, ABUT_BODY_2, &batch, a, a),
          "entry 0 of the list names pose 3", "an entry of no pose");
  batch.memory = ABUT_MEMORY_STATE;
  refuses(abut_jacobian_to_frame(precision, frame, ABUT_BODY_2, &batch, a, a), "host memory",
          "poses of a state");
  list.count = 0;
  batch.memory = ABUT_MEMORY_HOST;
  CHECK_OK(abut_jacobian_to_frame(precision, frame, ABUT_BODY_2, &batch, NULL, NULL));
}

/* An output lies where an input of the same shape does, or apart from all of them. */
static void test_overlaps(void)
{
  const size_t r = real_size(precision);
  double memory[40], kept[40];
  char *a = (char *)memory;
  for (size_t i = 0; i < 40; ++i) {
    memory[i] = kept[i] = 0.25;
  }
  refuses(abut_pose_exp(precision, 2, a, a),
          "the output poses partly overlaps the input twists in memory",
          "rows of 7 where rows of 6 are");
  refuses(abut_pose_log(precision, 2, a, a + 13 * r), "overlaps the input poses",
          "a common number");
  refuses(abut_pose_compose(precision, ABUT_POSE_TWIST, 2, a, a + 12 * r, a + 6 * r),
          "the output products partly overlaps the input left in memory", "a product across both");
  refuses(abut_pose_invert(precision, ABUT_POSE_QUATERNION, 2, a, a + r),
          "overlaps the input poses", "an inverse beside its pose");
  refuses(abut_pose_step(precision, ABUT_POSE_QUATERNION, ABUT_FRAME_BODY, 2, a, a + 14 * r,
                         a + 14 * r),
          "the output stepped partly overlaps the input steps in memory", "poses over steps");
  refuses(abut_gradient_to_frame(precision, ABUT_POSE_QUATERNION, ABUT_FRAME_BODY, 2, a, a + 14 * r,
                                 a),
          "the output steps partly overlaps the input poses in memory", "steps over poses");
  refuses(abut_gradient_from_frame(precision, ABUT_POSE_QUATERNION, ABUT_FRAME_BODY, 2, a,
                                   a + 14 * r, a + 14 * r),
          "the output gradients partly overlaps the input steps in memory", "gradients over steps");
  abut_batch batch = abut_default_batch();
  abut_compact list = {.count = 1, .capacity = 1, .pose = (uint32_t[]){0}};
  batch.count = 1;
  batch.pose1 = batch.pose2 = a + 30 * r;
  batch.compact = &list;
  double blocks[100] = {0.0};
  refuses(abut_jacobian_to_frame(precision, ABUT_FRAME_BODY, ABUT_BODY_2, &batch, blocks,
                                 (char *)blocks + r),
          "the output steps overlaps the input blocks in memory", "steps across blocks");
  refuses(abut_jacobian_to_frame(precision, ABUT_FRAME_BODY, ABUT_BODY_2, &batch, blocks, a),
          "overlaps the input pose1", "steps over poses");
  check(!memcmp(memory, kept, sizeof kept), "what is refused is written");
  CHECK_OK(abut_pose_compose(precision, ABUT_POSE_TWIST, 2, a, a + 12 * r, a + 12 * r));
}

/* ---- beside the kernels ---- */

typedef struct scene {
  abut_context context;
  abut_pair pair;
  size_t contacts;
  void *twist[2], *pose[2]; /* the same poses in both kinds */
} scene;

static void *room(size_t count)
{
  return calloc(count, sizeof(double));
}

static bool make_scene(scene *s)
{
  uint64_t seed = 55;
  abut_body bodies[2];
  abut_layout layout;
  abut_smoothing smoothing = abut_default_smoothing();
  smoothing.penetration = smoothing.neighbour = 0.05;
  if (!test_context(precision, &s->context) || !smooth_body(s->context, &seed, &bodies[0]) ||
      !smooth_body(s->context, &seed, &bodies[1]) ||
      !CHECK_OK(abut_create_pair(bodies[0], bodies[1], &smoothing, &s->pair)) ||
      !CHECK_OK(abut_get_layout(s->pair, &layout))) {
    return false;
  }
  s->contacts = layout.contacts;
  for (int side = 0; side < 2; ++side) {
    s->twist[side] = room(6 * POSES);
    s->pose[side] = room(7 * POSES);
    for (size_t i = 0; i < POSES; ++i) {
      double twist[6];
      twist_of(&seed, angles[i % ANGLES], twist);
      for (size_t k = 0; k < 6; ++k) {
        real_put(s->twist[side], precision, 6 * i + k, k < 3 ? 0.25 * twist[k] : twist[k]);
      }
    }
    CHECK_OK(abut_pose_exp(precision, POSES, s->twist[side], s->pose[side]));
  }
  return true;
}

static void end_scene(scene *s)
{
  for (int side = 0; side < 2; ++side) {
    free(s->twist[side]);
    free(s->pose[side]);
  }
  CHECK_OK(abut_destroy_context(s->context));
}

static abut_batch scene_batch(const scene *s, abut_pose_kind kind)
{
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.poses = kind;
  batch.pose1 = kind == ABUT_POSE_TWIST ? s->twist[0] : s->pose[0];
  batch.pose2 = kind == ABUT_POSE_TWIST ? s->twist[1] : s->pose[1];
  return batch;
}

/* Distances and positions by twists are those by their exp. */
static void test_contacts(const scene *s)
{
  void *d[2], *p[2];
  const size_t all = POSES * s->contacts;
  double worst = 0.0;
  for (int kind = 0; kind < 2; ++kind) {
    abut_batch batch = scene_batch(s, (abut_pose_kind)kind);
    batch.d = d[kind] = room(all);
    batch.p = p[kind] = room(3 * all);
    CHECK_OK(abut_contacts(s->pair, &batch));
  }
  for (size_t i = 0; i < 3 * all; ++i) {
    worst = fmax(worst, fabs(real_at(p[0], precision, i) - real_at(p[1], precision, i)));
    worst = i < all ? fmax(worst, fabs(real_at(d[0], precision, i) - real_at(d[1], precision, i)))
                    : worst;
  }
  check(worst < 1e4 * rounding, "contacts by twists and by quaternions differ by %g m", worst);
  for (int kind = 0; kind < 2; ++kind) {
    free(d[kind]);
    free(p[kind]);
  }
}

static double soft_minimum_at(const scene *s, const void *pose2, size_t i)
{
  double soft = 0.0;
  abut_batch batch = scene_batch(s, ABUT_POSE_QUATERNION);
  batch.count = 1;
  batch.pose1 = (const char *)s->pose[0] + 7 * i * real_size(precision);
  batch.pose2 = pose2;
  batch.reductions.soft_minimum = &soft;
  CHECK_OK(abut_contacts(s->pair, &batch));
  return real_at(&soft, precision, 0);
}

/* The gradient of body 2's poses by both kinds of numbers is one along steps, and, where numbers
 * are long enough for difference quotients, what steps find. */
static void test_gradients(const scene *s)
{
  void *along[2], *slopes[2];
  for (int frame = ABUT_FRAME_BODY; frame <= ABUT_FRAME_ALIGNED; ++frame) {
    for (int kind = 0; kind < 2; ++kind) {
      abut_batch batch = scene_batch(s, (abut_pose_kind)kind);
      const abut_gradients gradients = {NULL, slopes[kind] = room(7 * POSES)};
      along[kind] = room(6 * POSES);
      CHECK_OK(
        abut_gradient(s->pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients));
      CHECK_OK(abut_gradient_to_frame(precision, (abut_pose_kind)kind, (abut_frame)frame, POSES,
                                      batch.pose2, slopes[kind], along[kind]));
    }
    for (size_t i = 0; i < POSES; ++i) {
      double two[2][6];
      for (size_t k = 0; k < 12; ++k) {
        two[k / 6][k % 6] = real_at(along[k / 6], precision, 6 * i + k % 6);
      }
      check(near(two[0], two[1], 6, 1e4 * rounding), "frame %d, pose %zu: by twists another", frame,
            i);
      for (size_t k = 0; precision == ABUT_FLOAT64 && k < 6; ++k) {
        double xi[6] = {0.0}, up[7], down[7], pose[7];
        memcpy(pose, (double *)s->pose[1] + 7 * i, sizeof pose);
        xi[k] = 1e-5;
        step(ABUT_POSE_QUATERNION, (abut_frame)frame, pose, xi, up);
        xi[k] = -1e-5;
        step(ABUT_POSE_QUATERNION, (abut_frame)frame, pose, xi, down);
        const double found = quotient(soft_minimum_at(s, up, i), soft_minimum_at(s, down, i));
        check(fabs(found - two[1][k]) < 1e-5 * (1.0 + fabs(found)),
              "frame %d, pose %zu, step %zu: %g, by quotients %g", frame, i, k, two[1][k], found);
      }
    }
    for (int kind = 0; kind < 2; ++kind) {
      free(along[kind]);
      free(slopes[kind]);
    }
  }
}

/* Rows are gradients of one entry each. */
static void check_rows(const abut_batch *batch, abut_frame frame, const void *steps)
{
  const abut_compact *list = batch->compact;
  const size_t width = (size_t)width_of(batch->poses), real = real_size(precision);
  for (size_t row = 0; row < 8 * list->count; ++row) {
    const size_t pose = list->pose[row / 8];
    for (size_t side = 0; side < 2; ++side) {
      double six[6], all[6];
      const char *poses = side ? batch->pose2 : batch->pose1;
      const char *blocks = list->blocks;
      CHECK_OK(abut_gradient_to_frame(precision, batch->poses, frame, 1,
                                      poses + pose * width * real,
                                      blocks + (2 * row + side) * width * real, reals[3]));
      row_out(3, six, 6);
      for (size_t k = 0; k < 6; ++k) {
        all[k] = real_at(steps, precision, 12 * row + 6 * side + k);
      }
      check(near(six, all, 6, 0.0), "frame %d, row %zu, body %zu", (int)frame, row, side);
    }
  }
}

/* Distances stay where both bodies move alike in the world. */
static void check_common_motion(const abut_compact *list, const void *steps)
{
  for (size_t i = 0; i < list->count; ++i) {
    const size_t row = 12 * (8 * i + 3);
    double worst = 0.0, most = 1.0;
    for (size_t k = 0; k < 6; ++k) {
      const double one = real_at(steps, precision, row + k);
      const double two = real_at(steps, precision, row + 6 + k);
      worst = fmax(worst, fabs(one + two));
      most = fmax(most, fabs(one));
    }
    check(worst < 1e4 * rounding * most, "entry %zu: a common motion changes d by %g", i, worst);
  }
}

static void test_jacobian(const scene *s, abut_pose_kind kind)
{
  abut_compact list = {.threshold = 0.2, .grows = true};
  abut_batch batch = scene_batch(s, kind);
  batch.compact = &list;
  if (!CHECK_OK(abut_jacobian(s->pair, ABUT_SAME_PAIR, &batch, NULL)) ||
      !check(list.count > 10, "%zu active contacts", list.count)) {
    return;
  }
  const size_t rows = 8 * list.count;
  void *both = room(12 * rows), *one = room(6 * rows);
  for (int frame = ABUT_FRAME_BODY; frame <= ABUT_FRAME_ALIGNED; ++frame) {
    CHECK_OK(
      abut_jacobian_to_frame(precision, (abut_frame)frame, ABUT_BOTH_BODIES, &batch, NULL, both));
    check_rows(&batch, (abut_frame)frame, both);
    for (int moving = ABUT_BODY_1; moving <= ABUT_BODY_2; ++moving) {
      bool same = true;
      CHECK_OK(abut_jacobian_to_frame(precision, (abut_frame)frame, (abut_moving)moving, &batch,
                                      list.blocks, one));
      for (size_t i = 0; i < 6 * rows; ++i) {
        const size_t there = 12 * (i / 6) + 6 * (size_t)(moving - 1) + i % 6;
        same = same && !(fabs(real_at(one, precision, i) - real_at(both, precision, there)) > 0.0);
      }
      check(same, "frame %d, body %d alone: other columns", frame, moving);
    }
    if (frame == ABUT_FRAME_WORLD) {
      check_common_motion(&list, both);
    }
  }
  CHECK_OK(abut_jacobian_to_frame(precision, ABUT_FRAME_ALIGNED, ABUT_BOTH_BODIES, &batch, NULL,
                                  list.blocks));
  check(!memcmp(list.blocks, both, 12 * rows * real_size(precision)), "other rows in place");
  free(both);
  free(one);
  abut_free_compact(&list);
}

int main(int argc, char **argv)
{
  scene s;
  precision = precision_of(argc, argv);
  rounding = precision == ABUT_FLOAT64 ? 2.3e-16 : 1.2e-7;
  test_closed_forms();
  test_round_trips();
  test_any_length();
  test_products();
  test_steps();
  test_slopes();
  test_full_turn();
  test_not_finite();
  test_refusals();
  test_overlaps();
  if (!make_scene(&s)) { /* said why */
    return check_finish();
  }
  test_contacts(&s);
  test_gradients(&s);
  test_jacobian(&s, ABUT_POSE_TWIST);
  test_jacobian(&s, ABUT_POSE_QUATERNION);
  end_scene(&s);
  return check_finish();
}
