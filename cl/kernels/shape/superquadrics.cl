// The derivatives by superquadrics: of phi = r (1 - 1/h) times its cotangent, and of the raw normal
// grad h times its own, v, which is the derivative of h along v.

// Returns a number of a superquadric's derivative: of the distance by it times phi_bar, and of h along
// v, the tangent of its slope.
static lane of_both(lane by_phi, lane phi_bar, dual by_h)
{
  return by_phi * phi_bar + by_h.d[0];
}

// Adds a block's derivatives by superquadric s to sum (BY_SUPERQUADRIC).
static void add_superquadric(GLOBAL const real *s, GLOBAL const coefficients *c,
                             const union_block *u, lane sum[BY_SUPERQUADRIC])
{
  FN(surface) p;
  FN(superquadric)(s, c, u->x, 0, &p);
  const ilane there = has_share(u, p.phi, c);
  if (!lane_any(there)) {
    return;
  }
  FN(superquadric)(s, c, u->x, JET_NORMAL, &p);
  const num w = share_of(u, p.phi, c);
  num phi_bar;
  vec g_bar;
  primitive_bars(u, &p, w, c, &phi_bar, &g_bar);
  GLOBAL const real *at = s + SUPERQUADRIC_POSITION, *axes_inv = s + SUPERQUADRIC_AXES_INV;
  const vec y = FN(rotate_back)(s, FN(make)(u->x.x - at[0], u->x.y - at[1], u->x.z - at[2]));
  const vec v = FN(rotate_back)(s, g_bar);
  vec3_d moving;
  moving.x.v = y.x;
  moving.y.v = y.y;
  moving.z.v = y.z;
  moving.x.d[0] = v.x;
  moving.y.d[0] = v.y;
  moving.z.d[0] = v.z;
  const superquadric_slopes_d h = superquadric_slopes_at_d(s, moving);
  const lane r = lane_sqrt(FN(dot3)(y, y) + s[SUPERQUADRIC_FLOOR]);
  const lane rest = (R(1.0) - h.h_inv.v) / r, steep = r * h.h_inv.v * h.h_inv.v;
  const real soft = SUPERQUADRIC_SOFT;
  const vec place = FN(make)(of_both(rest * y.x + steep * h.place.x.v, phi_bar, h.place.x),
                             of_both(rest * y.y + steep * h.place.y.v, phi_bar, h.place.y),
                             of_both(rest * y.z + steep * h.place.z.v, phi_bar, h.place.z));
  const vec slope = FN(make)(h.place.x.v, h.place.y.v, h.place.z.v);
  // Position and rotation move y and turn y and v: dy = -R'dt, dy = y x w, dv = v x w.
  const vec moved = FN(rotate)(s, place);
  const vec turned = FN(add3)(FN(cross3)(place, y), FN(cross3)(slope, v));
  const lane by[BY_SUPERQUADRIC] = {
    of_both(rest * (soft / axes_inv[0]) + steep * h.axes.x.v, phi_bar, h.axes.x),
    of_both(rest * (soft / axes_inv[1]) + steep * h.axes.y.v, phi_bar, h.axes.y),
    of_both(rest * (soft / axes_inv[2]) + steep * h.axes.z.v, phi_bar, h.axes.z),
    of_both(steep * h.exponents[0].v, phi_bar, h.exponents[0]),
    of_both(steep * h.exponents[1].v, phi_bar, h.exponents[1]),
    -moved.x, -moved.y, -moved.z, turned.x, turned.y, turned.z};
  for (int i = 0; i < BY_SUPERQUADRIC; ++i) {
    sum[i] = sum[i] + counted(there, by[i], u->poison);
  }
}

// Says whether a block of sites lies so far beyond a superquadric's sphere that it has no share.
static int is_beyond(GLOBAL const real *s, GLOBAL const coefficients *c, const union_block *u)
{
  GLOBAL const real *at = s + SUPERQUADRIC_POSITION;
  const vec y = FN(make)(u->x.x - at[0], u->x.y - at[1], u->x.z - at[2]);
  const lane reach = u->phi + (c->union_ln2 * CULL_BITS + s[SUPERQUADRIC_OUTER]);
  const lane positive = lane_max(reach, lane_lit(R(0.0)));
  return !lane_any(u->there & (FN(dot3)(y, y) <= positive * positive));
}

// One work-item sums the derivatives by one superquadric of an operation over all sites of one pose, to
// BY_SUPERQUADRIC numbers of its row from `base` on. `first` are the operation's numbers.
KERNEL void superquadrics_by_shape(GLOBAL const real *sites, GLOBAL const real *shares, int count,
                                   GLOBAL const real *shape, int first_real, int primitives,
                                   GLOBAL const coefficients *c, int operation,
                                   GLOBAL real *rows, int row_stride, int base)
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
