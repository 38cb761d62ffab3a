/* Fields and witness points by themselves, against closed forms: test_fields PRECISION. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 2000 };
#define QUERIES 1000003 /* more than one chunk */

static abut_precision precision;
static double sharp, blunt; /* what rounding costs: of distances, of normals */

typedef struct samples {
  double points[3 * POINTS], d[POINTS], n[3 * POINTS];
} samples;

static void random_samples(samples *s, double size)
{
  uint64_t seed = 21;
  for (int i = 0; i < 3 * POINTS; ++i) {
    s->points[i] = size * random_normal(&seed);
    if (precision == ABUT_FLOAT32) {
      s->points[i] = (double)(float)s->points[i];
    }
  }
}

/* The field of a body at the samples' points. A mesh of one vertex is enough. */
static bool evaluate(abut_context context, abut_body_def def, double union_tau, double plane_tau,
                     samples *s)
{
  static const double origin[3] = {0, 0, 0};
  abut_body body;
  if (!def.vertices) {
    def.vertices = origin;
    def.vertex_count = 1;
  }
  if (!CHECK_OK(abut_create_body(context, &def, &body))) {
    return false;
  }
  void *points = to_reals(s->points, 3 * POINTS, precision);
  void *d = calloc(POINTS, real_size(precision)), *n = calloc(3 * POINTS, real_size(precision));
  void *alone = calloc(POINTS, real_size(precision));
  const bool ran =
    CHECK_OK(abut_evaluate_body(body, union_tau, plane_tau, POINTS, points, d, n)) &&
    CHECK_OK(abut_evaluate_body(body, union_tau, plane_tau, POINTS, points, alone, NULL)) &&
    CHECK_OK(abut_evaluate_body(body, union_tau, plane_tau, POINTS, points, NULL, n)) &&
    CHECK_OK(abut_evaluate_body(body, union_tau, plane_tau, 0, NULL, NULL, NULL));
  double apart = 0.0;
  for (size_t i = 0; i < POINTS; ++i) {
    s->d[i] = real_at(d, precision, i);
    apart = fmax(apart, fabs(s->d[i] - real_at(alone, precision, i)));
    double length2 = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      s->n[3 * i + k] = real_at(n, precision, 3 * i + k);
      length2 += s->n[3 * i + k] * s->n[3 * i + k];
    }
    if (!(fabs(length2 - 1.0) < 1e-6)) {
      check(false, "a normal has length %.9g", sqrt(length2));
      break;
    }
  }
  check(apart <= sharp, "distances without normals differ by %g", apart);
  CHECK_OK(abut_destroy_body(body));
  free(points);
  free(d);
  free(n);
  free(alone);
  return ran;
}

/* ---- closed forms ---- */

typedef double (*distance_function)(const double *x, double *normal);

static double sphere(const double *x, double *normal)
{
  const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  for (int k = 0; k < 3; ++k) {
    normal[k] = x[k] / r;
  }
  return r - 0.7;
}

/* r (1 - 1/h) of a sharp box of half lengths 0.5, 0.3, 0.4: along the ray to its surface. */
static double box(const double *x, double *normal)
{
  const double half[3] = {0.5, 0.3, 0.4};
  const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  double most = 0.0;
  for (int k = 0; k < 3; ++k) {
    normal[k] = NAN; /* not compared: it turns sharply at the edges */
    most = fmax(most, fabs(x[k]) / half[k]);
  }
  return r - r / most;
}

static const double planes[36] = {2, 0, 0, 0.5, 9,   9,   -1, 0,  0,  -0.5, 0,    0,
                                  0, 3, 0, 1,   0.3, 0,   0,  -1, 0,  0,    -0.3, 0,
                                  0, 0, 1, 0,   0,   0.4, 0,  0,  -1, 0,    0,    -0.4};

static double slab(const double *x, double *normal)
{
  double most = -INFINITY;
  for (int i = 0; i < 6; ++i) {
    const double *p = planes + 6 * i;
    const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    double v = 0.0;
    for (int k = 0; k < 3; ++k) {
      v += p[k] / length * (x[k] - p[3 + k]);
    }
    if (v > most) {
      most = v;
      for (int k = 0; k < 3; ++k) {
        normal[k] = p[k] / length;
      }
    }
  }
  return most;
}

static double plane(const double *x, double *normal)
{
  const double n[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, p[3] = {0.1, 0.2, -0.3};
  memcpy(normal, n, sizeof n);
  return n[0] * (x[0] - p[0]) + n[1] * (x[1] - p[1]) + n[2] * (x[2] - p[2]);
}

/* A sphere of 0.7 less one of 0.4 at (0.5, 0, 0). */
static double holed(const double *x, double *normal)
{
  const double y[3] = {x[0] - 0.5, x[1], x[2]};
  double n[3];
  const double outer = sphere(x, normal), inner = -0.3 - sphere(y, n); /* 0.4 - |y| */
  if (inner > outer) {
    for (int k = 0; k < 3; ++k) {
      normal[k] = -n[k];
    }
  }
  return fmax(outer, inner);
}

static void compare(const samples *s, distance_function f, double d_bound, double n_bound,
                    const char *what)
{
  double worst_d = 0.0;
  size_t off = 0, compared = 0;
  for (size_t i = 0; i < POINTS; ++i) {
    double n[3], gap = 0.0;
    worst_d = fmax(worst_d, fabs(s->d[i] - f(s->points + 3 * i, n)));
    for (size_t k = 0; k < 3; ++k) {
      gap = fmax(gap, fabs(s->n[3 * i + k] - n[k]));
    }
    compared += gap == gap;
    off += gap > n_bound;
  }
  printf("%-28s distances off by %.1e, %zu of %zu normals by more than %.0e\n", what, worst_d, off,
         compared, n_bound);
  check(worst_d <= d_bound, "%s: a distance is off by %g", what, worst_d);
  check(off * 100 <= compared, "%s: %zu of %zu normals are off", what, off, compared);
}

static void test_closed_forms(abut_context context)
{
  static samples s;
  random_samples(&s, 0.5);
  const abut_superquadric ball = {{0.7, 0.7, 0.7},
                                  {1, 1},
                                  {0, 0, 0},
                                  {0.5, 0.5, -0.5, 0.5},
                                  ABUT_ADD};
  const abut_superquadric hole = {{0.4, 0.4, 0.4},
                                  {1, 1},
                                  {0.5, 0, 0},
                                  {1, 0, 0, 0},
                                  ABUT_SUBTRACT};
  const abut_superquadric balls[2] = {ball, hole};
  const abut_superquadric cuboid = {{0.5, 0.3, 0.4},
                                    {0.001, 0.001},
                                    {0, 0, 0},
                                    {3, 0, 0, 0},
                                    ABUT_ADD};
  const abut_polyhedron solid = {planes, 6, ABUT_ADD};
  const double point[7] = {0.1, 0.2, -0.3, 4, -2, 4, 0.25};
  const abut_pointcloud cloud = {point, 1, ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  if (evaluate(context, def, 0.01, 0.01, &s)) {
    compare(&s, sphere, 1e-10 + sharp, 1e-9 + blunt, "sphere");
  }
  def.superquadrics = balls;
  def.superquadric_count = 2;
  if (evaluate(context, def, 1e-5, 0.01, &s)) {
    compare(&s, holed, 1e-5 + sharp, 1e-4 + blunt, "sphere less a sphere");
  }
  def.superquadrics = &cuboid;
  def.superquadric_count = 1;
  if (evaluate(context, def, 0.01, 0.01, &s)) {
    compare(&s, box, 2e-3, 1.0, "box");
  }
  def.superquadric_count = 0;
  def.polyhedra = &solid;
  def.polyhedron_count = 1;
  if (evaluate(context, def, 0.01, 1e-6, &s)) {
    compare(&s, slab, 2e-6 + sharp, 1e-4 + blunt, "polyhedron");
  }
  def.polyhedron_count = 0;
  def.pointclouds = &cloud;
  def.pointcloud_count = 1;
  if (evaluate(context, def, 0.01, 0.01, &s)) {
    compare(&s, plane, 1e-12 + sharp, 1e-11 + blunt, "cloud of one point");
  }
}

/* ---- cores: in the frame of a core, which lies somewhere in the body's ---- */

static const double core_turn[4] = {0.8, 0.2, -0.4, 0.4}, core_at[3] = {0.3, -0.2, 0.1};

/* Takes a place of the body's frame to the core's. */
static void to_core(const double *x, double y[3])
{
  const double w = core_turn[0], *q = core_turn + 1;
  double d[3], c[3];
  for (int k = 0; k < 3; ++k) {
    d[k] = x[k] - core_at[k];
  }
  for (int k = 0; k < 3; ++k) { /* the inverse rotation: with -q */
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    c[k] = -(q[i] * d[j] - q[j] * d[i]) + w * d[k];
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    y[k] = d[k] - 2.0 * (q[i] * c[j] - q[j] * c[i]);
  }
}

/* The exact distance of a grown core, outside of the core itself; inside how far the nearest plane
 * is. */
static double grown_distance(const abut_core *c, const double *x)
{
  double y[3], beyond2 = 0.0, most = -HUGE_VAL;
  to_core(x, y);
  const bool disc = c->kind == ABUT_CORE_DISC;
  const double over[3] = {disc ? hypot(y[0], y[1]) - c->half[0] : fabs(y[0]) - c->half[0],
                          disc ? fabs(y[2]) - c->half[1] : fabs(y[1]) - c->half[1],
                          disc ? -HUGE_VAL : fabs(y[2]) - c->half[2]};
  for (int k = 0; k < 3; ++k) {
    most = fmax(most, over[k]);
    beyond2 += over[k] > 0.0 ? over[k] * over[k] : 0.0;
  }
  return (most > 0.0 ? sqrt(beyond2) : most) - c->radius;
}

/* share: how far a distance may be off outside, in radii; beneath: the same to 0.4 radii below the
 * surface. */
static void check_core(abut_context context, const char *what, abut_core c, double share,
                       double beneath)
{
  static samples s;
  double outside = 0.0, under = 0.0, inside = 0.0, slope = 0.0;
  size_t deep = 0, near = 0;
  abut_body_def def = abut_default_body_def();
  memcpy(c.position, core_at, sizeof core_at);
  memcpy(c.quaternion, core_turn, sizeof core_turn);
  random_samples(&s, 0.7);
  def.cores = &c;
  def.core_count = 1;
  if (!evaluate(context, def, 0.01, 0.01, &s)) {
    return;
  }
  for (size_t i = 0; i < POINTS; ++i) {
    const double exact = grown_distance(&c, s.points + 3 * i);
    if (exact > -0.4 * c.radius) {
      double *worst = exact < 0.0 ? &under : &outside;
      *worst = fmax(*worst, fabs(s.d[i] - exact) / c.radius);
      ++near;
    } else if (exact < -1.5 * c.radius) { /* the soft maximum of six planes: of a temperature of a
                                             quarter radius */
      inside =
        fmax(inside, fmax(exact - s.d[i], s.d[i] - exact - 0.25 * c.radius * log(6.0)) / c.radius);
      ++deep;
    }
    const double *x = s.points + 3 * i, *other = s.points + 3 * ((i + 1) % POINTS);
    const double apart = hypot(hypot(x[0] - other[0], x[1] - other[1]), x[2] - other[2]);
    slope = fmax(slope, fabs(s.d[i] - s.d[(i + 1) % POINTS]) / apart);
  }
  printf("%-28s off by %.5f radii, beneath by %.5f, at %zu places, %.5f in the core at %zu; slope "
         "%.5f\n",
         what, outside, under, near, inside, deep, slope);
  check(outside <= share + sharp / c.radius, "%s: a distance is off by %g radii", what, outside);
  check(under <= beneath + sharp / c.radius,
        "%s: beneath the surface a distance is off by %g radii", what, under);
  check(near > POINTS / 2, "%s: %zu places are outside of the core", what, near);
  check(inside <= 0.01 + sharp, "%s: in the core a distance is off by %g radii", what, inside);
  check(slope <= 1.0 + sharp, "%s: the distance has a slope of %g", what, slope);
}

/* Places, and what the float64 reference has there, of three cores less a fourth: distance and
 * normal. */
static const double core_answers[][7] = {
  {-0.722, -1.192, -0.224, 0.816331384727, -0.4664401354061, -0.8843133023164, -0.02058114252592},
  {0.147, 0.398, 0.038, -0.03639457220109, 0.0196342417484, -0.941525969217, -0.336367872782},
  {-0.193, -0.275, 0.262, 0.02486194261065, -0.7251988428869, -0.4438200273432, 0.5264127863223},
  {0.572, 0.095, -0.432, 0.05955602851731, 0.7263157894762, 0.44210526364, -0.5263157890643},
  {-0.862, 1.44, 0.183, 0.810337483811, -0.5016364102849, 0.8625840137701, 0.06564854197702},
  {-0.606, -0.029, -0.407, 0.2170343553761, -0.6018619421723, -0.4150635136249, -0.6822642319666},
  {-0.22, -0.171, -0.25, -0.09693117331106, -0.6104680629093, 0.06219908080378, -0.7895948445336},
  {0.194, -0.022, -0.206, -0.01587048805476, 0.1246306725901, -0.3058777074635, 0.9438781825668},
  {0.369, 0.747, -1.479, 0.9844339001177, 0.192128966052, 0.3862240982695, -0.9021737118309},
  {-0.09, -0.343, -0.061, -0.1143795888472, 0.2893717815571, -0.9101671581153, -0.2964113970916},
  {-0.451, 0.007, -0.013, -0.07195854035708, -0.7768981262891, -0.5915958213618, 0.2155079708842},
  {-0.107, -0.367, -0.139, -0.07465014453141, 0.3152198722572, -0.8950534752504, -0.3154611046948},
  {-0.982, -1.22, 0.202, 1.057812504572, -0.5979244069987, -0.7219357409175, 0.3482745892254},
  {-0.388, 0.41, 0.251, -0.1069425598661, -0.4128707415648, 0.3492557176341, 0.8411647843667},
  {-0.699, 0.095, -0.386, 0.2293722264802, -0.810816017878, -0.2247235217407, -0.5404412307809},
  {0.012, 0.015, -0.696, 0.1251972202586, -0.6105263123997, 0.06315789279004, -0.789473686987},
  {-0.21, -0.23, 0.866, 0.4082150589181, -0.1335102358822, -0.508099565271, 0.8508876827673},
  {-0.414, 0.258, -0.385, 0.02586599103869, -0.2346213217641, -0.1496556653181, -0.9604977965674},
  {-0.116, -0.294, 0.507, 0.1165922030932, -0.5058886218946, -0.4406347329758, 0.7415643831333},
  {0.199, 0.851, 0.225, 0.2287925621755, 0.668608098887, 0.7433609526816, 0.01943461165114},
  {0.76, 0.757, -0.546, 0.5534507632563, 0.6834075961243, 0.5457913054458, -0.4848359603603},
  {-0.025, 0.473, -0.139, -0.1322434489774, 0.475476242376, -0.2927948492635, -0.8295742999753},
  {0.066, -0.007, 0.213, 0.1221568677261, 0.9509800228961, 0.3081749492918, -0.02579140710616},
  {-0.128, -0.053, 0.085, -0.07433724594613, 0.9180200495847, 0.3963795555801, 0.0110651017846},
};

static void test_core_answers(abut_context context)
{
  static const abut_core cores[] = {
    {ABUT_CORE_BOX, {0.4, 0.25, 0.3}, 0.1, {0.1, 0.0, -0.1}, {0.9, 0.1, 0.3, 0.2}, ABUT_ADD},
    {ABUT_CORE_DISC, {0.3, 0.2}, 0.15, {-0.2, 0.3, 0.1}, {0.2, 0.7, 0.3, 0.1}, ABUT_ADD},
    {ABUT_CORE_BOX, {0.0, 0.0, 0.3}, 0.2, {0.3, -0.3, 0.2}, {0.5, 0.5, -0.3, 0.1}, ABUT_ADD},
    {ABUT_CORE_DISC, {0.2, 0.4}, 0.05, {0.2, 0.0, 0.3}, {1.0, 0.2, 0.0, 0.4}, ABUT_SUBTRACT},
  };
  enum { PLACES = sizeof core_answers / sizeof core_answers[0] };
  static samples s;
  double worst_d = 0.0, worst_n = 0.0;
  abut_body_def def = abut_default_body_def();
  def.cores = cores;
  def.core_count = 4;
  random_samples(&s, 0.5);
  for (size_t i = 0; i < PLACES; ++i) {
    memcpy(s.points + 3 * i, core_answers[i], 3 * sizeof(double));
  }
  if (!evaluate(context, def, 0.02, 0.01, &s)) {
    return;
  }
  for (size_t i = 0; i < PLACES; ++i) {
    worst_d = fmax(worst_d, fabs(s.d[i] - core_answers[i][3]));
    for (size_t k = 0; k < 3; ++k) {
      worst_n = fmax(worst_n, fabs(s.n[3 * i + k] - core_answers[i][4 + k]));
    }
  }
  printf("cores, against the reference: distances off by %.1e, normals by %.1e\n", worst_d,
         worst_n);
  check(worst_d <= 1e-12 + sharp && worst_n <= 1e-11 + blunt, "cores: off by %g and %g", worst_d,
        worst_n);
}

/* How far distances are off is docs/dev/spec.md's, section 4. */
static void test_cores(abut_context context)
{
  check_core(context, "core: a box", (abut_core){.half = {0.5, 0.3, 0.4}, .radius = 0.1}, 0.013,
             0.022);
  check_core(context, "core: a small radius", (abut_core){.half = {0.5, 0.3, 0.4}, .radius = 1e-3},
             0.013, 0.022);
  check_core(context, "core: a sphere", (abut_core){.radius = 0.6}, 0.00004, 0.00004);
  check_core(context, "core: a capsule", (abut_core){.half = {0, 0, 0.5}, .radius = 0.3}, 0.0065,
             0.011);
  check_core(context, "core: a sheet", (abut_core){.half = {0, 0.4, 0.5}, .radius = 0.2}, 0.013,
             0.022);
  check_core(context, "core: a cylinder",
             (abut_core){.kind = ABUT_CORE_DISC, .half = {0.5, 0.3}, .radius = 0.1}, 0.0065, 0.011);
  test_core_answers(context);
}

/* Normals of polyhedra and clouds are their phi's direction of steepest ascent. A superquadric's is
 * grad h, the surface's normal: there the two agree. */
static void test_normals(abut_context context)
{
  static samples s, moved[2];
  uint64_t seed = 33;
  double cloud[7 * 12];
  const double h = precision == ABUT_FLOAT64 ? 1e-5 : 4e-3;
  for (int i = 0; i < 84; ++i) {
    cloud[i] = i % 7 == 6 ? 0.4 : 0.5 * random_normal(&seed);
  }
  const abut_polyhedron solid = {planes, 6, ABUT_ADD};
  const abut_pointcloud points = {cloud, 12, ABUT_ADD};
  const abut_superquadric ellipsoid = {{0.5, 0.3, 0.4},
                                       {0.9, 0.7},
                                       {0.1, 0, 0},
                                       {1, 2, 0, 1},
                                       ABUT_ADD};
  for (int which = 0; which < 3; ++which) {
    abut_body_def def = abut_default_body_def();
    def.polyhedra = &solid;
    def.polyhedron_count = which == 0;
    def.pointclouds = &points;
    def.pointcloud_count = which == 1;
    def.superquadrics = &ellipsoid;
    def.superquadric_count = which == 2;
    random_samples(&s, 0.4);
    double gradient[3 * POINTS];
    for (int step = 0; which == 2 && step < 12; ++step) { /* along rays onto the surface */
      if (!evaluate(context, def, 0.01, 0.05, &s)) {
        return;
      }
      for (int i = 0; i < POINTS; ++i) {
        const double *x = s.points + 3 * i;
        const double r = hypot(hypot(x[0] - 0.1, x[1]), x[2]);
        for (int k = 0; k < 3; ++k) {
          s.points[3 * i + k] -= s.d[i] * (x[k] - (k == 0 ? 0.1 : 0.0)) / r;
        }
      }
    }
    bool ran = evaluate(context, def, 0.01, 0.05, &s);
    for (int k = 0; ran && k < 3; ++k) {
      for (int side = 0; side < 2; ++side) {
        moved[side] = s;
        for (int i = 0; i < POINTS; ++i) {
          moved[side].points[3 * i + k] += side ? h : -h;
        }
        ran = ran && evaluate(context, def, 0.01, 0.05, &moved[side]);
      }
      for (int i = 0; i < POINTS; ++i) {
        gradient[3 * i + k] = (moved[1].d[i] - moved[0].d[i]) / (2.0 * h);
      }
    }
    size_t off = 0;
    for (int i = 0; ran && i < POINTS; ++i) {
      const double *g = gradient + 3 * i, *n = s.n + 3 * i;
      const double cosine =
        (g[0] * n[0] + g[1] * n[1] + g[2] * n[2]) / sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
      off += !(cosine > (precision == ABUT_FLOAT64 ? 1.0 - 1e-6 : 0.99));
    }
    printf("primitive %d: %zu of %d normals are not the gradient's direction\n", which, off,
           POINTS);
    check(ran && off * 100 <= POINTS, "primitive %d: %zu normals are off", which, off);
  }
}

/* ---- witness points ---- */

/* Closest points of two segments, by the sides of the square of parameters and its inside. */
static double segments(const double *p, const double *q, double e[6])
{
  double t[3], u[3], b[3], tt = 0, uu = 0, tu = 0, tb = 0, ub = 0, best = INFINITY;
  for (int k = 0; k < 3; ++k) {
    t[k] = p[3 + k] - p[k];
    u[k] = q[3 + k] - q[k];
    b[k] = p[k] - q[k];
    tt += t[k] * t[k];
    uu += u[k] * u[k];
    tu += t[k] * u[k];
    tb += t[k] * b[k];
    ub += u[k] * b[k];
  }
  const double det = tt * uu - tu * tu;
  const double tries[5][2] = {{(tu * ub - uu * tb) / det, (tt * ub - tu * tb) / det},
                              {0, ub / uu},
                              {1, (ub + tu) / uu},
                              {-tb / tt, 0},
                              {(tu - tb) / tt, 1}};
  for (int i = 0; i < 5; ++i) {
    double x = tries[i][0], y = tries[i][1], gap = 0.0, at[6];
    if (i == 0 && !(x >= 0 && x <= 1 && y >= 0 && y <= 1)) {
      continue;
    }
    x = fmin(fmax(x, 0), 1);
    y = fmin(fmax(y, 0), 1);
    for (int k = 0; k < 3; ++k) {
      at[k] = p[k] + x * t[k];
      at[3 + k] = q[k] + y * u[k];
      gap += (at[k] - at[3 + k]) * (at[k] - at[3 + k]);
    }
    if (gap < best) {
      best = gap;
      memcpy(e, at, sizeof at);
    }
  }
  return sqrt(best);
}

static void test_segments(abut_context context)
{
  enum { COUNT = 3000 };
  uint64_t seed = 44;
  static double p[6 * COUNT], q[6 * COUNT];
  for (int i = 0; i < 6 * COUNT; ++i) {
    p[i] = random_normal(&seed);
    q[i] = random_normal(&seed);
  }
  abut_smoothing hard = abut_default_smoothing();
  hard.clip = hard.minimum = hard.compare = precision == ABUT_FLOAT64 ? 1e-9 : 1e-5;
  hard.ridge = precision == ABUT_FLOAT64 ? 1e-12 : 1e-6;
  const size_t real = real_size(precision);
  void *edges1 = to_reals(p, 6 * COUNT, precision), *edges2 = to_reals(q, 6 * COUNT, precision);
  void *e1 = calloc(3 * COUNT, real), *e2 = calloc(3 * COUNT, real), *in = calloc(COUNT, real);
  void *alone = calloc(3 * COUNT, real);
  size_t off = 0, inside = 0, wrong = 0;
  if (CHECK_OK(abut_witness_edges(context, &hard, COUNT, edges1, edges2, e1, e2, in)) &&
      CHECK_OK(abut_witness_edges(context, &hard, COUNT, edges1, edges2, NULL, alone, NULL))) {
    check(!memcmp(e2, alone, 3 * COUNT * real), "points2 alone differ");
    for (size_t i = 0; i < COUNT; ++i) {
      double e[6], gap = 0.0;
      segments(p + 6 * i, q + 6 * i, e);
      for (size_t k = 0; k < 3; ++k) {
        gap = fmax(gap, fabs(real_at(e1, precision, 3 * i + k) - e[k]));
        gap = fmax(gap, fabs(real_at(e2, precision, 3 * i + k) - e[3 + k]));
      }
      const double con = real_at(in, precision, i);
      inside += con > 0.5;
      wrong += !(con >= 0.0 && con <= 1.0);
      off += gap > (precision == ABUT_FLOAT64 ? 1e-6 : 1e-2);
    }
    printf("segments: %zu of %d off, %zu meet inside\n", off, COUNT, inside);
    check(off <= COUNT / 500, "%zu pairs of segments are off", off);
    check(!wrong && inside > COUNT / 50 && inside < COUNT / 2, "%zu meet inside", inside);
  }
  free(edges1);
  free(edges2);
  free(e1);
  free(e2);
  free(in);
  free(alone);
}

/* Every third triangle has no area, an edge of no length or a number that is not finite. */
static void spoil(double *t, size_t i)
{
  static const int same[2] = {3, 6};
  if (i % 12 == 0) {
    memcpy(t + same[i / 12 % 2], t, 3 * sizeof *t);
  } else if (i % 12 == 3) {
    for (int k = 0; k < 3; ++k) {
      t[k] = i % 24 == 3 ? t[k] : 0.25;
      t[3 + k] = t[k] + 1.0; /* on one line, exactly */
      t[6 + k] = t[k] + 2.0;
    }
  } else if (i % 12 == 6) {
    t[7] = NAN;
  } else if (i % 12 == 9) {
    memcpy(t + 3, t, 3 * sizeof *t);
    memcpy(t + 6, t, 3 * sizeof *t);
  }
}

static void test_triangles(abut_context context)
{
  enum { COUNT = 1200 };
  uint64_t seed = 55;
  static double v[3 * COUNT], good[9 * COUNT], bad[9 * COUNT];
  for (int i = 0; i < 3 * COUNT; ++i) {
    v[i] = random_normal(&seed);
  }
  for (int i = 0; i < 9 * COUNT; ++i) {
    good[i] = bad[i] = floor(64.0 * random_normal(&seed)) / 64.0; /* sums in `spoil` are exact */
  }
  for (size_t i = 0; i < COUNT; i += 3) {
    spoil(bad + 9 * i, i);
  }
  const size_t real = real_size(precision);
  const abut_smoothing s = abut_default_smoothing();
  void *points = to_reals(v, 3 * COUNT, precision);
  void *all = to_reals(good, 9 * COUNT, precision), *some = to_reals(bad, 9 * COUNT, precision);
  char *r1 = calloc(3 * COUNT, real), *r2 = calloc(3 * COUNT, real);
  uint8_t statuses[COUNT];
  size_t rejected = 9, wrong = 0, touched = 0;
  CHECK_OK(abut_witness_faces(context, &s, COUNT, points, all, r1, NULL, &rejected));
  check(rejected == 0, "%zu good triangles are refused", rejected);
  CHECK_OK(abut_witness_faces(context, &s, COUNT, points, some, r2, statuses, &rejected));
  check(rejected == COUNT / 3, "%zu triangles are refused", rejected);
  for (size_t i = 0; i < COUNT; ++i) {
    const bool refused = i % 3 == 0;
    wrong += statuses[i] != refused;
    for (size_t k = 0; refused && k < 3; ++k) {
      wrong += !isnan(real_at(r2, precision, 3 * i + k));
    }
    touched += !refused && memcmp(r1 + 3 * i * real, r2 + 3 * i * real, 3 * real);
  }
  check(!wrong, "%zu statuses or points are wrong", wrong);
  check(!touched, "%zu good triangles are touched by bad ones", touched);
  free(points);
  free(all);
  free(some);
  free(r1);
  free(r2);
}

/* No query, one, and more than a chunk of them, against calls of a few. */
static void test_counts(abut_context context)
{
  uint64_t seed = 66;
  const size_t real = real_size(precision);
  const abut_smoothing s = abut_default_smoothing();
  char *p = calloc(6 * (size_t)QUERIES, real), *q = calloc(9 * (size_t)QUERIES, real);
  char *e = calloc(3 * (size_t)QUERIES, real), *f = calloc(3 * (size_t)QUERIES, real);
  char part[3 * 8 * sizeof(double)];
  size_t rejected = 5;
  for (size_t i = 0; i < 9 * (size_t)QUERIES; ++i) {
    real_put(q, precision, i, random_uniform(&seed));
    if (i < 6 * (size_t)QUERIES) {
      real_put(p, precision, i, random_uniform(&seed));
    }
  }
  CHECK_OK(abut_witness_edges(context, &s, 0, NULL, NULL, NULL, NULL, NULL));
  CHECK_OK(abut_witness_faces(context, &s, 0, NULL, NULL, NULL, NULL, &rejected));
  check(rejected == 0, "none of none is refused");
  CHECK_OK(abut_witness_edges(context, &s, QUERIES, p, q, e, NULL, NULL));
  CHECK_OK(abut_witness_faces(context, &s, QUERIES, p, q, f, NULL, &rejected));
  check(rejected == 0, "%zu of many triangles are refused", rejected);
  const size_t firsts[] = {0, 1, 999, 524287, QUERIES - 8, QUERIES - 1};
  for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; ++i) {
    const size_t at = firsts[i], count = QUERIES - at < 8 ? QUERIES - at : 8;
    CHECK_OK(abut_witness_edges(context, &s, count, p + 6 * at * real, q + 6 * at * real, part,
                                NULL, NULL));
    check(!memcmp(part, e + 3 * at * real, 3 * count * real), "edge queries from %zu differ", at);
    CHECK_OK(abut_witness_faces(context, &s, count, p + 3 * at * real, q + 9 * at * real, part,
                                NULL, NULL));
    check(!memcmp(part, f + 3 * at * real, 3 * count * real), "face queries from %zu differ", at);
  }
  check(abut_witness_edges(context, &s, 1, p, NULL, e, NULL, NULL) == ABUT_ERROR_ARGUMENT,
        "edges of one body alone are refused");
  check(abut_witness_faces(context, &s, 1, p, q, NULL, NULL, NULL) == ABUT_ERROR_ARGUMENT,
        "faces without room are refused");
  free(p);
  free(q);
  free(e);
  free(f);
}

/* ---- bare meshes ---- */

/* A cube of 8 vertices: its faces are sampled, so that its field is the cube's and not its
 * corners'. */
static abut_body bare_cube(abut_context context)
{
  static const uint32_t sizes[] = {4, 4, 4, 4, 4, 4};
  static const uint32_t corners[] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1,
                                     2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};
  double vertices[24];
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) {
      vertices[3 * i + k] = i >> (2 - k) & 1 ? 0.5 : -0.5;
    }
  }
  abut_body_def def = abut_default_body_def();
  def.vertices = vertices;
  def.vertex_count = 8;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 6;
  def.cloud_from_mesh = true;
  abut_body body = {0, 0};
  CHECK_OK(abut_create_body(context, &def, &body));
  return body;
}

static void test_bare_mesh(abut_context context)
{
  /* Above a face the field is the height, to rounding; beside an edge it is rounded by the samples'
   * spacing, 1/32 of the diagonal. */
  const double at[][3] = {{0, 0, 0.7},      {0.1, 0.2, 0.45}, {-0.9, 0.1, 0}, {0, -0.45, 0.1},
                          {0.3, 2.5, -0.2}, {0.45, 0.6, 0.1}, {0.6, 0.6, 0},  {0.47, 0.47, 0.47}};
  const double want[] = {0.2, -0.05, 0.4, -0.05, 2, 0.1, 0.1414, -0.03};
  enum { PLACES = sizeof want / sizeof want[0] };
  const abut_body body = bare_cube(context);
  void *points = to_reals(&at[0][0], 3 * PLACES, precision);
  void *d = malloc(PLACES * real_size(precision));
  CHECK_OK(abut_evaluate_body(body, 0.005, 0.005, PLACES, points, d, NULL));
  for (size_t i = 0; i < PLACES; ++i) {
    const double got = real_at(d, precision, i), bound = i < 4 ? 1e-3 : 1.8 / 32;
    check(fabs(got - want[i]) <= bound, "bare cube, point %zu: %g, not %g", i, got, want[i]);
  }
  free(points);
  free(d);
  CHECK_OK(abut_destroy_body(body));
}

/* Far from a closed cloud all exponents round to one number in float32; the distance must not
 * vanish. */
static void test_far_cloud(abut_context context)
{
  const abut_body body = bare_cube(context);
  for (double far = 10.0; far < 2e11; far *= 10.0) {
    const double point[3] = {0.6 * far, 0, 0.8 * far};
    void *p = to_reals(point, 3, precision);
    double room[1];
    CHECK_OK(abut_evaluate_body(body, 0.005, 0.005, 1, p, room, NULL));
    const double d = real_at(room, precision, 0);
    check(d > 0.5 * far && d < 1.01 * far, "bare cube from %g m: %g", far, d);
    free(p);
  }
  CHECK_OK(abut_destroy_body(body));
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  sharp = precision == ABUT_FLOAT64 ? 1e-13 : 2e-6;
  blunt = precision == ABUT_FLOAT64 ? 1e-12 : 1e-4;
  abut_context context = require_context(precision);
  test_closed_forms(context);
  test_cores(context);
  test_normals(context);
  test_segments(context);
  test_triangles(context);
  test_counts(context);
  test_bare_mesh(context);
  test_far_cloud(context);
  return finish_context(context);
}
