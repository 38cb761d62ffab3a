// The derivatives by superquadrics: of phi = r (1 - 1/h) times its cotangent, and of the raw normal
// grad h times its own, v, which is the derivative of h along v.

// The slopes of h at a block's places, and how these grow along v.
typedef struct slopes_along {
  lane h_inv;
  vec place, axes, place_along, axes_along;
  lane exponents[2], exponents_along[2];
} slopes_along;

static slopes_along slopes_with(GLOBAL const real *s, vec y, vec v)
{
  vec3_d moving;
  moving.x.v = y.x;
  moving.y.v = y.y;
  moving.z.v = y.z;
  moving.x.d[0] = v.x;
  moving.y.d[0] = v.y;
  moving.z.d[0] = v.z;
  const superquadric_slopes_d h = superquadric_slopes_at_d(s, moving);
  slopes_along r;
  r.h_inv = h.h_inv.v;
  r.place = FN(make)(h.place.x.v, h.place.y.v, h.place.z.v);
  r.axes = FN(make)(h.axes.x.v, h.axes.y.v, h.axes.z.v);
  r.place_along = FN(make)(h.place.x.d[0], h.place.y.d[0], h.place.z.d[0]);
  r.axes_along = FN(make)(h.axes.x.d[0], h.axes.y.d[0], h.axes.z.d[0]);
  for (int i = 0; i < 2; ++i) {
    r.exponents[i] = h.exponents[i].v;
    r.exponents_along[i] = h.exponents[i].d[0];
  }
  return r;
}

// Does the same where v is 0.
static slopes_along slopes_alone(GLOBAL const real *s, vec y)
{
  const lane zero = lane_lit(R(0.0));
  const FN(superquadric_slopes) h = FN(superquadric_slopes_at)(s, y);
  slopes_along r;
  r.h_inv = h.h_inv;
  r.place = h.place;
  r.axes = h.axes;
  r.place_along = r.axes_along = FN(make)(zero, zero, zero);
  for (int i = 0; i < 2; ++i) {
    r.exponents[i] = h.exponents[i];
    r.exponents_along[i] = zero;
  }
  return r;
}

// Adds a block's derivatives by superquadric s to sum (BY_SUPERQUADRIC).
static void add_superquadric(GLOBAL const real *s, GLOBAL const coefficients *c,
                             const union_block *u, lane sum[BY_SUPERQUADRIC])
{
  const lane zero = lane_lit(R(0.0));
  FN(surface) p;
  FN(superquadric)(s, c, u->x, 0, &p);
  const ilane there = has_share(u, p.phi, c);
  if (!lane_any(there)) {
    return;
  }
  const num w = share_of(u, p.phi, c);
  GLOBAL const real *at = s + SUPERQUADRIC_POSITION, *axes_inv = s + SUPERQUADRIC_AXES_INV;
  const vec y = FN(rotate_back)(s, FN(make)(u->x.x - at[0], u->x.y - at[1], u->x.z - at[2]));
  num phi_bar = n_mul(w, u->phi_bar);
  vec v = FN(make)(zero, zero, zero);
  slopes_along h;
  if (has_bar(u->normal_bar)) {
    vec g_bar;
    FN(superquadric)(s, c, u->x, JET_NORMAL, &p);
    primitive_bars(u, &p, w, c, &phi_bar, &g_bar);
    v = FN(rotate_back)(s, g_bar);
    h = slopes_with(s, y, v);
  } else {
    h = slopes_alone(s, y);
  }
  const lane r = lane_sqrt(FN(dot3)(y, y) + s[SUPERQUADRIC_FLOOR]);
  const lane radial = phi_bar * ((R(1.0) - h.h_inv) / r), steep = phi_bar * (r * h.h_inv * h.h_inv);
  const lane soft = radial * SUPERQUADRIC_SOFT;
  const vec place = FN(mad3)(y, radial, FN(mad3)(h.place, steep, h.place_along));
  const vec axes = FN(mad3)(h.axes, steep, h.axes_along);
  // Position and rotation move y and turn y and v: dy = -R'dt, dy = y x w, dv = v x w.
  const vec moved = FN(rotate)(s, place);
  const vec turned = FN(add3)(FN(cross3)(place, y), FN(cross3)(h.place, v));
  const lane by[BY_SUPERQUADRIC] = {
    axes.x + soft / axes_inv[0], axes.y + soft / axes_inv[1], axes.z + soft / axes_inv[2],
    steep * h.exponents[0] + h.exponents_along[0], steep * h.exponents[1] + h.exponents_along[1],
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
