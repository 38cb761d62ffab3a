// The field of a body: union of its added primitives, less the union of its subtracted ones
// (Beker et al., eq. 6 to 8).
//
//   union: phi+ = -LSE(-phi_l), normal sum w_l unit(g_l), w = softmax(-phi_l / union)
//   subtraction: phi = LSE(phi+, -phi-), normal unit(v1 n+ - v2 n-), v = softmax of the same two

// A running soft minimum: distances relative to the least so far, gradients of distances to the
// gradient of that one, the pivot, so that 1/union multiplies differences alone.
typedef struct FN(mat3) {
  vec x, y, z; // rows
} FN(mat3);

typedef struct FN(blend) {
  num least, sum;
  vec normal;    // sum w unit(g)
  vec pivot;
  vec rest;      // sum w (gradient - pivot)
  FN(mat3) bend; // sum w [d unit(g) - unit(g) (gradient - pivot)' / union]
} FN(blend);

static FN(blend) FN(blend_start)(void)
{
  FN(blend) b;
  b.least = n_lit(REAL_BIG);
  b.sum = n_lit(R(0.0));
  b.normal = FN(make)(b.sum, b.sum, b.sum);
  b.pivot = b.rest = b.normal;
  b.bend.x = b.bend.y = b.bend.z = b.normal;
  return b;
}

static vec FN(select3)(ilane mask, vec a, vec b)
{
  return FN(make)(n_select(mask, a.x, b.x), n_select(mask, a.y, b.y), n_select(mask, a.z, b.z));
}

// A new pivot moves what was summed so far, with the weight e that it keeps; otherwise only the
// new gradient differs from the pivot, with its weight e.
static void FN(blend_gradient)(FN(blend) *b, const FN(surface) *p, ilane leads, num e, num keep)
{
  const num moved = n_select(leads, n_neg(n_mul(e, b->sum)), e);
  const vec step = FN(sub3)(p->gradient, b->pivot);
  b->rest = FN(mad3)(step, moved, FN(scale3)(b->rest, keep));
  b->pivot = FN(select3)(leads, p->gradient, b->pivot);
}

// d unit(g) = (H - u (H u)') / |g| with u = unit(g).
static void FN(blend_bend)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                           ilane leads, num e, num keep, num take)
{
  const vec u = FN(unit)(p->g, c->normal);
  const vec row_x = FN(scale3)(FN(make)(p->bend.xx, p->bend.xy, p->bend.xz), take);
  const vec row_y = FN(scale3)(FN(make)(p->bend.xy, p->bend.yy, p->bend.yz), take);
  const vec row_z = FN(scale3)(FN(make)(p->bend.xz, p->bend.yz, p->bend.zz), take);
  const vec pull = FN(make)(n_neg(FN(dot3)(row_x, u)), n_neg(FN(dot3)(row_y, u)),
                            n_neg(FN(dot3)(row_z, u)));
  // As in blend_gradient: the normals that the pivot moves away from.
  const vec moved = FN(select3)(leads, b->normal, u);
  const num rate = n_scale(n_select(leads, e, n_neg(e)), c->union_log2e * LN2);
  const vec step = FN(scale3)(FN(sub3)(p->gradient, b->pivot), rate);
  b->bend.x = FN(mad3)(step, moved.x, FN(mad3)(pull, u.x, FN(mad3)(b->bend.x, keep, row_x)));
  b->bend.y = FN(mad3)(step, moved.y, FN(mad3)(pull, u.y, FN(mad3)(b->bend.y, keep, row_y)));
  b->bend.z = FN(mad3)(step, moved.z, FN(mad3)(pull, u.z, FN(mad3)(b->bend.z, keep, row_z)));
}

static void FN(blend_add)(FN(blend) *b, GLOBAL const coefficients *c, const FN(surface) *p,
                          const int want)
{
  const ilane leads = n_value(p->phi) < n_value(b->least);
  const num lo = n_select(leads, p->phi, b->least);
  const num e = n_exp2(n_scale(n_sub(lo, n_select(leads, b->least, p->phi)), c->union_log2e));
  const num keep = n_select(leads, e, n_lit(R(1.0)));
  const num take = n_select(leads, n_lit(R(1.0)), e);
  if (want & JET_JACOBIAN) {
    FN(blend_bend)(b, c, p, leads, e, keep, take);
  }
  if (want & JET_GRADIENT) {
    FN(blend_gradient)(b, p, leads, e, keep);
  }
  b->least = lo;
  b->sum = n_mad(b->sum, keep, take);
  if (want & JET_NORMAL) {
    b->normal = FN(mad3)(FN(unit)(p->g, c->normal), take, FN(scale3)(b->normal, keep));
  }
}

// Those that bounds of their distances do not rule out: no evaluation waits for another's outcome.
// Spheres are looked at only where there are many superquadrics.
static void FN(blend_superquadrics)(FN(blend) *b, GLOBAL const real *first,
                                    GLOBAL const real *balls, int count,
                                    GLOBAL const coefficients *c, vec x, const int want)
{
  FN(surface) p;
  const vec3_r at = make_r(n_value(x.x), n_value(x.y), n_value(x.z));
  const real margin = c->union_ln2 * CULL_BITS;
  const int many = count > CULL_GROUP;
  ball_r block;
  lane high = lane_lit(REAL_BIG);
  if (many) {
    block = ball_around_r(at);
    const int nearest = likely_nearest_r(&block, balls, count);
    high = ellipsoid_bounds_r(first + nearest * SUPERQUADRIC_STRIDE, at).high;
  }
  for (int i = 0; i < count; i += CULL_GROUP, first += CULL_GROUP * SUPERQUADRIC_STRIDE) {
    const int group = MIN_INT(count - i, CULL_GROUP);
    unsigned int left = 0xffffffffu >> (CULL_GROUP - group);
    if (many) {
      left &= spheres_within_r(&block, balls, count, i, group, lane_most(high) + margin);
    }
    left = ellipsoids_within_r(first, left, at, margin, &high);
    for (; left; left &= left - 1) {
      FN(superquadric)(first + lowest_bit(left) * SUPERQUADRIC_STRIDE, c, x, want, &p);
      FN(blend_add)(b, c, &p, want);
    }
  }
}

// Adds every primitive of one operation, 0 added or 1 subtracted.
static FN(blend) FN(blend_all)(GLOBAL const int *head, GLOBAL const real *shape, int operation,
                               GLOBAL const coefficients *c, vec x, const int want)
{
  FN(blend) b = FN(blend_start)();
  FN(surface) p;
  const int first_square = operation ? head[HEAD_SUPERQUADRICS] : 0;
  FN(blend_superquadrics)(&b,
                          shape + head[HEAD_SUPERQUADRIC_BASE] + first_square * SUPERQUADRIC_STRIDE,
                          shape + head[HEAD_BALLS + operation],
                          head[HEAD_SUPERQUADRICS + operation], c, x, want);
  const int polyhedra = head[HEAD_POLYHEDRA] + head[HEAD_POLYHEDRA + 1];
  const int first = operation ? head[HEAD_POLYHEDRA] : 0;
  GLOBAL const int *range = head + HEAD_RANGES + 2 * first;
  for (int i = 0; i < head[HEAD_POLYHEDRA + operation]; ++i, range += 2) {
    GLOBAL const real *planes = shape + head[HEAD_PLANE_BASE] + range[0] * PLANE_STRIDE;
    FN(polyhedron)(planes, range[1], c, x, want, &p);
    FN(blend_add)(&b, c, &p, want);
  }
  const int first_cloud = operation ? head[HEAD_POINTCLOUDS] : 0;
  range = head + HEAD_RANGES + 2 * (polyhedra + first_cloud);
  for (int i = 0; i < head[HEAD_POINTCLOUDS + operation]; ++i, range += 2) {
    GLOBAL const real *points = shape + head[HEAD_POINT_BASE] + range[0] * POINT_STRIDE;
    FN(pointcloud)(points, range[1], c, x, want, &p);
    FN(blend_add)(&b, c, &p, want);
  }
  return b;
}

// A body or one of its unions, with its normal before the last unit().
typedef struct FN(mixture) {
  num phi;
  vec raw, gradient;
  FN(mat3) bend; // the derivative of raw
} FN(mixture);

// What a union's gradient and Jacobian are: means, and the share of the weights' own change.
static void FN(blend_means)(const FN(blend) *b, GLOBAL const coefficients *c, const int want,
                            FN(mixture) *m)
{
  const num sum_inv = n_rcp(b->sum);
  m->phi = n_sub(b->least, n_scale(n_log2(b->sum), c->union_ln2));
  m->raw = FN(scale3)(b->normal, sum_inv);
  if (want & JET_GRADIENT) {
    m->gradient = FN(mad3)(b->rest, sum_inv, b->pivot);
  }
  if (want & JET_JACOBIAN) {
    const num union_inv = n_lit(c->union_log2e * LN2);
    const vec rise = FN(scale3)(b->rest, n_mul(sum_inv, union_inv));
    m->bend.x = FN(scale3)(FN(mad3)(rise, b->normal.x, b->bend.x), sum_inv);
    m->bend.y = FN(scale3)(FN(mad3)(rise, b->normal.y, b->bend.y), sum_inv);
    m->bend.z = FN(scale3)(FN(mad3)(rise, b->normal.z, b->bend.z), sum_inv);
  }
}

// m less the union of a hole: v1 + v2 = 1, dv1 = -dv2 = v1 v2 (grad phi+ + grad phi-) / union.
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

// The field at a point with its derivatives. Left alone: what is not wanted.
typedef struct FN(jet) {
  num phi;
  vec normal, gradient; // gradient: of phi
  num jacobian[9];      // [3 i + j]: d normal_i / d x_j
} FN(jet);

// d unit(raw) from d raw.
static void FN(unit_jacobian)(const FN(mixture) *m, vec n, real tau, num *jacobian)
{
  const num scale = FN(unit_scale)(m->raw, tau);
  const vec along = FN(mad3)(m->bend.x, n.x,
                             FN(mad3)(m->bend.y, n.y, FN(scale3)(m->bend.z, n.z)));
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

// x: a point of the body frame. want: JET_* of superquadric.inl.
static void FN(body_jet)(GLOBAL const int *head, GLOBAL const real *shape,
                         GLOBAL const coefficients *c, vec x, const int want, FN(jet) *out)
{
  const int all = want & JET_JACOBIAN ? JET_ALL : want;
  const int subtracted = head[HEAD_SUPERQUADRICS + 1] + head[HEAD_POLYHEDRA + 1] +
                         head[HEAD_POINTCLOUDS + 1];
  // One loop over both operations, so that the primitives' text is compiled once.
  FN(blend) b = FN(blend_start)();
  FN(blend) plus = b;
  for (int operation = 0; operation <= (subtracted > 0); ++operation) {
    plus = b;
    b = FN(blend_all)(head, shape, operation, c, x, all);
  }
  plus = subtracted ? plus : b;
  FN(mixture) m;
  FN(blend_means)(&plus, c, all, &m);
  if (subtracted) {
    FN(subtract)(&b, c, all, &m);
  }
  out->phi = m.phi;
  if (all & JET_NORMAL) {
    out->normal = FN(unit)(m.raw, c->normal);
  }
  if (all & JET_GRADIENT) {
    out->gradient = m.gradient;
  }
  if (all & JET_JACOBIAN) {
    FN(unit_jacobian)(&m, out->normal, c->normal, out->jacobian);
  }
}

// Distance at x, a point of the body frame; its normal where wanted.
static num FN(body_field)(GLOBAL const int *head, GLOBAL const real *shape,
                          GLOBAL const coefficients *c, vec x, const int want_normal, vec *normal)
{
  FN(jet) jet;
  FN(body_jet)(head, shape, c, x, want_normal ? JET_NORMAL : 0, &jet);
  if (want_normal) {
    *normal = jet.normal;
  }
  return jet.phi;
}
