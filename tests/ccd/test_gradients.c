/* Derivatives of times of impact by vertices: test_gradients PRECISION
 *
 * In double against central differences of toi, wherever these agree with one another; in float
 * against the host path's in double. Grazing rows and touches without a normal are rough, and 0. On
 * the device of ABUT_TEST_DEVICE; 77 where it is not there. */
#include "core/scene.h"
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 200 };
#define SEPARATION 0.125
#define STEP 1e-5

static abut_precision precision;
static abut_context context, exact;

/* Rows of float32's numbers, which come together. */
static void fill(pairs *p, abut_precision of, abut_ccd_kind kind)
{
  uint64_t seed = 23;
  pairs_create(p, of, kind, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double x0[12], x1[12];
    random_pair(&seed, TOUCHING, ABUT_FLOAT32, kind, x0, x1);
    for (int k = 0; k < 12; ++k) {
      x0[k] = (double)(float)x0[k];
      x1[k] = (double)(float)x1[k];
    }
    pairs_put(p, i, x0, x1);
  }
}

static bool solve(abut_context in, const pairs *p)
{
  abut_ccd_queries q = pairs_batch(p, 0, ROWS);
  q.separation = SEPARATION;
  return CHECK_OK(pairs_gradient(in, p, &q, 0));
}

/* The times at which rows are hit with one number of all of them moved. */
static void times_beside(const pairs *p, bool end, size_t number, double by, double toi[ROWS])
{
  pairs moved;
  fill(&moved, p->precision, p->kind);
  void *x = end ? moved.x1 : moved.x0;
  for (size_t i = 0; i < ROWS; ++i) {
    const size_t at = i * p->width + number;
    real_put(x, p->precision, at, real_at(x, p->precision, at) + by);
  }
  abut_ccd_queries q = pairs_batch(&moved, 0, ROWS);
  q.separation = SEPARATION;
  CHECK_OK(abut_run_ccd_queries(context, &q));
  for (size_t i = 0; i < ROWS; ++i) {
    toi[i] = moved.status[i] == ABUT_CCD_HIT ? real_at(moved.toi, p->precision, i) : (double)NAN;
  }
  pairs_free(&moved);
}

static void compare_number(const pairs *p, bool end, size_t number, size_t *compared, double *worst)
{
  double up[ROWS], down[ROWS], far_up[ROWS], far_down[ROWS];
  times_beside(p, end, number, STEP, up);
  times_beside(p, end, number, -STEP, down);
  times_beside(p, end, number, 2.0 * STEP, far_up);
  times_beside(p, end, number, -2.0 * STEP, far_down);
  for (size_t i = 0; i < ROWS; ++i) {
    const double near = (up[i] - down[i]) / (2.0 * STEP),
                 far = (far_up[i] - far_down[i]) / (4.0 * STEP);
    const double slope = real_at(end ? p->by_x1 : p->by_x0, p->precision, i * p->width + number);
    const double most = fmax(1.0, fabs(near)), better = (4.0 * near - far) / 3.0;
    if (p->status[i] == ABUT_CCD_HIT && fabs(near - far) <= 1e-6 * most) {
      const double error = fabs(slope - better) / most;
      *worst = fmax(*worst, error);
      ++*compared;
      check(error <= 1e-6, "%s, row %zu, number %zu at %d: %.9g, and %.9g by differences",
            kind_names[p->kind], i, number, end, slope, better);
    }
  }
}

static void test_differences(abut_ccd_kind kind)
{
  pairs p;
  size_t compared = 0, hits = 0;
  double worst = 0.0;
  fill(&p, precision, kind);
  if (solve(context, &p)) {
    for (size_t number = 0; number < p.width; ++number) {
      compare_number(&p, false, number, &compared, &worst);
      compare_number(&p, true, number, &compared, &worst);
    }
    for (size_t i = 0; i < ROWS; ++i) {
      hits += (p.status[i] & ABUT_CCD_END) == ABUT_CCD_HIT;
    }
    printf("%s: %zu slopes of %zu hits, worst %.2e\n", kind_names[kind], compared, hits, worst);
    check(hits > ROWS / 2 && compared > hits * p.width * 2 * 9 / 10,
          "%s: %zu slopes of %zu hits are compared", kind_names[kind], compared, hits);
  }
  pairs_free(&p);
}

static void test_precisions(abut_ccd_kind kind)
{
  pairs p, fine;
  size_t compared = 0;
  double worst = 0.0;
  fill(&p, precision, kind);
  fill(&fine, ABUT_FLOAT64, kind);
  if (solve(context, &p) && solve(exact, &fine)) {
    for (size_t i = 0; i < ROWS; ++i) {
      double most = 1.0, error = 0.0;
      for (size_t k = i * p.width; k < (i + 1) * p.width; ++k) {
        most = fmax(most, fmax(fabs(real_at(fine.by_x0, ABUT_FLOAT64, k)),
                               fabs(real_at(fine.by_x1, ABUT_FLOAT64, k))));
        error =
          fmax(error, fabs(real_at(p.by_x0, precision, k) - real_at(fine.by_x0, ABUT_FLOAT64, k)));
        error =
          fmax(error, fabs(real_at(p.by_x1, precision, k) - real_at(fine.by_x1, ABUT_FLOAT64, k)));
      }
      if (p.status[i] == ABUT_CCD_HIT && fine.status[i] == ABUT_CCD_HIT && most < 10.0) {
        ++compared;
        worst = fmax(worst, error / most);
        check(error <= 1e-3 * most, "%s, row %zu: off by %.2e of %g", kind_names[kind], i, error,
              most);
      }
    }
    printf("%s: %zu rows, worst %.2e\n", kind_names[kind], compared, worst);
    check(compared > ROWS / 2, "%s: %zu rows are compared", kind_names[kind], compared);
  }
  pairs_free(&p);
  pairs_free(&fine);
}

/* ---- rough ---- */

/* Two points that graze; two that meet, at the origin and elsewhere. */
static void test_rough(void)
{
  static const double x0[3][12] = {{-1, 0.25, 0}, {-1, 0, 0}, {2, 5, 6, 3, 5, 6}};
  static const double x1[3][12] = {{1, 0.25, 0}, {1, 0, 0}, {4, 5, 6, 3, 5, 6}};
  const double nearly = precision == ABUT_FLOAT64 ? 0.25 * (1.0 + 1e-15) : 0.25 * (1.0 + 1e-7);
  for (size_t i = 0; i < 3; ++i) {
    pairs p;
    pairs_create(&p, precision, ABUT_CCD_POINT_POINT, 1);
    pairs_put(&p, 0, x0[i], x1[i]);
    abut_ccd_queries q = pairs_batch(&p, 0, 1);
    q.separation = i == 0 ? nearly : 0.0;
    CHECK_OK(pairs_gradient(context, &p, &q, 0));
    const int status = p.status[0];
    check(i == 0 ? (status & ABUT_CCD_END) == ABUT_CCD_HIT
                 : status == (ABUT_CCD_HIT | ABUT_CCD_ROUGH),
          "row %zu: status %d", i, status);
    for (size_t k = 0; k < p.width; ++k) {
      const double by = fabs(real_at(p.by_x0, precision, k)) + fabs(real_at(p.by_x1, precision, k));
      check(isfinite(by) && (status == ABUT_CCD_HIT || by == 0.0),
            "row %zu: rough, and a slope of %g", i, by);
    }
    pairs_free(&p);
  }
}

int main(int argc, char **argv)
{
  abut_context_def def = abut_default_context_def();
  precision = precision_of(argc, argv);
  def.precision = ABUT_FLOAT64;
  CHECK_OK(abut_find_device("host", &def.device));
  if (!test_context(precision, &context) || !CHECK_OK(abut_create_context(&def, &exact))) {
    return 77;
  }
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    if (precision == ABUT_FLOAT64) {
      test_differences((abut_ccd_kind)kind);
    }
    test_precisions((abut_ccd_kind)kind);
  }
  test_rough();
  CHECK_OK(abut_destroy_context(context));
  return finish_context(exact);
}
