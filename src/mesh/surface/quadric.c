#include "mesh/surface/quadric.h"

#include <math.h>

#define PIVOT 1e-9 /* smallest allowed pivot relative to the largest possible */

void quadric_plane(quadric *q, const double n[3], const double p[3], double weight)
{
  const double d = -(n[0] * p[0] + n[1] * p[1] + n[2] * p[2]);
  q->xx += weight * n[0] * n[0];
  q->xy += weight * n[0] * n[1];
  q->xz += weight * n[0] * n[2];
  q->yy += weight * n[1] * n[1];
  q->yz += weight * n[1] * n[2];
  q->zz += weight * n[2] * n[2];
  q->x += weight * d * n[0];
  q->y += weight * d * n[1];
  q->z += weight * d * n[2];
  q->c += weight * d * d;
}

void quadric_point(quadric *q, const double p[3], double weight)
{
  q->xx += weight;
  q->yy += weight;
  q->zz += weight;
  q->x -= weight * p[0];
  q->y -= weight * p[1];
  q->z -= weight * p[2];
  q->c += weight * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

quadric quadric_sum(const quadric *a, const quadric *b)
{
  return (quadric){a->xx + b->xx, a->xy + b->xy, a->xz + b->xz, a->yy + b->yy, a->yz + b->yz,
                   a->zz + b->zz, a->x + b->x,   a->y + b->y,   a->z + b->z,   a->c + b->c};
}

double quadric_value(const quadric *q, const double p[3])
{
  const double x = p[0], y = p[1], z = p[2];
  return x * (q->xx * x + 2.0 * (q->xy * y + q->xz * z + q->x)) +
         y * (q->yy * y + 2.0 * (q->yz * z + q->y)) + z * (q->zz * z + 2.0 * q->z) + q->c;
}

/* Solves with the factorisation L D L'. */
bool quadric_least(const quadric *q, double x[3])
{
  const double least = PIVOT * (q->xx + q->yy + q->zz);
  if (!(q->xx > least)) {
    return false;
  }
  const double xy = q->xy / q->xx, xz = q->xz / q->xx;
  const double yy = q->yy - xy * q->xy, yz = q->yz - xy * q->xz;
  if (!(yy > least)) {
    return false;
  }
  const double l = yz / yy, zz = q->zz - xz * q->xz - l * yz;
  if (!(zz > least)) {
    return false;
  }
  const double y = -q->y + xy * q->x, z = -q->z + xz * q->x - l * y;
  x[2] = z / zz;
  x[1] = y / yy - l * x[2];
  x[0] = -q->x / q->xx - xy * x[1] - xz * x[2];
  return true;
}
