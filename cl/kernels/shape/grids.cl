// The contributions of sites to a grid. The host propagates them to the grid's coefficients, 64 of
// each level per site.

// One work-item converts a block of sites of one pose to sites of one grid, in NODE_SITE_PLANES
// planes of `count` numbers of its row, starting at `base`. The grid's record begins at real
// `first_real`.
//
// If clipping moved the point (grid.inl), phi^2 = phi_c^2 + 2 phi_c g.d + |d|^2, or phi_c^2 / 4,
// and the raw normal is (phi_c g + d) / phi. Let k and l be the parts of w that clipping keeps and
// loses. Then phi grows along w by [(phi_c + g.d) k.g + phi_c (k.H d + l.g) + l.d] / phi, or by
// phi_c k.g / (4 phi).
KERNEL void grid_sites(GLOBAL const real *sites, GLOBAL const real *shares, int count,
                       GLOBAL const real *shape, int first_real, int levels,
                       GLOBAL const coefficients *c, int operation, GLOBAL real *rows,
                       int row_stride, int base)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  if (first >= count) {
    return;
  }
  GLOBAL const real *s = shape + first_real;
  const num zero = n_lit(R(0.0));
  union_block u = load_union(sites, shares, count, operation, first, pose);
  num node_bar = zero;
  vec slope_bar = FN(make)(zero, zero, zero);
  FN(symmetric) curve_bar = FN(symmetric_zero)();
  const FN(grid_place) p = FN(grid_place_at)(s, u.x);
  if (lane_any(u.there)) {
    FN(surface) surface;
    FN(mat3) bend;
    FN(mat3) inner;
    const FN(grid_jet) j = FN(grid_jet_at)(s, levels, p.u, p.some_out && u.graded ? 2 : 1);
    FN(grid_inside)(s, &j, &surface, &bend);
    inner = bend;
    if (p.some_out && u.graded) {
      FN(grid_outside)(&p, JET_NORMAL | JET_GRADIENT, &bend, &surface);
    } else if (p.some_out) {
      FN(grid_outside)(&p, JET_NORMAL, &bend, &surface);
    }
    u.there = has_share(&u, surface.phi, c);
    const num w = share_of(&u, surface.phi, c);
    num phi_bar;
    vec g_bar;
    primitive_bars(&u, &surface, w, c, &phi_bar, &g_bar);
    const vec way = FN(scale3)(u.gradient_bar, w);
    node_bar = phi_bar;
    slope_bar = FN(add3)(g_bar, way);
    if (p.some_out) {
      const vec g = FN(scale3)(j.g, n_lit(s[GRID_SPACING_INV]));
      if (u.graded) { // the distance outside the grid is a root, whose derivative falls as the
                      // argument grows
        phi_bar = n_sub(phi_bar, n_mul(FN(dot3)(surface.gradient, way), n_rcp(surface.phi)));
      }
      const num along = FN(dot3)(g, p.moved), over = n_rcp(surface.phi);
      const num square =
        n_mad(j.phi, n_add(j.phi, n_add(along, along)), FN(dot3)(p.moved, p.moved));
      const ilane flat = square < n_shift(n_scale(n_mul(j.phi, j.phi), R(0.25)), REAL_TINY);
      const num all = n_mul(n_sub(phi_bar, n_mul(FN(dot3)(g_bar, surface.g), over)), over);
      const num by_phi = n_mul(all, n_select(flat, n_scale(j.phi, R(0.25)), n_add(j.phi, along)));
      const num by_g = n_select(flat, zero, n_mul(all, j.phi));
      num out_bar = n_mad(FN(dot3)(g_bar, g), over, by_phi);
      vec out_slope = FN(mad3)(p.moved, by_g, FN(scale3)(g_bar, n_mul(j.phi, over)));
      if (u.graded) {
        const vec kept = FN(scale3)(FN(times3)(p.keep, way), over),
                  lost = FN(scale3)(FN(times3)(p.lose, way), over);
        const num kept_g = FN(dot3)(kept, g), quarter = n_scale(j.phi, R(0.25));
        const vec turned = FN(make)(FN(dot3)(inner.x, p.moved), FN(dot3)(inner.y, p.moved),
                                    FN(dot3)(inner.z, p.moved));
        const num rise = n_add(kept_g, n_add(FN(dot3)(kept, turned), FN(dot3)(lost, g)));
        const vec steep =
          FN(mad3)(kept, n_add(j.phi, along), FN(mad3)(p.moved, kept_g, FN(scale3)(lost, j.phi)));
        out_bar = n_add(out_bar, n_select(flat, n_scale(kept_g, R(0.25)), rise));
        out_slope = FN(add3)(out_slope, FN(select3)(flat, FN(scale3)(kept, quarter), steep));
        curve_bar =
          FN(symmetric_add)(curve_bar, kept, p.moved, n_select(p.out & !flat, j.phi, zero));
      }
      node_bar = n_select(p.out, out_bar, node_bar);
      slope_bar = FN(select3)(p.out, out_slope, slope_bar);
    }
    slope_bar = FN(scale3)(slope_bar, n_lit(s[GRID_SPACING_INV]));
  }
  curve_bar = FN(symmetric_scale)(curve_bar, n_lit(s[GRID_SPACING_INV] * s[GRID_SPACING_INV]));
  GLOBAL real *to = ROW(rows, pose, row_stride) + base + first;
  store3(to, 0, count, p.u);
  store(to + NODE_SITE_PHI * count, 0, counted(u.there, node_bar, u.poison));
  store(to + NODE_SITE_SLOPE * count, 0, counted(u.there, slope_bar.x, u.poison));
  store(to + (NODE_SITE_SLOPE + 1) * count, 0, counted(u.there, slope_bar.y, u.poison));
  store(to + (NODE_SITE_SLOPE + 2) * count, 0, counted(u.there, slope_bar.z, u.poison));
  const num curve[6] = {curve_bar.xx, curve_bar.yy, curve_bar.zz,
                        curve_bar.xy, curve_bar.xz, curve_bar.yz};
  for (int i = 0; i < 6; ++i) {
    store(to + (NODE_SITE_CURVE + i) * count, 0, counted(u.there, curve[i], u.poison));
  }
}
