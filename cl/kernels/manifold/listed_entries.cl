// The compact list of active contacts among listed ones, and sums over these contacts.

// Listed contacts in sequence: a body's vertices in the mesh's order, or edge contacts in the
// list's order.
typedef struct listed_row {
  GLOBAL const real *values; // planes of `plane` numbers
  GLOBAL const int *places;  // places of vertices in the list, or -1; edge contacts of entries
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

// Returns the edge contacts of a side. These are contacts of pairs of edges, with points on that
// body, or contacts of that body's edges with the other field.
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

// The listed vertices of a body in a pose: their number and their values.
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

// Returns how many of `count` entries this work-item finds to be active. Entries listed by a bound
// may be inactive.
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
KERNEL GROUPED void listed_count(GLOBAL const int *vertices1, GLOBAL const real *values1,
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

// The target of a pose's entries: `at` is the next place, of `capacity`.
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

// A work-item's run of listed contacts. `at` is the place of its first entry in the compact list.
// run_of advances its argument `at` past the entries of the whole group.
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
// One work-group writes the active contacts of one pose, by slot, to the compact list. It starts at
// the pose's offset and stops at `capacity`: out (capacity, COMPACT_INTS) and out_values (capacity,
// COMPACT_REALS). at1 and at2 have the place of each vertex in the list, or -1. index1 and index2
// have the ranked edges that a selection has retained, if there is one.
KERNEL GROUPED void listed_entries(GLOBAL const int *at1, GLOBAL const real *values1,
                                   GLOBAL const int *at2, GLOBAL const real *values2,
                                   GLOBAL const int *list, GLOBAL const real *values,
                                   GLOBAL const int *index1, GLOBAL const int *index2,
                                   GLOBAL const pair_head *pair, real threshold, int want,
                                   GLOBAL const int *offsets, int capacity, GLOBAL int *out,
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
KERNEL GROUPED void listed_sums(GLOBAL const int *vertices1, GLOBAL const real *values1,
                                GLOBAL const int *vertices2, GLOBAL const real *values2,
                                GLOBAL const int *list, GLOBAL const real *values,
                                GLOBAL const pair_head *pair, GLOBAL const real *frames,
                                GLOBAL real *out)
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
