// Derivatives with respect to both bodies' poses, computed through the motions of body 2 in body
// 1's frame. There are six motions (MOTIONS), whereas poses have twelve or fourteen numbers: a
// common motion of both bodies moves contacts rigidly. All computations use plain wide numbers.

typedef struct pose_pair {
  int bad;
  wide x1[7], x2[7];        // both poses' numbers, those of the identity if a pose is bad
  frame_w frame1, to1, to2; // from body 1 to the world, from 2 to 1, from 1 to 2
} pose_pair;

static void read_numbers(GLOBAL const real *pose, int width, int bad, wide x[7])
{
  for (int i = 0; i < 7; ++i) {
    x[i] = width == 7 && i == 3 ? R(1.0) : R(0.0);
    x[i] = bad || i >= width ? x[i] : (wide)pose[i];
  }
}

static void read_pair(GLOBAL const real *pose1, GLOBAL const real *pose2, int width, pose_pair *p)
{
  const int bad1 = pose_status(pose1, width), bad2 = pose_status(pose2, width);
  p->bad = bad1 && bad2 ? MIN_INT(bad1, bad2) : bad1 + bad2;
  read_numbers(pose1, width, p->bad, p->x1);
  read_numbers(pose2, width, p->bad, p->x2);
  p->frame1 = pose_frame_w(p->x1, width);
  const frame_w frame2 = pose_frame_w(p->x2, width);
  p->to2 = relative_frame_w(&frame2, &p->frame1);
  p->to1 = relative_frame_w(&p->frame1, &frame2);
}

static vec3_w axis_of(int k)
{
  return make_w(k == 0 ? R(1.0) : R(0.0), k == 1 ? R(1.0) : R(0.0), k == 2 ? R(1.0) : R(0.0));
}

static vec3_w row_of(const frame_w *f, int i)
{
  return make_w(f->m[3 * i], f->m[3 * i + 1], f->m[3 * i + 2]);
}

static vec3_w column_of(const frame_w *f, int i)
{
  return make_w(f->m[i], f->m[3 + i], f->m[6 + i]);
}

static void write_plain_frame(GLOBAL real *to, const frame_w *f)
{
  for (int k = 0; k < 9; ++k) {
    to[k] = (real)f->m[k];
  }
  to[9] = (real)f->t.x;
  to[10] = (real)f->t.y;
  to[11] = (real)f->t.z;
}

// Returns the derivative, along motion k, of the frame from body 2 to body 1. It is e x R for a
// rotation about axis e, and e for a translation.
static frame_w motion_to1(const frame_w *to1, int k)
{
  frame_w f;
  const vec3_w e = axis_of(k % 3), none = make_w(R(0.0), R(0.0), R(0.0));
  for (int j = 0; j < 3; ++j) {
    const vec3_w turned = k < 3 ? none : cross3_w(e, column_of(to1, j));
    f.m[j] = turned.x;
    f.m[3 + j] = turned.y;
    f.m[6 + j] = turned.z;
  }
  f.t = k < 3 ? e : none;
  return f;
}

// Returns the derivative, along motion k, of that frame's inverse. For a rotation it is e x the
// rows of R' and R'(e x t), for a translation -R'e.
static frame_w motion_to2(const frame_w *to1, const frame_w *to2, int k)
{
  frame_w f;
  const vec3_w e = axis_of(k % 3), none = make_w(R(0.0), R(0.0), R(0.0));
  const vec3_w move = k < 3 ? make_w(-e.x, -e.y, -e.z) : cross3_w(e, to1->t);
  for (int i = 0; i < 3; ++i) {
    const vec3_w turned = k < 3 ? none : cross3_w(e, row_of(to2, i));
    f.m[3 * i] = turned.x;
    f.m[3 * i + 1] = turned.y;
    f.m[3 * i + 2] = turned.z;
  }
  f.t = make_w(dot3_w(row_of(to2, 0), move), dot3_w(row_of(to2, 1), move),
               dot3_w(row_of(to2, 2), move));
  return f;
}

// One work-item computes the frames of one pair of poses like `poses`, frames (count,
// FRAME_STRIDE), except that body 1's frame is the world. Tangents are along motions, starting with
// motion `first`.
KERNEL void motions(GLOBAL const real *pose1, GLOBAL const real *pose2, int width, int first,
                    int count, GLOBAL real *frames, GLOBAL int *status)
{
  const int pose = (int)get_global_id(0);
  if (pose >= count) {
    return;
  }
  pose_pair p;
  read_pair(ROW(pose1, pose, width), ROW(pose2, pose, width), width, &p);
  EACH_PART (i) {
    const int k = first + i - 1;
    const frame_w to1 = i ? motion_to1(&p.to1, k) : p.to1;
    const frame_w to2 = i ? motion_to2(&p.to1, &p.to2, k) : p.to2;
    GLOBAL real *row = NUMS(frames, pose, FRAME_STRIDE) + i * FRAME_STRIDE;
    for (int j = 0; j < 12; ++j) {
      row[FRAME_WORLD_1 + j] = i == 0 && j < 9 && j % 4 == 0 ? R(1.0) : R(0.0);
    }
    write_plain_frame(row + FRAME_WORLD_2, &to1);
    write_plain_frame(row + FRAME_1_TO_2, &to2);
    write_plain_frame(row + FRAME_2_TO_1, &to1);
    row[FRAME_POISON] = p.bad ? REAL_NAN : R(0.0);
  }
  status[pose] = p.bad;
}

// ---- Hessians of results that depend only on the motion of body 2 against body 1 ----

static void write_slopes(GLOBAL real *slopes, int motion, int first, vec v)
{
  const num parts[3] = {v.x, v.y, v.z};
  for (int i = 0; i < 3; ++i) {
    GLOBAL real *to = slopes + SLOPES_MOTIONS + 6 * motion + first + i;
    slopes[first + i] = gradient_part(n_value(parts[i]), 1);
    *to = gradient_part(n_get_part(parts[i], PARTS - 1), 1);
  }
}

#if WITH_ADJOINT // only a kernel may declare local memory
// One work-group adds up the wrenches of all blocks of one pose, on duals along a motion. slopes
// (poses, SLOPES_REALS) gets force and moment about body 2's origin, and their derivatives along
// motion `motion`.
ADJOINT_KERNEL ADJOINT_GROUPED void wrench_slopes(GLOBAL const real *frames,
                                                  GLOBAL const real *wrenches, int wrench_blocks,
                                                  int motion, GLOBAL real *slopes)
{
  LOCAL_ARRAY(wide, part, GROUP_AT_ONCE * WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  vec sum[4];
  sum_wrenches(NUMS(wrenches, pose, wrench_blocks * WRENCH_REALS), wrench_blocks, part, item, sum);
  if (item == 0) {
    const vec t = read3(NUMS(frames, pose, FRAME_STRIDE) + FRAME_2_TO_1 + 9, FRAME_STRIDE);
    GLOBAL real *row = ROW(slopes, pose, SLOPES_REALS);
    write_slopes(row, motion, SLOPES_FORCE, sum[0]);
    write_slopes(row, motion, SLOPES_MOMENT, FN(sub3)(sum[1], FN(cross3)(t, sum[0])));
  }
}
#endif

// Reads a pose's numbers, as duals along number `along` if the pose has that number.
static void read_moving(GLOBAL const real *pose, int width, int bad, int along, num x[7])
{
  wide plain[7];
  read_numbers(pose, width, bad, plain);
  for (int i = 0; i < 7; ++i) {
    x[i] =
      n_with_value(n_with_part(n_lit(R(0.0)), PARTS - 1, i == along ? R(1.0) : R(0.0)), plain[i]);
  }
  (void)along;
}

// Writes the motion (six numbers) that the tangent of a frame from body 2 to body 1 represents. The
// first three are the change of its translation. The last three are the vector of the skew matrix
// dR R', with R its rotation.
static void motion_of(const FN(frame) *f, wide motion[MOTIONS])
{
  wide rotation[9], turned[9];
  for (int i = 0; i < 9; ++i) {
    rotation[i] = n_value(f->m[i]);
    turned[i] = n_get_part(f->m[i], PARTS - 1);
  }
  motion[0] = n_get_part(f->t.x, PARTS - 1);
  motion[1] = n_get_part(f->t.y, PARTS - 1);
  motion[2] = n_get_part(f->t.z, PARTS - 1);
  for (int i = 0; i < 3; ++i) {
    const int row = 3 * ((i + 2) % 3), by = 3 * ((i + 1) % 3);
    motion[3 + i] = turned[row] * rotation[by] + turned[row + 1] * rotation[by + 1] +
                    turned[row + 2] * rotation[by + 2];
  }
}

// Returns the force or the moment (at `first`) of slopes as duals along a motion.
static vec wrench_along(GLOBAL const real *slopes, int first, const wide motion[MOTIONS])
{
  num parts[3];
  for (int i = 0; i < 3; ++i) {
    wide slope = R(0.0);
    for (int k = 0; k < MOTIONS; ++k) {
      slope += motion[k] * (wide)slopes[SLOPES_MOTIONS + 6 * k + first + i];
    }
    parts[i] = n_with_value(n_with_part(n_lit(R(0.0)), PARTS - 1, slope), (wide)slopes[first + i]);
    (void)slope;
  }
  return FN(make)(parts[0], parts[1], parts[2]);
}

static vec turn_local_back(const FN(frame) *f, vec v)
{
  const num *m = f->m;
  return FN(make)(n_mad(m[0], v.x, n_mad(m[3], v.y, n_mul(m[6], v.z))),
                  n_mad(m[1], v.x, n_mad(m[4], v.y, n_mul(m[7], v.z))),
                  n_mad(m[2], v.x, n_mad(m[5], v.y, n_mul(m[8], v.z))));
}

// One work-item computes one column of one pose's Hessian with respect to the poses' numbers
// `first` to first + columns - 1, pose 1's before pose 2's: hessian (poses, columns, columns), from
// slopes (poses, SLOPES_REALS). The work-item of column 0 also computes the gradients, gradient1
// and gradient2 (poses, width). Second derivatives that overflow with opposite signs count as 0.
ADJOINT_KERNEL void poses_hessian(GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                  int first, int columns, GLOBAL const real *slopes,
                                  GLOBAL const int *status, GLOBAL real *gradient1,
                                  GLOBAL real *gradient2, GLOBAL real *hessian)
{
  const int column = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (column >= columns) {
    return;
  }
  const int bad = status[pose] & POSE_REJECTED, along = first + column;
  num x[2][7], out[2][7];
  read_moving(ROW(pose1, pose, width), width, bad, along, x[0]);
  read_moving(ROW(pose2, pose, width), width, bad, along - width, x[1]);
  const FN(frame) frame1 = FN(pose_frame)(x[0], width), frame2 = FN(pose_frame)(x[1], width);
  const FN(frame) to1 = FN(relative_frame)(&frame1, &frame2);
  wide motion[MOTIONS];
  motion_of(&to1, motion);
  GLOBAL const real *row = ROW(slopes, pose, SLOPES_REALS);
  const vec force = wrench_along(row, SLOPES_FORCE, motion);
  const vec about = wrench_along(row, SLOPES_MOMENT, motion);
  const vec moment = FN(add3)(about, FN(cross3)(to1.t, force));
  FN(pose_adjoint)(x[0], width, FN(neg3)(force), FN(neg3)(moment), out[0]);
  FN(pose_adjoint)(x[1], width, turn_local_back(&to1, force), turn_local_back(&to1, about), out[1]);
  GLOBAL real *to = ROW(hessian, pose, columns * columns) + column;
  for (int i = 0; i < columns; ++i) {
    const int at = first + i;
    const num slope = out[at >= width][at - (at < width ? 0 : width)];
    const wide second = n_get_part(slope, PARTS - 1);
    to[i * columns] = gradient_part(second == second ? second : R(0.0), !bad);
  }
  for (int i = 0; column == 0 && i < width; ++i) {
    NUMS(gradient1, pose, width)[i] = gradient_part(n_value(out[0][i]), !bad);
    NUMS(gradient2, pose, width)[i] = gradient_part(n_value(out[1][i]), !bad);
  }
}
