// Sweeping: bodies that would pass through each other within a step are stopped where they meet,
// and what is left of the step goes on from there; docs/dynamics.md, "Sweeping". The kernel
// ccd_bodies (kernels/ccd/bodies.cl) finds when they meet. It takes links to turn evenly about
// their joint's place while that goes straight, which is how free links go.

// of GROUP_SWEEP_HALF: bodies that would come less far into each other are left to the law
#define SWEEP_SHARE R(0.5)
// what a normal has less of along the way out of a mesh, leads into it
#define SWEEP_OUTWARD R(-0.05)

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

// Writes a unit vector that is orthogonal to one.
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

// Turns x by a unit quaternion.
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

// ---- how a body goes ----

// Where a link is: its origin and its quaternion; link -1 is the world.
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

// The way of a link: its joint's place at both ends, the whole turn between them; and the middle of
// the sphere around the body at the beginning, how far it is from the joint, and the sphere's
// radius.
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

// How fast what a link has at p at a time goes there, a unit of time being the whole way.
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

// How far any two points of two bodies go against each other at most.
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

// Whether two bodies go far enough to matter, and near enough to meet.
static int sweep_asks(const sweep_way w[2], real thin)
{
  const real far = sweep_farthest(w);
  real between[3];
  for (int k = 0; k < 3; ++k) {
    between[k] = w[0].middle[k] - w[1].middle[k];
  }
  return far > SWEEP_SHARE * thin && sweep_length(between) <= w[0].radius + w[1].radius + far;
}

// What a world knows of a group.
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

// ---- where bodies meet ----

static void sweep_open(GLOBAL int *marks, GLOBAL real *state, int active)
{
  marks[SWEEP_ACTIVE] = active;
  marks[SWEEP_GROUP] = -1;
  state[SWEEP_TOI] = R(1.0);
}

// One work-item begins a step of one world: what is left of it is all, from q (worlds, nq) on.
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

// One work-item places the links of a block of worlds at q (worlds, nq), in numbers of their own.
KERNEL void world_place(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                        GLOBAL const real *reals, GLOBAL const real *q, int count,
                        GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  for (int i = 0; b.first <= b.last && i < n->links; ++i) {
    place_link(&b, n, ints, reals, i, q);
  }
}

// One work-item writes the poses of a group's bodies at both ends of one world's way, four arrays
// (worlds, 7). `bodies` are those of world_poses, at `at` of them the group's. Where there is
// nothing to ask for, poses are 0, which ccd_bodies does not look at.
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

// Where a body is once it has gone a share of its way: x goes to R(turned) x + at. `pose` is its
// pose at the beginning.
static sweep_place sweep_pose_at(const sweep_way *w, GLOBAL const real *pose, real part)
{
  sweep_place p;
  const real q[4] = {pose[3], pose[4], pose[5], pose[6]}, angle = sweep_length(w->turn),
             middle = R(0.5) * part * angle;
  const real sine = angle > R(0.0) ? lane_sin(middle) / angle : R(0.0);
  const real more[4] = {lane_cos(middle), sine * w->turn[0], sine * w->turn[1], sine * w->turn[2]};
  const real arm[3] = {pose[0] - w->from[0], pose[1] - w->from[1], pose[2] - w->from[2]};
  sweep_times(more, q, p.turned);
  sweep_turn(more, arm, p.at);
  for (int k = 0; k < 3; ++k) {
    p.at[k] += (R(1.0) - part) * w->from[k] + part * w->to[k];
  }
  return p;
}

// A mesh where it meets another: its buffers (geometry/ccd.h), the ways out of it at its triangles
// and, from `edges` on, at its edges, and where it is.
typedef struct sweep_mesh {
  GLOBAL const int *ints;
  GLOBAL const real *numbers, *outward;
  int edges;
  sweep_place place;
} sweep_mesh;

// Whether a mesh is met from its inside: the normal out of the other one leads out of it, too.
static int sweep_is_inside(const sweep_mesh *m, int corners, int feature, const real normal[3])
{
  if (corners == 1) {
    return 0;
  }
  GLOBAL const real *of = ROW(m->outward, corners == 2 ? m->edges + feature : feature, 3);
  const real way[3] = {of[0], of[1], of[2]};
  real out[3];
  sweep_turn(m->place.turned, way, out);
  return sweep_dot(out, normal) < SWEEP_OUTWARD * sweep_length(out);
}

// ---- the patch in which they meet ----

#define SWEEP_PATCH_MOST 400000 // so many vertices above so many triangles are looked at, at most

// What of two meshes lies in the plane where they meet, as the farthest points in some directions
// along it.
typedef struct sweep_patch {
  real n[3], t[2][3], p[3], band; // the normal, tangents, a point of the plane; how far off it a
                                  // vertex may be
  real far[SWEEP_DIRECTIONS], at[SWEEP_DIRECTIONS][2];
  int side[SWEEP_DIRECTIONS], vertex[SWEEP_DIRECTIONS]; // whose these points are
  int found;
} sweep_patch;

static void sweep_vertex(const sweep_mesh *m, int at, real out[3])
{
  real x[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = m->numbers[CCD_MESH_POINTS + 3 * at + k];
  }
  sweep_turn(m->place.turned, x, out);
  for (int k = 0; k < 3; ++k) {
    out[k] += m->place.at[k];
  }
}

// Whether a vertex lies in the plane; writes where along it.
static int sweep_in_plane(const sweep_patch *c, const sweep_mesh *m, int at, real out[2])
{
  real x[3];
  sweep_vertex(m, at, x);
  for (int k = 0; k < 3; ++k) {
    x[k] -= c->p[k];
  }
  out[0] = sweep_dot(x, c->t[0]);
  out[1] = sweep_dot(x, c->t[1]);
  return real_abs(sweep_dot(x, c->n)) <= c->band;
}

static void sweep_take(sweep_patch *c, const real x[2], int side, int vertex)
{
  for (int i = 0; i < SWEEP_DIRECTIONS; ++i) {
    // Turned by 20 degrees, so that no side of a box lies across one.
    const real turn = R(0.35) + (real)i * R(6.283185307179586) / SWEEP_DIRECTIONS;
    const real far = lane_cos(turn) * x[0] + lane_sin(turn) * x[1];
    if (!c->found || far > c->far[i]) {
      c->far[i] = far;
      c->at[i][0] = x[0];
      c->at[i][1] = x[1];
      c->side[i] = side;
      c->vertex[i] = vertex;
    }
  }
  c->found = 1;
}

// Says on which side of the line from a to b a point is.
static real sweep_side(const real a[2], const real b[2], const real x[2])
{
  return (b[0] - a[0]) * (x[1] - a[1]) - (b[1] - a[1]) * (x[0] - a[0]);
}

// Returns how many triangles of a side's mesh lie in the plane; takes the vertices of the other one
// that are above them, where `takes` is set.
static int sweep_faces(sweep_patch *c, const sweep_mesh mesh[2], int side, int takes)
{
  const sweep_mesh *m = &mesh[side], *above = &mesh[!side];
  GLOBAL const int *ends = m->ints + m->ints[CCD_MESH_TRIANGLE_ENDS];
  int count = 0;
  for (int i = 0; i < m->ints[CCD_MESH_TRIANGLES]; ++i) {
    real a[2], b[2], d[2], x[2];
    if (!sweep_in_plane(c, m, ends[3 * i], a) || !sweep_in_plane(c, m, ends[3 * i + 1], b) ||
        !sweep_in_plane(c, m, ends[3 * i + 2], d)) {
      continue;
    }
    ++count;
    for (int v = 0; takes && v < above->ints[CCD_MESH_VERTICES]; ++v) {
      if (sweep_in_plane(c, above, v, x)) {
        const real s = sweep_side(a, b, x), t = sweep_side(b, d, x), u = sweep_side(d, a, x);
        if ((s >= R(0.0) && t >= R(0.0) && u >= R(0.0)) ||
            (s <= R(0.0) && t <= R(0.0) && u <= R(0.0))) {
          sweep_take(c, x, !side, v);
        }
      }
    }
  }
  return count;
}

// Moves p, where bodies meet first, to the middle of where they meet, if that is a patch.
static void sweep_centre(sweep_patch *c, const sweep_mesh mesh[2], const real n[3], real band,
                         real p[3])
{
  real middle[2] = {R(0.0), R(0.0)};
  sweep_tangent(n, c->t[0]);
  for (int k = 0; k < 3; ++k) {
    c->n[k] = n[k];
    c->p[k] = p[k];
  }
  sweep_cross(n, c->t[0], c->t[1]);
  c->band = band;
  c->found = 0;
  for (int side = 0; side < 2; ++side) {
    const int count = sweep_faces(c, mesh, side, 0);
    if (count && count <= SWEEP_PATCH_MOST / mesh[!side].ints[CCD_MESH_VERTICES]) {
      sweep_faces(c, mesh, side, 1);
    }
  }
  for (int i = 0; i < SWEEP_DIRECTIONS && c->found; ++i) {
    middle[0] += c->at[i][0] / SWEEP_DIRECTIONS;
    middle[1] += c->at[i][1] / SWEEP_DIRECTIONS;
  }
  for (int k = 0; k < 3; ++k) {
    p[k] += middle[0] * c->t[0][k] + middle[1] * c->t[1][k];
  }
}

// How fast two bodies come together along the normal out of the second, at a point of each.
static real sweep_closing(const sweep_way way[2], const real p[3], const real other[3], real time,
                          const real n[3])
{
  real first[3], second[3];
  sweep_speed(&way[0], p, time, first);
  sweep_speed(&way[1], other, time, second);
  return sweep_dot(n, second) - sweep_dot(n, first);
}

// Writes the corners of a side's feature, in its mesh's own axes. Returns how many there are.
static int sweep_corners(const sweep_mesh *m, int corners, int place, GLOBAL real *to)
{
  GLOBAL const int *ends =
    m->ints + m->ints[corners == 2 ? CCD_MESH_EDGE_ENDS : CCD_MESH_TRIANGLE_ENDS] + corners * place;
  for (int i = 0; i < corners; ++i) {
    GLOBAL const real *x = m->numbers + CCD_MESH_POINTS + 3 * (corners == 1 ? place : ends[i]);
    for (int k = 0; k < 3; ++k) {
      to[3 * i + k] = x[k];
    }
  }
  return corners;
}

// Keeps what only the meshes tell of an impact: which features meet, and the vertices around the
// patch.
static void sweep_keep_features(const sweep_mesh mesh[2], int kind, const int corners[2],
                                GLOBAL const int *places, const sweep_patch *c, int whole,
                                GLOBAL real *kept, GLOBAL int *ints)
{
  const int head = corners[0] > corners[1]; // the side whose corners come first
  const int before =
    sweep_corners(&mesh[head], corners[head], places[head], kept + SWEEP_KEPT_CORNERS);
  sweep_corners(&mesh[!head], corners[!head], places[!head],
                kept + SWEEP_KEPT_CORNERS + 3 * before);
  ints[SWEEP_KEPT_KIND] = kind;
  ints[SWEEP_KEPT_WHOLE] = whole;
  for (int side = 0; side < 2; ++side) {
    int count = 0;
    real mean[3] = {R(0.0), R(0.0), R(0.0)};
    for (int i = 0; i < SWEEP_DIRECTIONS && c->found; ++i) {
      for (int k = 0; k < 3 && c->side[i] == side; ++k) {
        mean[k] += mesh[side].numbers[CCD_MESH_POINTS + 3 * c->vertex[i] + k];
      }
      count += c->side[i] == side;
    }
    ints[SWEEP_KEPT_COUNTS + side] = count;
    for (int k = 0; k < 3; ++k) {
      kept[SWEEP_KEPT_MEANS + 3 * side + k] = count ? mean[k] / (real)count : R(0.0);
    }
  }
}

// One work-item looks at what ccd_bodies says of a group in one world, and keeps it where it is the
// first impact until now and bodies would come far into each other after it. from1 and from2 are
// the poses it began with. Meshes are those of ccd_bodies. Where the bodies are too near to each
// other for an answer, or meet from within each other, so that they overlapped, WORLD_FAST is added
// if they are fast, and fast_links (worlds, 2) gets whose it is first where it is `noted`;
// `scratch` has the tree of the step's beginning. Where `event` is not negative, it is the place of
// the impact among those that are kept for derivatives.
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
    if (group_is_fast(n, ints, reals, &o, group)) {
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
  // No point of one body can come farther into the other along the normal.
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
  // Where a patch's middle hardly closes, its rim does: then bodies turn, and meet there.
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

// ---- what they do there ----

static int sweep_hits(const world_block *b, GLOBAL const int *marks)
{
  int some = 0;
  for (int world = b->first; world <= b->last && world < b->first + LANES; ++world) {
    some |= ROW(marks, world, SWEEP_INTS)[SWEEP_GROUP] >= 0;
  }
  return some;
}

// One work-item keeps, for its derivatives, on what one world's impact acts: q (worlds, nq), where
// the rest of the step begins, next_q, where it leads, and v (worlds, nv). Worlds without an impact
// are told to have had those before.
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

// One work-item finds the links and the factor of the mass matrix of a block of worlds where bodies
// meet, on the way from q to next_q. meet (worlds, nq) takes their positions. It does nothing where
// none do.
KERNEL void world_sweep_impact(GLOBAL const world_sizes *n, GLOBAL const int *ints,
                               GLOBAL const real *reals, GLOBAL const real *parameters, int shared,
                               GLOBAL const real *q, GLOBAL const real *next_q,
                               GLOBAL const int *marks, GLOBAL const real *state, int count,
                               GLOBAL real *meet, GLOBAL real *scratch)
{
  const world_block b = block_at(scratch, n, (int)get_global_id(0), count);
  if (b.first > b.last || !sweep_hits(&b, marks)) {
    return;
  }
  joints_share(&b, n, ints, q, next_q, row_get(&b, state, SWEEP_REALS, SWEEP_TOI));
  joints_moved(&b, n, ints, q, meet);
  for (int i = 0; i < n->links; ++i) {
    place_link(&b, n, ints, reals, i, meet);
  }
  mass_matrix(&b, n, ints, reals, parameters, shared);
  block_factor(&b, n, ints, reals, n->at_mass, n->at_factor, R(0.0));
}

// How two links meet: the velocity of the first against the second, what an impulse on the first
// and its opposite on the second add to it, the normal out of the second, friction and restitution.
typedef struct sweep_touch {
  real v[3], k[3][3], n[3], friction, restitution;
} sweep_touch;

// The same along axes of its own: the normal, and two tangents.
typedef struct sweep_frame {
  real axis[3][3], v[3], k[3][3];
} sweep_frame;

static void sweep_set_frame(sweep_frame *s, const sweep_touch *t)
{
  for (int i = 0; i < 3; ++i) {
    s->axis[0][i] = t->n[i];
  }
  sweep_tangent(t->n, s->axis[1]);
  sweep_cross(s->axis[0], s->axis[1], s->axis[2]);
  for (int i = 0; i < 3; ++i) {
    s->v[i] = sweep_dot(s->axis[i], t->v);
    for (int j = 0; j < 3; ++j) {
      const real column[3] = {sweep_dot(t->k[0], s->axis[j]), sweep_dot(t->k[1], s->axis[j]),
                              sweep_dot(t->k[2], s->axis[j])};
      s->k[i][j] = sweep_dot(s->axis[i], column);
    }
  }
}

// Finds the impulse f that changes the normal's speed by `change` and holds the tangents', or
// slides. It stays what it is where friction jams.
static void sweep_rub(const sweep_frame *s, real change, real friction, real f[3])
{
  const real plain = change / s->k[0][0];
  // The tangents' own equations, once the normal's is taken out.
  const real a = s->k[1][1] - s->k[1][0] * s->k[0][1] / s->k[0][0],
             c = s->k[2][2] - s->k[2][0] * s->k[0][2] / s->k[0][0];
  const real d = s->k[1][2] - s->k[1][0] * s->k[0][2] / s->k[0][0],
             more = SWEEP_LEAST * (s->k[1][1] + s->k[2][2]);
  const real g = -s->v[1] - s->k[1][0] * plain, h = -s->v[2] - s->k[2][0] * plain;
  const real size = (a + more) * (c + more) - d * d;
  const real held[2] = {((c + more) * g - d * h) / size, ((a + more) * h - d * g) / size};
  const real push = (change - s->k[0][1] * held[0] - s->k[0][2] * held[1]) / s->k[0][0];
  if (size > R(0.0) && real_sqrt(held[0] * held[0] + held[1] * held[1]) <= friction * push) {
    f[0] = push;
    f[1] = held[0];
    f[2] = held[1];
    return;
  }
  const real slip = real_sqrt(s->v[1] * s->v[1] + s->v[2] * s->v[2]);
  const real along[2] = {slip > R(0.0) ? -friction * s->v[1] / slip : R(0.0),
                         slip > R(0.0) ? -friction * s->v[2] / slip : R(0.0)};
  const real whole = s->k[0][0] + s->k[0][1] * along[0] + s->k[0][2] * along[1];
  if (whole > SWEEP_JAMS * s->k[0][0]) {
    f[0] = change / whole;
    f[1] = f[0] * along[0];
    f[2] = f[0] * along[1];
  }
}

// Finds the impulse p after which bodies part along the normal at the restitution's share of the
// speed at which they met. Friction holds them where its cone lets it, else it acts against the
// slip; where friction would jam them or add energy there is none.
static void sweep_impulse(const sweep_touch *t, real p[3])
{
  sweep_frame s;
  real energy = R(0.0);
  sweep_set_frame(&s, t);
  const int closes = s.v[0] < R(0.0) && s.k[0][0] > R(0.0);
  const real change = -(R(1.0) + t->restitution) * s.v[0],
             plain = closes ? change / s.k[0][0] : R(0.0);
  real f[3] = {plain, R(0.0), R(0.0)};
  if (closes && t->friction > R(0.0)) {
    sweep_rub(&s, change, t->friction, f);
  }
  for (int i = 0; i < 3; ++i) {
    energy += f[i] * (s.v[i] + R(0.5) * sweep_dot(s.k[i], f));
  }
  if (!(energy <= R(0.0))) {
    f[0] = plain;
    f[1] = f[2] = R(0.0);
  }
  for (int i = 0; i < 3; ++i) {
    p[i] = s.axis[0][i] * f[0] + s.axis[1][i] * f[1] + s.axis[2][i] * f[2];
  }
}

// Writes J (3, nv) of the velocity of a group's first link against its second where they meet, and
// inv(L) J' behind it, (3, nv) too.
static void sweep_jacobian(GLOBAL const world_sizes *n, GLOBAL const int *ints, const world_one *o,
                           int group, const real at[3], GLOBAL real *work)
{
  GLOBAL const int *g = ints + n->at_groups + GROUP_INTS * group;
  GLOBAL const int *mover = ints + n->at_group_dofs + MOVER_INTS * g[GROUP_DOF_AT];
  const int nv = n->nv;
  for (int i = 0; i < 3 * nv; ++i) {
    work[i] = R(0.0);
  }
  for (int m = 0; m < g[GROUP_DOFS]; ++m, mover += MOVER_INTS) {
    const int dof = mover[MOVER_DOF], link = mover[MOVER_LINK];
    const tree_link l = link_at(n, ints, link);
    real axis[3], arm[3], swing[3];
    for (int k = 0; k < 3; ++k) {
      axis[k] = one_real(o, n->at_axis + 3 * dof + k);
      arm[k] =
        at[k] - one_real(o, n->at_origin + 3 * link + k) + one_real(o, n->at_arm + 3 * link + k);
    }
    sweep_cross(axis, arm, swing);
    for (int k = 0; k < 3; ++k) {
      work[k * nv + dof] =
        (real)mover[MOVER_SIGN] * (dof_turns(&l, dof - l.v) ? swing[k] : axis[k]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    GLOBAL real *x = work + (3 + k) * nv;
    for (int tree = 0; tree < n->trees; ++tree) {
      const mass_tree t = mass_tree_of(n, ints, tree);
      for (int i = 0; i < t.count; ++i) {
        const int row = n->at_factor + t.block + i * t.count;
        real sum = work[k * nv + t.dofs[i]];
        for (int j = 0; j < i; ++j) {
          sum -= one_real(o, row + j) * x[t.dofs[j]];
        }
        x[t.dofs[i]] = sum * one_real(o, row + i);
      }
    }
  }
}

// Adds inv(M) J' p to v, of inv(L) J' p.
static void sweep_push(GLOBAL const world_sizes *n, GLOBAL const int *ints, const world_one *o,
                       GLOBAL real *work, const real p[3], GLOBAL real *v)
{
  const int nv = n->nv;
  GLOBAL real *x = work + 6 * nv;
  for (int tree = 0; tree < n->trees; ++tree) {
    const mass_tree t = mass_tree_of(n, ints, tree);
    for (int i = t.count - 1; i >= 0; --i) {
      const int column = n->at_factor + t.block + i, dof = t.dofs[i];
      real sum = work[3 * nv + dof] * p[0] + work[4 * nv + dof] * p[1] + work[5 * nv + dof] * p[2];
      for (int j = i + 1; j < t.count; ++j) {
        sum -= one_real(o, column + j * t.count) * x[t.dofs[j]];
      }
      x[dof] = sum * one_real(o, column + i * t.count);
      v[dof] += x[dof];
    }
  }
}

// One work-item gives one world the impulse of its first impact: v (worlds, nv) is its velocity
// before and after. `scratch` has what world_sweep_impact has found; springs are those of
// world_watch. The `last` impact of a step uses up what is left of it.
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

// One work-item ends an impact in a block of worlds. In those that have one q (worlds, nq) becomes
// where bodies were stopped, and next_q where the rest of the step leads from there at the velocity
// v (worlds, nv). They are looked at again, and no others. `meet` (worlds, nq) is memory.
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
