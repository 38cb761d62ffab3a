// Edge-edge contacts: witness points, then fields there (field.cl), contacts, soft nearest
// neighbours; behind each its adjoint, by hand.
//
// Pairs of kept edges run with slot k of body 1 varying slowest. witness: rows of `witness_stride`
// numbers a pose, planes of `pair_padded` in body 1's frame: e1 and e2 before sphere tracing from
// `base` on, what tracing makes of them as far as the host asks for it, and con at WITNESS_CON.

typedef struct edge_ends {
  vec p0, p1, q0, q1; // p in body 1's frame, q in body 2's
} edge_ends;

// The ends of a block of pairs: six planes of `padded` numbers a body, in its own frame; a stride
// of 0 where all poses share them.
static edge_ends load_ends(GLOBAL const real *ends1, int stride1, int padded1, int kept1,
                           GLOBAL const real *ends2, int stride2, int padded2, int kept2,
                           int block, int pose)
{
  edge_ends r;
  const num zero = n_lit(R(0.0));
  r.p0 = r.p1 = r.q0 = r.q1 = FN(make)(zero, zero, zero);
  num *const to1[6] = {&r.p0.x, &r.p0.y, &r.p0.z, &r.p1.x, &r.p1.y, &r.p1.z};
  num *const to2[6] = {&r.q0.x, &r.q0.y, &r.q0.z, &r.q1.x, &r.q1.y, &r.q1.z};
  EACH_PART(part) {
    GLOBAL const real *from1 = NUMS(ends1, pose, stride1) + part * stride1;
    GLOBAL const real *from2 = NUMS(ends2, pose, stride2) + part * stride2;
    int k = block * LANES / kept2;
    int l = block * LANES % kept2;
    real p[6][LANES], q[6][LANES];
    for (int i = 0; i < LANES; ++i) {
      for (int j = 0; j < 6; ++j) {
        p[j][i] = part && !stride1 ? R(0.0) : from1[j * padded1 + k];
        q[j][i] = part && !stride2 ? R(0.0) : from2[j * padded2 + l];
      }
      if (l + 1 < kept2) {
        ++l;
      } else if (k + 1 < kept1) {
        ++k;
        l = 0;
      }
    }
    for (int j = 0; j < 6; ++j) {
      *to1[j] = n_with_part(*to1[j], part, lane_load(p[j]));
      *to2[j] = n_with_part(*to2[j], part, lane_load(q[j]));
    }
  }
  return r;
}

KERNEL void edge_witnesses(GLOBAL const real *ends1, int stride1, int padded1, int kept1,
                           GLOBAL const real *ends2, int stride2, int padded2, int kept2,
                           GLOBAL const real *frames, GLOBAL const coefficients *c,
                           GLOBAL real *witness, int base, int witness_stride, int pair_padded)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= pair_padded) {
    return;
  }
  const edge_ends at = load_ends(ends1, stride1, padded1, kept1, ends2, stride2, padded2, kept2,
                                 block, pose);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE) + FRAME_2_TO_1;
  vec e1, e2;
  num con;
  FN(edge_witness)(at.p0, at.p1, place(frame, at.q0), place(frame, at.q1), c, &e1, &e2, &con);
  GLOBAL real *row = NUMS(witness, pose, witness_stride) + block * LANES;
  store3(row + base, witness_stride, pair_padded, steady3(e1, COTANGENT_LIMIT));
  store3(row + base + 3 * pair_padded, witness_stride, pair_padded, steady3(e2, COTANGENT_LIMIT));
  store(row + WITNESS_CON * pair_padded, witness_stride, steady(con, COTANGENT_LIMIT));
}

// bars: cotangents of e1, e2 and con, WITNESS_PLANES planes of `pair_padded`, 0 past the last pair.
// Writes ends_bar where `selected`: 12 planes of `pair_padded`, the cotangents of each pair's ends
// in their own frames.
ADJOINT_KERNEL void edge_witnesses_adjoint(GLOBAL const real *ends1, int stride1, int padded1,
                                           int kept1, GLOBAL const real *ends2, int stride2,
                                           int padded2, int kept2, GLOBAL const real *frames,
                                           GLOBAL const coefficients *c, GLOBAL const real *bars,
                                           int pair_padded, int selected, GLOBAL real *ends_bar,
                                           GLOBAL real *wrenches, int wrench_stride,
                                           int wrench_block)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= pair_padded) {
    return;
  }
  const edge_ends at = load_ends(ends1, stride1, padded1, kept1, ends2, stride2, padded2, kept2,
                                 block, pose);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  const vec q0 = place(frame + FRAME_2_TO_1, at.q0);
  const vec q1 = place(frame + FRAME_2_TO_1, at.q1);
  const int stride = WITNESS_PLANES * pair_padded;
  GLOBAL const real *row = NUMS(bars, pose, stride) + block * LANES;
  vec bar[4];
  FN(edge_witness_adjoint)(at.p0, at.p1, q0, q1, c, load3(row, stride, pair_padded),
                           load3(row + 3 * pair_padded, stride, pair_padded),
                           load(row + WITNESS_CON * pair_padded, stride), bar);
  for (int i = 0; i < 4; ++i) {
    bar[i] = bounded3(bar[i], COTANGENT_LIMIT);
  }
  wrench relative = no_wrench();
  push_at(&relative, q0, bar[2]);
  push_at(&relative, q1, bar[3]);
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, no_wrench());
  if (selected) {
    const int to_stride = 12 * pair_padded;
    GLOBAL real *to = NUMS(ends_bar, pose, to_stride) + block * LANES;
    store3(to, to_stride, pair_padded, bar[0]);
    store3(to + 3 * pair_padded, to_stride, pair_padded, bar[1]);
    store3(to + 6 * pair_padded, to_stride, pair_padded, turn(frame + FRAME_1_TO_2, bar[2]));
    store3(to + 9 * pair_padded, to_stride, pair_padded, turn(frame + FRAME_1_TO_2, bar[3]));
  }
}

// Cotangents of one body's kept edges: sums of `ends_bar`, from plane `plane` on, over the other
// body's. Lanes run over `rows`; out: six planes of `padded`.
ADJOINT_KERNEL void ends_adjoint(GLOBAL const real *ends_bar, int pair_padded, int plane, int rows,
                                 int row_step, int columns, int column_step, GLOBAL real *out,
                                 int padded)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  if (first >= rows) {
    return;
  }
  const int stride = 12 * pair_padded;
  GLOBAL const real *from = NUMS(ends_bar, pose, stride) + plane * pair_padded;
  GLOBAL real *to = NUMS(out, pose, 6 * padded) + first;
  for (int i = 0; i < 6; ++i) {
    num sum = n_lit(R(0.0));
    for (int j = 0; j < columns; ++j) {
      sum = n_add(sum, gather(from + i * pair_padded + j * column_step, stride, first, rows - 1,
                              row_step));
    }
    store(to + i * padded, 6 * padded, sum);
  }
}

// What a pair's contacts are made of, loaded for the primal and for the adjoint.
typedef struct pair_inputs {
  vec e1, e2, m1, m2; // in body 1's frame
  num con, own1, own2, opposing1, opposing2;
} pair_inputs;

static pair_inputs load_pair(GLOBAL const real *witness, int base, int witness_stride,
                             int pair_padded, GLOBAL const real *own1, GLOBAL const real *own2,
                             int own_stride, GLOBAL const real *opposing1,
                             GLOBAL const real *opposing2, int opposing_stride, int active,
                             GLOBAL const real *frame, int block, int pose)
{
  pair_inputs r;
  GLOBAL const real *at = NUMS(witness, pose, witness_stride) + block * LANES;
  GLOBAL const real *row1 = NUMS(own1, pose, own_stride) + block * LANES;
  GLOBAL const real *row2 = NUMS(own2, pose, own_stride) + block * LANES;
  r.e1 = load3(at + base, witness_stride, pair_padded);
  r.e2 = load3(at + base + 3 * pair_padded, witness_stride, pair_padded);
  r.con = load(at + WITNESS_CON * pair_padded, witness_stride);
  r.m1 = load3(row1 + pair_padded, own_stride, pair_padded);
  r.m2 = turn(frame + FRAME_2_TO_1, load3(row2 + pair_padded, own_stride, pair_padded));
  r.own1 = load(row1, own_stride);
  r.own2 = load(row2, own_stride);
  r.opposing1 = n_lit(R(0.0));
  r.opposing2 = r.opposing1;
  if (active) {
    r.opposing1 = load(NUMS(opposing1, pose, opposing_stride) + block * LANES, opposing_stride);
    r.opposing2 = load(NUMS(opposing2, pose, opposing_stride) + block * LANES, opposing_stride);
  }
  return r;
}

// Everything of an edge-edge contact that its pair alone decides. own1, own2: planes phi, normal of
// each body at its own point; opposing1, opposing2: phi of the other body there, where `active`.
// factors: planes dbar, and both activities without the neighbour's softmax.
KERNEL void edge_contacts(GLOBAL const real *witness, int base, int witness_stride,
                          int pair_padded, int pairs, GLOBAL const real *own1,
                          GLOBAL const real *own2, int own_stride, GLOBAL const real *opposing1,
                          GLOBAL const real *opposing2, int opposing_stride, int active,
                          GLOBAL const real *frames, GLOBAL const coefficients *c, int want,
                          int slot1, int slot2, int contacts, GLOBAL real *p, GLOBAL real *d,
                          GLOBAL real *n, GLOBAL real *factors)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  if (first >= pairs) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  const pair_inputs in = load_pair(witness, base, witness_stride, pair_padded, own1, own2,
                                   own_stride, opposing1, opposing2, opposing_stride, active,
                                   frame, block, pose);
  const FN(edge_contact) r = FN(edge_pair)(in.e1, in.e2, in.con, in.m1, in.m2, in.own1, in.own2,
                                           in.opposing1, in.opposing2, c);
  if (active) {
    store3(NUMS(factors, pose, 3 * pair_padded) + first, 3 * pair_padded, pair_padded,
           steady3(FN(make)(r.dbar, r.a1, r.a2), COTANGENT_LIMIT));
  }
  if (want & WANT_P) {
    GLOBAL real *row = NUMS(p, pose, 3 * contacts);
    const vec w1 = poisoned3(frame, place(frame + FRAME_WORLD_1, in.e1));
    const vec w2 = poisoned3(frame, place(frame + FRAME_WORLD_1, in.e2));
    store_row3(row + 3 * slot1, 3 * contacts, NO_ORDER, 0, first, pairs, w1);
    store_row3(row + 3 * slot2, 3 * contacts, NO_ORDER, 0, first, pairs, w2);
  }
  if (want & WANT_D) {
    GLOBAL real *row = NUMS(d, pose, contacts);
    store_row(row + slot1, contacts, NO_ORDER, 0, first, pairs, poisoned(frame, r.d1));
    store_row(row + slot2, contacts, NO_ORDER, 0, first, pairs, poisoned(frame, r.d2));
  }
  if (want & WANT_N) {
    GLOBAL real *row = NUMS(n, pose, 3 * contacts);
    const vec w1 = poisoned3(frame, turn(frame + FRAME_WORLD_1, r.n1));
    const vec w2 = poisoned3(frame, turn(frame + FRAME_WORLD_1, r.n2));
    store_row3(row + 3 * slot1, 3 * contacts, NO_ORDER, 0, first, pairs, w1);
    store_row3(row + 3 * slot2, 3 * contacts, NO_ORDER, 0, first, pairs, w2);
  }
}

// A block of a pose's outputs' cotangents: have says which there are (WANT_*), rows as in
// vertex_adjoint.
typedef struct output_bars {
  int have, slot1, slot2, contacts, d_stride, first, pairs, pose;
  GLOBAL const real *p, *d, *n, *frame;
} output_bars;

// Cotangents of vectors in the world, in body 1's frame.
static vec world_bar(const output_bars *b, GLOBAL const real *rows, int slot)
{
  GLOBAL const real *row = NUMS(rows, b->pose, 3 * b->contacts) + 3 * slot;
  return turn_back(b->frame + FRAME_WORLD_1,
                   cotangent3(row, 3 * b->contacts, NO_ORDER, 0, b->first, b->pairs));
}

static FN(edge_contact) contact_bars(const output_bars *b, GLOBAL const real *factors_bar,
                                     int factors_stride, int pair_padded, int active)
{
  const num zero = n_lit(R(0.0));
  const vec zero3 = FN(make)(zero, zero, zero);
  FN(edge_contact) bar = {zero, zero, zero, zero3, zero3, zero, zero};
  if (b->have & WANT_D) {
    GLOBAL const real *row = NUMS(b->d, b->pose, b->d_stride);
    bar.d1 = cotangent(row + b->slot1, b->d_stride, NO_ORDER, 0, b->first, b->pairs);
    bar.d2 = cotangent(row + b->slot2, b->d_stride, NO_ORDER, 0, b->first, b->pairs);
  }
  if (b->have & WANT_N) {
    bar.n1 = world_bar(b, b->n, b->slot1);
    bar.n2 = world_bar(b, b->n, b->slot2);
  }
  if (active) {
    GLOBAL const real *row = NUMS(factors_bar, b->pose, factors_stride);
    bar.dbar = cotangent(row, factors_stride, NO_ORDER, 0, b->first, b->pairs);
    bar.a1 = cotangent(row + pair_padded, factors_stride, NO_ORDER, 0, b->first, b->pairs);
    bar.a2 = cotangent(row + 2 * pair_padded, factors_stride, NO_ORDER, 0, b->first, b->pairs);
  }
  return bar;
}

// Through both bodies' own fields (jets at their own points) to the points: body 1's in its own
// frame, body 2's across.
static void own_fields_adjoint(const pair_inputs *in, GLOBAL const real *jet1,
                               GLOBAL const real *jet2, GLOBAL const real *to_2, int pair_padded,
                               int active, FN(edge_pair_bar) *r, wrench *relative)
{
  const int stride = JET_PLANES * pair_padded, gradient = JET_PLANE_GRADIENT * pair_padded;
  r->e1 = FN(add3)(r->e1, pull_normal(jet1, pair_padded, r->m1));
  vec across = pull_normal(jet2, pair_padded, turn(to_2, r->m2));
  if (active) {
    r->e1 = FN(mad3)(load3(jet1 + gradient, stride, pair_padded), r->own1, r->e1);
    across = FN(mad3)(load3(jet2 + gradient, stride, pair_padded), r->own2, across);
  }
  across = turn_back(to_2, across);
  r->e2 = FN(add3)(r->e2, across);
  push_at(relative, in->e2, FN(neg3)(across));
  twist_direction(relative, in->m2, r->m2);
}

// Through the other body's field at each point (planes phi, gradient).
static void opposing_fields_adjoint(const pair_inputs *in, GLOBAL const real *field1,
                                    GLOBAL const real *field2, GLOBAL const real *to_2,
                                    int pair_padded, FN(edge_pair_bar) *r, wrench *relative)
{
  const int stride = 4 * pair_padded;
  const vec slope2 = load3(field1 + pair_padded, stride, pair_padded);
  const vec slope1 = load3(field2 + pair_padded, stride, pair_padded);
  const vec push = turn_back(to_2, FN(scale3)(slope2, r->opposing1));
  r->e1 = FN(add3)(r->e1, push);
  push_at(relative, in->e1, FN(neg3)(push));
  r->e2 = FN(mad3)(slope1, r->opposing2, r->e2);
}

// Adjoint of edge_contacts and of the fields under it. own1, own2: planes of field_jet;
// opposing1, opposing2: of field_gradient, where `active`; have and the *_bar rows as in
// vertex_adjoint; factors_bar: cotangents of factors, where `active`. Writes bars (see
// edge_witnesses_adjoint) and wrenches.
ADJOINT_KERNEL void edge_contacts_adjoint(GLOBAL const real *witness, int base, int witness_stride,
                                          int pair_padded, int pairs, GLOBAL const real *own1,
                                          GLOBAL const real *own2, GLOBAL const real *opposing1,
                                          GLOBAL const real *opposing2, int active,
                                          GLOBAL const real *frames, GLOBAL const coefficients *c,
                                          int have, int slot1, int slot2, int contacts,
                                          GLOBAL const real *p_bar, GLOBAL const real *d_bar,
                                          int d_shared, GLOBAL const real *n_bar,
                                          GLOBAL const real *factors_bar, int factors_bar_planes,
                                          GLOBAL real *bars, GLOBAL real *wrenches,
                                          int wrench_stride, int wrench_block)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  if (first >= pair_padded) {
    return;
  }
  const int jet = JET_PLANES * pair_padded, flat = 4 * pair_padded;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *to_2 = frame + FRAME_1_TO_2;
  const pair_inputs in = load_pair(witness, base, witness_stride, pair_padded, own1, own2, jet,
                                   opposing1, opposing2, flat, active, frame, block, pose);
  const output_bars out = {have, slot1, slot2, contacts, d_shared ? 0 : contacts, first, pairs,
                           pose, p_bar, d_bar, n_bar, frame};
  const FN(edge_contact) bar =
    contact_bars(&out, factors_bar, factors_bar_planes * pair_padded, pair_padded, active);
  FN(edge_pair_bar) r = active
    ? FN(edge_pair_adjoint)(in.e1, in.e2, in.con, in.m1, in.m2, in.own1, in.own2, in.opposing1,
                            in.opposing2, c, &bar, 1)
    : FN(edge_pair_adjoint)(in.e1, in.e2, in.con, in.m1, in.m2, in.own1, in.own2, in.opposing1,
                            in.opposing2, c, &bar, 0);
  wrench relative = no_wrench(), carried = relative;
  if (have & WANT_N) { // both normals turn with everything they are made of
    twist_direction(&carried, in.e1, r.e1);
    twist_direction(&carried, in.e2, r.e2);
    twist_direction(&carried, in.m1, r.m1);
    twist_direction(&carried, in.m2, r.m2);
  }
  own_fields_adjoint(&in, NUMS(own1, pose, jet) + first, NUMS(own2, pose, jet) + first, to_2,
                     pair_padded, active, &r, &relative);
  if (active) {
    opposing_fields_adjoint(&in, NUMS(opposing1, pose, flat) + first,
                            NUMS(opposing2, pose, flat) + first, to_2, pair_padded, &r, &relative);
  }
  if (have & WANT_P) {
    const vec push1 = world_bar(&out, p_bar, slot1), push2 = world_bar(&out, p_bar, slot2);
    push_at(&carried, in.e1, push1);
    push_at(&carried, in.e2, push2);
    r.e1 = FN(add3)(r.e1, push1);
    r.e2 = FN(add3)(r.e2, push2);
  }
  const int stride = WITNESS_PLANES * pair_padded;
  GLOBAL real *to = NUMS(bars, pose, stride) + first;
  store3(to, stride, pair_padded, bounded3(r.e1, COTANGENT_LIMIT));
  store3(to + 3 * pair_padded, stride, pair_padded, bounded3(r.e2, COTANGENT_LIMIT));
  store(to + WITNESS_CON * pair_padded, stride, bounded(r.con, COTANGENT_LIMIT));
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, carried);
}

// A row of the matrix of pairs: -dbar / neighbour's softmax over the columns.
typedef struct row_softmax {
  num least, share; // the least dbar; 1 / sum of exponentials
} row_softmax;

static row_softmax softmax_over(GLOBAL const real *dbar, int stride, int first, int last,
                                int row_step, int columns, int column_step,
                                GLOBAL const coefficients *c)
{
  row_softmax r;
  r.least = n_lit(REAL_BIG);
  for (int j = 0; j < columns; ++j) {
    const num x = gather(dbar + j * column_step, stride, first, last, row_step);
    r.least = n_select(n_value(x) < n_value(r.least), x, r.least);
  }
  num sum = n_lit(R(0.0));
  for (int j = 0; j < columns; ++j) {
    const num x = gather(dbar + j * column_step, stride, first, last, row_step);
    sum = n_add(sum, n_exp2(n_scale(n_sub(r.least, x), c->neighbour_log2e)));
  }
  r.share = n_rcp(sum);
  return r;
}

// Activity of each edge pair: its factor, times the softmax of -dbar / neighbour along the other
// body's kept edges, times both gate weights. Lanes run over `rows` of the matrix of pairs and each
// walks its `columns`; steps say which body's edges the rows are. factor: the plane of factors to
// use.
KERNEL void neighbours(GLOBAL const real *factors, int pair_padded, int factor, int rows,
                       int row_step, int columns, int column_step,
                       GLOBAL const real *row_weights, int row_weights_padded,
                       GLOBAL const real *column_weights, int column_weights_padded,
                       int rows_weighted, int columns_weighted,
                       GLOBAL const real *frames, GLOBAL const coefficients *c, int slot,
                       int contacts, GLOBAL real *activity)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  if (first >= rows) {
    return;
  }
  const int last = rows - 1, stride = 3 * pair_padded;
  GLOBAL const real *dbar = NUMS(factors, pose, stride);
  GLOBAL const real *a = dbar + factor * pair_padded;
  const row_softmax s = softmax_over(dbar, stride, first, last, row_step, columns, column_step, c);
  num share = s.share;
  if (rows_weighted) {
    share = n_mul(share, gather(NUMS(row_weights, pose, row_weights_padded), row_weights_padded,
                                first, last, 1));
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL real *out = NUMS(activity, pose, contacts) + slot;
  for (int j = 0; j < columns; ++j) {
    const num x = gather(dbar + j * column_step, stride, first, last, row_step);
    const num e = n_exp2(n_scale(n_sub(s.least, x), c->neighbour_log2e));
    num y = n_mul(n_mul(share, gather(a + j * column_step, stride, first, last, row_step)), e);
    if (columns_weighted) {
      y = n_mul(y, load_one(NUMS(column_weights, pose, column_weights_padded) + j,
                            column_weights_padded));
    }
    store_step(out + first * row_step + j * column_step, contacts, NO_ORDER, 0, 0, rows - first,
               row_step, poisoned(frame, y));
  }
}

// Adjoint of neighbours: cotangents of the activities from slot `slot` on -> factors_bar, planes
// dbar, both factors and, where any edge is weighted, both activities without gate weights times
// their cotangents, for weights_adjoint. The plane dbar is added to where `there`.
ADJOINT_KERNEL void neighbours_adjoint(GLOBAL const real *factors, int pair_padded, int factor,
                                       int rows, int row_step, int columns, int column_step,
                                       GLOBAL const real *row_weights, int row_weights_padded,
                                       GLOBAL const real *column_weights, int column_weights_padded,
                                       int rows_weighted, int columns_weighted,
                                       GLOBAL const coefficients *c, int slot, int contacts,
                                       GLOBAL const real *activity_bar, int a_shared, int there,
                                       GLOBAL real *factors_bar, int factors_bar_planes)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  if (first >= rows) {
    return;
  }
  const int last = rows - 1, stride = 3 * pair_padded, bar_stride = a_shared ? 0 : contacts;
  const int out_stride = factors_bar_planes * pair_padded;
  GLOBAL const real *dbar = NUMS(factors, pose, stride);
  GLOBAL const real *a = dbar + factor * pair_padded;
  GLOBAL const real *bars = NUMS(activity_bar, pose, bar_stride) + slot;
  GLOBAL real *out = NUMS(factors_bar, pose, out_stride);
  const row_softmax s = softmax_over(dbar, stride, first, last, row_step, columns, column_step, c);
  num weight = n_lit(R(1.0));
  if (rows_weighted) {
    weight = gather(NUMS(row_weights, pose, row_weights_padded), row_weights_padded, first, last,
                    1);
  }
  num mean = n_lit(R(0.0)); // of the shares' cotangents, by the shares
  for (int pass = 0; pass < 2; ++pass) {
    for (int j = 0; j < columns; ++j) {
      const int at = j * column_step;
      const num x = gather(dbar + at, stride, first, last, row_step);
      const num e = n_exp2(n_scale(n_sub(s.least, x), c->neighbour_log2e));
      const num share = n_mul(e, s.share);
      const num bar = gather(bars + at, bar_stride, first, last, row_step);
      num weighted = n_mul(bar, weight);
      if (columns_weighted) {
        weighted = n_mul(weighted, load_one(NUMS(column_weights, pose, column_weights_padded) + j,
                                            column_weights_padded));
      }
      const num factor_at = gather(a + at, stride, first, last, row_step);
      const num share_bar = n_mul(weighted, factor_at);
      if (pass == 0) {
        mean = n_mad(share, share_bar, mean);
        continue;
      }
      GLOBAL real *to = out + first * row_step + at;
      num slope = n_scale(n_mul(share, n_sub(mean, share_bar)), c->neighbour_log2e * LN2);
      if (there) {
        slope = n_add(slope, gather(to, out_stride, 0, last - first, row_step));
      }
      store_step(to, out_stride, NO_ORDER, 0, 0, rows - first, row_step,
                 bounded(slope, COTANGENT_LIMIT));
      store_step(to + factor * pair_padded, out_stride, NO_ORDER, 0, 0, rows - first, row_step,
                 n_mul(weighted, share));
      if (factors_bar_planes > 3) {
        store_step(to + (2 + factor) * pair_padded, out_stride, NO_ORDER, 0, 0, rows - first,
                   row_step, n_mul(n_mul(bar, factor_at), share));
      }
    }
  }
}

// Cotangents of one body's gate weights, from planes 3 and 4 of factors_bar. Steps as in
// neighbours.
ADJOINT_KERNEL void weights_adjoint(GLOBAL const real *factors_bar, int pair_padded, int rows,
                                    int row_step, int columns, int column_step,
                                    GLOBAL const real *column_weights, int column_weights_padded,
                                    int columns_weighted, GLOBAL real *weights_bar, int padded)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  if (first >= rows) {
    return;
  }
  const int stride = FACTORS_BAR_PLANES(1) * pair_padded;
  GLOBAL const real *from = NUMS(factors_bar, pose, stride) + 3 * pair_padded;
  num sum = n_lit(R(0.0));
  for (int j = 0; j < columns; ++j) {
    num both = n_add(gather(from + j * column_step, stride, first, rows - 1, row_step),
                     gather(from + pair_padded + j * column_step, stride, first, rows - 1,
                            row_step));
    if (columns_weighted) {
      both = n_mul(both, load_one(NUMS(column_weights, pose, column_weights_padded) + j,
                                  column_weights_padded));
    }
    sum = n_add(sum, both);
  }
  store(NUMS(weights_bar, pose, padded) + first, padded, sum);
}
