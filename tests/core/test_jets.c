/* The field's closed-form derivatives as C: gradients and Jacobians against duals of the field, and
 * their own derivatives against central differences. REAL_DOUBLE is the build's; in float only
 * that every number is finite, and that distance and normal are the field's. */
#include "grids.h"
#include "heights.h"
#include "support/check.h"
#include "tally.h"

#include "body/parts.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 1
#define WG 1
#define DUAL_TANGENTS 3
#include "num/real.h"
#include "geometry/coefficients.h"
#include "geometry/layout.h"
#include "geometry/plain.h"
#define NUM_DUAL 0
#include "num/num_on.h"
#include "geometry/core_slopes.inl"
#include "num/num_off.h"
#undef NUM_DUAL
#include "num/dual.h"

#include "geometry/dual.h"

/* ---- bodies ---- */

typedef struct body {
  const char *name;
  int *head;
  reals shape;
  coefficients c;
} body;

static coefficients coefficients_of(double sharpness)
{
  return (coefficients){
    .union_ln2 = (real)(sharpness * 0.69314718055994530942),
    .union_log2e = (real)(1.44269504088896340736 / sharpness),
    .plane_ln2 = (real)(sharpness * 0.69314718055994530942),
    .plane_log2e = (real)(1.44269504088896340736 / sharpness),
    .normal = R(1e-12),
  };
}

enum { SOLIDS = 5, PLANES = 10, POINTS = 8 };
static abut_superquadric solids[SOLIDS] = {
  {{0.4, 0.3, 0.5}, {0.8, 0.6}, {0.1, 0.2, 0.0}, {0.9, 0.1, 0.3, 0.2}, ABUT_ADD},
  {{0.3, 0.5, 0.3}, {1.0, 1.5}, {-0.2, 0.2, 0.1}, {0.2, 0.7, 0.3, 0.1}, ABUT_ADD},
  {{0.2, 0.4, 0.3}, {0.2, 1.9}, {0.3, -0.3, 0.2}, {0.5, 0.5, -0.3, 0.1}, ABUT_ADD},
  {{0.3, 0.2, 0.2}, {1.7, 0.3}, {-0.3, -0.2, -0.3}, {1.0, -0.4, 0.2, 0.0}, ABUT_ADD},
  {{0.3, 0.2, 0.2}, {1.0, 1.0}, {0.2, 0.0, 0.3}, {1.0, 0.0, 0.0, 0.0}, ABUT_SUBTRACT},
};
static double planes[6 * PLANES], points[7 * POINTS];
static const abut_polyhedron polyhedra[] = {{planes, 6, ABUT_ADD}, {planes + 36, 4, ABUT_SUBTRACT}};
static const abut_pointcloud clouds[] = {{points, 4, ABUT_ADD}, {points + 28, 4, ABUT_SUBTRACT}};
static grid_sample samples[2]; /* one added, one subtracted */
static abut_grid grids[2];
static height_sample grounds[2]; /* likewise */
static abut_height_field heights[2];
static const abut_core cores[] = {
  {ABUT_CORE_BOX, {0.4, 0.25, 0.3}, 0.1, {0.1, 0.0, -0.1}, {0.9, 0.1, 0.3, 0.2}, ABUT_ADD},
  {ABUT_CORE_DISC, {0.3, 0.2}, 0.15, {-0.2, 0.3, 0.1}, {0.2, 0.7, 0.3, 0.1}, ABUT_ADD},
  {ABUT_CORE_BOX, {0.0, 0.0, 0.3}, 0.2, {0.3, -0.3, 0.2}, {0.5, 0.5, -0.3, 0.1}, ABUT_ADD},
  {ABUT_CORE_DISC, {0.2, 0.4}, 0.05, {0.2, 0.0, 0.3}, {1.0, 0.2, 0.0, 0.4}, ABUT_SUBTRACT},
};

static void fill_primitives(void)
{
  uint64_t seed = 60;
  for (int i = 0; i < 6 * PLANES; ++i) {
    const int side = i / 12 % 3, axis = i % 6;
    const double sign = i / 6 % 2 ? 1.0 : -1.0;
    planes[i] = axis < 3 ? (axis == side) * sign + 0.1 * random_normal(&seed)
                         : 0.3 * (axis - 3 == side) * sign;
  }
  for (int i = 0; i < 7 * POINTS; ++i) {
    points[i] = i % 7 == 6 ? 0.25 + 0.1 * random_uniform(&seed) : 0.4 * random_normal(&seed);
  }
  for (size_t i = 0; i < 2; ++i) {
    grid_sample_make(&samples[i], &seed, 2 - i, 1.0, i ? ABUT_SUBTRACT : ABUT_ADD);
    samples[i].grid.origin[0] += 2.0 * samples[i].grid.spacing * (double)i;
    grids[i] = samples[i].grid;
    height_sample_make(&grounds[i], &seed, 0.05, i ? 0.7 : 1.0, i ? ABUT_SUBTRACT : ABUT_ADD);
    heights[i] = grounds[i].field;
  }
}

static body make_body(const char *name, double sharpness, const abut_superquadric *solid,
                      size_t solid_count, size_t polyhedron_count, size_t cloud_count,
                      size_t grid_count, size_t height_count, size_t core_count)
{
  abut_body_def def = abut_default_body_def();
  def.superquadrics = solid;
  def.polyhedra = polyhedra;
  def.pointclouds = clouds;
  def.superquadric_count = solid_count;
  def.polyhedron_count = polyhedron_count;
  def.pointcloud_count = cloud_count;
  def.grids = grids;
  def.grid_count = grid_count;
  def.height_fields = heights;
  def.height_field_count = height_count;
  def.cores = cores;
  def.core_count = core_count;
  body b = {.name = name, .c = coefficients_of(sharpness)};
  size_t count;
  CHECK_OK(pack_primitives(&def, sizeof(real), &b.head, &count, &b.shape));
  return b;
}

static void free_body(body *b)
{
  free(b->head);
  free(b->shape.data);
}

/* ---- jets and duals of one body ---- */

enum { PHI, NORMAL = 1, GRADIENT = 4, JACOBIAN = 7, ENTRIES = 16 };

static void jet_at(const body *b, const real x[3], real out[ENTRIES])
{
  const vec3_r at = {x[0], x[1], x[2]};
  jet_r j;
  body_jet_r(b->head, b->shape.data, &b->c, at, JET_JACOBIAN, REAL_BIG, &j);
  const real first[] = {j.phi,        j.normal.x,   j.normal.y,  j.normal.z,
                        j.gradient.x, j.gradient.y, j.gradient.z};
  memcpy(out, first, sizeof first);
  memcpy(out + JACOBIAN, j.jacobian, sizeof j.jacobian);
}

static void seed_tangents(const real x[3], vec3_d *at)
{
  dual seeds[3];
  for (int i = 0; i < 3; ++i) {
    seeds[i] = dual_lit(x[i]);
    seeds[i].d[i] = R(1.0);
  }
  *at = (vec3_d){seeds[0], seeds[1], seeds[2]};
}

/* Second derivatives of the distance, row by row: those of the jet, and the dual of its
 * gradient. */
static void hessians_at(const body *b, const real x[3], real own[9], real forward[9])
{
  const vec3_r at = {x[0], x[1], x[2]};
  vec3_d dual_at;
  jet_r j;
  jet_d d;
  body_jet_r(b->head, b->shape.data, &b->c, at, JET_HESSIAN, REAL_BIG, &j);
  const real all[9] = {j.curve.xx, j.curve.xy, j.curve.xz, j.curve.xy, j.curve.yy,
                       j.curve.yz, j.curve.xz, j.curve.yz, j.curve.zz};
  memcpy(own, all, sizeof all);
  seed_tangents(x, &dual_at);
  body_jet_d(b->head, b->shape.data, &b->c, dual_at, JET_GRADIENT, REAL_BIG, &d);
  memcpy(forward, d.gradient.x.d, 3 * sizeof(real));
  memcpy(forward + 3, d.gradient.y.d, 3 * sizeof(real));
  memcpy(forward + 6, d.gradient.z.d, 3 * sizeof(real));
}

/* The same by forward differentiation of the field. */
static void dual_at(const body *b, const real x[3], real out[ENTRIES])
{
  vec3_d at, n;
  seed_tangents(x, &at);
  const dual phi = body_field_d(b->head, b->shape.data, &b->c, at, 1, &n);
  const dual normal[3] = {n.x, n.y, n.z};
  out[PHI] = phi.v;
  for (int i = 0; i < 3; ++i) {
    out[NORMAL + i] = normal[i].v;
    out[GRADIENT + i] = phi.d[i];
    memcpy(out + JACOBIAN + 3 * i, normal[i].d, sizeof normal[i].d);
  }
}

/* The largest |a_i - b_i| over `count` entries, over the largest |b_i| or `floor`. */
#define LEAST 1e-30
static double apart(const real *a, const real *b, int count, double floor)
{
  double most = floor, worst = 0.0;
  for (int i = 0; i < count; ++i) {
    most = fmax(most, fabs((double)b[i]));
    const double error = fabs((double)a[i] - (double)b[i]);
    worst = error > worst || !(error == error) ? error : worst;
  }
  return worst / most;
}

static bool all_finite(const real *x, int count)
{
  for (int i = 0; i < count; ++i) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

/* Every combination of what is wanted gives the same numbers. */
static void compare_wants(const body *b, const real x[3], const real all[ENTRIES])
{
  const vec3_r at = {x[0], x[1], x[2]};
  vec3_r n;
  jet_r some;
  const real bare = body_field_r(b->head, b->shape.data, &b->c, at, 0, &n);
  const real phi = body_field_r(b->head, b->shape.data, &b->c, at, 1, &n);
  const real normal[] = {n.x, n.y, n.z};
  body_jet_r(b->head, b->shape.data, &b->c, at, JET_GRADIENT, REAL_BIG, &some);
  const real gradient[] = {some.gradient.x, some.gradient.y, some.gradient.z};
  check(all[PHI] == phi && bare == phi && some.phi == phi, "%s: distances %g %g %g", b->name,
        (double)all[PHI], (double)phi, (double)bare);
  const double off = apart(all + NORMAL, normal, 3, LEAST);
  check(off < 64 * REAL_EPSILON, "%s: the normal is off by %g", b->name, off);
  const double slope_off = apart(all + GRADIENT, gradient, 3, LEAST);
  check(slope_off < 4096 * REAL_EPSILON, "%s: gradients alone are off by %g", b->name, slope_off);
}

/* How closed forms fared against duals over some points. */
typedef struct worst {
  double gradient, jacobian, hessian;
} worst;

/* floor: what the dual's own rounding is measured against where the Jacobian is flat. */
static void compare_dual(const body *b, const real x[3], const char *where, double floor, worst *w)
{
  real jet[ENTRIES], forward[ENTRIES];
  jet_at(b, x, jet);
  compare_wants(b, x, jet);
  check(all_finite(jet, ENTRIES), "%s, %s: not finite at %g %g %g", b->name, where, (double)x[0],
        (double)x[1], (double)x[2]);
  dual_at(b, x, forward);
  w->gradient = fmax(w->gradient, apart(jet + GRADIENT, forward + GRADIENT, 3, LEAST));
  w->jacobian = fmax(w->jacobian, apart(jet + JACOBIAN, forward + JACOBIAN, 9, floor));
  real own[9], twice[9];
  hessians_at(b, x, own, twice);
  check(all_finite(own, 9), "%s, %s: second derivatives are not finite at %g %g %g", b->name, where,
        (double)x[0], (double)x[1], (double)x[2]);
  w->hessian = fmax(w->hessian, apart(own, twice, 9, floor));
}

static void judge_dual(const body *b, const char *where, worst w)
{
  printf("%-26s %-16s gradient %.1e, Jacobian %.1e, Hessian %.1e\n", b->name, where, w.gradient,
         w.jacobian, w.hessian);
#if REAL_DOUBLE
  check(w.gradient < 1e-10, "%s, %s: a gradient is off by %g", b->name, where, w.gradient);
  check(w.jacobian < 1e-10, "%s, %s: a Jacobian is off by %g", b->name, where, w.jacobian);
  check(w.hessian < 1e-9, "%s, %s: second derivatives are off by %g", b->name, where, w.hessian);
#endif
}

/* Random points around one; in every second of them some coordinates are the centre's own. */
static void compare_around(const body *b, const char *where, const double centre[3], double spread,
                           double floor)
{
  uint64_t seed = 61;
  worst w = {0};
  for (int i = 0; i < (spread > 0.0 ? 400 : 1); ++i) {
    real x[3];
    for (int k = 0; k < 3; ++k) {
      const double step = spread * random_normal(&seed);
      x[k] = (real)(centre[k] + (i % 2 && (i / 2) & (1 << k) ? 0.0 : step));
    }
    compare_dual(b, x, where, floor, &w);
  }
  judge_dual(b, where, w);
}

/* b's first superquadric, where it has one, is at `centre`. The dual of a union or of a cloud
 * subtracts numbers of the size 1/union or 1/width; where these are flat, the error is measured
 * against `floor` [1/m] in place of the Jacobian's largest entry. */
static void compare_body(const body *b, double floor)
{
  const double origin[3] = {0.0, 0.0, 0.0}, centre[3] = {0.1, 0.2, 0.0};
  compare_around(b, "at random", origin, 0.6, floor);
  compare_around(b, "a centre", centre, 0.0, floor);
  compare_around(b, "beside it", centre, 1e-6, floor);
  compare_around(b, "near it", centre, 1e-3, floor);
  compare_around(b, "on its axes", centre, 0.4, floor);
  compare_around(b, "far", origin, 30.0, floor);
  compare_around(b, "very far", origin, 1e6, floor);
}

static void test_bodies(void)
{
  const struct {
    const char *name;
    double sharpness;
    size_t solids, polyhedra, clouds, grids, heights, cores;
    double floor;
  } cases[] = {
    {"a superquadric", 0.05, 1, 0, 0, 0, 0, 0, LEAST},
    {"superquadrics", 0.05, 4, 0, 0, 0, 0, 0, 1e-3},
    {"superquadrics, sharp", 1e-6, 4, 0, 0, 0, 0, 0, 1e-3},
    {"a polyhedron", 0.05, 0, 1, 0, 0, 0, 0, LEAST},
    {"a cloud", 0.05, 0, 0, 1, 0, 0, 0, 1e-3},
    {"a grid", 0.05, 0, 0, 0, 1, 0, 0, 1e-3},
    {"a height field", 0.05, 0, 0, 0, 0, 1, 0, 1e-3},
    {"a height field, sharp", 1e-3, 0, 0, 0, 0, 1, 0, 1e-3},
    {"cores", 0.05, 0, 0, 0, 0, 0, 3, 1e-3},
    {"cores, sharp", 1e-3, 0, 0, 0, 0, 0, 3, 1e-3},
    {"mixed", 0.05, 4, 1, 1, 1, 1, 3, 1e-3},
    {"mixed, subtracted", 0.05, 5, 2, 2, 2, 2, 4, 1e-3},
    {"mixed, subtracted, sharp", 1e-3, 5, 2, 2, 2, 2, 4, 1e-3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    body b = make_body(cases[i].name, cases[i].sharpness, solids, cases[i].solids,
                       cases[i].polyhedra, cases[i].clouds, cases[i].grids, cases[i].heights,
                       cases[i].cores);
    compare_body(&b, cases[i].floor);
    free_body(&b);
  }
}

/* All pairs of exponents, in the superquadric's own frame: planes, diagonals, centre. */
static void test_exponents(void)
{
  const double exponents[] = {0.05, 0.1, 0.5, 1.0, 1.5, 2.0};
  const double places[][3] = {{0, 0, 0},     {1e-6, 0, 0},    {0, 1e-7, 1e-6}, {0.3, 0, 0},
                              {0, 0.2, 0},   {0, 0, 0.7},     {0.3, 0.2, 0},   {0.3, 0.2, 0.5},
                              {0.6, 0.4, 1}, {0.3, 0.1, 0.2}, {0.1, 0.19, 0},  {40, -30, 0}};
  for (int i = 0; i < 36; ++i) {
    char name[64];
    const abut_superquadric s = {{0.3, 0.2, 0.5},
                                 {exponents[i / 6], exponents[i % 6]},
                                 {0, 0, 0},
                                 {1, 0, 0, 0},
                                 ABUT_ADD};
    snprintf(name, sizeof name, "exponents %g, %g", exponents[i / 6], exponents[i % 6]);
    body b = make_body(name, 0.05, &s, 1, 0, 0, 0, 0, 0);
    worst w = {0};
    for (size_t k = 0; k < sizeof places / sizeof places[0]; ++k) {
      const real x[3] = {(real)places[k][0], (real)places[k][1], (real)places[k][2]};
      compare_dual(&b, x, "planes and axes", 1e-3, &w);
    }
    judge_dual(&b, "planes and axes", w);
    free_body(&b);
  }
}

/* A sphere's in closed form: phi = |x| - a outside the 1e-12, n = x / |x|. */
static void test_sphere(void)
{
  const abut_superquadric ball = {{0.5, 0.5, 0.5}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  body b = make_body("a sphere", 0.05, &ball, 1, 0, 0, 0, 0, 0);
  const real x[3] = {R(0.6), R(-0.48), R(0.64)}; /* |x|^2 = 1 */
  real jet[ENTRIES], want[ENTRIES] = {R(0.5), x[0], x[1], x[2], x[0], x[1], x[2]};
  for (int i = 0; i < 9; ++i) {
    want[JACOBIAN + i] = (i % 4 == 0 ? R(1.0) : R(0.0)) - x[i / 3] * x[i % 3];
  }
  jet_at(&b, x, jet);
  const double off = apart(jet, want, ENTRIES, 1.0);
  check(off < (REAL_DOUBLE ? 1e-11 : 1e-5), "a sphere: off by %g", off);
  free_body(&b);
}

/* ---- the ends of what is allowed: every number stays finite ---- */

static void test_finite_body(const abut_superquadric *solid, const abut_pointcloud *cloud,
                             const abut_core *core, double sharpness, double normal)
{
  static const double steps[] = {0.0, 1e-30, -1e-12, 1e-6, 1.0, -1.0, 1e3, 1e6, -1e9, 1e12};
  enum { STEPS = sizeof steps / sizeof steps[0] };
  abut_body_def def = abut_default_body_def();
  def.superquadrics = solid;
  def.superquadric_count = solid ? 2 : 0;
  def.pointclouds = cloud;
  def.pointcloud_count = cloud ? 1 : 0;
  def.cores = core;
  def.core_count = core ? 2 : 0;
  body b = {.name = "extremes", .c = coefficients_of(sharpness)};
  b.c.normal = (real)normal;
  size_t count;
  CHECK_OK(pack_primitives(&def, sizeof(real), &b.head, &count, &b.shape));
  for (int i = 0; i < STEPS * STEPS * STEPS; ++i) {
    const double at[3] = {steps[i % STEPS], steps[i / STEPS % STEPS], steps[i / (STEPS * STEPS)]};
    const real x[3] = {(real)at[0], (real)at[1], (real)at[2]};
    real jet[ENTRIES];
    jet_at(&b, x, jet);
    if (!all_finite(jet, ENTRIES)) {
      check(false, "not finite at %g %g %g: axes %g %g %g, exponents %g %g, union %g, normal %g",
            at[0], at[1], at[2], solid ? solid->axes[0] : 0.0, solid ? solid->axes[1] : 0.0,
            solid ? solid->axes[2] : 0.0, solid ? solid->exponents[0] : 0.0,
            solid ? solid->exponents[1] : 0.0, sharpness, normal);
      break;
    }
  }
  check(count > 0, "a body without primitives");
  free_body(&b);
}

static void test_finite(void)
{
  static const double axes[][3] = {{1, 1, 1},       {1e-3, 1, 1e3}, {1e-6, 1e-6, 1e-6},
                                   {1e6, 1e6, 1e6}, {1e-6, 1, 1e6}, {1, 1e-6, 1e-6},
                                   {1e6, 1, 1e-6}};
  static const double exponents[] = {1e-30, 1e-8, 1e-3, 0.1, 1.0, 2.0};
  static const double sharpness[] = {1e-6, 0.01, 1e9}, normal[] = {1e-18, 1e-12, 1.0};
  for (int i = 0; i < 7 * 36 * 3; ++i) {
    const double *a = axes[i / 108], *e1 = &exponents[i / 18 % 6], *e2 = &exponents[i / 3 % 6];
    const abut_superquadric pair[] = {
      {{a[0], a[1], a[2]}, {*e1, *e2}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD},
      {{a[2], a[0], a[1]},
       {*e2, *e1},
       {1, 0, 0},
       {1, 0.5, 0, 0.1},
       i % 2 ? ABUT_ADD : ABUT_SUBTRACT},
    };
    test_finite_body(pair, NULL, NULL, sharpness[i % 3], normal[i / 3 % 3]);
  }
  static const double widths[] = {1e-6, 1e-3, 1.0, 1e6};
  for (int i = 0; i < 16; ++i) {
    const double numbers[] = {0,  0, 0, 1, 0,   0,   widths[i % 4], 1, 0, 0, 0, 1, 0, widths[i / 4],
                              -1, 2, 0, 0, 0.6, 0.8, widths[i % 4]};
    const abut_pointcloud cloud = {numbers, 3, ABUT_ADD};
    test_finite_body(NULL, &cloud, NULL, 0.01, normal[i % 3]);
  }
  static const double radii[] = {1e-9, 1e-3, 1.0, 1e6}, halves[] = {0.0, 1e-30, 1e-3, 1.0, 1e6};
  for (int i = 0; i < 4 * 5 * 5 * 3; ++i) {
    const double a = halves[i / 4 % 5], b = halves[i / 20 % 5], radius = radii[i % 4];
    const bool disc = a > 0.0 && b > 0.0 && i % 2;
    const abut_core pair[] = {
      {disc ? ABUT_CORE_DISC : ABUT_CORE_BOX, {a, b, a}, radius, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD},
      {ABUT_CORE_BOX,
       {b, a, b},
       radii[(i + 1) % 4],
       {1, 0, 0},
       {1, 0.5, 0, 0.1},
       i % 3 ? ABUT_ADD : ABUT_SUBTRACT},
    };
    test_finite_body(NULL, NULL, pair, sharpness[i % 3], normal[i / 3 % 3]);
  }
}

/* ---- grids ---- */

/* Where clipping begins and ends, at borders of cells and blocks, in corners and far outside. */
static void test_grid_places(void)
{
  static const double cells[] = {-30.0, -1.0, 0.0, 0.4, 1.0, 1.3, 2.0, 2.5, 4.0, 5.0, 6.3, 8.0};
  enum { CELLS = sizeof cells / sizeof cells[0] };
  body b = make_body("a grid", 0.05, solids, 0, 0, 0, 1, 0, 0);
  worst w = {0};
  for (int i = 0; i < CELLS * CELLS * CELLS; ++i) {
    const double u[3] = {cells[i % CELLS], 11.0 - cells[i / CELLS % CELLS],
                         cells[i / (CELLS * CELLS)]};
    real x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = (real)(grids[0].origin[k] + grids[0].spacing * u[k]);
    }
    compare_dual(&b, x, "cells and corners", 1e-3, &w);
  }
  judge_dual(&b, "cells and corners", w);
  free_body(&b);
}

/* Across borders nothing jumps, up to second derivatives. */
static void test_grid_seams(void)
{
  body b = make_body("a grid", 0.05, solids, 0, 0, 0, 1, 0, 0);
  uint64_t seed = 63;
  double most[2] = {0.0, 0.0};
  for (int i = 0; i < 2000; ++i) {
    static const double borders[] = {0.0, 1.0, 2.0, 3.0, 4.0, 4.5, 6.0, 8.0, 9.0, 10.0, 11.0};
    const int axis = i % 3;
    real low[3], high[3], jets[2][ENTRIES];
    for (int k = 0; k < 3; ++k) {
      const double u = 12.0 * random_uniform(&seed);
      low[k] = high[k] = (real)(grids[0].origin[k] + grids[0].spacing * u);
    }
    const double at = grids[0].origin[axis] + grids[0].spacing * borders[i % 11];
    const double apart = 16.0 * (double)REAL_EPSILON;
    low[axis] = (real)(at - apart);
    high[axis] = (real)(at + apart);
    jet_at(&b, low, jets[0]);
    jet_at(&b, high, jets[1]);
    for (int k = 0; k < ENTRIES; ++k) {
      double *jump = &most[k >= JACOBIAN];
      *jump = fmax(*jump, fabs((double)jets[0][k] - (double)jets[1][k]));
    }
  }
  printf("across borders of cells a first derivative jumps by %.1e, a second one by %.1e\n",
         most[0], most[1]);
  check(most[0] < 1e4 * (double)REAL_EPSILON && most[1] < 1e6 * (double)REAL_EPSILON,
        "jumps of %g and %g", most[0], most[1]);
  free_body(&b);
}

/* ---- height fields ---- */

/* At nodes, beyond the walls, and where the ground becomes flat, at corners among them. */
static void test_height_places(void)
{
  static const double cells[] = {-30.0, -3.0, -2.0, -1.3, -1.0, 0.0, 0.4, 2.0, 6.5, 9.0, 9.7};
  static const double above[] = {-1.0, -0.7, -0.2, 0.0, 0.3, 5.0};
  enum { CELLS = sizeof cells / sizeof cells[0], ABOVE = sizeof above / sizeof above[0] };
  body b = make_body("a height field", 0.05, solids, 0, 0, 0, 0, 1, 0);
  worst w = {0};
  for (int i = 0; i < CELLS * CELLS * ABOVE; ++i) {
    const double u = cells[i % CELLS], v = (HEIGHT_ROWS - 1) - cells[i / CELLS % CELLS];
    const real x[3] = {(real)(0.6 * (2.0 * u / (HEIGHT_COLUMNS - 1) - 1.0)),
                       (real)(0.5 * (2.0 * v / (HEIGHT_ROWS - 1) - 1.0)),
                       (real)above[i / (CELLS * CELLS)]};
    compare_dual(&b, x, "cells and corners", 1e-3, &w);
  }
  judge_dual(&b, "cells and corners", w);
  free_body(&b);
}

/* Nothing that is asked for has third derivatives of the height in it, which alone jump across
 * borders of cells. */
static void test_height_seams(void)
{
  uint64_t seed = 64;
  height_sample calm;
  height_sample_make(&calm, &seed, 0.0, 1.0, ABUT_ADD);
  heights[0] = calm.field;
  body b = make_body("a height field", 0.05, solids, 0, 0, 0, 0, 1, 0);
  heights[0] = grounds[0].field;
  double most[2] = {0.0, 0.0};
  for (int i = 0; i < 2000; ++i) {
    const int axis = i % 2;
    const double nodes = axis ? HEIGHT_ROWS : HEIGHT_COLUMNS;
    const double border = floor((nodes + 3.0) * random_uniform(&seed)) - 2.0;
    const double at = heights[0].size[axis] * (2.0 * border / (nodes - 1.0) - 1.0);
    real low[3], high[3], jets[2][ENTRIES];
    for (int k = 0; k < 3; ++k) {
      low[k] = high[k] = (real)(1.6 * random_uniform(&seed) - 0.8);
    }
    low[axis] = (real)(at - 16.0 * (double)REAL_EPSILON);
    high[axis] = (real)(at + 16.0 * (double)REAL_EPSILON);
    jet_at(&b, low, jets[0]);
    jet_at(&b, high, jets[1]);
    for (int k = 0; k < ENTRIES; ++k) {
      double *jump = &most[k >= JACOBIAN];
      *jump = fmax(*jump, fabs((double)jets[0][k] - (double)jets[1][k]));
    }
  }
  printf("across borders of a height field's cells distance, normal and gradient jump by %.1e, the "
         "normal's Jacobian by %.1e\n",
         most[0], most[1]);
  check(most[0] < 1e4 * (double)REAL_EPSILON && most[1] < 1e6 * (double)REAL_EPSILON,
        "jumps of %g and %g", most[0], most[1]);
  free_body(&b);
}

/* ---- derivatives of jets ---- */
#if REAL_DOUBLE

enum { CURVE = ENTRIES, ALL = ENTRIES + 6 }; /* behind those: second derivatives of the distance */

static void whole_jet_at(const body *b, const double x[3], double out[ALL])
{
  const vec3_r at = {x[0], x[1], x[2]};
  jet_r j;
  jet_at(b, x, out);
  body_jet_r(b->head, b->shape.data, &b->c, at, JET_HESSIAN, REAL_BIG, &j);
  const double curve[6] = {j.curve.xx, j.curve.yy, j.curve.zz, j.curve.xy, j.curve.xz, j.curve.yz};
  memcpy(out + CURVE, curve, sizeof curve);
}

static void dual_jet_at(const body *b, const double x[3], dual out[ALL])
{
  vec3_d at;
  jet_d j;
  seed_tangents(x, &at);
  body_jet_d(b->head, b->shape.data, &b->c, at, JET_JACOBIAN, REAL_BIG, &j);
  const dual first[] = {j.phi,        j.normal.x,   j.normal.y,  j.normal.z,
                        j.gradient.x, j.gradient.y, j.gradient.z};
  memcpy(out, first, sizeof first);
  memcpy(out + JACOBIAN, j.jacobian, sizeof j.jacobian);
  body_jet_d(b->head, b->shape.data, &b->c, at, JET_HESSIAN, REAL_BIG, &j);
  const dual curve[6] = {j.curve.xx, j.curve.yy, j.curve.zz, j.curve.xy, j.curve.xz, j.curve.yz};
  memcpy(out + CURVE, curve, sizeof curve);
}

/* ---- derivatives by a core's numbers ---- */

/* A core's distance and gradient at a place of its own frame, as kernels have them. */
static core_jet_r core_of(abut_core c, const double x[3])
{
  const abut_body_def def = {.cores = &c, .core_count = 1};
  int *head;
  size_t count;
  reals shape;
  c.operation = ABUT_ADD;
  REQUIRE_OK(pack_primitives(&def, sizeof(real), &head, &count, &shape));
  const core_jet_r j =
    core_jet_at_r((const real *)shape.data + head[HEAD_ENTRY(0, FAMILY_COUNT - 1) + ENTRY_BASE],
                  (vec3_r){x[0], x[1], x[2]}, 1);
  free(head);
  free(shape.data);
  return j;
}

/* Moves number i of a core: its half lengths, then its radius. */
static abut_core moved_core(const abut_core *c, int i, double by)
{
  abut_core moved = *c;
  *(i < 3 ? &moved.half[i] : &moved.radius) += by;
  return moved;
}

/* By a half length and the radius: what phi changes by, and what its derivative along a direction
 * does. */
static void test_core_numbers(void)
{
  uint64_t seed = 65;
  const double h = 1e-6;
  double most[2] = {0.0, 0.0};
  for (int i = 0; i < 4000; ++i) {
    abut_core c = cores[i % 2 ? 1 : i % 4];
    const int numbers = c.kind == ABUT_CORE_BOX ? 3 : 2;
    double x[3], v[3];
    int *head;
    size_t count;
    reals shape;
    memset(c.position, 0, sizeof c.position);
    c.quaternion[0] = 1.0;
    c.quaternion[1] = c.quaternion[2] = c.quaternion[3] = 0.0;
    c.operation = ABUT_ADD;
    for (int k = 0; k < 3; ++k) {
      x[k] = i % 5 == 0 && (i / 5) & (1 << k) ? 0.0 : 0.4 * random_normal(&seed);
      v[k] = random_normal(&seed);
    }
    const abut_body_def def = {.cores = &c, .core_count = 1};
    REQUIRE_OK(pack_primitives(&def, sizeof(real), &head, &count, &shape));
    core_slopes_r by, along;
    core_slopes_of_r((const real *)shape.data + head[HEAD_ENTRY(0, FAMILY_COUNT - 1) + ENTRY_BASE],
                     (vec3_r){x[0], x[1], x[2]}, (vec3_r){v[0], v[1], v[2]}, &by, &along);
    free(head);
    free(shape.data);
    const double got[2][4] = {{by.ends.x, by.ends.y, by.ends.z, by.radius},
                              {along.ends.x, along.ends.y, along.ends.z, along.radius}};
    for (int k = 0; k < 4; ++k) {
      if ((k >= numbers && k < 3) || (k < 3 && !(c.half[k] > 0.0))) {
        continue;
      }
      const core_jet_r high = core_of(moved_core(&c, k, h), x),
                       low = core_of(moved_core(&c, k, -h), x);
      const double slope[2] = {(high.phi - low.phi) / (2.0 * h),
                               ((high.g.x - low.g.x) * v[0] + (high.g.y - low.g.y) * v[1] +
                                (high.g.z - low.g.z) * v[2]) /
                                 (2.0 * h)};
      for (int which = 0; which < 2; ++which) {
        const double off = fabs(got[which][k] - slope[which]);
        most[which] = fmax(most[which], off);
      }
    }
  }
  printf("a core's numbers: distances off by %.1e, derivatives along a direction by %.1e\n",
         most[0], most[1]);
  check(most[0] < 1e-7 && most[1] < 1e-4, "derivatives by a core's numbers are off by %g and %g",
        most[0], most[1]);
}

static void differentiate(const body *b, const double x[3], double step, tally *t)
{
  dual jet[ALL];
  double value[ALL], low[ALL], high[ALL], quotient[3][ALL][3], scale = 1.0;
  dual_jet_at(b, x, jet);
  whole_jet_at(b, x, value);
  for (int k = 0; k < 3; ++k) {
    for (int s = 0; s < 3; ++s) {
      const double h = step / (1 << s);
      double below[3] = {x[0], x[1], x[2]}, above[3] = {x[0], x[1], x[2]};
      below[k] -= h;
      above[k] += h;
      whole_jet_at(b, below, low);
      whole_jet_at(b, above, high);
      for (int j = 0; j < ALL; ++j) {
        quotient[k][j][s] = (high[j] - low[j]) / (above[k] - below[k]);
      }
    }
  }
  for (int j = 0; j < ALL; ++j) {
    t->value = fmax(t->value, fabs(jet[j].v - value[j]) / fmax(1.0, fabs(value[j])));
    for (int k = 0; k < 3; ++k) {
      scale = fmax(scale, fabs(jet[j].d[k]));
    }
  }
  for (int j = 0; j < ALL; ++j) {
    for (int k = 0; k < 3; ++k) {
      tally_entry(t, quotient[k][j], jet[j].d[k], scale);
    }
  }
}

/* Well inside a cell of the finest level of both grids: their third derivatives jump at borders. */
static void into_cell(double x[3])
{
  const double size = grids[0].spacing / 4.0;
  for (int k = 0; k < 3; ++k) {
    const double at = (x[k] - grids[0].origin[k]) / size;
    x[k] = grids[0].origin[k] + size * (floor(at) + 0.25 + 0.5 * (at - floor(at)));
  }
}

/* Likewise well inside a cell of all height fields that are there: their cells have common
 * sides. */
static void into_height_cell(double x[3])
{
  const double nodes[2] = {HEIGHT_COLUMNS, HEIGHT_ROWS};
  for (int k = 0; k < 2; ++k) {
    bool near_a_border = true;
    for (int tries = 0; near_a_border && tries < 100; ++tries) {
      near_a_border = false;
      for (int i = 0; i < 2; ++i) {
        const double at = (x[k] / heights[i].size[k] + 1.0) * 0.5 * (nodes[k] - 1.0);
        const double in = at - floor(at);
        near_a_border = near_a_border || in < 0.05 || in > 0.95;
      }
      x[k] += near_a_border ? 0.003 : 0.0;
    }
  }
}

static void test_second_derivatives(void)
{
  const struct {
    const char *name;
    size_t solids, polyhedra, clouds, grids, heights, cores;
  } cases[] = {
    {"superquadrics", 4, 0, 0, 0, 0, 0},  {"a polyhedron", 0, 1, 0, 0, 0, 0},
    {"a cloud", 0, 0, 1, 0, 0, 0},        {"mixed, subtracted", 5, 2, 2, 0, 0, 0},
    {"a grid", 0, 0, 0, 1, 0, 0},         {"grids, subtracted", 1, 0, 0, 2, 0, 0},
    {"a height field", 0, 0, 0, 0, 1, 0}, {"height fields, subtracted", 1, 1, 0, 0, 2, 0},
    {"a core", 0, 0, 0, 0, 0, 1},         {"cores, subtracted", 1, 0, 0, 0, 0, 4}};
  uint64_t seed = 62;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    body b = make_body(cases[i].name, 0.05, solids, cases[i].solids, cases[i].polyhedra,
                       cases[i].clouds, cases[i].grids, cases[i].heights, cases[i].cores);
    tally t = {0};
    for (int k = 0; k < 200; ++k) {
      double x[3] = {0.6 * random_normal(&seed), 0.6 * random_normal(&seed),
                     0.6 * random_normal(&seed)};
      if (cases[i].grids) {
        into_cell(x);
      }
      if (cases[i].heights) {
        into_height_cell(x);
      }
      differentiate(&b, x, 2e-4, &t);
    }
    printf("%-26s values %.1e, second and third derivatives %.1e, %zu of %zu of second order (%zu "
           "in all)\n",
           b.name, t.value, t.worst, t.second_order, t.sloped, t.entries);
    check(t.value < 1e-12, "%s: duals and plain values differ by %g", b.name, t.value);
    check(t.worst < 2e-5, "%s: a derivative is off by %g", b.name, t.worst);
    check(t.entries && 10 * t.second_order >= 7 * t.sloped, "%s: %zu of %zu of second order",
          b.name, t.second_order, t.sloped);
    free_body(&b);
  }
}
#endif

int main(void)
{
  fill_primitives();
  test_bodies();
  test_exponents();
  test_sphere();
  test_finite();
  test_grid_places();
  test_grid_seams();
  test_height_places();
  test_height_seams();
#if REAL_DOUBLE
  test_second_derivatives();
  test_core_numbers();
#endif
  return check_finish();
}
