// The motion of a mesh from one pose to another, in wide numbers. Either each vertex moves on a
// straight line, or the mesh rotates evenly about its centre c, which moves on a straight line:
// x(t) = exp(t hat phi) R0 (x - c) + (1 - t) m0 + t m1, m = R c + p. Vertices and c are relative to
// the mesh's origin o, and all places to the row's origin, so that far places have no larger
// rounding error than near ones.

typedef struct ccd_path {
  frame_w frame[2];  // at both ends, from the mesh's origin to the row's
  wide number[2][7]; // the poses' numbers
  wide o[3], c[3], m[2][3];
  wide axis[3], angle; // phi = angle axis
  int arc, good;
} ccd_path;

// Reads a pose's numbers, or those of the identity if the pose is invalid.
static int ccd_read_pose(GLOBAL const real *pose, int width, wide to[7])
{
  real sum = R(0.0), turn = R(0.0), far = R(0.0);
  for (int i = 0; i < width; ++i) {
    sum += pose[i] * R(0.0);
    turn = i < 3 ? turn : real_max(turn, real_abs(pose[i]));
    far = i < 3 ? real_max(far, real_abs(pose[i])) : far;
  }
  const int turns = width == 7 ? turn >= REAL_TINY : turn <= ROTATION_LIMIT;
  const int good = sum == R(0.0) && far <= TRANSLATION_LIMIT && turns;
  for (int i = 0; i < 7; ++i) {
    to[i] = good && i < width ? (wide)pose[i] : (wide)(width == 7 && i == 3);
  }
  return good;
}

// A pose's rotation as a unit quaternion, w first.
static void ccd_quaternion(const wide x[7], int width, wide q[4])
{
  if (width == 7) {
    wide most = (wide)0, square = (wide)0;
    for (int i = 0; i < 4; ++i) {
      most = wide_max(most, wide_abs(x[3 + i]));
    }
    for (int i = 0; i < 4; ++i) {
      q[i] = x[3 + i] / most;
      square += q[i] * q[i];
    }
    for (int i = 0; i < 4; ++i) {
      q[i] /= wide_sqrt(square);
    }
    return;
  }
  const wide angle = wide_sqrt(ccd_wide_dot(x + 3, x + 3));
  const wide by = angle > (wide)0 ? wide_sin(angle * (wide)0.5) / angle : (wide)0.5;
  q[0] = wide_cos(angle * (wide)0.5);
  for (int i = 0; i < 3; ++i) {
    q[1 + i] = x[3 + i] * by;
  }
}

// Sets the rotation from one orientation to the other, at most half a circle.
static void ccd_set_turn(ccd_path *p, int width)
{
  wide a[4], b[4], across[3], v[3];
  ccd_quaternion(p->number[0], width, a);
  ccd_quaternion(p->number[1], width, b);
  wide w = a[0] * b[0] + ccd_wide_dot(a + 1, b + 1);
  const wide sign = w < (wide)0 ? (wide)-1 : (wide)1;
  ccd_wide_cross(a + 1, b + 1, across);
  for (int k = 0; k < 3; ++k) {
    v[k] = sign * (a[0] * b[1 + k] - b[0] * a[1 + k] + across[k]);
  }
  const wide length = wide_sqrt(ccd_wide_dot(v, v));
  p->angle = (wide)2 * wide_atan2(length, sign * w);
  for (int k = 0; k < 3; ++k) {
    p->axis[k] = length > (wide)0 ? v[k] / length : (wide)(k == 0);
  }
}

static void ccd_rotate(const frame_w *f, const wide x[3], wide to[3])
{
  for (int i = 0; i < 3; ++i) {
    to[i] = f->m[3 * i] * x[0] + f->m[3 * i + 1] * x[1] + f->m[3 * i + 2] * x[2];
  }
}

static void ccd_move(const frame_w *f, const wide x[3], wide to[3])
{
  ccd_rotate(f, x, to);
  to[0] += f->t.x;
  to[1] += f->t.y;
  to[2] += f->t.z;
}

static void ccd_shift(vec3_w *t, const wide by[3])
{
  t->x += by[0];
  t->y += by[1];
  t->z += by[2];
}

// Sets the path of the mesh with these numbers, with the world's origin as the row's origin.
static void ccd_set_path(ccd_path *p, GLOBAL const real *from, GLOBAL const real *to, int width,
                         int arc, GLOBAL const real *centre, GLOBAL const real *numbers)
{
  const int good = ccd_read_pose(from, width, p->number[0]);
  p->good = ccd_read_pose(to, width, p->number[1]) && good;
  p->arc = arc;
  p->angle = (wide)0;
  p->axis[0] = (wide)1;
  p->axis[1] = p->axis[2] = (wide)0;
  for (int e = 0; e < 2; ++e) {
    p->frame[e] = pose_frame_w(p->number[e], width);
  }
  for (int k = 0; k < 3; ++k) {
    p->o[k] = (wide)numbers[CCD_MESH_ORIGIN + k];
    p->c[k] = arc ? (wide)centre[k] - p->o[k] : (wide)0;
  }
  for (int e = 0; e < 2; ++e) {
    wide at[3];
    ccd_rotate(&p->frame[e], p->o, at);
    ccd_shift(&p->frame[e].t, at);
  }
  if (arc) {
    ccd_set_turn(p, width);
  }
}

// Moves the row's origin of both paths to the rounded start of the first mesh, and writes it. If a
// path is bad, the origin stays.
static void ccd_set_origin(ccd_path *a, ccd_path *b, real origin[3])
{
  const vec3_w t = a->frame[0].t;
  const int good = a->good && b->good;
  wide back[3];
  origin[0] = good ? (real)t.x : R(0.0);
  origin[1] = good ? (real)t.y : R(0.0);
  origin[2] = good ? (real)t.z : R(0.0);
  for (int k = 0; k < 3; ++k) {
    back[k] = -(wide)origin[k];
  }
  for (int e = 0; e < 2; ++e) {
    ccd_shift(&a->frame[e].t, back);
    ccd_shift(&b->frame[e].t, back);
    ccd_move(&a->frame[e], a->c, a->m[e]);
    ccd_move(&b->frame[e], b->c, b->m[e]);
  }
}

// The rotation up to a time, the same for all vertices.
typedef struct ccd_moment {
  wide t, sine, rest; // rest: 1 - cos
} ccd_moment;

static ccd_moment ccd_moment_at(const ccd_path *p, wide t)
{
  ccd_moment m = {t, (wide)0, (wide)0};
  if (p->arc) {
    const wide halved = wide_sin(t * p->angle * (wide)0.5);
    m.sine = wide_sin(t * p->angle);
    m.rest = (wide)2 * halved * halved;
  }
  return m;
}

// x relative to the centre, rotated by the first rotation.
static void ccd_arm(const ccd_path *p, const wide x[3], wide to[3])
{
  const wide *m = p->frame[0].m;
  wide y[3];
  ccd_wide_sub(x, p->c, y);
  for (int i = 0; i < 3; ++i) {
    to[i] = m[3 * i] * y[0] + m[3 * i + 1] * y[1] + m[3 * i + 2] * y[2];
  }
}

// Rotates y by the moment's share of the whole rotation.
static void ccd_turn(const ccd_path *p, const ccd_moment *at, const wide y[3], wide to[3])
{
  wide across[3], twice[3];
  ccd_wide_cross(p->axis, y, across);
  ccd_wide_cross(p->axis, across, twice);
  for (int k = 0; k < 3; ++k) {
    to[k] = y[k] + at->sine * across[k] + at->rest * twice[k];
  }
}

// The position of a vertex.
static void ccd_point(const ccd_path *p, const ccd_moment *at, const wide x[3], wide to[3])
{
  const wide t = at->t;
  if (p->arc) {
    wide y[3];
    ccd_arm(p, x, y);
    ccd_turn(p, at, y, to);
    for (int k = 0; k < 3; ++k) {
      to[k] += ((wide)1 - t) * p->m[0][k] + t * p->m[1][k];
    }
    return;
  }
  wide a[3], b[3];
  ccd_move(&p->frame[0], x, a);
  ccd_move(&p->frame[1], x, b);
  for (int k = 0; k < 3; ++k) {
    to[k] = ((wide)1 - t) * a[k] + t * b[k];
  }
}

// The largest deviation of a vertex from its chord, over the square of the window's length: sup
// |x''| / 8.
static real ccd_bend(const ccd_path *p, const wide x[3])
{
  wide y[3], across[3];
  if (!p->arc) {
    return R(0.0);
  }
  ccd_arm(p, x, y);
  ccd_wide_cross(p->axis, y, across);
  const wide bend = p->angle * p->angle * wide_sqrt(ccd_wide_dot(across, across)) * (wide)0.125;
  return (real)bend * (R(1.0) + 32 * CCD_U);
}
