// Lists of edges in fields. Bounds of the field over pieces of the edges decide which edges of a
// pose can have an active contact, and the contacts of those edges are computed. A list contains
// slots, after their number (EDGE_LIST_* of geometry/pair.h). Both slots of an edge are adjacent.

#define EDGE_PARTS 4 // pieces of an edge, each with its own bound; measured

// Returns the edges for which the field is below `reach` beyond their radius, by bounds over their
// pieces.
static ilane edges_reached(const rail_r *rail, GLOBAL const coefficients *c, GLOBAL const int *head,
                           GLOBAL const real *shape, real reach)
{
  // The places of a quarter of a circle extend beyond it by half its length.
  const ilane of_circle = rail->quarter > lane_lit(R(0.5));
  const lane reaches = lane_select(of_circle, lane_lit(R(1.5)), lane_lit(R(1.0)));
  const lane from = lane_select(of_circle, lane_lit(R(-0.5)), lane_lit(R(0.0)));
  const vec3_r middle =
    limit3_r(rail_at_r(rail, from + R(0.5) * reaches).x, R(2.0) * SEPARATION_LIMIT);
  const lane whole = body_bound_r(head, shape, c, middle, rail->length * reaches * R(0.5));
  const ilane near = whole <= rail->radius + reach;
  if (!lane_any(near)) {
    return near;
  }
  const lane radius = rail->length * reaches * (R(0.5) / (real)EDGE_PARTS);
  lane least = lane_lit(REAL_BIG);
  for (int i = 0; i < EDGE_PARTS; ++i) {
    const lane s = from + reaches * (((real)i + R(0.5)) / (real)EDGE_PARTS);
    const vec3_r x = limit3_r(rail_at_r(rail, s).x, R(2.0) * SEPARATION_LIMIT);
    least = lane_min(least, body_bound_r(head, shape, c, x, radius));
  }
  return near & (least <= rail->radius + reach);
}

// Returns whether a body's field is that of one core, which is convex.
static int is_lone_core(GLOBAL const int *head)
{
  const int cores = FAMILY_COUNT - 1; // the last of FAMILIES
  return head[HEAD_ADDED] == 1 && head[HEAD_SUBTRACTED] == 0 &&
         head[HEAD_ENTRY(0, cores) + ENTRY_COUNT] == 1;
}

// Returns which straight edges in a convex field can have a contact whose weight is above 0.
// Tangents at both ends bound the field between them. A point has weight 0 if it stays at its own
// end, because the field rises from there against the pull, or if it slides to the other end.
static ilane edges_counting(const rail_r *rail, GLOBAL const coefficients *c,
                            GLOBAL const int *head, GLOBAL const real *shape, real reach)
{
  const lane none = lane_lit(R(0.0)), pull = edge_pull(rail->quarter, rail->arcs, rail->length, c);
  const vec3_r middle =
    limit3_r(mad3_r(rail->u, lane_lit(R(0.5)), rail->p), R(2.0) * SEPARATION_LIMIT);
  const ilane near = body_bound_r(head, shape, c, middle, R(0.5) * rail->length) <=
                     rail->radius + reach;
  if (!lane_any(near)) {
    return near;
  }
  lane phi[2], slope[2];
  for (int end = 0; end < 2; ++end) {
    const vec3_r x = mad3_r(rail->u, lane_lit((real)end), rail->p);
    jet_r jet;
    body_jet_r(head, shape, c, limit3_r(x, R(2.0) * SEPARATION_LIMIT), JET_GRADIENT, REAL_BIG,
               &jet);
    phi[end] = jet.phi;
    slope[end] = dot3_r(jet.gradient, rail->u);
  }
  const lane crossing = (phi[1] - phi[0] - slope[1]) / (slope[0] - slope[1]);
  const lane meet = lane_max(lane_min(crossing, lane_lit(R(1.0))), none); // limits rounding
  const lane between = lane_select((slope[0] < none) & (slope[1] > none), phi[0] + slope[0] * meet,
                                   lane_min(phi[0], phi[1]));
  const ilane first = (slope[0] < none) & (slope[1] > -pull);
  const ilane last = (slope[1] > none) & (slope[0] < pull);
  return near & (between <= rail->radius + reach) & (first | last);
}

// Returns, as bits, which edges of a block can have an active contact.
static int edges_within(const edge_block *b, GLOBAL const pair_elements *e,
                        GLOBAL const coefficients *c, GLOBAL const real *frame,
                        GLOBAL const int *head, GLOBAL const real *shape, real reach)
{
  const FN(rail) rail = load_rail(b, e, c, frame);
  const rail_r still = rail_values(&rail);
  const ilane there = lane_iota() + (real)b->first < lane_lit((real)b->count);
  return lane_bits(there & (e->arcs == 0 && c->samples == R(1.0) && is_lone_core(head)
                              ? edges_counting(&still, c, head, shape, reach)
                              : edges_reached(&still, c, head, shape, reach)));
}

// Several blocks of edges share one ball, so that one bound can exclude all of them.
#define BALL_EDGES 16
#define BALL_BLOCKS (BALL_EDGES / LANES)
#define BALL_ROUND R(1.001) // compensates for rounding

// The data for examining a body's edges of one pose. `frame` transforms to the frame of the field
// (head, shape).
typedef struct edge_view {
  GLOBAL const real *edges, *frame;
  GLOBAL const pair_elements *e;
  GLOBAL const coefficients *c;
  GLOBAL const int *head;
  GLOBAL const real *shape;
  real reach;
  int pose;
} edge_view;

// Balls around up to LANES groups of blocks: planes x, y, z, the radius, and the largest radius of
// an edge.
typedef struct edge_balls {
  real at[5][LANES];
} edge_balls;

// Writes the ball around the blocks from `begin` to `end` at index `to`. It encloses a box around
// balls around the edges.
static void put_ball(const edge_view *v, int begin, int end, int to, edge_balls *balls)
{
  const lane big = lane_lit(REAL_BIG);
  lane low[3] = {big, big, big}, high[3] = {-big, -big, -big}, most = lane_lit(R(0.0));
  for (int i = begin; i < end; ++i) {
    const edge_block b = edge_block_of(v->edges, NO_ORDER, v->e, i * LANES, v->pose);
    const FN(rail) rail = load_rail(&b, v->e, v->c, v->frame);
    const rail_r r = rail_values(&rail);
    const ilane there = lane_iota() + (real)b.first < lane_lit((real)b.count);
    const ilane of_circle = r.quarter > lane_lit(R(0.5));
    // the middle of the range of places
    const lane s = lane_select(of_circle, lane_lit(R(0.25)), lane_lit(R(0.5)));
    const lane out = r.length * lane_select(of_circle, lane_lit(R(0.75)), lane_lit(R(0.5)));
    const vec3_r x = rail_at_r(&r, s).x;
    const lane places[3] = {x.x, x.y, x.z};
    for (int j = 0; j < 3; ++j) {
      low[j] = lane_min(low[j], lane_select(there, places[j] - out, big));
      high[j] = lane_max(high[j], lane_select(there, places[j] + out, -big));
    }
    most = lane_max(most, lane_select(there, r.radius, lane_lit(R(0.0))));
  }
  real squares = R(0.0);
  for (int j = 0; j < 3; ++j) {
    const real from = lane_least(low[j]), until = lane_most(high[j]),
               span = R(0.5) * (until - from);
    balls->at[j][to] = from + span;
    squares += span * span;
  }
  balls->at[3][to] = BALL_ROUND * real_sqrt(squares);
  balls->at[4][to] = lane_most(most);
}

// Returns, as bits, which groups of BALL_BLOCKS blocks, starting at `begin`, may have an edge
// within reach.
static int balls_within(const edge_view *v, int begin, int end)
{
  edge_balls balls;
  for (int k = 0; k < LANES; ++k) { // groups after the last one repeat the first
    const int first = begin + k * BALL_BLOCKS;
    if (first < end) {
      put_ball(v, first, MIN_INT(first + BALL_BLOCKS, end), k, &balls);
    } else {
      for (int j = 0; j < 5; ++j) {
        balls.at[j][k] = balls.at[j][0];
      }
    }
  }
  const vec3_r x = make_r(lane_load(balls.at[0]), lane_load(balls.at[1]), lane_load(balls.at[2]));
  const lane bound = body_bound_r(v->head, v->shape, v->c, limit3_r(x, R(2.0) * SEPARATION_LIMIT),
                                  lane_load(balls.at[3]));
  return lane_bits(bound <= lane_load(balls.at[4]) + v->reach);
}

// Finds the bits of the blocks from `begin` to `end`, and returns the number of edges found.
static int look_at_blocks(const edge_view *v, int begin, int end, GLOBAL real *bits_at)
{
  const int several = end - begin > 2; // a ball costs a pass over its edges and one bound
  int found = 0, balls = 0;
  for (int i = begin; i < end; ++i) {
    const int from = (i - begin) % (LANES * BALL_BLOCKS);
    if (several && from == 0) {
      balls = balls_within(v, i, MIN_INT(i + LANES * BALL_BLOCKS, end));
    }
    int bits = 0;
    if (!several || balls >> from / BALL_BLOCKS & 1) {
      const edge_block b = edge_block_of(v->edges, NO_ORDER, v->e, i * LANES, v->pose);
      bits = edges_within(&b, v->e, v->c, v->frame, v->head, v->shape, v->reach);
    }
    bits_at[i] = (real)bits;
    for (unsigned int left = (unsigned int)bits; left; left &= left - 1) {
      ++found;
    }
  }
  return found;
}

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group lists the edges of a body in one pose; groups alternate between the bodies. A pose
// that is not finite has no edges. Bits of blocks are stored temporarily in `places` (poses,
// EDGE_PLACES, padded).
MERGED
KERNEL GROUPED void edges_near(GLOBAL const real *edges1, GLOBAL const real *edges2,
                               GLOBAL const real *frames, GLOBAL const int *head1,
                               GLOBAL const int *head2, GLOBAL const real *shape1,
                               GLOBAL const real *shape2, GLOBAL const pair_head *pair, real reach1,
                               real reach2, GLOBAL real *places1, GLOBAL real *places2,
                               GLOBAL int *list)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0) / 2, side = (int)get_group_id(0) % 2;
  const int item = (int)get_local_id(0);
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL real *bits_at = ROW(OF_BODY(side, places1, places2), pose, EDGE_PLACES * e->slots);
  GLOBAL int *row = ROW(list, pose, EDGE_LIST_STRIDE(&pair->n)) + EDGE_LIST_AT(&pair->n, side);
  const int good = frame[FRAME_POISON] == R(0.0);
  const int blocks = good && e->kept ? e->slots / LANES : 0, run = (blocks + WG - 1) / WG;
  const int begin = MIN_INT(item * run, blocks), end = MIN_INT((item + 1) * run, blocks);
  const edge_view view = {OF_BODY(side, edges1, edges2),
                          frame + FRAME_ACROSS(side),
                          e,
                          &pair->c,
                          OF_BODY(!side, head1, head2),
                          OF_BODY(!side, shape1, shape2),
                          OF_BODY(side, reach1, reach2),
                          pose};
  int found = look_at_blocks(&view, begin, end, bits_at);
  int next = 2 * group_before(part, found, item, &found);
  for (int i = begin; i < end; ++i) {
    unsigned int bits = (unsigned int)bits_at[i];
    for (; bits; bits &= bits - 1) {
      const int slot = 2 * (i * LANES + lowest_bit(bits));
      row[1 + next++] = slot;
      row[1 + next++] = slot + 1;
    }
  }
  if (item == 0) {
    row[0] = 2 * found;
  }
}
#endif

// Returns a pack as a block of edges.
static edge_block edge_block_packed(GLOBAL const real *edges, const edge_pack *pack,
                                    GLOBAL const pair_elements *e)
{
  edge_block b;
  b.edges = edges;
  b.stride = mesh_stride(e, EDGE_PLANES);
  b.pack = pack;
  b.at = NO_ORDER;
  b.first = 0;
  b.count = pack->count;
  b.padded = e->padded;
  return b;
}

// Computes the contacts of a pack of listed edges of body `side`. `frames`, `places` and `values`
// contain all poses. head and shape are those of the other body.
static void put_listed_edges(GLOBAL const real *edges, const edge_pack *pack,
                             GLOBAL const real *frames, GLOBAL const int *head,
                             GLOBAL const real *shape, GLOBAL const pair_head *pair, int side,
                             int want, GLOBAL real *places, GLOBAL real *values)
{
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_sizes *n = &pair->n;
  GLOBAL const pair_elements *e = &n->elements[EDGES_OF(side)];
  const int plane = EDGE_LIST_PLANE(n, side), stride = VALUE_PLANES * EDGE_ENTRIES_STRIDE(n);
  const edge_block block = edge_block_packed(edges, pack, e);
  const lane_frame across = frame_of_lanes(frames, FRAME_ACROSS(side), pack);
  const FN(rail) rail = load_packed_rail(&block, e, c, &across);
  const rail_r still = rail_values(&rail);
  lane found[2], at_ends[2];
  edge_places(head, shape, c, &still, found, at_ends);
  store_packed_part(places, EDGE_PLACES * e->slots, 1, pack, found[0]);
  store_packed_part(places + e->slots, EDGE_PLACES * e->slots, 1, pack, found[1]);
  const edge_slots slots = edge_slots_at(head, shape, pair, side,
                                         NUMS(frames, pack->pose[0], FRAME_STRIDE), &rail, found,
                                         at_ends, NO_MOVES);
  const lane_frame world = frame_of_lanes(frames, FRAME_WORLD(!side), pack);
  for (int end = 0; end < 2; ++end) {
    num a = n_mul(slots.weight[end], FN(sigmoid)(FN(beneath)(slots.d[end], c)));
    if (c->floor > R(0.0)) {
      a = FN(above_floor)(a, c->floor, c->floor_inv);
    }
    const vec p = place_lanes(&world, edge_point(slots.x[end], slots.normal[end], rail.radius));
    const vec normal = turn_lanes(&world, slots.normal[end]);
    const num all[VALUE_PLANES] = {p.x, p.y, p.z, slots.d[end], normal.x, normal.y, normal.z, a};
    for (int j = 0; j < VALUE_PLANES; ++j) {
      if (want & WANT_P || j >= VALUE_D) {
        store_packed(values + VALUE_PLANES * EDGE_ENTRIES_AT(n, side) + j * plane + end, stride, 2,
                     pack, steady(all[j], REAL_BIG));
      }
    }
  }
}

// Computes the contacts of all poses' listed edges of both bodies, values (poses, VALUE_PLANES,
// EDGE_LIST_PLANE), by place in the list. The work-items (packs1 + packs2, groups of LANES poses)
// share a group's packs of each body. With seams a pack contains only one pose, because seams are
// given per pose.
MERGED
KERNEL void listed_edges(GLOBAL const real *edges1, GLOBAL const real *edges2,
                         GLOBAL const int *list, GLOBAL const real *frames, GLOBAL const int *head1,
                         GLOBAL const int *head2, GLOBAL const real *shape1,
                         GLOBAL const real *shape2, GLOBAL const pair_head *pair, int packs1,
                         int packs2, int poses, int want, GLOBAL real *places1,
                         GLOBAL real *places2, GLOBAL real *values)
{
  const int at = (int)get_global_id(0), group = (int)get_global_id(1), side = at >= packs1;
  GLOBAL const pair_sizes *n = &pair->n;
  GLOBAL const int *lists = list + EDGE_LIST_AT(n, side);
  const int step = OF_BODY(side, packs1, packs2), apart = has_seams(pair);
  if (at >= packs1 + packs2) {
    return;
  }
  for (int block = at - OF_BODY(side, 0, packs1);; block += step) {
    const edge_pack pack = pack_edges(lists, EDGE_LIST_STRIDE(n), apart, group, poses, block);
    if (pack.count == 0) {
      break;
    }
    put_listed_edges(OF_BODY(side, edges1, edges2), &pack, frames, OF_BODY(!side, head1, head2),
                     OF_BODY(!side, shape1, shape2), pair, side, want,
                     OF_BODY(side, places1, places2), values);
  }
}
