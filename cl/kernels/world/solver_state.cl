// The working data of a world's solver: vectors over degrees of freedom, islands of trees, and the
// mass matrix; docs/dev/cone-formulas.md, sections 8 and 9.

// A work-item's view of its world: the scene, the world's numbers, the pool of contacts with the
// world pairs of all worlds, the world pair numbers of the world's active pairs, rows (active
// pairs, ACTIVE_REALS) of their sums, and the world's row of `work`. That row has AXIS_REALS per
// degree of freedom, M's blocks in columns of whole lanes, VECTORS vectors (nv), ROW_TERMS numbers
// per row, ISLAND_NUMBERS per tree, scratch memory for a panel's rows, and PASS_REALS per link.
// Only Newton's method has a graph of trees and panels, see panels.cl. `trees`, `dofs` and `rows`
// are the numbers that the solver processes: those of the scene, or 0.
typedef struct newton {
  GLOBAL const world_sizes *n;
  GLOBAL const int *ints;
  GLOBAL const real *reals, *parameters;
  int shared, world;
  world_one tree;
  GLOBAL const real *contacts;
  GLOBAL const int *world_pairs, *active_pairs;
  int active_count, trees, dofs, rows;
  GLOBAL real *axes, *mass, *vectors, *row_terms, *islands, *room, *passes, *sums;
  panels panels;
  team team;
} newton;

static GLOBAL real *newton_vector(const newton *s, int i)
{
  return s->vectors + i * s->n->nv;
}

static real dot_n(int count, GLOBAL const real *a, GLOBAL const real *b)
{
  real sum = R(0.0);
  for (int i = 0; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// ---- islands ----

static GLOBAL real *island_numbers(const newton *s, int which)
{
  return s->islands + which * s->n->trees;
}

static int tree_island(const newton *s, int tree)
{
  return order_array(&s->panels, ORDER_ISLAND)[tree];
}

static int island_is(const newton *s, int island, int state)
{
  return (order_array(&s->panels, ORDER_STATE)[island] & state) != 0;
}

// Returns whether the island of a tree is in one of some states. State 0 includes all islands.
static int tree_is(const newton *s, int tree, int state)
{
  return !state || island_is(s, tree_island(s, tree), state);
}

static int dof_island(const newton *s, int dof)
{
  return tree_island(s, dof_tree(s->n, s->ints, dof));
}

// These functions return the world pair of active pair i of the world, and the ints of a world
// pair's group.
static int world_pair_of(const newton *s, int i)
{
  return s->active_pairs[i];
}

static GLOBAL const int *world_pair_group(const newton *s, int world_pair)
{
  return s->ints + s->n->at_groups +
         GROUP_INTS * ROW(s->world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_GROUP];
}

// Returns the island of a world pair, or -1 if its links cannot move.
static int world_pair_island(const newton *s, int world_pair)
{
  int trees[2];
  trees_of_group(s->n, s->ints, world_pair_group(s, world_pair), trees);
  const int tree = trees[0] < 0 ? trees[1] : trees[0];
  return tree < 0 ? -1 : tree_island(s, tree);
}

// Returns the world pair of an active pair if its island is in one of some states, else -1.
static int world_pair_in(const newton *s, int active, int state)
{
  const int world_pair = world_pair_of(s, active), island = world_pair_island(s, world_pair);
  return island >= 0 && (!state || island_is(s, island, state)) ? world_pair : -1;
}

// Returns whether this work-item is responsible for an island. A work-item goes through all
// trees, active pairs and rows in order, and processes those of its own islands.
static int island_is_own(const newton *s, int island)
{
  return island >= 0 && is_own(&s->team, island);
}

// Writes the part of the dot product of a and b (nv) that belongs to each of the work-item's
// islands in one of some states.
static void island_dots(const newton *s, int state, GLOBAL const real *a, GLOBAL const real *b,
                        GLOBAL real *out)
{
  for (int tree = s->team.item; tree < s->trees; tree += s->team.items) {
    out[tree] = R(0.0);
  }
  for (int tree = 0; tree < s->trees; ++tree) {
    const int island = tree_island(s, tree);
    if (island_is_own(s, island) && (!state || island_is(s, island, state))) {
      const mass_tree t = mass_tree_of(s->n, s->ints, tree);
      real sum = out[island];
      for (int i = 0; i < t.count; ++i) {
        sum += a[t.dofs[i]] * b[t.dofs[i]];
      }
      out[island] = sum;
    }
  }
}

// Returns the dot product of `count` numbers of a row and the entries of x (nv) for the first
// `count` degrees of freedom of a tree.
static real dot_tree(const mass_tree *t, int count, GLOBAL const real *row, GLOBAL const real *x)
{
  real sum = R(0.0);
  for (int i = 0; i < count; ++i) {
    sum += row[i] * x[t->dofs[i]];
  }
  return sum;
}

// A tree's block of M in the world's row of `work`: columns `stride` apart, padded to whole lanes.
typedef struct mass_block {
  GLOBAL real *at;
  int stride;
} mass_block;

static mass_block mass_block_of(const newton *s, const mass_tree *t)
{
  mass_block m;
  m.at = s->mass + t->block + (LANES - 1) * (int)(t->dofs - (s->ints + s->n->at_tree_dofs));
  m.stride = PANEL_STRIDE(t->count, LANES);
  return m;
}

// Copies both triangles of M's blocks, or of M + J' D J with equalities, to the world's row of
// `work`, and the inverse roots of the diagonal to VECTOR_SCALE.
static void start_mass(const newton *s)
{
  for (int dof = s->team.item; dof < s->dofs; dof += s->team.items) {
    const mass_tree t = mass_tree_of(s->n, s->ints, dof_tree(s->n, s->ints, dof));
    const int i = dof_place(s->n, s->ints, dof);
    const mass_block m = mass_block_of(s, &t);
    for (int k = 0; k <= i; ++k) {
      m.at[i * m.stride + k] = m.at[k * m.stride + i] =
        one_real(&s->tree, s->n->at_system + t.block + i * t.count + k);
    }
    for (int k = t.count; k < m.stride; ++k) {
      m.at[i * m.stride + k] = R(0.0);
    }
    newton_vector(s, VECTOR_SCALE)[dof] =
      R(1.0) / lane_first(lane_sqrt(lane_lit(m.at[i * (m.stride + 1)])));
  }
}

// Writes M x for the islands in one of some states. Each work-item writes the entries of its
// own degrees of freedom.
static void mass_times(const newton *s, int state, GLOBAL const real *x, GLOBAL real *out)
{
#if WG == 1
  real part[LANES];
  for (int tree = 0; tree < s->trees; ++tree) {
    if (tree_is(s, tree, state)) {
      const mass_tree t = mass_tree_of(s->n, s->ints, tree);
      const mass_block m = mass_block_of(s, &t);
      for (int first = 0; first < t.count; first += LANES) {
        lane sum = lane_lit(R(0.0));
        for (int k = 0; k < t.count; ++k) {
          sum += lane_load(m.at + k * m.stride + first) * x[t.dofs[k]];
        }
        lane_store(sum, part);
        for (int i = first; i < MIN_INT(first + LANES, t.count); ++i) {
          out[t.dofs[i]] = part[i - first];
        }
      }
    }
  }
#else
  for (int dof = s->team.item; dof < s->dofs; dof += s->team.items) {
    const int tree = dof_tree(s->n, s->ints, dof);
    if (tree_is(s, tree, state)) {
      const mass_tree t = mass_tree_of(s->n, s->ints, tree);
      const mass_block m = mass_block_of(s, &t);
      out[dof] = dot_tree(&t, t.count, m.at + dof_place(s->n, s->ints, dof) * m.stride, x);
    }
  }
#endif
}
