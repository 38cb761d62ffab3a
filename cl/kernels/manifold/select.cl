// The selection of vertices and edges by their scores, soft or gated: top-K of docs/dev/spec.md,
// section 1. Each kernel is followed by its adjoint.

// One work-item writes the score of one vertex in one pose, its radius - phi, to scores (poses,
// padded). Padding and vertices that are only ends of edges get SCORE_NONE. radii has the vertices'
// radii in sorted order and then in the mesh's order, if any vertex has a radius. rank gives the
// place of a mesh vertex in `field`, whose vertices are sorted in space.
KERNEL void vertex_scores(GLOBAL const real *field, int field_stride, GLOBAL const int *rank,
                          GLOBAL const real *radii, GLOBAL const pair_head *pair, int side,
                          GLOBAL real *scores)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int held = pair->n.elements[VERTICES_OF(side)].held;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
  if (i >= padded) {
    return;
  }
  GLOBAL const real *phi = NUMS(field, pose, field_stride);
  GLOBAL real *row = NUMS(scores, pose, padded);
  const int rounds = pair->n.elements[VERTICES_OF(side)].radii;
  const int stride = mesh_stride(&pair->n.elements[VERTICES_OF(side)], RADII_PLANES);
  GLOBAL const real *own = NUMS(radii, pose, stride) + padded + i;
  EACH_PART (part) {
    const real none = part ? R(0.0) : SCORE_NONE;
    const real radius = rounds && (stride || !part) ? own[part * stride] : R(0.0);
    row[part * padded + i] = i < held ? radius - phi[part * field_stride + rank[i]] : none;
  }
}

// Writes the scores of a block of edges. A score is minus the mean phi of both ends, plus the value
// of `more` if it exists. `edges` has the places of the ends in phi, in two planes of
// `padded`; phi and scores are rows of a pose.
static void score_edges(GLOBAL const real *phi, int field_stride, GLOBAL const int *edges,
                        int padded, int count, int first, GLOBAL const real *more, int more_stride,
                        GLOBAL real *scores)
{
  EACH_PART (part) {
    GLOBAL const real *from = phi + part * field_stride;
    real t[LANES];
    for (int i = 0; i < LANES; ++i) {
      t[i] = R(-0.5) * (from[edges[first + i]] + from[edges[padded + first + i]]);
      t[i] += more && (more_stride || !part) ? more[part * more_stride + first + i] : R(0.0);
    }
    const lane none = lane_lit(part ? R(0.0) : SCORE_NONE);
    const ilane there = lane_iota() + (real)first < lane_lit((real)count);
    lane_store(lane_select(there, lane_load(t), none), scores + part * padded + first);
  }
}

// One work-item writes the scores of a block of edges in one pose, to scores (poses, padded). rails
// has the edges as contacts in fields, if they are such contacts.
KERNEL void edge_scores(GLOBAL const real *field, int field_stride, GLOBAL const int *edges,
                        GLOBAL const real *rails, GLOBAL const pair_head *pair, int side,
                        GLOBAL real *scores)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  const int count = pair->n.elements[EDGES_OF(side)].count;
  const int padded = pair->n.elements[EDGES_OF(side)].padded;
  const int stride = pair->n.in_fields ? mesh_stride(&pair->n.elements[EDGES_OF(side)], EDGE_PLANES)
                                       : 0;
  if (first < padded) {
    score_edges(NUMS(field, pose, field_stride), field_stride, edges, padded, count, first,
                pair->n.in_fields ? NUMS(rails, pose, stride) + EDGE_SCORE * padded
                                  : (GLOBAL const real *)0,
                stride, NUMS(scores, pose, padded));
  }
}

// ---- the largest scores in sequence ----
//
// A row of scores is distributed over BUCKETS buckets, element i to bucket i % BUCKETS. For each
// bucket, the first element after the last one found, ordered by score and then by index, is held
// in local memory. A step examines these elements, and then rescans only the elements of one
// bucket, or of that bucket and its LANES neighbours. This needs no copy of the scores, and gives
// the same order for every group size.
#define BUCKET_BLOCKS (LANES > 8 ? 8 : 64 / LANES)
#define BUCKETS (BUCKET_BLOCKS * LANES)

typedef struct top_search {
  GLOBAL const real *row;
  int padded, count, item;
  LOCAL real *score, *at; // (BUCKETS) each bucket's best, its index as a real, exact below 2^24
  LOCAL real *best_score; // (WG) the best score of each work-item's buckets, and its index
  LOCAL int *best_index;
} top_search;

typedef struct ranked_score {
  real score; // SCORE_NONE after the last element, with `count` as index
  int index;
} ranked_score;

// Returns the best of the lanes: the largest score, and the least index among equal scores.
static ranked_score best_lane(lane score, lane at, int count)
{
  ranked_score r;
  r.score = lane_most(score);
  const ilane leads = score == lane_lit(r.score);
  r.index = r.score > SCORE_NONE ? (int)lane_least(lane_select(leads, at, lane_lit((real)count)))
                                 : count;
  return r;
}

// Finds the first element after `last` in each of LANES adjacent buckets.
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

// Fills all buckets; all work-items of a group call it.
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

// Returns the best of all buckets, to all work-items of a group.
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

// Removes the largest remaining element from its bucket, and returns it to all work-items of a
// group.
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

#define TOP_SEARCH(t, scores, padded_, count_, item_)               \
  LOCAL_ARRAY(real, bucket_score, BUCKETS);                         \
  LOCAL_ARRAY(real, bucket_at, BUCKETS);                            \
  LOCAL_ARRAY(real, best_score, WG);                                \
  LOCAL_ARRAY(int, best_index, WG);                                 \
  const top_search t = {scores,       padded_,   count_,     item_, \
                        bucket_score, bucket_at, best_score, best_index}

// Writes the element that was found as the k-th. After the last element nothing is found; the index
// is then unused, but stays in range.
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

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group finds the kept + 1 largest scores of one pose in descending order, ties by index.
// From scores (poses, padded) it writes their index and top (poses, kept + 1). The last one, which
// may be SCORE_NONE, is for the gate. `of` selects the elements that are ranked (VERTICES_OF,
// EDGES_OF).
KERNEL GROUPED void top_scores(GLOBAL const real *scores, GLOBAL const pair_head *pair, int of,
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

// Returns 2^x for x = -sort_log2e |gap|. Its derivative at a gap of 0 counts as 0.
static num sort_weight(num gap, lane x, GLOBAL const coefficients *c)
{
  const lane weight = lane_exp2(x), none = lane_lit(R(0.0));
  const lane fall = weight * (c->sort_log2e * LN2);
  const lane slope =
    lane_select(n_value(gap) > none, -fall, lane_select(n_value(gap) < none, fall, none));
  (void)slope;
  return n_with_value(n_times(gap, slope), weight);
}

// Adds w times a block of a mesh's numbers to a sum. `stride` is the stride of the numbers
// (mesh_stride), 0 if they are constants.
static num add_weighed(num sum, num w, GLOBAL const real *p, int stride)
{
  num r = n_tmad(w, lane_load(p), sum);
  TANGENT_DO(i, {
    if (stride) {
      r = n_with_part(r, i, n_value(w) * lane_load(p + i * stride) + n_get_part(r, i));
    }
  })
  (void)stride;
  return r;
}

// One work-group computes row k of SoftSort (docs/dev/spec.md, section 1). The mean of `columns`
// source planes with the weights softmax_i(-|s_(k) - s_i| / sort) is written to out (poses,
// columns, slots). One over the sum of the exponentials is written to sums (poses, slots), for the
// adjoint. s_(k) is one of the s_i, so the largest exponent is 0. part_sums is (GROUP_AT_ONCE, WG).
#define SORT_SUMS (1 + ENDS_PLANES)

static void softsort_row(GLOBAL const real *scores, GLOBAL const real *top,
                         GLOBAL const real *source, const int columns,
                         GLOBAL const pair_elements *e, GLOBAL const coefficients *c,
                         GLOBAL real *out, GLOBAL real *sums, LOCAL real *part_sums, int k)
{
  const int pose = (int)get_global_id(1);
  const int item = (int)get_local_id(0);
  const int kept = e->kept, padded = e->padded, out_padded = e->slots;
  const int source_stride = mesh_stride(e, columns);
  GLOBAL const real *from = NUMS(source, pose, source_stride);
  const num ranked = load_one(NUMS(top, pose, kept + 1) + k, kept + 1);
  GLOBAL const real *s = NUMS(scores, pose, padded);
  const num zero = n_lit(R(0.0));
  const int run = 32 * LANES * WG;
  num sum[SORT_SUMS] = {zero, zero, zero, zero, zero, zero, zero}; // of weights, then of columns
  // Sums have two levels, so that a thousand terms are added with the rounding of about sixty.
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
        part[1 + j] = add_weighed(part[1 + j], w, from + j * padded + i, source_stride);
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
// One work-group averages the vertices of one row and pose.
KERNEL GROUPED void softsort_vertices(GLOBAL const real *scores, GLOBAL const real *top,
                                      GLOBAL const real *vertices, GLOBAL const pair_head *pair,
                                      int side, GLOBAL real *out, GLOBAL real *sums)
{
  LOCAL_ARRAY(real, part, GROUP_AT_ONCE * WG);
  softsort_row(scores, top, vertices, POINT_PLANES, &pair->n.elements[VERTICES_OF(side)], &pair->c,
               out, sums, part, (int)get_group_id(0));
}

// One work-group averages the ends of the edges of one row and pose.
KERNEL GROUPED void softsort_edges(GLOBAL const real *scores, GLOBAL const real *top,
                                   GLOBAL const real *ends, GLOBAL const pair_head *pair, int side,
                                   GLOBAL real *out, GLOBAL real *sums)
{
  LOCAL_ARRAY(real, part, GROUP_AT_ONCE * WG);
  softsort_row(scores, top, ends, ENDS_PLANES, &pair->n.elements[EDGES_OF(side)], &pair->c, out,
               sums, part, (int)get_group_id(0));
}
#endif

// The adjoint of softsort_row, written by hand: from `bars`, the cotangents of the means (columns,
// slots), to those of the scores. One work-item has a block of LANES elements and loops over the
// rows. With W_i a row's weights, c_i = bar . source_i and x_i = -|r - s_i| / sort it is
//   s_bar_i = W_i (c_i - bar . mean) sign(r - s_i) / sort,
// and minus the sum of these for r = s_(k). A block's share of that sum is written to parts (poses,
// kept, blocks).
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
  lane from[ENDS_PLANES]; // the largest number of columns
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
// One work-group adds up the cotangent of one ranked score s_(k) in one pose from the parts of
// softsort_adjoint: ranked_bar (poses, kept + 1), whose last number is 0.
ADJOINT_KERNEL ADJOINT_GROUPED void ranked_adjoint(GLOBAL const real *parts,
                                                   GLOBAL const pair_head *pair, int of,
                                                   GLOBAL real *ranked_bar)
{
  LOCAL_ARRAY(real, part, WG);
  const int k = (int)get_group_id(0);
  const int pose = (int)get_global_id(1);
  const int item = (int)get_local_id(0);
  const int kept = pair->n.elements[of].kept, blocks = pair->n.elements[of].padded / LANES;
  GLOBAL const real *row = NUMS(parts, pose, kept * blocks) + k * blocks;
  GLOBAL real *to = NUMS(ranked_bar, pose, kept + 1) + k;
  EACH_PART (i) {
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

// Returns x of gate k (docs/dev/spec.md, section 1): (s_(k) - s_(K+1)) / sort, at most 1e3. It is
// 1e3 if every element is retained.
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

// Writes the true element of rank k and its weight 1 - exp(-x^2); padding repeats the last one.
// index, top, source, out and weights are rows of a pose.
static void gate_row(GLOBAL const int *index, GLOBAL const real *top, int row,
                     GLOBAL const real *source, int columns, GLOBAL const pair_elements *e,
                     GLOBAL const coefficients *c, GLOBAL real *out, GLOBAL real *weights)
{
  const int k = MIN_INT(row, e->kept - 1), padded = e->padded, out_padded = e->slots;
  const int from = index[k], stride = mesh_stride(e, columns);
  for (int j = 0; j < columns; ++j) {
    GLOBAL real *to = out + j * out_padded + row;
    EACH_PART (part) {
      to[part * columns * out_padded] = part && !stride ? R(0.0)
                                                        : source[part * stride + j * padded + from];
    }
  }
  const num x = gate_gap(top, e, k, c);
  const num fall = n_exp2(n_scale(n_mul(x, x), -LOG2E));
  store_first(weights + row, out_padded, steady(n_sub(n_lit(R(1.0)), fall), COTANGENT_LIMIT));
}

// One work-item writes one retained element of one pose to out (poses, columns, slots), and its
// weight to weights (poses, slots). `of` selects the elements that are gated.
KERNEL void gate(GLOBAL const int *index, GLOBAL const real *top, GLOBAL const real *source,
                 GLOBAL const pair_head *pair, int of, GLOBAL real *out, GLOBAL real *weights)
{
  const int row = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  GLOBAL const pair_elements *e = &pair->n.elements[of];
  const int columns = of < EDGES_OF(0) ? POINT_PLANES : ENDS_PLANES;
  if (row < e->slots) {
    gate_row(ROW(index, pose, e->kept + 1), NUMS(top, pose, e->kept + 1), row,
             NUMS(source, pose, mesh_stride(e, columns)), columns, e, &pair->c,
             NUMS(out, pose, columns * e->slots), NUMS(weights, pose, e->slots));
  }
}

// The adjoint of gate_row for all rows of a pose, by all work-items of a group. It converts the
// cotangents of the weights to cotangents of s_(1) to s_(K+1). The elements do not move. If
// `any` is 0, nothing is written.
static void gate_row_adjoint(GLOBAL const real *top, GLOBAL const pair_elements *e,
                             GLOBAL const coefficients *c, GLOBAL const real *bar, GLOBAL real *to,
                             LOCAL real *part, int item, int any)
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
  EACH_PART (i) {
    const real total = group_total(part, lane_first(n_get_part(sum, i)), item);
    if (item == 0 && any) {
      to[i * (kept + 1) + kept] = -total;
    }
  }
}

#if WITH_ADJOINT
// One work-group takes the cotangents of one pose's weights to its ranked scores, ranked_bar
// (poses, kept + 1).
ADJOINT_KERNEL ADJOINT_GROUPED void gate_adjoint(GLOBAL const real *top,
                                                 GLOBAL const pair_head *pair, int of,
                                                 GLOBAL const real *weights_bar,
                                                 GLOBAL real *ranked_bar)
{
  LOCAL_ARRAY(real, part, WG);
  const int pose = (int)get_group_id(0);
  GLOBAL const pair_elements *e = &pair->n.elements[of];
  gate_row_adjoint(NUMS(top, pose, e->kept + 1), e, &pair->c, NUMS(weights_bar, pose, e->slots),
                   NUMS(ranked_bar, pose, e->kept + 1), part, (int)get_local_id(0), 1);
}
#endif

// One work-item adds the cotangents of ranked scores to those of a block of scores in one pose.
// With gates there are no earlier cotangents of scores.
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

// The adjoint of vertex_scores. One work-item has one place of the field in one pose; order gives
// its vertex of the mesh. The result is added to field_bar if `there` is set.
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
  EACH_PART (part) {
    const real bar = i < count ? -from[part * padded + order[i]] : R(0.0);
    to[part * padded] = bar + (there ? to[part * padded] : R(0.0));
  }
}

// The adjoint of edge_scores. One work-item has one vertex in one pose, and loops over its edges,
// starts[i] to starts[i + 1] - 1 of `incident`.
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
  EACH_PART (part) {
    real sum = R(0.0);
    for (int j = i < count ? starts[i] : 0; i < count && j < starts[i + 1]; ++j) {
      sum += from[part * edge_padded + incident[j]];
    }
    to[part * padded] = R(-0.5) * sum;
  }
}
