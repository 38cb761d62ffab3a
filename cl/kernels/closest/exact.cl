// Exact Hessians of support maps, for shapes that have them: of a shape in its own frame at the
// unit direction u, without its radius, six numbers xx xy xz yy yz zz.

// Adds factor v v'.
static void closest_add_square(real h[SYMMETRIC], const real v[3], real factor)
{
  h[0] += factor * v[0] * v[0];
  h[1] += factor * v[0] * v[1];
  h[2] += factor * v[0] * v[2];
  h[3] += factor * v[1] * v[1];
  h[4] += factor * v[1] * v[2];
  h[5] += factor * v[2] * v[2];
}

// A share of L within which two features count as equally far, so that there is no curvature.
#if REAL_DOUBLE
#define TIED 1e-6
#else
#define TIED 1e-4f
#endif

static int closest_curve_hull(const closest_shape *s, const real u[3])
{
  GLOBAL const real *x = s->planes, *y = x + s->padded, *z = y + s->padded;
  const int best = closest_farthest(s, u);
  const real most = x[best] * u[0] + y[best] * u[1] + z[best] * u[2];
  const real least = most - TIED * s->record[SHAPE_DIAGONAL];
  int tied = 0;
  for (int i = 0; i < s->count; ++i) {
    tied += x[i] * u[0] + y[i] * u[1] + z[i] * u[2] >= least;
  }
  return tied > 1;
}

static int closest_curve_box(const closest_shape *s, const real u[3])
{
  int tied = 0;
  for (int k = 0; k < 3; ++k) {
    const real size = s->record[SHAPE_SIZE + k];
    tied |= size > R(0.0) && R(2.0) * size * real_abs(u[k]) < TIED * s->record[SHAPE_DIAGONAL];
  }
  return tied;
}

static int closest_curve_ellipsoid(const closest_shape *s, const real u[3], real h[SYMMETRIC])
{
  GLOBAL const real *a = s->record + SHAPE_SIZE;
  real point[3];
  closest_support_ellipsoid(s, u, point);
  const real by = R(1.0) / (point[0] * u[0] + point[1] * u[1] + point[2] * u[2]);
  h[0] += a[0] * a[0] * by;
  h[3] += a[1] * a[1] * by;
  h[5] += a[2] * a[2] * by;
  closest_add_square(h, point, -by);
  return 0;
}

// For a rim, a circle of radius r, the curvature is r / k along the tangent, with k the part of u
// across the axis.
static int closest_curve_ring(const closest_shape *s, const real u[3], real h[SYMMETRIC])
{
  const real r = s->record[SHAPE_SIZE], height = s->record[SHAPE_SIZE + 1];
  const real least = TIED * s->record[SHAPE_DIAGONAL];
  const real k = real_sqrt(u[0] * u[0] + u[1] * u[1]), up = R(2.0) * height * u[2];
  const int is_cone = s->kind == SHAPE_CONE;
  if (is_cone ? real_abs(up - r * k) < least : height > R(0.0) && real_abs(up) < least) {
    return 1;
  }
  if (is_cone && up > r * k) {
    return 0;
  }
  if (r * k < least) {
    return 1;
  }
  const real tangent[3] = {-u[1] / k, u[0] / k, R(0.0)};
  closest_add_square(h, tangent, r / k);
  return 0;
}

// The smallest share of the largest component; smaller shares are replaced by it. At a pole
// curvature is a quotient of two vanishing numbers, or unbounded.
#if REAL_DOUBLE
#define SHARE_LEAST 1e-8
#else
#define SHARE_LEAST 1e-4f
#endif

// The derivatives of (x^p + y^p)^(1/p) = N by x and y, for x, y > 0: first (2), second xx, xy, yy.
static void closest_norm_slopes(real x, real y, real p, real *norm, real first[2], real second[3])
{
  const real most = real_max(x, y), a = x / most, b = y / most;
  const real n = real_pow(real_pow(a, p) + real_pow(b, p), R(1.0) / p);
  const real sx = a / n, sy = b / n;
  *norm = most * n;
  first[0] = real_pow(sx, p - R(1.0));
  first[1] = real_pow(sy, p - R(1.0));
  const real by = (p - R(1.0)) / *norm;
  second[0] = by * (real_pow(sx, p - R(2.0)) - first[0] * first[0]);
  second[1] = -by * first[0] * first[1];
  second[2] = by * (real_pow(sy, p - R(2.0)) - first[1] * first[1]);
}

static int closest_curve_superquadric(const closest_shape *s, const real u[3], real h[SYMMETRIC])
{
  GLOBAL const real *a = s->record + SHAPE_SIZE;
  real y[3], m, total, m1[2], m2[3], t1[2], t2[3], g[3];
  real most = REAL_TINY;
  for (int k = 0; k < 3; ++k) {
    y[k] = real_abs(a[k] * u[k]);
    most = real_max(most, y[k]);
  }
  for (int k = 0; k < 3; ++k) {
    y[k] = real_max(y[k], most * SHARE_LEAST);
  }
  closest_norm_slopes(y[0], y[1], s->record[SHAPE_EXPONENTS + 1], &m, m1, m2);
  closest_norm_slopes(m, y[2], s->record[SHAPE_EXPONENTS], &total, t1, t2);
  for (int k = 0; k < 3; ++k) {
    g[k] = closest_signed(a[k], u[k]);
  }
  h[0] += g[0] * g[0] * (t2[0] * m1[0] * m1[0] + t1[0] * m2[0]);
  h[1] += g[0] * g[1] * (t2[0] * m1[0] * m1[1] + t1[0] * m2[1]);
  h[3] += g[1] * g[1] * (t2[0] * m1[1] * m1[1] + t1[0] * m2[2]);
  h[2] += g[0] * g[2] * t2[1] * m1[0];
  h[4] += g[1] * g[2] * t2[1] * m1[1];
  h[5] += g[2] * g[2] * t2[2];
  return 0;
}

// Returns whether the shape has no curvature there.
static int closest_curve_exact(const closest_shape *s, const real u[3], real h[SYMMETRIC])
{
  switch (s->kind) {
  case SHAPE_HULL:
    return closest_curve_hull(s, u);
  case SHAPE_BOX:
    return closest_curve_box(s, u);
  case SHAPE_POINT:
    return 0;
  case SHAPE_CAPSULE:
    return s->record[SHAPE_SIZE] > R(0.0) &&
           R(2.0) * s->record[SHAPE_SIZE] * real_abs(u[2]) < TIED * s->record[SHAPE_DIAGONAL];
  case SHAPE_ELLIPSOID:
    return closest_curve_ellipsoid(s, u, h);
  case SHAPE_SUPERQUADRIC:
    return closest_curve_superquadric(s, u, h);
  default:
    return closest_curve_ring(s, u, h);
  }
}
