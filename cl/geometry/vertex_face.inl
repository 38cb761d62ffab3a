// The smooth projection of a point onto a triangle (docs/dev/spec.md, section 8; Beker et al.,
// III-C).

static vec FN(on_edge)(vec v, vec a, vec b, GLOBAL const coefficients *c)
{
  const vec t = FN(sub3)(b, a);
  const num x = n_div(FN(dot3)(FN(sub3)(v, a), t), FN(dot3)(t, t));
  return FN(mad3)(t, FN(soft_clip)(x, c->clip, c->clip_inv), a);
}

// The point v relative to the plane of the triangle (a, b, e), whose normal is not of unit length.
typedef struct FN(face_plane) {
  vec d1, d2, from_a, flat, normal; // b - a, e - a, v - a, its part within the plane, d1 x d2
  num area_inv, height;             // 1 / (normal . normal); v is height * normal above the plane
  num b0, b1, b2;                   // barycentric coordinates
} FN(face_plane);

static FN(face_plane) FN(face_plane_of)(vec v, vec a, vec b, vec e)
{
  FN(face_plane) r;
  r.d1 = FN(sub3)(b, a);
  r.d2 = FN(sub3)(e, a);
  r.from_a = FN(sub3)(v, a);
  r.normal = FN(cross3)(r.d1, r.d2);
  r.area_inv = n_rcp(FN(dot3)(r.normal, r.normal));
  r.height = n_mul(FN(dot3)(r.from_a, r.normal), r.area_inv);
  r.flat = FN(sub3)(r.from_a, FN(scale3)(r.normal, r.height));
  r.b2 = n_mul(FN(dot3)(FN(cross3)(r.d1, r.flat), r.normal), r.area_inv);
  r.b1 = n_mul(FN(dot3)(FN(cross3)(r.flat, r.d2), r.normal), r.area_inv);
  r.b0 = n_sub(n_sub(n_lit(R(1.0)), r.b1), r.b2);
  return r;
}

static num FN(how_far)(vec v, vec side, GLOBAL const coefficients *c)
{
  const vec gap = FN(sub3)(v, side);
  return n_sqrt(n_shift(FN(dot3)(gap, gap), c->distance));
}

// Projects v onto the triangle's sides (a, b), (b, e) and (a, e). Writes the projections, the
// distances of v from them and the weights of their soft minimum. Returns the sum of the weights.
static num FN(face_sides)(vec v, vec a, vec b, vec e, GLOBAL const coefficients *c, vec side[3],
                          num far[3], num w[3])
{
  side[0] = FN(on_edge)(v, a, b, c);
  side[1] = FN(on_edge)(v, b, e, c);
  side[2] = FN(on_edge)(v, a, e, c);
  far[0] = FN(how_far)(v, side[0], c);
  far[1] = FN(how_far)(v, side[1], c);
  far[2] = FN(how_far)(v, side[2], c);
  const real scale = c->length_inv * c->minimum_log2e;
  const num least = FN(lesser)(FN(lesser)(far[0], far[1]), far[2]);
  w[0] = n_exp2(n_scale(n_sub(least, far[0]), scale));
  w[1] = n_exp2(n_scale(n_sub(least, far[1]), scale));
  w[2] = n_exp2(n_scale(n_sub(least, far[2]), scale));
  return n_add(n_add(w[0], w[1]), w[2]);
}

// Projects v onto the triangle (a, b, e). The caller has ensured that the triangle has an area.
static vec FN(face_witness)(vec v, vec a, vec b, vec e, GLOBAL const coefficients *c)
{
  const FN(face_plane) r = FN(face_plane_of)(v, a, b, e);
  const num in1 = FN(within)(r.b1, c->compare_inv), in2 = FN(within)(r.b2, c->compare_inv);
  const num inside = n_mul(n_mul(in1, in2), FN(within)(r.b0, c->compare_inv));
  vec side[3];
  num far[3], w[3];
  const num sum = FN(face_sides)(v, a, b, e, c, side, far, w);
  const vec mix = FN(mad3)(side[0], w[0], FN(mad3)(side[1], w[1], FN(scale3)(side[2], w[2])));
  const num rest = n_div(n_sub(n_lit(R(1.0)), inside), sum);
  return FN(mad3)(FN(add3)(a, r.flat), inside, FN(scale3)(mix, rest));
}

// ---- adjoint ----

// Adds to the cotangents of v, a and b, given that of on_edge.
static void FN(on_edge_adjoint)(vec v, vec a, vec b, GLOBAL const coefficients *c, vec bar,
                                vec *v_bar, vec *a_bar, vec *b_bar)
{
  const vec t = FN(sub3)(b, a);
  const vec from_a = FN(sub3)(v, a);
  const num t2_inv = n_rcp(FN(dot3)(t, t));
  const num x = n_mul(FN(dot3)(from_a, t), t2_inv);
  num slope;
  const num clipped = FN(soft_clip_and_slope)(x, c->clip, c->clip_inv, &slope);
  const num by_x = n_mul(n_mul(FN(dot3)(bar, t), slope), t2_inv);
  const vec turned = FN(mad3)(t, n_scale(x, R(-2.0)), from_a);
  const vec t_bar = FN(mad3)(turned, by_x, FN(scale3)(bar, clipped));
  const vec from_bar = FN(scale3)(t, by_x);
  *v_bar = FN(add3)(*v_bar, from_bar);
  *a_bar = FN(add3)(*a_bar, FN(sub3)(FN(sub3)(bar, from_bar), t_bar));
  *b_bar = FN(add3)(*b_bar, t_bar);
}

// Adds to the cotangents of v, a, b and e (`out`), given those of flat and of the barycentric
// coordinates b1 and b2.
static void FN(face_plane_adjoint)(const FN(face_plane) *r, vec flat_bar, num b1_bar, num b2_bar,
                                   vec out[4])
{
  const num s1 = n_mul(b1_bar, r->area_inv), s2 = n_mul(b2_bar, r->area_inv);
  const vec bent = FN(cross3)(r->flat, r->normal);
  const vec mixed = FN(sub3)(FN(scale3)(r->d1, s2), FN(scale3)(r->d2, s1));
  const vec flat_all = FN(add3)(flat_bar, FN(cross3)(r->normal, mixed));
  const num up = n_neg(n_mul(FN(dot3)(r->normal, flat_bar), r->area_inv)); // height's, by area
  const vec from_bar = FN(mad3)(r->normal, up, flat_all);
  // The normal occurs in both coordinates, in flat, in height, and in area_inv.
  const num area = n_mad(s1, r->b1, n_mad(s2, r->b2, n_mul(up, r->height)));
  const vec coordinates = FN(cross3)(mixed, r->flat);
  vec normal = FN(mad3)(r->normal, n_scale(area, R(-2.0)), coordinates);
  normal = FN(mad3)(flat_all, n_neg(r->height), FN(mad3)(r->from_a, up, normal));
  const vec d1_bar = FN(mad3)(bent, s2, FN(cross3)(r->d2, normal));
  const vec d2_bar = FN(mad3)(bent, n_neg(s1), FN(cross3)(normal, r->d1));
  out[0] = FN(add3)(out[0], from_bar);
  out[1] = FN(sub3)(out[1], FN(add3)(from_bar, FN(add3)(d1_bar, d2_bar)));
  out[2] = FN(add3)(out[2], d1_bar);
  out[3] = FN(add3)(out[3], d2_bar);
}

// Adds the contribution of the soft best side, of cotangent `bar`, to v, a, b and e.
static void FN(face_sides_adjoint)(vec v, vec a, vec b, vec e, const vec side[3], const num far[3],
                                   const num share[3], GLOBAL const coefficients *c, vec bar,
                                   vec out[4])
{
  vec side_bar[3];
  num far_bar[3];
  for (int i = 0; i < 3; ++i) {
    far_bar[i] = n_lit(R(0.0));
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = i + 1; j < 3; ++j) {
      const num both = n_scale(n_mul(share[i], share[j]), c->length_inv * c->minimum_log2e * LN2);
      const num flow = n_mul(both, FN(dot3)(bar, FN(sub3)(side[j], side[i])));
      far_bar[i] = n_add(far_bar[i], flow);
      far_bar[j] = n_sub(far_bar[j], flow);
    }
  }
  for (int i = 0; i < 3; ++i) {
    const vec gap = FN(scale3)(FN(sub3)(v, side[i]), n_div(far_bar[i], far[i]));
    out[0] = FN(add3)(out[0], gap);
    side_bar[i] = FN(sub3)(FN(scale3)(bar, share[i]), gap);
  }
  FN(on_edge_adjoint)(v, a, b, c, side_bar[0], &out[0], &out[1], &out[2]);
  FN(on_edge_adjoint)(v, b, e, c, side_bar[1], &out[0], &out[2], &out[3]);
  FN(on_edge_adjoint)(v, a, e, c, side_bar[2], &out[0], &out[1], &out[3]);
}

// Converts `bar`, the cotangent of face_witness's result, to cotangents of v, a, b and e.
static void FN(face_witness_adjoint)(vec v, vec a, vec b, vec e, GLOBAL const coefficients *c,
                                     vec bar, vec out[4])
{
  const FN(face_plane) r = FN(face_plane_of)(v, a, b, e);
  num slope0, slope1, slope2;
  const num in0 = FN(within_and_slope)(r.b0, c->compare_inv, &slope0);
  const num in1 = FN(within_and_slope)(r.b1, c->compare_inv, &slope1);
  const num in2 = FN(within_and_slope)(r.b2, c->compare_inv, &slope2);
  const num inside = n_mul(n_mul(in1, in2), in0);
  vec side[3];
  num far[3], share[3];
  const num sum_inv = n_rcp(FN(face_sides)(v, a, b, e, c, side, far, share));
  const num zero = n_lit(R(0.0));
  vec best = FN(make)(zero, zero, zero);
  for (int i = 0; i < 3; ++i) {
    share[i] = n_mul(share[i], sum_inv);
    best = FN(mad3)(side[i], share[i], best);
  }
  const num by_inside = FN(dot3)(bar, FN(sub3)(FN(add3)(a, r.flat), best));
  const num by0 = n_mul(by_inside, n_mul(slope0, n_mul(in1, in2)));
  const num by1 = n_mul(by_inside, n_mul(slope1, n_mul(in0, in2)));
  const num by2 = n_mul(by_inside, n_mul(slope2, n_mul(in0, in1)));
  const vec flat_bar = FN(scale3)(bar, inside);
  out[0] = out[2] = out[3] = FN(make)(zero, zero, zero);
  out[1] = flat_bar;
  FN(face_plane_adjoint)(&r, flat_bar, n_sub(by1, by0), n_sub(by2, by0), out);
  FN(face_sides_adjoint)(v, a, b, e, side, far, share, c, FN(sub3)(bar, flat_bar), out);
}
