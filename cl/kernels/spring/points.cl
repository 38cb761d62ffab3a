// Soft collision points, `points` of abut_spring (include/abut/spring.h). A face's beta is divided
// among its corners: vertex v gets z_v = sum over its faces f of beta_f / corners(f). Soft point k
// is the mean of all vertices of both bodies by Gamma_kv = softmax_v(-|top_k - z_v| / tau), where
// top_k is the k-th largest z (SoftSort, docs/dev/spec.md, section 1). These kernels use plain
// numbers only.
//
// `surfaces` holds a head of SPRING_SURFACE_INTS ints per cloud: its number of vertices, its number
// of faces, the offset of the starts of its vertices' faces, the offset of those faces (in the
// caller's numbering), the offset of the faces' numbers of corners, and the offset of its vertices
// in `vertices`.

typedef struct spring_surface {
  int count, faces; // numbers of vertices and of faces; faces are the cloud's points
  GLOBAL const int *starts, *of, *corners;
  GLOBAL const real *vertices;
} spring_surface;

static spring_surface spring_surface_of(GLOBAL const int *surfaces, GLOBAL const real *vertices,
                                        int cloud)
{
  GLOBAL const int *head = surfaces + SPRING_SURFACE_INTS * cloud;
  spring_surface s;
  s.count = head[SPRING_SURFACE_COUNT];
  s.faces = head[SPRING_SURFACE_FACES];
  s.starts = surfaces + head[SPRING_SURFACE_STARTS];
  s.of = surfaces + head[SPRING_SURFACE_OF];
  s.corners = surfaces + head[SPRING_SURFACE_CORNERS];
  s.vertices = vertices + head[SPRING_SURFACE_VERTICES];
  return s;
}

// One work-item adds up z_v of one vertex of one pair. It reads weights (pairs, width), the betas
// by point, and writes out (pairs, room): body 1's vertices first, then body 2's, then zeros. The
// global size is (room, pairs).
KERNEL void spring_vertex_weights(GLOBAL const int *surfaces, GLOBAL const real *vertices,
                                  GLOBAL const int *pairs, int pair_stride,
                                  GLOBAL const real *weights, int width, int room, int count,
                                  GLOBAL real *out)
{
  const int at = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || at >= room) {
    return;
  }
  GLOBAL const int *of = pairs + (size_t)pair * pair_stride;
  const spring_surface a = spring_surface_of(surfaces, vertices, of[0]);
  const spring_surface b = spring_surface_of(surfaces, vertices, of[1]);
  const int side = at >= a.count, own = side ? at - a.count : at;
  GLOBAL const real *beta = ROW(weights, pair, width) + (side ? a.faces : 0);
  real sum = R(0.0);
  if (own < (side ? b.count : a.count)) {
    GLOBAL const int *starts = (side ? b.starts : a.starts) + own;
    GLOBAL const int *faces = side ? b.of : a.of, *corners = side ? b.corners : a.corners;
    for (int i = starts[0]; i < starts[1]; ++i) {
      sum += beta[faces[i]] / (real)corners[i];
    }
  }
  ROW(out, pair, room)[at] = sum;
}

// One work-item finds the `most` largest numbers of one row of weights (pairs, room), and writes
// them to tops (pairs, most), largest first. Repeated numbers are listed repeatedly. If a row has
// fewer numbers, or NaN, the list is filled with NaN.
KERNEL void spring_tops(GLOBAL const real *weights, int room, int most, int count,
                        GLOBAL real *tops)
{
  const int pair = (int)get_global_id(0);
  if (pair >= count) {
    return;
  }
  GLOBAL const real *z = ROW(weights, pair, room);
  real last = REAL_MOST;
  int before = -1;
  for (int k = 0; k < most; ++k) {
    int best = -1;
    for (int i = 0; i < room; ++i) {
      const int left = z[i] < last || (z[i] == last && i > before);
      best = left && (best < 0 || z[i] > z[best]) ? i : best;
    }
    last = best < 0 ? REAL_NAN : z[best];
    before = best;
    ROW(tops, pair, most)[k] = last;
  }
}

// One work-item adds up one soft point of one pair. For each body, sums (pairs, most,
// SPRING_SOFT_SUMS) gets the sum of Gamma times its vertices, in the body's frame, and the sum of
// Gamma, which is the body's share in the point. The global size is (most, pairs).
KERNEL void spring_soft_sums(GLOBAL const int *surfaces, GLOBAL const real *vertices,
                             GLOBAL const int *pairs, int pair_stride, GLOBAL const real *weights,
                             int room, GLOBAL const real *tops, int most, real tau, int count,
                             GLOBAL real *sums)
{
  const int k = (int)get_global_id(0), pair = (int)get_global_id(1);
  if (pair >= count || k >= most) {
    return;
  }
  GLOBAL const int *of = pairs + (size_t)pair * pair_stride;
  const real top = ROW(tops, pair, most)[k];
  GLOBAL const real *z = ROW(weights, pair, room);
  GLOBAL real *to = ROW(sums, pair, SPRING_SOFT_SUMS * most) + SPRING_SOFT_SUMS * k;
  real all = R(0.0), parts[SPRING_SOFT_SUMS];
  for (int side = 0; side < 2; ++side) {
    const spring_surface s = spring_surface_of(surfaces, vertices, of[side]);
    real x = R(0.0), y = R(0.0), w = R(0.0), u = R(0.0);
    for (int i = 0; i < s.count; ++i) {
      const real gap = top - *z++, far = gap < R(0.0) ? gap : -gap;
      const real share = lane_first(lane_exp2(lane_lit(far / tau * LOG2E)));
      x += share * s.vertices[3 * i];
      y += share * s.vertices[3 * i + 1];
      w += share * s.vertices[3 * i + 2];
      u += share;
    }
    parts[4 * side] = x;
    parts[4 * side + 1] = y;
    parts[4 * side + 2] = w;
    parts[4 * side + 3] = u;
    all += u;
  }
  for (int i = 0; i < SPRING_SOFT_SUMS; ++i) {
    to[i] = parts[i] / all;
  }
}
