// Poses of a chunk -> frames and statuses. One work-item a block of poses.
//
// width 6 is a twist, 7 a position and quaternion, w first. A pose that is not finite (status 1) or has no
// quaternion (status 2) is replaced by the identity and poisons its own outputs with NaN.

static ilane not_finite(lane x) { return !(lane_abs(x) <= lane_lit(REAL_MOST)); }

static frame_r read_frame(GLOBAL const real *poses, int first, int last, int width,
                          real *bad, real *empty)
{
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  lane x[7] = {zero, zero, zero, zero, zero, zero, zero};
  ilane wrong = zero > one;
  for (int i = 0; i < width; ++i) {
    x[i] = gather(poses + i, first, last, width);
    wrong = wrong | not_finite(x[i]);
  }
  lane hollow = zero;
  if (width == 7) {
    const lane most = lane_max(lane_max(lane_abs(x[3]), lane_abs(x[4])),
                               lane_max(lane_abs(x[5]), lane_abs(x[6])));
    hollow = lane_select(most > zero, zero, one);
  }
  lane_store(lane_select(wrong, one, zero), bad);
  lane_store(hollow, empty);
  for (int i = 0; i < width; ++i) {
    x[i] = lane_select(wrong, zero, x[i]);
  }
  const vec3_r head = make_r(x[0], x[1], x[2]);
  if (width == 7) {
    x[3] = lane_select(wrong | (hollow > zero), one, x[3]);
    return quaternion_frame_r(head, x[4], x[5], x[6], x[3]);
  }
  return exp_se3_r(head, make_r(x[3], x[4], x[5]));
}

static void write_frame(GLOBAL real *frames, int first, int count, const frame_r *f)
{
  for (int k = 0; k < 12; ++k) {
    real t[LANES];
    lane_store(k < 9 ? f->m[k] : k == 9 ? f->t.x : k == 10 ? f->t.y : f->t.z, t);
    for (int i = 0; i < LANES && first + i < count; ++i) {
      frames[(size_t)(first + i) * FRAME_STRIDE + k] = t[i];
    }
  }
}

KERNEL void poses(GLOBAL const real *pose1, GLOBAL const real *pose2, int width, int count,
                  GLOBAL real *frames, GLOBAL int *status)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  real bad1[LANES], bad2[LANES], empty1[LANES], empty2[LANES];
  const frame_r f1 = read_frame(pose1, first, count - 1, width, bad1, empty1);
  const frame_r f2 = read_frame(pose2, first, count - 1, width, bad2, empty2);
  const frame_r to2 = relative_frame_r(&f2, &f1);
  const frame_r to1 = relative_frame_r(&f1, &f2);
  write_frame(frames + FRAME_WORLD_1, first, count, &f1);
  write_frame(frames + FRAME_WORLD_2, first, count, &f2);
  write_frame(frames + FRAME_1_TO_2, first, count, &to2);
  write_frame(frames + FRAME_2_TO_1, first, count, &to1);
  for (int i = 0; i < LANES && first + i < count; ++i) {
    const int bad = bad1[i] + bad2[i] > R(0.0);
    const int empty = empty1[i] + empty2[i] > R(0.0);
    status[first + i] = bad ? 1 : empty ? 2 : 0;
    frames[(size_t)(first + i) * FRAME_STRIDE + FRAME_POISON] = bad || empty ? REAL_NAN : R(0.0);
  }
}
