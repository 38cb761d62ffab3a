/* Three-vectors in double for pictures. */
#ifndef ABUT_RENDER_VECTOR_H
#define ABUT_RENDER_VECTOR_H

#include <math.h>

typedef struct v3 {
  double x, y, z;
} v3;

/* A rotation, row by row, and a translation: body -> world. */
typedef struct v3_frame {
  double m[9];
  v3 t;
} v3_frame;

static inline v3 v3_add(v3 a, v3 b)
{
  return (v3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline v3 v3_sub(v3 a, v3 b)
{
  return (v3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline v3 v3_scale(v3 a, double s)
{
  return (v3){a.x * s, a.y * s, a.z * s};
}

/* a + b s */
static inline v3 v3_along(v3 a, v3 b, double s)
{
  return (v3){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}

static inline double v3_dot(v3 a, v3 b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline v3 v3_cross(v3 a, v3 b)
{
  return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* A zero vector remains zero. */
static inline v3 v3_unit(v3 a)
{
  const double length = sqrt(v3_dot(a, a));
  return length > 0.0 ? v3_scale(a, 1.0 / length) : a;
}

static inline v3 v3_mix(v3 a, v3 b, double share)
{
  return v3_along(v3_scale(a, 1.0 - share), b, share);
}

static inline v3 v3_min(v3 a, v3 b)
{
  return (v3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static inline v3 v3_max(v3 a, v3 b)
{
  return (v3){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

static inline v3 v3_rotate(const v3_frame *f, v3 a)
{
  const double *m = f->m;
  return (v3){m[0] * a.x + m[1] * a.y + m[2] * a.z, m[3] * a.x + m[4] * a.y + m[5] * a.z,
              m[6] * a.x + m[7] * a.y + m[8] * a.z};
}

static inline v3 v3_rotate_back(const v3_frame *f, v3 a)
{
  const double *m = f->m;
  return (v3){m[0] * a.x + m[3] * a.y + m[6] * a.z, m[1] * a.x + m[4] * a.y + m[7] * a.z,
              m[2] * a.x + m[5] * a.y + m[8] * a.z};
}

static inline v3 v3_apply(const v3_frame *f, v3 a)
{
  return v3_add(v3_rotate(f, a), f->t);
}

static inline v3 v3_apply_back(const v3_frame *f, v3 a)
{
  return v3_rotate_back(f, v3_sub(a, f->t));
}

#endif
