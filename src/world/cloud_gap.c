/* How far the field of a cloud of faces is off: coarse meshes' planes reach into each other, and into
 * hollows, where a rim's plane closes an opening as a lid does. */
#include "world/cloud_gap.h"

#include <math.h>

#define FACES_MOST 512 /* looked at, evenly among all */
#define RAYS_MOST 128  /* which leave these, */
#define STEPS 8        /* in so many parts */
#define FAINT 50.0     /* an exponent below which a weight does not count */

/* In double, and for a few points alone: plain sums. */
static double field_at(const abut_cloud *c, const double x[3])
{
  double top = -HUGE_VAL, sum = 0.0, all = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < c->count; ++i) {
      const double *p = c->points + 3 * i, *n = c->normals + 3 * i;
      const double r[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
      const double l = c->log_weights[i] - (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / c->eps1[i];
      const double w = pass && l > top - FAINT ? exp(l - top) : 0.0;
      top = pass ? top : fmax(top, l);
      sum += w;
      all += w * (r[0] * n[0] + r[1] * n[1] + r[2] * n[2]);
    }
  }
  return all / sum;
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

/* How far along n from x a triangle is met (Moeller and Trumbore 1997), HUGE_VAL if it is not, or behind. */
static double meets(const double x[3], const double n[3], const double *a, const double *b, const double *c)
{
  const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  const double r[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
  double p[3], q[3];
  cross(n, v, p);
  cross(r, u, q);
  const double det = dot(u, p);
  if (det == 0.0) {
    return HUGE_VAL;
  }
  const double s = dot(r, p) / det, t = dot(n, q) / det, far = dot(v, q) / det;
  return s >= 0.0 && t >= 0.0 && s + t <= 1.0 && far > 0.0 ? far : HUGE_VAL;
}

/* How far one gets from face i's point along its normal before the next face, at most `most`. */
static double free_way(const abut_cloud *c, size_t i, double most)
{
  const uint32_t *corner = c->face_indices;
  const double *x = c->points + 3 * i, *n = c->normals + 3 * i;
  for (size_t f = 0; f < c->count; corner += c->face_sizes[f++]) {
    for (uint32_t k = 2; f != i && k < c->face_sizes[f]; ++k) {
      most = fmin(most, meets(x, n, c->vertices + 3 * (size_t)corner[0], c->vertices + 3 * (size_t)corner[k - 1],
                              c->vertices + 3 * (size_t)corner[k]));
    }
  }
  return most;
}

/* How deep inside the field says that the way out from face i lies, which is outside. */
static double lid(const abut_cloud *c, size_t i, double diagonal)
{
  const double way = free_way(c, i, diagonal), *p = c->points + 3 * i, *n = c->normals + 3 * i;
  double deepest = 0.0;
  for (int k = 1; k < STEPS; ++k) {
    const double t = way * k / STEPS, x[3] = {p[0] + t * n[0], p[1] + t * n[1], p[2] + t * n[2]};
    deepest = fmax(deepest, -field_at(c, x));
  }
  return deepest;
}

double cloud_gap(const abut_cloud *c)
{
  const size_t every = c->count / FACES_MOST + 1, ray = c->count / RAYS_MOST + 1;
  const uint32_t *corner = c->face_indices;
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  double worst = 0.0;
  if (!c->vertices || c->kernels) {
    return 0.0;
  }
  for (size_t i = 0; i < 3 * c->vertex_count; ++i) {
    low[i % 3] = fmin(low[i % 3], c->vertices[i]);
    high[i % 3] = fmax(high[i % 3], c->vertices[i]);
  }
  const double diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  for (size_t i = 0; i < c->count; corner += c->face_sizes[i++]) {
    for (uint32_t k = 0; i % every == 0 && k < c->face_sizes[i]; ++k) {
      const double *v = c->vertices + 3 * (size_t)corner[k], *p = c->points + 3 * i;
      const double middle[3] = {0.5 * (v[0] + p[0]), 0.5 * (v[1] + p[1]), 0.5 * (v[2] + p[2])};
      worst = fmax(worst, fabs(field_at(c, middle)));
    }
    worst = i % ray == 0 ? fmax(worst, lid(c, i, diagonal)) : worst;
  }
  return worst / diagonal;
}
