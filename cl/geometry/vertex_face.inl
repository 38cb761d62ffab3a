// Smooth projection of a point onto a triangle (Beker et al., III-C).

static vec FN(on_edge)(vec v, vec a, vec b, GLOBAL const coefficients *c)
{
  const vec t = FN(sub3)(b, a);
  const num x = n_div(FN(dot3)(FN(sub3)(v, a), t), FN(dot3)(t, t));
  return FN(mad3)(t, FN(soft_clip)(x, c->clip, c->clip_inv), a);
}

// v onto the triangle (a, b, e). The caller has made sure that it has area.
static vec FN(face_witness)(vec v, vec a, vec b, vec e, GLOBAL const coefficients *c)
{
  const vec d1 = FN(sub3)(b, a);
  const vec d2 = FN(sub3)(e, a);
  const vec from_a = FN(sub3)(v, a);
  const vec normal = FN(cross3)(d1, d2);
  const num area_inv = n_rcp(FN(dot3)(normal, normal));
  const num height = n_mul(FN(dot3)(from_a, normal), area_inv);
  const vec flat = FN(sub3)(from_a, FN(scale3)(normal, height));
  const num b2 = n_mul(FN(dot3)(FN(cross3)(d1, flat), normal), area_inv);
  const num b1 = n_mul(FN(dot3)(FN(cross3)(flat, d2), normal), area_inv);
  const num b0 = n_sub(n_sub(n_lit(R(1.0)), b1), b2);
  const num inside = n_mul(n_mul(FN(within)(b1, c->compare_inv), FN(within)(b2, c->compare_inv)),
                           FN(within)(b0, c->compare_inv));

  vec side[3];
  side[0] = FN(on_edge)(v, a, b, c);
  side[1] = FN(on_edge)(v, b, e, c);
  side[2] = FN(on_edge)(v, a, e, c);
  num far[3];
  for (int i = 0; i < 3; ++i) {
    const vec gap = FN(sub3)(v, side[i]);
    far[i] = n_sqrt(n_shift(FN(dot3)(gap, gap), c->distance));
  }
  num least = far[0];
  for (int i = 1; i < 3; ++i) {
    least = n_select(n_value(far[i]) < n_value(least), far[i], least);
  }
  num sum = n_lit(R(0.0));
  vec mix = FN(make)(sum, sum, sum);
  for (int i = 0; i < 3; ++i) {
    const num w = n_exp2(n_scale(n_sub(least, far[i]), c->length_inv * c->minimum_log2e));
    sum = n_add(sum, w);
    mix = FN(mad3)(side[i], w, mix);
  }
  const num rest = n_div(n_sub(n_lit(R(1.0)), inside), sum);
  const vec projected = FN(make)(n_add(a.x, flat.x), n_add(a.y, flat.y), n_add(a.z, flat.z));
  return FN(mad3)(projected, inside, FN(scale3)(mix, rest));
}
