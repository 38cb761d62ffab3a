// The adjoint of listed_edges of body `side`, as listed_adjoint.cl has it for vertices. head and shape
// are those of the other body. With `solve` nobody has found the places yet: the caller has named
// what is listed.
MERGED
ADJOINT_KERNEL void listed_edges_adjoint(GLOBAL const real *edges, GLOBAL const int *list,
                                         GLOBAL const real *places, GLOBAL const real *frames,
                                         GLOBAL const int *head, GLOBAL const real *shape,
                                         GLOBAL const pair_head *pair, int side, int solve,
                                         int have, GLOBAL const real *bars,
                                         GLOBAL real *wrenches, int wrench_stride,
                                         int wrench_block)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_sizes *n = &pair->n;
  GLOBAL const pair_elements *e = &n->elements[EDGES_OF(side)];
  GLOBAL const int *listed = ROW(list, pose, EDGE_LIST_STRIDE(n)) + EDGE_LIST_AT(n, side);
  const int plane = EDGE_LIST_PLANE(n, side), stride = VALUE_PLANES * EDGE_ENTRIES_STRIDE(n);
  const int count = e->kept ? listed[0] / 2 : 0;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *row = NUMS(bars, pose, stride) + VALUE_PLANES * EDGE_ENTRIES_AT(n, side);
  wrench relative = no_wrench(), carried = relative;
  for (int first = item * LANES; first < count; first += WG * LANES) {
    const edge_block block = edge_block_listed(edges, listed, e, first);
    const FN(rail) rail = load_rail(&block, e, c, frame + FRAME_ACROSS(side));
    const num zero = n_lit(R(0.0));
    const vec none = FN(make)(zero, zero, zero);
    lane s[2], at_ends[2];
    if (solve) {
      edge_places(head, shape, c, &rail, s, at_ends);
    } else {
      GLOBAL const real *found = ROW(places, pose, EDGE_PLACES * e->slots) + first;
      s[0] = lane_load(found);
      s[1] = lane_load(found + e->slots);
    }
    vec pulls[2], twists[2], p_bar[2], n_bar[2], x[2], normal[2];
    num d_bar[2], a_bar[2], gate_bar;
    const num w_bar[2] = {zero, zero};
    for (int end = 0; end < 2; ++end) {
      num bar[VALUE_PLANES];
      for (int j = 0; j < VALUE_PLANES; ++j) {
        const int wanted = j < VALUE_D ? WANT_P : j == VALUE_D ? WANT_D
                           : j < VALUE_ACTIVITY ? WANT_N : WANT_ACTIVITY;
        bar[j] = have & wanted ? cotangent_step(row + j * plane + end, stride, NO_ORDER, 0, first,
                                                count, 2)
                               : zero;
      }
      pulls[end] = twists[end] = none;
      if (have & WANT_P) {
        pulls[end] = turn_back(frame + FRAME_WORLD_1, FN(make)(bar[0], bar[1], bar[2]));
      }
      if (have & WANT_N) {
        twists[end] = turn_back(frame + FRAME_WORLD_1, FN(make)(bar[VALUE_N], bar[VALUE_N + 1],
                                                                bar[VALUE_N + 2]));
      }
      p_bar[end] = side ? pulls[end] : turn(frame + FRAME_1_TO_2, pulls[end]);
      n_bar[end] = side ? twists[end] : turn(frame + FRAME_1_TO_2, twists[end]);
      d_bar[end] = bar[VALUE_D];
      a_bar[end] = bar[VALUE_ACTIVITY];
    }
    edge_traces none_asked;
    none_asked.on = 0;
    const wrench moved =
      edge_slots_adjoint(head, shape, pair, side, frame, &rail, s, n_lit(R(1.0)), p_bar, n_bar, d_bar, a_bar,
                         w_bar, x, normal, &gate_bar, &none_asked);
    move_edges(frame, side, &moved, &relative);
    for (int end = 0; end < 2; ++end) {
      const vec twist = FN(mad3)(pulls[end], n_neg(rail.radius), twists[end]);
      carry_slot(frame, side, x[end], normal[end], pulls[end], twist, &relative, &carried);
    }
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + item, relative, carried);
}
