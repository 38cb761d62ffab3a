// The weights of edge contacts, which do not depend on their depth (docs/dev/spec.md, 6.6). The
// weight of a pair is made of con, clash and whether both bodies' fields support the contact, then
// its share among its nearest neighbours, gates, and a step. Each kernel is followed by its
// adjoint, which adds to the results of edge_contacts_adjoint.
//
// `factors` is as for activities (edge.cl): planes dbar and both weights without neighbours and
// gates.

// One work-item computes the factors of the weights of a block of pairs, factors (poses, 3,
// pair_slots): planes dbar and both weights.
KERNEL void edge_weights(GLOBAL const real *witness, int base, int witness_stride,
                         GLOBAL const real *own1, GLOBAL const real *own2, int own_stride,
                         GLOBAL const real *opposing1, GLOBAL const real *opposing2,
                         int opposing_stride, GLOBAL const real *frames,
                         GLOBAL const pair_head *pair, GLOBAL real *factors)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES, pair_padded = pair->n.pair_slots;
  const int stride = FACTORS_PLANES * pair_padded;
  if (first >= pair->n.pairs) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  const pair_inputs in = load_pair(witness, base, witness_stride, own1, own2, own_stride, opposing1,
                                   opposing2, opposing_stride, 1, frame, pair, block, pose);
  const FN(edge_contact) r = FN(edge_pair)(in.e1, in.e2, in.con, in.m1, in.m2, &in.at, &pair->c);
  num w1, w2;
  FN(edge_weights)(in.con, FN(dot3)(in.m1, in.m2), &in.at, r.d1, r.d2, &pair->c, &w1, &w2);
  store3(NUMS(factors, pose, stride) + first, stride, pair_padded,
         steady3(FN(make)(r.dbar, w1, w2), COTANGENT_LIMIT));
}

// Adds a block's cotangents to those of its pairs.
static void add_pair_bars(GLOBAL real *bars, int pair_padded, int first, int pose,
                          const FN(edge_pair_bar) *r)
{
  const int stride = WITNESS_PLANES * pair_padded;
  GLOBAL real *to = NUMS(bars, pose, stride) + first;
  const vec e1 = FN(add3)(r->e1, load3(to, stride, pair_padded));
  const vec e2 = FN(add3)(r->e2, load3(to + WITNESS_E2 * pair_padded, stride, pair_padded));
  const num con = n_add(r->con, load(to + WITNESS_CON * pair_padded, stride));
  store3(to, stride, pair_padded, bounded3(e1, COTANGENT_LIMIT));
  store3(to + WITNESS_E2 * pair_padded, stride, pair_padded, bounded3(e2, COTANGENT_LIMIT));
  store(to + WITNESS_CON * pair_padded, stride, bounded(con, COTANGENT_LIMIT));
}

// The adjoint of edge_weights and of the fields that it uses, with the arguments of
// edge_contacts_adjoint. factors_bar has the cotangents of factors.
ADJOINT_KERNEL void edge_weights_adjoint(GLOBAL const real *witness, int base, int witness_stride,
                                         GLOBAL const real *own1, GLOBAL const real *own2,
                                         GLOBAL const real *opposing1, GLOBAL const real *opposing2,
                                         GLOBAL const real *frames, GLOBAL const pair_head *pair,
                                         GLOBAL const real *factors_bar, GLOBAL real *bars,
                                         GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES, pairs = pair->n.pairs, pair_padded = pair->n.pair_slots;
  GLOBAL const coefficients *c = &pair->c;
  if (first >= pair_padded) {
    return;
  }
  const int jet = JET_PLANES * pair_padded, flat = FIELD_PLANES * pair_padded;
  const int bar_stride = FACTORS_BAR_PLANES(pair->n.gated) * pair_padded;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *to_2 = frame + FRAME_1_TO_2;
  GLOBAL const real *row = NUMS(factors_bar, pose, bar_stride);
  const pair_inputs in = load_pair(witness, base, witness_stride, own1, own2, jet, opposing1,
                                   opposing2, flat, 1, frame, pair, block, pose);
  const FN(edge_contact) at = FN(edge_pair)(in.e1, in.e2, in.con, in.m1, in.m2, &in.at, c);
  const num w1 = cotangent(row + pair_padded, bar_stride, NO_ORDER, 0, first, pairs);
  const num w2 = cotangent(row + 2 * pair_padded, bar_stride, NO_ORDER, 0, first, pairs);
  const FN(edge_weights_bar) by =
    FN(edge_weights_adjoint)(in.con, FN(dot3)(in.m1, in.m2), &in.at, at.d1, at.d2, c, w1, w2);
  const num zero = n_lit(R(0.0)), dbar = cotangent(row, bar_stride, NO_ORDER, 0, first, pairs);
  const vec zero3 = FN(make)(zero, zero, zero);
  const FN(edge_contact) bar = {dbar, by.d1, by.d2, zero3, zero3, zero, zero};
  FN(edge_pair_bar) r =
    FN(edge_pair_adjoint)(in.e1, in.e2, in.con, in.m1, in.m2, &in.at, c, &bar, 0);
  r.con = by.con;
  r.at = by.at;
  r.m1 = FN(mad3)(in.m2, by.dot, r.m1);
  r.m2 = FN(mad3)(in.m1, by.dot, r.m2);
  wrench relative = no_wrench();
  own_fields_adjoint(&in, NUMS(own1, pose, jet) + first, NUMS(own2, pose, jet) + first, to_2,
                     pair_padded, 1, &r, &relative);
  opposing_fields_adjoint(&in, NUMS(opposing1, pose, flat) + first,
                          NUMS(opposing2, pose, flat) + first, to_2, pair_padded, &r, &relative);
  add_pair_bars(bars, pair_padded, first, pose, &r);
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, no_wrench());
}

// One work-item computes the weights of a block of rows in one pose, weight (poses, contacts). The
// weight of a pair is a step of its factor, times its share among the other body's retained edges,
// times both gate weights. Lanes run as in `neighbours`.
KERNEL void neighbour_weights(GLOBAL const real *factors, GLOBAL const real *row_weights,
                              GLOBAL const real *column_weights, GLOBAL const real *frames,
                              GLOBAL const pair_head *pair, int side, GLOBAL real *weight)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_elements *own = &pair->n.elements[EDGES_OF(side)];
  const int rows = own->kept, contacts = pair->n.contacts;
  if (first >= rows) {
    return;
  }
  const pair_rows m = rows_of(&pair->n, side, factors, column_weights, first, pose);
  const row_softmax s = softmax_over(&m, c);
  num kept = n_lit(R(1.0)), slope;
  if (own->weighted) {
    kept = row_weights_of(own, row_weights, first, pose);
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL real *out = NUMS(weight, pose, contacts) + own->contact;
  for (int j = 0; j < m.columns; ++j) {
    num share = n_mul(row_exponential(&m, j, s.least, c), s.share), gate = kept;
    if (m.weighted) {
      const num column = column_weight(&m, j);
      share = n_mul(share, column);
      gate = n_mul(gate, column);
    }
    const num among = FN(among_and_slope)(share, &slope);
    const num x = n_mul(n_mul(gate, among), at_column(&m, m.factor, m.stride, j));
    store_step(out + first * m.row_step + j * m.column_step, contacts, NO_ORDER, 0, 0, rows - first,
               m.row_step, poisoned(frame, FN(weight_step_and_slope)(x, &slope)));
  }
}

// The adjoint of neighbour_weights, analogous to neighbours_adjoint.
ADJOINT_KERNEL void neighbour_weights_adjoint(
  GLOBAL const real *factors, GLOBAL const real *row_weights, GLOBAL const real *column_weights,
  GLOBAL const pair_head *pair, int side, GLOBAL const real *weight_bar, GLOBAL real *factors_bar)
{
  neighbours_back(factors, row_weights, column_weights, pair, side, (int)get_global_id(0) * LANES,
                  (int)get_global_id(1), weight_bar, pair->n.contacts, 1, factors_bar);
}
