// The compliance of rows of soft constraints: impedance and stiffness; docs/dev/cone-formulas.md,
// section 8.

#define MIN_DIAGONAL R(1e-15)

static num FN(raised)(num x, real least)
{
  return n_select(n_value(x) < n_plain(least), n_lit(least), x);
}

// Returns a^p for a in [0, 1] and p >= 1.
static num FN(power)(num a, real p)
{
  if (p == R(2.0)) {
    return n_mul(a, a);
  }
  if (p == R(1.0)) {
    return a;
  }
  const n_mask none = n_value(a) <= n_plain(REAL_TINY);
  const num safe = n_select(none, n_lit(R(1.0)), a);
  return n_select(none, n_lit(R(0.0)), n_exp2(n_scale(n_log2(safe), p)));
}

// Returns the impedance d(r) of a softness; docs/dev/cone-formulas.md, section 8.
static num FN(impedance)(GLOBAL const real *soft, num r)
{
  const real d0 = soft[SOFT_D0], d1 = soft[SOFT_D1], middle = soft[SOFT_MIDDLE];
  const real power = soft[SOFT_POWER];
  if (soft[SOFT_WIDTH] <= R(1e-15) || d0 == d1) {
    return n_lit((d0 + d1) * R(0.5));
  }
  const num part = n_scale(n_abs(r), R(1.0) / soft[SOFT_WIDTH]);
  const n_mask beyond = n_value(part) >= n_plain(R(1.0));
  const num x = n_select(beyond, n_lit(R(1.0)), part);
  const n_mask first = n_value(x) <= n_plain(middle);
  const num from = n_scale(n_select(first, x, n_sub(n_lit(R(1.0)), x)), R(1.0) / middle);
  const real other = R(1.0) - middle;
  const num low = n_scale(FN(power)(n_select(first, from, n_lit(R(0.0))), power), middle);
  const num back = n_scale(n_select(first, n_lit(R(0.0)), n_sub(n_lit(R(1.0)), x)), R(1.0) / other);
  const num high = n_sub(n_lit(R(1.0)), n_scale(FN(power)(back, power), other));
  return n_smad(n_select(first, low, high), d1 - d0, n_lit(d0));
}

// Returns the stiffness D = e / ((1 - e) A) of a row, where e = activity d(r) and A is the
// diagonal.
static num FN(row_stiffness)(num e, num diagonal)
{
  const num below = n_mul(n_sub(n_lit(R(1.0)), e), diagonal);
  return n_mul(e, n_rcp(FN(raised)(below, MIN_DIAGONAL)));
}
