// Springs at the manifold's contacts; docs/dev/spring-formulas.md, "At contacts". The contacts of
// a world pair share one spring: each has the force of the spring at its own depth, weighted by a
// soft minimum over their depths. These kernels run after world_contacts.

// A world pair's contacts, with the spring's numbers and the motion of its links.
typedef struct contact_spring {
  GLOBAL const int *world_pair, *group;
  GLOBAL const real *rows; // CONTACT_PLANES planes of `plane` numbers
  int count, plane;
  real depth; // the depth over which activities rise
  contact_law_r law;
  vec3_r centre, w, v; // the group's centre in the world; the twist of link a relative to b there
} contact_spring;

// Returns the numbers of a world pair's spring, like world_spring_law.
static contact_law_r contact_spring_law(GLOBAL const world_sizes *n, GLOBAL const int *group,
                                        GLOBAL const real *reals, GLOBAL const real *parameters,
                                        int shared, GLOBAL const real *given, int with_given,
                                        int world)
{
  GLOBAL const real *own = spring_of_pair(n, reals, given, with_given, world, group[GROUP_PAIR]);
  GLOBAL const real *of = shared ? parameters
                                 : ROW(parameters, world, PARAMETERS(n->links, n->columns));
  contact_law_r l;
  l.k = lane_lit(own[SPRING_K] * spring_scale(n, group, of));
  l.mu =
    lane_lit(with_given && group_is_listed(group) ? own[SPRING_MU] : column_friction(n, group, of));
  l.v_d = lane_lit(own[SPRING_V_D]);
  l.v_s = lane_lit(own[SPRING_V_S]);
  l.eps2 = lane_lit(own[SPRING_EPS2]);
  l.eps3 = lane_lit(own[SPRING_EPS3]);
  l.smooth = 0;
  return l;
}

static contact_spring contact_spring_of(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                        GLOBAL const real *reals, GLOBAL const real *parameters,
                                        int shared, GLOBAL const real *given, int with_given,
                                        const world_one *o, GLOBAL const real *contacts,
                                        GLOBAL const int *world_pair)
{
  contact_spring s;
  s.world_pair = world_pair;
  s.group = ints + n->at_groups + GROUP_INTS * world_pair[WORLD_PAIR_GROUP];
  s.rows = contacts + (size_t)CONTACT_PLANES * world_pair[WORLD_PAIR_AT];
  s.count = world_pair[WORLD_PAIR_END];
  s.plane = world_pair[WORLD_PAIR_PLANE];
  GLOBAL const real *own = reals + n->at_group_reals + GROUP_REALS * world_pair[WORLD_PAIR_GROUP];
  s.depth = own[GROUP_DEPTH];
  s.law = contact_spring_law(n, s.group, reals, parameters, shared, given, with_given,
                             world_pair[WORLD_PAIR_WORLD]);
  s.law.smooth = own[GROUP_SMOOTH] != R(0.0);
  s.centre = one_get3(o, n->at_origin + 3 * group_centre(s.group));
  s.w = s.v = lit3(R(0.0), R(0.0), R(0.0));
  add_twist(o, n, n->at_velocity, s.group[GROUP_A], R(1.0), s.centre, &s.w, &s.v);
  add_twist(o, n, n->at_velocity, s.group[GROUP_B], R(-1.0), s.centre, &s.w, &s.v);
  return s;
}

// LANES contacts of a world pair: points relative to the group's centre, normals that push body 1,
// distances, and weights, which are activities without their dependence on depth.
typedef struct spring_contacts {
  vec3_r p, n;
  lane d, weight;
  lane times, deep; // weight / activity, and the sigmoid of d over the depth
  contact_depth_r at;
  ilane there; // lanes that have a contact
} spring_contacts;

// Larger arguments of exp are never needed: such contacts have no activity.
#define SPRING_FAR R(60.0)

static spring_contacts spring_contacts_of(const contact_spring *s, int first)
{
  GLOBAL const real *row = s->rows + first;
  const int plane = s->plane;
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  spring_contacts c;
  c.there = lanes_before(first, s->count);
  c.p = select3(c.there, load3(row + CONTACT_POINT * plane, 0, plane));
  c.n = select3(c.there, load3(row + CONTACT_FRAME * plane, 0, plane));
  c.d = lane_select(c.there, load(row + CONTACT_DISTANCE * plane, 0), zero);
  const lane away = lane_min(c.d / s->depth, lane_lit(SPRING_FAR)), rise = lane_exp2(away * LOG2E);
  c.times = one + rise;
  c.deep = rise / c.times;
  c.weight = lane_select(c.there, load(row + CONTACT_ACTIVITY * plane, 0), zero) * c.times;
  c.at = contact_depth_of_r(c.d, c.weight, &s->law);
  return c;
}

// The terms of a soft minimum: the least level, and the inverse of the sum of the contacts' weights
// relative to it.
typedef struct spring_least {
  real low, inverse;
} spring_least;

// Returns the contacts' factors relative to the least level, without their weights.
static lane spring_counts(const contact_spring *s, const spring_contacts *c, real low)
{
  return lane_exp2((lane_lit(low) - c->at.level) / s->law.eps2 * LOG2E);
}

static spring_least spring_least_of(const contact_spring *s)
{
  const lane zero = lane_lit(R(0.0));
  lane lows = lane_lit(REAL_MOST), sum = zero;
  for (int first = 0; first < s->count; first += LANES) {
    const spring_contacts c = spring_contacts_of(s, first);
    lows = lane_min(lows, lane_select(c.there, c.at.level, lane_lit(REAL_MOST)));
  }
  spring_least m = {lane_least(lows), R(0.0)};
  for (int first = 0; first < s->count; first += LANES) {
    const spring_contacts c = spring_contacts_of(s, first);
    sum += lane_select(c.there, c.weight * spring_counts(s, &c, m.low), zero);
  }
  m.inverse = R(1.0) / lane_sum(sum);
  return m;
}

static vec3_r spring_velocity(vec3_r w, vec3_r v, vec3_r p)
{
  return add3_r(v, cross3_r(w, p));
}

// Returns the forces of LANES contacts on body 1, each multiplied by its share.
static vec3_r spring_contact_forces(const contact_spring *s, const spring_contacts *c,
                                    const spring_least *m)
{
  const contact_push_r f = contact_push_of_r(c->n, spring_velocity(s->w, s->v, c->p), &s->law);
  const lane beta = c->weight * spring_counts(s, c, m->low) * m->inverse;
  return select3(c->there, scale3_r(f.way, f.damping * beta * c->weight * c->at.soft));
}

// One work-item finds the wrench on body 1 of one of `count` world pairs about its group's centre,
// moment and force, in sums (world pairs, SPRING_SUMS).
KERNEL void world_spring_contacts(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                  GLOBAL const real *reals, GLOBAL const real *parameters,
                                  int shared, GLOBAL const real *given, int with_given,
                                  GLOBAL const real *scratch, GLOBAL const real *contacts,
                                  GLOBAL const int *world_pairs, GLOBAL real *sums, int count)
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
  vec3_r force = lit3(R(0.0), R(0.0), R(0.0)), moment = force;
  for (int first = 0; first < s.count; first += LANES) {
    const spring_contacts c = spring_contacts_of(&s, first);
    const vec3_r f = spring_contact_forces(&s, &c, &m);
    force = add3_r(force, f);
    moment = add3_r(moment, cross3_r(c.p, f));
  }
  GLOBAL real *to = ROW(sums, i, SPRING_SUMS);
  store_sum3(to, SPRING_SUMS, moment);
  store_sum3(to + 3, SPRING_SUMS, force);
}

// Adds the wrench `by` (moment, force) about c, times `sign`, to the force and the moment on a link
// at its origin, in the numbers of one world.
static void spring_load_link(GLOBAL real *scratch, GLOBAL const world_sizes *n, const world_one *o,
                             int world, int link, real sign, vec3_r c, GLOBAL const real *by)
{
  GLOBAL real *to = ROW(scratch, world / LANES, n->numbers * LANES) + world % LANES;
  const vec3_r force = scale3_r(real3(by + 3), lane_lit(sign));
  const vec3_r lever = sub3_r(c, one_get3(o, n->at_origin + 3 * link));
  const vec3_r moment = add3_r(scale3_r(real3(by), lane_lit(sign)), cross3_r(lever, force));
  const real six[6] = {lane_first(force.x),  lane_first(force.y),  lane_first(force.z),
                       lane_first(moment.x), lane_first(moment.y), lane_first(moment.z)};
  for (int k = 0; k < 6; ++k) {
    to[(size_t)(n->at_force + 6 * link + k) * LANES] += six[k];
  }
}

// One work-item makes the forces on links of one world, at at_force, from the wrenches of its
// active pairs.
KERNEL void world_spring_link_forces(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                     GLOBAL const int *world_pairs, GLOBAL const int *list,
                                     GLOBAL const int *active_pairs, GLOBAL const real *sums,
                                     GLOBAL real *scratch, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds) {
    return;
  }
  const world_one o = one_at(scratch, n, world);
  GLOBAL real *to = ROW(scratch, world / LANES, n->numbers * LANES) + world % LANES;
  for (int i = 0; i < 6 * n->links; ++i) {
    to[(size_t)(n->at_force + i) * LANES] = R(0.0);
  }
  GLOBAL const int *own = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  for (int i = 0; i < own[ACTIVE_PAIRS_COUNT]; ++i) {
    const int world_pair = list[own[ACTIVE_PAIRS_AT] + i];
    GLOBAL const int *g =
      ints + n->at_groups +
      GROUP_INTS * ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_GROUP];
    const vec3_r c = one_get3(&o, n->at_origin + 3 * group_centre(g));
    for (int side = 0; side < 2; ++side) {
      const int link = g[side ? GROUP_B : GROUP_A];
      if (link >= 0) {
        spring_load_link(scratch, n, &o, world, link, side ? R(-1.0) : R(1.0), c,
                         ROW(sums, world_pair, SPRING_SUMS));
      }
    }
  }
}

// One work-item writes the forces of one world's contacts by slot, as world_forces does.
KERNEL void world_spring_slots(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                               GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                               GLOBAL const real *given, int with_given, GLOBAL const real *scratch,
                               GLOBAL const real *contacts, GLOBAL const int *world_pairs,
                               GLOBAL const int *list, GLOBAL const int *active_pairs,
                               GLOBAL const int *slots, GLOBAL const int *status, int width,
                               int in_world, GLOBAL real *out, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  const world_one o = one_at(scratch, n, world);
  GLOBAL const int *own = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  for (int i = 0; i < own[ACTIVE_PAIRS_COUNT]; ++i) {
    GLOBAL const int *world_pair =
      ROW(world_pairs, list[own[ACTIVE_PAIRS_AT] + i], WORLD_PAIR_INTS);
    const contact_spring s = contact_spring_of(n, ints, reals, parameters, shared, given,
                                               with_given, &o, contacts, world_pair);
    const spring_least m = spring_least_of(&s);
    for (int first = 0; first < s.count; first += LANES) {
      const spring_contacts c = spring_contacts_of(&s, first);
      vec3_r f = spring_contact_forces(&s, &c, &m);
      if (!in_world) {
        GLOBAL const real *row = s.rows + CONTACT_FRAME * s.plane + first;
        const lane square = dot3_r(c.n, c.n) + R(1e-20); // the rows have the length of the normal
        f = make_r(dot3_r(c.n, f) / square,
                   dot3_r(load3(row + 3 * s.plane, 0, s.plane), f) / square,
                   dot3_r(load3(row + 6 * s.plane, 0, s.plane), f) / square);
      }
      real force[3][LANES];
      lane_store(f.x, force[0]);
      lane_store(f.y, force[1]);
      lane_store(f.z, force[2]);
      for (int l = 0; l < LANES && first + l < s.count; ++l) {
        for (int k = 0; k < 3; ++k) {
          ROW(out, world, width)
          [3 * slots[world_pair[WORLD_PAIR_AT] + first + l] + k] = force[k][l];
        }
      }
    }
  }
}
