// Poses (docs/dev/spec.md, section 3): conversion of twists, by the exponential map of SE(3), and
// of positions with quaternions to a frame of twelve numbers.
//
// This file is also included for `wide` scalars, because a frame's rounding moves every contact of
// its pose.

typedef struct FN(frame) {
  num m[9]; // rotation, row by row
  vec t;    // translation
} FN(frame);

// These limits are far outside any real pose. They keep squares and products finite.
#if REAL_DOUBLE
#define ROTATION_LIMIT 1e150
#define TRANSLATION_LIMIT 1e307
#define SEPARATION_LIMIT 1e100
#else
#define ROTATION_LIMIT 1e15f
#define TRANSLATION_LIMIT 1e37f
#define SEPARATION_LIMIT 1e12f
#endif

// The limit of translations in the products that an adjoint sums.
#if REAL_DOUBLE
#define REACH_LIMIT 1e120
#elif WIDE
#define REACH_LIMIT TRANSLATION_LIMIT
#else
#define REACH_LIMIT 1e15f
#endif

// Limits the value but not its derivative; adjoints pass through a limit in the same way.
static num FN(limit)(num x, real most)
{
  const num low = n_select(n_value(x) < n_plain(-most), n_lit(-most), x);
  const num both = n_select(n_value(x) > n_plain(most), n_lit(most), low);
  return n_with_value(x, n_value(both));
}

static vec FN(limit3)(vec v, real most)
{
  return FN(make)(FN(limit)(v.x, most), FN(limit)(v.y, most), FN(limit)(v.z, most));
}

// Writes a = sin t / t, b = (1 - cos t) / t^2, c = (t - sin t) / t^3 and cos t as functions of t^2:
// by Taylor series of eight terms below t = 1/2, where the closed forms cancel, and by the closed
// forms above.
static void FN(exp_coefficients)(num t2, num *a, num *b, num *c, num *cosine)
{
  const n_mask small = n_value(t2) < n_plain(R(0.25));
  num sa = n_lit(R(-7.6471637318198164759e-13)); // -1/15!
  num sb = n_lit(R(-4.7794773323873852974e-14)); // -1/16!
  num sc = n_lit(R(-2.8114572543455207632e-15)); // -1/17!
  const real fa[7] = {R(1.6059043836821614599e-10),
                      R(-2.5052108385441718775e-08),
                      R(2.7557319223985890653e-06),
                      R(-1.9841269841269841270e-04),
                      R(8.3333333333333333333e-03),
                      R(-1.6666666666666666667e-01),
                      R(1.0)};
  const real fb[7] = {R(1.1470745597729724714e-11),
                      R(-2.0876756987868098979e-09),
                      R(2.7557319223985890653e-07),
                      R(-2.4801587301587301587e-05),
                      R(1.3888888888888888889e-03),
                      R(-4.1666666666666666667e-02),
                      R(0.5)};
  const real fc[7] = {R(7.6471637318198164759e-13), R(-1.6059043836821614599e-10),
                      R(2.5052108385441718775e-08), R(-2.7557319223985890653e-06),
                      R(1.9841269841269841270e-04), R(-8.3333333333333333333e-03),
                      R(1.6666666666666666667e-01)};
  for (int i = 0; i < 7; ++i) {
    sa = n_shift(n_mul(sa, t2), fa[i]);
    sb = n_shift(n_mul(sb, t2), fb[i]);
    sc = n_shift(n_mul(sc, t2), fc[i]);
  }
  const num t2_safe = n_select(small, n_lit(R(1.0)), t2);
  const num t = n_sqrt(t2_safe);
  const num half_sine = n_sin(n_scale(t, R(0.5)));
  const num sine = n_sin(t);
  const num t_inv = n_rcp(t);
  const num t2_inv = n_rcp(t2_safe);
  *cosine = n_select(small, n_sub(n_lit(R(1.0)), n_mul(sb, t2)), n_cos(t));
  *a = n_select(small, sa, n_mul(sine, t_inv));
  *b = n_select(small, sb, n_scale(n_mul(n_mul(half_sine, half_sine), t2_inv), R(2.0)));
  *c = n_select(small, sc, n_mul(n_mul(n_sub(t, sine), t_inv), t2_inv));
}

// Returns the frame of the twist (rho, omega): R = exp(hat omega), t = J(omega) rho.
static FN(frame) FN(exp_se3)(vec rho, vec omega)
{
  const vec w = FN(limit3)(omega, ROTATION_LIMIT);
  num a, b, c, cosine;
  FN(exp_coefficients)(FN(dot3)(w, w), &a, &b, &c, &cosine);
  FN(frame) f;
  // R = I + a W + b W^2 = cos t I + a W + b w w': also exact to rounding at quarter turns.
  f.m[0] = n_mad(b, n_mul(w.x, w.x), cosine);
  f.m[4] = n_mad(b, n_mul(w.y, w.y), cosine);
  f.m[8] = n_mad(b, n_mul(w.z, w.z), cosine);
  const num bxy = n_mul(b, n_mul(w.x, w.y)), az = n_mul(a, w.z);
  const num bxz = n_mul(b, n_mul(w.x, w.z)), ay = n_mul(a, w.y);
  const num byz = n_mul(b, n_mul(w.y, w.z)), ax = n_mul(a, w.x);
  f.m[1] = n_sub(bxy, az);
  f.m[2] = n_add(bxz, ay);
  f.m[3] = n_add(bxy, az);
  f.m[5] = n_sub(byz, ax);
  f.m[6] = n_sub(bxz, ay);
  f.m[7] = n_add(byz, ax);
  // t = rho + b w x rho + c w x (w x rho).
  const vec r = FN(limit3)(rho, TRANSLATION_LIMIT);
  const vec turn = FN(cross3)(w, FN(scale3)(r, b));
  const vec turn2 = FN(cross3)(w, FN(cross3)(FN(scale3)(w, c), r));
  f.t = FN(limit3)(FN(make)(n_add(r.x, n_add(turn.x, turn2.x)), n_add(r.y, n_add(turn.y, turn2.y)),
                            n_add(r.z, n_add(turn.z, turn2.z))),
                   TRANSLATION_LIMIT);
  return f;
}

// ---- adjoints ----
// A frame's cotangent is a wrench in the body's own frame: T exp(u, theta) changes t by R u and R
// by R hat(theta), and the differentiated value by force . u + moment . theta.

// Writes twice the derivatives of b and c with respect to t^2, for t < 1/2: series of eight terms.
static void FN(exp_slopes)(num t2, num *b_slope, num *c_slope)
{
  num sb = n_lit(R(2.4990731149737962340e-15)); // 16/18!
  num sc = n_lit(R(1.3153016394598927547e-16)); // 16/19!
  const real fb[7] = {R(-6.6912682653423394164e-13), R(1.3764894717275669657e-10),
                      R(-2.0876756987868098979e-08), R(2.2045855379188712522e-06),
                      R(-1.4880952380952380952e-04), R(5.5555555555555555556e-03),
                      R(-8.3333333333333333333e-02)};
  const real fc[7] = {R(-3.9360401560837290685e-14), R(9.1765964781837797711e-12),
                      R(-1.6059043836821614599e-09), R(2.0041686708353375020e-07),
                      R(-1.6534391534391534392e-05), R(7.9365079365079365079e-04),
                      R(-1.6666666666666666667e-02)};
  for (int i = 0; i < 7; ++i) {
    sb = n_shift(n_mul(sb, t2), fb[i]);
    sc = n_shift(n_mul(sc, t2), fc[i]);
  }
  *b_slope = sb;
  *c_slope = sc;
}

// A rotation by omega = axis k, where k = |omega|, or 1 for small rotations. The coefficients
// include powers of k, so that none of them overflows, however long omega is.
typedef struct FN(turn) {
  vec axis;
  num ak, b, bk, bkk, ck, ckk; // a, b and c times powers of k
  num cosine;
  num b_slope, c_slope; // 2 db/d(t^2) k^2 and 2 dc/d(t^2) k^3
} FN(turn);

static FN(turn) FN(turn_of)(vec omega)
{
  FN(turn) r;
  const num t2 = FN(dot3)(omega, omega);
  const n_mask small = n_value(t2) < n_plain(R(0.25));
  const num k = n_sqrt(n_select(small, n_lit(R(1.0)), t2));
  num a, c, b_slope, c_slope;
  FN(exp_coefficients)(t2, &a, &r.b, &c, &r.cosine);
  FN(exp_slopes)(n_select(small, t2, n_lit(R(0.0))), &b_slope, &c_slope);
  r.axis = FN(scale3)(omega, n_rcp(k));
  r.ak = n_mul(a, k);
  r.bk = n_mul(r.b, k);
  r.bkk = n_mul(r.bk, k);
  r.ck = n_mul(c, k);
  r.ckk = n_mul(r.ck, k);
  // t^2 db/d(t^2) = (a - 2 b) / 2 and t^2 dc/d(t^2) = (b - 3 c) / 2.
  r.b_slope = n_select(small, b_slope, n_smad(r.b, R(-2.0), a));
  r.c_slope = n_select(small, c_slope, n_smad(r.ck, R(-3.0), r.bk));
  return r;
}

// Returns J(omega) v, which is also J(omega)' R v, as J' = J R'.
static vec FN(turn_mean)(const FN(turn) *r, vec v)
{
  const vec across = FN(cross3)(r->axis, v);
  return FN(add3)(v, FN(mad3)(across, r->bk, FN(scale3)(FN(cross3)(r->axis, across), r->ckk)));
}

// Converts a wrench in the body's own frame to the cotangents of rho and omega. The cotangent of
// rho is J' R force. The cotangent of omega is J moment plus the gradient, with respect to omega,
// of
//   t_bar . J(omega) rho = t_bar . rho + b first(omega) + c second(omega),  t_bar = R force,
// where first = omega . (rho x t_bar) and second = (omega . rho)(omega . t_bar) - |omega|^2 rho .
// t_bar.
static void FN(exp_se3_adjoint)(vec rho, vec omega, vec force, vec moment, vec *rho_bar,
                                vec *omega_bar)
{
  const vec w = FN(limit3)(omega, ROTATION_LIMIT);
  const vec x = FN(limit3)(rho, REACH_LIMIT);
  const FN(turn) r = FN(turn_of)(w);
  const vec along = FN(scale3)(r.axis, n_mul(r.bkk, FN(dot3)(r.axis, force)));
  const vec t_bar = FN(mad3)(force, r.cosine, FN(mad3)(FN(cross3)(r.axis, force), r.ak, along));
  const vec across = FN(cross3)(x, t_bar);
  const num by_x = FN(dot3)(r.axis, x), by_t = FN(dot3)(r.axis, t_bar);
  const num by_both = FN(dot3)(x, t_bar), axis2 = FN(dot3)(r.axis, r.axis);
  const num first = FN(dot3)(r.axis, across);
  const num second = n_sub(n_mul(by_x, by_t), n_mul(axis2, by_both));
  const num lengthwise =
    n_sub(n_mad(r.b_slope, first, n_mul(r.c_slope, second)), n_scale(n_mul(r.ck, by_both), R(2.0)));
  const vec crosswise = FN(mad3)(t_bar, n_mul(r.ck, by_x), FN(scale3)(x, n_mul(r.ck, by_t)));
  vec bar = FN(mad3)(r.axis, lengthwise, FN(turn_mean)(&r, moment));
  bar = FN(mad3)(across, r.b, bar);
  *omega_bar = FN(add3)(bar, crosswise);
  *rho_bar = FN(turn_mean)(&r, force);
}

static num FN(larger)(num a, num b)
{
  return n_select(n_value(a) > n_value(b), a, b);
}

// Returns the size of the largest component of a quaternion, a constant for derivatives. Squares of
// very long or short components would leave the range, those of ratios do not.
static n_part FN(quaternion_size)(num qx, num qy, num qz, num qw)
{
  const num xy = FN(larger)(n_abs(qx), n_abs(qy));
  const num zw = FN(larger)(n_abs(qz), n_abs(qw));
  return n_value(FN(larger)(FN(larger)(xy, zw), n_lit(REAL_TINY)));
}

// Returns the frame of a position and a quaternion (x, y, z, w) of any length above 0.
static FN(frame) FN(quaternion_frame)(vec position, num qx, num qy, num qz, num qw)
{
  const n_part most = FN(quaternion_size)(qx, qy, qz, qw);
  const num sx = n_over(qx, most), sy = n_over(qy, most);
  const num sz = n_over(qz, most), sw = n_over(qw, most);
  const num norm2 = n_mad(sx, sx, n_mad(sy, sy, n_mad(sz, sz, n_mul(sw, sw))));
  const num k = n_scale(n_rcp(norm2), R(2.0));
  const num x = n_mul(sx, k), y = n_mul(sy, k), z = n_mul(sz, k);
  const num one = n_lit(R(1.0));
  FN(frame) f;
  f.m[0] = n_sub(one, n_mad(y, sy, n_mul(z, sz)));
  f.m[4] = n_sub(one, n_mad(x, sx, n_mul(z, sz)));
  f.m[8] = n_sub(one, n_mad(x, sx, n_mul(y, sy)));
  f.m[1] = n_sub(n_mul(x, sy), n_mul(z, sw));
  f.m[3] = n_mad(x, sy, n_mul(z, sw));
  f.m[2] = n_mad(x, sz, n_mul(y, sw));
  f.m[6] = n_sub(n_mul(x, sz), n_mul(y, sw));
  f.m[5] = n_sub(n_mul(y, sz), n_mul(x, sw));
  f.m[7] = n_mad(y, sz, n_mul(x, sw));
  f.t = FN(limit3)(position, TRANSLATION_LIMIT);
  return f;
}

// Takes a wrench in the body's own frame to the cotangents of the position, R force, and of the
// quaternion, 2 q (0, moment) / |q|^2, which is orthogonal to q.
static void FN(quaternion_adjoint)(num qx, num qy, num qz, num qw, vec force, vec moment,
                                   vec *position_bar, num q_bar[4])
{
  const n_part most = FN(quaternion_size)(qx, qy, qz, qw);
  const vec v = FN(make)(n_over(qx, most), n_over(qy, most), n_over(qz, most));
  const num w = n_over(qw, most);
  const num k = n_scale(n_rcp(n_mad(w, w, FN(dot3)(v, v))), R(2.0));
  const vec across = FN(cross3)(v, force);
  *position_bar = FN(mad3)(FN(mad3)(across, w, FN(cross3)(v, across)), k, force);
  const vec turn = FN(scale3)(FN(mad3)(moment, w, FN(cross3)(v, moment)), k);
  // Short quaternions have long gradients, which are limited to stay finite.
  q_bar[0] = FN(limit)(n_over(turn.x, most), REAL_MOST);
  q_bar[1] = FN(limit)(n_over(turn.y, most), REAL_MOST);
  q_bar[2] = FN(limit)(n_over(turn.z, most), REAL_MOST);
  q_bar[3] = FN(limit)(n_over(n_neg(n_mul(FN(dot3)(v, moment), k)), most), REAL_MOST);
}

// Returns the map from the frame `from` to the frame `to`: R_to' R_from, and R_to' (t_from - t_to),
// with a limited difference.
static FN(frame) FN(relative_frame)(const FN(frame) *to, const FN(frame) *from)
{
  FN(frame) f;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const num rest = n_mad(to->m[3 + i], from->m[3 + j], n_mul(to->m[6 + i], from->m[6 + j]));
      f.m[3 * i + j] = n_mad(to->m[i], from->m[j], rest);
    }
  }
  const vec gap = FN(limit3)(FN(sub3)(from->t, to->t), SEPARATION_LIMIT);
  const num *m = to->m;
  f.t = FN(make)(n_mad(m[0], gap.x, n_mad(m[3], gap.y, n_mul(m[6], gap.z))),
                 n_mad(m[1], gap.x, n_mad(m[4], gap.y, n_mul(m[7], gap.z))),
                 n_mad(m[2], gap.x, n_mad(m[5], gap.y, n_mul(m[8], gap.z))));
  return f;
}

// ---- a pose's numbers: six of a twist, or seven of a position and a quaternion, w first ----
static FN(frame) FN(pose_frame)(const num x[7], int width)
{
  const vec head = FN(make)(x[0], x[1], x[2]);
  return width == 7 ? FN(quaternion_frame)(head, x[4], x[5], x[6], x[3])
                    : FN(exp_se3)(head, FN(make)(x[3], x[4], x[5]));
}

// Takes the wrench for motions of the body in its own frame to the gradient with respect to the
// pose's numbers.
static void FN(pose_adjoint)(const num x[7], int width, vec force, vec moment, num out[7])
{
  vec head, tail;
  if (width == 7) {
    num q[4]; // x, y, z, w
    FN(quaternion_adjoint)(x[4], x[5], x[6], x[3], force, moment, &head, q);
    tail = FN(make)(q[3], q[0], q[1]);
    out[6] = q[2];
  } else {
    FN(exp_se3_adjoint)(FN(make)(x[0], x[1], x[2]), FN(make)(x[3], x[4], x[5]), force, moment,
                        &head, &tail);
    out[6] = n_lit(R(0.0));
  }
  out[0] = head.x;
  out[1] = head.y;
  out[2] = head.z;
  out[3] = tail.x;
  out[4] = tail.y;
  out[5] = tail.z;
}
