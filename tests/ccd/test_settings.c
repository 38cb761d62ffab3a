/* Settings of rows of collision in time: test_settings PRECISION
 *
 * Keep, end, tolerance, errors of the input and lower parts where the answer is known; each row's
 * own settings; what is refused, and what makes a row bad; methods, iterations, batches that ask
 * for nothing, and long ones. On the device of ABUT_TEST_DEVICE; 77 where it is not there. */
#include "core/scene.h"
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_precision precision;
static abut_context context;

/* A point that falls on a triangle at z = 0, from 3 to -1. */
static const double high[12] = {0.125, 0.125, 3, -1, -1, 0, 2, -1, 0, 0, 2, 0};
static const double low[12] = {0.125, 0.125, -1, -1, -1, 0, 2, -1, 0, 0, 2, 0};

static double unit(void)
{
  return precision == ABUT_FLOAT64 ? 0x1p-44 : 0x1p-16;
}

static void fall(pairs *p, size_t count)
{
  pairs_create(p, precision, ABUT_CCD_POINT_TRIANGLE, count);
  for (size_t i = 0; i < count; ++i) {
    pairs_put(p, i, high, low);
  }
}

/* One row with some settings ends so, between two heights. */
static void ask(const char *what, const abut_ccd_queries *with, abut_ccd_status end, double above,
                double below)
{
  pairs p;
  fall(&p, 1);
  abut_ccd_queries q = pairs_batch(&p, 0, 1);
  q.separation = with->separation;
  q.keep = with->keep;
  q.tolerance = with->tolerance;
  q.end = with->end;
  q.error = with->error;
  q.relative_error = with->relative_error;
  if (CHECK_OK(abut_run_ccd_queries(context, &q))) {
    const double height = 3.0 - 4.0 * real_at(p.toi, precision, 0);
    check(p.status[0] == end && height <= above && height >= below,
          "%s: status %d at height %.17g, not %d in [%g, %g]", what, p.status[0], height, end,
          below, above);
  }
  pairs_free(&p);
}

static void test_known(void)
{
  abut_ccd_queries q = abut_default_ccd_queries();
  const double off = unit();
  ask("nothing", &q, ABUT_CCD_HIT, off, 0.0);
  q.separation = 0.5;
  ask("m; it must be at least 0 and not too large", &q, ABUT_CCD_HIT, 0.5 + off, 0.5);
  q.keep = 0.125; /* of 2.5 */
  ask("a share that is kept", &q, ABUT_CCD_HIT, 0.8125 + 0.15625 + off, 0.8125);
  q.keep = 0.0;
  q.tolerance = 0.25;
  ask("the tolerance is", &q, ABUT_CCD_HIT, 0.75 + off, 0.5);
  q.tolerance = 0.0;
  q.error = 0.0625;
  ask("an error", &q, ABUT_CCD_HIT, 0.75, 0.625);
  q.error = 0.0;
  q.relative_error = 0.0078125; /* of 3 above and, below, of 0 in z and 2 across */
  ask("a relative error", &q, ABUT_CCD_HIT, 0.75, 0.5234375);
  q.relative_error = 0.0;
  q.end = 0.5;
  ask("an end", &q, ABUT_CCD_FREE, 1.0, 1.0);
  q.end = 0.75;
  ask("an end behind the touch", &q, ABUT_CCD_HIT, 0.5 + off, 0.5);
  q.end = 0.0;
  ask("an end at once", &q, ABUT_CCD_FREE, 3.0, 3.0);
  q.separation = 3.0;
  ask("an end at once, within", &q, ABUT_CCD_WITHIN, 3.0, 3.0);
  q.end = 1.0;
  q.separation = 4.0;
  ask("within", &q, ABUT_CCD_WITHIN, 3.0, 3.0);
}

/* ---- each row's own ---- */

enum { SETTINGS = 6, OWN_ROWS = 40 };
static const double choices[SETTINGS][3] = {{0.0, 0.5, 1.0},       {0.0, 0.125, 0.5},
                                            {0.0, 0.0625, 0.25},   {1.0, 0.5, 0.625},
                                            {0.0, 0.03125, 0.125}, {0.0, 0.0009765625, 0.015625}};

static const void **own_of(abut_ccd_queries *q, int which)
{
  const void **const all[SETTINGS] = {&q->separations, &q->keeps,  &q->tolerances,
                                      &q->ends,        &q->errors, &q->relative_errors};
  return all[which];
}

static double *for_all(abut_ccd_queries *q, int which)
{
  double *const all[SETTINGS] = {&q->separation, &q->keep,  &q->tolerance,
                                 &q->end,        &q->error, &q->relative_error};
  return all[which];
}

/* Rows with their own settings have the answers of batches that have these for all. */
static void test_own(void)
{
  pairs together, alone;
  void *own[SETTINGS];
  uint64_t seed = 9;
  fall(&together, OWN_ROWS);
  fall(&alone, OWN_ROWS);
  abut_ccd_queries q = pairs_batch(&together, 0, OWN_ROWS);
  for (int k = 0; k < SETTINGS; ++k) {
    own[k] = calloc(OWN_ROWS, real_size(precision));
    REQUIRE(own[k] != NULL);
    for (size_t i = 0; i < OWN_ROWS; ++i) {
      real_put(own[k], precision, i, choices[k][(size_t)(3.0 * random_uniform(&seed))]);
    }
    *own_of(&q, k) = own[k];
  }
  CHECK_OK(pairs_gradient(context, &together, &q, 0));
  for (size_t i = 0; i < OWN_ROWS; ++i) {
    abut_ccd_queries one = pairs_batch(&alone, i, 1);
    for (int k = 0; k < SETTINGS; ++k) {
      *for_all(&one, k) = real_at(own[k], precision, i);
    }
    CHECK_OK(pairs_gradient(context, &alone, &one, i));
  }
  pairs_same(&together, 0, &alone, 0, OWN_ROWS, "a row's own settings");
  for (int k = 0; k < SETTINGS; ++k) {
    free(own[k]);
  }
  pairs_free(&together);
  pairs_free(&alone);
}

/* What is out of range makes a row bad, and is refused for all rows. */
static void test_range(void)
{
  static const double wrong[SETTINGS][4] = {{-1.0, (double)NAN, (double)INFINITY, -1e-30},
                                            {-0.125, 1.0, (double)NAN, 2.0},
                                            {-1.0, (double)NAN, -1e-30, -(double)INFINITY},
                                            {-0.125, 1.125, (double)NAN, 2.0},
                                            {-1.0, (double)NAN, (double)INFINITY, -1e-30},
                                            {-1.0, (double)NAN, -2.0, -1e-30}};
  for (int k = 0; k < SETTINGS; ++k) {
    for (size_t i = 0; i < 4; ++i) {
      pairs p, right;
      double two[2];
      fall(&p, 2);
      fall(&right, 2);
      abut_ccd_queries q = pairs_batch(&p, 0, 2), usual = pairs_batch(&right, 0, 2);
      real_put(two, precision, 0, wrong[k][i]);
      real_put(two, precision, 1, *for_all(&q, k));
      *own_of(&q, k) = two;
      CHECK_OK(pairs_gradient(context, &p, &q, 0));
      CHECK_OK(pairs_gradient(context, &right, &usual, 0));
      check(p.status[0] == ABUT_CCD_BAD_INPUT && real_at(p.toi, precision, 0) == 0.0 &&
              real_at(p.n, precision, 2) == 0.0 && real_at(p.by_x0, precision, 2) == 0.0 &&
              q.rejected == 1,
            "setting %d of %g: status %d", k, wrong[k][i], p.status[0]);
      pairs_same(&p, 1, &right, 1, 1, "beside a bad row");
      *own_of(&q, k) = NULL;
      *for_all(&q, k) = wrong[k][i];
      check(abut_run_ccd_queries(context, &q) == ABUT_ERROR_ARGUMENT, "setting %d of %g is taken",
            k, wrong[k][i]);
      pairs_free(&p);
      pairs_free(&right);
    }
  }
}

static void test_bad_numbers(void)
{
  const double most = precision == ABUT_FLOAT64 ? 1.7e308 : 3.4e38;
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    const size_t width = 3 * kind_vertices[kind];
    pairs p;
    pairs_create(&p, precision, (abut_ccd_kind)kind, 6 * width + 2);
    for (size_t i = 0; i < p.count; ++i) {
      pairs_put(&p, i, high, low);
    }
    for (size_t i = 0; i < 6 * width; ++i) {
      const double bad[3] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
      real_put(i % 2 ? p.x0 : p.x1, precision, i * width + i / 6, bad[i / 2 % 3]);
    }
    real_put(p.x0, precision, 6 * width * width, most);
    real_put(p.x0, precision, 6 * width * width + width - 3, -most);
    abut_ccd_queries q = pairs_batch(&p, 0, p.count);
    CHECK_OK(abut_run_ccd_queries(context, &q));
    for (size_t i = 0; i < p.count; ++i) {
      check((p.status[i] == ABUT_CCD_BAD_INPUT) == (i + 1 < p.count), "%s, row %zu: status %d",
            kind_names[kind], i, p.status[i]);
    }
    check(q.rejected == p.count - 1, "%s: %zu rejected of %zu", kind_names[kind], q.rejected,
          p.count - 1);
    pairs_free(&p);
  }
}

/* ---- lower parts ---- */

static void test_lows(void)
{
  pairs p;
  double parts[2][12] = {{0}, {0}};
  void *lows[2];
  fall(&p, 1);
  real_put(p.x1, precision, 2, 0.0);
  for (size_t i = 2; i < 12; i += 3) { /* at height 1, where float leaves digits */
    real_put(p.x0, precision, i, real_at(p.x0, precision, i) + 1.0);
    real_put(p.x1, precision, i, real_at(p.x1, precision, i) + 1.0);
  }
  parts[1][2] = 1e-10; /* it ends that much above the triangle */
  lows[0] = to_reals(parts[0], 12, precision);
  lows[1] = to_reals(parts[1], 12, precision);
  abut_ccd_queries q = pairs_batch(&p, 0, 1);
  CHECK_OK(abut_run_ccd_queries(context, &q));
  check(p.status[0] == ABUT_CCD_HIT, "without lower parts: status %d", p.status[0]);
  q.x0_low = lows[0];
  check(abut_run_ccd_queries(context, &q) == ABUT_ERROR_ARGUMENT, "one lower part is taken");
  q.x1_low = lows[1];
  q.relative_error = 0x1p-48;
  const abut_status status = abut_run_ccd_queries(context, &q);
  if (precision == ABUT_FLOAT64) {
    check(status == ABUT_ERROR_ARGUMENT, "lower parts of double are taken");
  } else {
    check(status == ABUT_SUCCESS && p.status[0] == ABUT_CCD_FREE, "with lower parts: %d, status %d",
          status, p.status[0]);
    parts[1][2] = -1e-10;
    real_put(lows[1], precision, 2, -1e-10);
    CHECK_OK(abut_run_ccd_queries(context, &q));
    check(p.status[0] == ABUT_CCD_HIT && real_at(p.toi, precision, 0) < 1.0,
          "lower parts below: status %d", p.status[0]);
    static const double wrong[] = {1e-7, -1.75, (double)INFINITY, (double)NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) { /* more than rounding leaves of 1 */
      real_put(lows[1], precision, 2, wrong[i]);
      CHECK_OK(abut_run_ccd_queries(context, &q));
      check(p.status[0] == ABUT_CCD_BAD_INPUT, "a lower part of %g: status %d", wrong[i],
            p.status[0]);
    }
  }
  free(lows[0]);
  free(lows[1]);
  pairs_free(&p);
}

/* ---- methods and iterations ---- */

enum { SOME = 300 };

static void fill(pairs *p, abut_ccd_kind kind)
{
  uint64_t seed = 17;
  pairs_create(p, precision, kind, SOME);
  for (size_t i = 0; i < SOME; ++i) {
    double x0[12], x1[12];
    random_pair(&seed, (int)(i % 2 ? TOUCHING : RANDOM), precision, kind, x0, x1);
    pairs_put(p, i, x0, x1);
  }
}

/* The additive method is right too, and slower but for two points. */
static void test_additive(void)
{
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    pairs certified, additive;
    size_t rounds[2] = {0, 0}, ends[2] = {0, 0};
    fill(&certified, (abut_ccd_kind)kind);
    fill(&additive, (abut_ccd_kind)kind);
    abut_ccd_queries a = pairs_batch(&certified, 0, SOME), b = pairs_batch(&additive, 0, SOME);
    b.method = ABUT_CCD_ADDITIVE;
    b.iterations_most = 1000;
    CHECK_OK(abut_run_ccd_queries(context, &a));
    CHECK_OK(abut_run_ccd_queries(context, &b));
    for (size_t i = 0; i < SOME; ++i) {
      const double one = real_at(certified.toi, precision, i),
                   two = real_at(additive.toi, precision, i);
      /* what both leave out at the touch itself */
      const double slack = precision == ABUT_FLOAT64 ? 1e-9 : 1e-2;
      double x0[12], x1[12];
      long double x[12];
      pairs_get(&additive, i, x0, x1);
      vertices_at(x0, x1, two, x);
      check(additive.status[i] == ABUT_CCD_WITHIN || distance_of((abut_ccd_kind)kind, x) > -1e-18L,
            "%s %zu touches", kind_names[kind], i);
      check(certified.status[i] != ABUT_CCD_HIT || two <= one + slack, "%s %zu: %g, not %g",
            kind_names[kind], i, two, one);
      check(additive.iterations[2 * i + 1] == 0, "%s %zu: doubled numbers", kind_names[kind], i);
      rounds[0] += certified.iterations[2 * i] + certified.iterations[2 * i + 1];
      rounds[1] += additive.iterations[2 * i];
      ends[0] += certified.status[i] == ABUT_CCD_FREE;
      ends[1] += additive.status[i] == ABUT_CCD_FREE;
    }
    check(ends[1] <= ends[0], "%s: %zu rows are free, and %zu by the additive method",
          kind_names[kind], ends[0], ends[1]);
    check(kind == ABUT_CCD_POINT_POINT || rounds[0] < rounds[1], "%s: %zu and %zu iterations",
          kind_names[kind], rounds[0], rounds[1]);
    pairs_free(&certified);
    pairs_free(&additive);
  }
}

static void test_iterations(void)
{
  pairs p;
  size_t limits = 0;
  fill(&p, ABUT_CCD_EDGE_EDGE);
  abut_ccd_queries q = pairs_batch(&p, 0, SOME);
  q.iterations_most = 1;
  CHECK_OK(abut_run_ccd_queries(context, &q));
  for (size_t i = 0; i < SOME; ++i) {
    limits += p.status[i] == ABUT_CCD_LIMIT;
    check(p.iterations[2 * i] <= 1 && p.iterations[2 * i + 1] <= 1,
          "row %zu: more than one iteration", i);
  }
  check(limits > 0 && q.undecided == limits, "%zu limits, and %zu undecided", limits, q.undecided);
  q.iterations_most = 1000001;
  check(abut_run_ccd_queries(context, &q) == ABUT_ERROR_ARGUMENT, "too many iterations are taken");
  q.iterations_most = 0;
  q.plain = true;
  CHECK_OK(abut_run_ccd_queries(context, &q));
  for (size_t i = 0; i < SOME; ++i) {
    check(p.iterations[2 * i] <= 32 && p.iterations[2 * i + 1] == 0,
          "row %zu: doubled numbers in a plain batch", i);
  }
  pairs_free(&p);
}

/* ---- what need not be there ---- */

static void test_nothing(void)
{
  pairs p;
  fill(&p, ABUT_CCD_POINT_TRIANGLE);
  abut_ccd_queries q = pairs_batch(&p, 0, SOME), empty = abut_default_ccd_queries(), none = {0};
  q.iterations_most = 2;
  real_put(p.x0, precision, 0, (double)NAN);
  CHECK_OK(abut_run_ccd_queries(context, &q));
  abut_ccd_queries silent = pairs_batch(&p, 0, SOME);
  silent.iterations_most = 2;
  silent.toi = silent.n = silent.d0 = NULL;
  silent.status = NULL;
  silent.iterations = NULL;
  CHECK_OK(abut_run_ccd_queries(context, &silent));
  check(q.undecided > 0 && silent.undecided == q.undecided && silent.rejected == 1 &&
          q.rejected == 1,
        "%zu undecided, %zu without outputs; %zu rejected", q.undecided, silent.undecided,
        silent.rejected);
  CHECK_OK(abut_ccd_queries_gradient(context, &silent, NULL, NULL));
  empty.undecided = empty.rejected = 5;
  CHECK_OK(abut_run_ccd_queries(context, &empty));
  CHECK(empty.undecided == 0 && empty.rejected == 0);
  CHECK_EQUAL(abut_run_ccd_queries(context, &none), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_run_ccd_queries(context, NULL), ABUT_ERROR_ARGUMENT);
  q.kind = (abut_ccd_kind)ABUT_CCD_KINDS;
  CHECK_EQUAL(abut_run_ccd_queries(context, &q), ABUT_ERROR_ARGUMENT);
  q.kind = ABUT_CCD_POINT_TRIANGLE;
  q.method = (abut_ccd_method)2;
  CHECK_EQUAL(abut_run_ccd_queries(context, &q), ABUT_ERROR_ARGUMENT);
  q.method = ABUT_CCD_CERTIFIED;
  q.x1 = NULL;
  CHECK_EQUAL(abut_run_ccd_queries(context, &q), ABUT_ERROR_ARGUMENT);
  pairs_free(&p);
}

/* ---- long batches ---- */

/* On one lane a work-item takes more rows where the batch has more: answers are those of short
 * batches, to the bit. */
static void test_long(void)
{
  enum { TIMES = 80000 / SOME };
  pairs few, many;
  uint64_t seed = 31;
  pairs_create(&few, precision, ABUT_CCD_EDGE_EDGE, SOME);
  pairs_create(&many, precision, ABUT_CCD_EDGE_EDGE, TIMES * SOME);
  for (size_t i = 0; i < SOME; ++i) {
    double x0[12], x1[12];
    random_pair(&seed, i % 4 ? RANDOM : TOUCHING, precision, ABUT_CCD_EDGE_EDGE, x0, x1);
    pairs_put(&few, i, x0, x1);
    for (size_t k = 0; k < TIMES; ++k) {
      pairs_put(&many, k * SOME + i, x0, x1);
    }
  }
  abut_ccd_queries a = pairs_batch(&few, 0, SOME), b = pairs_batch(&many, 0, TIMES * SOME);
  if (CHECK_OK(abut_run_ccd_queries(context, &a)) && CHECK_OK(abut_run_ccd_queries(context, &b))) {
    size_t again = 0;
    for (size_t i = 0; i < SOME; ++i) {
      again += few.iterations[2 * i + 1] > 0;
    }
    check(again > 0 && again < SOME, "%zu rows of %d are taken again", again, SOME);
    for (size_t k = 0; k < TIMES; k += k % 7 + 1) {
      pairs_same(&few, 0, &many, k * SOME, SOME, "a long batch");
    }
  }
  pairs_free(&few);
  pairs_free(&many);
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  context = require_context(precision);
  test_known();
  test_own();
  test_range();
  test_bad_numbers();
  test_lows();
  test_additive();
  test_iterations();
  test_nothing();
  test_long();
  return finish_context(context);
}
