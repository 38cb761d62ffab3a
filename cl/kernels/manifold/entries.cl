// Lists of entries that the caller names: conversion of slots to lists of vertices and edge
// contacts, and of rows of values to planes and back.

// The slots of a list of entries, `step` integers apart, starting at index `at`.
typedef struct slot_list {
  GLOBAL const int *slots;
  int at, step;
} slot_list;

static int slot_at(const slot_list *l, int entry)
{
  return l->slots[l->at + (size_t)l->step * entry];
}

// Lists a pose's entries of vertices of body `side`, starting at `begin`. Returns the index after
// the last one.
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

// Lists a pose's entries of edges of body `side` in the other body's field, starting at `begin`,
// with both slots of each edge. by_entry has the entry of each listed slot, or -1. Returns the
// index after the last entry.
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
// pose name. The caller's list is sorted by pose, then by slot. offsets (poses + 1) has the start
// of each pose's entries, of which there are at most `most`; slots, at and step are those of
// slot_list. segments (poses, SEGMENT_INTS) gets the starts of a pose's entries of body 1's
// vertices, of body 2's vertices, of pairs by the point on body 1 and of pairs by the point on body
// 2, and then their end. pair_entries (poses, 2, near_plane) has each listed pair's entry for
// either point, or -1.
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
    while (i < middle || k < end) { // both runs ascend, so they are merged
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

// The following kernels convert rows of the caller's entries (entries, COMPACT_REALS) to planes by
// place in the lists, and back. One work-group has one pose.
static void spread_row(GLOBAL const real *rows, int entry, GLOBAL real *to, int plane)
{
  for (int j = 0; j < VALUE_PLANES; ++j) {
    to[j * plane] = entry < 0 ? R(0.0) : rows[(size_t)entry * COMPACT_REALS + j];
  }
}

// Spreads rows to planes: values1, values2 (poses, VALUE_PLANES, padded) and pair_values (poses, 2,
// VALUE_PLANES, near_plane).
KERNEL GROUPED void entries_spread(GLOBAL const real *rows, GLOBAL const int *segments,
                                   GLOBAL const int *list, GLOBAL const int *pair_entries,
                                   GLOBAL const pair_head *pair, GLOBAL real *values1,
                                   GLOBAL real *values2, GLOBAL real *pair_values)
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

// The same for pairs whose whole manifold is computed. entries_scattered writes rows of cotangents
// that are zero except at the entries. entries_picked reads values with their derivatives. One
// work-group has one pose.
static void clear_row(GLOBAL real *row, int count, int item)
{
  for (int i = item; i < count; i += WG) {
    row[i] = R(0.0);
  }
}

// Clears an output's cotangents of a pose, and writes those of an entry.
#define CLEAR_OUTPUT(member, id, reals) \
  clear_row(ROW(member, pose, contacts *(reals)), have &WANT_##id ? contacts *(reals) : 0, item);
#define SCATTER_OUTPUT(member, id, reals)                                              \
  for (int j = 0; have & WANT_##id && j < reals; ++j) {                                \
    ROW(member, pose, contacts *(reals))[reals * slots[i] + j] = from[VALUE_##id + j]; \
  }

KERNEL GROUPED void entries_scattered(GLOBAL const int *offsets, GLOBAL const int *slots,
                                      GLOBAL const real *rows, GLOBAL const pair_head *pair,
                                      int have, OUTPUT_ARRAYS_TO_WRITE)
{
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int contacts = pair->n.contacts;
  CONTACT_OUTPUTS(CLEAR_OUTPUT, AND_NOTHING)
  BARRIER_GLOBAL;
  for (int i = offsets[pose] + item; i < offsets[pose + 1]; i += WG) {
    GLOBAL const real *from = rows + (size_t)i * COMPACT_REALS;
    CONTACT_OUTPUTS(SCATTER_OUTPUT, AND_NOTHING)
  }
}

#define PICK_OUTPUT(member, id, reals)                                                 \
  for (int j = 0; j < reals; ++j) {                                                    \
    to[VALUE_##id + j] =                                                               \
      want & WANT_##id                                                                 \
        ? NUMS(member, pose, contacts * (reals))[(part * contacts + slot) * reals + j] \
        : R(0.0);                                                                      \
  }

// Reads the entries starting at `begin` for which `rows` has room.
KERNEL GROUPED void entries_picked(GLOBAL const int *offsets, GLOBAL const int *slots, int at,
                                   int step, int most, int begin, int room, OUTPUT_ARRAYS_TO_READ,
                                   GLOBAL const pair_head *pair, int want, GLOBAL real *rows)
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
      CONTACT_OUTPUTS(PICK_OUTPUT, AND_NOTHING)
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

// Gathers rows from planes, the inverse of entries_spread. It writes the entries starting at
// `begin` for which `rows` has room.
KERNEL GROUPED void entries_gathered(GLOBAL const int *segments, GLOBAL const real *values1,
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
