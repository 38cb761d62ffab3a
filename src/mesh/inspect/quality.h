/* How even triangles are. */
#ifndef ABUT_INSPECT_QUALITY_H
#define ABUT_INSPECT_QUALITY_H

#include "math/vector.h"
#include <math.h>

/* Returns twice the ratio of the inscribed to the circumscribed circle's radius: 1 for equal sides,
 * 0 without area. */
static inline double triangle_quality(const double a[3], const double b[3], const double c[3])
{
  double u[3], v[3], w[3], n[3];
  difference(b, a, u);
  difference(c, b, v);
  difference(a, c, w);
  cross(u, v, n);
  const double x = sqrt(dot(u, u)), y = sqrt(dot(v, v)), z = sqrt(dot(w, w));
  const double product = x * y * z * (x + y + z);
  return product > 0.0 ? 4.0 * dot(n, n) / product : 0.0;
}

#endif
