// From accelerations to the next state: docs/dev/cone-formulas.md, sections 2 and 11. Kernels that
// copy rows are at the end.

#define ACTIVITY_SLACK R(1e-6) // tolerance for rounding of the caller's activities beyond [0, 1]

// One work-item sets WORLD_BAD_INPUT of one world if q, v, u, w or its parameters are not finite,
// or a quaternion has length 0. If `first` is set, the status is reset.
KERNEL void world_check(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *q,
                        GLOBAL const real *v, GLOBAL const real *u, GLOBAL const real *w,
                        GLOBAL const real *parameters, int shared, int first, GLOBAL int *status,
                        int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const int width = PARAMETERS(n->links, n->columns);
  GLOBAL const real *const rows[5] = {ROW(q, world, n->nq), ROW(v, world, n->nv),
                                      ROW(u, world, n->nu), ROW(w, world, n->nv),
                                      shared ? parameters : ROW(parameters, world, width)};
  const int widths[5] = {n->nq, n->nv, n->nu, n->nv, width};
  int bad = 0;
  for (int r = 0; r < 5; ++r) {
    for (int k = 0; k < widths[r]; ++k) {
      bad |= !(real_isfinite(rows[r][k]));
    }
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    if (JOINT_HAS_QUATERNION(l.type)) {
      GLOBAL const real *a = rows[0] + l.q + JOINT_MOVES(l.type);
      const real square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3];
      bad |= !(!real_is_none(square) && real_isfinite(square));
    }
  }
  status[world] = (first ? 0 : status[world]) | (bad ? WORLD_BAD_INPUT : 0);
}

// One work-item sets WORLD_BAD_INPUT of one world if the caller's contacts are not finite, or have
// activities outside [0, 1]. p and normal are (worlds, contacts, 3), d and activity (worlds,
// contacts).
KERNEL void world_check_given(GLOBAL const real *p, GLOBAL const real *d, GLOBAL const real *normal,
                              GLOBAL const real *activity, int contacts, GLOBAL int *status,
                              int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  int bad = 0;
  for (int i = 0; i < 3 * contacts; ++i) {
    bad |= !(real_isfinite(ROW(p, world, 3 * contacts)[i]));
    bad |= !(real_isfinite(ROW(normal, world, 3 * contacts)[i]));
  }
  for (int i = 0; i < contacts; ++i) {
    const real a = ROW(activity, world, contacts)[i];
    bad |= !(real_isfinite(ROW(d, world, contacts)[i]));
    bad |= !(a >= -ACTIVITY_SLACK && a <= R(1.0) + ACTIVITY_SLACK);
  }
  status[world] |= bad ? WORLD_BAD_INPUT : 0;
}

// One work-item records, for one world, the first step at which each bit of its status was set:
// steps (worlds, WORLD_STATUSES), -1 for a bit that is not set.
KERNEL void world_note(GLOBAL const int *status, int step, GLOBAL int *steps, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  GLOBAL int *own = ROW(steps, world, WORLD_STATUSES);
  for (int i = 0; i < WORLD_STATUSES; ++i) {
    if (step == 0 || own[i] == -1) {
      own[i] = status[world] & (1 << i) ? step : -1;
    }
  }
}

// One work-item makes the Euler step of a block of worlds: q1 (worlds, nq) and v1 (worlds, nv).
// With dampers the step's acceleration is inv(M + h damping) (f - c + J' lambda), where
// `constraint_force` (worlds, nv) is J' lambda. Otherwise it is `acceleration` (worlds, nv).
KERNEL void world_euler(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                        GLOBAL const real *acceleration, GLOBAL const real *constraint_force,
                        int count, GLOBAL real *scratch, GLOBAL real *q1, GLOBAL real *v1)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const real h = reals[WORLD_STEP];
  if (b.first > b.last) {
    return;
  }
  for (int k = 0; k < n->nv; ++k) {
    block_put(&b, n->at_free + k,
              n->damped
                ? n_add(block_get(&b, n->at_smooth + k), row_get(&b, constraint_force, n->nv, k))
                : row_get(&b, acceleration, n->nv, k));
  }
  if (n->damped) {
    block_factor(&b, n, ints, reals, n->at_mass, n->at_factor, h);
    block_solve(&b, n, ints, n->at_factor, n->at_free);
  }
  for (int k = 0; k < n->nv; ++k) {
    const num next = n_smad(block_get(&b, n->at_free + k), h, row_get(&b, v, n->nv, k));
    block_put(&b, n->at_free + k, next);
    row_put(&b, v1, n->nv, k, next);
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    joint_moved(&b, n, &l, q, n->at_free, h, q1);
  }
}

// Returns kappa = (1 - (t / 2) cot(t / 2)) / t^2 as a function of t^2.
static num FN(kappa)(num t2)
{
  const n_mask small = n_value(t2) < n_plain(R(1e-3));
  const num series =
    n_shift(n_mul(t2, n_shift(n_mul(t2, n_shift(n_scale(t2, R(8.2671957671957672e-07)),
                                                R(3.3068783068783069e-05))),
                              R(1.3888888888888889e-03))),
            R(8.3333333333333333e-02));
  const num safe = n_select(small, n_lit(R(1.0)), t2), middle = n_scale(n_sqrt(safe), R(0.5));
  const num part = n_div(n_mul(middle, n_cos(middle)), n_sin(middle));
  return n_select(small, series, n_div(n_sub(n_lit(R(1.0)), part), safe));
}

// Returns ds/dt if q (+) s rotates with angular velocity v: v + s x v / 2 + kappa s x (s x v), the
// inverse of the exponential's derivative (docs/dev/cone-formulas.md, section 11, after Munthe-Kaas
// 1998).
static vec FN(exponential_rate)(vec s, vec v)
{
  const vec c = FN(cross3)(s, v);
  return FN(add3)(FN(add3)(v, FN(scale3)(c, n_lit(R(0.5)))),
                  FN(scale3)(FN(cross3)(s, c), FN(kappa)(FN(dot3)(s, s))));
}

// Writes rates (worlds, nv): the time derivatives of a stage's coordinates s, at at_free, if joints
// move by v.
static void rates_of(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                     GLOBAL const real *v, GLOBAL real *rates)
{
  for (int k = 0; k < n->nv; ++k) {
    row_put(b, rates, n->nv, k, row_get(b, v, n->nv, k));
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const int at = l.v + JOINT_MOVES(l.type);
    if (JOINT_HAS_QUATERNION(l.type)) {
      row_put3(b, rates, n->nv, at,
               FN(exponential_rate)(block_get3(b, n->at_free + at), row_get3(b, v, n->nv, at)));
    }
  }
}

// One work-item completes a stage of RK4 in a block of worlds. It adds the stage's rates and
// accelerations, times `weight` (1 or 2), to sums (worlds, 2 nv), which are reset if `first` is
// set. Then it makes the next stage's state, next_q (worlds, nq) and next_v (worlds, nv), at
// `ahead` times the step's length after its beginning, and its rates (worlds, nv). With ahead 0 it
// makes the state at the step's end instead. The coordinates s of a stage are exponential
// coordinates at the step's beginning.
KERNEL void world_stage(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                        GLOBAL const real *acceleration, GLOBAL real *rates, real weight,
                        real ahead, int first, int count, GLOBAL real *sums, GLOBAL real *scratch,
                        GLOBAL real *next_q, GLOBAL real *next_v)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv, last = ahead == R(0.0);
  const real h = reals[WORLD_STEP], part = last ? h / R(6.0) : ahead * h;
  if (b.first > b.last) {
    return;
  }
  for (int k = 0; k < nv; ++k) {
    num rate = first ? row_get(&b, v, nv, k) : row_get(&b, rates, nv, k);
    num acc = row_get(&b, acceleration, nv, k);
    const num rate_sum = first ? rate : n_smad(rate, weight, row_get(&b, sums, 2 * nv, k));
    const num acc_sum = first ? acc : n_smad(acc, weight, row_get(&b, sums, 2 * nv, nv + k));
    row_put(&b, sums, 2 * nv, k, rate_sum);
    row_put(&b, sums, 2 * nv, nv + k, acc_sum);
    rate = last ? rate_sum : rate;
    acc = last ? acc_sum : acc;
    block_put(&b, n->at_free + k, n_scale(rate, part));
    row_put(&b, next_v, nv, k, n_smad(acc, part, row_get(&b, v, nv, k)));
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    joint_moved(&b, n, &l, q, n->at_free, R(1.0), next_q);
  }
  if (!last) {
    rates_of(&b, n, ints, next_v, rates);
  }
}

// One work-item completes the step of one world: q1, v1 and w1 replace q, v and w. A world that has
// stopped, or that stops now because they are not finite or v1 is beyond the scene's divergence
// limit, keeps its last state, and its status gives the reason.
KERNEL void world_accept(GLOBAL const world_sizes *n, GLOBAL const real *reals, GLOBAL real *q,
                         GLOBAL real *v, GLOBAL real *w, GLOBAL const real *q1,
                         GLOBAL const real *v1, GLOBAL const real *w1, GLOBAL int *status,
                         int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const real most = reals[WORLD_DIVERGENCE];
  int found = status[world];
  if (found & WORLD_STOPPED) {
    return;
  }
  int finite = 1, large = 0;
  for (int k = 0; k < n->nv; ++k) {
    const real x = ROW(v1, world, n->nv)[k];
    finite &= real_isfinite(x) ? 1 : 0;
    large |= x > most || x < -most;
  }
  for (int k = 0; k < n->nq; ++k) {
    finite &= real_isfinite(ROW(q1, world, n->nq)[k]) ? 1 : 0;
  }
  found |= !finite ? WORLD_NOT_FINITE : large ? WORLD_DIVERGED : 0;
  status[world] = found;
  if (found & WORLD_STOPPED) {
    return;
  }
  for (int k = 0; k < n->nq; ++k) {
    ROW(q, world, n->nq)[k] = ROW(q1, world, n->nq)[k];
  }
  for (int k = 0; k < n->nv; ++k) {
    ROW(v, world, n->nv)[k] = ROW(v1, world, n->nv)[k];
    ROW(w, world, n->nv)[k] = ROW(w1, world, n->nv)[k];
  }
}

// ---- rows ----

// One work-item copies, for one world, `width` numbers of a row of from (worlds, from_width),
// starting at from_at, to a row of to (worlds, to_width), starting at to_at.
KERNEL void world_copy_columns(GLOBAL const real *from, int from_width, int from_at,
                               GLOBAL real *to, int to_width, int to_at, int width, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  for (int k = 0; k < width; ++k) {
    ROW(to, world, to_width)[to_at + k] = ROW(from, world, from_width)[from_at + k];
  }
}

// One work-item fills one world's row of rows (worlds, width) with zeros.
KERNEL void world_clear(int width, GLOBAL real *rows, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  for (int k = 0; k < width; ++k) {
    ROW(rows, world, width)[k] = R(0.0);
  }
}

// Like world_copy_columns, but it adds.
KERNEL void world_add_columns(GLOBAL const real *from, int from_width, int from_at, GLOBAL real *to,
                              int to_width, int to_at, int width, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  for (int k = 0; k < width; ++k) {
    ROW(to, world, to_width)[to_at + k] += ROW(from, world, from_width)[from_at + k];
  }
}

// One work-item makes one world's row of parameters, out (worlds, PARAMETERS). Each of mass_scale,
// friction, stiffness and gravity is read from the caller's array if its bit of `given` (1, 2, 4,
// 8) is set, and otherwise from `usual`, the scene's row.
KERNEL void world_parameters(GLOBAL const world_sizes *n, GLOBAL const real *usual,
                             GLOBAL const real *mass_scale, GLOBAL const real *friction,
                             GLOBAL const real *stiffness, GLOBAL const real *gravity, int given,
                             GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0), width = PARAMETERS(n->links, n->columns);
  if (world >= worlds) {
    return;
  }
  const int counts[4] = {n->links, n->columns, n->columns, 3};
  GLOBAL const real *const from[4] = {mass_scale, friction, stiffness, gravity};
  int at = 0;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < counts[i]; ++k, ++at) {
      ROW(out, world, width)[at] = given & (1 << i) ? ROW(from[i], world, counts[i])[k] : usual[at];
    }
  }
}

// One work-item writes the mass matrix of one world to out (worlds, nv, nv): its lower triangle,
// and zeros above.
KERNEL void world_show_mass(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                            GLOBAL const real *scratch, GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const world_one o = one_at(scratch, n, world);
  GLOBAL real *own = ROW(out, world, nv * nv);
  for (int i = 0; i < nv * nv; ++i) {
    own[i] = R(0.0);
  }
  for (int tree = 0; tree < n->trees; ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = 0; i < t.count; ++i) {
      for (int k = 0; k <= i; ++k) {
        own[t.dofs[i] * nv + t.dofs[k]] = one_real(&o, n->at_mass + t.block + i * t.count + k);
      }
    }
  }
}

// One work-item copies `width` of one world's numbers in scratch, starting at `at`, to a row of out
// (worlds, width).
KERNEL void world_copy_output(GLOBAL const world_sizes *n, GLOBAL const real *scratch, int at,
                              int width, GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const world_one o = one_at(scratch, n, world);
  for (int k = 0; k < width; ++k) {
    ROW(out, world, width)[k] = one_real(&o, at + k);
  }
}
