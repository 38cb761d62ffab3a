// Worlds whose contacts are springs between clouds: how their bodies move, what pushes the joints,
// and the accelerations that follow. Limits are springs here too, and friction in joints is
// smooth.
//
// A wrench is a force, then the moment about the body's origin; a twist the velocity of that, then
// the spin: as of pairs of clouds.

// How the body of a group's side lies on its link.
static int spring_body(int group, int side)
{
  return 7 * (2 * group + side);
}

// From a link's origin to that of the body on it.
static vec spring_lever(const world_block *b, GLOBAL const world_sizes *n,
                        GLOBAL const real *bodies, int at, int link)
{
  return FN(quaternion_rotate)(block_quaternion(b, n->at_quaternion + 4 * link),
                               real3(bodies + at));
}

// Of a body, by its link's of those at `from` (of its own motion, or of another).
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

// A pair's parameters in each world: the scene's, or given ones (a row of all pairs' a world), k
// times the pair's stiffness, with the world's friction unless all are given.
KERNEL void world_spring_law(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                             GLOBAL const real *parameters, int shared, GLOBAL const real *given,
                             int with_given, int pair, GLOBAL real *laws, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  GLOBAL const real *own =
    (with_given ? ROW(given, world, SPRING_PARAMETER_COUNT * n->pairs) : reals + n->at_springs) +
    SPRING_PARAMETER_COUNT * pair;
  GLOBAL const real *of = shared ? parameters
                                 : ROW(parameters, world, PARAMETERS(n->links, n->pairs));
  GLOBAL real *to = ROW(laws, world, SPRING_PARAMETER_COUNT);
  for (int i = 0; i < SPRING_PARAMETER_COUNT; ++i) {
    to[i] = own[i];
  }
  to[SPRING_K] *= of[n->links + n->pairs + pair];
  to[SPRING_MU] = with_given ? own[SPRING_MU] : of[n->links + pair];
}

// What springs, and what scales them, must be where the caller gives it: finite, mu at least 0, all else
// above it.
KERNEL void world_check_springs(GLOBAL const world_sizes *n, GLOBAL const real *given,
                                int with_given, GLOBAL const real *parameters, int shared,
                                GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), width = SPRING_PARAMETER_COUNT * n->pairs;
  if (world >= worlds) {
    return;
  }
  int bad = 0;
  for (int i = 0; i < n->pairs && !shared; ++i) {
    GLOBAL const real *own =
      ROW(parameters, world, PARAMETERS(n->links, n->pairs)) + n->links + i;
    bad |= !with_given && !(own[0] >= R(0.0));
    bad |= !(own[n->pairs] > R(0.0));
  }
  for (int i = 0; i < width && with_given; ++i) {
    const real x = ROW(given, world, width)[i];
    const int which = i % SPRING_PARAMETER_COUNT;
    bad |= !(real_isfinite(x));
    bad |= which == SPRING_MU ? !(x >= R(0.0)) : !(x > R(0.0));
  }
  status[world] |= bad ? WORLD_BAD_INPUT : 0;
}

// Adds a group's wrenches to what acts on its links, which is nothing before the `first` one.
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

#define SMOOTH_LOSS R(1e-4) // of a velocity squared, below which friction in joints gives way

// What a limit or a friction loss pushes its degree of freedom with, how that goes with q and v,
// and how its slope by v does.
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
  const num soft = spring_softplus(gone, &share);
  const int smooth = own[ROW_SPRING_SMOOTH] != R(0.0);
  const num parting = n_scale(rate, side / speed);
  const num damping = spring_dissipation(parting, smooth, &slope);
  r.force = n_scale(n_mul(soft, damping), side * k * e);
  r.by_q = n_scale(n_mul(share, damping), -k);
  r.by_v = n_scale(n_mul(soft, slope), k * e / speed);
  r.by_qv = n_scale(n_mul(share, slope), -side * k / speed);
  r.by_vv =
    n_scale(n_mul(soft, spring_dissipation_bend(parting, smooth)), side * k * e / (speed * speed));
  return r;
}

// ---- accelerations ----

// What a world that has stopped leaves.
static void spring_stop(const world_block *b, GLOBAL const int *status, int nv, GLOBAL real *rows)
{
  for (int world = b->first; world < b->first + LANES && world <= b->last; ++world) {
    for (int k = 0; k < nv && (status[world] & WORLD_STOPPED); ++k) {
      ROW(rows, world, nv)[k] = R(0.0);
    }
  }
}

// From what acts on links to each world's acceleration, and what springs push its joints with.
KERNEL void world_spring_solve(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                               GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                               GLOBAL const real *singular, GLOBAL real *scratch,
                               GLOBAL real *acceleration, GLOBAL real *push, GLOBAL int *iterations,
                               GLOBAL int *status, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (b.first > b.last) {
    return;
  }
  for (int k = 0; k < nv && !n->groups; ++k) {
    block_put(&b, n->at_push + k, n_lit(R(0.0)));
  }
  if (n->groups) {
    tree_gather(&b, n, ints, n->at_push);
  }
  for (int row = 0; row < n->rows; ++row) {
    const spring_row r = spring_row_of(&b, n, ints, reals, row, q, v);
    block_add(&b, n->at_push + r.dof, r.force);
  }
  for (int k = 0; k < nv; ++k) {
    row_put(&b, push, nv, k, block_get(&b, n->at_push + k));
    block_add(&b, n->at_push + k, block_get(&b, n->at_smooth + k));
  }
  block_solve(&b, nv, n->at_factor, n->at_push);
  for (int k = 0; k < nv; ++k) {
    row_put(&b, acceleration, nv, k, block_get(&b, n->at_push + k));
  }
  for (int world = b.first; world < b.first + LANES && world <= b.last; ++world) {
    iterations[world] = 0;
    if (singular[world] != R(0.0) && !(status[world] & WORLD_STOPPED)) {
      status[world] |= WORLD_SINGULAR;
    }
  }
  spring_stop(&b, status, nv, acceleration);
  spring_stop(&b, status, nv, push);
}

// What actuators must push joints with for accelerations a: M a - (other forces - bias) - springs; what
// those of u push with is among the other forces, and comes off.
KERNEL void world_spring_inverse(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                 GLOBAL const real *reals, GLOBAL const real *q,
                                 GLOBAL const real *v, GLOBAL const real *u,
                                 GLOBAL const real *push, GLOBAL const real *a,
                                 GLOBAL real *scratch, GLOBAL real *out, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; i < nv; ++i) {
    num sum = n_neg(n_add(block_get(&b, n->at_smooth + i), row_get(&b, push, nv, i)));
    for (int k = 0; k < nv; ++k) {
      const int at = i > k ? i * nv + k : k * nv + i;
      sum = n_mad(block_get(&b, n->at_mass + at), row_get(&b, a, nv, k), sum);
    }
    block_put(&b, n->at_push + i, sum);
  }
  for (int i = 0; i < n->nu; ++i) {
    lane within;
    const int dof = ints[n->at_actuators + ACTUATOR_INTS * i + ACTUATOR_V];
    const real gear = reals[n->at_actuator_reals + ACTUATOR_REALS * i + ACTUATOR_GEAR];
    const num f = actuator_force(&b, n, ints, reals, i, q, v, u, &within);
    block_add(&b, n->at_push + dof, n_scale(f, gear));
  }
  for (int i = 0; i < nv; ++i) {
    row_put(&b, out, nv, i, block_get(&b, n->at_push + i));
  }
}

// Forces on body 1 of a pair into its place among all pairs'.
KERNEL void world_spring_force(GLOBAL const real *wrench1, int pair, int pairs,
                               GLOBAL const int *status, GLOBAL real *forces, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    ROW(forces, world, 3 * pairs)[3 * pair + k] =
      status[world] & WORLD_STOPPED ? R(0.0) : ROW(wrench1, world, 6)[k];
  }
}

// ---- implicit steps ----

// Rows (nv, nv) -> unit lower and upper triangles in their place, by elimination with the largest
// pivot of a column, whose row each time is noted; 0 where there is none.
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

static void spring_solve_back(GLOBAL const real *a, GLOBAL const int *pivots, GLOBAL real *x,
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

// The acceleration over a step that v' = v + h (M - h df/dv)^-1 f asks for: (1 - h da/dv)^-1 a,
// and that matrix' factors. jacobian: rows of accelerations by q, v, ... of `width`.
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
