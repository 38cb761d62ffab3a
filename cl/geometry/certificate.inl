// The certificate of continuous collision detection, on the generic number
// (docs/dev/ccd-formulas.md). The file is included once for each kind of features (CCD_KIND) and of
// numbers, plain and doubled.
//
// If a vector n has n . V >= r |n| for all pairs' differences V = a_i - b_j, every point of one
// feature is farther than r from every point of the other. n may be any vector. Only the rounding
// of the products matters, and is subtracted. u is the unit roundoff of `real`, CCD_V that of
// `num`. Devices need not round quotients and roots of float correctly: OpenCL allows 2.5 and 3
// ulp, which are 5 u and 6 u, and these are subtracted here.
//   A length: 3 u of a square's products and sums are 1.5 u of the root, 6 u its own, u of the
//     factor: below 12 u.
//   The end of an interval, x = g0 / (g0 - g1): u, 5 u and u of the factor: below 8 u. In doubled
//     numbers 3 operations of CCD_V each: below 4 CCD_V.
//   A part of a window: u of the difference, 5 u, 6 u of the following operations and, in doubled
//     numbers, 3 u for using only the higher halves: below 16 u.
//
// A comparison with NaN is false, and each comparison is written so that NaN certifies nothing.

#if CCD_KIND == CCD_POINT_POINT
#define CN(name) NUM_CAT(FN(name), _pp)
#define CCD_FIRST 1
#define CCD_SECOND 1
#define CCD_EDGE_COUNT 0
#define CCD_DIRECTIONS 1
#elif CCD_KIND == CCD_POINT_EDGE
#define CN(name) NUM_CAT(FN(name), _pe)
#define CCD_FIRST 1
#define CCD_SECOND 2
#define CCD_EDGE_COUNT 1
#define CCD_EDGE_TAIL(i) 1 // vertices
#define CCD_EDGE_HEAD(i) 2
#define CCD_DIRECTIONS 1
#elif CCD_KIND == CCD_POINT_TRIANGLE
#define CN(name) NUM_CAT(FN(name), _pt)
#define CCD_FIRST 1
#define CCD_SECOND 3
#define CCD_EDGE_COUNT 3
#define CCD_EDGE_TAIL(i) ((i) == 2 ? 2 : 1)
#define CCD_EDGE_HEAD(i) ((i) == 0 ? 2 : 3)
#define CCD_DIRECTIONS 4
#else
#define CN(name) NUM_CAT(FN(name), _ee)
#define CCD_FIRST 2
#define CCD_SECOND 2
#define CCD_EDGE_COUNT 2
#define CCD_EDGE_TAIL(i) (2 * (i))
#define CCD_EDGE_HEAD(i) (2 * (i) + 1)
#define CCD_DIRECTIONS 5
#endif
#define CCD_PAIRS (CCD_FIRST * CCD_SECOND)
#define CCD_HAS_PLANE (CCD_KIND >= CCD_POINT_TRIANGLE)

// Differences of all pairs and the features' edges at times 0 and 1, scaled so that none exceeds 2.
typedef struct CN(ccd_motion) {
  vec v0[CCD_PAIRS], v1[CCD_PAIRS];
  vec e0[CCD_EDGE_COUNT + 1], e1[CCD_EDGE_COUNT + 1]; // one spare: no array may be empty
  lane error[3], tiny; // of the input, along each axis; a bound of every underflow
} CN(ccd_motion);

// The same at one time, with the directions tried at that time.
typedef struct CN(ccd_view) {
  vec v[CCD_PAIRS], e[CCD_EDGE_COUNT + 1], n[CCD_DIRECTIONS];
} CN(ccd_view);

// ---- code for all kinds ----
#if CCD_KIND == CCD_POINT_POINT

// Control vectors of a direction, one or three, their largest entry 1.
typedef struct FN(ccd_control) {
  vec c[3];
  // upper bounds of the components; length and error of the input are rounded up
  lane most[3], length, error;
  ilane good; // 0 if no entry is above 0, or one is not finite
} FN(ccd_control);

static num FN(ccd_dot)(vec a, vec b)
{
  return n_add(n_add(n_mul(a.x, b.x), n_mul(a.y, b.y)), n_mul(a.z, b.z));
}

// n . |v|
static lane FN(ccd_size_along)(const lane most[3], vec v)
{
  return most[0] * lane_abs(n_value(v.x)) + most[1] * lane_abs(n_value(v.y)) +
         most[2] * lane_abs(n_value(v.z));
}

static n_mask FN(ccd_less)(num a, num b)
{
#ifdef NUM_DOUBLED
  return n_value(n_sub(a, b)) < lane_lit(R(0.0));
#else
  return a < b;
#endif
}

static vec FN(ccd_choose)(n_mask mask, vec a, vec b)
{
  return FN(make)(n_select(mask, a.x, b.x), n_select(mask, a.y, b.y), n_select(mask, a.z, b.z));
}

static vec FN(ccd_times)(vec a, lane x)
{
  return FN(make)(n_times(a.x, x), n_times(a.y, x), n_times(a.z, x));
}

// a + (b - a) t
static vec FN(ccd_between)(vec a, vec b, num t)
{
  return FN(add3)(a, FN(scale3)(FN(sub3)(b, a), t));
}

static lane FN(ccd_part)(lane of, lane by)
{
  const ilane some = by > lane_lit(R(0.0));
  return lane_select(some, of / lane_select(some, by, lane_lit(R(1.0))), lane_lit(R(0.0)));
}

// Subtracts from n its remaining part along e. This part is small, so plain numbers suffice.
static vec FN(ccd_clean)(vec n, vec e, num ee)
{
  const lane along = FN(ccd_part)(n_value(FN(ccd_dot)(n, e)), n_value(ee));
  return FN(sub3)(n, FN(ccd_times)(e, along));
}

// w minus the nearest point to it of the segment from 0 to e, orthogonal to e where that is inside.
static vec FN(ccd_reject)(vec w, vec e)
{
  const num ee = FN(ccd_dot)(e, e), zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  const n_mask some = n_value(ee) > lane_lit(R(0.0));
  num s = n_select(some, n_div(FN(ccd_dot)(w, e), n_select(some, ee, one)), zero);
  const n_mask low = n_value(s) > lane_lit(R(0.0)), high = FN(ccd_less)(s, one);
  s = n_select(low, n_select(high, s, one), zero);
  const vec n = FN(sub3)(w, FN(scale3)(e, s));
  return FN(ccd_choose)(low & high & some, FN(ccd_clean)(n, e, ee), n);
}

// e x f, orthogonal to both up to the precision of `num`.
static vec FN(ccd_plane)(vec e, vec f)
{
  const num ee = FN(ccd_dot)(e, e), one = n_lit(R(1.0));
  const n_mask some = n_value(ee) > lane_lit(R(0.0));
  const num along =
    n_select(some, n_div(FN(ccd_dot)(f, e), n_select(some, ee, one)), n_lit(R(0.0)));
  const vec across = FN(sub3)(f, FN(scale3)(e, along));
  const vec n = FN(ccd_clean)(FN(cross3)(e, f), e, ee);
  return FN(ccd_clean)(n, across, FN(ccd_dot)(across, across));
}

// Scales the largest entry to about 1.
static void FN(ccd_scale)(FN(ccd_control) *c, int count, const lane error[3], lane tiny)
{
  lane most = lane_lit(R(0.0)), all = lane_lit(R(0.0)), square = lane_lit(R(0.0));
  for (int i = 0; i < count; ++i) {
    const lane x = lane_abs(n_value(c->c[i].x)), y = lane_abs(n_value(c->c[i].y)),
               z = lane_abs(n_value(c->c[i].z));
    most = lane_max(most, lane_max(x, lane_max(y, z)));
    all += x + y + z;
  }
  c->good = (most >= lane_lit(REAL_TINY)) & (all < lane_lit(REAL_BIG));
  const lane by = R(1.0) / lane_select(c->good, most, lane_lit(R(1.0)));
  c->most[0] = c->most[1] = c->most[2] = lane_lit(R(0.0));
  for (int i = 0; i < count; ++i) {
    c->c[i] = FN(ccd_times)(c->c[i], by);
    const lane x = lane_abs(n_value(c->c[i].x)), y = lane_abs(n_value(c->c[i].y)),
               z = lane_abs(n_value(c->c[i].z));
    c->most[0] = lane_max(c->most[0], x);
    c->most[1] = lane_max(c->most[1], y);
    c->most[2] = lane_max(c->most[2], z);
    square = lane_max(square, x * x + y * y + z * z);
  }
  for (int k = 0; k < 3; ++k) {
    c->most[k] = c->most[k] * (R(1.0) + 2 * CCD_U);
  }
  c->length = lane_sqrt(square) * (R(1.0) + 12 * CCD_U);
  c->error =
    (c->most[0] * error[0] + c->most[1] * error[1] + c->most[2] * error[2]) * (R(1.0) + 8 * CCD_U) +
    tiny;
}
#endif

// ---- the state at a time ----

static void CN(ccd_look_at)(const CN(ccd_motion) * m, num t, CN(ccd_view) * to)
{
  for (int i = 0; i < CCD_PAIRS; ++i) {
    to->v[i] = FN(ccd_between)(m->v0[i], m->v1[i], t);
  }
  for (int i = 0; i < CCD_EDGE_COUNT; ++i) {
    to->e[i] = FN(ccd_between)(m->e0[i], m->e1[i], t);
  }
#if CCD_KIND == CCD_POINT_POINT
  to->n[0] = to->v[0];
#elif CCD_KIND == CCD_POINT_EDGE
  to->n[0] = FN(ccd_reject)(to->v[0], to->e[0]);
#else
  const vec normal = FN(ccd_plane)(to->e[0], to->e[1]);
  const n_mask turned = n_value(FN(ccd_dot)(normal, to->v[0])) < lane_lit(R(0.0));
  to->n[0] = FN(ccd_choose)(turned, FN(neg3)(normal), normal);
#if CCD_KIND == CCD_POINT_TRIANGLE
  to->n[1] = FN(ccd_reject)(to->v[0], to->e[0]);
  to->n[2] = FN(ccd_reject)(to->v[0], to->e[1]);
  to->n[3] = FN(ccd_reject)(to->v[1], to->e[2]);
#else
  to->n[1] = FN(ccd_reject)(to->v[0], to->e[1]);
  to->n[2] = FN(ccd_reject)(to->v[2], to->e[1]);
  to->n[3] = FN(neg3)(FN(ccd_reject)(FN(neg3)(to->v[0]), to->e[0]));
  to->n[4] = FN(neg3)(FN(ccd_reject)(FN(neg3)(to->v[1]), to->e[0]));
#endif
#endif
}

// ---- straight: one vector, and the interval on which it separates ----

typedef struct CN(ccd_interval) {
  num low, high; // within [0, 1]
  lane gap;      // at t
  ilane good;
} CN(ccd_interval);

static CN(ccd_interval) CN(ccd_straight)(const CN(ccd_motion) * m, vec n, num t, lane r)
{
  FN(ccd_control) c;
  CN(ccd_interval) to;
  c.c[0] = n;
  FN(ccd_scale)(&c, 1, m->error, m->tiny);
  const num rho = n_of(r * c.length), one = n_lit(R(1.0)), zero = n_lit(R(0.0));
  lane gap = lane_lit(REAL_MOST);
  to.low = zero;
  to.high = one;
  to.good = c.good;
  for (int i = 0; i < CCD_PAIRS; ++i) {
    const lane off0 = FN(ccd_size_along)(c.most, m->v0[i]) * (8 * CCD_V) + c.error;
    const lane off1 = FN(ccd_size_along)(c.most, m->v1[i]) * (8 * CCD_V) + c.error;
    const num l0 = n_sub(FN(ccd_dot)(c.c[0], m->v0[i]), n_of(off0));
    const num l1 = n_sub(FN(ccd_dot)(c.c[0], m->v1[i]), n_of(off1));
    const num g0 = n_sub(l0, rho), g1 = n_sub(l1, rho);
    const n_mask in0 = n_value(g0) >= lane_lit(R(0.0)), in1 = n_value(g1) >= lane_lit(R(0.0));
    const n_mask out0 = n_value(g0) < lane_lit(R(0.0)), out1 = n_value(g1) < lane_lit(R(0.0));
    const n_mask leaves = in0 & out1, enters = out0 & in1;
    const num x = n_div(g0, n_select(leaves | enters, n_sub(g0, g1), one));
    const num high = n_select(leaves, n_sub(x, n_times(x, lane_lit(CCD_SLACK))), one);
    const num low = n_select(enters, n_add(x, n_times(x, lane_lit(CCD_SLACK))), zero);
    to.good &= (in0 & in1) | leaves | enters;
    to.high = n_select(FN(ccd_less)(high, to.high), high, to.high);
    to.low = n_select(FN(ccd_less)(to.low, low), low, to.low);
    gap = lane_min(gap, n_value(n_add(l0, n_mul(n_sub(l1, l0), t))));
  }
  to.gap = lane_select(c.good, gap / c.length, lane_lit(-REAL_MOST));
  return to;
}

// ---- curved: a direction that moves along a quadratic ----

#if CCD_KIND == CCD_POINT_POINT
// Lowers `least` to where a line descends to 0 from one control point to another, `steps` places
// later.
static lane FN(ccd_descent)(lane from, lane to, real at_from, real steps, lane least)
{
  const ilane falls = (from >= lane_lit(R(0.0))) & (to < lane_lit(R(0.0)));
  const lane x = from / lane_select(falls, from - to, lane_lit(R(1.0)));
  const lane at = (x * steps + at_from) * (R(1.0) / 3) * (R(1.0) - 16 * CCD_U);
  return lane_select(falls & (at < least), at, least);
}

// Lowers `least` to where the hull of a cubic's control points descends to 0, for all pairs of
// points. Written out, because compilers do not unroll a loop.
static lane FN(ccd_hull)(const lane g[4], lane least)
{
  least = FN(ccd_descent)(g[0], g[1], R(0.0), R(1.0), least);
  least = FN(ccd_descent)(g[0], g[2], R(0.0), R(2.0), least);
  least = FN(ccd_descent)(g[0], g[3], R(0.0), R(3.0), least);
  least = FN(ccd_descent)(g[1], g[2], R(1.0), R(1.0), least);
  least = FN(ccd_descent)(g[1], g[3], R(1.0), R(2.0), least);
  return FN(ccd_descent)(g[2], g[3], R(2.0), R(1.0), least);
}
#endif

// The part of the window between two views on which the direction separates: 1 for all of it, -1
// for none. The cubics are computed in `num`. The place of their descent to 0 needs only plain
// numbers, because it is a part of the window, not of time.
static lane CN(ccd_curved)(const CN(ccd_motion) * m, FN(ccd_control) *c, const CN(ccd_view) * from,
                           const CN(ccd_view) * to, lane r)
{
  FN(ccd_scale)(c, 3, m->error, m->tiny);
  const lane rho = r * c->length;
  lane part = lane_lit(R(1.0));
  ilane good = c->good;
  for (int i = 0; i < CCD_PAIRS; ++i) {
    const vec v = from->v[i], w = to->v[i];
    const lane sizes =
      FN(ccd_size_along)(c->most, m->v0[i]) + FN(ccd_size_along)(c->most, m->v1[i]);
    const lane off = (sizes * (24 * CCD_V) + c->error + rho) * (R(1.0) + 4 * CCD_U),
               off3 = off * (R(3.0) + 6 * CCD_U);
    const num two = n_lit(R(2.0));
    const num k1 = n_add(FN(ccd_dot)(c->c[0], w), n_mul(FN(ccd_dot)(c->c[1], v), two));
    const num k2 = n_add(n_mul(FN(ccd_dot)(c->c[1], w), two), FN(ccd_dot)(c->c[2], v));
    lane g[4];
    g[0] = n_value(n_sub(FN(ccd_dot)(c->c[0], v), n_of(off)));
    g[1] = n_value(n_sub(k1, n_of(off3))) * (R(1.0) / 3);
    g[2] = n_value(n_sub(k2, n_of(off3))) * (R(1.0) / 3);
    g[3] = n_value(n_sub(FN(ccd_dot)(c->c[2], w), n_of(off)));
    const lane last = (g[1] + g[2]) + g[3];
    good &= (g[0] >= lane_lit(R(0.0))) & (last == last);
    part = FN(ccd_hull)(g, part);
  }
  return lane_select(good, part, lane_lit(R(-1.0)));
}

// Computes the control vectors of the k-th direction between two views.
static void CN(ccd_bend)(const CN(ccd_view) * from, const CN(ccd_view) * to, int k,
                         FN(ccd_control) *c)
{
  const lane halved = lane_lit(R(0.5));
  c->c[0] = from->n[k];
  c->c[2] = to->n[k];
#if CCD_HAS_PLANE
  if (k == 0) {
    const vec sum = FN(add3)(FN(cross3)(from->e[0], to->e[1]), FN(cross3)(to->e[0], from->e[1]));
    const vec middle = FN(ccd_times)(sum, halved);
    const n_mask back = n_value(FN(ccd_dot)(middle, c->c[0])) < lane_lit(R(0.0));
    c->c[1] = FN(ccd_choose)(back, FN(neg3)(middle), middle);
    const n_mask turned = n_value(FN(ccd_dot)(c->c[2], c->c[1])) < lane_lit(R(0.0));
    c->c[2] = FN(ccd_choose)(turned, FN(neg3)(c->c[2]), c->c[2]);
    return;
  }
#endif
  c->c[1] = FN(ccd_times)(FN(add3)(c->c[0], c->c[2]), halved);
}
