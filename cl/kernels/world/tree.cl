// The kernels that process the tree of each world: links, mass matrix, forces, poses of bodies,
// energy.

// Places all links by q and u and writes their twists from v.
static void tree_move(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                      GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                      GLOBAL const real *u)
{
  for (int i = 0; i < n->links; ++i) {
    place_link(b, n, ints, reals, i, q, u);
  }
  tree_twists(b, n, ints, v, n->at_velocity);
}

// One work-item computes the trees of a block of LANES worlds. From q (worlds, nq), v (worlds, nv),
// u (worlds, nu) and the parameters it fills the worlds' numbers in scratch: poses and twists of
// links, mass matrix M and its factor, bias c, the force f - c at at_smooth and the acceleration a0
// = inv(M) (f - c) at at_free; docs/dev/cone-formulas.md, sections 4 to 6. With equalities the
// factor is that of M + J' D J, and the acceleration includes them. singular (worlds) is 0 if M is
// positive definite, else 1. Worlds that have stopped or have invalid input are also computed.
KERNEL void world_tree(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                       GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                       GLOBAL const real *u, GLOBAL const real *parameters, int shared, int count,
                       GLOBAL real *scratch, GLOBAL real *singular)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  tree_move(&b, n, ints, reals, q, v, u);
  mass_matrix(&b, n, ints, reals, parameters, shared);
  lane worst = block_factor(&b, n, ints, reals, n->at_mass, n->at_mass_factor, R(0.0));
  tree_accelerations(&b, n, ints, v, (GLOBAL const real *)0, gravity_of(&b, n, parameters, shared));
  tree_forces(&b, n, reals, parameters, shared);
  tree_gather(&b, n, ints, n->at_bias);
  other_forces(&b, n, ints, reals, q, v, u, n->at_smooth);
  for (int k = 0; k < n->nv; ++k) {
    const num f = n_sub(block_get(&b, n->at_smooth + k), block_get(&b, n->at_bias + k));
    block_put(&b, n->at_smooth + k, f);
    block_put(&b, n->at_unheld + k, f);
    block_put(&b, n->at_free + k, f);
  }
  block_solve(&b, n, ints, n->at_mass_factor, n->at_unheld);
  if (n->equalities) {
    equality_system(&b, n, ints, reals, q, v, FN(neg3)(gravity_of(&b, n, parameters, shared)));
    worst *= block_factor(&b, n, ints, reals, n->at_system, n->at_factor, R(0.0));
    block_solve(&b, n, ints, n->at_factor, n->at_free);
  }
  store_part(singular, NO_ORDER, 0, b.first, count, 1, R(1.0) - worst);
}

// One work-item finds the poses of one body in a block of worlds, poses (worlds, 7), in the form
// that the manifold's kernels use: position, quaternion (w, x, y, z). `body` holds, at `at`, its
// position and quaternion on the link. Link -1 is the world.
KERNEL void world_poses(GLOBAL const world_sizes *n, GLOBAL real *scratch, GLOBAL const real *body,
                        int at, int link, int count, GLOBAL real *poses)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  vec x = real3(body + at);
  FN(quaternion) q = quaternion_real(body + at + 3);
  if (link >= 0) {
    const FN(quaternion) of = block_quaternion(&b, n->at_quaternion + 4 * link);
    x = FN(add3)(block_get3(&b, n->at_origin + 3 * link), FN(quaternion_rotate)(of, x));
    q = FN(quaternion_times)(of, q);
  }
  row_put3(&b, poses, 7, 0, x);
  row_put(&b, poses, 7, 3, q.w);
  row_put3(&b, poses, 7, 4, q.v);
}

// ---- energy and momentum ----

// Returns the energy of the springs of joints and tendons.
static num spring_energy(const world_block *b, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, GLOBAL const real *q)
{
  num sum = n_lit(R(0.0));
  for (int i = 0; i < n->links; ++i) {
    const tree_link l = link_at(n, ints, i);
    GLOBAL const real *own = reals + n->at_link_reals + LINK_REALS * i;
    const real stiffness = own[LINK_STIFFNESS];
    if (stiffness != R(0.0) && JOINT_HAS_QUATERNION(l.type)) {
      const vec s = FN(quaternion_log)(quaternion_row(b, q, n->nq, l.q));
      sum = n_smad(FN(dot3)(s, s), R(0.5) * stiffness, sum);
    } else if (stiffness != R(0.0)) {
      const num s = n_shift(row_get(b, q, n->nq, l.q), -own[LINK_REST]);
      sum = n_smad(n_mul(s, s), R(0.5) * stiffness, sum);
    }
  }
  for (int i = 0; i < n->tendons; ++i) {
    const num off = tendon_off(b, n, ints, reals, i, q);
    sum = n_smad(n_mul(off, off),
                 R(0.5) * reals[n->at_tendon_reals + TENDON_REALS * i + TENDON_STIFFNESS], sum);
  }
  return sum;
}

// One work-item finds energy and momentum of a block of worlds, out (worlds, ENERGY_REALS), from q,
// v, u and the parameters; docs/dev/cone-formulas.md, section 12. It recomputes the tree in
// scratch.
KERNEL void world_energy(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *v,
                         GLOBAL const real *u, GLOBAL const real *parameters, int shared, int count,
                         GLOBAL real *scratch, GLOBAL real *out)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  tree_move(&b, n, ints, reals, q, v, u);
  const vec gravity = gravity_of(&b, n, parameters, shared);
  num kinetic = n_lit(R(0.0)), potential = spring_energy(&b, n, ints, reals, q);
  vec linear = lit3(R(0.0), R(0.0), R(0.0)), angular = linear;
  for (int i = 0; i < n->links; ++i) {
    const link_mass m = mass_of(&b, n, reals, i);
    const num scale = parameter_get(&b, parameters, PARAMETERS(n->links, n->columns), i, shared);
    const num mass = n_mul(m.mass, scale);
    const vec w = block_get3(&b, n->at_velocity + 6 * i);
    const vec speed = FN(add3)(block_get3(&b, n->at_velocity + 6 * i + 3), FN(cross3)(w, m.com));
    const vec spin = FN(scale3)(FN(inertia_times)(m.diagonal, m.products, w), scale);
    const vec at = FN(add3)(block_get3(&b, n->at_origin + 3 * i), m.com);
    const vec push = FN(scale3)(speed, mass);
    kinetic = n_smad(n_add(FN(dot3)(push, speed), FN(dot3)(spin, w)), R(0.5), kinetic);
    potential = n_sub(potential, n_mul(mass, FN(dot3)(gravity, at)));
    linear = FN(add3)(linear, push);
    angular = FN(add3)(angular, FN(add3)(FN(cross3)(at, push), spin));
  }
  for (int k = 0; k < n->nv; ++k) {
    const num rate = row_get(&b, v, n->nv, k);
    kinetic = n_smad(n_mul(rate, rate),
                     R(0.5) * reals[n->at_dof_reals + DOF_REALS * k + DOF_ARMATURE], kinetic);
  }
  row_put(&b, out, ENERGY_REALS, 0, kinetic);
  row_put(&b, out, ENERGY_REALS, 1, potential);
  row_put3(&b, out, ENERGY_REALS, 2, linear);
  row_put3(&b, out, ENERGY_REALS, 5, angular);
}
