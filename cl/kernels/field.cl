// The field of one body at points of every pose.
//
// points: three planes of `padded` reals, from `point_base` on; `point_stride` reals from one pose
// to the next, 0 where all poses share them. frame: the offset in a pose's frames of the map from
// the points' frame to the body's, or -1 where they are in the body's own. out: planes phi, then,
// of `field`, the normal in the body's frame. Global size: blocks of lanes, poses.

static vec3_r field_point(GLOBAL const real *points, int point_base, int point_stride, int padded,
                          GLOBAL const real *frames, int frame, int block, int pose)
{
  const vec3_r x = load_planes(ROW(points, pose, point_stride) + point_base, padded, block);
  const vec3_r at = frame < 0 ? x : transform_r(ROW(frames, pose, FRAME_STRIDE) + frame, x);
  return limit3_r(at, R(2.0) * SEPARATION_LIMIT); // a point of the caller's may lie anywhere
}

KERNEL void field(GLOBAL const real *points, int point_base, int point_stride, int padded,
                  GLOBAL const real *frames, int frame, GLOBAL const int *head,
                  GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const vec3_r x =
    field_point(points, point_base, point_stride, padded, frames, frame, block, pose);
  vec3_r normal;
  const lane phi = body_field_r(head, shape, c, x, 1, &normal);
  GLOBAL real *row = ROW(out, pose, 4 * padded);
  lane_store(phi, row + block * LANES);
  store_planes(row + padded, padded, block, normal);
}

KERNEL void field_distance(GLOBAL const real *points, int point_base, int point_stride, int padded,
                           GLOBAL const real *frames, int frame, GLOBAL const int *head,
                           GLOBAL const real *shape, GLOBAL const coefficients *c,
                           GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  const vec3_r x =
    field_point(points, point_base, point_stride, padded, frames, frame, block, pose);
  vec3_r normal;
  lane_store(body_field_r(head, shape, c, x, 0, &normal),
             ROW(out, pose, padded) + block * LANES);
}

// One sphere-tracing step of each body's witness points onto its own surface: e -= phi n.
KERNEL void trace_step(GLOBAL real *points, int point_base, int point_stride, int padded,
                       GLOBAL const real *frames, int frame, GLOBAL const real *own)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (block * LANES >= padded) {
    return;
  }
  GLOBAL real *row = ROW(points, pose, point_stride) + point_base;
  GLOBAL const real *at = ROW(own, pose, 4 * padded);
  const lane phi = lane_load(at + block * LANES);
  vec3_r n = load_planes(at + padded, padded, block);
  if (frame >= 0) {
    n = rotate_r(ROW(frames, pose, FRAME_STRIDE) + frame, n);
  }
  store_planes(row, padded, block, mad3_r(n, -phi, load_planes(row, padded, block)));
}
