/* Fields of many superquadrics, of which a device evaluates those that its bounds leave, against
 * the sum over all of them: test_culling PRECISION. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 3000, MOST = 110 };

static abut_precision precision;
static abut_superquadric solids[MOST];

/* Long, flat and sharp ones; every third taken away where `holed`. */
static void random_solids(bool holed)
{
  uint64_t seed = 33;
  for (int i = 0; i < MOST; ++i) {
    abut_superquadric *s = &solids[i];
    for (int k = 0; k < 3; ++k) {
      s->axes[k] = 0.04 * pow(10.0, random_uniform(&seed));
      s->position[k] = 0.6 * random_normal(&seed);
    }
    for (int k = 0; k < 4; ++k) {
      s->quaternion[k] = random_normal(&seed);
    }
    s->exponents[0] = 0.1 + 1.9 * random_uniform(&seed);
    s->exponents[1] = 0.1 + 1.9 * random_uniform(&seed);
    s->operation = holed && i % 3 == 2 ? ABUT_SUBTRACT : ABUT_ADD;
  }
}

/* R' (x - t) for the rotation of a quaternion of any length. */
static void into_frame(const abut_superquadric *s, const double *x, double y[3])
{
  const double *q = s->quaternion;
  double length2 = 0.0, d[3], cross[3];
  for (int k = 0; k < 4; ++k) {
    length2 += q[k] * q[k];
  }
  for (int k = 0; k < 3; ++k) {
    d[k] = x[k] - s->position[k];
  }
  /* d - 2 w (v x d) + 2 v x (v x d) over |q|^2, which turns by the conjugate */
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    cross[k] = q[1 + i] * d[j] - q[1 + j] * d[i];
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double again = q[1 + i] * cross[j] - q[1 + j] * cross[i];
    y[k] = d[k] + 2.0 * (again - q[0] * cross[k]) / length2;
  }
}

static double log_of_sum(double a, double b)
{
  return fmax(a, b) + log1p(exp(fmin(a, b) - fmax(a, b)));
}

/* docs/dev/spec.md, section 4. */
static double distance(const abut_superquadric *s, const double *x)
{
  double y[3], q[3], r2 = 0.0;
  into_frame(s, x, y);
  for (int k = 0; k < 3; ++k) {
    q[k] = log(y[k] * y[k] / (s->axes[k] * s->axes[k]) + 1e-12);
    r2 += y[k] * y[k] + 1e-12 * s->axes[k] * s->axes[k];
  }
  const double e1 = s->exponents[0], e2 = s->exponents[1];
  const double across = e2 * log_of_sum(q[0] / e2, q[1] / e2);
  const double f = e1 * log_of_sum(across / e1, q[2] / e1);
  return sqrt(r2) * (1.0 - exp(-0.5 * f));
}

static double union_of(int count, abut_operation operation, double tau, const double *x)
{
  double sum = -INFINITY;
  for (int i = 0; i < count; ++i) {
    if (solids[i].operation == operation) {
      const double term = -distance(&solids[i], x) / tau;
      sum = sum > -INFINITY ? log_of_sum(sum, term) : term;
    }
  }
  return -tau * sum;
}

static double field(int count, bool holed, double tau, const double *x)
{
  const double added = union_of(count, ABUT_ADD, tau, x);
  if (!holed) {
    return added;
  }
  return tau * log_of_sum(added / tau, -union_of(count, ABUT_SUBTRACT, tau, x) / tau);
}

/* Points in clusters, as the blocks of a mesh's vertices are, near the body or far from it. */
static void random_points(double *x, double size)
{
  uint64_t seed = 34;
  double middle[3] = {0, 0, 0};
  for (int i = 0; i < POINTS; ++i) {
    for (int k = 0; k < 3; ++k) {
      middle[k] = i % 20 ? middle[k] : size * random_normal(&seed);
      x[3 * i + k] = middle[k] + 0.05 * random_normal(&seed);
      x[3 * i + k] = precision == ABUT_FLOAT32 ? (double)(float)x[3 * i + k] : x[3 * i + k];
    }
  }
}

static void compare(abut_context context, int count, bool holed, double tau, double size)
{
  static const double origin[3] = {0, 0, 0};
  static double x[3 * POINTS];
  abut_body_def def = abut_default_body_def();
  def.vertices = origin;
  def.vertex_count = 1;
  def.superquadrics = solids;
  def.superquadric_count = (size_t)count;
  random_solids(holed);
  random_points(x, size);
  abut_body body;
  if (!CHECK_OK(abut_create_body(context, &def, &body))) {
    return;
  }
  void *points = to_reals(x, 3 * POINTS, precision);
  void *d = calloc(POINTS, real_size(precision));
  double worst = 0.0;
  if (CHECK_OK(abut_evaluate_body(body, tau, tau, POINTS, points, d, NULL))) {
    for (int i = 0; i < POINTS; ++i) {
      const double error =
        fabs(real_at(d, precision, (size_t)i) - field(count, holed, tau, x + 3 * i));
      worst = error > worst || !(error == error) ? error : worst;
    }
  }
  const double bound = (precision == ABUT_FLOAT64 ? 1e-13 : 4e-6) * (1.0 + size);
  check(worst <= bound, "%d superquadrics%s, tau %g, %g m away: off by %.3g", count,
        holed ? " with holes" : "", tau, size, worst);
  free(points);
  free(d);
  CHECK_OK(abut_destroy_body(body));
}

int main(int argc, char **argv)
{
  static const int counts[] = {1, 3, 4, 17, 31, 32, 33, 64, 65, MOST};
  static const double taus[] = {0.1, 0.004, 1e-5}, sizes[] = {0.5, 3.0, 1e4, 1e9};
  precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    for (size_t j = 0; j < 12; ++j) {
      compare(context, counts[i], false, taus[j % 3], sizes[j / 3]);
      if (counts[i] > 3) {
        compare(context, counts[i], true, taus[j % 3], sizes[j / 3]);
      }
    }
  }
  return finish_context(context);
}
