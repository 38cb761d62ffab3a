// Poses and twists of a chunk -> frames of pairs; sums of pairs -> wrenches on bodies. On wide numbers.
//
// A twist is the velocity of the body's origin, then its spin, in the world's axes; a wrench is force and
// moment about the body's origin.

static vec spring_read3(GLOBAL const real *p)
{
  return FN(make)((wide)p[0], (wide)p[1], (wide)p[2]);
}

static void spring_write3(GLOBAL real *p, vec v)
{
  p[0] = (real)v.x;
  p[1] = (real)v.y;
  p[2] = (real)v.z;
}

static vec spring_turned(const num m[9], vec v)
{
  return FN(make)(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                  m[6] * v.x + m[7] * v.y + m[8] * v.z);
}

static vec spring_turned_back(const num m[9], vec v)
{
  return FN(make)(m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                  m[2] * v.x + m[5] * v.y + m[8] * v.z);
}

// A pose that is not finite, or has no quaternion, is replaced by the identity.
static int spring_read_pose(GLOBAL const real *pose, int width, num x[7])
{
  int finite = 1, hollow = width == 7;
  for (int i = 0; i < width; ++i) {
    finite = finite && real_isfinite(pose[i]);
    hollow = hollow && (i < 3 || pose[i] == R(0.0));
  }
  for (int i = 0; i < 7; ++i) {
    x[i] = finite && !hollow && i < width ? (wide)pose[i] : width == 7 && i == 3 ? (wide)1 : (wide)0;
  }
  return finite && !hollow;
}

typedef struct spring_motion {
  FN(frame) pose;
  num numbers[7];
  vec speed, spin;
  int good;
} spring_motion;

static spring_motion spring_motion_of(GLOBAL const real *poses, int width, GLOBAL const real *twists, int pair)
{
  spring_motion m;
  GLOBAL const real *twist = ROW(twists, pair, 6);
  m.good = spring_read_pose(ROW(poses, pair, width), width, m.numbers);
  for (int i = 0; i < 6; ++i) {
    m.good = m.good && real_isfinite(twist[i]);
  }
  m.pose = FN(pose_frame)(m.numbers, width);
  m.speed = spring_read3(twist);
  m.spin = spring_read3(twist + 3);
  return m;
}

// Parameters are finite and, but for friction's coefficient, above 0.
static int spring_is_law(GLOBAL const real *parameters)
{
  int good = 1;
  for (int i = 0; i < SPRING_PARAMETER_COUNT; ++i) {
    const real x = parameters[i];
    good = good && real_isfinite(x) && (i == SPRING_MU ? x >= R(0.0) : x > R(0.0));
  }
  return good;
}

// Velocity of body 1's material point at body 2's origin relative to body 2.
static vec spring_relative_speed(const spring_motion *a, const spring_motion *b)
{
  return FN(sub3)(FN(add3)(a->speed, FN(cross3)(a->spin, FN(sub3)(b->pose.t, a->pose.t))), b->speed);
}

KERNEL void spring_frames(GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                          GLOBAL const real *twist1, GLOBAL const real *twist2,
                          GLOBAL const real *parameters, int parameter_stride, int count,
                          GLOBAL real *frames)
{
  const int pair = (int)get_global_id(0);
  if (pair >= count) {
    return;
  }
  const spring_motion a = spring_motion_of(pose1, width, twist1, pair);
  const spring_motion b = spring_motion_of(pose2, width, twist2, pair);
  const FN(frame) relative = FN(relative_frame)(&b.pose, &a.pose);
  GLOBAL const real *law = ROW(parameters, pair, parameter_stride);
  GLOBAL real *to = ROW(frames, pair, SPRING_FRAME);
  for (int i = 0; i < 9; ++i) {
    to[SPRING_TURN + i] = (real)relative.m[i];
    to[SPRING_WORLD + i] = (real)b.pose.m[i];
  }
  spring_write3(to + SPRING_SHIFT, relative.t);
  spring_write3(to + SPRING_SPEED, spring_turned_back(b.pose.m, spring_relative_speed(&a, &b)));
  spring_write3(to + SPRING_SPIN, spring_turned_back(b.pose.m, FN(sub3)(a.spin, b.spin)));
  spring_write3(to + SPRING_SPIN_1, spring_turned_back(a.pose.m, a.spin));
  spring_write3(to + SPRING_SPIN_2, spring_turned_back(b.pose.m, b.spin));
  for (int i = 0; i < SPRING_PARAMETER_COUNT; ++i) {
    to[SPRING_PARAMETERS + i] = law[i];
  }
  to[SPRING_POISON] = a.good && b.good && spring_is_law(law) ? R(0.0) : REAL_NAN;
}

static void spring_write_wrench(GLOBAL real *to, vec force, vec moment, real poison)
{
  spring_write3(to, force);
  spring_write3(to + 3, moment);
  for (int i = 0; i < 6; ++i) {
    to[i] += poison;
  }
}

// Wrenches on both bodies, of sums about body 2's origin in its axes.
KERNEL void spring_wrenches(GLOBAL const real *frames, GLOBAL const real *sums, GLOBAL const real *means,
                            int count, GLOBAL real *wrench1, GLOBAL real *wrench2, GLOBAL real *distance)
{
  const int pair = (int)get_global_id(0);
  if (pair >= count) {
    return;
  }
  GLOBAL const real *frame = ROW(frames, pair, SPRING_FRAME), *sum = ROW(sums, pair, SPRING_WRENCH);
  num turn[9];
  for (int i = 0; i < 9; ++i) {
    turn[i] = (wide)frame[SPRING_WORLD + i];
  }
  const vec own = spring_read3(sum), shift = spring_read3(frame + SPRING_SHIFT);
  const vec force = spring_turned(turn, own);
  const vec moment = spring_turned(turn, FN(sub3)(spring_read3(sum + 3), FN(cross3)(shift, own)));
  const real poison = frame[SPRING_POISON];
  spring_write_wrench(ROW(wrench1, pair, 6), force, moment, poison);
  spring_write_wrench(ROW(wrench2, pair, 6), FN(neg3)(force), spring_turned(turn, spring_read3(sum + 6)),
                      poison);
  distance[pair] = ROW(means, pair, SPRING_MEANS)[2] + poison;
}
