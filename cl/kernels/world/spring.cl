// Worlds whose contacts are springs between clouds: the motion of their bodies, the constraint
// force, and the resulting accelerations; docs/spring.md, "Worlds". Limits are also springs here,
// and friction in joints is smooth.
//
// As in the kernels of pairs of clouds, a wrench is a force, then the moment about the body's
// origin, and a twist is the velocity of that origin, then the angular velocity.

// Returns the offset in `bodies` of the pose on its link (position, quaternion) of the body of a
// group's side 0 or 1.
static int spring_body(int group, int side)
{
  return 7 * (2 * group + side);
}

// Returns the vector from a link's origin to that of a body on it.
static vec spring_lever(const world_block *b, GLOBAL const world_sizes *n,
                        GLOBAL const real *bodies, int at, int link)
{
  return FN(quaternion_rotate)(block_quaternion(b, n->at_quaternion + 4 * link),
                               real3(bodies + at));
}

// One work-item writes the twists of one body in a block of worlds, twists (worlds, 6). They follow
// from the twists of its link at `from` of the worlds' numbers, which are those of the links'
// actual motion or of another one.
KERNEL void world_spring_twists(GLOBAL const world_sizes *n, GLOBAL real *scratch, int from,
                                GLOBAL const real *bodies, int at, int link, int count,
                                GLOBAL real *twists)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  vec speed = lit3(R(0.0), R(0.0), R(0.0)), spin = speed;
  if (link >= 0) {
    spin = block_get3(&b, from + 6 * link);
    speed = FN(add3)(block_get3(&b, from + 6 * link + 3),
                     FN(cross3)(spin, spring_lever(&b, n, bodies, at, link)));
  }
  row_put3(&b, twists, 6, 0, speed);
  row_put3(&b, twists, 6, 3, spin);
}

// Returns the stiffness chi of a group's pair.
static real spring_scale(GLOBAL const world_sizes *n, GLOBAL const int *group,
                         GLOBAL const real *parameters)
{
  GLOBAL const real *of = parameters + n->links + n->columns;
  const real a = of[group[GROUP_COLUMN_A]];
  return group_is_listed(group) ? a : real_sqrt(a * of[group[GROUP_COLUMN_B]]);
}

// One work-item makes the spring parameters of one pair in one world, laws (worlds,
// SPRING_PARAMETER_COUNT), from the scene's or, if with_given is set, from given (worlds, listed
// pairs, SPRING_PARAMETER_COUNT). k is multiplied by the pair's stiffness chi. mu is the world's
// friction unless all parameters are given.
KERNEL void world_spring_law(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                             GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                             GLOBAL const real *given, int with_given, int pair, GLOBAL real *laws,
                             int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  GLOBAL const int *group = ints + n->at_groups + GROUP_INTS * pair;
  GLOBAL const real *own = spring_of_pair(n, reals, given, with_given, world, pair);
  GLOBAL const real *of = shared ? parameters
                                 : ROW(parameters, world, PARAMETERS(n->links, n->columns));
  GLOBAL real *to = ROW(laws, world, SPRING_PARAMETER_COUNT);
  for (int i = 0; i < SPRING_PARAMETER_COUNT; ++i) {
    to[i] = own[i];
  }
  to[SPRING_K] *= spring_scale(n, group, of);
  to[SPRING_MU] = with_given && group_is_listed(group) ? own[SPRING_MU]
                                                       : column_friction(n, group, of);
}

// One work-item sets WORLD_BAD_INPUT of one world if the caller's spring parameters or their scale
// factors are out of range. mu must be at least 0, and all others above 0.
KERNEL void world_check_springs(GLOBAL const world_sizes *n, GLOBAL const real *given,
                                int with_given, GLOBAL const real *parameters, int shared,
                                GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), width = SPRING_PARAMETER_COUNT * n->listed;
  if (world >= worlds) {
    return;
  }
  int bad = 0;
  for (int i = 0; i < n->columns && !shared; ++i) {
    GLOBAL const real *own =
      ROW(parameters, world, PARAMETERS(n->links, n->columns)) + n->links + i;
    bad |= !(with_given && i < n->listed) && !(own[0] >= R(0.0));
    bad |= !(own[n->columns] > R(0.0));
  }
  for (int i = 0; i < width && with_given; ++i) {
    const real x = ROW(given, world, width)[i];
    const int which = i % SPRING_PARAMETER_COUNT;
    bad |= !(real_isfinite(x));
    bad |= which == SPRING_MU ? !(x >= R(0.0)) : !(x > R(0.0));
  }
  status[world] |= bad ? WORLD_BAD_INPUT : 0;
}

// One work-item adds a group's wrenches, wrench1 and wrench2 (worlds, 6), to the forces on its
// links in a block of worlds, at at_force. If `first` is set, these forces are cleared before.
KERNEL void world_spring_load(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                              GLOBAL const real *bodies, int group, int first,
                              GLOBAL const real *wrench1, GLOBAL const real *wrench2, int count,
                              GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; first && i < 6 * n->links; ++i) {
    block_put(&b, n->at_force + i, n_lit(R(0.0)));
  }
  for (int side = 0; side < 2; ++side) {
    const int link = (ints + n->at_groups + GROUP_INTS * group)[side ? GROUP_B : GROUP_A];
    GLOBAL const real *own = side ? wrench2 : wrench1;
    if (link >= 0) {
      const vec lever = spring_lever(&b, n, bodies, spring_body(group, side), link);
      const vec force = row_get3(&b, own, 6, 0);
      block_add3(&b, n->at_force + 6 * link, force);
      block_add3(&b, n->at_force + 6 * link + 3,
                 FN(add3)(row_get3(&b, own, 6, 3), FN(cross3)(lever, force)));
    }
  }
}

// ---- joints ----

#define SMOOTH_LOSS R(1e-4) // squared velocity below which joint friction becomes viscous

// The force of a limit or a friction loss on its degree of freedom, and its derivatives: by q, by
// v, by both, and twice by v.
typedef struct spring_row {
  int dof;
  num force, by_q, by_v, by_qv, by_vv;
} spring_row;

static spring_row spring_row_of(const world_block *b, GLOBAL const world_sizes *n,
                                GLOBAL const int *ints, GLOBAL const real *reals, int row,
                                GLOBAL const real *q, GLOBAL const real *v)
{
  GLOBAL const int *of = ints + n->at_rows + ROW_INTS * row;
  GLOBAL const real *own = reals + n->at_row_reals + ROW_REALS * row;
  const real side = of[ROW_KIND] == ROW_HIGH ? R(-1.0) : R(1.0);
  const num rate = row_get(b, v, n->nv, of[ROW_V]);
  spring_row r;
  r.dof = of[ROW_V];
  if (of[ROW_KIND] == ROW_LOSS) {
    const num inverse = n_rcp(n_sqrt(n_shift(n_mul(rate, rate), SMOOTH_LOSS)));
    r.force = n_scale(n_mul(rate, inverse), -own[ROW_END]);
    r.by_q = n_lit(R(0.0));
    r.by_v = n_scale(n_mul(n_mul(inverse, inverse), inverse), -own[ROW_END] * SMOOTH_LOSS);
    r.by_qv = r.by_q;
    r.by_vv = n_mul(n_mul(r.by_v, n_scale(rate, R(-3.0))), n_mul(inverse, inverse));
    return r;
  }
  const real k = own[ROW_SPRING_K], e = own[ROW_SPRING_E], speed = own[ROW_SPRING_V];
  const num gone = n_scale(n_shift(row_get(b, q, n->nq, of[ROW_Q]), -own[ROW_END]), -side / e);
  num share, slope;
  const num soft = FN(spring_softplus)(gone, &share);
  const int smooth = own[ROW_SPRING_SMOOTH] != R(0.0);
  const num parting = n_scale(rate, side / speed);
  const num damping = FN(spring_dissipation)(parting, smooth, &slope);
  r.force = n_scale(n_mul(soft, damping), side * k * e);
  r.by_q = n_scale(n_mul(share, damping), -k);
  r.by_v = n_scale(n_mul(soft, slope), k * e / speed);
  r.by_qv = n_scale(n_mul(share, slope), -side * k / speed);
  r.by_vv = n_scale(n_mul(soft, FN(spring_dissipation_bend)(parting, smooth)),
                    side * k * e / (speed * speed));
  return r;
}

// ---- accelerations ----

// One work-item makes the accelerations of a block of worlds, acceleration (worlds, nv), and their
// constraint forces, constraint_force (worlds, nv), from the forces on links at at_force and from
// limits and friction losses. No iterations are needed: a = inv(M) (f - c + constraint_force).
KERNEL void world_spring_solve(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                               GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                               GLOBAL const real *singular, GLOBAL real *scratch,
                               GLOBAL real *acceleration, GLOBAL real *constraint_force,
                               GLOBAL int *iterations, GLOBAL int *status, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (b.first > b.last) {
    return;
  }
  for (int k = 0; k < nv && !n->groups; ++k) {
    block_put(&b, n->at_constraint_force + k, n_lit(R(0.0)));
  }
  if (n->groups) {
    tree_gather(&b, n, ints, n->at_constraint_force);
  }
  for (int row = 0; row < n->rows; ++row) {
    const spring_row r = spring_row_of(&b, n, ints, reals, row, q, v);
    block_add(&b, n->at_constraint_force + r.dof, r.force);
  }
  for (int k = 0; k < nv; ++k) {
    row_put(&b, constraint_force, nv, k, block_get(&b, n->at_constraint_force + k));
    block_add(&b, n->at_constraint_force + k, block_get(&b, n->at_smooth + k));
  }
  block_solve(&b, n, ints, n->at_factor, n->at_constraint_force);
  for (int k = 0; k < nv; ++k) {
    row_put(&b, acceleration, nv, k, block_get(&b, n->at_constraint_force + k));
  }
  for (int world = b.first; world < b.first + LANES && world <= b.last; ++world) {
    iterations[world] = 0;
    if (singular[world] != R(0.0) && !(status[world] & WORLD_STOPPED)) {
      status[world] |= WORLD_SINGULAR;
    }
  }
  rows_stop(&b, status, nv, acceleration);
  rows_stop(&b, status, nv, constraint_force);
}

// One work-item finds, in a block of worlds, the actuator forces on joints that would cause
// accelerations a (worlds, nv): out (worlds, nv) is M a + c - passive forces - constraint_force.
// The force at at_smooth includes the actuators' forces from u (worlds, nu), which are therefore
// removed.
KERNEL void world_spring_inverse(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                 GLOBAL const real *reals, GLOBAL const real *q,
                                 GLOBAL const real *v, GLOBAL const real *u,
                                 GLOBAL const real *constraint_force, GLOBAL const real *a,
                                 GLOBAL real *scratch, GLOBAL real *out, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (b.first > b.last) {
    return;
  }
  for (int tree = 0; tree < n->trees; ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = 0; i < t.count; ++i) {
      const int dof = t.dofs[i];
      num sum =
        n_neg(n_add(block_get(&b, n->at_smooth + dof), row_get(&b, constraint_force, nv, dof)));
      for (int k = 0; k < t.count; ++k) {
        sum = n_mad(block_get(&b, n->at_mass + lower_place(&t, i, k)),
                    row_get(&b, a, nv, t.dofs[k]), sum);
      }
      block_put(&b, n->at_constraint_force + dof, sum);
    }
  }
  for (int i = 0; i < n->actuators; ++i) {
    lane within, control_slope;
    const real gear = reals[n->at_actuator_reals + ACTUATOR_REALS * i + ACTUATOR_GEAR];
    const num f = actuator_force(&b, n, ints, reals, i, q, v, u, &within, &control_slope);
    actuator_push(&b, n, ints, reals, i, n_scale(f, gear), n->at_constraint_force);
  }
  for (int i = 0; i < nv; ++i) {
    row_put(&b, out, nv, i, block_get(&b, n->at_constraint_force + i));
  }
}

// One work-item copies, for one world, the force on body 1 of a pair to forces (worlds, pairs, 3).
KERNEL void world_spring_force(GLOBAL const real *wrench1, int pair, int pairs,
                               GLOBAL const int *status, GLOBAL real *forces, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    ROW(forces, world, 3 * pairs)
    [3 * pair + k] = status[world] & WORLD_STOPPED ? R(0.0) : ROW(wrench1, world, 6)[k];
  }
}

// ---- implicit steps ----

// Replaces a matrix (nv, nv) by its unit lower and its upper triangle, by elimination with the
// largest pivot of each column. pivots (nv) gets the pivot rows. Returns 0 if there is no pivot.
static int spring_factor(GLOBAL real *a, GLOBAL int *pivots, int nv)
{
  for (int i = 0; i < nv; ++i) {
    int best = i;
    for (int k = i + 1; k < nv; ++k) {
      const real x1 = a[k * nv + i], x0 = a[best * nv + i];
      best = x1 * x1 > x0 * x0 ? k : best;
    }
    const real pivot = a[best * nv + i];
    pivots[i] = best;
    if (pivot == R(0.0) || !real_isfinite(pivot)) {
      return 0;
    }
    for (int k = 0; k < nv && best != i; ++k) {
      const real kept = a[i * nv + k];
      a[i * nv + k] = a[best * nv + k];
      a[best * nv + k] = kept;
    }
    for (int k = i + 1; k < nv; ++k) {
      const real part = a[k * nv + i] / pivot;
      a[k * nv + i] = part;
      for (int j = i + 1; j < nv; ++j) {
        a[k * nv + j] -= part * a[i * nv + j];
      }
    }
  }
  return 1;
}

static void spring_swap(GLOBAL real *x, int i, int k)
{
  const real kept = x[i];
  x[i] = x[k];
  x[k] = kept;
}

// Replaces x by inv(A) x, for the triangles and pivots of A from spring_factor.
static void spring_solve(GLOBAL const real *a, GLOBAL const int *pivots, GLOBAL real *x, int nv)
{
  for (int i = 0; i < nv; ++i) {
    spring_swap(x, i, pivots[i]);
  }
  for (int i = 0; i < nv; ++i) {
    for (int k = 0; k < i; ++k) {
      x[i] -= a[i * nv + k] * x[k];
    }
  }
  for (int i = nv - 1; i >= 0; --i) {
    for (int k = i + 1; k < nv; ++k) {
      x[i] -= a[i * nv + k] * x[k];
    }
    x[i] /= a[i * nv + i];
  }
}

// Replaces x by inv(A') x.
static void spring_solve_adjoint(GLOBAL const real *a, GLOBAL const int *pivots, GLOBAL real *x,
                                 int nv)
{
  for (int i = 0; i < nv; ++i) {
    for (int k = 0; k < i; ++k) {
      x[i] -= a[k * nv + i] * x[k];
    }
    x[i] /= a[i * nv + i];
  }
  for (int i = nv - 1; i >= 0; --i) {
    for (int k = i + 1; k < nv; ++k) {
      x[i] -= a[k * nv + i] * x[k];
    }
  }
  for (int i = nv - 1; i >= 0; --i) {
    spring_swap(x, i, pivots[i]);
  }
}

// One work-item finds the acceleration of an implicit step of one world, v' = v + h inv(M - h
// df/dv) f: out (worlds, nv) is inv(1 - h da/dv) a for acceleration a (worlds, nv). jacobian
// (worlds, nv, width) is that of a by q, v and all other inputs. The matrix factors remain in
// matrices (worlds, nv, nv) and pivots (worlds, nv).
KERNEL void world_spring_implicit(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                                  GLOBAL const real *acceleration, GLOBAL const real *jacobian,
                                  int width, GLOBAL real *matrices, GLOBAL int *pivots,
                                  GLOBAL real *out, GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const real h = reals[WORLD_STEP];
  GLOBAL real *a = ROW(matrices, world, nv * nv), *x = ROW(out, world, nv);
  GLOBAL const real *rows = ROW(jacobian, world, nv * width);
  for (int i = 0; i < nv; ++i) {
    x[i] = ROW(acceleration, world, nv)[i];
    for (int k = 0; k < nv; ++k) {
      a[i * nv + k] = (i == k ? R(1.0) : R(0.0)) - h * rows[i * width + nv + k];
    }
  }
  if (status[world] & WORLD_STOPPED) {
    return;
  }
  if (spring_factor(a, ROW(pivots, world, nv), nv)) {
    spring_solve(a, ROW(pivots, world, nv), x, nv);
  } else {
    status[world] |= WORLD_SINGULAR;
  }
}
