// Conversion of a chunk's poses to frames and statuses, and of a chunk's wrenches to gradients with
// respect to the poses' numbers (docs/dev/spec.md, section 3). These kernels compute in wide
// numbers.
//
// A pose of width 6 is a twist. A pose of width 7 is a position and a quaternion, w first. A pose
// that is not finite (status 1) or has no quaternion (status 2) is replaced by the identity, and
// its outputs are NaN.

#define POSE_NOT_FINITE 1
#define POSE_NO_QUATERNION 2

static int pose_status(GLOBAL const real *pose, int width)
{
  int finite = 1, hollow = 1;
  for (int i = 0; i < width; ++i) {
    finite = finite && real_isfinite(pose[i]);
    hollow = hollow && (i < 3 || real_is_none(pose[i]));
  }
  return !finite ? POSE_NOT_FINITE : width == 7 && hollow ? POSE_NO_QUATERNION : 0;
}

// Reads the numbers of a pose, with their tangents if numbers are duals. If the pose is bad,
// returns the identity.
static void read_pose(GLOBAL const real *pose, GLOBAL const real *tangent, int width, int good,
                      num x[7])
{
  for (int i = 0; i < 7; ++i) {
    x[i] = n_lit(width == 7 && i == 3 ? R(1.0) : R(0.0));
  }
  for (int i = 0; i < width && good; ++i) {
    EACH_PART (part) {
      x[i] = n_with_part(x[i], part, part ? tangent[(part - 1) * width + i] : pose[i]);
    }
  }
}

// Returns whether both poses' tangents are finite: there is no derivative along NaN.
static int tangents_finite(GLOBAL const real *tangent1, GLOBAL const real *tangent2, int width)
{
  int finite = 1;
  for (int i = 0; i < TANGENTS * width; ++i) {
    finite = finite && real_isfinite(tangent1[i]) && real_isfinite(tangent2[i]);
  }
  (void)tangent1;
  (void)tangent2;
  return finite;
}

static void write_number(GLOBAL real *to, int stride, num x)
{
  EACH_PART (i) {
    to[i * stride] = (real)n_get_part(x, i);
  }
}

// Writes a number of a frame. A derivative is limited to the bodies' greatest separation, like the
// separation itself.
static void write_moving(GLOBAL real *to, num x)
{
  to[0] = (real)n_value(x);
  for (int i = 1; i < PARTS; ++i) {
    const n_part move = n_get_part(x, i);
    const n_part most = SEPARATION_LIMIT;
    to[i * FRAME_STRIDE] = (real)(move > most ? most : move < -most ? -most : move);
  }
}

static void write_frame(GLOBAL real *to, const FN(frame) *f)
{
  for (int k = 0; k < 9; ++k) {
    write_moving(to + k, f->m[k]);
  }
  write_moving(to + 9, f->t.x);
  write_moving(to + 10, f->t.y);
  write_moving(to + 11, f->t.z);
}

// One work-item computes the frames of one pair of poses: from pose1 and pose2 (count, width) it
// writes frames (count, FRAME_STRIDE) and status (count). tangent1 and tangent2 (count, TANGENTS,
// width) are read if numbers are duals.
MERGED
KERNEL void poses(GLOBAL const real *pose1, GLOBAL const real *pose2, GLOBAL const real *tangent1,
                  GLOBAL const real *tangent2, int width, int count, GLOBAL real *frames,
                  GLOBAL int *status)
{
  const int pose = (int)get_global_id(0);
  if (pose >= count) {
    return;
  }
  GLOBAL const real *from1 = ROW(pose1, pose, width);
  GLOBAL const real *from2 = ROW(pose2, pose, width);
  const int bad1 = pose_status(from1, width), bad2 = pose_status(from2, width);
  const int bad = bad1 && bad2 ? MIN_INT(bad1, bad2) : bad1 + bad2;
  num x[7];
  read_pose(from1, ROW(tangent1, pose, TANGENTS * width), width, !bad, x);
  const FN(frame) f1 = FN(pose_frame)(x, width);
  read_pose(from2, ROW(tangent2, pose, TANGENTS * width), width, !bad, x);
  const FN(frame) f2 = FN(pose_frame)(x, width);
  const FN(frame) to2 = FN(relative_frame)(&f2, &f1);
  const FN(frame) to1 = FN(relative_frame)(&f1, &f2);
  GLOBAL real *row = NUMS(frames, pose, FRAME_STRIDE);
  write_frame(row + FRAME_WORLD_1, &f1);
  write_frame(row + FRAME_WORLD_2, &f2);
  write_frame(row + FRAME_1_TO_2, &to2);
  write_frame(row + FRAME_2_TO_1, &to1);
  const int steered = tangents_finite(ROW(tangent1, pose, TANGENTS * width),
                                      ROW(tangent2, pose, TANGENTS * width), width);
  EACH_PART (i) {
    row[i * FRAME_STRIDE + FRAME_POISON] = bad || (i && !steered) ? REAL_NAN : R(0.0);
  }
  status[pose] = bad;
}

static num read_number(GLOBAL const real *from, int stride)
{
  num x = n_lit(R(0.0));
  EACH_PART (i) {
    x = n_with_part(x, i, from[i * stride]);
  }
  return x;
}

static vec read3(GLOBAL const real *from, int stride)
{
  return FN(make)(read_number(from, stride), read_number(from + 1, stride),
                  read_number(from + 2, stride));
}

// Returns x as a finite real, or NaN if the pose is bad.
static real gradient_part(wide x, int good)
{
  const wide most = REAL_MOST;
  return good ? (real)(x > most ? most : x < -most ? -most : x) : REAL_NAN;
}

static void write_gradient(GLOBAL real *to, int stride, num x, GLOBAL const real *poison)
{
  EACH_PART (i) {
    to[i * stride] = gradient_part(n_get_part(x, i), poison[i * FRAME_STRIDE] == R(0.0));
  }
}

// Writes the gradient with respect to a pose's numbers, given the wrench for motions of the body in
// its own frame.
static void pose_gradient(const num x[7], int width, vec force, vec moment,
                          GLOBAL const real *poison, GLOBAL real *gradient)
{
  num out[7];
  FN(pose_adjoint)(x, width, force, moment, out);
  for (int i = 0; i < width; ++i) {
    write_gradient(gradient + i, width, out[i], poison);
  }
}

// Returns the transpose of a frame's rotation times v.
static vec turn_frame_back(GLOBAL const real *frame, vec v)
{
  const vec r0 = read3(frame, FRAME_STRIDE), r1 = read3(frame + 3, FRAME_STRIDE);
  const vec r2 = read3(frame + 6, FRAME_STRIDE);
  return FN(mad3)(r0, v.x, FN(mad3)(r1, v.y, FN(scale3)(r2, v.z)));
}

GROUP_HALVES(group_halves_wide, wide)

#if WG > 1
// Replaces three numbers by their sums over the work-group.
static void sum_three(LOCAL wide *part, num x[GROUP_AT_ONCE], int item)
{
  PART_DO(k, {
    for (int i = 0; i < GROUP_AT_ONCE; ++i) {
      part[i * WG + item] = n_get_part(x[i], k);
    }
    group_halves_wide(part, GROUP_AT_ONCE, item);
    for (int i = 0; i < GROUP_AT_ONCE; ++i) {
      x[i] = n_with_part(x[i], k, part[i * WG]);
    }
    BARRIER;
  })
}
#endif

// Adds up the wrenches of all blocks of a pose: sum gets relative force and moment, then the
// carried ones. Each work-item adds up every WG-th block in order, and the group adds up these
// sums. part is (GROUP_AT_ONCE, WG).
static void sum_wrenches(GLOBAL const real *from, int wrench_blocks, LOCAL wide *part, int item,
                         vec sum[4])
{
  const int stride = wrench_blocks * WRENCH_REALS;
  num all[WRENCH_REALS];
  for (int i = 0; i < WRENCH_REALS; ++i) {
    all[i] = n_lit(R(0.0));
  }
  for (int block = item; block < wrench_blocks; block += WG) {
    for (int i = 0; i < WRENCH_REALS; ++i) {
      all[i] = n_add(all[i], read_number(from + block * WRENCH_REALS + i, stride));
    }
  }
#if WG > 1
  sum_three(part, all, item); // no loop: PoCL 3.1 does not compile it for groups of two
  sum_three(part, all + 3, item);
  sum_three(part, all + 6, item);
  sum_three(part, all + 9, item);
#else
  (void)part;
#endif
  for (int i = 0; i < 4; ++i) {
    sum[i] = FN(make)(all[3 * i], all[3 * i + 1], all[3 * i + 2]);
  }
#if !REAL_DOUBLE && !WIDE
  for (int i = 0; i < 4; ++i) { // a product with the farthest separation stays in range
    sum[i] = FN(limit3)(sum[i], R(1e20));
  }
#endif
}

#if WITH_ADJOINT // only a kernel may declare local memory
// One work-group computes the gradients of one pair of poses, gradient1 and gradient2 (count,
// width), from the wrenches of all its blocks, wrenches (count, wrench_blocks, WRENCH_REALS): W of
// body 2 against body 1 and Z of both, in body 1's frame. Moving body 1 in its own frame gives Z -
// W. Moving body 2 in its own frame gives W about its origin.
MERGED
ADJOINT_KERNEL ADJOINT_GROUPED void poses_adjoint(
  GLOBAL const real *pose1, GLOBAL const real *pose2, GLOBAL const real *tangent1,
  GLOBAL const real *tangent2, int width, GLOBAL const real *frames, GLOBAL const real *wrenches,
  int wrench_blocks, GLOBAL const int *status, GLOBAL real *gradient1, GLOBAL real *gradient2)
{
  LOCAL_ARRAY(wide, part, GROUP_AT_ONCE * WG);
  const int pose = (int)get_group_id(0);
  const int item = (int)get_local_id(0);
  vec sum[4];
  sum_wrenches(NUMS(wrenches, pose, wrench_blocks * WRENCH_REALS), wrench_blocks, part, item, sum);
  if (item == 0) {
    GLOBAL const real *row = NUMS(frames, pose, FRAME_STRIDE) + FRAME_2_TO_1;
    const vec t = read3(row + 9, FRAME_STRIDE);
    const vec about = FN(sub3)(sum[1], FN(cross3)(t, sum[0])); // about body 2's origin
    const int good = !(status[pose] & POSE_REJECTED);
    GLOBAL const real *poison = NUMS(frames, pose, FRAME_STRIDE) + FRAME_POISON;
    num x[7];
    read_pose(ROW(pose1, pose, width), ROW(tangent1, pose, TANGENTS * width), width, good, x);
    pose_gradient(x, width, FN(sub3)(sum[2], sum[0]), FN(sub3)(sum[3], sum[1]), poison,
                  NUMS(gradient1, pose, width));
    read_pose(ROW(pose2, pose, width), ROW(tangent2, pose, TANGENTS * width), width, good, x);
    pose_gradient(x, width, turn_frame_back(row, sum[0]), turn_frame_back(row, about), poison,
                  NUMS(gradient2, pose, width));
  }
}
#endif
