// The derivatives of a superquadric's h (superquadric.inl) by the place in its own frame, by its
// axes and by its exponents, and their changes along a direction of the place. These changes are
// also the derivatives, by the same numbers, of grad h along that direction.
//
// With W the shares of the three terms in f, dF/d log2 q_i = W_i, and
//   dF/de1 = [F - S_m M - S_z log2 q_z] / e1 = log2(1 + share) - S gap / e1,
// where S is the lesser term's part of the outer sum. Both terms are positive, so nothing cancels.
// dF/de2 is S_m times the same for the inner sum.
typedef struct FN(superquadric_slopes) {
  vec place, axes;
  num exponents[2];
  // data for the next function
  vec hw, q_inv;
  num one_over, half_h; // half_h: h ln 2 / 2
  num m, z, x, y;       // the shares of the outer sum, and of the inner one
  num by_e1, by_e2;     // dF/de1, and the same for the inner sum
} FN(superquadric_slopes);

static FN(superquadric_slopes) FN(superquadric_slopes_of)(GLOBAL const real *s, const FN(shares) *t)
{
  GLOBAL const real *axes_inv = s + SUPERQUADRIC_AXES_INV;
  FN(superquadric_slopes) r;
  r.one_over = n_rcp(n_mul(n_mul(t->sum, t->xy_sum), t->h_inv));
  r.hw = FN(superquadric_weights)(t, r.one_over);
  r.q_inv = FN(make)(n_rcp(t->q.x), n_rcp(t->q.y), n_rcp(t->q.z));
  r.place = FN(make)(n_scale(n_mul(n_mul(r.hw.x, t->u.x), r.q_inv.x), axes_inv[0]),
                     n_scale(n_mul(n_mul(r.hw.y, t->u.y), r.q_inv.y), axes_inv[1]),
                     n_scale(n_mul(n_mul(r.hw.z, t->u.z), r.q_inv.z), axes_inv[2]));
  r.axes = FN(make)(n_neg(n_mul(r.place.x, t->u.x)), n_neg(n_mul(r.place.y, t->u.y)),
                    n_neg(n_mul(r.place.z, t->u.z)));
  r.half_h = n_scale(n_mul(n_mul(r.one_over, t->sum), t->xy_sum), R(0.5) * LN2);
  const num sum_inv = n_rcp(t->sum), rest = n_mul(t->share, sum_inv);
  const num xy_inv = n_rcp(t->xy_sum), xy_rest = n_mul(t->xy_e, xy_inv);
  r.m = n_select(t->m_leads, sum_inv, rest);
  r.z = n_select(t->m_leads, rest, sum_inv);
  r.x = n_select(t->x_leads, xy_inv, xy_rest);
  r.y = n_select(t->x_leads, xy_rest, xy_inv);
  r.by_e1 = n_sub(n_log2_1p(t->share), n_scale(n_mul(rest, t->gap), s[SUPERQUADRIC_E1_INV]));
  r.by_e2 = n_sub(n_log2_1p(t->xy_e), n_scale(n_mul(xy_rest, t->xy_gap), s[SUPERQUADRIC_E2_INV]));
  r.exponents[0] = n_mul(r.half_h, r.by_e1);
  r.exponents[1] = n_mul(r.half_h, n_mul(r.m, r.by_e2));
  return r;
}

typedef struct FN(superquadric_changes) {
  vec place, axes;
  num exponents[2];
} FN(superquadric_changes);

// Returns the changes along v. The logarithms l_i of q_i change by 2 u_i v_i / (a_i q_i ln 2); dM =
// x dl_x + y dl_y, dF = m dM + z dl_z. Shares change like those of a softmax: m by m z (dM - dl_z)
// ln 2 / e1. The change of log2(1 + share) - S gap / e1, with S = share / (1 + share), reduces to
// -S (1 - S) gap dgap ln 2 / e1^2. The change of the place's derivative is given by the second
// derivatives of superquadric_bend.
static FN(superquadric_changes)
  FN(superquadric_changes_along)(GLOBAL const real *s, const FN(shares) *t,
                                 const FN(superquadric_slopes) *h, vec v)
{
  GLOBAL const real *axes_inv = s + SUPERQUADRIC_AXES_INV;
  const real e1_inv = s[SUPERQUADRIC_E1_INV], e2_inv = s[SUPERQUADRIC_E2_INV];
  const vec av =
    FN(make)(n_scale(v.x, axes_inv[0]), n_scale(v.y, axes_inv[1]), n_scale(v.z, axes_inv[2]));
  const num lx = n_scale(n_mul(n_mul(t->u.x, h->q_inv.x), av.x), R(2.0) * LOG2E);
  const num ly = n_scale(n_mul(n_mul(t->u.y, h->q_inv.y), av.y), R(2.0) * LOG2E);
  const num lz = n_scale(n_mul(n_mul(t->u.z, h->q_inv.z), av.z), R(2.0) * LOG2E);
  const num m_along = n_mad(h->x, lx, n_mul(h->y, ly));
  const num apart = n_sub(m_along, lz), xy_apart = n_sub(lx, ly);
  // of h, relative to h
  const num growth = n_scale(n_mad(h->m, m_along, n_mul(h->z, lz)), R(0.5) * LN2);
  const num m_growth = n_smad(n_mul(h->z, apart), e1_inv * LN2, growth); // of h m
  const num gap_along = n_select(t->m_leads, n_neg(apart), apart);
  const num xy_gap_along = n_select(t->x_leads, n_neg(xy_apart), xy_apart);
  const num outer =
    n_mul(n_scale(n_mul(h->m, t->gap), e1_inv), n_scale(n_mul(h->z, gap_along), e1_inv * LN2));
  const num inner = n_mul(n_scale(n_mul(h->x, t->xy_gap), e2_inv),
                          n_scale(n_mul(h->y, xy_gap_along), e2_inv * LN2));
  const FN(symmetric) bend =
    FN(superquadric_bend)(s, t, h->hw, h->q_inv, h->one_over, n_lit(R(1.0)));
  FN(superquadric_changes) r;
  r.place = FN(make)(n_mad(bend.xx, v.x, n_mad(bend.xy, v.y, n_mul(bend.xz, v.z))),
                     n_mad(bend.xy, v.x, n_mad(bend.yy, v.y, n_mul(bend.yz, v.z))),
                     n_mad(bend.xz, v.x, n_mad(bend.yz, v.y, n_mul(bend.zz, v.z))));
  r.axes = FN(make)(n_neg(n_mad(r.place.x, t->u.x, n_mul(h->place.x, av.x))),
                    n_neg(n_mad(r.place.y, t->u.y, n_mul(h->place.y, av.y))),
                    n_neg(n_mad(r.place.z, t->u.z, n_mul(h->place.z, av.z))));
  r.exponents[0] = n_mul(h->half_h, n_sub(n_mul(growth, h->by_e1), outer));
  r.exponents[1] = n_mul(n_mul(h->half_h, h->m), n_sub(n_mul(m_growth, h->by_e2), inner));
  return r;
}
