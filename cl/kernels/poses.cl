// Poses of a chunk -> frames and statuses. One work-item a pose.
//
// width 6 is a twist, 7 a position and quaternion, w first. A pose that is not finite (status 1) or
// has no quaternion (status 2) is replaced by the identity and poisons its own outputs with NaN.

#define POSE_NOT_FINITE 1
#define POSE_NO_QUATERNION 2

static int pose_status(GLOBAL const real *pose, int width)
{
  int finite = 1, hollow = 1;
  for (int i = 0; i < width; ++i) {
    finite = finite && real_isfinite(pose[i]);
    hollow = hollow && (i < 3 || pose[i] == R(0.0));
  }
  return !finite ? POSE_NOT_FINITE : width == 7 && hollow ? POSE_NO_QUATERNION : 0;
}

static frame_w read_frame(GLOBAL const real *pose, int width, int good)
{
  wide x[7] = {R(0.0), R(0.0), R(0.0), width == 7 ? R(1.0) : R(0.0), R(0.0), R(0.0), R(0.0)};
  for (int i = 0; i < width && good; ++i) {
    x[i] = pose[i];
  }
  const vec3_w head = make_w(x[0], x[1], x[2]);
  return width == 7 ? quaternion_frame_w(head, x[4], x[5], x[6], x[3])
                    : exp_se3_w(head, make_w(x[3], x[4], x[5]));
}

static void write_frame(GLOBAL real *to, const frame_w *f)
{
  for (int k = 0; k < 9; ++k) {
    to[k] = (real)f->m[k];
  }
  to[9] = (real)f->t.x;
  to[10] = (real)f->t.y;
  to[11] = (real)f->t.z;
}

KERNEL void poses(GLOBAL const real *pose1, GLOBAL const real *pose2, int width, int count,
                  GLOBAL real *frames, GLOBAL int *status)
{
  const int pose = (int)get_global_id(0);
  if (pose >= count) {
    return;
  }
  GLOBAL const real *from1 = ROW(pose1, pose, width);
  GLOBAL const real *from2 = ROW(pose2, pose, width);
  const int bad1 = pose_status(from1, width), bad2 = pose_status(from2, width);
  const int bad = bad1 && bad2 ? MIN_INT(bad1, bad2) : bad1 + bad2;
  const frame_w f1 = read_frame(from1, width, !bad);
  const frame_w f2 = read_frame(from2, width, !bad);
  const frame_w to2 = relative_frame_w(&f2, &f1);
  const frame_w to1 = relative_frame_w(&f1, &f2);
  GLOBAL real *row = ROW(frames, pose, FRAME_STRIDE);
  write_frame(row + FRAME_WORLD_1, &f1);
  write_frame(row + FRAME_WORLD_2, &f2);
  write_frame(row + FRAME_1_TO_2, &to2);
  write_frame(row + FRAME_2_TO_1, &to1);
  row[FRAME_POISON] = bad ? REAL_NAN : R(0.0);
  status[pose] = bad;
}
