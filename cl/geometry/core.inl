// A core: a box or a disc enlarged by a radius rho (docs/dev/spec.md, section 4). Its distance is
// C2 everywhere, in closed form, and changes by at most the displacement of a point.
//
// With w = rho / 2, m the ramp of grid.inl, delta the excess of a point beyond the core in each
// direction, rounded over w, and s the soft maximum of the core's planes:
//   phi = sqrt(|delta|^2 + (rho / 100)^2) - offset + inner,  inner = s - w m(s / w) = -w m(-s /
//     w)
// The second form of `inner` has no cancellation. Cores without an inside, such as a sphere's, have
// only delta. The gradient is the raw normal.

// A distance with its derivatives. Only members up to the requested order are set.
typedef struct FN(core_jet) {
  num phi;
  vec g;
  FN(symmetric) h;
} FN(core_jet);

// A smooth function of one number, with its first and its second derivative.
typedef struct FN(core_term) {
  num value, slope, curve;
} FN(core_term);

// The second derivative of grid_ramp.
static num FN(core_ramp_curve)(num v)
{
  const num curve = n_scale(n_mul(n_shift(v, R(1.0)), n_shift(n_neg(v), R(1.0))), R(0.75));
  const ilane inside = (n_value(v) < lane_lit(R(1.0))) & (n_value(v) > lane_lit(R(-1.0)));
  return n_select(inside, curve, n_lit(R(0.0)));
}

// Returns w m(a / w).
static FN(core_term) FN(core_ramp)(GLOBAL const real *s, num a, int order)
{
  const num v = n_scale(a, s[CORE_WIDTH_INV]);
  FN(core_term) t;
  t.value = n_scale(FN(grid_ramp)(v), s[CORE_WIDTH]);
  if (order > 0) {
    t.slope = FN(grid_ramp_slope)(v);
  }
  if (order > 1) {
    t.curve = n_scale(FN(core_ramp_curve)(v), s[CORE_WIDTH_INV]);
  }
  return t;
}

// Returns the signed excess of y beyond [-end, end]. If end is 0, this is y.
static FN(core_term) FN(core_beyond)(GLOBAL const real *s, num y, real end, int order)
{
  FN(core_term) t;
  if (end > R(0.0)) {
    const FN(core_term) high = FN(core_ramp)(s, n_shift(y, -end), order);
    const FN(core_term) low = FN(core_ramp)(s, n_shift(n_neg(y), -end), order);
    t.value = n_sub(high.value, low.value);
    if (order > 0) {
      t.slope = n_add(high.slope, low.slope);
    }
    if (order > 1) {
      t.curve = n_sub(high.curve, low.curve);
    }
  } else {
    t.value = y;
    t.slope = n_lit(R(1.0));
    t.curve = n_lit(R(0.0));
  }
  return t;
}

// Returns `inner` as a function of the planes' soft maximum.
static FN(core_term) FN(core_inner)(GLOBAL const real *s, num most, int order)
{
  FN(core_term) t = FN(core_ramp)(s, n_neg(most), order);
  t.value = n_neg(t.value);
  if (order > 1) {
    t.curve = n_neg(t.curve);
  }
  return t;
}

// ---- planes ----

// Two opposite planes, y - end and -y - end, and later their weights.
typedef struct FN(core_sides) {
  num high, low;
} FN(core_sides);

static FN(core_sides) FN(core_sides_at)(num y, real end)
{
  FN(core_sides) p;
  p.high = n_shift(y, -end);
  p.low = n_shift(n_neg(y), -end);
  return p;
}

static lane FN(core_larger)(const FN(core_sides) *p)
{
  return lane_max(n_value(p->high), n_value(p->low));
}

// Returns the weight of a plane before the division by the sum. The temperature is w / 2.
static num FN(core_weight)(GLOBAL const real *s, num plane, lane most)
{
  return n_exp2(n_scale(n_sub(plane, n_of(most)), s[CORE_WIDTH_INV] * (R(2.0) * LOG2E)));
}

static FN(core_sides) FN(core_weights)(GLOBAL const real *s, const FN(core_sides) *p, lane most)
{
  FN(core_sides) w;
  w.high = FN(core_weight)(s, p->high, most);
  w.low = FN(core_weight)(s, p->low, most);
  return w;
}

// Returns the soft maximum of planes, where `most` is the largest plane and `sum` the weights' sum.
static num FN(core_soft_most)(GLOBAL const real *s, lane most, num sum)
{
  return n_smad(n_log2(sum), s[CORE_WIDTH] * (R(0.5) * LN2), n_of(most));
}

static num FN(core_both)(const FN(core_sides) *w)
{
  return n_add(w->high, w->low);
}

static FN(core_sides) FN(core_shares)(const FN(core_sides) *w, num sum_inv)
{
  FN(core_sides) p;
  p.high = n_mul(w->high, sum_inv);
  p.low = n_mul(w->low, sum_inv);
  return p;
}

static num FN(core_lean)(const FN(core_sides) *p)
{
  return n_sub(p->high, p->low);
}

// Returns the sum of an axis' shares less the square of their difference. `others` is 1 less that
// sum, computed from the other shares without cancellation.
static num FN(core_spread)(const FN(core_sides) *p, num others)
{
  return n_mad(FN(core_both)(p), others, n_scale(n_mul(p->high, p->low), R(4.0)));
}

// ---- boxes ----

static void FN(core_box_inside)(GLOBAL const real *s, vec y, int order, FN(core_jet) *out)
{
  const FN(core_sides) x = FN(core_sides_at)(y.x, s[CORE_HALF]);
  const FN(core_sides) v = FN(core_sides_at)(y.y, s[CORE_HALF + 1]);
  const FN(core_sides) z = FN(core_sides_at)(y.z, s[CORE_HALF + 2]);
  const lane most =
    lane_max(lane_max(FN(core_larger)(&x), FN(core_larger)(&v)), FN(core_larger)(&z));
  // `inner` is 0, because the soft maximum is at least `most`
  if (lane_all(most > lane_lit(s[CORE_WIDTH]))) {
    return;
  }
  const FN(core_sides) wx = FN(core_weights)(s, &x, most);
  const FN(core_sides) wy = FN(core_weights)(s, &v, most);
  const FN(core_sides) wz = FN(core_weights)(s, &z, most);
  const num sum = n_add(n_add(FN(core_both)(&wx), FN(core_both)(&wy)), FN(core_both)(&wz));
  const FN(core_term) inner = FN(core_inner)(s, FN(core_soft_most)(s, most, sum), order);
  out->phi = n_add(out->phi, inner.value);
  if (order > 0) {
    const num sum_inv = n_rcp(sum);
    const FN(core_sides) px = FN(core_shares)(&wx, sum_inv);
    const FN(core_sides) py = FN(core_shares)(&wy, sum_inv);
    const FN(core_sides) pz = FN(core_shares)(&wz, sum_inv);
    const vec a = FN(make)(FN(core_lean)(&px), FN(core_lean)(&py), FN(core_lean)(&pz));
    out->g = FN(mad3)(a, inner.slope, out->g);
    if (order > 1) {
      const num bx = FN(core_both)(&px), by = FN(core_both)(&py), bz = FN(core_both)(&pz);
      const num rate = n_scale(inner.slope, s[CORE_WIDTH_INV] * R(2.0));
      const num off = n_sub(inner.curve, rate);
      const vec c = FN(scale3)(a, inner.curve), o = FN(scale3)(a, off);
      FN(symmetric) *h = &out->h;
      h->xx = n_mad(rate, FN(core_spread)(&px, n_add(by, bz)), n_mad(c.x, a.x, h->xx));
      h->yy = n_mad(rate, FN(core_spread)(&py, n_add(bx, bz)), n_mad(c.y, a.y, h->yy));
      h->zz = n_mad(rate, FN(core_spread)(&pz, n_add(bx, by)), n_mad(c.z, a.z, h->zz));
      h->xy = n_mad(o.x, a.y, h->xy);
      h->xz = n_mad(o.x, a.z, h->xz);
      h->yz = n_mad(o.y, a.z, h->yz);
    }
  }
}

static void FN(core_box)(GLOBAL const real *s, vec y, int order, FN(core_jet) *out)
{
  const FN(core_term) dx = FN(core_beyond)(s, y.x, s[CORE_HALF], order);
  const FN(core_term) dy = FN(core_beyond)(s, y.y, s[CORE_HALF + 1], order);
  const FN(core_term) dz = FN(core_beyond)(s, y.z, s[CORE_HALF + 2], order);
  const num xx = n_mul(dx.value, dx.value), yy = n_mul(dy.value, dy.value);
  const num zz = n_shift(n_mul(dz.value, dz.value), s[CORE_SOFT]); // keeps the root above 0
  const num q = n_sqrt(n_add(n_add(xx, yy), zz));
  out->phi = n_shift(q, -s[CORE_OFFSET]);
  if (order > 0) {
    const num q_inv = n_rcp(q);
    const vec u = FN(make)(n_mul(dx.value, q_inv), n_mul(dy.value, q_inv), n_mul(dz.value, q_inv));
    const vec g = FN(make)(n_mul(u.x, dx.slope), n_mul(u.y, dy.slope), n_mul(u.z, dz.slope));
    out->g = g;
    if (order > 1) {
      // 1 - u_x^2 is computed from the other squares, without cancellation.
      const num without = n_mul(n_mul(q_inv, q_inv), q_inv), across = n_neg(q_inv);
      FN(symmetric) *h = &out->h;
      h->xx = n_mad(n_mul(n_add(yy, zz), without), n_mul(dx.slope, dx.slope), n_mul(u.x, dx.curve));
      h->yy = n_mad(n_mul(n_add(xx, zz), without), n_mul(dy.slope, dy.slope), n_mul(u.y, dy.curve));
      h->zz = n_mad(n_mul(n_shift(n_add(xx, yy), s[CORE_SOFT]), without), n_mul(dz.slope, dz.slope),
                    n_mul(u.z, dz.curve));
      h->xy = n_mul(n_mul(g.x, g.y), across);
      h->xz = n_mul(n_mul(g.x, g.z), across);
      h->yz = n_mul(n_mul(g.y, g.z), across);
    }
  }
  if (s[CORE_SOLID] > R(0.0)) {
    FN(core_box_inside)(s, y, order, out);
  }
}

// ---- discs: a function of the distance r from the axis, rounded at 0, and of z ----

typedef struct FN(core_profile) {
  num phi, r, z, rr, rz, zz;
} FN(core_profile);

static void FN(core_disc_inside)(GLOBAL const real *s, num a, num z, int order, FN(core_profile) *f)
{
  const FN(core_sides) ends = FN(core_sides_at)(z, s[CORE_HALF + 1]);
  const lane most = lane_max(FN(core_larger)(&ends), n_value(a));
  if (lane_all(most > lane_lit(s[CORE_WIDTH]))) {
    return;
  }
  const num wr = FN(core_weight)(s, a, most);
  const FN(core_sides) wz = FN(core_weights)(s, &ends, most);
  const num sum = n_add(FN(core_both)(&wz), wr);
  const FN(core_term) inner = FN(core_inner)(s, FN(core_soft_most)(s, most, sum), order);
  f->phi = n_add(f->phi, inner.value);
  if (order > 0) {
    const num sum_inv = n_rcp(sum), pr = n_mul(wr, sum_inv);
    const FN(core_sides) pz = FN(core_shares)(&wz, sum_inv);
    const num lean = FN(core_lean)(&pz);
    f->r = n_mad(inner.slope, pr, f->r);
    f->z = n_mad(inner.slope, lean, f->z);
    if (order > 1) {
      const num ends_share = FN(core_both)(&pz);
      const num rate = n_scale(inner.slope, s[CORE_WIDTH_INV] * R(2.0));
      const num off = n_mul(n_sub(inner.curve, rate), pr);
      f->rr = n_mad(n_mul(rate, pr), ends_share, n_mad(n_mul(inner.curve, pr), pr, f->rr));
      f->rz = n_mad(off, lean, f->rz);
      f->zz = n_mad(rate, FN(core_spread)(&pz, pr), n_mad(n_mul(inner.curve, lean), lean, f->zz));
    }
  }
}

// a: the excess of r over the disc's radius.
static FN(core_profile) FN(core_disc_profile)(GLOBAL const real *s, num a, num z, int order)
{
  const FN(core_term) dr = FN(core_ramp)(s, a, order);
  const FN(core_term) dz = FN(core_beyond)(s, z, s[CORE_HALF + 1], order);
  const num rr = n_shift(n_mul(dr.value, dr.value), s[CORE_SOFT]);
  const num zz = n_mul(dz.value, dz.value), q = n_sqrt(n_add(rr, zz));
  FN(core_profile) f;
  f.phi = n_shift(q, -s[CORE_OFFSET]);
  if (order > 0) {
    const num q_inv = n_rcp(q), ur = n_mul(dr.value, q_inv), uz = n_mul(dz.value, q_inv);
    f.r = n_mul(ur, dr.slope);
    f.z = n_mul(uz, dz.slope);
    if (order > 1) {
      const num without = n_mul(n_mul(q_inv, q_inv), q_inv);
      f.rr = n_mad(n_mul(n_shift(zz, s[CORE_SOFT]), without), n_mul(dr.slope, dr.slope),
                   n_mul(ur, dr.curve));
      f.rz = n_neg(n_mul(n_mul(f.r, f.z), q_inv));
      f.zz = n_mad(n_mul(rr, without), n_mul(dz.slope, dz.slope), n_mul(uz, dz.curve));
    }
  }
  FN(core_disc_inside)(s, a, z, order, &f);
  return f;
}

static void FN(core_disc)(GLOBAL const real *s, vec y, int order, FN(core_jet) *out)
{
  const num xx = n_mul(y.x, y.x), yy = n_mul(y.y, y.y);
  const num r = n_sqrt(n_shift(n_add(xx, yy), s[CORE_SOFT]));
  const FN(core_profile) f = FN(core_disc_profile)(s, n_shift(r, -s[CORE_HALF]), y.z, order);
  out->phi = f.phi;
  if (order > 0) {
    const num r_inv = n_rcp(r), px = n_mul(y.x, r_inv), py = n_mul(y.y, r_inv);
    out->g = FN(make)(n_mul(f.r, px), n_mul(f.r, py), f.z);
    if (order > 1) {
      const num ring = n_mul(f.r, r_inv), turn = n_mul(ring, n_mul(r_inv, r_inv));
      FN(symmetric) *h = &out->h;
      h->xx = n_mad(n_mul(f.rr, px), px, n_mul(turn, n_shift(yy, s[CORE_SOFT])));
      h->yy = n_mad(n_mul(f.rr, py), py, n_mul(turn, n_shift(xx, s[CORE_SOFT])));
      h->xy = n_mul(n_mul(px, py), n_sub(f.rr, ring));
      h->xz = n_mul(f.rz, px);
      h->yz = n_mul(f.rz, py);
      h->zz = f.zz;
    }
  }
}

// ---- in the body's frame ----

// Returns M h M' with M the core's rotation.
static FN(symmetric) FN(core_turned)(GLOBAL const real *s, FN(symmetric) h)
{
  const FN(mat3) m = FN(rows_of)(h);
  // columns of M h
  const vec x = FN(rotate)(s, m.x), y = FN(rotate)(s, m.y), z = FN(rotate)(s, m.z);
  const vec rx = FN(rotate)(s, FN(make)(x.x, y.x, z.x));
  const vec ry = FN(rotate)(s, FN(make)(x.y, y.y, z.y));
  const vec rz = FN(rotate)(s, FN(make)(x.z, y.z, z.z));
  FN(symmetric) turned;
  turned.xx = rx.x;
  turned.xy = rx.y;
  turned.xz = rx.z;
  turned.yy = ry.y;
  turned.yz = ry.z;
  turned.zz = rz.z;
  return turned;
}

static vec FN(core_place)(GLOBAL const real *s, vec x)
{
  GLOBAL const real *at = s + CORE_POSITION;
  return FN(rotate_back)(s, FN(make)(n_shift(x.x, -at[0]), n_shift(x.y, -at[1]),
                                     n_shift(x.z, -at[2])));
}

// Returns the distance with derivatives up to `order`, at most 2.
static FN(core_jet) FN(core_jet_at)(GLOBAL const real *s, vec x, int order)
{
  const vec y = FN(core_place)(s, x);
  FN(core_jet) j;
  j.g = FN(make)(n_lit(R(0.0)), n_lit(R(0.0)), n_lit(R(0.0)));
  j.h = FN(symmetric_zero)();
  if (s[CORE_KIND] > R(0.5)) {
    FN(core_disc)(s, y, order, &j);
  } else {
    FN(core_box)(s, y, order, &j);
  }
  if (order > 0) {
    j.g = FN(rotate)(s, j.g);
  }
  if (order > 1) {
    j.h = FN(core_turned)(s, j.h);
  }
  return j;
}

static void FN(core)(GLOBAL const real *s, GLOBAL const coefficients *c, vec x, const int want,
                     FN(surface) *out)
{
  const int order = want & (JET_JACOBIAN | JET_HESSIAN) ? 2 : want ? 1 : 0;
  const FN(core_jet) j = FN(core_jet_at)(s, x, order);
  out->phi = j.phi;
  if (want) {
    out->g = out->gradient = j.g;
  }
  if (want & JET_HESSIAN) {
    out->curve = j.h;
  }
  if (want & JET_JACOBIAN) {
    out->bend = FN(rows_of)(FN(symmetric_scale)(j.h, FN(unit_scale)(j.g, c->normal)));
  }
}
