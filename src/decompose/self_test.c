/* The self-test of decompositions: the objective of three primitives that meet, its derivatives by all
 * parameters, and what it costs to remove each, against the formulas in double; once all add, once one is
 * taken away. */
#include "base/error.h"
#include "decompose/decompose.h"
#include "self_test/runner.h"
#include <math.h>

#define PARTS 3
#define SAMPLES (3 * DECOMPOSE_BLOCK - 17)
#define WIDTH 0.03
#define TAU 0.008
#define STEP 1e-5

/* Exponents are at most 1: above it differences see little of where a second derivative has no end. */
static const primitive all_add[PARTS] = {
  {{0.2, 0.1, 0.15}, {0.3, 0.8}, {0.05, 0.0, 0.0}, {0.8, -0.6, 0.0, 0.6, 0.8, 0.0, 0.0, 0.0, 1.0}, false},
  {{0.1, 0.1, 0.2}, {1.0, 1.0}, {-0.15, 0.05, 0.0}, {1.0, 0.0, 0.0, 0.0, 0.6, -0.8, 0.0, 0.8, 0.6}, false},
  {{0.05, 0.12, 0.08}, {0.9, 0.4}, {0.0, 0.15, 0.1}, {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, false}};

/* Returns the objective, without one of the primitives; `without` PARTS: with all. */
static double objective(const sample_set *s, const primitive *p, size_t without)
{
  double sum = 0.0;
  for (size_t i = 0; i < s->count; ++i) {
    double field[PARTS], least = HUGE_VAL, all = 0.0, away = 0.0;
    for (size_t l = 0; l < PARTS; ++l) {
      field[l] = primitive_field(&p[l], s->x + 3 * i);
      least = l == without || p[l].away ? least : fmin(least, field[l]);
    }
    for (size_t l = 0; l < PARTS; ++l) {
      all += l == without || p[l].away ? 0.0 : exp((least - field[l]) / TAU);
      away += l == without || !p[l].away ? 0.0 : exp(-field[l] / TAU);
    }
    const double added = least - TAU * log(all);
    const double phi = added + TAU * log1p(away * exp(-added / TAU));
    const double off = tanh(phi / WIDTH) - tanh(s->distance[i] / WIDTH);
    sum += s->volume[i] * off * off;
  }
  return sum;
}

/* Samples at random within the unit's box; their distances are those to a ball. */
static abut_status make_samples(sample_set *s)
{
  void *memory;
  s->count = SAMPLES;
  s->blocks = (SAMPLES + DECOMPOSE_BLOCK - 1) / DECOMPOSE_BLOCK;
  TRY(allocate(&memory, s->blocks * DECOMPOSE_BLOCK, 3 * sizeof(double)));
  s->x = memory;
  TRY(allocate(&memory, s->blocks * DECOMPOSE_BLOCK, sizeof(double)));
  s->volume = memory;
  TRY(allocate(&memory, s->blocks * DECOMPOSE_BLOCK, sizeof(double)));
  s->distance = memory;
  TRY(allocate(&memory, s->blocks, DECOMPOSE_BALL * sizeof(double)));
  s->balls = memory;
  for (size_t i = 0; i < s->count; ++i) {
    double square = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      s->x[3 * i + k] = 0.6 * (uniform_at(1, i, k) - 0.5);
      square += s->x[3 * i + k] * s->x[3 * i + k];
    }
    s->volume[i] = 1e-3;
    s->distance[i] = sqrt(square) - 0.2;
  }
  for (size_t b = 0; b < s->blocks; ++b) {
    s->balls[DECOMPOSE_BALL * b + 3] = 0.6;
  }
  return ABUT_SUCCESS;
}

static abut_status compare(const device *d, const char *what, double got, double expected, double scale)
{
  const double allowed = (device_real_bytes(d) == sizeof(double) ? 1e-7 : 1e-4) * scale;
  return fabs(got - expected) <= allowed
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_SELF_TEST, "device %s answers wrongly: %s is %.9g, not %.9g", device_info(d)->name,
                  what, got, expected);
}

/* The derivative of the objective along each parameter, by differences of fourth order. */
static abut_status compare_slopes(fitter *f, const sample_set *s, const primitive *parts, const double *right)
{
  double slopes[PARTS * PARAMETERS], most = 0.0;
  for (size_t i = 0; i < PARTS * PARAMETERS; ++i) {
    static const double at[] = {-2.0, -1.0, 1.0, 2.0}, weight[] = {1.0, -8.0, 8.0, -1.0};
    slopes[i] = 0.0;
    for (int k = 0; k < 4; ++k) {
      primitive moved[PARTS];
      double step[PARAMETERS] = {0.0};
      memcpy(moved, parts, sizeof moved);
      step[i % PARAMETERS] = at[k] * STEP;
      moved[i / PARAMETERS] = primitive_moved(&parts[i / PARAMETERS], step);
      slopes[i] += 0.5 * weight[k] * objective(s, moved, PARTS) / (12.0 * STEP);
    }
    most = fmax(most, fabs(slopes[i]));
  }
  for (size_t i = 0; i < PARTS * PARAMETERS; ++i) {
    TRY(compare(f->device, "a derivative of the fit", right[i], slopes[i], most));
  }
  return ABUT_SUCCESS;
}

static abut_status compare_costs(fitter *f, const sample_set *s, const primitive *parts, double whole)
{
  double cost[DECOMPOSE_MOST];
  TRY(fit_costs(f, s, WIDTH, cost));
  for (size_t l = 0; l < PARTS; ++l) {
    TRY(compare(f->device, "what it costs to remove a primitive", cost[l], objective(s, parts, l) - whole, whole));
  }
  return ABUT_SUCCESS;
}

static abut_status run(fitter *f, const sample_set *s, const primitive *parts)
{
  const double whole = objective(s, parts, PARTS);
  abut_status status = ABUT_SUCCESS;
  equations e;
  double loss;
  primitives p = {.count = PARTS};
  memcpy(p.at, parts, PARTS * sizeof *parts);
  TRY_DONE(fit_equations(f, s, p.at, PARTS, WIDTH, &loss, &e));
  TRY_DONE(compare(f->device, "the objective of the fit", loss, whole, whole));
  TRY_DONE(compare_slopes(f, s, parts, e.right));
  TRY_DONE(fit_look(f, s, &p, WIDTH));
  TRY_DONE(compare_costs(f, s, parts, whole));
done:
  equations_free(&e);
  return status;
}

static abut_status test(context *one)
{
  fitter f = {.device = one->members[0].device, .tau = TAU};
  sample_set s = {0};
  abut_status status = ABUT_SUCCESS;
  device_select(f.device, 0);
  primitive mixed[PARTS];
  memcpy(mixed, all_add, sizeof mixed);
  mixed[1].away = true;
  TRY_DONE(make_samples(&s));
  TRY_DONE(fitter_upload(&f, &s));
  TRY_DONE(run(&f, &s, all_add));
  f.mixed = true;
  TRY_DONE(run(&f, &s, mixed));
done:
  samples_free(&s);
  fitter_free(&f);
  return status;
}

const module_self_tests decompose_self_tests = {{[SELF_TEST_MAIN] = {
  [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test,
}}};
