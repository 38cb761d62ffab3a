/* How far the field of a cloud of faces lies off them: coarse meshes' planes reach into each other. */
#include "world/cloud_gap.h"

#include <math.h>

#define FACES_MOST 512 /* looked at, evenly among all */

/* In double, and for a few points alone: plain sums. */
static double field_at(const abut_cloud *c, const double x[3])
{
  double top = -HUGE_VAL, sum = 0.0, all = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < c->count; ++i) {
      const double *p = c->points + 3 * i, *n = c->normals + 3 * i;
      const double r[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
      const double l = c->log_weights[i] - (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / c->eps1[i];
      const double w = pass ? exp(l - top) : 0.0;
      top = pass ? top : fmax(top, l);
      sum += w;
      all += w * (r[0] * n[0] + r[1] * n[1] + r[2] * n[2]);
    }
  }
  return all / sum;
}

double cloud_gap(const abut_cloud *c)
{
  const size_t every = c->count / FACES_MOST + 1;
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
  for (size_t i = 0; i < c->count; corner += c->face_sizes[i++]) {
    for (uint32_t k = 0; i % every == 0 && k < c->face_sizes[i]; ++k) {
      const double *v = c->vertices + 3 * (size_t)corner[k], *p = c->points + 3 * i;
      const double middle[3] = {0.5 * (v[0] + p[0]), 0.5 * (v[1] + p[1]), 0.5 * (v[2] + p[2])};
      worst = fmax(worst, fabs(field_at(c, middle)));
    }
  }
  return worst / hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
}
