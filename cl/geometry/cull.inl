// The superquadrics of a union that a block of points needs. Plain lanes only.
//
// A term that is farther than the least distance by CULL_BITS of the union's temperature changes a
// sum of at least 1 by less than 2^-CULL_BITS, which is below rounding. Bounds of a superquadric's
// distance decide this before anything is evaluated. Its surface is inside a sphere around its
// centre, so phi >= |x - centre| - radius. It is also between two ellipsoids, `least` and `most`
// times the ellipsoid of its axes, so
//   r - most r / |u| <= phi <= r - least r / |u|,  |u|^2 = q_x + q_y + q_z
// with r and q of superquadric.inl.
#if REAL_DOUBLE
#define CULL_BITS 60.0
#else
#define CULL_BITS 27.0f
#endif
#define CULL_GROUP 32 // superquadrics whose bounds are stored at a time: the bits of an int

// The sphere around a block's points.
typedef struct FN(ball) {
  real x, y, z, radius;
} FN(ball);

static FN(ball) FN(ball_around)(vec x)
{
  const FN(ball) centre = {lane_sum(x.x) * (R(1.0) / LANES), lane_sum(x.y) * (R(1.0) / LANES),
                           lane_sum(x.z) * (R(1.0) / LANES), R(0.0)};
  FN(ball) r = centre;
#if LANES > 1
  const lane dx = x.x - r.x, dy = x.y - r.y, dz = x.z - r.z;
  r.radius = sqrt(lane_most(dx * dx + dy * dy + dz * dz)) * (R(1.0) + R(4.0) * REAL_EPSILON);
#endif
  return r;
}

// Returns the squared distances of a ball's centre from those of LANES superquadrics, starting at
// `first`. balls has BALL_PLANES planes of `padded`.
static lane FN(between)(const FN(ball) *block, GLOBAL const real *balls, int padded, int first)
{
  const lane dx = lane_load(balls + first) - block->x;
  const lane dy = lane_load(balls + padded + first) - block->y;
  const lane dz = lane_load(balls + 2 * padded + first) - block->z;
  return dx * dx + dy * dy + dz * dz;
}

// Returns the superquadric that is likely nearest to the block, by the power distance to the
// spheres.
static int FN(likely_nearest)(const FN(ball) *block, GLOBAL const real *balls, int count)
{
  const int padded = PADDED_BALLS(count);
  lane least = lane_lit(REAL_MOST), which = lane_lit(R(0.0));
  for (int i = 0; i < count; i += LANES) {
    const lane radius = lane_load(balls + 3 * padded + i);
    const lane power = FN(between)(block, balls, padded, i) - radius * radius;
    const lane at = lane_iota() + (real)i; // exact in a real: there are fewer than 2^24
    const ilane better = (power < least) & (at < lane_lit((real)count));
    least = lane_select(better, power, least);
    which = lane_select(better, at, which);
  }
  const ilane leads = least == lane_lit(lane_least(least));
  return (int)lane_least(lane_select(leads, which, lane_lit((real)(count - 1))));
}

// Returns the bits of `group` superquadrics starting at `first`, without those whose spheres are
// farther than `reach` from all points of the block.
static unsigned int FN(spheres_within)(const FN(ball) *block, GLOBAL const real *balls, int count,
                                       int first, int group, real reach)
{
  const int padded = PADDED_BALLS(count);
  const lane none = lane_lit(R(0.0));
  unsigned int beyond = 0;
  for (int i = 0; i < group; i += LANES) {
    const lane limit = lane_load(balls + 3 * padded + first + i) + (reach + block->radius);
    const lane loose = limit * (R(1.0) + R(16.0) * REAL_EPSILON); // far away, rounding dominates
    const ilane far = FN(between)(block, balls, padded, first + i) > loose * loose;
    beyond |= (unsigned int)lane_bits(far | (limit < none)) << i;
  }
  return ~beyond;
}

typedef struct FN(bounds) {
  lane low, high;
} FN(bounds);

// Returns bounds of the distance of a superquadric.
static FN(bounds) FN(ellipsoid_bounds)(GLOBAL const real *s, vec x)
{
  const vec from = FN(make)(x.x - s[SUPERQUADRIC_POSITION], x.y - s[SUPERQUADRIC_POSITION + 1],
                            x.z - s[SUPERQUADRIC_POSITION + 2]);
  const vec u = FN(rotate)(s + SUPERQUADRIC_MAP, from);
  const lane r2 = FN(dot3)(from, from) + s[SUPERQUADRIC_FLOOR];
  const lane u2 = FN(dot3)(u, u) + R(3.0) * SUPERQUADRIC_SOFT;
  const lane r = lane_sqrt(r2), q = lane_sqrt(r2 / u2);
  FN(bounds) b;
  b.low = r - q * s[SUPERQUADRIC_MOST];
  b.high = r - q * s[SUPERQUADRIC_LEAST];
  return b;
}

// Returns the bits of `among` that may count if the least distance is below *high, which is
// lowered. Lanes store the bounds of a group. A device without lanes computes them twice, because
// its private memory is slow.
static unsigned int FN(ellipsoids_within)(GLOBAL const real *first, unsigned int among, vec x,
                                          real margin, lane *high)
{
  lane low[CULL_GROUP];
  lane least = *high;
  for (unsigned int rest = among; rest; rest &= rest - 1) {
    const int i = lowest_bit(rest);
    const FN(bounds) b = FN(ellipsoid_bounds)(first + i * SUPERQUADRIC_STRIDE, x);
    low[i] = b.low;
    least = lane_select(b.high < least, b.high, least);
  }
  const lane reach = least + margin;
  ilane within = (ilane)0; // each lane's own bits
  for (unsigned int rest = among; rest; rest &= rest - 1) {
    const int i = lowest_bit(rest);
    const lane at_least = LANES > 1 ? low[i]
                                    : FN(ellipsoid_bounds)(first + i * SUPERQUADRIC_STRIDE, x).low;
    within |= lane_select(at_least > reach, (ilane)0, (ilane)(int)(1u << i));
  }
  *high = least;
  return (unsigned int)lane_joined(within);
}
