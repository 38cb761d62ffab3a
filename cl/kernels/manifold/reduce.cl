// The cotangents of distances, activities and weights with which the reverse pass of a reduction
// starts.

// Returns how many contacts, starting with the first, count for distances regardless of their
// normals. With cones these are all vertices: a point in the other body is not deeper in it than
// the bodies are.
static int whole_vertices(GLOBAL const pair_head *pair)
{
  GLOBAL const pair_elements *e = pair->n.elements;
  const int gated = e[VERTICES_OF(0)].weighted || e[VERTICES_OF(1)].weighted;
  return pair->c.cones > R(0.0) && !gated ? e[EDGES_OF(0)].contact : 0;
}

// Returns the share of the depth of edge contact i by which the bodies certainly overlap, whatever
// its weight. Not the whole depth is certain, because it was divided by the field's slope. 0 means
// none.
static real edge_share(GLOBAL const pair_head *pair, int i)
{
  const int side = i >= pair->n.elements[EDGES_OF(1)].contact;
  return pair->c.cones > R(0.0)
           ? pair->reals[PAIR_MIDDLE(side) + MIDDLE_SHARP] * pair->c.slope_most_inv
           : R(0.0);
}

// Returns the distance between the bodies that contact i implies. With cones a point in the other
// body counts regardless of its normal: the first `whole` contacts count fully, and the others
// count by their share.
static real said_distance(GLOBAL const pair_head *pair, int i, int whole, real d, real weight)
{
  const real share = edge_share(pair, i);
  return weight >= R(0.5) || i < whole ? d : share > R(0.0) && d < R(0.0) ? d * share : REAL_BIG;
}

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
ADJOINT_KERNEL ADJOINT_GROUPED void soft_minimum_cotangents(GLOBAL const real *d,
                                                            GLOBAL const pair_head *pair,
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

// Writes the cotangent of one body's result of middle.cl in one pose.
static void store_middle(GLOBAL real *bars, int pose, int side, num bar)
{
  store_row(NUMS(bars, pose, 2) + side, 2, NO_ORDER, 0, 0, 1, bar);
}

// One work-group writes the cotangents of the distance of one pose (docs/dev/spec.md, section 7).
// The first middle or contact that attains the distance gets its derivative, all others get 0.
// Middles and their cotangents are (poses, 2).
ADJOINT_KERNEL ADJOINT_GROUPED void distance_cotangents(
  GLOBAL const real *d, GLOBAL const real *weight, GLOBAL const real *middles,
  GLOBAL const pair_head *pair, GLOBAL real *d_bar, GLOBAL real *middles_bar)
{
  LOCAL_ARRAY(real, part, WG);
  LOCAL_ARRAY(int, place, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts, whole = whole_vertices(pair);
  GLOBAL const real *row_d = NUMS(d, pose, contacts), *row_w = NUMS(weight, pose, contacts);
  GLOBAL const real *middle = NUMS(middles, pose, 2);
  real low = real_min(middle[0], middle[1]);
  for (int i = item; i < contacts; i += WG) {
    low = real_min(low, said_distance(pair, i, whole, row_d[i], row_w[i]));
  }
  const real least = group_least(part, low, item);
  const int of_middle = middle[0] == least ? 0 : middle[1] == least ? 1 : -1;
  int first = contacts;
  for (int i = item; i < contacts && first == contacts && of_middle < 0; i += WG) {
    first = said_distance(pair, i, whole, row_d[i], row_w[i]) == least ? i : contacts;
  }
  place[item] = first;
  BARRIER;
  for (int i = 0; i < WG; ++i) {
    first = MIN_INT(first, place[i]);
  }
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  const int full = first == contacts || first < whole || row_w[first] >= R(0.5);
  const num bar = full ? one : n_lit(edge_share(pair, first));
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const ilane there = lane_iota() + (real)(i - first) == lane_lit(R(0.0));
    store_row(NUMS(d_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              n_select(there, bar, zero));
  }
  for (int side = 0; side < 2 && item == 0; ++side) {
    store_middle(middles_bar, pose, side, of_middle == side ? one : zero);
  }
}

// d - T log weight of a block of contacts, their weights, and a mask of the contacts whose weight
// is positive.
typedef struct weighed_block {
  num at, weight;
  ilane there;
} weighed_block;

static weighed_block weighed_from(GLOBAL const real *d, GLOBAL const real *weight, int contacts,
                                  int whole, int i, real temperature)
{
  weighed_block r;
  const ilane full = lane_iota() + (real)i < lane_lit((real)whole);
  const num w = n_select(full, n_lit(R(1.0)), gather(weight, contacts, i, contacts - 1, 1));
  const num x = gather(d, contacts, i, contacts - 1, 1);
  r.there = (n_value(w) > lane_lit(R(0.0))) & (lane_iota() + (real)i < lane_lit((real)contacts));
  r.weight = n_select(r.there, w, n_lit(R(1.0)));
  r.at = n_smad(n_log2(r.weight), -temperature * LN2, x);
  return r;
}

// One work-group writes the cotangents of the soft distance of one pose, -T log sum weight exp(-d /
// T), with both middles at weight 1: for distances the softmax, and for weights -T times that over
// the weight.
ADJOINT_KERNEL ADJOINT_GROUPED void soft_distance_cotangents(
  GLOBAL const real *d, GLOBAL const real *weight, GLOBAL const real *middles,
  GLOBAL const pair_head *pair, real temperature, GLOBAL real *d_bar, GLOBAL real *weight_bar,
  GLOBAL real *middles_bar)
{
  LOCAL_ARRAY(real, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts, whole = whole_vertices(pair);
  const real rate = LOG2E / temperature;
  GLOBAL const real *row_d = NUMS(d, pose, contacts), *row_w = NUMS(weight, pose, contacts);
  GLOBAL const real *middle = NUMS(middles, pose, 2);
  lane low = lane_lit(real_min(middle[0], middle[1]));
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const weighed_block b = weighed_from(row_d, row_w, contacts, whole, i, temperature);
    low = lane_min(low, lane_select(b.there, n_value(b.at), lane_lit(REAL_BIG)));
  }
  const real least = group_least(part, lane_least(low), item);
  const num zero = n_lit(R(0.0));
  num sum[1] = {zero};
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const weighed_block b = weighed_from(row_d, row_w, contacts, whole, i, temperature);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), b.at), rate));
    sum[0] = n_add(sum[0], n_select(b.there, e, zero));
  }
  num of_middle[2];
  for (int side = 0; side < 2; ++side) { // one lane of one work-item adds it
    of_middle[side] = n_exp2(n_scale(n_sub(n_lit(least), load_one(middle + side, 2)), rate));
    const ilane once = lane_iota() + (real)item == lane_lit(R(0.0));
    sum[0] = n_add(sum[0], n_select(once, of_middle[side], zero));
  }
  group_sums(part, sum, 1, item);
  const num sum_inv = n_rcp(sum[0]);
  for (int side = 0; side < 2 && item == 0; ++side) {
    store_middle(middles_bar, pose, side, steady(n_mul(of_middle[side], sum_inv), COTANGENT_LIMIT));
  }
  for (int i = item * LANES; i < contacts; i += WG * LANES) {
    const weighed_block b = weighed_from(row_d, row_w, contacts, whole, i, temperature);
    const num e = n_exp2(n_scale(n_sub(n_lit(least), b.at), rate));
    const num share = n_select(b.there, n_mul(e, sum_inv), zero);
    store_row(NUMS(d_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              steady(share, COTANGENT_LIMIT));
    const ilane full = lane_iota() + (real)i < lane_lit((real)whole);
    store_row(NUMS(weight_bar, pose, contacts), contacts, NO_ORDER, 0, i, contacts,
              n_select(full, zero,
                       bounded(n_scale(n_div(share, b.weight), -temperature), COTANGENT_LIMIT)));
  }
}
#endif
