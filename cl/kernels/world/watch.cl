// Warnings of a step that contacts do not show: bodies too fast for the step, and springs that add
// impossible energy; docs/simulate.md, "Too fast, too stiff".

#define GAIN_SHARE R(0.1) // gains below this share of the kinetic energy are not reported
#define GAIN_SAFE R(4.0)  // nor are gains below this multiple of the most that springs can give

// Returns the world position of point x of a link's frame. Link -1 is the world.
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

// Returns the velocity of a link's material point at the world position `at`.
static vec3_r watched_velocity(GLOBAL const world_sizes *n, const world_one *o, int link, vec3_r at)
{
  if (link < 0) {
    const lane zero = lane_lit(R(0.0));
    return make_r(zero, zero, zero);
  }
  return add3_r(one_get3(o, n->at_velocity + 6 * link + 3),
                cross3_r(one_get3(o, n->at_velocity + 6 * link),
                         sub3_r(at, one_get3(o, n->at_origin + 3 * link))));
}

static real watched_length(vec3_r v)
{
  return lane_first(lane_sqrt(dot3_r(v, v)));
}

#define SPEED_SLACK R(0.99) // share of a bound that is used, for rounding

// The largest angular velocity of links, and the largest velocity of their origins.
typedef struct watched_speeds {
  real turn, move;
} watched_speeds;

static watched_speeds speeds_of(GLOBAL const world_sizes *n, const world_one *o)
{
  watched_speeds s = {R(0.0), R(0.0)};
  for (int i = 0; i < n->links; ++i) {
    real squares[2];
    for (int k = 0; k < 2; ++k) {
      const int at = n->at_velocity + 6 * i + 3 * k;
      const real x = one_real(o, at), y = one_real(o, at + 1), z = one_real(o, at + 2);
      squares[k] = x * x + y * y + z * z;
    }
    s.turn = real_max(s.turn, squares[0]);
    s.move = real_max(s.move, squares[1]);
  }
  s.turn = real_sqrt(s.turn);
  s.move = real_sqrt(s.move);
  return s;
}

// Returns the largest relative displacement, in a step of h seconds, of a group with that reach,
// from the speeds of all links. Bodies meet within their spheres or between them, where the spheres
// are no farther apart than the displacement, so way <= h (2 move + turn (reach + way)).
static real most_way(const watched_speeds *s, real h, real reach)
{
  const real left = SPEED_SLACK * (R(1.0) - h * s->turn);
  return left > R(0.0) ? h * (R(2.0) * s->move + s->turn * reach) / left : REAL_BIG;
}

// Returns whether a group's bodies are near enough to meet and move farther relative to each other
// in a step than half of the thinner body's thickness. `most` bounds that displacement. The
// velocities of their centres are compared, and those of their material points in the middle of the
// overlap of their spheres, because a rotating body meets others with its ends.
static int group_is_fast(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                         GLOBAL const real *reals, const world_one *o, int group, real most)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  GLOBAL const real *of = reals + n->at_group_reals + GROUP_REALS * group, *ball = of + GROUP_BALLS;
  if (most <= of[GROUP_HALF] || !(of[GROUP_HALF] > R(0.0))) {
    return 0;
  }
  const int link[2] = {g[GROUP_A], g[GROUP_B]};
  const real radius[2] = {ball[3], ball[BALL_REALS + 3]};
  vec3_r at[2], v[2];
  for (int side = 0; side < 2; ++side) {
    GLOBAL const real *b = ball + BALL_REALS * side;
    at[side] =
      watched_place(n, o, link[side], make_r(lane_lit(b[0]), lane_lit(b[1]), lane_lit(b[2])));
  }
  const vec3_r between = sub3_r(at[1], at[0]);
  const real apart = watched_length(between);
  if (apart >= radius[0] + radius[1] + most) {
    return 0;
  }
  for (int side = 0; side < 2; ++side) {
    v[side] = watched_velocity(n, o, link[side], at[side]);
  }
  // The middle of the overlap is at this share of the vector from the first centre to the second.
  const real low = real_max(-radius[0], apart - radius[1]),
             high = real_min(radius[0], apart + radius[1]);
  const real share = apart > R(0.0) ? R(0.5) * (low + high) / apart : R(0.0);
  const vec3_r meet = mad3_r(between, lane_lit(share), at[0]);
  const real fast = real_max(watched_length(sub3_r(v[0], v[1])),
                             watched_length(sub3_r(watched_velocity(n, o, link[0], meet),
                                                   watched_velocity(n, o, link[1], meet))));
  const real way = reals[WORLD_STEP] * fast;
  return way > of[GROUP_HALF] && apart < radius[0] + radius[1] + way;
}

// Records the links of a group, each as its number plus 1, for a world without recorded links:
// links (worlds, 2).
static void note_fast(GLOBAL const world_sizes *n, GLOBAL const int *ints, int group,
                      GLOBAL int *links, int world)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  GLOBAL int *own = ROW(links, world, 2);
  if (!own[0] && !own[1]) {
    own[0] = g[GROUP_A] + 1;
    own[1] = g[GROUP_B] + 1;
  }
}

// Returns the mass of the links of a world that can move. `scales` is its row of mass_scale.
static real moving_mass(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *scales)
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

// Returns whether springs add more energy to joints in a step than is possible. `constraint_force`
// (nv) is their force at the step's beginning, and joint rates change from v to v1. Springs do not
// push bodies that separate faster than twice v_d (`part`). So they can add at most the kinetic
// energy of all moving mass at that speed.
static int world_gains(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                       GLOBAL const real *reals, GLOBAL const real *scales, const world_one *o,
                       GLOBAL const real *v, GLOBAL const real *v1,
                       GLOBAL const real *constraint_force, real part)
{
  const int nv = n->nv;
  real work = R(0.0), kinetic = R(0.0);
  for (int i = 0; i < nv; ++i) {
    work += R(0.5) * reals[WORLD_STEP] * constraint_force[i] * (v[i] + v1[i]);
  }
  for (int tree = 0; tree < n->trees; ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = 0; i < t.count; ++i) {
      for (int k = 0; k <= i; ++k) {
        kinetic += (k < i ? R(1.0) : R(0.5)) * v[t.dofs[i]] *
                   one_real(o, n->at_mass + t.block + i * t.count + k) * v[t.dofs[k]];
      }
    }
  }
  const real speed = R(2.0) * part;
  return work > GAIN_SHARE * kinetic +
                  GAIN_SAFE * R(0.5) * moving_mass(n, ints, reals, scales) * speed * speed;
}

// One work-item adds WORLD_FAST and WORLD_GAINED to the status of one world if they apply, before
// the next state with velocities v1 (worlds, nv) is accepted. `constraint_force` (worlds, nv) is
// the constraint force. with_gain is set if it comes from springs. Their parameters are `springs`
// (worlds, listed pairs, SPRING_PARAMETER_COUNT) if `given`, else the scene's. If the scene
// `sweeps`, world_sweep_least adds WORLD_FAST instead. If `noted` is set, fast_links (worlds, 2)
// gets the links of the first fast group.
KERNEL void world_watch(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                        GLOBAL const real *v, GLOBAL const real *v1,
                        GLOBAL const real *constraint_force, GLOBAL const real *springs, int given,
                        int with_gain, int sweeps, GLOBAL const real *scratch, GLOBAL int *status,
                        GLOBAL int *fast_links, int noted, int worlds)
{
  const int world = (int)get_global_id(0), nv = n->nv;
  if (world >= worlds || (status[world] & WORLD_STOPPED)) {
    return;
  }
  int found = 0;
  for (int k = 0; k < nv; ++k) { // a world about to stop gives the reason by another bit
    const real x = ROW(v1, world, nv)[k], most = reals[WORLD_DIVERGENCE];
    if (!(x <= most && x >= -most)) {
      return;
    }
  }
  const world_one o = one_at(scratch, n, world);
  const watched_speeds speeds = speeds_of(n, &o);
  const int slow = most_way(&speeds, reals[WORLD_STEP], reals[WORLD_REACH_MOST]) <=
                   reals[WORLD_HALF_LEAST];
  for (int i = 0; !sweeps && !slow && i < n->groups; ++i) {
    const real reach = (reals + n->at_group_reals + GROUP_REALS * i)[GROUP_SPAN];
    if (group_is_fast(n, ints, reals, &o, i, most_way(&speeds, reals[WORLD_STEP], reach))) {
      found |= WORLD_FAST;
      if (noted) {
        note_fast(n, ints, i, fast_links, world);
      }
    }
  }
  if (with_gain && n->pairs > 0) {
    real part = R(0.0);
    for (int i = 0; i < n->pairs; ++i) {
      part = real_max(part, spring_of_pair(n, reals, springs, given, world, i)[SPRING_V_D]);
    }
    GLOBAL const real *scales = shared ? parameters
                                       : ROW(parameters, world, PARAMETERS(n->links, n->columns));
    found |= world_gains(n, ints, reals, scales, &o, ROW(v, world, nv), ROW(v1, world, nv),
                         ROW(constraint_force, world, nv), part)
               ? WORLD_GAINED
               : 0;
  }
  status[world] |= found;
}
