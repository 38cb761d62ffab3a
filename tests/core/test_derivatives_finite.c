/* Derivatives of the worst bodies in the worst finite poses, and of the farthest, are finite:
 * test_derivatives_finite PRECISION. */
#include "slopes.h"

#include <math.h>
#include <stdlib.h>

static void check_numbers(const slopes *s, const void *array, size_t width, const char *of,
                          const char *what)
{
  size_t bad = 0, first = 0;
  for (size_t i = s->count * width; i-- > 0;) {
    if (!isfinite(slopes_at(s, array, i))) {
      ++bad;
      first = i;
    }
  }
  check(!bad, "%s: %s has %zu numbers that are not finite, the first in pose %zu, place %zu", what,
        of, bad, width ? first / width : 0, width ? first % width : 0);
}

static void check_rows(const slopes *s, void *const rows[2], const char *of, const char *what)
{
  for (int side = 0; side < 2; ++side) {
    check_numbers(s, rows[side], s->width, of, what);
  }
}

/* Blocks of all contacts that are active at all, and the whole Hessian. */
static void check_blocks(const slopes *s, abut_reduction reduction, const char *what)
{
  abut_batch batch = slopes_batch(s);
  abut_compact list = {.threshold = 1e-30, .grows = true};
  const size_t columns = 2 * s->width;
  void *hessian = calloc(s->count * columns * columns, real_size(s->precision));
  if (CHECK_OK(abut_hessian(s->pair, &batch, reduction, ABUT_BOTH_BODIES, NULL, hessian))) {
    check_numbers(s, hessian, columns * columns, "the whole Hessian", what);
  }
  batch.compact = &list;
  if (CHECK_OK(abut_jacobian(s->pair, ABUT_SAME_PAIR, &batch, NULL))) {
    slopes rows = *s;
    rows.count = list.count;
    check_numbers(&rows, list.blocks, 8 * columns, "the Jacobian, by entries,", what);
  }
  abut_free_compact(&list);
  free(hessian);
}

/* VJP and JVP of everything, gradient and Hessian of one reduction; with `blocks` Jacobians and
 * whole Hessians of one of the four, which take longer than all else. */
static void check_all(slopes *s, int reduction, bool blocks, const char *what)
{
  static const char *const names[4] = {"p", "d", "n", "activity"};
  static const char *const reductions[4] = {"mean distance", "activity", "energy", "soft minimum"};
  char of[64];
  if (CHECK_OK(slopes_vjp(s, ALL_BARS))) {
    check_rows(s, s->gradient, "the VJP", what);
  }
  if (CHECK_OK(slopes_vjp_tangent(s, ALL_BARS))) {
    check_rows(s, s->gradient, "the VJP beside its tangent", what);
    check_rows(s, s->product, "the VJP's tangent", what);
  }
  if (CHECK_OK(slopes_jvp(s))) {
    for (int i = 0; i < 4; ++i) {
      check_numbers(s, s->tangents[i], slopes_out(s, i), names[i], what);
    }
  }
  snprintf(of, sizeof of, "the gradient of %s", reductions[reduction]);
  if (CHECK_OK(slopes_gradient(s, (abut_reduction)reduction))) {
    check_rows(s, s->gradient, of, what);
  }
  snprintf(of, sizeof of, "the Hessian of %s", reductions[reduction]);
  if (CHECK_OK(slopes_hessian(s, (abut_reduction)reduction))) {
    check_rows(s, s->gradient, of, what);
    check_rows(s, s->product, of, what);
  }
  if (blocks && reduction == 0) {
    check_blocks(s, (abut_reduction)reduction, what);
  }
  for (size_t i = 0; i < s->count; ++i) {
    check(s->status[i] == ABUT_POSE_OK, "%s: pose %zu is refused", what, i);
  }
}

/* ---- twists ---- */

enum { TWISTS = 22 };

static double farthest_part(const double twist[6])
{
  return fmax(fabs(twist[0]), fmax(fabs(twist[1]), fabs(twist[2])));
}

/* At rest, touching, far and farther, at the ends of the format, and turned by nothing, by pi,
 * by many turns: body `side` alone, then both. Translations beyond `most` are left out. */
static void hard_twists(slopes *s, int side, double most)
{
  const bool wide = s->precision == ABUT_FLOAT64;
  const double far = wide ? 1e300 : 1e30, farthest = wide ? 1.7e308 : 3.4e38;
  const double tiny = wide ? 1e-310 : 1e-40, pi = 3.141592653589793;
  const double twists[TWISTS][6] = {{0},
                                    {0.5, 0, 0, 0, 0, 0},
                                    {1.0, 0, 0, 0, 0, 0},
                                    {1e3, 0, 0, 0, 0, 0},
                                    {0, 1e6, 0, 0, 0, 0},
                                    {1e6, -1e6, 1e6, 0.1, 0.2, 0.3},
                                    {0, 0, 1e12, 1, 0, 0},
                                    {1e30, -1e30, 0, 0, 0, 1},
                                    {far, 0, 0, 0, 0, 0},
                                    {-far, far, far, 1, 2, 3},
                                    {far, 1, 1, 1e-20, 0, 0},
                                    {farthest, farthest, farthest, 0, 0, 0},
                                    {-farthest, farthest, -farthest, 3, -1, 2},
                                    {1, 1, 1, farthest, farthest, farthest},
                                    {0.1, 0.2, 0.3, 1e20, 0, 0},
                                    {0.1, 0.2, 0.3, 1e20, -1e20, 1e20},
                                    {tiny, tiny, -tiny, tiny, tiny, tiny},
                                    {0, 0, 0, 0.5 * pi, 0, 0},
                                    {0.1, 0, 0, pi, 0, 0},
                                    {0, 0.3, 0, 0, 2 * pi, 0},
                                    {0, 0, 0.2, 0, 0, 1e3},
                                    {1e3, 1e3, -1e3, 600, -800, 0}};
  static const double rest[6] = {0};
  for (size_t i = 0; i < TWISTS; ++i) {
    const double *one = twists[i], *other = twists[(i * 5 + 3) % TWISTS];
    one = farthest_part(one) > most ? rest : one;
    other = farthest_part(other) > most ? rest : other;
    slopes_put(s, side, i, one);
    slopes_put(s, !side, i, rest);
    slopes_put(s, 0, TWISTS + i, one);
    slopes_put(s, 1, TWISTS + i, other);
  }
}

/* The host path, which is slow and has the kernels' own text, makes blocks of each body with itself
 * alone, unless ABUT_TEST_ALL is there. */
static bool all_blocks;

static void test_pair(const abut_body bodies[AWKWARD], int first, int second, int way,
                      abut_precision precision)
{
  const int k = AWKWARD * first + second;
  abut_smoothing smoothing = abut_default_smoothing();
  smoothing.select = way % 2 ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
  for (int i = 0; i < 2; ++i) {
    smoothing.edges[i] = smoothing.vertices[i] = way / 2 ? 2 : 0;
  }
  smoothing.trace = (uint32_t)((k + way) % 3);
  smoothing.inside = (k + way) % 5 == 0;
  smoothing.floor = (k + way) % 4 > 1 ? 0.01 : 0.0;
  abut_pair pair;
  slopes s;
  char what[64];
  snprintf(what, sizeof what, "bodies %d and %d, %d", first, second, way);
  if (CHECK_OK(abut_create_pair(bodies[first], bodies[second], &smoothing, &pair)) &&
      slopes_create(&s, pair, precision, ABUT_POSE_TWIST, 2 * TWISTS, (uint64_t)k + 1)) {
    /* Body 2 has axes of 1e-6 m and of 1e6 m: with gaps of 1e12 m products leave float32. */
    const bool sized = precision == ABUT_FLOAT64 || (first != 2 && second != 2);
    hard_twists(&s, way / 2, sized ? HUGE_VAL : 1e9);
    check_all(&s, (k + way) % 4, all_blocks || first == second, what);
    slopes_free(&s);
    CHECK_OK(abut_destroy_pair(pair));
  }
}

/* What sanitizers make many times slower is asked of each body with itself alone. */
#ifdef __SANITIZE_ADDRESS__
enum { SOME = 1 };
#else
enum { SOME = 0 };
#endif

/* Every way of selection for each body with itself, one for the other pairs. */
static void test_twists(const abut_body bodies[AWKWARD], abut_precision precision)
{
  for (int i = 0; i < AWKWARD * AWKWARD; ++i) {
    const bool itself = i % (AWKWARD + 1) == 0;
    for (int way = 0; way < 4; ++way) {
      if ((itself && !SOME) || (way == i % 4 && (itself || !SOME))) {
        test_pair(bodies, i / AWKWARD, i % AWKWARD, way, precision);
      }
    }
  }
}

/* ---- quaternions ---- */

/* Long and short ones, and with one part alone. */
static void test_quaternions(const abut_body bodies[AWKWARD], abut_precision precision)
{
  enum { LENGTHS = 9 };
  const bool wide = precision == ABUT_FLOAT64;
  const double lengths[LENGTHS] = {1.0,
                                   1e-3,
                                   1e3,
                                   1e-6,
                                   1e15,
                                   wide ? 1e200 : 1e30,
                                   wide ? 1.7e308 : 3.4e38,
                                   wide ? 1e-200 : 1e-30,
                                   wide ? 1e-290 : 1e-32};
  for (int k = 0; k < AWKWARD; ++k) {
    const abut_smoothing smoothing = abut_default_smoothing();
    abut_pair pair;
    slopes s;
    uint64_t seed = 77;
    char what[64];
    snprintf(what, sizeof what, "quaternions, bodies %d", k);
    if (!CHECK_OK(abut_create_pair(bodies[k], bodies[(k + 1) % AWKWARD], &smoothing, &pair)) ||
        !slopes_create(&s, pair, precision, ABUT_POSE_QUATERNION, LENGTHS * LENGTHS, 5)) {
      return;
    }
    for (size_t i = 0; i < LENGTHS * LENGTHS; ++i) {
      double pose[2][7];
      random_pose(&seed, 0.5, pose[0]);
      random_pose(&seed, 0.5, pose[1]);
      for (size_t j = 3; j < 7; ++j) {
        pose[0][j] *= lengths[i % LENGTHS];
        pose[1][j] = j == 3 + i % 4 ? lengths[i / LENGTHS] : 0.0;
      }
      slopes_put(&s, 0, i, pose[0]);
      slopes_put(&s, 1, i, pose[1]);
    }
    check_all(&s, k % 4, all_blocks, what);
    slopes_free(&s);
    CHECK_OK(abut_destroy_pair(pair));
  }
}

/* ---- far away ---- */

/* Something still pulls far bodies together: moving one by a metre moves the mean distance by about
 * a metre, opposite ways for either body. The field of a superquadric, of a polyhedron. */
static void test_far(const abut_body bodies[AWKWARD], abut_precision precision)
{
  enum { FAR = 7 };
  static const double reach[FAR] = {1e1, 1e2, 1e3, 1e5, 1e6, 1e8, 1e9};
  static const int far_bodies[] = {4, AWKWARD - 1};
  for (size_t k = 0; k < sizeof far_bodies / sizeof far_bodies[0]; ++k) {
    abut_smoothing smoothing = abut_default_smoothing();
    abut_pair pair;
    slopes s;
    smoothing.select = k % 2 ? ABUT_SELECT_SOFTSORT : ABUT_SELECT_GATE;
    smoothing.edges[0] = 4;
    if (!CHECK_OK(
          abut_create_pair(bodies[AWKWARD - 1], bodies[far_bodies[k]], &smoothing, &pair)) ||
        !slopes_create(&s, pair, precision, ABUT_POSE_TWIST, FAR, 5)) {
      return;
    }
    for (size_t i = 0; i < FAR; ++i) {
      const double twist[6] = {0.6 * reach[i], 0.0, 0.8 * reach[i], 0, 0, 0};
      slopes_put(&s, 1, i, twist);
    }
    CHECK_OK(slopes_gradient(&s, ABUT_REDUCE_MEAN_DISTANCE));
    for (size_t i = 0; i < FAR; ++i) {
      double size = 0.0, sum = 0.0;
      for (size_t j = 0; j < 3; ++j) {
        const double g = slopes_at(&s, s.gradient[1], 6 * i + j);
        size += g * g;
        sum += fabs(g + slopes_at(&s, s.gradient[0], 6 * i + j));
      }
      check(sqrt(size) > 0.2 && sqrt(size) < 2.0, "body %d at %g m: a slope of %g", far_bodies[k],
            reach[i], sqrt(size));
      check(sum <= (precision == ABUT_FLOAT64 ? 1e-12 : 1e-5),
            "body %d at %g m: forces differ "
            "by %g",
            far_bodies[k], reach[i], sum);
    }
    slopes_free(&s);
    CHECK_OK(abut_destroy_pair(pair));
  }
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_body bodies[AWKWARD];
  abut_context context = require_context(precision);
  abut_device_info info;
  CHECK_OK(abut_context_device(context, &info));
  all_blocks = info.type != ABUT_DEVICE_HOST || getenv("ABUT_TEST_ALL");
  if (awkward_bodies(context, bodies)) {
    test_far(bodies, precision);
    test_quaternions(bodies, precision);
    test_twists(bodies, precision);
  }
  return finish_context(context);
}
