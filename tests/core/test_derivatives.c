/* Derivatives against each other and against central differences: test_derivatives PRECISION.
 *
 * The measure of a sum of products is the sum of their absolute values: <c, J t> and <J' c, t> may
 * differ by rounding of that size. */
#include "slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double between(uint64_t *seed, double low, double high)
{
  return low + (high - low) * random_uniform(seed);
}

static uint32_t one_of(uint64_t *seed, uint32_t count)
{
  return (uint32_t)((double)count * random_uniform(seed));
}

static abut_smoothing any_smoothing(uint64_t *seed)
{
  abut_smoothing s = abut_default_smoothing();
  s.length = between(seed, 0.1, 1.0);
  s.union_ = between(seed, 0.01, 0.05);
  s.plane = between(seed, 0.01, 0.05);
  s.penetration = between(seed, 0.02, 0.1);
  s.neighbour = between(seed, 0.02, 0.1);
  s.sort = between(seed, 0.01, 0.1);
  s.distance = one_of(seed, 2) ? 1e-10 : 1e-4;
  s.trace = one_of(seed, 4);
  s.inside = one_of(seed, 2);
  s.select = one_of(seed, 2) ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s.edge_edge = one_of(seed, 5) > 0;
  s.two_sided = one_of(seed, 5) > 0;
  for (int i = 0; i < 2; ++i) {
    s.edges[i] = one_of(seed, 6);
    s.vertices[i] = one_of(seed, 6);
  }
  s.floor = one_of(seed, 2) ? between(seed, 1e-4, 0.2) : 0.0;
  return s;
}

/* ---- VJP and JVP agree ---- */

enum { EACH = 2 };

static int pairs_of_bodies(void)
{
  return usual_share() ? 100 : UNLESS_SANITIZED(500, 100);
}

static void random_poses(slopes *s, uint64_t *seed)
{
  double pose[7];
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < s->count; ++i) {
      const double size = s->kind == ABUT_POSE_QUATERNION ? between(seed, 0.3, 3.0) : 1.0;
      random_pose(seed, 0.4, pose);
      for (int k = 3; k < 7; ++k) {
        pose[k] *= size;
      }
      if (s->kind == ABUT_POSE_TWIST) {
        for (int k = 3; k < 6; ++k) {
          pose[k] = 2.0 * random_normal(seed);
        }
      }
      slopes_put(s, side, i, pose);
    }
  }
}

/* |<c, J t> - <J' c, t>| of a pose, as a part of the sums' absolute terms. */
static double disagreement(const slopes *s, size_t pose, unsigned given)
{
  double size = 0.0, difference = 0.0;
  for (int i = 0; i < 4; ++i) {
    const size_t width = slopes_out(s, i);
    if (given & 1u << i) {
      difference += slopes_dot(s, s->bars[i], s->tangents[i], pose * width, width, &size);
    }
  }
  for (int i = 0; i < 2; ++i) {
    difference -= slopes_dot(s, s->gradient[i], s->along[i], pose * s->width, s->width, &size);
  }
  return fabs(difference) / (size > 0.0 ? size : 1.0);
}

/* How far roundings of a pose's numbers move <J' c, t>, as a part of the sum's absolute terms: the
 * most of some. Moves the poses. A device that contracts sums of products rounds the values of its
 * two programs, plain and dual, differently: where second derivatives are large VJP and JVP differ
 * by what their own roundings are worth. */
static double shake(slopes *s, size_t pose, unsigned given, uint64_t *seed)
{
  const double unit = s->precision == ABUT_FLOAT64 ? 2.2204460492503131e-16 : 1.1920929e-7;
  double first = 0.0, most = 0.0;
  for (int turn = 0; turn < 5; ++turn) {
    double sum = 0.0, size = 0.0;
    if (!CHECK_OK(slopes_vjp(s, given))) {
      return 0.0;
    }
    for (int i = 0; i < 2; ++i) {
      double moved[7];
      sum += slopes_dot(s, s->gradient[i], s->along[i], pose * s->width, s->width, &size);
      for (size_t k = 0; k < s->width; ++k) {
        const double x = slopes_at(s, s->pose[i], pose * s->width + k);
        moved[k] = x + (one_of(seed, 2) ? 2.0 : -2.0) * unit * fmax(fabs(x), 0.25);
      }
      slopes_put(s, i, pose, moved);
    }
    first = turn ? first : sum;
    most = fmax(most, fabs(sum - first) / (size > 0.0 ? size : 1.0));
  }
  return most;
}

typedef struct agreement {
  double worst;
  size_t poses, unusual, shaken;
} agreement;

static void one_pair(abut_context context, abut_precision precision, int index, double usual,
                     agreement *a)
{
  uint64_t seed = 7919 * (uint64_t)(index + 1);
  abut_body bodies[2];
  abut_pair pair;
  slopes s;
  if (!any_body(context, &seed, &bodies[0]) || !any_body(context, &seed, &bodies[1])) {
    return;
  }
  const abut_smoothing smoothing = any_smoothing(&seed);
  const abut_pose_kind kind = one_of(&seed, 2) ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION;
  const unsigned given = one_of(&seed, 2) ? ALL_BARS : 1 + one_of(&seed, ALL_BARS);
  if (CHECK_OK(abut_create_pair(bodies[0], bodies[1], &smoothing, &pair)) &&
      slopes_create(&s, pair, precision, kind, EACH, seed)) {
    random_poses(&s, &seed);
    const bool ran = CHECK_OK(slopes_vjp(&s, given)) && CHECK_OK(slopes_jvp(&s));
    for (size_t i = 0; ran && i < EACH; ++i) {
      const double off = disagreement(&s, i, given);
      ++a->poses;
      if (off > usual && off <= 4.0 * shake(&s, i, given, &seed)) {
        ++a->shaken;
        continue;
      }
      a->unusual += !(off <= usual);
      if (!(off <= a->worst)) {
        a->worst = off;
        printf("  pair %d, pose %zu: %.2e\n", index, i, off);
      }
    }
    slopes_free(&s);
    CHECK_OK(abut_destroy_pair(pair));
  }
  CHECK_OK(abut_destroy_body(bodies[0]));
  CHECK_OK(abut_destroy_body(bodies[1]));
}

/* 1e-12 at most in float64, 1e-13 for 99 of 100 poses; in float32 as many of its roundings. But for
 * poses, of 20 one at most, where roundings of the poses themselves do as much. */
static void test_agreement(abut_context context, abut_precision precision)
{
  static const double most[2] = {1e-12 * 536870912.0, 1e-12};
  static const double usual[2] = {1e-13 * 536870912.0, 1e-13};
  agreement a = {0};
  for (int i = 0; i < pairs_of_bodies(); ++i) {
    one_pair(context, precision, i, usual[precision], &a);
  }
  printf("VJP and JVP: worst %.2e, %zu of %zu above %.0e, %zu where roundings weigh\n", a.worst,
         a.unusual, a.poses, usual[precision], a.shaken);
  check(20 * a.shaken <= a.poses, "roundings of %zu poses weigh more than %g", a.shaken,
        usual[precision]);
  check(a.poses == (size_t)(pairs_of_bodies() * EACH), "%zu poses", a.poses);
  check(a.worst <= most[precision], "VJP and JVP disagree by %g", a.worst);
  check(100 * a.unusual <= a.poses, "VJP and JVP disagree by more than %g at %zu poses",
        usual[precision], a.unusual);
}

/* ---- central differences ---- */

enum { SCENES = 6, POSES = 12, STEPS = 3 };

typedef struct scene {
  abut_pair pair, ranks; /* `ranks` keeps every vertex and edge in the order of its score */
  slopes s;
  bool smooth[POSES]; /* no element changes its rank within the largest step */
  bool apart[POSES];  /* and no distance of an active contact its sign */
} scene;

/* Rotations of a twist: none, hardly any, near pi, at it, beyond, near a full turn, several. */
static const double turns[POSES] = {0.0, 1e-9, 1e-4,   0.3, 1.5, 3.1415, 3.141592653589793,
                                    3.3, 5.0,  6.2831, 6.5, 40.0};

static void place_twists(slopes *s, uint64_t *seed)
{
  double pose[7];
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < POSES; ++i) {
      random_pose(seed, 0.25, pose);
      const double size = sqrt(pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]);
      for (int k = 0; k < 3; ++k) {
        pose[3 + k] = turns[(i + 5 * (size_t)side) % POSES] * pose[4 + k] / size;
      }
      slopes_put(s, side, i, pose);
    }
  }
}

static bool make_scene(abut_context context, int index, scene *out)
{
  uint64_t seed = 40 + 13 * (uint64_t)index;
  abut_body bodies[2];
  abut_smoothing s = abut_default_smoothing();
  s.length = 0.5;
  s.union_ = s.plane = 0.05;
  s.penetration = 0.1;
  s.neighbour = 0.1;
  s.sort = 0.1;
  s.distance = 1e-2;
  s.sign = s.clash = 0.3;
  s.clip = s.minimum = s.compare = 0.3;
  s.select = index % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  s.trace = (uint32_t)index / 2;
  s.inside = index % 3 == 1;
  s.floor = index % 2 ? 0.02 : 0.0;
  s.edges[0] = index < 4 ? 4 : 0;
  s.edges[1] = s.vertices[0] = 3;
  s.vertices[1] = index < 4 ? 4 : 0;
  const abut_pose_kind kind = index == 1 || index == 2 ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST;
  if (!smooth_body(context, &seed, &bodies[0]) || !smooth_body(context, &seed, &bodies[1]) ||
      !CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &out->pair)) ||
      !slopes_create(&out->s, out->pair, ABUT_FLOAT64, kind, POSES, seed)) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    s.edges[i] = s.edges[i] ? 1000 : 0;
    s.vertices[i] = s.vertices[i] ? 1000 : 0;
  }
  if (!CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &out->ranks))) {
    return false;
  }
  if (kind == ABUT_POSE_TWIST) {
    place_twists(&out->s, &seed);
  } else {
    random_poses(&out->s, &seed);
  }
  return true;
}

/* Poses of `s` moved by `step` along its tangents, in new arrays. */
static void moved(const slopes *s, double step, double *pose[2])
{
  for (int side = 0; side < 2; ++side) {
    pose[side] = calloc(s->count * s->width, sizeof(double));
    for (size_t i = 0; pose[side] && i < s->count * s->width; ++i) {
      pose[side][i] = slopes_at(s, s->pose[side], i) + step * slopes_at(s, s->along[side], i);
    }
  }
}

/* Every output at the poses moved by `step`. */
static bool run_moved(const slopes *s, abut_pair pair, double step, outputs *o)
{
  double *pose[2];
  abut_layout layout;
  CHECK_OK(abut_get_layout(pair, &layout));
  moved(s, step, pose);
  const bool ran =
    outputs_create(o, pair, s->precision, s->count, s->count * layout.contacts, 0.0) &&
    CHECK_OK(run_poses(pair, s->kind, pose[0], pose[1], o));
  free(pose[0]);
  free(pose[1]);
  return ran;
}

/* A derivative ends where the order of a selection changes; the energy's second one where a
 * distance changes its sign. Differences across that say nothing: such poses are left out. */
static void find_smooth(scene *t, double step)
{
  outputs order[2], all[2];
  size_t smooth = 0;
  for (int i = 0; i < 2; ++i) {
    run_moved(&t->s, t->ranks, i ? step : -step, &order[i]);
    run_moved(&t->s, t->pair, i ? step : -step, &all[i]);
  }
  for (size_t pose = 0; pose < POSES; ++pose) {
    const size_t width = 2 * order[0].contacts, contacts = all[0].contacts;
    t->smooth[pose] = !memcmp(order[0].compact.feature + pose * width,
                              order[1].compact.feature + pose * width, width * sizeof(uint32_t));
    t->apart[pose] = t->smooth[pose];
    for (size_t i = pose * contacts; i < (pose + 1) * contacts; ++i) {
      t->apart[pose] = t->apart[pose] &&
                       (out_at(&all[0], OUT_ACTIVITY, i) < 1e-9 ||
                        (out_at(&all[0], OUT_D, i) < 0.0) == (out_at(&all[1], OUT_D, i) < 0.0));
    }
    smooth += t->apart[pose];
  }
  check(2 * smooth >= POSES, "only %zu of %d poses are far from a switch", smooth, POSES);
  for (int i = 0; i < 2; ++i) {
    outputs_free(&order[i]);
    outputs_free(&all[i]);
  }
}

/* Central difference quotients of every output, and those of the reductions behind them. */
static void quotients(const slopes *s, double step, double *to[OUT_ARRAYS])
{
  outputs o[2];
  for (int i = 0; i < 2; ++i) {
    run_moved(s, s->pair, i ? step : -step, &o[i]);
  }
  for (int array = 0; array < OUT_ARRAYS; ++array) {
    const size_t count = s->count * out_width(&o[0], array);
    to[array] = calloc(count, sizeof(double));
    for (size_t i = 0; i < count; ++i) {
      to[array][i] = (out_at(&o[1], array, i) - out_at(&o[0], array, i)) / (2.0 * step);
    }
  }
  outputs_free(&o[0]);
  outputs_free(&o[1]);
}

/* Root of the sum of squares of a pose's errors of `width` numbers, and the numbers' own. */
static double distance(const slopes *s, const void *exact, const double *quotient, size_t pose,
                       size_t width, double *size)
{
  double sum = 0.0;
  *size = 0.0;
  for (size_t i = pose * width; i < (pose + 1) * width; ++i) {
    const double x = slopes_at(s, exact, i);
    sum += (x - quotient[i]) * (x - quotient[i]);
    *size += x * x;
  }
  *size = sqrt(*size);
  return sqrt(sum);
}

/* Errors that fall with the square of the step, until rounding: a derivative that is off by e
 * leaves them at e. */
static void judge_order(const double error[STEPS], double size, const char *what, size_t pose)
{
  const double rounding = 1e-7 * (1.0 + size);
  for (int i = 1; i < STEPS; ++i) {
    check(error[i] <= rounding || (error[i] < error[i - 1] / 3.5 && error[i] > error[i - 1] / 4.5),
          "%s, pose %zu: errors %.3e, %.3e, %.3e of %.3e do not fall with the square of the step",
          what, pose, error[0], error[1], error[2], size);
  }
  check(error[STEPS - 1] <= 1e-2 * size + rounding, "%s, pose %zu: error %g of %g", what, pose,
        error[STEPS - 1], size);
}

static const double steps[STEPS] = {8e-5, 4e-5, 2e-5};

static void test_differences(scene *t, int index)
{
  static const char *const names[4] = {"p", "d", "n", "activity"};
  double *q[STEPS][OUT_ARRAYS];
  slopes *s = &t->s;
  if (!CHECK_OK(slopes_jvp(s))) {
    return;
  }
  for (int i = 0; i < STEPS; ++i) {
    quotients(s, steps[i], q[i]);
  }
  for (int array = 0; array < 4; ++array) {
    for (size_t pose = 0; pose < POSES; ++pose) {
      if (!t->smooth[pose]) {
        continue;
      }
      double error[STEPS], size;
      char what[64];
      for (int i = 0; i < STEPS; ++i) {
        error[i] = distance(s, s->tangents[array], q[i][array], pose, slopes_out(s, array), &size);
      }
      snprintf(what, sizeof what, "scene %d, %s", index, names[array]);
      judge_order(error, size, what, pose);
    }
  }
  for (int i = 0; i < STEPS; ++i) {
    for (int array = 0; array < OUT_ARRAYS; ++array) {
      free(q[i][array]);
    }
  }
}

/* ---- reductions ---- */

static const int reduced_arrays[4] = {OUT_MEAN, OUT_SUM, OUT_ENERGY, OUT_SOFT};
static const char *const reductions[4] = {"mean distance", "activity", "energy", "soft minimum"};

/* Slopes of the reduction along the tangents, from its gradient. */
static void test_gradients(scene *t, int index)
{
  double *q[STEPS][OUT_ARRAYS], along[POSES];
  slopes *s = &t->s;
  for (int i = 0; i < STEPS; ++i) {
    quotients(s, steps[i], q[i]);
  }
  for (int reduction = 0; reduction < 4; ++reduction) {
    if (!CHECK_OK(slopes_gradient(s, (abut_reduction)reduction))) {
      return;
    }
    for (size_t pose = 0; pose < POSES; ++pose) {
      if (!(reduction == ABUT_REDUCE_ENERGY ? t->apart : t->smooth)[pose]) {
        continue;
      }
      double error[STEPS], size = 0.0, unused;
      char what[64];
      along[pose] = 0.0;
      for (int side = 0; side < 2; ++side) {
        along[pose] +=
          slopes_dot(s, s->gradient[side], s->along[side], pose * s->width, s->width, &size);
      }
      for (int i = 0; i < STEPS; ++i) {
        error[i] = distance(s, along, q[i][reduced_arrays[reduction]], pose, 1, &unused);
      }
      snprintf(what, sizeof what, "scene %d, gradient of %s", index, reductions[reduction]);
      judge_order(error, size, what, pose);
    }
  }
  for (int i = 0; i < STEPS; ++i) {
    for (int array = 0; array < OUT_ARRAYS; ++array) {
      free(q[i][array]);
    }
  }
}

/* Gradients of a reduction at the poses moved by `step` along the tangents, added to `to`. */
static void add_gradients(const slopes *s, abut_reduction reduction, double step, double scale,
                          double *to[2])
{
  double *pose[2];
  slopes at;
  moved(s, step, pose);
  slopes_create(&at, s->pair, s->precision, s->kind, s->count, 1);
  for (int side = 0; side < 2; ++side) {
    memcpy(at.pose[side], pose[side], s->count * s->width * sizeof(double));
    free(pose[side]);
  }
  CHECK_OK(slopes_gradient(&at, reduction));
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < s->count * s->width; ++i) {
      to[side][i] += scale * slopes_at(&at, at.gradient[side], i);
    }
  }
  slopes_free(&at);
}

static void test_hessian(scene *t, int index, int reduction)
{
  slopes *s = &t->s;
  double *q[STEPS][2];
  if (!CHECK_OK(slopes_hessian(s, (abut_reduction)reduction))) {
    return;
  }
  for (int i = 0; i < STEPS; ++i) {
    const double step = steps[i];
    q[i][0] = calloc(s->count * s->width, sizeof(double));
    q[i][1] = calloc(s->count * s->width, sizeof(double));
    add_gradients(s, (abut_reduction)reduction, step, 0.5 / step, q[i]);
    add_gradients(s, (abut_reduction)reduction, -step, -0.5 / step, q[i]);
  }
  for (size_t pose = 0; pose < POSES; ++pose) {
    const bool judged = (reduction == ABUT_REDUCE_ENERGY ? t->apart : t->smooth)[pose];
    for (int side = 0; judged && side < 2; ++side) {
      double error[STEPS], size;
      char what[64];
      for (int i = 0; i < STEPS; ++i) {
        error[i] = distance(s, s->product[side], q[i][side], pose, s->width, &size);
      }
      snprintf(what, sizeof what, "scene %d, Hessian of %s, body %d", index, reductions[reduction],
               side + 1);
      judge_order(error, size, what, pose);
    }
  }
  for (int i = 0; i < STEPS; ++i) {
    free(q[i][0]);
    free(q[i][1]);
  }
}

/* u.H v == v.H u. */
static void test_symmetry(scene *t, int index)
{
  slopes *s = &t->s, other;
  double worst = 0.0;
  if (!slopes_create(&other, t->pair, s->precision, s->kind, s->count, 99)) {
    return;
  }
  for (int side = 0; side < 2; ++side) {
    memcpy(other.pose[side], s->pose[side], s->count * s->width * sizeof(double));
  }
  for (int reduction = 0; reduction < 4; ++reduction) {
    CHECK_OK(slopes_hessian(s, (abut_reduction)reduction));
    CHECK_OK(slopes_hessian(&other, (abut_reduction)reduction));
    for (size_t pose = 0; pose < POSES; ++pose) {
      double difference = 0.0, size = 0.0;
      for (int side = 0; side < 2; ++side) {
        const size_t first = pose * s->width;
        difference += slopes_dot(s, other.along[side], s->product[side], first, s->width, &size) -
                      slopes_dot(s, s->along[side], other.product[side], first, s->width, &size);
      }
      worst = fmax(worst, fabs(difference) / size);
      check(fabs(difference) <= 1e-11 * size, "scene %d, %s, pose %zu: u.Hv - v.Hu is %g of %g",
            index, reductions[reduction], pose, difference, size);
    }
  }
  printf("scene %d: Hessians symmetric to %.2e\n", index, worst);
  slopes_free(&other);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  test_agreement(context, precision);
  for (int i = 0; precision == ABUT_FLOAT64 && i < SCENES; ++i) {
    scene t;
    if (make_scene(context, i, &t)) {
      find_smooth(&t, steps[0]);
      test_differences(&t, i);
      test_gradients(&t, i);
      for (int reduction = 0; reduction < 4; ++reduction) {
        test_hessian(&t, i, reduction);
      }
      test_symmetry(&t, i);
      slopes_free(&t.s);
    }
  }
  return finish_context(context);
}
