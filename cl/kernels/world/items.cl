// Items, ordered by kind and world, and the poses of their bodies. An item is a world and a pair of
// links that may touch.

static GLOBAL int *item_at(GLOBAL int *items, int i)
{
  return ROW(items, i, ITEM_INTS);
}

// Sets the world and group of an item. Its contacts are set after they have been counted.
static void start_item(GLOBAL int *item, int world, int group)
{
  item[ITEM_WORLD] = world;
  item[ITEM_GROUP] = group;
}

// If all groups of a kind are retained, one work-item writes the kind's items in one world. A kind
// has `members` groups, which `order` lists from `at` on. For each of `kinds`, counts and firsts
// (kinds + 1, worlds) get a world's number of items and the first one. The last row of firsts is
// for entries.
KERNEL void world_items(GLOBAL const int *order, int at, int members, int kind, int kinds, int all,
                        GLOBAL int *counts, GLOBAL int *firsts, GLOBAL int *items, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const int first = at * worlds + members * world;
  ROW(counts, kind, worlds)[world] = members;
  ROW(firsts, kind, worlds)[world] = first;
  ROW(firsts, kinds, worlds)[world] = all * world;
  for (int i = 0; i < members; ++i) {
    start_item(item_at(items, first + i), world, order[at + i]);
  }
}

// These functions return the link of one side of a group, and its body's position and quaternion on
// that link in `bodies`.
static int item_link(GLOBAL const world_sizes *n, GLOBAL const int *ints, int group, int side)
{
  return (ints + n->at_groups + GROUP_INTS * group)[side ? GROUP_B : GROUP_A];
}

static GLOBAL const real *item_body(GLOBAL const real *bodies, int group, int side)
{
  return bodies + 7 * (2 * group + side);
}

// Writes the first lane of a vector.
static void put_part(GLOBAL real *to, vec x)
{
  to[0] = lane_first(x.x);
  to[1] = lane_first(x.y);
  to[2] = lane_first(x.z);
}

// Writes the pose of the body of side 0 or 1 of an item: position, quaternion (w, x, y, z).
static void put_item_pose(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                          GLOBAL const real *scratch, GLOBAL const real *bodies,
                          GLOBAL const int *item, int side, GLOBAL real *to)
{
  GLOBAL const real *body = item_body(bodies, item[ITEM_GROUP], side);
  const int link = item_link(n, ints, item[ITEM_GROUP], side);
  vec x = real3(body);
  FN(quaternion) q = quaternion_real(body + 3);
  if (link >= 0) {
    const world_one o = one_at(scratch, n, item[ITEM_WORLD]);
    const FN(quaternion) of = one_quaternion(&o, n->at_quaternion + 4 * link);
    x = FN(add3)(one_get3(&o, n->at_origin + 3 * link), FN(quaternion_rotate)(of, x));
    q = FN(quaternion_times)(of, q);
  }
  put_part(to, x);
  to[3] = lane_first(q.w);
  put_part(to + 4, q.v);
}

// One work-item finds the poses of both bodies of one of `count` items, starting at `first`: poses1
// and poses2 (count, 7). `bodies` has two poses on links per group.
MERGED
KERNEL void world_item_poses(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                             GLOBAL const real *scratch, GLOBAL const real *bodies,
                             GLOBAL const int *items, int first, GLOBAL real *poses1,
                             GLOBAL real *poses2, int count)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  GLOBAL const int *item = ROW(items, first + row, ITEM_INTS);
  put_item_pose(n, ints, scratch, bodies, item, 0, ROW(poses1, row, 7));
  put_item_pose(n, ints, scratch, bodies, item, 1, ROW(poses2, row, 7));
}
