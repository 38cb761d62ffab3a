/* Self-tests of boxed problems: one that is solved by pivoting, and one that is left to Lemke's
 * method. The solutions were found by hand: f of the second is 3 / (23 + 3 / 2 - 9 / 2) and half of
 * it. */
#include "geometry/lcp.h"
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include <abut/lcp.h>

enum { KNOWN = 2, ROWS = 6, PROBLEMS = 19, ROOM = PROBLEMS * 96 };

static const double matrices[KNOWN * ROWS * ROWS] = {
  2,  0,   0, 0,  0, 0,  0, 1,  0,  0,   0,  0,  0, 0,  1,  0,  0,  0, //
  0,  0,   0, 4,  0, 0,  0, 0,  0,  0,   1,  0,  0, 0,  0,  0,  0,  1, //
  23, 3,   9, -4, 7, 1,  3, 27, -2, -15, -7, 4,  9, -2, 20, 2,  1,  9, //
  -4, -15, 2, 13, 9, -7, 7, -7, 1,  9,   18, -9, 1, 4,  9,  -7, -9, 26};
static const double constants[KNOWN * ROWS] = {-4, 3, -0.5, 1, 0, 0, -3, -5, 9, 4, -6, -3};
static const double coefficients[KNOWN * ROWS] = {0, 0.5, 0.5, 0, 0.5, 0.5,
                                                  0, 0.5, 0.5, 0, 0.5, 0.5};
static const double forces[KNOWN * ROWS] = {2, -1, 0.5, 0, 0, 0, 0.15, 0.075, -0.075, 0, 0, 0};
static const double speeds[KNOWN * ROWS] = {0, 2, 0, 1, 0, 0, 0, -2.375, 8.7, 2.125, -5.55, -3.225};

static abut_status solve(self_test *t)
{
  static const answer answers[] = {
    {"forces of boxed problems", forces, 1, ROWS, {1e-5, 1e-12}, false},
    {"speeds of boxed problems", speeds, 1, ROWS, {1e-4, 1e-11}, false}};
  static const int32_t parents[ROWS] = {LCP_NO_PARENT, 0, 0, LCP_NO_PARENT, 3, 3};
  abut_lcp p = abut_default_lcp();
  p.count = PROBLEMS;
  p.rows = ROWS;
  p.parent = parents;
  p.A = self_test_put(t, matrices, PROBLEMS * ROWS * ROWS, KNOWN * ROWS * ROWS);
  p.b = self_test_put(t, constants, PROBLEMS * ROWS, KNOWN * ROWS);
  p.mu = self_test_put(t, coefficients, PROBLEMS * ROWS, KNOWN * ROWS);
  p.f = self_test_room(t, PROBLEMS * ROWS);
  p.w = self_test_room(t, PROBLEMS * ROWS);
  TRY(abut_solve_lcp(self_test_context(t), &p));
  TRY(self_test_compare(t, &answers[0], p.f, PROBLEMS, KNOWN));
  return self_test_compare(t, &answers[1], p.w, PROBLEMS, KNOWN);
}

/* ---- long loops ---- */

/* The loops of this problem's work-item take some 2e5 iterations in all. Mesa's llvmpipe (22.3)
 * allows 65535 iterations for all loops of a kernel together, and then leaves every loop after one
 * iteration. */
enum { MANY = 64 };

static abut_status solve_many(self_test *t)
{
  static const double matrix[MANY + 1] = {2}, constant[] = {-4}, force[] = {2};
  static const answer answers[] = {{"forces of many rows", force, 1, 1, {1e-5, 1e-12}, false}};
  int32_t parents[MANY];
  abut_lcp p = abut_default_lcp();
  for (int i = 0; i < MANY; ++i) {
    parents[i] = LCP_NO_PARENT;
  }
  p.count = 1;
  p.rows = MANY;
  p.parent = parents;
  p.A = self_test_put(t, matrix, MANY * MANY, MANY + 1);
  p.b = self_test_put(t, constant, MANY, 1);
  p.f = self_test_room(t, MANY);
  TRY(abut_solve_lcp(self_test_context(t), &p));
  return self_test_compare(t, &answers[0], p.f, MANY, 1);
}

static abut_status test(context *one)
{
  TRY(self_test_run(one, ROOM, solve));
  return self_test_run(one, MANY * (MANY + 2), solve_many);
}

const module_self_tests lcp_self_tests = {{{test}}};
