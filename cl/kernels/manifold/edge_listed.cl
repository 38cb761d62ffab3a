// Lists of edges in fields: which edges of a pose can have an active contact at all, by bounds of the
// field over pieces of them, and the contacts of those. A list is of slots, both of an edge one after
// the other, behind their number (EDGE_LIST_* of geometry/pair.h).

#define EDGE_PARTS 4 // of an edge, each with a bound of its own; measured

// Returns of which edges the field comes below `reach` beyond their radius, by bounds over their pieces.
static ilane edges_reached(const rail_r *rail, GLOBAL const coefficients *c, GLOBAL const int *head,
                           GLOBAL const real *shape, real reach)
{
  const ilane of_circle = rail->quarter > lane_lit(R(0.5)); // whose places reach out by half of it
  const lane reaches = lane_select(of_circle, lane_lit(R(1.5)), lane_lit(R(1.0)));
  const lane from = lane_select(of_circle, lane_lit(R(-0.5)), lane_lit(R(0.0)));
  const lane radius = rail->length * reaches * (R(0.5) / (real)EDGE_PARTS);
  lane least = lane_lit(REAL_BIG);
  for (int i = 0; i < EDGE_PARTS; ++i) {
    const lane s = from + reaches * (((real)i + R(0.5)) / (real)EDGE_PARTS);
    const vec3_r x = limit3_r(rail_at_r(rail, s).x, R(2.0) * SEPARATION_LIMIT);
    least = lane_min(least, body_bound_r(head, shape, c, x, radius));
  }
  return least <= rail->radius + reach;
}

// Says whether a body's field is that of one core, which is convex.
static int is_lone_core(GLOBAL const int *head)
{
  const int cores = FAMILY_COUNT - 1; // the last of FAMILIES
  return head[HEAD_ADDED] == 1 && head[HEAD_SUBTRACTED] == 0 && head[HEAD_ENTRY(0, cores) + ENTRY_COUNT] == 1;
}

// Returns which straight edges in a convex field can have a contact that weighs more than 0.
// Tangents at both ends bound the field between them. A point that stays at its own end, because the field
// rises from there against the pull, or that slides to the other end, weighs 0.
static ilane edges_counting(const rail_r *rail, GLOBAL const coefficients *c, GLOBAL const int *head,
                            GLOBAL const real *shape, real reach)
{
  const lane none = lane_lit(R(0.0)), pull = edge_pull(rail->quarter, rail->arcs, rail->length, c);
  const vec3_r middle = limit3_r(mad3_r(rail->u, lane_lit(R(0.5)), rail->p), R(2.0) * SEPARATION_LIMIT);
  const ilane near =
    body_bound_r(head, shape, c, middle, R(0.5) * rail->length) <= rail->radius + reach;
  if (!lane_any(near)) {
    return near;
  }
  lane phi[2], slope[2];
  for (int end = 0; end < 2; ++end) {
    const vec3_r x = mad3_r(rail->u, lane_lit((real)end), rail->p);
    jet_r jet;
    body_jet_r(head, shape, c, limit3_r(x, R(2.0) * SEPARATION_LIMIT), JET_GRADIENT, REAL_BIG, &jet);
    phi[end] = jet.phi;
    slope[end] = dot3_r(jet.gradient, rail->u);
  }
  const lane crossing = (phi[1] - phi[0] - slope[1]) / (slope[0] - slope[1]);
  const lane meet = lane_max(lane_min(crossing, lane_lit(R(1.0))), none); // within, for rounding
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

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group lists the edges of a body in one pose; groups take turns between the bodies. A pose
// that is not finite has none. Bits of blocks wait in `places` (poses, EDGE_PLACES, padded).
MERGED
KERNEL void edges_near(GLOBAL const real *edges1, GLOBAL const real *edges2,
                       GLOBAL const real *frames, GLOBAL const int *head1,
                       GLOBAL const int *head2, GLOBAL const real *shape1,
                       GLOBAL const real *shape2, GLOBAL const pair_head *pair, real reach1,
                       real reach2, GLOBAL real *places1, GLOBAL real *places2, GLOBAL int *list)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0) / 2, side = (int)get_group_id(0) % 2;
  const int item = (int)get_local_id(0);
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL real *bits_at = ROW(OF_BODY(side, places1, places2), pose, EDGE_PLACES * e->slots);
  GLOBAL int *row =
    ROW(list, pose, EDGE_LIST_STRIDE(&pair->n)) + EDGE_LIST_AT(&pair->n, side);
  const int good = frame[FRAME_POISON] == R(0.0);
  const int blocks = good && e->kept ? e->slots / LANES : 0, run = (blocks + WG - 1) / WG;
  const int begin = MIN_INT(item * run, blocks), end = MIN_INT((item + 1) * run, blocks);
  int found = 0;
  for (int i = begin; i < end; ++i) {
    const edge_block b =
      edge_block_of(OF_BODY(side, edges1, edges2), NO_ORDER, e, i * LANES, pose);
    const int bits = edges_within(&b, e, &pair->c, frame + FRAME_ACROSS(side),
                                  OF_BODY(!side, head1, head2), OF_BODY(!side, shape1, shape2),
                                  OF_BODY(side, reach1, reach2));
    bits_at[i] = (real)bits;
    for (unsigned int left = (unsigned int)bits; left; left &= left - 1) {
      ++found;
    }
  }
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

// Returns a block of the edges of a list, `first` of `count`.
static edge_block edge_block_listed(GLOBAL const real *edges, GLOBAL const int *listed,
                                    GLOBAL const pair_elements *e, int first)
{
  edge_block b;
  b.edges = edges;
  b.stride = 0;
  b.at = listed + 1;
  b.slots = 1;
  b.first = first;
  b.count = listed[0] / 2;
  b.padded = e->padded;
  return b;
}

// One work-item makes the contacts of a block of one pose's listed edges of a body, values (poses,
// VALUE_PLANES, EDGE_LIST_PLANE) by place in the list.
MERGED
KERNEL void listed_edges(GLOBAL const real *edges1, GLOBAL const real *edges2,
                         GLOBAL const int *list, GLOBAL const real *frames,
                         GLOBAL const int *head1, GLOBAL const int *head2,
                         GLOBAL const real *shape1, GLOBAL const real *shape2,
                         GLOBAL const pair_head *pair, int blocks1, int blocks2, int want,
                         GLOBAL real *places1, GLOBAL real *places2, GLOBAL real *values)
{
  const body_block own = body_block_of((int)get_global_id(0), blocks1, blocks2);
  const int pose = (int)get_global_id(1), side = own.side, first = own.first;
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_sizes *n = &pair->n;
  GLOBAL const pair_elements *e = &n->elements[EDGES_OF(side)];
  GLOBAL const int *listed = ROW(list, pose, EDGE_LIST_STRIDE(n)) + EDGE_LIST_AT(n, side);
  const int count = listed[0] / 2;
  if (first < 0 || first >= count) {
    return;
  }
  const int plane = EDGE_LIST_PLANE(n, side), stride = VALUE_PLANES * EDGE_ENTRIES_STRIDE(n);
  GLOBAL const int *head = OF_BODY(!side, head1, head2);
  GLOBAL const real *shape = OF_BODY(!side, shape1, shape2);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *world = frame + FRAME_WORLD(!side);
  GLOBAL real *row = NUMS(values, pose, stride) + VALUE_PLANES * EDGE_ENTRIES_AT(n, side);
  const edge_block block = edge_block_listed(OF_BODY(side, edges1, edges2), listed, e, first);
  const FN(rail) rail = load_rail(&block, e, c, frame + FRAME_ACROSS(side));
  const rail_r still = rail_values(&rail);
  lane found[2], at_ends[2];
  edge_places(head, shape, c, &still, found, at_ends);
  GLOBAL real *to = ROW(OF_BODY(side, places1, places2), pose, EDGE_PLACES * e->slots) + first;
  lane_store(found[0], to);
  lane_store(found[1], to + e->slots);
  const edge_slots slots = edge_slots_at(head, shape, pair, side, frame, &rail, found, at_ends, NO_MOVES);
  for (int end = 0; end < 2; ++end) {
    num a = n_mul(slots.weight[end],
                  FN(sigmoid)(FN(beneath)(slots.d[end], c)));
    if (c->floor > R(0.0)) {
      a = FN(above_floor)(a, c->floor, c->floor_inv);
    }
    const vec p = place(world, edge_point(slots.x[end], slots.normal[end], rail.radius));
    const vec normal = turn(world, slots.normal[end]);
    const num all[VALUE_PLANES] = {p.x, p.y, p.z, slots.d[end], normal.x, normal.y, normal.z, a};
    for (int j = 0; j < VALUE_PLANES; ++j) {
      if (want & WANT_P || j >= VALUE_D) {
        store_step(row + j * plane + end, stride, NO_ORDER, 0, first, count, 2,
                   steady(all[j], REAL_BIG));
      }
    }
  }
}
