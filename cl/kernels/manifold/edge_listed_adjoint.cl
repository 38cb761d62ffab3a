// The adjoint of listed edges, in the packs of listed_edges. Derivatives of fields are per lane,
// and each lane's wrenches are added to those of its pose.

// turn_back of access.h, with each lane's own frame.
static vec turn_back_lanes(const lane_frame *f, vec a)
{
#if LANES == 1
  return turn_back(f->at, a);
#else
  const lane *m = f->m[0];
  return FN(make)(n_tmad(a.x, m[0], n_tmad(a.y, m[3], n_times(a.z, m[6]))),
                  n_tmad(a.x, m[1], n_tmad(a.y, m[4], n_times(a.z, m[7]))),
                  n_tmad(a.x, m[2], n_tmad(a.y, m[5], n_times(a.z, m[8]))));
#endif
}

// Each lane reads from its pose's row at its place in the list; places are `step` apart. Lanes
// beyond the pack get 0.
static lane listed_part(GLOBAL const real *p, int stride, int step, const edge_pack *k)
{
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    t[i] = i < k->count ? ROW(p, k->pose[i], stride)[step * k->place[i]] : R(0.0);
  }
  return lane_load(t);
}

// The cotangents of a pack's contacts. pulls and twists are in body 1's frame, p and n in the
// field's.
typedef struct listed_bars {
  vec pulls[2], twists[2], p[2], n[2];
  num d[2], a[2];
} listed_bars;

static listed_bars load_listed_bars(GLOBAL const real *bars, GLOBAL const pair_sizes *n, int side,
                                    int have, GLOBAL const real *frames, const edge_pack *pack,
                                    const lane_frame *across)
{
  const lane_frame world = frame_of_lanes(frames, FRAME_WORLD_1, pack);
  const int plane = EDGE_LIST_PLANE(n, side), stride = VALUE_PLANES * EDGE_ENTRIES_STRIDE(n);
  GLOBAL const real *rows = bars + VALUE_PLANES * EDGE_ENTRIES_AT(n, side);
  const num zero = n_lit(R(0.0));
  listed_bars r;
  for (int end = 0; end < 2; ++end) {
    num bar[VALUE_PLANES];
    for (int j = 0; j < VALUE_PLANES; ++j) {
      const int wanted = j < VALUE_D          ? WANT_P
                         : j == VALUE_D       ? WANT_D
                         : j < VALUE_ACTIVITY ? WANT_N
                                              : WANT_ACTIVITY;
      bar[j] = have & wanted ? n_of(listed_part(rows + j * plane + end, stride, 2, pack)) : zero;
    }
    r.pulls[end] = r.twists[end] = FN(make)(zero, zero, zero);
    if (have & WANT_P) {
      r.pulls[end] = turn_back_lanes(&world, FN(make)(bar[0], bar[1], bar[2]));
    }
    if (have & WANT_N) {
      r.twists[end] =
        turn_back_lanes(&world, FN(make)(bar[VALUE_N], bar[VALUE_N + 1], bar[VALUE_N + 2]));
    }
    r.p[end] = side ? r.pulls[end] : turn_lanes(across, r.pulls[end]);
    r.n[end] = side ? r.twists[end] : turn_lanes(across, r.twists[end]);
    r.d[end] = bar[VALUE_D];
    r.a[end] = bar[VALUE_ACTIVITY];
  }
  return r;
}

// Returns the wrench that the cotangents of a pack of listed edges of body `side` give to each
// lane's pose. *carried gets the second wrench.
static wrench listed_pack_adjoint(const edge_block *block, GLOBAL const real *places,
                                  GLOBAL const real *frames, GLOBAL const int *head,
                                  GLOBAL const real *shape, GLOBAL const pair_head *pair, int side,
                                  int solve, int have, GLOBAL const real *bars, wrench *carried)
{
  const edge_pack *pack = block->pack;
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_elements *e = &pair->n.elements[EDGES_OF(side)];
  const lane_frame across = frame_of_lanes(frames, FRAME_ACROSS(side), pack);
  const FN(rail) rail = load_packed_rail(block, e, c, &across);
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0)), none[2] = {zero, zero};
  lane s[2], at_ends[2];
  if (solve) {
    edge_places(head, shape, c, &rail, s, at_ends);
  } else {
    s[0] = listed_part(places, EDGE_PLACES * e->slots, 1, pack);
    s[1] = listed_part(places + e->slots, EDGE_PLACES * e->slots, 1, pack);
  }
  const listed_bars bar = load_listed_bars(bars, &pair->n, side, have, frames, pack, &across);
  vec x[2], normal[2];
  num gate_bar;
  edge_traces none_asked;
  none_asked.on = 0;
  const wrench moved =
    edge_slots_adjoint(head, shape, pair, side, NUMS(frames, pack->pose[0], FRAME_STRIDE), &rail, s,
                       one, bar.p, bar.n, bar.d, bar.a, none, x, normal, &gate_bar, &none_asked);
  wrench relative = side ? moved : no_wrench();
  *carried = no_wrench();
  if (!side) {
    const lane_frame to_1 = frame_of_lanes(frames, FRAME_2_TO_1, pack);
    move_back(place_lanes(&to_1, FN(make)(zero, zero, zero)), turn_lanes(&to_1, moved.force),
              turn_lanes(&to_1, moved.moment), &relative);
    for (int end = 0; end < 2; ++end) {
      x[end] = place_lanes(&to_1, x[end]);
      normal[end] = turn_lanes(&to_1, normal[end]);
    }
  }
  for (int end = 0; end < 2; ++end) {
    const vec twist = FN(mad3)(bar.pulls[end], n_neg(rail.radius), bar.twists[end]);
    carry_point(side, x[end], normal[end], bar.pulls[end], twist, &relative, carried);
  }
  return relative;
}

// Adds each lane's vector to its pose's `sums`, starting at `at`, in the order of the list. If a
// group has one work-item, a pose's sum does not depend on the other poses of the group. With
// several work-items, other poses shift its edges between packs, which changes the sum by rounding.
static void add_lanes(real sums[LANES][WRENCH_REALS], int at, int first, const edge_pack *k, vec v)
{
  const vec all = bounded3(v, WRENCH_LIMIT);
  const num parts[3] = {all.x, all.y, all.z};
  for (int j = 0; j < 3; ++j) {
    real t[LANES];
    lane_store(n_value(parts[j]), t);
    for (int i = 0; i < k->count; ++i) {
      sums[LANES == 1 ? 0 : k->pose[i] - first][at + j] += t[i];
    }
  }
}

// The adjoint of listed_edges for body `side`. One work-group has a group of LANES poses, and
// writes the wrenches of each work-item's packs to separate blocks. head and shape are those of the
// other body. `solve` is set if the places are not found yet, because the caller has named the
// listed contacts.
MERGED
ADJOINT_KERNEL ADJOINT_GROUPED void listed_edges_adjoint(
  GLOBAL const real *edges, GLOBAL const int *list, GLOBAL const real *places,
  GLOBAL const real *frames, GLOBAL const int *head, GLOBAL const real *shape,
  GLOBAL const pair_head *pair, int side, int poses, int solve, int have, GLOBAL const real *bars,
  GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  const int group = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const pair_sizes *n = &pair->n;
  GLOBAL const pair_elements *e = &n->elements[EDGES_OF(side)];
  GLOBAL const int *lists = list + EDGE_LIST_AT(n, side);
  const int first = group * LANES, end = MIN_INT(first + LANES, poses);
  real sums[LANES][WRENCH_REALS];
  for (int i = 0; i < LANES; ++i) {
    for (int j = 0; j < WRENCH_REALS; ++j) {
      sums[i][j] = R(0.0);
    }
  }
  for (int block = item; e->kept; block += WG) {
    const edge_pack pack =
      pack_edges(lists, EDGE_LIST_STRIDE(n), has_seams(pair), group, poses, block);
    if (pack.count == 0) {
      break;
    }
    const edge_block b = edge_block_packed(edges, &pack, e);
    wrench carried;
    const wrench relative =
      listed_pack_adjoint(&b, places, frames, head, shape, pair, side, solve, have, bars, &carried);
    add_lanes(sums, 0, first, &pack, relative.force);
    add_lanes(sums, 3, first, &pack, relative.moment);
    add_lanes(sums, 6, first, &pack, carried.force);
    add_lanes(sums, 9, first, &pack, carried.moment);
  }
  for (int pose = first; pose < end; ++pose) {
    GLOBAL real *to = ROW(wrenches, pose, wrench_stride) + (wrench_block + item) * WRENCH_REALS;
    for (int j = 0; j < WRENCH_REALS; ++j) {
      to[j] = sums[LANES == 1 ? 0 : pose - first][j];
    }
  }
}
