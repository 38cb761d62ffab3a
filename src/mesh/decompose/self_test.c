/* The self-test of decompositions. It checks the objective of overlapping primitives (two
 * superquadrics and a third one or a polyhedron), its derivatives with respect to all parameters,
 * and the cost of removing each, against the formulas in double. All primitives are added in one
 * run, and one is subtracted in the other. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "engine/self_test/runner.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 3  /* superquadrics */
#define PLANES 7 /* of the polyhedron, whose three parts are last in its set */
#define ENTRIES_MOST (2 + PARTS_MOST)
#define SAMPLES (3 * DECOMPOSE_BLOCK - 17)
#define WIDTH 0.03
#define TAU 0.008
#define PLANE 0.01
#define STEP 1e-5

/* Exponents are at most 1: above it, second derivatives can be infinite and differences are
 * inaccurate. */
static const primitive superquadrics[COUNT] = {
  {.axes = {0.2, 0.1, 0.15},
   .exponents = {0.3, 0.8},
   .centre = {0.05, 0.0, 0.0},
   .turn = {0.8, -0.6, 0.0, 0.6, 0.8, 0.0, 0.0, 0.0, 1.0}},
  {.axes = {0.1, 0.1, 0.2},
   .exponents = {1.0, 1.0},
   .centre = {-0.15, 0.05, 0.0},
   .turn = {1.0, 0.0, 0.0, 0.0, 0.6, -0.8, 0.0, 0.8, 0.6}},
  {.axes = {0.05, 0.12, 0.08},
   .exponents = {0.9, 0.4},
   .centre = {0.0, 0.15, 0.1},
   .turn = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}}};

/* A wedge with a corner cut off, which replaces the third superquadric. */
static const double planes[PLANES][4] = {{1.0, 0.0, 0.0, 0.06},    {-1.0, 0.0, 0.0, 0.05},
                                         {0.0, 0.8, 0.6, 0.1},     {0.0, -0.8, 0.6, 0.09},
                                         {0.0, 0.0, -1.0, 0.07},   {0.6, 0.0, 0.8, 0.08},
                                         {-0.48, 0.6, -0.64, 0.08}};

/* Returns the objective without one primitive. `without` is the entry of its first part, or
 * p->count for none. */
static double objective(const sample_set *s, const primitives *p, size_t without)
{
  double sum = 0.0;
  for (size_t i = 0; i < s->count; ++i) {
    double field[ENTRIES_MOST], least = HUGE_VAL, all = 0.0, away = 0.0;
    for (size_t l = 0; l < p->count; ++l) {
      const primitive *q = &p->at[l];
      const double *x = s->x + 3 * i;
      field[l] = l == without || q->part ? HUGE_VAL
                 : q->parts              ? polyhedron_field(q, x, PLANE)
                                         : primitive_field(q, x);
      least = q->away ? least : fmin(least, field[l]);
    }
    for (size_t l = 0; l < p->count; ++l) {
      all += p->at[l].away ? 0.0 : exp((least - field[l]) / TAU);
      away += p->at[l].away ? exp(-field[l] / TAU) : 0.0;
    }
    const double added = least - TAU * log(all);
    const double phi = added + TAU * log1p(away * exp(-added / TAU));
    const double off = tanh(phi / WIDTH) - tanh(s->distance[i] / WIDTH);
    sum += s->volume[i] * off * off;
  }
  return sum;
}

/* Random samples in a box around the primitives; their distances are those to a ball. */
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

static abut_status compare(const device *d, const char *what, double got, double expected,
                           double scale)
{
  const double allowed = (device_real_bytes(d) == sizeof(double) ? 1e-7 : 1e-4) * scale;
  return fabs(got - expected) <= allowed
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_SELF_TEST, "device %s gives wrong results: %s is %.9g, expected %.9g",
                  device_info(d)->name, what, got, expected);
}

/* Derivatives of the objective along each parameter, by differences of fourth order. */
static abut_status compare_slopes(fitter *f, const sample_set *s, primitives *p,
                                  const double *right)
{
  double slopes[ENTRIES_MOST * PARAMETERS], most = 0.0;
  for (size_t i = 0; i < p->count * PARAMETERS; ++i) {
    static const double at[] = {-2.0, -1.0, 1.0, 2.0}, weight[] = {1.0, -8.0, 8.0, -1.0};
    const primitive own = p->at[i / PARAMETERS];
    slopes[i] = 0.0;
    for (int k = 0; k < 4; ++k) {
      double step[PARAMETERS] = {0.0};
      step[i % PARAMETERS] = at[k] * STEP;
      p->at[i / PARAMETERS] = primitive_moved(&own, step);
      slopes[i] += 0.5 * weight[k] * objective(s, p, p->count) / (12.0 * STEP);
    }
    p->at[i / PARAMETERS] = own;
    most = fmax(most, fabs(slopes[i]));
  }
  for (size_t i = 0; i < p->count * PARAMETERS; ++i) {
    TRY(compare(f->device, "a derivative of the fit", right[i], slopes[i], most));
  }
  return ABUT_SUCCESS;
}

static abut_status compare_costs(fitter *f, const sample_set *s, const primitives *p, double whole)
{
  double cost[DECOMPOSE_MOST];
  TRY(fit_costs(f, s, WIDTH, cost));
  for (size_t l = 0; l < p->count; ++l) {
    const double expected = p->at[l].part ? 0.0 : objective(s, p, l) - whole;
    TRY(compare(f->device, "what it costs to remove a primitive", cost[l], expected, whole));
  }
  return ABUT_SUCCESS;
}

static abut_status run(fitter *f, const sample_set *s, primitives *p)
{
  const double whole = objective(s, p, p->count);
  abut_status status = ABUT_SUCCESS;
  equations e;
  double loss;
  TRY_DONE(fit_equations(f, s, p->at, p->count, WIDTH, &loss, &e));
  TRY_DONE(compare(f->device, "the objective of the fit", loss, whole, whole));
  TRY_DONE(compare_slopes(f, s, p, e.right));
  TRY_DONE(fit_look(f, s, p, WIDTH));
  TRY_DONE(compare_costs(f, s, p, whole));
done:
  equations_free(&e);
  return status;
}

static abut_status test(context *one)
{
  fitter f = {.device = one->members[0].device, .tau = TAU, .plane = PLANE};
  sample_set s = {0};
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  device_select(f.device, 0);
  TRY_DONE(allocate(&memory, 1, sizeof(primitives)));
  primitives *p = memory;
  p->count = COUNT;
  memcpy(p->at, superquadrics, sizeof superquadrics);
  TRY_DONE(make_samples(&s));
  TRY_DONE(fitter_upload(&f, &s));
  TRY_DONE(run(&f, &s, p));
  f.mixed = true;
  p->at[1].away = true;
  p->count = 2 + polyhedron_create(planes, PLANES, superquadrics[2].centre, false, p->at + 2);
  TRY_DONE(run(&f, &s, p));
done:
  free(memory);
  samples_free(&s);
  fitter_free(&f);
  return status;
}

const module_self_tests decompose_self_tests = {{[SELF_TEST_MAIN] = {
                                                   [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test,
                                                 }}};
