// Rays against the surface of one body, one ray per lane. geometry/march.inl defines how far a
// primitive lets a ray advance.

#define MARCH_HOLE_STEP R(0.3) // a step's share of the distance to a subtracted primitive's wall

// The field at a ray's point, and the length of the ray's next step.
typedef struct march_state {
  lane field, step;
} march_state;

// Adds up the primitives of one operation: their blend, as in compose.inl, and the least bound of
// their steps.
static void march_families(GLOBAL const int *head, GLOBAL const real *shape, int operation,
                           GLOBAL const coefficients *c, vec3_r x, marching_r *m)
{
  GLOBAL const int *entry = head + HEAD_ENTRY(operation, 0);
  m->blend = blend_start_r();
  m->step = lane_lit(REAL_BIG);
#define MARCH_FAMILY(name)                                                                        \
  name##_march_r(m, entry[ENTRY_COUNT], head + entry[ENTRY_RANGES], shape + entry[ENTRY_BASE], c, \
                 x);                                                                              \
  entry += ENTRY_INTS;
  FAMILIES(MARCH_FAMILY)
#undef MARCH_FAMILY
}

static march_state march_at(GLOBAL const int *head, GLOBAL const real *shape,
                            GLOBAL const coefficients *c, vec3_r x, vec3_r d, real margin,
                            real creep)
{
  const int subtracted = head[HEAD_SUBTRACTED];
  marching_r on[2];
  for (int i = 0; i < (subtracted ? 2 : 1); ++i) {
    on[i].d = d;
    on[i].margin = margin;
    on[i].creep = creep;
    march_families(head, shape, i, c, x, &on[i]);
  }
  march_state m;
  const lane added = on[0].blend.least - lane_log2(on[0].blend.sum) * c->union_ln2;
  m.field = added;
  m.step = on[0].step;
  if (subtracted) {
    const lane hole = lane_log2(on[1].blend.sum) * c->union_ln2 - on[1].blend.least;
    const lane hi = lane_max(added, hole);
    const lane e = lane_exp2((lane_min(added, hole) - hi) * c->union_log2e);
    m.field = hi + lane_log2(e + R(1.0)) * c->union_ln2;
    const lane through = lane_max(m.field * MARCH_HOLE_STEP, lane_lit(creep));
    m.step = lane_select(added > lane_lit(R(0.0)), m.step, through);
  }
  return m;
}

// Returns the share of the distance between two places at which the linearly interpolated field is
// 0, or 0 if the field does not fall.
static lane march_share(lane low_field, lane high_field)
{
  const lane drop = low_field - high_field;
  const ilane falls = drop > lane_lit(R(0.0));
  return lane_select(falls, low_field / lane_select(falls, drop, lane_lit(R(1.0))),
                     lane_lit(R(0.0)));
}

// One work-item follows LANES rays. rays (7, padded) are planes origin (3), unit direction (3) and
// length, in the body's frame; margin, creep, most and tolerance are lengths. out (padded) gets the
// distance along the ray at which it enters the body, or -1 if it does not.
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
    const lane next =
      lane_select(found, low + (high - low) * between, t + lane_min(m.step, lane_lit(most)));
    t = lane_select(going, next, t);
  }
  const lane entry = low + (high - low) * march_share(low_field, high_field);
  lane_store(lane_select(high < lane_lit(REAL_BIG), entry, lane_lit(R(-1.0))), out + block * LANES);
}
