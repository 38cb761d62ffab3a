// Support maps: the point of one shape that is farthest along a direction (docs/closest.md),
// without the shape's radius. A hull's vertices are examined in blocks of LANES.
//
// A point has a code with which it is found again at another pose. The code of a hull or box is the
// index of the vertex (a box's bit k: the upper end of axis k), that of a point is 0, and that of a
// segment the index of its end. The code of a curved shape is a rounded direction along which the
// point is farthest.

typedef struct closest_shape {
  int kind, count, padded, placing, rings;
  GLOBAL const real *record, *planes;
} closest_shape;

static closest_shape closest_shape_of(GLOBAL const int *ints, GLOBAL const real *numbers, int which)
{
  GLOBAL const int *head = ROW(ints, which, SHAPE_INTS);
  closest_shape s;
  s.kind = head[SHAPE_KIND];
  s.count = head[SHAPE_COUNT];
  s.padded = head[SHAPE_PADDED];
  s.placing = head[SHAPE_PLACING];
  s.rings = head[SHAPE_RINGS];
  s.record = numbers + head[SHAPE_RECORD];
  s.planes = numbers + head[SHAPE_PLANES];
  return s;
}

static real closest_signed(real size, real of)
{
  return of < R(0.0) ? -size : size;
}

// ---- codes of directions: a point of the octahedron |x| + |y| + |z| = 1, folded into a square
// ----
#define CODE_STEPS 16383

static int closest_code_of(const real u[3])
{
  const real sum = real_abs(u[0]) + real_abs(u[1]) + real_abs(u[2]);
  const real scale = sum > REAL_TINY ? R(1.0) / sum : R(0.0);
  real x = u[0] * scale, y = u[1] * scale;
  if (u[2] < R(0.0)) {
    const real folded = closest_signed(R(1.0) - real_abs(y), x);
    y = closest_signed(R(1.0) - real_abs(x), y);
    x = folded;
  }
  const int i = (int)((x + R(1.0)) * CODE_STEPS + R(0.5)),
            j = (int)((y + R(1.0)) * CODE_STEPS + R(0.5));
  return i + (j << 15);
}

static void closest_code_direction(int code, real u[3])
{
  const real x = (real)(code & 32767) / CODE_STEPS - R(1.0);
  const real y = (real)(code >> 15 & 32767) / CODE_STEPS - R(1.0);
  const real z = R(1.0) - real_abs(x) - real_abs(y);
  u[0] = z < R(0.0) ? closest_signed(R(1.0) - real_abs(y), x) : x;
  u[1] = z < R(0.0) ? closest_signed(R(1.0) - real_abs(x), y) : y;
  u[2] = z;
}

// ---- hulls ----
static void closest_vertex(const closest_shape *s, int i, real out[3])
{
  out[0] = s->planes[i];
  out[1] = s->planes[s->padded + i];
  out[2] = s->planes[2 * s->padded + i];
}

// Returns the first vertex of those that are farthest along u.
static int closest_farthest(const closest_shape *s, const real u[3])
{
  GLOBAL const real *x = s->planes, *y = x + s->padded, *z = y + s->padded;
#if LANES == 1
  int best = 0;
  real most = -REAL_BIG;
  for (int i = 0; i < s->count; ++i) {
    const real along = x[i] * u[0] + y[i] * u[1] + z[i] * u[2];
    best = along > most ? i : best;
    most = along > most ? along : most;
  }
  return best;
#else
  lane most = lane_load(x) * u[0] + lane_load(y) * u[1] + lane_load(z) * u[2];
  lane block = lane_lit(R(0.0));
  for (int i = LANES; i < s->padded; i += LANES) {
    const lane along = lane_load(x + i) * u[0] + lane_load(y + i) * u[1] + lane_load(z + i) * u[2];
    const ilane better = along > most;
    most = lane_select(better, along, most);
    block = lane_select(better, lane_lit((real)i), block);
  }
  const ilane is_best = most == lane_lit(lane_most(most));
  if (s->padded == LANES) { // the highest bit handles directions that are NaN
    return lowest_bit((unsigned int)lane_bits(is_best) | 1u << (LANES - 1));
  }
  return (int)lane_least(
    lane_select(is_best, block + lane_iota(), lane_lit((real)(s->padded - 1))));
#endif
}

// ---- curved shapes ----
static void closest_support_ring(const closest_shape *s, const real u[3], real out[3])
{
  const real r = s->record[SHAPE_SIZE], h = s->record[SHAPE_SIZE + 1];
  const real k = real_sqrt(u[0] * u[0] + u[1] * u[1]), scale = k > REAL_TINY ? r / k : R(0.0);
  const int is_apex = s->kind == SHAPE_CONE && R(2.0) * h * u[2] >= r * k;
  out[0] = is_apex ? R(0.0) : scale * u[0];
  out[1] = is_apex ? R(0.0) : scale * u[1];
  out[2] = s->kind == SHAPE_CYLINDER ? closest_signed(h, u[2]) : is_apex ? h : -h;
}

static void closest_support_ellipsoid(const closest_shape *s, const real u[3], real out[3])
{
  GLOBAL const real *a = s->record + SHAPE_SIZE;
  const real x = a[0] * u[0], y = a[1] * u[1], z = a[2] * u[2];
  const real most = real_max(real_abs(x), real_max(real_abs(y), real_abs(z)));
  const real by = R(1.0) / real_max(most, REAL_TINY);
  const real length = real_sqrt(x * by * (x * by) + y * by * (y * by) + z * by * (z * by));
  const real scale = by / real_max(length, REAL_TINY);
  out[0] = a[0] * (x * scale);
  out[1] = a[1] * (y * scale);
  out[2] = a[2] * (z * scale);
}

// By the dual norm: with y = |a u| and exponents p2 around the axis, p1 along it, m = (y1^p2 +
// y2^p2)^(1/p2) and M = (m^p1 + y3^p1)^(1/p1), the point is the gradient of M times a.
static void closest_support_superquadric(const closest_shape *s, const real u[3], real out[3])
{
  GLOBAL const real *a = s->record + SHAPE_SIZE;
  const real p1 = s->record[SHAPE_EXPONENTS], p2 = s->record[SHAPE_EXPONENTS + 1];
  real y[3];
  real most = REAL_TINY;
  for (int k = 0; k < 3; ++k) {
    y[k] = real_abs(a[k] * u[k]);
    most = real_max(most, y[k]);
  }
  for (int k = 0; k < 3; ++k) {
    y[k] = real_max(y[k] / most, R(1e-30));
  }
  const real larger = real_max(y[0], y[1]), x0 = y[0] / larger, x1 = y[1] / larger;
  const real m = larger * real_pow(real_pow(x0, p2) + real_pow(x1, p2), R(1.0) / p2);
  const real around = real_pow(m / larger, R(1.0) - p2);
  const real total = real_pow(real_pow(m, p1) + real_pow(y[2], p1), R(1.0) / p1);
  const real along = real_pow(m / total, p1 - R(1.0)) * around;
  out[0] = closest_signed(a[0] * (along * real_pow(x0, p2 - R(1.0))), u[0]);
  out[1] = closest_signed(a[1] * (along * real_pow(x1, p2 - R(1.0))), u[1]);
  out[2] = closest_signed(a[2] * real_pow(y[2] / total, p1 - R(1.0)), u[2]);
}

// ---- any shape ----

// Writes the point of the shape, without its radius, that is farthest along the nonzero direction
// u, and returns its code.
static int closest_support(const closest_shape *s, const real u[3], real out[3])
{
  GLOBAL const real *size = s->record + SHAPE_SIZE;
  switch (s->kind) {
  case SHAPE_HULL: {
    const int i = closest_farthest(s, u);
    closest_vertex(s, i, out);
    return i;
  }
  case SHAPE_POINT:
    out[0] = out[1] = out[2] = R(0.0);
    return 0;
  case SHAPE_CAPSULE:
    out[0] = out[1] = R(0.0);
    out[2] = closest_signed(size[0], u[2]);
    return u[2] < R(0.0);
  case SHAPE_BOX:
    for (int k = 0; k < 3; ++k) {
      out[k] = closest_signed(size[k], u[k]);
    }
    return (u[0] >= R(0.0)) + 2 * (u[1] >= R(0.0)) + 4 * (u[2] >= R(0.0));
  case SHAPE_ELLIPSOID:
    closest_support_ellipsoid(s, u, out);
    break;
  case SHAPE_SUPERQUADRIC:
    closest_support_superquadric(s, u, out);
    break;
  default:
    closest_support_ring(s, u, out);
  }
  return closest_code_of(u);
}

// Writes the point of a code. Codes that the shape does not have give an arbitrary point of it.
static void closest_point_of_code(const closest_shape *s, int code, real out[3])
{
  real u[3];
  if (s->kind == SHAPE_HULL) {
    closest_vertex(s, code < s->count ? code : 0, out);
    return;
  }
  if (s->kind == SHAPE_BOX || s->kind == SHAPE_CAPSULE) {
    const int bits = s->kind == SHAPE_BOX ? code : ((code & 1) ^ 1) << 2;
    u[0] = bits & 1 ? R(1.0) : R(-1.0);
    u[1] = bits & 2 ? R(1.0) : R(-1.0);
    u[2] = bits & 4 ? R(1.0) : R(-1.0);
  } else {
    closest_code_direction(code, u);
  }
  (void)closest_support(s, u, out);
}
