/* How thick bodies are, beside formulas, and the smoothing that is fitted by it:
 * test_thickness PRECISION. */
#include "support/check.h"

#include <abut/field.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 24, RINGS = 12 }; /* corners around and rings of a ball's mesh */

static abut_precision precision;

/* A quaternion and its matrix, of a turn about no axis of the frame. */
static const double turned[4] = {0.8, 0.4, -0.2, 0.4};
static const double still[4] = {1.0, 0.0, 0.0, 0.0};

static void rotate(const double q[4], const double x[3], double out[3])
{
  const double w = q[0], *u = q + 1;
  const double s = w * w - u[0] * u[0] - u[1] * u[1] - u[2] * u[2];
  const double d = 2.0 * (u[0] * x[0] + u[1] * x[1] + u[2] * x[2]);
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = s * x[k] + d * u[k] + 2.0 * w * (u[i] * x[j] - u[j] * x[i]);
  }
}

typedef struct box_mesh {
  double vertices[24], planes[36];
} box_mesh;

static const uint32_t box_sizes[6] = {4, 4, 4, 4, 4, 4};
static const uint32_t box_faces[24] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1,
                                       2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};

static box_mesh box_of(const double half[3], const double q[4])
{
  box_mesh b;
  for (int i = 0; i < 8; ++i) {
    const double x[3] = {i & 4 ? half[0] : -half[0], i & 2 ? half[1] : -half[1],
                         i & 1 ? half[2] : -half[2]};
    rotate(q, x, b.vertices + 3 * i);
  }
  for (int i = 0; i < 6; ++i) {
    double n[3] = {0.0, 0.0, 0.0}, *plane = b.planes + 6 * i;
    n[i / 2] = i % 2 ? 1.0 : -1.0;
    rotate(q, n, plane);
    for (int k = 0; k < 3; ++k) {
      plane[3 + k] = half[i / 2] * plane[k];
    }
  }
  return b;
}

static abut_body_def box_def(const box_mesh *b)
{
  abut_body_def def = abut_default_body_def();
  def.vertices = b->vertices;
  def.vertex_count = 8;
  def.face_sizes = box_sizes;
  def.face_indices = box_faces;
  def.face_count = 6;
  return def;
}

static void expect(abut_context context, const abut_body_def *def, double wanted, double least,
                   double most, const char *what)
{
  abut_body body;
  abut_body_info info;
  if (!CHECK_OK(abut_create_body(context, def, &body))) {
    return;
  }
  CHECK_OK(abut_get_body_info(body, &info));
  printf("%-44s %.5f m thick, is %.5f\n", what, info.thickness, wanted);
  check(info.thickness >= least * wanted && info.thickness <= most * wanted,
        "%s: thickness %g, not %g to %g of %g", what, info.thickness, least, most, wanted);
  CHECK_OK(abut_destroy_body(body));
}

/* Boxes, plates, planks and bars, each as a polyhedron and as a superquadric, whose own distance is
 * half a metre in the middle however thin it is. */
static void test_boxes(abut_context context)
{
  static const double halves[4][3] = {{0.5, 0.5, 0.5},
                                      {1.0, 1.0, 0.005},
                                      {0.01, 1.0, 0.01},
                                      {1.0, 0.002, 0.3}};
  for (size_t i = 0; i < 8; ++i) {
    const double *half = halves[i / 2], *q = i % 2 ? turned : still;
    const box_mesh b = box_of(half, q);
    const double thick = 2.0 * fmin(half[0], fmin(half[1], half[2]));
    const abut_polyhedron polyhedron = {b.planes, 6, ABUT_ADD};
    abut_superquadric superquadric = {{half[0], half[1], half[2]},
                                      {0.1, 0.1},
                                      {0, 0, 0},
                                      {q[0], q[1], q[2], q[3]},
                                      ABUT_ADD};
    char what[64];
    abut_body_def def = box_def(&b);
    def.polyhedra = &polyhedron;
    def.polyhedron_count = 1;
    snprintf(what, sizeof what, "polyhedron %zu%s", i / 2, i % 2 ? ", turned" : "");
    expect(context, &def, thick, 0.98, 1.02, what);
    def.polyhedron_count = 0;
    def.superquadrics = &superquadric;
    def.superquadric_count = 1;
    snprintf(what, sizeof what, "superquadric %zu%s", i / 2, i % 2 ? ", turned" : "");
    expect(context, &def, thick, 0.97, 1.03, what);
    def.superquadric_count = 0;
    const double radius = 0.01 * thick;
    const abut_core core = {ABUT_CORE_BOX,
                            {half[0] - radius, half[1] - radius, half[2] - radius},
                            radius,
                            {0, 0, 0},
                            {q[0], q[1], q[2], q[3]},
                            ABUT_ADD};
    def.cores = &core;
    def.core_count = 1;
    snprintf(what, sizeof what, "core %zu%s", i / 2, i % 2 ? ", turned" : "");
    expect(context, &def, thick, 0.98, 1.02, what);
  }
}

typedef struct ball_mesh {
  double vertices[3 * ROUND * RINGS];
  uint32_t sizes[ROUND * (RINGS - 1)], faces[4 * ROUND * (RINGS - 1)];
} ball_mesh;

/* Its poles are open: nothing but the field says what is inside. */
static void make_ball(ball_mesh *b, const double axes[3])
{
  const double turn = 2.0 * acos(-1.0);
  for (size_t i = 0; i < ROUND * RINGS; ++i) {
    const double u = turn * (double)(i % ROUND) / ROUND;
    const double v = 0.5 * turn * ((double)(i / ROUND) + 0.5) / RINGS;
    b->vertices[3 * i] = axes[0] * sin(v) * cos(u);
    b->vertices[3 * i + 1] = axes[1] * sin(v) * sin(u);
    b->vertices[3 * i + 2] = axes[2] * cos(v);
  }
  for (size_t i = 0; i < ROUND * (RINGS - 1); ++i) {
    const uint32_t next = i % ROUND == ROUND - 1 ? 1 - ROUND : 1;
    const uint32_t at = (uint32_t)i;
    const uint32_t face[4] = {at, at + ROUND, at + ROUND + next, at + next};
    b->sizes[i] = 4;
    memcpy(b->faces + 4 * i, face, sizeof face);
  }
}

static void test_balls(abut_context context)
{
  static const double axes[3][3] = {{1.0, 1.0, 1.0}, {1.0, 0.01, 0.01}, {1.0, 1.0, 0.02}};
  static const char *const names[3] = {"ball", "needle", "lens"};
  static ball_mesh mesh;
  abut_superquadric balls[2] = {
    {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD},
    {{0.95, 0.95, 0.95}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_SUBTRACT}};
  for (size_t i = 0; i < 3; ++i) {
    make_ball(&mesh, axes[i]);
    abut_body_def def = abut_default_body_def();
    def.vertices = mesh.vertices;
    def.vertex_count = ROUND * RINGS;
    def.face_sizes = mesh.sizes;
    def.face_indices = mesh.faces;
    def.face_count = ROUND * (RINGS - 1);
    memcpy(balls[0].axes, axes[i], sizeof balls[0].axes);
    def.superquadrics = balls;
    def.superquadric_count = 1;
    expect(context, &def, 2.0 * axes[i][2], 0.97, 1.03, names[i]);
    if (i == 0) {
      def.superquadric_count = 2;
      expect(context, &def, 0.05, 0.9, 1.1, "hollow ball");
      def.superquadric_count = 1;
      def.face_count = 0;
      expect(context, &def, 2.0, 0.97, 1.03, "ball, vertices alone");
      def.vertex_count = 1;
      expect(context, &def, 0.0, 0.0, 0.0, "ball, one vertex");
    }
  }
}

/* Of a bare mesh the field is a grid, rounded deep inside and off at edges. */
static void test_bare(abut_context context)
{
  static const double halves[3][3] = {{0.5, 0.5, 0.5}, {1.0, 1.0, 0.01}, {1.0, 0.05, 0.05}};
  for (size_t i = 0; i < 3; ++i) {
    const double *half = halves[i];
    const box_mesh b = box_of(half, i == 1 ? still : turned);
    const abut_body_def mesh = box_def(&b);
    abut_field_options options = abut_default_field_options();
    abut_field field;
    char what[64];
    options.no_cache = true;
    snprintf(what, sizeof what, "bare mesh %zu", i);
    if (CHECK_OK(abut_make_field(&mesh, &options, &field))) {
      expect(context, &field.def, 2.0 * half[2], 0.8, 1.25, what);
      abut_free_field(&field);
    }
  }
}

/* A plate with a round hole, as a disc that another disc is taken away from. Rays from the hole's
 * rims graze its faces and take many steps. */
static void test_holed(abut_context context)
{
  enum { SIDES = 48 };
  static double vertices[3 * 4 * SIDES];
  static uint32_t sizes[4 * SIDES], faces[4 * 4 * SIDES];
  static const double radii[4] = {0.0205, 0.06, 0.06, 0.0205}, z[4] = {-0.01, -0.01, 0.01, 0.01};
  const double turn = 2.0 * acos(-1.0), round = 2e-4, reach[2] = {0.02, 0.1};
  for (uint32_t i = 0; i < 4 * SIDES; ++i) {
    const uint32_t ring = i / SIDES, side = i % SIDES, next = (side + 1) % SIDES;
    const uint32_t above = (ring + 1) % 4 * SIDES;
    const uint32_t face[4] = {ring * SIDES + side, ring * SIDES + next, above + next, above + side};
    vertices[3 * i] = radii[ring] * cos(turn * side / SIDES);
    vertices[3 * i + 1] = radii[ring] * sin(turn * side / SIDES);
    vertices[3 * i + 2] = z[ring];
    sizes[i] = 4;
    memcpy(faces + 4 * i, face, sizeof face);
  }
  for (size_t i = 0; i < 2; ++i) {
    const abut_core cores[2] = {
      {ABUT_CORE_DISC, {0.06 - round, 0.01 - round, 0}, round, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD},
      {ABUT_CORE_DISC,
       {0.0205 - round, reach[i], 0},
       round,
       {0, 0, 0},
       {1, 0, 0, 0},
       ABUT_SUBTRACT}};
    abut_body_def def = abut_default_body_def();
    def.vertices = vertices;
    def.vertex_count = 4 * SIDES;
    def.face_sizes = sizes;
    def.face_indices = faces;
    def.face_count = 4 * SIDES;
    def.cores = cores;
    def.core_count = 2;
    def.union_ = 1e-5;
    expect(context, &def, 0.02, 0.97, 1.03, i ? "plate with a long hole" : "plate with a hole");
  }
}

/* A floor without a bottom is as thick as its mesh is wide. A body beside its mesh is looked for
 * against the field's normal. */
static void test_odd(abut_context context)
{
  static const double half[3] = {3.0, 4.0, 0.0}, cube[3] = {0.5, 0.5, 0.5};
  static const double up[6] = {0, 0, 1, 0, 0, 0};
  box_mesh b = box_of(half, still);
  const abut_polyhedron floor_ = {up, 1, ABUT_ADD};
  abut_body_def def = box_def(&b);
  def.polyhedra = &floor_;
  def.polyhedron_count = 1;
  expect(context, &def, 10.0, 0.999, 1.001, "floor without a bottom");
  b = box_of(cube, still);
  const abut_polyhedron box = {b.planes, 6, ABUT_ADD};
  for (size_t i = 0; i < 8; ++i) {
    b.vertices[3 * i] += 2.0;
    b.vertices[3 * i + 1] += 0.2;
  }
  def.polyhedra = &box;
  expect(context, &def, 1.0, 0.97, 1.03, "box beside its mesh");
}

/* ---- the smoothing that is fitted ---- */

/* Fits two bodies of definitions; the bodies are the context's to destroy. */
static bool fit(abut_context context, const abut_body_def defs[2], abut_body bodies[2],
                abut_smoothing *s)
{
  return CHECK_OK(abut_create_body(context, &defs[0], &bodies[0])) &&
         CHECK_OK(abut_create_body(context, &defs[1], &bodies[1])) &&
         CHECK_OK(abut_fit_smoothing(bodies[0], bodies[1], s));
}

/* What is 10 mm thick has a penetration below half a millimetre, however long it is. */
static void test_plates(abut_context context)
{
  static const double lengths[4] = {0.1, 0.5, 2.0, 20.0};
  for (size_t i = 0; i < 4; ++i) {
    const double half[3] = {0.5 * lengths[i], 0.005, 0.5 * lengths[i]};
    const box_mesh b = box_of(half, turned);
    const abut_polyhedron box = {b.planes, 6, ABUT_ADD};
    abut_body_def def = box_def(&b);
    abut_body bodies[2];
    abut_smoothing s;
    def.polyhedra = &box;
    def.polyhedron_count = 1;
    const abut_body_def both[2] = {def, def};
    if (fit(context, both, bodies, &s)) {
      check(s.penetration <= 0.5e-3 && s.penetration >= 0.44e-3,
            "plates of %g m, 10 mm thick: penetration %g", lengths[i], s.penetration);
      check(s.plane < 0.5e-3, "plates of %g m: plane %g", lengths[i], s.plane);
    }
  }
}

/* The sum of activities of a ball of 20 mm at some height above a slab of 2 x 2 m. */
static double above_slab(abut_context context, double thick, double above, double *penetration)
{
  static const double ball_axes[3] = {0.01, 0.01, 0.01};
  static ball_mesh mesh;
  const double half[3] = {1.0, 1.0, 0.5 * thick};
  const box_mesh b = box_of(half, still);
  const abut_polyhedron slab = {b.planes, 6, ABUT_ADD};
  const abut_superquadric ball = {{0.01, 0.01, 0.01}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_body_def defs[2] = {box_def(&b), abut_default_body_def()};
  defs[0].polyhedra = &slab;
  defs[0].polyhedron_count = 1;
  make_ball(&mesh, ball_axes);
  defs[1].vertices = mesh.vertices;
  defs[1].vertex_count = ROUND * RINGS;
  defs[1].face_sizes = mesh.sizes;
  defs[1].face_indices = mesh.faces;
  defs[1].face_count = ROUND * (RINGS - 1);
  defs[1].superquadrics = &ball;
  defs[1].superquadric_count = 1;
  abut_body bodies[2];
  abut_smoothing s;
  abut_pair pair;
  if (!fit(context, defs, bodies, &s) ||
      !CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair))) {
    return HUGE_VAL;
  }
  const double at[12] = {0, 0, 0, 0, 0, 0, 0.013, 0.007, half[2] + 0.01 + above, 0, 0, 0};
  void *poses = to_reals(at, 12, precision), *sum = calloc(1, real_size(precision));
  abut_batch batch = abut_default_batch();
  batch.count = 1;
  batch.pose1 = poses;
  batch.pose2 = (char *)poses + 6 * real_size(precision);
  batch.reductions.activity = sum;
  CHECK_OK(abut_contacts(pair, &batch));
  const double found = real_at(sum, precision, 0);
  *penetration = s.penetration;
  CHECK_OK(abut_destroy_pair(pair));
  free(poses);
  free(sum);
  return found;
}

/* With the larger diagonal for a scale the activities summed to 95 at 20 mm. */
static void test_slabs(abut_context context)
{
  static const double above[3] = {0.005, 0.02, 0.05}, most[3] = {0.3, 1e-3, 1e-6};
  static const double thick[2] = {0.01, 0.1};
  for (size_t i = 0; i < 6; ++i) {
    double penetration = 0.0;
    const double sum = above_slab(context, thick[i / 3], above[i % 3], &penetration);
    printf("ball %g m above a slab of %g m: penetration %g, activities %g\n", above[i % 3],
           thick[i / 3], penetration, sum);
    check(sum < most[i % 3], "%g m above a slab of %g m: activities sum to %g", above[i % 3],
          thick[i / 3], sum);
  }
}

/* A pair has the smaller of the unions that its bodies were fitted with. One primitive alone has no
 * use for any; several without a word keep to their own scale. */
static void test_unions(abut_context context)
{
  static const struct {
    double unions[2];
    size_t primitives[2];
    double wanted; /* 0: by the scale */
  } cases[] = {{{0.005, 0.0}, {2, 1}, 0.005},
               {{0.0, 0.02}, {1, 1}, 0.02},
               {{0.005, 0.003}, {2, 2}, 0.003},
               {{0.05, 0.0}, {2, 2}, 0.0},
               {{0.0, 0.0}, {1, 1}, 0.0}};
  static const double half[3] = {0.5, 0.5, 0.5};
  const box_mesh b = box_of(half, still);
  const abut_polyhedron boxes[2] = {{b.planes, 6, ABUT_ADD}, {b.planes, 6, ABUT_ADD}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    abut_body_def defs[2] = {box_def(&b), box_def(&b)};
    abut_body bodies[2];
    abut_body_info info;
    abut_smoothing s;
    for (int k = 0; k < 2; ++k) {
      defs[k].polyhedra = boxes;
      defs[k].polyhedron_count = cases[i].primitives[k];
      defs[k].union_ = cases[i].unions[k];
    }
    if (fit(context, defs, bodies, &s)) {
      const double wanted = cases[i].wanted > 0.0 ? cases[i].wanted : 0.004 * sqrt(3.0);
      check(fabs(s.union_ - wanted) < 1e-9, "case %zu: union %g, not %g", i, s.union_, wanted);
      CHECK_OK(abut_get_body_info(bodies[0], &info));
      CHECK(info.union_ == cases[i].unions[0]);
    }
  }
}

/* What is fitted can be taken by a pair, of bodies as small and as thin as may be, too. */
static void test_small(abut_context context)
{
  static const double halves[][3] = {{1e-4, 1e-4, 1e-4},
                                     {8e-5, 8e-5, 8e-5},
                                     {0.5, 0.5, 1.5e-5},
                                     {0.5, 0.5, 5e-6}};
  static const double upright[4] = {1, 0, 0, 0};
  for (size_t i = 0; i < sizeof halves / sizeof halves[0]; ++i) {
    const box_mesh box = box_of(halves[i], upright);
    const abut_polyhedron planes = {box.planes, 6, ABUT_ADD};
    abut_body_def def = box_def(&box);
    def.polyhedra = &planes;
    def.polyhedron_count = 1;
    const abut_body_def defs[2] = {def, def};
    abut_body bodies[2];
    abut_smoothing s;
    abut_pair pair;
    if (fit(context, defs, bodies, &s) &&
        CHECK_OK(abut_create_pair(bodies[0], bodies[1], &s, &pair))) {
      CHECK_OK(abut_destroy_pair(pair));
    }
  }
}

int main(int count, char **arguments)
{
  abut_context context;
  precision = count > 1 && strcmp(arguments[1], "f32") == 0 ? ABUT_FLOAT32 : ABUT_FLOAT64;
  if (!test_context(precision, &context)) {
    return check_finish();
  }
  test_boxes(context);
  test_balls(context);
  test_bare(context);
  test_holed(context);
  test_odd(context);
  test_plates(context);
  test_slabs(context);
  test_unions(context);
  test_small(context);
  return finish_context(context);
}
