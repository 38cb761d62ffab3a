// An oriented point cloud (docs/dev/spec.md, section 4; Beker et al., eq. 5). With r_i = x - p_i,
// phi_i = n_i . r_i, u_i = -r_i / width_i^2 and w = softmax(-|r_i|^2 / (2 width_i^2)),
//   phi = sum w_i phi_i, g = sum w_i [n_i + (phi_i - phi) u_i],
// where g is the exact gradient.
//
// One pass visits all points. Sums are relative to the heaviest point so far: to its exponent, and
// to its phi as the pivot c of sum w (phi_i - c) and sum w (phi_i - c) u_i. Without a pivot these
// sums would cancel far from the cloud.
//
// Far from the cloud -|r_i|^2 rounds to the same number for all points. There the exponents are
// relative to that of the widest point at the centre of the cloud. With y from the centre to x, r
// from the centre to p_i and k_i = 1 / (2 width_i^2) they are k_i (2 y - r) . r - (k_i - k) |y|^2,
// whose first term distinguishes the points.

// A place relative to the cloud's centre, and whether it is far.
typedef struct FN(outlook) {
  vec y;
  num y2;
  ilane far;
  int some_far;
} FN(outlook);

static FN(outlook) FN(cloud_outlook)(GLOBAL const real *cloud, vec x)
{
  FN(outlook) o;
  o.y = FN(make)(n_shift(x.x, -cloud[0]), n_shift(x.y, -cloud[1]), n_shift(x.z, -cloud[2]));
  o.y2 = FN(dot3)(o.y, o.y);
  o.far = n_value(o.y2) > lane_lit(cloud[CLOUD_FAR2]);
  o.some_far = lane_any(o.far);
  return o;
}

// Returns the exponent of point p, where d is the vector from p to x.
static num FN(cloud_exponent)(GLOBAL const real *cloud, const FN(outlook) *o, GLOBAL const real *p,
                              vec d)
{
  const num near = n_scale(FN(dot3)(d, d), -p[7]);
  if (!o->some_far) {
    return near;
  }
  const real rx = p[0] - cloud[0], ry = p[1] - cloud[1], rz = p[2] - cloud[2];
  const num along = n_smad(o->y.x, rx, n_smad(o->y.y, ry, n_scale(o->y.z, rz)));
  const num told = n_shift(n_scale(along, R(2.0)), -(rx * rx + ry * ry + rz * rz));
  const num relative = n_smad(told, p[7], n_scale(o->y2, cloud[CLOUD_WIDEST] - p[7]));
  return n_select(o->far, relative, near);
}

static vec FN(cloud_way)(GLOBAL const real *p, vec x)
{
  return FN(make)(n_shift(x.x, -p[0]), n_shift(x.y, -p[1]), n_shift(x.z, -p[2]));
}

static num FN(cloud_distance)(GLOBAL const real *p, vec d)
{
  return n_smad(d.x, p[3], n_smad(d.y, p[4], n_scale(d.z, p[5])));
}

// The results of the first pass for the second. Members that are not wanted are not set.
typedef struct FN(cloud_means) {
  num top, sum;          // of the exponents, to the base 2; of the weights, relative to it
  num scale;             // of the weights
  num pivot, from_pivot; // phi = pivot + from_pivot
  vec pull;              // sum w u
} FN(cloud_means);

// Finds the derivative of g. With v = u - sum w u it is A + A' + B - s I, where
//   A = sum w v n',  B = sum w (phi_i - phi) v v',  s = sum w (phi_i - phi) / width_i^2.
static void FN(cloud_bend)(GLOBAL const real *cloud, int count, const FN(outlook) *o, vec x,
                           FN(cloud_means) m, FN(symmetric) *out)
{
  FN(symmetric) h = FN(symmetric_zero)();
  for (int i = 1; i <= count; ++i) {
    GLOBAL const real *p = cloud + i * POINT_STRIDE;
    const vec d = FN(cloud_way)(p, x);
    const num exponent = FN(cloud_exponent)(cloud, o, p, d);
    const num w = n_mul(n_exp2(n_sub(exponent, m.top)), m.scale);
    const num offset = n_sub(n_sub(FN(cloud_distance)(p, d), m.pivot), m.from_pivot);
    const num tilt = n_mul(w, offset);
    const num level = n_scale(tilt, -p[6]);
    const vec u = FN(make)(n_sub(n_scale(d.x, -p[6]), m.pull.x),
                           n_sub(n_scale(d.y, -p[6]), m.pull.y),
                           n_sub(n_scale(d.z, -p[6]), m.pull.z));
    const vec a = FN(scale3)(u, w);
    const vec b = FN(scale3)(u, tilt);
    h.xx = n_add(h.xx, n_smad(a.x, R(2.0) * p[3], n_mad(b.x, u.x, level)));
    h.yy = n_add(h.yy, n_smad(a.y, R(2.0) * p[4], n_mad(b.y, u.y, level)));
    h.zz = n_add(h.zz, n_smad(a.z, R(2.0) * p[5], n_mad(b.z, u.z, level)));
    h.xy = n_mad(b.x, u.y, n_smad(a.x, p[4], n_smad(a.y, p[3], h.xy)));
    h.xz = n_mad(b.x, u.z, n_smad(a.x, p[5], n_smad(a.z, p[3], h.xz)));
    h.yz = n_mad(b.y, u.z, n_smad(a.y, p[5], n_smad(a.z, p[4], h.yz)));
  }
  *out = h;
}

// Computes the surface, and writes the points' sums to *m.
static void FN(cloud_surface)(GLOBAL const real *cloud, int count, GLOBAL const coefficients *c,
                              vec x, const int want, FN(cloud_means) *m, FN(surface) *out)
{
  const num zero = n_lit(R(0.0));
  const FN(outlook) o = FN(cloud_outlook)(cloud, x);
  num top = n_lit(-REAL_MOST);
  num pivot = zero, sum = zero, rest = zero;
  vec normals = FN(make)(zero, zero, zero);
  vec pulls = normals;  // sum w u
  vec tilted = normals; // sum w (phi_i - c) u
  for (int i = 1; i <= count; ++i) {
    GLOBAL const real *p = cloud + i * POINT_STRIDE;
    const vec d = FN(cloud_way)(p, x);
    const num exponent = FN(cloud_exponent)(cloud, &o, p, d);
    const num phi = FN(cloud_distance)(p, d);
    const ilane leads = n_value(exponent) > n_value(top);
    const num hi = n_select(leads, exponent, top);
    const num e = n_exp2(n_sub(n_select(leads, top, exponent), hi));
    const num keep = n_select(leads, e, n_lit(R(1.0)));
    const num take = n_select(leads, n_lit(R(1.0)), e);
    const num shift = n_select(leads, n_sub(phi, pivot), zero);
    pivot = n_add(pivot, shift);
    const num offset = n_mul(take, n_sub(phi, pivot));
    rest = n_mad(n_sub(rest, n_mul(shift, sum)), keep, offset);
    sum = n_mad(sum, keep, take);
    if (want) {
      const num pull = n_scale(take, -p[6]);
      const num tilt = n_scale(offset, -p[6]);
      tilted = FN(mad3)(d, tilt, FN(scale3)(FN(sub3)(tilted, FN(scale3)(pulls, shift)), keep));
      pulls = FN(mad3)(d, pull, FN(scale3)(pulls, keep));
      normals.x = n_mad(normals.x, keep, n_scale(take, p[3]));
      normals.y = n_mad(normals.y, keep, n_scale(take, p[4]));
      normals.z = n_mad(normals.z, keep, n_scale(take, p[5]));
    }
    top = hi;
  }
  const num sum_inv = n_rcp(sum);
  const num from_pivot = n_mul(rest, sum_inv);
  out->phi = n_add(pivot, from_pivot);
  if (want) {
    const vec pulled = FN(sub3)(tilted, FN(scale3)(pulls, from_pivot));
    out->g = FN(scale3)(FN(make)(n_add(normals.x, pulled.x), n_add(normals.y, pulled.y),
                                 n_add(normals.z, pulled.z)),
                        sum_inv);
    out->gradient = out->g;
    m->pull = FN(scale3)(pulls, sum_inv);
  }
  m->top = top;
  m->sum = sum;
  m->pivot = pivot;
  m->from_pivot = from_pivot;
  if (want & (JET_JACOBIAN | JET_HESSIAN)) {
    m->scale = sum_inv;
    FN(cloud_bend)(cloud, count, &o, x, *m, &out->curve);
    out->bend = FN(rows_of)(FN(symmetric_scale)(out->curve, FN(unit_scale)(out->g, c->normal)));
  }
}

static void FN(pointcloud)(GLOBAL const real *cloud, int count, GLOBAL const coefficients *c, vec x,
                           const int want, FN(surface) *out)
{
  FN(cloud_means) m;
  FN(cloud_surface)(cloud, count, c, x, want, &m, out);
}

// Adds the clouds. ranges has the start of each cloud's record and its number of points.
static void FN(pointclouds_add)(FN(blend) *b, int count, GLOBAL const int *ranges,
                                GLOBAL const real *points, GLOBAL const coefficients *c, vec x,
                                const int want, real reach)
{
  FN(surface) p;
  (void)reach;
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    FN(pointcloud)(points + ranges[0], ranges[1], c, x, want, &p);
    FN(blend_add)(b, c, &p, want);
  }
}

#if !NUM_DUAL
// A cloud's distance has no such bound, because it may be negative anywhere.
static lane FN(pointclouds_bound)(int count, GLOBAL const int *ranges, GLOBAL const real *points,
                                  vec x, lane radius)
{
  (void)ranges;
  (void)points;
  (void)x;
  (void)radius;
  return lane_lit(count ? -REAL_BIG : REAL_BIG);
}

#define MARCH_CLOUD_STEP R(0.6) // a step's share of a cloud's distance, which is nearly a true one

static void FN(pointclouds_march)(FN(marching) *m, int count, GLOBAL const int *ranges,
                                  GLOBAL const real *points, GLOBAL const coefficients *c, vec x)
{
  FN(surface) p;
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    FN(pointcloud)(points + ranges[0], ranges[1], c, x, 0, &p);
    FN(blend_add)(&m->blend, c, &p, 0);
    const lane step = (p.phi - m->margin) * MARCH_CLOUD_STEP;
    m->step = lane_min(m->step, lane_max(step, lane_lit(m->creep)));
  }
}
#endif
