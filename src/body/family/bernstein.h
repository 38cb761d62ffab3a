/* Cubics between two of a B-spline's knots by Bernstein coefficients, whose weights are not
 * negative and have the sum 1: a cubic lies between the least and the largest of them. */
#ifndef ABUT_FAMILY_BERNSTEIN_H
#define ABUT_FAMILY_BERNSTEIN_H

#include <stddef.h>

/* Bernstein coefficients of a cubic in [0, 1], or of its derivative raised to a cubic, from four of
 * B-splines, a stride apart. out: likewise; it may not be c. */
static inline void bernstein(const double *c, size_t stride, double *out)
{
  const double p = c[0], q = c[stride], r = c[2 * stride], s = c[3 * stride];
  out[0] = (p + 4.0 * q + r) / 6.0;
  out[stride] = (2.0 * q + r) / 3.0;
  out[2 * stride] = (q + 2.0 * r) / 3.0;
  out[3 * stride] = (q + 4.0 * r + s) / 6.0;
}

static inline void bernstein_slope(const double *c, size_t stride, double *out)
{
  const double p = c[stride] - c[0], q = c[2 * stride] - c[stride];
  const double r = c[3 * stride] - c[2 * stride];
  out[0] = (p + q) / 2.0;
  out[stride] = (p + 5.0 * q) / 6.0;
  out[2 * stride] = (5.0 * q + r) / 6.0;
  out[3 * stride] = (q + r) / 2.0;
}

#endif
