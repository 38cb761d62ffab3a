// The superquadrics of one operation: their numbers, then their spheres.

// Adds the superquadrics that bounds of their distances do not exclude, so that no evaluation waits
// for another's result. Spheres are used only if there are many superquadrics. If the union is
// beyond `reach`, its distance need not be exact, but must be beyond `reach`.
static void FN(superquadrics_add)(FN(blend) *b, int count, GLOBAL const int *ranges,
                                  GLOBAL const real *first, GLOBAL const coefficients *c, vec x,
                                  const int want, real reach)
{
  (void)ranges;
  GLOBAL const real *balls = first + count * SUPERQUADRIC_STRIDE;
  FN(surface) p;
  const vec3_r at = make_r(n_value(x.x), n_value(x.y), n_value(x.z));
  const real margin = c->union_ln2 * CULL_BITS;
  const int many = count > CULL_GROUP;
  ball_r block;
  lane high = lane_lit(reach);
  if (many) {
    block = ball_around_r(at);
    const int nearest = likely_nearest_r(&block, balls, count);
    high = lane_min(high, ellipsoid_bounds_r(first + nearest * SUPERQUADRIC_STRIDE, at).high);
  }
  for (int i = 0; i < count; i += CULL_GROUP, first += CULL_GROUP * SUPERQUADRIC_STRIDE) {
    const int group = MIN_INT(count - i, CULL_GROUP);
    unsigned int left = 0xffffffffu >> (CULL_GROUP - group);
    if (many) {
      left &= spheres_within_r(&block, balls, count, i, group, lane_most(high) + margin);
    }
    left = ellipsoids_within_r(first, left, at, margin, &high);
    for (; left; left &= left - 1) {
      FN(superquadric)(first + lowest_bit(left) * SUPERQUADRIC_STRIDE, c, x, want, &p);
      FN(blend_add)(b, c, &p, want);
    }
  }
}

#if !NUM_DUAL
// Returns a lower bound of the distance of a superquadric at x if the bound is positive: the
// distance to a convex hull of it. Two hulls are used. One is the box of its axes. The other is the
// half space whose normal is that of the ellipsoid of its axes at the point, moved out to the box
// or to the ellipsoid that contains the superquadric (SUPERQUADRIC_MOST), whichever is nearer.
static lane FN(superquadric_bound)(GLOBAL const real *s, vec x)
{
  GLOBAL const real *at = s + SUPERQUADRIC_POSITION, *axes_inv = s + SUPERQUADRIC_AXES_INV;
  const vec y = FN(rotate_back)(s, FN(make)(x.x - at[0], x.y - at[1], x.z - at[2]));
  const vec u = FN(make)(y.x * axes_inv[0], y.y * axes_inv[1], y.z * axes_inv[2]);
  const vec g = FN(make)(u.x * axes_inv[0], u.y * axes_inv[1], u.z * axes_inv[2]);
  const lane u2 = FN(dot3)(u, u);
  const lane box = lane_abs(u.x) + lane_abs(u.y) + lane_abs(u.z);
  const lane hull = lane_min(box, lane_sqrt(u2) * s[SUPERQUADRIC_MOST]);
  const lane plane = (u2 - hull) / lane_sqrt(FN(dot3)(g, g) + REAL_TINY);
  const lane none = lane_lit(R(0.0));
  const vec off = FN(make)(lane_max(lane_abs(y.x) - R(1.0) / axes_inv[0], none),
                           lane_max(lane_abs(y.y) - R(1.0) / axes_inv[1], none),
                           lane_max(lane_abs(y.z) - R(1.0) / axes_inv[2], none));
  return lane_max(plane, lane_sqrt(FN(dot3)(off, off))); // far away `plane` may be NaN
}

static lane FN(superquadrics_bound)(int count, GLOBAL const int *ranges, GLOBAL const real *first,
                                    vec x, lane radius)
{
  lane least = lane_lit(REAL_BIG);
  (void)ranges;
  for (int i = 0; i < count; ++i, first += SUPERQUADRIC_STRIDE) {
    least = lane_min(least, FN(superquadric_bound)(first, x));
  }
  return FN(bound_over)(least, radius);
}

#define MARCH_CULL_FROM 4 // fewer superquadrics are all evaluated

// Returns h - 1, from phi = r (1 - 1/h).
static lane FN(superquadric_gap)(GLOBAL const real *s, vec x, lane phi)
{
  const vec y = FN(make)(x.x - s[SUPERQUADRIC_POSITION], x.y - s[SUPERQUADRIC_POSITION + 1],
                         x.z - s[SUPERQUADRIC_POSITION + 2]);
  const lane r = lane_sqrt(FN(dot3)(y, y) + s[SUPERQUADRIC_FLOOR]);
  return phi / lane_max(r - phi, r * REAL_EPSILON);
}

// Returns the distance along the ray to the sphere around a superquadric, widened by the margin.
static lane FN(march_sphere)(const FN(marching) *m, GLOBAL const real *s, vec x)
{
  const vec y = FN(make)(s[SUPERQUADRIC_POSITION] - x.x, s[SUPERQUADRIC_POSITION + 1] - x.y,
                         s[SUPERQUADRIC_POSITION + 2] - x.z);
  const real radius = s[SUPERQUADRIC_OUTER] + m->margin;
  const lane along = FN(dot3)(y, m->d);
  const lane rest = radius * radius - (FN(dot3)(y, y) - along * along);
  const lane zero = lane_lit(R(0.0));
  const lane entry = lane_max(along - lane_sqrt(lane_max(rest, zero)), lane_lit(m->creep));
  return lane_select((rest > zero) & (along > zero), entry, lane_lit(REAL_BIG));
}

// Returns whether all points are so far outside a superquadric's sphere that it does not count
// (cull.inl).
static int FN(march_beyond)(GLOBAL const real *s, GLOBAL const coefficients *c, vec x, lane least)
{
  const vec y = FN(make)(x.x - s[SUPERQUADRIC_POSITION], x.y - s[SUPERQUADRIC_POSITION + 1],
                         x.z - s[SUPERQUADRIC_POSITION + 2]);
  const lane reach = least + (c->union_ln2 * CULL_BITS + s[SUPERQUADRIC_OUTER]);
  const lane positive = lane_max(reach, lane_lit(R(0.0)));
  return lane_all(FN(dot3)(y, y) > positive * positive);
}

// Adds the nearest superquadric first, as above. For superquadrics that do not count, the sphere
// bounds the step.
static void FN(superquadrics_march)(FN(marching) *m, int count, GLOBAL const int *ranges,
                                    GLOBAL const real *first, GLOBAL const coefficients *c, vec x)
{
  (void)ranges;
  FN(surface) p;
  const int culling = count >= MARCH_CULL_FROM;
  const FN(ball) block = FN(ball_around)(x);
  GLOBAL const real *balls = first + count * SUPERQUADRIC_STRIDE;
  const int nearest = culling ? FN(likely_nearest)(&block, balls, count) : -1;
  for (int i = culling ? -1 : 0; i < count; ++i) {
    GLOBAL const real *s = first + (i < 0 ? nearest : i) * SUPERQUADRIC_STRIDE;
    if (culling && i == nearest) {
      continue;
    }
    if (culling && i >= 0 && FN(march_beyond)(s, c, x, m->blend.least)) {
      m->step = lane_min(m->step, FN(march_sphere)(m, s, x));
      continue;
    }
    FN(superquadric)(s, c, x, JET_NORMAL, &p);
    FN(blend_add)(&m->blend, c, &p, 0);
    m->step = lane_min(m->step, FN(march_bound)(m, FN(superquadric_gap)(s, x, p.phi), p.g));
  }
}
#endif
