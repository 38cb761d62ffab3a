// The accelerations of a world with contacts, limits and friction losses: Newton's method on the
// convex cost of docs/dev/cone-formulas.md, section 9. A work-group solves one world. On CPUs it is
// one work-item, with lanes over contacts.

// A decrement within this factor of the tolerance is accepted once steps stop shrinking.
#define STALLED R(100.0)

// Writes the twist that each degree of freedom gives to its link, and the link's origin.
static void start_axes(const newton *s)
{
  GLOBAL const world_sizes *n = s->n;
  const int links = s->dofs ? n->links : 0;
  for (int link = s->team.item; link < links; link += s->team.items) {
    const tree_link l = link_at(n, s->ints, link);
    const vec3_r arm = one_get3(&s->tree, n->at_arm + 3 * link),
                 none = lit3(R(0.0), R(0.0), R(0.0));
    for (int k = 0; k < l.dofs; ++k) {
      GLOBAL real *to = s->axes + AXIS_REALS * (l.v + k);
      const vec3_r axis = one_get3(&s->tree, n->at_axis + 3 * (l.v + k));
      const int turns = dof_turns(&l, k);
      put_part(to, turns ? axis : none);
      put_part(to + 3, turns ? cross3_r(axis, arm) : axis);
      put_part(to + AXIS_AT, one_get3(&s->tree, n->at_origin + 3 * link));
    }
  }
}

static newton newton_of(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                        GLOBAL const real *scratch, GLOBAL const real *contacts,
                        GLOBAL const int *world_pairs, GLOBAL const int *list,
                        GLOBAL const int *active_pairs, GLOBAL real *work, int world)
{
  newton s;
  GLOBAL real *own = ROW(work, world, n->work);
  GLOBAL const int *mine = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  s.n = n;
  s.ints = ints;
  s.reals = reals;
  s.parameters = parameters;
  s.shared = shared;
  s.world = world;
  s.tree = one_at(scratch, n, world);
  s.contacts = contacts;
  s.world_pairs = world_pairs;
  s.active_pairs = list + mine[ACTIVE_PAIRS_AT];
  s.active_count = mine[ACTIVE_PAIRS_COUNT];
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
  s.passes = own + n->at_passes;
  s.panels.n = n;
  s.panels.tables = ints;
  s.panels.ints = (GLOBAL int *)0;
  s.panels.numbers = own + n->at_panels;
  return s;
}

// Empties all loops.
static void newton_empty(newton *s)
{
  s->active_count = s->trees = s->dofs = s->rows = 0;
}

// Lets the work-items of a work-group solve the world together. `sums` has rows (active pairs of
// all worlds, ACTIVE_REALS) for the sums of active pairs.
static void newton_together(newton *s, const team *t, GLOBAL real *sums,
                            GLOBAL const int *active_pairs)
{
  s->team = *t;
  s->sums =
    ROW(sums, ROW(active_pairs, s->world, ACTIVE_PAIRS_INTS)[ACTIVE_PAIRS_AT], ACTIVE_REALS);
}

// Sets the ints of a world's graph and the memory of its panels from the output of world_order in
// order (worlds, ORDER_INTS).
static void newton_order(newton *s, GLOBAL int *order, GLOBAL const int *order_sums,
                         GLOBAL real *pool)
{
  s->panels.ints = ROW(order, s->world, ORDER_INTS(s->n->trees));
  if (s->n->pooled) {
    s->panels.numbers =
      pool + (size_t)PANEL_UNIT * (size_t)(s->panels.ints[ORDER_FIRST(s->n->trees)] +
                                           order_sums[s->world / COUNT_BLOCK]);
  }
}

// Finds Newton's step of islands at work, after newton_look.
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

// Marks the islands (ISLAND_SEARCHES) that may have a lower cost at a0 than at their current point,
// and returns whether there are any. The cost at a0 is above the tangent by at least half the
// squared M-norm of the way there. If the start is almost the answer, this bound decides without
// computing costs.
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

// Moves marked islands to a0 if that costs less, and evaluates them there.
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

// Starts at accelerations `start` (nv), or, island by island, at a0 if that costs less, and
// evaluates that point.
static void newton_start(const newton *s, GLOBAL const real *start)
{
  newton few = *s;
  for (int i = s->team.item; i < s->dofs; i += s->team.items) {
    const int is_at_work = island_is(s, dof_island(s, i), ISLAND_AT_WORK);
    const real free = newton_vector(s, VECTOR_FREE)[i] = one_real(&s->tree, s->n->at_free + i);
    newton_vector(s, VECTOR_ACC)[i] = is_at_work ? start[i] : free;
  }
  start_mass(s);
  start_active_pairs(s);
#if WG == 1
  start_passes(s);
#endif
  MEET;
  mass_times(s, ISLAND_AT_WORK, newton_vector(s, VECTOR_FREE), newton_vector(s, VECTOR_HELD));
  newton_look(s, ISLAND_AT_WORK);
  if (!doubt_start(s)) {
    newton_empty(&few);
  }
  choose_start(&few);
}

// Decides for each island that has just made its step whether that step is the last (ISLAND_ENDS),
// and returns the resulting bits of the status. Steps shrink fast near the end. If they do not,
// only rounding errors are left.
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
    if (ends) { // numbers may have overflowed
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

// Moves the islands that have a step by it, continues those that search to the best point on their
// line, and evaluates that point. Returns whether any island continues.
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
// One work-group finds the acceleration of one world, acceleration (worlds, nv), starting at
// `start` (worlds, nv) or at a0 if that costs less. Each island of trees is solved separately;
// docs/dev/cone-formulas.md, section 9. If with_constraint_force is set, constraint_force (worlds,
// nv) gets J' lambda. It also writes iterations (worlds), the maximum over islands, and adds to
// status (worlds). `contacts` and `world_pairs` are those of world_contacts, `list` and
// `active_pairs` those of world_active_pairs, `order` and `order_sums` those of world_order. `pool`
// holds panels; `work` (worlds, work) and sums (active pairs, ACTIVE_REALS) are scratch memory.
KERNEL GROUPED void world_solve(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                GLOBAL const real *reals, GLOBAL const real *q,
                                GLOBAL const real *v, GLOBAL const real *start,
                                GLOBAL const real *parameters, int shared,
                                GLOBAL const real *scratch, GLOBAL const real *singular,
                                GLOBAL const real *contacts, GLOBAL const int *world_pairs,
                                GLOBAL const int *list, GLOBAL const int *active_pairs,
                                GLOBAL int *order, GLOBAL const int *order_sums, GLOBAL real *pool,
                                GLOBAL real *work, GLOBAL real *sums, GLOBAL real *acceleration,
                                int with_constraint_force, GLOBAL real *constraint_force,
                                GLOBAL int *iterations, GLOBAL int *status, int worlds)
{
  LOCAL_ARRAY(real, part, TEAM_PARTS);
  LOCAL_ARRAY(int, exchange, WG);
  const int world = (int)get_group_id(0), nv = n->nv, before = status[world];
  const team t = team_of_group(part, exchange);
  // Tested here, because each stage of RK4 recomputes `singular`.
  const int is_singular = singular[world] != R(0.0) && !(before & WORLD_STOPPED);
  const int stopped = is_singular || (before & WORLD_STOPPED),
            idle = stopped || (!n->groups && !n->rows);
  newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs, list,
                       active_pairs, work, world);
  newton_together(&s, &t, sums, active_pairs);
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

// One work-item writes the forces of one world's contacts by slot, out (worlds, width) with three
// numbers per slot, at the accelerations of world_solve. They are the forces on owners along their
// frames' rows, or, if in_world is set, those on body 1 along the world's axes. Slots without a
// contact keep their zeros.
KERNEL void world_forces(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                         GLOBAL const real *scratch, GLOBAL const real *contacts,
                         GLOBAL const int *world_pairs, GLOBAL const int *list,
                         GLOBAL const int *active_pairs, GLOBAL const int *slots, GLOBAL real *work,
                         GLOBAL const real *acceleration, GLOBAL const int *status, int width,
                         int in_world, GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  const newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs,
                             list, active_pairs, work, world);
  for (int i = 0; i < s.active_count; ++i) {
    const newton_group g = newton_group_of(&s, world_pair_of(&s, i));
    GLOBAL const int *own = slots + g.world_pair[WORLD_PAIR_AT];
    real t[6];
    group_twist(&s, &g, ROW(acceleration, world, n->nv), t);
    for (int first = 0; first < g.count; first += LANES) {
      contact_there at;
      contact_at(&g, first, t, &at);
      lane along[3];
      for (int k = 0; k < 3; ++k) {
        along[k] = -at.c.d * at.e.g[k];
      }
      if (in_world) { // frames of a group's contacts are oriented to push body 1
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
