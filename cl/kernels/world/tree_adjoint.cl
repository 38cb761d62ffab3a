// The adjoint of links.cl, forces.cl and, except M itself, of mass.cl: the gradient with respect to
// q, v and parameters of y . (M a + c - f) and of the contacts' contributions, at a fixed
// acceleration a; docs/dev/cone-formulas.md, section 10. It traverses the tree once, from the
// leaves to the roots. The y of this file is minus the multiplier of contacts_adjoint.cl.

// Returns the numbers of a block's reverse pass, in memory (blocks, back_numbers, LANES).
static world_block back_at(GLOBAL real *memory, GLOBAL const world_sizes *n, int block, int count)
{
  world_block b;
  b.stride = n->back_numbers * LANES;
  b.at = NUMS(memory, block, b.stride);
  b.first = block * LANES;
  b.last = count - 1;
  return b;
}

static int link_adjoint(GLOBAL const world_sizes *n, int i)
{
  return n->at_back_links + LINK_ADJOINT * i;
}

// The numbers of a link in the reverse pass are pairs of vectors.
static vec pair_first(const world_block *k, int at)
{
  return block_get3(k, at);
}
static vec pair_second(const world_block *k, int at)
{
  return block_get3(k, at + 3);
}

static void pair_add(const world_block *k, int at, vec first, vec second)
{
  block_add3(k, at, first);
  block_add3(k, at + 3, second);
}

// Writes the twists of links, if joints move by the numbers at `rates` of the back block k, to
// `place` of each link there. Links are placed as in the tree in b.
static void back_twists(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                        GLOBAL const int *ints, int rates, int place)
{
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const int to = link_adjoint(n, i) + place;
    vec w = none, v = none;
    if (l.parent >= 0) {
      const int from = link_adjoint(n, l.parent) + place;
      w = pair_first(k, from);
      v = FN(add3)(pair_second(k, from), FN(cross3)(w, block_get3(b, n->at_anchor + 3 * i)));
    }
    for (int j = 0; j < l.dofs; ++j) {
      const vec axis = block_get3(b, n->at_axis + 3 * (l.v + j));
      const num rate = block_get(k, rates + l.v + j);
      if (dof_turns(&l, j)) {
        w = FN(mad3)(axis, rate, w);
      } else {
        v = FN(mad3)(axis, rate, v);
      }
    }
    block_put3(k, to, w);
    block_put3(k, to + 3, FN(add3)(v, FN(cross3)(w, block_get3(b, n->at_arm + 3 * i))));
  }
}

// Returns (I a) x c + (I c) x a, the gradient of a . I c with respect to a rotation of the body.
static vec inertia_turned(const link_mass *m, vec a, vec c)
{
  return FN(add3)(FN(cross3)(FN(inertia_times)(m->diagonal, m->products, a), c),
                  FN(cross3)(FN(inertia_times)(m->diagonal, m->products, c), a));
}

// Adds the gradient of y times the inertial force of link i: cotangents of its twist under y, of
// its acceleration, of its velocity and of its pose, and that of its mass_scale. With `still` the
// tree has zero velocity, and the acceleration is only the twist under z, which gets its
// cotangents.
static void mass_adjoint(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                         GLOBAL const real *reals, GLOBAL const real *parameters, int shared, int i,
                         int still)
{
  const int at = link_adjoint(n, i);
  const link_mass m = mass_of(b, n, reals, i);
  const num scale = parameter_get(b, parameters, PARAMETERS(n->links, n->columns), i, shared);
  const vec c = m.com, none = lit3(R(0.0), R(0.0), R(0.0));
  const vec w = still ? none : block_get3(b, n->at_velocity + 6 * i);
  const vec alpha = still ? pair_first(k, at + LINK_BACK_TWIST_Z)
                          : block_get3(b, n->at_acceleration + 6 * i);
  const vec a = still ? pair_second(k, at + LINK_BACK_TWIST_Z)
                      : block_get3(b, n->at_acceleration + 6 * i + 3);
  const vec yw = pair_first(k, at + LINK_BACK_TWIST_Y), yv = pair_second(k, at + LINK_BACK_TWIST_Y);
  const vec u = FN(add3)(yv, FN(cross3)(yw, c)),
            f = FN(scale3)(FN(carried)(a, alpha, w, c), m.mass);
  const vec spin = FN(inertia_times)(m.diagonal, m.products, w);
  const vec turn = FN(add3)(FN(inertia_times)(m.diagonal, m.products, alpha), FN(cross3)(w, spin));
  block_add(k, n->at_back_parameters + i, n_add(FN(dot3)(u, f), FN(dot3)(yw, turn)));
  const vec mu = FN(scale3)(u, n_mul(m.mass, scale));
  const vec fs = FN(scale3)(f, scale);
  pair_add(k, at + LINK_BACK_Y, FN(add3)(FN(cross3)(c, fs), FN(scale3)(turn, scale)), fs);
  const vec iy = FN(scale3)(FN(inertia_times)(m.diagonal, m.products, yw), scale);
  pair_add(k, at + (still ? LINK_BACK_Z : LINK_BACK_A), FN(add3)(FN(cross3)(c, mu), iy), mu);
  vec c_bar = FN(add3)(FN(cross3)(mu, alpha), FN(cross3)(fs, yw));
  vec turned = inertia_turned(&m, yw, alpha);
  if (!still) {
    const vec wc = FN(cross3)(w, c), z = FN(cross3)(yw, w);
    const vec by_force = FN(add3)(FN(cross3)(wc, mu), FN(cross3)(c, FN(cross3)(mu, w)));
    const vec by_spin =
      FN(add3)(FN(cross3)(spin, yw), FN(inertia_times)(m.diagonal, m.products, z));
    block_add3(k, at + LINK_BACK_V, FN(add3)(by_force, FN(scale3)(by_spin, scale)));
    c_bar = FN(add3)(c_bar, FN(cross3)(FN(cross3)(mu, w), w));
    turned = FN(add3)(turned, inertia_turned(&m, w, z));
  }
  block_add3(k, at + LINK_BACK_POSE, FN(add3)(FN(cross3)(c, c_bar), FN(scale3)(turned, scale)));
}

// Propagates the cotangents of link i's twists, velocity, acceleration and pose to its joint's q
// and v and to its parent. The cotangent of a vector that turns with a link is a torque on that
// link, so no derivatives of rotations are needed. y and z are the offsets, in the back block, of
// the rates of the two twists. The torque and the force on a moved link are added at at_back_u.
static void link_sweep(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                       GLOBAL const int *ints, int i, int y, int z, GLOBAL const real *v)
{
  const tree_link l = link_at(n, ints, i);
  const int at = link_adjoint(n, i), own = l.parent >= 0;
  const int up = link_adjoint(n, own ? l.parent : i);
  const vec none = lit3(R(0.0), R(0.0), R(0.0));
  const vec arm = block_get3(b, n->at_arm + 3 * i), anchor = block_get3(b, n->at_anchor + 3 * i);
  const vec w = block_get3(b, n->at_velocity + 6 * i),
            alpha = block_get3(b, n->at_acceleration + 6 * i);
  const vec wp = own ? block_get3(b, n->at_velocity + 6 * l.parent) : none;
  const vec alpha_p = own ? block_get3(b, n->at_acceleration + 6 * l.parent) : none;
  const vec ab = pair_second(k, at + LINK_BACK_A);
  vec alb = pair_first(k, at + LINK_BACK_A);
  const vec vb = pair_second(k, at + LINK_BACK_V), yvb = pair_second(k, at + LINK_BACK_Y);
  const vec zvb = pair_second(k, at + LINK_BACK_Z), gx = pair_second(k, at + LINK_BACK_POSE);
  vec turn = pair_first(k, at + LINK_BACK_POSE);
  const vec yw = pair_first(k, at + LINK_BACK_TWIST_Y), zw = pair_first(k, at + LINK_BACK_TWIST_Z);
  // the arm, which turns with the link
  alb = FN(add3)(alb, FN(cross3)(arm, ab));
  const vec aw = FN(cross3)(ab, w);
  const vec wb = FN(add3)(FN(add3)(pair_first(k, at + LINK_BACK_V), FN(cross3)(arm, vb)),
                          FN(add3)(FN(cross3)(FN(cross3)(w, arm), ab), FN(cross3)(arm, aw)));
  const vec ywb = FN(add3)(pair_first(k, at + LINK_BACK_Y), FN(cross3)(arm, yvb));
  const vec zwb = FN(add3)(pair_first(k, at + LINK_BACK_Z), FN(cross3)(arm, zvb));
  vec arm_bar = FN(add3)(FN(cross3)(vb, w), FN(add3)(FN(cross3)(ab, alpha), FN(cross3)(aw, w)));
  arm_bar = FN(add3)(arm_bar, FN(add3)(FN(cross3)(yvb, yw), FN(cross3)(zvb, zw)));
  arm_bar = FN(add3)(arm_bar, gx);
  turn = FN(add3)(turn, FN(cross3)(arm, arm_bar));
  // the joint's degrees of freedom
  vec spins = none, runs = none;
  for (int j = 0; j < l.dofs; ++j) {
    const int dof = l.v + j, turns = dof_turns(&l, j);
    const vec axis = block_get3(b, n->at_axis + 3 * dof);
    const num rate = row_get(b, v, n->nv, dof), ry = block_get(k, y + dof),
              rz = block_get(k, z + dof);
    const vec with = turns ? FN(cross3)(alb, wp) : FN(scale3)(FN(cross3)(ab, wp), n_lit(R(2.0)));
    const vec by_rate = FN(add3)(turns ? wb : vb, with);
    block_add(k, n->at_back_v + dof, FN(dot3)(axis, by_rate));
    vec axis_bar = FN(mad3)(turns ? ywb : yvb, ry, FN(scale3)(by_rate, rate));
    axis_bar = FN(mad3)(turns ? zwb : zvb, rz, axis_bar);
    axis_bar = FN(mad3)(turns ? alb : ab, rz, axis_bar);
    if (!(JOINT_IS_OF_WORLD(l.type) && j < 3)) {
      turn = FN(add3)(turn, FN(cross3)(axis, axis_bar));
    }
    spins = turns ? FN(mad3)(axis, rate, spins) : spins;
    runs = turns ? runs : FN(mad3)(axis, rate, runs);
  }
  for (int j = 0; j < l.dofs; ++j) {
    const vec axis = block_get3(b, n->at_axis + 3 * (l.v + j));
    const vec by = dof_turns(&l, j) ? turn : JOINT_IS_OF_WORLD(l.type) ? gx : arm_bar;
    block_add(k, n->at_back_q + l.v + j, FN(dot3)(axis, by));
  }
  if (l.u >= 0) {
    block_add3(k, n->at_back_u + l.u, gx);
    block_add3(k, n->at_back_u + l.u + 3, turn);
  }
  if (!own) {
    block_add3(k, n->at_back_parameters + n->links + 2 * n->columns, FN(neg3)(ab));
    return;
  }
  // the anchor, which turns with the parent
  const vec awp = FN(cross3)(ab, wp);
  vec anchor_bar = FN(add3)(FN(cross3)(ab, alpha_p), FN(cross3)(awp, wp));
  anchor_bar = FN(add3)(anchor_bar, FN(add3)(FN(cross3)(vb, wp), gx));
  anchor_bar = FN(add3)(anchor_bar, FN(cross3)(yvb, pair_first(k, up + LINK_BACK_TWIST_Y)));
  anchor_bar = FN(add3)(anchor_bar, FN(cross3)(zvb, pair_first(k, up + LINK_BACK_TWIST_Z)));
  vec wp_bar = FN(add3)(wb, FN(cross3)(anchor, vb));
  wp_bar =
    FN(add3)(wp_bar, FN(add3)(FN(cross3)(FN(cross3)(wp, anchor), ab), FN(cross3)(anchor, awp)));
  wp_bar = FN(add3)(wp_bar, FN(add3)(FN(cross3)(spins, alb),
                                     FN(scale3)(FN(cross3)(runs, ab), n_lit(R(2.0)))));
  pair_add(k, up + LINK_BACK_A, FN(add3)(alb, FN(cross3)(anchor, ab)), ab);
  pair_add(k, up + LINK_BACK_V, wp_bar, vb);
  pair_add(k, up + LINK_BACK_Y, FN(add3)(ywb, FN(cross3)(anchor, yvb)), yvb);
  pair_add(k, up + LINK_BACK_Z, FN(add3)(zwb, FN(cross3)(anchor, zvb)), zvb);
  pair_add(k, up + LINK_BACK_POSE, FN(add3)(turn, FN(cross3)(anchor, anchor_bar)), gx);
}

// Sweeps from the leaves to the roots.
static void back_sweep(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                       GLOBAL const int *ints, int y, int z, GLOBAL const real *v)
{
  for (int i = n->links - 1; i >= 0; --i) {
    link_sweep(b, k, n, ints, i, y, z, v);
  }
}

// Sets the cotangents of all links to zero, but not their twists.
static void back_clear(const world_block *k, GLOBAL const world_sizes *n)
{
  for (int i = 0; i < n->links; ++i) {
    for (int j = LINK_BACK_Y; j < LINK_ADJOINT; ++j) {
      block_put(k, link_adjoint(n, i) + j, n_lit(R(0.0)));
    }
  }
}

typedef struct link_wrench {
  vec moment, force;
} link_wrench;

// Propagates a wrench about c, the cotangent of a twist at c, times `sign`, to the link of that
// twist: to the cotangents of the link's own twist (`place`) and of its pose. `turn` is the angular
// velocity of that twist.
static void wrench_adjoint(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                           int link, num sign, vec c, const link_wrench *w, vec turn, int place)
{
  if (link >= 0) {
    const vec r = FN(sub3)(c, block_get3(b, n->at_origin + 3 * link));
    const vec force = FN(scale3)(w->force, sign);
    const vec moment = FN(add3)(FN(scale3)(w->moment, sign), FN(cross3)(r, force));
    pair_add(k, link_adjoint(n, link) + place, moment, force);
    block_add3(k, link_adjoint(n, link) + LINK_BACK_POSE + 3, FN(neg3)(FN(cross3)(force, turn)));
  }
}

// ---- other forces ----

// Returns the weighted sum of a coordinate's members over the rates at `rates` of the back block.
static num coordinate_back(const world_block *k, GLOBAL const world_sizes *n,
                           GLOBAL const int *ints, GLOBAL const real *reals, int i, int rates)
{
  GLOBAL const int *own = coordinate_ints(n, ints, i);
  num sum = n_lit(R(0.0));
  for (int m = own[COORDINATE_AT]; m < own[COORDINATE_AT] + own[COORDINATE_COUNT]; ++m) {
    sum = n_smad(block_get(k, rates + ints[n->at_members + MEMBER_INTS * m + MEMBER_V]),
                 reals[n->at_member_reals + m], sum);
  }
  return sum;
}

// Adds the gradient of -y . f, for the other forces f, by q, v and controls.
static void forces_adjoint(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                           GLOBAL const int *ints, GLOBAL const real *reals, GLOBAL const real *q,
                           GLOBAL const real *v, GLOBAL const real *u)
{
  for (int i = 0; i < n->nv; ++i) {
    const real damping = reals[n->at_dof_reals + DOF_REALS * i + DOF_DAMPING];
    block_add(k, n->at_back_v + i, n_scale(block_get(k, n->at_back_y + i), damping));
  }
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    const real stiffness = reals[n->at_link_reals + LINK_REALS * i + LINK_STIFFNESS];
    if (stiffness != R(0.0) && JOINT_HAS_QUATERNION(l.type)) {
      const vec s = FN(quaternion_log)(quaternion_row(b, q, n->nq, l.q));
      const vec by = FN(exponential_rate)(FN(neg3)(s), block_get3(k, n->at_back_y + l.v));
      block_add3(k, n->at_back_q + l.v, FN(scale3)(by, n_lit(stiffness)));
    } else if (stiffness != R(0.0)) {
      block_add(k, n->at_back_q + l.v, n_scale(block_get(k, n->at_back_y + l.v), stiffness));
    }
  }
  for (int i = 0; i < n->tendons; ++i) {
    const real damping = reals[n->at_tendon_reals + TENDON_REALS * i + TENDON_DAMPING];
    const num y = coordinate_back(k, n, ints, reals, i, n->at_back_y);
    num stiffness;
    tendon_force(b, n, ints, reals, i, q, v, &stiffness);
    coordinate_add(k, n, ints, reals, i, n_mul(y, stiffness), n->at_back_q, 1);
    coordinate_add(k, n, ints, reals, i, n_scale(y, damping), n->at_back_v, 1);
  }
  for (int i = 0; i < n->actuators; ++i) {
    GLOBAL const int *a = ints + n->at_actuators + ACTUATOR_INTS * i;
    const int t = a[ACTUATOR_TENDON];
    GLOBAL const real *own = reals + n->at_actuator_reals + ACTUATOR_REALS * i;
    const real gear = own[ACTUATOR_GEAR], kp = own[ACTUATOR_KP], kv = own[ACTUATOR_KV];
    lane within, control_slope;
    actuator_force(b, n, ints, reals, i, q, v, u, &within, &control_slope);
    const num moved = t < 0 ? block_get(k, n->at_back_y + a[ACTUATOR_V])
                            : coordinate_back(k, n, ints, reals, t, n->at_back_y);
    const num y = n_times(n_scale(moved, -gear), within);
    block_put(k, n->at_back_u + i, n_times(n_scale(y, own[ACTUATOR_GAIN] + kp), control_slope));
    if (a[ACTUATOR_FEELS] && t >= 0) {
      coordinate_add(k, n, ints, reals, t, n_scale(y, -kp * gear), n->at_back_q, 1);
      coordinate_add(k, n, ints, reals, t, n_scale(y, -kv * gear), n->at_back_v, 1);
    } else if (a[ACTUATOR_FEELS]) {
      block_add(k, n->at_back_q + a[ACTUATOR_V], n_scale(y, -kp * gear));
      block_add(k, n->at_back_v + a[ACTUATOR_V], n_scale(y, -kv * gear));
    }
  }
}

// Returns the cotangent of a moved link's rotation vector s for a torque on the link: J' of the
// torque. J = 1 + b [s] + d [s]^2 maps changes of s to rotations of the link in the world's axes.
static vec moved_torque(vec s, vec torque)
{
  num a, b, d, cosine;
  FN(exp_coefficients)(FN(dot3)(s, s), &a, &b, &d, &cosine);
  const vec turned = FN(cross3)(s, torque), twice = FN(cross3)(s, turned);
  return FN(mad3)(twice, d, FN(mad3)(turned, n_neg(b), torque));
}

// Converts the torques on moved links, stored in place of the cotangents of their rotation vectors,
// to these cotangents.
static void moved_links_adjoint(const world_block *k, GLOBAL const world_sizes *n,
                                GLOBAL const int *ints, GLOBAL const real *u)
{
  for (int i = 0; i < n->links && n->nu > n->actuators; ++i) {
    const tree_link l = link_at(n, ints, i);
    if (l.u >= 0) {
      const int at = n->at_back_u + l.u + 3;
      block_put3(k, at, moved_torque(row_get3(k, u, n->nu, l.u + 3), block_get3(k, at)));
    }
  }
}

// ---- relative mobility of links ----

// Starts a pass over a tree without velocity. Links get their twists for joints moving by y and by
// z, which are at these offsets of the back block, and the cotangents of y' M z.
static void still_start(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                        GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *parameters, int shared, int y, int z)
{
  back_clear(k, n);
  back_twists(b, k, n, ints, y, LINK_BACK_TWIST_Y);
  back_twists(b, k, n, ints, z, LINK_BACK_TWIST_Z);
  for (int i = 0; i < n->links; ++i) {
    mass_adjoint(b, k, n, reals, parameters, shared, i, 1);
  }
}

// Adds the gradient of y' M z with respect to q for a tree without velocity. y and z are at these
// offsets of the back block. If `group` is at least 0, it also adds the gradient of the wrench w
// times the group's relative twist, for y as velocity.
static void still_sweep(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                        GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *parameters, int shared, GLOBAL const real *v, int y,
                        int z, int group, const link_wrench *w)
{
  still_start(b, k, n, ints, reals, parameters, shared, y, z);
  if (group >= 0) {
    GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
    const vec c = block_get3(b, n->at_origin + 3 * group_centre(g));
    for (int side = 0; side < 2; ++side) {
      const int link = g[side ? GROUP_B : GROUP_A];
      if (link >= 0) {
        wrench_adjoint(b, k, n, link, n_lit(side ? R(-1.0) : R(1.0)), c, w,
                       pair_first(k, link_adjoint(n, link) + LINK_BACK_TWIST_Y), LINK_BACK_Y);
      }
    }
  }
  back_sweep(b, k, n, ints, y, z, v);
}

// Writes inv(M) times the vector at at_free to `to` of the back block.
static void solve_to(const world_block *b, const world_block *k, GLOBAL const world_sizes *n,
                     GLOBAL const int *ints, int to)
{
  block_solve(b, n, ints, n->at_factor, n->at_free);
  for (int i = 0; i < n->nv; ++i) {
    block_put(k, to + i, block_get(b, n->at_free + i));
  }
}

// Adds the gradient of S : X inv(M) X', where S is the cotangent of a group's mobility.
static void mobility_adjoint(const world_block *b, const world_block *k,
                             GLOBAL const world_sizes *n, GLOBAL const int *ints,
                             GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                             GLOBAL const real *v, int group)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  const int nv = n->nv, x = n->at_columns;
  const vec c = block_get3(b, n->at_origin + 3 * group_centre(g)),
            none = lit3(R(0.0), R(0.0), R(0.0));
  for (int l = 0; l < 6; ++l) { // inv(M) X' at at_columns
    for (int i = 0; i < nv; ++i) {
      block_put(b, n->at_free + i, n_lit(R(0.0)));
    }
    for (int i = 0; i < g[GROUP_DOFS]; ++i) {
      GLOBAL const int *mover = ints + n->at_group_dofs + MOVER_INTS * (g[GROUP_DOF_AT] + i);
      num column[6];
      mover_column(b, n, ints, mover, c, column);
      block_put(b, n->at_free + mover[MOVER_DOF], column[l]);
    }
    block_solve(b, n, ints, n->at_factor, n->at_free);
    for (int i = 0; i < nv; ++i) {
      block_put(b, x + 6 * i + l, block_get(b, n->at_free + i));
    }
  }
  for (int l = 0; l < 6; ++l) {
    const num two = n_lit(R(-2.0)), zero = n_lit(R(0.0));
    const vec unit =
      FN(make)(l % 3 == 0 ? two : zero, l % 3 == 1 ? two : zero, l % 3 == 2 ? two : zero);
    const link_wrench w = {l < 3 ? unit : none, l < 3 ? none : unit};
    for (int i = 0; i < nv; ++i) {
      num sum = zero;
      for (int m = 0; m < 6; ++m) {
        const int high = l > m ? l : m, low = l + m - high;
        const int at = n->at_back_mobility + MOBILITY_PART * group + high * (high + 1) / 2 + low;
        sum = n_mad(block_get(k, at), block_get(b, x + 6 * i + m), sum);
      }
      block_put(k, n->at_back_y + i, n_neg(sum));
      block_put(k, n->at_back_z + i, block_get(b, x + 6 * i + l));
    }
    still_sweep(b, k, n, ints, reals, parameters, shared, v, n->at_back_y, n->at_back_z, group, &w);
  }
}

// Adds the gradient of the diagonal of inv(M). row_adjoint has its cotangent from rows on single
// degrees of freedom.
static void inverse_weights_adjoint(const world_block *b, const world_block *k,
                                    GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                    GLOBAL const real *reals, GLOBAL const real *parameters,
                                    int shared, GLOBAL const real *v,
                                    GLOBAL const real *row_adjoint)
{
  const int nv = n->nv;
  for (int row = 0; row < n->rows; ++row) {
    const int dof = (ints + n->at_rows + ROW_INTS * row)[ROW_V];
    if (row && (ints + n->at_rows + ROW_INTS * (row - 1))[ROW_V] == dof) {
      continue; // an upper limit after a lower one
    }
    const num bar = row_get(b, row_adjoint, ROW_ADJOINT * nv, ROW_BACK_WEIGHT * nv + dof);
    for (int i = 0; i < nv; ++i) {
      block_put(b, n->at_free + i, n_lit(i == dof ? R(1.0) : R(0.0)));
    }
    solve_to(b, k, n, ints, n->at_back_z);
    for (int i = 0; i < nv; ++i) {
      block_put(k, n->at_back_y + i, n_neg(n_mul(bar, block_get(k, n->at_back_z + i))));
    }
    still_sweep(b, k, n, ints, reals, parameters, shared, v, n->at_back_y, n->at_back_z, -1,
                (const link_wrench *)0);
  }
}

// ---- kernels ----

// Returns the moment about a link's origin for the cotangent of the pose of a body on it. `of` is
// the link's rotation. The cotangent of the position is a force, and that of the quaternion is gw
// and g.
static vec pose_moment(FN(quaternion) of, GLOBAL const real *body, vec force, num gw, vec g)
{
  const FN(quaternion) q = FN(quaternion_times)(of, quaternion_real(body + 3));
  const vec turned =
    FN(sub3)(FN(add3)(FN(scale3)(g, q.w), FN(cross3)(q.v, g)), FN(scale3)(q.v, gw));
  return FN(mad3)(turned, n_lit(R(0.5)), FN(cross3)(FN(quaternion_rotate)(of, real3(body)), force));
}

// One work-item converts the cotangent `gradient` (count, 7) of the poses of the bodies of side 0
// or 1 of one of `count` world pairs, starting at `first`, to moment and force on its link. They
// are added to backs (world pairs, GROUP_ADJOINT), whose rows are offset by `at`. The other arrays
// are those of world_pair_poses.
MERGED
ADJOINT_KERNEL void world_poses_adjoint(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                        GLOBAL const real *scratch, GLOBAL const real *bodies,
                                        GLOBAL const int *world_pairs, int first, int side,
                                        GLOBAL const real *gradient, GLOBAL real *backs, int at,
                                        int count)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, first + row, WORLD_PAIR_INTS);
  GLOBAL const real *body = group_body(bodies, world_pair[WORLD_PAIR_GROUP], side),
                    *bar = ROW(gradient, row, 7);
  const int link = group_link(n, ints, world_pair[WORLD_PAIR_GROUP], side);
  if (link < 0) {
    return;
  }
  const world_one o = one_at(scratch, n, world_pair[WORLD_PAIR_WORLD]);
  const FN(quaternion) of = one_quaternion(&o, n->at_quaternion + 4 * link);
  GLOBAL real *to =
    ROW(backs, at + first + row, GROUP_ADJOINT) + (side ? BACK_POSE_B : BACK_POSE_A);
  const vec moment = pose_moment(of, body, real3(bar), n_lit(bar[3]), real3(bar + 4));
  put_part(to, FN(add3)(real3(to), moment));
  for (int k = 0; k < 3; ++k) {
    to[3 + k] += bar[k];
  }
}

// One work-item starts the reverse pass of a solve in a block of worlds, from the multipliers y
// (worlds, nv), the accelerations (worlds, nv), and the contributions of rows (row_adjoint). The
// block already has the contributions of the step's end to q and v: see world_euler_adjoint.
ADJOINT_KERNEL void world_tree_adjoint_start(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                             GLOBAL const real *reals, GLOBAL const real *v,
                                             GLOBAL const real *acceleration, GLOBAL const real *y,
                                             GLOBAL const real *parameters, int shared,
                                             GLOBAL const real *row_adjoint, GLOBAL real *scratch,
                                             GLOBAL real *memory, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (b.first > b.last) {
    return;
  }
  for (int i = 0; i < nv; ++i) {
    block_put(&k, n->at_back_y + i, n_neg(row_get(&b, y, nv, i)));
    block_put(&k, n->at_back_z + i, row_get(&b, acceleration, nv, i));
    block_add(&k, n->at_back_q + i, row_get(&b, row_adjoint, ROW_ADJOINT * nv, i));
    block_add(&k, n->at_back_v + i, row_get(&b, row_adjoint, ROW_ADJOINT * nv, nv + i));
  }
  for (int i = n->actuators; i < n->nu && !n->hard; ++i) { // else world_hard_shares_start did it
    block_put(&k, n->at_back_u + i, n_lit(R(0.0)));
  }
  back_clear(&k, n);
  back_twists(&b, &k, n, ints, n->at_back_y, LINK_BACK_TWIST_Y);
  back_twists(&b, &k, n, ints, n->at_back_z, LINK_BACK_TWIST_Z);
  tree_accelerations(&b, n, ints, v, acceleration, gravity_of(&b, n, parameters, shared));
  for (int i = 0; i < n->links; ++i) {
    mass_adjoint(&b, &k, n, reals, parameters, shared, i, 0);
  }
}

// After world_active_pairs_adjoint, one work-item completes the reverse pass of a solve in a block
// of worlds. It writes the cotangents of q and v to state (worlds, 2 nv), replacing its contents,
// and those of controls (worlds, nu). Those of parameters are added to the block's.
ADJOINT_KERNEL void world_tree_adjoint(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                       GLOBAL const real *reals, GLOBAL const real *q,
                                       GLOBAL const real *v, GLOBAL const real *u,
                                       GLOBAL const real *parameters, int shared,
                                       GLOBAL const real *row_adjoint, GLOBAL real *scratch,
                                       GLOBAL real *memory, GLOBAL real *state,
                                       GLOBAL real *controls, int count)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  const world_block k = back_at(memory, n, (int)get_global_id(0), count);
  const int nv = n->nv;
  if (b.first > b.last) {
    return;
  }
  back_sweep(&b, &k, n, ints, n->at_back_y, n->at_back_z, v);
  forces_adjoint(&b, &k, n, ints, reals, q, v, u);
  if (n->damped) { // M also multiplies the step's acceleration minus the solver's
    still_sweep(&b, &k, n, ints, reals, parameters, shared, v, n->at_back_slow, n->at_back_less, -1,
                (const link_wrench *)0);
  }
  if (n->at_columns != n->numbers) {
    block_factor(&b, n, ints, reals, n->at_mass, n->at_factor, R(0.0));
    for (int i = 0; i < n->groups; ++i) {
      mobility_adjoint(&b, &k, n, ints, reals, parameters, shared, v, i);
    }
    if (n->exact) {
      inverse_weights_adjoint(&b, &k, n, ints, reals, parameters, shared, v, row_adjoint);
    }
  }
  moved_links_adjoint(&k, n, ints, u);
  for (int i = 0; i < nv; ++i) {
    row_put(&b, state, 2 * nv, i, block_get(&k, n->at_back_q + i));
    row_put(&b, state, 2 * nv, nv + i, block_get(&k, n->at_back_v + i));
  }
  for (int i = 0; i < n->nu; ++i) {
    row_put(&b, controls, n->nu, i, block_get(&k, n->at_back_u + i));
  }
}
