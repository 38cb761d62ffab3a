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
  ROW(scores, pose, padded)[i] = i < count ? -ROW(field, pose, field_stride)[rank[i]] : SCORE_NONE;
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
  GLOBAL const real *phi = ROW(field, pose, field_stride);
  ROW(scores, pose, padded)[i] =
    i < count ? R(-0.5) * (phi[edges[2 * i]] + phi[edges[2 * i + 1]]) : SCORE_NONE;
}

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
  GLOBAL const real *row = ROW(scores, pose, padded);
  real last = REAL_BIG;
  int last_index = -1;
  for (int k = 0; k <= kept; ++k) {
    lane score = lane_lit(SCORE_NONE);
    lane where = lane_lit(SCORE_NONE); // of the block's first element, as a real: exact below 2^24
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
      ROW(index, pose, kept + 1)[k] = MIN_INT(found_index, count - 1);
      ROW(top, pose, kept + 1)[k] = found;
    }
  }
}

// Row k of SoftSort (Prillo and Eisenschlos 2020): weights softmax_i(-|s_(k) - s_i| / sort), and
// the weighted mean of `columns` source planes. s_(k) is one of the s_i: the largest exponent is 0.
static void softsort_row(GLOBAL const real *scores, GLOBAL const real *top, int kept,
                         GLOBAL const real *source, int padded, const int columns,
                         GLOBAL const coefficients *c, GLOBAL real *out, int out_padded)
{
  const int k = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (k >= kept) {
    return;
  }
  const real ranked = ROW(top, pose, kept + 1)[k];
  GLOBAL const real *s = ROW(scores, pose, padded);
  const lane zero = lane_lit(R(0.0));
  lane sum = zero;
  lane mix[6] = {zero, zero, zero, zero, zero, zero};
  // In two levels, so that a thousand terms add up with the rounding of some sixty.
  for (int begin = 0; begin < padded; begin += 32 * LANES) {
    lane part_sum = zero;
    lane part[6] = {zero, zero, zero, zero, zero, zero};
    for (int i = begin; i < MIN_INT(begin + 32 * LANES, padded); i += LANES) {
      const lane x = lane_abs(lane_lit(ranked) - lane_load(s + i)) * -c->sort_log2e;
      if (!lane_any(x > lane_lit(WEIGHT_CUTOFF))) {
        continue;
      }
      const lane w = lane_exp2(x);
      part_sum = part_sum + w;
      for (int j = 0; j < columns; ++j) {
        part[j] = part[j] + w * lane_load(source + j * padded + i);
      }
    }
    sum = sum + part_sum;
    for (int j = 0; j < columns; ++j) {
      mix[j] = mix[j] + part[j];
    }
  }
  const real sum_inv = R(1.0) / lane_sum(sum);
  const int end = k == kept - 1 ? out_padded : k + 1; // the last row fills the padding
  for (int j = 0; j < columns; ++j) {
    const real mean = lane_sum(mix[j]) * sum_inv;
    for (int row = k; row < end; ++row) {
      ROW(out, pose, columns * out_padded)[j * out_padded + row] = mean;
    }
  }
}

KERNEL void softsort_vertices(GLOBAL const real *scores, GLOBAL const real *top, int kept,
                              GLOBAL const real *vertices, int padded,
                              GLOBAL const coefficients *c, GLOBAL real *out, int out_padded)
{
  softsort_row(scores, top, kept, vertices, padded, 3, c, out, out_padded);
}

KERNEL void softsort_edges(GLOBAL const real *scores, GLOBAL const real *top, int kept,
                           GLOBAL const real *ends, int padded, GLOBAL const coefficients *c,
                           GLOBAL real *out, int out_padded)
{
  softsort_row(scores, top, kept, ends, padded, 6, c, out, out_padded);
}

// Gate: the true element of rank k with the weight 1 - exp(-x^2), x = (s_(k) - s_(K+1)) / sort.
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
    ROW(out, pose, columns * out_padded)[j * out_padded + row] = source[j * padded + from];
  }
  GLOBAL const real *s = ROW(top, pose, kept + 1);
  const real x = kept < count ? real_min((s[k] - s[kept]) * c->sort_inv, R(1e3)) : R(1e3);
  const lane e = lane_exp2(lane_lit(x * x * -LOG2E));
  real t[LANES];
  lane_store(lane_lit(R(1.0)) - e, t);
  ROW(weights, pose, out_padded)[row] = t[0];
}
