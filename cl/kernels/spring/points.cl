// Soft collision points: each face's beta goes to its corners, z_v = sum of beta_f / corners(f), and the
// K largest of these pull points to where they are: Gamma_kv = softmax(-|top_k - z_v| / tau), SoftSort.
// Plain numbers alone.
//
// A surface's ints: how many vertices, where the starts of their faces lie, their faces (as the caller
// counted them) and these faces' corners; among the reals where the vertices lie.

typedef struct spring_surface {
  int count, faces; // of its vertices; of the cloud's points
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

// Both bodies' vertices, body 1's first. Global size: `room`, pairs.
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

// The `most` largest numbers of a row, the largest first; those alike are as many as they are.
KERNEL void spring_tops(GLOBAL const real *weights, int room, int most, int count, GLOBAL real *tops)
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

// Of each point and body the vertices' mean by Gamma in the body's frame, times their share, and that
// share. Global size: `most`, pairs.
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
