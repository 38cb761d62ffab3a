/* Derivatives of springs against golden answers and, in float64, against central differences:
 * test_spring_slopes PRECISION ROOT. On the device of ABUT_TEST_DEVICE. */
#include "spring/golden.h"

typedef struct bars {
  size_t count;
  double *in1, *in2, *in_distance; /* cotangents */
  void *in[3];
  abut_spring_gradients call;
} bars;

static bars bars_new(size_t count)
{
  bars b = {.count = count,
            .in1 = doubles(6 * count),
            .in2 = doubles(6 * count),
            .in_distance = doubles(count),
            .call = abut_default_spring_gradients()};
  b.call.pose1 = room(7 * count);
  b.call.pose2 = room(7 * count);
  b.call.twist1 = room(6 * count);
  b.call.twist2 = room(6 * count);
  b.call.parameters = room(6 * count);
  return b;
}

static void bars_put(bars *b)
{
  const double *const from[3] = {b->in1, b->in2, b->in_distance};
  for (int k = 0; k < 3; ++k) {
    free(b->in[k]);
    b->in[k] = to_reals(from[k], b->count * (k < 2 ? 6 : 1), precision);
  }
  b->call.wrench1 = b->in[0];
  b->call.wrench2 = b->in[1];
  b->call.distance = b->in[2];
}

static void bars_free(bars *b)
{
  void *const all[] = {b->in1,         b->in2,         b->in_distance,    b->in[0],
                       b->in[1],       b->in[2],       b->call.pose1,     b->call.pose2,
                       b->call.twist1, b->call.twist2, b->call.parameters};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

/* By a turn from the left, of the gradient of a quaternion of length 1. */
static void turn_bar(const double q[4], const double bar[4], double out[3])
{
  double across[3];
  cross(q + 1, bar + 1, across);
  for (int k = 0; k < 3; ++k) {
    out[k] = 0.5 * (q[0] * bar[1 + k] - bar[0] * q[1 + k] + across[k]);
  }
}

/* ---- two spheres: each number of both wrenches, by the second's motion ---- */

/* Row `row` of 12: a force or a moment about the world's origin. Pair i of p has its own copy. */
static void put_row(const pairs *p, bars *b, size_t i, size_t row)
{
  double *to = (row < 6 ? b->in1 : b->in2) + 6 * i;
  to[row % 6] = 1.0;
  if (row >=
      9) { /* the moment about the world's origin is that about its own and position x force */
    cross(to + 3, p->pose2 + 7 * i, to);
  }
}

/* Gradients in the golden coordinates: left turn, shift, spin and speed about the world's origin.
 */
static void golden_row(const pairs *p, const bars *b, size_t i, size_t row, double out[12])
{
  double pose[7], twist[6], force[3], move[3], *own = b->in2 + 6 * i;
  const double *at = p->pose2 + 7 * i, *spin = p->twist2 + 6 * i + 3;
  for (size_t k = 0; k < 7; ++k) {
    pose[k] = number(b->call.pose2, 7 * i + k);
    twist[k % 6] = number(b->call.twist2, 6 * i + k % 6);
    force[k % 3] = number(p->call.wrench2, 6 * i + k % 3);
  }
  turn_bar(at + 3, pose + 3, out);
  cross(twist, spin, move); /* its own origin's speed changes as it moves */
  for (int k = 0; k < 3; ++k) {
    out[3 + k] = pose[k] + move[k];
    out[9 + k] = twist[k];
  }
  cross(at, twist, move);
  for (int k = 0; k < 3; ++k) {
    out[6 + k] = twist[3 + k] + move[k];
  }
  if (row >= 9) {
    cross(force, own + 3, move);
    for (int k = 0; k < 3; ++k) {
      out[3 + k] += move[k];
    }
  }
}

static void test_spheres(void)
{
  static const char *const names[] = {"point_c1_jacobian", "point_smooth_jacobian"};
  abut_cloud clouds[2] = {cloud_of("spring-sphere-sphere", "a", 0.0, false),
                          cloud_of("spring-sphere-sphere", "b", 0.0, false)};
  abut_npz all;
  read_npz("spring-sphere-sphere", "wrench", &all);
  pairs p = pairs_new(24 * 12, clouds);
  bars b = bars_new(24 * 12);
  for (size_t i = 0; i < p.count; ++i) {
    const double *pose = reals_of(&all, "pose_b") + 6 * (i / 12),
                 *t = reals_of(&all, "twist") + 12 * (i / 12);
    const double nowhere[3] = {0};
    quaternion_pose(pose + 3, pose, p.pose2 + 7 * i);
    own_twist(t, t + 3, nowhere, p.twist1 + 6 * i);
    own_twist(t + 6, t + 9, p.pose2 + 7 * i, p.twist2 + 6 * i);
    put_row(&p, &b, i, i % 12);
  }
  pairs_put(&p);
  bars_put(&b);
  for (int k = 0; k < 2; ++k) {
    const double *wanted = reals_of(&all, names[k]);
    double worst = 0.0, got[12];
    p.call.dissipation = k ? ABUT_DISSIPATION_SMOOTH : ABUT_DISSIPATION_C1;
    CHECK_OK(abut_spring_vjp(context, &p.call, &b.call));
    for (size_t i = 0; i < p.count; ++i) {
      golden_row(&p, &b, i, i % 12, got);
      worst =
        fmax(worst, off_doubles(got, wanted + 12 * i, 12) / largest(wanted + 144 * (i / 12), 144));
    }
    expect(names[k], worst, 1e-9, 2e-3);
  }
  pairs_free(&p);
  bars_free(&b);
  abut_free_npz(&all);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

/* ---- the T and the finger: generalised forces by coordinates and velocities ---- */

static void test_finger(const char *name, const char *mesh, double eps1)
{
  abut_cloud clouds[2] = {cloud_of(name, mesh, eps1, false), cloud_of(name, "finger", 0.0, false)};
  abut_npz all;
  char what[64];
  read_npz(name, "force", &all);
  const size_t states = find_array(&all, "q")->shape[0];
  const double *by_q = reals_of(&all, "dforce_dq"), *by_v = reals_of(&all, "dforce_dv");
  pairs p = pairs_new(5 * states, clouds);
  bars b = bars_new(5 * states);
  for (size_t i = 0; i < p.count; ++i) {
    static const size_t places[5] = {0, 1, 5, 0, 1};
    const double *q = reals_of(&all, "q") + 5 * (i / 5), *v = reals_of(&all, "v") + 5 * (i / 5);
    const double at[3] = {q[0], q[1], 0.0}, turn[3] = {0.0, 0.0, q[2]};
    quaternion_pose(at, turn, p.pose1 + 7 * i);
    memcpy(p.pose2 + 7 * i, q + 3, 2 * sizeof *q);
    memcpy(p.twist1 + 6 * i, v, 2 * sizeof *v);
    p.twist1[6 * i + 5] = v[2];
    memcpy(p.twist2 + 6 * i, v + 3, 2 * sizeof *v);
    (i % 5 < 3 ? b.in1 : b.in2)[6 * i + places[i % 5]] = 1.0;
  }
  pairs_put(&p);
  bars_put(&b);
  CHECK_OK(abut_spring_vjp(context, &p.call, &b.call));
  double worst_q = 0.0, worst_v = 0.0;
  for (size_t i = 0; i < p.count; ++i) {
    double quaternion[4], turn[3];
    for (size_t k = 0; k < 4; ++k) {
      quaternion[k] = number(b.call.pose1, 7 * i + 3 + k);
    }
    turn_bar(p.pose1 + 7 * i + 3, quaternion, turn);
    const double q_bar[5] = {number(b.call.pose1, 7 * i), number(b.call.pose1, 7 * i + 1), turn[2],
                             number(b.call.pose2, 7 * i), number(b.call.pose2, 7 * i + 1)};
    const double v_bar[5] = {number(b.call.twist1, 6 * i), number(b.call.twist1, 6 * i + 1),
                             number(b.call.twist1, 6 * i + 5), number(b.call.twist2, 6 * i),
                             number(b.call.twist2, 6 * i + 1)};
    const size_t state = i / 5;
    worst_q = fmax(worst_q, off_doubles(q_bar, by_q + 5 * i, 5) / largest(by_q + 25 * state, 25));
    worst_v = fmax(worst_v, off_doubles(v_bar, by_v + 5 * i, 5) / largest(by_v + 25 * state, 25));
  }
  snprintf(what, sizeof what, "%s: dforce_dq", mesh);
  expect(what, worst_q, 1e-9, 2e-3);
  snprintf(what, sizeof what, "%s: dforce_dv", mesh);
  expect(what, worst_v, 1e-9, 2e-3);
  pairs_free(&p);
  bars_free(&b);
  abut_free_npz(&all);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

/* ---- second derivatives ---- */

/* The T about a finger that stands at the origin, moved by h along a direction of its own. */
static void put_moved(pairs *p, const double pose[7], const double speed[3], const double spin[3],
                      const double direction[12], double h)
{
  double turn[3], half[4] = {1.0, 0.0, 0.0, 0.0}, moved[3], lever[3];
  for (size_t i = 0; i < 3; ++i) {
    turn[i] = h * direction[3 + i];
    half[1 + i] = 0.5 * turn[i];
  }
  const double length = sqrt(1.0 + half[1] * half[1] + half[2] * half[2] + half[3] * half[3]);
  double *to = p->pose1, *twist = p->twist1;
  const double w = half[0] / length, a = pose[3];
  const double v[3] = {half[1] / length, half[2] / length, half[3] / length};
  /* (w, v) (a, b), whose turn is 2 atan |half|: h to second order. */
  cross(v, pose + 4, moved);
  to[3] = w * a - v[0] * pose[4] - v[1] * pose[5] - v[2] * pose[6];
  for (int i = 0; i < 3; ++i) {
    to[4 + i] = w * pose[4 + i] + a * v[i] + moved[i];
  }
  /* The same turn of its place. */
  cross(v, pose, moved);
  cross(v, moved, lever);
  for (int i = 0; i < 3; ++i) {
    to[i] = pose[i] + 2.0 * (w * moved[i] + lever[i]) + h * direction[i];
    twist[3 + i] = spin[i] + h * direction[9 + i];
  }
  cross(twist + 3, to, moved);
  for (int i = 0; i < 3; ++i) {
    twist[i] = speed[i] + h * direction[6 + i] + moved[i];
  }
}

static void test_second(void)
{
  enum { SLOPES = 126 };
  static const double pose[7] = {-0.056, -0.0871, 0.003, 0.92, 0.02, -0.01, 0.39};
  static const double speed[3] = {0.03, -0.05, 0.02}, spin[3] = {0.4, -0.2, 0.6};
  static const double direction[12] = {0.01, -0.02, 0.015, 0.2, 0.1,  -0.15,
                                       0.05, -0.1,  0.08,  1.0, -0.5, 0.7};
  abut_cloud clouds[2] = {cloud_of("spring-t26-finger", "t26", 1e-4, false),
                          cloud_of("spring-t26-finger", "finger", 0.0, false)};
  const double length = sqrt(0.92 * 0.92 + 5e-4 + 0.39 * 0.39), h = 1e-5;
  double unit[7], *ends[2] = {NULL, NULL};
  pairs p = pairs_new(1, clouds);
  abut_spring_gradients g = abut_default_spring_gradients();
  for (int i = 0; i < 7; ++i) {
    unit[i] = i < 3 ? pose[i] : pose[i] / length;
  }
  void *along = to_reals(direction, 12, precision);
  g.direction = along;
  g.jacobian = room(SLOPES);
  g.jacobian_along = room(SLOPES);
  p.call.dissipation = ABUT_DISSIPATION_SMOOTH;
  p.call.eps2 = 3e-3;
  p.call.eps3 = 2e-3;
  put_moved(&p, unit, speed, spin, direction, 0.0);
  pairs_put(&p);
  CHECK_OK(abut_spring_vjp(context, &p.call, &g)); /* in float the self-test's reference is all */
  for (int side = 0; side < 2 && precision == ABUT_FLOAT64; ++side) {
    put_moved(&p, unit, speed, spin, direction, side ? h : -h);
    pairs_put(&p);
    CHECK_OK(abut_spring_vjp(context, &p.call, &g));
    ends[side] = doubles(SLOPES);
    for (size_t i = 0; i < SLOPES; ++i) {
      ends[side][i] = number(g.jacobian, i);
    }
  }
  put_moved(&p, unit, speed, spin, direction, 0.0);
  pairs_put(&p);
  CHECK_OK(abut_spring_vjp(context, &p.call, &g));
  /* Force, moment and distance by places, velocities and parameters each have a scale. */
  double worst = 0.0;
  for (size_t column = 0; column < 18 && precision == ABUT_FLOAT64; ++column) {
    for (size_t kind = 0; kind < 3; ++kind) {
      double most = 1e-9, error = 0.0;
      for (size_t row = 3 * kind; row < (kind < 2 ? 3 * kind + 3 : 7); ++row) {
        const size_t i = 18 * row + column;
        const double wanted = (ends[1][i] - ends[0][i]) / (2.0 * h);
        most = fmax(most, fabs(wanted));
        error = fmax(error, fabs(number(g.jacobian_along, i) - wanted));
      }
      worst = fmax(worst, error / most);
    }
  }
  expect("second derivatives and differences", worst, 1e-6, 0.0);
  for (int side = 0; side < 2; ++side) {
    free(ends[side]);
  }
  free(along);
  free(g.jacobian);
  free(g.jacobian_along);
  pairs_free(&p);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

/* The golden second derivatives of generalised forces by coordinates. The finger does not turn, so
 * that its axes are the world's; the forces are F, the moment about the T's origin, and -F. */
enum { COORDINATES = 5, SLOPE_COLUMNS = 18 };

/* How the T moves against the finger by coordinate j: shift, turn, velocity, spin at the finger's
 * origin, of which the T's is r away. */
static void put_direction(size_t j, const double r[2], double spin, double out[12])
{
  const double side = j < 3 ? 1.0 : -1.0;
  memset(out, 0, 12 * sizeof *out);
  if (j == 2) {
    out[0] = r[1];
    out[1] = -r[0];
    out[5] = 1.0;
    return;
  }
  out[j % 3] = side; /* with its velocity the same, that of its point at the finger changes */
  out[6 + 1 - j % 3] = j % 3 ? side * spin : -side * spin;
}

/* Row `row` of a Jacobian times a direction. */
static double along_row(const void *jacobian, size_t at, size_t row, const double direction[12])
{
  double sum = 0.0;
  for (size_t i = 0; i < 12; ++i) {
    sum += number(jacobian, at + row * SLOPE_COLUMNS + i) * direction[i];
  }
  return sum;
}

typedef struct second_state {
  const double *q, *v;
  double r[2], direction[COORDINATES][12];
  const abut_spring_gradients *g;
  size_t first; /* its pairs: one a coordinate */
} second_state;

/* d r / dq_j. */
static void by_place(size_t j, double out[2])
{
  out[0] = j == 0 ? 1.0 : j == 3 ? -1.0 : 0.0;
  out[1] = j == 1 ? 1.0 : j == 4 ? -1.0 : 0.0;
}

/* d^2 of force x, y and the moment about the finger's origin. */
static void bend_wrench(const second_state *s, size_t j, size_t k, double out[3])
{
  static const size_t rows[3] = {0, 1, 5};
  double place[2], more[12] = {0.0};
  by_place(k, place);
  if (j == 2) { /* the T's origin moves away from the finger's */
    more[0] = place[1];
    more[1] = -place[0];
  }
  for (int i = 0; i < 3; ++i) {
    out[i] = along_row(s->g->jacobian_along, 126 * (s->first + k), rows[i], s->direction[j]) +
             along_row(s->g->jacobian, 126 * s->first, rows[i], more);
  }
}

static double bend_moment(const second_state *s, size_t j, size_t k, const double bent[3])
{
  const double *const r = s->r;
  double sum = bent[2] - (r[0] * bent[1] - r[1] * bent[0]);
  for (int turn = 0; turn < 2; ++turn) {
    double place[2];
    const double *way = s->direction[turn ? k : j];
    by_place(turn ? j : k, place);
    sum -= place[0] * along_row(s->g->jacobian, 126 * s->first, 1, way) -
           place[1] * along_row(s->g->jacobian, 126 * s->first, 0, way);
  }
  return sum;
}

static void test_golden_second(void)
{
  abut_cloud clouds[2] = {cloud_of("spring-t26-finger", "t26", 1e-4, false),
                          cloud_of("spring-t26-finger", "finger", 0.0, false)};
  abut_npz all;
  read_npz("spring-t26-finger", "force", &all);
  const size_t states = find_array(&all, "d2force_dq2")->shape[0], count = COORDINATES * states;
  pairs p = pairs_new(count, clouds);
  abut_spring_gradients g = abut_default_spring_gradients();
  double *directions = doubles(12 * count), worst = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double *q = reals_of(&all, "q") + 5 * (i / 5), *v = reals_of(&all, "v") + 5 * (i / 5);
    const double at[3] = {q[0], q[1], 0.0}, turn[3] = {0.0, 0.0, q[2]};
    const double r[2] = {q[0] - q[3], q[1] - q[4]};
    quaternion_pose(at, turn, p.pose1 + 7 * i);
    memcpy(p.pose2 + 7 * i, q + 3, 2 * sizeof *q);
    memcpy(p.twist1 + 6 * i, v, 2 * sizeof *v);
    p.twist1[6 * i + 5] = v[2];
    memcpy(p.twist2 + 6 * i, v + 3, 2 * sizeof *v);
    put_direction(i % 5, r, v[2], directions + 12 * i);
  }
  void *along = to_reals(directions, 12 * count, precision);
  g.direction = along;
  g.jacobian = room(126 * count);
  g.jacobian_along = room(126 * count);
  pairs_put(&p);
  CHECK_OK(abut_spring_vjp(context, &p.call, &g));
  for (size_t n = 0; n < states; ++n) {
    const double *wanted = reals_of(&all, "d2force_dq2") + 125 * n;
    second_state s = {.q = reals_of(&all, "q") + 5 * n,
                      .v = reals_of(&all, "v") + 5 * n,
                      .g = &g,
                      .first = 5 * n};
    s.r[0] = s.q[0] - s.q[3];
    s.r[1] = s.q[1] - s.q[4];
    memcpy(s.direction, directions + 60 * n, sizeof s.direction);
    for (size_t i = 0; i < 25; ++i) {
      double bent[3];
      bend_wrench(&s, i / 5, i % 5, bent);
      const double forces[5] = {bent[0], bent[1], bend_moment(&s, i / 5, i % 5, bent), -bent[0],
                                -bent[1]};
      for (size_t k = 0; k < 5; ++k) {
        worst = fmax(worst, fabs(forces[k] - wanted[25 * k + i]) / largest(wanted, 125));
      }
    }
  }
  expect("t26: d2force_dq2", worst, 1e-9, 2e-3);
  free(directions);
  free(along);
  free(g.jacobian);
  free(g.jacobian_along);
  pairs_free(&p);
  abut_free_npz(&all);
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  root = argv[2];
  context = require_context(precision);
  test_spheres();
  test_finger("spring-t26-finger", "t26", 1e-4);
  test_finger("spring-t4k-finger", "t4k", 0.0);
  test_second();
  test_golden_second();
  return finish_context(context);
}
