// The linear system of a Newton step: the cost at an acceleration, its gradient, its Hessian in
// panels, and the solution by their factor.

// Writes the cost of each island in a state at accelerations x. Overwrites VECTOR_STEP, VECTOR_TURN
// and the active pairs' twists.
static void newton_costs(const newton *s, int state, GLOBAL const real *x, GLOBAL real *out)
{
  GLOBAL real *off = newton_vector(s, VECTOR_STEP), *turned = newton_vector(s, VECTOR_TURN);
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    off[i] = x[i] - newton_vector(s, VECTOR_FREE)[i];
  }
  active_twists(s, state, x, ACTIVE_TWIST);
  MEET;
  mass_times(s, state, off, turned);
  active_sums(s, state, SUM_COST);
  island_dots(s, state, off, turned, out);
  for (int tree = s->team.item; tree < s->trees; tree += s->team.items) {
    out[tree] *= R(0.5);
  }
  for (int active = 0; active < s->active_count; ++active) {
    const int world_pair = world_pair_in(s, active, state),
              island = world_pair < 0 ? -1 : world_pair_island(s, world_pair);
    if (island_is_own(s, island)) {
      out[island] += active_row(s, active)[ACTIVE_SUMS];
    }
  }
  for (int i = 0; i < s->rows; ++i) {
    const int dof = row_dof(s, i), island = dof_island(s, dof);
    if (row_is_on(s, i) && island_is_own(s, island)) {
      out[island] += single_terms(s, i, x[dof]).cost;
    }
  }
  MEET;
}

// Fills the panels of islands in a state with M. Items must meet before they add to them.
static void start_panels(const newton *s, int state)
{
  for (int tree = 0; tree < s->trees; ++tree) {
    const panel q = panel_of(&s->panels, tree);
    const mass_tree t = mass_tree_of(s->n, s->ints, tree);
    const mass_block m = mass_block_of(s, &t);
    const int dofs = tree_is(s, tree, state) ? q.dofs : 0;
    // World pairs share all columns, because one column has few rows.
    for (int k = 0, i = LANES * s->team.item; k < dofs; i += LANES * s->team.items) {
      for (; i >= q.stride && k < dofs; i -= q.stride) {
        ++k;
      }
      if (k < dofs) {
        lane_store(i < m.stride ? lane_load(m.at + k * m.stride + i) : lane_lit(R(0.0)),
                   q.at + k * q.stride + i);
      }
    }
  }
}

// Writes J' lambda at x to VECTOR_CONSTRAINT_FORCE for islands in one of some states. With `curved`
// it also adds J'GJ to their panels.
static void newton_constraint_force(const newton *s, GLOBAL const real *x, int state,
                                    const int curved)
{
  GLOBAL real *constraint_force = newton_vector(s, VECTOR_CONSTRAINT_FORCE);
  for (int dof = s->team.item; dof < s->dofs; dof += s->team.items) {
    if (tree_is(s, dof_tree(s->n, s->ints, dof), state)) {
      constraint_force[dof] = R(0.0);
    }
  }
#if WG == 1
  pass_twists(s, state, x);
  pass_start(s);
  for (int active = 0; active < s->active_count; ++active) {
    const int world_pair = world_pair_in(s, active, state);
    if (world_pair >= 0) {
      active_alone(s, active, world_pair, x, curved, constraint_force);
    }
  }
  pass_sums(s, state, curved, constraint_force);
#else
  active_twists(s, state, x, ACTIVE_TWIST);
  MEET;
  active_sums(s, state, curved ? SUM_CURVED : SUM_WRENCH);
  for (int active = 0; active < s->active_count; ++active) {
    const int world_pair = world_pair_in(s, active, state);
    if (world_pair >= 0) {
      const newton_group g = bare_group(s, world_pair);
      GLOBAL const real *sums = active_row(s, active) + ACTIVE_SUMS;
      add_wrench(s, &g, sums, constraint_force);
      if (curved) {
        add_curvature(s, &g, sums + SUMS_WRENCH);
      }
    }
  }
#endif
  for (int i = 0; i < s->rows; ++i) {
    const int dof = row_dof(s, i), tree = dof_tree(s->n, s->ints, dof);
    const int adds = is_own(&s->team, dof), bends = curved && entry_is_own(&s->team, dof, dof);
    if (row_is_on(s, i) && (adds || bends) && tree_is(s, tree, state)) {
      const row_terms_of t = single_terms(s, i, x[dof]);
      constraint_force[dof] -= adds ? t.slope : R(0.0);
      if (bends) {
        const panel q = panel_of(&s->panels, tree);
        q.at[dof_place(s->n, s->ints, dof) * (q.stride + 1)] += t.bend;
      }
    }
  }
  MEET;
}

// Evaluates the cost at VECTOR_ACC for islands in a state: the gradient and its terms, and the
// Hessian in panels. VECTOR_ALONG gets acc - free.
static void newton_look(const newton *s, int state)
{
  GLOBAL const real *acc = newton_vector(s, VECTOR_ACC);
  GLOBAL real *off = newton_vector(s, VECTOR_ALONG), *turned = newton_vector(s, VECTOR_TURN);
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    off[i] = acc[i] - newton_vector(s, VECTOR_FREE)[i];
  }
  start_panels(s, state);
  newton_constraint_force(s, acc, state, 1);
  mass_times(s, state, off, turned);
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    if (tree_is(s, dof_tree(s->n, s->ints, i), state)) {
      newton_vector(s, VECTOR_GRADIENT)[i] =
        turned[i] - newton_vector(s, VECTOR_CONSTRAINT_FORCE)[i];
    }
  }
  MEET;
}

// Returns the panel of a tree whose island is at work. Otherwise, or if there is no such tree,
// returns a panel without rows.
static panel panel_at_work(const newton *s, int tree)
{
  panel none;
  if (tree < s->trees && tree_is(s, tree, ISLAND_AT_WORK)) {
    return panel_of(&s->panels, tree);
  }
  none.at = s->room;
  none.tree = none.dofs = none.rows = none.stride = 0;
  return none;
}

// Like panel_at_work, for the tree at a place in the order.
static panel panel_in_order(const newton *s, int place)
{
  const int some = place >= 0 && place < s->trees;
  return panel_at_work(s, some ? order_array(&s->panels, ORDER_TREES)[place] : s->trees);
}

// Returns the place in the order of the next tree of an island at work, from `place` on by steps of
// `step`, or a place without a tree.
static int place_at_work(const newton *s, int place, int step)
{
  GLOBAL const int *trees = order_array(&s->panels, ORDER_TREES);
  while (place >= 0 && place < s->trees && !tree_is(s, trees[place], ISLAND_AT_WORK)) {
    place += step;
  }
  return place;
}

// Scales the panels of islands at work by M's diagonal (VECTOR_SCALE).
static void scale_panels(const newton *s)
{
  GLOBAL const real *scale = newton_vector(s, VECTOR_SCALE);
  for (int tree = 0; tree < s->trees; ++tree) {
    const panel q = panel_at_work(s, tree);
#if WG == 1
    panel_gather(&s->panels, &q, scale, s->room);
    for (int k = 0; k < q.dofs; ++k) {
      GLOBAL real *column = q.at + k * q.stride;
      const real own = s->room[k];
      for (int first = LANES_AT(k); first < q.stride; first += LANES) {
        lane_store(lane_load(column + first) * lane_load(s->room + first) * own, column + first);
      }
    }
#else
    GLOBAL const int *dofs = panel_dofs(&s->panels, &q);
    for (panel_walk w = walk_start(&s->panels, q.tree); q.rows && w.tree >= 0;
         walk_on(&s->panels, &w)) {
      const mass_tree of = mass_tree_of(s->n, s->ints, w.tree);
      for (int row = row_from(w.row, s->team.item, s->team.items); row < w.row + of.count;
           row += s->team.items) {
        const real own = scale[of.dofs[row - w.row]];
        for (int k = 0; k < q.dofs; ++k) {
          q.at[k * q.stride + row] *= own * scale[dofs[k]];
        }
      }
    }
#endif
  }
  MEET;
}

// Replaces the scaled panels of islands at work by the factor of the Hessian. An island fails if
// its Hessian is not positive definite.
static void factor_panels(const newton *s)
{
  int place = place_at_work(s, 0, 1);
  do {
    const panel q = panel_in_order(s, place);
    panel_eliminate(&s->panels, &q, &s->team);
    place = place_at_work(s, place + 1, 1);
  } while (place < s->trees);
}

// Scales x by M's diagonal (VECTOR_SCALE) for islands at work.
static void scale_vector(const newton *s, GLOBAL real *x)
{
  for (int dof = s->team.item; dof < s->dofs; dof += s->team.items) {
    if (tree_is(s, dof_tree(s->n, s->ints, dof), ISLAND_AT_WORK)) {
      x[dof] *= newton_vector(s, VECTOR_SCALE)[dof];
    }
  }
  MEET;
}

// Replaces x by inv(H) x for islands at work.
static void newton_solve(const newton *s, GLOBAL real *x)
{
  int place = place_at_work(s, 0, 1);
  scale_vector(s, x);
  do {
    const panel q = panel_in_order(s, place);
    panel_forward(&s->panels, &q, &s->team, s->room, x);
    place = place_at_work(s, place + 1, 1);
  } while (place < s->trees);
  MEET;
  place = place_at_work(s, s->trees - 1, -1);
  do {
    const panel q = panel_in_order(s, place);
    panel_backward(&s->panels, &q, &s->team, s->room, x);
    place = place_at_work(s, place - 1, -1);
  } while (place >= 0);
  scale_vector(s, x);
}
