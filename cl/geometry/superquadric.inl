// A superquadric (docs/dev/spec.md, section 4; Beker et al., eq. 3, times |x| as in Liu et al.
// 2023, Marching-Primitives).
//
//   q_i = (y_i / a_i)^2 + 1e-12
//   M = e2 log2 [q_x^(1/e2) + q_y^(1/e2)]
//   F = e1 log2 f = e1 log2 [2^(M/e1) + q_z^(1/e1)],  h = 2^(F/2)
//   phi = r (1 - 1/h),  r = sqrt(|y|^2 + 1e-12 |a|^2)
// All powers are computed as base-2 logarithms, because with e1 = 0.1 they overflow float a few
// radii away. Both sums are relative to their larger term, so that 1/e only multiplies differences.
// x is a point in the body's frame, and g is grad h, which is not of length 1.
#define SUPERQUADRIC_SOFT R(1e-12)

// Logarithms of sums, and the data for their derivatives.
typedef struct FN(shares) {
  vec u, q;      // y_i / a_i; q_i
  ilane x_leads; // in the inner sum, whose terms are 1 and xy_e relative to the larger
  ilane m_leads; // in the outer sum, of 1 and share
  num xy_e, xy_sum, share, sum;
  num xy_gap, gap; // the logarithms of xy_e and of share, times the exponents
  num h_inv;
} FN(shares);

static void FN(superquadric_shares)(GLOBAL const real *s, vec y, FN(shares) *t)
{
  GLOBAL const real *axes_inv = s + SUPERQUADRIC_AXES_INV;
  t->u = FN(make)(n_scale(y.x, axes_inv[0]), n_scale(y.y, axes_inv[1]), n_scale(y.z, axes_inv[2]));
  t->q = FN(make)(n_shift(n_mul(t->u.x, t->u.x), SUPERQUADRIC_SOFT),
                  n_shift(n_mul(t->u.y, t->u.y), SUPERQUADRIC_SOFT),
                  n_shift(n_mul(t->u.z, t->u.z), SUPERQUADRIC_SOFT));
  const num lx = n_log2(t->q.x);
  const num ly = n_log2(t->q.y);
  const num lz = n_log2(t->q.z);

  t->x_leads = n_value(lx) > n_value(ly);
  const num xy_hi = n_select(t->x_leads, lx, ly);
  t->xy_gap = n_sub(n_select(t->x_leads, ly, lx), xy_hi);
  t->xy_e = n_exp2(n_scale(t->xy_gap, s[SUPERQUADRIC_E2_INV]));
  t->xy_sum = n_shift(t->xy_e, R(1.0));
  const num m = n_smad(n_log2_1p(t->xy_e), s[SUPERQUADRIC_E2], xy_hi);

  t->m_leads = n_value(m) > n_value(lz);
  const num most = n_select(t->m_leads, m, lz);
  t->gap = n_sub(n_select(t->m_leads, lz, m), most);
  t->share = n_exp2(n_scale(t->gap, s[SUPERQUADRIC_E1_INV]));
  t->sum = n_shift(t->share, R(1.0));
  const num f = n_smad(n_log2_1p(t->share), s[SUPERQUADRIC_E1], most);
  t->h_inv = n_exp2(n_scale(f, R(-0.5)));
}

// Returns h w, where w are the shares of the three terms in f; one_over is h over both sums.
static vec FN(superquadric_weights)(const FN(shares) *t, num one_over)
{
  const num lead = n_mul(one_over, t->xy_sum);
  const num wz = n_select(t->m_leads, n_mul(t->share, lead), lead);
  const num wm = n_select(t->m_leads, one_over, n_mul(t->share, one_over));
  return FN(make)(n_select(t->x_leads, wm, n_mul(t->xy_e, wm)),
                  n_select(t->x_leads, n_mul(t->xy_e, wm), wm), wz);
}

// Returns R a R' for a rotation R, m by rows.
static FN(symmetric) FN(rotate_symmetric)(GLOBAL const real *m, FN(symmetric) a)
{
  const vec x = FN(rotate)(m, FN(make)(a.xx, a.xy, a.xz));
  const vec y = FN(rotate)(m, FN(make)(a.xy, a.yy, a.yz));
  const vec z = FN(rotate)(m, FN(make)(a.xz, a.yz, a.zz));
  const vec from_x = FN(rotate)(m, FN(make)(x.x, y.x, z.x));
  const vec from_y = FN(rotate)(m, FN(make)(x.y, y.y, z.y));
  FN(symmetric) r;
  r.xx = from_x.x;
  r.xy = from_x.y;
  r.xz = from_x.z;
  r.yy = from_y.y;
  r.yz = from_y.z;
  r.zz = FN(rotate)(m, FN(make)(x.z, y.z, z.z)).z;
  return r;
}

// Returns the second derivatives of h in the superquadric's own frame, times `scale`. With k_i = 1
// / (a_i q_i), rho = u k, the shares m + z = 1 of the outer sum and x + y = 1 of the inner one, and
// b_i = 2 / e_i - 1 they are
//   H_xx = h w_x [rho_x^2 (b1 z x + b2 y) + 1e-12 k_x^2],  H_zz = h w_z [rho_z^2 b1 m + ...]
//   H_xy = h w_x rho_x y rho_y (b1 z - b2),  H_xz = -h w_x rho_x b1 z rho_z
// No term is a difference of larger ones: h is convex, and its flat directions stay flat. hw is h w
// of superquadric_weights.
static FN(symmetric) FN(superquadric_bend)(GLOBAL const real *s, const FN(shares) *t, vec hw,
                                           vec q_inv, num one_over, num scale)
{
  // With an exponent below rounding the surface has a corner between two numbers; b stays finite.
  const real b1 = real_min(R(2.0) * s[SUPERQUADRIC_E1_INV], R(1.0) / REAL_EPSILON) - R(1.0);
  const real b2 = real_min(R(2.0) * s[SUPERQUADRIC_E2_INV], R(1.0) / REAL_EPSILON) - R(1.0);
  const num outer = n_mul(n_mul(one_over, t->xy_sum), t->h_inv);
  const num inner = n_mul(n_mul(one_over, t->sum), t->h_inv);
  const num outer_rest = n_mul(t->share, outer);
  const num inner_rest = n_mul(t->xy_e, inner);
  const num b1m = n_scale(n_select(t->m_leads, outer, outer_rest), b1);
  const num b1z = n_scale(n_select(t->m_leads, outer_rest, outer), b1);
  const num in_x = n_select(t->x_leads, inner, inner_rest);
  const num in_y = n_select(t->x_leads, inner_rest, inner);
  const vec k = FN(make)(n_scale(q_inv.x, s[SUPERQUADRIC_AXES_INV]),
                         n_scale(q_inv.y, s[SUPERQUADRIC_AXES_INV + 1]),
                         n_scale(q_inv.z, s[SUPERQUADRIC_AXES_INV + 2]));
  const vec rho = FN(make)(n_mul(t->u.x, k.x), n_mul(t->u.y, k.y), n_mul(t->u.z, k.z));
  const vec wk = FN(make)(n_mul(n_mul(hw.x, scale), k.x), n_mul(n_mul(hw.y, scale), k.y),
                          n_mul(n_mul(hw.z, scale), k.z));
  const vec p = FN(make)(n_mul(wk.x, t->u.x), n_mul(wk.y, t->u.y), n_mul(wk.z, t->u.z));
  const num along = n_mul(rho.z, b1z);
  FN(symmetric) r;
  r.xx = n_mad(n_mul(p.x, rho.x), n_mad(b1z, in_x, n_scale(in_y, b2)),
               n_mul(wk.x, n_scale(k.x, SUPERQUADRIC_SOFT)));
  r.yy = n_mad(n_mul(p.y, rho.y), n_mad(b1z, in_y, n_scale(in_x, b2)),
               n_mul(wk.y, n_scale(k.y, SUPERQUADRIC_SOFT)));
  r.zz = n_mad(n_mul(p.z, rho.z), b1m, n_mul(wk.z, n_scale(k.z, SUPERQUADRIC_SOFT)));
  r.xy = n_mul(n_mul(p.x, n_mul(in_y, rho.y)), n_shift(b1z, -b2));
  r.xz = n_neg(n_mul(p.x, along));
  r.yz = n_neg(n_mul(p.y, along));
  return r;
}

// Returns the second derivatives of phi = r - r / h, with k = 1 / h and y the point relative to the
// centre:
//   (1 - k) (I - y y' / r^2) / r + k^2 (y g' + g y') / r + r k^2 H - 2 r k^3 g g',
// where g and H are the derivatives of h.
static FN(symmetric) FN(superquadric_curve)(GLOBAL const real *s, const FN(shares) *t, vec from,
                                            vec hw, vec q_inv, num one_over, num r, vec g)
{
  const num r_inv = n_rcp(r), k2 = n_mul(t->h_inv, t->h_inv), rk2 = n_mul(r, k2);
  const num radial = n_mul(n_sub(n_lit(R(1.0)), t->h_inv), r_inv);
  const vec u = FN(scale3)(from, r_inv);
  FN(symmetric) a = FN(rotate_symmetric)(s, FN(superquadric_bend)(s, t, hw, q_inv, one_over, rk2));
  a.xx = n_add(a.xx, radial);
  a.yy = n_add(a.yy, radial);
  a.zz = n_add(a.zz, radial);
  a = FN(symmetric_add)(a, u, u, n_neg(radial));
  const vec turn = FN(mad3)(g, n_neg(n_mul(r, t->h_inv)), u);
  return FN(symmetric_add)(a, turn, g, n_scale(k2, R(2.0)));
}

static void FN(superquadric)(GLOBAL const real *s, GLOBAL const coefficients *c, vec x,
                             const int want, FN(surface) *out)
{
  const vec position = FN(make)(n_lit(s[SUPERQUADRIC_POSITION]),
                                n_lit(s[SUPERQUADRIC_POSITION + 1]),
                                n_lit(s[SUPERQUADRIC_POSITION + 2]));
  const vec from = FN(sub3)(x, position);
  const vec y = FN(rotate_back)(s, from);
  GLOBAL const real *axes_inv = s + SUPERQUADRIC_AXES_INV;
  FN(shares) t;
  FN(superquadric_shares)(s, y, &t);
  const num r = n_sqrt(n_shift(FN(dot3)(y, y), s[SUPERQUADRIC_FLOOR]));
  out->phi = n_sub(r, n_mul(r, t.h_inv));
  if (!want) {
    return;
  }
  const num one_over = n_rcp(n_mul(n_mul(t.sum, t.xy_sum), t.h_inv));
  const vec hw = FN(superquadric_weights)(&t, one_over);
  // dh/dy_i = h w_i (u_i / a_i) / q_i
  const vec wu = FN(make)(n_mul(hw.x, t.u.x), n_mul(hw.y, t.u.y), n_mul(hw.z, t.u.z));
  const vec q_inv = FN(make)(n_rcp(t.q.x), n_rcp(t.q.y), n_rcp(t.q.z));
  const vec p = want & (JET_JACOBIAN | JET_HESSIAN)
                  ? FN(make)(n_mul(wu.x, q_inv.x), n_mul(wu.y, q_inv.y), n_mul(wu.z, q_inv.z))
                  : FN(make)(n_div(wu.x, t.q.x), n_div(wu.y, t.q.y), n_div(wu.z, t.q.z));
  out->g = FN(rotate)(s, FN(make)(n_scale(p.x, axes_inv[0]), n_scale(p.y, axes_inv[1]),
                                  n_scale(p.z, axes_inv[2])));
  if (want & JET_GRADIENT) {
    // grad phi = (1 - 1/h) y / r + (r / h^2) grad h; r / h has the magnitude of the axes
    // everywhere.
    const num radial = n_div(n_sub(n_lit(R(1.0)), t.h_inv), r);
    const num steep = n_mul(n_mul(r, t.h_inv), t.h_inv);
    out->gradient = FN(mad3)(out->g, steep, FN(scale3)(from, radial));
  }
  if (want & JET_JACOBIAN) {
    const num scale = FN(unit_scale)(out->g, c->normal);
    out->bend = FN(rows_of)(
      FN(rotate_symmetric)(s, FN(superquadric_bend)(s, &t, hw, q_inv, one_over, scale)));
  }
  if (want & JET_HESSIAN) {
    out->curve = FN(superquadric_curve)(s, &t, from, hw, q_inv, one_over, r, out->g);
  }
}
