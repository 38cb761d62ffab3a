// The field of a body: the union of its added primitives, less the union of its subtracted ones
// (docs/dev/spec.md, section 4; Beker et al., eq. 6 to 8).
//
//   union: phi+ = -LSE(-phi_l), normal sum w_l unit(g_l), w = softmax(-phi_l / union)
//   subtraction: phi = LSE(phi+, -phi-), normal unit(v1 n+ - v2 n-), v = softmax of the same two

// Adds every primitive of one operation, 0 added or 1 subtracted: the families of families.h in
// turn, each with its function NAME_add.
static FN(blend) FN(blend_all)(GLOBAL const int *head, GLOBAL const real *shape, int operation,
                               GLOBAL const coefficients *c, vec x, const int want, real reach)
{
  FN(blend) b = FN(blend_start)();
  GLOBAL const int *entry = head + HEAD_ENTRY(operation, 0);
#define ADD_FAMILY(name)                                                                           \
  FN(name##_add)(&b, entry[ENTRY_COUNT], head + entry[ENTRY_RANGES], shape + entry[ENTRY_BASE], c, \
                 x, want, reach);                                                                  \
  entry += ENTRY_INTS;
  FAMILIES(ADD_FAMILY)
#undef ADD_FAMILY
  return b;
}

// A body or one of its unions, with its normal before the last unit().
typedef struct FN(mixture) {
  num phi;
  vec raw, gradient;
  FN(mat3) bend;       // the derivative of raw
  FN(symmetric) curve; // second derivatives of phi
} FN(mixture);

// Computes a union's distance, normal, gradient and Jacobian from its sums: means, and the
// contribution of the weights' derivatives.
static void FN(blend_means)(const FN(blend) *b, GLOBAL const coefficients *c, const int want,
                            FN(mixture) *m)
{
  if (b->terms == 1) {
    m->phi = b->least;
    m->raw = b->normal;
    if (want & JET_GRADIENT) {
      m->gradient = b->pivot;
    }
    if (want & JET_HESSIAN) {
      m->curve = b->curve;
    }
    if (want & JET_JACOBIAN) {
      m->bend = b->bend;
    }
    return;
  }
  const num sum_inv = n_rcp(b->sum);
  m->phi = n_sub(b->least, n_scale(n_log2(b->sum), c->union_ln2));
  m->raw = FN(scale3)(b->normal, sum_inv);
  if (want & JET_GRADIENT) {
    m->gradient = FN(mad3)(b->rest, sum_inv, b->pivot);
  }
  if (want & JET_HESSIAN) {
    const num rate = n_scale(n_mul(sum_inv, sum_inv), c->union_log2e * LN2);
    m->curve = FN(symmetric_add)(FN(symmetric_scale)(b->curve, sum_inv), b->rest, b->rest, rate);
  }
  if (want & JET_JACOBIAN) {
    const num union_inv = n_lit(c->union_log2e * LN2);
    const vec rise = FN(scale3)(b->rest, n_mul(sum_inv, union_inv));
    m->bend.x = FN(scale3)(FN(mad3)(rise, b->normal.x, b->bend.x), sum_inv);
    m->bend.y = FN(scale3)(FN(mad3)(rise, b->normal.y, b->bend.y), sum_inv);
    m->bend.z = FN(scale3)(FN(mad3)(rise, b->normal.z, b->bend.z), sum_inv);
  }
}

// Subtracts the union of a hole from m: v1 + v2 = 1, and dv1 = -dv2 = v1 v2 (grad phi+ + grad phi-)
// / union.
static void FN(subtract)(const FN(blend) *b, GLOBAL const coefficients *c, const int want,
                         FN(mixture) *m)
{
  FN(mixture) h;
  FN(blend_means)(b, c, want, &h);
  const num hole = n_neg(h.phi);
  const ilane leads = n_value(m->phi) > n_value(hole);
  const num hi = n_select(leads, m->phi, hole);
  const num e = n_exp2(n_scale(n_sub(n_select(leads, hole, m->phi), hi), c->union_log2e));
  const num sum = n_shift(e, R(1.0));
  m->phi = n_smad(n_log2_1p(e), c->union_ln2, hi);
  const num major = n_rcp(sum);
  const num minor = n_mul(e, major);
  const num of_hole = n_select(leads, minor, major);
  const num of_body = n_select(leads, major, minor);
  const num less = n_neg(of_hole);
  if (want & JET_HESSIAN) {
    const num rate = n_scale(n_mul(major, minor), c->union_log2e * LN2);
    const vec both = FN(add3)(m->gradient, h.gradient);
    const FN(symmetric) mean = FN(symmetric_scale)(m->curve, of_body);
    m->curve = FN(symmetric_add)(FN(symmetric_mad)(h.curve, less, mean), both, both, rate);
  }
  if (want & JET_JACOBIAN) {
    const num rate = n_scale(n_mul(major, minor), c->union_log2e * LN2);
    const vec rise = FN(mad3)(m->gradient, rate, FN(scale3)(h.gradient, rate));
    m->bend.x = FN(mad3)(rise, n_add(m->raw.x, h.raw.x),
                         FN(mad3)(h.bend.x, less, FN(scale3)(m->bend.x, of_body)));
    m->bend.y = FN(mad3)(rise, n_add(m->raw.y, h.raw.y),
                         FN(mad3)(h.bend.y, less, FN(scale3)(m->bend.y, of_body)));
    m->bend.z = FN(mad3)(rise, n_add(m->raw.z, h.raw.z),
                         FN(mad3)(h.bend.z, less, FN(scale3)(m->bend.z, of_body)));
  }
  if (want & JET_GRADIENT) {
    m->gradient = FN(mad3)(h.gradient, less, FN(scale3)(m->gradient, of_body));
  }
  if (want & JET_NORMAL) {
    const vec inner = FN(scale3)(b->normal, n_div(of_hole, b->sum));
    m->raw = FN(sub3)(FN(scale3)(m->raw, of_body), inner);
  }
}

// The field at a point with its derivatives. Members that are not wanted are not set.
typedef struct FN(jet) {
  num phi;
  vec normal, gradient; // gradient: of phi
  num jacobian[9];      // [3 i + j]: d normal_i / d x_j
  FN(symmetric) curve;  // second derivatives of phi
} FN(jet);

// Writes the derivative of unit(raw), from the derivative of raw.
static void FN(unit_jacobian)(const FN(mixture) *m, vec n, real tau, num *jacobian)
{
  const num scale = FN(unit_scale)(m->raw, tau);
  const vec along = FN(mad3)(m->bend.x, n.x, FN(mad3)(m->bend.y, n.y, FN(scale3)(m->bend.z, n.z)));
  const vec x = FN(scale3)(FN(mad3)(along, n_neg(n.x), m->bend.x), scale);
  const vec y = FN(scale3)(FN(mad3)(along, n_neg(n.y), m->bend.y), scale);
  const vec z = FN(scale3)(FN(mad3)(along, n_neg(n.z), m->bend.z), scale);
  jacobian[0] = x.x;
  jacobian[1] = x.y;
  jacobian[2] = x.z;
  jacobian[3] = y.x;
  jacobian[4] = y.y;
  jacobian[5] = y.z;
  jacobian[6] = z.x;
  jacobian[7] = z.y;
  jacobian[8] = z.z;
}

// Returns `reach` plus the largest height of the least term of a union of `count` above the union.
static real FN(term_reach)(real reach, int count, GLOBAL const coefficients *c)
{
  const lane most = lane_log2(lane_lit((real)count)) * c->union_ln2;
  return reach < REAL_BIG ? reach + lane_first(most) : REAL_BIG;
}

// Evaluates the field at x, a point in the body's frame; `want` has JET_* of blend.inl. A distance
// beyond `reach` need not be exact, but it must be beyond `reach`. REAL_BIG means no such bound.
static void FN(body_jet)(GLOBAL const int *head, GLOBAL const real *shape,
                         GLOBAL const coefficients *c, vec x, const int want, real reach,
                         FN(jet) *out)
{
  const int all = want | (want & JET_JACOBIAN ? JET_ALL : want & JET_HESSIAN ? JET_GRADIENT : 0);
  const int subtracted = head[HEAD_SUBTRACTED];
  const real within = FN(term_reach)(reach, head[HEAD_ADDED], c);
  // One loop over both operations, so that the primitives' code is compiled once.
  FN(blend) b = FN(blend_start)();
  FN(blend) plus = b;
  for (int operation = 0; operation <= (subtracted > 0); ++operation) {
    plus = b;
    b = FN(blend_all)(head, shape, operation, c, x, all, operation ? REAL_BIG : within);
  }
  plus = subtracted ? plus : b;
  FN(mixture) m;
  FN(blend_means)(&plus, c, all, &m);
  if (subtracted) {
    FN(subtract)(&b, c, all, &m);
  }
  // If bounds have excluded every term, there is no sum.
  out->phi = n_select(n_value(plus.sum) > lane_lit(R(0.0)), m.phi, n_lit(REAL_BIG));
  if (all & JET_NORMAL) {
    out->normal = FN(unit)(m.raw, c->normal);
  }
  if (all & JET_GRADIENT) {
    out->gradient = m.gradient;
  }
  if (all & JET_JACOBIAN) {
    FN(unit_jacobian)(&m, out->normal, c->normal, out->jacobian);
  }
  if (all & JET_HESSIAN) {
    out->curve = m.curve;
  }
}

// Returns the distance at x, a point in the body's frame, and its normal if wanted.
static num FN(body_field)(GLOBAL const int *head, GLOBAL const real *shape,
                          GLOBAL const coefficients *c, vec x, const int want_normal, vec *normal)
{
  FN(jet) jet;
  FN(body_jet)(head, shape, c, x, want_normal ? JET_NORMAL : 0, REAL_BIG, &jet);
  if (want_normal) {
    *normal = jet.normal;
  }
  return jet.phi;
}

// Returns the distance at x if it is below `reach`, otherwise `reach`.
static num FN(body_distance_within)(GLOBAL const int *head, GLOBAL const real *shape,
                                    GLOBAL const coefficients *c, vec x, real reach)
{
  FN(jet) jet;
  FN(body_jet)(head, shape, c, x, 0, reach, &jet);
  return n_select(n_value(jet.phi) < lane_lit(reach), jet.phi, n_lit(reach));
}
