// Reductions of each pose, the compact list of active contacts, and kernels that move rows of a
// caller's arrays. These kernels compute only on plain numbers.

static real real_exp2(real x)
{
  real t[LANES];
  lane_store(lane_exp2(lane_lit(x)), t);
  return t[0];
}

static real real_log2(real x)
{
  real t[LANES];
  lane_store(lane_log2(lane_lit(x)), t);
  return t[0];
}

// Returns d - T log weight, the distance at which a contact of weight 1 would contribute equally to
// the soft distance.
static real weighed_distance(real d, real weight, real temperature)
{
  return d - temperature * LN2 * real_log2(weight);
}

// One work-group reduces one pose. It reads d and activity (poses, contacts). It writes to out
// (poses, REDUCED_REALS) the mean distance, the sums of activity and of activity max(-d, 0)^2, the
// least distance of vertices, and their soft minimum.
KERNEL GROUPED void reduce(GLOBAL const real *d, GLOBAL const real *activity,
                           GLOBAL const pair_head *pair, GLOBAL const real *frames,
                           GLOBAL real *out)
{
  LOCAL_ARRAY(real, part, WG);
  GLOBAL const coefficients *c = &pair->c;
  const int contacts = pair->n.contacts, vertex_slots = pair->n.elements[EDGES_OF(0)].contact;
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const real *row_d = ROW(d, pose, contacts);
  GLOBAL const real *row_a = ROW(activity, pose, contacts);
  real sum_d = R(0.0), sum_a = R(0.0), energy = R(0.0), least = REAL_BIG;
  for (int i = item; i < contacts; i += WG) {
    const real depth = real_max(-row_d[i], R(0.0));
    sum_d += row_d[i];
    sum_a += row_a[i];
    energy += row_a[i] * depth * depth;
    least = i < vertex_slots ? real_min(least, row_d[i]) : least;
  }
  least = group_least(part, least, item);
  real soft = R(0.0);
  for (int i = item; i < vertex_slots; i += WG) {
    const lane e = lane_exp2(lane_lit((least - row_d[i]) * c->penetration_inv * LOG2E));
    real t[LANES];
    lane_store(e, t);
    soft += t[0];
  }
  sum_d = group_total(part, sum_d, item);
  sum_a = group_total(part, sum_a, item);
  energy = group_total(part, energy, item);
  soft = group_total(part, soft, item);
  if (item == 0) {
    const real poison = ROW(frames, pose, FRAME_STRIDE)[FRAME_POISON];
    GLOBAL real *row = ROW(out, pose, REDUCED_REALS);
    real t[LANES];
    lane_store(lane_log2(lane_lit(soft)), t);
    row[REDUCED_MEAN_DISTANCE] = sum_d / (real)contacts + poison;
    row[REDUCED_ACTIVITY] = sum_a + poison;
    row[REDUCED_ENERGY] = energy + poison;
    row[REDUCED_MINIMUM_DISTANCE] = least + poison;
    row[REDUCED_SOFT_MINIMUM] = least - c->penetration * LN2 * t[0] + poison;
  }
}

// One work-group finds the distances of one pose. The distance is the least of its contacts and of
// both middles. The soft distance is -T log sum weight exp(-d / T) = -T log sum exp(-t / T) with t
// = d - T log weight (docs/dev/spec.md, section 7). middles is (poses, 2). If the contacts that
// count have less than half of the depth, status (poses) gets POSE_DEEP.
KERNEL GROUPED void reduce_distances(GLOBAL const real *d, GLOBAL const real *weight,
                                     GLOBAL const real *middles, GLOBAL const pair_head *pair,
                                     real temperature, GLOBAL const real *frames, GLOBAL real *out,
                                     GLOBAL int *status)
{
  LOCAL_ARRAY(real, part, WG);
  GLOBAL const coefficients *c = &pair->c;
  const int contacts = pair->n.contacts, whole = whole_vertices(pair);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const real *row_d = ROW(d, pose, contacts), *row_w = ROW(weight, pose, contacts);
  GLOBAL const real *middle = ROW(middles, pose, 2);
  real counted = REAL_BIG, least = real_min(middle[0], middle[1]), low = least, shown = least,
       sum = R(0.0);
  for (int i = item; i < contacts; i += WG) {
    const real w = i < whole ? R(1.0) : row_w[i];
    counted = row_w[i] >= R(0.5) ? real_min(counted, row_d[i]) : counted;
    least = real_min(least, said_distance(pair, i, whole, row_d[i], row_w[i]));
    shown = i < whole || row_w[i] >= R(0.5) || edge_share(pair, i) > R(0.0)
              ? real_min(shown, row_d[i])
              : shown;
    low = w > R(0.0) ? real_min(low, weighed_distance(row_d[i], w, temperature)) : low;
  }
  counted = group_least(part, counted, item);
  least = group_least(part, least, item);
  low = group_least(part, low, item);
  shown = group_least(part, shown, item);
  for (int i = item; i < contacts; i += WG) {
    const real w = i < whole ? R(1.0) : row_w[i];
    if (w > R(0.0)) {
      const real t = weighed_distance(row_d[i], w, temperature);
      sum += real_exp2((low - t) / temperature * LOG2E);
    }
  }
  for (int side = 0; side < 2 && item == 0; ++side) {
    sum += real_exp2((low - middle[side]) / temperature * LOG2E);
  }
  sum = group_total(part, sum, item);
  if (item == 0) {
    const real poison = ROW(frames, pose, FRAME_STRIDE)[FRAME_POISON];
    GLOBAL real *row = ROW(out, pose, REDUCED_REALS);
    row[REDUCED_DISTANCE] = least + poison;
    row[REDUCED_SOFT_DISTANCE] = low - temperature * LN2 * real_log2(sum) + poison;
    if (c->cones > R(0.0) && shown * c->penetration_inv < -(real)DEEP_PENETRATIONS &&
        counted > R(0.5) * least && poison == R(0.0)) {
      status[pose] |= POSE_DEEP;
    }
  }
}

// One work-group counts the contacts of one pose whose activity is at least `threshold`: counts
// (poses).
KERNEL GROUPED void count_active(GLOBAL const real *activity, GLOBAL const pair_head *pair,
                                 real threshold, GLOBAL int *counts)
{
  LOCAL_ARRAY(int, part, WG);
  const int contacts = pair->n.contacts;
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  GLOBAL const real *row = ROW(activity, pose, contacts);
  int found = 0;
  for (int i = item; i < contacts; i += WG) {
    found += row[i] >= threshold;
  }
  group_before(part, found, item, &found);
  if (item == 0) {
    counts[pose] = found;
  }
}

// A single work-group computes the exclusive sums of a chunk's counts: offsets (count + 1), whose
// last entry is the total. Each work-item handles a run of counts.
KERNEL GROUPED void offsets(GLOBAL const int *counts, int count, GLOBAL int *offsets)
{
  LOCAL_ARRAY(int, part, WG);
  const int item = (int)get_local_id(0);
  const int run = (count + WG - 1) / WG;
  const int first = MIN_INT(item * run, count), end = MIN_INT(first + run, count);
  int sum = 0, all = 0;
  for (int i = first; i < end; ++i) {
    sum += counts[i];
  }
  sum = group_before(part, sum, item, &all);
  for (int i = first; i < end; ++i) {
    offsets[i] = sum;
    sum += counts[i];
  }
  if (item == 0) {
    offsets[count] = all;
  }
}

// Copies one output of contact i to its place in an entry, or 0 if that output is not wanted.
#define TAKE_OUTPUT(member, id, reals)                                                            \
  for (int j = 0; j < reals; ++j) {                                                               \
    value[VALUE_##id + j] = want & WANT_##id ? ROW(member, pose, reals * contacts)[reals * i + j] \
                                             : R(0.0);                                            \
  }

// One work-group writes the active contacts of one pose, by slot, to the compact list. It starts at
// the pose's offset and stops at `capacity`: list (capacity, COMPACT_INTS) and values (capacity,
// COMPACT_REALS). The indices contain the ranked elements that a selection has retained, if there
// is one.
KERNEL GROUPED void compact(OUTPUT_ARRAYS_TO_READ, GLOBAL const pair_head *pair, real threshold,
                            int want, GLOBAL const int *vertex_index1,
                            GLOBAL const int *vertex_index2, GLOBAL const int *edge_index1,
                            GLOBAL const int *edge_index2, GLOBAL const int *offsets, int capacity,
                            GLOBAL int *list, GLOBAL real *values)
{
  LOCAL_ARRAY(int, part, WG);
  GLOBAL const pair_elements *of = pair->n.elements;
  const int contacts = pair->n.contacts;
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  const int run = (contacts + WG - 1) / WG;
  const int first = MIN_INT(item * run, contacts);
  const int end = MIN_INT(first + run, contacts);
  GLOBAL const real *row = ROW(activity, pose, contacts);
  int found = 0;
  for (int i = first; i < end; ++i) {
    found += row[i] >= threshold;
  }
  int at = offsets[pose] + group_before(part, found, item, &found);
  for (int i = first; i < end && at < capacity; ++i) {
    if (!(row[i] >= threshold)) {
      continue;
    }
    int f1 = (int)NO_FEATURE, f2 = (int)NO_FEATURE;
    if (i < of[VERTICES_OF(1)].contact) {
      f1 = feature_at(vertex_index1, &of[VERTICES_OF(0)], pose, i);
    } else if (i < of[EDGES_OF(0)].contact) {
      f2 = feature_at(vertex_index2, &of[VERTICES_OF(1)], pose, i - of[VERTICES_OF(1)].contact);
    } else if (pair->n.in_fields) {
      const int side = i >= of[EDGES_OF(1)].contact;
      const int edge = feature_at(side ? edge_index2 : edge_index1, &of[EDGES_OF(side)], pose,
                                  (i - of[EDGES_OF(side)].contact) / 2);
      f1 = side ? f1 : edge;
      f2 = side ? edge : f2;
    } else {
      const int side = i >= of[EDGES_OF(1)].contact, kept2 = of[EDGES_OF(1)].kept;
      const int at_pair = i - of[EDGES_OF(side)].contact;
      f1 = feature_at(edge_index1, &of[EDGES_OF(0)], pose, at_pair / kept2);
      f2 = feature_at(edge_index2, &of[EDGES_OF(1)], pose, at_pair % kept2);
    }
    GLOBAL int *entry = list + (size_t)at * COMPACT_INTS;
    entry[0] = pose;
    entry[1] = i;
    entry[2] = f1;
    entry[3] = f2;
    GLOBAL real *value = values + (size_t)at * COMPACT_REALS;
    CONTACT_OUTPUTS(TAKE_OUTPUT, AND_NOTHING)
    ++at;
  }
}

// One work-item copies one number of a chunk's row from a caller's array. `rows` has the indices of
// the chunk's rows in that array, where a row is `width` numbers wide. On the device a row has
// `own` numbers, and rows are `pitch` numbers apart, starting at `begin`. Rows of width 0 give
// zeros.
KERNEL void take_rows(GLOBAL const real *from, GLOBAL const int *rows, int width, int own,
                      int begin, int pitch, GLOBAL real *to)
{
  const int i = (int)get_global_id(0);
  const size_t row = get_global_id(1);
  if (i < own) {
    to[(size_t)begin + row * (size_t)pitch + i] =
      width ? from[(size_t)(unsigned)rows[row] * width + i] : R(0.0);
  }
}

// One work-item copies one number of a chunk's row back to the caller's array. Numbers beyond `own`
// become zero.
KERNEL void give_rows(GLOBAL const real *from, int begin, int pitch, int own,
                      GLOBAL const int *rows, int width, GLOBAL real *to)
{
  const int i = (int)get_global_id(0);
  const size_t row = get_global_id(1);
  if (i < width) {
    to[(size_t)(unsigned)rows[row] * width + i] =
      i < own ? from[(size_t)begin + row * (size_t)pitch + i] : R(0.0);
  }
}
