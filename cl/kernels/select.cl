// Soft and gated top-K of vertices and edges.

// Score of a vertex: -phi. Padding gets SCORE_NONE. rank: where a vertex lies in `field`.
KERNEL void vertex_scores(GLOBAL const real *field, int field_stride, GLOBAL const int *rank,
                          int padded, int count, GLOBAL real *scores)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  GLOBAL const real *phi = NUMS(field, pose, field_stride);
  GLOBAL real *row = NUMS(scores, pose, padded);
  EACH_PART(part) {
    const real none = part ? R(0.0) : SCORE_NONE;
    row[part * padded + i] = i < count ? -phi[part * field_stride + rank[i]] : none;
  }
}

// Score of an edge: minus the mean phi of its ends. edges: (count, 2), where both lie in `field`.
KERNEL void edge_scores(GLOBAL const real *field, int field_stride, GLOBAL const int *edges,
                        int padded, int count, GLOBAL real *scores)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  GLOBAL const real *phi = NUMS(field, pose, field_stride);
  GLOBAL real *row = NUMS(scores, pose, padded);
  EACH_PART(part) {
    const real none = part ? R(0.0) : SCORE_NONE;
    GLOBAL const real *from = phi + part * field_stride;
    row[part * padded + i] =
      i < count ? R(-0.5) * (from[edges[2 * i]] + from[edges[2 * i + 1]]) : none;
  }
}

#if WITH_FORWARD // local memory is a kernel's alone
// The `kept` + 1 largest scores in descending order, ties by index: their indices and values, the
// last (or SCORE_NONE) for the gate. One work-group a pose: each pass finds the first element
// behind the last one found. Needs no copy of the scores and gives one order whatever the group's
// size.
KERNEL void top_scores(GLOBAL const real *scores, int padded, int count, int kept,
                       GLOBAL int *index, GLOBAL real *top)
{
  LOCAL_ARRAY(real, best_score, WG);
  LOCAL_ARRAY(int, best_index, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const real *row = NUMS(scores, pose, padded);
  real last = REAL_BIG;
  int last_index = -1;
  for (int k = 0; k <= kept; ++k) {
    lane score = lane_lit(SCORE_NONE);
    lane where = lane_lit(R(0.0)); // the element's index as a real: exact below 2^24
    for (int block = item; block * LANES < padded; block += WG) {
      const lane s = lane_load(row + block * LANES);
      const lane at = lane_iota() + (real)(block * LANES);
      const ilane behind = (s < lane_lit(last)) |
                           ((s == lane_lit(last)) & (at > lane_lit((real)last_index)));
      const ilane better = behind & (s > score);
      score = lane_select(better, s, score);
      where = lane_select(better, at, where);
    }
    real found = SCORE_NONE;
    int found_index = count;
    real s[LANES], at[LANES];
    lane_store(score, s);
    lane_store(where, at);
    for (int i = 0; i < LANES; ++i) {
      const int j = (int)at[i];
      if (s[i] > found || (s[i] == found && s[i] > SCORE_NONE && j < found_index)) {
        found = s[i];
        found_index = j;
      }
    }
    best_score[item] = found;
    best_index[item] = found_index;
    BARRIER;
    for (int step = WG / 2; step > 0; step /= 2) {
      const int other = item + step;
      if (item < step && (best_score[other] > best_score[item] ||
                              (best_score[other] == best_score[item] &&
                               best_index[other] < best_index[item]))) {
        best_score[item] = best_score[other];
        best_index[item] = best_index[other];
      }
      BARRIER;
    }
    found = best_score[0];
    found_index = best_index[0];
    BARRIER;
    last = found;
    last_index = found_index;
    if (item == 0) {
      // Behind the last element none is found: its index is not used, but stays in range.
      const int place_of = MIN_INT(found_index, count - 1);
      GLOBAL real *to = NUMS(top, pose, kept + 1) + k;
      ROW(index, pose, kept + 1)[k] = place_of;
      to[0] = found;
      for (int part = 1; part < PARTS; ++part) {
        to[part * (kept + 1)] = row[part * padded + place_of];
      }
    }
  }
}
#endif

// Row k of SoftSort (Prillo and Eisenschlos 2020): weights softmax_i(-|s_(k) - s_i| / sort), and
// the weighted mean of `columns` source planes. s_(k) is one of the s_i: the largest exponent is 0.
// sums: one over the sum of each row's exponentials, for the adjoint.
static void softsort_row(GLOBAL const real *scores, GLOBAL const real *top, int kept,
                         GLOBAL const real *source, int padded, const int columns,
                         GLOBAL const coefficients *c, GLOBAL real *out, int out_padded,
                         GLOBAL real *sums)
{
  const int k = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (k >= kept) {
    return;
  }
  const num ranked = load_one(NUMS(top, pose, kept + 1) + k, kept + 1);
  GLOBAL const real *s = NUMS(scores, pose, padded);
  const num zero = n_lit(R(0.0));
  num sum = zero;
  num mix[6] = {zero, zero, zero, zero, zero, zero};
  // In two levels, so that a thousand terms add up with the rounding of some sixty.
  for (int begin = 0; begin < padded; begin += 32 * LANES) {
    num part_sum = zero;
    num part[6] = {zero, zero, zero, zero, zero, zero};
    for (int i = begin; i < MIN_INT(begin + 32 * LANES, padded); i += LANES) {
      const num x = n_scale(n_abs(n_sub(ranked, load(s + i, padded))), -c->sort_log2e);
      if (!lane_any(n_value(x) > lane_lit(WEIGHT_CUTOFF))) {
        continue;
      }
      const num w = n_exp2(x);
      part_sum = n_add(part_sum, w);
      for (int j = 0; j < columns; ++j) {
        part[j] = n_add(part[j], n_times(w, lane_load(source + j * padded + i)));
      }
    }
    sum = n_add(sum, part_sum);
    for (int j = 0; j < columns; ++j) {
      mix[j] = n_add(mix[j], part[j]);
    }
  }
  const num sum_inv = n_rcp(all_lanes(sum));
  const int end = k == kept - 1 ? out_padded : k + 1; // the last row fills the padding
  store_first(NUMS(sums, pose, out_padded) + k, out_padded, sum_inv);
  for (int j = 0; j < columns; ++j) {
    const num mean = steady(n_mul(all_lanes(mix[j]), sum_inv), COTANGENT_LIMIT);
    GLOBAL real *row = NUMS(out, pose, columns * out_padded) + j * out_padded;
    for (int i = k; i < end; ++i) {
      store_first(row + i, columns * out_padded, mean);
    }
  }
}

KERNEL void softsort_vertices(GLOBAL const real *scores, GLOBAL const real *top, int kept,
                              GLOBAL const real *vertices, int padded,
                              GLOBAL const coefficients *c, GLOBAL real *out, int out_padded,
                              GLOBAL real *sums)
{
  softsort_row(scores, top, kept, vertices, padded, 3, c, out, out_padded, sums);
}

KERNEL void softsort_edges(GLOBAL const real *scores, GLOBAL const real *top, int kept,
                           GLOBAL const real *ends, int padded, GLOBAL const coefficients *c,
                           GLOBAL real *out, int out_padded, GLOBAL real *sums)
{
  softsort_row(scores, top, kept, ends, padded, 6, c, out, out_padded, sums);
}

// Adjoint of softsort_*, by hand: from the cotangents of the means (`columns` planes of
// `out_padded`) those of the scores. A block of elements walks the rows. With W_i a row's weights,
// c_i = bar . source_i and x_i = -|r - s_i| / sort: s_bar_i = W_i (c_i - bar . mean) sign(r - s_i)
// / sort, and minus the sum of these for r = s_(k), in parts[k][block].
static void softsort_adjoint(GLOBAL const real *scores, GLOBAL const real *top, int kept,
                             GLOBAL const real *source, int padded, const int columns,
                             GLOBAL const coefficients *c, GLOBAL const real *mean, int out_padded,
                             GLOBAL const real *sums, GLOBAL const real *bars,
                             GLOBAL real *scores_bar, GLOBAL real *parts)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const int blocks = padded / LANES;
  const int stride = columns * out_padded;
  GLOBAL const real *ranks = NUMS(top, pose, kept + 1);
  GLOBAL const real *bar_row = NUMS(bars, pose, stride);
  GLOBAL const real *mean_row = NUMS(mean, pose, stride);
  const num s = load(NUMS(scores, pose, padded) + block * LANES, padded);
  const num zero = n_lit(R(0.0));
  lane from[6];
  for (int j = 0; j < columns; ++j) {
    from[j] = lane_load(source + j * padded + block * LANES);
  }
  num total = zero;
  for (int k = 0; k < kept; ++k) {
    GLOBAL real *part = NUMS(parts, pose, kept * blocks) + k * blocks + block;
    const num gap = n_sub(load_one(ranks + k, kept + 1), s);
    const num x = n_scale(n_abs(gap), -c->sort_log2e);
    if (!lane_any(n_value(x) > lane_lit(WEIGHT_CUTOFF))) {
      store_first(part, kept * blocks, zero);
      continue;
    }
    const num w = n_mul(n_exp2(x), load_one(NUMS(sums, pose, out_padded) + k, out_padded));
    num along = zero;
    for (int j = 0; j < columns; ++j) {
      const num bar = load_one(bar_row + j * out_padded + k, stride);
      const num off = n_sub(n_of(from[j]), load_one(mean_row + j * out_padded + k, stride));
      along = n_mad(bar, off, along);
    }
    const lane none = lane_lit(R(0.0));
    const lane sign = lane_select(n_value(gap) > none, lane_lit(c->sort_inv),
                                  lane_select(n_value(gap) < none, lane_lit(-c->sort_inv), none));
    const num share = bounded(n_times(n_mul(w, along), sign), COTANGENT_LIMIT);
    total = n_add(total, share);
    store_sum(part, kept * blocks, n_neg(share));
  }
  store(NUMS(scores_bar, pose, padded) + block * LANES, padded, total);
}

ADJOINT_KERNEL void softsort_vertices_adjoint(GLOBAL const real *scores, GLOBAL const real *top,
                                              int kept, GLOBAL const real *vertices, int padded,
                                              GLOBAL const coefficients *c, GLOBAL const real *mean,
                                              int out_padded, GLOBAL const real *sums,
                                              GLOBAL const real *bars, GLOBAL real *scores_bar,
                                              GLOBAL real *parts)
{
  softsort_adjoint(scores, top, kept, vertices, padded, 3, c, mean, out_padded, sums, bars,
                   scores_bar, parts);
}

ADJOINT_KERNEL void softsort_edges_adjoint(GLOBAL const real *scores, GLOBAL const real *top,
                                           int kept, GLOBAL const real *ends, int padded,
                                           GLOBAL const coefficients *c, GLOBAL const real *mean,
                                           int out_padded, GLOBAL const real *sums,
                                           GLOBAL const real *bars, GLOBAL real *scores_bar,
                                           GLOBAL real *parts)
{
  softsort_adjoint(scores, top, kept, ends, padded, 6, c, mean, out_padded, sums, bars, scores_bar,
                   parts);
}

// Cotangents of the ranked scores s_(k), from the parts of softsort_adjoint.
ADJOINT_KERNEL void ranked_adjoint(GLOBAL const real *parts, int kept, int blocks,
                                   GLOBAL real *ranked_bar)
{
  const int k = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (k > kept) {
    return;
  }
  num sum = n_lit(R(0.0));
  for (int i = 0; k < kept && i < blocks; ++i) {
    sum = n_add(sum, load_one(NUMS(parts, pose, kept * blocks) + k * blocks + i, kept * blocks));
  }
  store_first(NUMS(ranked_bar, pose, kept + 1) + k, kept + 1, sum);
}

// Gate: x = (s_(k) - s_(K+1)) / sort, at most 1e3, which is all where every element is kept.
static num gate_gap(GLOBAL const real *top, int kept, int count, int k,
                    GLOBAL const coefficients *c)
{
  const num most = n_lit(R(1e3));
  if (kept >= count) {
    return most;
  }
  const num gap = n_sub(load_one(top + k, kept + 1), load_one(top + kept, kept + 1));
  const num x = n_scale(gap, c->sort_inv);
  return n_select(n_value(x) < n_value(most), x, most);
}

// The true element of rank k with the weight 1 - exp(-x^2).
KERNEL void gate(GLOBAL const int *index, GLOBAL const real *top, int kept, int count,
                 GLOBAL const real *source, int padded, int columns,
                 GLOBAL const coefficients *c, GLOBAL real *out, int out_padded,
                 GLOBAL real *weights)
{
  const int row = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (row >= out_padded) {
    return;
  }
  const int k = MIN_INT(row, kept - 1);
  const int from = ROW(index, pose, kept + 1)[k];
  for (int j = 0; j < columns; ++j) {
    store_first(NUMS(out, pose, columns * out_padded) + j * out_padded + row, columns * out_padded,
                n_lit(source[j * padded + from]));
  }
  const num x = gate_gap(NUMS(top, pose, kept + 1), kept, count, k, c);
  const num e = n_exp2(n_scale(n_mul(x, x), -LOG2E));
  store_first(NUMS(weights, pose, out_padded) + row, out_padded,
              steady(n_sub(n_lit(R(1.0)), e), COTANGENT_LIMIT));
}

// Its adjoint: cotangents of s_(1) .. s_(K+1) from those of the weights. The elements themselves
// are true ones, which do not move.
ADJOINT_KERNEL void gate_adjoint(GLOBAL const real *top, int kept, int count,
                                 GLOBAL const coefficients *c, GLOBAL const real *weights_bar,
                                 int out_padded, int poses, GLOBAL real *ranked_bar)
{
  const int pose = (int)get_global_id(0);
  if (pose >= poses) {
    return;
  }
  GLOBAL const real *bar = NUMS(weights_bar, pose, out_padded);
  GLOBAL real *to = NUMS(ranked_bar, pose, kept + 1);
  num sum = n_lit(R(0.0));
  for (int k = 0; k < kept; ++k) {
    const num x = gate_gap(NUMS(top, pose, kept + 1), kept, count, k, c);
    const num e = n_exp2(n_scale(n_mul(x, x), -LOG2E));
    const ilane capped = n_value(x) >= lane_lit(R(1e3));
    const num slope = n_select(capped, n_lit(R(0.0)), n_scale(n_mul(x, e), R(2.0) * c->sort_inv));
    const num ranked = n_mul(load_one(bar + k, out_padded), slope);
    store_first(to + k, kept + 1, ranked);
    sum = n_add(sum, ranked);
  }
  store_first(to + kept, kept + 1, n_neg(sum));
}

// Adds the cotangents of the ranked scores to those of the scores, which are 0 where not `there`.
ADJOINT_KERNEL void scores_adjoint(GLOBAL const int *index, GLOBAL const real *ranked_bar, int kept,
                                   int count, int padded, int there, GLOBAL real *scores_bar)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  if (first >= padded) {
    return;
  }
  GLOBAL real *row = NUMS(scores_bar, pose, padded) + first;
  const lane at = lane_iota() + (real)first;
  num sum = n_lit(R(0.0));
  if (there) {
    sum = load(row, padded);
  }
  for (int k = 0; k < MIN_INT(kept + 1, count); ++k) {
    const int i = ROW(index, pose, kept + 1)[k];
    if (i >= first && i < first + LANES) {
      const num bar = load_one(NUMS(ranked_bar, pose, kept + 1) + k, kept + 1);
      sum = n_add(sum, n_select(at == lane_lit((real)i), bar, n_lit(R(0.0))));
    }
  }
  store(row, padded, sum);
}

// Adjoint of vertex_scores: order gives the mesh vertex of each place in the field. Adds where
// `there`.
ADJOINT_KERNEL void vertex_scores_adjoint(GLOBAL const real *scores_bar, GLOBAL const int *order,
                                          int padded, int count, int there, GLOBAL real *field_bar)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  GLOBAL const real *from = NUMS(scores_bar, pose, padded);
  GLOBAL real *to = NUMS(field_bar, pose, padded) + i;
  EACH_PART(part) {
    const real bar = i < count ? -from[part * padded + order[i]] : R(0.0);
    to[part * padded] = bar + (there ? to[part * padded] : R(0.0));
  }
}

// Adjoint of edge_scores: each vertex walks its edges, starts[i] .. starts[i + 1] - 1 of
// `incident`.
ADJOINT_KERNEL void edge_scores_adjoint(GLOBAL const real *scores_bar, int edge_padded,
                                        GLOBAL const int *starts, GLOBAL const int *incident,
                                        int padded, int count, int there, GLOBAL real *field_bar)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  GLOBAL const real *from = NUMS(scores_bar, pose, edge_padded);
  GLOBAL real *to = NUMS(field_bar, pose, padded) + i;
  EACH_PART(part) {
    real sum = R(0.0);
    for (int j = i < count ? starts[i] : 0; i < count && j < starts[i + 1]; ++j) {
      sum += from[part * edge_padded + incident[j]];
    }
    to[part * padded] = R(-0.5) * sum + (there ? to[part * padded] : R(0.0));
  }
}
