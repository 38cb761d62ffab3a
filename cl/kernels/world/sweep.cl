// Sweeping: bodies that would pass through each other within a step are stopped at their contact,
// and the rest of the step continues from there; docs/sweeping.md. The kernel ccd_bodies
// (kernels/ccd/bodies.cl) finds the time of contact. It assumes that a link rotates at a constant
// rate about its joint's position while that position moves on a straight line, which is exact for
// free links.

// ---- contact of bodies ----

static void sweep_open(GLOBAL int *marks, GLOBAL real *state, int active)
{
  marks[SWEEP_ACTIVE] = active;
  marks[SWEEP_GROUP] = -1;
  state[SWEEP_TOI] = R(1.0);
}

// One work-item starts a step of one world: all of the step is left, starting at q (worlds, nq).
KERNEL void world_sweep_start(GLOBAL const world_sizes *n, GLOBAL const real *q,
                              GLOBAL const int *status, GLOBAL real *from, GLOBAL int *marks,
                              GLOBAL real *state, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  for (int k = 0; k < n->nq; ++k) {
    ROW(from, world, n->nq)[k] = ROW(q, world, n->nq)[k];
  }
  ROW(state, world, SWEEP_REALS)[SWEEP_REST] = R(1.0);
  sweep_open(ROW(marks, world, SWEEP_INTS), ROW(state, world, SWEEP_REALS),
             !(status[world] & WORLD_STOPPED));
}

// One work-item places the links of a block of worlds at q (worlds, nq) and u (worlds, nu), in
// separate numbers.
KERNEL void world_place(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *q, GLOBAL const real *u,
                        int count, GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  for (int i = 0; b.first <= b.last && i < n->links; ++i) {
    place_link(&b, n, ints, reals, i, q, u);
  }
}

// One work-item writes the poses of a group's bodies at both ends of one world's motion, four
// arrays (worlds, 7). `bodies` are those of world_poses, with the group's at `at`. If no query is
// needed, poses are 0, which ccd_bodies skips.
KERNEL void world_sweep_poses(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                              GLOBAL const real *reals, GLOBAL const real *bodies, int at,
                              int group, GLOBAL const real *begin, GLOBAL const real *end,
                              GLOBAL const int *marks, GLOBAL real *from1, GLOBAL real *to1,
                              GLOBAL real *from2, GLOBAL real *to2, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  GLOBAL real *const from[2] = {ROW(from1, world, 7), ROW(from2, world, 7)};
  GLOBAL real *const to[2] = {ROW(to1, world, 7), ROW(to2, world, 7)};
  sweep_group s;
  int asks = ROW(marks, world, SWEEP_INTS)[SWEEP_ACTIVE];
  if (asks) {
    sweep_read(&s, n, ints, reals, begin, end, group, world);
    asks = sweep_asks(s.way, s.thin);
  }
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < 7; ++k) {
      from[side][k] = to[side][k] = R(0.0);
    }
    if (asks) {
      sweep_put_pose(&s.from[side], bodies + at + 7 * side, from[side]);
      sweep_put_pose(&s.to[side], bodies + at + 7 * side, to[side]);
    }
  }
}

// One work-item reads the result of ccd_bodies for one group in one world. It records the impact if
// it is the first one so far and the bodies would penetrate deeply after it. from1 and from2 are
// the initial poses. The arguments of meshes are as for ccd_bodies. If the bodies are too near to
// each other for an answer, or meet from inside, so that they overlapped, fast bodies set
// WORLD_FAST. If `noted` is set, fast_links (worlds, 2) gets the links of the first such group.
// `scratch` has the tree of the step's beginning. If `event` is not negative, it is the index of
// the impact among those recorded for derivatives.
KERNEL void world_sweep_least(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals, int group,
  GLOBAL const real *begin, GLOBAL const real *end, GLOBAL const real *from1,
  GLOBAL const real *from2, GLOBAL const real *toi, GLOBAL const unsigned char *found,
  GLOBAL const real *p1, GLOBAL const real *p2, GLOBAL const real *normal, GLOBAL const int *kind,
  GLOBAL const int *feature1, GLOBAL const int *feature2, GLOBAL const int *ints1,
  GLOBAL const real *numbers1, GLOBAL const real *outward1, int edges1, GLOBAL const int *ints2,
  GLOBAL const real *numbers2, GLOBAL const real *outward2, int edges2, GLOBAL const int *places,
  GLOBAL const real *scratch, GLOBAL int *marks, GLOBAL real *state, int event, GLOBAL real *kept,
  GLOBAL int *kept_ints, GLOBAL int *status, GLOBAL int *fast_links, int noted, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const int how = found[world] & ~CCD_ROUGH, meets = how == CCD_HIT || how == CCD_LIMIT;
  GLOBAL real *own = ROW(state, world, SWEEP_REALS);
  const real time = toi[world];
  if (!meets && how != CCD_WITHIN) {
    return;
  }
  sweep_group s;
  sweep_read(&s, n, ints, reals, begin, end, group, world);
  real at[2][3], unit[3], turned = R(0.0);
  for (int k = 0; k < 3; ++k) {
    at[0][k] = ROW(p1, world, 3)[k];
    at[1][k] = ROW(p2, world, 3)[k];
    unit[k] = ROW(normal, world, 3)[k];
  }
  const real back[3] = {-unit[0], -unit[1], -unit[2]};
  const int what = kind[world], corners1 = what == CCD_EDGES             ? 2
                                           : what == CCD_VERTEX_TRIANGLE ? 1
                                                                         : 3;
  const int corners2 = what == CCD_EDGES ? 2 : 4 - corners1;
  sweep_mesh mesh[2] = {{ints1, numbers1, outward1, edges1, s.from[0]},
                        {ints2, numbers2, outward2, edges2, s.from[1]}};
  mesh[0].place = sweep_pose_at(&s.way[0], ROW(from1, world, 7), time);
  mesh[1].place = sweep_pose_at(&s.way[1], ROW(from2, world, 7), time);
  if (!meets || sweep_is_inside(&mesh[0], corners1, feature1[world], back) ||
      sweep_is_inside(&mesh[1], corners2, feature2[world], unit)) {
    const world_one o = one_at(scratch, n, world);
    if (group_is_fast(n, ints, reals, &o, group, REAL_BIG)) {
      status[world] |= WORLD_FAST;
      if (noted) {
        note_fast(n, ints, group, fast_links, world);
      }
    }
    return;
  }
  if (!(time < own[SWEEP_TOI])) {
    return;
  }
  for (int side = 0; side < 2; ++side) {
    real lever[3];
    sweep_cross(s.way[side].turn, unit, lever);
    turned += R(2.0) * s.way[side].radius * sweep_length(lever);
  }
  const real closing = sweep_closing(s.way, at[0], at[1], time, unit);
  // No point of one body can penetrate the other farther along the normal.
  const real most = real_max(closing, R(0.0)) + turned;
  if (!((R(1.0) - time) * most > SWEEP_SHARE * s.thin)) {
    return;
  }
  own[SWEEP_TOI] = time;
  own[SWEEP_STOP] = real_max(time - s.apart / real_max(closing, SWEEP_SLOWEST * most), R(0.0));
  real middle[3], p[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = middle[k] = R(0.5) * (at[0][k] + at[1][k]);
  }
  // If a patch's middle hardly approaches but its rim does, the bodies tilt and meet at the rim.
  sweep_patch patch;
  sweep_centre(&patch, mesh, unit, s.apart, middle);
  const int whole = sweep_closing(s.way, middle, middle, time, unit) > R(0.5) * closing;
  for (int k = 0; k < 3; ++k) {
    own[SWEEP_N + k] = unit[k];
    own[SWEEP_P + k] = whole ? middle[k] : p[k];
  }
  ROW(marks, world, SWEEP_INTS)[SWEEP_GROUP] = group;
  if (event >= 0) {
    const int width = SWEEP_KEPT_REALS(n->nq, n->nv), corners[2] = {corners1, corners2};
    sweep_keep_features(mesh, what, corners, ROW(places, world, 2), &patch, whole,
                        ROW(kept, world, (SWEEP_EVENTS + 1) * width) + event * width,
                        ROW(kept_ints, world, SWEEP_KEPT_ROW) + 1 + SWEEP_KEPT_INTS * event);
  }
}

// ---- the impact ----

static int sweep_hits(const world_block *b, GLOBAL const int *marks)
{
  int some = 0;
  for (int world = b->first; world <= b->last && world < b->first + LANES; ++world) {
    some |= ROW(marks, world, SWEEP_INTS)[SWEEP_GROUP] >= 0;
  }
  return some;
}

// One work-item records, for derivatives, the state before one world's impact: q (worlds, nq),
// where the rest of the step begins, next_q, its planned end, and v (worlds, nv). A world without
// an impact keeps its number of earlier impacts.
ADJOINT_KERNEL void world_sweep_keep(GLOBAL const world_sizes *n, GLOBAL const real *q,
                                     GLOBAL const real *next_q, GLOBAL const real *v,
                                     GLOBAL const int *marks, GLOBAL const real *state, int event,
                                     int last, GLOBAL real *kept, GLOBAL int *kept_ints, int worlds)
{
  const int world = (int)get_global_id(0), nq = n->nq, width = SWEEP_KEPT_REALS(nq, n->nv);
  if (world >= worlds) {
    return;
  }
  const int group = ROW(marks, world, SWEEP_INTS)[SWEEP_GROUP];
  GLOBAL int *row = ROW(kept_ints, world, SWEEP_KEPT_ROW),
             *ints = row + 1 + SWEEP_KEPT_INTS * event;
  GLOBAL real *own = ROW(kept, world, (SWEEP_EVENTS + 1) * width) + event * width,
              *at = own + SWEEP_KEPT_STATE;
  row[0] = event == 0 ? 0 : row[0];
  if (group < 0) {
    return;
  }
  row[0] = event + 1;
  ints[SWEEP_KEPT_GROUP] = group;
  ints[SWEEP_KEPT_LAST] = last;
  own[SWEEP_KEPT_TOI] = ROW(state, world, SWEEP_REALS)[SWEEP_TOI];
  own[SWEEP_KEPT_REST] = ROW(state, world, SWEEP_REALS)[SWEEP_REST];
  for (int k = 0; k < nq; ++k) {
    at[k] = ROW(q, world, nq)[k];
    at[nq + k] = ROW(next_q, world, nq)[k];
  }
  for (int k = 0; k < n->nv; ++k) {
    at[2 * nq + k] = ROW(v, world, n->nv)[k];
  }
}

// One work-item finds the links and the factor of the mass matrix of a block of worlds at the
// contact of bodies, on the way from q to next_q. meet (worlds, nq) gets the positions there. It
// does nothing if no bodies meet.
KERNEL void world_sweep_impact(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                               GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                               GLOBAL const real *q, GLOBAL const real *next_q,
                               GLOBAL const real *u, GLOBAL const int *marks,
                               GLOBAL const real *state, int count, GLOBAL real *meet,
                               GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last || !sweep_hits(&b, marks)) {
    return;
  }
  joints_share(&b, n, ints, q, next_q, row_get(&b, state, SWEEP_REALS, SWEEP_TOI));
  joints_moved(&b, n, ints, q, meet);
  for (int i = 0; i < n->links; ++i) {
    place_link(&b, n, ints, reals, i, meet, u);
  }
  mass_matrix(&b, n, ints, reals, parameters, shared);
  equality_system(&b, n, ints, reals, meet, (GLOBAL const real *)0, lit3(R(0.0), R(0.0), R(0.0)));
  block_factor(&b, n, ints, reals, n->at_system, n->at_factor, R(0.0));
}

// One work-item applies the impulse of the first impact to one world: v (worlds, nv) is its
// velocity before and after. `scratch` is the output of world_sweep_impact. springs are those of
// world_watch. The `last` impact of a step ends the step.
KERNEL void world_sweep_impulse(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                                GLOBAL const real *springs, int given, GLOBAL const real *scratch,
                                GLOBAL const int *marks, GLOBAL real *state, int last,
                                GLOBAL real *work, GLOBAL real *v, GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds || ROW(marks, world, SWEEP_INTS)[SWEEP_GROUP] < 0) {
    return;
  }
  const int group = ROW(marks, world, SWEEP_INTS)[SWEEP_GROUP];
  GLOBAL const int *group_ints = ints + n->at_groups + GROUP_INTS * group;
  GLOBAL const real *of = reals + n->at_group_reals + GROUP_REALS * group;
  GLOBAL real *own = ROW(state, world, SWEEP_REALS), *room = ROW(work, world, SWEEP_WORK(nv));
  const real at[3] = {own[SWEEP_P], own[SWEEP_P + 1], own[SWEEP_P + 2]};
  const world_one o = one_at(scratch, n, world);
  sweep_touch t;
  real p[3];
  sweep_jacobian(n, ints, &o, group, at, room);
  for (int i = 0; i < 3; ++i) {
    t.n[i] = own[SWEEP_N + i];
    t.v[i] = R(0.0);
    for (int d = 0; d < nv; ++d) {
      t.v[i] += room[i * nv + d] * ROW(v, world, nv)[d];
    }
    for (int j = 0; j < 3; ++j) {
      t.k[i][j] = R(0.0);
      for (int d = 0; d < nv; ++d) {
        t.k[i][j] += room[(3 + i) * nv + d] * room[(3 + j) * nv + d];
      }
    }
  }
  GLOBAL const real *own_parameters =
    shared ? parameters : ROW(parameters, world, PARAMETERS(n->links, n->columns));
  const real friction = n->pair_springs ? spring_of_pair(n, reals, springs, given, world,
                                                         group_ints[GROUP_PAIR])[SPRING_MU]
                                        : column_friction(n, group_ints, own_parameters);
  t.friction = of[GROUP_FLAT] > R(0.0) ? R(0.0) : friction;
  t.restitution = sweep_dot(t.v, t.n) < -reals[WORLD_BOUNCE] ? of[GROUP_RESTITUTION] : R(0.0);
  sweep_impulse(&t, p);
  sweep_push(n, ints, &o, room, p, ROW(v, world, nv));
  own[SWEEP_REST] = last ? R(0.0) : own[SWEEP_REST] * (R(1.0) - own[SWEEP_STOP]);
  status[world] |= WORLD_SWEPT | (last ? WORLD_SWEEP_LIMIT : 0);
}

static void sweep_copy(const world_block *b, GLOBAL const int *marks, int nq,
                       GLOBAL const real *from, GLOBAL real *to)
{
  for (int world = b->first; world <= b->last && world < b->first + LANES; ++world) {
    for (int k = 0; k < nq && ROW(marks, world, SWEEP_INTS)[SWEEP_GROUP] >= 0; ++k) {
      ROW(to, world, nq)[k] = ROW(from, world, nq)[k];
    }
  }
}

// One work-item completes an impact in a block of worlds. In worlds with an impact, q (worlds, nq)
// becomes the position where bodies were stopped, and next_q the end of the rest of the step from
// there at velocity v (worlds, nv). Only these worlds are checked again. `meet` (worlds, nq) is
// scratch memory.
KERNEL void world_sweep_go(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                           GLOBAL const real *reals, GLOBAL const real *v, GLOBAL int *marks,
                           GLOBAL real *state, int count, GLOBAL real *q, GLOBAL real *next_q,
                           GLOBAL real *meet, GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last) {
    return;
  }
  if (sweep_hits(&b, marks)) {
    joints_share(&b, n, ints, q, next_q, row_get(&b, state, SWEEP_REALS, SWEEP_STOP));
    joints_moved(&b, n, ints, q, meet);
    sweep_copy(&b, marks, n->nq, meet, q);
    const num rest = n_scale(row_get(&b, state, SWEEP_REALS, SWEEP_REST), reals[WORLD_STEP]);
    for (int k = 0; k < n->nv; ++k) {
      block_put(&b, n->at_free + k, n_mul(rest, row_get(&b, v, n->nv, k)));
    }
    joints_moved(&b, n, ints, q, meet);
    sweep_copy(&b, marks, n->nq, meet, next_q);
  }
  for (int world = b.first; world <= b.last && world < b.first + LANES; ++world) {
    GLOBAL int *own = ROW(marks, world, SWEEP_INTS);
    sweep_open(own, ROW(state, world, SWEEP_REALS), own[SWEEP_GROUP] >= 0);
  }
}
