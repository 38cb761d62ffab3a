// The motion of two bodies of a group during the rest of a step, and whether they can meet.

// share of GROUP_SWEEP_HALF: bodies that would penetrate less are left to the contact law
#define SWEEP_SHARE R(0.5)

// ---- small vectors ----

static real sweep_dot(const real a[3], const real b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void sweep_cross(const real a[3], const real b[3], real out[3])
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static real sweep_length(const real a[3])
{
  return real_sqrt(sweep_dot(a, a));
}

// Writes a unit vector orthogonal to n.
static void sweep_tangent(const real n[3], real out[3])
{
  const real x = real_abs(n[0]), y = real_abs(n[1]), z = real_abs(n[2]);
  const int least = x <= y && x <= z ? 0 : y <= z ? 1 : 2;
  real other[3] = {R(0.0), R(0.0), R(0.0)};
  other[least] = R(1.0);
  sweep_cross(n, other, out);
  const real length = sweep_length(out);
  for (int i = 0; i < 3; ++i) {
    out[i] /= length;
  }
}

// Rotates x by a unit quaternion.
static void sweep_turn(const real q[4], const real x[3], real out[3])
{
  const real v[3] = {q[1], q[2], q[3]};
  real t[3], u[3];
  sweep_cross(v, x, t);
  for (int k = 0; k < 3; ++k) {
    t[k] *= R(2.0);
  }
  sweep_cross(v, t, u);
  for (int k = 0; k < 3; ++k) {
    out[k] = x[k] + q[0] * t[k] + u[k];
  }
}

static void sweep_times(const real a[4], const real b[4], real out[4])
{
  const real v[3] = {a[1], a[2], a[3]}, w[3] = {b[1], b[2], b[3]};
  real across[3];
  sweep_cross(v, w, across);
  out[0] = a[0] * b[0] - sweep_dot(v, w);
  for (int k = 0; k < 3; ++k) {
    out[1 + k] = a[0] * w[k] + b[0] * v[k] + across[k];
  }
}

// ---- the motion of a body ----

// The pose of a link: its origin and its quaternion. Link -1 is the world.
typedef struct sweep_place {
  real at[3], turned[4];
} sweep_place;

static sweep_place sweep_place_of(GLOBAL const world_sizes *n, const world_one *o, int link)
{
  sweep_place p;
  for (int k = 0; k < 4; ++k) {
    p.turned[k] = link < 0 ? (k ? R(0.0) : R(1.0)) : one_real(o, n->at_quaternion + 4 * link + k);
  }
  for (int k = 0; k < 3; ++k) {
    p.at[k] = link < 0 ? R(0.0) : one_real(o, n->at_origin + 3 * link + k);
  }
  return p;
}

static void sweep_put_pose(const sweep_place *p, GLOBAL const real *body, GLOBAL real *pose)
{
  const real at[3] = {body[0], body[1], body[2]}, turned[4] = {body[3], body[4], body[5], body[6]};
  real moved[3], q[4];
  sweep_turn(p->turned, at, moved);
  sweep_times(p->turned, turned, q);
  for (int k = 0; k < 3; ++k) {
    pose[k] = p->at[k] + moved[k];
  }
  for (int k = 0; k < 4; ++k) {
    pose[3 + k] = q[k];
  }
}

// The motion of a link: its joint's position at both ends and the total rotation between them; the
// centre of the body's bounding sphere at the beginning, its distance from the joint, and the
// sphere's radius.
typedef struct sweep_way {
  real from[3], to[3], turn[3], middle[3], arm, radius;
} sweep_way;

static sweep_way sweep_way_of(GLOBAL const world_sizes *n, GLOBAL const real *reals, int link,
                              GLOBAL const real *ball, const sweep_place *from,
                              const sweep_place *to)
{
  sweep_way w;
  real joint[3], middle[3], off[3], a[3], b[3], back[4], q[4];
  for (int k = 0; k < 3; ++k) {
    joint[k] = link < 0 ? R(0.0) : (reals + n->at_link_reals + LINK_REALS * link)[LINK_JOINT + k];
    middle[k] = ball[k];
    off[k] = middle[k] - joint[k];
  }
  sweep_turn(from->turned, joint, a);
  sweep_turn(to->turned, joint, b);
  sweep_turn(from->turned, middle, w.middle);
  for (int k = 0; k < 3; ++k) {
    w.from[k] = from->at[k] + a[k];
    w.to[k] = to->at[k] + b[k];
    w.middle[k] += from->at[k];
  }
  for (int k = 0; k < 4; ++k) {
    back[k] = k ? -from->turned[k] : from->turned[k];
  }
  sweep_times(to->turned, back, q);
  const real sign = q[0] < R(0.0) ? R(-1.0) : R(1.0),
             v[3] = {sign * q[1], sign * q[2], sign * q[3]};
  const real length = sweep_length(v), angle = R(2.0) * lane_atan2(length, sign * q[0]);
  for (int k = 0; k < 3; ++k) {
    w.turn[k] = length > R(0.0) ? v[k] * (angle / length) : R(0.0);
  }
  w.arm = sweep_length(off);
  w.radius = ball[3];
  return w;
}

// Writes the velocity of a link's material point at p at a time. The unit of time is the whole
// motion.
static void sweep_speed(const sweep_way *w, const real p[3], real time, real out[3])
{
  real arm[3], swing[3];
  for (int k = 0; k < 3; ++k) {
    arm[k] = p[k] - ((R(1.0) - time) * w->from[k] + time * w->to[k]);
  }
  sweep_cross(w->turn, arm, swing);
  for (int k = 0; k < 3; ++k) {
    out[k] = w->to[k] - w->from[k] + swing[k];
  }
}

// Returns an upper bound of the relative displacement of any two points of two bodies.
static real sweep_farthest(const sweep_way w[2])
{
  real apart[3], far = R(0.0);
  for (int k = 0; k < 3; ++k) {
    apart[k] = w[0].to[k] - w[0].from[k] - (w[1].to[k] - w[1].from[k]);
  }
  for (int side = 0; side < 2; ++side) {
    far += sweep_length(w[side].turn) * (w[side].arm + w[side].radius);
  }
  return far + sweep_length(apart);
}

// Returns whether two bodies move far enough to matter and are near enough to meet.
static int sweep_asks(const sweep_way w[2], real thin)
{
  const real far = sweep_farthest(w);
  real between[3];
  for (int k = 0; k < 3; ++k) {
    between[k] = w[0].middle[k] - w[1].middle[k];
  }
  return far > SWEEP_SHARE * thin && sweep_length(between) <= w[0].radius + w[1].radius + far;
}

// A world's data of a group.
typedef struct sweep_group {
  sweep_place from[2], to[2];
  sweep_way way[2];
  real thin, apart; // GROUP_SWEEP_HALF, GROUP_APART
} sweep_group;

static void sweep_read(sweep_group *s, GLOBAL const world_sizes *n, GLOBAL const int *ints,
                       GLOBAL const real *reals, GLOBAL const real *begin, GLOBAL const real *end,
                       int group, int world)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  GLOBAL const real *of = reals + n->at_group_reals + GROUP_REALS * group;
  const world_one first = one_at(begin, n, world), last = one_at(end, n, world);
  for (int side = 0; side < 2; ++side) {
    const int link = g[side ? GROUP_B : GROUP_A];
    s->from[side] = sweep_place_of(n, &first, link);
    s->to[side] = sweep_place_of(n, &last, link);
    s->way[side] = sweep_way_of(n, reals, link, of + GROUP_BALLS + BALL_REALS * side,
                                &s->from[side], &s->to[side]);
  }
  s->thin = of[GROUP_SWEEP_HALF];
  s->apart = of[GROUP_APART];
}
