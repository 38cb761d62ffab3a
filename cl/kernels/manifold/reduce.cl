// The cotangents of distances and activities that a reduction of the manifold starts from.

// Of the energy, sum of activity max(-d, 0)^2: cotangents -2 activity depth and depth^2.
ADJOINT_KERNEL void energy_cotangents(GLOBAL const real *d, GLOBAL const real *activity,
                                      GLOBAL const pair_head *pair, GLOBAL real *d_bar,
                                      GLOBAL real *activity_bar)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  const int contacts = pair->n.contacts;
  if (first >= contacts) {
    return;
  }
  const int last = contacts - 1;
  const num zero = n_lit(R(0.0));
  const num x = gather(NUMS(d, pose, contacts), contacts, first, last, 1);
  const num a = gather(NUMS(activity, pose, contacts), contacts, first, last, 1);
  const num depth = n_select(n_value(x) < n_value(zero), n_neg(x), zero);
  store_row(NUMS(d_bar, pose, contacts), contacts, NO_ORDER, 0, first, contacts,
            bounded(n_scale(n_mul(a, depth), R(-2.0)), COTANGENT_LIMIT));
  store_row(NUMS(activity_bar, pose, contacts), contacts, NO_ORDER, 0, first, contacts,
            bounded(n_mul(depth, depth), COTANGENT_LIMIT));
}

#if WITH_ADJOINT // local memory is a kernel's alone
// Of the soft minimum, -tau log sum exp(-d / tau) over the vertex contacts: their softmax. One
// work-group a pose.
ADJOINT_KERNEL void soft_minimum_cotangents(GLOBAL const real *d, GLOBAL const pair_head *pair,
                                            GLOBAL real *d_bar)
{
  LOCAL_ARRAY(real, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts, slots = pair->n.elements[EDGES_OF(0)].contact;
  const real rate = pair->c.penetration_inv * LOG2E;
  GLOBAL const real *row = NUMS(d, pose, contacts);
  lane low = lane_lit(REAL_BIG);
  for (int i = item * LANES; i < slots; i += WG * LANES) {
    low = lane_min(low, n_value(gather(row, contacts, i, slots - 1, 1)));
  }
  const real least = group_least(part, lane_least(low), item);
  const num zero = n_lit(R(0.0));
  num sum[1] = {zero};
  for (int i = item * LANES; i < slots; i += WG * LANES) {
    const num x = gather(row, contacts, i, slots - 1, 1);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), x), rate));
    const ilane there = lane_iota() + (real)i < lane_lit((real)slots);
    sum[0] = n_add(sum[0], n_select(there, e, zero));
  }
  group_sums(part, sum, 1, item);
  const num sum_inv = n_rcp(sum[0]);
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const num x = gather(row, contacts, i, slots - 1, 1);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), x), rate));
    const ilane there = lane_iota() + (real)i < lane_lit((real)slots);
    store_row(NUMS(d_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              steady(n_select(there, n_mul(e, sum_inv), zero), COTANGENT_LIMIT));
  }
}
#endif
