// The contacts of world pairs: the number of active ones, their offsets in the pool of a chunk's
// contacts, and their rows in that pool; also the active pairs of a world.

// Returns the number of contacts to check in a segment of row `row` of a pair batch.
static int segment_count(GLOBAL const int *list, const contact_layout *layout, int row)
{
  return layout->count >= 0 ? layout->count : ROW(list, row, layout->list_row)[layout->list_at];
}

// Returns the list of places of a segment's contacts, or NO_ORDER if the contacts are in order.
static GLOBAL const int *segment_places(GLOBAL const int *list, const contact_layout *layout)
{
  return layout->count >= 0 && layout->place_at >= 0 ? list + layout->place_at : NO_ORDER;
}

// A NaN activity counts, so that it shows in the results.
static int counts_as_contact(real activity, real least)
{
  return !(activity <= least);
}

// Returns the number of active contacts in a segment of row `row` of a pair batch.
static int contacts_of_segment(GLOBAL const real *as, GLOBAL const int *list, contact_layout layout,
                               int row, real least)
{
  const int count = segment_count(list, &layout, row);
  GLOBAL const int *places = segment_places(list, &layout);
  GLOBAL const real *a =
    ROW(as, row, layout.rows3 ? layout.row / 3 : layout.row) + layout.at_activity;
  int some = 0;
  for (int i = 0; i < count; ++i) {
    some += counts_as_contact(a[place_in(places, i)], least);
  }
  return some;
}

// One work-item counts the contacts with an activity above `least` of one of `count` world pairs,
// starting at `first`, and writes the world pair's marks and its size in the pool. The activities
// of each segment are in a row of a1 to a4, and the contacts' places are in a list, as its layout
// specifies. The places are the same in each row; without a list the contacts are in order.
// Exceeding a capacity sets WORLD_OVERFLOW.
MERGED
KERNEL void world_contact_counts(GLOBAL const world_sizes *n, GLOBAL int *world_pairs, int first,
                                 GLOBAL const real *a1, GLOBAL const int *list1,
                                 contact_layout layout1, GLOBAL const real *a2,
                                 GLOBAL const int *list2, contact_layout layout2,
                                 GLOBAL const real *a3, GLOBAL const int *list3,
                                 contact_layout layout3, GLOBAL const real *a4,
                                 GLOBAL const int *list4, contact_layout layout4, real least,
                                 GLOBAL int *status, int count)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  GLOBAL int *world_pair = world_pair_at(world_pairs, first + row);
  const int some[SEGMENTS_MOST] = {contacts_of_segment(a1, list1, layout1, row, least),
                                   contacts_of_segment(a2, list2, layout2, row, least),
                                   contacts_of_segment(a3, list3, layout3, row, least),
                                   contacts_of_segment(a4, list4, layout4, row, least)};
  int end = 0;
  for (int k = 0; k < SEGMENTS_MOST; ++k) {
    world_pair[WORLD_PAIR_MARKS + k] = end;
    end += some[k];
    if (n->capacity && end > n->capacity) {
      end = n->capacity;
      // World pairs of one world write the same value.
      status[world_pair[WORLD_PAIR_WORLD]] |= WORLD_OVERFLOW;
    }
  }
  world_pair[WORLD_PAIR_END] = end;
  world_pair[WORLD_PAIR_PLANE] = (end + LANES - 1) / LANES * LANES;
}

// The depths that the contacts of one world pair indicate: the least distance of counting contacts,
// the least distance that is surely no deeper than the bodies, and the least of any contact.
typedef struct depth_bounds {
  real counted, least, shown;
} depth_bounds;

// lower bound for counting contacts: the activity at touch of an edge that is found from both sides
#define COUNTS_AT R(0.25)

// Adds the contacts of a segment of row `row` of a pair batch. Depths of contacts that do not count
// are multiplied by `share` (manifold/reduce.cl), and omitted if it is 0.
static void add_depths(depth_bounds *s, GLOBAL const real *ds, GLOBAL const real *as,
                       GLOBAL const int *list, contact_layout layout, int row, real share)
{
  const int count = segment_count(list, &layout, row),
            width = layout.rows3 ? layout.row / 3 : layout.row;
  GLOBAL const real *d = ROW(ds, row, width) + layout.at_d,
                    *a = ROW(as, row, width) + layout.at_activity;
  for (int i = 0; i < count; ++i) {
    const int counts = a[i] >= COUNTS_AT;
    s->counted = counts ? real_min(s->counted, d[i]) : s->counted;
    if (counts || share > R(0.0)) {
      s->least = real_min(s->least, counts || d[i] > R(0.0) ? d[i] : d[i] * share);
      s->shown = real_min(s->shown, d[i]);
    }
  }
}

// One work-item sets WORLD_DEEP in the status of the world of one of `count` world pairs, starting
// at `first`, if the bodies are deeper than `depth` and the counting contacts have less than half
// of their depth. middles is (count, 2). share1 and share2 are those of either body's edges.
MERGED
KERNEL void world_deep(GLOBAL const int *world_pairs, int first, GLOBAL const real *middles,
                       GLOBAL const real *d1, GLOBAL const real *a1, GLOBAL const int *list1,
                       contact_layout layout1, GLOBAL const real *d2, GLOBAL const real *a2,
                       GLOBAL const int *list2, contact_layout layout2, GLOBAL const real *d3,
                       GLOBAL const real *a3, GLOBAL const int *list3, contact_layout layout3,
                       GLOBAL const real *d4, GLOBAL const real *a4, GLOBAL const int *list4,
                       contact_layout layout4, real depth, real share1, real share2,
                       GLOBAL int *status, int count)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  GLOBAL const real *middle = NUMS(middles, row, 2);
  const real low = real_min(middle[0], middle[1]);
  depth_bounds s = {REAL_BIG, low, low};
  add_depths(&s, d1, a1, list1, layout1, row, R(1.0));
  add_depths(&s, d2, a2, list2, layout2, row, R(1.0));
  add_depths(&s, d3, a3, list3, layout3, row, share1);
  add_depths(&s, d4, a4, list4, layout4, row, share2);
  GLOBAL int *of = status + ROW(world_pairs, first + row, WORLD_PAIR_INTS)[WORLD_PAIR_WORLD];
  if (!(*of & WORLD_STOPPED) && s.shown < -depth && s.counted > R(0.5) * s.least) {
    *of |= WORLD_DEEP; // world pairs of one world write the same value
  }
}

#define INT_MOST 2147483647

// Adds counts with saturation. No device has room for more than an int can count.
static int add_up(int a, int b)
{
  return a > INT_MOST - b ? INT_MOST : a + b;
}

// One work-item adds up the pool sizes of COUNT_BLOCK of `count` world pairs, starting at `first`:
// sums (blocks).
KERNEL void world_contact_sums(GLOBAL const int *world_pairs, int first, GLOBAL int *sums,
                               int blocks, int count)
{
  const int block = (int)get_global_id(0);
  if (block >= blocks) {
    return;
  }
  int sum = 0;
  for (int i = block * COUNT_BLOCK; i < count && i < (block + 1) * COUNT_BLOCK; ++i) {
    sum = add_up(sum, ROW(world_pairs, first + i, WORLD_PAIR_INTS)[WORLD_PAIR_PLANE]);
  }
  sums[block] = sum;
}

// One work-item writes the pool offsets of the contacts of COUNT_BLOCK of `count` world pairs,
// starting at `first`. Earlier launch sets have used totals[set] contacts of the pool.
// totals[set + 1] is the value for the next launch set.
KERNEL void world_contact_at(GLOBAL int *world_pairs, int first, GLOBAL const int *sums, int blocks,
                             GLOBAL int *totals, int set, int count)
{
  const int block = (int)get_global_id(0);
  if (block >= blocks) {
    return;
  }
  int at = set ? totals[set] : 0;
  for (int i = 0; i < block; ++i) {
    at = add_up(at, sums[i]);
  }
  for (int i = block * COUNT_BLOCK; i < count && i < (block + 1) * COUNT_BLOCK; ++i) {
    GLOBAL int *world_pair = world_pair_at(world_pairs, first + i);
    world_pair[WORLD_PAIR_AT] = at;
    at = add_up(at, world_pair[WORLD_PAIR_PLANE]);
  }
  if (block + 1 == blocks) {
    totals[set + 1] = at;
  }
}

// Lists the contacts of a segment of row `row` of a pair batch that world_contact_counts has
// counted: writes their places in the segment to `to`, from number `begin` up to `end`.
static void list_places(GLOBAL const real *as, GLOBAL const int *list, const contact_layout *layout,
                        int row, real least, int begin, int end, GLOBAL int *to)
{
  GLOBAL const int *places = segment_places(list, layout);
  GLOBAL const real *a =
    ROW(as, row, layout->rows3 ? layout->row / 3 : layout->row) + layout->at_activity;
  for (int i = 0, next = begin; next < end; ++i) {
    const int place = place_in(places, i);
    if (counts_as_contact(a[place], least)) {
      to[next++] = place;
    }
  }
}

// One work-item writes the contacts that world_contact_counts has counted, for one of `count`
// world pairs, starting at `first_pair`, segment by segment and in order, with one contact per
// lane. They go to the pool `contacts`, and each one's place in its segment to contact_places. A
// world pair that does not fit into the pool of `room` contacts is skipped. The contacts' p, d, n
// and activity are in the world pair's rows of p1 to a4, and their places in lists, as the layouts
// specify.
MERGED
KERNEL void world_contacts(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                           GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                           GLOBAL const real *scratch, GLOBAL const int *world_pairs,
                           int first_pair, GLOBAL const real *p1, GLOBAL const real *d1,
                           GLOBAL const real *n1, GLOBAL const real *a1, GLOBAL const int *list1,
                           contact_layout layout1, GLOBAL const real *p2, GLOBAL const real *d2,
                           GLOBAL const real *n2, GLOBAL const real *a2, GLOBAL const int *list2,
                           contact_layout layout2, GLOBAL const real *p3, GLOBAL const real *d3,
                           GLOBAL const real *n3, GLOBAL const real *a3, GLOBAL const int *list3,
                           contact_layout layout3, GLOBAL const real *p4, GLOBAL const real *d4,
                           GLOBAL const real *n4, GLOBAL const real *a4, GLOBAL const int *list4,
                           contact_layout layout4, real least, GLOBAL real *contacts, int room,
                           GLOBAL int *contact_places, int count)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, first_pair + row, WORLD_PAIR_INTS),
                   *mark = world_pair + WORLD_PAIR_MARKS;
  const int world = world_pair[WORLD_PAIR_WORLD], at = world_pair[WORLD_PAIR_AT],
            end = world_pair[WORLD_PAIR_END];
  if (!end || at > room - world_pair[WORLD_PAIR_PLANE]) {
    return;
  }
  GLOBAL int *places = contact_places + at;
  list_places(a1, list1, &layout1, row, least, mark[0], mark[1], places);
  list_places(a2, list2, &layout2, row, least, mark[1], mark[2], places);
  list_places(a3, list3, &layout3, row, least, mark[2], mark[3], places);
  list_places(a4, list4, &layout4, row, least, mark[3], mark[4], places);
  const contact_source s[SEGMENTS_MOST] = {source_of(p1, d1, n1, a1, layout1, row),
                                           source_of(p2, d2, n2, a2, layout2, row),
                                           source_of(p3, d3, n3, a3, layout3, row),
                                           source_of(p4, d4, n4, a4, layout4, row)};
  const world_one o = one_at(scratch, n, world);
  const world_group g =
    group_of(&o, n, ints, reals, parameters, world, shared, world_pair[WORLD_PAIR_GROUP]);
  const contact_target to = {contacts + (size_t)CONTACT_PLANES * at, world_pair[WORLD_PAIR_PLANE]};
  for (int first = 0; first < end; first += LANES) { // planes are padded to whole lanes
    num x[SOURCE_NUMBERS], side;
    gather_contacts(s, mark, places, first, end, x, &side);
    const contact_row r = contact_row_of(&o, n, reals, &g, FN(make)(x[0], x[1], x[2]), x[3],
                                         FN(make)(x[4], x[5], x[6]), x[7], side);
    put_contacts(&to, first, &r);
  }
}

// One work-item writes the slots of one segment's contacts, for one of `count` world pairs,
// starting at `first_pair`, to slots, in the order of the pool. It reads the places written by
// world_contacts. The segment's first slot is `offset`, plus the group's own first slot unless
// contacts are `given`. A contact's slot is that plus its place. With `listed`, list[1 + place]
// replaces the place. If `ordered` is also set, order[list[1 + place]] replaces it.
MERGED
KERNEL void world_slots(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const int *world_pairs, int first_pair, int segment,
                        GLOBAL const int *contact_places, int room, GLOBAL const int *list,
                        int list_row, int list_at, int listed, GLOBAL const int *order, int ordered,
                        int offset, int given, GLOBAL int *slots, int count)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, first_pair + row, WORLD_PAIR_INTS),
                   *mark = world_pair + WORLD_PAIR_MARKS;
  const int at = world_pair[WORLD_PAIR_AT];
  if (at > room - world_pair[WORLD_PAIR_PLANE]) {
    return;
  }
  const int own =
    offset +
    (given ? 0 : (ints + n->at_groups + GROUP_INTS * world_pair[WORLD_PAIR_GROUP])[GROUP_SLOT]);
  for (int i = mark[segment]; i < mark[segment + 1]; ++i) {
    const int in = contact_places[at + i],
              place = listed ? ROW(list, row, list_row)[list_at + 1 + in] : in;
    slots[at + i] = own + (ordered ? order[place] : place);
  }
}

// One work-item lists the active pairs of one world. It writes their world pairs to `list`,
// starting at the world's first place, and their first place and number to active_pairs (worlds,
// ACTIVE_PAIRS_INTS). counts and firsts are (types + 1, worlds). If `most` is not 0, a world
// retains only its first `most` contacts, and WORLD_OVERFLOW is set if there are more.
KERNEL void world_active_pairs(GLOBAL const int *counts, GLOBAL const int *firsts, int types,
                               int most, GLOBAL int *world_pairs, GLOBAL int *list,
                               GLOBAL int *active_pairs, GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const int at = types ? ROW(firsts, types, worlds)[world] : 0;
  int count = 0, left = most;
  for (int type = 0; type < types; ++type) {
    const int first = ROW(firsts, type, worlds)[world],
              end = first + ROW(counts, type, worlds)[world];
    for (int i = first; i < end; ++i) {
      GLOBAL int *world_pair = world_pair_at(world_pairs, i);
      if (most && world_pair[WORLD_PAIR_END] > left) {
        for (int k = WORLD_PAIR_MARKS; k <= WORLD_PAIR_END; ++k) {
          world_pair[k] = MIN_INT(world_pair[k], left);
        }
        status[world] |= WORLD_OVERFLOW;
      }
      left -= most ? world_pair[WORLD_PAIR_END] : 0;
      if (world_pair[WORLD_PAIR_END]) {
        list[at + count++] = i;
      }
    }
  }
  ROW(active_pairs, world, ACTIVE_PAIRS_INTS)[ACTIVE_PAIRS_AT] = at;
  ROW(active_pairs, world, ACTIVE_PAIRS_INTS)[ACTIVE_PAIRS_COUNT] = count;
}
