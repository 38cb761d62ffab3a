// The cotangents of a field's distances and normals at its sites (geometry/sites.h), propagated to
// each operation's union and to single primitives: the reverse of compose.inl.

// A block of sites of one pose.
typedef struct site_block {
  vec x;
  num phi_bar;
  vec normal_bar, gradient_bar;
  ilane there; // lanes with a nonzero cotangent
} site_block;

// Returns where any cotangent of a site, or of its share of a union, is not 0.
static ilane any_bar(num phi_bar, vec normal_bar, vec gradient_bar)
{
  const num none = n_lit(R(0.0));
  const ilane graded = (gradient_bar.x != none) | (gradient_bar.y != none) |
                       (gradient_bar.z != none);
  return (phi_bar != none) | (normal_bar.x != none) | (normal_bar.y != none) |
         (normal_bar.z != none) | graded;
}

static site_block load_sites(GLOBAL const real *sites, int count, int first, int pose)
{
  GLOBAL const real *row = ROW(sites, pose, SITE_PLANES * count) + first;
  site_block s;
  s.x = load3(row, 0, count);
  s.phi_bar = load(row + SITE_PHI * count, 0);
  s.normal_bar = load3(row + SITE_NORMAL * count, 0, count);
  s.gradient_bar = load3(row + SITE_GRADIENT * count, 0, count);
  s.there = any_bar(s.phi_bar, s.normal_bar, s.gradient_bar);
  return s;
}

// Returns x where the mask holds, limited so that sums do not overflow, and 0 elsewhere. NaN, a
// derivative that overflowed with opposite signs, becomes 0. A NaN cotangent must show, however:
// poison is 0 or NaN.
static lane counted(ilane mask, lane x, lane poison)
{
  const lane known = lane_select(x == x, bounded_part(x, COTANGENT_LIMIT), lane_lit(R(0.0)));
  return lane_select(mask, known + poison, lane_lit(R(0.0)));
}

// Adds each of `count` derivatives to its sum. If all derivatives of a block are within limits,
// which is nearly always true, this is a plain sum.
static void add_counted(ilane mask, const lane *by, const int count, lane poison, lane *sum)
{
  const lane none = lane_lit(R(0.0));
  lane size = none;
  for (int k = 0; k < count; ++k) {
    size = size + lane_select(mask, lane_abs(by[k]), none);
  }
  size = size + lane_select(mask, poison, none);
  // The size is NaN, and not within limits, if a derivative or a cotangent is NaN.
  if (lane_all(size < lane_lit(COTANGENT_LIMIT))) {
    for (int k = 0; k < count; ++k) {
      sum[k] = sum[k] + lane_select(mask, by[k], none);
    }
    return;
  }
  for (int k = 0; k < count; ++k) {
    sum[k] = sum[k] + counted(mask, by[k], poison);
  }
}

// Returns whether any lane has a cotangent of a vector.
static int has_bar(vec bar)
{
  const num none = n_lit(R(0.0));
  return lane_any((bar.x != none) | (bar.y != none) | (bar.z != none));
}

// Returns 0 if cotangents are finite, otherwise NaN.
static lane poison_of(lane phi_bar, vec normal_bar)
{
  const lane sum = phi_bar + normal_bar.x + normal_bar.y + normal_bar.z;
  return lane_select(sum == sum, lane_lit(R(0.0)), sum);
}

// One work-item computes the shares of a block of sites of a body's field, out (poses,
// SHARE_PLANES, count).
KERNEL void site_shares(GLOBAL const real *sites, int count, GLOBAL const int *head,
                        GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  if (first >= count) {
    return;
  }
  const num zero = n_lit(R(0.0));
  const vec zero3 = FN(make)(zero, zero, zero);
  GLOBAL real *to = ROW(out, pose, SHARE_PLANES * count) + first;
  const site_block s = load_sites(sites, count, first, pose);
  if (!lane_any(s.there)) {
    for (int i = 0; i < SHARE_PLANES; ++i) {
      store(to + i * count, 0, zero);
    }
    return;
  }
  const int subtracted = head[HEAD_SUBTRACTED];
  FN(mixture) of[2];
  of[0].phi = of[1].phi = zero;
  of[0].raw = of[1].raw = of[0].gradient = of[1].gradient = zero3;
  for (int operation = 0; operation <= (subtracted > 0); ++operation) {
    // If normals and gradients have no cotangents, they are not computed.
    if (has_bar(s.gradient_bar)) {
      const FN(blend) b =
        FN(blend_all)(head, shape, operation, c, s.x, JET_NORMAL | JET_GRADIENT, REAL_BIG);
      FN(blend_means)(&b, c, JET_NORMAL | JET_GRADIENT, &of[operation]);
    } else if (has_bar(s.normal_bar)) {
      const FN(blend) b = FN(blend_all)(head, shape, operation, c, s.x, JET_NORMAL, REAL_BIG);
      FN(blend_means)(&b, c, JET_NORMAL, &of[operation]);
    } else {
      const FN(blend) b = FN(blend_all)(head, shape, operation, c, s.x, 0, REAL_BIG);
      FN(mixture) flat;
      FN(blend_means)(&b, c, 0, &flat);
      of[operation].phi = flat.phi;
    }
  }
  num share[2] = {n_lit(R(1.0)), zero}, flow = zero;
  vec mixed = of[0].raw;
  if (subtracted) {
    // v = softmax of (phi+, -phi-) / union; n = v1 n+ - v2 n-.
    const num apart = n_scale(n_add(of[0].phi, of[1].phi), c->union_log2e * LN2);
    share[0] = FN(sigmoid)(apart);
    share[1] = FN(sigmoid)(n_neg(apart));
    mixed = FN(sub3)(FN(scale3)(of[0].raw, share[0]), FN(scale3)(of[1].raw, share[1]));
  }
  const vec mixed_bar = FN(unit_adjoint)(mixed, c->normal, s.normal_bar);
  if (subtracted) {
    const num turn = FN(dot3)(mixed_bar, FN(add3)(of[0].raw, of[1].raw));
    const num rise = FN(dot3)(s.gradient_bar, FN(add3)(of[0].gradient, of[1].gradient));
    flow = n_scale(n_mul(n_mul(share[0], share[1]), n_add(turn, rise)), c->union_log2e * LN2);
  }
  for (int operation = 0; operation < 2; ++operation, to += SHARE_OPERATION * count) {
    const num part = operation ? n_neg(share[1]) : share[0];
    const vec bar = FN(scale3)(mixed_bar, part), way = FN(scale3)(s.gradient_bar, part);
    const int used = operation == 0 || subtracted;
    const num phi_bar = used ? n_mad(part, s.phi_bar, flow) : zero;
    store(to, 0, of[operation].phi);
    store(to + SHARE_PHI_BAR * count, 0, n_select(s.there, phi_bar, zero));
    store3(to + SHARE_NORMAL_BAR * count, 0, count,
           FN(select3)(s.there, used ? bar : zero3, zero3));
    store(to + SHARE_ALONG * count, 0, n_select(s.there, FN(dot3)(bar, of[operation].raw), zero));
    store3(to + SHARE_GRADIENT_BAR * count, 0, count,
           FN(select3)(s.there, used ? way : zero3, zero3));
    store(to + SHARE_RISE * count, 0,
          n_select(s.there, FN(dot3)(way, of[operation].gradient), zero));
  }
}

// The contribution of one operation's union to a block of sites.
typedef struct union_block {
  vec x;
  num phi, phi_bar, along, rise;
  vec normal_bar, gradient_bar;
  ilane there;
  num poison;
  int graded; // whether any lane has a cotangent of the gradient
} union_block;

static union_block load_union(GLOBAL const real *sites, GLOBAL const real *shares, int count,
                              int operation, int first, int pose)
{
  GLOBAL const real *row =
    ROW(shares, pose, SHARE_PLANES * count) + operation * SHARE_OPERATION * count + first;
  union_block u;
  u.phi = load(row, 0);
  u.phi_bar = load(row + SHARE_PHI_BAR * count, 0);
  u.normal_bar = load3(row + SHARE_NORMAL_BAR * count, 0, count);
  u.along = load(row + SHARE_ALONG * count, 0);
  u.gradient_bar = load3(row + SHARE_GRADIENT_BAR * count, 0, count);
  u.rise = load(row + SHARE_RISE * count, 0);
  u.graded = has_bar(u.gradient_bar);
  u.there = any_bar(u.phi_bar, u.normal_bar, u.gradient_bar);
  u.x = load3(ROW(sites, pose, SITE_PLANES * count) + first, 0, count);
  u.poison = poison_of(u.phi_bar, u.normal_bar) + poison_of(n_lit(R(0.0)), u.gradient_bar);
  return u;
}

// Returns where a primitive has a share in its union that exceeds rounding, by the threshold of
// cull.inl.
static ilane has_share(const union_block *u, num phi, GLOBAL const coefficients *c)
{
  return u->there & (phi < u->phi + c->union_ln2 * CULL_BITS);
}

// Returns a primitive's share of its union.
static num share_of(const union_block *u, num phi, GLOBAL const coefficients *c)
{
  return n_exp2(n_scale(n_sub(u->phi, phi), c->union_log2e));
}

// Returns whether a block has cotangents other than those of distances.
static int has_slopes(const union_block *u)
{
  return u->graded || has_bar(u->normal_bar);
}

// Writes the cotangents of a primitive's distance and raw normal, where w is its share. The
// cotangent of its distance's gradient is w times the union's.
static void primitive_bars(const union_block *u, const FN(surface) *p, num w,
                           GLOBAL const coefficients *c, num *phi_bar, vec *g_bar)
{
  const vec unit = FN(unit)(p->g, c->normal);
  num apart = n_sub(FN(dot3)(u->normal_bar, unit), u->along);
  if (u->graded) {
    apart = n_add(apart, n_sub(FN(dot3)(u->gradient_bar, p->gradient), u->rise));
  }
  *phi_bar = n_mul(w, n_sub(u->phi_bar, n_scale(apart, c->union_log2e * LN2)));
  *g_bar = FN(unit_adjoint)(p->g, c->normal, FN(scale3)(u->normal_bar, w));
}

// Does the same for a family whose raw normal is the gradient of its distance. The normal then has
// both cotangents.
static void gradient_bars(const union_block *u, const FN(surface) *p, num w,
                          GLOBAL const coefficients *c, num *phi_bar, vec *v)
{
  primitive_bars(u, p, w, c, phi_bar, v);
  *v = FN(mad3)(u->gradient_bar, w, *v);
}

// The contribution of a block of sites to one primitive of a ranged family: PART_PLANES.
typedef struct part_block {
  num phi, phi_bar, along, top, top_along;
  vec v;
} part_block;

// Without a contribution, the distance and the logarithm of weights are so large that nothing has a
// share.
static void store_part_block(GLOBAL real *to, int count, const union_block *u, const part_block *p)
{
  const num zero = n_lit(R(0.0)), none = n_lit(REAL_BIG);
  store(to, 0, n_select(u->there, p->phi, none));
  store(to + PART_PHI_BAR * count, 0, counted(u->there, p->phi_bar, u->poison));
  store(to + PART_V * count, 0, counted(u->there, p->v.x, u->poison));
  store(to + (PART_V + 1) * count, 0, counted(u->there, p->v.y, u->poison));
  store(to + (PART_V + 2) * count, 0, counted(u->there, p->v.z, u->poison));
  store(to + PART_ALONG * count, 0, n_select(u->there, p->along, zero));
  store(to + PART_TOP * count, 0, n_select(u->there, p->top, none));
  store(to + PART_TOP_ALONG * count, 0, n_select(u->there, p->top_along, zero));
}

// Reads a part except the distance and the logarithm of weights, which define where anything has a
// share.
static void load_part_bars(GLOBAL const real *row, int count, part_block *p)
{
  p->phi_bar = load(row + PART_PHI_BAR * count, 0);
  p->v = load3(row + PART_V * count, 0, count);
  p->along = load(row + PART_ALONG * count, 0);
  p->top_along = load(row + PART_TOP_ALONG * count, 0);
}
