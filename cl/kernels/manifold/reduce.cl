// Sums over a work-group, and the cotangents of distances and activities that a reduction of the
// manifold starts from.

// Sum over a work-group, by halving: the same order in every run.
static real group_total(LOCAL real *part, real x, int item)
{
  part[item] = x;
  BARRIER;
  for (int step = WG / 2; step > 0; step /= 2) {
    if (item < step) {
      part[item] += part[item + step];
    }
    BARRIER;
  }
  const real sum = part[0];
  BARRIER;
  return sum;
}

static real group_least(LOCAL real *part, real x, int item)
{
  part[item] = x;
  BARRIER;
  for (int step = WG / 2; step > 0; step /= 2) {
    if (item < step) {
      part[item] = real_min(part[item], part[item + step]);
    }
    BARRIER;
  }
  const real least = part[0];
  BARRIER;
  return least;
}

// The same for a number, on all lanes.
static num group_sum(LOCAL real *part, num x, int item)
{
  num r = x;
  EACH_PART(i) {
    r = n_with_part(r, i, lane_lit(group_total(part, lane_sum(n_get_part(x, i)), item)));
  }
  return r;
}

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
  num sum = zero;
  for (int i = item * LANES; i < slots; i += WG * LANES) {
    const num x = gather(row, contacts, i, slots - 1, 1);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), x), rate));
    const ilane there = lane_iota() + (real)i < lane_lit((real)slots);
    sum = n_add(sum, n_select(there, e, zero));
  }
  const num sum_inv = n_rcp(group_sum(part, sum, item));
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const num x = gather(row, contacts, i, slots - 1, 1);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), x), rate));
    const ilane there = lane_iota() + (real)i < lane_lit((real)slots);
    store_row(NUMS(d_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              steady(n_select(there, n_mul(e, sum_inv), zero), COTANGENT_LIMIT));
  }
}
#endif
