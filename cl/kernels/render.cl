// Rays against the surface of one body, a ray a lane.
//
// A superquadric's h - 1 and a polyhedron's LSE are convex functions, negative inside. With f such
// a function and g its gradient at x, every point y of the body has f + g.(y - x) <= 0, and every
// point within `margin` of it f + g.(y - x) <= margin |g|: a step along the ray up to that half
// space cannot pass the primitive, however far its radial distance is from a true one. The soft
// union reaches at most union ln(primitives), the margin, beyond the hard one. Within the margin
// the ray creeps until the field's sign changes, and the root is then bracketed.

#define MARCH_CULL_FROM 4 // fewer superquadrics are all evaluated
#define MARCH_CLOUD_STEP R(0.6) // of a point cloud's distance, which is nearly a true one
#define MARCH_HOLE_STEP R(0.3)  // of the distance to the wall of a subtracted primitive

typedef struct march_state {
  lane field, step;
} march_state;

// How far a ray along d may go: gap is f at its point.
static lane march_bound(lane gap, vec3_r g, vec3_r d, real margin, real creep)
{
  const lane slope = -dot3_r(g, d);
  const lane rest = gap - margin * lane_sqrt(dot3_r(g, g));
  const ilane ahead = slope > lane_lit(REAL_TINY);
  const lane step = rest / lane_select(ahead, slope, lane_lit(R(1.0)));
  const lane outside = lane_select(ahead, lane_max(step, lane_lit(creep)), lane_lit(REAL_BIG));
  return lane_select(rest > lane_lit(R(0.0)), outside, lane_lit(creep));
}

// h - 1 from phi = r (1 - 1/h).
static lane superquadric_gap(GLOBAL const real *s, vec3_r x, lane phi)
{
  const vec3_r y = make_r(x.x - s[SUPERQUADRIC_POSITION], x.y - s[SUPERQUADRIC_POSITION + 1],
                          x.z - s[SUPERQUADRIC_POSITION + 2]);
  const lane r = lane_sqrt(dot3_r(y, y) + s[SUPERQUADRIC_FLOOR]);
  return phi / lane_max(r - phi, r * REAL_EPSILON);
}

// How far to the sphere around a superquadric, widened by the margin.
static lane march_sphere(GLOBAL const real *s, vec3_r x, vec3_r d, real margin, real creep)
{
  const vec3_r y = make_r(s[SUPERQUADRIC_POSITION] - x.x, s[SUPERQUADRIC_POSITION + 1] - x.y,
                          s[SUPERQUADRIC_POSITION + 2] - x.z);
  const real radius = s[SUPERQUADRIC_OUTER] + margin;
  const lane along = dot3_r(y, d);
  const lane rest = radius * radius - (dot3_r(y, y) - along * along);
  const lane zero = lane_lit(R(0.0));
  const lane entry = lane_max(along - lane_sqrt(lane_max(rest, zero)), lane_lit(creep));
  return lane_select((rest > zero) & (along > zero), entry, lane_lit(REAL_BIG));
}

// Whether all points lie beyond reach of a superquadric's sphere (see cull.inl).
static int march_beyond(GLOBAL const real *s, GLOBAL const coefficients *c, vec3_r x, lane least)
{
  const vec3_r y = make_r(x.x - s[SUPERQUADRIC_POSITION], x.y - s[SUPERQUADRIC_POSITION + 1],
                          x.z - s[SUPERQUADRIC_POSITION + 2]);
  const lane reach = least + (c->union_ln2 * CULL_BITS + s[SUPERQUADRIC_OUTER]);
  const lane positive = lane_max(reach, lane_lit(R(0.0)));
  return lane_all(dot3_r(y, y) > positive * positive);
}

// The nearest first, as in compose.inl: of those beyond reach the sphere bounds the step.
static void march_superquadrics(blend_r *b, GLOBAL const real *first, GLOBAL const real *balls,
                                int count, GLOBAL const coefficients *c, vec3_r x, vec3_r d,
                                real margin, real creep, lane *step)
{
  surface_r p;
  const int culling = count >= MARCH_CULL_FROM;
  const ball_r block = ball_around_r(x);
  const int nearest = culling ? likely_nearest_r(&block, balls, count) : -1;
  for (int i = culling ? -1 : 0; i < count; ++i) {
    GLOBAL const real *s = first + (i < 0 ? nearest : i) * SUPERQUADRIC_STRIDE;
    if (culling && i == nearest) {
      continue;
    }
    if (culling && i >= 0 && march_beyond(s, c, x, b->least)) {
      *step = lane_min(*step, march_sphere(s, x, d, margin, creep));
      continue;
    }
    superquadric_r(s, c, x, JET_NORMAL, &p);
    blend_add_r(b, c, &p, 0);
    *step = lane_min(*step, march_bound(superquadric_gap(s, x, p.phi), p.g, d, margin, creep));
  }
}

// One operation's primitives: their blend, as in compose.inl, and the least bound of a step.
static blend_r march_blend(GLOBAL const int *head, GLOBAL const real *shape, int operation,
                           GLOBAL const coefficients *c, vec3_r x, vec3_r d, real margin,
                           real creep, lane *step)
{
  blend_r b = blend_start_r();
  surface_r p;
  *step = lane_lit(REAL_BIG);
  march_superquadrics(&b,
                      shape + head[HEAD_SUPERQUADRIC_BASE] +
                        (operation ? head[HEAD_SUPERQUADRICS] : 0) * SUPERQUADRIC_STRIDE,
                      shape + head[HEAD_BALLS + operation],
                      head[HEAD_SUPERQUADRICS + operation], c, x, d, margin, creep, step);
  GLOBAL const int *range = head + HEAD_RANGES + 2 * (operation ? head[HEAD_POLYHEDRA] : 0);
  for (int i = 0; i < head[HEAD_POLYHEDRA + operation]; ++i, range += 2) {
    GLOBAL const real *planes = shape + head[HEAD_PLANE_BASE] + range[0] * PLANE_STRIDE;
    polyhedron_r(planes, range[1], c, x, JET_NORMAL, &p);
    blend_add_r(&b, c, &p, 0);
    *step = lane_min(*step, march_bound(p.phi, p.g, d, margin, creep));
  }
  range = head + HEAD_RANGES + 2 * (head[HEAD_POLYHEDRA] + head[HEAD_POLYHEDRA + 1] +
                                    (operation ? head[HEAD_POINTCLOUDS] : 0));
  for (int i = 0; i < head[HEAD_POINTCLOUDS + operation]; ++i, range += 2) {
    GLOBAL const real *points = shape + head[HEAD_POINT_BASE] + range[0] * POINT_STRIDE;
    pointcloud_r(points, range[1], c, x, 0, &p);
    blend_add_r(&b, c, &p, 0);
    *step = lane_min(*step, lane_max((p.phi - margin) * MARCH_CLOUD_STEP, lane_lit(creep)));
  }
  return b;
}

static march_state march_at(GLOBAL const int *head, GLOBAL const real *shape,
                            GLOBAL const coefficients *c, vec3_r x, vec3_r d, real margin,
                            real creep)
{
  const int subtracted = head[HEAD_SUPERQUADRICS + 1] + head[HEAD_POLYHEDRA + 1] +
                         head[HEAD_POINTCLOUDS + 1];
  blend_r b[2];
  lane steps[2];
  for (int i = 0; i < (subtracted ? 2 : 1); ++i) {
    b[i] = march_blend(head, shape, i, c, x, d, margin, creep, &steps[i]);
  }
  march_state m;
  const lane added = b[0].least - lane_log2(b[0].sum) * c->union_ln2;
  m.field = added;
  m.step = steps[0];
  if (subtracted) {
    const lane hole = lane_log2(b[1].sum) * c->union_ln2 - b[1].least;
    const lane hi = lane_max(added, hole);
    const lane e = lane_exp2((lane_min(added, hole) - hi) * c->union_log2e);
    m.field = hi + lane_log2(e + R(1.0)) * c->union_ln2;
    const lane through = lane_max(m.field * MARCH_HOLE_STEP, lane_lit(creep));
    m.step = lane_select(added > lane_lit(R(0.0)), m.step, through);
  }
  return m;
}

// Where the field, taken as linear, is 0 between two places: 0 where it does not fall.
static lane march_share(lane low_field, lane high_field)
{
  const lane drop = low_field - high_field;
  const ilane falls = drop > lane_lit(R(0.0));
  return lane_select(falls, low_field / lane_select(falls, drop, lane_lit(R(1.0))),
                     lane_lit(R(0.0)));
}

// rays: planes of `padded`: origin (3), direction (3, unit), length, all in the body's frame.
// margin, creep and tolerance are lengths. out: where the ray enters the body, -1 where it does
// not.
KERNEL void march(GLOBAL const real *rays, int padded, GLOBAL const int *head,
                  GLOBAL const real *shape, GLOBAL const coefficients *c, real margin, real creep,
                  real most, real tolerance, int steps, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  if (block * LANES >= padded) {
    return;
  }
  const vec3_r origin = load3(rays + block * LANES, 0, padded);
  const vec3_r d = load3(rays + 3 * padded + block * LANES, 0, padded);
  const lane length = lane_load(rays + 6 * padded + block * LANES);
  const lane zero = lane_lit(R(0.0));
  lane t = zero, low = zero, low_field = zero;
  lane high = lane_lit(REAL_BIG), high_field = zero;
  for (int i = 0; i < steps; ++i) {
    const march_state m = march_at(head, shape, c, mad3_r(d, t, origin), d, margin, creep);
    const ilane inside = m.field <= zero;
    high = lane_select(inside, t, high);
    high_field = lane_select(inside, m.field, high_field);
    low = lane_select(inside, low, t);
    low_field = lane_select(inside, low_field, m.field);
    const ilane found = high < lane_lit(REAL_BIG);
    const lane gap = lane_min(high - low, lane_abs(m.field));
    const ilane going = lane_select(found, gap, length - t) >
                        lane_select(found, lane_lit(tolerance), zero);
    if (!lane_any(going)) {
      break;
    }
    const lane share = march_share(low_field, high_field);
    const lane between = lane_max(lane_min(share, lane_lit(R(0.9))), lane_lit(R(0.1)));
    const lane next = lane_select(found, low + (high - low) * between,
                                  t + lane_min(m.step, lane_lit(most)));
    t = lane_select(going, next, t);
  }
  const lane entry = low + (high - low) * march_share(low_field, high_field);
  lane_store(lane_select(high < lane_lit(REAL_BIG), entry, lane_lit(R(-1.0))),
             out + block * LANES);
}
