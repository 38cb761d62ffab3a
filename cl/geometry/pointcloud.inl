// Oriented point cloud (Beker et al., eq. 5): phi = sum w_i phi_i, phi_i = n_i . (x - p_i),
// w = softmax(-|x - p_i|^2 / (2 width_i^2)); its exact gradient is
// g = sum w_i [n_i + (phi_i - phi) u_i], u_i = -(x - p_i) / width_i^2.
//
// One pass. Sums are kept relative to the heaviest point so far: its exponent, and its phi as the
// pivot c of sum w (phi_i - c) and sum w (phi_i - c) u_i, which would cancel far from the cloud
// otherwise.
//
// Far from the cloud -|x - p_i|^2 of all points round to one number. There the exponents are taken
// relative to the widest point's at the centre c: with y = x - c, r = p_i - c, k_i (2 y - r).r -
// (k_i - k) |y|^2, whose first term is what tells the points apart.
static num FN(pointcloud)(GLOBAL const real *cloud, int count, vec x, const int want_g, vec *g)
{
  const num zero = n_lit(R(0.0));
  const vec y = FN(make)(n_shift(x.x, -cloud[0]), n_shift(x.y, -cloud[1]), n_shift(x.z, -cloud[2]));
  const num y2 = FN(dot3)(y, y);
  const ilane far = n_value(y2) > lane_lit(cloud[CLOUD_FAR2]);
  const int some_far = lane_any(far);
  num top = n_lit(-REAL_MOST);
  num pivot = zero, sum = zero, rest = zero;
  vec normals = FN(make)(zero, zero, zero);
  vec pulls = normals;   // sum w u
  vec tilted = normals;  // sum w (phi_i - c) u
  for (int i = 1; i <= count; ++i) {
    GLOBAL const real *p = cloud + i * POINT_STRIDE;
    const vec d = FN(make)(n_shift(x.x, -p[0]), n_shift(x.y, -p[1]), n_shift(x.z, -p[2]));
    num exponent = n_scale(FN(dot3)(d, d), -p[7]);
    if (some_far) {
      const real rx = p[0] - cloud[0], ry = p[1] - cloud[1], rz = p[2] - cloud[2];
      const num along = n_smad(y.x, rx, n_smad(y.y, ry, n_scale(y.z, rz)));
      const num told = n_shift(n_scale(along, R(2.0)), -(rx * rx + ry * ry + rz * rz));
      const num relative = n_smad(told, p[7], n_scale(y2, cloud[CLOUD_WIDEST] - p[7]));
      exponent = n_select(far, relative, exponent);
    }
    const num phi = n_smad(d.x, p[3], n_smad(d.y, p[4], n_scale(d.z, p[5])));
    const ilane leads = n_value(exponent) > n_value(top);
    const num hi = n_select(leads, exponent, top);
    const num e = n_exp2(n_sub(n_select(leads, top, exponent), hi));
    const num keep = n_select(leads, e, n_lit(R(1.0)));
    const num take = n_select(leads, n_lit(R(1.0)), e);
    const num shift = n_select(leads, n_sub(phi, pivot), zero);
    pivot = n_add(pivot, shift);
    const num offset = n_mul(take, n_sub(phi, pivot));
    rest = n_mad(n_sub(rest, n_mul(shift, sum)), keep, offset);
    sum = n_mad(sum, keep, take);
    if (want_g) {
      const num pull = n_scale(take, -p[6]);
      const num tilt = n_scale(offset, -p[6]);
      tilted = FN(mad3)(d, tilt, FN(scale3)(FN(sub3)(tilted, FN(scale3)(pulls, shift)), keep));
      pulls = FN(mad3)(d, pull, FN(scale3)(pulls, keep));
      normals.x = n_mad(normals.x, keep, n_scale(take, p[3]));
      normals.y = n_mad(normals.y, keep, n_scale(take, p[4]));
      normals.z = n_mad(normals.z, keep, n_scale(take, p[5]));
    }
    top = hi;
  }
  const num sum_inv = n_rcp(sum);
  const num from_pivot = n_mul(rest, sum_inv);
  if (want_g) {
    const vec pulled = FN(sub3)(tilted, FN(scale3)(pulls, from_pivot));
    *g = FN(scale3)(FN(make)(n_add(normals.x, pulled.x), n_add(normals.y, pulled.y),
                             n_add(normals.z, pulled.z)), sum_inv);
  }
  return n_add(pivot, from_pivot);
}
