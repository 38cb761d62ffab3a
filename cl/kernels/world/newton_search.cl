// The line search of Newton's method: the length of each island's step.

// Returns whether the slope of an island's line is within the scene's tolerance, relative to the
// slope at the beginning of the line.
static int line_is_flat(const newton *s, int island)
{
  const real slope = island_numbers(s, ISLAND_SLOPE)[island],
             size = slope < R(0.0) ? -slope : slope;
  return !(size > s->reals[WORLD_LINE_TOLERANCE] * island_numbers(s, ISLAND_START)[island]);
}

// Starts the line search of each island at work that has made a full step, based on the slope at
// its current point, and returns whether any island has to search. Most do not, and then the
// gradient is already that of their next step.
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

// Writes slope and bend of the cost at the current points of the lines, for the work-item's
// islands that search. With `is_first` that point is VECTOR_ACC, where the slope and the sums of
// active pairs are known already.
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
  for (int active = 0; active < s->active_count; ++active) {
    const int world_pair = world_pair_in(s, active, ISLAND_SEARCHES),
              island = world_pair < 0 ? -1 : world_pair_island(s, world_pair);
    if (island_is_own(s, island)) {
      slope[island] += is_first ? R(0.0) : active_row(s, active)[ACTIVE_SUMS];
      bend[island] += is_first ? active_bend(s, active) : active_row(s, active)[ACTIVE_SUMS + 1];
    }
  }
  for (int i = 0; i < s->rows; ++i) {
    const int dof = row_dof(s, i), island = dof_island(s, dof);
    if (row_is_on(s, i) && island_is_own(s, island) && island_is(s, island, ISLAND_SEARCHES)) {
      const row_terms_of t = single_terms(s, i, x[dof] + at[island] * along[dof]);
      slope[island] += is_first ? R(0.0) : t.slope * along[dof];
      bend[island] += t.bend * along[dof] * along[dof];
    }
  }
}

// Advances an island along its line, by Newton's method within a bracket. Returns 0 if it has
// converged.
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

// Finds how far islands that search go along VECTOR_STEP (ISLAND_AT), starting at VECTOR_ACC after
// a full step: to zero slope of the cost, within the scene's line tolerance relative to
// ISLAND_START.
static void newton_search(const newton *s)
{
  GLOBAL const real *step = newton_vector(s, VECTOR_STEP);
  GLOBAL real *along = newton_vector(s, VECTOR_ALONG);
  GLOBAL int *state = order_array(&s->panels, ORDER_STATE);
  int left = s->trees;
  mass_times(s, ISLAND_SEARCHES, step, along);
  active_twists(s, ISLAND_SEARCHES, step, ACTIVE_ALONG);
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
    active_sums(s, ISLAND_SEARCHES, SUM_SLOPE);
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
