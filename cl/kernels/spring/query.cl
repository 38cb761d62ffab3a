// The field of one cloud and its gradient at points of the cloud's frame;
// docs/dev/spring-formulas.md, "Field, separation, force", 1. The gradient is sum w_i [n_i - 2
// (phi_i - phi) (u_i - u)], where u_i = E_i^-1 (x - p_i) and u is their mean by w. Subtracting u
// changes nothing, as sum w_i (phi_i - phi) is 0. It makes both factors small where weights are
// large, which avoids the cancellation of large terms.

// Traverses the cloud once. Returns the sum of weights relative to the exponent `top`. *all gets
// the equally unscaled sum of w q, with q = u_i, or the gradient if `with_pull` is set and `pull`
// is the mean u.
static num spring_sum_field(const spring_cloud *s, const spring_place *o, lane top, num phi,
                            vec pull, int with_pull, vec *all)
{
  const lane least = top - SPRING_TAIL * LOG2E;
  const num zero = n_lit(R(0.0));
  num sum = zero;
  *all = FN(make)(zero, zero, zero);
  for (int tile = 0; tile < s->tiles; ++tile) {
    if (!spring_passes(s, o, tile, least)) {
      SPRING_EACH (s, i, tile) {
        GLOBAL const real *p = s->records + i * SPRING_RECORD;
        const vec r = spring_way(p, o->x);
        const vec q = spring_pull(s, i, r);
        const num w = n_exp2(n_sub(spring_exponent(s, o, i, r, q), n_of(top)));
        const num tilt = n_mul(w, n_scale(n_sub(spring_height(p, r), phi), R(-2.0) * LN2));
        const vec n = FN(make)(n_scale(w, p[3]), n_scale(w, p[4]), n_scale(w, p[5]));
        sum = n_add(sum, w);
        *all = with_pull ? FN(mad3)(FN(sub3)(q, pull), tilt, FN(add3)(n, *all))
                         : FN(mad3)(q, w, *all);
      }
    }
  }
  return sum;
}

// One work-item evaluates LANES points. points (3, padded) are planes x, y and z. out (4, padded)
// gets the plane phi and, if with_gradient is set, the planes of the gradient. The global size is
// padded / LANES.
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
  lane top;
  const num phi = spring_phi(&s, &o, &top);
  store(out + first, 0, phi);
  if (!with_gradient) {
    return;
  }
  vec pull, all;
  const num sum_inv = n_rcp(spring_sum_field(&s, &o, top, phi, x, 0, &pull));
  pull = FN(scale3)(pull, sum_inv);
  spring_sum_field(&s, &o, top, phi, pull, 1, &all);
  store3(out + padded + first, 0, padded, FN(scale3)(all, sum_inv));
}
