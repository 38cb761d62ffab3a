// Derivatives computed only from queries (docs/dev/closest-formulas.md). Body 2 is moved, the query
// is repeated, and the changes times the step are summed, (10, 6) per row: p1, p2, n, d by the
// twist of body 2. A common motion of both bodies moves the result rigidly, which gives the columns
// of body 1.

typedef struct closest_step {
  vec3_r tau, phi; // the motion of body 2
  lane z[6];       // the factors of the change
} closest_step;

// `round` is the number of the sample. For central differences it is twice the axis, plus 1 for the
// backward step.
static closest_step closest_step_of(const closest_smooth *by, int first, int count, int round,
                                    lane spans)
{
  closest_step s;
  const lane far = spans * by->epsilon, turn = lane_lit(by->epsilon);
  if (by->method == CLOSEST_FINITE) {
    const int axis = round / 2;
    const real sign = round & 1 ? R(-1.0) : R(1.0);
    lane x[6];
    for (int k = 0; k < 6; ++k) {
      const lane one = lane_lit(k == axis ? sign : R(0.0));
      x[k] = one * (k < 3 ? far : turn);
      s.z[k] = one * R(0.5) / lane_max(k < 3 ? far : turn, lane_lit(RIDGE_LEAST));
    }
    s.tau = make_r(x[0], x[1], x[2]);
    s.phi = make_r(x[3], x[4], x[5]);
    return s;
  }
  lane_word element[2];
  vec3_r z[2];
  closest_row_words(by, first, count, element);
  for (int halved = 0; halved < 2; ++halved) {
    lane_word x[4];
    x[0] = (lane_word)(unsigned int)round;
    x[1] = (lane_word)(unsigned int)(2 + halved);
    x[2] = element[0];
    x[3] = element[1];
    lane_philox(x, by->seed[0], by->seed[1]);
    z[halved] = lane_normals(x);
  }
  const lane part = lane_lit(R(1.0) / (real)by->samples);
  const lane zero = lane_lit(R(0.0)); // two points are not moved
  const lane by_far = lane_select(far > zero, part / lane_select(far > zero, far, part), zero);
  const lane by_turn = part / turn;
  s.tau = scale3_r(z[0], far);
  s.phi = scale3_r(z[1], turn);
  s.z[0] = z[0].x * by_far;
  s.z[1] = z[0].y * by_far;
  s.z[2] = z[0].z * by_far;
  s.z[3] = z[1].x * by_turn;
  s.z[4] = z[1].y * by_turn;
  s.z[5] = z[1].z * by_turn;
  return s;
}

// Writes the quaternion, w first, of a pose's numbers.
static void closest_quaternion(const lane x[7], int width, lane q[4])
{
  if (width == 7) {
    const lane most = quaternion_size_r(x[4], x[5], x[6], x[3]);
    lane sum = lane_lit(R(0.0));
    for (int k = 0; k < 4; ++k) {
      q[k] = x[3 + k] / most;
      sum += q[k] * q[k];
    }
    const lane unit = R(1.0) / lane_sqrt(sum);
    for (int k = 0; k < 4; ++k) {
      q[k] *= unit;
    }
    return;
  }
  const vec3_r w = limit3_r(make_r(x[3], x[4], x[5]), ROTATION_LIMIT);
  lane a, b, c, cosine;
  // sin(t / 2) / t by the coefficients of half the angle.
  exp_coefficients_r(dot3_r(w, w) * R(0.25), &a, &b, &c, &cosine);
  q[0] = cosine;
  q[1] = w.x * (a * R(0.5));
  q[2] = w.y * (a * R(0.5));
  q[3] = w.z * (a * R(0.5));
}

// Multiplies by exp(phi) from the left.
static void closest_turn_quaternion(vec3_r phi, lane q[4])
{
  lane a, b, c, cosine;
  exp_coefficients_r(dot3_r(phi, phi) * R(0.25), &a, &b, &c, &cosine);
  const vec3_r v = scale3_r(phi, a * R(0.5)), x = make_r(q[1], q[2], q[3]);
  const vec3_r turned = add3_r(cross3_r(v, x), add3_r(scale3_r(x, cosine), scale3_r(v, q[0])));
  q[0] = cosine * q[0] - dot3_r(v, x);
  q[1] = turned.x;
  q[2] = turned.y;
  q[3] = turned.z;
}

static void closest_put_pose(GLOBAL real *to, int first, int count, vec3_r t, const lane q[4])
{
  store_part(to, NO_ORDER, 0, first, count, 7, t.x);
  store_part(to + 1, NO_ORDER, 0, first, count, 7, t.y);
  store_part(to + 2, NO_ORDER, 0, first, count, 7, t.z);
  for (int k = 0; k < 4; ++k) {
    store_part(to + 3 + k, NO_ORDER, 0, first, count, 7, q[k]);
  }
}

// Writes poses (count, 7) for the query: body 1 unchanged, body 2 moved. A bad pose is replaced by
// the identity. Each work-item handles LANES rows.
ADJOINT_KERNEL void closest_move(GLOBAL const int *ints, GLOBAL const real *numbers,
                                 GLOBAL const int *one, GLOBAL const int *two, int stride,
                                 GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                 int count, closest_settings settings, real epsilon, int round,
                                 GLOBAL real *moved1, GLOBAL real *moved2)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  const closest_smooth by = closest_smooth_of(settings, R(1.0), epsilon);
  if (first >= count) {
    return;
  }
  closest_pair p;
  lane q[4];
  closest_place_block(&p, &rows, first);
  const closest_step s = closest_step_of(&by, first, count, round, p.spans);
  closest_quaternion(p.x[0], width, q);
  closest_put_pose(moved1, first, count, p.frame[0].t, q);
  closest_quaternion(p.x[1], width, q);
  closest_turn_quaternion(s.phi, q);
  closest_put_pose(moved2, first, count, add3_r(p.frame[1].t, s.tau), q);
}

// Adds a round's changes to sums, planes (10, 6) of `plane` rows, which the first round
// initialises. `about` is subtracted from the moved results; central differences do not need it.
ADJOINT_KERNEL void closest_gather_slopes(GLOBAL const int *ints, GLOBAL const real *numbers,
                                          GLOBAL const int *one, GLOBAL const int *two, int stride,
                                          GLOBAL const real *pose1, GLOBAL const real *pose2,
                                          int width, int count, closest_settings settings,
                                          real epsilon, int round, GLOBAL const real *d,
                                          GLOBAL const real *n, GLOBAL const real *p1,
                                          GLOBAL const real *p2, GLOBAL const real *moved_d,
                                          GLOBAL const real *moved_n, GLOBAL const real *moved_p1,
                                          GLOBAL const real *moved_p2, int plane, GLOBAL real *sums)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  const closest_smooth by = closest_smooth_of(settings, R(1.0), epsilon);
  if (first >= count) {
    return;
  }
  closest_pair p;
  closest_place_block(&p, &rows, first);
  const closest_step s = closest_step_of(&by, first, count, round, p.spans);
  const int last = count - 1;
  for (int i = 0; i < CLOSEST_VALUES; ++i) {
    GLOBAL const real *from = i < 3   ? moved_p1 + i
                              : i < 6 ? moved_p2 + i - 3
                              : i < 9 ? moved_n + i - 6
                                      : moved_d;
    GLOBAL const real *about = i < 3 ? p1 + i : i < 6 ? p2 + i - 3 : i < 9 ? n + i - 6 : d;
    const int step = i < 9 ? 3 : 1;
    const lane change =
      gather_part(from, first, last, step) - gather_part(about, first, last, step);
    for (int k = 0; k < 6; ++k) {
      GLOBAL real *sum = sums + (size_t)(6 * i + k) * (size_t)plane + first;
      const lane before = round ? lane_load(sum) : lane_lit(R(0.0));
      lane_store(before + change * s.z[k], sum);
    }
  }
}

// ---- conversion of the sums to derivatives ----
typedef struct closest_sums {
  lane by[CLOSEST_VALUES][6]; // by body 2's twist
  vec3_r n, arm[2], across;   // arms: of p1 and p2 from body 1's origin; across: from there to
                              // body 2's
  ilane good;
} closest_sums;

static void closest_read_sums(closest_sums *s, const closest_rows *rows, const closest_pair *p,
                              int first, GLOBAL const real *n, GLOBAL const real *p1,
                              GLOBAL const real *p2, int plane, GLOBAL const real *sums,
                              GLOBAL const unsigned char *status, GLOBAL const real *d)
{
  const int last = rows->count - 1;
  for (int i = 0; i < CLOSEST_VALUES; ++i) {
    for (int k = 0; k < 6; ++k) {
      s->by[i][k] = lane_load(sums + (size_t)(6 * i + k) * (size_t)plane + first);
    }
  }
  s->n = closest_gather3(n, first, last);
  s->arm[0] = sub3_r(closest_gather3(p1, first, last), p->frame[0].t);
  s->arm[1] = sub3_r(closest_gather3(p2, first, last), p->frame[0].t);
  s->across = sub3_r(p->frame[1].t, p->frame[0].t);
  s->good = closest_answered(p->good, status, d, n, p1, p2, first, rows->count);
}

// y' = sums (twist2 - twist1 transported to body 2's origin) + effect of moving both with twist1.
static closest_slopes closest_forward_sums(const closest_sums *s, const closest_twists *t)
{
  const vec3_r tau = sub3_r(t->tau[1], add3_r(t->tau[0], cross3_r(t->phi[0], s->across)));
  const vec3_r phi = sub3_r(t->phi[1], t->phi[0]);
  lane y[CLOSEST_VALUES];
  closest_slopes out;
  for (int i = 0; i < CLOSEST_VALUES; ++i) {
    const lane *by = s->by[i];
    y[i] =
      by[0] * tau.x + by[1] * tau.y + by[2] * tau.z + by[3] * phi.x + by[4] * phi.y + by[5] * phi.z;
  }
  for (int side = 0; side < 2; ++side) {
    const vec3_r rigid = add3_r(t->tau[0], cross3_r(t->phi[0], s->arm[side]));
    out.p[side] = add3_r(rigid, make_r(y[3 * side], y[3 * side + 1], y[3 * side + 2]));
  }
  out.n = add3_r(cross3_r(t->phi[0], s->n), make_r(y[6], y[7], y[8]));
  out.d = y[9];
  return out;
}

static closest_twists closest_backward_sums(const closest_sums *s, const closest_slopes *bar)
{
  const lane all[CLOSEST_VALUES] = {bar->p[0].x, bar->p[0].y, bar->p[0].z, bar->p[1].x, bar->p[1].y,
                                    bar->p[1].z, bar->n.x,    bar->n.y,    bar->n.z,    bar->d};
  lane x[6];
  closest_twists t;
  for (int k = 0; k < 6; ++k) {
    x[k] = lane_lit(R(0.0));
    for (int i = 0; i < CLOSEST_VALUES; ++i) {
      x[k] += all[i] * s->by[i][k];
    }
  }
  t.tau[1] = make_r(x[0], x[1], x[2]);
  t.phi[1] = make_r(x[3], x[4], x[5]);
  t.tau[0] = sub3_r(add3_r(bar->p[0], bar->p[1]), t.tau[1]);
  const vec3_r moments = add3_r(cross3_r(s->arm[0], bar->p[0]),
                                add3_r(cross3_r(s->arm[1], bar->p[1]), cross3_r(s->n, bar->n)));
  t.phi[0] = sub3_r(moments, add3_r(cross3_r(s->across, t.tau[1]), t.phi[1]));
  return t;
}

// Like closest_jacobian, from sums.
ADJOINT_KERNEL void closest_jacobian_sums(GLOBAL const int *ints, GLOBAL const real *numbers,
                                          GLOBAL const int *one, GLOBAL const int *two, int stride,
                                          GLOBAL const real *pose1, GLOBAL const real *pose2,
                                          int width, int count, GLOBAL const unsigned char *status,
                                          GLOBAL const real *d, GLOBAL const real *n,
                                          GLOBAL const real *p1, GLOBAL const real *p2, int plane,
                                          GLOBAL const real *sums, GLOBAL real *p1_by,
                                          GLOBAL real *p2_by, GLOBAL real *n_by, GLOBAL real *d_by)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  if (first >= count) {
    return;
  }
  closest_pair p;
  closest_sums sum;
  closest_place_block(&p, &rows, first);
  closest_read_sums(&sum, &rows, &p, first, n, p1, p2, plane, sums, status, d);
  for (int column = 0; column < 12; ++column) {
    const closest_twists t = closest_unit_twist(column);
    const closest_slopes s = closest_forward_sums(&sum, &t);
    closest_put_column(p1_by, p2_by, n_by, d_by, column, first, count, sum.good, &s);
  }
}

// Like closest_vjp, from sums.
ADJOINT_KERNEL void closest_vjp_sums(
  GLOBAL const int *ints, GLOBAL const real *numbers, GLOBAL const int *one, GLOBAL const int *two,
  int stride, GLOBAL const real *pose1, GLOBAL const real *pose2, int width, int count,
  GLOBAL const unsigned char *status, GLOBAL const real *d, GLOBAL const real *n,
  GLOBAL const real *p1, GLOBAL const real *p2, int plane, GLOBAL const real *sums,
  GLOBAL const real *d_bar, GLOBAL const real *n_bar, GLOBAL const real *p1_bar,
  GLOBAL const real *p2_bar, GLOBAL real *twists, GLOBAL real *pose1_by, GLOBAL real *pose2_by)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  if (first >= count) {
    return;
  }
  closest_pair p;
  closest_sums sum;
  closest_place_block(&p, &rows, first);
  closest_read_sums(&sum, &rows, &p, first, n, p1, p2, plane, sums, status, d);
  const closest_slopes bar = closest_read_bars(p1_bar, p2_bar, n_bar, d_bar, first, count - 1);
  const closest_twists t = closest_backward_sums(&sum, &bar);
  closest_put_gradient(&p, sum.good, width, first, count, &t, twists, pose1_by, pose2_by);
}

// Like closest_jvp, from sums.
ADJOINT_KERNEL void closest_jvp_sums(GLOBAL const int *ints, GLOBAL const real *numbers,
                                     GLOBAL const int *one, GLOBAL const int *two, int stride,
                                     GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                     int count, GLOBAL const unsigned char *status,
                                     GLOBAL const real *d, GLOBAL const real *n,
                                     GLOBAL const real *p1, GLOBAL const real *p2, int plane,
                                     GLOBAL const real *sums, GLOBAL const real *twists,
                                     GLOBAL real *d_by, GLOBAL real *n_by, GLOBAL real *p1_by,
                                     GLOBAL real *p2_by)
{
  const int first = (int)get_global_id(0) * LANES;
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  if (first >= count) {
    return;
  }
  closest_pair p;
  closest_sums sum;
  const lane zero = lane_lit(R(0.0));
  closest_place_block(&p, &rows, first);
  closest_read_sums(&sum, &rows, &p, first, n, p1, p2, plane, sums, status, d);
  const closest_twists t = closest_read_twists(twists, first, count - 1);
  const closest_slopes s = closest_forward_sums(&sum, &t);
  closest_put3(p1_by, 1, first, count, sum.good, s.p[0]);
  closest_put3(p2_by, 1, first, count, sum.good, s.p[1]);
  closest_put3(n_by, 1, first, count, sum.good, s.n);
  store_part(d_by, NO_ORDER, 0, first, count, 1, lane_select(sum.good, s.d, zero));
}
