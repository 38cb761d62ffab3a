// The derivatives of a superquadric's h (superquadric.inl) by the place in its own frame, by its axes
// and by its exponents. On duals they come with their own derivatives along a direction of the place,
// which are those of grad h along it by the same numbers.
//
// With W the shares of the three terms in f it is dF/d log2 q_i = W_i, and
//   dF/de1 = [F - S_m M - S_z log2 q_z] / e1 = log2(1 + share) - S gap / e1,
// where S is the lesser term's part of the outer sum: both terms are positive, so that nothing cancels.
// dF/de2 is S_m times the same of the inner sum.
typedef struct FN(superquadric_slopes) {
  num h_inv;
  vec place, axes;
  num exponents[2];
} FN(superquadric_slopes);

static FN(superquadric_slopes) FN(superquadric_slopes_at)(GLOBAL const real *s, vec y)
{
  GLOBAL const real *axes_inv = s + SUPERQUADRIC_AXES_INV;
  FN(shares) t;
  FN(superquadric_shares)(s, y, &t);
  FN(superquadric_slopes) r;
  r.h_inv = t.h_inv;
  const num one_over = n_rcp(n_mul(n_mul(t.sum, t.xy_sum), t.h_inv));
  const vec hw = FN(superquadric_weights)(&t, one_over);
  r.place = FN(make)(n_scale(n_div(n_mul(hw.x, t.u.x), t.q.x), axes_inv[0]),
                     n_scale(n_div(n_mul(hw.y, t.u.y), t.q.y), axes_inv[1]),
                     n_scale(n_div(n_mul(hw.z, t.u.z), t.q.z), axes_inv[2]));
  r.axes = FN(make)(n_neg(n_mul(r.place.x, t.u.x)), n_neg(n_mul(r.place.y, t.u.y)),
                    n_neg(n_mul(r.place.z, t.u.z)));
  const num half_h = n_scale(n_mul(n_mul(one_over, t.sum), t.xy_sum), R(0.5) * LN2);
  const num sum_inv = n_rcp(t.sum), rest = n_mul(t.share, sum_inv);
  const num inner = n_mul(t.xy_e, n_rcp(t.xy_sum));
  const num by_e1 =
    n_sub(n_log2_1p(t.share), n_scale(n_mul(rest, t.gap), s[SUPERQUADRIC_E1_INV]));
  const num by_e2 =
    n_sub(n_log2_1p(t.xy_e), n_scale(n_mul(inner, t.xy_gap), s[SUPERQUADRIC_E2_INV]));
  r.exponents[0] = n_mul(half_h, by_e1);
  r.exponents[1] = n_mul(half_h, n_mul(n_select(t.m_leads, sum_inv, rest), by_e2));
  return r;
}
