/* Operations on three-vectors, which are arrays. */
#ifndef ABUT_MATH_VECTOR_H
#define ABUT_MATH_VECTOR_H

#include <math.h>

static inline double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double length(const double a[3])
{
  return sqrt(dot(a, a));
}

/* An output may be an input. */
static inline void cross(const double a[3], const double b[3], double out[3])
{
  const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
}

/* a - b */
static inline void difference(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[k] - b[k];
  }
}

/* Returns a unit vector perpendicular to n, which may have any length; zeros if n is 0. */
static inline void unit_across(const double n[3], double out[3])
{
  int least = 0;
  double axis[3] = {0.0, 0.0, 0.0};
  for (int k = 1; k < 3; ++k) {
    least = fabs(n[k]) < fabs(n[least]) ? k : least;
  }
  axis[least] = 1.0;
  cross(n, axis, out);
  const double length = sqrt(dot(out, out));
  for (int k = 0; k < 3 && length > 0.0; ++k) {
    out[k] /= length;
  }
}

/* Computes twice the area vector of a triangle from its three consecutive corners. */
static inline void corners_area(const double *c, double out[3])
{
  double u[3], v[3];
  difference(c + 3, c, u);
  difference(c + 6, c, v);
  cross(u, v, out);
}

#endif
