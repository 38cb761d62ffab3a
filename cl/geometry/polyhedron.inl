// A convex polyhedron: docs/dev/spec.md, section 4 (Beker et al., eq. 4). phi is the LSE over
// planes and g its exact gradient, sum w_i n_i. The derivative of g is the spread of the normals,
// 1/plane sum w_i (n_i - g) (n_i - g)'.

static num FN(plane_distance)(GLOBAL const real *p, vec x)
{
  return n_smad(x.x, p[0], n_smad(x.y, p[1], n_smad(x.z, p[2], n_lit(-p[3]))));
}

// Finds the derivative of g in a second pass, which avoids differences of larger sums. top and
// sum_inv are those of the first pass.
static void FN(polyhedron_bend)(GLOBAL const real *planes, int count, GLOBAL const coefficients *c,
                                vec x, num top, num sum_inv, FN(surface) *out)
{
  const num scale = n_scale(sum_inv, c->plane_log2e * LN2);
  FN(symmetric) h = FN(symmetric_zero)();
  for (int i = 0; i < count; ++i) {
    GLOBAL const real *p = planes + i * PLANE_STRIDE;
    const num v = FN(plane_distance)(p, x);
    const num w = n_mul(n_exp2(n_scale(n_sub(v, top), c->plane_log2e)), scale);
    const vec n = FN(sub3)(FN(make)(n_lit(p[0]), n_lit(p[1]), n_lit(p[2])), out->g);
    const vec wn = FN(scale3)(n, w);
    h.xx = n_mad(wn.x, n.x, h.xx);
    h.yy = n_mad(wn.y, n.y, h.yy);
    h.zz = n_mad(wn.z, n.z, h.zz);
    h.xy = n_mad(wn.x, n.y, h.xy);
    h.xz = n_mad(wn.x, n.z, h.xz);
    h.yz = n_mad(wn.y, n.z, h.yz);
  }
  out->curve = h;
  out->bend = FN(rows_of)(FN(symmetric_scale)(h, FN(unit_scale)(out->g, c->normal)));
}

static void FN(polyhedron)(GLOBAL const real *planes, int count, GLOBAL const coefficients *c,
                           vec x, const int want, FN(surface) *out)
{
  num top = n_lit(-REAL_BIG);
  num sum = n_lit(R(0.0));
  vec mix = FN(make)(sum, sum, sum);
  for (int i = 0; i < count; ++i) {
    GLOBAL const real *p = planes + i * PLANE_STRIDE;
    const num v = FN(plane_distance)(p, x);
    const ilane leads = n_value(v) > n_value(top);
    const num hi = n_select(leads, v, top);
    const num e = n_exp2(n_scale(n_sub(n_select(leads, top, v), hi), c->plane_log2e));
    const num keep = n_select(leads, e, n_lit(R(1.0)));
    const num take = n_select(leads, n_lit(R(1.0)), e);
    sum = n_mad(sum, keep, take);
    if (want) {
      mix.x = n_mad(mix.x, keep, n_scale(take, p[0]));
      mix.y = n_mad(mix.y, keep, n_scale(take, p[1]));
      mix.z = n_mad(mix.z, keep, n_scale(take, p[2]));
    }
    top = hi;
  }
  if (want) {
    const num sum_inv = n_rcp(sum);
    out->g = FN(scale3)(mix, sum_inv);
    out->gradient = out->g;
    if (want & (JET_JACOBIAN | JET_HESSIAN)) {
      FN(polyhedron_bend)(planes, count, c, x, top, sum_inv, out);
    }
  }
  out->phi = n_smad(n_log2(sum), c->plane_ln2, top);
}

// Adds the polyhedra. ranges has the start of each polyhedron's planes and their number.
static void FN(polyhedra_add)(FN(blend) *b, int count, GLOBAL const int *ranges,
                              GLOBAL const real *planes, GLOBAL const coefficients *c, vec x,
                              const int want, real reach)
{
  FN(surface) p;
  (void)reach;
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    FN(polyhedron)(planes + ranges[0], ranges[1], c, x, want, &p);
    FN(blend_add)(b, c, &p, want);
  }
}

#if !NUM_DUAL
// The bound is the largest term, because a soft maximum is at least that.
static lane FN(polyhedra_bound)(int count, GLOBAL const int *ranges, GLOBAL const real *planes,
                                vec x, lane radius)
{
  lane least = lane_lit(REAL_BIG);
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    lane most = lane_lit(-REAL_BIG);
    for (int k = 0; k < ranges[1]; ++k) {
      most = lane_max(most, FN(plane_distance)(planes + ranges[0] + k * PLANE_STRIDE, x));
    }
    least = lane_min(least, most);
  }
  return FN(bound_over)(least, radius);
}

static void FN(polyhedra_march)(FN(marching) *m, int count, GLOBAL const int *ranges,
                                GLOBAL const real *planes, GLOBAL const coefficients *c, vec x)
{
  FN(surface) p;
  for (int i = 0; i < count; ++i, ranges += RANGE_INTS) {
    FN(polyhedron)(planes + ranges[0], ranges[1], c, x, JET_NORMAL, &p);
    FN(blend_add)(&m->blend, c, &p, 0);
    m->step = lane_min(m->step, FN(march_bound)(m, p.phi, p.g));
  }
}
#endif
