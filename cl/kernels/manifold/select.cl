// Soft and gated top-K of vertices and edges.

// Score of a vertex: -phi. Padding gets SCORE_NONE. rank: where a vertex lies in `field`.
KERNEL void vertex_scores(GLOBAL const real *field, int field_stride, GLOBAL const int *rank,
                          GLOBAL const pair_head *pair, int side, GLOBAL real *scores)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int count = pair->n.elements[VERTICES_OF(side)].count;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
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

// Scores of a block of edges: minus the mean phi of their ends. edges: where those lie in `phi`,
// two planes of `padded`; phi, scores: a pose's rows.
static void score_edges(GLOBAL const real *phi, int field_stride, GLOBAL const int *edges,
                        int padded, int count, int first, GLOBAL real *scores)
{
  EACH_PART(part) {
    GLOBAL const real *from = phi + part * field_stride;
    real t[LANES];
    for (int i = 0; i < LANES; ++i) {
      t[i] = R(-0.5) * (from[edges[first + i]] + from[edges[padded + first + i]]);
    }
    const lane none = lane_lit(part ? R(0.0) : SCORE_NONE);
    const ilane there = lane_iota() + (real)first < lane_lit((real)count);
    lane_store(lane_select(there, lane_load(t), none), scores + part * padded + first);
  }
}

KERNEL void edge_scores(GLOBAL const real *field, int field_stride, GLOBAL const int *edges,
                        GLOBAL const pair_head *pair, int side, GLOBAL real *scores)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  const int count = pair->n.elements[EDGES_OF(side)].count;
  const int padded = pair->n.elements[EDGES_OF(side)].padded;
  if (first < padded) {
    score_edges(NUMS(field, pose, field_stride), field_stride, edges, padded, count, first,
                NUMS(scores, pose, padded));
  }
}

// ---- the largest scores, one after the other ----
//
// A row is dealt out to BUCKETS buckets, element i to bucket i % BUCKETS, of each of which the
// first element behind the last one found is kept in local memory: a step looks at these, and again
// at the elements of one bucket alone, or of its LANES neighbours. Needs no copy of the scores, and
// gives one order, by score, then by index, whatever the group's size.
#define BUCKET_BLOCKS (LANES > 8 ? 8 : 64 / LANES)
#define BUCKETS (BUCKET_BLOCKS * LANES)

typedef struct top_search {
  GLOBAL const real *row;
  int padded, count, item;
  LOCAL real *score, *at; // (BUCKETS) each bucket's best; its index as a real: exact below 2^24
  LOCAL real *best_score; // (WG) of each work-item
  LOCAL int *best_index;
} top_search;

typedef struct ranked_score {
  real score; // SCORE_NONE behind the last element, with `count` as index
  int index;
} ranked_score;

// The lanes' best as one: the largest score, of equal ones the least index.
static ranked_score best_lane(lane score, lane at, int count)
{
  ranked_score r;
  r.score = lane_most(score);
  const ilane leads = score == lane_lit(r.score);
  r.index = r.score > SCORE_NONE
              ? (int)lane_least(lane_select(leads, at, lane_lit((real)count))) : count;
  return r;
}

// The first elements behind `last` of LANES buckets side by side.
static void best_behind(const top_search *t, int buckets, ranked_score last, lane *score, lane *at)
{
  const int blocks = t->padded / LANES;
  const lane last_score = lane_lit(last.score), last_at = lane_lit((real)last.index);
  *score = lane_lit(SCORE_NONE);
  *at = lane_lit((real)t->count);
  for (int block = buckets; block < blocks; block += BUCKET_BLOCKS) {
    const lane s = lane_load(t->row + block * LANES);
    const lane here = lane_iota() + (real)(block * LANES);
    const ilane behind = (s < last_score) | ((s == last_score) & (here > last_at));
    const ilane better = behind & (s > *score);
    *score = lane_select(better, s, *score);
    *at = lane_select(better, here, *at);
  }
}

static void top_begin(const top_search *t)
{
  const ranked_score none = {REAL_BIG, -1};
  for (int buckets = t->item; buckets < BUCKET_BLOCKS; buckets += WG) {
    lane score, at;
    best_behind(t, buckets, none, &score, &at);
    lane_store(score, t->score + buckets * LANES);
    lane_store(at, t->at + buckets * LANES);
  }
  BARRIER;
}

// The best of all buckets.
static ranked_score top_bucket(const top_search *t)
{
  lane score = lane_lit(SCORE_NONE), at = lane_lit((real)t->count);
  const int item = t->item;
  for (int i = item * LANES; i < BUCKETS; i += WG * LANES) {
    const lane other = lane_load(t->score + i), place_of = lane_load(t->at + i);
    const ilane better = (other > score) | ((other == score) & (place_of < at));
    score = lane_select(better, other, score);
    at = lane_select(better, place_of, at);
  }
  ranked_score best = best_lane(score, at, t->count);
#if WG > 1
  t->best_score[item] = best.score;
  t->best_index[item] = best.index;
  BARRIER;
  for (int step = WG / 2; step > 0; step /= 2) {
    const int other = item + step;
    if (item < step && (t->best_score[other] > t->best_score[item] ||
                        (t->best_score[other] == t->best_score[item] &&
                         t->best_index[other] < t->best_index[item]))) {
      t->best_score[item] = t->best_score[other];
      t->best_index[item] = t->best_index[other];
    }
    BARRIER;
  }
  best.score = t->best_score[0];
  best.index = t->best_index[0];
  BARRIER;
#endif
  return best;
}

// Takes the largest that is left out of its bucket. The same for every work-item of a group.
static ranked_score top_next(const top_search *t)
{
  const ranked_score best = top_bucket(t);
  const int buckets = best.index / LANES % BUCKET_BLOCKS;
  if (best.score > SCORE_NONE && buckets % WG == t->item) {
    LOCAL real *scores = t->score + buckets * LANES, *places = t->at + buckets * LANES;
    const ilane its = lane_iota() == lane_lit((real)(best.index % LANES));
    lane score, at;
    best_behind(t, buckets, best, &score, &at);
    lane_store(lane_select(its, score, lane_load(scores)), scores);
    lane_store(lane_select(its, at, lane_load(places)), places);
  }
  BARRIER;
  return best;
}

#define TOP_SEARCH(t, scores, padded_, count_, item_)         \
  LOCAL_ARRAY(real, bucket_score, BUCKETS);                   \
  LOCAL_ARRAY(real, bucket_at, BUCKETS);                      \
  LOCAL_ARRAY(real, best_score, WG);                          \
  LOCAL_ARRAY(int, best_index, WG);                           \
  const top_search t = {scores, padded_, count_, item_, bucket_score, bucket_at, best_score, \
                        best_index}

// Behind the last element none is found: its index is not used, but stays in range.
static void write_ranked(GLOBAL const real *row, int padded, int count, int kept, int k,
                         ranked_score found, GLOBAL int *index, GLOBAL real *top)
{
  const int place_of = MIN_INT(found.index, count - 1);
  index[k] = place_of;
  top[k] = found.score;
  for (int part = 1; part < PARTS; ++part) {
    top[part * (kept + 1) + k] = row[part * padded + place_of];
  }
}

#if WITH_FORWARD // local memory is a kernel's alone
// The `kept` + 1 largest scores in descending order, ties by index: their indices and values, the
// last (or SCORE_NONE) for the gate. of: which elements (VERTICES_OF, EDGES_OF) are ranked. One
// work-group a pose.
KERNEL void top_scores(GLOBAL const real *scores, GLOBAL const pair_head *pair, int of,
                       GLOBAL int *index, GLOBAL real *top)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const pair_elements *e = &pair->n.elements[of];
  const int padded = e->padded, count = e->count, kept = e->kept;
  GLOBAL const real *row = NUMS(scores, pose, padded);
  TOP_SEARCH(search, row, padded, count, item);
  top_begin(&search);
  for (int k = 0; k <= kept; ++k) {
    const ranked_score found = top_next(&search);
    if (item == 0) {
      write_ranked(row, padded, count, kept, k, found, ROW(index, pose, kept + 1),
                   NUMS(top, pose, kept + 1));
    }
  }
}
#endif

// 2^x for x = -sort_log2e |gap|, which does not depend on a gap of 0.
static num sort_weight(num gap, lane x, GLOBAL const coefficients *c)
{
  const lane weight = lane_exp2(x), none = lane_lit(R(0.0));
  const lane fall = weight * (c->sort_log2e * LN2);
  const lane slope = lane_select(n_value(gap) > none, -fall,
                                 lane_select(n_value(gap) < none, fall, none));
  (void)slope;
  return n_with_value(n_times(gap, slope), weight);
}

// Row k of SoftSort (Prillo and Eisenschlos 2020): weights softmax_i(-|s_(k) - s_i| / sort), and
// the weighted mean of `columns` source planes. s_(k) is one of the s_i: the largest exponent is 0.
// sums: one over the sum of each row's exponentials, for the adjoint. One work-group a row; part:
// (GROUP_AT_ONCE, WG).
#define SORT_SUMS (1 + ENDS_PLANES)

static void softsort_row(GLOBAL const real *scores, GLOBAL const real *top,
                         GLOBAL const real *source, const int columns,
                         GLOBAL const pair_elements *e, GLOBAL const coefficients *c,
                         GLOBAL real *out, GLOBAL real *sums, LOCAL real *part_sums, int k)
{
  const int pose = (int)get_global_id(1);
  const int item = (int)get_local_id(0);
  const int kept = e->kept, padded = e->padded, out_padded = e->slots;
  const num ranked = load_one(NUMS(top, pose, kept + 1) + k, kept + 1);
  GLOBAL const real *s = NUMS(scores, pose, padded);
  const num zero = n_lit(R(0.0));
  const int run = 32 * LANES * WG;
  num sum[SORT_SUMS] = {zero, zero, zero, zero, zero, zero, zero}; // of weights, then of columns
  // In two levels, so that a thousand terms add up with the rounding of some sixty.
  for (int begin = item * LANES; begin < padded; begin += run) {
    num part[SORT_SUMS] = {zero, zero, zero, zero, zero, zero, zero};
    for (int i = begin; i < MIN_INT(begin + run, padded); i += LANES * WG) {
      const num gap = n_sub(ranked, load(s + i, padded));
      const lane x = lane_abs(n_value(gap)) * -c->sort_log2e;
      if (!lane_any(x > lane_lit(WEIGHT_CUTOFF))) {
        continue;
      }
      const num w = sort_weight(gap, x, c);
      part[0] = n_add(part[0], w);
      for (int j = 0; j < columns; ++j) {
        part[1 + j] = n_tmad(w, lane_load(source + j * padded + i), part[1 + j]);
      }
    }
    for (int j = 0; j <= columns; ++j) {
      sum[j] = n_add(sum[j], part[j]);
    }
  }
  group_sums(part_sums, sum, columns + 1, item);
  const num sum_inv = n_rcp(sum[0]);
  // The last row fills the padding.
  const int end = item ? k : k == kept - 1 ? out_padded : k + 1;
  if (item == 0) {
    store_first(NUMS(sums, pose, out_padded) + k, out_padded, sum_inv);
  }
  for (int j = 0; j < columns; ++j) {
    const num mean = steady(n_mul(sum[1 + j], sum_inv), COTANGENT_LIMIT);
    GLOBAL real *row = NUMS(out, pose, columns * out_padded) + j * out_padded;
    for (int i = k; i < end; ++i) {
      store_first(row + i, columns * out_padded, mean);
    }
  }
}

#if WITH_FORWARD
KERNEL void softsort_vertices(GLOBAL const real *scores, GLOBAL const real *top,
                              GLOBAL const real *vertices, GLOBAL const pair_head *pair, int side,
                              GLOBAL real *out, GLOBAL real *sums)
{
  LOCAL_ARRAY(real, part, GROUP_AT_ONCE * WG);
  softsort_row(scores, top, vertices, POINT_PLANES, &pair->n.elements[VERTICES_OF(side)], &pair->c,
               out, sums, part, (int)get_group_id(0));
}

KERNEL void softsort_edges(GLOBAL const real *scores, GLOBAL const real *top,
                           GLOBAL const real *ends, GLOBAL const pair_head *pair, int side,
                           GLOBAL real *out, GLOBAL real *sums)
{
  LOCAL_ARRAY(real, part, GROUP_AT_ONCE * WG);
  softsort_row(scores, top, ends, ENDS_PLANES, &pair->n.elements[EDGES_OF(side)], &pair->c, out,
               sums, part, (int)get_group_id(0));
}
#endif

// Adjoint of softsort_*, by hand: from the cotangents of the means (`columns` planes of
// `out_padded`) those of the scores. A block of elements walks the rows. With W_i a row's weights,
// c_i = bar . source_i and x_i = -|r - s_i| / sort: s_bar_i = W_i (c_i - bar . mean) sign(r - s_i)
// / sort, and minus the sum of these for r = s_(k), in parts[k][block].
static void softsort_adjoint(GLOBAL const real *scores, GLOBAL const real *top,
                             GLOBAL const real *source, const int columns,
                             GLOBAL const pair_elements *e, GLOBAL const coefficients *c,
                             GLOBAL const real *mean, GLOBAL const real *sums,
                             GLOBAL const real *bars, GLOBAL real *scores_bar, GLOBAL real *parts)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int kept = e->kept, padded = e->padded, out_padded = e->slots;
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
  lane from[ENDS_PLANES]; // the most columns
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
                                              GLOBAL const real *vertices,
                                              GLOBAL const pair_head *pair, int side,
                                              GLOBAL const real *mean, GLOBAL const real *sums,
                                              GLOBAL const real *bars, GLOBAL real *scores_bar,
                                              GLOBAL real *parts)
{
  softsort_adjoint(scores, top, vertices, POINT_PLANES, &pair->n.elements[VERTICES_OF(side)],
                   &pair->c, mean, sums, bars, scores_bar, parts);
}

ADJOINT_KERNEL void softsort_edges_adjoint(GLOBAL const real *scores, GLOBAL const real *top,
                                           GLOBAL const real *ends, GLOBAL const pair_head *pair,
                                           int side, GLOBAL const real *mean,
                                           GLOBAL const real *sums, GLOBAL const real *bars,
                                           GLOBAL real *scores_bar, GLOBAL real *parts)
{
  softsort_adjoint(scores, top, ends, ENDS_PLANES, &pair->n.elements[EDGES_OF(side)], &pair->c,
                   mean, sums, bars, scores_bar, parts);
}

#if WITH_ADJOINT
// Cotangents of the ranked scores s_(k), from the parts of softsort_adjoint. One work-group each.
ADJOINT_KERNEL void ranked_adjoint(GLOBAL const real *parts, GLOBAL const pair_head *pair, int of,
                                   GLOBAL real *ranked_bar)
{
  LOCAL_ARRAY(real, part, WG);
  const int k = (int)get_group_id(0);
  const int pose = (int)get_global_id(1);
  const int item = (int)get_local_id(0);
  const int kept = pair->n.elements[of].kept, blocks = pair->n.elements[of].padded / LANES;
  GLOBAL const real *row = NUMS(parts, pose, kept * blocks) + k * blocks;
  GLOBAL real *to = NUMS(ranked_bar, pose, kept + 1) + k;
  EACH_PART(i) {
    real sum = R(0.0);
    for (int block = item; k < kept && block < blocks; block += WG) {
      sum += row[i * kept * blocks + block];
    }
    sum = group_total(part, sum, item);
    if (item == 0) {
      to[i * (kept + 1)] = sum;
    }
  }
}
#endif

// Gate: x = (s_(k) - s_(K+1)) / sort, at most 1e3, which is all where every element is kept.
static num gate_gap(GLOBAL const real *top, GLOBAL const pair_elements *e, int k,
                    GLOBAL const coefficients *c)
{
  const num most = n_lit(R(1e3));
  const int kept = e->kept;
  if (kept >= e->count) {
    return most;
  }
  const num gap = n_sub(load_one(top + k, kept + 1), load_one(top + kept, kept + 1));
  const num x = n_scale(gap, c->sort_inv);
  return n_select(n_value(x) < n_value(most), x, most);
}

// The true element of rank k with the weight 1 - exp(-x^2). The last one's fills the padding.
// index, top, out, weights: a pose's rows.
static void gate_row(GLOBAL const int *index, GLOBAL const real *top, int row,
                     GLOBAL const real *source, int columns, GLOBAL const pair_elements *e,
                     GLOBAL const coefficients *c, GLOBAL real *out, GLOBAL real *weights)
{
  const int k = MIN_INT(row, e->kept - 1), padded = e->padded, out_padded = e->slots;
  const int from = index[k];
  for (int j = 0; j < columns; ++j) {
    GLOBAL real *to = out + j * out_padded + row;
    EACH_PART(part) {
      to[part * columns * out_padded] = part ? R(0.0) : source[j * padded + from];
    }
  }
  const num x = gate_gap(top, e, k, c);
  const num fall = n_exp2(n_scale(n_mul(x, x), -LOG2E));
  store_first(weights + row, out_padded, steady(n_sub(n_lit(R(1.0)), fall), COTANGENT_LIMIT));
}

// of: which elements are gated, as in top_scores.
KERNEL void gate(GLOBAL const int *index, GLOBAL const real *top, GLOBAL const real *source,
                 GLOBAL const pair_head *pair, int of, GLOBAL real *out, GLOBAL real *weights)
{
  const int row = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  GLOBAL const pair_elements *e = &pair->n.elements[of];
  const int columns = of < EDGES_OF(0) ? POINT_PLANES : ENDS_PLANES;
  if (row < e->slots) {
    gate_row(ROW(index, pose, e->kept + 1), NUMS(top, pose, e->kept + 1), row, source, columns, e,
             &pair->c, NUMS(out, pose, columns * e->slots), NUMS(weights, pose, e->slots));
  }
}

// Its adjoint: cotangents of s_(1) .. s_(K+1) from those of the weights. The elements themselves
// are true ones, which do not move. A pose's rows, by all work-items of a group; where not `any`
// nothing is written.
static void gate_row_adjoint(GLOBAL const real *top, GLOBAL const pair_elements *e,
                             GLOBAL const coefficients *c, GLOBAL const real *bar,
                             GLOBAL real *to, LOCAL real *part, int item, int any)
{
  const int kept = e->kept, out_padded = e->slots;
  num sum = n_lit(R(0.0));
  for (int k = item; any && k < kept; k += WG) {
    const num x = gate_gap(top, e, k, c);
    const num fall = n_exp2(n_scale(n_mul(x, x), -LOG2E));
    const ilane capped = n_value(x) >= lane_lit(R(1e3));
    const num steep = n_scale(n_mul(x, fall), R(2.0) * c->sort_inv);
    const num slope = n_select(capped, n_lit(R(0.0)), steep);
    const num ranked = n_mul(load_one(bar + k, out_padded), slope);
    store_first(to + k, kept + 1, ranked);
    sum = n_add(sum, ranked);
  }
  EACH_PART(i) {
    const real total = group_total(part, lane_first(n_get_part(sum, i)), item);
    if (item == 0 && any) {
      to[i * (kept + 1) + kept] = -total;
    }
  }
}

#if WITH_ADJOINT
// One work-group a pose.
ADJOINT_KERNEL void gate_adjoint(GLOBAL const real *top, GLOBAL const pair_head *pair, int of,
                                 GLOBAL const real *weights_bar, GLOBAL real *ranked_bar)
{
  LOCAL_ARRAY(real, part, WG);
  const int pose = (int)get_group_id(0);
  GLOBAL const pair_elements *e = &pair->n.elements[of];
  gate_row_adjoint(NUMS(top, pose, e->kept + 1), e, &pair->c, NUMS(weights_bar, pose, e->slots),
                   NUMS(ranked_bar, pose, e->kept + 1), part, (int)get_local_id(0), 1);
}
#endif

// Adds the cotangents of the ranked scores to those of the scores, which gates have none of.
ADJOINT_KERNEL void scores_adjoint(GLOBAL const int *index, GLOBAL const real *ranked_bar,
                                   GLOBAL const pair_head *pair, int of, GLOBAL real *scores_bar)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  const int kept = pair->n.elements[of].kept, count = pair->n.elements[of].count;
  const int padded = pair->n.elements[of].padded;
  if (first >= padded) {
    return;
  }
  GLOBAL real *row = NUMS(scores_bar, pose, padded) + first;
  const lane at = lane_iota() + (real)first;
  num sum = n_lit(R(0.0));
  if (!pair->n.gated) {
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
                                          GLOBAL const pair_head *pair, int side, int there,
                                          GLOBAL real *field_bar)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int count = pair->n.elements[VERTICES_OF(side)].count;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
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
ADJOINT_KERNEL void edge_scores_adjoint(GLOBAL const real *scores_bar, GLOBAL const int *starts,
                                        GLOBAL const int *incident, GLOBAL const pair_head *pair,
                                        int side, GLOBAL real *field_bar)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int edge_padded = pair->n.elements[EDGES_OF(side)].padded;
  const int count = pair->n.elements[VERTICES_OF(side)].count;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
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
    to[part * padded] = R(-0.5) * sum;
  }
}
