// The derivatives with respect to the planes of polyhedra: of phi = LSE(n . x - c) times its
// cotangent, and of the raw normal times v. The raw normal is the gradient of phi, so the latter is
// the derivative of phi along v.

// One work-item converts a block of sites of one pose to one polyhedron's parts, out (poses,
// PART_PLANES, count). The planes begin at real `first_real`.
KERNEL void polyhedron_parts(GLOBAL const real *sites, GLOBAL const real *shares, int count,
                             GLOBAL const real *shape, int first_real, int planes,
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
    FN(surface) surface;
    if (has_slopes(&u)) {
      FN(polyhedron)(shape + first_real, planes, c, u.x, JET_NORMAL | JET_GRADIENT, &surface);
      gradient_bars(&u, &surface, share_of(&u, surface.phi, c), c, &p.phi_bar, &p.v);
      p.along = FN(dot3)(surface.g, p.v);
    } else {
      FN(polyhedron)(shape + first_real, planes, c, u.x, 0, &surface);
      p.phi_bar = n_mul(share_of(&u, surface.phi, c), u.phi_bar);
    }
    u.there = has_share(&u, surface.phi, c);
    p.phi = surface.phi;
  }
  store_part_block(ROW(out, pose, PART_PLANES * count) + first, count, &u, &p);
}

// One work-item sums the derivatives with respect to one plane over all sites of one pose, to
// BY_PLANE numbers of its row, starting at `base`.
KERNEL void planes_by_shape(GLOBAL const real *sites, GLOBAL const real *parts, int count,
                            GLOBAL const real *shape, int first_real, int planes,
                            GLOBAL const coefficients *c, GLOBAL real *rows, int row_stride,
                            int base)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= planes) {
    return;
  }
  GLOBAL const real *plane = shape + first_real + i * PLANE_STRIDE;
  const lane zero = lane_lit(R(0.0));
  lane sum[BY_PLANE] = {zero, zero, zero, zero};
  GLOBAL const real *at = ROW(sites, pose, SITE_PLANES * count),
                    *part = ROW(parts, pose, PART_PLANES * count);
  for (int first = 0; first < count; first += LANES) {
    const vec x = load3(at + first, 0, count);
    part_block p;
    p.phi = load(part + first, 0);
    const num share = n_scale(n_sub(FN(plane_distance)(plane, x), p.phi), c->plane_log2e);
    const ilane counts = share > lane_lit(-CULL_BITS);
    if (!lane_any(counts)) {
      continue;
    }
    load_part_bars(part + first, count, &p);
    const num w = n_exp2(share);
    const num rise = p.v.x * plane[0] + (p.v.y * plane[1] + p.v.z * plane[2]) - p.along;
    const num all = n_mul(w, n_smad(rise, c->plane_log2e * LN2, p.phi_bar));
    const lane by[BY_PLANE] = {all * x.x + w * p.v.x, all * x.y + w * p.v.y, all * x.z + w * p.v.z,
                               all};
    const lane poison = poison_of(p.phi_bar, p.v);
    add_counted(counts, by, BY_PLANE, poison, sum);
  }
  GLOBAL real *to = ROW(rows, pose, row_stride) + base + i * BY_PLANE;
  for (int k = 0; k < BY_PLANE; ++k) {
    to[k] = lane_sum(sum[k]);
  }
}
