// Unit quaternions and rotation matrices, in numbers and in blocks.

typedef struct FN(quaternion) {
  num w;
  vec v;
} FN(quaternion);

static FN(quaternion) FN(quaternion_times)(FN(quaternion) a, FN(quaternion) b)
{
  FN(quaternion) r;
  r.w = n_sub(n_mul(a.w, b.w), FN(dot3)(a.v, b.v));
  r.v = FN(add3)(FN(mad3)(b.v, a.w, FN(scale3)(a.v, b.w)), FN(cross3)(a.v, b.v));
  return r;
}

// Returns a divided by its length. A quaternion of length 0 is unchanged.
static FN(quaternion) FN(quaternion_unit)(FN(quaternion) a)
{
  const num square = n_mad(a.w, a.w, FN(dot3)(a.v, a.v));
  const num inverse =
    n_rcp(n_sqrt(n_select(n_value(square) > n_plain(R(0.0)), square, n_lit(R(1.0)))));
  FN(quaternion) r;
  r.w = n_mul(a.w, inverse);
  r.v = FN(scale3)(a.v, inverse);
  return r;
}

// Returns the unit quaternion of the rotation vector s.
static FN(quaternion) FN(quaternion_exp)(vec s)
{
  num a, b, c, cosine;
  FN(quaternion) r;
  FN(exp_coefficients)(n_scale(FN(dot3)(s, s), R(0.25)), &a, &b, &c, &cosine);
  r.w = cosine;
  r.v = FN(scale3)(s, n_scale(a, R(0.5)));
  return r;
}

// Returns the rotation vector of a unit quaternion, of length at most pi.
static vec FN(quaternion_log)(FN(quaternion) a)
{
  const n_mask flip = n_value(a.w) < n_plain(R(0.0));
  const num sign = n_select(flip, n_lit(R(-1.0)), n_lit(R(1.0)));
  const num w = n_mul(a.w, sign);
  const vec v = FN(scale3)(a.v, sign);
  const num square = FN(dot3)(v, v);
  const n_mask small = n_value(square) < n_plain(R(1e-4));
  const num root = n_sqrt(n_select(small, n_lit(R(1.0)), square));
  const num large = n_mul(n_scale(n_atan2(root, w), R(2.0)), n_rcp(root));
  // atan(x) / x of x = |v| / w, as a series
  const num w_safe = n_select(small, w, n_lit(R(1.0)));
  const num x2 = n_mul(n_select(small, square, n_lit(R(0.0))), n_rcp(n_mul(w_safe, w_safe)));
  const num series =
    n_shift(n_mul(x2,
                  n_shift(n_mul(x2, n_shift(n_mul(x2, n_shift(n_scale(x2, R(0.111111111111111111)),
                                                              R(-0.142857142857142857))),
                                            R(0.2))),
                          R(-0.333333333333333333))),
            R(1.0));
  const num near = n_mul(n_scale(series, R(2.0)), n_rcp(w_safe));
  return FN(scale3)(v, n_select(small, near, large));
}

static void block_put_rotation(const world_block *b, int i, FN(quaternion) a)
{
  const num w = a.w, x = a.v.x, y = a.v.y, z = a.v.z;
  const num xx = n_mul(x, x), yy = n_mul(y, y), zz = n_mul(z, z), one = n_lit(R(1.0));
  const num xy = n_mul(x, y), xz = n_mul(x, z), yz = n_mul(y, z);
  const num wx = n_mul(w, x), wy = n_mul(w, y), wz = n_mul(w, z);
  block_put(b, i, n_sub(one, n_scale(n_add(yy, zz), R(2.0))));
  block_put(b, i + 1, n_scale(n_sub(xy, wz), R(2.0)));
  block_put(b, i + 2, n_scale(n_add(xz, wy), R(2.0)));
  block_put(b, i + 3, n_scale(n_add(xy, wz), R(2.0)));
  block_put(b, i + 4, n_sub(one, n_scale(n_add(xx, zz), R(2.0))));
  block_put(b, i + 5, n_scale(n_sub(yz, wx), R(2.0)));
  block_put(b, i + 6, n_scale(n_sub(xz, wy), R(2.0)));
  block_put(b, i + 7, n_scale(n_add(yz, wx), R(2.0)));
  block_put(b, i + 8, n_sub(one, n_scale(n_add(xx, yy), R(2.0))));
}

static vec block_rotate(const world_block *b, int i, vec a)
{
  return FN(make)(FN(dot3)(block_get3(b, i), a), FN(dot3)(block_get3(b, i + 3), a),
                  FN(dot3)(block_get3(b, i + 6), a));
}

static FN(quaternion) quaternion_real(GLOBAL const real *p)
{
  FN(quaternion) r;
  r.w = n_lit(p[0]);
  r.v = real3(p + 1);
  return r;
}

static FN(quaternion) block_quaternion(const world_block *b, int i)
{
  FN(quaternion) r;
  r.w = block_get(b, i);
  r.v = block_get3(b, i + 1);
  return r;
}

static FN(quaternion) quaternion_row(const world_block *b, GLOBAL const real *q, int nq, int k)
{
  FN(quaternion) r;
  r.w = row_get(b, q, nq, k);
  r.v = row_get3(b, q, nq, k + 1);
  return FN(quaternion_unit)(r);
}

static vec FN(quaternion_rotate)(FN(quaternion) a, vec x)
{
  const vec t = FN(scale3)(FN(cross3)(a.v, x), n_lit(R(2.0)));
  return FN(add3)(FN(mad3)(t, a.w, x), FN(cross3)(a.v, t));
}
