// What a step tells of itself that no contact does: bodies too fast for it, and contacts that give energy
// which nothing has.

#define GAIN_SHARE R(0.1) // of the kinetic energy
#define GAIN_SAFE R(4.0)  // over the energy of all that moves at the speed at which contacts part

// Where a point of a link (-1: the world), which is at x in the link, is in the world.
static vec3_r watched_place(GLOBAL const world_sizes *n, const world_one *o, int link, vec3_r x)
{
  if (link < 0) {
    return x;
  }
  const int r = n->at_rotation + 9 * link;
  const vec3_r row[3] = {one_get3(o, r), one_get3(o, r + 3), one_get3(o, r + 6)};
  return add3_r(one_get3(o, n->at_origin + 3 * link),
                make_r(dot3_r(row[0], x), dot3_r(row[1], x), dot3_r(row[2], x)));
}

// The velocity of what a link has at a place of the world.
static vec3_r watched_velocity(GLOBAL const world_sizes *n, const world_one *o, int link, vec3_r at)
{
  if (link < 0) {
    const lane zero = lane_lit(R(0.0));
    return make_r(zero, zero, zero);
  }
  return add3_r(one_get3(o, n->at_velocity + 6 * link + 3),
                cross3_r(one_get3(o, n->at_velocity + 6 * link), sub3_r(at, one_get3(o, n->at_origin + 3 * link))));
}

static real watched_length(vec3_r v) { return lane_first(lane_sqrt(dot3_r(v, v))); }

// Whether a group's bodies, near enough to meet, go farther against each other in a step than half of the
// thinner one: by their middles, or by what both have in the middle of where the spheres around them overlap, as
// what turns meets others with its ends.
static int group_is_fast(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                         const world_one *o, int group)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  GLOBAL const real *of = reals + n->at_group_reals + GROUP_REALS * group, *ball = of + GROUP_BALLS;
  if (!(of[GROUP_HALF] > R(0.0))) {
    return 0;
  }
  const int link[2] = {g[GROUP_A], g[GROUP_B]};
  const real radius[2] = {ball[3], ball[BALL_REALS + 3]};
  vec3_r at[2], v[2];
  for (int side = 0; side < 2; ++side) {
    GLOBAL const real *b = ball + BALL_REALS * side;
    at[side] = watched_place(n, o, link[side], make_r(lane_lit(b[0]), lane_lit(b[1]), lane_lit(b[2])));
    v[side] = watched_velocity(n, o, link[side], at[side]);
  }
  const vec3_r between = sub3_r(at[1], at[0]);
  const real apart = watched_length(between);
  // From the first body's middle, as a share of the way to the second's: within both spheres.
  const real low = real_max(-radius[0], apart - radius[1]), high = real_min(radius[0], apart + radius[1]);
  const real share = apart > R(0.0) ? R(0.5) * (low + high) / apart : R(0.0);
  const vec3_r meet = mad3_r(between, lane_lit(share), at[0]);
  const real fast = real_max(watched_length(sub3_r(v[0], v[1])),
                             watched_length(sub3_r(watched_velocity(n, o, link[0], meet),
                                                   watched_velocity(n, o, link[1], meet))));
  const real way = reals[WORLD_STEP] * fast;
  return way > of[GROUP_HALF] && apart < radius[0] + radius[1] + way;
}

// The mass of a world's links that move.
static real moving_mass(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *scales)
{
  real sum = R(0.0);
  for (int i = 0; i < n->links; ++i) {
    int above = i;
    while (above >= 0 && !link_at(n, ints, above).dofs) {
      above = link_at(n, ints, above).parent;
    }
    sum += above < 0 ? R(0.0) : scales[i] * (reals + n->at_link_reals + LINK_REALS * i)[LINK_MASS];
  }
  return sum;
}

// Whether contacts, which push with `push` at a step's beginning, give joints that go from v to v1 more
// energy than springs have: they do not push what parts at more than twice v_d.
static int world_gains(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                       GLOBAL const real *scales, const world_one *o, GLOBAL const real *v,
                       GLOBAL const real *v1, GLOBAL const real *push, real part)
{
  const int nv = n->nv;
  real work = R(0.0), kinetic = R(0.0);
  for (int i = 0; i < nv; ++i) {
    work += R(0.5) * reals[WORLD_STEP] * push[i] * (v[i] + v1[i]);
    for (int k = 0; k <= i; ++k) {
      kinetic += (k < i ? R(1.0) : R(0.5)) * v[i] * one_real(o, n->at_mass + i * nv + k) * v[k];
    }
  }
  const real speed = R(2.0) * part;
  return work > GAIN_SHARE * kinetic +
                  GAIN_SAFE * R(0.5) * moving_mass(n, ints, reals, scales) * speed * speed;
}

// Before the next state is taken, of which v1 are velocities. springs: of each world and pair, where they
// are `given`; with_gain: whether push is that of springs.
KERNEL void world_watch(GLOBAL const world_sizes *n, GLOBAL const int *ints, GLOBAL const real *reals,
                        GLOBAL const real *parameters, int shared, GLOBAL const real *v,
                        GLOBAL const real *v1, GLOBAL const real *push, GLOBAL const real *springs,
                        int given, int with_gain, GLOBAL const real *scratch, GLOBAL int *status, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  int found = 0;
  for (int k = 0; k < nv; ++k) { // a world that stops says why by that alone
    const real x = ROW(v1, world, nv)[k], most = reals[WORLD_DIVERGENCE];
    if (!(x <= most && x >= -most)) {
      return;
    }
  }
  const world_one o = one_at(scratch, n, world);
  for (int i = 0; i < n->groups; ++i) {
    found |= group_is_fast(n, ints, reals, &o, i) ? WORLD_FAST : 0;
  }
  if (with_gain && n->pairs > 0) {
    real part = R(0.0);
    for (int i = 0; i < n->pairs; ++i) {
      part = real_max(part, (given ? ROW(springs, world, SPRING_PARAMETER_COUNT * n->pairs)
                              : reals + n->at_springs)[SPRING_PARAMETER_COUNT * i + SPRING_V_D]);
    }
    GLOBAL const real *scales = shared ? parameters : ROW(parameters, world, PARAMETERS(n->links, n->pairs));
    found |= world_gains(n, ints, reals, scales, &o, ROW(v, world, nv), ROW(v1, world, nv),
                         ROW(push, world, nv), part)
               ? WORLD_GAINED
               : 0;
  }
  status[world] |= found;
}
