// Finds which contacts of a pose can be active. Bounds of distances exclude blocks of vertices
// before any field is evaluated there. Edge pairs are decided by data that needs no field: witness
// points, the nearest edge and gate weights. The remaining contacts are listed, one list per pose,
// so that lanes stay full. listed.cl computes them.
//
// A list holds the number of its entries, followed by the entries in order.

// A distance that is not exact may equal the reach, and must not be below the threshold of
// near_vertices, which is rounded differently. Without this margin a far vertex could be listed,
// where the field has no normal.
#define NEAR_MORE (R(1.0) + R(16.0) * REAL_EPSILON)
#define SCORED_BLOCKS 4 // blocks of vertices that every selection of edges examines; measured

// One launch handles both bodies of a pair, because a launch costs as much as dozens of blocks.
#define OF_BODY(side, of1, of2) ((side) ? (of2) : (of1))

// The body and the first element of a work-item's block of LANES elements. `first` is -1 if the
// work-item has no block.
typedef struct body_block {
  int side, first;
} body_block;

// The first `blocks1` work-items have body 1's blocks, and the next `blocks2` have body 2's.
static body_block body_block_of(int item, int blocks1, int blocks2)
{
  body_block b;
  b.side = item >= blocks1;
  b.first = item < blocks1 + blocks2 ? (item - (b.side ? blocks1 : 0)) * LANES : -1;
  return b;
}

// ---- vertices ----

// One work-item handles LANES blocks of a body's vertices in one pose. It finds lower bounds of the
// distance of the other body (head, shape) over the balls around these blocks: bounds (poses,
// ball_slots), from balls (VERTEX_BALL_PLANES, ball_slots). A pose that is not finite is far from
// everything.
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
// One work-group finds whether any edge may touch in one pose: touch (poses). It tests body 1's
// edges, and then body 2's if none of body 1's may touch. An edge may touch if, at one of its
// vertices, a bound of the distance over the ball that contains its points of that end is at most
// `reach`. The radius of this ball is PAIR_EDGE_PART of the longest edge there. A block of vertices
// is skipped if its own bound, over all its vertices and less what the body's longest edge reaches,
// is beyond block_reach. Inside a primitive's hull there is no bound, so the edge may touch and
// nothing else is examined.
MERGED
KERNEL GROUPED void near_touch(GLOBAL const real *points1, GLOBAL const real *points2,
                               GLOBAL const real *longest1, GLOBAL const real *longest2,
                               GLOBAL const real *bounds1, GLOBAL const real *bounds2, real reach,
                               real block_reach1, real block_reach2, GLOBAL const real *frames,
                               GLOBAL const int *head1, GLOBAL const int *head2,
                               GLOBAL const real *shape1, GLOBAL const real *shape2,
                               GLOBAL const pair_head *pair, GLOBAL int *touch)
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

// Returns the distance below which a body's field must be exact if edges matter. This is
// PAIR_SCORED beyond the start of the nearest SCORED_BLOCKS blocks of vertices; blocks inside count
// as 0. A body with fewer blocks is exact everywhere. If every edge is retained, none is ranked,
// PAIR_SCORED is 0, and `reach` suffices.
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

// One work-item handles one pose. plan (poses, PLAN_INTS) receives whether edges matter.
// reaches (poses, 2) receives the distances below which each body's field must be exact. touch is
// the result of near_touch. `reach` is the distance at which a point becomes active. With `given`,
// the plan already states whether edges matter, because the caller has named the contacts.
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
  for (int side = 0; side < 2; ++side) { // a vertex's ball extends by its radius
    const real own = (reach + pair->reals[PAIR_ROUND + side]) * NEAR_MORE;
    to[side] = touches ? exact_reach(OF_BODY(side, bounds1, bounds2), pair, side, own, pose) : own;
  }
}

// One work-item finds the distances at a block of a body's vertices in one pose, out (poses,
// padded). A distance is exact below the pose's reach. Above, it is a lower bound that is at least
// the reach.
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

// Returns, as bits, the lanes of the block starting at `first` whose distance less its radius is
// below `reach`. If radii is 0, all radii are zero.
static unsigned int near_bits(GLOBAL const real *phi, GLOBAL const real *radii, int first,
                              int count, real reach)
{
  const ilane there = lane_iota() + (real)first < lane_lit((real)count);
  const lane out = radii ? lane_load(radii + first) : lane_lit(R(0.0));
  return (unsigned int)lane_bits(there & (lane_load(phi + first) - out < lane_lit(reach)));
}

#if WITH_FORWARD
// One work-group lists the vertices of one pose whose distance is below `reach`. list (poses,
// padded + 1) has their places among the sorted vertices. at (poses, padded) is the position of
// each mesh vertex in the list, or -1. Groups alternate between `sides` bodies, starting with
// `side_first`.
MERGED
KERNEL GROUPED void near_vertices(GLOBAL const real *field1, GLOBAL const real *field2, real reach,
                                  GLOBAL const int *order1, GLOBAL const int *order2,
                                  GLOBAL const real *radii1, GLOBAL const real *radii2,
                                  GLOBAL const pair_head *pair, int side_first, int sides,
                                  GLOBAL int *list1, GLOBAL int *list2, GLOBAL int *at1,
                                  GLOBAL int *at2)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0) / sides, side = side_first + (int)get_group_id(0) % sides;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
  // The other vertices of a partial body are only ends of edges.
  const int count = pair->n.elements[VERTICES_OF(side)].kept;
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
