// The field of one cloud at points of its frame: planes phi and its gradient
// sum w_i [n_i - 2 (phi_i - phi) E_i^-1 (x - p_i)]. Global size: blocks of lanes.
KERNEL void spring_query(GLOBAL const real *points, int padded, GLOBAL const int *heads,
                         GLOBAL const real *shapes, int with_gradient, GLOBAL real *out)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= padded) {
    return;
  }
  const spring_cloud s = spring_cloud_of(heads, shapes, 0);
  const vec x = FN(make)(load(points + first, 0), load(points + padded + first, 0),
                         load(points + 2 * padded + first, 0));
  const spring_place o = spring_place_of(&s, x);
  const lane top = spring_top(&s, &o), least = top - SPRING_TAIL * LOG2E;
  const num phi = spring_phi(&s, &o, top), zero = n_lit(R(0.0));
  store(out + first, 0, phi);
  if (!with_gradient) {
    return;
  }
  num sum = zero;
  vec all = FN(make)(zero, zero, zero);
  for (int tile = 0; tile < s.tiles; ++tile) {
    if (!spring_passes(&s, &o, tile, least)) {
      SPRING_EACH(&s, i, tile) {
        vec q;
        GLOBAL const real *p = s.records + i * SPRING_RECORD;
        const vec r = spring_way(p, o.x);
        const num w = n_exp2(n_sub(spring_exponent(&s, &o, i, r, &q), n_of(top)));
        const num tilt = n_mul(w, n_scale(n_sub(spring_height(p, r), phi), R(-2.0) * LN2));
        sum = n_add(sum, w);
        all.x = n_mad(q.x, tilt, n_smad(w, p[3], all.x));
        all.y = n_mad(q.y, tilt, n_smad(w, p[4], all.y));
        all.z = n_mad(q.z, tilt, n_smad(w, p[5], all.z));
      }
    }
  }
  const vec gradient = FN(scale3)(all, n_rcp(sum));
  store3(out + padded + first, 0, padded, gradient);
}
