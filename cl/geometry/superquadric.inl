// Superquadric (Beker et al., eq. 3, times |x| as in Liu et al. 2023, Marching-Primitives).
//
//   q_i = (y_i / a_i)^2 + 1e-12
//   M = e2 log2 [q_x^(1/e2) + q_y^(1/e2)]
//   F = e1 log2 f = e1 log2 [2^(M/e1) + q_z^(1/e1)],  h = 2^(F/2)
//   phi = r (1 - 1/h),  r = sqrt(|y|^2 + 1e-12 |a|^2)
// All powers in base-2 logarithms: with e1 = 0.1 they overflow float a few radii away. Both sums
// are taken relative to their larger term, so 1/e multiplies differences alone. x: a point of the
// body frame. g, where wanted: grad h, not of length 1.
static num FN(superquadric)(GLOBAL const real *s, vec x, const int want_g, vec *g)
{
  const vec position =
    FN(make)(n_lit(s[SUPERQUADRIC_POSITION]), n_lit(s[SUPERQUADRIC_POSITION + 1]),
             n_lit(s[SUPERQUADRIC_POSITION + 2]));
  const vec y = FN(rotate_back)(s, FN(sub3)(x, position));
  GLOBAL const real *axes_inv = s + SUPERQUADRIC_AXES_INV;
  const vec u = FN(make)(n_scale(y.x, axes_inv[0]), n_scale(y.y, axes_inv[1]),
                         n_scale(y.z, axes_inv[2]));
  const num qx = n_shift(n_mul(u.x, u.x), R(1e-12));
  const num qy = n_shift(n_mul(u.y, u.y), R(1e-12));
  const num qz = n_shift(n_mul(u.z, u.z), R(1e-12));
  const num lx = n_log2(qx);
  const num ly = n_log2(qy);
  const num lz = n_log2(qz);

  const ilane x_leads = n_value(lx) > n_value(ly);
  const num xy_hi = n_select(x_leads, lx, ly);
  const num xy_e = n_exp2(n_scale(n_sub(n_select(x_leads, ly, lx), xy_hi), s[SUPERQUADRIC_E2_INV]));
  const num xy_sum = n_shift(xy_e, R(1.0));
  const num m = n_smad(n_log2(xy_sum), s[SUPERQUADRIC_E2], xy_hi);

  const ilane m_leads = n_value(m) > n_value(lz);
  const num most = n_select(m_leads, m, lz);
  const num share = n_exp2(n_scale(n_sub(n_select(m_leads, lz, m), most), s[SUPERQUADRIC_E1_INV]));
  const num sum = n_shift(share, R(1.0));
  const num f = n_smad(n_log2(sum), s[SUPERQUADRIC_E1], most);

  const num h_inv = n_exp2(n_scale(f, R(-0.5)));
  const num r = n_sqrt(n_shift(FN(dot3)(y, y), s[SUPERQUADRIC_FLOOR]));

  if (want_g) {
    // dh/dy_i = h w_i (u_i / a_i) / q_i with w = shares of the terms in f and in its inner sum.
    const num one_over = n_rcp(n_mul(n_mul(sum, xy_sum), h_inv));
    const num lead = n_mul(one_over, xy_sum);
    const num wz = n_select(m_leads, n_mul(share, lead), lead);
    const num wm = n_select(m_leads, one_over, n_mul(share, one_over));
    const num wx = n_select(x_leads, wm, n_mul(xy_e, wm));
    const num wy = n_select(x_leads, n_mul(xy_e, wm), wm);
    const vec inner = FN(make)(n_scale(n_div(n_mul(wx, u.x), qx), axes_inv[0]),
                               n_scale(n_div(n_mul(wy, u.y), qy), axes_inv[1]),
                               n_scale(n_div(n_mul(wz, u.z), qz), axes_inv[2]));
    *g = FN(rotate)(s, inner);
  }
  return n_sub(r, n_mul(r, h_inv));
}
