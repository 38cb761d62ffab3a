// Normal cones (docs/dev/spec.md, section 11): a feature's contact counts if the negated normal of
// the other body is in the feature's cone, or within a margin of it. Functions take the cosine c =
// -n . axis and the square of the sine, never the angle, whose slope jumps at 0.

// A feature's cone: its axis, of length 1, in the frame of the compared normals, and its half angle
// with cosine and sine. A half angle of pi contains every normal.
typedef struct FN(cone) {
  vec axis;
  lane angle, cosine, sine;
  lane inset; // distance along the axis from the place of the field to the feature
} FN(cone);

#define CONE_PI R(3.14159265358979323846)
#define CONE_RIGHT R(1.57079632679489661923)
#define CONE_HELD R(0.52359877559829887308)   // normals of narrower cones are clamped: 30 degrees
#define CONE_ROUNDING (R(8.0) * REAL_EPSILON) // of a sum of two angles
#define CONE_LEAST R(1e-3) // the smallest difference of the cosines at weights 1 and 0
#define CONE_ROOT R(1e-12) // the smallest value under the root of a clamped normal

// Returns u^3 (10 - 15 u + 6 u^2) of u clipped to [0, 1], and its derivative in *slope.
static num FN(quintic)(num u, num *slope)
{
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  const num x =
    n_select(n_value(u) > lane_lit(R(0.0)), n_select(n_value(u) < lane_lit(R(1.0)), u, one), zero);
  const num square = n_mul(x, x), rest = n_sub(one, x);
  const num inner = n_shift(n_mul(x, n_shift(n_scale(x, R(6.0)), R(-15.0))), R(10.0));
  *slope = n_scale(n_mul(square, n_mul(rest, rest)), R(30.0));
  return n_select(n_value(u) < lane_lit(R(1.0)), n_mul(n_mul(square, x), inner), one);
}

// Returns the weight of a contact whose normal has the cosine c to the cone, and its derivative
// with respect to c in *slope. Sums of angles above pi count as pi.
static num FN(cone_weight)(num c, const FN(cone) *k, GLOBAL const coefficients *s, num *slope)
{
  const lane pi = lane_lit(CONE_PI), low = lane_lit(R(-1.0));
  const lane inner = k->cosine * s->cone_inner_cos - k->sine * s->cone_inner_sin;
  const lane outer = k->cosine * s->cone_outer_cos - k->sine * s->cone_outer_sin;
  const ilane every = k->angle + s->cone_inner >= pi - CONE_ROUNDING;
  const lane full = lane_select(every, low, inner);
  const lane none =
    lane_min(lane_select(k->angle + s->cone_outer >= pi, low, outer), full - CONE_LEAST);
  const lane rate = lane_lit(R(1.0)) / (full - none);
  num u_slope;
  const num w = FN(quintic)(n_times(n_sub(c, n_of(none)), rate), &u_slope);
  *slope = n_select(every, n_lit(R(0.0)), n_times(u_slope, rate));
  return n_select(every, n_lit(R(1.0)), w);
}

// The data of a clamped normal n' = g p - axis root. p is the part of n across the axis, of length
// s, and g reduces that length to H.
typedef struct FN(cone_hold) {
  ilane held;  // otherwise the normal is unchanged
  ilane steep; // the root is above the smallest one
  vec p;
  num s, g, g_slope; // the derivative of g with respect to s
  num root;
} FN(cone_hold);

static FN(cone_hold) FN(cone_held)(vec n, num c, const FN(cone) *k, GLOBAL const coefficients *s)
{
  FN(cone_hold) r;
  const num one = n_lit(R(1.0));
  const lane sine = k->sine * s->cone_hold_cos + k->cosine * s->cone_hold_sin;
  const ilane right = k->angle + s->cone_hold >= lane_lit(CONE_RIGHT); // holds every normal
  const lane most = lane_max(lane_select(right, lane_lit(R(1.0)), sine), lane_lit(R(1e-6)));
  r.p = FN(mad3)(k->axis, c, n);
  const num s2 = FN(dot3)(r.p, r.p);
  r.held = (k->angle < lane_lit(CONE_HELD)) & (n_value(c) > lane_lit(R(0.0))) &
           (n_value(s2) > most * most);
  r.s = n_sqrt(n_select(r.held, s2, one));
  num slope;
  const num drawn = FN(quintic)(n_shift(n_over(r.s, most), R(-1.0)), &slope);
  const num share = n_times(n_rcp(r.s), most), less = n_shift(share, R(-1.0));
  r.g = n_mad(drawn, less, one);
  r.g_slope = n_sub(n_mul(n_over(slope, most), less), n_div(n_mul(drawn, share), r.s));
  const num across = n_mul(r.g, r.s), rest = n_sub(one, n_mul(across, across));
  r.steep = n_value(rest) > lane_lit(CONE_ROOT);
  r.root = n_sqrt(n_select(r.steep, rest, n_lit(CONE_ROOT)));
  return r;
}

// Returns the weight of a contact with the normal n, and in *held the reported normal.
static num FN(cone_slot)(vec n, const FN(cone) *k, GLOBAL const coefficients *s, vec *held)
{
  num slope;
  const num c = n_neg(FN(dot3)(n, k->axis));
  const num w = FN(cone_weight)(c, k, s, &slope);
  const FN(cone_hold) r = FN(cone_held)(n, c, k, s);
  const vec to = FN(sub3)(FN(scale3)(r.p, r.g), FN(scale3)(k->axis, r.root));
  *held = FN(select3)(r.held, to, n);
  return w;
}

// The adjoint of cone_slot: returns the cotangent of n, and in *axis_bar that of the axis.
static vec FN(cone_adjoint)(vec n, const FN(cone) *k, GLOBAL const coefficients *s, num weight_bar,
                            vec held_bar, vec *axis_bar)
{
  num slope;
  const num zero = n_lit(R(0.0)), c = n_neg(FN(dot3)(n, k->axis));
  FN(cone_weight)(c, k, s, &slope);
  const FN(cone_hold) r = FN(cone_held)(n, c, k, s);
  // n' = g p - axis root, root = sqrt(1 - (g s)^2)
  const num root_bar = n_neg(FN(dot3)(k->axis, held_bar));
  const num across_bar =
    n_select(r.steep, n_neg(n_div(n_mul(root_bar, n_mul(r.g, r.s)), r.root)), zero);
  const num g_bar = n_mad(across_bar, r.s, FN(dot3)(r.p, held_bar));
  const num s_bar = n_mad(across_bar, r.g, n_mul(g_bar, r.g_slope));
  const vec p_bar = FN(mad3)(r.p, n_div(s_bar, r.s), FN(scale3)(held_bar, r.g));
  // p = n + c axis, c = -n . axis
  const num c_bar = n_mad(weight_bar, slope, n_select(r.held, FN(dot3)(p_bar, k->axis), zero));
  const vec none = FN(make)(zero, zero, zero);
  const vec across = FN(mad3)(p_bar, c, FN(scale3)(held_bar, n_neg(r.root)));
  *axis_bar = FN(mad3)(n, n_neg(c_bar), FN(select3)(r.held, across, none));
  return FN(mad3)(k->axis, n_neg(c_bar), FN(select3)(r.held, p_bar, held_bar));
}
