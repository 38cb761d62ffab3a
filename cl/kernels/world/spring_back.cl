// Derivatives of worlds with springs. What springs do to a pair depends on its relative motion alone, so
// that y, which moves its bodies against each other, asks for the gradient of
//   force . v_y + moment . w_y, of the wrench on body 1 about its origin,
// by poses and twists.

// From the centre of a group to the origin of a side's body.
static vec spring_arm(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                      GLOBAL const real *bodies, int group, int side)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  const int link = g[side ? GROUP_B : GROUP_A], at = spring_body(group, side);
  const vec centre = block_get3(b, n->at_origin + 3 * group_centre(g));
  return link < 0 ? FN(sub3)(real3(bodies + at), centre)
                  : FN(add3)(FN(sub3)(block_get3(b, n->at_origin + 3 * link), centre),
                             spring_lever(b, n, bodies, at, link));
}

// The twist about its centre that y gives a group, or unit twist `basis`: spin, then velocity.
static void spring_twist(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         int group, GLOBAL const real *y, int basis, num out[6])
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  const vec c = block_get3(b, n->at_origin + 3 * group_centre(g));
  for (int i = 0; i < 6; ++i) {
    out[i] = n_lit(i == basis ? R(1.0) : R(0.0));
  }
  for (int i = 0; basis < 0 && i < g[GROUP_DOFS]; ++i) {
    GLOBAL const int *mover = ints + n->at_group_dofs + MOVER_INTS * (g[GROUP_DOF_AT] + i);
    num column[6];
    mover_column(b, n, ints, mover, c, column);
    const num rate = row_get(b, y, n->nv, mover[MOVER_DOF]);
    for (int k = 0; k < 6; ++k) {
      out[k] = n_mad(column[k], rate, out[k]);
    }
  }
}

// Multipliers y = inv(M) b of the cotangent b of each world's acceleration, and what limits and
// friction losses do by them; with a basis (see world_multipliers) of each group what y makes of it.
ADJOINT_KERNEL void world_spring_multipliers(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                             GLOBAL const real *reals, GLOBAL const real *q,
                                             GLOBAL const real *v, GLOBAL const int *status,
                                             GLOBAL const real *bar, GLOBAL const real *basis,
                                             int with_basis, GLOBAL real *scratch, GLOBAL real *y,
                                             GLOBAL real *group_back, GLOBAL real *row_back,
                                             int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv, width = GROUP_BACK * n->groups, rows = ROW_BACK * nv;
  if (b.first > b.last) {
    return;
  }
  if (n->damped) { // the factor may be the one with dampers
    block_factor(&b, n, reals, n->at_mass, n->at_factor, R(0.0));
  }
  for (int k = 0; k < nv; ++k) {
    block_put(&b, n->at_push + k, row_get(&b, bar, nv, k));
  }
  block_solve(&b, nv, n->at_factor, n->at_push);
  for (int k = 0; k < nv; ++k) {
    row_put(&b, y, nv, k, block_get(&b, n->at_push + k));
  }
  spring_stop(&b, status, nv, y);
  for (int k = 0; k < rows; ++k) {
    row_put(&b, row_back, rows, k, n_lit(R(0.0)));
  }
  for (int row = 0; row < n->rows; ++row) {
    const spring_row r = spring_row_of(&b, n, ints, reals, row, q, v);
    const int by_q = ROW_BACK_Q * nv + r.dof, by_v = ROW_BACK_V * nv + r.dof;
    const num own = row_get(&b, y, nv, r.dof);
    row_put(&b, row_back, rows, by_q, n_mad(r.by_q, own, row_get(&b, row_back, rows, by_q)));
    row_put(&b, row_back, rows, by_v, n_mad(r.by_v, own, row_get(&b, row_back, rows, by_v)));
  }
  for (int group = 0; group < n->groups && with_basis; ++group) {
    num twist[6];
    spring_twist(&b, n, ints, group, y, -1, twist);
    for (int k = 0; k < GROUP_BACK; ++k) {
      const int at = GROUP_BACK * group + k;
      num sum = row_get(&b, basis, 6 * width, at); // the wrench itself, whatever y is
      for (int i = 0; i < 6 && k >= BACK_ACCELERATION; ++i) {
        const num part = n_mul(twist[i], row_get(&b, basis, 6 * width, i * width + at));
        sum = i ? n_add(sum, part) : part;
      }
      row_put(&b, group_back, width, at, sum);
    }
  }
}

// Cotangents of a group's wrenches and distance: of the one on body 1 the twist at its origin that y
// gives it against body 2, or of a unit twist about the centre; else none.
ADJOINT_KERNEL void world_spring_bars(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                      GLOBAL const real *bodies, int group, GLOBAL const real *y,
                                      int basis, GLOBAL real *scratch, GLOBAL real *wrench1,
                                      GLOBAL real *wrench2, GLOBAL real *distance, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  num twist[6];
  if (b.first > b.last) {
    return;
  }
  spring_twist(&b, n, ints, group, y, basis, twist);
  const vec w = FN(make)(twist[0], twist[1], twist[2]), none = lit3(R(0.0), R(0.0), R(0.0));
  const vec arm = spring_arm(&b, n, ints, bodies, group, 0);
  row_put3(&b, wrench1, 6, 0,
           FN(add3)(FN(make)(twist[3], twist[4], twist[5]), FN(cross3)(w, arm)));
  row_put3(&b, wrench1, 6, 3, w);
  row_put3(&b, wrench2, 6, 0, none);
  row_put3(&b, wrench2, 6, 3, none);
  row_put(&b, distance, 1, 0, n_lit(R(0.0)));
}

// Moment and force on a link of the cotangent of its body's pose.
static void spring_pose_back(const world_block *b, GLOBAL const world_sizes *n, int link,
                             GLOBAL const real *body, GLOBAL const real *pose_bar, vec more,
                             GLOBAL real *backs, int width, int to)
{
  if (link >= 0) {
    vec force = row_get3(b, pose_bar, 7, 0), moment = pose_moment(b, n, link, body, pose_bar);
    const FN(quaternion) of = block_quaternion(b, n->at_quaternion + 4 * link);
    moment = FN(add3)(moment, FN(cross3)(FN(quaternion_rotate)(of, real3(body)), more));
    row_put3(b, backs, width, to, moment);
    row_put3(b, backs, width, to + 3, FN(add3)(force, more));
  }
}

static vec spring_spin_of(const world_block *b, GLOBAL const world_sizes *n, int link)
{
  return link < 0 ? lit3(R(0.0), R(0.0), R(0.0)) : block_get3(b, n->at_velocity + 6 * link);
}

// What spring_back has found for world_spring_bars' cotangents, as the tree wants it (rows of
// `width`, the first group's from `first` on), and added to the pair's parameters' (`own`: a row of all
// pairs' a world) where `adds`.
//
// The twists that cotangents were of are those at the body's origin, which moves: hence `more`.
ADJOINT_KERNEL void world_spring_collect(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                         GLOBAL const real *bodies,
                                         GLOBAL const real *parameters, int shared, int group,
                                         GLOBAL const real *laws, int with_given,
                                         GLOBAL const real *wrench1, GLOBAL const real *wrench1_bar,
                                         GLOBAL const real *pose1_bar, GLOBAL const real *pose2_bar,
                                         GLOBAL const real *twist1_bar,
                                         GLOBAL const real *twist2_bar, GLOBAL const real *laws_bar,
                                         GLOBAL real *scratch, GLOBAL real *backs, int width,
                                         int first, int adds, GLOBAL const int *status,
                                         GLOBAL real *own, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  const int to = first + GROUP_BACK * group, pair = g[GROUP_PAIR], all = SPRING_PARAMETER_COUNT * n->pairs;
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; i < GROUP_BACK; ++i) {
    row_put(&b, backs, width, to + i, n_lit(R(0.0)));
  }
  const vec arm = spring_arm(&b, n, ints, bodies, group, 0);
  const vec force = row_get3(&b, wrench1, 6, 0), speed = row_get3(&b, twist1_bar, 6, 0);
  const vec turn = row_get3(&b, wrench1_bar, 6, 3);
  row_put3(&b, backs, width, to + BACK_MULTIPLIER,
           FN(add3)(row_get3(&b, wrench1, 6, 3), FN(cross3)(arm, force)));
  row_put3(&b, backs, width, to + BACK_MULTIPLIER + 3, force);
  row_put3(&b, backs, width, to + BACK_VELOCITY,
           FN(add3)(row_get3(&b, twist1_bar, 6, 3), FN(cross3)(arm, speed)));
  row_put3(&b, backs, width, to + BACK_VELOCITY + 3, speed);
  const vec more1 = FN(add3)(FN(cross3)(force, turn),
                             FN(cross3)(speed, spring_spin_of(&b, n, g[GROUP_A])));
  const vec more2 = FN(cross3)(row_get3(&b, twist2_bar, 6, 0), spring_spin_of(&b, n, g[GROUP_B]));
  spring_pose_back(&b, n, g[GROUP_A], bodies + spring_body(group, 0), pose1_bar, more1, backs, width,
                   to + BACK_POSE_A);
  spring_pose_back(&b, n, g[GROUP_B], bodies + spring_body(group, 1), pose2_bar, more2, backs, width,
                   to + BACK_POSE_B);
  const num stiffness = parameter_get(&b, parameters, PARAMETERS(n->links, n->pairs),
                                      n->links + n->pairs + pair, shared);
  const num by_k = row_get(&b, laws_bar, SPRING_PARAMETER_COUNT, SPRING_K);
  const num k = row_get(&b, laws, SPRING_PARAMETER_COUNT, SPRING_K);
  row_put(&b, backs, width, to + BACK_FRICTION,
          with_given ? n_lit(R(0.0)) : row_get(&b, laws_bar, SPRING_PARAMETER_COUNT, SPRING_MU));
  row_put(&b, backs, width, to + BACK_STIFFNESS, n_mul(by_k, n_div(k, stiffness)));
  for (int i = 0; i < SPRING_PARAMETER_COUNT && adds; ++i) {
    num bar = row_get(&b, laws_bar, SPRING_PARAMETER_COUNT, i);
    bar = i == SPRING_K ? n_mul(bar, stiffness) : bar;
    real parts[LANES];
    lane_store(n_value(bar), parts);
    for (int world = b.first; world < b.first + LANES && world <= b.last; ++world) {
      if (!(status[world] & WORLD_STOPPED)) {
        ROW(own, world, all)[SPRING_PARAMETER_COUNT * pair + i] += parts[world - b.first];
      }
    }
  }
}
