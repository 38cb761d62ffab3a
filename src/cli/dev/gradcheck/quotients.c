#include "dev/gradcheck/quotients.h"

#include <float.h>
#include <math.h>

/* Largest difference of extrapolations on a smooth function, relative to the scale. */
#define SETTLED 2e-6
/* A parameter's derivatives are judged relative to at least this share of the pose's largest one.
 * With EXACT_LIMIT that is 1e-12 of it, some thousand roundings. */
#define LEAST_SHARE 1e-4
/* Accepted rounding error of a function's value, in units of its last place. */
#define ROUNDINGS 100
/* Largest share of entries at kinks. */
#define ROUGH_MOST 0.2
/* Errors of quotients below this, relative to the scale, may be rounding. */
#define SLOPED 1e-7

static double quotient(const quotients *q, int step)
{
  return (q->high[step] - q->low[step]) / q->span[step];
}

double rounding_scale(const quotients *q)
{
  return ROUNDINGS * DBL_EPSILON * fabs(q->middle) / (q->span[STEPS - 1] * DIFFERENCE_LIMIT);
}

double parameter_scale(double largest, double largest_of_pose)
{
  return fmax(largest, LEAST_SHARE * largest_of_pose);
}

/* Returns the difference of both one-sided slopes, extrapolated to step 0. */
static double jump(const quotients *q)
{
  double bend[STEPS];
  for (int i = 0; i < STEPS; ++i) {
    bend[i] = 2.0 * (q->high[i] - 2.0 * q->middle + q->low[i]) / q->span[i];
  }
  return 2.0 * bend[2] - bend[1];
}

entry entry_start(void)
{
  return (entry){.error = NAN};
}

bool entry_agrees(const entry *e)
{
  return e->error <= DIFFERENCE_LIMIT;
}

/* Relative to the scale; NaN counts as infinite. */
static double relative(double difference, double scale)
{
  const double error = difference == 0.0 ? 0.0 : difference / scale;
  return isnan(error) ? INFINITY : error;
}

static bool is_quarter(double error, double of)
{
  return of > 3.0 * error && of < 5.0 * error;
}

bool entry_try(entry *e, const quotients *q, double derivative, double scale)
{
  double error[STEPS];
  const double coarse = (4.0 * quotient(q, 1) - quotient(q, 0)) / 3.0;
  const double fine = (4.0 * quotient(q, 2) - quotient(q, 1)) / 3.0;
  if (!(fabs(fine - coarse) <= SETTLED * scale && fabs(jump(q)) <= SETTLED * scale)) {
    return false;
  }
  for (int i = 0; i < STEPS; ++i) {
    error[i] = fabs(quotient(q, i) - derivative);
  }
  e->error = relative(fabs(fine - derivative), scale);
  e->sloped = error[2] > SLOPED * scale;
  e->second_order = is_quarter(error[1], error[0]) && is_quarter(error[2], error[1]);
  return entry_agrees(e);
}

static void take_worst(tally *t, double error, place at)
{
  if (error > t->worst) {
    t->worst = error;
    t->at = at;
  }
}

void tally_entry(tally *t, const entry *e, place at)
{
  ++t->entries;
  t->rough += isnan(e->error);
  t->sloped += e->sloped;
  t->second_order += e->sloped && e->second_order;
  take_worst(t, e->error, at);
}

void tally_exact(tally *t, double derivative, double other, double scale, place at)
{
  ++t->entries;
  take_worst(t, relative(fabs(derivative - other), scale), at);
}

verdict judge(const tally *t, double limit)
{
  if (t->worst > limit) {
    return VERDICT_PARTS;
  }
  return (double)t->rough > ROUGH_MOST * (double)t->entries ? VERDICT_ROUGH : VERDICT_OK;
}
