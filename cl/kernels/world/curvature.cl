// From the sums of active pairs to joints: generalised forces of wrenches, and curvatures in
// panels.

// Adds the generalised forces of a group's wrench to out (nv): X' times the wrench.
static void add_wrench(const newton *s, const newton_group *g, GLOBAL const real *push,
                       GLOBAL real *out)
{
  real of[6];
  COPY6(push, of);
  for (int k = 0; k < g->ints[GROUP_DOFS]; ++k) {
    const int dof = mover_at(s, g, k)[MOVER_DOF];
    if (is_own(&s->team, dof)) {
      real column[6];
      group_column(s, g, k, column);
      out[dof] += dot6(column, of);
    }
  }
}

// Each entry of a panel is one item's, so that no barrier is needed between active pairs that add
// to the same entry. Items form a grid of OWN_ROWS rows, to which degrees of freedom are dealt.
#if WG >= 64
#define OWN_ROWS 8
#elif WG >= 16
#define OWN_ROWS 4
#else
#define OWN_ROWS 1
#endif
#define OWN_COLUMNS (WG / OWN_ROWS)

static int row_is_own(const team *t, int dof)
{
  return OWN_ROWS == 1 || dof % OWN_ROWS == t->item / OWN_COLUMNS;
}

static int column_is_own(const team *t, int dof)
{
  return OWN_COLUMNS == 1 || dof % OWN_COLUMNS == t->item % OWN_COLUMNS;
}

static int entry_is_own(const team *t, int larger, int smaller)
{
  return row_is_own(t, larger) && column_is_own(t, smaller);
}

// The panels of the trees of a group's links. Their coupling is in the panel of side `first`, whose
// tree is eliminated first, from row `between` on.
typedef struct group_panels {
  panel of[2];
  int first, between;
} group_panels;

static group_panels group_panels_of(const newton *s, const newton_group *g)
{
  GLOBAL const int *place = order_array(&s->panels, ORDER_PLACE);
  group_panels p;
  int trees[2];
  trees_of_group(s->n, s->ints, g->ints, trees);
  for (int side = 0; side < 2; ++side) {
    p.of[side] = panel_of(&s->panels, trees[side] < 0 ? trees[!side] : trees[side]);
  }
  p.first = place[p.of[0].tree] < place[p.of[1].tree] ? 0 : 1;
  p.between = p.of[0].tree == p.of[1].tree
                ? 0
                : panel_row(&s->panels, p.of[p.first].tree, p.of[!p.first].tree);
  return p;
}

// Adds X' F X to panels, one pair of movers at a time. f is F's lower triangle. Movers are ordered
// by degree of freedom, so each pair occurs once. The columns are those of the tree that is
// eliminated first.
static void add_pairs(const newton *s, const newton_group *g, const group_panels *p,
                      const real f[SUMS_BLOCK])
{
  const panel *of = p->of;
  for (int k = 0; k < g->ints[GROUP_DOFS]; ++k) {
    const int dof = mover_at(s, g, k)[MOVER_DOF], own = dof_place(s->n, s->ints, dof);
    const int side = dof_tree(s->n, s->ints, dof) == of[0].tree ? 0 : 1;
    // Its entries with movers of its own tree, and with those of the other tree.
    GLOBAL real *same = of[side].at + own;
    GLOBAL real *mixed =
      of[p->first].at + p->between + (side == p->first ? own * of[p->first].stride : own);
    const int step = side == p->first ? 1 : of[p->first].stride;
    real column[6], turned[6];
    if (!row_is_own(&s->team, dof)) {
      continue;
    }
    group_column(s, g, k, column);
    CURVATURE_TIMES(f, column, turned);
    for (int m = 0; m <= k; ++m) {
      const int with = mover_at(s, g, m)[MOVER_DOF];
      GLOBAL const int *other = s->ints + s->n->at_dofs + DOF_INTS * with;
      const int is_same = other[DOF_TREE] == of[side].tree;
      GLOBAL real *to = is_same ? same + other[DOF_PLACE] * of[side].stride
                                : mixed + other[DOF_PLACE] * step;
      if (column_is_own(&s->team, with)) {
        group_column(s, g, m, column);
        *to += dot6(column, turned);
      }
    }
  }
}

#if WG == 1
#define MOVERS_AT_ONCE 16 // at least LANES, and enough for two free bodies

// The columns of a group's movers side by side, and their degrees of freedom.
typedef struct group_columns {
  int count, dof[MOVERS_AT_ONCE];
  real x[6 * MOVERS_AT_ONCE];
} group_columns;

static void make_columns(const newton *s, const newton_group *g, group_columns *c)
{
  c->count = g->ints[GROUP_DOFS];
  for (int i = 0; i < 6 * MOVERS_AT_ONCE; i += LANES) {
    lane_store(lane_lit(R(0.0)), c->x + i);
  }
  for (int k = 0; k < c->count; ++k) {
    real column[6];
    c->dof[k] = mover_at(s, g, k)[MOVER_DOF];
    group_column(s, g, k, column);
    c->x[k] = column[0];
    c->x[MOVERS_AT_ONCE + k] = column[1];
    c->x[2 * MOVERS_AT_ONCE + k] = column[2];
    c->x[3 * MOVERS_AT_ONCE + k] = column[3];
    c->x[4 * MOVERS_AT_ONCE + k] = column[4];
    c->x[5 * MOVERS_AT_ONCE + k] = column[5];
  }
}

static void column_of(const group_columns *c, int k, real out[6])
{
  out[0] = c->x[k];
  out[1] = c->x[MOVERS_AT_ONCE + k];
  out[2] = c->x[2 * MOVERS_AT_ONCE + k];
  out[3] = c->x[3 * MOVERS_AT_ONCE + k];
  out[4] = c->x[4 * MOVERS_AT_ONCE + k];
  out[5] = c->x[5 * MOVERS_AT_ONCE + k];
}

// columns_twist writes X x; columns_wrench adds X' times a wrench to out (nv).
static void columns_twist(const group_columns *c, GLOBAL const real *x, real out[6])
{
  real column[6];
  out[0] = out[1] = out[2] = out[3] = out[4] = out[5] = R(0.0);
  for (int k = 0; k < c->count; ++k) {
    column_of(c, k, column);
    add6(out, column, x[c->dof[k]]);
  }
}

static void columns_wrench(const group_columns *c, const real push[SUMS_WRENCH], GLOBAL real *out)
{
  real column[6];
  for (int k = 0; k < c->count; ++k) {
    column_of(c, k, column);
    out[c->dof[k]] += dot6(column, push);
  }
}

// Adds X' F X to panels, with one mover per lane. Values above a panel's diagonal are never used.
static void add_columns(const newton *s, const group_columns *c, const group_panels *p,
                        const real f[SUMS_BLOCK])
{
  int side[MOVERS_AT_ONCE], place[MOVERS_AT_ONCE];
  real row[LANES];
  for (int k = 0; k < c->count; ++k) {
    GLOBAL const int *of = s->ints + s->n->at_dofs + DOF_INTS * c->dof[k];
    side[k] = of[DOF_TREE] == p->of[p->first].tree ? p->first : !p->first;
    place[k] = of[DOF_PLACE] + (side[k] == p->first ? 0 : p->between);
  }
  for (int block = 0; block < c->count; block += LANES) {
    lane own[6], turned[6];
    real other[6];
    own[0] = lane_load(c->x + block);
    own[1] = lane_load(c->x + MOVERS_AT_ONCE + block);
    own[2] = lane_load(c->x + 2 * MOVERS_AT_ONCE + block);
    own[3] = lane_load(c->x + 3 * MOVERS_AT_ONCE + block);
    own[4] = lane_load(c->x + 4 * MOVERS_AT_ONCE + block);
    own[5] = lane_load(c->x + 5 * MOVERS_AT_ONCE + block);
    CURVATURE_TIMES(f, own, turned);
    for (int m = 0; m < c->count; ++m) {
      const int is_first = side[m] == p->first, off = is_first ? 0 : p->between;
      const panel *of = p->of + side[m];
      GLOBAL real *column = of->at + (place[m] - off) * of->stride - off;
      column_of(c, m, other);
      lane_store(DOT6(other, turned), row);
      for (int k = block; k < MIN_INT(c->count, block + LANES); ++k) {
        if (is_first || side[k] != p->first) {
          column[place[k]] += row[k - block];
        }
      }
    }
  }
}
// Does for one active pair at once what work-items that share active pairs do step by step:
// computes its twist if joints move by x (nv) and the sums of its contacts, and adds their effect
// to out (nv) and, with `curved`, to panels. If only one link of the group can move, the sums are
// added to that link. pass_twists must run before.
static void active_alone(const newton *s, int active, int world_pair, GLOBAL const real *x,
                         const int curved, GLOBAL real *out)
{
  const newton_group g = active_group(s, active, world_pair);
  const int lone = lone_link(s, g.ints), is_small = g.ints[GROUP_DOFS] <= MOVERS_AT_ONCE,
            count = curved ? SUMS : SUMS_WRENCH;
  GLOBAL real *row = active_row(s, active);
  group_columns c;
  real t[6], sums[PASS_SUMS_REALS], sign = R(1.0);
  if (lone >= 0) {
    sign = lone_twist(s, &g, lone, t);
  } else if (is_small) {
    make_columns(s, &g, &c);
    columns_twist(&c, x, t);
  } else {
    group_twist(s, &g, x, t);
  }
  for (int i = 0; i < PASS_SUMS_REALS; i += LANES) {
    lane_store(lane_lit(R(0.0)), sums + i);
  }
  group_wrench(&g, 0, LANES, t, curved, sums);
  COPY6(t, row + ACTIVE_TWIST);
  for (int i = 0; i < count; ++i) {
    row[ACTIVE_SUMS + i] = sums[i];
  }
  if (lone >= 0) {
    scale6(sums, sign);
    pass_add(s, lone, sums);
    return;
  }
  if (is_small) {
    columns_wrench(&c, sums, out);
  } else {
    add_wrench(s, &g, row + ACTIVE_SUMS, out);
  }
  if (curved) {
    const group_panels p = group_panels_of(s, &g);
    if (is_small) {
      add_columns(s, &c, &p, sums + SUMS_WRENCH);
    } else {
      add_pairs(s, &g, &p, sums + SUMS_WRENCH);
    }
  }
}
#else
// Adds X' W'GW X of a group to panels.
static void add_curvature(const newton *s, const newton_group *g, GLOBAL const real *sums)
{
  const group_panels p = group_panels_of(s, g);
  real f[SUMS_BLOCK];
  for (int i = 0; i < SUMS_BLOCK; ++i) {
    f[i] = sums[i];
  }
  add_pairs(s, g, &p, f);
}
#endif
