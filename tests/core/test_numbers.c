/* The geometry text as C in double: duals against central differences, smooth operators against
 * closed forms, and what golden answers there are of parts: test_numbers FOLDER. */
#include "scene.h"
#include "tally.h"

#include "body/parts.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REAL_DOUBLE 1
#define LANES 1
#define WG 1
static size_t work_item[2];
#define get_global_id(i) work_item[i]
#define get_group_id(i) work_item[i]
#define get_local_id(i) 0
#include "kernels/manifold/suite.cl"
#include "num/dual.h"

#include "geometry/dual.h"

static coefficients coefficients_of(const abut_smoothing *s)
{
#define COEFFICIENT_MEMBER(name, value) .name = value,
  return (coefficients){COEFFICIENTS(COEFFICIENT_MEMBER)};
#undef COEFFICIENT_MEMBER
}

/* ---- maps: the same text on plain numbers and on duals ---- */

enum { MOST = 24 };

typedef struct map {
  const char *name;
  int in, out;
  void (*plain)(const double *x, double *y);
  void (*dual)(const dual *x, dual *y);
} map;

static coefficients smooth;
static int *field_head;
static reals field_shape;

#define VEC(from)                   \
  {                                 \
    (from)[0], (from)[1], (from)[2] \
  }
#define PUT(to, from) ((to)[0] = (from).x, (to)[1] = (from).y, (to)[2] = (from).z)

/* Frames of plain numbers are computed on wide scalars where the suite has them. */
#ifdef GEOMETRY_WIDE_H
#define FRAME_PLAIN(name) name##_w
#else
#define FRAME_PLAIN(name) name##_r
#endif

/* Both variants of a map are one text: NUMBER is double or dual; F and FRAME append _r or _d. */
#define DEFINE_MAPS(NUMBER, F, FRAME)                                                 \
  static void F(field_map)(const NUMBER *x, NUMBER *y)                                \
  {                                                                                   \
    F(vec3) n, at = VEC(x);                                                           \
    y[0] = F(body_field)(field_head, field_shape.data, &smooth, at, 1, &n);           \
    PUT(y + 1, n);                                                                    \
  }                                                                                   \
  static void F(twist_map)(const NUMBER *x, NUMBER *y)                                \
  {                                                                                   \
    const FRAME(vec3) rho = VEC(x), omega = VEC(x + 3);                               \
    const FRAME(frame) f = FRAME(exp_se3)(rho, omega);                                \
    memcpy(y, f.m, sizeof f.m);                                                       \
    PUT(y + 9, f.t);                                                                  \
  }                                                                                   \
  static void F(quaternion_map)(const NUMBER *x, NUMBER *y)                           \
  {                                                                                   \
    const FRAME(vec3) position = VEC(x);                                              \
    const FRAME(frame) f = FRAME(quaternion_frame)(position, x[4], x[5], x[6], x[3]); \
    memcpy(y, f.m, sizeof f.m);                                                       \
    PUT(y + 9, f.t);                                                                  \
  }                                                                                   \
  static void F(witness_map)(const NUMBER *x, NUMBER *y)                              \
  {                                                                                   \
    const F(vec3) p0 = VEC(x), p1 = VEC(x + 3), q0 = VEC(x + 6), q1 = VEC(x + 9);     \
    F(vec3) e1, e2;                                                                   \
    F(edge_witness)(p0, p1, q0, q1, &smooth, &e1, &e2, y + 6);                        \
    PUT(y, e1);                                                                       \
    PUT(y + 3, e2);                                                                   \
  }                                                                                   \
  static void F(pair_map)(const NUMBER *x, NUMBER *y)                                 \
  {                                                                                   \
    const F(vec3) e1 = VEC(x), e2 = VEC(x + 3), m1 = VEC(x + 6), m2 = VEC(x + 9);     \
    const F(pair_depths) at = {x[13], x[14], x[15], x[16]};                           \
    const F(edge_contact) r = F(edge_pair)(e1, e2, x[12], m1, m2, &at, &smooth);      \
    y[0] = r.dbar;                                                                    \
    y[1] = r.d1;                                                                      \
    y[2] = r.d2;                                                                      \
    PUT(y + 3, r.n1);                                                                 \
    PUT(y + 6, r.n2);                                                                 \
    y[9] = r.a1;                                                                      \
    y[10] = r.a2;                                                                     \
  }                                                                                   \
  static void F(face_map)(const NUMBER *x, NUMBER *y)                                 \
  {                                                                                   \
    const F(vec3) v = VEC(x), a = VEC(x + 3), b = VEC(x + 6), e = VEC(x + 9);         \
    const F(vec3) r = F(face_witness)(v, a, b, e, &smooth);                           \
    PUT(y, r);                                                                        \
  }                                                                                   \
  static void F(operator_map)(const NUMBER *x, NUMBER *y)                             \
  {                                                                                   \
    y[0] = F(sigmoid)(x[0]);                                                          \
    y[1] = F(soft_sign)(x[0]);                                                        \
    y[2] = F(soft_clip)(x[0], smooth.clip, smooth.clip_inv);                          \
    y[3] = F(within)(x[0], smooth.compare_inv);                                       \
    y[4] = F(above_floor)(x[0], 0.3, 1.0 / 0.3);                                      \
  }
#define F_PLAIN(name) name##_r
#define F_DUAL(name) name##_d
DEFINE_MAPS(double, F_PLAIN, FRAME_PLAIN)
DEFINE_MAPS(dual, F_DUAL, F_DUAL)

enum { FIELD, TWIST, QUATERNION, WITNESS, PAIR, FACE, OPERATORS, MAPS };
static const map maps[MAPS] = {
  {"body_field", 3, 4, field_map_r, field_map_d},
  {"exp_se3", 6, 12, twist_map_r, twist_map_d},
  {"quaternion_frame", 7, 12, quaternion_map_r, quaternion_map_d},
  {"edge_witness", 12, 7, witness_map_r, witness_map_d},
  {"edge_pair", 17, 11, pair_map_r, pair_map_d},
  {"face_witness", 12, 3, face_map_r, face_map_d},
  {"smooth operators", 1, 5, operator_map_r, operator_map_d},
};

/* Derivatives at x along DUAL_TANGENTS directions. */
static void differentiate(const map *m, const double *x, const double (*along)[DUAL_TANGENTS],
                          double step, tally *t)
{
  dual in[MOST], out[MOST];
  double value[MOST], low[MOST], high[MOST], quotient[DUAL_TANGENTS][MOST][3];
  for (int i = 0; i < m->in; ++i) {
    in[i].v = x[i];
    memcpy(in[i].d, along[i], sizeof in[i].d);
  }
  m->dual(in, out);
  m->plain(x, value);
  for (int k = 0; k < DUAL_TANGENTS; ++k) {
    for (int s = 0; s < 3; ++s) {
      const double h = step / (1 << s);
      double below[MOST], above[MOST];
      for (int i = 0; i < m->in; ++i) {
        below[i] = x[i] - h * along[i][k];
        above[i] = x[i] + h * along[i][k];
      }
      m->plain(below, low);
      m->plain(above, high);
      for (int j = 0; j < m->out; ++j) {
        quotient[k][j][s] = (high[j] - low[j]) / (2.0 * h);
      }
    }
  }
  double scale = 1.0;
  for (int j = 0; j < m->out; ++j) {
    t->value = fmax(t->value, fabs(out[j].v - value[j]) / fmax(1.0, fabs(value[j])));
    for (int k = 0; k < DUAL_TANGENTS; ++k) {
      scale = fmax(scale, fabs(out[j].d[k]));
    }
  }
  for (int j = 0; j < m->out; ++j) {
    for (int k = 0; k < DUAL_TANGENTS; ++k) {
      tally_entry(t, quotient[k][j], out[j].d[k], scale);
    }
  }
}

static void judge(const tally *t, const char *name, const char *where)
{
  printf("%-18s %-26s values %.1e, derivatives %.1e, %zu of %zu of second order (%zu in all)\n",
         name, where, t->value, t->worst, t->second_order, t->sloped, t->entries);
  check(t->value < 1e-14, "%s, %s: dual and plain values differ by %g", name, where, t->value);
  check(t->worst < 2e-5, "%s, %s: a derivative is off by %g", name, where, t->worst);
  check(t->entries && 10 * t->second_order >= 7 * t->sloped, "%s, %s: %zu of %zu of second order",
        name, where, t->second_order, t->sloped);
}

static void random_directions(uint64_t *seed, int count, double (*along)[DUAL_TANGENTS])
{
  for (int k = 0; k < DUAL_TANGENTS; ++k) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
      along[i][k] = random_normal(seed);
      sum += along[i][k] * along[i][k];
    }
    for (int i = 0; i < count; ++i) {
      along[i][k] /= sqrt(sum);
    }
  }
}

static void test_map(int which, const char *where, const double *points, size_t count, double step)
{
  const map *m = &maps[which];
  uint64_t seed = 40;
  double along[MOST][DUAL_TANGENTS];
  tally t = {0};
  for (size_t i = 0; i < count; ++i) {
    random_directions(&seed, m->in, along);
    differentiate(m, points + i * (size_t)m->in, (const double(*)[DUAL_TANGENTS])along, step, &t);
  }
  judge(&t, m->name, where);
}

static void test_map_at_random(int which, double size, double step)
{
  enum { POINTS = 200 };
  double points[POINTS * MOST];
  uint64_t seed = 50 + (uint64_t)which;
  for (int i = 0; i < POINTS * maps[which].in; ++i) {
    points[i] = size * random_normal(&seed);
  }
  test_map(which, "at random", points, POINTS, step);
}

/* ---- fields ---- */

static void set_field(const abut_body_def *def)
{
  size_t count;
  free(field_head);
  free(field_shape.data);
  field_head = NULL;
  field_shape.data = NULL;
  CHECK_OK(pack_primitives(def, sizeof(double), &field_head, &count, &field_shape));
}

static void test_fields(void)
{
  enum { POINTS = 200 };
  uint64_t seed = 60;
  double planes[36], cloud[7 * 6], points[3 * POINTS];
  for (int i = 0; i < 36; ++i) {
    planes[i] = i % 6 < 3
                  ? (i % 6 == i / 12) * (i / 6 % 2 ? 1.0 : -1.0) + 0.1 * random_normal(&seed)
                  : 0.3 * (i % 6 - 3 == i / 12) * (i / 6 % 2 ? 1.0 : -1.0);
  }
  for (int i = 0; i < 42; ++i) {
    cloud[i] = i % 7 == 6 ? 0.3 : 0.4 * random_normal(&seed);
  }
  for (int i = 0; i < 3 * POINTS; ++i) {
    points[i] = 0.6 * random_normal(&seed);
  }
  const abut_superquadric solids[] = {
    {{0.4, 0.3, 0.5}, {0.8, 0.6}, {0.1, 0.2, 0.0}, {0.9, 0.1, 0.3, 0.2}, ABUT_ADD},
    {{0.3, 0.5, 0.3}, {1.0, 1.5}, {-0.2, 0.2, 0.1}, {0.2, 0.7, 0.3, 0.1}, ABUT_ADD},
    {{0.3, 0.2, 0.2}, {1.0, 1.0}, {0.2, 0.0, 0.3}, {1.0, 0.0, 0.0, 0.0}, ABUT_SUBTRACT},
  };
  const abut_polyhedron polyhedra[] = {{planes, 6, ABUT_ADD}, {planes, 4, ABUT_SUBTRACT}};
  const abut_pointcloud clouds[] = {{cloud, 4, ABUT_ADD}, {cloud + 14, 4, ABUT_SUBTRACT}};
  static const char *const names[] = {"superquadrics", "polyhedra", "clouds", "all, subtracted"};
  for (int i = 0; i < 4; ++i) {
    abut_body_def def = abut_default_body_def();
    def.superquadrics = solids;
    def.polyhedra = polyhedra;
    def.pointclouds = clouds;
    def.superquadric_count = i == 0 ? 2 : i == 3 ? 3 : 0;
    def.polyhedron_count = i == 1 ? 1 : i == 3 ? 2 : 0;
    def.pointcloud_count = i == 2 ? 1 : i == 3 ? 2 : 0;
    set_field(&def);
    test_map(FIELD, names[i], points, POINTS, 5e-5);
  }
}

/* Ties of primitives and of logarithms, coordinates of 0, distances equal to the hole's. */
static void test_field_seams(void)
{
  const abut_superquadric twins[] = {
    {{0.4, 0.4, 0.4}, {1.0, 1.0}, {-0.3, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, ABUT_ADD},
    {{0.4, 0.4, 0.4}, {1.0, 1.0}, {0.3, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, ABUT_ADD},
  };
  const abut_superquadric cube = {{0.5, 0.5, 0.5}, {0.5, 0.5}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  const double between[] = {0, 0.2, 0.1, 0, 0, 0.3, 0, -0.5, 0.4, 0, 0.35, 0};
  const double ties[] = {0.3, 0.3, 0.3, 0.4,  -0.4, 0.1, 0.2, 0.5,
                         0.5, 0.6, 0.6, -0.6, -0.3, 0.3, 0.7};
  abut_body_def def = abut_default_body_def();
  def.superquadrics = twins;
  def.superquadric_count = 2;
  set_field(&def);
  test_map(FIELD, "tied primitives", between, 4, 2e-4);
  def.superquadrics = &cube;
  def.superquadric_count = 1;
  set_field(&def);
  test_map(FIELD, "tied logarithms", ties, 5, 2e-4);
  /* |x| = 1/4 on the first sphere's axis through the second: the hole's surface is the union's. */
  const abut_superquadric holed[] = {
    {{0.5, 0.5, 0.5}, {1.0, 1.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, ABUT_ADD},
    {{0.5, 0.5, 0.5}, {1.0, 1.0}, {0.6, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, ABUT_SUBTRACT},
  };
  const double c = 0.0;
  const double edge[] = {0.3, 0.4, c, 0.3, 0.0, 0.4, 0.3, -0.24, 0.32};
  def.superquadrics = holed;
  def.superquadric_count = 2;
  set_field(&def);
  test_map(FIELD, "the edge of a hole", edge, 3, 2e-4);
}

static void test_other_seams(void)
{
  /* |omega| around 1/2, where series and closed forms meet, and 0. */
  double twists[6 * 8] = {0};
  for (int i = 0; i < 8; ++i) {
    const double size[] = {0.0, 1e-9, 0.1, 0.499999, 0.5, 0.500001, 3.141592653589793, 6.4};
    twists[6 * i] = 0.7;
    twists[6 * i + 1] = -0.2;
    twists[6 * i + 3] = 0.6 * size[i];
    twists[6 * i + 5] = 0.8 * size[i];
  }
  test_map(TWIST, "around |omega| = 0, 1/2, pi", twists, 8, 1e-3);
  const double where[] = {0.0, 1.0, 0.5, -0.0, 1e-12, 1.0 - 1e-12, -40.0, 40.0};
  test_map(OPERATORS, "at 0 and 1", where, 8, 1e-3);
  /* Parallel, identical, touching edges, and one of no length. */
  const double edges[12 * 4] = {0, 0, 0, 1, 0, 0, 0, 0.3, 0, 1, 0.3, 0, 0, 0,   0,  1,
                                0, 0, 0, 0, 0, 1, 0, 0,   0, 0, 0,   1, 0, 0,   1,  0,
                                0, 1, 1, 0, 0, 0, 0, 0,   0, 0, 0.5, 1, 0, 0.5, -1, 0.2};
  test_map(WITNESS, "parallel, same, touching", edges, 4, 1e-3);
}

/* ---- closed forms ---- */

static void test_operators(void)
{
  uint64_t seed = 70;
  double sigmoid_off = 0, tanh_off = 0, clip_off = 0, within_off = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = (i % 2 ? 3.0 : 300.0) * random_normal(&seed);
    const long double y = x, tau = i % 3 ? 0.1L : 1e-3L;
    if (x > -700.0) { /* below, a double runs out of exponent */
      sigmoid_off = fmax(sigmoid_off, (double)fabsl(sigmoid_r(x) * (1.0L + expl(-y)) - 1.0L));
    }
    tanh_off = fmax(tanh_off, (double)fabsl(soft_sign_r(x) - tanhl(y)));
    const long double u = y / tau, v = (y - 1.0L) / tau;
    const long double up = (u > 0 ? u : 0) + log1pl(expl(-fabsl(u)));
    const long double vp = (v > 0 ? v : 0) + log1pl(expl(-fabsl(v)));
    clip_off = fmax(clip_off, (double)fabsl(soft_clip_r(x, (double)tau, 1.0 / (double)tau) -
                                            tau * (up - vp)));
    within_off = fmax(within_off, (double)fabsl(within_r(x, 1.0 / (double)tau) -
                                                1.0L / (1.0L + expl(-u)) / (1.0L + expl(v))));
  }
  printf("operators: sigmoid %.1e relative; tanh %.1e, clip %.1e, within %.1e\n", sigmoid_off,
         tanh_off, clip_off, within_off);
  check(sigmoid_off < 1e-13 && tanh_off < 1e-15 && clip_off < 1e-15 && within_off < 1e-13,
        "smooth operators and their closed forms");
  double floor_off = 0;
  for (int i = 0; i <= 1000; ++i) {
    const long double a = i / 1000.0L, s = fminl(fmaxl(a / 0.3L - 1.0L, 0.0L), 1.0L);
    floor_off = fmax(floor_off, (double)fabsl(above_floor_r((double)a, 0.3, 1.0 / 0.3) -
                                              a * s * s * s * (10 - 15 * s + 6 * s * s)));
  }
  check(floor_off < 1e-14 && above_floor_r(0.3, 0.3, 1.0 / 0.3) == 0.0 &&
          above_floor_r(0.61, 0.3, 1.0 / 0.3) == 0.61,
        "the floor is off by %g", floor_off);
  const double extremes[] = {0.0, 5e-324, 1e-300, 1.0, 745.0, 1e4, 1e300, DBL_MAX};
  for (int i = 0; i < 16; ++i) {
    const double x = i % 2 ? -extremes[i / 2] : extremes[i / 2];
    for (int k = 0; k < 3; ++k) {
      const double tau = k == 0 ? 1e-18 : k == 1 ? 0.1 : 1e9;
      const double clip = soft_clip_r(x, tau, 1.0 / tau), inner = within_r(x, 1.0 / tau);
      check(isfinite(clip) && inner >= 0.0 && inner <= 1.0, "clip and within of %g, tau %g: %g, %g",
            x, tau, clip, inner);
      check(tau > 1.0 || (clip >= -1e-9 && clip <= 1.0 + 1e-9), "clip of %g, tau %g: %g", x, tau,
            clip);
    }
    const double s = sigmoid_r(x), t = soft_sign_r(x);
    check(s >= 0.0 && s <= 1.0 && t >= -1.0 && t <= 1.0, "extremes of %g: %g %g", x, s, t);
  }
}

/* ---- golden answers of parts ---- */

static void test_twists(const abut_npz *npz)
{
  const abut_array *twist = find_array(npz, "twist"), *turn = find_array(npz, "R");
  const abut_array *shift = find_array(npz, "t");
  double worst = 0.0;
  for (size_t i = 0; twist && turn && shift && i < twist->shape[0]; ++i) {
    const double *x = (const double *)twist->data + 6 * i;
    double y[12];
    twist_map_r(x, y);
    for (size_t k = 0; k < 12; ++k) {
      const double want = k < 9 ? ((const double *)turn->data)[9 * i + k]
                                : ((const double *)shift->data)[3 * i + k - 9];
      worst = fmax(worst, fabs(y[k] - want));
    }
  }
  printf("witness.npz twists: worst %.2e of 1e-09\n", worst);
  check(twist && worst <= 1e-9, "exp_se3 is off by %g", worst);
}

/* SoftSort weights, as means of unit vectors. */
static void test_softsort(const abut_npz *npz)
{
  enum { KEPT = 16, COUNT = 200 };
  const abut_array *scores = find_array(npz, "scores"), *weights = find_array(npz, "softsort");
  if (!scores || !weights ||
      !check(scores->shape[1] == COUNT && weights->shape[1] == KEPT,
             "the scores are of another shape")) {
    return;
  }
  double worst = 0.0, top[KEPT + 1], out[6 * KEPT], source[6 * COUNT], sums[KEPT];
  int index[KEPT + 1];
  pair_head head = {.c = smooth};
  head.n.elements[EDGES_OF(0)] = (pair_elements){.count = COUNT,
                                                 .padded = COUNT,
                                                 .kept = KEPT,
                                                 .slots = KEPT,
                                                 .plane = KEPT,
                                                 .selected = 1};
  for (size_t i = 0; i < scores->shape[0]; ++i) {
    const double *s = (const double *)scores->data + i * COUNT;
    const double *want = (const double *)weights->data + i * KEPT * COUNT;
    work_item[0] = work_item[1] = 0;
    top_scores(s, &head, EDGES_OF(0), index, top);
    for (size_t first = 0; first < COUNT; first += 5) {
      memset(source, 0, sizeof source);
      for (size_t k = 0; k < 5; ++k) {
        source[k * COUNT + first + k] = 1.0;
      }
      for (work_item[0] = 0; work_item[0] < KEPT; ++work_item[0]) {
        softsort_edges(s, top, source, &head, 0, out, sums);
      }
      for (size_t k = 0; k < 5 * KEPT; ++k) {
        const size_t column = k / KEPT, row = k % KEPT;
        worst = fmax(worst, fabs(out[column * KEPT + row] - want[row * COUNT + first + column]));
      }
    }
  }
  printf("witness.npz softsort: worst %.2e of 1e-09\n", worst);
  check(worst <= 1e-9, "SoftSort weights are off by %g", worst);
}

int main(int argc, char **argv)
{
  abut_smoothing smoothing = abut_default_smoothing();
  smoothing.union_ = smoothing.plane = 0.05;
  smoothing.penetration = smoothing.neighbour = 0.1;
  smoothing.inside = true;
  smooth = coefficients_of(&smoothing);
  test_fields();
  test_field_seams();
  test_map_at_random(TWIST, 1.0, 1e-3);
  test_map_at_random(QUATERNION, 1.0, 1e-3);
  test_map_at_random(WITNESS, 1.0, 2e-4);
  test_map_at_random(PAIR, 0.3, 2e-4);
  test_map_at_random(FACE, 1.0, 2e-4);
  test_map_at_random(OPERATORS, 1.0, 1e-3);
  test_other_seams();
  test_operators();
  char path[1024];
  abut_npz npz = {0};
  snprintf(path, sizeof path, "%s/witness.npz", argc > 1 ? argv[1] : ".");
  if (CHECK_OK(abut_read_npz(path, &npz))) {
    test_twists(&npz);
    test_softsort(&npz);
  }
  abut_free_npz(&npz);
  free(field_head);
  free(field_shape.data);
  return check_finish();
}
