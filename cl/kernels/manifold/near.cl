// Which contacts of a pose can be active at all. Bounds of distances decide about blocks of
// vertices before any field is evaluated there; what needs no field (witness points, the nearest
// edge, gate weights) decides about edge pairs. What is left is listed, one list a pose, so that
// lanes stay full; listed.cl computes it.
//
// A list is the number of its entries and then the entries in order.

// A distance that is not exact may be the reach itself, and is no less than what near_vertices asks
// for, which is rounded otherwise: else a vertex far away would be listed, where the field has no
// normal.
#define NEAR_MORE (R(1.0) + R(16.0) * REAL_EPSILON)
#define SCORED_BLOCKS 4 // blocks of vertices that a selection of edges is sure to look at; measured

// A launch is for both bodies of a pair, as it costs what dozens of blocks do.
#define OF_BODY(side, of1, of2) ((side) ? (of2) : (of1))

// Which body's block of LANES elements a work-item has, and where the block begins; -1: it has
// none.
typedef struct body_block {
  int side, first;
} body_block;

// The first `blocks1` work-items have body 1's blocks, and the `blocks2` behind them those of body
// 2.
static body_block body_block_of(int item, int blocks1, int blocks2)
{
  body_block b;
  b.side = item >= blocks1;
  b.first = item < blocks1 + blocks2 ? (item - (b.side ? blocks1 : 0)) * LANES : -1;
  return b;
}

// ---- vertices ----

// One work-item finds, for LANES blocks of vertices of a body in one pose, lower bounds of the
// distance of the other body (head, shape) over the balls around them: bounds (poses, ball_slots),
// of balls (VERTEX_BALL_PLANES, ball_slots). A pose that is not finite is far from everything.
MERGED
KERNEL void near_bounds(GLOBAL const real *balls1, GLOBAL const real *balls2,
                        GLOBAL const real *frames, GLOBAL const int *head1, GLOBAL const int *head2,
                        GLOBAL const real *shape1, GLOBAL const real *shape2,
                        GLOBAL const pair_head *pair, int blocks1, int blocks2,
                        GLOBAL real *bounds1, GLOBAL real *bounds2)
{
  const body_block at = body_block_of((int)get_global_id(0), blocks1, blocks2);
  const int pose = (int)get_global_id(1), side = at.side, first = at.first;
  const int padded = pair->n.ball_slots[side], count = pair->n.balls[side];
  GLOBAL const real *balls = OF_BODY(side, balls1, balls2);
  GLOBAL const int *head = OF_BODY(!side, head1, head2);
  GLOBAL const real *shape = OF_BODY(!side, shape1, shape2);
  GLOBAL real *bounds = OF_BODY(side, bounds1, bounds2);
  if (first < 0 || first >= padded) {
    return;
  }
  GLOBAL const real *row = NUMS(frames, pose, FRAME_STRIDE);
  const vec3_r centre = make_r(lane_load(balls + first), lane_load(balls + padded + first),
                               lane_load(balls + 2 * padded + first));
  const vec3_r x =
    limit3_r(transform_r(row + FRAME_ACROSS(side), centre), R(2.0) * SEPARATION_LIMIT);
  const lane bound = body_bound_r(head, shape, &pair->c, x, lane_load(balls + 3 * padded + first));
  const ilane there = lane_iota() + (real)first < lane_lit((real)count);
  const real poison = row[FRAME_POISON];
  const ilane good = there & (lane_lit(poison) == lane_lit(R(0.0)));
  lane_store(lane_select(good, bound, lane_lit(REAL_BIG)), ROW(bounds, pose, padded) + first);
}

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group finds whether an edge of a body may touch in one pose, touch (poses); it is asked
// of body 1, and then of body 2 where none of body 1 may. An edge may where, at one of its
// vertices, a bound of the distance over the ball that its points of that end lie in
// (PAIR_EDGE_PART of the longest edge there) is at most `reach`. Blocks of vertices are passed over
// whose own bound, that of all their vertices less what the body's longest edge reaches, is beyond
// block_reach. Inside a primitive's hull there is no bound, and nothing is looked at: the edge may
// touch.
MERGED
KERNEL void near_touch(GLOBAL const real *points1, GLOBAL const real *points2,
                       GLOBAL const real *longest1, GLOBAL const real *longest2,
                       GLOBAL const real *bounds1, GLOBAL const real *bounds2, real reach,
                       real block_reach1, real block_reach2, GLOBAL const real *frames,
                       GLOBAL const int *head1, GLOBAL const int *head2, GLOBAL const real *shape1,
                       GLOBAL const real *shape2, GLOBAL const pair_head *pair, GLOBAL int *touch)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  int may = 0;
  for (int side = 0; !may && side < 2; ++side) {
    const int padded = pair->n.elements[VERTICES_OF(side)].padded, balls = pair->n.balls[side];
    GLOBAL const real *points = OF_BODY(side, points1, points2);
    GLOBAL const real *longest = OF_BODY(side, longest1, longest2);
    GLOBAL const real *bound = ROW(OF_BODY(side, bounds1, bounds2), pose, pair->n.ball_slots[side]);
    GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE) + FRAME_ACROSS(side);
    const real block_reach = OF_BODY(side, block_reach1, block_reach2);
    for (int i = item; !may && i < balls; i += WG) {
      may = bound[i] == -REAL_BIG;
    }
    for (int first = item * LANES; !may && first < padded; first += WG * LANES) {
      if (bound[first / BALL_VERTICES] <= block_reach) {
        const vec3_r v = make_r(lane_load(points + first), lane_load(points + padded + first),
                                lane_load(points + 2 * padded + first));
        const vec3_r x = limit3_r(transform_r(frame, v), R(2.0) * SEPARATION_LIMIT);
        const lane radius = lane_load(longest + first) * pair->reals[PAIR_EDGE_PART];
        may = lane_least(body_bound_r(OF_BODY(!side, head1, head2), OF_BODY(!side, shape1, shape2),
                                      &pair->c, x, radius)) <= reach;
      }
    }
  }
  part[item] = may;
  BARRIER_GLOBAL;
  if (item == 0) {
    for (int i = 1; i < WG; ++i) {
      may |= part[i];
    }
    touch[pose] = may;
  }
}
#endif

// Returns below which distance a body's field is to be exact where edges matter: PAIR_SCORED beyond
// where the nearest SCORED_BLOCKS blocks of vertices begin, where those inside count as 0. A body
// with fewer blocks is exact everywhere. Where every edge is kept none is ranked, PAIR_SCORED is 0,
// and `reach` suffices.
static real exact_reach(GLOBAL const real *bounds, GLOBAL const pair_head *pair, int side,
                        real reach, int pose)
{
  GLOBAL const real *row = ROW(bounds, pose, pair->n.ball_slots[side]);
  const real scored = pair->reals[PAIR_SCORED + side];
  if (scored <= R(0.0)) {
    return reach;
  }
  real nearest[SCORED_BLOCKS];
  for (int j = 0; j < SCORED_BLOCKS; ++j) {
    nearest[j] = REAL_BIG;
  }
  for (int i = 0; i < pair->n.balls[side]; ++i) {
    real x = real_max(row[i], R(0.0));
    for (int j = 0; j < SCORED_BLOCKS; ++j) {
      const real less = real_min(nearest[j], x);
      x = real_max(nearest[j], x);
      nearest[j] = less;
    }
  }
  return real_max(reach, nearest[SCORED_BLOCKS - 1] + scored);
}

// One work-item decides about one pose: plan (poses, PLAN_INTS), whether edges matter, and reaches
// (poses, 2), the distances below which either body's field is to be exact. touch is that of
// near_touch, and `reach` the distance at which a point becomes active. With `given` it is known
// already whether edges matter, as the caller has named what is asked for.
MERGED
KERNEL void near_plan(GLOBAL const real *bounds1, GLOBAL const real *bounds2,
                      GLOBAL const int *touch, real reach, int given, int count,
                      GLOBAL const pair_head *pair, GLOBAL int *plan, GLOBAL real *reaches)
{
  const int pose = (int)get_global_id(0);
  if (pose >= count) {
    return;
  }
  GLOBAL int *row = ROW(plan, pose, PLAN_INTS);
  int touches = given && row[PLAN_EDGES];
  if (pair->n.listed & LISTED_PAIRS && !given && !pair->n.in_fields) {
    touches = touch[pose];
  }
  row[PLAN_EDGES] = touches;
  row[PLAN_MORE] = 0;
  row[PLAN_MORE + 1] = 0;
  GLOBAL real *to = ROW(reaches, pose, 2);
  for (int side = 0; side < 2; ++side) { // a vertex's ball reaches out by its radius
    const real own = (reach + pair->reals[PAIR_ROUND + side]) * NEAR_MORE;
    to[side] = touches ? exact_reach(OF_BODY(side, bounds1, bounds2), pair, side, own, pose) : own;
  }
}

// One work-item finds the distances at a block of a body's vertices in one pose, out (poses,
// padded): exact below the pose's reach, above it a lower bound that is not below the reach.
MERGED
KERNEL void near_field(GLOBAL const real *points1, GLOBAL const real *points2,
                       GLOBAL const real *bounds1, GLOBAL const real *bounds2,
                       GLOBAL const real *reaches, GLOBAL const real *frames,
                       GLOBAL const int *head1, GLOBAL const int *head2, GLOBAL const real *shape1,
                       GLOBAL const real *shape2, GLOBAL const pair_head *pair, int blocks1,
                       int blocks2, GLOBAL real *out1, GLOBAL real *out2)
{
  const body_block at = body_block_of((int)get_global_id(0), blocks1, blocks2);
  const int pose = (int)get_global_id(1), side = at.side, first = at.first;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
  GLOBAL const real *points = OF_BODY(side, points1, points2);
  GLOBAL const int *head = OF_BODY(!side, head1, head2);
  GLOBAL const real *shape = OF_BODY(!side, shape1, shape2);
  if (first < 0 || first >= padded) {
    return;
  }
  const real bound =
    ROW(OF_BODY(side, bounds1, bounds2), pose, pair->n.ball_slots[side])[first / BALL_VERTICES];
  const real reach = ROW(reaches, pose, 2)[side];
  GLOBAL real *to = NUMS(OF_BODY(side, out1, out2), pose, padded) + first;
  if (bound > reach) {
    store(to, padded, n_lit(lane_lit(bound)));
    return;
  }
  const vec x = field_point(points, 0, 0, padded, frames, FRAME_ACROSS(side), first / LANES, pose);
  store(to, padded, steady(distance_within(head, shape, &pair->c, x, reach), COTANGENT_LIMIT));
}

// Returns, as bits, the lanes of the block from `first` on whose distance less its radius is below
// `reach`. radii may be 0: none has one.
static unsigned int near_bits(GLOBAL const real *phi, GLOBAL const real *radii, int first,
                              int count, real reach)
{
  const ilane there = lane_iota() + (real)first < lane_lit((real)count);
  const lane out = radii ? lane_load(radii + first) : lane_lit(R(0.0));
  return (unsigned int)lane_bits(there & (lane_load(phi + first) - out < lane_lit(reach)));
}

#if WITH_FORWARD
// One work-group lists the vertices of one pose whose distance is below `reach`, by their places
// among the sorted ones, in list (poses, padded + 1). at (poses, padded) says where in the list
// each vertex of the mesh is, or -1. Groups take turns between the `sides` bodies from `side_first`
// on.
MERGED
KERNEL void near_vertices(GLOBAL const real *field1, GLOBAL const real *field2, real reach,
                          GLOBAL const int *order1, GLOBAL const int *order2,
                          GLOBAL const real *radii1, GLOBAL const real *radii2,
                          GLOBAL const pair_head *pair, int side_first, int sides,
                          GLOBAL int *list1, GLOBAL int *list2, GLOBAL int *at1, GLOBAL int *at2)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0) / sides, side = side_first + (int)get_group_id(0) % sides;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
  const int count = pair->n.elements[VERTICES_OF(side)].kept; // others, of a part of a body, are
                                                              // ends of edges alone
  const int item = (int)get_local_id(0);
  GLOBAL const int *order = OF_BODY(side, order1, order2);
  GLOBAL const real *all_radii = OF_BODY(side, radii1, radii2);
  GLOBAL const real *radii = pair->n.elements[VERTICES_OF(side)].radii ? all_radii
                                                                       : (GLOBAL const real *)0;
  GLOBAL const real *phi = NUMS(OF_BODY(side, field1, field2), pose, padded);
  GLOBAL int *places = ROW(OF_BODY(side, at1, at2), pose, padded);
  GLOBAL int *row = ROW(OF_BODY(side, list1, list2), pose, padded + 1);
  const int blocks = padded / LANES, run = (blocks + WG - 1) / WG;
  const int begin = MIN_INT(item * run, blocks) * LANES;
  const int end = MIN_INT((item + 1) * run, blocks) * LANES;
  int found = 0;
#if WG > 1
  for (int first = begin; first < end; first += LANES) {
    found += (int)popcount(near_bits(phi, radii, first, count, reach));
  }
#endif
  for (int i = item; i < count; i += WG) {
    places[i] = -1;
  }
  BARRIER_GLOBAL;
  int next = group_before(part, found, item, &found);
  for (int first = begin; first < end; first += LANES) {
    unsigned int bits = near_bits(phi, radii, first, count, reach);
    for (; bits; bits &= bits - 1) {
      const int place_of = first + lowest_bit(bits);
      places[order[place_of]] = next;
      row[1 + next++] = place_of;
    }
  }
  if (item == WG - 1) {
    row[0] = next;
  }
}
#endif

// ---- selection of edges ----

// A body's edges in a pose: distances at its vertices, exact below `reach`; bounds of their blocks;
// and scores, of which those with an end that is not exact are upper bounds.
typedef struct near_edges {
  GLOBAL const real *phi;
  GLOBAL real *bounds, *scores;
  GLOBAL const int *ends; // two planes: where the ends lie among the vertices
  int plane, field_padded, padded, count;
  real reach;
} near_edges;

// Returns a body's edges. Without `any` there are no blocks of scores, so that nothing is looked
// at.
static near_edges near_edges_of(GLOBAL const pair_sizes *n, int side, int any,
                                GLOBAL const real *phi, GLOBAL real *bounds, GLOBAL real *scores,
                                GLOBAL const int *ends, real reach, int pose)
{
  near_edges e;
  e.field_padded = n->elements[VERTICES_OF(side)].padded;
  e.plane = n->elements[EDGES_OF(side)].padded;
  e.padded = any ? e.plane : 0;
  e.count = n->elements[EDGES_OF(side)].count;
  e.phi = NUMS(phi, pose, e.field_padded);
  e.bounds = ROW(bounds, pose, n->ball_slots[side]);
  e.scores = NUMS(scores, pose, e.plane);
  e.ends = ends;
  e.reach = reach;
  return e;
}

static void near_scores(const near_edges *e, int item)
{
  for (int first = item * LANES; first < e->padded; first += WG * LANES) {
    score_edges(e->phi, e->field_padded, e->ends, e->padded, e->count, first,
                (GLOBAL const real *)0, 0, e->scores);
  }
}

static int exact_end(const near_edges *e, int edge, int end)
{
  return e->phi[e->ends[end * e->plane + edge]] < e->reach;
}

static void ask_for_end(const near_edges *e, int edge, int end)
{
  const int place_of = e->ends[end * e->plane + edge];
  if (e->phi[place_of] >= e->reach) {
    e->bounds[place_of / BALL_VERTICES] = -REAL_BIG;
  }
}

static int exact_edge(const near_edges *e, int edge)
{
  return exact_end(e, edge, 0) && exact_end(e, edge, 1);
}

// Writes the ends and weights of the edges of a pose that a selection keeps, of what it has ranked;
// `source` are the ends of all.
static void keep_edges(GLOBAL const int *index, GLOBAL const real *top, GLOBAL const real *source,
                       GLOBAL const pair_head *pair, int side, GLOBAL real *ends,
                       GLOBAL real *weights, int pose, int item)
{
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  for (int slot = item; slot < e->slots; slot += WG) {
    gate_row(ROW(index, pose, e->kept + 1), NUMS(top, pose, e->kept + 1), slot, source, ENDS_PLANES,
             e, &pair->c, NUMS(ends, pose, ENDS_PLANES * e->slots), NUMS(weights, pose, e->slots));
  }
}

#if WITH_FORWARD
// One work-group finds the kept + 1 edges of the largest scores of one pose, and what `gate` gives
// for them. An edge on the way that is not exact asks for its ends' distances, by a bound of
// -REAL_BIG of their blocks. Where there was one near_again follows, for which all is exact that
// can count: the bound of any other edge is not above the score of the last one found here. Where
// that takes too many steps, all of the body is asked for.
MERGED
KERNEL void near_select(GLOBAL real *scores, GLOBAL const real *field, GLOBAL real *bounds,
                        GLOBAL const real *reaches, GLOBAL const int *ends,
                        GLOBAL const real *source, GLOBAL const pair_head *pair, int side,
                        GLOBAL int *plan, GLOBAL int *index, GLOBAL real *top,
                        GLOBAL real *kept_ends, GLOBAL real *weights)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL int *decided = ROW(plan, pose, PLAN_INTS);
  const int any = decided[PLAN_EDGES]; // no return: see KERNEL
  const near_edges e = near_edges_of(&pair->n, side, any, field, bounds, scores, ends,
                                     ROW(reaches, pose, 2)[side], pose);
  const int kept = pair->n.elements[EDGES_OF(side)].kept, balls = pair->n.balls[side];
  TOP_SEARCH(search, e.scores, e.padded, e.count, item);
  near_scores(&e, item);
  BARRIER_GLOBAL;
  top_begin(&search);
  int k = 0, asked = 0;
  for (int turn = 0; any && turn < 4 * (kept + 1) && k <= kept; ++turn) {
    const ranked_score next = top_next(&search);
    const int exact = next.score <= SCORE_NONE || exact_edge(&e, next.index);
    if (item == 0 && exact) {
      write_ranked(e.scores, e.padded, e.count, kept, k, next, ROW(index, pose, kept + 1),
                   NUMS(top, pose, kept + 1));
    } else if (item == 0) {
      ask_for_end(&e, next.index, 0);
      ask_for_end(&e, next.index, 1);
    }
    k += exact;
    asked |= !exact;
  }
  BARRIER_GLOBAL;
  if (any && !asked) {
    keep_edges(index, top, source, pair, side, kept_ends, weights, pose, item);
  }
  for (int i = item; asked && k <= kept && i < balls; i += WG) {
    e.bounds[i] = -REAL_BIG;
  }
  if (item == 0 && asked) {
    decided[PLAN_MORE + side] = 1;
  }
}

// Where near_select has asked for more in one pose, one work-group computes the distances of those
// blocks, and selects again.
MERGED
KERNEL void near_again(GLOBAL const real *points, GLOBAL real *scores, GLOBAL real *field,
                       GLOBAL real *bounds, GLOBAL const int *ends, GLOBAL const real *source,
                       GLOBAL const int *plan, GLOBAL const real *frames, GLOBAL const int *head,
                       GLOBAL const real *shape, GLOBAL const pair_head *pair, int side,
                       GLOBAL int *index, GLOBAL real *top, GLOBAL real *kept_ends,
                       GLOBAL real *weights)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int more = ROW(plan, pose, PLAN_INTS)[PLAN_MORE + side]; // no return: see KERNEL
  const near_edges e =
    near_edges_of(&pair->n, side, more, field, bounds, scores, ends, REAL_BIG, pose);
  const int kept = pair->n.elements[EDGES_OF(side)].kept, field_padded = e.field_padded;
  TOP_SEARCH(search, e.scores, e.padded, e.count, item);
  GLOBAL real *phi = NUMS(field, pose, field_padded);
  for (int first = item * LANES; more && first < field_padded; first += WG * LANES) {
    if (e.bounds[first / BALL_VERTICES] == -REAL_BIG) {
      const vec x =
        field_point(points, 0, 0, field_padded, frames, FRAME_ACROSS(side), first / LANES, pose);
      vec normal;
      store(phi + first, field_padded,
            steady(field_within(head, shape, &pair->c, x, 0, REAL_BIG, &normal), COTANGENT_LIMIT));
    }
  }
  BARRIER_GLOBAL;
  near_scores(&e, item);
  BARRIER_GLOBAL;
  top_begin(&search);
  for (int k = 0; more && k <= kept; ++k) {
    const ranked_score next = top_next(&search);
    if (item == 0) {
      write_ranked(e.scores, e.padded, e.count, kept, k, next, ROW(index, pose, kept + 1),
                   NUMS(top, pose, kept + 1));
    }
  }
  BARRIER_GLOBAL;
  if (more) {
    keep_edges(index, top, source, pair, side, kept_ends, weights, pose, item);
  }
}
#endif

// ---- edge pairs ----

// Lists the pairs of a pose of which one of two planes reaches `cutoff`. `from` are the pairs to
// look at, in order, or all where it is NULL. All work-items of a group call it.
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

// The kept edges of a pose, with gate weights where `weighted`.
typedef struct kept_edges {
  GLOBAL const real *weights;
  int kept, padded, weighted;
} kept_edges;

// Returns a body's kept edges, none without `any`.
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

// Returns the weights of the edges from `first` on, a multiple of LANES.
static num kept_weights(const kept_edges *e, int first)
{
  return e->weighted ? load(e->weights + first, e->padded) : n_lit(R(1.0));
}

// Fills the factors of a row of pairs, of edge k of body 1 with all of body 2: con, times the
// softmax over the row, times both gate weights. The planes begin at `row`; lanes past its end hold
// what follows, or anything.
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

// Does the same for the columns from l on, those edges of body 2, each with all of body 1.
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

// Writes the ends of body 2's kept edges, a pose's row, in body 1's frame: ENDS_PLANES planes of
// `plane`.
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

// Reads numbers of edges for a block of pairs: lanes in `before` get those of edge k, the others
// those of edge `next`.
static num by_row(GLOBAL const real *p, int stride, int k, int next, ilane before)
{
  return n_select(before, load_one(p + k, stride), load_one(p + next, stride));
}

// Does the same where edges run on, from l to the last of `kept` and from 0 again. Lanes past the
// end read what lies around a plane, and are not taken.
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

// Reads the ends of a block of pairs: ends1 is a pose's row, and placed that of place_ends. Where
// rows are at least as long as a block at most one ends within it; else each lane is gathered.
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
// One work-group makes everything of the edge pairs of one pose that needs no field: witness
// points, and the factors of both activities, con times the nearest edge's softmax times both gate
// weights. It lists the pairs whose factor reaches `cutoff`. pairs has rows of near_stride numbers,
// NEAR_PLANES planes of near_plane and then body 2's ends; a plane holds LANES numbers more than
// there are pairs.
MERGED
KERNEL void near_pairs(GLOBAL const real *ends1, GLOBAL const real *ends2,
                       GLOBAL const real *weights1, GLOBAL const real *weights2,
                       GLOBAL const real *frames, GLOBAL const pair_head *pair,
                       GLOBAL const int *plan, real cutoff, GLOBAL real *pairs, GLOBAL int *list)
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
// field is asked for.
static vec listed_points(GLOBAL const real *row, GLOBAL const pair_sizes *n, int side, int in,
                         GLOBAL const int *at, int first, int count, GLOBAL const real *frames,
                         int pose)
{
  const vec e = gather3_at(row + (side ? NEAR_E2 : NEAR_E1) * n->near_plane, n->near_stride,
                           n->near_plane, at, first, count);
  const vec x = in ? place(NUMS(frames, pose, FRAME_STRIDE) + FRAME_1_TO_2, e) : e;
  return FN(limit3)(x, R(2.0) * SEPARATION_LIMIT);
}

// One work-item finds the opposing body's (head, shape) distance at the points of a body of a
// block of one pose's listed pairs, exact below `reach`: a plane of pairs, by pair. Either body has
// `blocks` blocks.
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
// One work-group lists, of one pose's listed pairs, those whose activity can reach `cutoff` now
// that the opposing distances are known. The clash of normals, which only lessens it, is not looked
// at.
MERGED
KERNEL void near_active(GLOBAL real *pairs, GLOBAL const int *list, real cutoff,
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
