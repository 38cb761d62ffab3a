// The curves of the spring law (docs/dev/spring-formulas.md, "Field, separation, force", 3).
// Springs between bodies use them, and so do the springs that keep joints within their limits.
//
// The host path compiles all suites as one text, in which two suites include this file for the same
// numbers. The guards below prevent a second definition.
#if NUM_DUAL ? !defined(SPRING_CURVES_DUAL) : !defined(SPRING_CURVES)
#if NUM_DUAL
#define SPRING_CURVES_DUAL
#else
#define SPRING_CURVES
#endif

#ifndef SPRING_LINEAR
#if REAL_DOUBLE
#define SPRING_LINEAR R(1e-16) // up to here log(1 + e) is e to rounding
#else
#define SPRING_LINEAR R(6e-8)
#endif
#endif

// Returns softplus(y) = log(1 + exp(y)), and its derivative, sigmoid(y), in *slope. It uses
// exp(-|y|), which cannot overflow.
static num FN(spring_softplus)(num y, num *slope)
{
  const ilane below = n_value(y) < lane_lit(R(0.0));
  const num e = n_exp2(n_scale(n_select(below, y, n_neg(y)), LOG2E));
  const num share = n_rcp(n_shift(e, R(1.0)));
  *slope = n_select(below, n_mul(e, share), share);
  const num more = lane_any(n_value(e) > lane_lit(SPRING_LINEAR)) ? n_scale(n_log2_1p(e), LN2) : e;
  return n_add(more, n_select(below, n_lit(R(0.0)), y));
}

// Returns the dissipation D(x) of x = v_n / v_d, and its derivative in *slope. D is 1 - x up to 0,
// (x - 2)^2 / 4 up to 2 and 0 beyond. If `smooth` is set, it is softplus(log(e^2 - 1) - 2 x) / 2.
static num FN(spring_dissipation)(num x, int smooth, num *slope)
{
  if (smooth) {
    num share;
    const num soft = FN(spring_softplus)(n_smad(x, R(-2.0), n_lit(R(1.854586542131141))), &share);
    *slope = n_neg(share);
    return n_scale(soft, R(0.5));
  }
  const num zero = n_lit(R(0.0)), rest = n_shift(x, R(-2.0));
  const ilane closing = n_value(x) <= lane_lit(R(0.0)), parting = n_value(x) > lane_lit(R(2.0));
  *slope = n_select(closing, n_lit(R(-1.0)), n_select(parting, zero, n_scale(rest, R(0.5))));
  return n_select(closing, n_shift(n_neg(x), R(1.0)),
                  n_select(parting, zero, n_scale(n_mul(rest, rest), R(0.25))));
}

// Returns the second derivative of D.
static num FN(spring_dissipation_bend)(num x, int smooth)
{
  if (smooth) {
    num share;
    (void)FN(spring_softplus)(n_smad(x, R(-2.0), n_lit(R(1.854586542131141))), &share);
    return n_scale(n_mul(share, n_sub(n_lit(R(1.0)), share)), R(2.0));
  }
  const ilane between = (n_value(x) > lane_lit(R(0.0))) & (n_value(x) <= lane_lit(R(2.0)));
  return n_select(between, n_lit(R(0.5)), n_lit(R(0.0)));
}

#endif
