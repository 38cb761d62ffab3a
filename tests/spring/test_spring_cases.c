/* What golden answers of springs do not reach: weights, padded points, general kernels in pairs,
 * pairs of many clouds, derivatives by every number, faults: test_spring_cases PRECISION ROOT
 * [--or-refused]. On the device of ABUT_TEST_DEVICE, which with --or-refused may as well fail its
 * self-test. */
#include "spring/golden.h"

static void fill(double *at, size_t count, double scale, uint64_t *random)
{
  for (size_t i = 0; i < count; ++i) {
    at[i] = scale * random_normal(random);
  }
}

/* A box of 94 points with weights of its own and kernels that are not round. */
static abut_cloud rough_box(uint64_t *random)
{
  abut_cloud c = cloud_of("spring-box-field", "box", 0.0, false);
  c.kernels = doubles(9 * c.count);
  for (size_t i = 0; i < c.count; ++i) {
    double p[9];
    fill(p, 9, 0.15 * sqrt(c.eps1[i]), random);
    c.log_weights[i] = 0.3 * random_normal(random);
    for (size_t k = 0; k < 9; ++k) {
      const double *a = p + k / 3 * 3, *b = p + k % 3 * 3;
      const double product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
      c.kernels[9 * i + k] = product + (k % 4 ? 0.0 : 0.8 * c.eps1[i]);
    }
  }
  return c;
}

/* The finger, its weights unlike each other. */
static abut_cloud rough_finger(uint64_t *random)
{
  abut_cloud c = cloud_of("spring-t26-finger", "finger", 0.0, false);
  for (size_t i = 0; i < c.count; ++i) {
    c.log_weights[i] = 0.3 * random_normal(random);
    c.eps1[i] *= exp(0.3 * random_normal(random));
  }
  return c;
}

/* The finger in touch with the box's sides, in motion; the box anywhere. */
static void place_finger(pairs *p, uint64_t *random)
{
  static const double half[3] = {0.1, 0.06, 0.08};
  for (size_t i = 0; i < p->count; ++i) {
    double at[3], turn[3], arm[3], x[3] = {0.0}, frame[7];
    const size_t side = i % 3;
    fill(at, 3, 0.3, random);
    fill(turn, 3, 0.6, random);
    quaternion_pose(at, turn, p->pose1 + 7 * i);
    for (size_t k = 0; k < 3; ++k) {
      x[k] = k == side ? half[k] + 0.0195 + 0.001 * random_uniform(random)
                       : half[k] * (random_uniform(random) - 0.5);
    }
    /* x turned by the box's quaternion. */
    memcpy(frame, p->pose1 + 7 * i, sizeof frame);
    cross(frame + 4, x, arm);
    for (size_t k = 0; k < 3; ++k) {
      arm[k] *= 2.0;
    }
    double twice[3];
    cross(frame + 4, arm, twice);
    for (size_t k = 0; k < 3; ++k) {
      x[k] += frame[3] * arm[k] + twice[k] + at[k];
    }
    fill(turn, 3, 0.6, random);
    quaternion_pose(x, turn, p->pose2 + 7 * i);
    fill(p->twist1 + 6 * i, 6, 0.05, random);
    fill(p->twist2 + 6 * i, 6, 0.05, random);
  }
}

typedef struct bodies {
  abut_cloud clouds[2];
  pairs p;
} bodies;

/* In place, for the pairs point at the clouds. */
static void bodies_start(bodies *b, size_t count)
{
  uint64_t random = 5;
  b->clouds[0] = rough_box(&random);
  b->clouds[1] = rough_finger(&random);
  b->p = pairs_new(count, b->clouds);
  place_finger(&b->p, &random);
  pairs_put(&b->p);
}

static void bodies_free(bodies *b)
{
  pairs_free(&b->p);
  abut_free_cloud(&b->clouds[0]);
  abut_free_cloud(&b->clouds[1]);
}

/* ---- points that never count ---- */

static abut_cloud padded(const abut_cloud *c, size_t count)
{
  abut_cloud p = {.count = count,
                  .points = doubles(3 * count),
                  .normals = doubles(3 * count),
                  .log_weights = doubles(count),
                  .eps1 = doubles(count),
                  .kernels = c->kernels ? doubles(9 * count) : NULL};
  memcpy(p.points, c->points, 3 * c->count * sizeof(double));
  memcpy(p.normals, c->normals, 3 * c->count * sizeof(double));
  memcpy(p.log_weights, c->log_weights, c->count * sizeof(double));
  memcpy(p.eps1, c->eps1, c->count * sizeof(double));
  if (c->kernels) {
    memcpy(p.kernels, c->kernels, 9 * c->count * sizeof(double));
  }
  for (size_t i = c->count; i < count; ++i) {
    p.normals[3 * i + 2] = 1.0;
    p.log_weights[i] = -1e30;
    p.eps1[i] = 1.0;
    for (size_t k = 0; k < 9 && p.kernels; k += 4) {
      p.kernels[9 * i + k] = 1.0;
    }
  }
  return p;
}

static void test_padding(void)
{
  bodies b;
  bodies_start(&b, 12);
  abut_cloud more[2] = {padded(&b.clouds[0], 101), padded(&b.clouds[1], 130)};
  CHECK_OK(abut_spring_forces(context, &b.p.call));
  double *wanted = world_wrenches(&b.p);
  void *separation = b.p.call.separation, *weights = b.p.call.weights;
  b.p.call.clouds = more;
  b.p.call.separation = b.p.call.weights = NULL;
  CHECK_OK(abut_spring_forces(context, &b.p.call));
  double *got = world_wrenches(&b.p);
  check(largest(wanted, 144) > 1.0, "bodies touch");
  expect("padded clouds", off_doubles(got, wanted, 144) / largest(wanted, 144), 1e-12, 2e-5);
  free(wanted);
  free(got);
  b.p.call.separation = separation;
  b.p.call.weights = weights;
  abut_free_cloud(&more[0]);
  abut_free_cloud(&more[1]);
  bodies_free(&b);
}

/* ---- momentum ---- */

/* Forces and moments about the world's origin add up to 0, and bodies that move as one feel no
 * other force than bodies at rest. */
static void test_balance(void)
{
  bodies b;
  bodies_start(&b, 12);
  CHECK_OK(abut_spring_forces(context, &b.p.call));
  double *w = world_wrenches(&b.p), worst = 0.0;
  for (size_t i = 0; i < 12; ++i) {
    for (size_t k = 0; k < 6; ++k) {
      worst = fmax(worst, fabs(w[12 * i + k] + w[12 * i + 6 + k]) / largest(w + 12 * i, 12));
    }
  }
  expect("momentum", worst, 1e-14, 2e-6);
  free(w);
  bodies_free(&b);
}

/* ---- pairs of many clouds ---- */

static void test_pairs(void)
{
  bodies b;
  bodies_start(&b, 12);
  abut_cloud three[3] = {b.clouds[1], cloud_of("spring-t26-finger", "t26", 1e-4, false),
                         b.clouds[0]};
  uint32_t which[24];
  CHECK_OK(abut_spring_forces(context, &b.p.call));
  double *wanted = world_wrenches(&b.p);
  for (size_t i = 0; i < 12; ++i) {
    which[2 * i] = i % 2 ? 2 : 1;
    which[2 * i + 1] = 0;
  }
  b.p.call.clouds = three;
  b.p.call.cloud_count = 3;
  b.p.call.pairs = which;
  CHECK_OK(abut_spring_forces(context, &b.p.call));
  double *got = world_wrenches(&b.p), same = 0.0, other = 0.0;
  for (size_t i = 0; i < 12; ++i) {
    double *most = i % 2 ? &same : &other;
    *most = fmax(*most, off_doubles(got + 12 * i, wanted + 12 * i, 12));
  }
  check(same == 0.0, "a pair's wrench depends on the batch's others: %g", same);
  check(other > 0.0, "pairs of other clouds feel the same");
  const size_t behind = 26 + 96;
  check(number(b.p.call.weights, behind) == 0.0 && number(b.p.call.separation, behind) == 0.0,
        "rows of fewer points do not end in 0");
  which[7] = 3;
  CHECK(abut_spring_forces(context, &b.p.call) == ABUT_ERROR_ARGUMENT);
  which[7] = 0;
  b.p.call.width = 94 + 96 - 1;
  CHECK(abut_spring_forces(context, &b.p.call) == ABUT_ERROR_ARGUMENT);
  free(wanted);
  free(got);
  abut_free_cloud(&three[1]);
  bodies_free(&b);
}

/* ---- derivatives by every number, against central differences ---- */

typedef struct numbers {
  double *at[5]; /* poses, twists, parameters */
  size_t width[5];
} numbers;

static double value(const pairs *p, const double *bar, size_t i)
{
  double sum = bar[12] * number(p->call.distance, i);
  for (size_t k = 0; k < 6; ++k) {
    sum +=
      bar[k] * number(p->call.wrench1, 6 * i + k) + bar[6 + k] * number(p->call.wrench2, 6 * i + k);
  }
  return sum;
}

static void put_numbers(pairs *p, const numbers *n)
{
  p->call.pose1 = n->at[0];
  p->call.pose2 = n->at[1];
  p->call.twist1 = n->at[2];
  p->call.twist2 = n->at[3];
  p->call.parameters = n->at[4];
}

/* Along a random direction of each of poses, twists and parameters apart. */
static void test_slopes(abut_dissipation dissipation)
{
  enum { COUNT = 24 };
  static const double law[6] = {5000, 0.5, 0.1, 0.01, 2e-3, 1e-3};
  static const char *const names[] = {"by pose1", "by pose2", "by twist1", "by twist2",
                                      "by parameters"};
  uint64_t random = 9;
  bodies b;
  bodies_start(&b, COUNT);
  pairs *p = &b.p;
  double bar[13], *parameters = doubles(6 * COUNT),
                  *bars[3] = {doubles(6 * COUNT), doubles(6 * COUNT), doubles(COUNT)};
  fill(bar, 13, 1.0, &random);
  for (size_t i = 0; i < COUNT; ++i) {
    for (size_t k = 0; k < 6; ++k) {
      parameters[6 * i + k] = law[k] * (1.0 + 0.2 * random_uniform(&random));
      bars[0][6 * i + k] = bar[k];
      bars[1][6 * i + k] = bar[6 + k];
    }
    bars[2][i] = bar[12];
  }
  const numbers all = {{p->pose1, p->pose2, p->twist1, p->twist2, parameters}, {7, 7, 6, 6, 6}};
  abut_spring_gradients g = abut_default_spring_gradients();
  void *const made[5] = {room(7 * COUNT), room(7 * COUNT), room(6 * COUNT), room(6 * COUNT),
                         room(6 * COUNT)};
  g.wrench1 = bars[0], g.wrench2 = bars[1], g.distance = bars[2];
  g.pose1 = made[0], g.pose2 = made[1], g.twist1 = made[2], g.twist2 = made[3],
  g.parameters = made[4];
  put_numbers(p, &all);
  p->call.dissipation = dissipation;
  CHECK_OK(abut_spring_vjp(context, &p->call, &g));
  for (int n = 0; n < 5; ++n) {
    const size_t width = all.width[n];
    double worst = 0.0, *along = doubles(width * COUNT), *there = doubles(width * COUNT);
    double slopes[COUNT] = {0.0}, quotients[COUNT] = {0.0}, most = 0.0;
    numbers moved = all;
    moved.at[n] = there;
    for (size_t i = 0; i < width * COUNT; ++i) {
      along[i] = random_normal(&random) * (n == 4 ? law[i % 6] : n < 2 ? 0.1 : 1.0);
      slopes[i / width] += along[i] * number(made[n], i);
    }
    for (int side = -2; side <= 2; side += side == -1 ? 2 : 1) { /* fourth order */
      const double step = 2e-5 * side,
                   share = (side * side == 1 ? 8.0 : -1.0) * (side > 0 ? 1.0 : -1.0);
      for (size_t i = 0; i < width * COUNT; ++i) {
        there[i] = all.at[n][i] + step * along[i];
      }
      put_numbers(p, &moved);
      CHECK_OK(abut_spring_forces(context, &p->call));
      for (size_t i = 0; i < COUNT; ++i) {
        quotients[i] += share * value(p, bar, i) / (12.0 * 2e-5);
      }
    }
    for (size_t i = 0; i < COUNT; ++i) {
      most = fmax(most, fabs(slopes[i]));
      worst = fmax(worst, fabs(slopes[i] - quotients[i]));
    }
    printf("%s: ", dissipation == ABUT_DISSIPATION_SMOOTH ? "smooth" : "c1");
    expect(names[n], worst / most, 1e-7, 1.0);
    free(along);
    free(there);
    put_numbers(p, &all);
  }
  for (int n = 0; n < 5; ++n) {
    free(made[n]);
  }
  free(bars[0]);
  free(bars[1]);
  free(bars[2]);
  free(parameters);
  bodies_free(&b);
}

/* ---- faults ---- */

/* A pair that is out of range gets NaN everywhere; the others what they get without it. */
static void test_poison(void)
{
  bodies b;
  bodies_start(&b, 6);
  double *parameters = doubles(36);
  for (size_t i = 0; i < 36; ++i) {
    static const double law[6] = {5000, 0.5, 0.1, 0.01, 5e-4, 2e-4};
    parameters[i] = law[i % 6];
  }
  CHECK_OK(abut_spring_forces(context, &b.p.call));
  double *wanted = world_wrenches(&b.p);
  b.p.pose1[7 + 1] = NAN;
  memset(b.p.pose2 + 14 + 3, 0, 4 * sizeof(double));
  b.p.twist2[18 + 4] = INFINITY;
  parameters[24 + 4] = 0.0;
  pairs_put(&b.p);
  void *reals = to_reals(parameters, 36, precision), *jacobian = room(6 * 126), *slope = room(36);
  abut_spring_gradients g = abut_default_spring_gradients();
  g.jacobian = jacobian;
  g.twist1 = slope;
  b.p.call.parameters = reals;
  CHECK_OK(abut_spring_vjp(context, &b.p.call, &g));
  for (size_t i = 0; i < 6; ++i) {
    const bool bad = i > 0 && i < 5;
    bool all = true, none = true;
    for (size_t k = 0; k < 126; ++k) {
      const double x[] = {number(jacobian, 126 * i + k),
                          number(b.p.call.wrench1, 6 * i + k % 6),
                          number(b.p.call.wrench2, 6 * i + k % 6),
                          number(b.p.call.distance, i),
                          number(slope, 6 * i + k % 6),
                          number(b.p.call.weights, b.p.points * i + k),
                          number(b.p.call.separation, b.p.points * i + k)};
      for (size_t n = 0; n < sizeof x / sizeof *x; ++n) {
        all = all && isnan(x[n]);
        none = none && isfinite(x[n]);
      }
    }
    check(bad ? all : none, "pair %zu is %s", i, bad ? "not NaN throughout" : "not finite");
  }
  double *got = world_wrenches(&b.p);
  expect("beside faults",
         fmax(off_doubles(got, wanted, 12), off_doubles(got + 60, wanted + 60, 12)), 0.0, 0.0);
  free(got);
  free(wanted);
  free(parameters);
  free(reals);
  free(jacobian);
  free(slope);
  bodies_free(&b);
}

/* Clouds far from each other, and one within the other, stay finite. */
static void test_extremes(void)
{
  enum { COUNT = 4 };
  static const double places[COUNT] = {0.0, 1.0, 1e3, 1e5};
  abut_cloud clouds[2] = {cloud_of("spring-t26-finger", "t26", 1e-4, false),
                          cloud_of("spring-t26-finger", "finger", 0.0, false)};
  pairs p = pairs_new(COUNT, clouds);
  void *jacobian = room(COUNT * 126);
  abut_spring_gradients g = abut_default_spring_gradients();
  g.jacobian = jacobian;
  for (size_t i = 0; i < COUNT; ++i) {
    p.pose2[7 * i] = places[i];
  }
  pairs_put(&p);
  CHECK_OK(abut_spring_vjp(context, &p.call, &g));
  for (size_t i = 0; i < COUNT; ++i) {
    const double distance = number(p.call.distance, i);
    bool finite = true;
    for (size_t k = 0; k < 126; ++k) {
      finite = finite && isfinite(number(jacobian, 126 * i + k)) &&
               isfinite(number(p.call.wrench1, 6 * i + k % 6));
    }
    check(finite, "bodies %g m apart", places[i]);
    check(i ? fabs(distance - places[i]) < 0.2 + 0.05 * places[i] : distance < 0.0,
          "a distance of %g over %g m", distance, places[i]);
    check(!i || fabs(number(p.call.wrench1, 6 * i)) < 1e-12, "a force over %g m", places[i]);
  }
  free(jacobian);
  pairs_free(&p);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

static void test_refusals(void)
{
  bodies b;
  bodies_start(&b, 2);
  abut_spring s = b.p.call, zero;
  abut_spring_gradients g = abut_default_spring_gradients(), no_cookie = g;
  memset(&zero, 0, sizeof zero);
  no_cookie.cookie = 0;
  const abut_context none = {0};
  CHECK(abut_spring_forces(none, &s) == ABUT_ERROR_HANDLE);
  CHECK(abut_spring_vjp(none, &s, &g) == ABUT_ERROR_HANDLE);
  CHECK(abut_spring_forces(context, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_spring_forces(context, &zero) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_spring_vjp(context, &s, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_spring_vjp(context, &s, &no_cookie) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_spring_vjp(context, NULL, &g) == ABUT_ERROR_ARGUMENT);
  s.reaction = ABUT_REACTION_PLANE;
  CHECK(abut_spring_vjp(context, &s, &g) == ABUT_ERROR_ARGUMENT);
  s.reaction = (abut_reaction)2;
  CHECK(abut_spring_forces(context, &s) == ABUT_ERROR_ARGUMENT);
  s = b.p.call;
  s.eps2 = 0.0;
  CHECK(abut_spring_forces(context, &s) == ABUT_ERROR_ARGUMENT);
  s = b.p.call;
  s.mu = -1.0;
  CHECK(abut_spring_forces(context, &s) == ABUT_ERROR_ARGUMENT);
  s = b.p.call;
  s.pose2 = NULL;
  CHECK(abut_spring_forces(context, &s) == ABUT_ERROR_ARGUMENT);
  s = b.p.call;
  s.cloud_count = 1;
  CHECK(abut_spring_forces(context, &s) == ABUT_ERROR_ARGUMENT);
  s = b.p.call;
  b.clouds[0].kernels[0] = -1.0;
  CHECK(abut_spring_forces(context, &s) == ABUT_ERROR_BODY);
  b.clouds[1].eps1[3] = 0.0;
  CHECK(abut_evaluate_cloud(context, &b.clouds[1], 0, NULL, NULL, NULL) == ABUT_ERROR_BODY);
  b.clouds[1].eps1[3] = 1e-5;
  b.clouds[1].normals[4] = NAN;
  CHECK(abut_evaluate_cloud(context, &b.clouds[1], 0, NULL, NULL, NULL) == ABUT_ERROR_BODY);
  CHECK(abut_evaluate_cloud(context, NULL, 0, NULL, NULL, NULL) == ABUT_ERROR_ARGUMENT);
  s.count = 0;
  s.clouds = b.clouds;
  b.clouds[1].normals[4] = 0.0;
  b.clouds[0].kernels[0] = b.clouds[0].kernels[4];
  CHECK(abut_spring_forces(context, &s) != ABUT_ERROR_ARGUMENT);
  bodies_free(&b);
}

static void test_meshes(void)
{
  static const double corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const uint32_t sizes[4] = {3, 3, 3, 3};
  static const uint32_t outwards[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  static const uint32_t inwards[12] = {0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2};
  static const uint32_t flat[12] = {0, 2, 1, 0, 1, 3, 0, 3, 3, 1, 2, 3};
  abut_cloud c;
  CHECK_OK(abut_make_cloud(4, corners, 4, sizes, outwards, 0.0, true, &c));
  const double mean = (1.5 + 0.5 * sqrt(3.0)) / 4.0;
  check(fabs(c.eps1[2] - mean / 8.0) < 1e-15, "eps1 is %g", c.eps1[2]);
  check(fabs(c.log_weights[0] - log(0.5 / mean)) < 1e-15, "a weight is %g", c.log_weights[0]);
  check(fabs(c.normals[11] - 1.0 / sqrt(3.0)) < 1e-15 && fabs(c.points[9] - 1.0 / 3.0) < 1e-15,
        "the last face");
  abut_free_cloud(&c);
  abut_free_cloud(NULL);
  CHECK(abut_make_cloud(4, corners, 4, sizes, inwards, 0.0, false, &c) == ABUT_ERROR_BODY);
  CHECK(abut_make_cloud(4, corners, 4, sizes, flat, 0.0, false, &c) == ABUT_ERROR_BODY);
  CHECK(abut_make_cloud(4, corners, 3, sizes, outwards, 0.0, false, &c) == ABUT_ERROR_BODY);
  CHECK(abut_make_cloud(3, corners, 4, sizes, outwards, 0.0, false, &c) == ABUT_ERROR_BODY);
  CHECK(abut_make_cloud(4, corners, 0, sizes, outwards, 0.0, false, &c) == ABUT_ERROR_BODY);
  CHECK(abut_make_cloud(4, corners, 4, sizes, outwards, -1.0, false, &c) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_make_cloud(4, corners, 4, sizes, NULL, 0.0, false, &c) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_make_cloud_of_points(0, corners, &c) == ABUT_ERROR_BODY);
  CHECK(abut_load_cloud("no such file.obj", 0.0, false, &c) == ABUT_ERROR_READ);
  CHECK(c.points == NULL);
}

/* One point that never counts is a half space: its field is z to the bit, and a box that lies in it
 * is pushed by its own lower side alone. */
static void test_half_space(void)
{
  static const double plane[7] = {0, 0, 0, 0, 0, 1, 1};
  static const double at[9] = {1, 2, 0.5, -300, 20, -0.25, 0, 0, 0}, nowhere[3] = {0};
  abut_cloud clouds[2] = {{0}, cloud_of("spring-box-field", "box", 0.0, false)};
  REQUIRE_OK(abut_make_cloud_of_points(1, plane, &clouds[0]));
  clouds[0].log_weights[0] = -1e30;
  void *points = to_reals(at, 9, precision), *phi = room(3), *gradient = room(9);
  double bottom = 0.0, wanted[6] = {0};
  REQUIRE_OK(abut_evaluate_cloud(context, &clouds[0], 3, points, phi, gradient));
  for (size_t i = 0; i < 3; ++i) {
    CHECK(number(phi, i) == at[3 * i + 2]);
    CHECK(number(gradient, 3 * i) == 0.0 && number(gradient, 3 * i + 2) == 1.0);
  }
  for (size_t i = 0; i < clouds[1].count; ++i) {
    bottom = fmin(bottom, clouds[1].points[3 * i + 2]);
  }
  pairs p = pairs_new(1, clouds);
  quaternion_pose((const double[]){3, -4, -bottom - 0.0005}, nowhere, p.pose2);
  pairs_put(&p);
  REQUIRE_OK(abut_spring_forces(context, &p.call));
  wanted[2] = p.call.k * p.call.eps3 * log1p(exp(0.0005 / p.call.eps3));
  expect("half space, force on a box", off(p.call.wrench2, wanted, 6), 1e-9, 2e-3);
  expect("half space, distance", fabs(number(p.call.distance, 0) + 0.0005), 1e-9, 1e-7);
  CHECK(number(p.call.weights, 0) == 0.0);
  pairs_free(&p);
  free(points);
  free(phi);
  free(gradient);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

static bool is_refused(void)
{
  bodies b;
  bodies_start(&b, 1);
  const abut_status status = abut_spring_forces(context, &b.p.call);
  bodies_free(&b);
  CHECK(status == ABUT_SUCCESS || status == ABUT_ERROR_SELF_TEST);
  return status == ABUT_ERROR_SELF_TEST;
}

static void test_all(void)
{
  test_padding();
  test_balance();
  test_pairs();
  if (precision == ABUT_FLOAT64) {
    test_slopes(ABUT_DISSIPATION_C1);
    test_slopes(ABUT_DISSIPATION_SMOOTH);
  }
  test_poison();
  test_extremes();
  test_refusals();
  test_meshes();
  test_half_space();
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  root = argv[2];
  context = require_context(precision);
  if (argc > 3 && is_refused()) {
    printf("refused: %s\n", abut_last_error());
  } else {
    test_all();
  }
  return finish_context(context);
}
