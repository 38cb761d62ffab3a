// The cost of a contact as a function of its own acceleration j, with gradient and curvature:
// docs/dev/cone-formulas.md, section 9. Lanes are contacts.

// ---- the penalty and its derivatives ----

// rho_t(z), a version of max(z, 0)^2 that is twice differentiable within t of 0
// (docs/dev/cone-formulas.md, section 9), and its first and second derivatives.
typedef struct penalty {
  lane value, slope, bend;
} penalty;

static penalty penalty_of(lane z, real t)
{
  const lane zero = lane_lit(R(0.0)), p = lane_max(z, zero);
  penalty r;
  r.value = lane_select(z > zero, p * p + t * t * R(0.333333333333333333), zero);
  r.slope = R(2.0) * p;
  r.bend = lane_select(z > zero, lane_lit(R(2.0)), zero);
  if (t > R(0.0)) {
    const ilane inside = lane_abs(z) < lane_lit(t);
    const lane c = lane_max(z + t, zero), part = c / t;
    r.value = lane_select(inside, c * c * part * R(0.166666666666666667), r.value);
    r.slope = lane_select(inside, c * part * R(0.5), r.slope);
    r.bend = lane_select(inside, part, r.bend);
  }
  return r;
}

// Returns the mean of rho_t'' over [low, high], where low <= high. docs/dev/cone-formulas.md,
// section 15, gives the reason.
static lane penalty_mean(lane low, lane high, real t)
{
  const lane width = high - low, slope = penalty_of(high, t).slope - penalty_of(low, t).slope;
  const ilane some = width > lane_lit(R(0.0));
  lane mean =
    lane_select(some, slope / lane_select(some, width, lane_lit(R(1.0))), penalty_of(low, t).bend);
  mean = lane_select(low >= lane_lit(t), lane_lit(R(2.0)), mean);
  mean = lane_select(high <= lane_lit(-t), lane_lit(R(0.0)), mean);
  if (t > R(0.0)) {
    const ilane both = (low > lane_lit(-t)) & (high < lane_lit(t));
    mean = lane_select(both, ((low + high) * R(0.5) + t) / t, mean);
  }
  return mean;
}

// The cost s of a contact, its gradient g with respect to j = (n, t1, t2), and its second
// derivatives h (nn, n1, n2, 11, 12, 22), all for D = 1.
typedef struct contact_terms {
  lane cost;
  lane g[3];
  lane h[6];
} contact_terms;

// The cone of a group's contacts. In the notation of docs/dev/cone-formulas.md, section 9, `root`
// is k, the root of impratio, mu = friction / k, `length` is c = sqrt(1 + mu^2), and tau is the
// cone's smoothing.
typedef struct cone_of {
  real friction, mu, root, length;
  real tau;
  int kind; // 0 elliptic, 1 pyramidal, 2 without friction
} cone_of;

// A contact without friction: s = D/2 rho_tau(-j_n).
static void flat_terms(const cone_of *c, const lane j[3], contact_terms *t)
{
  const penalty p = penalty_of(-j[0], c->tau);
  t->cost = R(0.5) * p.value;
  t->g[0] = R(-0.5) * p.slope;
  t->h[0] = R(0.5) * p.bend;
  t->g[1] = t->g[2] = t->h[1] = t->h[2] = t->h[3] = t->h[4] = t->h[5] = lane_lit(R(0.0));
}

// A pyramid: the sum of D/2 rho_tau(-(j_n +- friction j_t)) over both tangents.
static void pyramid_terms(const cone_of *c, const lane j[3], contact_terms *t)
{
  const real f = c->friction;
  t->cost = t->g[0] = t->h[0] = t->h[4] = lane_lit(R(0.0));
  for (int k = 1; k < 3; ++k) {
    const penalty a = penalty_of(-(j[0] + f * j[k]), c->tau);
    const penalty b = penalty_of(-(j[0] - f * j[k]), c->tau);
    t->cost += R(0.5) * (a.value + b.value);
    t->g[0] -= R(0.5) * (a.slope + b.slope);
    t->g[k] = R(-0.5) * f * (a.slope - b.slope);
    t->h[0] += R(0.5) * (a.bend + b.bend);
    t->h[k] = R(0.5) * f * (a.bend - b.bend);
    t->h[k == 1 ? 3 : 5] = R(0.5) * f * f * (a.bend + b.bend);
  }
}

// The elliptic cone: s = D/2 [rho_tau(z1) + rho_(mu tau)(z2)]. `across` is g_S / S, `along` the
// second derivative with respect to S, and `mixed` the second derivative with respect to j_n and S.
static void cone_terms(const cone_of *c, const lane j[3], contact_terms *t)
{
  const real f = c->friction, mu = c->mu, k = c->root, length_inv = R(1.0) / c->length;
  const lane square = j[1] * j[1] + j[2] * j[2];
  const ilane flat = square < lane_lit(R(1e-30));
  const lane s = lane_select(flat, lane_lit(R(0.0)), lane_sqrt(square));
  const lane z1 = (f * s - j[0]) * length_inv, z2 = -(mu * j[0] + k * s) * length_inv;
  const penalty p1 = penalty_of(z1, c->tau), p2 = penalty_of(z2, mu * c->tau);
  // Computing g_S / S as a mean of curvatures avoids cancellation for resting bodies:
  // docs/dev/cone-formulas.md, section 15.
  const lane across = R(0.5) * k * k * penalty_mean(z2, mu * z1, mu * c->tau);
  const real unit = R(0.5) * length_inv * length_inv;
  const lane along = unit * (f * f * p1.bend + k * k * p2.bend);
  const lane mixed = unit * (mu * k * p2.bend - f * p1.bend);
  const lane inverse =
    lane_select(flat, lane_lit(R(0.0)), R(1.0) / lane_select(flat, lane_lit(R(1.0)), s));
  const lane e1 = j[1] * inverse, e2 = j[2] * inverse, more = along - across;
  t->cost = R(0.5) * (p1.value + p2.value);
  t->g[0] = R(-0.5) * length_inv * (p1.slope + mu * p2.slope);
  t->g[1] = across * j[1];
  t->g[2] = across * j[2];
  t->h[0] = unit * (p1.bend + mu * mu * p2.bend);
  t->h[1] = mixed * e1;
  t->h[2] = mixed * e2;
  t->h[3] = across + more * e1 * e1;
  t->h[4] = more * e1 * e2;
  t->h[5] = across + more * e2 * e2;
}

static void terms_of(const cone_of *c, const lane j[3], contact_terms *t)
{
  if (c->kind == 2) {
    flat_terms(c, j, t);
  } else if (c->kind == 1) {
    pyramid_terms(c, j, t);
  } else {
    cone_terms(c, j, t);
  }
}
