// The derivatives of a core's distance (core.inl) by the place in its own frame, by its half
// lengths and by its radius, and their changes along a direction of the place. These changes are
// also the derivatives, by the same numbers, of the raw normal along that direction.
//
// Each axis has two planes, a = y - c and b = -y - c. phi is a function only of these and of rho,
// with phi_y = phi_a - phi_b and phi_c = -(phi_a + phi_b). It is homogeneous, so
//   rho phi_rho = phi - sum (a phi_a + b phi_b),
// where only distances from planes cancel. A disc's axes are r, which has one plane, and z. Because
// r contains rho, phi_a (rho / 100)^2 / r is added for a disc.

typedef struct FN(core_slopes) {
  vec place, ends;
  num radius;
} FN(core_slopes);

// An axis: its planes, the ramps' derivatives there, the excess of the place beyond the core, and
// the planes' shares in the soft maximum.
typedef struct FN(core_axis) {
  num a, b, delta;
  num slope_a, slope_b, curve_a, curve_b;
  num share_a, share_b;
} FN(core_axis);

static FN(core_axis) FN(core_axis_none)(void)
{
  FN(core_axis) x;
  x.a = x.b = x.delta = n_lit(R(0.0));
  x.slope_a = x.slope_b = x.curve_a = x.curve_b = x.share_a = x.share_b = x.delta;
  return x;
}

// An axis with one plane.
static FN(core_axis) FN(core_axis_around)(GLOBAL const real *s, num a)
{
  const FN(core_term) high = FN(core_ramp)(s, a, 2);
  FN(core_axis) x = FN(core_axis_none)();
  x.a = a;
  x.delta = high.value;
  x.slope_a = high.slope;
  x.curve_a = high.curve;
  return x;
}

static FN(core_axis) FN(core_axis_at)(GLOBAL const real *s, num y, real end)
{
  FN(core_axis) x = FN(core_axis_around)(s, n_shift(y, -end));
  x.b = n_shift(n_neg(y), -end);
  const FN(core_term) low = FN(core_ramp)(s, x.b, 2);
  x.delta = end > R(0.0) ? n_sub(x.delta, low.value) : y;
  x.slope_b = low.slope;
  x.curve_b = low.curve;
  return x;
}

// Sets the planes' shares; returns `inner` as a function of their soft maximum.
static FN(core_term)
  FN(core_share)(GLOBAL const real *s, FN(core_axis) *x, FN(core_axis) *y, FN(core_axis) *z)
{
  const int disc = s[CORE_KIND] > R(0.5);
  const lane none = lane_lit(-REAL_BIG);
  const lane beside = disc ? none : lane_max(n_value(x->b), lane_max(n_value(z->a), n_value(z->b)));
  const lane along = lane_max(n_value(y->a), n_value(y->b));
  const lane most = lane_max(n_value(x->a), lane_max(along, beside));
  x->share_a = FN(core_weight)(s, x->a, most);
  y->share_a = FN(core_weight)(s, y->a, most);
  y->share_b = FN(core_weight)(s, y->b, most);
  if (!disc) {
    x->share_b = FN(core_weight)(s, x->b, most);
    z->share_a = FN(core_weight)(s, z->a, most);
    z->share_b = FN(core_weight)(s, z->b, most);
  }
  const num sum = n_add(n_add(n_add(x->share_a, x->share_b), n_add(y->share_a, y->share_b)),
                        n_add(z->share_a, z->share_b));
  const num inverse = n_rcp(sum);
  x->share_a = n_mul(x->share_a, inverse);
  x->share_b = n_mul(x->share_b, inverse);
  y->share_a = n_mul(y->share_a, inverse);
  y->share_b = n_mul(y->share_b, inverse);
  z->share_a = n_mul(z->share_a, inverse);
  z->share_b = n_mul(z->share_b, inverse);
  return FN(core_inner)(s, FN(core_soft_most)(s, most, sum), 2);
}

// The quantities shared by all axes: 1 / q with q the root, and the growth of q and of the planes'
// soft maximum along a direction.
typedef struct FN(core_whole) {
  num q_inv, q_rise, soft_rise;
  FN(core_term) inner;
} FN(core_whole);

// The derivatives with respect to both planes of an axis, and their changes along the direction.
typedef struct FN(core_pulls) {
  num a, b, along_a, along_b;
} FN(core_pulls);

static num FN(core_stretch)(const FN(core_axis) *x, num v)
{
  return n_mul(n_add(x->slope_a, x->slope_b), v);
}

static FN(core_pulls)
  FN(core_pulls_of)(GLOBAL const real *s, const FN(core_whole) *w, const FN(core_axis) *x, num v)
{
  const num u = n_mul(x->delta, w->q_inv);
  const num turn = n_mul(n_sub(FN(core_stretch)(x, v), n_mul(u, w->q_rise)), w->q_inv);
  const num rate = n_scale(w->inner.slope, s[CORE_WIDTH_INV] * R(2.0)); // the temperature is w / 2
  const num bend = n_mul(w->inner.curve, w->soft_rise), uv = n_mul(u, v);
  const num to_a = n_mad(rate, n_sub(v, w->soft_rise), bend);
  const num to_b = n_sub(bend, n_mul(rate, n_add(v, w->soft_rise)));
  FN(core_pulls) p;
  p.a = n_mad(w->inner.slope, x->share_a, n_mul(u, x->slope_a));
  p.b = n_sub(n_mul(w->inner.slope, x->share_b), n_mul(u, x->slope_b));
  p.along_a = n_mad(turn, x->slope_a, n_mad(uv, x->curve_a, n_mul(to_a, x->share_a)));
  p.along_b = n_sub(n_mad(uv, x->curve_b, n_mul(to_b, x->share_b)), n_mul(turn, x->slope_b));
  return p;
}

// Finds the derivatives at y, in the core's frame, and their changes along v.
static void FN(core_slopes_of)(GLOBAL const real *s, vec y, vec v, FN(core_slopes) *by,
                               FN(core_slopes) *along)
{
  const int disc = s[CORE_KIND] > R(0.5);
  const num none = n_lit(R(0.0)), one = n_lit(R(1.0)), soft = n_lit(s[CORE_SOFT]);
  const num r = disc ? n_sqrt(n_add(n_mad(y.x, y.x, n_mul(y.y, y.y)), soft)) : one,
            r_inv = n_rcp(r);
  const num px = n_mul(y.x, r_inv), py = n_mul(y.y, r_inv);
  FN(core_axis) x, z, third;
  vec way;
  if (disc) {
    x = FN(core_axis_around)(s, n_shift(r, -s[CORE_HALF]));
    z = FN(core_axis_at)(s, y.z, s[CORE_HALF + 1]);
    third = FN(core_axis_none)();
    way = FN(make)(n_mad(px, v.x, n_mul(py, v.y)), v.z, none);
  } else {
    x = FN(core_axis_at)(s, y.x, s[CORE_HALF]);
    z = FN(core_axis_at)(s, y.y, s[CORE_HALF + 1]);
    third = FN(core_axis_at)(s, y.z, s[CORE_HALF + 2]);
    way = v;
  }
  FN(core_whole) w;
  w.inner.value = w.inner.slope = w.inner.curve = none;
  if (s[CORE_SOLID] > R(0.0)) {
    w.inner = FN(core_share)(s, &x, &z, &third);
  }
  const num xz = n_mad(x.delta, x.delta, n_mul(z.delta, z.delta));
  const num q = n_sqrt(n_add(xz, n_mad(third.delta, third.delta, soft)));
  const vec stretch = FN(make)(FN(core_stretch)(&x, way.x), FN(core_stretch)(&z, way.y),
                               FN(core_stretch)(&third, way.z));
  w.q_inv = n_rcp(q);
  w.q_rise = n_mul(FN(dot3)(FN(make)(x.delta, z.delta, third.delta), stretch), w.q_inv);
  w.soft_rise = FN(dot3)(FN(make)(n_sub(x.share_a, x.share_b), n_sub(z.share_a, z.share_b),
                                  n_sub(third.share_a, third.share_b)),
                         way);
  const FN(core_pulls) fx = FN(core_pulls_of)(s, &w, &x, way.x),
                       fz = FN(core_pulls_of)(s, &w, &z, way.y);
  const FN(core_pulls) ft = FN(core_pulls_of)(s, &w, &third, way.z);
  const num phi = n_add(n_shift(q, -s[CORE_OFFSET]), w.inner.value);
  num rest = n_add(n_add(n_mad(x.a, fx.a, n_mul(x.b, fx.b)), n_mad(z.a, fz.a, n_mul(z.b, fz.b))),
                   n_mad(third.a, ft.a, n_mul(third.b, ft.b)));
  num rest_along = n_add(n_add(n_mad(x.a, fx.along_a, n_mul(x.b, fx.along_b)),
                               n_mad(z.a, fz.along_a, n_mul(z.b, fz.along_b))),
                         n_mad(third.a, ft.along_a, n_mul(third.b, ft.along_b)));
  by->place = FN(make)(n_sub(fx.a, fx.b), n_sub(fz.a, fz.b), n_sub(ft.a, ft.b));
  along->place = FN(make)(n_sub(fx.along_a, fx.along_b), n_sub(fz.along_a, fz.along_b),
                          n_sub(ft.along_a, ft.along_b));
  by->ends = FN(make)(n_neg(n_add(fx.a, fx.b)), n_neg(n_add(fz.a, fz.b)), n_neg(n_add(ft.a, ft.b)));
  along->ends = FN(make)(n_neg(n_add(fx.along_a, fx.along_b)), n_neg(n_add(fz.along_a, fz.along_b)),
                         n_neg(n_add(ft.along_a, ft.along_b)));
  if (disc) {
    const num gain = n_mul(soft, r_inv), turn = n_mul(fx.a, r_inv);
    rest = n_sub(rest, n_mul(gain, fx.a));
    rest_along = n_sub(rest_along, n_mul(gain, n_sub(fx.along_a, n_mul(turn, way.x))));
    by->place = FN(make)(n_mul(fx.a, px), n_mul(fx.a, py), by->place.y);
    along->place = FN(make)(n_mad(turn, n_sub(v.x, n_mul(px, way.x)), n_mul(fx.along_a, px)),
                            n_mad(turn, n_sub(v.y, n_mul(py, way.x)), n_mul(fx.along_a, py)),
                            along->place.y);
  }
  const real over = R(0.5) * s[CORE_WIDTH_INV]; // 1 / rho
  by->radius = n_scale(n_sub(phi, rest), over);
  along->radius = n_scale(n_neg(rest_along), over);
}
