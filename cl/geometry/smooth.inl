// Smooth operators in their overflow-free forms (docs/dev/spec.md, section 1).

// Returns 1 / (1 + exp(-x)).
static num FN(sigmoid)(num x)
{
  const ilane positive = n_value(x) >= lane_lit(R(0.0));
  const num e = n_exp2(n_select(positive, n_scale(x, -LOG2E), n_scale(x, LOG2E)));
  const num r = n_rcp(n_shift(e, R(1.0)));
  return n_select(positive, r, n_mul(e, r));
}

// Returns the sigmoid, and in *slope its derivative e / (1 + e)^2, where e = exp(-|x|). There is no
// 1 - s that could cancel.
static num FN(sigmoid_and_slope)(num x, num *slope)
{
  const ilane positive = n_value(x) >= lane_lit(R(0.0));
  const num e = n_exp2(n_select(positive, n_scale(x, -LOG2E), n_scale(x, LOG2E)));
  const num r = n_rcp(n_shift(e, R(1.0)));
  const num er = n_mul(e, r);
  *slope = n_mul(er, r);
  return n_select(positive, r, er);
}

// Returns the distance below the margin, in penetrations. Its sigmoid is [phi <= margin].
static num FN(beneath)(num phi, GLOBAL const coefficients *c)
{
  return n_shift(n_scale(phi, -c->penetration_inv), c->margin_share);
}

static num FN(soft_sign)(num x)
{
  return n_shift(n_scale(FN(sigmoid)(n_scale(x, R(2.0))), R(2.0)), R(-1.0));
}

static num FN(soft_sign_and_slope)(num x, num *slope)
{
  num half_slope;
  const num s = FN(sigmoid_and_slope)(n_scale(x, R(2.0)), &half_slope);
  *slope = n_scale(half_slope, R(4.0));
  return n_shift(n_scale(s, R(2.0)), R(-1.0));
}

// The data of the steps at 0 and at 1: e = exp(-|x| / tau), f = exp(-|x - 1| / tau) and 1 / ((1 +
// e)(1 + f)). With these, derivatives are products whose factors cancel only where they vanish.
typedef struct FN(steps) {
  ilane right, above;    // x >= 0, x >= 1
  num e, f, ef, e1, inv; // e1 = 1 + e
} FN(steps);

static FN(steps) FN(steps_of)(num x, real tau_inv)
{
  FN(steps) s;
  const num u = n_scale(x, tau_inv * LOG2E), v = n_scale(n_shift(x, R(-1.0)), tau_inv * LOG2E);
  s.right = n_value(x) >= lane_lit(R(0.0));
  s.above = n_value(x) >= lane_lit(R(1.0));
  s.e = n_exp2(n_select(s.right, n_neg(u), u));
  s.f = n_exp2(n_select(s.above, n_neg(v), v));
  s.ef = n_mul(s.e, s.f);
  s.e1 = n_shift(s.e, R(1.0));
  s.inv = n_rcp(n_mul(s.e1, n_shift(s.f, R(1.0))));
  return s;
}

// Returns one of three numbers, depending on x.
static num FN(by_step)(const FN(steps) *s, num below, num between, num above)
{
  return n_select(s->above, above, n_select(s->right, between, below));
}

// Returns clip(x, 0, 1) = relu(x) - relu(x - 1), where relu(x) = tau softplus(x / tau), and its
// derivative in *slope. The hard clip is taken out of the difference first, because far from [0, 1]
// the two terms would cancel.
static num FN(soft_clip_and_slope)(num x, real tau, real tau_inv, num *slope)
{
  const FN(steps) s = FN(steps_of)(x, tau_inv);
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  *slope = n_mul(FN(by_step)(&s, n_sub(s.e, s.f), n_sub(one, s.ef), n_sub(s.f, s.e)), s.inv);
  // softplus(x / tau) - softplus((x - 1) / tau) without its hard part is ln((1 + e) / (1 + f)).
  const num rest = n_log2(n_mul(n_mul(s.e1, s.e1), s.inv));
  return n_smad(rest, tau * LN2, FN(by_step)(&s, zero, x, one));
}

// Returns the soft [0 < x < 1], and its derivative in *slope.
static num FN(within_and_slope)(num x, real tau_inv, num *slope)
{
  const FN(steps) s = FN(steps_of)(x, tau_inv);
  const num one = n_lit(R(1.0));
  const num inside = n_mul(FN(by_step)(&s, s.e, one, s.f), s.inv);
  const num rise = FN(by_step)(&s, n_sub(one, s.ef), n_sub(s.e, s.f), n_sub(s.ef, one));
  *slope = n_scale(n_mul(inside, n_mul(rise, s.inv)), tau_inv);
  return inside;
}

// Unused results cost nothing once these functions are inlined.
static num FN(soft_clip)(num x, real tau, real tau_inv)
{
  num slope;
  return FN(soft_clip_and_slope)(x, tau, tau_inv, &slope);
}

static num FN(within)(num x, real tau_inv)
{
  num slope;
  return FN(within_and_slope)(x, tau_inv, &slope);
}

// Returns an activity less the floor (docs/dev/spec.md, 6.5), a x^3 (10 - 15 x + 6 x^2), where x =
// a / floor - 1 is clipped (hard) to [0, 1], and its derivative in *slope. It is twice continuously
// differentiable.
static num FN(above_floor_and_slope)(num a, real floor, real floor_inv, num *slope)
{
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  const ilane none = n_value(a) <= lane_lit(floor), all = n_value(a) >= lane_lit(R(2.0) * floor);
  const num x = n_select(none, zero, n_select(all, one, n_shift(n_scale(a, floor_inv), R(-1.0))));
  const num xx = n_mul(x, x), rest = n_sub(one, x);
  const num part =
    n_mul(n_mul(xx, x), n_shift(n_mul(x, n_shift(n_scale(x, R(6.0)), R(-15.0))), R(10.0)));
  const num steep = n_scale(n_mul(xx, n_mul(rest, rest)), R(30.0)); // d part / dx
  *slope = n_select(all, one, n_mad(n_shift(x, R(1.0)), steep, part));
  return n_select(all, a, n_mul(a, part));
}

static num FN(above_floor)(num a, real floor, real floor_inv)
{
  num slope;
  return FN(above_floor_and_slope)(a, floor, floor_inv, &slope);
}

// g / sqrt(tau + g.g)
static vec FN(unit)(vec g, real tau)
{
  const num length = n_sqrt(n_shift(FN(dot3)(g, g), tau));
  return FN(scale3)(g, n_rcp(length));
}

// The cotangent of g from the cotangent of u = unit(g): (bar - u (u.bar)) / length.
static vec FN(unit_adjoint)(vec g, real tau, vec bar)
{
  const num length_inv = n_rcp(n_sqrt(n_shift(FN(dot3)(g, g), tau)));
  const vec u = FN(scale3)(g, length_inv);
  return FN(scale3)(FN(mad3)(u, n_neg(FN(dot3)(u, bar)), bar), length_inv);
}
