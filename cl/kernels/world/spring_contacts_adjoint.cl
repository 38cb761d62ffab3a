// Derivatives of springs at the manifold's contacts. As in spring_adjoint.cl, a multiplier y
// requires the gradient of y . lambda, here with the velocity that y gives the links at each
// contact. For an implicit step it is the gradient of y . (lambda + h dlambda/du x), with the
// velocity x that the step's acceleration gives them there.

// Writes the twist of link a relative to link b of a group about its centre c if joints move by x
// (nv).
static void contact_spring_twist(const world_one *o, GLOBAL const world_sizes *n,
                                 GLOBAL const int *ints, GLOBAL const int *group, vec3_r c,
                                 GLOBAL const real *x, vec3_r *w, vec3_r *v)
{
  *w = *v = lit3(R(0.0), R(0.0), R(0.0));
  for (int i = 0; i < group[GROUP_DOFS]; ++i) {
    GLOBAL const int *mover = ints + n->at_group_dofs + MOVER_INTS * (group[GROUP_DOF_AT] + i);
    const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
    const tree_link l = link_at(n, ints, link);
    const lane rate = lane_lit((real)mover[MOVER_SIGN] * x[dof]);
    const vec3_r axis = scale3_r(one_get3(o, n->at_axis + 3 * dof), rate);
    const vec3_r joint =
      sub3_r(one_get3(o, n->at_origin + 3 * link), one_get3(o, n->at_arm + 3 * link));
    lane t[6];
    joint_twist_r(dof_turns(&l, dof - l.v), axis, sub3_r(c, joint), t);
    *w = add3_r(*w, make_r(t[0], t[1], t[2]));
    *v = add3_r(*v, make_r(t[3], t[4], t[5]));
  }
}

// The input of a gradient: the twists under y and under x, and the step h, which is 0 if it is not
// implicit.
typedef struct spring_bars {
  vec3_r y_w, y_v, x_w, x_v;
  real step;
} spring_bars;

// Returns the derivatives of LANES contacts' part of the force, divided by their weight and s.
static contact_slopes_r spring_slopes_of(const contact_spring *s, const spring_contacts *c,
                                         const spring_bars *b)
{
  const vec3_r u = spring_velocity(s->w, s->v, c->p), y = spring_velocity(b->y_w, b->y_v, c->p);
  contact_slopes_r r = contact_slopes_of_r(c->n, u, y, &s->law);
  if (b->step > R(0.0)) {
    contact_slopes_ahead_r(c->n, u, y, spring_velocity(b->x_w, b->x_v, c->p), b->step, &s->law, &r);
  }
  return r;
}

// Sums over a world pair's contacts: the wrenches that belong to the twists under y, x and of the
// velocity, in the order of BACK_MULTIPLIER, and then the cotangents of the spring's numbers.
#define SPRING_BACK_LAW 18
#define SPRING_BACK_SUMS (SPRING_BACK_LAW + SPRING_PARAMETER_COUNT)

static void spring_add_wrench(vec3_r p, vec3_r f, lane *sums)
{
  lane six[6];
  row_wrench(p, f, six);
  for (int i = 0; i < 6; ++i) {
    sums[i] += six[i];
  }
}

// Writes the cotangents of p, d, n and activity of LANES contacts, starting at `first`, and adds to
// `sums`. `mean` is the differentiated value over all contacts.
static void spring_pull_block(const contact_spring *s, const spring_bars *b, const spring_least *m,
                              real mean, int first, GLOBAL real *bars, lane sums[SPRING_BACK_SUMS])
{
  const spring_contacts c = spring_contacts_of(s, first);
  const contact_slopes_r r = spring_slopes_of(s, &c, b);
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0)), eps2_inv = one / s->law.eps2;
  const lane ratio = lane_select(c.there, spring_counts(s, &c, m->low) * m->inverse, zero);
  const lane beta = c.weight * ratio, part = c.weight * c.at.soft, strength = beta * part;
  const lane gap = lane_select(c.there, part * r.worth - mean, zero);
  const lane level = -beta * gap * eps2_inv, bare = one - c.weight;
  const lane weight =
    lane_select(c.there, beta * c.at.soft * r.worth, zero) + ratio * gap - level * c.at.soft;
  const lane d = level * (one - bare * c.at.share) + weight * c.weight * c.deep / s->depth -
                 lane_select(c.there, beta * c.weight * c.at.share * r.worth, zero);
  const vec3_r u = select3(c.there, scale3_r(r.u, strength)),
               y = select3(c.there, scale3_r(r.y, strength));
  const vec3_r x = select3(c.there, scale3_r(r.x, strength)),
               n = select3(c.there, scale3_r(r.n, strength));
  const vec3_r p = add3_r(cross3_r(y, b->y_w), add3_r(cross3_r(x, b->x_w), cross3_r(u, s->w)));
  spring_add_wrench(c.p, y, sums + BACK_MULTIPLIER);
  spring_add_wrench(c.p, x, sums + BACK_ACCELERATION);
  spring_add_wrench(c.p, u, sums + BACK_VELOCITY);
  lane *law = sums + SPRING_BACK_LAW;
  law[SPRING_K] += lane_select(c.there, strength * r.worth / s->law.k, zero);
  law[SPRING_MU] += lane_select(c.there, strength * r.mu, zero);
  law[SPRING_V_D] += lane_select(c.there, strength * r.v_d, zero);
  law[SPRING_V_S] += lane_select(c.there, strength * r.v_s, zero);
  law[SPRING_EPS2] += beta * gap * (c.at.level - lane_lit(m->low)) * eps2_inv * eps2_inv;
  law[SPRING_EPS3] +=
    c.at.slope * (level * bare + lane_select(c.there, beta * c.weight * r.worth, zero));
  GLOBAL const int *mark = s->world_pair + WORLD_PAIR_MARKS;
  real side[LANES];
  for (int l = 0; l < LANES; ++l) { // normals of body 2's contacts were reversed
    const int i = first + l;
    side[l] = (i >= mark[1] && i < mark[2]) || (i >= mark[3] && i < mark[4]) ? R(-1.0) : R(1.0);
  }
  put_bars(bars + first, s->plane, p, d, scale3_r(n, lane_load(side)), weight * c.times);
}

// Returns the mean of the differentiated value over a world pair's contacts.
static real spring_mean(const contact_spring *s, const spring_bars *b, const spring_least *m)
{
  lane sum = lane_lit(R(0.0));
  for (int first = 0; first < s->count; first += LANES) {
    const spring_contacts c = spring_contacts_of(s, first);
    const contact_slopes_r r = spring_slopes_of(s, &c, b);
    const lane beta = c.weight * spring_counts(s, &c, m->low) * m->inverse;
    sum += lane_select(c.there, beta * c.weight * c.at.soft * r.worth, lane_lit(R(0.0)));
  }
  return lane_sum(sum);
}

// One work-item finds the cotangents of the contacts of one of `count` world pairs, starting at
// `first`, in `bars`, and those of their group in group_adjoint (world pairs, GROUP_ADJOINT), whose
// rows are offset by `at`. The twist under the multiplier is that of y (worlds, nv), or unit twist
// `basis` if that is at least 0. If `step` is above 0, the step is implicit, with the acceleration
// `ahead` (worlds, nv). numbers (world pairs, SPRING_PARAMETER_COUNT) gets the cotangents of each
// world pair's numbers.
ADJOINT_KERNEL void world_spring_contacts_adjoint(
  GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
  GLOBAL const real *parameters, int shared, GLOBAL const real *given, int with_given,
  GLOBAL const real *scratch, GLOBAL const real *contacts, GLOBAL const int *world_pairs,
  GLOBAL const real *y, int basis, GLOBAL const real *ahead, real step, int first,
  GLOBAL real *bars, GLOBAL real *numbers, GLOBAL real *group_adjoint, int at, int count)
{
  const int i = first + (int)get_global_id(0);
  if (i >= first + count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, i, WORLD_PAIR_INTS);
  const int world = world_pair[WORLD_PAIR_WORLD];
  const world_one o = one_at(scratch, n, world);
  const contact_spring s = contact_spring_of(n, ints, reals, parameters, shared, given, with_given,
                                             &o, contacts, world_pair);
  const spring_least m = spring_least_of(&s);
  const vec3_r none = lit3(R(0.0), R(0.0), R(0.0));
  spring_bars b = {none, none, none, none, step};
  if (basis < 0) {
    contact_spring_twist(&o, n, ints, s.group, s.centre, ROW(y, world, n->nv), &b.y_w, &b.y_v);
  } else {
    const int k = basis % 3;
    const vec3_r unit =
      lit3(k == 0 ? R(1.0) : R(0.0), k == 1 ? R(1.0) : R(0.0), k == 2 ? R(1.0) : R(0.0));
    b.y_w = basis < 3 ? unit : none;
    b.y_v = basis < 3 ? none : unit;
  }
  if (step > R(0.0)) {
    contact_spring_twist(&o, n, ints, s.group, s.centre, ROW(ahead, world, n->nv), &b.x_w, &b.x_v);
  }
  lane sums[SPRING_BACK_SUMS];
  for (int k = 0; k < SPRING_BACK_SUMS; ++k) {
    sums[k] = lane_lit(R(0.0));
  }
  const real mean = spring_mean(&s, &b, &m);
  for (int k = 0; k < s.count; k += LANES) {
    spring_pull_block(&s, &b, &m, mean, k, ROW(bars, world_pair[WORLD_PAIR_AT], BAR_PLANES), sums);
  }
  GLOBAL real *back = ROW(group_adjoint, at + i, GROUP_ADJOINT),
              *law = ROW(numbers, i, SPRING_PARAMETER_COUNT);
  for (int k = 0; k < GROUP_ADJOINT; ++k) {
    back[k] = k < BACK_POSE_A ? lane_sum(sums[k]) : R(0.0);
  }
  for (int k = 0; k < SPRING_PARAMETER_COUNT; ++k) {
    law[k] = lane_sum(sums[SPRING_BACK_LAW + k]);
  }
  GLOBAL const real *of = shared ? parameters
                                 : ROW(parameters, world, PARAMETERS(n->links, n->columns));
  back[BACK_FRICTION] = with_given && group_is_listed(s.group) ? R(0.0) : law[SPRING_MU];
  back[BACK_STIFFNESS] = law[SPRING_K] * lane_first(s.law.k) / spring_scale(n, s.group, of);
  law[SPRING_K] *= spring_scale(n, s.group, of);
}

// One work-item adds the results of world_spring_contacts_adjoint for one world's listed pairs to
// own (worlds, listed pairs, SPRING_PARAMETER_COUNT).
ADJOINT_KERNEL void world_spring_numbers(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                         GLOBAL const int *world_pairs, GLOBAL const int *list,
                                         GLOBAL const int *active_pairs, GLOBAL const real *numbers,
                                         GLOBAL const int *status, GLOBAL real *own, int worlds)
{
  const int world = (int)get_global_id(0);
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  GLOBAL const int *mine = ROW(active_pairs, world, ACTIVE_PAIRS_INTS);
  for (int i = 0; i < mine[ACTIVE_PAIRS_COUNT]; ++i) {
    const int world_pair = list[mine[ACTIVE_PAIRS_AT] + i];
    const int pair =
      (ints + n->at_groups +
       GROUP_INTS * ROW(world_pairs, world_pair, WORLD_PAIR_INTS)[WORLD_PAIR_GROUP])[GROUP_PAIR];
    for (int k = 0; k < SPRING_PARAMETER_COUNT && pair < n->listed; ++k) {
      ROW(own, world, SPRING_PARAMETER_COUNT * n->listed)
      [SPRING_PARAMETER_COUNT * pair + k] += ROW(numbers, world_pair, SPRING_PARAMETER_COUNT)[k];
    }
  }
}

// One work-item makes the cotangents of one of `count` world pairs' groups, group_adjoint (world
// pairs, GROUP_ADJOINT), from those under the six unit twists, basis (6, world pairs,
// GROUP_ADJOINT), and the twist under y (worlds, nv).
ADJOINT_KERNEL void world_spring_basis(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                                       GLOBAL const real *scratch, GLOBAL const int *world_pairs,
                                       GLOBAL const real *y, GLOBAL const real *basis,
                                       GLOBAL real *group_adjoint, int count)
{
  const int i = (int)get_global_id(0);
  if (i >= count) {
    return;
  }
  GLOBAL const int *world_pair = ROW(world_pairs, i, WORLD_PAIR_INTS),
                   *g = ints + n->at_groups + GROUP_INTS * world_pair[WORLD_PAIR_GROUP];
  const world_one o = one_at(scratch, n, world_pair[WORLD_PAIR_WORLD]);
  vec3_r w, v;
  contact_spring_twist(&o, n, ints, g, one_get3(&o, n->at_origin + 3 * group_centre(g)),
                       ROW(y, world_pair[WORLD_PAIR_WORLD], n->nv), &w, &v);
  const real twist[6] = {lane_first(w.x), lane_first(w.y), lane_first(w.z),
                         lane_first(v.x), lane_first(v.y), lane_first(v.z)};
  GLOBAL const real *from = ROW(basis, i, GROUP_ADJOINT);
  for (int k = 0; k < GROUP_ADJOINT; ++k) {
    real sum = R(0.0);
    for (int j = 0; j < 6; ++j) {
      sum += twist[j] * ROW(from, j, (size_t)GROUP_ADJOINT * count)[k];
    }
    // The first wrench is that of the contacts themselves, which does not depend on y.
    ROW(group_adjoint, i, GROUP_ADJOINT)[k] = k < BACK_ACCELERATION ? from[k] : sum;
  }
}
