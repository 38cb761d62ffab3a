// Edge-edge witness points and contacts (Beker et al., III-B and IV-D).

// A quadratic 1/2 a'Qa + c'a, Q = [q11 q12; q12 q22], and its minimiser u over the plane.
typedef struct FN(quadratic) {
  num q11, q12, q22, c1, c2, u1, u2;
} FN(quadratic);

// Half the squared distance of p + a1 t1 and q - a2 t2, b = p - q, with ridge/2 |a - 1/2|^2 added.
// u = -Q^-1 c with det Q and both numerators by the identities of Lagrange and Binet and Cauchy:
// products of t1 x t2, which vanishes with the angle, where the plain differences cancel on
// parallel edges.
static FN(quadratic) FN(edge_quadratic)(vec t1, vec t2, vec b, real ridge)
{
  FN(quadratic) r;
  const num t11 = FN(dot3)(t1, t1), t22 = FN(dot3)(t2, t2);
  const num b1 = FN(dot3)(b, t1), b2 = FN(dot3)(b, t2);
  r.q11 = n_shift(t11, ridge);
  r.q12 = FN(dot3)(t1, t2);
  r.q22 = n_shift(t22, ridge);
  r.c1 = n_shift(b1, R(-0.5) * ridge);
  r.c2 = n_shift(b2, R(-0.5) * ridge);
  const vec across = FN(cross3)(t1, t2);
  const num det = n_smad(n_shift(n_add(t11, t22), ridge), ridge, FN(dot3)(across, across));
  const num det_inv = n_rcp(det);
  const num by1 = n_sub(n_scale(n_sub(r.q22, r.q12), R(0.5)), b1);
  const num by2 = n_sub(n_scale(n_sub(r.q11, r.q12), R(0.5)), b2);
  r.u1 = n_mul(n_smad(by1, ridge, FN(dot3)(FN(cross3)(t2, b), across)), det_inv);
  r.u2 = n_mul(n_smad(by2, ridge, FN(dot3)(FN(cross3)(b, t1), across)), det_inv);
  return r;
}

// Smooth active-set minimiser over [0,1]^2: u where `con` is near 1, else the soft best of four
// sides.
static void FN(unit_square_minimum)(const FN(quadratic) *r, GLOBAL const coefficients *c, num *a1,
                                    num *a2, num *con)
{
  const num q11 = r->q11, q12 = r->q12, q22 = r->q22, c1 = r->c1, c2 = r->c2;
  const num u1 = r->u1, u2 = r->u2;
  *con = n_mul(FN(within)(u1, c->compare_inv), FN(within)(u2, c->compare_inv));

  const num q11_inv = n_rcp(q11);
  const num q22_inv = n_rcp(q22);
  num free[4], cost[4];
  free[0] = FN(soft_clip)(n_neg(n_mul(n_add(q12, c2), q22_inv)), c->clip, c->clip_inv); // a1 = 1
  free[1] = FN(soft_clip)(n_neg(n_mul(c2, q22_inv)), c->clip, c->clip_inv);             // a1 = 0
  free[2] = FN(soft_clip)(n_neg(n_mul(n_add(q12, c1), q11_inv)), c->clip, c->clip_inv); // a2 = 1
  free[3] = FN(soft_clip)(n_neg(n_mul(c1, q11_inv)), c->clip, c->clip_inv);             // a2 = 0
  // Each side's cost in its free coordinate, (q/2 x + slope) x, plus what the fixed one adds.
  const num on_a1 = n_smad(q11, R(0.5), c1);
  const num on_a2 = n_smad(q22, R(0.5), c2);
  cost[0] = n_mad(n_smad(n_mul(q22, free[0]), R(0.5), n_add(q12, c2)), free[0], on_a1);
  cost[1] = n_mul(n_smad(n_mul(q22, free[1]), R(0.5), c2), free[1]);
  cost[2] = n_mad(n_smad(n_mul(q11, free[2]), R(0.5), n_add(q12, c1)), free[2], on_a2);
  cost[3] = n_mul(n_smad(n_mul(q11, free[3]), R(0.5), c1), free[3]);

  num least = cost[0];
  for (int i = 1; i < 4; ++i) {
    least = n_select(n_value(cost[i]) < n_value(least), cost[i], least);
  }
  num w[4];
  num sum = n_lit(R(0.0));
  for (int i = 0; i < 4; ++i) {
    w[i] = n_exp2(n_scale(n_sub(least, cost[i]), c->minimum_log2e));
    sum = n_add(sum, w[i]);
  }
  const num rest = n_div(n_sub(n_lit(R(1.0)), *con), sum);
  const num s1 = n_add(w[0], n_mad(w[2], free[2], n_mul(w[3], free[3])));
  const num s2 = n_add(w[2], n_mad(w[0], free[0], n_mul(w[1], free[1])));
  *a1 = n_mad(*con, u1, n_mul(rest, s1));
  *a2 = n_mad(*con, u2, n_mul(rest, s2));
}

// Edges p and q of two ends each -> witness points e1, e2 and the interior indicator.
static void FN(edge_witness)(vec p0, vec p1, vec q0, vec q1, GLOBAL const coefficients *c, vec *e1,
                             vec *e2, num *con)
{
  const num scale = n_lit(c->length_inv);
  const vec along1 = FN(sub3)(p1, p0);
  const vec along2 = FN(sub3)(q1, q0);
  const vec t1 = FN(scale3)(along1, scale);
  const vec t2 = FN(scale3)(along2, n_neg(scale));
  const vec b = FN(scale3)(FN(sub3)(p0, q0), scale);
  const FN(quadratic) r = FN(edge_quadratic)(t1, t2, b, c->ridge);
  num a1, a2;
  FN(unit_square_minimum)(&r, c, &a1, &a2, con);
  *e1 = FN(mad3)(along1, a1, p0);
  *e2 = FN(mad3)(along2, a2, q0);
}

// What one edge pair gives: everything but the soft nearest neighbour and the gate weights.
typedef struct FN(edge_contact) {
  num dbar, d1, d2;  // unsigned and signed distances
  vec n1, n2;        // normals of body 1's and of body 2's point
  num a1, a2;        // activities without the neighbour's softmax
} FN(edge_contact);

// e1, e2: traced witness points; m1 = n1(e1), m2 = n2(e2), all in one frame; own: phi1(e1),
// phi2(e2); opposing: phi2(e1), phi1(e2).
static FN(edge_contact) FN(edge_pair)(vec e1, vec e2, num con, vec m1, vec m2, num own1, num own2,
                                      num opposing1, num opposing2, GLOBAL const coefficients *c)
{
  FN(edge_contact) r;
  const vec gap = FN(sub3)(e1, e2);
  const num gap2 = FN(dot3)(gap, gap);
  const num length_inv = n_rcp(n_sqrt(n_shift(gap2, c->distance)));
  const vec nbar = FN(scale3)(gap, length_inv);
  r.dbar = n_mul(gap2, length_inv);
  // Body 2's normal points out of body 1, so its unsigned normal is -nbar.
  const num sign1 = FN(soft_sign)(n_scale(FN(dot3)(m2, nbar), c->sign_inv));
  const num sign2 = FN(soft_sign)(n_scale(FN(dot3)(m1, nbar), -c->sign_inv));
  r.d1 = n_mul(sign1, r.dbar);
  r.d2 = n_mul(sign2, r.dbar);
  r.n1 = FN(scale3)(nbar, sign1);
  r.n2 = FN(scale3)(nbar, n_neg(sign2));
  const num shared = n_mul(con, FN(sigmoid)(n_scale(FN(dot3)(m1, m2), -c->clash_inv)));
  r.a1 = n_mul(shared, FN(sigmoid)(n_scale(opposing1, -c->penetration_inv)));
  r.a2 = n_mul(shared, FN(sigmoid)(n_scale(opposing2, -c->penetration_inv)));
  if (c->inside > R(0.0)) {
    r.a1 = n_mul(r.a1, FN(sigmoid)(n_scale(own1, -c->penetration_inv)));
    r.a2 = n_mul(r.a2, FN(sigmoid)(n_scale(own2, -c->penetration_inv)));
  }
  return r;
}
