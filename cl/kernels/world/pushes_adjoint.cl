// The reverse pass of contact forces, in addition to that of accelerations (contacts_adjoint.cl):
// docs/dev/cone-formulas.md, section 10. Forces depend on the acceleration, which gets a cotangent
// here. Their moments depend on the positions of centres of mass.

// One work-item adds the contribution of contact forces to b (worlds, nv), the cotangent of one
// world's acceleration. group_adjoint (world pairs, GROUP_ADJOINT) is the output of
// world_contacts_adjoint for the cotangents of forces only. A world without a factor, good
// (worlds), has no contribution.
ADJOINT_KERNEL void world_pushes_acceleration(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *parameters, int shared, GLOBAL const real *scratch,
  GLOBAL const real *contacts, GLOBAL const int *world_pairs, GLOBAL const int *list,
  GLOBAL const int *active_pairs, GLOBAL real *work, GLOBAL const int *good,
  GLOBAL const real *group_adjoint, GLOBAL real *b, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || !good[world]) {
    return;
  }
  const newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs,
                             list, active_pairs, work, world);
  for (int active = 0; active < s.active_count; ++active) {
    const int world_pair = world_pair_of(&s, active);
    const newton_group g = bare_group(&s, world_pair);
    GLOBAL const real *by = ROW(group_adjoint, world_pair, GROUP_ADJOINT) + BACK_ACCELERATION;
    for (int k = 0; k < g.ints[GROUP_DOFS]; ++k) {
      real column[6], sum = R(0.0);
      group_column(&s, &g, k, column);
      for (int i = 0; i < 6; ++i) {
        sum += column[i] * by[i];
      }
      ROW(b, world, n->nv)[mover_at(&s, &g, k)[MOVER_DOF]] += sum;
    }
  }
}

// Between world_active_pairs_adjoint and world_tree_adjoint, one work-item adds, in one world, the
// effect of the positions of centres of mass on the links' moments; bars (worlds, links, 6).
ADJOINT_KERNEL void world_pushes_poses(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                       GLOBAL const real *reals, GLOBAL const real *scratch,
                                       GLOBAL const int *world_pairs, GLOBAL const int *list,
                                       GLOBAL const int *active_pairs, GLOBAL const int *good,
                                       GLOBAL const real *group_adjoint, GLOBAL const real *bars,
                                       GLOBAL real *memory, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || !good[world]) {
    return;
  }
  const world_one o = one_at(scratch, n, world);
  const back_one k = back_one_at(memory, n, world);
  GLOBAL const int *own = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  for (int i = 0; i < own[ACTIVE_PAIRS_COUNT]; ++i) {
    const int world_pair = list[own[ACTIVE_PAIRS_AT] + i];
    GLOBAL const int *g =
      ints + n->at_groups +
      GROUP_INTS * ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_GROUP];
    for (int side = 0; side < 2; ++side) {
      const int link = g[side ? GROUP_B : GROUP_A];
      if (link >= 0) {
        const vec3_r force =
          scale3_r(real3(ROW(group_adjoint, world_pair, GROUP_ADJOINT) + BACK_MULTIPLIER + 3),
                   lane_lit(side ? R(-1.0) : R(1.0)));
        const vec3_r middle = cross3_r(real3(ROW(bars, world, 6 * n->links) + 6 * link + 3), force);
        const int at = link_adjoint(n, link) + LINK_BACK_POSE;
        back_one_add3(&k, at, cross3_r(link_middle(&o, n, reals, link), middle));
        back_one_add3(&k, at + 3, middle);
      }
    }
  }
}
