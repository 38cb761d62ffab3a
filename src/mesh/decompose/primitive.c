#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <math.h>

#define SOFT 1e-7 /* added to variances so that no axis vanishes */

static double within(double x, double low, double high)
{
  return fmin(fmax(x, low), high);
}

/* Sets r to the rotation by a rotation vector. */
static void turn_by(const double w[3], double r[9])
{
  const double angle = sqrt(dot(w, w));
  const double a = angle > 1e-9 ? sin(angle) / angle : 1.0;
  const double b = angle > 1e-9 ? (1.0 - cos(angle)) / (angle * angle) : 0.5;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double square = w[i] * w[j] - (i == j ? angle * angle : 0.0);
      const int k = 3 - i - j;
      const double skew = i == j ? 0.0 : (j == (i + 1) % 3 ? -w[k] : w[k]);
      r[3 * i + j] = (i == j) + a * skew + b * square;
    }
  }
}

primitive primitive_moved(const primitive *p, const double step[PARAMETERS])
{
  primitive out = *p;
  double by[9];
  if (p->parts) {
    part_move(&out, step);
    return out;
  }
  for (int k = 0; k < 3; ++k) {
    out.axes[k] = within(p->axes[k] * exp(within(step[k], -0.5, 0.5)), AXIS_LOW, AXIS_HIGH);
    for (int j = 0; j < 3; ++j) {
      out.centre[k] += p->turn[3 * k + j] * step[5 + j];
    }
  }
  for (int k = 0; k < 2; ++k) {
    out.exponents[k] =
      within(p->exponents[k] + within(step[3 + k], -0.4, 0.4), EXPONENT_LOW, EXPONENT_HIGH);
  }
  turn_by(step + 8, by);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out.turn[3 * i + j] =
        p->turn[3 * i] * by[j] + p->turn[3 * i + 1] * by[3 + j] + p->turn[3 * i + 2] * by[6 + j];
    }
  }
  return out;
}

static double beta(double a, double b)
{
  return exp(lgamma(a) + lgamma(b) - lgamma(a + b));
}

double primitive_volume(const primitive *p)
{
  const double e1 = p->exponents[0], e2 = p->exponents[1];
  return 2.0 * p->axes[0] * p->axes[1] * p->axes[2] * e1 * e2 * beta(0.5 * e1 + 1.0, e1) *
         beta(0.5 * e2, 0.5 * e2);
}

bool primitive_near(const primitive *p, const double x[3], double scale, double widened)
{
  const double d[3] = {x[0] - p->centre[0], x[1] - p->centre[1], x[2] - p->centre[2]};
  for (int k = 0; k < 3; ++k) {
    const double y = p->turn[k] * d[0] + p->turn[3 + k] * d[1] + p->turn[6 + k] * d[2];
    if (!(fabs(y) < scale * p->axes[k] + widened)) {
      return false;
    }
  }
  return true;
}

/* Takes the largest of w, x, y, z from the diagonal, and the others from off-diagonal entries
 * (Shepperd 1978). */
void primitive_quaternion(const primitive *p, double q[4])
{
  const double *m = p->turn;
  const double square[4] = {1.0 + m[0] + m[4] + m[8], 1.0 + m[0] - m[4] - m[8],
                            1.0 - m[0] + m[4] - m[8], 1.0 - m[0] - m[4] + m[8]};
  const double sum[4][4] = {{0.0, m[7] - m[5], m[2] - m[6], m[3] - m[1]},
                            {m[7] - m[5], 0.0, m[1] + m[3], m[2] + m[6]},
                            {m[2] - m[6], m[1] + m[3], 0.0, m[5] + m[7]},
                            {m[3] - m[1], m[2] + m[6], m[5] + m[7], 0.0}};
  int most = 0;
  for (int i = 1; i < 4; ++i) {
    most = square[i] > square[most] ? i : most;
  }
  const double root = sqrt(square[most]);
  for (int i = 0; i < 4; ++i) {
    q[i] = i == most ? 0.5 * root : 0.5 * sum[most][i] / root;
  }
}

double primitive_beyond(const primitive *p, const double u[3])
{
  const double e1 = p->exponents[0], e2 = p->exponents[1];
  double l[3];
  for (int k = 0; k < 3; ++k) {
    l[k] = log(u[k] * u[k] + 1e-12);
  }
  const double across = fmax(l[0], l[1]) + e2 * log1p(exp(-fabs(l[0] - l[1]) / e2));
  const double all = fmax(across, l[2]) + e1 * log1p(exp(-fabs(across - l[2]) / e1));
  return exp(0.5 * all);
}

double primitive_field(const primitive *p, const double x[3])
{
  const double d[3] = {x[0] - p->centre[0], x[1] - p->centre[1], x[2] - p->centre[2]};
  double u[3], square = 1e-12 * dot(p->axes, p->axes);
  for (int k = 0; k < 3; ++k) {
    const double y = p->turn[k] * d[0] + p->turn[3 + k] * d[1] + p->turn[6 + k] * d[2];
    u[k] = y / p->axes[k];
    square += y * y;
  }
  return sqrt(square) * (1.0 - 1.0 / primitive_beyond(p, u));
}

/* ---- moments ---- */

moments primitive_moments(const primitive *p)
{
  moments m = {.weight = primitive_volume(p)};
  for (int i = 0; i < 3; ++i) {
    m.mean[i] = p->centre[i];
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        m.covariance[3 * i + j] +=
          p->turn[3 * i + k] * p->turn[3 * j + k] * p->axes[k] * p->axes[k] / 5.0;
      }
    }
  }
  return m;
}

moments moments_joined(const moments *a, const moments *b)
{
  moments m = {.weight = a->weight + b->weight};
  const double share = b->weight / m.weight;
  for (int i = 0; i < 3; ++i) {
    m.mean[i] = a->mean[i] + share * (b->mean[i] - a->mean[i]);
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      m.covariance[3 * i + j] =
        a->covariance[3 * i + j] + share * (b->covariance[3 * i + j] - a->covariance[3 * i + j]) +
        share * (1.0 - share) * (b->mean[i] - a->mean[i]) * (b->mean[j] - a->mean[j]);
    }
  }
  return m;
}

/* Diagonalises a symmetric matrix by Jacobi rotations. The columns of v are its axes. */
static void diagonalise(double m[9], double v[9])
{
  for (int i = 0; i < 9; ++i) {
    v[i] = i % 4 == 0;
  }
  for (int sweep = 0; sweep < 32; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        const double off = m[3 * p + q];
        if (off == 0.0) {
          continue;
        }
        const double half = (m[4 * q] - m[4 * p]) / (2.0 * off);
        const double t = (half >= 0.0 ? 1.0 : -1.0) / (fabs(half) + sqrt(half * half + 1.0));
        const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const double a = m[3 * k + p], b = m[3 * k + q];
          m[3 * k + p] = c * a - s * b;
          m[3 * k + q] = s * a + c * b;
        }
        for (int k = 0; k < 3; ++k) {
          const double a = m[3 * p + k], b = m[3 * q + k], e = v[3 * k + p], f = v[3 * k + q];
          m[3 * p + k] = c * a - s * b;
          m[3 * q + k] = s * a + c * b;
          v[3 * k + p] = c * e - s * f;
          v[3 * k + q] = s * e + c * f;
        }
        m[3 * p + q] = m[3 * q + p] = 0.0;
      }
    }
  }
}

primitive primitive_of_moments(const moments *from)
{
  primitive p = {.exponents = {1.0, 1.0}};
  double m[9];
  for (int i = 0; i < 9; ++i) {
    m[i] = from->covariance[i] + (i % 4 == 0 ? SOFT : 0.0);
  }
  diagonalise(m, p.turn);
  /* The third axis is the cross product of the others, so that the frame is right-handed. */
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    p.turn[3 * k + 2] = p.turn[3 * i] * p.turn[3 * j + 1] - p.turn[3 * j] * p.turn[3 * i + 1];
    p.axes[k] = within(sqrt(5.0 * fmax(m[4 * k], 0.0)), AXIS_LOW, AXIS_HIGH);
    p.centre[k] = from->mean[k];
  }
  return p;
}
