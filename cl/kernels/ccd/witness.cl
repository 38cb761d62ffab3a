// Nearest points of two features at one time, in wide numbers, row by row, and the slope of the
// time of impact.

// Vertices of a row at one time, those of the first feature first.
typedef struct ccd_corners {
  wide x[4][3];
  int first, second; // the number of vertices of each feature
  wide size;         // the largest number in the computation of x, which bounds its rounding error
} ccd_corners;

typedef struct ccd_touch {
  wide weight[4]; // of the vertices; the sum is 1 for each feature
  wide n[3];      // unit, from the second feature to the first
  int smooth;     // whether n is that of a distance whose slope is known
  wide distance;
  wide p[2][3];
  // whether the points are in the interior of both features, to which `across` is then orthogonal
  int inside;
  wide across[3];
} ccd_touch;

static wide ccd_wide_dot(const wide a[3], const wide b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void ccd_wide_sub(const wide a[3], const wide b[3], wide to[3])
{
  for (int k = 0; k < 3; ++k) {
    to[k] = a[k] - b[k];
  }
}

static void ccd_wide_cross(const wide a[3], const wide b[3], wide to[3])
{
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}

// The parameter in [0, 1] of the segment's nearest point to p, from a to b.
static wide ccd_along(const wide a[3], const wide b[3], const wide p[3])
{
  wide e[3], w[3];
  ccd_wide_sub(b, a, e);
  ccd_wide_sub(p, a, w);
  const wide ee = ccd_wide_dot(e, e), s = ee > (wide)0 ? ccd_wide_dot(w, e) / ee : (wide)0;
  return wide_min(wide_max(s, (wide)0), (wide)1);
}

// Takes the weights of all vertices if they bring the features nearer together than `best`. Returns
// whether they do.
static int ccd_try(const ccd_corners *c, const wide weight[4], ccd_touch *best)
{
  wide apart[3], p[2][3];
  for (int k = 0; k < 3; ++k) {
    p[0][k] = p[1][k] = (wide)0;
    for (int i = 0; i < c->first + c->second; ++i) {
      p[i >= c->first][k] += weight[i] * c->x[i][k];
    }
    apart[k] = p[0][k] - p[1][k];
  }
  const wide distance = wide_sqrt(ccd_wide_dot(apart, apart));
  if (!(distance < best->distance)) {
    return 0;
  }
  best->distance = distance;
  best->inside = 0;
  for (int i = 0; i < 4; ++i) {
    best->weight[i] = weight[i];
  }
  for (int k = 0; k < 3; ++k) {
    best->n[k] = apart[k];
    best->p[0][k] = p[0][k];
    best->p[1][k] = p[1][k];
  }
  return 1;
}

// Tries vertex `p` of one feature against the edge from vertex a to b of the other.
static void ccd_try_edge(const ccd_corners *c, int p, int a, int b, ccd_touch *best)
{
  const wide s = ccd_along(c->x[a], c->x[b], c->x[p]);
  wide weight[4] = {(wide)0, (wide)0, (wide)0, (wide)0};
  weight[p] = (wide)1;
  weight[a] = (wide)1 - s;
  weight[b] = s;
  ccd_try(c, weight, best);
}

static void ccd_set_across(const wide n[3], ccd_touch *best)
{
  const wide length = wide_sqrt(ccd_wide_dot(n, n)),
             sign = ccd_wide_dot(n, best->n) < (wide)0 ? (wide)-1 : (wide)1;
  best->inside = 1;
  for (int k = 0; k < 3; ++k) {
    best->across[k] = n[k] * (sign / length);
  }
}

// Tries the projection of the point onto the triangle's interior, or the ends of both lines' common
// normal in the edges' interior.
static void ccd_try_inside(const ccd_corners *c, ccd_touch *best)
{
  wide e[3], f[3], w[3], n[3], u[3], v[3];
  const int is_triangle = c->first == 1, base = is_triangle ? 1 : 0;
  ccd_wide_sub(c->x[base + 1], c->x[base], e);
  ccd_wide_sub(c->x[3], c->x[is_triangle ? 1 : 2], f);
  ccd_wide_sub(c->x[0], c->x[is_triangle ? 1 : 2], w);
  ccd_wide_cross(e, f, n);
  const wide nn = ccd_wide_dot(n, n);
  if (!(nn > (wide)0)) {
    return;
  }
  ccd_wide_cross(w, f, u);
  ccd_wide_cross(e, w, v);
  if (is_triangle) {
    const wide s = ccd_wide_dot(u, n) / nn, t = ccd_wide_dot(v, n) / nn;
    const wide weight[4] = {(wide)1, (wide)1 - s - t, s, t};
    if (s >= (wide)0 && t >= (wide)0 && s + t <= (wide)1 && ccd_try(c, weight, best)) {
      ccd_set_across(n, best);
    }
    return;
  }
  const wide s = -ccd_wide_dot(u, n) / nn, t = ccd_wide_dot(v, n) / nn;
  const wide weight[4] = {(wide)1 - s, s, (wide)1 - t, t};
  if (s >= (wide)0 && s <= (wide)1 && t >= (wide)0 && t <= (wide)1 && ccd_try(c, weight, best)) {
    ccd_set_across(n, best);
  }
}

// Whether all weights are positive, so that the nearest points are inside their features. This
// never holds for two points.
static int ccd_is_inner(const ccd_corners *c, const wide weight[4])
{
  int inner = c->first + c->second > 2;
  for (int i = 0; i < c->first + c->second; ++i) {
    inner &= weight[i] > (wide)0;
  }
  return inner;
}

// Finds the nearest points. If they are far enough apart to have a direction, n is that direction;
// inside both features the features give it with more digits than the points. Otherwise n is the
// given unit vector, with which the certificate ended. Features that touch inside both have a
// crossing surface, and the given vector is its normal. If a vertex or an end touches at distance
// 0, the next pose may miss it.
static ccd_touch ccd_touch_of(const ccd_corners *c, const wide given[3])
{
  ccd_touch best;
  const wide only[4] = {(wide)1, (wide)1, (wide)0, (wide)0};
  best.distance = (wide)REAL_MOST;
  best.inside = 0;
  best.weight[0] = best.weight[1] = best.weight[2] = best.weight[3] = (wide)0;
  for (int k = 0; k < 3; ++k) {
    best.n[k] = best.p[0][k] = best.p[1][k] = best.across[k] = (wide)0;
  }
  if (c->second == 1) {
    ccd_try(c, only, &best);
  } else if (c->first == 1) {
    ccd_try_edge(c, 0, 1, 2, &best);
    if (c->second == 3) {
      ccd_try_edge(c, 0, 1, 3, &best);
      ccd_try_edge(c, 0, 2, 3, &best);
      ccd_try_inside(c, &best);
    }
  } else {
    ccd_try_edge(c, 0, 2, 3, &best);
    ccd_try_edge(c, 1, 2, 3, &best);
    ccd_try_edge(c, 2, 0, 1, &best);
    ccd_try_edge(c, 3, 0, 1, &best);
    ccd_try_inside(c, &best);
  }
  const int far = best.distance > c->size * (4096 * WIDE_EPSILON);
  best.smooth = best.distance > c->size * (64 * REAL_EPSILON) || ccd_is_inner(c, best.weight);
  for (int k = 0; k < 3; ++k) {
    best.n[k] = !far ? given[k] : best.inside ? best.across[k] : best.n[k] / best.distance;
  }
  return best;
}

// If the rate of the distance is smaller than this share of the vertices' speed, the motion counts
// as grazing: the time of impact then changes without bound.
#define CCD_GRAZING ((wide)1e-6)

// Whether the slope exists, given the rate of the distance at the touch and the greatest speed.
static int ccd_closes(const ccd_touch *touch, wide rate, wide speed)
{
  return touch->smooth && rate < -CCD_GRAZING * speed &&
         ccd_wide_dot(touch->n, touch->n) > (wide)0.5;
}
