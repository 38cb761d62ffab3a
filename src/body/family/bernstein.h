/* Bernstein coefficients of cubics between two knots of a B-spline. Their basis functions are
 * nonnegative and sum to 1, so a cubic is between its least and largest coefficient. */
#ifndef ABUT_FAMILY_BERNSTEIN_H
#define ABUT_FAMILY_BERNSTEIN_H

#include <stddef.h>

/* Computes the Bernstein coefficients on [0, 1] from four B-spline coefficients, a stride apart: of
 * the cubic, or of its derivative with the degree raised to 3. out: with the same stride; must
 * differ from c. */
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
