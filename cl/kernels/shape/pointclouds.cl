// The derivatives with respect to the points of clouds (pointcloud.inl): of phi times its
// cotangent, and of the raw normal times v. The raw normal is the gradient of phi, so the latter is
// the derivative of phi along v.

// One work-item converts a block of sites of one pose to one cloud's parts, out (poses,
// PART_PLANES, count). The cloud's record begins at real `first_real`. Logarithms are to the base
// 2.
KERNEL void pointcloud_parts(GLOBAL const real *sites, GLOBAL const real *shares, int count,
                             GLOBAL const real *shape, int first_real, int points,
                             GLOBAL const coefficients *c, int operation, GLOBAL real *out)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  if (first >= count) {
    return;
  }
  const num zero = n_lit(R(0.0));
  union_block u = load_union(sites, shares, count, operation, first, pose);
  part_block p = {zero, zero, zero, zero, zero, {zero, zero, zero}};
  if (lane_any(u.there)) {
    GLOBAL const real *cloud = shape + first_real;
    FN(surface) surface;
    FN(cloud_means) m;
    if (has_slopes(&u)) {
      FN(cloud_surface)(cloud, points, c, u.x, JET_NORMAL | JET_GRADIENT, &m, &surface);
      gradient_bars(&u, &surface, share_of(&u, surface.phi, c), c, &p.phi_bar, &p.v);
      p.along = FN(dot3)(surface.g, p.v);
      p.top_along = FN(dot3)(m.pull, p.v);
    } else {
      FN(cloud_surface)(cloud, points, c, u.x, 0, &m, &surface);
      p.phi_bar = n_mul(share_of(&u, surface.phi, c), u.phi_bar);
    }
    u.there = has_share(&u, surface.phi, c);
    p.phi = surface.phi;
    p.top = n_add(m.top, n_log2(m.sum));
  }
  store_part_block(ROW(out, pose, PART_PLANES * count) + first, count, &u, &p);
}

// One work-item sums the derivatives with respect to one point over all sites of one pose, to
// BY_CLOUD_POINT numbers of its row, starting at `base`.
KERNEL void points_by_shape(GLOBAL const real *sites, GLOBAL const real *parts, int count,
                            GLOBAL const real *shape, int first_real, int points, GLOBAL real *rows,
                            int row_stride, int base)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= points) {
    return;
  }
  GLOBAL const real *cloud = shape + first_real, *q = cloud + (i + 1) * POINT_STRIDE;
  const lane zero = lane_lit(R(0.0));
  lane sum[BY_CLOUD_POINT] = {zero, zero, zero, zero, zero, zero, zero};
  GLOBAL const real *at = ROW(sites, pose, SITE_PLANES * count),
                    *part = ROW(parts, pose, PART_PLANES * count);
  for (int first = 0; first < count; first += LANES) {
    const vec x = load3(at + first, 0, count);
    const FN(outlook) o = FN(cloud_outlook)(cloud, x);
    const vec d = FN(cloud_way)(q, x),
              normal = FN(make)(lane_lit(q[3]), lane_lit(q[4]), lane_lit(q[5]));
    part_block p;
    p.top = load(part + first + PART_TOP * count, 0);
    const num share = n_sub(FN(cloud_exponent)(cloud, &o, q, d), p.top);
    const ilane counts = share > lane_lit(-CULL_BITS);
    if (!lane_any(counts)) {
      continue;
    }
    p.phi = load(part + first, 0);
    load_part_bars(part + first, count, &p);
    const num w = n_exp2(share);
    // The growth of the weight, the offset and the distance along v.
    const num rise = n_sub(FN(dot3)(FN(scale3)(d, n_lit(-q[6])), p.v), p.top_along);
    const num w_along = n_mul(w, rise);
    const num offset = n_sub(FN(cloud_distance)(q, d), p.phi);
    const num offset_along = n_sub(FN(dot3)(normal, p.v), p.along);
    // of n . (x - p), by its factor
    const num flat = n_mad(p.phi_bar, w, w_along);
    const num tilt = n_scale(n_mad(flat, offset, n_mul(w, offset_along)), q[6]);
    const num steep = n_scale(n_mul(w, offset), q[6]);
    const vec by_normal = FN(mad3)(d, flat, FN(scale3)(p.v, w));
    const vec by_place =
      FN(sub3)(FN(mad3)(d, tilt, FN(scale3)(p.v, steep)), FN(scale3)(normal, flat));
    const num by_width =
      n_mad(FN(dot3)(d, d), tilt, n_scale(n_mul(FN(dot3)(d, p.v), steep), R(2.0)));
    const lane by[BY_CLOUD_POINT] = {by_place.x,  by_place.y,  by_place.z, by_normal.x,
                                     by_normal.y, by_normal.z, by_width};
    const lane poison = poison_of(p.phi_bar, p.v);
    add_counted(counts, by, BY_CLOUD_POINT, poison, sum);
  }
  GLOBAL real *to = ROW(rows, pose, row_stride) + base + i * BY_CLOUD_POINT;
  for (int k = 0; k < BY_CLOUD_POINT; ++k) {
    to[k] = lane_sum(sum[k]);
  }
}
