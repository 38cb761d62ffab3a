// The workload of a step: COUNT_... of geometry/world.h, added up over solves for callers who
// request it.

// Adds to a count, which saturates at the largest number that can be stored.
static void count_more(GLOBAL int *count, int more)
{
  const unsigned int sum = (unsigned int)*count + (unsigned int)more;
  *count = sum < (unsigned int)more ? -1 : (int)sum;
}

// One work-item adds one solve of one world, and its world pairs, active pairs and contacts, to
// sums (worlds, WORLD_COUNTS). `list` and `active_pairs` are those of world_active_pairs. counts
// (types + 1, worlds) are those of world pairs.
KERNEL void world_count_contacts(GLOBAL const int *counts, int types, GLOBAL const int *world_pairs,
                                 GLOBAL const int *list, GLOBAL const int *active_pairs,
                                 GLOBAL int *sums, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  GLOBAL const int *own = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  GLOBAL int *to = ROW(sums, world, WORLD_COUNTS);
  int kept = 0, contacts = 0;
  for (int type = 0; type < types; ++type) {
    kept += ROW(counts, type, worlds)[world];
  }
  for (int active = 0; active < own[ACTIVE_PAIRS_COUNT]; ++active) {
    contacts +=
      ROW(world_pairs, list[own[ACTIVE_PAIRS_AT] + active], WORLD_PAIR_INTS)[WORLD_PAIR_END];
  }
  count_more(&to[COUNT_SOLVES], 1);
  count_more(&to[COUNT_ITEMS], kept);
  count_more(&to[COUNT_ENTRIES], own[ACTIVE_PAIRS_COUNT]);
  count_more(&to[COUNT_CONTACTS], contacts);
}

// One work-item adds the number of islands of one world that are to be solved, and of the numbers
// in all its panels, to sums (worlds, WORLD_COUNTS). `order` is that of world_order before any
// island has ended.
KERNEL void world_count_islands(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                GLOBAL int *order, GLOBAL int *sums, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  panels p;
  p.n = n;
  p.tables = ints;
  p.ints = ROW(order, world, ORDER_INTS(n->trees));
  p.numbers = (GLOBAL real *)0;
  GLOBAL int *to = ROW(sums, world, WORLD_COUNTS);
  int islands = 0, numbers = 0;
  for (int tree = 0; tree < n->trees; ++tree) {
    islands += order_array(&p, ORDER_ISLAND)[tree] == tree && order_array(&p, ORDER_STATE)[tree];
    numbers += tree_dofs(&p, tree) * PANEL_STRIDE(order_array(&p, ORDER_ROWS)[tree], LANES);
  }
  count_more(&to[COUNT_ISLANDS], islands);
  count_more(&to[COUNT_PANEL_NUMBERS], numbers);
}
