// The contributions of active pairs to links, parameters and mobilities in the reverse pass of a
// tree.

// The numbers of one world's reverse pass, to which its active pairs add.
typedef struct back_one {
  GLOBAL real *at;
} back_one;

static back_one back_one_at(GLOBAL real *memory, GLOBAL const world_sizes *n, int world)
{
  return (back_one){ROW(memory, world / LANES, n->back_numbers * LANES) + world % LANES};
}

static vec back_one_get3(const back_one *k, int i)
{
  return lit3(k->at[(size_t)i * LANES], k->at[(size_t)(i + 1) * LANES],
              k->at[(size_t)(i + 2) * LANES]);
}

static void back_one_add(const back_one *k, int i, real x)
{
  k->at[(size_t)i * LANES] += x;
}

static void back_one_add3(const back_one *k, int i, vec v)
{
  back_one_add(k, i, lane_first(v.x));
  back_one_add(k, i + 1, lane_first(v.y));
  back_one_add(k, i + 2, lane_first(v.z));
}

// Like wrench_adjoint, for the wrench of one world.
static void pair_wrench_adjoint(const world_one *o, const back_one *k, GLOBAL const world_sizes *n,
                                int link, num sign, vec c, vec moment, vec of, vec turn, int place)
{
  const vec r = FN(sub3)(c, one_get3(o, n->at_origin + 3 * link));
  const vec force = FN(scale3)(of, sign);
  const int at = link_adjoint(n, link);
  back_one_add3(k, at + place, FN(add3)(FN(scale3)(moment, sign), FN(cross3)(r, force)));
  back_one_add3(k, at + place + 3, force);
  back_one_add3(k, at + LINK_BACK_POSE + 3, FN(neg3)(FN(cross3)(force, turn)));
}

// Adds the cotangents of an automatic group's friction and stiffness to those of its two bodies.
// `rows` are the parameters of a world.
static void bodies_adjoint(const back_one *k, GLOBAL const world_sizes *n, GLOBAL const int *group,
                           GLOBAL const real *rows, real friction, real stiffness)
{
  const int to = n->at_back_parameters + n->links;
  GLOBAL const real *chi = rows + n->links + n->columns;
  const real least = n->zero_stiffness ? R(0.0) : MIN_STIFFNESS;
  for (int side = 0; side < 2; ++side) {
    const int own = group[side ? GROUP_COLUMN_B : GROUP_COLUMN_A];
    const int other = group[side ? GROUP_COLUMN_A : GROUP_COLUMN_B];
    const real ratio = real_max(chi[other], least) / real_max(chi[own], least);
    back_one_add(k, to + own, friction * column_share(n, group, side, rows));
    if (!(chi[own] < least)) { // a parameter raised to its minimum has no derivative
      back_one_add(k, to + n->columns + own,
                   R(0.5) * stiffness * lane_first(lane_sqrt(lane_lit(ratio))));
    }
  }
}

// Propagates the cotangents of a group, back (GROUP_ADJOINT), to its two links and to the
// parameters of its columns. `rows` are the parameters of a world.
static void group_adjoint(const world_one *o, const back_one *k, GLOBAL const world_sizes *n,
                          GLOBAL const int *ints, GLOBAL const real *rows, GLOBAL const real *back,
                          int group)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  const vec c = one_get3(o, n->at_origin + 3 * group_centre(g));
  for (int side = 0; side < 2; ++side) {
    const int link = g[side ? GROUP_B : GROUP_A];
    if (link >= 0) {
      const int at = link_adjoint(n, link);
      const num sign = n_lit(side ? R(-1.0) : R(1.0));
      GLOBAL const real *pose = back + (side ? BACK_POSE_B : BACK_POSE_A);
      // In the tree, y has the opposite sign of the multiplier.
      pair_wrench_adjoint(o, k, n, link, n_neg(sign), c, real3(back + BACK_MULTIPLIER),
                          real3(back + BACK_MULTIPLIER + 3),
                          back_one_get3(k, at + LINK_BACK_TWIST_Y), LINK_BACK_Y);
      pair_wrench_adjoint(o, k, n, link, sign, c, real3(back + BACK_ACCELERATION),
                          real3(back + BACK_ACCELERATION + 3),
                          back_one_get3(k, at + LINK_BACK_TWIST_Z), LINK_BACK_Z);
      pair_wrench_adjoint(o, k, n, link, sign, c, real3(back + BACK_VELOCITY),
                          real3(back + BACK_VELOCITY + 3), one_get3(o, n->at_velocity + 6 * link),
                          LINK_BACK_V);
      back_one_add3(k, at + LINK_BACK_POSE, real3(pose));
      back_one_add3(k, at + LINK_BACK_POSE + 3, real3(pose + 3));
    }
  }
  if (group_is_listed(g)) {
    const int column = n->at_back_parameters + n->links + g[GROUP_COLUMN_A];
    back_one_add(k, column, back[BACK_FRICTION]);
    back_one_add(k, column + n->columns, back[BACK_STIFFNESS]);
  } else {
    bodies_adjoint(k, n, g, rows, back[BACK_FRICTION], back[BACK_STIFFNESS]);
  }
  for (int i = 0; i < MOBILITY_PART && n->at_columns != n->numbers; ++i) {
    back_one_add(k, n->at_back_mobility + MOBILITY_PART * group + i, back[BACK_MOBILITY + i]);
  }
}

// Between world_tree_adjoint_start and world_tree_adjoint, one work-item adds, in one world, the
// contributions of contacts to links, parameters and mobilities, active pair by active pair. backs
// holds world pairs, (world pairs, GROUP_ADJOINT), or, if `dense` is set, all groups of each world,
// (worlds, groups, GROUP_ADJOINT).
ADJOINT_KERNEL void world_active_pairs_adjoint(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *parameters, int shared,
  GLOBAL const real *scratch, GLOBAL const int *world_pairs, GLOBAL const int *list,
  GLOBAL const int *active_pairs, int dense, GLOBAL const real *backs, GLOBAL real *memory,
  int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const world_one o = one_at(scratch, n, world);
  GLOBAL const real *rows = ROW(parameters, shared ? 0 : world, PARAMETERS(n->links, n->columns));
  const back_one k = back_one_at(memory, n, world);
  const int mobility = n->at_columns != n->numbers ? MOBILITY_PART * n->groups : 0;
  for (int i = 0; i < mobility; ++i) {
    k.at[(size_t)(n->at_back_mobility + i) * LANES] = R(0.0);
  }
  if (dense) {
    for (int group = 0; group < n->groups; ++group) {
      group_adjoint(&o, &k, n, ints, rows, ROW(backs, world * n->groups + group, GROUP_ADJOINT),
                    group);
    }
    return;
  }
  GLOBAL const int *own = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  for (int i = 0; i < own[ACTIVE_PAIRS_COUNT]; ++i) {
    const int world_pair = list[own[ACTIVE_PAIRS_AT] + i];
    group_adjoint(&o, &k, n, ints, rows, ROW(backs, world_pair, GROUP_ADJOINT),
                  ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_GROUP]);
  }
}
