/* Boxed complementarity problems: test_lcp PRECISION ROOT COUNT [--or-refused], the folder of
 * golden answers, and how many random problems are tried. On the device of ABUT_TEST_DEVICE, which
 * with --or-refused may as well fail its self-test. */
#include "support/check.h"

#include <abut/files.h>
#include <abut/lcp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context context;
static abut_precision precision;

static double either(double in_double, double in_float)
{
  return precision == ABUT_FLOAT64 ? in_double : in_float;
}

/* ---- problems and their answers ---- */

typedef struct batch {
  size_t count, rows;
  double *A, *b, *mu, *box;
  int32_t *parent;
  void *reals[4]; /* the same in the context's precision */
  void *f, *w, *residual;
  int32_t *classes;
  uint32_t *how;
} batch;

static void *room(size_t count, size_t size)
{
  void *at = calloc(count ? count : 1, size);
  REQUIRE(at != NULL);
  return at;
}

static batch batch_new(size_t count, size_t rows)
{
  const size_t real = real_size(precision);
  return (batch){.count = count,
                 .rows = rows,
                 .A = room(count * rows * rows, sizeof(double)),
                 .b = room(count * rows, sizeof(double)),
                 .mu = room(count * rows, sizeof(double)),
                 .box = room(count * rows, sizeof(double)),
                 .parent = room(rows, sizeof(int32_t)),
                 .f = room(count * rows, real),
                 .w = room(count * rows, real),
                 .residual = room(count, real),
                 .classes = room(count * rows, sizeof(int32_t)),
                 .how = room(count, sizeof(uint32_t))};
}

static void batch_free(batch *p)
{
  void *const all[] = {p->A,        p->b,        p->mu,       p->box,     p->parent,
                       p->f,        p->w,        p->residual, p->classes, p->how,
                       p->reals[0], p->reals[1], p->reals[2], p->reals[3]};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

static abut_lcp call_of(batch *p)
{
  const double *const from[4] = {p->A, p->b, p->mu, p->box};
  abut_lcp c = abut_default_lcp();
  for (int k = 0; k < 4; ++k) {
    free(p->reals[k]);
    p->reals[k] = to_reals(from[k], p->count * p->rows * (k ? 1 : p->rows), precision);
  }
  c.count = p->count;
  c.rows = p->rows;
  c.A = p->reals[0];
  c.b = p->reals[1];
  c.mu = p->reals[2];
  c.box = p->reals[3];
  c.parent = p->parent;
  c.f = p->f;
  c.w = p->w;
  c.residual = p->residual;
  c.classes = p->classes;
  c.how = p->how;
  return c;
}

static double number(const void *array, size_t i)
{
  return real_at(array, precision, i);
}

static double largest(const double *x, size_t count)
{
  double most = 1e-12;
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* By its definition, in double, of the answer that was given. */
static double residual_of(const batch *p, size_t problem)
{
  const size_t m = p->rows;
  double most = 0.0;
  for (size_t i = 0; i < m; ++i) {
    const double *row = p->A + (problem * m + i) * m;
    const double f = number(p->f, problem * m + i);
    double w = p->b[problem * m + i], high = 1e300, low = 0.0;
    for (size_t k = 0; k < m; ++k) {
      w += row[k] * number(p->f, problem * m + k);
    }
    if (p->parent[i] != ABUT_LCP_NORMAL) {
      const double parent = p->parent[i] >= 0 ? number(p->f, problem * m + (size_t)p->parent[i])
                                              : 0.0;
      high = fmax(p->mu[problem * m + i] * parent + p->box[problem * m + i], 0.0);
      low = -high;
    }
    if (row[i] > 0.0) {
      most = fmax(most, row[i] * fabs(f - fmin(fmax(f - w / row[i], low), high)));
    }
  }
  return most / largest(p->b + problem * m, m);
}

/* ---- golden ---- */

static void read_npz(const char *root, const char *name, const char *file, abut_npz *out)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s/%s.npz", root, name, file);
  REQUIRE_OK(abut_read_npz(path, out));
}

static void copy_reals(const abut_npz *from, const char *name, double *to, size_t count)
{
  const abut_array *a = find_array(from, name);
  REQUIRE(a && a->type == ABUT_ARRAY_FLOAT64);
  memcpy(to, a->data, count * sizeof *to);
}

static int64_t whole(const abut_array *a, size_t i)
{
  return a->type == ABUT_ARRAY_INT64 ? ((const int64_t *)a->data)[i]
                                     : ((const int32_t *)a->data)[i];
}

/* f where it is the only one; else the residual, and w, which rows that are dependent share. */
static void test_golden(const char *root, const char *name, bool unique)
{
  abut_npz problems, expected;
  read_npz(root, name, "problems", &problems);
  read_npz(root, name, "expected", &expected);
  const abut_array *A = find_array(&problems, "A"), *parent = find_array(&problems, "parent");
  const abut_array *classes = find_array(&expected, "classes");
  REQUIRE(A && parent && classes);
  batch p = batch_new(A->shape[0], A->shape[1]);
  const size_t rows = p.count * p.rows;
  double *f = room(rows, sizeof *f), most = 0.0, worst = 0.0;
  size_t others = 0;
  copy_reals(&problems, "A", p.A, rows * p.rows);
  copy_reals(&problems, "b", p.b, rows);
  copy_reals(&problems, "mu", p.mu, rows);
  copy_reals(&expected, "f", f, rows);
  for (size_t i = 0; i < p.rows; ++i) {
    p.parent[i] = (int32_t)whole(parent, i);
  }
  abut_lcp c = call_of(&p);
  CHECK_OK(abut_solve_lcp(context, &c));
  for (size_t k = 0; k < p.count; ++k) {
    most = fmax(most, residual_of(&p, k));
    CHECK(p.how[k] <= ABUT_LCP_LEMKE);
  }
  for (size_t i = 0; unique && i < rows; ++i) {
    worst = fmax(worst, fabs(number(p.f, i) - f[i]) / largest(f, rows));
    others += p.classes[i] != whole(classes, i);
  }
  printf("%s: residual %.1e, f off by %.1e\n", name, most, worst);
  check(most <= either(1e-10, 1e-4), "%s: a residual of %g", name, most);
  check(worst <= either(1e-9, 1e-3), "%s: f is off by %g", name, worst);
  CHECK_EQUAL(others, 0);
  /* Its own classes are a guess that is right. */
  c.guess = p.classes;
  int32_t *again = room(rows, sizeof *again);
  c.classes = again;
  CHECK_OK(abut_solve_lcp(context, &c));
  size_t warm = 0;
  for (size_t k = 0; k < p.count; ++k) {
    warm += p.how[k] == ABUT_LCP_WARM;
    CHECK(residual_of(&p, k) <= either(1e-9, 1e-4));
  }
  check(warm == p.count || !unique, "%s: %zu guesses of %zu are right", name, warm, p.count);
  free(again);
  free(f);
  batch_free(&p);
  abut_free_npz(&problems);
  abut_free_npz(&expected);
}

/* ---- many ---- */

/* Contacts of n points on a system of `dofs`, with b in the range of A; `twice`: the last is the
 * first once more. */
static void fill(batch *p, size_t dofs, bool twice, uint64_t *random)
{
  const size_t m = p->rows;
  double *J = room(m * dofs, sizeof *J), *x = room(dofs, sizeof *x);
  for (size_t i = 0; i < m; ++i) {
    p->parent[i] = i % 3 ? (int32_t)(i - i % 3) : ABUT_LCP_NORMAL;
  }
  for (size_t k = 0; k < p->count; ++k) {
    for (size_t i = 0; i < m * dofs; ++i) {
      J[i] = random_normal(random);
    }
    if (twice) {
      memcpy(J + (m - 3) * dofs, J, 3 * dofs * sizeof *J);
    }
    for (size_t i = 0; i < dofs; ++i) {
      x[i] = random_normal(random);
    }
    const double friction = random_uniform(random);
    for (size_t i = 0; i < m; ++i) {
      double b = 0.0;
      for (size_t d = 0; d < dofs; ++d) {
        b += J[i * dofs + d] * x[d];
      }
      p->b[k * m + i] = b;
      p->mu[k * m + i] = i % 3 ? friction : 0.0;
      for (size_t j = 0; j < m; ++j) {
        double a = 0.0;
        for (size_t d = 0; d < dofs; ++d) {
          a += J[i * dofs + d] * J[j * dofs + d];
        }
        p->A[(k * m + i) * m + j] = a;
      }
    }
  }
  free(J);
  free(x);
}

static void test_many(size_t count)
{
  static const size_t points[] = {1, 2, 4, 4, 6, 6, 12, 4}, dofs[] = {6, 6, 6, 12, 6, 12, 24, 6};
  enum { KINDS = sizeof points / sizeof *points };
  size_t all = 0, solved = 0, ends[6] = {0};
  uint64_t random = 5;
  for (size_t k = 0; k < KINDS; ++k) {
    batch p = batch_new(count / KINDS, 3 * points[k]);
    fill(&p, dofs[k], k == KINDS - 1, &random);
    abut_lcp c = call_of(&p);
    CHECK_OK(abut_solve_lcp(context, &c));
    for (size_t i = 0; i < p.count; ++i) {
      const bool good = residual_of(&p, i) <= either(1e-10, 1e-4);
      CHECK(p.how[i] <= ABUT_LCP_FAILED && (good || p.how[i] >= ABUT_LCP_SQUEEZED));
      solved += good && p.how[i] <= ABUT_LCP_LEMKE;
      ++ends[p.how[i] < 6 ? p.how[i] : 5];
      ++all;
    }
    for (size_t i = 0; i < p.count * p.rows; ++i) {
      CHECK(isfinite(number(p.f, i)));
    }
    batch_free(&p);
  }
  printf("%zu of %zu solved: %zu by pivoting, %zu by Lemke's method, %zu squeezed, %zu failed\n",
         solved, all, ends[1], ends[2], ends[3], ends[4]);
  check((double)solved >= either(0.999, 0.99) * (double)all, "%zu of %zu problems are solved",
        solved, all);
}

/* ---- others ---- */

/* Two normals that push against each other have no solution; joints' friction is boxed; what is not
 * finite spoils nothing beside it. */
static void test_kinds(void)
{
  static const double A[4 * 4] = {1, -1, -1, 1, 2, 0, 0, 4, 2, 0, 0, 4, NAN, 0, 0, 1};
  static const double b[4 * 2] = {-1, -1, -3, 1, -3, 9, 1, 1},
                            box[4 * 2] = {0, 0, 0, 1, 0, 1, 0, 0};
  batch p = batch_new(4, 2);
  memcpy(p.A, A, sizeof A);
  memcpy(p.b, b, sizeof b);
  memcpy(p.box, box, sizeof box);
  p.parent[0] = p.parent[1] = ABUT_LCP_NORMAL;
  abut_lcp c = call_of(&p);
  CHECK_OK(abut_solve_lcp(context, &c));
  CHECK_EQUAL(p.how[0], ABUT_LCP_SQUEEZED);
  CHECK_EQUAL(p.how[3], ABUT_LCP_BAD);
  CHECK(number(p.f, 6) == 0.0 && number(p.w, 7) == 0.0);
  p.parent[1] = ABUT_LCP_BOXED;
  CHECK_OK(abut_solve_lcp(context, &c));
  const double f[4] = {1.5, -0.25, 1.5, -1.0}; /* within its box, and at its end */
  for (size_t i = 0; i < 4; ++i) {
    check(fabs(number(p.f, 2 + i) - f[i]) < 1e-6, "f %zu is %g", i, number(p.f, 2 + i));
  }
  CHECK(p.classes[3] == ABUT_LCP_CLAMPING && p.classes[5] == ABUT_LCP_LOWER);
  CHECK(number(p.w, 5) > 4.9);
  batch_free(&p);
}

static void test_refusals(void)
{
  batch p = batch_new(1, 3);
  p.parent[0] = ABUT_LCP_NORMAL;
  p.A[0] = p.A[4] = p.A[8] = 1.0;
  abut_lcp c = call_of(&p), zero;
  memset(&zero, 0, sizeof zero);
  CHECK_OK(abut_solve_lcp(context, &c));
  CHECK(abut_solve_lcp(context, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_solve_lcp(context, &zero) == ABUT_ERROR_ARGUMENT);
  p.parent[1] = 3;
  CHECK(abut_solve_lcp(context, &c) == ABUT_ERROR_ARGUMENT);
  p.parent[1] = -3;
  CHECK(abut_solve_lcp(context, &c) == ABUT_ERROR_ARGUMENT);
  p.parent[1] = 0;
  p.parent[2] = 1; /* itself friction */
  CHECK(abut_solve_lcp(context, &c) == ABUT_ERROR_ARGUMENT);
  p.parent[2] = 0;
  c.rows = ABUT_LCP_ROWS_MOST + 1;
  CHECK(abut_solve_lcp(context, &c) == ABUT_ERROR_ARGUMENT);
  c.rows = 0;
  CHECK(abut_solve_lcp(context, &c) == ABUT_ERROR_ARGUMENT);
  c.rows = 3;
  c.A = NULL;
  CHECK(abut_solve_lcp(context, &c) == ABUT_ERROR_ARGUMENT);
  c.count = 0;
  CHECK_OK(abut_solve_lcp(context, &c));
  batch_free(&p);
}

static bool is_refused(void)
{
  batch p = batch_new(1, 1);
  p.parent[0] = ABUT_LCP_NORMAL;
  p.A[0] = 1.0;
  abut_lcp c = call_of(&p);
  const abut_status status = abut_solve_lcp(context, &c);
  batch_free(&p);
  CHECK(status == ABUT_SUCCESS || status == ABUT_ERROR_SELF_TEST);
  return status == ABUT_ERROR_SELF_TEST;
}

static void test_all(const char *root, size_t count)
{
  test_golden(root, "lcp-small", true);
  test_golden(root, "lcp-random", true);
  test_golden(root, "lcp-degenerate", false);
  test_many(count);
  test_kinds();
  test_refusals();
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 3);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  if (argc > 4 && is_refused()) {
    printf("refused: %s\n", abut_last_error());
  } else {
    test_all(argv[2], strtoul(argv[3], NULL, 10));
  }
  return finish_context(context);
}
