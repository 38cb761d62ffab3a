// The field of a body: union of its added primitives, less the union of its subtracted ones
// (Beker et al., eq. 6 to 8).
//
//   union: phi+ = -LSE(-phi_l), normal sum w_l unit(g_l), w = softmax(-phi_l / union)
//   subtraction: phi = LSE(phi+, -phi-), normal unit(v1 n+ - v2 n-), v = softmax of the same two

// A running soft minimum: distances relative to the least so far.
typedef struct FN(blend) {
  num least, sum;
  vec normal;
} FN(blend);

static FN(blend) FN(blend_start)(void)
{
  FN(blend) b;
  b.least = n_lit(REAL_BIG);
  b.sum = n_lit(R(0.0));
  b.normal = FN(make)(b.sum, b.sum, b.sum);
  return b;
}

static void FN(blend_add)(FN(blend) *b, GLOBAL const coefficients *c, num phi, vec g,
                          const int want_g)
{
  const ilane leads = n_value(phi) < n_value(b->least);
  const num lo = n_select(leads, phi, b->least);
  const num e = n_exp2(n_scale(n_sub(lo, n_select(leads, b->least, phi)), c->union_log2e));
  const num keep = n_select(leads, e, n_lit(R(1.0)));
  const num take = n_select(leads, n_lit(R(1.0)), e);
  b->least = lo;
  b->sum = n_mad(b->sum, keep, take);
  if (want_g) {
    b->normal = FN(mad3)(FN(unit)(g, c->normal), take, FN(scale3)(b->normal, keep));
  }
}

// A superquadric's surface lies within its outer radius of its centre, so phi >= |x - centre| -
// radius. One that is farther than the least distance so far by CULL_BITS of the union's
// temperature adds less than 2^-CULL_BITS to a sum that is at least 1: below rounding.
#if REAL_DOUBLE
#define CULL_BITS 60.0
#else
#define CULL_BITS 27.0f
#endif
#define CULL_FROM 4 // fewer are all evaluated

static int FN(beyond)(GLOBAL const real *s, GLOBAL const coefficients *c, vec x, num least)
{
  const lane dx = n_value(x.x) - s[SUPERQUADRIC_POSITION];
  const lane dy = n_value(x.y) - s[SUPERQUADRIC_POSITION + 1];
  const lane dz = n_value(x.z) - s[SUPERQUADRIC_POSITION + 2];
  const lane reach = n_value(least) + (c->union_ln2 * CULL_BITS + s[SUPERQUADRIC_OUTER]);
  const lane positive = lane_max(reach, lane_lit(R(0.0)));
  return lane_all(dx * dx + dy * dy + dz * dz > positive * positive);
}

// The superquadric that is likely nearest to the block's first point, by power distance to the
// spheres.
static int FN(likely_nearest)(GLOBAL const real *s, int count, vec x)
{
  const real px = lane_first(n_value(x.x)), py = lane_first(n_value(x.y));
  const real pz = lane_first(n_value(x.z));
  real least = REAL_MOST;
  int nearest = 0;
  for (int i = 0; i < count; ++i, s += SUPERQUADRIC_STRIDE) {
    const real dx = px - s[SUPERQUADRIC_POSITION], dy = py - s[SUPERQUADRIC_POSITION + 1];
    const real dz = pz - s[SUPERQUADRIC_POSITION + 2];
    const real power = dx * dx + dy * dy + dz * dz - s[SUPERQUADRIC_OUTER] * s[SUPERQUADRIC_OUTER];
    nearest = power < least ? i : nearest;
    least = power < least ? power : least;
  }
  return nearest;
}

// The nearest first, so that most of the others are beyond its reach.
static void FN(blend_superquadrics)(FN(blend) *b, GLOBAL const real *first, int count,
                                    GLOBAL const coefficients *c, vec x, const int want_g)
{
  vec g = b->normal;
  const int culling = count >= CULL_FROM;
  const int nearest = culling ? FN(likely_nearest)(first, count, x) : -1;
  for (int i = culling ? -1 : 0; i < count; ++i) {
    GLOBAL const real *s = first + (i < 0 ? nearest : i) * SUPERQUADRIC_STRIDE;
    if (culling && i >= 0 && (i == nearest || FN(beyond)(s, c, x, b->least))) {
      continue;
    }
    const num phi = FN(superquadric)(s, x, want_g, &g);
    FN(blend_add)(b, c, phi, g, want_g);
  }
}

// Adds every primitive of one operation, 0 added or 1 subtracted.
static FN(blend) FN(blend_all)(GLOBAL const int *head, GLOBAL const real *shape, int operation,
                               GLOBAL const coefficients *c, vec x, const int want_g)
{
  FN(blend) b = FN(blend_start)();
  vec g = b.normal;
  const int first_square = operation ? head[HEAD_SUPERQUADRICS] : 0;
  FN(blend_superquadrics)(&b,
                          shape + head[HEAD_SUPERQUADRIC_BASE] + first_square * SUPERQUADRIC_STRIDE,
                          head[HEAD_SUPERQUADRICS + operation], c, x, want_g);
  const int polyhedra = head[HEAD_POLYHEDRA] + head[HEAD_POLYHEDRA + 1];
  const int first = operation ? head[HEAD_POLYHEDRA] : 0;
  GLOBAL const int *range = head + HEAD_RANGES + 2 * first;
  for (int i = 0; i < head[HEAD_POLYHEDRA + operation]; ++i, range += 2) {
    GLOBAL const real *planes = shape + head[HEAD_PLANE_BASE] + range[0] * PLANE_STRIDE;
    const num phi = FN(polyhedron)(planes, range[1], c, x, want_g, &g);
    FN(blend_add)(&b, c, phi, g, want_g);
  }
  const int first_cloud = operation ? head[HEAD_POINTCLOUDS] : 0;
  range = head + HEAD_RANGES + 2 * (polyhedra + first_cloud);
  for (int i = 0; i < head[HEAD_POINTCLOUDS + operation]; ++i, range += 2) {
    GLOBAL const real *points = shape + head[HEAD_POINT_BASE] + range[0] * POINT_STRIDE;
    const num phi = FN(pointcloud)(points, range[1], x, want_g, &g);
    FN(blend_add)(&b, c, phi, g, want_g);
  }
  return b;
}

// Distance at x, a point of the body frame; its normal where wanted.
static num FN(body_field)(GLOBAL const int *head, GLOBAL const real *shape,
                          GLOBAL const coefficients *c, vec x, const int want_normal, vec *normal)
{
  const int subtracted = head[HEAD_SUPERQUADRICS + 1] + head[HEAD_POLYHEDRA + 1] +
                         head[HEAD_POINTCLOUDS + 1];
  // One loop over both operations, so that the primitives' text is compiled once.
  FN(blend) b = FN(blend_start)();
  FN(blend) plus = b;
  for (int operation = 0; operation <= (subtracted > 0); ++operation) {
    plus = b;
    b = FN(blend_all)(head, shape, operation, c, x, want_normal);
  }
  plus = subtracted ? plus : b;
  const num added = n_sub(plus.least, n_scale(n_log2(plus.sum), c->union_ln2));
  const vec mixed = FN(scale3)(plus.normal, n_rcp(plus.sum));
  if (!subtracted) {
    if (want_normal) {
      *normal = FN(unit)(mixed, c->normal);
    }
    return added;
  }
  const num hole = n_sub(n_scale(n_log2(b.sum), c->union_ln2), b.least);
  const ilane leads = n_value(added) > n_value(hole);
  const num hi = n_select(leads, added, hole);
  const num e = n_exp2(n_scale(n_sub(n_select(leads, hole, added), hi), c->union_log2e));
  const num sum = n_shift(e, R(1.0));
  if (want_normal) {
    const num major = n_rcp(sum);
    const num minor = n_mul(e, major);
    const num of_hole = n_select(leads, minor, major);
    const vec inner = FN(scale3)(b.normal, n_div(of_hole, b.sum));
    const vec outer = FN(scale3)(mixed, n_select(leads, major, minor));
    *normal = FN(unit)(FN(sub3)(outer, inner), c->normal);
  }
  return n_smad(n_log2(sum), c->union_ln2, hi);
}
