// The accelerations that a world's contacts, limits and friction losses leave: Newton's method on
// the convex cost of docs/cone.md, section 9. A work-group solves one world: on CPUs one
// item of it, with lanes over its contacts.

// A decrement within this factor of the one that is asked for counts where steps no longer shrink.
#define STALLED R(100.0)

// Writes the cost that each island in a state has at accelerations x; VECTOR_STEP and VECTOR_TURN
// are room, as are the entries' twists.
static void newton_costs(const newton *s, int state, GLOBAL const real *x, GLOBAL real *out)
{
  GLOBAL real *off = newton_vector(s, VECTOR_STEP), *turned = newton_vector(s, VECTOR_TURN);
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    off[i] = x[i] - newton_vector(s, VECTOR_FREE)[i];
  }
  entry_twists(s, state, x, ENTRY_TWIST);
  MEET;
  mass_times(s, state, off, turned);
  entry_sums(s, state, SUM_COST);
  island_dots(s, state, off, turned, out);
  for (int tree = s->team.item; tree < s->trees; tree += s->team.items) {
    out[tree] *= R(0.5);
  }
  for (int entry = 0; entry < s->entry_count; ++entry) {
    const int item = entry_at(s, entry, state), island = item < 0 ? -1 : item_island(s, item);
    if (island_is_own(s, island)) {
      out[island] += entry_row(s, entry)[ENTRY_SUMS];
    }
  }
  for (int i = 0; i < s->rows; ++i) {
    const int dof = row_dof(s, i), island = dof_island(s, dof);
    if (island_is_own(s, island)) {
      out[island] += single_terms(s, i, x[dof]).cost;
    }
  }
  MEET;
}

// Fills the panels of islands in a state with M.
static void start_panels(const newton *s, int state)
{
  for (int tree = 0; tree < s->trees; ++tree) {
    const panel q = panel_of(&s->panels, tree);
    for (int i = LANES * s->team.item; i < q.dofs * q.stride && tree_is(s, tree, state);
         i += LANES * s->team.items) {
      lane_store(lane_lit(R(0.0)), q.at + i);
    }
  }
  MEET;
  for (int dof = s->team.item; dof < s->dofs; dof += s->team.items) {
    const int tree = dof_tree(s->n, s->ints, dof), i = dof_place(s->n, s->ints, dof);
    if (tree_is(s, tree, state)) {
      const mass_tree t = mass_tree_of(s->n, s->ints, tree);
      const panel q = panel_of(&s->panels, tree);
      for (int k = 0; k <= i; ++k) {
        q.at[k * q.stride + i] = s->mass[t.block + k * t.count + i];
      }
    }
  }
}

// Writes J' lambda at x to VECTOR_CONSTRAINT_FORCE, for islands in one of some states, and with
// `curved` adds J'GJ to their panels as well.
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
  for (int entry = 0; entry < s->entry_count; ++entry) {
    const int item = entry_at(s, entry, state);
    if (item >= 0) {
      entry_alone(s, entry, item, x, curved, constraint_force);
    }
  }
#else
  entry_twists(s, state, x, ENTRY_TWIST);
  MEET;
  entry_sums(s, state, curved ? SUM_CURVED : SUM_WRENCH);
  for (int entry = 0; HAS_TURN(entry, s->entry_count); ++entry) {
    const int item = entry < s->entry_count ? entry_at(s, entry, state) : -1;
    if (item >= 0) {
      const newton_group g = bare_group(s, item);
      GLOBAL const real *sums = entry_row(s, entry) + ENTRY_SUMS;
      add_wrench(s, &g, sums, constraint_force);
      if (curved) {
        add_curvature(s, &g, sums + SUMS_WRENCH);
      }
    }
    MEET;
  }
#endif
  for (int i = 0; i < s->rows; ++i) {
    const int dof = row_dof(s, i), tree = dof_tree(s->n, s->ints, dof);
    if (is_own(&s->team, dof) && tree_is(s, tree, state)) {
      const row_terms_of t = single_terms(s, i, x[dof]);
      constraint_force[dof] -= t.slope;
      if (curved) {
        const panel q = panel_of(&s->panels, tree);
        q.at[dof_place(s->n, s->ints, dof) * (q.stride + 1)] += t.bend;
      }
    }
  }
  MEET;
}

// Finds, at VECTOR_ACC, what Newton's method asks of islands in a state: the gradient and what it
// is made of, and in panels the Hessian. VECTOR_ALONG gets acc - free.
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

// Returns the panel of a tree whose island is at work, else, and where there is no such tree, one
// without rows.
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

// The same of the tree that has a place in the order.
static panel panel_in_order(const newton *s, int place)
{
  const int some = place >= 0 && place < s->trees;
  return panel_at_work(s, some ? order_array(&s->panels, ORDER_TREES)[place] : s->trees);
}

// Scales the panels of islands at work by M's diagonal (VECTOR_SCALE).
static void scale_panels(const newton *s)
{
  GLOBAL const real *scale = newton_vector(s, VECTOR_SCALE);
  for (int tree = 0; HAS_TURN(tree, s->trees); ++tree) {
    const panel q = panel_at_work(s, tree);
    panel_gather(&s->panels, &q, &s->team, scale, 1, s->room);
    MEET;
    for (int k = 0; k < q.dofs; ++k) {
      GLOBAL real *column = q.at + k * q.stride;
      const real own = s->room[k];
      for (int first = LANES_AT(k) + LANES * s->team.item; first < q.stride;
           first += LANES * s->team.items) {
        lane_store(lane_load(column + first) * lane_load(s->room + first) * own, column + first);
      }
    }
    MEET;
  }
}

// Replaces the scaled panels of islands at work by the factor of the Hessian. An island whose
// Hessian is not positive definite has failed.
static void factor_panels(const newton *s)
{
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  for (int place = 0; HAS_TURN(place, s->trees); ++place) {
    const panel q = panel_in_order(s, place);
    const int good = panel_factor(&q, &s->team);
    if (good && q.dofs) {
      panel_update(&s->panels, &q, &s->team);
    } else if (!good && s->team.item == 0) {
      state[tree_island(s, q.tree)] = ISLAND_FAILED;
    }
    MEET;
  }
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
  scale_vector(s, x);
  for (int place = 0; HAS_TURN(place, s->trees); ++place) {
    const panel q = panel_in_order(s, place);
    panel_forward(&s->panels, &q, &s->team, s->room, x);
  }
  for (int turn = 0; HAS_TURN(turn, s->trees); ++turn) {
    const panel q = panel_in_order(s, s->trees - 1 - turn);
    panel_backward(&s->panels, &q, &s->team, s->room, x);
  }
  scale_vector(s, x);
}

// Whether the slope of an island's line is within the scene's tolerance of what it was where the
// line began.
static int line_is_flat(const newton *s, int island)
{
  const real slope = island_numbers(s, ISLAND_SLOPE)[island],
             size = slope < R(0.0) ? -slope : slope;
  return !(size > s->reals[WORLD_LINE_TOLERANCE] * island_numbers(s, ISLAND_START)[island]);
}

// Begins the line search of each island at work that has made a full step, by the slope where it is
// now, and says whether any has to search. Most have not: there the gradient is that of their next
// step already.
static int start_lines(const newton *s)
{
  int any = 0;
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  GLOBAL real *slope = island_numbers(s, ISLAND_SLOPE);
  island_dots(s, ISLAND_AT_WORK, newton_vector(s, VECTOR_GRADIENT), newton_vector(s, VECTOR_STEP),
              slope);
  for (int island = s->team.item; island < s->trees; island += s->team.items) {
    if (island_is(s, island, ISLAND_AT_WORK) && !line_is_flat(s, island)) {
      state[island] |= ISLAND_SEARCHES | ISLAND_MOVES;
      island_numbers(s, ISLAND_AT)[island] = R(0.0);
      island_numbers(s, ISLAND_LOW)[island] = R(-1.0);
      island_numbers(s, ISLAND_HIGH)[island] = REAL_BIG;
      any = 1;
    }
  }
  return team_any(&s->team, any);
}

// Writes slope and bend of the cost where the item's islands that search are on their lines. With
// `is_first` that is where VECTOR_ACC is, of which the slope is there already, as is what entries
// add up to.
static void line_slopes(const newton *s, int is_first)
{
  GLOBAL const real *x = newton_vector(s, VECTOR_ACC), *along = newton_vector(s, VECTOR_STEP);
  GLOBAL const real *at = island_numbers(s, ISLAND_AT);
  GLOBAL real *slope = island_numbers(s, ISLAND_SLOPE), *bend = island_numbers(s, ISLAND_BEND);
  for (int island = s->team.item; island < s->trees; island += s->team.items) {
    bend[island] = island_numbers(s, ISLAND_BENT)[island];
    slope[island] = is_first ? slope[island]
                             : island_numbers(s, ISLAND_TURNED)[island] + at[island] * bend[island];
  }
  for (int entry = 0; entry < s->entry_count; ++entry) {
    const int item = entry_at(s, entry, ISLAND_SEARCHES),
              island = item < 0 ? -1 : item_island(s, item);
    if (island_is_own(s, island)) {
      slope[island] += is_first ? R(0.0) : entry_row(s, entry)[ENTRY_SUMS];
      bend[island] += is_first ? entry_bend(s, entry) : entry_row(s, entry)[ENTRY_SUMS + 1];
    }
  }
  for (int i = 0; i < s->rows; ++i) {
    const int dof = row_dof(s, i), island = dof_island(s, dof);
    if (island_is_own(s, island) && island_is(s, island, ISLAND_SEARCHES)) {
      const row_terms_of t = single_terms(s, i, x[dof] + at[island] * along[dof]);
      slope[island] += is_first ? R(0.0) : t.slope * along[dof];
      bend[island] += t.bend * along[dof] * along[dof];
    }
  }
}

// Moves an island on along its line, by Newton's method within a bracket. Returns 0 where it has
// arrived.
static int line_on(const newton *s, int island)
{
  GLOBAL real *at = island_numbers(s, ISLAND_AT) + island,
              *low = island_numbers(s, ISLAND_LOW) + island;
  GLOBAL real *high = island_numbers(s, ISLAND_HIGH) + island;
  const real slope = island_numbers(s, ISLAND_SLOPE)[island];
  if (line_is_flat(s, island)) {
    return 0;
  }
  *low = slope < R(0.0) ? *at : *low;
  *high = slope < R(0.0) ? *high : *at;
  const real next = *at - slope / island_numbers(s, ISLAND_BEND)[island];
  const real middle = *high < REAL_BIG ? R(0.5) * (*low + *high) : R(2.0) * *at + R(1.0);
  *at = next > *low && next < *high ? next : middle;
  return 1;
}

// Finds how far from VECTOR_ACC, where they have made a full step, islands that search go along
// VECTOR_STEP (ISLAND_AT): to where the slope of the cost is 0, to the scene's line tolerance of
// ISLAND_START.
static void newton_search(const newton *s)
{
  GLOBAL const real *step = newton_vector(s, VECTOR_STEP);
  GLOBAL real *along = newton_vector(s, VECTOR_ALONG);
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  int left = s->trees;
  mass_times(s, ISLAND_SEARCHES, step, along);
  entry_twists(s, ISLAND_SEARCHES, step, ENTRY_ALONG);
  MEET;
  island_dots(s, ISLAND_SEARCHES, step, newton_vector(s, VECTOR_TURN),
              island_numbers(s, ISLAND_TURNED));
  island_dots(s, ISLAND_SEARCHES, step, along, island_numbers(s, ISLAND_BENT));
  line_slopes(s, 1);
  for (int k = 0; HAS_TURN(k, left ? s->n->line_iterations : 0); ++k) {
    left = 0;
    for (int island = s->team.item; island < s->trees; island += s->team.items) {
      if (island_is(s, island, ISLAND_SEARCHES)) {
        const int on = line_on(s, island);
        state[island] &= on ? ~0 : ~ISLAND_SEARCHES;
        left |= on;
      }
    }
    left = team_any(&s->team, left);
    entry_sums(s, ISLAND_SEARCHES, SUM_SLOPE);
    line_slopes(s, 0);
  }
  for (int island = s->team.item; island < s->trees; island += s->team.items) {
    state[island] &= ~ISLAND_SEARCHES;
  }
  MEET;
  for (int dof = s->team.item; dof < s->dofs; dof += s->team.items) {
    const int tree = dof_tree(s->n, s->ints, dof);
    if (tree_is(s, tree, ISLAND_MOVES)) {
      newton_vector(s, VECTOR_ACC)[dof] +=
        island_numbers(s, ISLAND_AT)[tree_island(s, tree)] * step[dof];
    }
  }
  MEET;
}

// Writes the axis of each degree of freedom, where its joint is, and whether it turns.
static void start_axes(const newton *s)
{
  GLOBAL const world_sizes *n = s->n;
  const int links = s->dofs ? n->links : 0;
  for (int link = s->team.item; link < links; link += s->team.items) {
    const tree_link l = link_at(n, s->ints, link);
    const vec3_r joint =
      sub3_r(one_get3(&s->tree, n->at_origin + 3 * link), one_get3(&s->tree, n->at_arm + 3 * link));
    for (int k = 0; k < l.dofs; ++k) {
      GLOBAL real *to = s->axes + AXIS_REALS * (l.v + k);
      put_part(to, one_get3(&s->tree, n->at_axis + 3 * (l.v + k)));
      put_part(to + AXIS_JOINT, joint);
      to[AXIS_TURNS] = dof_turns(&l, k) ? R(1.0) : R(0.0);
    }
  }
}

static newton newton_of(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                        GLOBAL const real *scratch, GLOBAL const real *contacts,
                        GLOBAL const int *items, GLOBAL const int *list, GLOBAL const int *entries,
                        GLOBAL real *work, int world)
{
  newton s;
  GLOBAL real *own = ROW(work, world, n->work);
  GLOBAL const int *mine = ROW(entries, world, ENTRIES_INTS);
  s.n = n;
  s.ints = ints;
  s.reals = reals;
  s.parameters = parameters;
  s.shared = shared;
  s.world = world;
  s.tree = one_at(scratch, n, world);
  s.contacts = contacts;
  s.items = items;
  s.entries = list + mine[ENTRIES_AT];
  s.entry_count = mine[ENTRIES_COUNT];
  s.trees = n->trees;
  s.dofs = n->nv;
  s.rows = n->rows;
  s.sums = (GLOBAL real *)0;
  s.team = team_of_one();
  s.axes = own + n->at_axes_of;
  s.mass = own + n->at_mass_of;
  s.vectors = own + n->at_vectors;
  s.row_terms = own + n->at_row_terms;
  s.islands = own + n->at_islands;
  s.room = own + n->at_room;
  s.panels.n = n;
  s.panels.tables = ints;
  s.panels.ints = (GLOBAL int *)0;
  s.panels.numbers = own + n->at_panels;
  return s;
}

// Leaves nothing to go through, so that loops are empty.
static void newton_empty(newton *s)
{
  s->entry_count = s->trees = s->dofs = s->rows = 0;
}

// Has the items of a group solve the world together, with rows (entries of all worlds, ENTRY_REALS)
// for what entries add up to.
static void newton_together(newton *s, const team *t, GLOBAL real *sums, GLOBAL const int *entries)
{
  s->team = *t;
  s->sums = ROW(sums, ROW(entries, s->world, ENTRIES_INTS)[ENTRIES_AT], ENTRY_REALS);
}

// Sets the ints of a world's graph and where its panels lie, as world_order has left them in order
// (worlds, ORDER_INTS).
static void newton_order(newton *s, GLOBAL int *order, GLOBAL const int *order_sums,
                         GLOBAL real *pool)
{
  s->panels.ints = ROW(order, s->world, ORDER_INTS(s->n->trees));
  if (s->n->pooled) {
    s->panels.numbers =
      pool + (size_t)PANEL_UNIT * (size_t)(s->panels.ints[ORDER_FIRST(s->n->trees)] +
                                           order_sums[s->world / ITEM_BLOCK]);
  }
}

// Finds Newton's step of islands at work, at which newton_look has looked.
static void newton_step(const newton *s)
{
  GLOBAL real *step = newton_vector(s, VECTOR_STEP);
  scale_panels(s);
  factor_panels(s);
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    step[i] = -newton_vector(s, VECTOR_GRADIENT)[i];
  }
  MEET;
  newton_solve(s, step);
}

static int is_finite_there(const newton *s, int island, GLOBAL const real *x)
{
  int finite = 1;
  for (int i = 0; i < s->n->nv; ++i) {
    finite = finite && (dof_island(s, i) != island || real_isfinite(x[i]));
  }
  return finite;
}

// Says whether a0 may cost an island less than where it is, and marks those islands
// (ISLAND_SEARCHES). The cost at a0 lies above the tangent by half of the square, in M, of the way
// there or more. At a start that is almost the answer that tells without the costs.
static int doubt_start(const newton *s)
{
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  GLOBAL const real *off = newton_vector(s, VECTOR_ALONG);
  GLOBAL real *slope = island_numbers(s, ISLAND_SLOPE), *square = island_numbers(s, ISLAND_BEND);
  int any = 0;
  island_dots(s, ISLAND_AT_WORK, off, newton_vector(s, VECTOR_GRADIENT), slope);
  island_dots(s, ISLAND_AT_WORK, off, newton_vector(s, VECTOR_TURN), square);
  for (int island = s->team.item; island < s->trees; island += s->team.items) {
    island_numbers(s, ISLAND_LAST)[island] = REAL_BIG;
    if (island_is(s, island, ISLAND_AT_WORK) &&
        !(R(0.5) * square[island] - slope[island] >= R(0.0))) {
      state[island] |= ISLAND_SEARCHES;
      any = 1;
    }
  }
  return team_any(&s->team, any);
}

// Lets islands that are in doubt begin at a0 where that costs less, and looks where they are.
static void choose_start(const newton *s)
{
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  GLOBAL real *acc = newton_vector(s, VECTOR_ACC), *free = newton_vector(s, VECTOR_FREE);
  GLOBAL real *there = island_numbers(s, ISLAND_SLOPE), *at_free = island_numbers(s, ISLAND_BEND);
  newton_costs(s, ISLAND_SEARCHES, acc, there);
  newton_costs(s, ISLAND_SEARCHES, free, at_free);
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    const int island = dof_island(s, i);
    acc[i] = !island_is(s, island, ISLAND_SEARCHES) || there[island] < at_free[island] ? acc[i]
                                                                                       : free[i];
  }
  MEET;
  newton_look(s, ISLAND_SEARCHES);
  for (int island = s->team.item; island < s->trees; island += s->team.items) {
    state[island] &= ~ISLAND_SEARCHES;
  }
  MEET;
}

// Begins at accelerations `start` (nv), or, island by island, from a0 where that costs less, and
// looks there.
static void newton_start(const newton *s, GLOBAL const real *start)
{
  newton few = *s;
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    const int is_at_work = island_is(s, dof_island(s, i), ISLAND_AT_WORK);
    const real free = newton_vector(s, VECTOR_FREE)[i] = one_real(&s->tree, s->n->at_free + i);
    newton_vector(s, VECTOR_ACC)[i] = is_at_work ? start[i] : free;
  }
  start_mass(s);
  MEET;
  mass_times(s, ISLAND_AT_WORK, newton_vector(s, VECTOR_FREE), newton_vector(s, VECTOR_HELD));
  newton_look(s, ISLAND_AT_WORK);
  if (!doubt_start(s)) {
    newton_empty(&few);
  }
  choose_start(&few);
}

// Says of each island that has just made its step whether it ends with it (ISLAND_ENDS), and
// returns the bits of the status that this gives. Near the end steps shrink fast: where they do
// not, rounding is all that is left.
static int newton_judge(const newton *s, int iteration)
{
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  GLOBAL const real *acc = newton_vector(s, VECTOR_ACC), *held = newton_vector(s, VECTOR_HELD);
  GLOBAL real *start = island_numbers(s, ISLAND_START), *free = island_numbers(s, ISLAND_TURNED);
  GLOBAL real *first = island_numbers(s, ISLAND_BENT), *second = island_numbers(s, ISLAND_SUM);
  const real tolerance = s->reals[WORLD_TOLERANCE];
  int found = 0;
  island_dots(s, ISLAND_AT_WORK, newton_vector(s, VECTOR_GRADIENT), newton_vector(s, VECTOR_STEP),
              start);
  island_dots(s, ISLAND_AT_WORK, newton_vector(s, VECTOR_FREE), held, free);
  island_dots(s, ISLAND_AT_WORK, acc, held, first);
  island_dots(s, ISLAND_AT_WORK, acc, newton_vector(s, VECTOR_TURN), second);
  for (int island = s->team.item; island < s->trees; island += s->team.items) {
    int ends = island_is(s, island, ISLAND_FAILED);
    if (ends) { // numbers may have grown beyond all bounds
      found |= is_finite_there(s, island, newton_vector(s, VECTOR_GRADIENT)) ? WORLD_SINGULAR
                                                                             : WORLD_NOT_FINITE;
    } else if (island_is(s, island, ISLAND_AT_WORK)) {
      const real enough = tolerance * tolerance * (free[island] + first[island] + second[island]);
      const real decrement = start[island] = -start[island],
                 last = island_numbers(s, ISLAND_LAST)[island];
      const int done = decrement <= enough ||
                       (decrement <= STALLED * enough && decrement > R(0.25) * last);
      island_numbers(s, ISLAND_LAST)[island] = decrement;
      ends = done || iteration >= s->n->iterations;
      found |= ends && !done ? WORLD_NOT_CONVERGED : 0;
    }
    if (ends) {
      state[island] = ISLAND_ENDS;
    }
  }
  return team_any(&s->team, found);
}

// Moves the islands that have a step by it, those that go on as far as is best, and looks there.
// Says whether any goes on.
static int newton_move(const newton *s)
{
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  newton few = *s;
  int left = 0;
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    if (tree_is(s, dof_tree(s->n, s->ints, i), ISLAND_AT_WORK | ISLAND_ENDS)) {
      newton_vector(s, VECTOR_ACC)[i] += newton_vector(s, VECTOR_STEP)[i];
    }
  }
  MEET;
  newton_look(s, ISLAND_AT_WORK);
  if (!start_lines(s)) {
    newton_empty(&few);
  }
  newton_search(&few);
  newton_look(&few, ISLAND_MOVES);
  for (int island = s->team.item; island < s->trees; island += s->team.items) {
    state[island] &= ISLAND_AT_WORK;
    left |= tree_island(s, island) == island && state[island];
  }
  return team_any(&s->team, left);
}

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group finds the trees of one world that contacts join, islands of them, the order in
// which Newton's method eliminates them, and where their panels lie: order (worlds, ORDER_INTS).
// `items`, `list` and `entries` are those of world_entries. Where panels lie in a pool the world's
// count of PANEL_UNIT numbers is there, too.
KERNEL void world_order(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const int *items, GLOBAL const int *list, GLOBAL const int *entries,
                        GLOBAL int *order, int worlds)
{
  LOCAL_ARRAY(int, said, WG);
  const int world = (int)get_group_id(0);
  const team t = team_of_group((LOCAL real *)0, said);
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
  GLOBAL const int *own = ROW(entries, world, ENTRIES_INTS);
  for (int entry = 0; entry < own[ENTRIES_COUNT] && t.item == 0; ++entry) {
    const int group = ROW(items, list[own[ENTRIES_AT] + entry], ITEM_INTS)[ITEM_GROUP];
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

// One work-item replaces, for ITEM_BLOCK worlds from `block` on, the counts that world_order has
// left by the sums of those before, and writes the sum of all to sums (blocks).
KERNEL void world_order_sums(GLOBAL const world_sizes *n, GLOBAL int *order, GLOBAL int *sums,
                             int worlds)
{
  const int block = (int)get_global_id(0), end = MIN_INT(ITEM_BLOCK * (block + 1), worlds);
  int sum = 0;
  for (int world = ITEM_BLOCK * block; world < end; ++world) {
    GLOBAL int *first = ROW(order, world, ORDER_INTS(n->trees)) + ORDER_FIRST(n->trees);
    const int own = *first;
    *first = sum;
    sum += own;
  }
  if (ITEM_BLOCK * block < worlds) {
    sums[block] = sum;
  }
}

// One work-item replaces the sums of blocks of worlds by those of the blocks before, and writes the
// sum of all behind them; -1 where kernels cannot count it.
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

#if WITH_FORWARD // only a kernel may declare local memory
// One work-group finds the acceleration of one world, acceleration (worlds, nv), from `start`
// (worlds, nv) on or from a0 where that costs less, each island of trees by itself; docs/cone.md,
// section 9. Where with_constraint_force is set, constraint_force (worlds, nv) gets the constraint
// force J' lambda. It also writes iterations (worlds), the most of any island, and adds to status
// (worlds). `contacts` and `items` are those of world_contacts, `list` and `entries` those of
// world_entries, `order` and `order_sums` those of world_order, `pool` has panels, and `work`
// (worlds, work) and sums (entries, ENTRY_REALS) are its memory.
KERNEL void world_solve(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                        GLOBAL const real *start, GLOBAL const real *parameters, int shared,
                        GLOBAL const real *scratch, GLOBAL const real *singular,
                        GLOBAL const real *contacts, GLOBAL const int *items,
                        GLOBAL const int *list, GLOBAL const int *entries, GLOBAL int *order,
                        GLOBAL const int *order_sums, GLOBAL real *pool, GLOBAL real *work,
                        GLOBAL real *sums, GLOBAL real *acceleration, int with_constraint_force,
                        GLOBAL real *constraint_force, GLOBAL int *iterations, GLOBAL int *status,
                        int worlds)
{
  LOCAL_ARRAY(real, part, TEAM_PARTS);
  LOCAL_ARRAY(int, said, WG);
  const int world = (int)get_group_id(0), nv = n->nv, before = status[world];
  const team t = team_of_group(part, said);
  // This stands here, as `singular` is made anew by each stage of RK4.
  const int is_singular = singular[world] != R(0.0) && !(before & WORLD_STOPPED);
  const int stopped = is_singular || (before & WORLD_STOPPED),
            idle = stopped || (!n->groups && !n->rows);
  newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, items, list, entries,
                       work, world);
  newton_together(&s, &t, sums, entries);
  newton_order(&s, order, order_sums, pool);
  GLOBAL real *acc = newton_vector(&s, VECTOR_ACC);
  int found = 0, iteration = 0, left = 0;
  (void)worlds;
  for (int i = t.item; i < nv && idle; i += t.items) { // nothing to solve
    ROW(acceleration, world, nv)[i] = stopped ? R(0.0) : one_real(&s.tree, n->at_free + i);
    ROW(constraint_force, world, nv)[i] = R(0.0);
  }
  if (idle) {
    newton_empty(&s);
  }
  start_axes(&s);
  start_rows(&s, ROW(q, world, n->nq), ROW(v, world, nv));
  newton_start(&s, ROW(start, world, nv));
  // Each island ends with a full step, after which its answer does not depend on the start.
  do {
    newton_step(&s);
    found |= newton_judge(&s, iteration);
    left = newton_move(&s);
    iteration += left;
  } while (left);
  for (int i = t.item; i < s.dofs; i += t.items) {
    ROW(acceleration, world, nv)[i] = acc[i];
  }
  if (!with_constraint_force) {
    newton_empty(&s);
  }
  newton_constraint_force(&s, acc, 0, 0);
  for (int i = t.item; i < s.dofs; i += t.items) {
    ROW(constraint_force, world, nv)[i] = newton_vector(&s, VECTOR_CONSTRAINT_FORCE)[i];
  }
  if (t.item == 0) {
    iterations[world] = iteration;
    status[world] = before | (is_singular ? WORLD_SINGULAR : 0) | found;
  }
}
#endif

// One work-item writes the forces of one world's contacts by slot, out (worlds, width) of three
// numbers a slot, at the accelerations of world_solve: those on owners along their frames' rows,
// or, where in_world is set, those on body 1 along the world's axes. Slots without a contact keep
// the zeros that were there.
KERNEL void world_forces(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                         GLOBAL const real *scratch, GLOBAL const real *contacts,
                         GLOBAL const int *items, GLOBAL const int *list, GLOBAL const int *entries,
                         GLOBAL const int *slots, GLOBAL real *work,
                         GLOBAL const real *acceleration, GLOBAL const int *status, int width,
                         int in_world, GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  const newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, items, list,
                             entries, work, world);
  for (int i = 0; i < s.entry_count; ++i) {
    const newton_group g = newton_group_of(&s, entry_item(&s, i));
    GLOBAL const int *own = slots + g.item[ITEM_AT];
    real t[6];
    group_twist(&s, &g, ROW(acceleration, world, n->nv), t);
    for (int first = 0; first < g.count; first += LANES) {
      const contact_there at = contact_at(&g, first, t);
      lane along[3];
      for (int k = 0; k < 3; ++k) {
        along[k] = -at.c.d * at.e.g[k];
      }
      if (in_world) { // frames of a group's contacts are turned to push body 1
        const vec3_r f =
          mad3_r(at.c.f[2], along[2], mad3_r(at.c.f[1], along[1], scale3_r(at.c.f[0], along[0])));
        along[0] = f.x;
        along[1] = f.y;
        along[2] = f.z;
      }
      for (int k = 0; k < 3; ++k) {
        real force[LANES];
        lane_store(along[k], force);
        for (int l = 0; l < LANES && first + l < g.count; ++l) {
          ROW(out, world, width)[3 * own[first + l] + k] = force[l];
        }
      }
    }
  }
}
