// The contacts that near.cl has listed: their values, the compact list that is made of them, and
// lists of entries that the caller names.

// Lane i of a block takes entry first + i of a list.

// One work-item makes the values of a block of one pose's listed vertices of a body, values
// (poses, VALUE_PLANES, padded) by place in the list. points has planes in the vertices' own frame,
// and field the distances by place; with `given` there are none, as the vertices may lie anywhere.
// head and shape are those of the other body.
MERGED
KERNEL void listed_vertices(GLOBAL const real *points1, GLOBAL const real *points2,
                            GLOBAL const int *list1, GLOBAL const int *list2,
                            GLOBAL const real *field1, GLOBAL const real *field2,
                            GLOBAL const real *radii1, GLOBAL const real *radii2, int given,
                            real reach, GLOBAL const real *frames, GLOBAL const int *head1,
                            GLOBAL const int *head2, GLOBAL const real *shape1,
                            GLOBAL const real *shape2, GLOBAL const pair_head *pair, int blocks1,
                            int blocks2, int want, GLOBAL real *values1, GLOBAL real *values2)
{
  const body_block at = body_block_of((int)get_global_id(0), blocks1, blocks2);
  const int pose = (int)get_global_id(1), side = at.side, first = at.first;
  const int padded = pair->n.elements[VERTICES_OF(side)].padded;
  GLOBAL const coefficients *c = &pair->c;
  if (first < 0) {
    return;
  }
  GLOBAL const int *listed = ROW(OF_BODY(side, list1, list2), pose, padded + 1);
  const int count = listed[0], stride = VALUE_PLANES * padded;
  if (first >= count) {
    return;
  }
  GLOBAL const real *points = OF_BODY(side, points1, points2);
  GLOBAL const real *field = OF_BODY(side, field1, field2);
  GLOBAL const int *head = OF_BODY(!side, head1, head2);
  GLOBAL const real *shape = OF_BODY(!side, shape1, shape2);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL real *row = NUMS(OF_BODY(side, values1, values2), pose, stride) + first;
  const int rounds = pair->n.elements[VERTICES_OF(side)].radii, coned = c->cones > R(0.0);
  lane radius = lane_lit(R(0.0));
  if (rounds) {
    radius = gather_part_at(OF_BODY(side, radii1, radii2), listed + 1, first, count);
  }
  num phi = n_lit(R(0.0));
  vec v = FN(make)(phi, phi, phi);
  if (!given) {
    phi = gather_at(NUMS(field, pose, padded), padded, listed + 1, first, count);
  }
  if (given || want & (WANT_P | WANT_N) || coned) {
    v = gather3_at(points, 0, padded, listed + 1, first, count);
  }
  vec out = FN(make)(phi, phi, phi);
  num counts = n_lit(R(1.0));
  FN(cone) cone = no_cone();
  if (given || want & WANT_N || (rounds && want & WANT_P) || coned) {
    const vec x = FN(limit3)(place(frame + FRAME_ACROSS(side), v), R(2.0) * SEPARATION_LIMIT);
    vec raw;
    const num exact =
      field_within(head, shape, c, x, 1, reach + pair->reals[PAIR_ROUND + side], &raw);
    phi = given ? steady(exact, COTANGENT_LIMIT) : phi;
    vec normal = steady3(raw, COTANGENT_LIMIT);
    if (coned) {
      cone = load_cone(OF_BODY(side, radii1, radii2) + RADII_CONES(0, padded), padded, listed + 1,
                       first, count, frame + FRAME_ACROSS(side));
      const num depth = seam_depth(phi, n_of(radius));
      const vec field_normal = normal;
      phi = n_mad(FN(dot3)(normal, cone.axis), n_of(cone.inset), phi);
      counts = FN(cone_slot)(normal, &cone, c, &normal);
      if (has_seams(pair)) {
        vec of_field, of_own;
        counts =
          n_mul(counts, seam_share(pair, side, x, field_normal, depth, v, &of_field, &of_own));
      }
    }
    out = turn(frame + FRAME_WORLD(!side), normal);
    store3(row + VALUE_N * padded, stride, padded, steady3(out, REAL_BIG));
  }
  if (want & WANT_P) {
    v = c->cone_inset > R(0.0) ? beyond_inset(frame, side, v, &cone) : v;
    const vec at_point = FN(mad3)(out, n_of(-radius), place(frame + FRAME_WORLD(side), v));
    store3(row + VALUE_P * padded, stride, padded, steady3(at_point, REAL_BIG));
  }
  phi = n_sub(phi, n_of(radius));
  store(row + VALUE_D * padded, stride, steady(phi, REAL_BIG));
  num a = FN(sigmoid)(FN(beneath)(phi, c));
  if (coned) {
    a = n_mul(a, counts);
  }
  if (c->floor > R(0.0)) {
    a = FN(above_floor)(a, c->floor, c->floor_inv);
  }
  store(row + VALUE_ACTIVITY * padded, stride, steady(a, REAL_BIG));
}

// One work-item evaluates a body's own field at its points of a block of one pose's listed pairs,
// out (poses, 4, near_plane): planes phi and normal, by place in the list. Either body has `blocks`
// blocks.
MERGED
KERNEL void listed_own(GLOBAL const real *pairs, GLOBAL const int *list, GLOBAL const real *frames,
                       GLOBAL const int *head1, GLOBAL const int *head2, GLOBAL const real *shape1,
                       GLOBAL const real *shape2, GLOBAL const pair_head *pair, int blocks,
                       GLOBAL real *out1, GLOBAL real *out2)
{
  const body_block at = body_block_of((int)get_global_id(0), blocks, blocks);
  const int pose = (int)get_global_id(1), side = at.side, first = at.first;
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  GLOBAL const int *listed = ROW(list, pose, plane + 1);
  GLOBAL const int *head = OF_BODY(side, head1, head2);
  GLOBAL const real *shape = OF_BODY(side, shape1, shape2);
  const int count = listed[0];
  if (first < 0 || first >= count) {
    return;
  }
  const vec x = listed_points(NUMS(pairs, pose, stride), &pair->n, side, side, listed + 1, first,
                              count, frames, pose);
  vec normal;
  const num phi = field_within(head, shape, &pair->c, x, 1, REAL_BIG, &normal);
  GLOBAL real *row = NUMS(OF_BODY(side, out1, out2), pose, FIELD_PLANES * plane) + first;
  store(row, FIELD_PLANES * plane, steady(phi, COTANGENT_LIMIT));
  store3(row + plane, FIELD_PLANES * plane, plane, steady3(normal, COTANGENT_LIMIT));
}

// Stores one side of a block of listed pairs: VALUE_PLANES planes of `plane`.
static void store_values(GLOBAL real *row, int stride, int plane, vec p, num d, vec n, num a,
                         int want)
{
  if (want & WANT_P) {
    store3(row + VALUE_P * plane, stride, plane, steady3(p, REAL_BIG));
  }
  store(row + VALUE_D * plane, stride, steady(d, REAL_BIG));
  if (want & WANT_N) {
    store3(row + VALUE_N * plane, stride, plane, steady3(n, REAL_BIG));
  }
  store(row + VALUE_ACTIVITY * plane, stride, steady(a, REAL_BIG));
}

// One work-item makes the values of a block of one pose's listed pairs, values (poses, 2,
// VALUE_PLANES, near_plane) by place in the list: for body 1's points, then for body 2's.
MERGED
KERNEL void listed_pairs(GLOBAL const real *pairs, GLOBAL const int *list, GLOBAL const real *own1,
                         GLOBAL const real *own2, GLOBAL const real *frames,
                         GLOBAL const pair_head *pair, int want, GLOBAL real *values)
{
  const int first = (int)get_global_id(0) * LANES;
  const int pose = (int)get_global_id(1);
  const int stride = pair->n.near_stride, plane = pair->n.near_plane;
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const int *listed = ROW(list, pose, plane + 1);
  const int count = listed[0], out_stride = 2 * VALUE_PLANES * plane;
  if (first >= count) {
    return;
  }
  GLOBAL const int *at = listed + 1;
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *row = NUMS(pairs, pose, stride);
  GLOBAL const real *row1 = NUMS(own1, pose, FIELD_PLANES * plane) + first;
  GLOBAL const real *row2 = NUMS(own2, pose, FIELD_PLANES * plane) + first;
  const vec e1 = gather3_at(row + NEAR_E1 * plane, stride, plane, at, first, count);
  const vec e2 = gather3_at(row + NEAR_E2 * plane, stride, plane, at, first, count);
  const vec m1 = load3(row1 + plane, FIELD_PLANES * plane, plane);
  const vec m2 = turn(frame + FRAME_2_TO_1, load3(row2 + plane, FIELD_PLANES * plane, plane));
  const num factor1 = gather_at(row + NEAR_FACTORS * plane, stride, at, first, count);
  const num factor2 = gather_at(row + (NEAR_FACTORS + 1) * plane, stride, at, first, count);
  const FN(pair_depths) of = {load(row1, FIELD_PLANES * plane), load(row2, FIELD_PLANES * plane),
                              gather_at(row + NEAR_OPPOSING * plane, stride, at, first, count),
                              gather_at(row + (NEAR_OPPOSING + 1) * plane, stride, at, first,
                                        count)};
  const FN(edge_contact) r = FN(edge_pair)(e1, e2, n_lit(R(1.0)), m1, m2, &of, c);
  num a1 = n_mul(r.a1, factor1), a2 = n_mul(r.a2, factor2);
  if (c->floor > R(0.0)) {
    a1 = FN(above_floor)(a1, c->floor, c->floor_inv);
    a2 = FN(above_floor)(a2, c->floor, c->floor_inv);
  }
  GLOBAL real *to = NUMS(values, pose, out_stride) + first;
  GLOBAL const real *world = frame + FRAME_WORLD_1;
  store_values(to, out_stride, plane, place(world, e1), r.d1, turn(world, r.n1), a1, want);
  store_values(to + VALUE_PLANES * plane, out_stride, plane, place(world, e2), r.d2,
               turn(world, r.n2), a2, want);
}

// ---- the compact list ----

// What is listed one after the other: a body's vertices in the mesh's order, or edge contacts in
// the list's.
typedef struct listed_row {
  GLOBAL const real *values; // planes of `plane` numbers
  GLOBAL const int *places;  // where each vertex is listed, or -1; which edge contact each entry is
  int plane, stride, count;
} listed_row;

static listed_row listed_vertices_of(GLOBAL const pair_sizes *n, int side, int any, int pose,
                                     GLOBAL const int *at, GLOBAL const real *values)
{
  GLOBAL const pair_elements *e = &n->elements[VERTICES_OF(side)];
  listed_row r;
  r.plane = e->padded;
  r.stride = VALUE_PLANES * r.plane;
  r.values = NUMS(values, pose, r.stride);
  r.places = ROW(at, pose, r.plane);
  r.count = any && n->listed & (LISTED_VERTICES_1 << side) ? e->kept : 0;
  return r;
}

// Returns the edge contacts of a side: of pairs with points on that body, or of its edges.
static listed_row listed_edges_of(GLOBAL const pair_sizes *n, int side, int any, int pose,
                                  GLOBAL const int *list, GLOBAL const real *values)
{
  listed_row r;
  r.plane = EDGE_LIST_PLANE(n, side);
  r.stride = VALUE_PLANES * EDGE_ENTRIES_STRIDE(n);
  r.values = NUMS(values, pose, r.stride) + VALUE_PLANES * EDGE_ENTRIES_AT(n, side);
  r.places = ROW(list, pose, EDGE_LIST_STRIDE(n)) + EDGE_LIST_AT(n, side) + 1;
  r.count = any && n->listed & LISTED_PAIRS ? r.places[-1] : 0;
  return r;
}

// The listed vertices of a body in a pose: how many there are, and their values.
typedef struct vertex_values {
  GLOBAL const real *row;
  int padded, count;
} vertex_values;

static vertex_values values_of(GLOBAL const int *list, GLOBAL const real *values,
                               GLOBAL const pair_sizes *n, int side, int pose)
{
  vertex_values v;
  v.padded = n->elements[VERTICES_OF(side)].padded;
  v.row = NUMS(values, pose, VALUE_PLANES * v.padded);
  v.count = n->listed & (LISTED_VERTICES_1 << side) ? ROW(list, pose, v.padded + 1)[0] : 0;
  return v;
}

// Returns how many of `count` entries this work-item finds to be active: what is listed by a bound
// may not be.
static int count_from(GLOBAL const real *activity, int count, real threshold, int item)
{
  int found = 0;
  for (int i = item; i < count; i += WG) {
    found += activity[i] >= threshold;
  }
  return found;
}

#if WITH_FORWARD
// One work-group counts the contacts of one pose whose activity is at least `threshold`: counts
// (poses).
KERNEL void listed_count(GLOBAL const int *vertices1, GLOBAL const real *values1,
                         GLOBAL const int *vertices2, GLOBAL const real *values2,
                         GLOBAL const int *list, GLOBAL const real *values,
                         GLOBAL const pair_head *pair, real threshold, GLOBAL int *counts)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const vertex_values v1 = values_of(vertices1, values1, &pair->n, 0, pose);
  const vertex_values v2 = values_of(vertices2, values2, &pair->n, 1, pose);
  int found = count_from(v1.row + VALUE_ACTIVITY * v1.padded, v1.count, threshold, item);
  found += count_from(v2.row + VALUE_ACTIVITY * v2.padded, v2.count, threshold, item);
  for (int side = 0; pair->n.listed & LISTED_PAIRS && side < 2; ++side) {
    const listed_row r = listed_edges_of(&pair->n, side, 1, pose, list, values);
    found += count_from(r.values + VALUE_ACTIVITY * r.plane, r.count, threshold, item);
  }
  group_before(part, found, item, &found);
  if (item == 0) {
    counts[pose] = found;
  }
}
#endif

// Where the entries of a pose go: `at` is the next place, of `capacity`.
typedef struct entry_writer {
  GLOBAL int *list;
  GLOBAL real *values;
  int at, capacity, pose, want;
} entry_writer;

static void write_entry(entry_writer *w, int slot, int feature1, int feature2,
                        GLOBAL const real *from, int stride, int plane)
{
  if (w->at < w->capacity) {
    GLOBAL int *entry = w->list + (size_t)w->at * COMPACT_INTS;
    GLOBAL real *value = w->values + (size_t)w->at * PARTS * COMPACT_REALS;
    entry[0] = w->pose;
    entry[1] = slot;
    entry[2] = feature1;
    entry[3] = feature2;
    for (int j = 0; j < VALUE_PLANES; ++j) {
      const int wanted = j < VALUE_D          ? WANT_P
                         : j == VALUE_D       ? WANT_D
                         : j < VALUE_ACTIVITY ? WANT_N
                                              : WANT_ACTIVITY;
      EACH_PART (part) {
        value[part * COMPACT_REALS + j] = w->want & wanted ? from[part * stride + j * plane]
                                                           : R(0.0);
      }
    }
    for (int j = VALUE_PLANES; j < COMPACT_REALS; ++j) { // lists have no values of the weight
      EACH_PART (part) {
        value[part * COMPACT_REALS + j] = R(0.0);
      }
    }
  }
  ++w->at;
}

// A work-item's run of what is listed, and where in the compact list its first entry goes. run_of
// moves its `at` behind the entries of the whole group.
typedef struct listed_run {
  int begin, end, at;
} listed_run;

static int is_active(const listed_row *r, int vertices, int i, real threshold)
{
  const int j = vertices ? r->places[i] : i;
  return j >= 0 && r->values[VALUE_ACTIVITY * r->plane + j] >= threshold;
}

static listed_run run_of(const listed_row *r, int vertices, real threshold, int item,
                         LOCAL int *part, int *at)
{
  const int length = (r->count + WG - 1) / WG;
  listed_run run;
  run.begin = MIN_INT(item * length, r->count);
  run.end = MIN_INT(run.begin + length, r->count);
  int found = 0, all = 0;
  for (int i = run.begin; i < run.end; ++i) {
    found += is_active(r, vertices, i, threshold);
  }
  run.at = *at + group_before(part, found, item, &all);
  *at += all;
  return run;
}

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group writes the active contacts of one pose to the compact list, by slot, from the
// pose's offset on, as far as `capacity` goes: out (capacity, COMPACT_INTS) and out_values
// (capacity, COMPACT_REALS). at1 and at2 say where each vertex is listed, or -1; index1 and index2
// have the ranked edges that selection kept, where there is one.
KERNEL void listed_entries(GLOBAL const int *at1, GLOBAL const real *values1, GLOBAL const int *at2,
                           GLOBAL const real *values2, GLOBAL const int *list,
                           GLOBAL const real *values, GLOBAL const int *index1,
                           GLOBAL const int *index2, GLOBAL const pair_head *pair, real threshold,
                           int want, GLOBAL const int *offsets, int capacity, GLOBAL int *out,
                           GLOBAL real *out_values)
{
  LOCAL_ARRAY(int, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const pair_sizes *n = &pair->n;
  GLOBAL const pair_elements *of = n->elements;
  const int any = offsets[pose] < offsets[pose + 1]; // no return: see KERNEL
  const int none = (int)NO_FEATURE, kept2 = of[EDGES_OF(1)].kept;
  entry_writer w = {out, out_values, 0, capacity, pose, want};
  int at = offsets[pose];
  for (int side = 0; side < 2; ++side) {
    const listed_row r =
      listed_vertices_of(n, side, any, pose, side ? at2 : at1, side ? values2 : values1);
    const listed_run run = run_of(&r, 1, threshold, item, part, &at);
    w.at = run.at;
    for (int i = run.begin; i < run.end; ++i) {
      if (is_active(&r, 1, i, threshold)) {
        write_entry(&w, of[VERTICES_OF(side)].contact + i, side ? none : i, side ? i : none,
                    r.values + r.places[i], r.stride, r.plane);
      }
    }
  }
  for (int side = 0; side < 2; ++side) {
    const listed_row r = listed_edges_of(n, side, any, pose, list, values);
    const listed_run run = run_of(&r, 0, threshold, item, part, &at);
    w.at = run.at;
    for (int i = run.begin; i < run.end; ++i) {
      const int at_pair = r.places[i];
      if (is_active(&r, 0, i, threshold)) {
        const int slot = of[EDGES_OF(side)].contact + at_pair;
        if (n->in_fields) {
          write_entry(&w, slot, side ? none : at_pair / 2, side ? at_pair / 2 : none, r.values + i,
                      r.stride, r.plane);
          continue;
        }
        write_entry(&w, slot, feature_at(index1, &of[EDGES_OF(0)], pose, at_pair / kept2),
                    feature_at(index2, &of[EDGES_OF(1)], pose, at_pair % kept2), r.values + i,
                    r.stride, r.plane);
      }
    }
  }
}
#endif

// ---- lists of the caller's entries ----

// The slots of a list of entries, `step` integers apart from the at-th on.
typedef struct slot_list {
  GLOBAL const int *slots;
  int at, step;
} slot_list;

static int slot_at(const slot_list *l, int entry)
{
  return l->slots[l->at + (size_t)l->step * entry];
}

// Lists those of a pose's entries from `begin` on that are of vertices of body `side`; returns
// where they end.
static int list_run(const slot_list *l, int begin, int end, GLOBAL const int *rank,
                    GLOBAL const pair_sizes *n, int side, GLOBAL int *list, int pose)
{
  GLOBAL const pair_elements *e = &n->elements[VERTICES_OF(side)];
  if (!(n->listed & (LISTED_VERTICES_1 << side))) {
    return begin;
  }
  GLOBAL int *to = ROW(list, pose, e->padded + 1);
  int i = begin;
  for (; i < end && slot_at(l, i) < e->contact + e->kept; ++i) {
    to[1 + i - begin] = rank[slot_at(l, i) - e->contact];
  }
  to[0] = i - begin;
  return i;
}

// Lists those of a pose's entries from `begin` on that are of edges of body `side` in the other
// body's field, both slots of each edge; by_entry has for each listed slot its entry, or -1.
// Returns where they end.
static int list_edges(const slot_list *l, int begin, int end, GLOBAL const pair_sizes *n, int side,
                      GLOBAL int *list, GLOBAL int *by_entry, int pose)
{
  GLOBAL const pair_elements *e = &n->elements[EDGES_OF(side)];
  GLOBAL int *to = ROW(list, pose, EDGE_LIST_STRIDE(n)) + EDGE_LIST_AT(n, side);
  GLOBAL int *by = ROW(by_entry, pose, EDGE_ENTRIES_STRIDE(n)) + EDGE_ENTRIES_AT(n, side);
  int i = begin, found = 0;
  while (i < end && slot_at(l, i) < e->contact + 2 * e->kept) {
    const int first = (slot_at(l, i) - e->contact) / 2 * 2;
    for (int k = 0; k < 2; ++k) {
      const int there = i < end && slot_at(l, i) == e->contact + first + k;
      to[1 + found] = first + k;
      by[found++] = there ? i : -1;
      i += there;
    }
  }
  to[0] = found;
  return i;
}

// One work-item lists the vertices of both bodies and the pairs that the caller's entries of one
// pose name. The caller's list is sorted by pose, then by slot: offsets (poses + 1) says where each
// pose's entries begin, of `most` in all, and slots, at and step are those of slot_list. segments
// (poses, SEGMENT_INTS) gets where a pose's entries of body 1's vertices begin, of body 2's, of
// pairs by the point on body 1, on body 2, and where they end. pair_entries (poses, 2, near_plane)
// has for each listed pair its entry by either point, or -1.
KERNEL void entries_listed(GLOBAL const int *offsets, GLOBAL const int *slots, int at, int step,
                           int most, GLOBAL const int *rank1, GLOBAL const int *rank2,
                           GLOBAL const pair_head *pair, int count, GLOBAL int *vertices1,
                           GLOBAL int *vertices2, GLOBAL int *list, GLOBAL int *pair_entries,
                           GLOBAL int *segments, GLOBAL int *plan)
{
  const int pose = (int)get_global_id(0);
  if (pose >= count) {
    return;
  }
  const slot_list l = {slots, at, step};
  const int begin = MIN_INT(offsets[pose], most), end = MIN_INT(offsets[pose + 1], most);
  const int plane = pair->n.near_plane;
  const int edges1 = pair->n.elements[EDGES_OF(0)].contact;
  const int edges2 = pair->n.elements[EDGES_OF(1)].contact;
  GLOBAL int *segment = ROW(segments, pose, SEGMENT_INTS);
  segment[0] = begin;
  segment[1] = list_run(&l, begin, end, rank1, &pair->n, 0, vertices1, pose);
  segment[2] = list_run(&l, segment[1], end, rank2, &pair->n, 1, vertices2, pose);
  int i = segment[2], k = i, found = 0;
  if (pair->n.in_fields) {
    if (pair->n.listed & LISTED_PAIRS) {
      k = list_edges(&l, i, end, &pair->n, 0, list, pair_entries, pose);
      list_edges(&l, k, end, &pair->n, 1, list, pair_entries, pose);
    }
    segment[3] = k;
    segment[4] = end;
    ROW(plan, pose, PLAN_INTS)[PLAN_EDGES] = i < end;
    return;
  }
  while (k < end && slot_at(&l, k) < edges2) {
    ++k;
  }
  segment[3] = k;
  segment[4] = end;
  if (pair->n.listed & LISTED_PAIRS) {
    GLOBAL int *to = ROW(list, pose, plane + 1);
    GLOBAL int *by1 = ROW(pair_entries, pose, 2 * plane), *by2 = by1 + plane;
    const int middle = k;
    while (i < middle || k < end) { // both runs ascend, so that they are merged
      const int pair1 = i < middle ? slot_at(&l, i) - edges1 : plane;
      const int pair2 = k < end ? slot_at(&l, k) - edges2 : plane;
      const int next = MIN_INT(pair1, pair2);
      to[1 + found] = next;
      by1[found] = pair1 == next ? i++ : -1;
      by2[found++] = pair2 == next ? k++ : -1;
    }
    to[0] = found;
  }
  ROW(plan, pose, PLAN_INTS)[PLAN_EDGES] = found > 0;
}

// The kernels that follow take rows of the caller's entries (entries, COMPACT_REALS) to planes by
// place in the lists, and back. One work-group has one pose.
static void spread_row(GLOBAL const real *rows, int entry, GLOBAL real *to, int plane)
{
  for (int j = 0; j < VALUE_PLANES; ++j) {
    to[j * plane] = entry < 0 ? R(0.0) : rows[(size_t)entry * COMPACT_REALS + j];
  }
}

// Spreads rows to planes: values1, values2 (poses, VALUE_PLANES, padded) and pair_values (poses, 2,
// VALUE_PLANES, near_plane).
KERNEL void entries_spread(GLOBAL const real *rows, GLOBAL const int *segments,
                           GLOBAL const int *list, GLOBAL const int *pair_entries,
                           GLOBAL const pair_head *pair, GLOBAL real *values1, GLOBAL real *values2,
                           GLOBAL real *pair_values)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const int *segment = ROW(segments, pose, SEGMENT_INTS);
  for (int side = 0; side < 2; ++side) {
    const int padded = pair->n.elements[VERTICES_OF(side)].padded;
    GLOBAL real *to = NUMS(side ? values2 : values1, pose, VALUE_PLANES * padded);
    for (int i = segment[side] + item; i < segment[side + 1]; i += WG) {
      spread_row(rows, i, to + i - segment[side], padded);
    }
  }
  for (int side = 0; pair->n.listed & LISTED_PAIRS && side < 2; ++side) {
    GLOBAL const pair_sizes *n = &pair->n;
    const listed_row r = listed_edges_of(n, side, 1, pose, list, pair_values);
    GLOBAL const int *entries =
      ROW(pair_entries, pose, EDGE_ENTRIES_STRIDE(n)) + EDGE_ENTRIES_AT(n, side);
    GLOBAL real *to = NUMS(pair_values, pose, r.stride) + VALUE_PLANES * EDGE_ENTRIES_AT(n, side);
    for (int i = item; i < r.count; i += WG) {
      spread_row(rows, entries[i], to + i, r.plane);
    }
  }
}

// The same for pairs whose whole manifold is computed: entries_scattered makes rows of cotangents,
// zero but for the entries, and entries_picked takes values with their derivatives. One work-group
// has one pose.
static void clear_row(GLOBAL real *row, int count, int item)
{
  for (int i = item; i < count; i += WG) {
    row[i] = R(0.0);
  }
}

KERNEL void entries_scattered(GLOBAL const int *offsets, GLOBAL const int *slots,
                              GLOBAL const real *rows, GLOBAL const pair_head *pair, int have,
                              GLOBAL real *p, GLOBAL real *d, GLOBAL real *n, GLOBAL real *activity,
                              GLOBAL real *weight)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts;
  GLOBAL real *row_w = ROW(weight, pose, contacts);
  GLOBAL real *row_p = ROW(p, pose, 3 * contacts), *row_n = ROW(n, pose, 3 * contacts);
  GLOBAL real *row_d = ROW(d, pose, contacts), *row_a = ROW(activity, pose, contacts);
  clear_row(row_p, have & WANT_P ? 3 * contacts : 0, item);
  clear_row(row_d, have & WANT_D ? contacts : 0, item);
  clear_row(row_n, have & WANT_N ? 3 * contacts : 0, item);
  clear_row(row_a, have & WANT_ACTIVITY ? contacts : 0, item);
  clear_row(row_w, have & WANT_WEIGHT ? contacts : 0, item);
  BARRIER_GLOBAL;
  for (int i = offsets[pose] + item; i < offsets[pose + 1]; i += WG) {
    GLOBAL const real *from = rows + (size_t)i * COMPACT_REALS;
    const int slot = slots[i];
    for (int j = 0; j < 3; ++j) {
      if (have & WANT_P) {
        row_p[3 * slot + j] = from[VALUE_P + j];
      }
      if (have & WANT_N) {
        row_n[3 * slot + j] = from[VALUE_N + j];
      }
    }
    if (have & WANT_D) {
      row_d[slot] = from[VALUE_D];
    }
    if (have & WANT_ACTIVITY) {
      row_a[slot] = from[VALUE_ACTIVITY];
    }
    if (have & WANT_WEIGHT) {
      row_w[slot] = from[VALUE_WEIGHT];
    }
  }
}

// Takes the entries from `begin` on for which `rows` has room.
KERNEL void entries_picked(GLOBAL const int *offsets, GLOBAL const int *slots, int at, int step,
                           int most, int begin, int room, GLOBAL const real *p,
                           GLOBAL const real *d, GLOBAL const real *n, GLOBAL const real *activity,
                           GLOBAL const real *weight, GLOBAL const pair_head *pair, int want,
                           GLOBAL real *rows)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts;
  const slot_list l = {slots, at, step};
  const int first = -MIN_INT(-offsets[pose], -begin);
  const int end = MIN_INT(offsets[pose + 1], MIN_INT(begin + room, most));
  for (int i = first + item; i < end; i += WG) {
    const int slot = slot_at(&l, i);
    EACH_PART (part) {
      GLOBAL real *to = rows + ((size_t)(i - begin) * PARTS + (size_t)part) * COMPACT_REALS;
      const int from3 = part * 3 * contacts + 3 * slot, from = part * contacts + slot;
      for (int j = 0; j < 3; ++j) {
        to[VALUE_P + j] = want & WANT_P ? NUMS(p, pose, 3 * contacts)[from3 + j] : R(0.0);
        to[VALUE_N + j] = want & WANT_N ? NUMS(n, pose, 3 * contacts)[from3 + j] : R(0.0);
      }
      to[VALUE_D] = want & WANT_D ? NUMS(d, pose, contacts)[from] : R(0.0);
      to[VALUE_ACTIVITY] = want & WANT_ACTIVITY ? NUMS(activity, pose, contacts)[from] : R(0.0);
      to[VALUE_WEIGHT] = want & WANT_WEIGHT ? NUMS(weight, pose, contacts)[from] : R(0.0);
    }
  }
}

// Writes the row of an entry: the values, then each tangent's derivatives.
static void gather_row(GLOBAL const real *from, int stride, int plane, int entry, int room,
                       GLOBAL const real *frame, GLOBAL real *rows)
{
  if (entry < 0 || entry >= room) {
    return;
  }
  GLOBAL real *to = rows + (size_t)entry * (PARTS * COMPACT_REALS);
  EACH_PART (part) {
    const real poison = frame[part * FRAME_STRIDE + FRAME_POISON];
    for (int j = 0; j < VALUE_PLANES; ++j) {
      to[part * COMPACT_REALS + j] = from[part * stride + j * plane] + poison;
    }
  }
}

// Gathers rows from planes, the opposite of entries_spread, of the entries from `begin` on for
// which `rows` has room.
KERNEL void entries_gathered(GLOBAL const int *segments, GLOBAL const real *values1,
                             GLOBAL const real *values2, GLOBAL const int *list,
                             GLOBAL const int *pair_entries, GLOBAL const real *pair_values,
                             GLOBAL const pair_head *pair, int begin, int room,
                             GLOBAL const real *frames, GLOBAL real *rows)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const int *segment = ROW(segments, pose, SEGMENT_INTS);
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  for (int side = 0; side < 2; ++side) {
    const int padded = pair->n.elements[VERTICES_OF(side)].padded, stride = VALUE_PLANES * padded;
    GLOBAL const real *from = NUMS(side ? values2 : values1, pose, stride);
    for (int i = segment[side] + item; i < segment[side + 1]; i += WG) {
      gather_row(from + i - segment[side], stride, padded, i - begin, room, frame, rows);
    }
  }
  for (int side = 0; pair->n.listed & LISTED_PAIRS && side < 2; ++side) {
    GLOBAL const pair_sizes *n = &pair->n;
    const listed_row r = listed_edges_of(n, side, 1, pose, list, pair_values);
    GLOBAL const int *entries =
      ROW(pair_entries, pose, EDGE_ENTRIES_STRIDE(n)) + EDGE_ENTRIES_AT(n, side);
    for (int i = item; i < r.count; i += WG) {
      gather_row(r.values + i, r.stride, r.plane, entries[i] - begin, room, frame, rows);
    }
  }
}

// ---- sums over active contacts ----

// Adds the activities of `count` entries, and activity max(-d, 0)^2, to sums.
static void add_sums(GLOBAL const real *row, int plane, int count, int item, real sums[2])
{
  for (int i = item; i < count; i += WG) {
    const real a = row[VALUE_ACTIVITY * plane + i];
    const real depth = real_max(-row[VALUE_D * plane + i], R(0.0));
    sums[0] += a;
    sums[1] += a * depth * depth;
  }
}

// One work-group adds up activity and activity max(-d, 0)^2 over one pose's listed contacts, to out
// (poses, REDUCED_REALS).
#if WITH_FORWARD
KERNEL void listed_sums(GLOBAL const int *vertices1, GLOBAL const real *values1,
                        GLOBAL const int *vertices2, GLOBAL const real *values2,
                        GLOBAL const int *list, GLOBAL const real *values,
                        GLOBAL const pair_head *pair, GLOBAL const real *frames, GLOBAL real *out)
{
  LOCAL_ARRAY(real, part, WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const vertex_values v1 = values_of(vertices1, values1, &pair->n, 0, pose);
  const vertex_values v2 = values_of(vertices2, values2, &pair->n, 1, pose);
  real sums[2] = {R(0.0), R(0.0)};
  add_sums(v1.row, v1.padded, v1.count, item, sums);
  add_sums(v2.row, v2.padded, v2.count, item, sums);
  for (int side = 0; pair->n.listed & LISTED_PAIRS && side < 2; ++side) {
    const listed_row r = listed_edges_of(&pair->n, side, 1, pose, list, values);
    add_sums(r.values, r.plane, r.count, item, sums);
  }
  const real activity = group_total(part, sums[0], item);
  const real energy = group_total(part, sums[1], item);
  if (item == 0) {
    const real poison = NUMS(frames, pose, FRAME_STRIDE)[FRAME_POISON];
    GLOBAL real *row = ROW(out, pose, REDUCED_REALS);
    row[REDUCED_ACTIVITY] = activity + poison;
    row[REDUCED_ENERGY] = energy + poison;
  }
}
#endif
