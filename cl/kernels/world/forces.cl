// Inverse dynamics (docs/dev/cone-formulas.md, section 5), and the other forces on joints: springs,
// dampers and actuators (section 6).

// ---- inverse dynamics ----

// Writes, for each link, the force and the moment about its origin that its acceleration
// (at_acceleration) requires.
static void tree_forces(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const real *reals,
                        GLOBAL const real *parameters, int shared)
{
  const int width = PARAMETERS(n->links, n->columns);
  for (int i = 0; i < n->links; ++i) {
    const link_mass m = mass_of(b, n, reals, i);
    const num scale = parameter_get(b, parameters, width, i, shared);
    const vec w = block_get3(b, n->at_velocity + 6 * i);
    const vec alpha = block_get3(b, n->at_acceleration + 6 * i);
    const vec a = FN(carried)(block_get3(b, n->at_acceleration + 6 * i + 3), alpha, w, m.com);
    const vec force = FN(scale3)(a, n_mul(m.mass, scale));
    const vec spin = FN(inertia_times)(m.diagonal, m.products, w);
    const vec turn =
      FN(add3)(FN(inertia_times)(m.diagonal, m.products, alpha), FN(cross3)(w, spin));
    block_put3(b, n->at_force + 6 * i, force);
    block_put3(b, n->at_force + 6 * i + 3,
               FN(add3)(FN(cross3)(m.com, force), FN(scale3)(turn, scale)));
  }
}

// Adds up the links' forces towards the roots. `out`, in the worlds' numbers, gets the generalised
// force of each degree of freedom, without that of armature.
static void tree_gather(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        int out)
{
  for (int i = n->links - 1; i >= 0; --i) {
    const tree_link l = link_at(n, ints, i);
    const vec force = block_get3(b, n->at_force + 6 * i);
    const vec arm = block_get3(b, n->at_arm + 3 * i);
    const vec moment = FN(add3)(block_get3(b, n->at_force + 6 * i + 3), FN(cross3)(arm, force));
    for (int k = 0; k < l.dofs; ++k) {
      const vec axis = block_get3(b, n->at_axis + 3 * (l.v + k));
      block_put(b, out + l.v + k, FN(dot3)(axis, dof_turns(&l, k) ? moment : force));
    }
    if (l.parent >= 0) {
      const vec anchor = block_get3(b, n->at_anchor + 3 * i);
      block_add3(b, n->at_force + 6 * l.parent, force);
      block_add3(b, n->at_force + 6 * l.parent + 3, FN(add3)(moment, FN(cross3)(anchor, force)));
    }
  }
}

// ---- other forces ----

static void add_springs(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *q, int out)
{
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    GLOBAL const real *own = reals + n->at_link_reals + LINK_REALS * i;
    const real k = own[LINK_STIFFNESS];
    if (k != R(0.0) && JOINT_HAS_QUATERNION(l.type)) {
      const vec s = FN(quaternion_log)(quaternion_row(b, q, n->nq, l.q));
      block_add3(b, out + l.v, FN(scale3)(s, n_lit(-k)));
    } else if (k != R(0.0)) {
      block_add(b, out + l.v, n_scale(n_shift(row_get(b, q, n->nq, l.q), -own[LINK_REST]), -k));
    }
  }
}

// Returns x clipped, and sets *within to 0 in each lane in which x is not between the limits.
static num actuator_clip(num x, real least, real most, lane *within)
{
  const n_mask low = n_value(x) <= n_plain(least), high = n_value(x) >= n_plain(most);
  *within = lane_select(low, lane_lit(R(0.0)), lane_select(high, lane_lit(R(0.0)), *within));
  return n_select(low, n_lit(least), n_select(high, n_lit(most), x));
}

// Returns the force of an actuator before its gear, clipped to its limits. *within is its
// derivative with respect to the unclipped force: 1 in each lane between the limits, else 0.
// *control_slope is the same for the control.
static num actuator_force(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                          GLOBAL const real *reals, int i, GLOBAL const real *q,
                          GLOBAL const real *v, GLOBAL const real *u, lane *within,
                          lane *control_slope)
{
  GLOBAL const int *a = ints + n->at_actuators + ACTUATOR_INTS * i;
  GLOBAL const real *own = reals + n->at_actuator_reals + ACTUATOR_REALS * i;
  const real gear = own[ACTUATOR_GEAR];
  num control = row_get(b, u, n->nu, i);
  *within = *control_slope = lane_lit(R(1.0));
  if (a[ACTUATOR_CLAMPED]) {
    control = actuator_clip(control, own[ACTUATOR_LEAST], own[ACTUATOR_MOST], control_slope);
  }
  num f = n_add(n_scale(control, own[ACTUATOR_GAIN]), n_lit(own[ACTUATOR_BIAS]));
  if (a[ACTUATOR_FEELS]) {
    const int t = a[ACTUATOR_TENDON];
    const num length = n_scale(t < 0 ? row_get(b, q, n->nq, a[ACTUATOR_Q])
                                     : coordinate_sum(b, n, ints, reals, t, q, n->nq, MEMBER_Q),
                               gear);
    const num speed = n_scale(t < 0 ? row_get(b, v, n->nv, a[ACTUATOR_V])
                                    : coordinate_sum(b, n, ints, reals, t, v, n->nv, MEMBER_V),
                              gear);
    f = n_add(f, n_sub(n_scale(n_sub(control, length), own[ACTUATOR_KP]),
                       n_scale(speed, own[ACTUATOR_KV])));
  }
  return a[ACTUATOR_LIMITED] ? actuator_clip(f, own[ACTUATOR_LOW], own[ACTUATOR_HIGH], within) : f;
}

// Adds x, a force on the actuator's joint or tendon, to the forces of joints at `out`.
static void actuator_push(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                          GLOBAL const real *reals, int i, num x, int out)
{
  GLOBAL const int *a = ints + n->at_actuators + ACTUATOR_INTS * i;
  if (a[ACTUATOR_TENDON] < 0) {
    block_add(b, out + a[ACTUATOR_V], x);
  } else {
    coordinate_add(b, n, ints, reals, a[ACTUATOR_TENDON], x, out, 1);
  }
}

// Returns how far a tendon's length is below or above the range in which its spring is slack, or 0
// within that range.
static num tendon_off(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                      GLOBAL const real *reals, int i, GLOBAL const real *q)
{
  GLOBAL const real *own = reals + n->at_tendon_reals + TENDON_REALS * i;
  const num length = coordinate_sum(b, n, ints, reals, i, q, n->nq, MEMBER_Q);
  const num low = n_shift(length, -own[TENDON_LOW]), high = n_shift(length, -own[TENDON_HIGH]);
  const n_mask below = n_value(low)<n_plain(R(0.0)), above = n_value(high)> n_plain(R(0.0));
  return n_select(below, low, n_select(above, high, n_lit(R(0.0))));
}

// Returns the force of a tendon's spring and damper along its length. *stiffness is 0 if the spring
// is slack.
static num tendon_force(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, int i, GLOBAL const real *q, GLOBAL const real *v,
                        num *stiffness)
{
  GLOBAL const real *own = reals + n->at_tendon_reals + TENDON_REALS * i;
  const num off = tendon_off(b, n, ints, reals, i, q),
            speed = coordinate_sum(b, n, ints, reals, i, v, n->nv, MEMBER_V);
  const n_mask below = n_value(off)<n_plain(R(0.0)), above = n_value(off)> n_plain(R(0.0));
  const num stiff = n_lit(own[TENDON_STIFFNESS]);
  *stiffness = n_select(below, stiff, n_select(above, stiff, n_lit(R(0.0))));
  return n_smad(off, -own[TENDON_STIFFNESS], n_scale(speed, -own[TENDON_DAMPING]));
}

// Writes the generalised forces of dampers, springs, tendons and actuators to `out`, in the worlds'
// numbers.
static void other_forces(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                         GLOBAL const real *u, int out)
{
  for (int k = 0; k < n->nv; ++k) {
    block_put(b, out + k,
              n_scale(row_get(b, v, n->nv, k),
                      -reals[n->at_dof_reals + DOF_REALS * k + DOF_DAMPING]));
  }
  add_springs(b, n, ints, reals, q, out);
  for (int i = 0; i < n->tendons; ++i) {
    num stiffness;
    const num f = tendon_force(b, n, ints, reals, i, q, v, &stiffness);
    coordinate_add(b, n, ints, reals, i, f, out, 1);
  }
  for (int i = 0; i < n->actuators; ++i) {
    lane within, control_slope;
    const real gear = reals[n->at_actuator_reals + ACTUATOR_REALS * i + ACTUATOR_GEAR];
    const num f = actuator_force(b, n, ints, reals, i, q, v, u, &within, &control_slope);
    actuator_push(b, n, ints, reals, i, n_scale(f, gear), out);
  }
}

static vec gravity_of(const world_block *b, GLOBAL const world_sizes *n,
                      GLOBAL const real *parameters, int shared)
{
  const int width = PARAMETERS(n->links, n->columns), at = width - 3;
  return FN(make)(parameter_get(b, parameters, width, at, shared),
                  parameter_get(b, parameters, width, at + 1, shared),
                  parameter_get(b, parameters, width, at + 2, shared));
}
