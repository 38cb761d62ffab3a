// Derivatives of worlds with springs; docs/dev/spring-formulas.md. Springs depend only on the
// relative motion of a pair. So a multiplier y, which moves its bodies relative to each other by a
// velocity v_y and a spin w_y, requires the gradient of
//   force . v_y + moment . w_y
// by poses, twists and parameters, where force and moment are the wrench on body 1 about its
// origin. spring_adjoint makes that gradient from the cotangents v_y and w_y.

// Returns the vector from a group's centre to the origin of the body of side 0 or 1.
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

// Writes the relative twist (spin, then velocity) about a group's centre that y gives its links, or
// unit twist `basis` if that is at least 0.
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

// One work-item finds the multipliers of a block of worlds, y (worlds, nv) = inv(M) b for the
// cotangents b of their accelerations (`bar`), and the contributions of limits and friction losses,
// row_adjoint (worlds, ROW_ADJOINT, nv). The differentiated forces are f, or, if `step` h is above
// 0, f + h df/dv x with the acceleration x of an implicit step (`ahead`). If with_basis is set,
// group_adjoint is made as in world_multipliers.
ADJOINT_KERNEL void world_spring_multipliers(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                             GLOBAL const real *reals, GLOBAL const real *q,
                                             GLOBAL const real *v, GLOBAL const int *status,
                                             GLOBAL const real *bar, GLOBAL const real *basis,
                                             int with_basis, GLOBAL const real *ahead, real step,
                                             GLOBAL real *scratch, GLOBAL real *y,
                                             GLOBAL real *group_adjoint, GLOBAL real *row_adjoint,
                                             int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const int nv = n->nv, width = GROUP_ADJOINT * n->groups, rows = ROW_ADJOINT * nv;
  if (b.first > b.last) {
    return;
  }
  if (n->damped) { // the current factor may include dampers
    block_factor(&b, n, ints, reals, n->at_mass, n->at_factor, R(0.0));
  }
  for (int k = 0; k < nv; ++k) {
    block_put(&b, n->at_constraint_force + k, row_get(&b, bar, nv, k));
  }
  block_solve(&b, n, ints, n->at_factor, n->at_constraint_force);
  for (int k = 0; k < nv; ++k) {
    row_put(&b, y, nv, k, block_get(&b, n->at_constraint_force + k));
  }
  rows_stop(&b, status, nv, y);
  for (int k = 0; k < rows; ++k) {
    row_put(&b, row_adjoint, rows, k, n_lit(R(0.0)));
  }
  for (int row = 0; row < n->rows; ++row) {
    const spring_row r = spring_row_of(&b, n, ints, reals, row, q, v);
    const int by_q = ROW_BACK_Q * nv + r.dof, by_v = ROW_BACK_V * nv + r.dof;
    const num own = row_get(&b, y, nv, r.dof);
    num q_slope = r.by_q, v_slope = r.by_v;
    if (step > R(0.0)) {
      const num x = n_scale(row_get(&b, ahead, nv, r.dof), step);
      q_slope = n_mad(r.by_qv, x, q_slope);
      v_slope = n_mad(r.by_vv, x, v_slope);
    }
    row_put(&b, row_adjoint, rows, by_q, n_mad(q_slope, own, row_get(&b, row_adjoint, rows, by_q)));
    row_put(&b, row_adjoint, rows, by_v, n_mad(v_slope, own, row_get(&b, row_adjoint, rows, by_v)));
  }
  for (int group = 0; group < n->groups && with_basis; ++group) {
    num twist[6];
    spring_twist(&b, n, ints, group, y, -1, twist);
    for (int k = 0; k < GROUP_ADJOINT; ++k) {
      const int at = GROUP_ADJOINT * group + k;
      num sum = row_get(&b, basis, 6 * width, at); // the wrench itself does not depend on y
      for (int i = 0; i < 6 && k >= BACK_ACCELERATION; ++i) {
        const num part = n_mul(twist[i], row_get(&b, basis, 6 * width, i * width + at));
        sum = i ? n_add(sum, part) : part;
      }
      row_put(&b, group_adjoint, width, at, sum);
    }
  }
}

// One work-item writes the cotangents of a group's wrenches and distance in a block of worlds, for
// spring_adjoint: wrench1 and wrench2 (worlds, 6), distance (worlds). That of the wrench on body 1
// is the relative twist of bodies 1 and 2 at body 1's origin, given by y (worlds, nv) or by unit
// twist `basis`. The others are zero.
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
  row_put3(&b, wrench1, 6, 0, FN(add3)(FN(make)(twist[3], twist[4], twist[5]), FN(cross3)(w, arm)));
  row_put3(&b, wrench1, 6, 3, w);
  row_put3(&b, wrench2, 6, 0, none);
  row_put3(&b, wrench2, 6, 3, none);
  row_put(&b, distance, 1, 0, n_lit(R(0.0)));
}

// Writes the moment and force on a link that correspond to the cotangent pose_bar (worlds, 7) of
// its body's pose, with a force `more` at the body's origin and a moment `turn` added. They are
// written to `to` of the world's row of backs.
static void spring_pose_adjoint(const world_block *b, GLOBAL const world_sizes *n, int link,
                                GLOBAL const real *body, GLOBAL const real *pose_bar, vec more,
                                vec turn, GLOBAL real *backs, int width, int to)
{
  if (link >= 0) {
    const vec force = row_get3(b, pose_bar, 7, 0);
    const FN(quaternion) of = block_quaternion(b, n->at_quaternion + 4 * link);
    const num w = row_get(b, pose_bar, 7, 3);
    vec moment = FN(add3)(turn, pose_moment(of, body, force, w, row_get3(b, pose_bar, 7, 4)));
    moment = FN(add3)(moment, FN(cross3)(FN(quaternion_rotate)(of, real3(body)), more));
    row_put3(b, backs, width, to, moment);
    row_put3(b, backs, width, to + 3, FN(add3)(force, more));
  }
}

// Returns the angular velocity of a link.
static vec spring_spin_of(const world_block *b, GLOBAL const world_sizes *n, int link)
{
  return link < 0 ? lit3(R(0.0), R(0.0), R(0.0)) : block_get3(b, n->at_velocity + 6 * link);
}

// The contribution of h dW/dv x, from an implicit step's wrenches W + h dW/dv x, through the
// bodies' twists under x. It is linear in these twists, so their cotangents are h times those of
// the bodies' own twists by W only.
typedef struct spring_ahead {
  vec force, moment; // the cotangent of body 1's twist under x, about its origin
  vec shift2, turn2; // for the pose of body 2, which defines the frame of the relative twist
} spring_ahead;

static spring_ahead spring_ahead_of(const world_block *b, GLOBAL const real *twist1,
                                    GLOBAL const real *twist2, GLOBAL const real *twist1_bar,
                                    vec gap, real step)
{
  spring_ahead a;
  const num h = n_lit(step);
  const vec speed = FN(scale3)(row_get3(b, twist1_bar, 6, 0), h);
  const vec spin1 = row_get3(b, twist1, 6, 3);
  const vec spin = FN(sub3)(spin1, row_get3(b, twist2, 6, 3));
  const vec relative = FN(sub3)(FN(add3)(row_get3(b, twist1, 6, 0), FN(cross3)(spin1, gap)),
                                row_get3(b, twist2, 6, 0));
  a.force = speed;
  a.moment = FN(scale3)(row_get3(b, twist1_bar, 6, 3), h);
  const vec turned = FN(sub3)(a.moment, FN(cross3)(gap, speed));
  a.shift2 = FN(cross3)(speed, spin);
  a.turn2 = FN(neg3)(FN(add3)(FN(cross3)(spin, turned), FN(cross3)(relative, speed)));
  return a;
}

// One work-item converts the results of spring_adjoint for the cotangents of world_spring_bars, in
// a block of worlds, to backs, the input of the tree: rows of `width` numbers per world, in which
// the first group begins at `first`. If `adds` is set, it adds the gradient with respect to the
// pair's parameters to own (worlds, listed pairs, SPRING_PARAMETER_COUNT).
//
// The given cotangents are those of twists at the bodies' origins. These origins move with the
// links, which adds `more1` and `more2` to the poses.
//
// If `step` is above 0, the step is implicit, and W + h dW/dv x is differentiated. along1 and
// along2 (worlds, 6) are the bodies' twists under x, and along1_bar is the cotangent of body 1's
// twist by W only.
ADJOINT_KERNEL void world_spring_collect(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *bodies,
  GLOBAL const real *parameters, int shared, int group, GLOBAL const real *laws, int with_given,
  GLOBAL const real *wrench1, GLOBAL const real *wrench1_bar, GLOBAL const real *pose1_bar,
  GLOBAL const real *pose2_bar, GLOBAL const real *twist1_bar, GLOBAL const real *twist2_bar,
  GLOBAL const real *laws_bar, GLOBAL const real *along1, GLOBAL const real *along2,
  GLOBAL const real *along1_bar, real step, GLOBAL real *scratch, GLOBAL real *backs, int width,
  int first, int adds, GLOBAL const int *status, GLOBAL real *own, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  const int to = first + GROUP_ADJOINT * group, pair = g[GROUP_PAIR],
            all = SPRING_PARAMETER_COUNT * n->listed, listed = group_is_listed(g);
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; i < GROUP_ADJOINT; ++i) {
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
  const vec more1 =
    FN(add3)(FN(cross3)(force, turn), FN(cross3)(speed, spring_spin_of(&b, n, g[GROUP_A])));
  vec more2 = FN(cross3)(row_get3(&b, twist2_bar, 6, 0), spring_spin_of(&b, n, g[GROUP_B]));
  vec turn2 = lit3(R(0.0), R(0.0), R(0.0));
  const vec none = turn2;
  if (step > R(0.0)) {
    const vec gap = FN(sub3)(spring_arm(&b, n, ints, bodies, group, 1), arm);
    const spring_ahead a = spring_ahead_of(&b, along1, along2, along1_bar, gap, step);
    row_put3(&b, backs, width, to + BACK_ACCELERATION,
             FN(add3)(a.moment, FN(cross3)(arm, a.force)));
    row_put3(&b, backs, width, to + BACK_ACCELERATION + 3, a.force);
    more2 = FN(add3)(more2, a.shift2);
    turn2 = a.turn2;
  }
  spring_pose_adjoint(&b, n, g[GROUP_A], bodies + spring_body(group, 0), pose1_bar, more1, none,
                      backs, width, to + BACK_POSE_A);
  spring_pose_adjoint(&b, n, g[GROUP_B], bodies + spring_body(group, 1), pose2_bar, more2, turn2,
                      backs, width, to + BACK_POSE_B);
  const int width_of = PARAMETERS(n->links, n->columns), chi = n->links + n->columns;
  num stiffness = parameter_get(&b, parameters, width_of, chi + g[GROUP_COLUMN_A], shared);
  if (!listed) {
    stiffness = n_sqrt(
      n_mul(stiffness, parameter_get(&b, parameters, width_of, chi + g[GROUP_COLUMN_B], shared)));
  }
  const num by_k = row_get(&b, laws_bar, SPRING_PARAMETER_COUNT, SPRING_K);
  const num k = row_get(&b, laws, SPRING_PARAMETER_COUNT, SPRING_K);
  row_put(&b, backs, width, to + BACK_FRICTION,
          with_given && listed ? n_lit(R(0.0))
                               : row_get(&b, laws_bar, SPRING_PARAMETER_COUNT, SPRING_MU));
  row_put(&b, backs, width, to + BACK_STIFFNESS, n_mul(by_k, n_div(k, stiffness)));
  for (int i = 0; i < SPRING_PARAMETER_COUNT && adds && listed; ++i) {
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

// ---- implicit steps ----

// One work-item replaces, for one world, the cotangent of an implicit step's acceleration x by that
// of (1 - h da/dv) x: bars (worlds, nv).
ADJOINT_KERNEL void world_spring_unsolve(GLOBAL const world_sizes *n, GLOBAL const real *matrices,
                                         GLOBAL const int *pivots, GLOBAL const int *status,
                                         GLOBAL real *bars, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world < worlds && !(status[world] & WORLD_STOPPED)) {
    spring_solve_adjoint(ROW(matrices, world, nv * nv), ROW(pivots, world, nv),
                         ROW(bars, world, nv), nv);
  }
}

// One work-item writes the twists of links under the acceleration x of an implicit step (`ahead`),
// in a block of worlds, to at_acceleration. Accelerations of links overwrite them later.
ADJOINT_KERNEL void world_spring_tangent(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                         GLOBAL const real *ahead, GLOBAL real *scratch, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first <= b.last) {
    tree_twists(&b, n, ints, ahead, n->at_acceleration);
  }
}

// One work-item adds, in a block of worlds, the gradient of -h y . (dc/dv x) by q, v and
// mass_scale. Without gravity the bias c is quadratic in v, so dc/dv x is half of c(v + x) - c(v -
// x), which needs two sweeps. `rows` (worlds, nv) is scratch memory for v + x and v - x.
ADJOINT_KERNEL void world_spring_bias(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                      GLOBAL const real *reals, GLOBAL const real *v,
                                      GLOBAL const real *ahead, GLOBAL const real *y,
                                      GLOBAL const real *parameters, int shared, GLOBAL real *rows,
                                      GLOBAL real *scratch, GLOBAL real *memory, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (b.first > b.last) {
    return;
  }
  for (int turn = 0; turn < 2; ++turn) {
    const real side = turn ? R(-1.0) : R(1.0);
    for (int i = 0; i < nv; ++i) {
      row_put(&b, rows, nv, i, n_smad(row_get(&b, ahead, nv, i), side, row_get(&b, v, nv, i)));
      block_put(&k, n->at_back_y + i,
                n_scale(row_get(&b, y, nv, i), R(-0.5) * side * reals[WORLD_STEP]));
      block_put(&k, n->at_back_z + i, n_lit(R(0.0)));
    }
    tree_twists(&b, n, ints, rows, n->at_velocity);
    tree_accelerations(&b, n, ints, rows, (GLOBAL const real *)0, lit3(R(0.0), R(0.0), R(0.0)));
    back_clear(&k, n);
    back_twists(&b, &k, n, ints, n->at_back_y, LINK_BACK_TWIST_Y);
    back_twists(&b, &k, n, ints, n->at_back_z, LINK_BACK_TWIST_Z);
    for (int i = 0; i < n->links; ++i) {
      mass_adjoint(&b, &k, n, reals, parameters, shared, i, 0);
    }
    back_sweep(&b, &k, n, ints, n->at_back_y, n->at_back_z, rows);
  }
  tree_twists(&b, n, ints, v, n->at_velocity);
}

// One work-item restores the cotangents of parameters that world_parameters_adjoint has copied,
// from (worlds, PARAMETERS), to the block.
ADJOINT_KERNEL void world_parameters_again(GLOBAL const world_sizes *n, GLOBAL const real *from,
                                           GLOBAL real *memory, int count)
{
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int width = PARAMETERS(n->links, n->columns);
  if (k.first > k.last) {
    return;
  }
  for (int i = 0; i < width; ++i) {
    block_put(&k, n->at_back_parameters + i, row_get(&k, from, width, i));
  }
}
