// The first and last steps of a call on pairs. These kernels convert poses and twists to frames of
// pairs, sums of pairs to wrenches on bodies, and cotangents of wrenches to gradients with respect
// to poses, twists and parameters. They compute in wide numbers, because poses may be far from the
// world's origin.
//
// A twist holds the velocity of the body's origin, then its angular velocity ("spin"), both in the
// world's axes. A wrench is a force and a moment about the body's own origin, in the world's axes.

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

// Returns m v, where m is a 3 x 3 matrix by rows.
static vec spring_turned(const num m[9], vec v)
{
  return FN(make)(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                  m[6] * v.x + m[7] * v.y + m[8] * v.z);
}

// Returns m' v.
static vec spring_turned_back(const num m[9], vec v)
{
  return FN(make)(m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                  m[2] * v.x + m[5] * v.y + m[8] * v.z);
}

// Reads a pose and returns whether it is valid. A pose that is not finite, or whose quaternion is
// 0, is replaced by the identity, which keeps all results finite.
static int spring_read_pose(GLOBAL const real *pose, int width, num x[7])
{
  int finite = 1, hollow = width == 7;
  for (int i = 0; i < width; ++i) {
    finite = finite && real_isfinite(pose[i]);
    hollow = hollow && (i < 3 || real_is_none(pose[i]));
  }
  for (int i = 0; i < 7; ++i) {
    x[i] = finite && !hollow && i < width ? (wide)pose[i]
           : width == 7 && i == 3         ? (wide)1
                                          : (wide)0;
  }
  return finite && !hollow;
}

// The pose and the twist of one body, in wide numbers. `numbers` is the pose as given. `good` is
// set if pose and twist are finite.
typedef struct spring_motion {
  FN(frame) pose;
  num numbers[7];
  vec speed, spin;
  int good;
} spring_motion;

static spring_motion spring_motion_of(GLOBAL const real *poses, int width,
                                      GLOBAL const real *twists, int pair)
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

// Returns whether all six parameters are finite, mu is at least 0 and the others are above 0.
static int spring_is_law(GLOBAL const real *parameters)
{
  int good = 1;
  for (int i = 0; i < SPRING_PARAMETER_COUNT; ++i) {
    const real x = parameters[i];
    good = good && real_isfinite(x) && (i == SPRING_MU ? x >= R(0.0) : x > R(0.0));
  }
  return good;
}

// Returns the velocity of the material point of body 1 at body 2's origin, relative to body 2, in
// the world's axes.
static vec spring_relative_speed(const spring_motion *a, const spring_motion *b)
{
  return FN(sub3)(FN(add3)(a->speed, FN(cross3)(a->spin, FN(sub3)(b->pose.t, a->pose.t))),
                  b->speed);
}

// One work-item makes the frame of one pair. It reads pose1 and pose2 (pairs, width), where width
// is 6 for twist poses and 7 for quaternion poses, twist1 and twist2 (pairs, 6) and parameters
// (pairs, 6; one row for all if parameter_stride is 0). It writes frames (pairs, SPRING_FRAME):
// body 1's pose and velocity relative to body 2, in body 2's axes, and the other inputs of later
// kernels. SPRING_POISON is NaN if a pose, a twist or a parameter is invalid, else 0. It is added
// to all outputs of the pair.
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

// Makes rows of duals: values (pairs, width) and derivatives (pairs, width) become out (pairs, 2
// width), the values of a row and then its derivatives. Only places from `first` up to `last`
// retain their derivatives; the others get 0. One work-item writes one number; the global size is
// (width, pairs).
KERNEL void spring_lift(GLOBAL const real *values, GLOBAL const real *derivatives, int width,
                        int first, int last, int count, GLOBAL real *out)
{
  const int at = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || at >= width) {
    return;
  }
  GLOBAL real *to = ROW(out, pair, 2 * width) + at;
  to[0] = ROW(values, pair, width)[at];
  to[width] = at >= first && at < last ? ROW(derivatives, pair, width)[at] : R(0.0);
}

// One work-item makes the frame of one pair on duals, out (pairs, 2 SPRING_FRAME), from frames
// (pairs, SPRING_FRAME) and directions (pairs, 12). A direction is a shift and a turn of body 1
// about body 2's origin, then the change of its relative velocity there and of its relative spin,
// all in body 2's axes. The frame's rotation and shift change with that motion. Its parameters are
// constant.
ADJOINT_KERNEL void spring_direct(GLOBAL const real *frames, GLOBAL const real *directions,
                                  int count, GLOBAL real *out)
{
  const int pair = (int)get_global_id(0);
  if (pair >= count) {
    return;
  }
  GLOBAL const real *frame = ROW(frames, pair, SPRING_FRAME), *way = ROW(directions, pair, 12);
  GLOBAL real *to = ROW(out, pair, 2 * SPRING_FRAME), *slope = to + SPRING_FRAME;
  const vec turn = spring_read3(way + 3);
  for (int i = 0; i < SPRING_FRAME; ++i) {
    to[i] = frame[i];
    slope[i] = R(0.0);
  }
  for (int i = 0; i < 3; ++i) {
    GLOBAL const real *column = frame + SPRING_TURN + i;
    const vec moved = FN(cross3)(turn, FN(make)((wide)column[0], (wide)column[3], (wide)column[6]));
    slope[SPRING_TURN + i] = (real)moved.x;
    slope[SPRING_TURN + 3 + i] = (real)moved.y;
    slope[SPRING_TURN + 6 + i] = (real)moved.z;
  }
  spring_write3(slope + SPRING_SHIFT,
                FN(add3)(spring_read3(way), FN(cross3)(turn, spring_read3(frame + SPRING_SHIFT))));
  spring_write3(slope + SPRING_SPEED, spring_read3(way + 6));
  spring_write3(slope + SPRING_SPIN, spring_read3(way + 9));
}

// Extracts the derivatives of rows of duals: from (pairs, 2 width) becomes out (pairs, width). One
// work-item writes one number; the global size is (width, pairs).
ADJOINT_KERNEL void spring_part(GLOBAL const real *from, int width, GLOBAL const real *frames,
                                int count, GLOBAL real *out)
{
  const int at = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair < count && at < width) {
    ROW(out, pair, width)
    [at] = ROW(from, pair, 2 * width)[width + at] + ROW(frames, pair, SPRING_FRAME)[SPRING_POISON];
  }
}

// Advances rows of duals along their direction: out (pairs, width) is the values of `from` (pairs,
// 2 width) plus `step` times their derivatives. A step of 0 ignores the derivatives, which may then
// be infinite or NaN. One work-item writes one number; the global size is (width, pairs).
KERNEL void spring_lower(GLOBAL const real *from, int width, real step, int count, GLOBAL real *out)
{
  const int at = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || at >= width) {
    return;
  }
  GLOBAL const real *own = ROW(from, pair, 2 * width) + at;
  ROW(out, pair, width)[at] = own[0] + (step > R(0.0) ? step * own[width] : R(0.0));
}

static void spring_write_wrench(GLOBAL real *to, vec force, vec moment, real poison)
{
  spring_write3(to, force);
  spring_write3(to + 3, moment);
  for (int i = 0; i < 6; ++i) {
    to[i] += poison;
  }
}

// One work-item converts the sums of one pair, sums (pairs, SPRING_WRENCH) about body 2's origin in
// body 2's axes, to wrench1 and wrench2 (pairs, 6), each about its body's own origin in the world's
// axes. It copies the soft distance of means (pairs, SPRING_MEANS) to distance (pairs).
KERNEL void spring_wrenches(GLOBAL const real *frames, GLOBAL const real *sums,
                            GLOBAL const real *means, int count, GLOBAL real *wrench1,
                            GLOBAL real *wrench2, GLOBAL real *distance)
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
  spring_write_wrench(ROW(wrench2, pair, 6), FN(neg3)(force),
                      spring_turned(turn, spring_read3(sum + 6)), poison);
  distance[pair] = ROW(means, pair, SPRING_MEANS)[2] + poison;
}

// ---- gradients ----
// The reverse pass of a pair. Cotangents of both wrenches become those of force and moment on body
// 1 about body 2's origin. The pair's Jacobian maps these to cotangents of the relative motion,
// which are then mapped to the motions of both bodies and to the numbers of their poses and twists.

// Cotangents of one body's motion: of a shift of its origin, a turn about it, its speed and its
// spin, all in the world's axes.
typedef struct spring_bar {
  vec shift, turn, speed, spin;
} spring_bar;

// Converts bar1 and bar2 (6 each), the cotangents of wrench1 and wrench2, to the cotangents of
// force and moment on body 1 about body 2's origin, in body 2's axes. own1 and own2 get the
// cotangents of the poses that do not come from the relative motion: the moment on body 1 is about
// its own origin, so it depends on the gap between both origins, and everything turns with body 2's
// axes. `turn` is body 2's rotation and `sum` the pair's row of sums.
static void spring_pull_wrenches(const spring_motion *a, const spring_motion *b, const num turn[9],
                                 GLOBAL const real *sum, GLOBAL const real *bar1,
                                 GLOBAL const real *bar2, vec *force_bar, vec *moment_bar,
                                 spring_bar *own1, spring_bar *own2)
{
  const vec none = FN(make)(0, 0, 0), gap = FN(sub3)(b->pose.t, a->pose.t);
  const vec force = spring_turned(turn, spring_read3(sum)),
            moment = spring_turned(turn, spring_read3(sum + 3));
  const vec moment1 = spring_read3(bar1 + 3);
  const vec f =
    FN(add3)(FN(sub3)(spring_read3(bar1), spring_read3(bar2)), FN(cross3)(moment1, gap));
  const vec m = FN(sub3)(moment1, spring_read3(bar2 + 3));
  own2->shift = FN(cross3)(force, moment1);
  own1->shift = FN(neg3)(own2->shift);
  own2->turn = FN(add3)(FN(cross3)(force, f), FN(cross3)(moment, m));
  own1->turn = own1->speed = own1->spin = own2->speed = own2->spin = none;
  *force_bar = spring_turned_back(turn, f);
  *moment_bar = spring_turned_back(turn, m);
}

// Returns the cotangent of the variable of one column of the Jacobian (SPRING_ROWS,
// SPRING_COLUMNS): the column times the cotangents of force, moment and distance.
static num spring_column_bar(GLOBAL const real *jacobian, int column, vec force, vec moment,
                             num distance)
{
  GLOBAL const real *j = jacobian + column;
  return (wide)j[0] * force.x + (wide)j[SPRING_COLUMNS] * force.y +
         (wide)j[2 * SPRING_COLUMNS] * force.z + (wide)j[3 * SPRING_COLUMNS] * moment.x +
         (wide)j[4 * SPRING_COLUMNS] * moment.y + (wide)j[5 * SPRING_COLUMNS] * moment.z +
         (wide)j[6 * SPRING_COLUMNS] * distance;
}

static vec spring_columns_bar(GLOBAL const real *jacobian, int column, vec force, vec moment,
                              num distance)
{
  return FN(make)(spring_column_bar(jacobian, column, force, moment, distance),
                  spring_column_bar(jacobian, column + 1, force, moment, distance),
                  spring_column_bar(jacobian, column + 2, force, moment, distance));
}

// Converts the cotangent of the relative motion, in the world's axes, to each body's own motion and
// adds it to own1 and own2. Relative speed and spin are expressed in body 2's axes, so they turn
// with body 2. The material point at body 2's origin moves with both bodies.
static void spring_pull_motion(const spring_motion *a, const spring_motion *b,
                               const spring_bar *relative, spring_bar *own1, spring_bar *own2)
{
  const vec gap = FN(sub3)(b->pose.t, a->pose.t), spin = FN(sub3)(a->spin, b->spin);
  const vec carried = FN(cross3)(relative->speed, a->spin);
  own1->shift = FN(sub3)(FN(add3)(own1->shift, relative->shift), carried);
  own2->shift = FN(add3)(FN(sub3)(own2->shift, relative->shift), carried);
  own1->turn = FN(add3)(own1->turn, FN(add3)(relative->turn, FN(cross3)(gap, relative->shift)));
  own2->turn = FN(sub3)(own2->turn, FN(add3)(relative->turn, FN(cross3)(spin, relative->spin)));
  own2->turn = FN(sub3)(own2->turn, FN(cross3)(spring_relative_speed(a, b), relative->speed));
  own1->speed = relative->speed;
  own2->speed = FN(neg3)(relative->speed);
  own1->spin = FN(add3)(relative->spin, FN(cross3)(gap, relative->speed));
  own2->spin = FN(neg3)(relative->spin);
}

// Maps the cotangents of one body's motion to the numbers of its pose (width) and of its twist (6).
static void spring_write_bar(const spring_motion *m, int width, const spring_bar *bar, real poison,
                             GLOBAL real *pose, GLOBAL real *twist)
{
  num numbers[7];
  FN(pose_adjoint)
  (m->numbers, width, spring_turned_back(m->pose.m, bar->shift),
   spring_turned_back(m->pose.m, bar->turn), numbers);
  for (int i = 0; i < width; ++i) {
    pose[i] = (real)numbers[i] + poison;
  }
  spring_write_wrench(twist, bar->speed, bar->spin, poison);
}

// One work-item makes the gradients of one pair. wrench1_bar and wrench2_bar (pairs, 6) and
// distance_bar (pairs) are the cotangents. frames, sums and jacobians (pairs, SPRING_ROWS,
// SPRING_COLUMNS) are those of the forward kernels and of spring_slopes. It writes pose1_bar and
// pose2_bar (pairs, width), twist1_bar and twist2_bar (pairs, 6) and parameters_bar (pairs, 6). It
// sets the Jacobian of an invalid pair to NaN, because the caller may request it.
ADJOINT_KERNEL void spring_adjoint(GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                   GLOBAL const real *twist1, GLOBAL const real *twist2,
                                   GLOBAL const real *frames, GLOBAL const real *sums,
                                   GLOBAL real *jacobians, GLOBAL const real *wrench1_bar,
                                   GLOBAL const real *wrench2_bar, GLOBAL const real *distance_bar,
                                   int count, GLOBAL real *pose1_bar, GLOBAL real *pose2_bar,
                                   GLOBAL real *twist1_bar, GLOBAL real *twist2_bar,
                                   GLOBAL real *parameters_bar)
{
  const int pair = (int)get_global_id(0);
  if (pair >= count) {
    return;
  }
  GLOBAL const real *frame = ROW(frames, pair, SPRING_FRAME);
  GLOBAL real *j = ROW(jacobians, pair, SPRING_SLOPES);
  const spring_motion a = spring_motion_of(pose1, width, twist1, pair);
  const spring_motion b = spring_motion_of(pose2, width, twist2, pair);
  const num distance = (wide)distance_bar[pair];
  const real poison = frame[SPRING_POISON];
  spring_bar own1, own2, relative;
  vec force, moment;
  spring_pull_wrenches(&a, &b, b.pose.m, ROW(sums, pair, SPRING_WRENCH), ROW(wrench1_bar, pair, 6),
                       ROW(wrench2_bar, pair, 6), &force, &moment, &own1, &own2);
  relative.shift = spring_turned(b.pose.m, spring_columns_bar(j, 0, force, moment, distance));
  relative.turn = spring_turned(b.pose.m, spring_columns_bar(j, 3, force, moment, distance));
  relative.speed = spring_turned(b.pose.m, spring_columns_bar(j, 6, force, moment, distance));
  relative.spin = spring_turned(b.pose.m, spring_columns_bar(j, 9, force, moment, distance));
  spring_pull_motion(&a, &b, &relative, &own1, &own2);
  spring_write_bar(&a, width, &own1, poison, ROW(pose1_bar, pair, width), ROW(twist1_bar, pair, 6));
  spring_write_bar(&b, width, &own2, poison, ROW(pose2_bar, pair, width), ROW(twist2_bar, pair, 6));
  for (int i = 0; i < SPRING_PARAMETER_COUNT; ++i) {
    const num bar = spring_column_bar(j, 12 + i, force, moment, distance);
    ROW(parameters_bar, pair, SPRING_PARAMETER_COUNT)[i] = (real)bar + poison;
  }
  for (int i = 0; i < SPRING_SLOPES; ++i) {
    j[i] += poison;
  }
}

// ---- soft collision points ----

// One work-item transforms one soft point to the world: sums (pairs, most, SPRING_SOFT_SUMS), in
// the bodies' frames, become points (pairs, most, 3). The global size is (most, pairs).
KERNEL void spring_soft_places(GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                               GLOBAL const real *frames, GLOBAL const real *sums, int most,
                               int count, GLOBAL real *points)
{
  const int k = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || k >= most) {
    return;
  }
  GLOBAL const real *from = ROW(sums, pair, SPRING_SOFT_SUMS * most) + SPRING_SOFT_SUMS * k;
  vec x = FN(make)(0, 0, 0);
  for (int side = 0; side < 2; ++side) {
    num numbers[7];
    (void)spring_read_pose(ROW(side ? pose2 : pose1, pair, width), width, numbers);
    const FN(frame) pose = FN(pose_frame)(numbers, width);
    GLOBAL const real *own = from + 4 * side;
    x = FN(add3)(x, FN(add3)(spring_turned(pose.m, spring_read3(own)),
                             FN(scale3)(pose.t, (wide)own[3])));
  }
  GLOBAL real *to = ROW(points, pair, 3 * most) + 3 * k;
  spring_write3(to, x);
  for (int i = 0; i < 3; ++i) {
    to[i] += ROW(frames, pair, SPRING_FRAME)[SPRING_POISON];
  }
}
