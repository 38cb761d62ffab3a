// World pairs, ordered by type and world, and the poses of their bodies. A world pair is a world
// and a pair of links that may touch.

static GLOBAL int *world_pair_at(GLOBAL int *world_pairs, int i)
{
  return ROW(world_pairs, i, WORLD_PAIR_INTS);
}

// Sets the world and group of a world pair. Its contacts are set after they have been counted.
static void start_world_pair(GLOBAL int *world_pair, int world, int group)
{
  world_pair[WORLD_PAIR_WORLD] = world;
  world_pair[WORLD_PAIR_GROUP] = group;
}

// If all groups of a type are retained, one work-item writes the type's world pairs in one world. A
// type has `members` groups, which `order` lists from `at` on. For each of `types`, counts and
// firsts (types + 1, worlds) get a world's number of world pairs and the first one. The last row of
// firsts is for active pairs.
KERNEL void world_all_pairs(GLOBAL const int *order, int at, int members, int type, int types,
                            int all, GLOBAL int *counts, GLOBAL int *firsts,
                            GLOBAL int *world_pairs, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const int first = at * worlds + members * world;
  ROW(counts, type, worlds)[world] = members;
  ROW(firsts, type, worlds)[world] = first;
  ROW(firsts, types, worlds)[world] = all * world;
  for (int i = 0; i < members; ++i) {
    start_world_pair(world_pair_at(world_pairs, first + i), world, order[at + i]);
  }
}

// These functions return the link of one side of a group, and its body's position and quaternion on
// that link in `bodies`.
static int group_link(GLOBAL const world_sizes *n, GLOBAL const int *ints, int group, int side)
{
  return (ints + n->at_groups + GROUP_INTS * group)[side ? GROUP_B : GROUP_A];
}

static GLOBAL const real *group_body(GLOBAL const real *bodies, int group, int side)
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

// Writes the pose of the body of side 0 or 1 of a world pair: position, quaternion (w, x, y, z).
static void put_body_pose(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                          GLOBAL const real *scratch, GLOBAL const real *bodies,
                          GLOBAL const int *world_pair, int side, GLOBAL real *to)
{
  GLOBAL const real *body = group_body(bodies, world_pair[WORLD_PAIR_GROUP], side);
  const int link = group_link(n, ints, world_pair[WORLD_PAIR_GROUP], side);
  vec x = real3(body);
  FN(quaternion) q = quaternion_real(body + 3);
  if (link >= 0) {
    const world_one o = one_at(scratch, n, world_pair[WORLD_PAIR_WORLD]);
    const FN(quaternion) of = one_quaternion(&o, n->at_quaternion + 4 * link);
    x = FN(add3)(one_get3(&o, n->at_origin + 3 * link), FN(quaternion_rotate)(of, x));
    q = FN(quaternion_times)(of, q);
  }
  put_part(to, x);
  to[3] = lane_first(q.w);
  put_part(to + 4, q.v);
}

// One work-item finds the poses of both bodies of one of `count` world pairs, starting at `first`:
// poses1 and poses2 (count, 7). `bodies` has two poses on links per group.
MERGED
KERNEL void world_pair_poses(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                             GLOBAL const real *scratch, GLOBAL const real *bodies,
                             GLOBAL const int *world_pairs, int first, GLOBAL real *poses1,
                             GLOBAL real *poses2, int count)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, first + row, WORLD_PAIR_INTS);
  put_body_pose(n, ints, scratch, bodies, world_pair, 0, ROW(poses1, row, 7));
  put_body_pose(n, ints, scratch, bodies, world_pair, 1, ROW(poses2, row, 7));
}
