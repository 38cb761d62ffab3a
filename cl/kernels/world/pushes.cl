// The forces of a world's contacts: for each world pair a wrench on body 1 and the sum of normal
// forces, and from these the totals of each link and each pair. Each contact law has its own kernel
// for world pairs.

// Sums over contacts, LANES at a time.
typedef struct push_sums {
  vec3_r moment, force;
  lane normal;
} push_sums;

static push_sums push_none(void)
{
  push_sums s;
  s.normal = lane_lit(R(0.0));
  s.moment = s.force = make_r(s.normal, s.normal, s.normal);
  return s;
}

// Adds forces f on body 1 at p, whose components along their normals are `normal`.
static void push_add(push_sums *s, vec3_r p, vec3_r f, lane normal)
{
  s->moment = add3_r(s->moment, cross3_r(p, f));
  s->force = add3_r(s->force, f);
  s->normal += normal;
}

static void push_put(const push_sums *s, GLOBAL real *to)
{
  store_sum3(to, PUSH_REALS, s->moment);
  store_sum3(to + 3, PUSH_REALS, s->force);
  to[PUSH_NORMAL] = lane_sum(s->normal);
}

// One work-item adds up the contact forces of one of `count` world pairs, pushes (world pairs,
// PUSH_REALS), at the accelerations of world_solve.
KERNEL void world_pair_pushes(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                              GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                              GLOBAL const real *scratch, GLOBAL const real *contacts,
                              GLOBAL const int *world_pairs, GLOBAL const int *list,
                              GLOBAL const int *active_pairs, GLOBAL real *work,
                              GLOBAL const real *acceleration, GLOBAL real *pushes, int count)
{
  const int world_pair = (int)get_global_id(0);
  if (world_pair >= count) {
    return;
  }
  const int world = ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_WORLD];
  const newton s = newton_of(n, ints, reals, parameters, shared, scratch, contacts, world_pairs,
                             list, active_pairs, work, world);
  const newton_group g = newton_group_of(&s, world_pair);
  push_sums sums = push_none();
  real t[6];
  group_twist(&s, &g, ROW(acceleration, world, n->nv), t);
  for (int first = 0; first < g.count; first += LANES) {
    contact_there at;
    contact_at(&g, first, t, &at);
    const lane pressed = -at.c.d * at.e.g[0];
    vec3_r f = scale3_r(at.c.f[0], pressed);
    f = mad3_r(at.c.f[1], -at.c.d * at.e.g[1], mad3_r(at.c.f[2], -at.c.d * at.e.g[2], f));
    push_add(&sums, at.c.p, f, pressed * lane_sqrt(dot3_r(at.c.f[0], at.c.f[0])));
  }
  push_put(&sums, ROW(pushes, world_pair, PUSH_REALS));
}

// Adds three numbers, which are equal on all lanes, to a row.
static void add_part(GLOBAL real *to, vec3_r x)
{
  to[0] += lane_first(x.x);
  to[1] += lane_first(x.y);
  to[2] += lane_first(x.z);
}

// One work-item adds up the forces of the hard contacts of one world.
KERNEL void world_hard_pushes(GLOBAL const world_sizes *n, GLOBAL const real *reals,
                              GLOBAL const real *contacts, GLOBAL const int *world_pairs,
                              GLOBAL const int *list, GLOBAL const int *active_pairs,
                              GLOBAL const int *chosen, GLOBAL const real *numbers,
                              GLOBAL const real *f, GLOBAL const int *status, GLOBAL real *pushes,
                              int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  GLOBAL const int *mine = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  GLOBAL const int *own = ROW(chosen, world, HARD_INTS(n->hard, n->rows));
  for (int i = 0; i < mine[ACTIVE_PAIRS_COUNT]; ++i) {
    const push_sums none = push_none();
    push_put(&none, ROW(pushes, list[mine[ACTIVE_PAIRS_AT] + i], PUSH_REALS));
  }
  for (int k = 0; k < own[HARD_COUNT]; ++k) {
    const hard_place c = hard_place_at(contacts, world_pairs, own, k);
    real along[3];
    hard_contact_along(n, numbers, f, world, k, along);
    GLOBAL real *to = ROW(pushes, c.world_pair, PUSH_REALS);
    vec3_r frame[3], force = make_r(lane_lit(R(0.0)), lane_lit(R(0.0)), lane_lit(R(0.0)));
    hard_frame(&c, frame);
    for (int i = 0; i < 3; ++i) {
      force = mad3_r(frame[i], lane_lit(c.side * along[i] / reals[WORLD_STEP]), force);
    }
    const vec3_r p = make_r(lane_lit(c.row[CONTACT_POINT * c.plane]),
                            lane_lit(c.row[(CONTACT_POINT + 1) * c.plane]),
                            lane_lit(c.row[(CONTACT_POINT + 2) * c.plane]));
    add_part(to, cross3_r(p, force));
    add_part(to + 3, force);
    to[PUSH_NORMAL] += along[0] / reals[WORLD_STEP];
  }
}

// One work-item adds up the contact forces of one of `count` world pairs with springs as contacts.
KERNEL void world_spring_pushes(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                                GLOBAL const real *given, int with_given,
                                GLOBAL const real *scratch, GLOBAL const real *contacts,
                                GLOBAL const int *world_pairs, GLOBAL real *pushes, int count)
{
  const int i = (int)get_global_id(0);
  if (i >= count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, i, WORLD_PAIR_INTS);
  const world_one o = one_at(scratch, n, world_pair[WORLD_PAIR_WORLD]);
  const contact_spring s = contact_spring_of(n, ints, reals, parameters, shared, given, with_given,
                                             &o, contacts, world_pair);
  const spring_least m = spring_least_of(&s);
  push_sums sums = push_none();
  for (int first = 0; first < s.count; first += LANES) {
    const spring_contacts c = spring_contacts_of(&s, first);
    const vec3_r f = spring_contact_forces(&s, &c, &m);
    push_add(&sums, c.p, f, dot3_r(c.n, f) / lane_sqrt(dot3_r(c.n, c.n) + R(1e-20)));
  }
  push_put(&sums, ROW(pushes, i, PUSH_REALS));
}

// ---- links and pairs ----

// Returns the centre of mass of a link, relative to its origin.
static vec3_r link_middle(const world_one *o, GLOBAL const world_sizes *n, GLOBAL const real *reals,
                          int link)
{
  GLOBAL const real *com = reals + n->at_link_reals + LINK_REALS * link + LINK_COM;
  return FN(quaternion_rotate)(one_quaternion(o, n->at_quaternion + 4 * link), real3(com));
}

// Adds the wrench `by` (moment, force) about c, times `sign`, to the force on a link and its moment
// about the link's centre of mass.
static void push_link(const world_one *o, GLOBAL const world_sizes *n, GLOBAL const real *reals,
                      int link, real sign, vec3_r c, GLOBAL const real *by, GLOBAL real *to)
{
  const vec3_r force = scale3_r(real3(by + 3), lane_lit(sign));
  const vec3_r arm =
    sub3_r(sub3_r(c, one_get3(o, n->at_origin + 3 * link)), link_middle(o, n, reals, link));
  add_part(to, force);
  add_part(to + 3, add3_r(scale3_r(real3(by), lane_lit(sign)), cross3_r(arm, force)));
}

// One work-item adds up, in one world, the contact forces of its active pairs on links and pairs:
// link_forces (worlds, links, 6), pair_forces (worlds, pairs, 3) and pair_normals (worlds, pairs),
// as far as requested. A stopped world gets zeros.
KERNEL void world_pushes(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, GLOBAL const real *scratch,
                         GLOBAL const int *world_pairs, GLOBAL const int *list,
                         GLOBAL const int *active_pairs, GLOBAL const real *pushes,
                         GLOBAL const int *status, int with_links, GLOBAL real *link_forces,
                         int with_pairs, GLOBAL real *pair_forces, int with_normals,
                         GLOBAL real *pair_normals, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const world_one o = one_at(scratch, n, world);
  GLOBAL const int *own = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  const int count = n->groups && !(status[world] & WORLD_STOPPED) ? own[ACTIVE_PAIRS_COUNT] : 0;
  for (int i = 0; i < 6 * n->links && with_links; ++i) {
    ROW(link_forces, world, 6 * n->links)[i] = R(0.0);
  }
  for (int i = 0; i < 3 * n->pairs && with_pairs; ++i) {
    ROW(pair_forces, world, 3 * n->pairs)[i] = R(0.0);
  }
  for (int i = 0; i < n->pairs && with_normals; ++i) {
    ROW(pair_normals, world, n->pairs)[i] = R(0.0);
  }
  for (int i = 0; i < count; ++i) {
    const int world_pair = list[own[ACTIVE_PAIRS_AT] + i];
    GLOBAL const int *g =
      ints + n->at_groups +
      GROUP_INTS * ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_GROUP];
    GLOBAL const real *by = ROW(pushes, world_pair, PUSH_REALS);
    const vec3_r c = one_get3(&o, n->at_origin + 3 * group_centre(g));
    for (int side = 0; side < 2 && with_links; ++side) {
      const int link = g[side ? GROUP_B : GROUP_A];
      if (link >= 0) {
        push_link(&o, n, reals, link, side ? R(-1.0) : R(1.0), c, by,
                  ROW(link_forces, world, 6 * n->links) + 6 * link);
      }
    }
    for (int k = 0; k < 3 && with_pairs; ++k) {
      ROW(pair_forces, world, 3 * n->pairs)[3 * g[GROUP_PAIR] + k] += by[3 + k];
    }
    if (with_normals) {
      ROW(pair_normals, world, n->pairs)[g[GROUP_PAIR]] += by[PUSH_NORMAL];
    }
  }
}

// ---- the reverse pass ----

// Cotangents of contact forces: link_bars (worlds, links, 6) and pair_bars (worlds, pairs, 3), if
// given. They act as a relative twist of a group's links, because the sum of cotangents times
// forces is the work of the forces along that twist.
typedef struct push_bars {
  GLOBAL const real *links, *pairs;
  int with_links, with_pairs;
} push_bars;

static push_bars push_bars_of(int with_links, GLOBAL const real *links, int with_pairs,
                              GLOBAL const real *pairs)
{
  const push_bars b = {links, pairs, with_links, with_pairs};
  return b;
}

// Adds this twist of a group, about its centre, to `out`.
static void push_twist(const newton *s, const newton_group *g, const push_bars *b, real out[6])
{
  for (int side = 0; side < 2 && b->with_links; ++side) {
    const int link = g->ints[side ? GROUP_B : GROUP_A];
    if (link >= 0) {
      GLOBAL const real *bar = ROW(b->links, s->world, 6 * s->n->links) + 6 * link;
      const lane sign = lane_lit(side ? R(-1.0) : R(1.0));
      const vec3_r turn = scale3_r(real3(bar + 3), sign);
      const vec3_r centre = lit3(g->centre[0], g->centre[1], g->centre[2]);
      const vec3_r arm = sub3_r(sub3_r(centre, one_get3(&s->tree, s->n->at_origin + 3 * link)),
                                link_middle(&s->tree, s->n, s->reals, link));
      const vec3_r move = add3_r(scale3_r(real3(bar), sign), cross3_r(turn, arm));
      out[0] += lane_first(turn.x);
      out[1] += lane_first(turn.y);
      out[2] += lane_first(turn.z);
      out[3] += lane_first(move.x);
      out[4] += lane_first(move.y);
      out[5] += lane_first(move.z);
    }
  }
  for (int k = 0; k < 3 && b->with_pairs; ++k) {
    out[3 + k] += ROW(b->pairs, s->world, 3 * s->n->pairs)[3 * g->ints[GROUP_PAIR] + k];
  }
}
