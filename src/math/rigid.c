#include "math/rigid.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

/* Limits that keep squares and products finite. */
#define LENGTH_MOST 1e100
#define ANGLE_MOST 1e50

#define SERIES_TERMS 10 /* sufficient below |omega| = 1 */

/* out += k v */
static void add(double out[3], double k, const double v[3])
{
  for (int i = 0; i < 3; ++i) {
    out[i] += k * v[i];
  }
}

/* NaN is preserved. */
static void limit(double v[3], double most)
{
  for (int i = 0; i < 3; ++i) {
    v[i] = v[i] > most ? most : v[i] < -most ? -most : v[i];
  }
}

static double largest(const double *v, int count)
{
  double most = 0.0;
  for (int i = 0; i < count; ++i) {
    most = fmax(most, fabs(v[i]));
  }
  return most;
}

/* ---- rotations ---- */

/* Sum over k of (-t^2)^k / (2 k + order)!. Times t^order, this is the remainder of the series of
 * sin or cos after its first terms. */
static double remainder_series(double t2, int order)
{
  double sum = 1.0;
  for (int k = SERIES_TERMS; k > 0; --k) {
    sum = 1.0 - sum * t2 / ((2 * k + order) * (2 * k + order - 1));
  }
  for (int i = 2; i <= order; ++i) {
    sum /= i;
  }
  return sum;
}

static turn_coefficients coefficients_of(const double omega[3])
{
  const double t2 = dot(omega, omega);
  turn_coefficients k;
  double f4, f5; /* (1/2 - b) / t^2 and (1/6 - c) / t^2 */
  if (t2 < 1.0) {
    k.a = remainder_series(t2, 1);
    k.b = remainder_series(t2, 2);
    k.c = remainder_series(t2, 3);
    f4 = remainder_series(t2, 4);
    f5 = remainder_series(t2, 5);
  } else {
    const double t = sqrt(t2), half_sine = sin(0.5 * t);
    k.a = sin(t) / t;
    k.b = 2.0 * half_sine * half_sine / t2;
    k.c = (1.0 - k.a) / t2;
    f4 = (0.5 - k.b) / t2;
    f5 = (1.0 / 6.0 - k.c) / t2;
  }
  k.b_slope = 2.0 * f4 - k.c; /* (a - 2 b) / t^2 */
  k.c_slope = 3.0 * f5 - f4;  /* (b - 3 c) / t^2 */
  k.e = -0.5 * k.b_slope / k.b;
  return k;
}

/* v + first omega x v + second omega x (omega x v) */
static void mix(const double omega[3], double first, double second, const double v[3],
                double out[3])
{
  double once[3], twice[3], scaled[3], sum[3] = {v[0], v[1], v[2]};
  for (int i = 0; i < 3; ++i) {
    scaled[i] = second * omega[i];
  }
  cross(omega, v, once);
  cross(scaled, v, twice);
  cross(omega, twice, twice);
  add(sum, first, once);
  add(sum, 1.0, twice);
  memcpy(out, sum, sizeof sum);
}

static void mean_turn(const double omega[3], const turn_coefficients *k, const double v[3],
                      double out[3])
{
  mix(omega, k->b, k->c, v, out);
}

/* Multiplies by the inverse of J(omega), or of its transpose J(-omega). */
static void mean_turn_back(const double omega[3], const turn_coefficients *k, bool transposed,
                           const double v[3], double out[3])
{
  mix(omega, transposed ? 0.5 : -0.5, k->e, v, out);
}

static void quaternion_product(const double a[4], const double b[4], double out[4])
{
  double v[3];
  cross(a + 1, b + 1, v);
  add(v, a[0], b + 1);
  add(v, b[0], a + 1);
  out[0] = a[0] * b[0] - dot(a + 1, b + 1);
  memcpy(out + 1, v, sizeof v);
}

/* Normalizes to length 1; NaN for length 0. Squares of very long or short quaternions overflow or
 * underflow, so the numbers are divided by the largest first. */
static void normalise(double q[4])
{
  const double most = largest(q, 4);
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) {
    q[i] /= most;
    sum += q[i] * q[i];
  }
  for (int i = 0; i < 4; ++i) {
    q[i] /= sqrt(sum);
  }
}

void rigid_turn(const rigid *x, const double v[3], double out[3])
{
  double once[3], twice[3], sum[3] = {v[0], v[1], v[2]};
  cross(x->q + 1, v, once);
  cross(x->q + 1, once, twice);
  add(sum, 2.0 * x->q[0], once);
  add(sum, 2.0, twice);
  memcpy(out, sum, sizeof sum);
}

void rigid_turn_back(const rigid *x, const double v[3], double out[3])
{
  const rigid back = {.q = {x->q[0], -x->q[1], -x->q[2], -x->q[3]}};
  rigid_turn(&back, v, out);
}

/* ---- motions ---- */

static rigid exp_by(const double twist[6], const turn_coefficients *k)
{
  const double *omega = twist + 3;
  const double half = 0.5 * sqrt(dot(omega, omega));
  const double sine = half > 0.0 ? 0.5 * sin(half) / half : 0.5;
  rigid x = {.q = {cos(half), sine * omega[0], sine * omega[1], sine * omega[2]}};
  mean_turn(omega, k, twist, x.t);
  limit(x.t, LENGTH_MOST);
  return x;
}

static void limit_twist(double twist[6])
{
  limit(twist, LENGTH_MOST);
  limit(twist + 3, ANGLE_MOST);
}

/* Returns the sign for which a quaternion has an angle of at most pi. */
static double short_way(const double q[4])
{
  for (int i = 0; i < 4; ++i) {
    if (q[i] < 0.0 || q[i] > 0.0) {
      return q[i] < 0.0 ? -1.0 : 1.0;
    }
  }
  return 1.0;
}

void rigid_log(const rigid *x, double twist[6])
{
  const double sign = short_way(x->q), w = sign * x->q[0];
  const double *v = x->q + 1, most = largest(v, 3);
  double sine = 0.0; /* |v|, also if its squares underflow */
  for (int i = 0; most > 0.0 && i < 3; ++i) {
    sine += (v[i] / most) * (v[i] / most);
  }
  sine = most * sqrt(sine);
  /* For sine = 0 the quotient is 2 / w, w = 1. NaN is propagated through x. */
  const double angle = sine > 0.0 ? 2.0 * atan2(sine, w) / sine : 2.0;
  double omega[3];
  for (int i = 0; i < 3; ++i) {
    omega[i] = sign * angle * v[i];
  }
  const turn_coefficients k = coefficients_of(omega);
  mean_turn_back(omega, &k, false, x->t, twist);
  memcpy(twist + 3, omega, sizeof omega);
}

rigid rigid_product(const rigid *left, const rigid *right)
{
  rigid x;
  rigid_turn(left, right->t, x.t);
  add(x.t, 1.0, left->t);
  quaternion_product(left->q, right->q, x.q);
  normalise(x.q);
  return x;
}

rigid rigid_inverse(const rigid *x)
{
  rigid back = {.q = {x->q[0], -x->q[1], -x->q[2], -x->q[3]}};
  const double t[3] = {-x->t[0], -x->t[1], -x->t[2]};
  rigid_turn(&back, t, back.t);
  return back;
}

/* ---- numbers ---- */

static bool is_pose(abut_pose_kind kind, const double *numbers)
{
  const int width = kind == ABUT_POSE_TWIST ? 6 : 7;
  for (int i = 0; i < width; ++i) {
    if (!isfinite(numbers[i])) {
      return false;
    }
  }
  return kind == ABUT_POSE_TWIST || largest(numbers + 3, 4) > 0.0;
}

chart chart_at(abut_pose_kind kind, const double *numbers)
{
  chart c = {.kind = kind};
  memcpy(c.numbers, numbers, (kind == ABUT_POSE_TWIST ? 6 : 7) * sizeof *numbers);
  if (!is_pose(kind, numbers)) {
    for (int i = 0; i < 7; ++i) {
      c.numbers[i] = NAN;
    }
  }
  if (kind == ABUT_POSE_TWIST) {
    limit_twist(c.numbers);
    c.k = coefficients_of(c.numbers + 3);
    c.x = exp_by(c.numbers, &c.k);
  } else {
    limit(c.numbers, LENGTH_MOST);
    memcpy(c.x.t, c.numbers, sizeof c.x.t);
    memcpy(c.x.q, c.numbers + 3, sizeof c.x.q);
    normalise(c.x.q);
  }
  return c;
}

void rigid_numbers(const rigid *x, abut_pose_kind kind, double *numbers)
{
  if (kind == ABUT_POSE_TWIST) {
    rigid_log(x, numbers);
  } else {
    memcpy(numbers, x->t, sizeof x->t);
    memcpy(numbers + 3, x->q, sizeof x->q);
  }
}

/* ---- gradients ---- */

/* Gradient with respect to omega of away . J(omega) rho. */
static void mean_turn_gradient(const chart *c, const double away[3], double out[3])
{
  const double *rho = c->numbers, *omega = c->numbers + 3;
  const double by_rho = dot(omega, rho), by_away = dot(omega, away), both = dot(rho, away);
  double across[3];
  cross(rho, away, across);
  const double first = dot(omega, across);
  const double second = by_rho * by_away - dot(omega, omega) * both;
  const double along = c->k.b_slope * first + c->k.c_slope * second - 2.0 * c->k.c * both;
  for (int i = 0; i < 3; ++i) {
    out[i] = c->k.b * across[i] + c->k.c * (by_away * rho[i] + by_rho * away[i]) + along * omega[i];
  }
}

/* The gradient with respect to rho is J' away, away = R force. The one with respect to omega is J
 * moment plus that of away . J(omega) rho. */
static void twist_wrench(const chart *c, const double gradient[6], double wrench[6])
{
  const double *omega = c->numbers + 3;
  double away[3], rest[3];
  mean_turn_back(omega, &c->k, true, gradient, away);
  mean_turn_gradient(c, away, rest);
  for (int i = 0; i < 3; ++i) {
    rest[i] = gradient[3 + i] - rest[i];
  }
  mean_turn_back(omega, &c->k, false, rest, wrench + 3);
  rigid_turn_back(&c->x, away, wrench);
}

static void twist_gradient(const chart *c, const double wrench[6], double gradient[6])
{
  const double *omega = c->numbers + 3;
  double away[3], rest[3], turned[3];
  rigid_turn(&c->x, wrench, away);
  mean_turn_gradient(c, away, rest);
  mean_turn(omega, &c->k, wrench + 3, turned);
  mean_turn(omega, &c->k, wrench, gradient); /* J' R = J */
  for (int i = 0; i < 3; ++i) {
    gradient[3 + i] = turned[i] + rest[i];
  }
}

/* A step preserves the quaternion's length: q (1, theta / 2). */
static void quaternion_wrench(const chart *c, const double gradient[7], double wrench[6])
{
  const double *q = c->numbers + 3, back[4] = {q[0], -q[1], -q[2], -q[3]};
  double product[4];
  rigid_turn_back(&c->x, gradient, wrench);
  quaternion_product(back, gradient + 3, product);
  for (int i = 0; i < 3; ++i) {
    wrench[3 + i] = 0.5 * product[1 + i];
  }
}

/* 2 q (0, moment) / |q|^2, with q divided by its largest number. */
static void quaternion_gradient(const chart *c, const double wrench[6], double gradient[7])
{
  const double moment[4] = {0.0, wrench[3], wrench[4], wrench[5]};
  const double *q = c->numbers + 3, most = largest(q, 4);
  double ratio2 = 0.0, product[4];
  for (int i = 0; i < 4; ++i) {
    ratio2 += (q[i] / most) * (q[i] / most);
  }
  quaternion_product(c->x.q, moment, product);
  rigid_turn(&c->x, wrench, gradient);
  for (int i = 0; i < 4; ++i) {
    gradient[3 + i] = 2.0 * product[i] / sqrt(ratio2) / most;
  }
}

void chart_wrench(const chart *c, const double *gradient, double wrench[6])
{
  if (c->kind == ABUT_POSE_TWIST) {
    twist_wrench(c, gradient, wrench);
  } else {
    quaternion_wrench(c, gradient, wrench);
  }
}

void chart_gradient(const chart *c, const double wrench[6], double *gradient)
{
  if (c->kind == ABUT_POSE_TWIST) {
    twist_gradient(c, wrench, gradient);
  } else {
    quaternion_gradient(c, wrench, gradient);
  }
}
