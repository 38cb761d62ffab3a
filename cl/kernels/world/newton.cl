// The accelerations that a world's contacts, limits and friction losses leave: Newton's method on
// the convex cost of docs/cone.md, section 9. One work-item solves one world, with lanes over its
// contacts.

// A decrement within this factor of the one that is asked for counts where steps no longer shrink.
#define STALLED R(100.0)

// Returns the cost at accelerations x; VECTOR_STEP and VECTOR_TURN are its room.
static real newton_cost(const newton *s, GLOBAL const real *x)
{
  const int nv = s->n->nv;
  GLOBAL real *off = newton_vector(s, VECTOR_STEP), *turned = newton_vector(s, VECTOR_TURN);
  real sum = R(0.0);
  for (int i = 0; i < nv; ++i) {
    off[i] = x[i] - newton_vector(s, VECTOR_FREE)[i];
  }
  mass_times(s, off, turned);
  sum = R(0.5) * dot_n(nv, off, turned);
  for (int i = 0; i < s->entry_count; ++i) {
    sum += group_cost(s, entry_item(s, i), x);
  }
  for (int i = 0; i < s->n->rows; ++i) {
    sum += single_terms(s, i, x[row_dof(s, i)]).cost;
  }
  return sum;
}

// Says where row i of the Hessian begins, which has zeros before it.
static int hessian_begins(const newton *s, int i) { return (int)newton_vector(s, VECTOR_FIRST)[i]; }

// Finds where its rows begin: as M's, or with the first mover of an entry's group. Cholesky's factor keeps
// these beginnings.
static void start_beginnings(const newton *s)
{
  GLOBAL real *first = newton_vector(s, VECTOR_FIRST);
  for (int i = 0; i < s->n->nv; ++i) {
    first[i] = (real)mass_begins(s->n, s->reals, i);
  }
  for (int i = 0; i < s->entry_count; ++i) {
    GLOBAL const int *item = ROW(s->items, entry_item(s, i), ITEM_INTS);
    GLOBAL const int *g = s->ints + s->n->at_groups + GROUP_INTS * item[ITEM_GROUP];
    GLOBAL const int *mover = s->ints + s->n->at_group_dofs + MOVER_INTS * g[GROUP_DOF_AT];
    for (int k = 0; k < g[GROUP_DOFS]; ++k) {
      const int dof = mover[MOVER_INTS * k + MOVER_DOF];
      first[dof] = real_min(first[dof], (real)mover[MOVER_DOF]);
    }
  }
}

// Writes J' lambda at x to VECTOR_CONSTRAINT_FORCE, and with `curved` the Hessian H = M + J'GJ as well.
static void newton_constraint_force(const newton *s, GLOBAL const real *x, int curved)
{
  const int nv = s->n->nv;
  GLOBAL real *constraint_force = newton_vector(s, VECTOR_CONSTRAINT_FORCE);
  for (int i = 0; i < nv; ++i) {
    constraint_force[i] = R(0.0);
    const int begin = mass_begins(s->n, s->reals, i);
    for (int k = hessian_begins(s, i); curved && k <= i; ++k) {
      s->hessian[i * nv + k] = k < begin ? R(0.0) : s->mass[i * nv + k];
    }
  }
  for (int i = 0; i < s->entry_count; ++i) {
    const newton_group g = newton_group_of(s, entry_item(s, i));
    real sums[SUMS];
    group_wrench(s, &g, x, curved, sums);
    add_wrench(s, &g, sums, R(1.0), constraint_force);
    if (curved) {
      add_curvature(s, &g, sums);
    }
  }
  for (int i = 0; i < s->n->rows; ++i) {
    const int dof = row_dof(s, i);
    const row_terms_of t = single_terms(s, i, x[dof]);
    constraint_force[dof] -= t.slope;
    if (curved) {
      s->hessian[dof * (nv + 1)] += t.bend;
    }
  }
}

// Replaces the Hessian by its Cholesky factor, scaled by M's diagonal (VECTOR_SCALE), with the
// inverses of the roots on the factor's diagonal. Returns 0 where it is not positive definite.
static int newton_factor(const newton *s)
{
  const int nv = s->n->nv;
  GLOBAL real *h = s->hessian;
  GLOBAL const real *scale = newton_vector(s, VECTOR_SCALE);
  for (int i = 0; i < nv; ++i) {
    const int begin = hessian_begins(s, i);
    for (int j = begin; j <= i; ++j) {
      const int from = MAX_INT(begin, hessian_begins(s, j));
      real sum = h[i * nv + j] * scale[i] * scale[j] - dot_n(j - from, h + i * nv + from, h + j * nv + from);
      if (i == j) {
        if (!(sum > R(0.0))) {
          return 0;
        }
        sum = R(1.0) / lane_first(lane_sqrt(lane_lit(sum)));
      } else {
        sum *= h[j * (nv + 1)];
      }
      h[i * nv + j] = sum;
    }
  }
  return 1;
}

// Replaces x by inv(H) x.
static void newton_solve(const newton *s, GLOBAL real *x)
{
  const int nv = s->n->nv;
  GLOBAL const real *h = s->hessian, *scale = newton_vector(s, VECTOR_SCALE);
  for (int i = 0; i < nv; ++i) {
    const int begin = hessian_begins(s, i);
    x[i] = (x[i] * scale[i] - dot_n(i - begin, h + i * nv + begin, x + begin)) * h[i * (nv + 1)];
  }
  for (int i = nv - 1; i >= 0; --i) {
    real sum = x[i];
    for (int k = i + 1; k < nv; ++k) {
      if (hessian_begins(s, k) <= i) { // no select, which would keep compilers from fusing the two
        sum -= h[k * nv + i] * x[k];
      }
    }
    x[i] = sum * h[i * (nv + 1)];
  }
  for (int i = 0; i < nv; ++i) {
    x[i] *= scale[i];
  }
}

// Returns how far to go along VECTOR_STEP: where the slope of the cost is 0, to the scene's line
// tolerance of `start`, minus the slope at 0. It is Newton's method within a bracket.
static real newton_line(const newton *s, real start)
{
  const int nv = s->n->nv;
  GLOBAL const real *x = newton_vector(s, VECTOR_ACC), *along = newton_vector(s, VECTOR_STEP);
  const real turned = dot_n(nv, along, newton_vector(s, VECTOR_TURN));
  const real bent = dot_n(nv, along, newton_vector(s, VECTOR_ALONG));
  const real enough = s->reals[WORLD_LINE_TOLERANCE] * start;
  real at = R(1.0), low = R(0.0), high = REAL_BIG;
  for (int k = 0; k < s->n->line_iterations; ++k) {
    real p[2] = {turned + at * bent, bent};
    for (int i = 0; i < s->entry_count; ++i) {
      group_slope(s, entry_item(s, i), x, along, at, p);
    }
    for (int i = 0; i < s->n->rows; ++i) {
      const int dof = row_dof(s, i);
      const row_terms_of t = single_terms(s, i, x[dof] + at * along[dof]);
      p[0] += t.slope * along[dof];
      p[1] += t.bend * along[dof] * along[dof];
    }
    const real size = p[0] < R(0.0) ? -p[0] : p[0];
    if (!(size > enough)) {
      break;
    }
    low = p[0] < R(0.0) ? at : low;
    high = p[0] < R(0.0) ? high : at;
    const real next = at - p[0] / p[1];
    const real middle = high < REAL_BIG ? R(0.5) * (low + high) : R(2.0) * at;
    at = next > low && next < high ? next : middle;
  }
  return at;
}

// Writes the axis of each degree of freedom, where its joint is, and whether it turns.
static void start_axes(const newton *s)
{
  GLOBAL const world_sizes *n = s->n;
  for (int link = 0; link < n->links; ++link) {
    const tree_link l = link_at(n, s->ints, link);
    const vec3_r joint = sub3_r(one_get3(&s->tree, n->at_origin + 3 * link), one_get3(&s->tree, n->at_arm + 3 * link));
    for (int k = 0; k < l.dofs; ++k) {
      GLOBAL real *to = s->axes + AXIS_REALS * (l.v + k);
      put_part(to, one_get3(&s->tree, n->at_axis + 3 * (l.v + k)));
      put_part(to + AXIS_JOINT, joint);
      to[AXIS_TURNS] = dof_turns(&l, k) ? R(1.0) : R(0.0);
    }
  }
}

static newton newton_of(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
                        GLOBAL const real *contacts, GLOBAL const int *items, GLOBAL const int *list,
                        GLOBAL const int *entries, GLOBAL real *work, int world)
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
  s.axes = own + n->at_axes_of;
  s.mass = own + n->at_mass_of;
  s.hessian = own + n->at_hessian;
  s.vectors = own + n->at_vectors;
  s.row_terms = own + n->at_row_terms;
  return s;
}

// Finds the gradient and Newton's step at VECTOR_ACC, and leaves the Hessian's factor. Returns 0
// where it is not positive definite.
static int newton_step(const newton *s)
{
  const int nv = s->n->nv;
  GLOBAL real *acc = newton_vector(s, VECTOR_ACC), *step = newton_vector(s, VECTOR_STEP);
  GLOBAL real *turned = newton_vector(s, VECTOR_TURN), *g = newton_vector(s, VECTOR_GRADIENT);
  newton_constraint_force(s, acc, 1);
  for (int i = 0; i < nv; ++i) {
    step[i] = acc[i] - newton_vector(s, VECTOR_FREE)[i];
  }
  mass_times(s, step, turned);
  for (int i = 0; i < nv; ++i) {
    g[i] = turned[i] - newton_vector(s, VECTOR_CONSTRAINT_FORCE)[i];
    step[i] = -g[i];
  }
  if (!newton_factor(s)) {
    return 0;
  }
  newton_solve(s, step);
  return 1;
}

static int all_finite(int n, GLOBAL const real *x)
{
  int finite = 1;
  for (int i = 0; i < n; ++i) {
    finite = finite && real_isfinite(x[i]);
  }
  return finite;
}

// One work-item finds the acceleration of one world, acceleration (worlds, nv), from `start`
// (worlds, nv) on or from a0 where that costs less; docs/cone.md, section 9. Where with_constraint_force is
// set, constraint_force (worlds, nv) gets the constraint force J' lambda. It also writes iterations (worlds)
// and adds to status (worlds). `contacts` and `items` are those of world_contacts, `list` and
// `entries` those of world_entries, and `work` (worlds, work) is its memory.
KERNEL void world_solve(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *q, GLOBAL const real *v, GLOBAL const real *start,
                        GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
                        GLOBAL const real *singular,
                        GLOBAL const real *contacts, GLOBAL const int *items, GLOBAL const int *list,
                        GLOBAL const int *entries, GLOBAL real *work, GLOBAL real *acceleration,
                        int with_constraint_force, GLOBAL real *constraint_force, GLOBAL int *iterations,
                        GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const newton s =
    newton_of(n, ints, reals, parameters, shared, scratch, contacts, items, list, entries, work, world);
  GLOBAL real *acc = newton_vector(&s, VECTOR_ACC), *step = newton_vector(&s, VECTOR_STEP);
  GLOBAL real *free = newton_vector(&s, VECTOR_FREE);
  const real tolerance = reals[WORLD_TOLERANCE];
  real last = REAL_BIG;
  int found = 0, iteration = 0, done = 0;
  // This stands here, as `singular` is made anew by each stage of RK4.
  if (singular[world] != R(0.0) && !(status[world] & WORLD_STOPPED)) {
    status[world] |= WORLD_SINGULAR;
  }
  const int stopped = (status[world] & WORLD_STOPPED) != 0;
  if (stopped || (!n->groups && !n->rows)) { // nothing to solve
    for (int i = 0; i < nv; ++i) {
      ROW(acceleration, world, nv)[i] = stopped ? R(0.0) : one_real(&s.tree, n->at_free + i);
      ROW(constraint_force, world, nv)[i] = R(0.0);
    }
    iterations[world] = 0;
    return;
  }
  for (int i = 0; i < nv; ++i) {
    free[i] = one_real(&s.tree, n->at_free + i);
    acc[i] = ROW(start, world, nv)[i];
  }
  start_mass(&s);
  start_beginnings(&s);
  mass_times(&s, free, newton_vector(&s, VECTOR_HELD));
  start_axes(&s);
  start_rows(&s, ROW(q, world, n->nq), ROW(v, world, nv));
  if (!(newton_cost(&s, acc) < newton_cost(&s, free))) {
    for (int i = 0; i < nv; ++i) {
      acc[i] = free[i];
    }
  }
  for (;; ++iteration) {
    if (!newton_step(&s)) { // numbers may have grown beyond all bounds
      found = all_finite(nv, newton_vector(&s, VECTOR_GRADIENT)) ? WORLD_SINGULAR : WORLD_NOT_FINITE;
      break;
    }
    const real decrement = -dot_n(nv, newton_vector(&s, VECTOR_GRADIENT), step);
    GLOBAL real *along = newton_vector(&s, VECTOR_ALONG);
    GLOBAL const real *held = newton_vector(&s, VECTOR_HELD);
    const real size = dot_n(nv, free, held) + dot_n(nv, acc, held) +
                      dot_n(nv, acc, newton_vector(&s, VECTOR_TURN));
    const real enough = tolerance * tolerance * size;
    // Near the end steps shrink fast: where they do not, rounding is all that is left.
    done = decrement <= enough || (decrement <= STALLED * enough && decrement > R(0.25) * last);
    last = decrement;
    if (done || iteration >= n->iterations) {
      found = done ? 0 : WORLD_NOT_CONVERGED;
      break;
    }
    mass_times(&s, step, along);
    const real at = newton_line(&s, decrement);
    for (int i = 0; i < nv; ++i) {
      acc[i] += at * step[i];
    }
  }
  for (int i = 0; i < nv; ++i) {
    acc[i] += step[i]; // after one full step at last the answer does not depend on the start
    ROW(acceleration, world, nv)[i] = acc[i];
  }
  if (with_constraint_force) {
    newton_constraint_force(&s, acc, 0);
    for (int i = 0; i < nv; ++i) {
      ROW(constraint_force, world, nv)[i] = newton_vector(&s, VECTOR_CONSTRAINT_FORCE)[i];
    }
  }
  iterations[world] = iteration;
  status[world] |= found;
}

// One work-item writes the forces of one world's contacts along their frames' rows by slot, out
// (worlds, width) of three numbers a slot, at the accelerations of world_solve. Slots without a
// contact keep the zeros that were there.
KERNEL void world_forces(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                         GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
                         GLOBAL const real *contacts, GLOBAL const int *items, GLOBAL const int *list,
                         GLOBAL const int *entries, GLOBAL const int *slots, GLOBAL real *work,
                         GLOBAL const real *acceleration, GLOBAL const int *status, int width,
                         GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  const newton s =
    newton_of(n, ints, reals, parameters, shared, scratch, contacts, items, list, entries, work, world);
  for (int i = 0; i < s.entry_count; ++i) {
    const newton_group g = newton_group_of(&s, entry_item(&s, i));
    GLOBAL const int *own = slots + g.item[ITEM_AT];
    real t[6];
    group_twist(&s, &g, ROW(acceleration, world, n->nv), t);
    for (int first = 0; first < g.count; first += LANES) {
      const contact_there at = contact_at(&g, first, t);
      for (int k = 0; k < 3; ++k) {
        real force[LANES];
        lane_store(-at.c.d * at.e.g[k], force);
        for (int l = 0; l < LANES && first + l < g.count; ++l) {
          ROW(out, world, width)[3 * own[first + l] + k] = force[l];
        }
      }
    }
  }
}
