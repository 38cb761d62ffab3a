// The derivatives with respect to superquadrics of three terms: phi = r (1 - 1/h) times its
// cotangent; the raw normal grad h times its cotangent v, which is the derivative of h along v; and
// grad phi times its cotangent, which is the derivative of phi along it.
//
// A parameter z changes phi by radial (r dr/dz) + steep dh/dz, with radial = (1 - 1/h) / r and
// steep = r / h^2. Along a direction w of the place the change of this is that of both factors and
// of their multiplicands.

// Adds a block's derivatives with respect to superquadric s to sum (BY_SUPERQUADRIC).
static void add_superquadric(GLOBAL const real *s, GLOBAL const coefficients *c,
                             const union_block *u, lane sum[BY_SUPERQUADRIC])
{
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  GLOBAL const real *at = s + SUPERQUADRIC_POSITION, *axes_inv = s + SUPERQUADRIC_AXES_INV;
  const vec y = FN(rotate_back)(s, FN(make)(u->x.x - at[0], u->x.y - at[1], u->x.z - at[2]));
  const lane r = lane_sqrt(FN(dot3)(y, y) + s[SUPERQUADRIC_FLOOR]);
  FN(shares) t;
  FN(superquadric_shares)(s, y, &t);
  const lane phi = r - r * t.h_inv;
  const ilane there = has_share(u, phi, c);
  if (!lane_any(there)) {
    return;
  }
  const FN(superquadric_slopes) h = FN(superquadric_slopes_of)(s, &t);
  FN(superquadric_changes) along;
  along.place = along.axes = FN(make)(zero, zero, zero);
  along.exponents[0] = along.exponents[1] = zero;
  const num w = share_of(u, phi, c);
  const lane flat = (one - t.h_inv) / r, rise = r * t.h_inv * t.h_inv;
  num phi_bar = n_mul(w, u->phi_bar);
  vec v = along.place, way = v; // the directions of h and of phi
  if (has_slopes(u)) {
    FN(surface) p;
    vec g_bar;
    p.g = FN(rotate)(s, h.place);
    p.gradient = FN(rotate)(s, FN(mad3)(y, flat, FN(scale3)(h.place, rise)));
    primitive_bars(u, &p, w, c, &phi_bar, &g_bar);
    v = FN(rotate_back)(s, g_bar);
    if (u->graded) {
      way = FN(rotate_back)(s, FN(scale3)(u->gradient_bar, w));
    }
  }
  lane radial = phi_bar * flat, steep = phi_bar * rise;
  if (has_slopes(u)) {
    v = FN(mad3)(way, rise, v); // along `way` h has the factor `rise`
    along = FN(superquadric_changes_along)(s, &t, &h, v);
    const lane r_along = FN(dot3)(y, way) / r, k_along = t.h_inv * t.h_inv * FN(dot3)(h.place, way);
    radial = radial + (k_along - flat * r_along) / r;
    steep = steep + t.h_inv * (t.h_inv * r_along - R(2.0) * r * k_along);
  }
  const lane soft = radial * SUPERQUADRIC_SOFT;
  const vec place = FN(mad3)(way, flat, FN(mad3)(y, radial, FN(mad3)(h.place, steep, along.place)));
  const vec axes = FN(mad3)(h.axes, steep, along.axes);
  // Position and rotation move y and rotate y, v and the way: dy = -R'dt, dy = y x w, dv = v x w.
  const vec moved = FN(rotate)(s, place);
  const vec turned = FN(add3)(FN(cross3)(place, y), FN(add3)(FN(cross3)(h.place, v),
                                                             FN(scale3)(FN(cross3)(y, way), flat)));
  const lane by[BY_SUPERQUADRIC] = {axes.x + soft / axes_inv[0],
                                    axes.y + soft / axes_inv[1],
                                    axes.z + soft / axes_inv[2],
                                    steep * h.exponents[0] + along.exponents[0],
                                    steep * h.exponents[1] + along.exponents[1],
                                    -moved.x,
                                    -moved.y,
                                    -moved.z,
                                    turned.x,
                                    turned.y,
                                    turned.z};
  add_counted(there, by, BY_SUPERQUADRIC, u->poison, sum);
}

// Returns whether a block of sites is so far outside a superquadric's sphere that it has no share.
static int is_beyond(GLOBAL const real *s, GLOBAL const coefficients *c, const union_block *u)
{
  GLOBAL const real *at = s + SUPERQUADRIC_POSITION;
  const vec y = FN(make)(u->x.x - at[0], u->x.y - at[1], u->x.z - at[2]);
  const lane reach = u->phi + (c->union_ln2 * CULL_BITS + s[SUPERQUADRIC_OUTER]);
  const lane positive = lane_max(reach, lane_lit(R(0.0)));
  return !lane_any(u->there & (FN(dot3)(y, y) <= positive * positive));
}

// One work-item sums the derivatives with respect to one superquadric of an operation over all
// sites of one pose, to BY_SUPERQUADRIC numbers of its row, starting at `base`. The operation's
// numbers begin at `first_real`.
KERNEL void superquadrics_by_shape(GLOBAL const real *sites, GLOBAL const real *shares, int count,
                                   GLOBAL const real *shape, int first_real, int primitives,
                                   GLOBAL const coefficients *c, int operation, GLOBAL real *rows,
                                   int row_stride, int base)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= primitives) {
    return;
  }
  GLOBAL const real *s = shape + first_real + i * SUPERQUADRIC_STRIDE;
  lane sum[BY_SUPERQUADRIC];
  for (int k = 0; k < BY_SUPERQUADRIC; ++k) {
    sum[k] = lane_lit(R(0.0));
  }
  for (int first = 0; first < count; first += LANES) {
    const union_block u = load_union(sites, shares, count, operation, first, pose);
    if (lane_any(u.there) && !is_beyond(s, c, &u)) {
      add_superquadric(s, c, &u, sum);
    }
  }
  GLOBAL real *to = ROW(rows, pose, row_stride) + base + i * BY_SUPERQUADRIC;
  for (int k = 0; k < BY_SUPERQUADRIC; ++k) {
    to[k] = lane_sum(sum[k]);
  }
}
