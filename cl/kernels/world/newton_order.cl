// The order in which the solver eliminates a world's trees, and the layout of their panels.

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group finds the islands of trees of one world that contacts connect, the order in which
// Newton's method eliminates the trees, and the layout of their panels: order (worlds, ORDER_INTS).
// `world_pairs`, `list` and `active_pairs` are those of world_active_pairs. For panels in a pool,
// the result also has the world's number of units of PANEL_UNIT numbers.
KERNEL GROUPED void world_order(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                GLOBAL const int *world_pairs, GLOBAL const int *list,
                                GLOBAL const int *active_pairs, GLOBAL int *order, int worlds)
{
  LOCAL_ARRAY(int, exchange, WG);
  const int world = (int)get_group_id(0);
  const team t = team_of_group((LOCAL real *)0, exchange);
  panels p;
  (void)worlds;
  p.n = n;
  p.tables = ints;
  p.ints = ROW(order, world, ORDER_INTS(n->trees));
  p.numbers = (GLOBAL real *)0;
  for (int i = t.item; i < ORDER_INTS(n->trees); i += t.items) {
    p.ints[i] = 0;
  }
  MEET;
  for (int tree = t.item; tree < n->trees; tree += t.items) {
    order_array(&p, ORDER_ISLAND)[tree] = tree;
  }
  MEET;
  GLOBAL const int *own = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  for (int active = 0; active < own[ACTIVE_PAIRS_COUNT] && t.item == 0; ++active) {
    const int group =
      ROW(world_pairs, list[own[ACTIVE_PAIRS_AT] + active], WORLD_PAIR_INTS)[WORLD_PAIR_GROUP];
    int trees[2];
    trees_of_group(n, ints, ints + n->at_groups + GROUP_INTS * group, trees);
    graph_add(&p, trees[0], trees[1]);
  }
  for (int row = 0; row < n->rows && t.item == 0; ++row) {
    const int tree = dof_tree(n, ints, (ints + n->at_rows + ROW_INTS * row)[ROW_V]);
    graph_add(&p, tree, tree);
  }
  if (t.item == 0) {
    graph_finish(&p);
  }
  MEET;
  const int numbers = find_order(&p, &t);
  if (t.item == 0) {
    p.ints[ORDER_FIRST(n->trees)] = (numbers + LANES + PANEL_UNIT - 1) / PANEL_UNIT;
  }
}
#endif

// One work-item replaces the counts from world_order by the sums of the counts before, for
// COUNT_BLOCK worlds of `block`, and writes the sum of all to sums (blocks).
KERNEL void world_order_sums(GLOBAL const world_sizes *n, GLOBAL int *order, GLOBAL int *sums,
                             int worlds)
{
  const int block = (int)get_global_id(0), end = MIN_INT(COUNT_BLOCK * (block + 1), worlds);
  int sum = 0;
  for (int world = COUNT_BLOCK * block; world < end; ++world) {
    GLOBAL int *first = ROW(order, world, ORDER_INTS(n->trees)) + ORDER_FIRST(n->trees);
    const int own = *first;
    *first = sum;
    sum += own;
  }
  if (COUNT_BLOCK * block < worlds) {
    sums[block] = sum;
  }
}

// One work-item replaces the sums of blocks of worlds by those of the blocks before, and writes the
// total behind them, or -1 if it exceeds what kernels can count.
KERNEL void world_order_totals(GLOBAL int *sums, int blocks)
{
  int sum = 0;
  for (int block = 0; block < blocks && get_global_id(0) == 0; ++block) {
    const int own = sums[block];
    sums[block] = sum;
    sum = sum < 0 || own < 0 || own > ORDER_SUM_MOST - sum ? -1 : sum + own;
  }
  if (get_global_id(0) == 0) {
    sums[blocks] = sum;
  }
}
