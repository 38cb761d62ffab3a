// The cotangents of distances, activities and weights that the reverse pass of a reduction starts
// from.

// One work-item writes the cotangents of the energy, the sum of activity max(-d, 0)^2, for a block
// of contacts of one pose: -2 activity depth and depth^2, where depth = max(-d, 0).
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

#if WITH_ADJOINT // only a kernel may declare local memory
// One work-group writes the cotangents of the soft minimum of one pose, -tau log sum exp(-d / tau)
// over the vertex contacts: their softmax, and 0 for edge contacts.
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

// One work-group writes the cotangents of the least distance of one pose (docs/spec.md, section 7):
// 1 for the first of the contacts that have it, else 0.
ADJOINT_KERNEL void distance_cotangents(GLOBAL const real *d, GLOBAL const real *weight,
                                        GLOBAL const pair_head *pair, GLOBAL real *d_bar)
{
  LOCAL_ARRAY(real, part, WG);
  LOCAL_ARRAY(int, place, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts;
  GLOBAL const real *row_d = NUMS(d, pose, contacts), *row_w = NUMS(weight, pose, contacts);
  real low = REAL_BIG;
  for (int i = item; i < contacts; i += WG) {
    low = row_w[i] >= R(0.5) ? real_min(low, row_d[i]) : low;
  }
  const real least = group_least(part, low, item);
  int first = contacts;
  for (int i = item; i < contacts && first == contacts; i += WG) {
    first = row_w[i] >= R(0.5) && row_d[i] == least ? i : contacts;
  }
  place[item] = first;
  BARRIER;
  for (int i = 0; i < WG; ++i) {
    first = MIN_INT(first, place[i]);
  }
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const ilane there = lane_iota() + (real)(i - first) == lane_lit(R(0.0));
    store_row(NUMS(d_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              n_select(there, one, zero));
  }
}

// d - T log weight of a block of contacts, their weights, and a mask of those that have one.
typedef struct weighed_block {
  num at, weight;
  ilane there;
} weighed_block;

static weighed_block weighed_from(GLOBAL const real *d, GLOBAL const real *weight, int contacts,
                                  int i, real temperature)
{
  weighed_block r;
  const num w = gather(weight, contacts, i, contacts - 1, 1);
  const num x = gather(d, contacts, i, contacts - 1, 1);
  r.there = (n_value(w) > lane_lit(R(0.0))) & (lane_iota() + (real)i < lane_lit((real)contacts));
  r.weight = n_select(r.there, w, n_lit(R(1.0)));
  r.at = n_smad(n_log2(r.weight), -temperature * LN2, x);
  return r;
}

// One work-group writes the cotangents of the soft distance of one pose, -T log sum weight exp(-d /
// T): for distances the softmax, and for weights -T times that over the weight.
ADJOINT_KERNEL void soft_distance_cotangents(GLOBAL const real *d, GLOBAL const real *weight,
                                             GLOBAL const pair_head *pair, real temperature,
                                             GLOBAL real *d_bar, GLOBAL real *weight_bar)
{
  LOCAL_ARRAY(real, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts;
  const real rate = LOG2E / temperature;
  GLOBAL const real *row_d = NUMS(d, pose, contacts), *row_w = NUMS(weight, pose, contacts);
  lane low = lane_lit(REAL_BIG);
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const weighed_block b = weighed_from(row_d, row_w, contacts, i, temperature);
    low = lane_min(low, lane_select(b.there, n_value(b.at), lane_lit(REAL_BIG)));
  }
  const real least = group_least(part, lane_least(low), item);
  const num zero = n_lit(R(0.0));
  num sum[1] = {zero};
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const weighed_block b = weighed_from(row_d, row_w, contacts, i, temperature);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), b.at), rate));
    sum[0] = n_add(sum[0], n_select(b.there, e, zero));
  }
  group_sums(part, sum, 1, item);
  const num sum_inv = n_rcp(sum[0]);
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const weighed_block b = weighed_from(row_d, row_w, contacts, i, temperature);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), b.at), rate));
    const num share = n_select(b.there, n_mul(e, sum_inv), zero);
    store_row(NUMS(d_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              steady(share, COTANGENT_LIMIT));
    store_row(NUMS(weight_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              bounded(n_scale(n_div(share, b.weight), -temperature), COTANGENT_LIMIT));
  }
}
#endif
