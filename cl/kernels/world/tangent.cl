// The effect of a step on a tangent, by the Jacobians of its accelerations: the chain rule of
// step.cl in forward mode; docs/dev/cone-formulas.md, section 10. One work-item has one world.

// The length of a tangent, and of a row of a Jacobian: q and v (nv each), controls, parameters.
#define SEED(nv, nu, links, columns) (2 * (nv) + (nu) + PARAMETERS(links, columns))

static vec3_r rotation_part(GLOBAL const real *x)
{
  return make_r(lane_lit(x[0]), lane_lit(x[1]), lane_lit(x[2]));
}

// Returns the tangent of q (+) s for tangents dq of q and ds of s: R(s)' dq + J(s) ds, where J is
// the exponential's derivative and a, b and c are its coefficients at s.
static vec3_r moved_by(vec3_r s, lane a, lane b, lane c, vec3_r dq, vec3_r ds)
{
  const vec3_r by_q = cross3_r(s, dq), by_s = cross3_r(s, ds);
  return add3_r(mad3_r(cross3_r(s, by_q), b, mad3_r(by_q, -a, dq)),
                mad3_r(cross3_r(s, by_s), c, mad3_r(by_s, -b, ds)));
}

static vec3_r moved_along(vec3_r s, vec3_r dq, vec3_r ds)
{
  lane a, b, c, cosine;
  exp_coefficients_r(dot3_r(s, s), &a, &b, &c, &cosine);
  return moved_by(s, a, b, c, dq, ds);
}

// Returns the tangent of exponential_rate(s, v).
static vec3_r rate_tangent(vec3_r s, vec3_r v, vec3_r ds, vec3_r dv)
{
  lane kappa;
  const lane slope = kappa_slope(dot3_r(s, s), &kappa), middle = lane_lit(R(0.5));
  const vec3_r sv = cross3_r(s, v), sdv = cross3_r(s, dv), dsv = cross3_r(ds, v);
  vec3_r r = add3_r(dv, scale3_r(add3_r(sdv, dsv), middle));
  r = mad3_r(add3_r(cross3_r(s, add3_r(sdv, dsv)), cross3_r(ds, sv)), kappa, r);
  return mad3_r(cross3_r(s, sv), R(2.0) * slope * dot3_r(s, ds), r);
}

// The scratch numbers of a world: the tangents at the step's beginning and at a stage (seed each),
// the sums of rates and of accelerations over the stages, and rates, accelerations and moves of the
// stage. There is room for eight vectors of nv.
#define TANGENT_NUMBERS(nv, seed) (2 * (seed) + 8 * (nv))

// A work-item's data of its world: the Jacobians of its stages, and its scratch memory.
typedef struct step_tangents {
  GLOBAL const world_sizes *n;
  GLOBAL const int *ints;
  GLOBAL const real *jacobian; // (stages, nv, width)
  // the contribution of collisions to dq'/d(q, u) and dv'/d(q, u), (nv, nv + moved) each, where u
  // are the controls of moved links, or NULL
  GLOBAL const real *elastic;
  GLOBAL real *seed, *now, *sums, *rates, *accelerations, *moves;
  int width, moved; // moved: the number of controls of moved links
} step_tangents;

// Finds the tangent of a stage's accelerations: its Jacobian times the tangent there.
static void jacobian_times(const step_tangents *a, int stage)
{
  const int nv = a->n->nv;
  GLOBAL const real *rows = a->jacobian + (size_t)stage * nv * a->width;
  for (int i = 0; i < nv; ++i) {
    real sum = R(0.0);
    for (int k = 0; k < a->width; ++k) {
      sum += rows[i * a->width + k] * a->now[k];
    }
    a->accelerations[i] = sum;
  }
}

// Makes q's tangent at a stage from that at the step's beginning. q moves by `factor` times s (nv),
// and a->moves is the tangent of that move.
static void moved_tangent(const step_tangents *a, GLOBAL const real *s, real factor)
{
  for (int i = 0; i < a->n->nv; ++i) {
    a->now[i] = a->seed[i] + a->moves[i];
  }
  for (int i = 0; i < a->n->links; ++i) {
    const tree_link l = link_at(a->n, a->ints, i);
    if (JOINT_HAS_QUATERNION(l.type)) {
      const int at = turning_at(&l);
      const vec3_r by = scale3_r(rotation_part(s + at), lane_lit(factor));
      put_part(a->now + at,
               moved_along(by, rotation_part(a->seed + at), rotation_part(a->moves + at)));
    }
  }
}

// Returns the index of the tangent's number that column k of `elastic` multiplies.
static int elastic_column(const step_tangents *a, int k)
{
  return k < a->n->nv ? k : a->n->nv + a->n->actuators + k;
}

static void euler_tangent(const step_tangents *a, GLOBAL const real *next_v, real h)
{
  const int nv = a->n->nv;
  jacobian_times(a, 0);
  for (int i = 0; i < nv; ++i) {
    a->now[nv + i] = a->seed[nv + i] + h * a->accelerations[i];
    a->moves[i] = h * a->now[nv + i];
  }
  for (int i = 0; a->elastic && i < nv; ++i) {
    for (int k = 0; k < nv + a->moved; ++k) {
      const real seed = a->seed[elastic_column(a, k)];
      a->moves[i] += a->elastic[i * (nv + a->moved) + k] * seed;
      a->now[nv + i] += a->elastic[(nv + i) * (nv + a->moved) + k] * seed;
    }
  }
  moved_tangent(a, next_v, h);
}

// Finds the tangent of a stage's rates if the stage's state has the tangent a->now.
static void rates_tangent(const step_tangents *a, GLOBAL const real *stages, int stage, real h)
{
  const int nv = a->n->nv, one = STAGE_NUMBERS(a->n->nq, nv);
  GLOBAL const real *s = stages + (stage - 1) * one + a->n->nq + 2 * nv;
  GLOBAL const real *v = stages + stage * one + a->n->nq;
  const lane ahead = lane_lit(stage == 3 ? h : R(0.5) * h);
  for (int i = 0; i < nv; ++i) {
    a->rates[i] = a->now[nv + i];
  }
  for (int i = 0; i < a->n->links && stage; ++i) {
    const tree_link l = link_at(a->n, a->ints, i);
    if (JOINT_HAS_QUATERNION(l.type)) {
      const int at = turning_at(&l);
      put_part(a->rates + at,
               rate_tangent(scale3_r(rotation_part(s + at), ahead), rotation_part(v + at),
                            rotation_part(a->moves + at), rotation_part(a->now + nv + at)));
    }
  }
}

static void rk4_tangent(const step_tangents *a, GLOBAL const real *stages, real h)
{
  const int nv = a->n->nv, one = STAGE_NUMBERS(a->n->nq, nv);
  for (int stage = 0; stage < 4; ++stage) {
    const real weight = stage == 1 || stage == 2 ? R(2.0) : R(1.0);
    const real ahead = stage == 3 ? h : R(0.5) * h;
    if (stage) {
      for (int i = 0; i < nv; ++i) {
        a->moves[i] = ahead * a->rates[i];
        a->now[nv + i] = a->seed[nv + i] + ahead * a->accelerations[i];
      }
      moved_tangent(a, stages + (stage - 1) * one + a->n->nq + 2 * nv, ahead);
    }
    rates_tangent(a, stages, stage, h);
    jacobian_times(a, stage);
    for (int i = 0; i < nv; ++i) {
      a->sums[i] = (stage ? a->sums[i] : R(0.0)) + weight * a->rates[i];
      a->sums[nv + i] = (stage ? a->sums[nv + i] : R(0.0)) + weight * a->accelerations[i];
    }
  }
  for (int i = 0; i < nv; ++i) {
    a->moves[i] = h / R(6.0) * a->sums[i];
    a->now[nv + i] = a->seed[nv + i] + h / R(6.0) * a->sums[nv + i];
    a->rates[i] = R(0.0);
    for (int stage = 0; stage < 4; ++stage) { // the step's own move
      a->rates[i] +=
        (stage == 1 || stage == 2 ? R(2.0) : R(1.0)) * stages[stage * one + a->n->nq + 2 * nv + i];
    }
  }
  moved_tangent(a, a->rates, h / R(6.0));
}

// One work-item copies, in a block of worlds, the row of degree of freedom `dof` of a stage's
// Jacobian to jacobian (worlds, stages, nv, SEED). A reverse pass has left it in state (worlds, 2
// nv), in controls (worlds, nu) and, for parameters, in the block.
ADJOINT_KERNEL void world_jacobian_row(GLOBAL const world_sizes *n, GLOBAL const real *state,
                                       GLOBAL const real *controls, GLOBAL real *memory, int stage,
                                       int dof, int stages, GLOBAL real *jacobian, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv, width = SEED(nv, n->nu, n->links, n->columns), all = stages * nv * width;
  const int to = (stage * nv + dof) * width, parameters = PARAMETERS(n->links, n->columns);
  if (k.first > k.last) {
    return;
  }
  for (int i = 0; i < 2 * nv; ++i) {
    row_put(&k, jacobian, all, to + i, row_get(&k, state, 2 * nv, i));
  }
  for (int i = 0; i < n->nu; ++i) {
    row_put(&k, jacobian, all, to + 2 * nv + i, row_get(&k, controls, n->nu, i));
  }
  for (int i = 0; i < parameters; ++i) {
    row_put(&k, jacobian, all, to + 2 * nv + n->nu + i, block_get(&k, n->at_back_parameters + i));
  }
}

static step_tangents tangents_of(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                 GLOBAL const real *jacobian, int stages,
                                 GLOBAL const real *hard_rows, GLOBAL real *work, int world)
{
  step_tangents a;
  const int nv = n->nv;
  a.n = n;
  a.ints = ints;
  a.width = SEED(nv, n->nu, n->links, n->columns);
  a.jacobian = ROW(jacobian, world, stages * nv * a.width);
  a.moved = n->nu - n->actuators;
  a.elastic = n->elastic ? ROW(hard_rows, world, HARD_ADJOINT(n->hard_rows, nv, a.moved))
                         : (GLOBAL const real *)0;
  a.seed = ROW(work, world, TANGENT_NUMBERS(nv, a.width));
  a.now = a.seed + a.width;
  a.sums = a.now + a.width;
  a.rates = a.sums + 2 * nv;
  a.accelerations = a.rates + nv;
  a.moves = a.accelerations + nv;
  return a;
}

static void step_tangent(const step_tangents *a, GLOBAL const real *next_v,
                         GLOBAL const real *stage_rows, int stages, real h, int world)
{
  for (int i = 0; i < a->width; ++i) {
    a->now[i] = a->seed[i];
  }
  if (stages == 1) {
    euler_tangent(a, ROW(next_v, world, a->n->nv), h);
  } else {
    rk4_tangent(a, ROW(stage_rows, world, 4 * STAGE_NUMBERS(a->n->nq, a->n->nv)), h);
  }
}

// Writes the matrices, by rows, with which moved_along multiplies dq and ds.
static void moved_matrices(vec3_r s, real by_q[9], real by_s[9])
{
  lane a, b, c, cosine;
  exp_coefficients_r(dot3_r(s, s), &a, &b, &c, &cosine);
  for (int k = 0; k < 3; ++k) {
    const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
    const vec3_r unit = make_r(k == 0 ? one : zero, k == 1 ? one : zero, k == 2 ? one : zero);
    const vec3_r none = make_r(zero, zero, zero);
    const vec3_r q = moved_by(s, a, b, c, unit, none), m = moved_by(s, a, b, c, none, unit);
    by_q[k] = lane_first(q.x);
    by_q[3 + k] = lane_first(q.y);
    by_q[6 + k] = lane_first(q.z);
    by_s[k] = lane_first(m.x);
    by_s[3 + k] = lane_first(m.y);
    by_s[6 + k] = lane_first(m.z);
  }
}

// Makes the whole matrix of an Euler step at once, to (2 nv, width): the result of euler_tangent
// for each column of the unit matrix.
static void euler_matrix(const step_tangents *a, GLOBAL const real *next_v, real h, GLOBAL real *to)
{
  const int nv = a->n->nv, width = a->width;
  for (int i = 0; i < nv; ++i) {
    GLOBAL const real *row = a->jacobian + i * width;
    GLOBAL real *q = to + i * width, *v = to + (nv + i) * width;
    for (int c = 0; c < width; ++c) {
      v[c] = h * row[c];
      q[c] = h * v[c];
    }
    v[nv + i] += R(1.0);
    q[nv + i] = h * v[nv + i];
    for (int c = 0; a->elastic && c < nv + a->moved; ++c) {
      const int at = elastic_column(a, c);
      q[at] += a->elastic[i * (nv + a->moved) + c];
      v[at] += a->elastic[(nv + i) * (nv + a->moved) + c];
    }
  }
  for (int i = 0; i < a->n->links; ++i) { // rows of q hold the tangent of the move so far
    const tree_link l = link_at(a->n, a->ints, i);
    const int at = JOINT_HAS_QUATERNION(l.type) ? turning_at(&l) : l.v + l.dofs;
    for (int k = l.v; k < at; ++k) {
      to[k * width + k] += R(1.0);
    }
    if (JOINT_HAS_QUATERNION(l.type)) {
      GLOBAL real *x = to + at * width, *y = x + width, *z = y + width;
      real by_q[9], by_s[9];
      moved_matrices(scale3_r(rotation_part(next_v + at), lane_lit(h)), by_q, by_s);
      for (int c = 0; c < width; ++c) {
        const real s0 = x[c], s1 = y[c], s2 = z[c];
        x[c] = by_s[0] * s0 + by_s[1] * s1 + by_s[2] * s2;
        y[c] = by_s[3] * s0 + by_s[4] * s1 + by_s[5] * s2;
        z[c] = by_s[6] * s0 + by_s[7] * s1 + by_s[8] * s2;
      }
      for (int k = 0; k < 3; ++k) {
        x[at + k] += by_q[k];
        y[at + k] += by_q[3 + k];
        z[at + k] += by_q[6 + k];
      }
    }
  }
}

// One work-item makes the matrix of one world's step, out (worlds, 2 nv, SEED): d(q', v') / d(q, v,
// controls, parameters), or zeros if the world has stopped. jacobian (worlds, stages, nv, SEED) is
// that of its accelerations, next_v (worlds, nv) is v' of an Euler step, and stage_rows (worlds, 4,
// STAGE_NUMBERS) are the stages of RK4.
ADJOINT_KERNEL void world_transition(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                     GLOBAL const real *reals, GLOBAL const real *next_v,
                                     GLOBAL const real *stage_rows, GLOBAL const real *jacobian,
                                     int stages, GLOBAL const real *hard_rows,
                                     GLOBAL const int *status, GLOBAL real *work, GLOBAL real *out,
                                     int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const step_tangents a = tangents_of(n, ints, jacobian, stages, hard_rows, work, world);
  const int stopped = status[world] & WORLD_STOPPED;
  GLOBAL real *to = ROW(out, world, 2 * nv * a.width);
  if (stages == 1 && !stopped) {
    euler_matrix(&a, ROW(next_v, world, nv), reals[WORLD_STEP], to);
    return;
  }
  for (int c = 0; c < a.width; ++c) {
    for (int i = 0; i < a.width; ++i) {
      a.seed[i] = i == c ? R(1.0) : R(0.0);
    }
    if (!stopped) {
      step_tangent(&a, next_v, stage_rows, stages, reals[WORLD_STEP], world);
    }
    for (int i = 0; i < 2 * nv; ++i) {
      to[i * a.width + c] = stopped ? R(0.0) : a.now[i];
    }
  }
}

// One work-item propagates the tangent of one world through a step: in tangents (worlds, SEED) that
// of (q', v') replaces that of (q, v), or zeros if the world has stopped. The other arrays are
// those of world_transition.
ADJOINT_KERNEL void world_tangent(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                  GLOBAL const real *reals, GLOBAL const real *next_v,
                                  GLOBAL const real *stage_rows, GLOBAL const real *jacobian,
                                  int stages, GLOBAL const real *hard_rows,
                                  GLOBAL const int *status, GLOBAL real *work,
                                  GLOBAL real *tangents, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds) {
    return;
  }
  const step_tangents a = tangents_of(n, ints, jacobian, stages, hard_rows, work, world);
  GLOBAL real *own = ROW(tangents, world, a.width);
  for (int i = 0; i < a.width; ++i) {
    a.seed[i] = own[i];
  }
  if (!(status[world] & WORLD_STOPPED)) {
    step_tangent(&a, next_v, stage_rows, stages, reals[WORLD_STEP], world);
  }
  for (int i = 0; i < 2 * nv; ++i) {
    own[i] = status[world] & WORLD_STOPPED ? R(0.0) : a.now[i];
  }
}

// One work-item copies, for one world, `some` columns of matrices (worlds, rows, width), starting
// at column `from`, to out (worlds, rows, some).
ADJOINT_KERNEL void world_cut(GLOBAL const real *matrices, int rows, int width, int from, int some,
                              GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < some; ++k) {
      ROW(out, world, rows * some)
      [i * some + k] = ROW(matrices, world, rows * width)[i * width + from + k];
    }
  }
}
