// The poses of two bodies at their contact, and which of their features touch there.

// a normal leads into a mesh if its component along the outward direction is below this
#define SWEEP_OUTWARD R(-0.05)

// Returns the placement of a body after a share of its motion: x maps to R(turned) x + at. `pose`
// is its pose at the beginning.
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

// A mesh at its contact with another: its buffers (geometry/ccd.h), the outward directions at its
// triangles and, from `edges` on, at its edges, and its placement.
typedef struct sweep_mesh {
  GLOBAL const int *ints;
  GLOBAL const real *numbers, *outward;
  int edges;
  sweep_place place;
} sweep_mesh;

// Returns whether a mesh is met from its inside: the other mesh's outward normal leads out of it,
// too.
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

// ---- the contact patch ----

#define SWEEP_PATCH_MOST 400000 // upper bound of vertices times triangles to check

// The parts of two meshes in the contact plane, as the farthest points in some directions along it.
typedef struct sweep_patch {
  real n[3], t[2][3], p[3], band; // normal, tangents, a point of the plane, half of its thickness
  real far[SWEEP_DIRECTIONS], at[SWEEP_DIRECTIONS][2];
  int side[SWEEP_DIRECTIONS], vertex[SWEEP_DIRECTIONS]; // the mesh and vertex of each point
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

// Returns whether a vertex is in the plane, and writes its coordinates along the plane.
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
    // Turned by 20 degrees, so that no direction is perpendicular to a side of a box.
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

// The sign of the result is the side of the line from a to b on which x is.
static real sweep_side(const real a[2], const real b[2], const real x[2])
{
  return (b[0] - a[0]) * (x[1] - a[1]) - (b[1] - a[1]) * (x[0] - a[0]);
}

// Returns the number of triangles of a side's mesh in the plane. If `takes` is set, it takes the
// vertices of the other mesh above them.
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

// Moves p, the first contact point, to the middle of the contact if that is a patch.
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

// Returns the approach speed of two bodies along the normal out of the second, at a point of each.
static real sweep_closing(const sweep_way way[2], const real p[3], const real other[3], real time,
                          const real n[3])
{
  real first[3], second[3];
  sweep_speed(&way[0], p, time, first);
  sweep_speed(&way[1], other, time, second);
  return sweep_dot(n, second) - sweep_dot(n, first);
}

// Writes the corners of a side's feature, in its mesh's own axes. Returns their number.
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

// Records the data of an impact that come only from the meshes: the features that meet, and the
// vertices around the patch.
static void sweep_keep_features(const sweep_mesh mesh[2], int kind, const int corners[2],
                                GLOBAL const int *places, const sweep_patch *c, int whole,
                                GLOBAL real *kept, GLOBAL int *ints)
{
  const int head = corners[0] > corners[1]; // the side whose corners are first
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
