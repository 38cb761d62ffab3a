// Edge-edge witness points and contacts: docs/dev/spec.md, section 6 (Beker et al., III-B and
// IV-D).

// A quadratic 1/2 a'Qa + c'a, where Q = [q11 q12; q12 q22], and its minimiser u over the plane.
typedef struct FN(quadratic) {
  num q11, q12, q22, c1, c2, u1, u2;
  num det_inv; // 1 / det Q and t1 x t2, which the adjoint reuses
  vec across;
} FN(quadratic);

// Returns half the squared distance of p + a1 t1 and q - a2 t2, where b = p - q, plus ridge/2 |a -
// 1/2|^2. det Q and both numerators of u = -Q^-1 c are computed by the identities of Lagrange and
// of Binet and Cauchy, as products of t1 x t2, which vanishes with the angle. The plain differences
// would cancel on parallel edges.
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
  r.across = FN(cross3)(t1, t2);
  const num det = n_smad(n_shift(n_add(t11, t22), ridge), ridge, FN(dot3)(r.across, r.across));
  r.det_inv = n_rcp(det);
  const num by1 = n_sub(n_scale(n_sub(r.q22, r.q12), R(0.5)), b1);
  const num by2 = n_sub(n_scale(n_sub(r.q11, r.q12), R(0.5)), b2);
  r.u1 = n_mul(n_smad(by1, ridge, FN(dot3)(FN(cross3)(t2, b), r.across)), r.det_inv);
  r.u2 = n_mul(n_smad(by2, ridge, FN(dot3)(FN(cross3)(b, t1), r.across)), r.det_inv);
  return r;
}

// The sides of the unit square have this order: a1 = 1, a1 = 0, a2 = 1, a2 = 0. Each side's least
// cost is at the root of its free coordinate, clipped.
static void FN(side_roots)(const FN(quadratic) *r, num root[4])
{
  const num q11_inv = n_rcp(r->q11);
  const num q22_inv = n_rcp(r->q22);
  root[0] = n_neg(n_mul(n_add(r->q12, r->c2), q22_inv));
  root[1] = n_neg(n_mul(r->c2, q22_inv));
  root[2] = n_neg(n_mul(n_add(r->q12, r->c1), q11_inv));
  root[3] = n_neg(n_mul(r->c1, q11_inv));
}

// Writes each side's cost: (q/2 x + slope) x of its free coordinate x, plus the contribution of the
// fixed one.
static void FN(side_costs)(const FN(quadratic) *r, const num free[4], num cost[4])
{
  const num q11 = r->q11, q12 = r->q12, q22 = r->q22, c1 = r->c1, c2 = r->c2;
  const num on_a1 = n_smad(q11, R(0.5), c1);
  const num on_a2 = n_smad(q22, R(0.5), c2);
  cost[0] = n_mad(n_smad(n_mul(q22, free[0]), R(0.5), n_add(q12, c2)), free[0], on_a1);
  cost[1] = n_mul(n_smad(n_mul(q22, free[1]), R(0.5), c2), free[1]);
  cost[2] = n_mad(n_smad(n_mul(q11, free[2]), R(0.5), n_add(q12, c1)), free[2], on_a2);
  cost[3] = n_mul(n_smad(n_mul(q11, free[3]), R(0.5), c1), free[3]);
}

static num FN(lesser)(num a, num b)
{
  return n_select(n_value(b) < n_value(a), b, a);
}

// Writes the weights of the soft minimum, and returns their sum. It has no loops, because compilers
// do not unroll loops over arrays of lanes.
static num FN(side_weights)(const num cost[4], GLOBAL const coefficients *c, num w[4])
{
  const num least = FN(lesser)(FN(lesser)(cost[0], cost[1]), FN(lesser)(cost[2], cost[3]));
  w[0] = n_exp2(n_scale(n_sub(least, cost[0]), c->minimum_log2e));
  w[1] = n_exp2(n_scale(n_sub(least, cost[1]), c->minimum_log2e));
  w[2] = n_exp2(n_scale(n_sub(least, cost[2]), c->minimum_log2e));
  w[3] = n_exp2(n_scale(n_sub(least, cost[3]), c->minimum_log2e));
  return n_add(n_add(w[0], w[1]), n_add(w[2], w[3]));
}

// Finds the smooth active-set minimiser over [0,1]^2: u if `con` is near 1, otherwise the soft best
// of four sides.
static void FN(unit_square_minimum)(const FN(quadratic) *r, GLOBAL const coefficients *c, num *a1,
                                    num *a2, num *con)
{
  num root[4], free[4], cost[4], w[4];
  *con = n_mul(FN(within)(r->u1, c->compare_inv), FN(within)(r->u2, c->compare_inv));
  FN(side_roots)(r, root);
  free[0] = FN(soft_clip)(root[0], c->clip, c->clip_inv);
  free[1] = FN(soft_clip)(root[1], c->clip, c->clip_inv);
  free[2] = FN(soft_clip)(root[2], c->clip, c->clip_inv);
  free[3] = FN(soft_clip)(root[3], c->clip, c->clip_inv);
  FN(side_costs)(r, free, cost);
  const num sum = FN(side_weights)(cost, c, w);
  const num rest = n_div(n_sub(n_lit(R(1.0)), *con), sum);
  const num s1 = n_add(w[0], n_mad(w[2], free[2], n_mul(w[3], free[3])));
  const num s2 = n_add(w[2], n_mad(w[0], free[0], n_mul(w[1], free[1])));
  *a1 = n_mad(*con, r->u1, n_mul(rest, s1));
  *a2 = n_mad(*con, r->u2, n_mul(rest, s2));
}

// The input of a quadratic: the lines p + a1 along1 and q + a2 along2, and t1, -t2 and b, divided
// by `length`.
typedef struct FN(edge_lines) {
  vec along1, along2, t1, t2, b;
} FN(edge_lines);

static FN(edge_lines) FN(edge_lines_of)(vec p0, vec p1, vec q0, vec q1, real length_inv)
{
  FN(edge_lines) r;
  const num scale = n_lit(length_inv);
  r.along1 = FN(sub3)(p1, p0);
  r.along2 = FN(sub3)(q1, q0);
  r.t1 = FN(scale3)(r.along1, scale);
  r.t2 = FN(scale3)(r.along2, n_neg(scale));
  r.b = FN(scale3)(FN(sub3)(p0, q0), scale);
  return r;
}

// Finds the witness points e1 and e2 and the interior indicator of edges p and q, given by two ends
// each.
static void FN(edge_witness)(vec p0, vec p1, vec q0, vec q1, GLOBAL const coefficients *c, vec *e1,
                             vec *e2, num *con)
{
  const FN(edge_lines) l = FN(edge_lines_of)(p0, p1, q0, q1, c->length_inv);
  const FN(quadratic) r = FN(edge_quadratic)(l.t1, l.t2, l.b, c->ridge);
  num a1, a2;
  FN(unit_square_minimum)(&r, c, &a1, &a2, con);
  *e1 = FN(mad3)(l.along1, a1, p0);
  *e2 = FN(mad3)(l.along2, a2, q0);
}

// The results of one edge pair, without the soft nearest neighbour and the gate weights.
typedef struct FN(edge_contact) {
  num dbar, d1, d2; // unsigned and signed distances
  vec n1, n2;       // normals of body 1's and of body 2's point
  num a1, a2;       // activities without the neighbour's softmax
} FN(edge_contact);

// The distances that determine a pair's activities: each body's own at its point, phi1(e1) and
// phi2(e2), and the opposing ones, phi2(e1) and phi1(e2).
typedef struct FN(pair_depths) {
  num own1, own2, opposing1, opposing2;
} FN(pair_depths);

// Returns the results of one pair (docs/dev/spec.md, 6.3 and 6.4). e1 and e2 are the traced witness
// points, m1 = n1(e1) and m2 = n2(e2), all in one frame.
static FN(edge_contact) FN(edge_pair)(vec e1, vec e2, num con, vec m1, vec m2,
                                      const FN(pair_depths) *at, GLOBAL const coefficients *c)
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
  r.a1 = n_mul(shared, FN(sigmoid)(FN(beneath)(at->opposing1, c)));
  r.a2 = n_mul(shared, FN(sigmoid)(FN(beneath)(at->opposing2, c)));
  if (c->inside > R(0.0)) {
    r.a1 = n_mul(r.a1, FN(sigmoid)(n_scale(at->own1, -c->penetration_inv)));
    r.a2 = n_mul(r.a2, FN(sigmoid)(n_scale(at->own2, -c->penetration_inv)));
  }
  return r;
}

// ---- adjoints ----

// Cotangents of a quadratic.
typedef struct FN(quadratic_bar) {
  num q11, q12, q22, c1, c2, u1, u2;
} FN(quadratic_bar);

// Goes back through the identities of edge_quadratic, not through Q lambda = u_bar. lambda grows
// with 1 / ridge on parallel edges, where the contributions of c and Q to t and b would cancel.
static void FN(edge_quadratic_adjoint)(const FN(edge_lines) *l, const FN(quadratic) *r, real ridge,
                                       const FN(quadratic_bar) *bar, vec *t1_bar, vec *t2_bar,
                                       vec *b_bar)
{
  const vec t1 = l->t1, t2 = l->t2, b = l->b;
  // u is numerator / det.
  const num top1 = n_mul(bar->u1, r->det_inv), top2 = n_mul(bar->u2, r->det_inv);
  const num det = n_neg(n_mad(top1, r->u1, n_mul(top2, r->u2)));
  const num by1 = n_scale(top1, ridge), by2 = n_scale(top2, ridge);
  const num t11 = n_add(bar->q11, n_smad(det, ridge, n_scale(by2, R(0.5))));
  const num t22 = n_add(bar->q22, n_smad(det, ridge, n_scale(by1, R(0.5))));
  const num t12 = n_smad(n_add(by1, by2), R(-0.5), bar->q12);
  const num b1 = n_sub(bar->c1, by1), b2 = n_sub(bar->c2, by2);
  // t1 x t2 occurs in det, in (t2 x b) . (t1 x t2) and in (b x t1) . (t1 x t2).
  const vec tops = FN(mad3)(FN(cross3)(t2, b), top1, FN(scale3)(FN(cross3)(b, t1), top2));
  const vec across = FN(mad3)(r->across, n_scale(det, R(2.0)), tops);
  const vec turned = FN(cross3)(r->across, b);
  const vec mixed = FN(sub3)(FN(scale3)(t2, top1), FN(scale3)(t1, top2));
  const vec plain1 = FN(mad3)(t1, n_scale(t11, R(2.0)), FN(mad3)(t2, t12, FN(scale3)(b, b1)));
  const vec plain2 = FN(mad3)(t2, n_scale(t22, R(2.0)), FN(mad3)(t1, t12, FN(scale3)(b, b2)));
  *t1_bar = FN(add3)(FN(mad3)(turned, top2, plain1), FN(cross3)(t2, across));
  *t2_bar = FN(add3)(FN(mad3)(turned, n_neg(top1), plain2), FN(cross3)(across, t1));
  *b_bar = FN(mad3)(t1, b1, FN(mad3)(t2, b2, FN(cross3)(r->across, mixed)));
}

// The sides of the unit square with derivatives, and the soft best of them.
typedef struct FN(sides) {
  num root[4], free[4], slope[4]; // free = clip(root), d free / d root
  num share[4];                   // weights of sum 1
  num best1, best2;
} FN(sides);

static FN(sides) FN(sides_of)(const FN(quadratic) *r, GLOBAL const coefficients *c)
{
  FN(sides) s;
  num cost[4];
  FN(side_roots)(r, s.root);
  s.free[0] = FN(soft_clip_and_slope)(s.root[0], c->clip, c->clip_inv, &s.slope[0]);
  s.free[1] = FN(soft_clip_and_slope)(s.root[1], c->clip, c->clip_inv, &s.slope[1]);
  s.free[2] = FN(soft_clip_and_slope)(s.root[2], c->clip, c->clip_inv, &s.slope[2]);
  s.free[3] = FN(soft_clip_and_slope)(s.root[3], c->clip, c->clip_inv, &s.slope[3]);
  FN(side_costs)(r, s.free, cost);
  const num sum_inv = n_rcp(FN(side_weights)(cost, c, s.share));
  for (int i = 0; i < 4; ++i) {
    s.share[i] = n_mul(s.share[i], sum_inv);
  }
  s.best1 = n_add(s.share[0], n_mad(s.share[2], s.free[2], n_mul(s.share[3], s.free[3])));
  s.best2 = n_add(s.share[2], n_mad(s.share[0], s.free[0], n_mul(s.share[1], s.free[1])));
  return s;
}

// Finds the cotangents of the costs. The value of a side is the result of that side without the
// others. Differences of values flow between each two sides, so that nothing needs to cancel if one
// side has all the weight.
static void FN(side_costs_adjoint)(const FN(sides) *s, num best1, num best2,
                                   GLOBAL const coefficients *c, num cost[4])
{
  num value[4];
  value[0] = n_mad(best2, s->free[0], best1);
  value[1] = n_mul(best2, s->free[1]);
  value[2] = n_mad(best1, s->free[2], best2);
  value[3] = n_mul(best1, s->free[3]);
  for (int i = 0; i < 4; ++i) {
    cost[i] = n_lit(R(0.0));
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      const num both = n_scale(n_mul(s->share[i], s->share[j]), c->minimum_log2e * LN2);
      const num flow = n_mul(both, n_sub(value[j], value[i]));
      cost[i] = n_add(cost[i], flow);
      cost[j] = n_sub(cost[j], flow);
    }
  }
}

// Goes back through one side: its cost (q/2 x + slope) x, where x = clip(root) and root = -slope /
// q. `free` is x's cotangent without the cost's contribution. Adds to q's cotangent, and returns
// the slope's.
static num FN(side_adjoint)(const FN(sides) *s, const int side, num q, num cost, num free,
                            num *q_bar)
{
  const num x = s->free[side], root = s->root[side];
  const num by_root = n_mul(n_mad(cost, n_sub(x, root), n_mul(free, n_rcp(q))), s->slope[side]);
  const num by_x = n_mul(cost, x);
  *q_bar = n_add(*q_bar, n_sub(n_scale(n_mul(by_x, x), R(0.5)), n_mul(root, by_root)));
  return n_sub(by_x, by_root);
}

// Sets all of `bar` except u's, given the cotangents best1 and best2 of the soft best of the sides.
static void FN(sides_adjoint)(const FN(quadratic) *r, const FN(sides) *s, num best1, num best2,
                              GLOBAL const coefficients *c, FN(quadratic_bar) *bar)
{
  num cost[4];
  FN(side_costs_adjoint)(s, best1, best2, c, cost);
  bar->q11 = n_scale(cost[0], R(0.5));
  bar->q22 = n_scale(cost[2], R(0.5));
  const num slope0 = FN(side_adjoint)(s, 0, r->q22, cost[0], n_mul(s->share[0], best2), &bar->q22);
  const num slope1 = FN(side_adjoint)(s, 1, r->q22, cost[1], n_mul(s->share[1], best2), &bar->q22);
  const num slope2 = FN(side_adjoint)(s, 2, r->q11, cost[2], n_mul(s->share[2], best1), &bar->q11);
  const num slope3 = FN(side_adjoint)(s, 3, r->q11, cost[3], n_mul(s->share[3], best1), &bar->q11);
  bar->q12 = n_add(slope0, slope2);
  bar->c1 = n_add(cost[0], n_add(slope2, slope3));
  bar->c2 = n_add(cost[2], n_add(slope0, slope1));
}

// Returns the cotangents of the quadratic from the cotangents of a1, a2 and con. It recomputes a1
// and a2.
static FN(quadratic_bar)
  FN(unit_square_adjoint)(const FN(quadratic) *r, GLOBAL const coefficients *c, num a1_bar,
                          num a2_bar, num con_bar, num *a1, num *a2)
{
  FN(quadratic_bar) bar;
  num slope1, slope2;
  const num in1 = FN(within_and_slope)(r->u1, c->compare_inv, &slope1);
  const num in2 = FN(within_and_slope)(r->u2, c->compare_inv, &slope2);
  const num con = n_mul(in1, in2);
  const num rest = n_sub(n_lit(R(1.0)), con);
  const FN(sides) s = FN(sides_of)(r, c);
  *a1 = n_mad(con, r->u1, n_mul(rest, s.best1));
  *a2 = n_mad(con, r->u2, n_mul(rest, s.best2));
  const num by_con =
    n_mad(a1_bar, n_sub(r->u1, s.best1), n_mad(a2_bar, n_sub(r->u2, s.best2), con_bar));
  bar.u1 = n_mad(a1_bar, con, n_mul(by_con, n_mul(slope1, in2)));
  bar.u2 = n_mad(a2_bar, con, n_mul(by_con, n_mul(slope2, in1)));
  FN(sides_adjoint)(r, &s, n_mul(a1_bar, rest), n_mul(a2_bar, rest), c, &bar);
  return bar;
}

// Converts the cotangents of edge_witness's results to cotangents of p0, p1, q0 and q1.
static void FN(edge_witness_adjoint)(vec p0, vec p1, vec q0, vec q1, GLOBAL const coefficients *c,
                                     vec e1_bar, vec e2_bar, num con_bar, vec bar[4])
{
  const FN(edge_lines) l = FN(edge_lines_of)(p0, p1, q0, q1, c->length_inv);
  const FN(quadratic) r = FN(edge_quadratic)(l.t1, l.t2, l.b, c->ridge);
  num a1, a2;
  vec t1_bar, t2_bar, b_bar;
  const FN(quadratic_bar) r_bar = FN(unit_square_adjoint)(&r, c, FN(dot3)(e1_bar, l.along1),
                                                          FN(dot3)(e2_bar, l.along2), con_bar, &a1,
                                                          &a2);
  FN(edge_quadratic_adjoint)(&l, &r, c->ridge, &r_bar, &t1_bar, &t2_bar, &b_bar);
  const num scale = n_lit(c->length_inv);
  const vec apart = FN(scale3)(b_bar, scale);
  bar[1] = FN(mad3)(e1_bar, a1, FN(scale3)(t1_bar, scale));
  bar[3] = FN(mad3)(e2_bar, a2, FN(scale3)(t2_bar, n_neg(scale)));
  bar[0] = FN(add3)(FN(sub3)(e1_bar, bar[1]), apart);
  bar[2] = FN(sub3)(FN(sub3)(e2_bar, bar[3]), apart);
}

// The cotangents of edge_pair's arguments.
typedef struct FN(edge_pair_bar) {
  vec e1, e2, m1, m2;
  num con;
  FN(pair_depths) at;
} FN(edge_pair_bar);

// The factor of an activity from depths, [opposing <= margin] and, if `inside` is set, [own <= 0],
// with its derivatives.
typedef struct FN(depth) {
  num value, opposing, own;
} FN(depth);

static FN(depth) FN(depth_and_slopes)(num opposing, num own, GLOBAL const coefficients *c)
{
  FN(depth) r;
  const real fall = -c->penetration_inv;
  r.value = FN(sigmoid_and_slope)(FN(beneath)(opposing, c), &r.opposing);
  r.opposing = n_scale(r.opposing, fall);
  r.own = n_lit(R(0.0));
  if (c->inside > R(0.0)) {
    const num in = FN(sigmoid_and_slope)(n_scale(own, fall), &r.own);
    r.own = n_mul(r.value, n_scale(r.own, fall));
    r.value = n_mul(r.value, in);
    r.opposing = n_mul(r.opposing, in);
  }
  return r;
}

// Goes back through the activities: sets the scalars of `r`, and returns the cotangent of m1 . m2.
static num FN(activity_adjoint)(num con, num dot, const FN(depth) *depth1, const FN(depth) *depth2,
                                GLOBAL const coefficients *c, num a1_bar, num a2_bar,
                                FN(edge_pair_bar) *r)
{
  num clash_slope;
  const num clash = FN(sigmoid_and_slope)(n_scale(dot, -c->clash_inv), &clash_slope);
  const num by_shared = n_mad(a1_bar, depth1->value, n_mul(a2_bar, depth2->value));
  const num shared1 = n_mul(a1_bar, n_mul(con, clash));
  const num shared2 = n_mul(a2_bar, n_mul(con, clash));
  r->con = n_mul(by_shared, clash);
  r->at.own1 = n_mul(shared1, depth1->own);
  r->at.own2 = n_mul(shared2, depth2->own);
  r->at.opposing1 = n_mul(shared1, depth1->opposing);
  r->at.opposing2 = n_mul(shared2, depth2->opposing);
  return n_scale(n_mul(n_mul(by_shared, con), clash_slope), -c->clash_inv);
}

// Converts `bar`, the cotangents of edge_pair's results, to cotangents of its arguments. If
// `active` is 0, the cotangents of the activities are known to be zero.
static FN(edge_pair_bar)
  FN(edge_pair_adjoint)(vec e1, vec e2, num con, vec m1, vec m2, const FN(pair_depths) *at,
                        GLOBAL const coefficients *c, const FN(edge_contact) *bar, const int active)
{
  FN(edge_pair_bar) r;
  const vec gap = FN(sub3)(e1, e2);
  const num gap2 = FN(dot3)(gap, gap);
  const num length_inv = n_rcp(n_sqrt(n_shift(gap2, c->distance)));
  const vec nbar = FN(scale3)(gap, length_inv);
  const num dbar = n_mul(gap2, length_inv);
  num slope1, slope2;
  const num sign1 = FN(soft_sign_and_slope)(n_scale(FN(dot3)(m2, nbar), c->sign_inv), &slope1);
  const num sign2 = FN(soft_sign_and_slope)(n_scale(FN(dot3)(m1, nbar), -c->sign_inv), &slope2);
  num by_clash = n_lit(R(0.0));
  r.con = by_clash;
  r.at.own1 = r.at.own2 = r.at.opposing1 = r.at.opposing2 = by_clash;
  if (active) {
    const FN(depth) depth1 = FN(depth_and_slopes)(at->opposing1, at->own1, c);
    const FN(depth) depth2 = FN(depth_and_slopes)(at->opposing2, at->own2, c);
    by_clash =
      FN(activity_adjoint)(con, FN(dot3)(m1, m2), &depth1, &depth2, c, bar->a1, bar->a2, &r);
  }
  // These are the cotangents of m2 . nbar and m1 . nbar, of nbar, and of dbar, whose derivative
  // along nbar is 2 - dbar / length.
  const num dot1 =
    n_scale(n_mul(n_mad(bar->d1, dbar, FN(dot3)(bar->n1, nbar)), slope1), c->sign_inv);
  const num dot2 =
    n_scale(n_mul(n_sub(n_mul(bar->d2, dbar), FN(dot3)(bar->n2, nbar)), slope2), -c->sign_inv);
  const vec nbar_bar =
    FN(mad3)(bar->n1, sign1,
             FN(mad3)(bar->n2, n_neg(sign2), FN(mad3)(m2, dot1, FN(scale3)(m1, dot2))));
  const num dbar_bar = n_mad(bar->d1, sign1, n_mad(bar->d2, sign2, bar->dbar));
  const num steep = n_mul(dbar_bar, n_sub(n_lit(R(2.0)), n_mul(dbar, length_inv)));
  r.e1 = FN(mad3)(nbar, steep, FN(unit_adjoint)(gap, c->distance, nbar_bar));
  r.e2 = FN(neg3)(r.e1);
  r.m1 = FN(scale3)(nbar, dot2);
  r.m2 = FN(scale3)(nbar, dot1);
  if (active) {
    r.m1 = FN(mad3)(m2, by_clash, r.m1);
    r.m2 = FN(mad3)(m1, by_clash, r.m2);
  }
  return r;
}
