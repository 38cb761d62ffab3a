// The weight of an edge pair's contacts, which does not depend on their depth (docs/dev/spec.md,
// 6.6).

// Returns relu(x) = tau softplus(x / tau), and its derivative in *slope.
static num FN(soft_relu_and_slope)(num x, real tau, real tau_inv, num *slope)
{
  const num zero = n_lit(R(0.0));
  const ilane positive = n_value(x) >= lane_lit(R(0.0));
  const num u = n_scale(x, tau_inv * LOG2E);
  const num e = n_exp2(n_select(positive, n_neg(u), u));
  const num inv = n_rcp(n_shift(e, R(1.0)));
  *slope = n_select(positive, inv, n_mul(e, inv));
  return n_smad(n_log2_1p(e), tau * LN2, n_select(positive, x, zero));
}

// Returns S(x), a step that is 0 up to 1/2, 1 from 3/4 on and twice continuously differentiable,
// and its derivative in *slope.
static num FN(weight_step_and_slope)(num x, num *slope)
{
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  const ilane none = n_value(x) <= lane_lit(R(0.5)), all = n_value(x) >= lane_lit(R(0.75));
  const num y = n_select(none, zero, n_select(all, one, n_scale(n_shift(x, R(-0.5)), R(4.0))));
  const num yy = n_mul(y, y), rest = n_sub(one, y);
  *slope = n_scale(n_mul(yy, n_mul(rest, rest)), R(120.0));
  return n_mul(n_mul(yy, y), n_shift(n_mul(y, n_shift(n_scale(y, R(6.0)), R(-15.0))), R(10.0)));
}

// Returns the weight of an edge whose share among its neighbours is x: x (1 + k) / (x + k) with k =
// 1/4. It is 1 for a single edge, and still 5/8 if four edges share, because all of them represent
// the same crossing.
static num FN(among_and_slope)(num x, num *slope)
{
  const num inv = n_rcp(n_shift(x, R(0.25)));
  *slope = n_scale(n_mul(inv, inv), R(0.3125));
  return n_scale(n_mul(x, inv), R(1.25));
}

// The degree to which an edge at the other body's distance phi supports a contact at the signed
// distance d, and its derivatives:
//   sigmoid((penetration - phi + relu(own) + d/2 + 3/4 relu(d)) / (penetration / 2)).
// own is the other body's field at its own edge, the error of its rounded edges. The derivative
// with respect to phi is minus that by the exponent.
typedef struct FN(belief) {
  num value, phi, own, d;
} FN(belief);

static FN(belief) FN(belief_in)(num phi, num own, num d, GLOBAL const coefficients *c)
{
  FN(belief) r;
  num own_slope, apart_slope, slope;
  const real tau = R(0.25) * c->penetration, tau_inv = R(4.0) * c->penetration_inv;
  const num rounded = FN(soft_relu_and_slope)(own, tau, tau_inv, &own_slope);
  const num apart = FN(soft_relu_and_slope)(d, tau, tau_inv, &apart_slope);
  const num claim = n_smad(apart, R(0.75), n_smad(d, R(0.5), n_sub(rounded, phi)));
  const num x = n_smad(claim, R(2.0) * c->penetration_inv, n_lit(R(2.0)));
  r.value = FN(sigmoid_and_slope)(x, &slope);
  slope = n_scale(slope, R(2.0) * c->penetration_inv);
  r.phi = n_neg(slope);
  r.own = n_mul(slope, own_slope);
  r.d = n_mul(slope, n_smad(apart_slope, R(0.75), n_lit(R(0.5))));
  return r;
}

// The support of both edges for a claim d: that of body 1's edge in body 2, and vice versa.
typedef struct FN(beliefs) {
  FN(belief) edge1, edge2;
} FN(beliefs);

static FN(beliefs) FN(beliefs_in)(const FN(pair_depths) *at, num d, GLOBAL const coefficients *c)
{
  FN(beliefs) r;
  r.edge1 = FN(belief_in)(at->opposing1, at->own2, d, c);
  r.edge2 = FN(belief_in)(at->opposing2, at->own1, d, c);
  return r;
}

// Finds the weights of both contacts of a pair without gates and neighbours: con, clash and the
// support of both edges.
static void FN(edge_weights)(num con, num dot, const FN(pair_depths) *at, num d1, num d2,
                             GLOBAL const coefficients *c, num *w1, num *w2)
{
  const FN(beliefs) b1 = FN(beliefs_in)(at, d1, c), b2 = FN(beliefs_in)(at, d2, c);
  const num shared = n_mul(con, FN(sigmoid)(n_scale(dot, -c->clash_inv)));
  *w1 = n_mul(shared, n_mul(b1.edge1.value, b1.edge2.value));
  *w2 = n_mul(shared, n_mul(b2.edge1.value, b2.edge2.value));
}

// The cotangents of edge_weights's arguments; dot is that of m1 . m2.
typedef struct FN(edge_weights_bar) {
  num con, dot, d1, d2;
  FN(pair_depths) at;
} FN(edge_weights_bar);

// Goes back through one contact's beliefs, whose product has the cotangent `by`. Adds to the
// cotangents of the distances, and returns that of d.
static num FN(beliefs_adjoint)(const FN(beliefs) *b, num by, FN(pair_depths) *at)
{
  const num by1 = n_mul(by, b->edge2.value), by2 = n_mul(by, b->edge1.value);
  at->opposing1 = n_mad(by1, b->edge1.phi, at->opposing1);
  at->opposing2 = n_mad(by2, b->edge2.phi, at->opposing2);
  at->own2 = n_mad(by1, b->edge1.own, at->own2);
  at->own1 = n_mad(by2, b->edge2.own, at->own1);
  return n_mad(by1, b->edge1.d, n_mul(by2, b->edge2.d));
}

static FN(edge_weights_bar)
  FN(edge_weights_adjoint)(num con, num dot, const FN(pair_depths) *at, num d1, num d2,
                           GLOBAL const coefficients *c, num w1_bar, num w2_bar)
{
  FN(edge_weights_bar) r;
  num clash_slope;
  const FN(beliefs) b1 = FN(beliefs_in)(at, d1, c), b2 = FN(beliefs_in)(at, d2, c);
  const num clash = FN(sigmoid_and_slope)(n_scale(dot, -c->clash_inv), &clash_slope);
  const num both1 = n_mul(w1_bar, n_mul(b1.edge1.value, b1.edge2.value));
  const num both2 = n_mul(w2_bar, n_mul(b2.edge1.value, b2.edge2.value));
  const num by_shared = n_add(both1, both2), shared = n_mul(con, clash);
  r.con = n_mul(by_shared, clash);
  r.dot = n_scale(n_mul(n_mul(by_shared, con), clash_slope), -c->clash_inv);
  r.at.own1 = r.at.own2 = r.at.opposing1 = r.at.opposing2 = n_lit(R(0.0));
  r.d1 = FN(beliefs_adjoint)(&b1, n_mul(w1_bar, shared), &r.at);
  r.d2 = FN(beliefs_adjoint)(&b2, n_mul(w2_bar, shared), &r.at);
  return r;
}
