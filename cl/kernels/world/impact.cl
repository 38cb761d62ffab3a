// Derivatives of impacts within a step (docs/sweeping.md), as sweep.cl computes them, but on dual
// numbers. Discrete decisions are constant: which impacts occur, which features meet, and whether
// they stick or slide. Everything else is differentiated. A work-item has one world. Its lanes have
// different directions, but equal values.

// ---- the bodies at an impact ----

// Writes J (3, nv), which maps rates to the velocity of a group's first link relative to its second
// at p, and inv(L) J'.
static void impact_jacobian(const impact_world *w, int group, vec p)
{
  GLOBAL const int *g = w->ints + w->n->at_groups + GROUP_INTS * group;
  GLOBAL const int *mover = w->ints + w->n->at_group_dofs + MOVER_INTS * g[GROUP_DOF_AT];
  const int nv = w->n->nv, j = nv, x = 4 * nv;
  for (int i = 0; i < 3 * nv; ++i) {
    block_put(&w->vectors, j + i, n_lit(R(0.0)));
  }
  for (int m = 0; m < g[GROUP_DOFS]; ++m, mover += MOVER_INTS) {
    const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
    const tree_link l = link_at(w->n, w->ints, link);
    const vec axis = block_get3(&w->tree, w->n->at_axis + 3 * dof);
    const vec arm = FN(add3)(FN(sub3)(p, block_get3(&w->tree, w->n->at_origin + 3 * link)),
                             block_get3(&w->tree, w->n->at_arm + 3 * link));
    const vec column = FN(scale3)(dof_turns(&l, dof - l.v) ? FN(cross3)(axis, arm) : axis,
                                  n_lit((real)mover[MOVER_SIGN]));
    block_put(&w->vectors, j + dof, column.x);
    block_put(&w->vectors, j + nv + dof, column.y);
    block_put(&w->vectors, j + 2 * nv + dof, column.z);
  }
  for (int k = 0; k < 3; ++k) {
    for (int tree = 0; tree < w->n->trees; ++tree) {
      const mass_tree t = mass_tree_of(w->n, w->ints, tree);
      for (int i = 0; i < t.count; ++i) {
        const int row = w->n->at_factor + t.block + i * t.count;
        num sum = block_get(&w->vectors, j + k * nv + t.dofs[i]);
        for (int c = 0; c < i; ++c) {
          sum = n_sub(sum, n_mul(block_get(&w->tree, row + c),
                                 block_get(&w->vectors, x + k * nv + t.dofs[c])));
        }
        block_put(&w->vectors, x + k * nv + t.dofs[i], n_mul(sum, block_get(&w->tree, row + i)));
      }
    }
  }
}

static num impact_product(const world_block *b, int i, int k, int count)
{
  num sum = n_lit(R(0.0));
  for (int d = 0; d < count; ++d) {
    sum = n_mad(block_get(b, i + d), block_get(b, k + d), sum);
  }
  return sum;
}

// The velocity, and the velocity change per impulse, along the normal and two tangents.
typedef struct impact_frame {
  vec axis[3];
  num v[3], k[3][3];
} impact_frame;

static void impact_set_frame(const impact_world *w, vec n, impact_frame *f)
{
  const int nv = w->n->nv;
  const vec3_r of = impact_value(n);
  const real x = real_abs(lane_first(of.x)), y = real_abs(lane_first(of.y)),
             z = real_abs(lane_first(of.z));
  vec v, k[3];
  f->axis[0] = n;
  f->axis[1] = impact_unit(FN(cross3)(n, unit_axis(x <= y && x <= z ? 0 : y <= z ? 1 : 2)));
  f->axis[2] = FN(cross3)(n, f->axis[1]);
  v = FN(make)(impact_product(&w->vectors, nv, 0, nv), impact_product(&w->vectors, 2 * nv, 0, nv),
               impact_product(&w->vectors, 3 * nv, 0, nv));
  for (int i = 0; i < 3; ++i) {
    k[i] = FN(make)(impact_product(&w->vectors, (4 + i) * nv, 4 * nv, nv),
                    impact_product(&w->vectors, (4 + i) * nv, 5 * nv, nv),
                    impact_product(&w->vectors, (4 + i) * nv, 6 * nv, nv));
  }
  for (int i = 0; i < 3; ++i) {
    f->v[i] = FN(dot3)(f->axis[i], v);
    for (int j = 0; j < 3; ++j) {
      const vec column = FN(make)(FN(dot3)(k[0], f->axis[j]), FN(dot3)(k[1], f->axis[j]),
                                  FN(dot3)(k[2], f->axis[j]));
      f->k[i][j] = FN(dot3)(f->axis[i], column);
    }
  }
}

// Like sweep_rub.
static void impact_rub(const impact_frame *s, num change, num friction, num f[3])
{
  const num zero = n_lit(R(0.0)), own = n_rcp(s->k[0][0]), plain = n_mul(change, own);
  const num b = n_mul(s->k[1][0], own), e = n_mul(s->k[2][0], own);
  const num more = n_scale(n_add(s->k[1][1], s->k[2][2]), SWEEP_LEAST);
  const num a = n_add(n_sub(s->k[1][1], n_mul(b, s->k[0][1])), more);
  const num c = n_add(n_sub(s->k[2][2], n_mul(e, s->k[0][2])), more);
  const num d = n_sub(s->k[1][2], n_mul(b, s->k[0][2]));
  const num g = n_neg(n_mad(s->k[1][0], plain, s->v[1])),
            h = n_neg(n_mad(s->k[2][0], plain, s->v[2]));
  const num size = n_sub(n_mul(a, c), n_mul(d, d));
  if (impact_above(size, zero)) {
    const num x = n_div(n_sub(n_mul(c, g), n_mul(d, h)), size),
              y = n_div(n_sub(n_mul(a, h), n_mul(d, g)), size);
    const num push = n_mul(n_sub(change, n_mad(s->k[0][1], x, n_mul(s->k[0][2], y))), own);
    const real rubs = lane_first(n_value(x)) * lane_first(n_value(x)) +
                      lane_first(n_value(y)) * lane_first(n_value(y));
    if (real_sqrt(rubs) <= lane_first(n_value(friction)) * lane_first(n_value(push))) {
      f[0] = push;
      f[1] = x;
      f[2] = y;
      return;
    }
  }
  num along[2] = {zero, zero};
  const num square = n_mad(s->v[1], s->v[1], n_mul(s->v[2], s->v[2]));
  if (impact_above(square, zero)) {
    const num by = n_neg(n_div(friction, n_sqrt(square)));
    along[0] = n_mul(by, s->v[1]);
    along[1] = n_mul(by, s->v[2]);
  }
  const num whole = n_add(s->k[0][0], n_mad(s->k[0][1], along[0], n_mul(s->k[0][2], along[1])));
  if (impact_above(whole, n_scale(s->k[0][0], SWEEP_JAMS))) {
    f[0] = n_div(change, whole);
    f[1] = n_mul(f[0], along[0]);
    f[2] = n_mul(f[0], along[1]);
  }
}

// Like sweep_impulse, in the world's axes.
static vec impact_impulse(const impact_frame *s, num friction, real restitution)
{
  const num zero = n_lit(R(0.0)), change = n_scale(s->v[0], -(R(1.0) + restitution));
  num f[3] = {zero, zero, zero}, energy = zero;
  if (!impact_above(zero, s->v[0]) || !impact_above(s->k[0][0], zero)) {
    return lit3(R(0.0), R(0.0), R(0.0));
  }
  const num plain = n_div(change, s->k[0][0]);
  f[0] = plain;
  if (impact_above(friction, zero)) {
    impact_rub(s, change, friction, f);
  }
  for (int i = 0; i < 3; ++i) {
    const num half_way =
      n_scale(n_mad(s->k[i][0], f[0], n_mad(s->k[i][1], f[1], n_mul(s->k[i][2], f[2]))), R(0.5));
    energy = n_mad(f[i], n_add(s->v[i], half_way), energy);
  }
  if (!(lane_first(n_value(energy)) <= R(0.0))) {
    f[0] = plain;
    f[1] = f[2] = zero;
  }
  return FN(mad3)(s->axis[0], f[0], FN(mad3)(s->axis[1], f[1], FN(scale3)(s->axis[2], f[2])));
}

// Adds inv(M) J' p to v.
static void impact_push(const impact_world *w, vec p)
{
  const int nv = w->n->nv, x = 4 * nv, to = 7 * nv;
  for (int tree = 0; tree < w->n->trees; ++tree) {
    const mass_tree t = mass_tree_of(w->n, w->ints, tree);
    for (int i = t.count - 1; i >= 0; --i) {
      const int column = w->n->at_factor + t.block + i, dof = t.dofs[i];
      num sum = n_mad(block_get(&w->vectors, x + dof), p.x,
                      n_mad(block_get(&w->vectors, x + nv + dof), p.y,
                            n_mul(block_get(&w->vectors, x + 2 * nv + dof), p.z)));
      for (int k = i + 1; k < t.count; ++k) {
        sum = n_sub(sum, n_mul(block_get(&w->tree, column + k * t.count),
                               block_get(&w->vectors, to + t.dofs[k])));
      }
      sum = n_mul(sum, block_get(&w->tree, column + i * t.count));
      block_put(&w->vectors, to + dof, sum);
      block_add(&w->vectors, dof, sum);
    }
  }
}

// ---- an impact ----

// Finds the velocity after an impact at `time`, with the impulse acting at p. `mu` is the friction.
static void impact_bounce(const impact_world *w, int group, const impact_touch *t, vec p, num time,
                          num mu)
{
  GLOBAL const real *of = w->reals + w->n->at_group_reals + GROUP_REALS * group;
  impact_frame f;
  joints_share(&w->tree, w->n, w->ints, w->from, w->to, time);
  joints_moved(&w->tree, w->n, w->ints, w->from, w->meet);
  impact_place_links(w, w->meet);
  mass_matrix(&w->tree, w->n, w->ints, w->reals, w->parameters, 0);
  equality_system(&w->tree, w->n, w->ints, w->reals, w->meet, (GLOBAL const real *)0,
                  lit3(R(0.0), R(0.0), R(0.0)));
  block_factor(&w->tree, w->n, w->ints, w->reals, w->n->at_system, w->n->at_factor, R(0.0));
  impact_jacobian(w, group, p);
  impact_set_frame(w, t->n, &f);
  const real bounces = lane_first(n_value(f.v[0])) < -w->reals[WORLD_BOUNCE] ? of[GROUP_RESTITUTION]
                                                                             : R(0.0);
  impact_push(w, impact_impulse(&f, of[GROUP_FLAT] > R(0.0) ? n_lit(R(0.0)) : mu, bounces));
}

// Propagates the tangents of the state before an impact to those of the state after it.
static void impact_pass(const impact_world *w, GLOBAL const real *kept, GLOBAL const int *ints,
                        num mu)
{
  const int nq = w->n->nq, nv = w->n->nv, group = ints[SWEEP_KEPT_GROUP];
  GLOBAL const real *of = w->reals + w->n->at_group_reals + GROUP_REALS * group,
                    *state = kept + SWEEP_KEPT_STATE;
  impact_body body[2];
  impact_touch t;
  impact_put_positions(w, state, 0, w->from);
  impact_put_positions(w, state + nq, nv, w->to);
  for (int i = 0; i < nv; ++i) {
    block_put(&w->vectors, i, n_shift(impact_seed(w, 2 * nv + i), state[2 * nq + i]));
  }
  num rest = n_shift(impact_seed(w, 3 * nv), kept[SWEEP_KEPT_REST]);
  impact_set_bodies(w, group, body);
  impact_touch_at(body, kept + SWEEP_KEPT_CORNERS, ints[SWEEP_KEPT_KIND],
                  n_lit(kept[SWEEP_KEPT_TOI]), &t);
  const num time = impact_time(body, &t, kept[SWEEP_KEPT_TOI]);
  impact_touch_at(body, kept + SWEEP_KEPT_CORNERS, ints[SWEEP_KEPT_KIND], time, &t);
  const num stop = impact_stop(body, &t, time, of[GROUP_APART]);
  impact_bounce(w, group, &t, impact_acts_at(body, &t, time, kept, ints), time, mu);
  joints_share(&w->tree, w->n, w->ints, w->from, w->to, stop);
  joints_moved(&w->tree, w->n, w->ints, w->from, w->from);
  rest = ints[SWEEP_KEPT_LAST] ? n_lit(R(0.0)) : n_mul(rest, n_sub(n_lit(R(1.0)), stop));
  for (int i = 0; i < nv; ++i) {
    block_put(&w->tree, w->n->at_free + i,
              n_mul(n_scale(rest, w->reals[WORLD_STEP]), block_get(&w->vectors, i)));
  }
  joints_moved(&w->tree, w->n, w->ints, w->from, w->to);
  impact_keep_positions(w, w->from, 0);
  impact_keep_positions(w, w->to, nv);
  for (int i = 0; i < nv; ++i) {
    impact_keep(w, 2 * nv + i, block_get(&w->vectors, i));
  }
  impact_keep(w, 3 * nv, rest);
}

// ---- many directions ----

static GLOBAL const real *impact_own_parameters(GLOBAL const world_sizes *n,
                                                GLOBAL const real *parameters, int shared,
                                                int world)
{
  return shared ? parameters : ROW(parameters, world, PARAMETERS(n->links, n->columns));
}

// The parameters of a world. Rows of scenes with springs have their own friction.
typedef struct impact_parameters {
  GLOBAL const real *own, *reals, *springs;
  int given, world;
} impact_parameters;

static impact_parameters impact_parameters_of(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                                              GLOBAL const real *parameters, int shared,
                                              GLOBAL const real *springs, int given, int world)
{
  impact_parameters p;
  p.own = impact_own_parameters(n, parameters, shared, world);
  p.reals = reals;
  p.springs = springs;
  p.given = given;
  p.world = world;
  return p;
}

static real impact_friction(GLOBAL const world_sizes *n, const impact_parameters *p,
                            GLOBAL const int *group)
{
  return n->pair_springs ? spring_of_pair(n, p->reals, p->springs, p->given, p->world,
                                          group[GROUP_PAIR])[SPRING_MU]
                         : column_friction(n, group, p->own);
}

// Returns the reals of a recorded impact.
static GLOBAL const real *impact_kept(GLOBAL const world_sizes *n, GLOBAL const real *kept,
                                      int world, int event)
{
  const int width = SWEEP_KEPT_REALS(n->nq, n->nv);
  return ROW(kept, world, (SWEEP_EVENTS + 1) * width) + event * width;
}

static GLOBAL const int *impact_group(const impact_world *w, GLOBAL const int *ints)
{
  return w->ints + w->n->at_groups + GROUP_INTS * ints[SWEEP_KEPT_GROUP];
}

// Returns the friction of a group whose columns have derivatives.
static num impact_friction_along(const impact_world *w, GLOBAL const int *group)
{
  const int width = PARAMETERS(w->n->links, w->n->columns), at = w->n->links;
  const num a = row_get(&w->tree, w->parameters, width, at + group[GROUP_COLUMN_A]);
  return group_is_listed(group) ? a
                                : FN(larger_friction)(a, row_get(&w->tree, w->parameters, width,
                                                                 at + group[GROUP_COLUMN_B]));
}

static void impact_put_parameter(const impact_world *w, const impact_parameters *p, int k,
                                 lane slope)
{
  row_put(&w->tree, w->parameters, PARAMETERS(w->n->links, w->n->columns), k,
          n_with_part(n_lit(p->own[k]), 1, slope));
}

static void impact_put_control(const impact_world *w, GLOBAL const real *u, int k, lane slope)
{
  row_put(&w->tree, w->controls, w->n->nu, k, n_with_part(n_lit(u[k]), 1, slope));
}

// One work-item propagates LANES tangents of one world through its impacts. It updates columns,
// starting at `first`, of out (worlds, .., columns), whose rows are by q and by v. The input
// tangents are those of the step's planned end and of the velocity; the output tangents are those
// of the actual end. `before` (worlds, before_width) is a tangent of the step's beginning, controls
// and parameters; if `unit` is set, each column uses that of the unit matrix instead. u (worlds,
// nu) are controls. `out_width` is the length of a world's row of `out`. All other arrays are those
// of world_sweep_impulse and of world_sweep_least.
ADJOINT_KERNEL void world_impact_tangents(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *bodies, GLOBAL const real *u, GLOBAL const real *parameters, int shared,
  GLOBAL const real *springs, int given, GLOBAL const real *kept, GLOBAL const int *kept_ints,
  GLOBAL const int *status, GLOBAL const real *before, int before_width, int unit, int first,
  int columns, GLOBAL real *out, int out_width, GLOBAL real *memory, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv, links = n->links, at = 2 * nv + n->nu;
  if (world >= worlds || (status[world] & WORLD_STOPPED) ||
      !ROW(kept_ints, world, SWEEP_KEPT_ROW)[0]) {
    return;
  }
  const impact_world w = impact_world_at(n, ints, reals, bodies, memory, world);
  const impact_parameters p =
    impact_parameters_of(n, reals, parameters, shared, springs, given, world);
  GLOBAL const int *events = ROW(kept_ints, world, SWEEP_KEPT_ROW);
  GLOBAL const real *own = ROW(before, world, before_width);
  GLOBAL real *to = ROW(out, world, out_width);
  real slope[LANES];
  for (int i = 0; i < 3 * nv; ++i) {
    for (int l = 0; l < LANES; ++l) {
      const int column = MIN_INT(first + l, columns - 1);
      slope[l] = i >= nv ? to[(i - nv) * columns + column] : unit ? (real)(i == column) : own[i];
    }
    lane_store(lane_load(slope), w.seeds + i * LANES);
  }
  lane_store(lane_lit(R(0.0)), w.seeds + 3 * nv * LANES);
  for (int k = 0; k < n->nu; ++k) {
    for (int l = 0; l < LANES; ++l) {
      slope[l] = unit ? (real)(2 * nv + k == MIN_INT(first + l, columns - 1)) : own[2 * nv + k];
    }
    impact_put_control(&w, ROW(u, world, n->nu), k, lane_load(slope));
  }
  for (int k = 0; k < links + n->columns; ++k) {
    for (int l = 0; l < LANES; ++l) {
      slope[l] = unit ? (real)(at + k == MIN_INT(first + l, columns - 1)) : own[at + k];
    }
    impact_put_parameter(&w, &p, k, lane_load(slope));
  }
  for (int e = 0; e < events[0]; ++e) {
    GLOBAL const int *event = events + 1 + SWEEP_KEPT_INTS * e;
    GLOBAL const int *group = impact_group(&w, event);
    const num mu = n->pair_springs ? n_lit(impact_friction(n, &p, group))
                                   : impact_friction_along(&w, group);
    impact_pass(&w, impact_kept(n, kept, world, e), event, mu);
  }
  for (int i = 0; i < 2 * nv; ++i) {
    for (int l = 0; l < LANES && first + l < columns; ++l) {
      to[i * columns + first + l] = w.seeds[(nv + i) * LANES + l];
    }
  }
}

// One work-item starts the reverse pass through one world's impacts. state (worlds, 2 nv) holds the
// cotangents of the step's end. bars (worlds, SWEEP_SEED + SWEEP_SEEDS) gets those of the state
// after the last impact, and slopes (worlds, SWEEP_SLOPES_OF) gets zeros.
ADJOINT_KERNEL void world_impact_start(GLOBAL const world_sizes *n, GLOBAL const real *state,
                                       GLOBAL real *bars, GLOBAL real *slopes, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv, moved = n->nu - n->actuators;
  const int width = SWEEP_SLOPES_OF(n->links, n->columns, moved);
  if (world >= worlds) {
    return;
  }
  for (int i = 0; i < SWEEP_SEED(nv); ++i) {
    ROW(bars, world, SWEEP_SEED(nv) + SWEEP_SEEDS(nv, n->links, moved))
    [i] = i >= nv && i < 3 * nv ? ROW(state, world, 2 * nv)[i - nv] : R(0.0);
  }
  for (int i = 0; i < width; ++i) {
    ROW(slopes, world, width)[i] = R(0.0);
  }
}

// Fills seeds with LANES directions, starting at `first`: of the state before the impact, then mass
// scales, then controls of moved links, then friction. Returns the friction with its derivatives.
static num impact_put_directions(const impact_world *w, const impact_parameters *p,
                                 GLOBAL const real *u, int first, GLOBAL const int *group)
{
  const int nv = w->n->nv, links = w->n->links, moved = w->n->nu - w->n->actuators;
  const int control = SWEEP_SEED(nv) + links - w->n->actuators;
  real slope[LANES];
  for (int k = 0; k < w->n->actuators; ++k) {
    impact_put_control(w, u, k, lane_lit(R(0.0)));
  }
  for (int i = 0; i < SWEEP_SEEDS(nv, links, moved); ++i) {
    for (int l = 0; l < LANES; ++l) {
      slope[l] = (real)(i == first + l);
    }
    if (i < SWEEP_SEED(nv)) {
      lane_store(lane_load(slope), w->seeds + i * LANES);
    } else if (i < SWEEP_SEED(nv) + links) {
      impact_put_parameter(w, p, i - SWEEP_SEED(nv), lane_load(slope));
    } else if (i < SWEEP_SEED(nv) + links + moved) {
      impact_put_control(w, u, i - control, lane_load(slope));
    }
  }
  return n_with_part(n_lit(impact_friction(w->n, p, group)), 1, lane_load(slope));
}

// One work-item multiplies the derivatives of the state after an impact of one world, along LANES
// directions starting at `first`, by the cotangents of that state, the first SWEEP_SEED of bars.
// The directions are those of the state before the impact and of parameters. The products are
// written behind the cotangents.
ADJOINT_KERNEL void world_impact_cotangents(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                            GLOBAL const real *reals, GLOBAL const real *bodies,
                                            GLOBAL const real *u, GLOBAL const real *parameters,
                                            int shared, GLOBAL const real *springs, int given,
                                            GLOBAL const real *kept, GLOBAL const int *kept_ints,
                                            GLOBAL const int *status, int event, int first,
                                            GLOBAL real *bars, GLOBAL real *memory, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  const int directions = SWEEP_SEEDS(nv, n->links, n->nu - n->actuators);
  if (world >= worlds || (status[world] & WORLD_STOPPED) ||
      event >= ROW(kept_ints, world, SWEEP_KEPT_ROW)[0]) {
    return;
  }
  const impact_world w = impact_world_at(n, ints, reals, bodies, memory, world);
  const impact_parameters p =
    impact_parameters_of(n, reals, parameters, shared, springs, given, world);
  GLOBAL const int *own = ROW(kept_ints, world, SWEEP_KEPT_ROW) + 1 + SWEEP_KEPT_INTS * event;
  GLOBAL real *bar = ROW(bars, world, SWEEP_SEED(nv) + directions);
  const num mu = impact_put_directions(&w, &p, ROW(u, world, n->nu), first, impact_group(&w, own));
  impact_pass(&w, impact_kept(n, kept, world, event), own, mu);
  lane sum = lane_lit(R(0.0));
  for (int i = 0; i < SWEEP_SEED(nv); ++i) {
    sum += bar[i] * lane_load(w.seeds + i * LANES);
  }
  real each[LANES];
  lane_store(sum, each);
  for (int l = 0; l < LANES && first + l < directions; ++l) {
    bar[SWEEP_SEED(nv) + first + l] = each[l];
  }
}

// One work-item goes back across one impact of one world: its cotangents before the impact replace
// those after it, and those of parameters are added to slopes. Before the first impact (0), `state`
// gets the cotangents of the step's planned end and of the velocity. Those of the step's beginning
// remain in the first nv numbers of bars.
ADJOINT_KERNEL void world_impact_back(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                      GLOBAL const real *parameters, int shared,
                                      GLOBAL const int *kept_ints, GLOBAL const int *status,
                                      int event, GLOBAL real *bars, GLOBAL real *slopes,
                                      GLOBAL real *state, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv, links = n->links, count = SWEEP_SEED(nv);
  const int moved = n->nu - n->actuators, friction = count + links + moved;
  if (world >= worlds || (status[world] & WORLD_STOPPED) ||
      event >= ROW(kept_ints, world, SWEEP_KEPT_ROW)[0]) {
    return;
  }
  GLOBAL const int *own = ROW(kept_ints, world, SWEEP_KEPT_ROW) + 1 + SWEEP_KEPT_INTS * event;
  GLOBAL real *bar = ROW(bars, world, count + SWEEP_SEEDS(nv, links, moved)), *next = bar + count;
  GLOBAL real *slope = ROW(slopes, world, SWEEP_SLOPES_OF(links, n->columns, moved));
  for (int i = 0; i < count; ++i) {
    bar[i] = next[i];
  }
  for (int i = 0; i < links; ++i) {
    slope[i] += next[count + i];
  }
  for (int i = 0; i < moved; ++i) {
    slope[links + n->columns + i] += next[count + links + i];
  }
  GLOBAL const int *group = ints + n->at_groups + GROUP_INTS * own[SWEEP_KEPT_GROUP];
  if (group_is_listed(group)) {
    slope[links + group[GROUP_COLUMN_A]] += next[friction];
  } else if (!n->pair_springs) {
    for (int side = 0; side < 2; ++side) {
      slope[links + group[side ? GROUP_COLUMN_B : GROUP_COLUMN_A]] +=
        column_share(n, group, side, impact_own_parameters(n, parameters, shared, world)) *
        next[friction];
    }
  }
  for (int i = 0; i < 2 * nv && event == 0; ++i) {
    ROW(state, world, 2 * nv)[i] = bar[nv + i];
  }
}
