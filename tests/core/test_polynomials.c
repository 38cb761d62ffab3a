/* The base-2 exponential and logarithm that lanes use, against long double. REAL_DOUBLE is the
 * build's. */
#include "support/check.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#define LANES 1
#define NUM_FORCE_POLYNOMIALS
#if REAL_DOUBLE
typedef int64_t real_bits;
#define FORMAT "double"
#define LOG2_ABSOLUTE 3e-16L
#else
typedef int32_t real_bits;
#define FORMAT "float"
#define LOG2_ABSOLUTE 1.5e-7L
#endif

#if REAL_DOUBLE
static real_bits real_as_int(double x)
#else
static real_bits real_as_int(float x)
#endif
{
  real_bits bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#if REAL_DOUBLE
static double real_as_real(real_bits bits)
{
  double x;
#else
static float real_as_real(real_bits bits)
{
  float x;
#endif
  memcpy(&x, &bits, sizeof x);
  return x;
}

#include "num/real.h"

#define SAMPLES 3000000

/* The distance between neighbours at |x|, at least that at the smallest normal number. */
static long double ulp(long double x)
{
  int exponent;
  const long double size = fabsl(x) < REAL_TINY ? REAL_TINY : fabsl(x);
  frexpl(size, &exponent);
  return ldexpl(REAL_EPSILON, exponent - 1);
}

static void test_exp2(void)
{
  uint64_t seed = 3;
  long double worst = 0.0L;
  real at = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    const double u = random_uniform(&seed);
    const double any = (double)EXP2_LOW + u * ((double)EXP2_HIGH - (double)EXP2_LOW);
    const real x = (real)(i % 3 ? any : i % 2 ? 2.0 * u - 1.0 : 1e-3 * (u - 0.5));
    const long double want = exp2l(x);
    const long double error = fabsl(lane_exp2(x) - want) / ulp(want);
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  printf(FORMAT " exp2: worst %.3Lf ulp, at %.9g\n", worst, (double)at);
  check(worst <= 2.0L, "exp2 is off by %.3Lf ulp at %.17g", worst, (double)at);
  for (int k = (int)EXP2_LOW; k <= (int)EXP2_HIGH; ++k) {
    if (lane_exp2((real)k) != (real)ldexp(1.0, k)) {
      check(false, "exp2(%d) is %g", k, (double)lane_exp2((real)k));
      break;
    }
  }
  const real tiny = (real)nextafter((double)EXP2_LOW, -1e9) < EXP2_LOW
                      ? (real)nextafter((double)EXP2_LOW, -1e9)
                      : EXP2_LOW - (real)0.001;
  check(lane_exp2(EXP2_LOW) == REAL_TINY, "the smallest normal power: %g",
        (double)lane_exp2(EXP2_LOW));
  check(lane_exp2(tiny) == 0, "below it: %g", (double)lane_exp2(tiny));
  check(lane_exp2(-REAL_MOST) == 0, "far below it: %g", (double)lane_exp2(-REAL_MOST));
  check(lane_exp2((real)-INFINITY) == 0, "of -infinity: %g", (double)lane_exp2((real)-INFINITY));
  const real top = (real)ldexp(1.0, (int)EXP2_HIGH);
  check(lane_exp2(EXP2_HIGH) == top && lane_exp2(EXP2_HIGH + (real)1) == top &&
          lane_exp2(REAL_MOST) == top && lane_exp2((real)INFINITY) == top,
        "saturates at %g", (double)top);
}

static void test_log2(void)
{
  uint64_t seed = 4;
  long double worst = 0.0L;
  real at = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    const double u = random_uniform(&seed), v = random_uniform(&seed);
    const double power = (double)EXP2_LOW + v * ((double)EXP2_HIGH - (double)EXP2_LOW);
    const real x = (real)(i % 3   ? (1.0 + u) * exp2(floor(power))
                          : i % 2 ? 0.5 + u
                                  : 1.0 + 1e-3 * (u - 0.5));
    const long double want = log2l(x);
    const long double error = (fabsl(lane_log2(x) - want) - ulp(want)) / LOG2_ABSOLUTE;
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  printf(FORMAT " log2: worst %.3Lf of %.1Le beside an ulp, at %.9g\n", worst, LOG2_ABSOLUTE,
         (double)at);
  check(worst <= 1.0L, "log2 is off by %.3Le beside an ulp at %.17g", worst * LOG2_ABSOLUTE,
        (double)at);
  check(lane_log2((real)1) == 0, "log2(1) is %g", (double)lane_log2((real)1));
  for (int k = (int)EXP2_LOW; k <= (int)EXP2_HIGH; ++k) {
    if (lane_log2((real)ldexp(1.0, k)) != (real)k) {
      check(false, "log2(2^%d) is %g", k, (double)lane_log2((real)ldexp(1.0, k)));
      break;
    }
  }
}

/* log2(1 + x) to a few ulp of itself, however small x is. */
static void test_log2_1p(void)
{
  uint64_t seed = 5;
  long double worst = 0.0L;
  real at = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    const double u = random_uniform(&seed);
    const real x = (real)(i % 2 ? u : exp2((double)EXP2_LOW * u));
    const long double want = log1pl(x) * 1.4426950408889634073599L;
    const long double error = fabsl(lane_log2_1p(x) - want) / ulp(want);
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  printf(FORMAT " log2_1p: worst %.3Lf ulp, at %.9g\n", worst, (double)at);
  check(worst <= 5.0L, "log2_1p is off by %.3Lf ulp at %.17g", worst, (double)at);
  check(lane_log2_1p((real)0) == 0, "log2_1p(0) is %g", (double)lane_log2_1p((real)0));
}

int main(void)
{
  test_exp2();
  test_log2();
  test_log2_1p();
  return check_finish();
}
