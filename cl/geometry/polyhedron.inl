// Convex polyhedron (Beker et al., eq. 4): phi = LSE over planes, g = its exact gradient, sum w_i
// n_i.
static num FN(polyhedron)(GLOBAL const real *planes, int count, GLOBAL const coefficients *c, vec x,
                          const int want_g, vec *g)
{
  num top = n_lit(-REAL_BIG);
  num sum = n_lit(R(0.0));
  vec mix = FN(make)(sum, sum, sum);
  for (int i = 0; i < count; ++i) {
    GLOBAL const real *p = planes + i * PLANE_STRIDE;
    const num v = n_smad(x.x, p[0], n_smad(x.y, p[1], n_smad(x.z, p[2], n_lit(-p[3]))));
    const ilane leads = n_value(v) > n_value(top);
    const num hi = n_select(leads, v, top);
    const num e = n_exp2(n_scale(n_sub(n_select(leads, top, v), hi), c->plane_log2e));
    const num keep = n_select(leads, e, n_lit(R(1.0)));
    const num take = n_select(leads, n_lit(R(1.0)), e);
    sum = n_mad(sum, keep, take);
    if (want_g) {
      mix.x = n_mad(mix.x, keep, n_scale(take, p[0]));
      mix.y = n_mad(mix.y, keep, n_scale(take, p[1]));
      mix.z = n_mad(mix.z, keep, n_scale(take, p[2]));
    }
    top = hi;
  }
  if (want_g) {
    *g = FN(scale3)(mix, n_rcp(sum));
  }
  return n_smad(n_log2(sum), c->plane_ln2, top);
}
