/* The judgement behind `abut-dev gradcheck`, on functions whose derivatives are known: it must pass
 * right ones, part from wrong ones however small the mistake, and tell kinks from both. */
#include "dev/gradcheck/quotients.h"

#include "support/check.h"
#include <math.h>

typedef double (*function)(double x);

static double wave(double x)
{
  return sin(3.0 * x);
}

static double bent(double x)
{
  return fabs(x);
}

static double bent_nearby(double x)
{
  return 2.0 * x + fabs(x - 3e-4);
}

static double half_square(double x)
{
  return x > 0.0 ? x * x : 0.0;
}

static double step_up(double x)
{
  return x >= 0.0 ? 1.0 : 0.0;
}

static double not_a_number(double x)
{
  return x > 0.0 ? NAN : 1.0;
}

static double far_away(double x)
{
  return 1e6 + sin(x);
}

#define WIDEST 4e-3 /* the first round's h */

static quotients around(function f, double x, double h)
{
  quotients q = {.middle = f(x)};
  for (int s = 0; s < STEPS; ++s) {
    const double low = x - h / (1 << s), high = x + h / (1 << s);
    q.span[s] = high - low;
    q.low[s] = f(low);
    q.high[s] = f(high);
  }
  return q;
}

/* As gradcheck does it, in up to `rounds` rounds. */
static tally tried(function f, double x, double derivative, int rounds)
{
  entry e = entry_start();
  tally t = {0};
  double h = WIDEST;
  for (int i = 0; i < rounds; ++i, h /= 8.0) {
    const quotients q = around(f, x, h);
    if (entry_try(&e, &q, derivative, fmax(fabs(derivative), rounding_scale(&q)))) {
      break;
    }
  }
  tally_entry(&t, &e, (place){0, 0});
  return t;
}

static void test_right(void)
{
  const tally t = tried(wave, 0.3, 3.0 * cos(0.9), 3);
  check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_OK, "a right derivative is off by %g", t.worst);
  check(t.worst < 1e-9, "extrapolation is off by %g", t.worst);
  check(t.sloped == 1 && t.second_order == 1, "%zu of %zu of second order", t.second_order,
        t.sloped);
  check(t.entries == 1 && t.rough == 0, "%zu entries, %zu rough", t.entries, t.rough);
}

/* Mistakes that are made: a factor, a sign, a lost term, nothing at all, not a number. */
static void test_wrong(void)
{
  const double right = 3.0 * cos(0.9);
  const double wrong[] = {right * (1.0 + 3e-5),
                          right * (1.0 - 3e-5),
                          -right,
                          2.0 * right,
                          0.0,
                          right + 0.1,
                          1e30,
                          INFINITY,
                          NAN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    for (int rounds = 1; rounds <= 3; ++rounds) {
      const tally t = tried(wave, 0.3, wrong[i], rounds);
      check(judge(&t, DIFFERENCE_LIMIT) != VERDICT_OK, "%g passes for %g", wrong[i], right);
    }
  }
  const tally t = tried(wave, 0.3, 2.0 * right, 3);
  check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_PARTS && t.rough == 0, "twice the slope: %g",
        t.worst);
}

/* One wrong entry of a million right ones is enough, and its place is told. */
static void test_place(void)
{
  tally t = {.entries = 1000000};
  entry e = entry_start();
  const quotients q = around(wave, 0.3, WIDEST);
  entry_try(&e, &q, 0.0, 1.0);
  tally_entry(&t, &e, (place){7, 11});
  check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_PARTS, "one of a million is lost");
  check(t.at.pose == 7 && t.at.column == 11, "at pose %zu, column %zu", t.at.pose, t.at.column);
}

static void test_kinks(void)
{
  static const struct {
    function f;
    const char *name;
  } kinks[] = {{bent, "|x|"}, {step_up, "a step"}, {not_a_number, "NaN"}};
  for (size_t i = 0; i < sizeof kinks / sizeof *kinks; ++i) {
    const tally t = tried(kinks[i].f, 0.0, 1.0, 3);
    check(t.rough == 1 && t.worst == 0.0, "%s: %zu rough, %g", kinks[i].name, t.rough, t.worst);
    check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_ROUGH, "%s alone is shown right", kinks[i].name);
  }
  tally t = tried(bent, 0.0, 0.0, 3); /* the mean of both slopes is no derivative either */
  check(t.rough == 1, "|x| at 0 is smooth");
  t = tried(half_square, 0.0, 0.0, 3); /* the second derivative jumps, not the first */
  check(judge(&t, DIFFERENCE_LIMIT) != VERDICT_PARTS, "max(x, 0)^2 parts by %g", t.worst);
}

/* A kink within the first steps: shorter ones find the slope beside it, right or wrong. */
static void test_rounds(void)
{
  tally t = tried(bent_nearby, 0.0, 1.0, 1);
  check(t.rough == 1, "the kink at 3e-4 is not seen");
  t = tried(bent_nearby, 0.0, 1.0, 3);
  check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_OK && t.rough == 0, "beside a kink: %g", t.worst);
  t = tried(bent_nearby, 0.0, 1.1, 3);
  check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_PARTS, "a wrong slope hides beside a kink");
}

/* Wherever a kink lies within the steps, a quotient across it is never taken for a slope. */
static void test_kink_positions(void)
{
  for (int i = -40; i <= 40; ++i) {
    const double x = WIDEST * 1.25 * i / 40.0;
    const quotients q = around(bent, x, WIDEST);
    entry e = entry_start();
    entry_try(&e, &q, x < 0.0 ? -1.0 : 1.0, 1.0);
    check(isnan(e.error) || e.error < DIFFERENCE_LIMIT, "a kink %g away parts by %g", -x, e.error);
  }
}

static void test_share(void)
{
  tally t = {.entries = 100, .rough = 5};
  check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_OK, "a few kinks are not right");
  t.rough = 50;
  check(judge(&t, DIFFERENCE_LIMIT) == VERDICT_ROUGH, "half of kinks are right");
}

/* Where a value is large, rounding is no error; a slope that stands out from it is judged. */
static void test_rounding(void)
{
  tally t = tried(far_away, 0.0, 1.0, 1);
  check(judge(&t, DIFFERENCE_LIMIT) != VERDICT_PARTS, "rounding parts by %g", t.worst);
  quotients q = around(far_away, 0.0, WIDEST);
  check(rounding_scale(&q) > 1e-3, "the rounding of 1e6 is thought to be %g", rounding_scale(&q));
}

static void test_exact(void)
{
  tally t = {0};
  tally_exact(&t, 1.0, 1.0 + 1e-12, 1.0, (place){0, 0});
  tally_exact(&t, 0.0, 0.0, 0.0, (place){0, 0});
  check(judge(&t, EXACT_LIMIT) == VERDICT_OK && t.entries == 2, "off by %g", t.worst);
  tally_exact(&t, 1e-20, 0.0, 0.0, (place){1, 2});
  check(judge(&t, EXACT_LIMIT) == VERDICT_PARTS && t.at.column == 2, "0 is %g", t.worst);
  t = (tally){0};
  tally_exact(&t, NAN, 1.0, 1.0, (place){0, 0});
  check(judge(&t, EXACT_LIMIT) == VERDICT_PARTS, "NaN is 1");
}

/* A motion that changes nothing leaves rounding in one of two derivatives. What stands out from it
 * is judged. */
static void test_still(void)
{
  const double still = parameter_scale(0.0, 2.0);
  tally t = {0};
  tally_exact(&t, 3e-17, 0.0, still, (place){0, 5});
  check(judge(&t, EXACT_LIMIT) == VERDICT_OK && t.worst < 1e-12, "rounding parts by %g", t.worst);
  tally_exact(&t, 1e-9, 0.0, still, (place){0, 5});
  check(judge(&t, EXACT_LIMIT) == VERDICT_PARTS, "1e-9 of the largest passes for 0");
  t = (tally){0};
  tally_exact(&t, INFINITY, 0.0, parameter_scale(0.0, INFINITY), (place){0, 5});
  check(judge(&t, EXACT_LIMIT) == VERDICT_PARTS, "infinity passes for 0");
  check(parameter_scale(0.5, 2.0) == 0.5 && parameter_scale(0.0, 0.0) == 0.0,
        "a scale that stands out is changed");
}

int main(void)
{
  test_right();
  test_wrong();
  test_place();
  test_kinks();
  test_rounds();
  test_kink_positions();
  test_share();
  test_rounding();
  test_exact();
  test_still();
  return check_finish();
}
