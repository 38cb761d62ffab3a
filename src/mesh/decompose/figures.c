/* Reported values of a set of primitives, from samples. */
#include "mesh/decompose/decompose.h"

#include "base/error.h"
#include "mesh/surface/depths.h"
#include "math/vector.h"
#include <math.h>

#define SIDE 32 /* points along each axis of a primitive */

/* ---- outside the samples ---- */

static bool is_beyond(const double x[3], const double lower[3], const double upper[3])
{
  for (int k = 0; k < 3; ++k) {
    if (x[k] < lower[k] || x[k] > upper[k]) {
      return true;
    }
  }
  return false;
}

static bool is_within(const primitive *p, const double x[3])
{
  if (p->parts) {
    return !p->part && polyhedron_beyond(p, x) <= 0.0; /* edges are rounded inwards */
  }
  return primitive_near(p, x, 1.0, 0.0) && primitive_field(p, x) <= 0.0;
}

static bool is_in_earlier(const primitives *p, size_t l, const double x[3])
{
  for (size_t i = 0; i < l; ++i) {
    if (is_within(&p->at[i], x) && !p->at[i].away) {
      return true;
    }
  }
  return false;
}

static bool is_taken_away(const primitives *p, const double x[3])
{
  for (size_t i = 0; i < p->count; ++i) {
    if (p->at[i].away && is_within(&p->at[i], x)) {
      return true;
    }
  }
  return false;
}

/* Volume of primitive l outside the box, without earlier primitives and subtracted ones. */
static double beyond_of(const primitives *p, size_t l, const double lower[3], const double upper[3])
{
  const primitive *q = &p->at[l];
  size_t count = 0;
  for (size_t i = 0; i < (size_t)SIDE * SIDE * SIDE; ++i) {
    const size_t at[3] = {i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE};
    double y[3], x[3];
    for (int k = 0; k < 3; ++k) {
      y[k] = q->axes[k] * (((double)at[k] + 0.5) * (2.0 / SIDE) - 1.0);
    }
    for (int k = 0; k < 3; ++k) {
      x[k] = q->centre[k] + dot(q->turn + 3 * k, y);
    }
    count += is_beyond(x, lower, upper) && primitive_field(q, x) <= 0.0 &&
             !is_in_earlier(p, l, x) && !is_taken_away(p, x);
  }
  const double cell = 8.0 * q->axes[0] * q->axes[1] * q->axes[2] / ((double)SIDE * SIDE * SIDE);
  return cell * (double)count;
}

double volume_beyond(const primitives *p, const double lower[3], const double upper[3])
{
  double sum = 0.0;
  for (size_t l = 0; l < p->count; ++l) {
    const primitive *q = &p->at[l];
    const double reach = sqrt(dot(q->axes, q->axes));
    bool may_be = false;
    if (q->away || q->parts) {
      continue; /* added polyhedra are inside the box of the samples (stages_convert) */
    }
    for (int k = 0; k < 3; ++k) {
      may_be = may_be || q->centre[k] - reach < lower[k] || q->centre[k] + reach > upper[k];
    }
    sum += may_be ? beyond_of(p, l, lower, upper) : 0.0;
  }
  return sum;
}

/* ---- depths ---- */

static abut_status report_depths(decomposition *d)
{
  depths all = {0};
  abut_status status = ABUT_SUCCESS;
  for (size_t i = 0; i < d->fine.count; ++i) {
    TRY_DONE(depths_add(&all, d->fine.x + 3 * i, reals_get(&d->fit.numbers, i), d->fine.distance[i],
                        DEPTH_LEAST, d->fine.volume[i]));
  }
  const depth_ratios r = depths_measure(&all);
  d->report->depth_ratio_median = r.median;
  d->report->depth_ratio_95 = r.of_95;
  d->report->depth_ratio_most = r.most;
  memcpy(d->report->depth_ratio_most_at, r.most_at, sizeof r.most_at);
done:
  depths_free(&all);
  return status;
}

abut_status report_samples(decomposition *d, const primitives *found)
{
  abut_decompose_report *r = d->report;
  double lower[3], upper[3];
  const fit_volumes v = fit_volumes_of(&d->fit, &d->fine);
  samples_box(d->of, lower, upper);
  r->objective = fit_loss(&d->fit, &d->fine);
  const double beyond = volume_beyond(found, lower, upper);
  r->iou = v.both / (v.either + beyond);
  r->coverage = v.both / v.mesh;
  r->precision = v.of_union + beyond > 0.0 ? v.both / (v.of_union + beyond) : 0.0;
  r->evaluations = d->fit.evaluations;
  return report_depths(d);
}
