// The Hessian of Newton's method and its factor: docs/cone.md, section 9. Trees that contacts join are
// neighbours in a graph, and are eliminated one by one in an order of least degree. A tree has a dense
// panel of its columns. The rows are its own and those of the trees that it meets later, in that order;
// they lie one behind the other, each column filled up to whole lanes.

// What the kernels have of a world's graph, its order and its panels. Arrays of `ints` have an entry a
// tree; row `tree` of the bits begins at ORDER_BITS(trees) and has an entry a place in the order.
typedef struct panels {
  GLOBAL const world_sizes *n;
  GLOBAL const int *tables;
  GLOBAL int *ints;
  GLOBAL real *numbers;
} panels;

static GLOBAL int *order_array(const panels *p, int which) { return p->ints + which * p->n->trees; }

static GLOBAL int *order_bits(const panels *p, int tree)
{
  return p->ints + ORDER_BITS(p->n->trees) + ORDER_WORDS(p->n->trees) * tree;
}

static int tree_dofs(const panels *p, int tree)
{
  return mass_tree_of(p->n, p->tables, tree).count;
}

// ---- rows of bits ----

static int bit_is_set(GLOBAL const int *row, int i) { return (int)((unsigned int)row[i / 32] >> i % 32 & 1u); }

static void bit_set(GLOBAL int *row, int i) { row[i / 32] = (int)((unsigned int)row[i / 32] | 1u << i % 32); }

static void bit_clear(GLOBAL int *row, int i) { row[i / 32] = (int)((unsigned int)row[i / 32] & ~(1u << i % 32)); }

// Returns the first bit from `from` on that is set in a row of `words` words, or 32 times that.
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

// Takes a group with contacts into the graph: its trees are neighbours and of one island, which is at
// work. A group whose links cannot move is in none.
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

// Makes each island known by its least tree, in which its state lies, too.
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

// Returns the tree of least degree among those that are left.
static int least_tree(const panels *p)
{
  GLOBAL const int *degree = order_array(p, ORDER_DEGREE), *place = order_array(p, ORDER_PLACE);
  int least = -1;
  for (int tree = 0; tree < p->n->trees; ++tree) {
    if (place[tree] < 0 && (least < 0 || degree[tree] < degree[least])) {
      least = tree;
    }
  }
  return least;
}

// Makes a clique of the neighbours of a tree that is taken. Its own row keeps them.
static void eliminate(const panels *p, int tree)
{
  GLOBAL const int *row = order_bits(p, tree);
  const int words = ORDER_WORDS(p->n->trees);
  for (int i = bit_next(row, words, 0); i < p->n->trees; i = bit_next(row, words, i + 1)) {
    GLOBAL int *other = order_bits(p, i);
    for (int w = 0; w < words; ++w) {
      other[w] |= row[w];
    }
    bit_clear(other, i);
    bit_clear(other, tree);
    order_array(p, ORDER_DEGREE)[i] = degree_of(p, i);
  }
}

// Renames the bits of all rows from trees to their places in the order, by a row that is room.
static void rename_bits(const panels *p, GLOBAL int *room)
{
  const int words = ORDER_WORDS(p->n->trees);
  for (int tree = 0; tree < p->n->trees; ++tree) {
    GLOBAL int *row = order_bits(p, tree);
    for (int w = 0; w < words; ++w) {
      room[w] = 0;
    }
    for (int i = bit_next(row, words, 0); i < p->n->trees; i = bit_next(row, words, i + 1)) {
      bit_set(room, order_array(p, ORDER_PLACE)[i]);
    }
    for (int w = 0; w < words; ++w) {
      row[w] = room[w];
    }
  }
}

// Finds the order, and where each tree's panel begins and how many rows it has. Returns how many
// numbers all panels have together.
static int find_order(const panels *p)
{
  const int trees = p->n->trees;
  int at = 0;
  for (int tree = 0; tree < trees; ++tree) {
    order_array(p, ORDER_PLACE)[tree] = -1;
    order_array(p, ORDER_DEGREE)[tree] = degree_of(p, tree);
  }
  for (int i = 0; i < trees; ++i) {
    const int tree = least_tree(p), dofs = tree_dofs(p, tree);
    const int rows = dofs + order_array(p, ORDER_DEGREE)[tree];
    order_array(p, ORDER_TREES)[i] = tree;
    order_array(p, ORDER_PLACE)[tree] = i;
    order_array(p, ORDER_ROWS)[tree] = rows;
    order_array(p, ORDER_PANEL)[tree] = at;
    at += dofs * PANEL_STRIDE(rows, LANES);
    eliminate(p, tree);
  }
  rename_bits(p, order_bits(p, trees));
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

// A place among the rows of a panel: those of `tree`, which begin at `row`. Beyond the last tree `tree`
// is -1.
typedef struct panel_walk {
  GLOBAL const int *bits;
  int place, tree, dofs, row;
} panel_walk;

// Begins at the panel's own rows.
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

// Returns the row at which the rows of another tree begin in a tree's panel.
static int panel_row(const panels *p, int tree, int other)
{
  panel_walk w = walk_start(p, tree);
  while (w.tree != other && w.tree >= 0) {
    walk_on(p, &w);
  }
  return w.row;
}

// ---- the factor ----

// Masks of one lane, of the lanes from `from` on, and of those before `end`, which is at most LANES. A number is
// put into its lane by such a mask and not by itself, since whole lanes that are read soon after would wait for it.
#if LANES > 1
#define LANES_ONLY(lane) (LANE_BITS == (ilane)(1 << (lane)))
#define LANES_FROM(from) (LANE_BITS >= (ilane)(1 << (from)))
#define LANES_UNTIL(end) (LANE_BITS < (ilane)(1 << (end)))
#else
#define LANES_ONLY(lane) ((lane) == 0)
#define LANES_FROM(from) ((from) <= 0)
#define LANES_UNTIL(end) ((end) > 0)
#endif

// The first row of the whole lanes in which a row lies.
#define LANES_AT(row) ((row) / LANES * LANES)

// Replaces a panel, of which all trees before have taken their share, by its columns of the factor, with
// the inverses of the roots on the diagonal and zeros above it. Returns 0 where a pivot is not positive.
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
    if (!(column[k] > R(0.0))) {
      return 0;
    }
    const real inverse = R(1.0) / lane_first(lane_sqrt(lane_lit(column[k])));
    const lane scaled = lane_select(LANES_FROM(k - begin), lane_load(column + begin) * inverse, lane_lit(R(0.0)));
    lane_store(lane_select(LANES_ONLY(k - begin), lane_lit(inverse), scaled), column + begin);
    for (int first = begin + LANES; first < q->stride; first += LANES) {
      lane_store(lane_load(column + first) * inverse, column + first);
    }
  }
  return 1;
}

// Takes off `count` rows of another panel, from `to` on, what `count` rows of a factored panel, from
// `from` on, have to do with the columns of that other one, whose rows here begin at `of`. Where the
// rows are the other panel's own, what is above its diagonal need not be right.
static void panel_take(const panel *q, const panel *other, int of, int from, int to, int count)
{
  for (int c = 0; c < other->dofs; ++c) {
    GLOBAL real *column = other->at + c * other->stride + to;
    for (int first = to ? 0 : LANES_AT(c); first < count; first += LANES) {
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
  }
}

// Takes a factored panel off those of all trees that it meets later. Rows that lie one behind the other
// in both panels are taken together.
static void panel_update(const panels *p, const panel *q)
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
      panel_take(q, &other, a.row, row, at, count);
      while (from.tree >= 0 && from.tree != to.tree) {
        walk_on(p, &to);
      }
    }
  }
}

// ---- solving ----

// Copies the entries of x (nv) that belong to a panel's rows to `room`, with zeros behind them, and for
// `own` 0 in the place of its own.
static void panel_gather(const panels *p, const panel *q, GLOBAL const real *x, int own, GLOBAL real *room)
{
  for (int i = LANES_AT(q->rows); i < q->stride; ++i) {
    room[i] = R(0.0);
  }
  for (panel_walk w = walk_start(p, q->tree); w.tree >= 0; walk_on(p, &w)) {
    const mass_tree t = mass_tree_of(p->n, p->tables, w.tree);
    for (int i = 0; i < t.count; ++i) {
      room[w.row + i] = own || w.row ? x[t.dofs[i]] : R(0.0);
    }
  }
}

static void panel_scatter(const panels *p, const panel *q, GLOBAL const real *room, GLOBAL real *x)
{
  for (panel_walk w = walk_start(p, q->tree); w.tree >= 0; walk_on(p, &w)) {
    const mass_tree t = mass_tree_of(p->n, p->tables, w.tree);
    for (int i = 0; i < t.count; ++i) {
      x[t.dofs[i]] = room[w.row + i];
    }
  }
}

// Replaces in x (nv) a tree's part by inv(L) x, and takes it off those that the tree meets later.
static void panel_forward(const panels *p, const panel *q, GLOBAL real *room, GLOBAL real *x)
{
  panel_gather(p, q, x, 1, room);
  for (int k = 0; k < q->dofs; ++k) {
    GLOBAL const real *column = q->at + k * q->stride;
    const int begin = LANES_AT(k);
    const real y = room[k] * column[k];
    const lane less = lane_load(room + begin) - lane_load(column + begin) * y;
    lane_store(lane_select(LANES_ONLY(k - begin), lane_lit(y), less), room + begin);
    for (int first = begin + LANES; first < q->stride; first += LANES) {
      lane_store(lane_load(room + first) - lane_load(column + first) * y, room + first);
    }
  }
  panel_scatter(p, q, room, x);
}

// Replaces in x (nv) a tree's part by inv(L') x, once that is done for those that it meets later.
static void panel_backward(const panels *p, const panel *q, GLOBAL real *room, GLOBAL real *x)
{
  const mass_tree t = mass_tree_of(p->n, p->tables, q->tree);
  panel_gather(p, q, x, 0, room);
  for (int k = q->dofs - 1; k >= 0; --k) {
    GLOBAL const real *column = q->at + k * q->stride;
    const int begin = LANES_AT(k);
    lane sum = lane_lit(R(0.0));
    for (int first = begin; first < q->stride; first += LANES) {
      sum += lane_load(column + first) * lane_load(room + first);
    }
    const real y = (x[t.dofs[k]] - lane_sum(sum)) * column[k];
    lane_store(lane_select(LANES_ONLY(k - begin), lane_lit(y), lane_load(room + begin)), room + begin);
    x[t.dofs[k]] = y;
  }
}
