// The adjoints of near_pairs.cl and near_edges.cl: for the factors and witness points of listed
// pairs, and for the selection of edges. listed_adjoint.cl states the layout of cotangents.

// The adjoint of the softmax over a row or a column of pairs. Exponentials e are relative to the
// least dbar of an edge whose weight w is not 0, and u = e / sum of w e.
//
// With g = w u a factor is con own w g, where own is the row's or column's own weight. Its
// cotangent's share b = bar con own w has the mean m = sum g b, and the softmax gives g (m - b) /
// neighbour to dbar and u (b - m) to w.

// For row k it writes the planes of dbar and con, and stores the other body's weight cotangents in
// plane PAIR_BAR_WEIGHTS. It returns the cotangent of the row's own weight.
static num row_factors_adjoint(GLOBAL const real *row, int stride, int plane, int k,
                               const kept_edges *own, const kept_edges *others,
                               GLOBAL const coefficients *c, GLOBAL real *bars, int bar_stride)
{
  const int count = others->kept, from = k * count;
  const lane none = lane_lit(R(0.0));
  GLOBAL const real *dbar = row + NEAR_DBAR * plane + from;
  GLOBAL const real *con = row + NEAR_CON * plane + from;
  GLOBAL const real *factor_bar = bars + PAIR_BAR_FACTORS * plane + from;
  const num weight = kept_weight(own, k);
  lane low = lane_lit(REAL_BIG);
  for (int l = 0; l < count; l += LANES) {
    const lane x = n_value(load(dbar + l, stride));
    const ilane here = lanes_below(l, count);
    const ilane counts = here & (n_value(kept_weights(others, l)) > none);
    low = lane_select(counts & (x < low), x, low);
  }
  const num least = n_lit(lane_lit(lane_least(low)));
  num sum = n_lit(R(0.0)), mean = sum, weight_bar = sum;
  for (int pass = 0; pass < 3; ++pass) {
    for (int l = 0; l < count; l += LANES) {
      const ilane here = lanes_below(l, count);
      const num w = kept_weights(others, l);
      const ilane counts = here & (n_value(w) > none);
      const num e =
        n_select(counts, n_exp2(n_scale(n_sub(least, load(dbar + l, stride)), c->neighbour_log2e)),
                 n_lit(R(0.0)));
      if (pass == 0) {
        sum = n_add(sum, n_select(counts, n_mul(w, e), n_lit(R(0.0))));
        continue;
      }
      const num u = n_mul(e, sum), g = n_select(counts, n_mul(w, u), n_lit(R(0.0)));
      const num at = n_select(here, load(con + l, stride), n_lit(R(0.0)));
      const num bar = n_select(here, load(factor_bar + l, bar_stride), n_lit(R(0.0)));
      const num share = n_mul(n_mul(bar, at), n_mul(weight, n_select(counts, w, n_lit(R(0.0)))));
      if (pass == 1) {
        mean = n_add(mean, n_mul(g, share));
        continue;
      }
      GLOBAL real *to = bars + from + l;
      const num slope = n_scale(n_mul(g, n_sub(mean, share)), c->neighbour_log2e * LN2);
      const num by_softmax = n_mul(u, n_sub(share, mean));
      const num by_own = n_mul(n_mul(bar, at), g);
      weight_bar = n_add(weight_bar, n_select(counts, n_mul(by_own, w), n_lit(R(0.0))));
      store_row(to + PAIR_BAR_DBAR * plane, bar_stride, NO_ORDER, 0, 0, count - l,
                bounded(slope, COTANGENT_LIMIT));
      store_row(to + PAIR_BAR_CON * plane, bar_stride, NO_ORDER, 0, 0, count - l,
                n_select(counts, n_mul(n_mul(bar, weight), n_mul(w, g)), n_lit(R(0.0))));
      store_row(to + PAIR_BAR_WEIGHTS * plane, bar_stride, NO_ORDER, 0, 0, count - l,
                bounded(n_mad(by_own, weight, by_softmax), COTANGENT_LIMIT));
    }
    if (pass == 0) {
      const num all = all_lanes(sum);
      sum = n_select(n_value(all) > none, n_rcp(all), n_lit(R(0.0)));
    } else if (pass == 1) {
      mean = all_lanes(mean);
    }
  }
  return all_lanes(weight_bar);
}

// Does the same for the columns starting at l, and adds to the planes of dbar and con. The
// cotangents of body 1's weights are stored in plane PAIR_BAR_WEIGHTS + 1. It returns the
// cotangents of body 2's own weights, including the rows' contributions.
static num column_factors_adjoint(GLOBAL const real *row, int stride, int plane, int l,
                                  const kept_edges *own, const kept_edges *others,
                                  GLOBAL const coefficients *c, GLOBAL real *bars, int bar_stride)
{
  const int step = own->kept;
  const lane none = lane_lit(R(0.0));
  GLOBAL const real *dbar = row + NEAR_DBAR * plane + l;
  const num weight = kept_weights(own, l);
  num least = n_lit(REAL_BIG), sum = n_lit(R(0.0)), mean = sum, weight_bar = sum;
  for (int k = 0; k < others->kept; ++k) {
    const num x = load(dbar + k * step, stride);
    const ilane less = n_value(x) < n_value(least);
    const ilane counts = less & (n_value(kept_weight(others, k)) > none);
    least = n_select(counts, x, least);
  }
  for (int pass = 0; pass < 3; ++pass) {
    for (int k = 0; k < others->kept; ++k) {
      const int at_pair = k * step + l;
      const num w = kept_weight(others, k);
      const ilane counts = n_value(w) > none;
      const num e =
        n_select(counts,
                 n_exp2(n_scale(n_sub(least, load(dbar + k * step, stride)), c->neighbour_log2e)),
                 n_lit(R(0.0)));
      if (pass == 0) {
        sum = n_mad(w, e, sum);
        continue;
      }
      const num u = n_mul(e, sum), g = n_mul(w, u);
      const num at = load(row + NEAR_CON * plane + at_pair, stride);
      const num bar = load(bars + (PAIR_BAR_FACTORS + 1) * plane + at_pair, bar_stride);
      const num share = n_mul(n_mul(bar, at), n_mul(weight, w));
      if (pass == 1) {
        mean = n_mad(g, share, mean);
        continue;
      }
      GLOBAL real *to = bars + at_pair;
      const num slope = n_scale(n_mul(g, n_sub(mean, share)), c->neighbour_log2e * LN2);
      const num by_softmax = n_mul(u, n_sub(share, mean));
      const num by_own = n_mul(n_mul(bar, at), g);
      weight_bar =
        n_add(weight_bar, n_add(n_mul(by_own, w), load(to + PAIR_BAR_WEIGHTS * plane, bar_stride)));
      const num dbar_bar = n_add(slope, load(to + PAIR_BAR_DBAR * plane, bar_stride));
      const num con_bar =
        n_add(n_mul(n_mul(bar, weight), n_mul(w, g)), load(to + PAIR_BAR_CON * plane, bar_stride));
      store_row(to + PAIR_BAR_DBAR * plane, bar_stride, NO_ORDER, 0, 0, step - l,
                bounded(dbar_bar, COTANGENT_LIMIT));
      store_row(to + PAIR_BAR_CON * plane, bar_stride, NO_ORDER, 0, 0, step - l, con_bar);
      store_row(to + (PAIR_BAR_WEIGHTS + 1) * plane, bar_stride, NO_ORDER, 0, 0, step - l,
                bounded(n_mad(by_own, weight, by_softmax), COTANGENT_LIMIT));
    }
    if (pass == 0) {
      sum = n_select(n_value(sum) > none, n_rcp(sum), n_lit(R(0.0)));
    }
  }
  return weight_bar;
}

// Returns the columns' contributions to the cotangent of row k's weight.
static num row_weights_bar(GLOBAL const real *bars, int bar_stride, int plane, int k, int count)
{
  num sum = n_lit(R(0.0));
  for (int l = 0; l < count; l += LANES) {
    const num x = load(bars + (PAIR_BAR_WEIGHTS + 1) * plane + k * count + l, bar_stride);
    sum = n_add(sum, n_select(lanes_below(l, count), x, n_lit(R(0.0))));
  }
  return all_lanes(sum);
}

// Converts the cotangents of both factors to cotangents of dbar and con, in bars, and of the gate
// weights, bar1 and bar2 of a pose.
static void shares_adjoint(GLOBAL const real *row, GLOBAL const pair_head *pair,
                           const kept_edges *edges1, const kept_edges *edges2, GLOBAL real *bars,
                           GLOBAL real *bar1, GLOBAL real *bar2, int item)
{
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  const int bar_stride = PAIR_BAR_PLANES * plane;
  GLOBAL const coefficients *c = &pair->c;
  for (int k = item; k < edges1->kept; k += WG) {
    const num bar = row_factors_adjoint(row, stride, plane, k, edges1, edges2, c, bars, bar_stride);
    if (edges1->weighted) {
      store_first(bar1 + k, edges1->padded, bar);
    }
  }
  BARRIER_GLOBAL;
  for (int l = item * LANES; l < edges2->kept; l += WG * LANES) {
    const num bar =
      column_factors_adjoint(row, stride, plane, l, edges2, edges1, c, bars, bar_stride);
    if (edges2->weighted) {
      store(bar2 + l, edges2->padded, bounded(bar, COTANGENT_LIMIT));
    }
  }
  BARRIER_GLOBAL;
  for (int k = item; edges1->weighted && k < edges1->kept; k += WG) {
    const num bar = n_add(load_one(bar1 + k, edges1->padded),
                          row_weights_bar(bars, bar_stride, plane, k, edges2->kept));
    store_first(bar1 + k, edges1->padded, bounded(bar, COTANGENT_LIMIT));
  }
}

// Converts the cotangents of a block's witness points, dbar and con to the wrench that moves its
// edges of body 2. row and bars belong to one pose.
static void witness_block_adjoint(GLOBAL const real *row, GLOBAL const pair_head *pair,
                                  const edge_ends *at, GLOBAL const real *bars, int first,
                                  wrench *relative)
{
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  const bar_block in = {bars + first, PAIR_BAR_PLANES * plane, plane,
                        lanes_below(first, pair->n.pairs)};
  const vec gap = FN(sub3)(load3(row + NEAR_E1 * plane + first, stride, plane),
                           load3(row + NEAR_E2 * plane + first, stride, plane));
  const num gap2 = FN(dot3)(gap, gap);
  const num length_inv = n_rcp(n_sqrt(n_shift(gap2, pair->c.distance)));
  // dbar = gap2 / length, whose derivative along gap / length is 2 - dbar / length.
  const num steep = n_mul(n_mul(bar_of(&in, PAIR_BAR_DBAR), length_inv),
                          n_sub(n_lit(R(2.0)), n_mul(n_mul(gap2, length_inv), length_inv)));
  const vec push = only_there(in.there, FN(scale3)(gap, steep));
  vec bar[4];
  FN(edge_witness_adjoint)(at->p0, at->p1, at->q0, at->q1, &pair->c,
                           FN(add3)(bar3_of(&in, PAIR_BAR_E1), push),
                           FN(sub3)(bar3_of(&in, PAIR_BAR_E2), push), bar_of(&in, PAIR_BAR_CON),
                           bar);
  for (int i = 2; i < 4; ++i) {
    const vec q = only_there(in.there, bounded3(bar[i], COTANGENT_LIMIT));
    push_at(relative, only_there(in.there, i == 2 ? at->q0 : at->q1), q);
  }
}

// The adjoint of near_pairs, from the results of listed_pairs_adjoint: to wrenches that move the
// edges' ends, and to the gate weights, weights_bar1 and weights_bar2 of whole blocks.
MERGED
ADJOINT_KERNEL ADJOINT_GROUPED void near_pairs_adjoint(
  GLOBAL const real *ends1, GLOBAL const real *weights1, GLOBAL const real *weights2,
  GLOBAL const pair_head *pair, GLOBAL const int *list, GLOBAL const real *pairs,
  GLOBAL real *pair_bars, GLOBAL real *weights_bar1, GLOBAL real *weights_bar2,
  GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int plane = pair->n.near_plane;
  const int any = ROW(list, pose, plane + 1)[0]; // no return: see KERNEL
  GLOBAL const real *row = NUMS(pairs, pose, pair->n.near_stride);
  GLOBAL real *bars = NUMS(pair_bars, pose, PAIR_BAR_PLANES * plane);
  wrench relative = no_wrench();
  const kept_edges edges1 = kept_edges_of(&pair->n, 0, any, weights1, pose);
  const kept_edges edges2 = kept_edges_of(&pair->n, 1, any, weights2, pose);
  shares_adjoint(row, pair, &edges1, &edges2, bars, NUMS(weights_bar1, pose, edges1.padded),
                 NUMS(weights_bar2, pose, edges2.padded), item);
  GLOBAL const real *placed = row + NEAR_PLANES * plane;
  for (int block = item; any && block * LANES < pair->n.pairs; block += WG) {
    const edge_ends at = near_ends(kept_row(ends1, &pair->n, 0, pose), placed, &pair->n, block);
    witness_block_adjoint(row, pair, &at, bars, block * LANES, &relative);
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + item, relative, no_wrench());
}

#if WITH_ADJOINT // only a kernel may declare local memory
// The adjoint of a body's gated selection. It converts the cotangents of the weights to cotangents
// of the ranked scores, and these to cotangents of distances in the other body's field (head,
// shape). The distances are at the ends of the retained edges, and of the first edge that is not
// retained.
MERGED
ADJOINT_KERNEL ADJOINT_GROUPED void near_select_adjoint(
  GLOBAL const int *index, GLOBAL const real *top, GLOBAL const real *source,
  GLOBAL const real *weights_bar, GLOBAL const int *list, GLOBAL const real *frames,
  GLOBAL const int *head, GLOBAL const real *shape, GLOBAL const pair_head *pair, int side,
  GLOBAL real *ranked_bar, GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  LOCAL_ARRAY(real, sums, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  const int kept = e->kept, padded = e->padded;
  wrench relative = no_wrench();
  // If all edges are retained, the weights are 1, and nothing depends on them; no return: see
  // KERNEL.
  const int any = ROW(list, pose, pair->n.near_plane + 1)[0] && kept < e->count;
  GLOBAL const int *found = ROW(index, pose, kept + 1);
  GLOBAL real *ranked = NUMS(ranked_bar, pose, kept + 1);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  gate_row_adjoint(NUMS(top, pose, kept + 1), e, &pair->c, NUMS(weights_bar, pose, e->slots),
                   ranked, sums, item, any);
  BARRIER_GLOBAL;
  const int ends = any ? 2 * (kept + 1) : 0;
  for (int first = item * LANES; first < ends; first += WG * LANES) {
    real at[3][LANES];
    num bar = n_lit(R(0.0));
    EACH_PART (part) {
      real t[LANES];
      for (int i = 0; i < LANES; ++i) {
        const int end = MIN_INT(first + i, ends - 1), k = end / 2;
        for (int j = 0; j < 3; ++j) {
          at[j][i] = source[(3 * (end % 2) + j) * padded + found[k]];
        }
        t[i] = R(-0.5) * ranked[part * (kept + 1) + k];
      }
      bar = n_with_part(bar, part, lane_load(t));
    }
    bar = n_select(lanes_below(first, ends), bar, n_lit(R(0.0)));
    const vec own =
      FN(make)(n_of(lane_load(at[0])), n_of(lane_load(at[1])), n_of(lane_load(at[2])));
    FN(jet) jet;
    const vec x = FN(limit3)(place(frame + FRAME_ACROSS(side), own), R(2.0) * SEPARATION_LIMIT);
    FN(body_jet)(head, shape, &pair->c, x, JET_GRADIENT, REAL_BIG, &jet);
    const vec push = FN(scale3)(steady3(jet.gradient, COTANGENT_LIMIT), bar);
    if (side) {
      push_at(&relative, place(frame + FRAME_2_TO_1, own), push);
    } else {
      push_at(&relative, own, FN(neg3)(turn_back(frame + FRAME_1_TO_2, push)));
    }
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + item, relative, no_wrench());
}
#endif
