// The derivatives with respect to cores: of phi times its cotangent, and of the raw normal times v.
// The raw normal is the gradient of phi, so the latter is the derivative of phi along v.

// Adds a block's derivatives with respect to core s to sum (BY_CORE).
static void add_core(GLOBAL const real *s, GLOBAL const coefficients *c, const union_block *u,
                     lane sum[BY_CORE])
{
  const lane zero = lane_lit(R(0.0));
  FN(surface) p;
  FN(core)(s, c, u->x, JET_NORMAL | JET_GRADIENT, &p);
  const ilane there = has_share(u, p.phi, c);
  if (!lane_any(there)) {
    return;
  }
  const vec y = FN(core_place)(s, u->x);
  const num w = share_of(u, p.phi, c);
  num phi_bar = n_mul(w, u->phi_bar);
  vec v = FN(make)(zero, zero, zero);
  if (has_slopes(u)) {
    vec g_bar;
    gradient_bars(u, &p, w, c, &phi_bar, &g_bar);
    v = FN(rotate_back)(s, g_bar);
  }
  FN(core_slopes) by, along;
  FN(core_slopes_of)(s, y, v, &by, &along);
  const vec place = FN(mad3)(by.place, phi_bar, along.place),
            lengths = FN(mad3)(by.ends, phi_bar, along.ends);
  // Position and rotation move y and rotate y and v, as for a superquadric.
  const vec moved = FN(rotate)(s, place);
  const vec turned = FN(add3)(FN(cross3)(place, y), FN(cross3)(by.place, v));
  const lane numbers[BY_CORE] = {lengths.x, lengths.y,
                                 lengths.z, phi_bar * by.radius + along.radius,
                                 -moved.x,  -moved.y,
                                 -moved.z,  turned.x,
                                 turned.y,  turned.z};
  add_counted(there, numbers, BY_CORE, u->poison, sum);
}

// One work-item sums the derivatives with respect to one core of an operation over all sites of one
// pose, to BY_CORE numbers of its row, starting at `base`. The operation's numbers begin at
// `first_real`.
KERNEL void cores_by_shape(GLOBAL const real *sites, GLOBAL const real *shares, int count,
                           GLOBAL const real *shape, int first_real, int primitives,
                           GLOBAL const coefficients *c, int operation, GLOBAL real *rows,
                           int row_stride, int base)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= primitives) {
    return;
  }
  GLOBAL const real *s = shape + first_real + i * CORE_STRIDE;
  lane sum[BY_CORE];
  for (int k = 0; k < BY_CORE; ++k) {
    sum[k] = lane_lit(R(0.0));
  }
  for (int first = 0; first < count; first += LANES) {
    const union_block u = load_union(sites, shares, count, operation, first, pose);
    const lane limit = lane_max(u.phi + c->union_ln2 * CULL_BITS, lane_lit(R(0.0)));
    if (lane_any(u.there & (core_outside(s, u.x) <= limit))) {
      add_core(s, c, &u, sum);
    }
  }
  GLOBAL real *to = ROW(rows, pose, row_stride) + base + i * BY_CORE;
  for (int k = 0; k < BY_CORE; ++k) {
    to[k] = lane_sum(sum[k]);
  }
}
