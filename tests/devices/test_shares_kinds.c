/* One batch on devices of different kinds in one context, against the host path alone in float64:
 * test_shares_kinds PRECISION
 *
 * The host path, PoCL, and with ABUT_TEST_KINDS=all every device of every platform that has the
 * precision. The table of docs/dev/spec.md, section 9, holds whichever device a pose comes from. */
#include "core/slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POSES = 389, ROUNDS = 12, OUTPUTS = 4 };

/* Errors allowed to every entry, and to 99 % of them; the last row is of pose gradients, relative
 * to the largest. */
typedef struct tolerance {
  double all, most;
} tolerance;

static const tolerance table[2][OUTPUTS + 1] = {
  {{5e-5, 3e-5}, {1e-3, 2e-4}, {1e-2, 1e-3}, {3e-4, 3e-5}, {1e-2, 2e-3}},
  {{1e-9, 1e-9}, {1e-9, 1e-9}, {1e-8, 1e-8}, {1e-9, 1e-9}, {1e-7, 1e-7}}};
static const char *const names[] = {"p", "d", "n", "activity"};

typedef struct world {
  abut_context context;
  abut_pair pair;
  abut_precision precision;
} world;

static bool world_open(world *w, abut_precision precision, const abut_device_choice *choices,
                       size_t count)
{
  const char *lanes = getenv("ABUT_TEST_LANES");
  abut_context_def def = abut_default_context_def();
  abut_smoothing smoothing;
  abut_body bodies[2];
  uint64_t seed = 2;
  def.devices = choices;
  def.device_count = (uint32_t)count;
  def.precision = w->precision = precision;
  def.lanes = lanes ? (uint32_t)atoi(lanes) : 0;
  def.fallback = ABUT_FALLBACK_NONE;
  if (!CHECK_OK(abut_create_context(&def, &w->context)) ||
      !smooth_body(w->context, &seed, &bodies[0]) || !smooth_body(w->context, &seed, &bodies[1]) ||
      !CHECK_OK(abut_fit_smoothing(bodies[0], bodies[1], &smoothing))) {
    return false;
  }
  smoothing.select = ABUT_SELECT_GATE;
  smoothing.edges[0] = smoothing.edges[1] = 4;
  return CHECK_OK(abut_create_pair(bodies[0], bodies[1], &smoothing, &w->pair));
}

/* The devices there are, the host path last: it is slow, and takes what the others leave. */
static size_t find_kinds(abut_precision precision, abut_device_choice *choices)
{
  const char *wanted = getenv("ABUT_TEST_KINDS");
  abut_device_info infos[ABUT_DEVICES_MOST];
  size_t there = 0, count = 0;
  uint32_t pocl = UINT32_MAX;
  const bool all = wanted && strcmp(wanted, "all") == 0;
  CHECK_OK(abut_list_devices(infos, ABUT_DEVICES_MOST, &there));
  if (abut_find_device("pocl", &pocl) != ABUT_SUCCESS) {
    printf("without PoCL: %s\n", abut_last_error());
    pocl = UINT32_MAX;
  }
  for (size_t i = 0; i < there && i < ABUT_DEVICES_MOST; ++i) {
    const bool host = infos[i].type == ABUT_DEVICE_HOST;
    if (!(all || host || infos[i].index == pocl)) {
      continue;
    }
    if (precision == ABUT_FLOAT64 && !infos[i].has_float64) {
      printf("without %s, which has no float64\n", infos[i].name);
      continue;
    }
    printf("%s (%s)\n", infos[i].name, infos[i].platform);
    choices[count++] = (abut_device_choice){infos[i].index, 0, 0};
  }
  return count;
}

/* ---- one round ---- */

typedef struct round_of {
  outputs out;
  slopes derivatives;
} round_of;

/* Poses that float32 takes as they are. */
static void make_poses(double *pose1, double *pose2, uint64_t seed)
{
  for (size_t i = 0; i < 6 * POSES; ++i) {
    pose1[i] = floor(512.0 * random_uniform(&seed)) / 512.0 - 0.5;
    pose2[i] = floor(512.0 * random_uniform(&seed)) / 512.0 - 0.5;
  }
}

static bool run_round(const world *w, const double *pose1, const double *pose2, round_of *r)
{
  if (!outputs_create(&r->out, w->pair, w->precision, POSES, 1, 2.0) ||
      !slopes_create(&r->derivatives, w->pair, w->precision, ABUT_POSE_TWIST, POSES, 1)) {
    return false;
  }
  for (size_t i = 0; i < POSES; ++i) {
    slopes_put(&r->derivatives, 0, i, pose1 + 6 * i);
    slopes_put(&r->derivatives, 1, i, pose2 + 6 * i);
  }
  return CHECK_OK(run_poses(w->pair, ABUT_POSE_TWIST, pose1, pose2, &r->out)) &&
         CHECK_OK(slopes_gradient(&r->derivatives, ABUT_REDUCE_MEAN_DISTANCE));
}

static void round_free(round_of *r)
{
  outputs_free(&r->out);
  slopes_free(&r->derivatives);
}

static void compare(const char *what, tolerance t, const void *got, abut_precision precision,
                    const void *right, size_t count, double scale)
{
  double worst = 0.0;
  size_t beyond = 0;
  for (size_t i = 0; i < count; ++i) {
    const double error = fabs(real_at(got, precision, i) - real_at(right, ABUT_FLOAT64, i)) / scale;
    worst = error <= worst ? worst : error; /* a NaN stays */
    beyond += !(error <= t.most);
  }
  check(worst <= t.all, "%s: off by %g of %g", what, worst, t.all);
  check(beyond * 100 <= count, "%s: %zu of %zu beyond %g", what, beyond, count, t.most);
}

static void compare_rounds(const round_of *got, const round_of *right)
{
  const abut_precision precision = got->out.precision;
  for (int i = 0; i < OUTPUTS; ++i) {
    compare(names[i], table[precision][i], got->out.arrays[i], precision, right->out.arrays[i],
            POSES * out_width(&got->out, i), 1.0);
  }
  for (int side = 0; side < 2; ++side) {
    double most = 0.0;
    for (size_t i = 0; i < 6 * POSES; ++i) {
      most = fmax(most, fabs(slopes_at(&right->derivatives, right->derivatives.gradient[side], i)));
    }
    compare(side ? "gradient of pose2" : "gradient of pose1", table[precision][OUTPUTS],
            got->derivatives.gradient[side], precision, right->derivatives.gradient[side],
            6 * POSES, most);
  }
}

/* Poses done by each device so far; whether all had some. */
static bool shares(const world *w, bool print)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t count = 0;
  bool all = true;
  CHECK_OK(abut_context_devices(w->context, reports, ABUT_DEVICES_MOST + 1, &count));
  for (size_t i = 0; i < count; ++i) {
    check(reports[i].status == ABUT_SUCCESS, "%s: %s", reports[i].info.name, reports[i].text);
    all = all && reports[i].elements;
    if (print) {
      printf("%s: %llu poses\n", reports[i].info.name, (unsigned long long)reports[i].elements);
    }
  }
  return all;
}

int main(int argc, char **argv)
{
  static double pose1[6 * POSES], pose2[6 * POSES];
  const abut_precision precision = precision_of(argc, argv);
  abut_device_choice choices[ABUT_DEVICES_MOST];
  const size_t count = find_kinds(precision, choices);
  world alone, shared;
  if (count < 2) {
    printf("not run: the host path is the only device\n");
    return 77;
  }
  if (!world_open(&alone, ABUT_FLOAT64, &choices[count - 1], 1) ||
      !world_open(&shared, precision, choices, count)) {
    return check_finish();
  }
  bool all = false;
  for (uint64_t i = 0; i < ROUNDS && (!all || i < 2); ++i) { /* until each had a share */
    round_of got, right;
    make_poses(pose1, pose2, i + 1);
    if (run_round(&alone, pose1, pose2, &right) && run_round(&shared, pose1, pose2, &got)) {
      compare_rounds(&got, &right);
    }
    round_free(&got);
    round_free(&right);
    all = shares(&shared, false);
  }
  shares(&shared, true);
  CHECK_OK(abut_destroy_context(alone.context));
  return finish_context(shared.context);
}
