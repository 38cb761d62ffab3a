/* What devices are asked about boxed problems: one that pivoting solves, and one that is left for Lemke's
 * method. Answers by hand: f of the second is 3 / (23 + 3 / 2 - 9 / 2) and half of it. */
#include "geometry/lcp.h"
#include "modules/modules.h"
#include "modules/question.h"
#include <abut/lcp.h>

enum { KNOWN = 2, ROWS = 6, PROBLEMS = 19, ROOM = PROBLEMS * 96 };

static const double matrices[KNOWN * ROWS * ROWS] = {
  2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, //
  0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, //
  23, 3, 9, -4, 7, 1, 3, 27, -2, -15, -7, 4, 9, -2, 20, 2, 1, 9, //
  -4, -15, 2, 13, 9, -7, 7, -7, 1, 9, 18, -9, 1, 4, 9, -7, -9, 26};
static const double constants[KNOWN * ROWS] = {-4, 3, -0.5, 1, 0, 0, -3, -5, 9, 4, -6, -3};
static const double coefficients[KNOWN * ROWS] = {0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5};
static const double forces[KNOWN * ROWS] = {2, -1, 0.5, 0, 0, 0, 0.15, 0.075, -0.075, 0, 0, 0};
static const double speeds[KNOWN * ROWS] = {0, 2,      0,   1,     0,     0,
                                            0, -2.375, 8.7, 2.125, -5.55, -3.225};

static abut_status solve(question *q)
{
  static const answer answers[] = {{"forces of boxed problems", forces, 1, ROWS, {1e-5, 1e-12}, false},
                                   {"speeds of boxed problems", speeds, 1, ROWS, {1e-4, 1e-11}, false}};
  static const int32_t parents[ROWS] = {LCP_NO_PARENT, 0, 0, LCP_NO_PARENT, 3, 3};
  abut_lcp p = abut_default_lcp();
  p.count = PROBLEMS;
  p.rows = ROWS;
  p.parent = parents;
  p.A = question_put(q, matrices, PROBLEMS * ROWS * ROWS, KNOWN * ROWS * ROWS);
  p.b = question_put(q, constants, PROBLEMS * ROWS, KNOWN * ROWS);
  p.mu = question_put(q, coefficients, PROBLEMS * ROWS, KNOWN * ROWS);
  p.f = question_ask(q, PROBLEMS * ROWS);
  p.w = question_ask(q, PROBLEMS * ROWS);
  TRY(abut_solve_lcp(question_context(q), &p));
  TRY(question_compare(q, &answers[0], p.f, PROBLEMS, KNOWN));
  return question_compare(q, &answers[1], p.w, PROBLEMS, KNOWN);
}

static abut_status ask(context *one)
{
  question q;
  TRY(question_open(&q, one, ROOM));
  const abut_status status = solve(&q);
  question_close(&q);
  return status;
}

const module_questions lcp_questions = {{{ask}}};
