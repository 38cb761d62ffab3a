// The Hessian of Newton's method and its factor: docs/dev/cone-formulas.md, section 9. Trees that
// contacts connect are neighbours in a graph, and are eliminated one by one in a minimum-degree
// order. Each tree has a dense panel of its columns. The rows are its own and those of its later
// neighbours, in elimination order. Rows are contiguous, and each column is padded to whole lanes.

// ---- the work-items of a world ----

// The work-items that process a world together. On CPUs it is one item with lanes. On GPUs it is a
// work-group, and each item takes every items-th turn of a loop, starting at its own number. An
// item may read what another has written only after a barrier (MEET). All items must reach the same
// barriers, so a loop with a barrier has equally many turns in each, and loop bounds are read from
// memory that no item is writing. `part` (TEAM_PARTS) and `exchange` (WG) exchange data between
// items.
typedef struct team {
  int item, items;
  LOCAL real *part;
  LOCAL int *exchange;
} team;

// A loop with a barrier has at least one turn (HAS_TURN), which does nothing if there is no work:
// PoCL 3.1 duplicates all code after a loop whose barrier may be skipped.
#if WG > 1
#define MEET BARRIER_GLOBAL
#define HAS_TURN(turn, count) ((turn) == 0 || (turn) < (count))
#else
#define MEET
#define HAS_TURN(turn, count) ((turn) < (count))
#endif

// A single work-item, which takes all turns of its loops.
static team team_of_one(void)
{
  team t;
  t.item = 0;
  t.items = 1;
  t.part = (LOCAL real *)0;
  t.exchange = (LOCAL int *)0;
  return t;
}

static team team_of_group(LOCAL real *part, LOCAL int *exchange)
{
  team t;
  t.item = (int)get_local_id(0);
  t.items = WG;
  t.part = part;
  t.exchange = exchange;
  return t;
}

// Returns whether the turn with some number is this item's.
static int is_own(const team *t, int number)
{
  return WG == 1 || number % t->items == t->item;
}

// Returns the union of the bits of all items. Afterwards everything that items wrote before can be
// read. Items must meet once more before the next call.
static int team_any(const team *t, int own)
{
#if WG > 1
  int any = 0;
  t->exchange[t->item] = own;
  MEET;
  for (int i = 0; i < WG; ++i) {
    any |= t->exchange[i];
  }
  return any;
#else
  (void)t;
  return own;
#endif
}

// A world's graph, its order and its panels. Arrays of `ints` have one entry per tree. The row of
// bits of `tree`, after ORDER_BITS(trees), has one entry per place in the order.
typedef struct panels {
  GLOBAL const world_sizes *n;
  GLOBAL const int *tables;
  GLOBAL int *ints;
  GLOBAL real *numbers;
} panels;

static GLOBAL int *order_array(const panels *p, int which)
{
  return p->ints + which * p->n->trees;
}

static GLOBAL int *order_bits(const panels *p, int tree)
{
  return p->ints + ORDER_BITS(p->n->trees) + ORDER_WORDS(p->n->trees) * tree;
}

static int tree_dofs(const panels *p, int tree)
{
  return mass_tree_of(p->n, p->tables, tree).count;
}

// ---- rows of bits ----

static int bit_is_set(GLOBAL const int *row, int i)
{
  return (int)((unsigned int)row[i / 32] >> i % 32 & 1u);
}

static void bit_set(GLOBAL int *row, int i)
{
  row[i / 32] = (int)((unsigned int)row[i / 32] | 1u << i % 32);
}

static void bit_clear(GLOBAL int *row, int i)
{
  row[i / 32] = (int)((unsigned int)row[i / 32] & ~(1u << i % 32));
}

// Returns the first set bit at or after `from` in a row of `words` words, or 32 times `words`.
static int bit_next(GLOBAL const int *row, int words, int from)
{
  int word = from / 32;
  unsigned int bits = word < words ? (unsigned int)row[word] & ~0u << from % 32 : 0u;
  while (!bits && ++word < words) {
    bits = (unsigned int)row[word];
  }
  return bits ? 32 * word + lowest_bit(bits) : 32 * words;
}

// ---- islands ----

static int island_root(GLOBAL const int *island, int tree)
{
  while (island[tree] != tree) {
    tree = island[tree];
  }
  return tree;
}

// Adds a group with contacts to the graph: its trees become neighbours in one island, which is at
// work. A group whose links cannot move is ignored.
static void graph_add(const panels *p, int a, int b)
{
  GLOBAL int *island = order_array(p, ORDER_ISLAND), *state = order_array(p, ORDER_STATE);
  const int one = a < 0 ? b : a;
  if (one < 0) {
    return;
  }
  state[one] = ISLAND_AT_WORK;
  if (a >= 0 && b >= 0 && a != b) {
    bit_set(order_bits(p, a), b);
    bit_set(order_bits(p, b), a);
    const int root = island_root(island, a), other = island_root(island, b);
    island[MAX_INT(root, other)] = MIN_INT(root, other);
  }
}

// Makes the least tree of each island its representative, which also stores its state.
static void graph_finish(const panels *p)
{
  GLOBAL int *island = order_array(p, ORDER_ISLAND), *state = order_array(p, ORDER_STATE);
  for (int tree = 0; tree < p->n->trees; ++tree) {
    island[tree] = island[island[tree]];
    state[island[tree]] |= state[tree];
  }
}

// ---- the order of elimination ----

static int degree_of(const panels *p, int tree)
{
  GLOBAL const int *row = order_bits(p, tree);
  const int words = ORDER_WORDS(p->n->trees);
  int degree = 0;
  for (int i = bit_next(row, words, 0); i < p->n->trees; i = bit_next(row, words, i + 1)) {
    degree += tree_dofs(p, i);
  }
  return degree;
}

// Returns the tree of least degree among the remaining ones, the first if several are equal.
static int least_tree(const panels *p, const team *t)
{
  GLOBAL const int *degree = order_array(p, ORDER_DEGREE), *place = order_array(p, ORDER_PLACE);
  int least = -1;
  for (int tree = t->item; tree < p->n->trees; tree += t->items) {
    if (place[tree] < 0 && (least < 0 || degree[tree] < degree[least])) {
      least = tree;
    }
  }
#if WG > 1
  t->exchange[t->item] = least;
  BARRIER;
  for (int i = 0; i < MIN_INT(WG, p->n->trees); ++i) {
    const int tree = t->exchange[i];
    if (tree >= 0 && (least < 0 || degree[tree] < degree[least] ||
                      (degree[tree] == degree[least] && tree < least))) {
      least = tree;
    }
  }
  BARRIER;
#endif
  return least;
}

// Makes the neighbours of an eliminated tree a clique. The tree's own row keeps its neighbours.
static void eliminate(const panels *p, const team *t, int tree)
{
  GLOBAL const int *row = order_bits(p, tree);
  const int words = ORDER_WORDS(p->n->trees);
  int turn = 0;
  for (int i = bit_next(row, words, 0); i < p->n->trees; i = bit_next(row, words, i + 1)) {
    GLOBAL int *other = order_bits(p, i);
    if (is_own(t, turn++)) {
      for (int w = 0; w < words; ++w) {
        other[w] |= row[w];
      }
      bit_clear(other, i);
      bit_clear(other, tree);
      order_array(p, ORDER_DEGREE)[i] = degree_of(p, i);
    }
  }
}

// Changes the bits of all rows from trees to places in the order. `room` is a scratch row.
static void rename_bits(const panels *p, const team *t, GLOBAL int *room)
{
  const int words = ORDER_WORDS(p->n->trees);
  for (int tree = 0; HAS_TURN(tree, p->n->trees); ++tree) {
    GLOBAL int *row = order_bits(p, tree);
    for (int w = t->item; w < words; w += t->items) {
      room[w] = 0;
    }
    for (int i = bit_next(row, words, 0); i < p->n->trees; i = bit_next(row, words, i + 1)) {
      const int place = order_array(p, ORDER_PLACE)[i];
      if (is_own(t, place / 32)) {
        bit_set(room, place);
      }
    }
    MEET;
    for (int w = t->item; w < words; w += t->items) {
      row[w] = room[w];
    }
  }
  MEET;
}

// Finds the order, and the offset and number of rows of each tree's panel. Returns the number of
// numbers in all panels.
static int find_order(const panels *p, const team *t)
{
  const int trees = p->n->trees;
  int at = 0;
  for (int tree = t->item; tree < trees; tree += t->items) {
    order_array(p, ORDER_PLACE)[tree] = -1;
    order_array(p, ORDER_DEGREE)[tree] = degree_of(p, tree);
  }
  MEET;
  for (int i = 0; HAS_TURN(i, trees); ++i) {
    const int least = least_tree(p, t), tree = MAX_INT(least, 0),
              dofs = least < 0 ? 0 : tree_dofs(p, tree);
    const int rows = dofs + order_array(p, ORDER_DEGREE)[tree];
    if (t->item == 0 && least >= 0) {
      order_array(p, ORDER_TREES)[i] = tree;
      order_array(p, ORDER_PLACE)[tree] = i;
      order_array(p, ORDER_ROWS)[tree] = rows;
      order_array(p, ORDER_PANEL)[tree] = at;
    }
    at += dofs * PANEL_STRIDE(rows, LANES);
    if (least >= 0) {
      eliminate(p, t, tree);
    }
    MEET;
  }
  rename_bits(p, t, order_bits(p, trees));
  return at;
}

// ---- panels ----

// A tree's panel: `dofs` columns, `stride` apart, with `rows` rows.
typedef struct panel {
  GLOBAL real *at;
  int tree, dofs, rows, stride;
} panel;

static panel panel_of(const panels *p, int tree)
{
  panel q;
  q.at = p->numbers + order_array(p, ORDER_PANEL)[tree];
  q.tree = tree;
  q.dofs = tree_dofs(p, tree);
  q.rows = order_array(p, ORDER_ROWS)[tree];
  q.stride = PANEL_STRIDE(q.rows, LANES);
  return q;
}

// A position among the rows of a panel: the rows of `tree`, which begin at `row`. After the last
// tree, `tree` is -1.
typedef struct panel_walk {
  GLOBAL const int *bits;
  int place, tree, dofs, row;
} panel_walk;

// Starts at the panel's own rows.
static panel_walk walk_start(const panels *p, int tree)
{
  panel_walk w;
  w.bits = order_bits(p, tree);
  w.place = order_array(p, ORDER_PLACE)[tree];
  w.tree = tree;
  w.dofs = tree_dofs(p, tree);
  w.row = 0;
  return w;
}

static void walk_on(const panels *p, panel_walk *w)
{
  w->place = bit_next(w->bits, ORDER_WORDS(p->n->trees), w->place + 1);
  w->row += w->dofs;
  w->tree = w->place < p->n->trees ? order_array(p, ORDER_TREES)[w->place] : -1;
  w->dofs = w->tree < 0 ? 0 : tree_dofs(p, w->tree);
}

// Returns the first row of another tree in a tree's panel.
static int panel_row(const panels *p, int tree, int other)
{
  panel_walk w = walk_start(p, tree);
  while (w.tree != other && w.tree >= 0) {
    walk_on(p, &w);
  }
  return w.row;
}

// ---- the factor ----

// Masks of one lane, of the lanes from `from` on, and of those before `end`, which is at most
// LANES. A number is stored into its lane by such a mask, because a load of whole lanes soon after
// a store of one number would stall.
#if LANES > 1
#define LANES_ONLY(lane) (LANE_BITS == (ilane)(1 << (lane)))
#define LANES_FROM(from) (LANE_BITS >= (ilane)(1 << (from)))
#define LANES_UNTIL(end) (LANE_BITS < (ilane)(1 << (end)))
#else
#define LANES_ONLY(lane) ((lane) == 0)
#define LANES_FROM(from) ((from) <= 0)
#define LANES_UNTIL(end) ((end) > 0)
#endif

// The first row of the group of LANES rows that contains a row.
#define LANES_AT(row) ((row) / LANES * LANES)

// Marks the island of a panel's tree as failed.
static void panel_fails(const panels *p, const panel *q)
{
  order_array(p, ORDER_STATE)[order_array(p, ORDER_ISLAND)[q->tree]] = ISLAND_FAILED;
}

#if WG == 1
// Replaces a panel, after the updates by all earlier trees, by its columns of the factor, with the
// inverses of the roots on the diagonal and zeros above it. Returns 0 if a pivot is not positive.
static int panel_factor(const panel *q)
{
  for (int k = 0; k < q->dofs; ++k) {
    GLOBAL real *column = q->at + k * q->stride;
    const int begin = LANES_AT(k);
    for (int first = begin; first < q->stride; first += LANES) {
      lane sum = lane_load(column + first);
      for (int j = 0; j < k; ++j) {
        GLOBAL const real *before = q->at + j * q->stride;
        sum -= lane_load(before + first) * before[k];
      }
      lane_store(sum, column + first);
    }
    const real pivot = column[k], inverse = R(1.0) / lane_first(lane_sqrt(lane_lit(pivot)));
    const lane scaled =
      lane_select(LANES_FROM(k - begin), lane_load(column + begin) * inverse, lane_lit(R(0.0)));
    lane_store(lane_select(LANES_ONLY(k - begin), lane_lit(inverse), scaled), column + begin);
    for (int first = begin + LANES; first < q->stride; first += LANES) {
      lane_store(lane_load(column + first) * inverse, column + first);
    }
    if (!(pivot > R(0.0))) {
      return 0;
    }
  }
  return 1;
}
#endif

// Subtracts from `count` rows of another panel, starting at `to`, the product of `count` rows of a
// factored panel, starting at `from`, with its rows of the other panel's columns, which begin at
// `of`. If the rows are the other panel's own, entries above its diagonal need not be correct.
static void panel_take(const panel *q, const team *t, const panel *other, int of, int from, int to,
                       int count)
{
  const int end = (count + LANES - 1) / LANES * LANES;
  int first = LANES * t->item;
  for (int c = 0; c < other->dofs; ++c) {
    GLOBAL real *column = other->at + c * other->stride + to;
    for (; first < count; first += LANES * t->items) {
      lane sum = lane_lit(R(0.0));
      for (int j = 0; j < q->dofs; ++j) {
        GLOBAL const real *own = q->at + j * q->stride;
        sum += lane_load(own + from + first) * own[of + c];
      }
      if (first + LANES > count) {
        sum = lane_select(LANES_UNTIL(count - first), sum, lane_lit(R(0.0)));
      }
      lane_store(lane_load(column + first) - sum, column + first);
    }
    first += (to ? 0 : LANES_AT(c + 1)) - end; // an item continues in the next column
  }
}

// Subtracts a factored panel's products from the panels of its later neighbours. Rows that are
// contiguous in both panels are processed together.
static void panel_update(const panels *p, const panel *q, const team *t)
{
  panel_walk a = walk_start(p, q->tree);
  for (walk_on(p, &a); a.tree >= 0; walk_on(p, &a)) {
    const panel other = panel_of(p, a.tree);
    panel_walk from = a, to = walk_start(p, a.tree);
    while (from.tree >= 0) {
      const int row = from.row, at = to.row;
      int count = 0;
      while (from.tree >= 0 && from.tree == to.tree) {
        count += from.dofs;
        walk_on(p, &from);
        walk_on(p, &to);
      }
      panel_take(q, t, &other, a.row, row, at, count);
      while (from.tree >= 0 && from.tree != to.tree) {
        walk_on(p, &to);
      }
    }
  }
}
