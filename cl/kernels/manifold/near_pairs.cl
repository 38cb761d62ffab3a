// Pairs of retained edges that can be active: their witness points, and lists of them.

// Lists the pairs of a pose for which one of two planes reaches `cutoff`. `from` has the pairs to
// examine, in order; if it is NULL, all pairs are examined. All work-items of a group call this
// function.
static void list_pairs(GLOBAL const real *plane1, GLOBAL const real *plane2, int pairs,
                       GLOBAL const int *from, real cutoff, LOCAL int *part, int item,
                       GLOBAL int *list)
{
  const int run = (pairs + WG - 1) / WG;
  const int begin = MIN_INT(item * run, pairs), end = MIN_INT(begin + run, pairs);
  int found = 0;
#if WG > 1
  for (int i = begin; i < end; ++i) {
    const int id = from ? from[i] : i;
    found += plane1[id] >= cutoff || plane2[id] >= cutoff;
  }
#endif
  int next = group_before(part, found, item, &found);
  for (int i = begin; i < end; ++i) {
    const int id = from ? from[i] : i;
    if (plane1[id] >= cutoff || plane2[id] >= cutoff) {
      list[1 + next++] = id;
    }
  }
  if (item == WG - 1) {
    list[0] = next;
  }
}

// The retained edges of a pose, with gate weights if `weighted`.
typedef struct kept_edges {
  GLOBAL const real *weights;
  int kept, padded, weighted;
} kept_edges;

// Returns a body's retained edges, or none without `any`.
static kept_edges kept_edges_of(GLOBAL const pair_sizes *n, int side, int any,
                                GLOBAL const real *weights, int pose)
{
  GLOBAL const pair_elements *of = &n->elements[EDGES_OF(side)];
  kept_edges e;
  e.weights = NUMS(weights, pose, of->slots);
  e.kept = any ? of->kept : 0;
  e.padded = of->slots;
  e.weighted = of->weighted;
  return e;
}

static num kept_weight(const kept_edges *e, int i)
{
  return e->weighted ? load_one(e->weights + i, e->padded) : n_lit(R(1.0));
}

// Returns the weights of the edges starting at `first`, a multiple of LANES.
static num kept_weights(const kept_edges *e, int first)
{
  return e->weighted ? load(e->weights + first, e->padded) : n_lit(R(1.0));
}

// Fills the factors of a row of pairs, edge k of body 1 with all edges of body 2: con, times the
// softmax over the row, times both gate weights. The planes begin at `row`; lanes past its end have
// the following values or arbitrary values.
static void row_factors(GLOBAL real *row, int stride, int plane, int k, const kept_edges *own,
                        const kept_edges *others, GLOBAL const coefficients *c)
{
  GLOBAL const real *dbar = row + NEAR_DBAR * plane;
  const int count = others->kept;
  const lane end = lane_lit((real)count), none = lane_lit(R(0.0));
  lane low = lane_lit(REAL_BIG);
  for (int l = 0; l < count; l += LANES) {
    const lane x = n_value(load(dbar + l, stride));
    const ilane here = lane_iota() + (real)l < end;
    const ilane counts = here & (n_value(kept_weights(others, l)) > none);
    low = lane_select(counts & (x < low), x, low);
  }
  const num least = n_lit(lane_lit(lane_least(low)));
  num sum = n_lit(R(0.0));
  for (int l = 0; l < count; l += LANES) {
    const num weight = kept_weights(others, l);
    const ilane here = lane_iota() + (real)l < end, counts = here & (n_value(weight) > none);
    const num e = n_exp2(n_scale(n_sub(least, load(dbar + l, stride)), c->neighbour_log2e));
    const num term = n_select(counts, n_mul(weight, e), n_lit(R(0.0)));
    sum = n_add(sum, term);
    store_row(row + NEAR_FACTORS * plane, stride, NO_ORDER, 0, l, count, n_mul(weight, term));
  }
  sum = all_lanes(sum);
  const num share =
    n_select(n_value(sum) > none, n_mul(kept_weight(own, k), n_rcp(sum)), n_lit(R(0.0)));
  for (int l = 0; l < count; l += LANES) {
    const num con = load(row + NEAR_CON * plane + l, stride);
    const num e = load(row + NEAR_FACTORS * plane + l, stride);
    store_row(row + NEAR_FACTORS * plane, stride, NO_ORDER, 0, l, count,
              n_mul(n_mul(con, share), e));
  }
}

// Does the same for the columns starting at l: these edges of body 2, each with all edges of body
// 1.
static void column_factors(GLOBAL real *row, int stride, int plane, int l, const kept_edges *own,
                           const kept_edges *others, GLOBAL const coefficients *c)
{
  GLOBAL const real *dbar = row + NEAR_DBAR * plane + l;
  GLOBAL real *to = row + (NEAR_FACTORS + 1) * plane;
  const int step = own->kept;
  const lane none = lane_lit(R(0.0));
  num least = n_lit(REAL_BIG), sum = n_lit(R(0.0));
  for (int k = 0; k < others->kept; ++k) {
    const num x = load(dbar + k * step, stride);
    const ilane less = n_value(x) < n_value(least);
    const ilane counts = less & (n_value(kept_weight(others, k)) > none);
    least = n_select(counts, x, least);
  }
  for (int k = 0; k < others->kept; ++k) {
    const num weight = kept_weight(others, k), x = load(dbar + k * step, stride);
    const num e = n_exp2(n_scale(n_sub(least, x), c->neighbour_log2e));
    const num term = n_select(n_value(weight) > none, n_mul(weight, e), n_lit(R(0.0)));
    sum = n_add(sum, term);
    store_row(to + k * step, stride, NO_ORDER, 0, l, step, n_mul(weight, term));
  }
  const num share =
    n_select(n_value(sum) > none, n_mul(kept_weights(own, l), n_rcp(sum)), n_lit(R(0.0)));
  for (int k = 0; k < others->kept; ++k) {
    const num con = load(row + NEAR_CON * plane + k * step + l, stride);
    const num e = load(to + k * step + l, stride);
    store_row(to + k * step, stride, NO_ORDER, 0, l, step, n_mul(n_mul(con, share), e));
  }
}

// Writes the ends of body 2's retained edges, a pose's row, in body 1's frame: ENDS_PLANES planes
// of `plane`.
static void place_ends(GLOBAL const real *ends, GLOBAL const pair_elements *e,
                       GLOBAL const real *frame, GLOBAL real *to, int to_stride, int item)
{
  const int stride = kept_stride(e, ENDS_PLANES), padded = e->plane, kept = e->kept;
  for (int first = item * LANES; first < kept; first += WG * LANES) {
    for (int end = 0; end < 2; ++end) {
      const vec q = load3(ends + 3 * end * padded + first, stride, padded);
      store3(to + 3 * end * padded + first, to_stride, padded,
             steady3(place(frame, q), COTANGENT_LIMIT));
    }
  }
}

// Reads numbers of edges for a block of pairs. Lanes in `before` get those of edge k, the others
// those of edge `next`.
static num by_row(GLOBAL const real *p, int stride, int k, int next, ilane before)
{
  return n_select(before, load_one(p + k, stride), load_one(p + next, stride));
}

// Does the same for edges that run from l to the last of `kept` and then from 0 again. Lanes past
// the end read numbers around a plane; their results are not used.
static num by_column(GLOBAL const real *p, int stride, int l, int kept, ilane before)
{
#if LANES == 1
  (void)kept;
  (void)before;
  return load(p + l, stride);
#else
  return n_select(before, load(p + l, stride), load(p + l - kept, stride));
#endif
}

// Reads the ends of a block of pairs: ends1 is a pose's row, and placed is written by place_ends.
// If rows are at least as long as a block, at most one row ends within a block. Otherwise each lane
// is gathered.
static edge_ends near_ends(GLOBAL const real *ends1, GLOBAL const real *placed,
                           GLOBAL const pair_sizes *n, int block)
{
  GLOBAL const pair_elements *edges1 = &n->elements[EDGES_OF(0)];
  const int stride1 = kept_stride(edges1, ENDS_PLANES), padded1 = edges1->plane;
  const int kept1 = edges1->kept, kept2 = n->elements[EDGES_OF(1)].kept;
  const int placed_stride = n->near_stride, padded2 = n->elements[EDGES_OF(1)].plane;
  edge_ends r;
  const num zero = n_lit(R(0.0));
  r.p0 = r.p1 = r.q0 = r.q1 = FN(make)(zero, zero, zero);
  num *const to1[ENDS_PLANES] = {&r.p0.x, &r.p0.y, &r.p0.z, &r.p1.x, &r.p1.y, &r.p1.z};
  num *const to2[ENDS_PLANES] = {&r.q0.x, &r.q0.y, &r.q0.z, &r.q1.x, &r.q1.y, &r.q1.z};
  const int first = block * LANES, k = first / kept2, l = first % kept2;
  if (kept2 >= LANES) {
    const ilane before = lane_iota() < lane_lit((real)(kept2 - l));
    const int next = MIN_INT(k + 1, kept1 - 1);
    for (int j = 0; j < ENDS_PLANES; ++j) {
      *to1[j] = by_row(ends1 + j * padded1, stride1, k, next, before);
      *to2[j] = by_column(placed + j * padded2, placed_stride, l, kept2, before);
    }
    return r;
  }
#if LANES > 1
  int at1[LANES], at2[LANES];
  for (int i = 0; i < LANES; ++i) {
    const int pair = MIN_INT(first + i, kept1 * kept2 - 1);
    at1[i] = pair / kept2;
    at2[i] = pair % kept2;
  }
  for (int j = 0; j < ENDS_PLANES; ++j) {
    EACH_PART (part) {
      real p[LANES], q[LANES];
      for (int i = 0; i < LANES; ++i) {
        p[i] = part && !stride1 ? R(0.0) : ends1[part * stride1 + j * padded1 + at1[i]];
        q[i] = placed[part * placed_stride + j * padded2 + at2[i]];
      }
      *to1[j] = n_with_part(*to1[j], part, lane_load(p));
      *to2[j] = n_with_part(*to2[j], part, lane_load(q));
    }
  }
#endif
  return r;
}

#if WITH_FORWARD
// One work-group computes the results of one pose's edge pairs that need no field: witness points,
// and the factors of both activities, which are con times the nearest edge's softmax times both
// gate weights. It lists the pairs whose factor reaches `cutoff`. pairs has rows of near_stride
// numbers: NEAR_PLANES planes of near_plane, followed by body 2's ends. A plane has LANES numbers
// more than there are pairs.
MERGED
KERNEL GROUPED void near_pairs(GLOBAL const real *ends1, GLOBAL const real *ends2,
                               GLOBAL const real *weights1, GLOBAL const real *weights2,
                               GLOBAL const real *frames, GLOBAL const pair_head *pair,
                               GLOBAL const int *plan, real cutoff, GLOBAL real *pairs,
                               GLOBAL int *list)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const coefficients *c = &pair->c;
  const int any = ROW(plan, pose, PLAN_INTS)[PLAN_EDGES]; // no return: see KERNEL
  const int count = any ? pair->n.pairs : 0;
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE) + FRAME_2_TO_1;
  GLOBAL real *row = NUMS(pairs, pose, stride);
  GLOBAL real *placed = row + NEAR_PLANES * plane;
  if (any) {
    place_ends(kept_row(ends2, &pair->n, 1, pose), &pair->n.elements[EDGES_OF(1)], frame, placed,
               stride, item);
  }
  BARRIER_GLOBAL;
  for (int block = item; block * LANES < count; block += WG) {
    const edge_ends at = near_ends(kept_row(ends1, &pair->n, 0, pose), placed, &pair->n, block);
    vec e1, e2;
    num con;
    FN(edge_witness)(at.p0, at.p1, at.q0, at.q1, c, &e1, &e2, &con);
    const vec gap = FN(sub3)(e1, e2);
    const num gap2 = FN(dot3)(gap, gap);
    GLOBAL real *here = row + block * LANES;
    store3(here, stride, plane, steady3(e1, COTANGENT_LIMIT));
    store3(here + 3 * plane, stride, plane, steady3(e2, COTANGENT_LIMIT));
    store(here + NEAR_DBAR * plane, stride,
          steady(n_mul(gap2, n_rcp(n_sqrt(n_shift(gap2, c->distance)))), COTANGENT_LIMIT));
    store(here + NEAR_CON * plane, stride, steady(con, COTANGENT_LIMIT));
  }
  BARRIER_GLOBAL;
  const kept_edges edges1 = kept_edges_of(&pair->n, 0, any, weights1, pose);
  const kept_edges edges2 = kept_edges_of(&pair->n, 1, any, weights2, pose);
  for (int k = item; k < edges1.kept; k += WG) {
    row_factors(row + k * edges2.kept, stride, plane, k, &edges1, &edges2, c);
  }
  for (int l = item * LANES; l < edges2.kept; l += WG * LANES) {
    column_factors(row, stride, plane, l, &edges2, &edges1, c);
  }
  BARRIER_GLOBAL;
  list_pairs(row + NEAR_FACTORS * plane, row + (NEAR_FACTORS + 1) * plane, count, 0, cutoff, part,
             item, ROW(list, pose, plane + 1));
}
#endif

// Returns the points of body `side` of a block of listed pairs, in the frame of body `in`, whose
// field is evaluated.
static vec listed_points(GLOBAL const real *row, GLOBAL const pair_sizes *n, int side, int in,
                         GLOBAL const int *at, int first, int count, GLOBAL const real *frames,
                         int pose)
{
  const vec e = gather3_at(row + (side ? NEAR_E2 : NEAR_E1) * n->near_plane, n->near_stride,
                           n->near_plane, at, first, count);
  const vec x = in ? place(NUMS(frames, pose, FRAME_STRIDE) + FRAME_1_TO_2, e) : e;
  return FN(limit3)(x, R(2.0) * SEPARATION_LIMIT);
}

// One work-item handles a block of one pose's listed pairs. It finds the opposing body's (head,
// shape) distance at the points of one body, exact below `reach`, and writes a plane of pairs. Each
// body has `blocks` blocks.
MERGED
KERNEL void near_opposing(GLOBAL real *pairs, GLOBAL const int *list, real reach,
                          GLOBAL const real *frames, GLOBAL const int *head1,
                          GLOBAL const int *head2, GLOBAL const real *shape1,
                          GLOBAL const real *shape2, GLOBAL const pair_head *pair, int blocks)
{
  const body_block at = body_block_of((int)get_global_id(0), blocks, blocks);
  const int pose = (int)get_global_id(1), side = at.side, first = at.first;
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  GLOBAL const int *listed = ROW(list, pose, plane + 1);
  GLOBAL const int *head = OF_BODY(!side, head1, head2);
  GLOBAL const real *shape = OF_BODY(!side, shape1, shape2);
  const int count = listed[0];
  if (first < 0 || first >= count) {
    return;
  }
  GLOBAL real *row = NUMS(pairs, pose, stride);
  const vec x = listed_points(row, &pair->n, side, !side, listed + 1, first, count, frames, pose);
  const num phi = distance_within(head, shape, &pair->c, x, reach);
  store_row(row + (NEAR_OPPOSING + side) * plane, stride, listed + 1, 1, first, count,
            steady(phi, COTANGENT_LIMIT));
}

#if WITH_FORWARD
// One work-group handles one pose. The opposing distances are now known, so it lists in
// `out` only the listed pairs whose activity can reach `cutoff`. The clash of normals is ignored,
// because it only reduces the activity.
MERGED
KERNEL GROUPED void near_active(GLOBAL real *pairs, GLOBAL const int *list, real cutoff,
                                GLOBAL const pair_head *pair, GLOBAL int *out)
{
  LOCAL_ARRAY(int, part, WG);
  GLOBAL const coefficients *c = &pair->c;
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const int *listed = ROW(list, pose, plane + 1);
  GLOBAL real *row = NUMS(pairs, pose, stride);
  const int count = listed[0];
  GLOBAL real *bounds = row + NEAR_BOUNDS * plane;
  for (int first = item * LANES; first < count; first += WG * LANES) {
    for (int side = 0; side < 2; ++side) {
      const lane phi =
        n_value(gather_at(row + (NEAR_OPPOSING + side) * plane, stride, listed + 1, first, count));
      const lane shared =
        n_value(gather_at(row + (NEAR_FACTORS + side) * plane, stride, listed + 1, first, count));
      store_part(bounds + side * plane, listed + 1, 1, first, count, 1,
                 shared * sigmoid_r(beneath_r(phi, c)));
    }
  }
  BARRIER_GLOBAL;
  list_pairs(bounds, bounds + plane, count, listed + 1, cutoff, part, item,
             ROW(out, pose, plane + 1));
}
#endif
