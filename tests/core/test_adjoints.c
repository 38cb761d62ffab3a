/* Hand-written adjoints, as C in double: against the Jacobian that duals give, and, compiled on
 * duals, against central differences of themselves. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REAL_DOUBLE 1
#define LANES 1
#define DUAL_TANGENTS 24
#include "num/real.h"

#include "geometry/coefficients.h"
#include "geometry/layout.h"
#include "geometry/wide.h"
#include "num/dual.h"
#define NUM_DUAL 0
#include "num/num_on.h"
#include "geometry/vec.inl"
#include "geometry/smooth.inl"
#include "geometry/pose.inl"
#include "geometry/edge_edge.inl"
#include "geometry/edge_weight.inl"
#include "geometry/vertex_face.inl"
#include "geometry/cone.inl"
#include "geometry/seam.inl"
#include "geometry/spring_curves.inl"
#include "geometry/spring_contact.inl"
#include "num/num_off.h"
#undef NUM_DUAL
#define NUM_DUAL 1
#include "num/num_on.h"
#include "geometry/vec.inl"
#include "geometry/smooth.inl"
#include "geometry/pose.inl"
#include "geometry/edge_edge.inl"
#include "geometry/edge_weight.inl"
#include "geometry/vertex_face.inl"
#include "geometry/cone.inl"
#include "geometry/seam.inl"
#include "geometry/spring_curves.inl"
#include "geometry/spring_contact.inl"
#include "num/num_off.h"
#undef NUM_DUAL

enum { MOST_IN = 17, MOST_OUT = 11, MOST = MOST_IN + MOST_OUT };

/* A map of `in` numbers to `out`, and its adjoint: x and the cotangents of y -> those of x. */
typedef struct map {
  const char *name;
  int in, out;
  void (*primal)(const dual *x, dual *y);
  void (*plain)(const double *x, const double *y_bar, double *x_bar);
  void (*dual)(const dual *x, const dual *y_bar, dual *x_bar);
} map;

static coefficients smooth;
static double cone_angle;
/* Two zones that overlap: inside of the one, outside of the other, which is turned and has no end
 * along two sides. */
enum { ZONES = 2 };
static const double zones[ZONES * ZONE_REALS] = {1.0,  0.0,       0.0,  0.0,  1.0,       0.0,  0.0,
                                                 0.0,  1.0,       -1.0, -1.2, -0.8,      1.0,  1.1,
                                                 0.9,  1.0 / 0.7, 0.0,  0.6,  0.8,       0.0,  -0.8,
                                                 0.6,  0.0,       0.0,  0.0,  1.0,       -0.5, -1e9,
                                                 -0.9, 0.8,       0.7,  1e9,  1.0 / 0.4, 1.0};
static int spring_is_smooth;

#define VEC(from)                   \
  {                                 \
    (from)[0], (from)[1], (from)[2] \
  }
#define PUT(to, from) ((to)[0] = (from).x, (to)[1] = (from).y, (to)[2] = (from).z)

/* Slopes are adjoints of one number each. */
#define DEFINE_ADJOINTS(NUMBER, F, POSE, MUL, ADD, NEG, DIV, NONE)                             \
  static void F(operator_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)             \
  {                                                                                            \
    NUMBER slope[5];                                                                           \
    F(sigmoid_and_slope)(x[0], slope);                                                         \
    F(soft_sign_and_slope)(x[0], slope + 1);                                                   \
    F(soft_clip_and_slope)(x[0], smooth.clip, smooth.clip_inv, slope + 2);                     \
    F(within_and_slope)(x[0], smooth.compare_inv, slope + 3);                                  \
    F(above_floor_and_slope)(x[0], 0.3, 1.0 / 0.3, slope + 4);                                 \
    x_bar[0] = MUL(y[0], slope[0]);                                                            \
    for (int i = 1; i < 5; ++i) {                                                              \
      x_bar[0] = ADD(x_bar[0], MUL(y[i], slope[i]));                                           \
    }                                                                                          \
  }                                                                                            \
  static void F(unit_map_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)             \
  {                                                                                            \
    const F(vec3) g = VEC(x), bar = VEC(y);                                                    \
    const F(vec3) r = F(unit_adjoint)(g, smooth.normal, bar);                                  \
    PUT(x_bar, r);                                                                             \
  }                                                                                            \
  static void F(twist_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)                \
  {                                                                                            \
    const POSE(vec3) rho = VEC(x), omega = VEC(x + 3), force = VEC(y), moment = VEC(y + 3);    \
    POSE(vec3) rho_bar, omega_bar;                                                             \
    POSE(exp_se3_adjoint)(rho, omega, force, moment, &rho_bar, &omega_bar);                    \
    PUT(x_bar, rho_bar);                                                                       \
    PUT(x_bar + 3, omega_bar);                                                                 \
  }                                                                                            \
  static void F(quaternion_map_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)       \
  {                                                                                            \
    const POSE(vec3) force = VEC(y), moment = VEC(y + 3);                                      \
    POSE(vec3) position_bar;                                                                   \
    POSE(quaternion_adjoint)(x[3], x[4], x[5], x[6], force, moment, &position_bar, x_bar + 3); \
    PUT(x_bar, position_bar);                                                                  \
  }                                                                                            \
  static void F(witness_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)              \
  {                                                                                            \
    const F(vec3) p0 = VEC(x), p1 = VEC(x + 3), q0 = VEC(x + 6), q1 = VEC(x + 9);              \
    const F(vec3) e1_bar = VEC(y), e2_bar = VEC(y + 3);                                        \
    F(vec3) bar[4];                                                                            \
    F(edge_witness_adjoint)(p0, p1, q0, q1, &smooth, e1_bar, e2_bar, y[6], bar);               \
    memcpy(x_bar, bar, sizeof bar);                                                            \
  }                                                                                            \
  static void F(pair_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)                 \
  {                                                                                            \
    const F(vec3) e1 = VEC(x), e2 = VEC(x + 3), m1 = VEC(x + 6), m2 = VEC(x + 9);              \
    const F(edge_contact) bar = {y[0], y[1], y[2], VEC(y + 3), VEC(y + 6), y[9], y[10]};       \
    const F(pair_depths) at = {x[13], x[14], x[15], x[16]};                                    \
    const F(edge_pair_bar)                                                                     \
      r = F(edge_pair_adjoint)(e1, e2, x[12], m1, m2, &at, &smooth, &bar, pair_active);        \
    memcpy(x_bar, &r, sizeof r);                                                               \
  }                                                                                            \
  static void F(weights_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)              \
  {                                                                                            \
    const F(pair_depths) at = {x[2], x[3], x[4], x[5]};                                        \
    const F(edge_weights_bar)                                                                  \
      r = F(edge_weights_adjoint)(x[0], x[1], &at, x[6], x[7], &smooth, y[0], y[1]);           \
    const NUMBER bar[] = {r.con,          r.dot,          r.at.own1, r.at.own2,                \
                          r.at.opposing1, r.at.opposing2, r.d1,      r.d2};                    \
    memcpy(x_bar, bar, sizeof bar);                                                            \
  }                                                                                            \
  static void F(face_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)                 \
  {                                                                                            \
    const F(vec3) v = VEC(x), a = VEC(x + 3), b = VEC(x + 6), e = VEC(x + 9), bar = VEC(y);    \
    F(vec3) out[4];                                                                            \
    F(face_witness_adjoint)(v, a, b, e, &smooth, bar, out);                                    \
    memcpy(x_bar, out, sizeof out);                                                            \
  }                                                                                            \
  static void F(cone_map_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)             \
  {                                                                                            \
    const F(vec3) n = VEC(x), held_bar = VEC(y);                                               \
    const F(cone) k = {VEC(x + 3), cone_angle, cos(cone_angle), sin(cone_angle), 0.0};         \
    F(vec3) axis_bar;                                                                          \
    const F(vec3) n_bar = F(cone_adjoint)(n, &k, &smooth, y[3], held_bar, &axis_bar);          \
    PUT(x_bar, n_bar);                                                                         \
    PUT(x_bar + 3, axis_bar);                                                                  \
  }                                                                                            \
  static void F(seam_map_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)             \
  {                                                                                            \
    const F(vec3) at = VEC(x);                                                                 \
    F(vec3) slope;                                                                             \
    F(zones_share)(zones, ZONES, at, &slope);                                                  \
    x_bar[0] = MUL(y[0], slope.x);                                                             \
    x_bar[1] = MUL(y[0], slope.y);                                                             \
    x_bar[2] = MUL(y[0], slope.z);                                                             \
  }                                                                                            \
  static F(contact_law) F(law_map)(const NUMBER *x)                                            \
  {                                                                                            \
    const F(contact_law) l = {x[0], x[1], x[2], x[3], x[4], x[4], spring_is_smooth};           \
    return l;                                                                                  \
  }                                                                                            \
  static void F(spring_map_adjoint)(const NUMBER *x, const NUMBER *y, NUMBER *x_bar)           \
  {                                                                                            \
    const F(vec3) n = VEC(x + 2), u = VEC(x + 5), bar = VEC(y + 1);                            \
    const F(contact_law) l = F(law_map)(x + 8);                                                \
    const F(contact_depth) at = F(contact_depth_of)(x[0], x[1], &l);                           \
    const F(contact_slopes) r = F(contact_slopes_of)(n, u, bar, &l);                           \
    const NUMBER part = MUL(x[1], at.soft), pushed = MUL(x[1], r.worth);                       \
    const NUMBER bare = ADD(y[0], MUL(NEG(x[1]), y[0]));                                       \
    const NUMBER by_soft = ADD(bare, pushed);                                                  \
    const F(vec3) n_bar = F(scale3)(r.n, part), u_bar = F(scale3)(r.u, part);                  \
    x_bar[0] = ADD(y[0], NEG(MUL(at.share, by_soft)));                                         \
    x_bar[1] = MUL(at.soft, ADD(r.worth, NEG(y[0])));                                          \
    PUT(x_bar + 2, n_bar);                                                                     \
    PUT(x_bar + 5, u_bar);                                                                     \
    x_bar[8] = DIV(MUL(part, r.worth), x[8]);                                                  \
    x_bar[9] = MUL(part, r.mu);                                                                \
    x_bar[10] = MUL(part, r.v_d);                                                              \
    x_bar[11] = MUL(part, r.v_s);                                                              \
    x_bar[12] = MUL(at.slope, by_soft);                                                        \
  }
static int pair_active = 1;
#define F_PLAIN(name) name##_r
#define F_WIDE(name) name##_w
#define F_DUAL(name) name##_d
#define PLAIN_MUL(a, b) ((a) * (b))
#define PLAIN_ADD(a, b) ((a) + (b))
#define PLAIN_NEG(a) (-(a))
#define PLAIN_DIV(a, b) ((a) / (b))
#define DUAL_NEG(a) dual_scale(a, -1.0)
DEFINE_ADJOINTS(double, F_PLAIN, F_WIDE, PLAIN_MUL, PLAIN_ADD, PLAIN_NEG, PLAIN_DIV, 0.0)
DEFINE_ADJOINTS(dual, F_DUAL, F_DUAL, dual_mul, dual_add, DUAL_NEG, dual_div, dual_lit(0.0))

/* ---- primals, on duals ---- */

static void operators(const dual *x, dual *y)
{
  y[0] = sigmoid_d(x[0]);
  y[1] = soft_sign_d(x[0]);
  y[2] = soft_clip_d(x[0], smooth.clip, smooth.clip_inv);
  y[3] = within_d(x[0], smooth.compare_inv);
  y[4] = above_floor_d(x[0], 0.3, 1.0 / 0.3);
}

static void unit_map(const dual *x, dual *y)
{
  const vec3_d g = VEC(x);
  const vec3_d u = unit_d(g, smooth.normal);
  PUT(y, u);
}

/* Six numbers whose derivatives are u = R' dt and theta, hat(theta) = R' dR: how a frame moves,
 * seen from itself. Their values are not used. */
static void frame_moves(const frame_d *f, dual *y)
{
  const dual *m = f->m;
  const dual t[3] = VEC((const dual *)&f->t);
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    y[i] = dual_lit(0.0);
    y[3 + i] = dual_lit(0.0);
    for (int row = 0; row < 3; ++row) {
      y[i] = dual_add(y[i], dual_scale(t[row], m[3 * row + i].v));
      /* theta_i = (R' dR)_kj, and by symmetry -(R' dR)_jk */
      y[3 + i] = dual_add(y[3 + i], dual_scale(m[3 * row + j], 0.5 * m[3 * row + k].v));
      y[3 + i] = dual_sub(y[3 + i], dual_scale(m[3 * row + k], 0.5 * m[3 * row + j].v));
    }
  }
}

static void twist(const dual *x, dual *y)
{
  const vec3_d rho = VEC(x), omega = VEC(x + 3);
  const frame_d f = exp_se3_d(rho, omega);
  frame_moves(&f, y);
}

static void quaternion(const dual *x, dual *y)
{
  const vec3_d position = VEC(x);
  const frame_d f = quaternion_frame_d(position, x[3], x[4], x[5], x[6]);
  frame_moves(&f, y);
}

static void witness(const dual *x, dual *y)
{
  const vec3_d p0 = VEC(x), p1 = VEC(x + 3), q0 = VEC(x + 6), q1 = VEC(x + 9);
  vec3_d e1, e2;
  edge_witness_d(p0, p1, q0, q1, &smooth, &e1, &e2, y + 6);
  PUT(y, e1);
  PUT(y + 3, e2);
}

static void edge_contact_of(const dual *x, dual *y)
{
  const vec3_d e1 = VEC(x), e2 = VEC(x + 3), m1 = VEC(x + 6), m2 = VEC(x + 9);
  const pair_depths_d at = {x[13], x[14], x[15], x[16]};
  const edge_contact_d r = edge_pair_d(e1, e2, x[12], m1, m2, &at, &smooth);
  memcpy(y, &r, sizeof r);
}

static void weights(const dual *x, dual *y)
{
  const pair_depths_d at = {x[2], x[3], x[4], x[5]};
  edge_weights_d(x[0], x[1], &at, x[6], x[7], &smooth, y, y + 1);
}

static void face(const dual *x, dual *y)
{
  const vec3_d v = VEC(x), a = VEC(x + 3), b = VEC(x + 6), e = VEC(x + 9);
  const vec3_d r = face_witness_d(v, a, b, e, &smooth);
  PUT(y, r);
}

static void cone_map(const dual *x, dual *y)
{
  const vec3_d n = VEC(x);
  const cone_d k = {VEC(x + 3), cone_angle, cos(cone_angle), sin(cone_angle), 0.0};
  vec3_d held;
  y[3] = cone_slot_d(n, &k, &smooth, &held);
  PUT(y, held);
}

static void seam_map(const dual *x, dual *y)
{
  const vec3_d at = VEC(x);
  vec3_d slope;
  y[0] = zones_share_d(zones, ZONES, at, &slope);
}

/* d, w, n, u, k, mu, v_d, v_s and eps3 -> level and force. */
static void spring_map(const dual *x, dual *y)
{
  const vec3_d n = VEC(x + 2), u = VEC(x + 5);
  const contact_law_d l = law_map_d(x + 8);
  const contact_depth_d at = contact_depth_of_d(x[0], x[1], &l);
  const contact_push_d f = contact_push_of_d(n, u, &l);
  const vec3_d force = scale3_d(f.way, dual_mul(f.damping, dual_mul(x[1], at.soft)));
  y[0] = at.level;
  PUT(y + 1, force);
}

enum { OPERATORS, UNIT, TWIST, QUATERNION, WITNESS, PAIR, WEIGHTS, FACE, CONE, SEAM, SPRING, MAPS };
static const map maps[MAPS] = {
  {"smooth operators", 1, 5, operators, operator_adjoint_r, operator_adjoint_d},
  {"unit", 3, 3, unit_map, unit_map_adjoint_r, unit_map_adjoint_d},
  {"exp_se3", 6, 6, twist, twist_adjoint_r, twist_adjoint_d},
  {"quaternion_frame", 7, 6, quaternion, quaternion_map_adjoint_r, quaternion_map_adjoint_d},
  {"edge_witness", 12, 7, witness, witness_adjoint_r, witness_adjoint_d},
  {"edge_pair", 17, 11, edge_contact_of, pair_adjoint_r, pair_adjoint_d},
  {"edge_weights", 8, 2, weights, weights_adjoint_r, weights_adjoint_d},
  {"face_witness", 12, 3, face, face_adjoint_r, face_adjoint_d},
  {"cone", 6, 4, cone_map, cone_map_adjoint_r, cone_map_adjoint_d},
  {"zones at seams", 3, 1, seam_map, seam_map_adjoint_r, seam_map_adjoint_d},
  {"spring at a contact", 13, 4, spring_map, spring_map_adjoint_r, spring_map_adjoint_d},
};

/* ---- adjoints against Jacobians ---- */

static void random_numbers(uint64_t *seed, double size, int count, double *out)
{
  for (int i = 0; i < count; ++i) {
    out[i] = size * random_normal(seed);
  }
}

/* The largest difference of y_bar J and the adjoint, over the largest entry of either. */
static double adjoint_error(const map *m, const double *x, const double *y_bar, bool *finite)
{
  dual in[MOST_IN], out[MOST_OUT];
  double x_bar[MOST_IN], worst = 0.0, largest = 0.0;
  for (int i = 0; i < m->in; ++i) {
    in[i] = dual_lit(x[i]);
    in[i].d[i] = 1.0;
  }
  m->primal(in, out);
  m->plain(x, y_bar, x_bar);
  for (int i = 0; i < m->in; ++i) {
    double want = 0.0;
    for (int j = 0; j < m->out; ++j) {
      want += y_bar[j] * out[j].d[i];
    }
    *finite = *finite && isfinite(x_bar[i]) && isfinite(want);
    worst = fmax(worst, fabs(x_bar[i] - want));
    largest = fmax(largest, fmax(fabs(want), fabs(x_bar[i])));
  }
  return largest > 0.0 ? worst / largest : 0.0;
}

/* Four random cotangents at each of `count` points. */
static void test_adjoint(int which, const char *where, const double *points, size_t count)
{
  const map *m = &maps[which];
  uint64_t seed = 80 + (uint64_t)which;
  double worst = 0.0, y_bar[MOST_OUT];
  size_t at = 0;
  bool finite = true;
  for (size_t i = 0; i < 4 * count; ++i) {
    random_numbers(&seed, 1.0, m->out, y_bar);
    const double error = adjoint_error(m, points + i / 4 * (size_t)m->in, y_bar, &finite);
    if (!(error <= worst)) {
      worst = error;
      at = i / 4;
    }
  }
  printf("%-18s %-30s off by %.1e of 1e-11\n", m->name, where, worst);
  check(count && finite, "%s, %s: not finite", m->name, where);
  check(worst <= 1e-11, "%s, %s: off by %g at point %zu", m->name, where, worst, at);
}

/* ---- second derivatives ---- */

typedef struct tally {
  double value, worst;            /* relative differences of values and of derivatives */
  size_t entries, sloped, second; /* those above rounding; of these, of second order */
} tally;

/* The adjoint as a map of (x, y_bar): derivatives along one direction. */
static void differentiate(const map *m, const double *at, const double *along, double step,
                          tally *t)
{
  const int in = m->in + m->out;
  dual z[MOST], x_bar[MOST_IN];
  double low[MOST_IN], high[MOST_IN], value[MOST_IN], off[3][MOST_IN];
  double quotient[3][MOST_IN], scale = 1.0;
  for (int i = 0; i < in; ++i) {
    z[i] = dual_lit(at[i]);
    z[i].d[0] = along[i];
  }
  m->dual(z, z + m->in, x_bar);
  m->plain(at, at + m->in, value);
  for (int s = 0; s < 3; ++s) {
    const double h = step / (1 << s);
    double below[MOST], above[MOST];
    for (int i = 0; i < in; ++i) {
      below[i] = at[i] - h * along[i];
      above[i] = at[i] + h * along[i];
    }
    m->plain(below, below + m->in, low);
    m->plain(above, above + m->in, high);
    for (int i = 0; i < m->in; ++i) {
      quotient[s][i] = (high[i] - low[i]) / (2.0 * h);
      off[s][i] = fabs(quotient[s][i] - x_bar[i].d[0]);
      scale = fmax(scale, fabs(x_bar[i].d[0]));
    }
  }
  for (int i = 0; i < m->in; ++i) {
    const double finest = (4.0 * quotient[2][i] - quotient[1][i]) / 3.0;
    t->value = fmax(t->value, fabs(x_bar[i].v - value[i]) / fmax(1.0, fabs(value[i])));
    t->worst = fmax(t->worst, fabs(finest - x_bar[i].d[0]) / scale);
    ++t->entries;
    if (off[2][i] > 1e-7 * scale) {
      ++t->sloped;
      t->second += off[0][i] > 3.0 * off[1][i] && off[0][i] < 5.0 * off[1][i] &&
                   off[1][i] > 3.0 * off[2][i] && off[1][i] < 5.0 * off[2][i];
    }
  }
}

static void test_second(int which, const char *where, const double *points, size_t count,
                        double step)
{
  const map *m = &maps[which];
  uint64_t seed = 90 + (uint64_t)which;
  tally t = {0};
  for (size_t i = 0; i < 8 * count; ++i) {
    double at[MOST], along[MOST], length = 0.0;
    memcpy(at, points + i / 8 * (size_t)m->in, (size_t)m->in * sizeof *at);
    random_numbers(&seed, 1.0, m->out, at + m->in);
    random_numbers(&seed, 1.0, m->in + m->out, along);
    for (int k = 0; k < m->in + m->out; ++k) {
      length += along[k] * along[k];
    }
    for (int k = 0; k < m->in + m->out; ++k) {
      along[k] /= sqrt(length);
    }
    differentiate(m, at, along, step, &t);
  }
  printf("%-18s %-30s values %.1e, second derivatives %.1e, %zu of %zu of second order (%zu)\n",
         m->name, where, t.value, t.worst, t.second, t.sloped, t.entries);
  check(t.value < 1e-14, "%s, %s: dual and plain adjoints differ by %g", m->name, where, t.value);
  check(t.worst < 2e-5, "%s, %s: a second derivative is off by %g", m->name, where, t.worst);
  check(t.entries && 10 * t.second >= 7 * t.sloped, "%s, %s: %zu of %zu of second order", m->name,
        where, t.second, t.sloped);
}

/* ---- where ---- */

enum { POINTS = 200 };

static void test_at_random(int which, double size, double step)
{
  double points[POINTS * MOST_IN];
  uint64_t seed = 100 + (uint64_t)which;
  random_numbers(&seed, size, POINTS * maps[which].in, points);
  test_adjoint(which, "at random", points, POINTS);
  test_second(which, "at random", points, POINTS, step);
}

static void test_twists(void)
{
  const double size[] = {0.0, 1e-9, 0.4999, 0.5, 0.5001, 3.141592653589793, 6.4, 10.0};
  double points[6 * 8];
  uint64_t seed = 110;
  for (int i = 0; i < 8; ++i) {
    random_numbers(&seed, 1.0, 3, points + 6 * i);
    points[6 * i + 3] = 0.6 * size[i];
    points[6 * i + 4] = 0.0;
    points[6 * i + 5] = 0.8 * size[i];
  }
  test_adjoint(TWIST, "|omega| = 0, 1/2, pi, 10", points, 8);
  test_second(TWIST, "|omega| = 0, 1/2, pi, 10", points, 8, 1e-2);
  for (int i = 0; i < 6; ++i) {
    const double rho[] = {1e3, 1e30, 1.0, 1e30, 1e30, 1.0};
    const double omega[] = {1.0, 0.1, 1e4, 1e30, 1e-30, 1e152};
    random_numbers(&seed, rho[i], 3, points + 6 * i);
    random_numbers(&seed, omega[i], 3, points + 6 * i + 3);
  }
  test_adjoint(TWIST, "long twists", points, 6);
}

static void test_quaternions(void)
{
  const double size[] = {1e-30, 1e-3, 1.0, 1e3, 1e30};
  double points[7 * 10];
  uint64_t seed = 120;
  for (int i = 0; i < 10; ++i) {
    random_numbers(&seed, i == 9 ? 1e30 : 1.0, 3, points + 7 * i);
    random_numbers(&seed, size[i % 5], 4, points + 7 * i + 3);
    if (i > 4) { /* one component alone, or two equal ones */
      points[7 * i + 3] = points[7 * i + 4] = 0.0;
      points[7 * i + 5] = i % 2 ? points[7 * i + 6] : 0.0;
    }
  }
  for (int i = 0; i < 10; ++i) {
    char where[32];
    snprintf(where, sizeof where, "of length %.0e", size[i % 5]);
    /* One each: gradients of short ones are long. */
    test_adjoint(QUATERNION, where, points + 7 * i, 1);
  }
  test_second(QUATERNION, "of length 1", points + 14, 1, 1e-2);
}

/* One of no length, none of any; parallel, identical, touching edges, square and crossing. */
static const double edges[12 * 8] = {0,   0, 0, 0,   0,   0, 0.5, 1,   0,   0.5,  -1,  0.2, 0,   0,
                                     0,   0, 0, 0,   1,   1, 0,   1,   1,   0,    0,   0,   0,   1,
                                     0,   0, 0, 0.3, 0,   1, 0.3, 0,   0,   0,    0,   1,   0,   0,
                                     0,   0, 0, 1,   0,   0, 0,   0,   0,   1,    0,   0,   1,   0,
                                     0,   1, 1, 0,   0,   0, 0,   1,   0,   0,    1,   0.2, 0,   0,
                                     0.2, 0, 0, 0,   0,   1, 0,   0,   0.5, -0.5, 0,   0.5, 0.5, 0,
                                     0.1, 0, 0, 1,   0.3, 0, 0.2, 0.1, 0.1, 1.1,  0.4, 0.1};
#define NO_LENGTH 2 /* the first edges */

static void test_edges(bool second)
{
  double far[12 * POINTS];
  uint64_t seed = 130;
  test_adjoint(WITNESS, "parallel, same, touching", edges, 8);
  if (second) {
    /* With `ends` a length counts, which bends within 1e-5 of none, the root of `distance`. */
    test_second(WITNESS, "of no length", edges, NO_LENGTH, 1e-4);
    test_second(WITNESS, "parallel, same, touching", edges + 12 * NO_LENGTH, 8 - NO_LENGTH, 1e-4);
  }
  /* Two edges a long way from each other; long edges; nearly parallel ones. */
  for (int kind = 0; kind < 4; ++kind) {
    static const char *const names[] = {"1e6 apart", "1e6 long", "nearly parallel", "0.01 long"};
    random_numbers(&seed, kind == 1 ? 1e6 : kind == 3 ? 0.01 : 1.0, 12 * POINTS, far);
    for (int i = 0; i < POINTS; ++i) {
      for (int k = 0; k < 3; ++k) {
        double *e = far + 12 * i;
        e[6 + k] += kind == 0 ? 1e6 : 0.0;
        e[9 + k] = kind == 0   ? e[9 + k] + 1e6
                   : kind == 2 ? e[6 + k] + e[3 + k] - e[k] + 1e-6 * e[9 + k]
                               : e[9 + k];
      }
    }
    test_adjoint(WITNESS, names[kind], far, POINTS);
  }
}

static void test_pairs(void)
{
  double points[17 * POINTS];
  uint64_t seed = 140;
  for (int kind = 0; kind < 4; ++kind) {
    static const char *const names[] = {"touching", "1e6 apart", "1e-6 apart", "deep inside"};
    random_numbers(&seed, 0.3, 17 * POINTS, points);
    for (int i = 0; i < POINTS; ++i) {
      double *x = points + 17 * i;
      for (int k = 0; k < 3; ++k) {
        x[3 + k] = kind == 0   ? x[k]
                   : kind == 1 ? x[3 + k] + 1e6
                   : kind == 2 ? x[k] + 1e-6 * x[3 + k]
                               : x[3 + k];
        x[13 + k] -= kind == 3 ? 1e3 : 0.0;
      }
    }
    test_adjoint(PAIR, names[kind], points, POINTS);
  }
}

/* Contacts at all depths, that part, close and slide, and numbers of springs around 1. */
static void make_contacts(double *points, size_t count, uint64_t *seed)
{
  random_numbers(seed, 1.0, 13 * (int)count, points);
  for (size_t i = 0; i < count; ++i) {
    double *x = points + 13 * i;
    x[1] = 1.0 / (1.0 + exp(x[1]));
    for (int k = 8; k < 13; ++k) {
      x[k] = exp(0.5 * x[k]);
    }
  }
}

static void test_springs(void)
{
  double points[13 * POINTS];
  uint64_t seed = 155;
  make_contacts(points, POINTS, &seed);
  for (spring_is_smooth = 0; spring_is_smooth < 2; ++spring_is_smooth) {
    test_adjoint(SPRING, spring_is_smooth ? "smooth" : "c1", points, POINTS);
  }
  spring_is_smooth = 1;
  test_second(SPRING, "smooth", points, POINTS, 1e-3);
}

/* What contact_slopes_ahead adds is h times the derivative by u along x that contact_slopes_of has
 * on duals, and the gradient by x is h times that by u. */
static void test_springs_ahead(void)
{
  enum { SLOPES = 10 };
  double points[13 * POINTS], more[6], worst = 0.0;
  const double h = 0.3;
  uint64_t seed = 156;
  make_contacts(points, POINTS, &seed);
  for (size_t i = 0; i < 2 * POINTS; ++i) {
    const double *at = points + 13 * (i / 2);
    dual x[13];
    spring_is_smooth = (int)(i % 2);
    random_numbers(&seed, 1.0, 6, more);
    for (int k = 0; k < 13; ++k) {
      x[k] = dual_lit(at[k]);
      x[k].d[0] = k >= 5 && k < 8 ? more[k - 2] : 0.0;
    }
    const vec3_r n = VEC(at + 2), u = VEC(at + 5), y = VEC(more), along = VEC(more + 3);
    const vec3_d n_d = VEC(x + 2), u_d = VEC(x + 5);
    const vec3_d y_d = {dual_lit(y.x), dual_lit(y.y), dual_lit(y.z)};
    const contact_law_r l = law_map_r(at + 8);
    const contact_law_d l_d = law_map_d(x + 8);
    contact_slopes_r r = contact_slopes_of_r(n, u, y, &l);
    contact_slopes_ahead_r(n, u, y, along, h, &l, &r);
    const contact_slopes_d d = contact_slopes_of_d(n_d, u_d, y_d, &l_d);
    const double got[SLOPES + 6] = {r.worth, r.y.x, r.y.y, r.y.z, r.n.x, r.n.y, r.n.z, r.mu,
                                    r.v_d,   r.v_s, r.u.x, r.u.y, r.u.z, r.x.x, r.x.y, r.x.z};
    const dual all[SLOPES + 3] = {d.worth, d.y.x, d.y.y, d.y.z, d.n.x, d.n.y, d.n.z,
                                  d.mu,    d.v_d, d.v_s, d.u.x, d.u.y, d.u.z};
    double want[SLOPES + 6], largest = 0.0, off = 0.0;
    for (int k = 0; k < SLOPES + 3; ++k) {
      want[k] = all[k].v + h * all[k].d[0];
    }
    for (int k = 0; k < 3; ++k) {
      want[SLOPES + 3 + k] = h * all[SLOPES + k].v;
    }
    for (int k = 0; k < SLOPES + 6; ++k) {
      largest = fmax(largest, fabs(want[k]));
      off = fmax(off, fabs(got[k] - want[k]));
    }
    worst = fmax(worst, off / largest);
  }
  printf("%-18s %-30s off by %.1e of 1e-12\n", maps[SPRING].name, "ahead", worst);
  check(worst <= 1e-12, "springs ahead are off by %g", worst);
}

/* Without activities' cotangents, `active` 0 is the same to the bit. */
static void test_inactive_pairs(void)
{
  uint64_t seed = 150;
  bool same = true;
  for (int i = 0; i < POINTS; ++i) {
    double x[17], y_bar[11], with[17], without[17];
    random_numbers(&seed, 0.3, 17, x);
    random_numbers(&seed, 1.0, 9, y_bar);
    y_bar[9] = y_bar[10] = 0.0;
    pair_adjoint_r(x, y_bar, with);
    pair_active = 0;
    pair_adjoint_r(x, y_bar, without);
    pair_active = 1;
    for (int k = 0; k < 17; ++k) {
      same = same && with[k] == without[k] && (k < 12 || without[k] == 0.0);
    }
  }
  check(same, "edge_pair: cotangents without activities differ");
}

static void test_faces(bool second)
{
  const double flat[12 * 4] = {/* inside, beyond a side, at a corner, on a side */
                               0.3, 0.3, 0.2, 0, 0,   0, 1, 0, 0, 0, 1, 0, 2, 2, 0.1, 0,
                               0,   0,   1,   0, 0,   0, 1, 0, 0, 0, 0, 0, 0, 0, 1,   0,
                               0,   0,   1,   0, 0.5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1,   0};
  double points[12 * POINTS];
  uint64_t seed = 160;
  test_adjoint(FACE, "inside, beyond, corner, side", flat, 4);
  if (second) {
    test_second(FACE, "inside, beyond a side", flat, 2, 2e-4);
    /* On a side the distance to it bends within 1e-5, the root of `distance`. */
    test_second(FACE, "at a corner, on a side", flat + 24, 2, 4e-7);
  }
  for (int kind = 0; kind < 3; ++kind) {
    static const char *const names[] = {"1e6 away", "nearly degenerate", "small"};
    random_numbers(&seed, kind == 2 ? 0.01 : 1.0, 12 * POINTS, points);
    for (int i = 0; i < POINTS; ++i) {
      double *x = points + 12 * i;
      for (int k = 0; k < 3; ++k) {
        x[k] += kind == 0 ? 1e6 : 0.0;
        x[9 + k] = kind == 1 ? 0.7 * x[3 + k] + 0.3 * x[6 + k] + 1e-3 * x[9 + k] : x[9 + k];
      }
    }
    test_adjoint(FACE, names[kind], points, POINTS);
  }
}

static void set_smoothing(double temperature, double ridge, bool inside)
{
  smooth = (coefficients){
    .length_inv = 1.0 / 0.8,
    .normal = 1e-12,
    .penetration = 0.1,
    .penetration_inv = 10.0,
    .clash_inv = 10.0,
    .sign_inv = 10.0,
    .clip = temperature,
    .clip_inv = 1.0 / temperature,
    .minimum_log2e = LOG2E / temperature,
    .compare_inv = 1.0 / temperature,
    .ridge = ridge,
    .distance = 1e-10,
    .inside = inside ? 1.0 : 0.0,
  };
}

#define DEGREE 0.017453292519943295769

static void set_cones(double inner, double outer, double hold)
{
  smooth.cones = 1.0;
  smooth.cone_inner = inner * DEGREE;
  smooth.cone_inner_cos = cos(inner * DEGREE);
  smooth.cone_inner_sin = sin(inner * DEGREE);
  smooth.cone_outer = outer * DEGREE;
  smooth.cone_outer_cos = cos(outer * DEGREE);
  smooth.cone_outer_sin = sin(outer * DEGREE);
  smooth.cone_hold = hold * DEGREE;
  smooth.cone_hold_cos = cos(hold * DEGREE);
  smooth.cone_hold_sin = sin(hold * DEGREE);
}

/* Makes a vector of length 1. */
static void unit_of(double x[3])
{
  const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  for (int k = 0; k < 3; ++k) {
    x[k] /= length;
  }
}

/* Puts a normal and an axis with `angle` between -n and the axis. */
static void put_normal(uint64_t *seed, double angle, double x[6])
{
  double across[3], along = 0.0;
  random_numbers(seed, 1.0, 3, x + 3);
  random_numbers(seed, 1.0, 3, across);
  unit_of(x + 3);
  for (int k = 0; k < 3; ++k) {
    along += across[k] * x[3 + k];
  }
  for (int k = 0; k < 3; ++k) {
    across[k] -= along * x[3 + k];
  }
  unit_of(across);
  for (int k = 0; k < 3; ++k) {
    x[k] = sin(angle) * across[k] - cos(angle) * x[3 + k];
  }
}

/* Narrow and wide cones, those that sums of angles beyond 180 degrees bound, and those of every
 * normal. Differences of second derivatives stay away from where these bend: the ends of the
 * margins, those of holding, and c = 0. */
static void test_cones(void)
{
  static const double angles[] = {0.0, 5.0, 20.0, 29.9, 30.1, 54.7, 100.0, 150.0, 164.0, 180.0};
  static const double margins[][3] = {{15.0, 35.0, 2.0}, {0.0, 20.0, 0.0}, {10.0, 60.0, 20.0}};
  for (size_t m = 0; m < sizeof margins / sizeof margins[0]; ++m) {
    const double inner = margins[m][0], outer = margins[m][1], hold = margins[m][2];
    set_cones(inner, outer, hold);
    for (size_t a = 0; a < sizeof angles / sizeof angles[0]; ++a) {
      double points[6 * POINTS], away[6 * POINTS];
      uint64_t seed = 180 + a;
      size_t count = 0;
      char where[80];
      cone_angle = angles[a] * DEGREE;
      const double full = cos(fmin(angles[a] + inner, 180.0) * DEGREE);
      const double none = fmin(cos(fmin(angles[a] + outer, 180.0) * DEGREE), full - 1e-3);
      const double step = 0.005 * (full - none);
      snprintf(where, sizeof where, "%g, margins %g, %g, %g", angles[a], inner, outer, hold);
      for (int i = 0; i < POINTS; ++i) {
        const double at = 180.0 * (i + 0.5) / POINTS, half = angles[a];
        const double sine = sin((half + hold) * DEGREE),
                     twice = sine < 0.5 ? asin(2.0 * sine) / DEGREE : 90.0;
        put_normal(&seed, at * DEGREE, points + 6 * i);
        const double c = cos(at * DEGREE);
        if (fabs(c - full) > 2.0 * step && fabs(c - none) > 2.0 * step &&
            fabs(at - half - hold) > 2.0 && fabs(at - 90.0) > 2.0 && fabs(at - twice) > 2.0) {
          memcpy(away + 6 * count++, points + 6 * i, 6 * sizeof *away);
        }
      }
      test_adjoint(CONE, where, points, POINTS);
      test_second(CONE, where, away, count, step);
    }
  }
}

/* Where the share changes: elsewhere its slope is what rounding leaves of both. */
static void test_zones(void)
{
  double points[3 * POINTS];
  uint64_t seed = 17;
  size_t count = 0;
  while (count < POINTS) {
    double *x = points + 3 * count;
    random_numbers(&seed, 0.6, 3, x);
    vec3_r slope;
    zones_share_r(zones, ZONES, (vec3_r)VEC(x), &slope);
    count += dot3_r(slope, slope) > 1e-4;
  }
  test_adjoint(SEAM, "where it changes", points, POINTS);
  test_second(SEAM, "where it changes", points, POINTS, 1e-4);
}

static void test_slopes(void)
{
  const double where[] = {0.0,   1.0,  0.5,  -0.0,  1e-12, 1.0 - 1e-12,
                          -40.0, 40.0, 1e30, -1e30, 0.3,   0.6};
  for (int i = 0; i < 12; ++i) {
    char name[32];
    snprintf(name, sizeof name, "at %g", where[i]);
    test_adjoint(OPERATORS, name, where + i, 1);
  }
  test_second(OPERATORS, "at 0 and 1", where, 8, 1e-3);
}

int main(void)
{
  set_smoothing(0.1, 0.01, true);
  test_at_random(OPERATORS, 1.0, 1e-3);
  test_slopes();
  test_at_random(UNIT, 1.0, 1e-3);
  test_at_random(TWIST, 1.0, 1e-2);
  test_twists();
  test_at_random(QUATERNION, 1.0, 1e-2);
  test_quaternions();
  for (int hard = 0; hard < 2; ++hard) {
    printf("-- clip, compare, minimum %s\n", hard ? "1e-3, ridge 1e-6" : "0.1, ridge 0.01");
    set_smoothing(hard ? 1e-3 : 0.1, hard ? 1e-6 : 0.01, !hard);
    const double step = hard ? 1e-5 : 2e-4; /* of what bends within 1e-3 */
    test_at_random(WITNESS, 1.0, step);
    test_edges(!hard);
    test_at_random(PAIR, 0.3, 2e-4);
    test_pairs();
    test_inactive_pairs();
    test_at_random(WEIGHTS, 0.1, 2e-4);
    test_at_random(FACE, 1.0, step);
    test_faces(!hard);
  }
  test_cones();
  test_zones();
  test_springs();
  test_springs_ahead();
  return check_finish();
}
