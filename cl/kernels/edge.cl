// Edge-edge contacts: witness points, then fields there (field.cl), contacts, soft nearest
// neighbours.

// Witness points of every pair of kept edges, slot k of body 1 varying slowest.
// ends: six planes of `padded` reals, in each body's frame. out: WITNESS_PLANES planes of
// `pair_padded`, in body 1's frame.
KERNEL void edge_witnesses(GLOBAL const real *ends1, int stride1, int padded1, int kept1,
                           GLOBAL const real *ends2, int stride2, int padded2, int kept2,
                           GLOBAL const real *frames, GLOBAL const coefficients *c,
                           GLOBAL real *out, int pair_padded)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= pair_padded) {
    return;
  }
  GLOBAL const real *from1 = ROW(ends1, pose, stride1);
  GLOBAL const real *from2 = ROW(ends2, pose, stride2);
  int k = block * LANES / kept2;
  int l = block * LANES % kept2;
  real p[6][LANES], q[6][LANES];
  for (int i = 0; i < LANES; ++i) {
    for (int j = 0; j < 6; ++j) {
      p[j][i] = from1[j * padded1 + k];
      q[j][i] = from2[j * padded2 + l];
    }
    if (l + 1 < kept2) {
      ++l;
    } else if (k + 1 < kept1) {
      ++k;
      l = 0;
    }
  }
  GLOBAL const real *frame = ROW(frames, pose, FRAME_STRIDE) + FRAME_2_TO_1;
  const vec3_r p0 = make_r(lane_load(p[0]), lane_load(p[1]), lane_load(p[2]));
  const vec3_r p1 = make_r(lane_load(p[3]), lane_load(p[4]), lane_load(p[5]));
  const vec3_r q0 = make_r(lane_load(q[0]), lane_load(q[1]), lane_load(q[2]));
  const vec3_r q1 = make_r(lane_load(q[3]), lane_load(q[4]), lane_load(q[5]));
  vec3_r e1, e2;
  lane con;
  edge_witness_r(p0, p1, transform_r(frame, q0), transform_r(frame, q1), c, &e1, &e2, &con);
  GLOBAL real *row = ROW(out, pose, WITNESS_PLANES * pair_padded);
  store_planes(row, pair_padded, block, e1);
  store_planes(row + 3 * pair_padded, pair_padded, block, e2);
  lane_store(con, row + 6 * pair_padded + block * LANES);
}

// Everything of an edge-edge contact that its pair alone decides. own1, own2: planes phi, normal of
// each body at its own point; opposing1, opposing2: phi of the other body there. factors: planes
// dbar, and both activities without the neighbour's softmax.
KERNEL void edge_contacts(GLOBAL const real *witness, int pair_padded, int pairs,
                          GLOBAL const real *own1, GLOBAL const real *own2,
                          GLOBAL const real *opposing1, GLOBAL const real *opposing2,
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
  GLOBAL const real *frame = ROW(frames, pose, FRAME_STRIDE);
  GLOBAL const real *at = ROW(witness, pose, WITNESS_PLANES * pair_padded);
  GLOBAL const real *row1 = ROW(own1, pose, 4 * pair_padded);
  GLOBAL const real *row2 = ROW(own2, pose, 4 * pair_padded);
  const vec3_r e1 = load_planes(at, pair_padded, block);
  const vec3_r e2 = load_planes(at + 3 * pair_padded, pair_padded, block);
  const lane con = lane_load(at + 6 * pair_padded + first);
  const vec3_r m1 = load_planes(row1 + pair_padded, pair_padded, block);
  const vec3_r m2 =
    rotate_r(frame + FRAME_2_TO_1, load_planes(row2 + pair_padded, pair_padded, block));
  const edge_contact_r r = edge_pair_r(e1, e2, con, m1, m2, lane_load(row1 + first),
                                       lane_load(row2 + first),
                                       lane_load(ROW(opposing1, pose, pair_padded) + first),
                                       lane_load(ROW(opposing2, pose, pair_padded) + first), c);
  GLOBAL real *out = ROW(factors, pose, 3 * pair_padded);
  store_planes(out, pair_padded, block, make_r(r.dbar, r.a1, r.a2));

  const lane poison = lane_lit(frame[FRAME_POISON]);
  const vec3_r poison3 = make_r(poison, poison, poison);
  const lane one = lane_lit(R(1.0));
  if (want & WANT_P) {
    GLOBAL real *row = ROW(p, pose, 3 * contacts);
    const vec3_r w1 = mad3_r(transform_r(frame + FRAME_WORLD_1, e1), one, poison3);
    const vec3_r w2 = mad3_r(transform_r(frame + FRAME_WORLD_1, e2), one, poison3);
    store_row3(row + 3 * slot1, NO_ORDER, 0, first, pairs, w1);
    store_row3(row + 3 * slot2, NO_ORDER, 0, first, pairs, w2);
  }
  if (want & WANT_D) {
    GLOBAL real *row = ROW(d, pose, contacts);
    store_row(row + slot1, NO_ORDER, 0, first, pairs, r.d1 + poison);
    store_row(row + slot2, NO_ORDER, 0, first, pairs, r.d2 + poison);
  }
  if (want & WANT_N) {
    GLOBAL real *row = ROW(n, pose, 3 * contacts);
    const vec3_r w1 = mad3_r(rotate_r(frame + FRAME_WORLD_1, r.n1), one, poison3);
    const vec3_r w2 = mad3_r(rotate_r(frame + FRAME_WORLD_1, r.n2), one, poison3);
    store_row3(row + 3 * slot1, NO_ORDER, 0, first, pairs, w1);
    store_row3(row + 3 * slot2, NO_ORDER, 0, first, pairs, w2);
  }
}

// Activity of each edge pair: its factor, times the softmax of -dbar / neighbour along the other
// body's kept edges, times both gate weights. Lanes run over `rows` of the matrix of pairs and each
// walks its `columns`; strides say which body's edges the rows are. factor: the plane of factors to
// use.
KERNEL void neighbours(GLOBAL const real *factors, int pair_padded, int factor, int rows,
                       int row_stride, int columns, int column_stride,
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
  const int last = rows - 1;
  GLOBAL const real *dbar = ROW(factors, pose, 3 * pair_padded);
  GLOBAL const real *a = dbar + factor * pair_padded;
  lane least = lane_lit(REAL_BIG);
  for (int j = 0; j < columns; ++j) {
    least = lane_min(least, gather(dbar + j * column_stride, first, last, row_stride));
  }
  lane sum = lane_lit(R(0.0));
  for (int j = 0; j < columns; ++j) {
    const lane x = gather(dbar + j * column_stride, first, last, row_stride);
    sum = sum + lane_exp2((least - x) * c->neighbour_log2e);
  }
  lane share = R(1.0) / sum;
  if (rows_weighted) {
    share = share * gather(ROW(row_weights, pose, row_weights_padded), first, last, 1);
  }
  const real poison = ROW(frames, pose, FRAME_STRIDE)[FRAME_POISON];
  GLOBAL real *out = ROW(activity, pose, contacts) + slot;
  for (int j = 0; j < columns; ++j) {
    const lane x = gather(dbar + j * column_stride, first, last, row_stride);
    lane y = share * gather(a + j * column_stride, first, last, row_stride) *
             lane_exp2((least - x) * c->neighbour_log2e);
    if (columns_weighted) {
      y = y * ROW(column_weights, pose, column_weights_padded)[j];
    }
    real t[LANES];
    lane_store(y + poison, t);
    for (int i = 0; i < LANES && first + i < rows; ++i) {
      out[(first + i) * row_stride + j * column_stride] = t[i];
    }
  }
}
