// Hessians of support maps along the results' normals, from which derivatives are computed
// (docs/dev/closest-formulas.md). A Hessian belongs to one shape in its own frame at the unit
// direction u, without its radius, and has six numbers xx xy xz yy yz zz.

typedef struct closest_smooth {
  int method, level, samples;
  real temperature, epsilon;
  unsigned int seed[2], first[2];
} closest_smooth;

// ---- soft maximum of vertices ----

// A work-item's data for a hull: whether each vertex is selected, and the list of the selected
// ones.
typedef struct closest_chosen {
  GLOBAL int *marks, *list; // (vertices_most) each; marks are 0 between two uses
  int count;
} closest_chosen;

// A temperature [m] below which nothing is smoothed, because its inverse would overflow.
#if REAL_DOUBLE
#define TEMPERATURE_LEAST 1e-100
#else
#define TEMPERATURE_LEAST 1e-25f
#endif
#define GUMBEL_TIED R(1e-4) // as a share of L: vertices of the touched face, edge or corner

static void closest_choose_touched(const closest_shape *s, const real u[3], closest_chosen *c)
{
  GLOBAL const real *x = s->planes, *y = x + s->padded, *z = y + s->padded;
  const int best = closest_farthest(s, u);
  const real most = x[best] * u[0] + y[best] * u[1] + z[best] * u[2];
  const real least = most - GUMBEL_TIED * s->record[SHAPE_DIAGONAL];
  c->count = 0;
#if LANES > 1
  for (int i = 0; i < s->padded; i += LANES) {
    const lane along = lane_load(x + i) * u[0] + lane_load(y + i) * u[1] + lane_load(z + i) * u[2];
    unsigned int bits = (unsigned int)lane_bits(along >= lane_lit(least));
    for (; bits; bits &= bits - 1) {
      const int at = i + lowest_bit(bits);
      if (at < s->count) { // later lanes pad the last block
        c->marks[at] = 1;
        c->list[c->count++] = at;
      }
    }
  }
#else
  for (int i = 0; i < s->count; ++i) {
    if (x[i] * u[0] + y[i] * u[1] + z[i] * u[2] >= least) {
      c->marks[i] = 1;
      c->list[c->count++] = i;
    }
  }
#endif
}

static void closest_choose_neighbours(GLOBAL const int *rings, int level, closest_chosen *c)
{
  int from = 0;
  for (int turn = 0; turn < level; ++turn) {
    const int end = c->count;
    for (; from < end; ++from) {
      const int i = c->list[from];
      for (int j = rings[i]; j < rings[i + 1]; ++j) {
        const int at = rings[j];
        if (!c->marks[at]) {
          c->marks[at] = 1;
          c->list[c->count++] = at;
        }
      }
    }
  }
}

// (sum w v v' - mean mean') / temperature, with w the soft maximum's weights. Vectors are relative
// to the touched vertex, which avoids cancellation.
static void closest_curve_gumbel(const closest_shape *s, GLOBAL const int *rings, const real u[3],
                                 const closest_smooth *by, closest_chosen *c, real h[SYMMETRIC])
{
  const real temperature = by->temperature * s->record[SHAPE_DIAGONAL];
  const real rate = LOG2E / temperature;
  real high = R(0.0); // over all selected vertices, relative to the first
  real sum = R(0.0), mean[3] = {R(0.0), R(0.0), R(0.0)}, top[3], square[SYMMETRIC];
  closest_choose_touched(s, u, c);
  closest_choose_neighbours(rings, by->level, c);
  closest_vertex(s, c->list[0], top);
  for (int k = 0; k < SYMMETRIC; ++k) {
    square[k] = R(0.0);
  }
  for (int i = 0; i < c->count; ++i) {
    real v[3];
    closest_vertex(s, c->list[i], v);
    high = real_max(high, (v[0] - top[0]) * u[0] + (v[1] - top[1]) * u[1] + (v[2] - top[2]) * u[2]);
  }
  for (int i = 0; i < c->count; ++i) {
    real v[3];
    closest_vertex(s, c->list[i], v);
    for (int k = 0; k < 3; ++k) {
      v[k] -= top[k];
    }
    const real w = real_power_of_2(rate * ((v[0] * u[0] + v[1] * u[1] + v[2] * u[2]) - high));
    sum += w;
    for (int k = 0; k < 3; ++k) {
      mean[k] += w * v[k];
    }
    closest_add_square(square, v, w);
    c->marks[c->list[i]] = 0;
  }
  const real part = R(1.0) / sum;
  closest_add_square(square, mean, -part);
  for (int k = 0; k < SYMMETRIC; ++k) {
    h[k] += square[k] * part / temperature;
  }
}

#if LANES > 1
// The same for a hull of at most 32 vertices, with sets as bits.
#define SET_MOST 32

static unsigned int closest_set_around(GLOBAL const int *rings, unsigned int set, int level)
{
  unsigned int fresh = set;
  for (int turn = 0; turn < level; ++turn) {
    unsigned int wider = set;
    for (; fresh; fresh &= fresh - 1) {
      const int i = lowest_bit(fresh);
      for (int j = rings[i]; j < rings[i + 1]; ++j) {
        wider |= 1u << rings[j];
      }
    }
    fresh = wider & ~set;
    set = wider;
  }
  return set;
}

static void closest_curve_gumbel_small(const closest_shape *s, GLOBAL const int *rings,
                                       const real u[3], const closest_smooth *by, real h[SYMMETRIC])
{
  GLOBAL const real *x = s->planes, *y = x + s->padded, *z = y + s->padded;
  const real temperature = by->temperature * s->record[SHAPE_DIAGONAL], rate = LOG2E / temperature;
  lane along[SET_MOST / LANES], most = lane_lit(-REAL_BIG);
  for (int i = 0, b = 0; i < s->padded; i += LANES, ++b) {
    along[b] = lane_load(x + i) * u[0] + lane_load(y + i) * u[1] + lane_load(z + i) * u[2];
    most = lane_max(most, along[b]);
  }
  const real high = lane_most(most), least = high - GUMBEL_TIED * s->record[SHAPE_DIAGONAL];
  unsigned int set = 0;
  for (int i = 0, b = 0; i < s->padded; i += LANES, ++b) {
    set |= (unsigned int)lane_bits(along[b] >= lane_lit(least)) << i;
  }
  set &= s->count == SET_MOST ? ~0u : (1u << s->count) - 1; // without the padding of the last block
  const int first = lowest_bit(set);
  set = closest_set_around(rings, set, by->level);
  const real top[3] = {x[first], y[first], z[first]};
  const lane zero = lane_lit(R(0.0));
  lane sum = zero, mean[3] = {zero, zero, zero},
       square[SYMMETRIC] = {zero, zero, zero, zero, zero, zero};
  for (int i = 0, b = 0; i < s->padded; i += LANES, ++b) {
    const ilane in = closest_mask_of((int)(set >> i));
    const lane w = lane_select(in, lane_exp2((along[b] - high) * rate), zero);
    const lane vx = lane_load(x + i) - top[0], vy = lane_load(y + i) - top[1],
               vz = lane_load(z + i) - top[2];
    sum += w;
    mean[0] += w * vx;
    mean[1] += w * vy;
    mean[2] += w * vz;
    square[0] += w * vx * vx;
    square[1] += w * vx * vy;
    square[2] += w * vx * vz;
    square[3] += w * vy * vy;
    square[4] += w * vy * vz;
    square[5] += w * vz * vz;
  }
  const real part = R(1.0) / lane_sum(sum);
  const real middle[3] = {lane_sum(mean[0]), lane_sum(mean[1]), lane_sum(mean[2])};
  real total[SYMMETRIC];
  for (int k = 0; k < SYMMETRIC; ++k) {
    total[k] = lane_sum(square[k]);
  }
  closest_add_square(total, middle, -part);
  for (int k = 0; k < SYMMETRIC; ++k) {
    h[k] += total[k] * (part / temperature);
  }
}
#endif

// ---- Gaussian directions ----

// Support points of one shape along LANES directions.
static vec3_r closest_supports_of(const closest_shape *s, vec3_r u)
{
#if LANES > 1
  if (s->kind == SHAPE_HULL) {
    GLOBAL const real *x = s->planes, *y = x + s->padded, *z = y + s->padded;
    lane most = lane_lit(-REAL_BIG);
    vec3_r best = make_r(most, most, most);
    for (int i = 0; i < s->count; ++i) {
      const lane along = u.x * x[i] + u.y * y[i] + u.z * z[i];
      const ilane better = along > most;
      most = lane_select(better, along, most);
      best = closest_select3(better, make_r(lane_lit(x[i]), lane_lit(y[i]), lane_lit(z[i])), best);
    }
    return best;
  }
#endif
  real from[3][LANES], to[3][LANES];
  closest_store3(u, from);
  for (int l = 0; l < LANES; ++l) {
    const real along[3] = {from[0][l], from[1][l], from[2][l]};
    real point[3];
    (void)closest_support(s, along, point);
    to[0][l] = point[0];
    to[1][l] = point[1];
    to[2][l] = point[2];
  }
  return closest_load3(to);
}

// Standard normal numbers of LANES samples of an element, starting at `sample`.
static vec3_r closest_normals(const closest_smooth *by, int stream, unsigned int element[2],
                              int sample)
{
  lane_word x[4];
  x[0] = LANE_COUNT_WORDS + (lane_word)(unsigned int)sample;
  x[1] = (lane_word)(unsigned int)stream;
  x[2] = (lane_word)element[0];
  x[3] = (lane_word)element[1];
  lane_philox(x, by->seed[0], by->seed[1]);
  return lane_normals(x);
}

// The symmetric part of the mean of (s(u + epsilon z) - w) z' / epsilon. w is the witness point. It
// does not change the mean, and it does not depend on which of several equally far vertices is
// chosen.
static void closest_curve_gaussian(const closest_shape *s, const real u[3], const real witness[3],
                                   const closest_smooth *by, int stream, unsigned int element[2],
                                   real h[SYMMETRIC])
{
  const lane zero = lane_lit(R(0.0)), halved = lane_lit(R(0.5));
  lane sum[SYMMETRIC] = {zero, zero, zero, zero, zero, zero};
  for (int j = 0; j < by->samples; j += LANES) {
    const vec3_r z = closest_normals(by, stream, element, j);
    const vec3_r along = make_r(lane_lit(u[0]) + z.x * by->epsilon,
                                lane_lit(u[1]) + z.y * by->epsilon,
                                lane_lit(u[2]) + z.z * by->epsilon);
    const vec3_r at = closest_supports_of(s, along);
    const ilane counts = lane_iota() + lane_lit((real)j) < lane_lit((real)by->samples);
    const lane x = lane_select(counts, at.x - witness[0], zero);
    const lane y = lane_select(counts, at.y - witness[1], zero);
    const lane w = lane_select(counts, at.z - witness[2], zero);
    sum[0] += x * z.x;
    sum[1] += (x * z.y + y * z.x) * halved;
    sum[2] += (x * z.z + w * z.x) * halved;
    sum[3] += y * z.y;
    sum[4] += (y * z.z + w * z.y) * halved;
    sum[5] += w * z.z;
  }
  const real part = R(1.0) / ((real)by->samples * by->epsilon);
  for (int k = 0; k < SYMMETRIC; ++k) {
    h[k] += lane_sum(sum[k]) * part;
  }
}

// ---- one row ----

// A row's 64-bit number: the number of the first row plus the row's index.
static void closest_element(const closest_smooth *by, int row, unsigned int element[2])
{
  element[0] = by->first[0] + (unsigned int)row;
  element[1] = by->first[1] + (element[0] < by->first[0]);
}

// The same for LANES rows; the last row is repeated.
static void closest_row_words(const closest_smooth *by, int first, int count, lane_word element[2])
{
  unsigned int t[2][LANES], one[2];
  for (int l = 0; l < LANES; ++l) {
    closest_element(by, MIN_INT(first + l, count - 1), one);
    t[0][l] = one[0];
    t[1][l] = one[1];
  }
  element[0] = lane_load_words(t[0]);
  element[1] = lane_load_words(t[1]);
}

// Rotates H from a shape's own frame to the world's axes, R H R', projects out n on both sides, and
// adds the effect of a radius.
static void closest_turn_curvature(lane h[SYMMETRIC], const lane m[9], vec3_r n, lane radius)
{
  const int at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  lane turned[9], whole[9];
  for (int i = 0; i < 9; ++i) {
    const int r = i / 3, c = i % 3;
    turned[i] = m[3 * r] * h[at[c]] + m[3 * r + 1] * h[at[3 + c]] + m[3 * r + 2] * h[at[6 + c]];
  }
  for (int i = 0; i < 9; ++i) {
    const int r = i / 3, c = i % 3;
    whole[i] = turned[3 * r] * m[3 * c] + turned[3 * r + 1] * m[3 * c + 1] +
               turned[3 * r + 2] * m[3 * c + 2];
  }
  const lane normal[3] = {n.x, n.y, n.z};
  lane along[3];
  for (int i = 0; i < 3; ++i) {
    along[i] = whole[3 * i] * n.x + whole[3 * i + 1] * n.y + whole[3 * i + 2] * n.z;
  }
  const lane both = along[0] * n.x + along[1] * n.y + along[2] * n.z - radius;
  for (int r = 0, k = 0; r < 3; ++r) {
    for (int c = r; c < 3; ++c, ++k) {
      h[k] = whole[3 * r + c] - along[r] * normal[c] - normal[r] * along[c] +
             both * normal[r] * normal[c];
      h[k] += r == c ? radius : lane_lit(R(0.0));
    }
  }
}

// The lanes with a valid result: the pose is good, the row did not end at the cutoff, and all
// numbers are finite.
static ilane closest_answered(ilane good, GLOBAL const unsigned char *status, GLOBAL const real *d,
                              GLOBAL const real *n, GLOBAL const real *p1, GLOBAL const real *p2,
                              int first, int count)
{
  const int last = count - 1;
  const vec3_r all =
    add3_r(closest_gather3(n, first, last),
           add3_r(closest_gather3(p1, first, last), closest_gather3(p2, first, last)));
  const lane sum = (all.x + all.y + all.z + gather_part(d, first, last, 1)) * R(0.0);
  int bits = 0;
  for (int l = 0; l < LANES; ++l) {
    bits |= ((status[MIN_INT(first + l, last)] & CLOSEST_END) < CLOSEST_BAD_INPUT) << l;
  }
  return good & closest_mask_of(bits) & (sum == lane_lit(R(0.0)));
}

// A side of a block of rows, stored for access by single rows: u and the witness point without its
// radius, both in the shape's own frame.
typedef struct closest_touch {
  real u[3][LANES], witness[3][LANES];
} closest_touch;

static void closest_touch_side(const closest_pair *p, int side, vec3_r normal, vec3_r at,
                               closest_touch *to)
{
  const vec3_r ahead = scale3_r(normal, lane_lit(side ? R(-1.0) : R(1.0)));
  const vec3_r from = sub3_r(sub3_r(at, p->frame[side].t), p->offset[side]);
  closest_store3(closest_rotated_back(p->m[side], ahead), to->u);
  closest_store3(closest_rotated_back(p->m[side], mad3_r(ahead, -p->radius[side], from)),
                 to->witness);
}

// Adds a side's Hessian of a row. Returns whether an exact Hessian was requested but does not
// exist.
static int closest_curve_row(const closest_rows *rows, const closest_shape *s,
                             const closest_smooth *by, closest_chosen *chosen, int side, int row,
                             const closest_touch *touch, int l, real h[SYMMETRIC])
{
  const real u[3] = {touch->u[0][l], touch->u[1][l], touch->u[2][l]};
  if (by->method == CLOSEST_GAUSSIAN) {
    const real witness[3] = {touch->witness[0][l], touch->witness[1][l], touch->witness[2][l]};
    unsigned int element[2];
    closest_element(by, row, element);
    closest_curve_gaussian(s, u, witness, by, side, element, h);
    return 0;
  }
  if (by->method == CLOSEST_GUMBEL && s->count > 0) {
    if (by->temperature * s->record[SHAPE_DIAGONAL] < TEMPERATURE_LEAST) {
      return 0; // a point
    }
#if LANES > 1
    if (s->padded <= SET_MOST) {
      closest_curve_gumbel_small(s, rows->ints + s->rings, u, by, h);
      return 0;
    }
#endif
    closest_curve_gumbel(s, rows->ints + s->rings, u, by, chosen, h);
    return 0;
  }
  return closest_curve_exact(s, u, h) && by->method == CLOSEST_EXACT;
}

static closest_smooth closest_smooth_of(closest_settings s, real temperature, real epsilon)
{
  closest_smooth by;
  by.method = s.method;
  by.level = s.level;
  by.samples = s.samples;
  by.temperature = temperature;
  by.epsilon = epsilon;
  by.seed[0] = (unsigned int)s.seed_low;
  by.seed[1] = (unsigned int)s.seed_high;
  by.first[0] = (unsigned int)s.first_low;
  by.first[1] = (unsigned int)s.first_high;
  return by;
}

// Each work-item handles every `workers`th block of LANES rows. Results d (count), n, p1, p2
// (count, 3), status (count); curvatures (count, 2, 6) in the world's axes, with the radius; marks
// (workers, 2 vertices_most), starting at marks_at.
ADJOINT_KERNEL void closest_curvature(GLOBAL const int *ints, GLOBAL const real *numbers,
                                      GLOBAL const int *one, GLOBAL const int *two, int stride,
                                      GLOBAL const real *pose1, GLOBAL const real *pose2, int width,
                                      int count, int workers, closest_settings settings,
                                      real temperature, real epsilon, GLOBAL const real *d,
                                      GLOBAL const real *n, GLOBAL const real *p1,
                                      GLOBAL const real *p2, GLOBAL unsigned char *status,
                                      GLOBAL int *marks, int marks_at, GLOBAL real *curvatures)
{
  const int worker = (int)get_global_id(0);
  const closest_rows rows = {ints, numbers, one, two, stride, pose1, pose2, width, count};
  const closest_smooth by = closest_smooth_of(settings, temperature, epsilon);
  closest_chosen chosen;
  if (worker >= workers) {
    return;
  }
  chosen.marks = ROW(marks, worker, 2 * settings.vertices_most) + marks_at;
  chosen.list = chosen.marks + settings.vertices_most;
  chosen.count = 0;
  for (int i = 0; i < settings.vertices_most; ++i) {
    chosen.marks[i] = 0;
  }
  for (int first = worker * LANES; first < count; first += workers * LANES) {
    const int last = count - 1;
    const vec3_r normal = closest_gather3(n, first, last);
    closest_sides shapes;
    closest_pair p;
    closest_touch touch;
    closest_take_shapes(&shapes, &rows, first);
    closest_place(&p, &rows, &shapes, first);
    const int answered = lane_bits(closest_answered(p.good, status, d, n, p1, p2, first, count));
    for (int side = 0; side < 2; ++side) {
      real t[SYMMETRIC][LANES];
      lane h[SYMMETRIC];
      closest_touch_side(&p, side, normal, closest_gather3(side ? p2 : p1, first, last), &touch);
      for (int l = 0; l < LANES; ++l) {
        real own[SYMMETRIC] = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)};
        if (first + l < count && side == 0) {
          status[first + l] &= CLOSEST_END; // without bits that an earlier call has added
        }
        if (first + l < count && (answered >> l & 1) &&
            closest_curve_row(&rows, &shapes.of[side][l], &by, &chosen, side, first + l, &touch, l,
                              own)) {
          status[first + l] |= CLOSEST_FLAT;
        }
        for (int k = 0; k < SYMMETRIC; ++k) {
          t[k][l] = own[k];
        }
      }
      for (int k = 0; k < SYMMETRIC; ++k) {
        h[k] = lane_load(t[k]);
      }
      closest_turn_curvature(h, p.m[side], normal, p.radius[side]);
      for (int k = 0; k < SYMMETRIC; ++k) {
        store_part(curvatures + side * SYMMETRIC + k, NO_ORDER, 0, first, count, 2 * SYMMETRIC,
                   h[k]);
      }
    }
  }
}
