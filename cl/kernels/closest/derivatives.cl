// Derivatives of results, from curvatures (docs/dev/closest-formulas.md). Perturbations are world
// twists (tau, phi) of each body about the origin of its pose. With e = (rigid1 - rigid2) - H1
// (phi1 x n) - H2 (phi2 x n) and M = H1 + H2 + d on the plane normal to n,
//   dn = -M^-1 e, dp1 = rigid1 + H1 (dn - phi1 x n), dp2 = rigid2 - H2 (dn - phi2 x n),
//   dd = n . (rigid2 - rigid1),
// where rigid_i = tau_i + phi_i x (p_i - t_i). All matrices are symmetric, so the reverse pass uses
// the same matrices.

// The smallest divisor [m] if both shapes are points.
#if REAL_DOUBLE
#define RIDGE_LEAST 1e-100
#else
#define RIDGE_LEAST 1e-12f
#endif

typedef struct closest_linear {
  vec3_r n, arm[2];        // arms: from the poses' origins to p1 and p2
  lane h[2][SYMMETRIC];    // curvatures
  lane inverse[SYMMETRIC]; // of M, 0 along n
  ilane good, steep;       // steep: an eigenvalue was below the ridge
} closest_linear;

static vec3_r closest_times(const lane h[SYMMETRIC], vec3_r v)
{
  return make_r(h[0] * v.x + h[1] * v.y + h[2] * v.z, h[1] * v.x + h[3] * v.y + h[4] * v.z,
                h[2] * v.x + h[4] * v.y + h[5] * v.z);
}

// Two unit vectors normal to n and to each other.
static void closest_plane(vec3_r n, vec3_r *b, vec3_r *c)
{
  const lane x = lane_abs(n.x), y = lane_abs(n.y), z = lane_abs(n.z);
  const lane one = lane_lit(R(1.0)), zero = lane_lit(R(0.0));
  const ilane is_x = (x <= y) & (x <= z), is_y = ~is_x & (y <= z);
  const vec3_r axis = make_r(lane_select(is_x, one, zero), lane_select(is_y, one, zero),
                             lane_select(is_x | is_y, zero, one));
  *b = closest_unit(cross3_r(n, axis));
  *c = cross3_r(n, *b);
}

// Adds x (a b' + b a') / 2.
static void closest_add_lanes(lane h[SYMMETRIC], vec3_r a, vec3_r b, lane x)
{
  const lane halved = x * R(0.5);
  h[0] += x * a.x * b.x;
  h[1] += halved * (a.x * b.y + a.y * b.x);
  h[2] += halved * (a.x * b.z + a.z * b.x);
  h[3] += x * a.y * b.y;
  h[4] += halved * (a.y * b.z + a.z * b.y);
  h[5] += x * a.z * b.z;
}

// Inverts M by its two eigenvalues, each at least the ridge: deep inside a flat overlap M is not
// positive.
static void closest_invert(closest_linear *l, lane d, lane ridge)
{
  vec3_r b, c;
  lane sum[SYMMETRIC];
  closest_plane(l->n, &b, &c);
  for (int k = 0; k < SYMMETRIC; ++k) {
    sum[k] = l->h[0][k] + l->h[1][k];
    l->inverse[k] = lane_lit(R(0.0));
  }
  const vec3_r sb = closest_times(sum, b);
  const lane bb = dot3_r(b, sb) + d, bc = dot3_r(c, sb), cc = dot3_r(c, closest_times(sum, c)) + d;
  // Eigenvectors by half the angle: (cos t, sin t) with tan 2t = 2 bc / (bb - cc).
  const lane mean = (bb + cc) * R(0.5), halved = (bb - cc) * R(0.5);
  const lane size = lane_max(lane_abs(halved), lane_abs(bc));
  const lane by = R(1.0) / lane_max(size, lane_lit(REAL_TINY));
  const lane radius = size * lane_sqrt(halved * by * (halved * by) + bc * by * (bc * by));
  const ilane round = radius < lane_lit(REAL_TINY), left = halved < lane_lit(R(0.0));
  // The eigenvector of the greater eigenvalue is (halved + radius, bc) or, without cancellation,
  // (bc, radius - halved).
  const lane x = lane_select(round, lane_lit(R(1.0)), lane_select(left, bc, halved + radius));
  const lane y = lane_select(round, lane_lit(R(0.0)), lane_select(left, radius - halved, bc));
  const lane most = lane_max(lane_abs(x), lane_abs(y));
  const lane sx = x / most, sy = y / most, unit = R(1.0) / lane_sqrt(sx * sx + sy * sy);
  const vec3_r first = scale3_r(add3_r(scale3_r(b, sx), scale3_r(c, sy)), unit);
  const vec3_r second = cross3_r(l->n, first);
  l->steep = mean - radius < ridge;
  closest_add_lanes(l->inverse, first, first, R(1.0) / lane_max(mean + radius, ridge));
  closest_add_lanes(l->inverse, second, second, R(1.0) / lane_max(mean - radius, ridge));
}

static closest_linear closest_linear_of(const closest_rows *rows, int first, const closest_pair *p,
                                        GLOBAL const unsigned char *status, GLOBAL const real *d,
                                        GLOBAL const real *n, GLOBAL const real *p1,
                                        GLOBAL const real *p2, GLOBAL const real *curvatures,
                                        real ridge)
{
  const int last = rows->count - 1;
  closest_linear l;
  l.n = closest_gather3(n, first, last);
  l.arm[0] = sub3_r(closest_gather3(p1, first, last), p->frame[0].t);
  l.arm[1] = sub3_r(closest_gather3(p2, first, last), p->frame[1].t);
  for (int k = 0; k < SYMMETRIC; ++k) {
    l.h[0][k] = gather_part(curvatures + k, first, last, 2 * SYMMETRIC);
    l.h[1][k] = gather_part(curvatures + SYMMETRIC + k, first, last, 2 * SYMMETRIC);
  }
  l.good = closest_answered(p->good, status, d, n, p1, p2, first, rows->count);
  closest_invert(&l, gather_part(d, first, last, 1),
                 lane_max(p->spans * ridge, lane_lit(RIDGE_LEAST)));
  return l;
}

// Marks in the rows' status that an eigenvalue was below the ridge.
static void closest_tell_steep(GLOBAL unsigned char *status, const closest_linear *l, int first,
                               int count)
{
  const int bits = lane_bits(l->good & l->steep);
  for (int i = 0; i < MIN_INT(LANES, count - first); ++i) {
    if (bits >> i & 1) {
      status[first + i] |= CLOSEST_STEEP;
    }
  }
}

// A twist of each body.
typedef struct closest_twists {
  vec3_r tau[2], phi[2];
} closest_twists;

typedef struct closest_slopes {
  vec3_r p[2], n;
  lane d;
} closest_slopes;

static closest_slopes closest_forward(const closest_linear *l, const closest_twists *t)
{
  closest_slopes s;
  const vec3_r rigid1 = add3_r(t->tau[0], cross3_r(t->phi[0], l->arm[0]));
  const vec3_r rigid2 = add3_r(t->tau[1], cross3_r(t->phi[1], l->arm[1]));
  const vec3_r turn1 = cross3_r(t->phi[0], l->n), turn2 = cross3_r(t->phi[1], l->n);
  const vec3_r moved = sub3_r(rigid1, rigid2);
  const vec3_r e =
    sub3_r(sub3_r(moved, closest_times(l->h[0], turn1)), closest_times(l->h[1], turn2));
  s.n = neg3_r(closest_times(l->inverse, e));
  s.p[0] = add3_r(rigid1, closest_times(l->h[0], sub3_r(s.n, turn1)));
  s.p[1] = sub3_r(rigid2, closest_times(l->h[1], sub3_r(s.n, turn2)));
  s.d = -dot3_r(l->n, moved);
  return s;
}

static closest_twists closest_backward(const closest_linear *l, const closest_slopes *bar)
{
  closest_twists t;
  const vec3_r h1 = closest_times(l->h[0], bar->p[0]), h2 = closest_times(l->h[1], bar->p[1]);
  const vec3_r e = neg3_r(closest_times(l->inverse, add3_r(bar->n, sub3_r(h1, h2))));
  const vec3_r turn1 = neg3_r(add3_r(h1, closest_times(l->h[0], e)));
  const vec3_r turn2 = sub3_r(h2, closest_times(l->h[1], e));
  t.tau[0] = add3_r(bar->p[0], mad3_r(l->n, -bar->d, e));
  t.tau[1] = sub3_r(mad3_r(l->n, bar->d, bar->p[1]), e);
  t.phi[0] = add3_r(cross3_r(l->arm[0], t.tau[0]), cross3_r(l->n, turn1));
  t.phi[1] = add3_r(cross3_r(l->arm[1], t.tau[1]), cross3_r(l->n, turn2));
  return t;
}

// ---- stores ----
static void closest_put3(GLOBAL real *to, int step, int first, int count, ilane good, vec3_r v)
{
  const lane zero = lane_lit(R(0.0));
  store_part(to, NO_ORDER, 0, first, count, 3 * step, lane_select(good, v.x, zero));
  store_part(to + step, NO_ORDER, 0, first, count, 3 * step, lane_select(good, v.y, zero));
  store_part(to + 2 * step, NO_ORDER, 0, first, count, 3 * step, lane_select(good, v.z, zero));
}

static void closest_put_column(GLOBAL real *p1, GLOBAL real *p2, GLOBAL real *n, GLOBAL real *d,
                               int column, int first, int count, ilane good,
                               const closest_slopes *s)
{
  const lane zero = lane_lit(R(0.0));
  closest_put3(p1 + column, 12, first, count, good, s->p[0]);
  closest_put3(p2 + column, 12, first, count, good, s->p[1]);
  closest_put3(n + column, 12, first, count, good, s->n);
  store_part(d + column, NO_ORDER, 0, first, count, 12, lane_select(good, s->d, zero));
}

static closest_twists closest_unit_twist(int column)
{
  closest_twists t;
  for (int side = 0; side < 2; ++side) {
    const int at = column - 6 * side;
    t.tau[side] =
      make_r(lane_lit((real)(at == 0)), lane_lit((real)(at == 1)), lane_lit((real)(at == 2)));
    t.phi[side] =
      make_r(lane_lit((real)(at == 3)), lane_lit((real)(at == 4)), lane_lit((real)(at == 5)));
  }
  return t;
}

static closest_slopes closest_read_bars(GLOBAL const real *p1, GLOBAL const real *p2,
                                        GLOBAL const real *n, GLOBAL const real *d, int first,
                                        int last)
{
  closest_slopes bar;
  bar.p[0] = closest_gather3(p1, first, last);
  bar.p[1] = closest_gather3(p2, first, last);
  bar.n = closest_gather3(n, first, last);
  bar.d = gather_part(d, first, last, 1);
  return bar;
}

static closest_twists closest_read_twists(GLOBAL const real *twists, int first, int last)
{
  closest_twists t;
  for (int side = 0; side < 2; ++side) {
    lane x[6];
    for (int k = 0; k < 6; ++k) {
      x[k] = gather_part(twists + 6 * side + k, first, last, 12);
    }
    t.tau[side] = make_r(x[0], x[1], x[2]);
    t.phi[side] = make_r(x[3], x[4], x[5]);
  }
  return t;
}

// Writes the gradient with respect to twists, and to the poses' own numbers.
static void closest_put_gradient(const closest_pair *p, ilane good, int width, int first, int count,
                                 const closest_twists *t, GLOBAL real *twists, GLOBAL real *pose1,
                                 GLOBAL real *pose2)
{
  const lane zero = lane_lit(R(0.0));
  for (int side = 0; side < 2; ++side) {
    const lane six[6] = {t->tau[side].x, t->tau[side].y, t->tau[side].z,
                         t->phi[side].x, t->phi[side].y, t->phi[side].z};
    lane out[7];
    for (int k = 0; k < 6; ++k) {
      store_part(twists + 6 * side + k, NO_ORDER, 0, first, count, 12,
                 lane_select(good, six[k], zero));
    }
    pose_adjoint_r(p->x[side], width, closest_rotated_back(p->frame[side].m, t->tau[side]),
                   closest_rotated_back(p->frame[side].m, t->phi[side]), out);
    for (int k = 0; k < width; ++k) {
      store_part((side ? pose2 : pose1) + k, NO_ORDER, 0, first, count, width,
                 lane_select(good, out[k], zero));
    }
  }
}

// ---- kernels: each work-item handles LANES rows ----
// Writes Jacobians from the results and curvatures: p1, p2, n (count, 3, 12) and d (count, 12).
ADJOINT_KERNEL void closest_jacobian(GLOBAL const int *ints, GLOBAL const real *numbers,
                                     GLOBAL const int *one, GLOBAL const int *two, int stride,
                                     GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                     int count, GLOBAL unsigned char *status, GLOBAL const real *d,
                                     GLOBAL const real *n, GLOBAL const real *p1,
                                     GLOBAL const real *p2, GLOBAL const real *curvatures,
                                     real ridge, GLOBAL real *p1_by, GLOBAL real *p2_by,
                                     GLOBAL real *n_by, GLOBAL real *d_by)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  if (first >= count) {
    return;
  }
  closest_pair p;
  closest_place_block(&p, &rows, first);
  const closest_linear l =
    closest_linear_of(&rows, first, &p, status, d, n, p1, p2, curvatures, ridge);
  closest_tell_steep(status, &l, first, count);
  for (int column = 0; column < 12; ++column) {
    const closest_twists t = closest_unit_twist(column);
    const closest_slopes s = closest_forward(&l, &t);
    closest_put_column(p1_by, p2_by, n_by, d_by, column, first, count, l.good, &s);
  }
}

// Writes the gradient of the sum of results times their cotangents: twists (count, 12), pose1_by,
// pose2_by (count, width).
ADJOINT_KERNEL void closest_vjp(GLOBAL const int *ints, GLOBAL const real *numbers,
                                GLOBAL const int *one, GLOBAL const int *two, int stride,
                                GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                int count, GLOBAL unsigned char *status, GLOBAL const real *d,
                                GLOBAL const real *n, GLOBAL const real *p1, GLOBAL const real *p2,
                                GLOBAL const real *curvatures, real ridge, GLOBAL const real *d_bar,
                                GLOBAL const real *n_bar, GLOBAL const real *p1_bar,
                                GLOBAL const real *p2_bar, GLOBAL real *twists,
                                GLOBAL real *pose1_by, GLOBAL real *pose2_by)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  if (first >= count) {
    return;
  }
  closest_pair p;
  closest_place_block(&p, &rows, first);
  const closest_linear l =
    closest_linear_of(&rows, first, &p, status, d, n, p1, p2, curvatures, ridge);
  closest_tell_steep(status, &l, first, count);
  const closest_slopes bar = closest_read_bars(p1_bar, p2_bar, n_bar, d_bar, first, count - 1);
  const closest_twists t = closest_backward(&l, &bar);
  closest_put_gradient(&p, l.good, width, first, count, &t, twists, pose1_by, pose2_by);
}

// Writes derivatives of the results along twists (count, 12).
ADJOINT_KERNEL void closest_jvp(GLOBAL const int *ints, GLOBAL const real *numbers,
                                GLOBAL const int *one, GLOBAL const int *two, int stride,
                                GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                int count, GLOBAL unsigned char *status, GLOBAL const real *d,
                                GLOBAL const real *n, GLOBAL const real *p1, GLOBAL const real *p2,
                                GLOBAL const real *curvatures, real ridge,
                                GLOBAL const real *twists, GLOBAL real *d_by, GLOBAL real *n_by,
                                GLOBAL real *p1_by, GLOBAL real *p2_by)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  if (first >= count) {
    return;
  }
  closest_pair p;
  closest_place_block(&p, &rows, first);
  const closest_linear l =
    closest_linear_of(&rows, first, &p, status, d, n, p1, p2, curvatures, ridge);
  closest_tell_steep(status, &l, first, count);
  const closest_twists t = closest_read_twists(twists, first, count - 1);
  const closest_slopes s = closest_forward(&l, &t);
  const lane zero = lane_lit(R(0.0));
  closest_put3(p1_by, 1, first, count, l.good, s.p[0]);
  closest_put3(p2_by, 1, first, count, l.good, s.p[1]);
  closest_put3(n_by, 1, first, count, l.good, s.n);
  store_part(d_by, NO_ORDER, 0, first, count, 1, lane_select(l.good, s.d, zero));
}
