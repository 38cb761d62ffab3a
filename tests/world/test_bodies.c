/* Bodies of shapes: meshes that are closed and outward, fields that agree with them and with the
 * distance, and bodies of a scene together; each allocation fails once. */
#include "support.h"
#include "support/allocations.h"
#include "scene/bodies.h"
#include "scene/body_shapes.h"
#include "scene/constants.h"
#include "scene/mass.h"
#include "scene/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static abut_context context;

/* ---- each word ---- */

typedef struct shape_case {
  body_shape shape;
  double size[3];
  size_t vertices, edges;
  double volume;  /* of the shape, not of its mesh */
  double missing; /* the share of it that the mesh has not, about */
  double on;      /* how far the field may be off 0 at vertices, of the shortest length */
  double off;     /* how far it may be off the distance around the shape, the same; 0: unknown */
} shape_case;

static const shape_case cases[] = {
  {SHAPE_BOX, {0.3, 0.2, 0.5}, 8, 12, 0.24, 0.0, 0.03, 0.0},
  {SHAPE_PLANE, {2, 3, 0}, 8, 12, 48, 0.0, 0.03, 0.0},
  {SHAPE_SPHERE, {0.25, 0, 0}, 642, 1920, 4.0 / 3 * PI / 64, 0.01, 1e-6, 2e-5},
  {SHAPE_ELLIPSOID, {0.1, 0.2, 0.4}, 642, 1920, 4.0 / 3 * PI * 0.008, 0.01, 1e-6, 0.0},
  {SHAPE_CAPSULE, {0.2, 0.5, 0}, 514, 1056, PI * 0.04 * (1.0 + 0.8 / 3), 0.01, 9e-3, 1.1e-2},
  {SHAPE_CAPSULE, {0.01, 0.5, 0}, 514, 1056, PI * 1e-4 * (1.0 + 0.04 / 3), 0.01, 9e-3, 1.1e-2},
  {SHAPE_CYLINDER, {0.2, 0.2, 0}, 64, 96, PI * 0.016, 0.01, 0.03, 1e-3},
  {SHAPE_CYLINDER, {0.02, 0.9, 0}, 64, 96, PI * 4e-4 * 1.8, 0.01, 0.04, 1e-3},
  {SHAPE_CYLINDER, {5, 0.1, 0}, 64, 96, PI * 25 * 0.2, 0.01, 0.05, 1e-3},
};

static double shortest(const shape_case *c)
{
  double least = c->size[0];
  for (size_t k = 1; k < body_shape_sizes[c->shape]; k++) {
    least = fmin(least, c->size[k]);
  }
  return least;
}

static void check_mesh_of(const shape_case *c, const abut_body_def *def)
{
  const char *word = body_shape_words[c->shape];
  mass m;
  double signed_volume = 0.0;
  const uint32_t *corner = def->face_indices;
  CHECK_EQUAL(def->vertex_count, c->vertices);
  REQUIRE_OK(mass_of_mesh(def, 1.0, &m)); /* it is closed */
  check(fabs(m.mass / c->volume - 1.0 + c->missing / 2) <= c->missing / 2 + 1e-12,
        "a %s's mesh has %.5f of its volume", word, m.mass / c->volume);
  const double middle = c->shape == SHAPE_PLANE ? -0.5 * shortest(c) : 0.0;
  CHECK(fabs(m.com[0]) < 1e-12 && fabs(m.com[1]) < 1e-12 && fabs(m.com[2] - middle) < 1e-12);
  for (size_t i = 0; i < def->face_count; corner += def->face_sizes[i++]) {
    for (size_t k = 1; k + 1 < def->face_sizes[i]; k++) {
      const double *a = def->vertices + 3 * (size_t)corner[0];
      const double *b = def->vertices + 3 * (size_t)corner[k];
      const double *d = def->vertices + 3 * (size_t)corner[k + 1];
      signed_volume += (a[0] * (b[1] * d[2] - b[2] * d[1]) + a[1] * (b[2] * d[0] - b[0] * d[2]) +
                        a[2] * (b[0] * d[1] - b[1] * d[0])) /
                       6.0;
    }
  }
  check(signed_volume > 0.0, "a %s's faces run inwards", word);
}

/* Distances in double; the temperatures of a smoothing that is fitted to the body. */
static void evaluate(abut_body body, size_t count, const double *points, double *distance)
{
  abut_smoothing s;
  REQUIRE_OK(abut_fit_smoothing(body, body, &s));
  REQUIRE_OK(abut_evaluate_body(body, s.union_, s.plane, count, points, distance, NULL));
}

static void check_vertices(const shape_case *c, abut_body body, const abut_body_def *def)
{
  double *distance = malloc(def->vertex_count * sizeof *distance), most = 0.0;
  REQUIRE(distance);
  evaluate(body, def->vertex_count, def->vertices, distance);
  for (size_t i = 0; i < def->vertex_count; i++) {
    most = fmax(most, fabs(distance[i]));
  }
  check(most <= c->on * shortest(c), "a %s's field is up to %g off its vertices",
        body_shape_words[c->shape], most);
  free(distance);
}

static double distance_of(const shape_case *c, const double x[3])
{
  const double across = hypot(x[0], x[1]), *s = c->size;
  const double side = across - s[0], end = fabs(x[2]) - s[1];
  switch (c->shape) {
  case SHAPE_SPHERE:
    return hypot(across, x[2]) - s[0];
  case SHAPE_CAPSULE:
    return hypot(across, fmax(end, 0.0)) - s[0];
  default:
    return fmin(fmax(side, end), 0.0) + hypot(fmax(side, 0.0), fmax(end, 0.0));
  }
}

/* Whether the distance has no kink near: not inside about the middle, nor at a cylinder's rim. */
static bool is_smooth(const shape_case *c, const double x[3], double distance)
{
  const double least = shortest(c), rim = hypot(x[0], x[1]) - c->size[0];
  return fabs(distance) < 0.2 * least &&
         (c->shape != SHAPE_CYLINDER || fabs(fabs(x[2]) - c->size[1] - rim) > 0.9 * least);
}

/* At points around the surface, where contacts are. */
static void check_around(const shape_case *c, abut_body body)
{
  enum { POINTS = 20000 };
  static double points[3 * POINTS], distance[POINTS];
  const double beyond = 0.2 * shortest(c), across = c->size[0] + beyond;
  const double along = beyond + (c->shape == SHAPE_CYLINDER ? 0.0 : c->size[0]) +
                       (c->shape == SHAPE_SPHERE ? 0.0 : c->size[1]);
  double most = 0.0;
  size_t count = 0;
  uint64_t random = 7;
  for (size_t i = 0; i < POINTS; i++) {
    points[3 * i] = 2.0 * across * (random_uniform(&random) - 0.5);
    points[3 * i + 1] = 2.0 * across * (random_uniform(&random) - 0.5);
    points[3 * i + 2] = 2.0 * along * (random_uniform(&random) - 0.5);
  }
  evaluate(body, POINTS, points, distance);
  for (size_t i = 0; i < POINTS; i++) {
    const double wanted = distance_of(c, points + 3 * i);
    if (is_smooth(c, points + 3 * i, wanted)) {
      most = fmax(most, fabs(distance[i] - wanted));
      count++;
    }
  }
  check(count > 500 && most <= c->off * shortest(c), "a %s's field is up to %g off at %zu points",
        body_shape_words[c->shape], most, count);
}

static void each_shape(void)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    arena memory = {0};
    abut_body_def def;
    abut_body body;
    abut_body_info info;
    REQUIRE_OK(body_shape_make(cases[i].shape, cases[i].size, 0.0, &memory, &def));
    check_mesh_of(&cases[i], &def);
    REQUIRE_OK(abut_create_body(context, &def, &body));
    REQUIRE_OK(abut_get_body_info(body, &info));
    CHECK_EQUAL(info.edges, cases[i].edges);
    check_vertices(&cases[i], body, &def);
    if (cases[i].off > 0.0) {
      check_around(&cases[i], body);
    }
    abut_destroy_body(body);
    arena_free(&memory);
  }
}

/* Sides are flat, and a plane's upper face is z = 0: to what roots add to a core's distance, 1 % of
 * its radius, which is a fiftieth of the shortest half length. */
static void flat_sides(void)
{
  static const double box[3] = {0.3, 0.2, 0.5}, plane[3] = {2, 3, 0};
  static const double at_box[12] = {0.35, 0.01, 0.1, 0.02, -0.3, 0.2, 0.25, 0.1, -0.1, 0, 0, 0.45};
  static const double depths[4] = {0.05, 0.1, -0.05, -0.05};
  static const double at_plane[9] = {0, 0, 0, -1, 2, 0.5, 1, -2, -0.7};
  static const double heights[3] = {0.0, 0.5, -0.7};
  const struct {
    body_shape shape;
    const double *size, *points, *wanted;
    size_t count;
  } sides[] = {{SHAPE_BOX, box, at_box, depths, 4}, {SHAPE_PLANE, plane, at_plane, heights, 3}};
  for (size_t i = 0; i < 2; i++) {
    arena memory = {0};
    abut_body_def def;
    abut_body body;
    double distance[4];
    REQUIRE_OK(body_shape_make(sides[i].shape, sides[i].size, 0.0, &memory, &def));
    REQUIRE_OK(abut_create_body(context, &def, &body));
    REQUIRE_OK(
      abut_evaluate_body(body, 1e-3, 1e-3, sides[i].count, sides[i].points, distance, NULL));
    for (size_t k = 0; k < sides[i].count; k++) {
      check(fabs(distance[k] - sides[i].wanted[k]) < 0.011 * def.cores[0].radius,
            "side %zu: %.17g, not %g", k, distance[k], sides[i].wanted[k]);
    }
    abut_destroy_body(body);
    arena_free(&memory);
  }
}

static void refuse(body_shape shape, double a, double b, double c, abut_status wanted,
                   const char *text)
{
  const double size[3] = {a, b, c};
  arena memory = {0};
  abut_body_def def;
  expect_failure(body_shape_make(shape, size, 0.0, &memory, &def), wanted, "", text);
  arena_free(&memory);
}

static void refusals(void)
{
  refuse(SHAPE_FILE, 1, 1, 1, ABUT_ERROR_ARGUMENT, "unknown shape 0");
  refuse(SHAPE_HEIGHT_FIELD, 1, 1, 1, ABUT_ERROR_ARGUMENT, "unknown shape 7");
  refuse((body_shape)BODY_SHAPES, 1, 1, 1, ABUT_ERROR_ARGUMENT, "unknown shape 8");
  refuse(SHAPE_BOX, 1, NAN, 1, ABUT_ERROR_BODY, "length 1 of a shape \"box\" is nan");
  refuse(SHAPE_SPHERE, 0, 1, 1, ABUT_ERROR_BODY, "length 0 of a shape \"sphere\" is 0");
  refuse(SHAPE_ELLIPSOID, 1, 1, INFINITY, ABUT_ERROR_BODY,
         "length 2 of a shape \"ellipsoid\" is inf");
  static const struct {
    body_shape shape;
    double round;
  } rounds[] = {{SHAPE_BOX, 0.2},     {SHAPE_BOX, 1.9e-4},    {SHAPE_BOX, -0.1},
                {SHAPE_BOX, NAN},     {SHAPE_CYLINDER, 0.3},  {SHAPE_SPHERE, 0.1},
                {SHAPE_CAPSULE, 0.1}, {SHAPE_ELLIPSOID, 0.1}, {SHAPE_PLANE, 0.1}};
  static const double size[3] = {0.4, 0.3, 0.2};
  for (size_t i = 0; i < sizeof rounds / sizeof *rounds; ++i) {
    arena memory = {0};
    abut_body_def def;
    expect_failure(body_shape_make(rounds[i].shape, size, rounds[i].round, &memory, &def),
                   ABUT_ERROR_BODY, "", ", which does not fit its lengths");
    arena_free(&memory);
  }
}

/* The exact distance of a box, or of a cylinder, with edges of radius q. */
static double rounded_distance(body_shape shape, const double size[3], double q, const double x[3])
{
  const bool box = shape == SHAPE_BOX;
  const double over[3] = {(box ? fabs(x[0]) : hypot(x[0], x[1])) - size[0] + q,
                          (box ? fabs(x[1]) : fabs(x[2])) - size[1] + q,
                          box ? fabs(x[2]) - size[2] + q : -1.0};
  double most = -HUGE_VAL, beyond = 0.0;
  for (int k = 0; k < 3; ++k) {
    most = fmax(most, over[k]);
    beyond = hypot(beyond, fmax(over[k], 0.0));
  }
  return (most > 0.0 ? beyond : most) - q;
}

/* Round edges: distances by docs/dev/spec.md, section 4. Meshes are those of sharp ones. */
static void round_edges(void)
{
  enum { POINTS = 20000 };
  static double points[3 * POINTS], distance[POINTS];
  static const double size[3] = {0.4, 0.3, 0.2}, round = 0.05;
  uint64_t random = 8;
  for (size_t i = 0; i < 3 * POINTS; ++i) {
    points[i] = 1.2 * (random_uniform(&random) - 0.5);
  }
  for (int which = 0; which < 2; ++which) {
    const body_shape shape = which ? SHAPE_CYLINDER : SHAPE_BOX;
    arena memory = {0};
    abut_body_def def, sharp;
    abut_body body;
    double worst = 0.0;
    size_t near = 0;
    REQUIRE_OK(body_shape_make(shape, size, round, &memory, &def));
    REQUIRE_OK(body_shape_make(shape, size, 0.0, &memory, &sharp));
    CHECK(def.vertex_count == sharp.vertex_count &&
          memcmp(def.vertices, sharp.vertices, 3 * def.vertex_count * sizeof(double)) == 0);
    CHECK(def.cores[0].radius == round &&
          fabs(sharp.cores[0].radius - (which ? 0.3 : 0.2) / 50.0) < 1e-15);
    REQUIRE_OK(abut_create_body(context, &def, &body));
    evaluate(body, POINTS, points, distance);
    for (size_t i = 0; i < POINTS; ++i) {
      const double wanted = rounded_distance(shape, size, round, points + 3 * i);
      if (wanted > 0.0) {
        worst = fmax(worst, fabs(distance[i] - wanted) / round);
        ++near;
      }
    }
    check(near > 1000 && worst < (which ? 0.0065 : 0.013),
          "a %s with round edges is %g radii off at %zu points", body_shape_words[shape], worst,
          near);
    abut_destroy_body(body);
    arena_free(&memory);
  }
}

/* All that the reader of scenes takes can be made. */
static void most_slender(void)
{
  static const double sizes[3][3] = {{1, SHAPE_SLENDER_MOST, 0},
                                     {1, SHAPE_SLENDER_MOST, 0},
                                     {SHAPE_SLENDER_MOST, 1, 0}};
  for (int i = 0; i < 3; i++) {
    arena memory = {0};
    abut_body_def def;
    CHECK_OK(body_shape_make(i ? SHAPE_CYLINDER : SHAPE_CAPSULE, sizes[i], 0.0, &memory, &def));
    arena_free(&memory);
  }
}

/* ---- bodies of a scene ---- */

static void read_scene(scene_def *s)
{
  const char *path = write_text(
    "s.scene.json",
    "{\"links\": [{\"bodies\": [{\"sphere\": 1}, {\"file\": \"t.obj\"}]},\n"
    "{\"density\": 2, \"joint\": {\"type\": \"ball\"}, \"bodies\": [{\"file\": \"t.obj\"},\n"
    "{\"sphere\": 1, \"position\": [0, 0, 1]}, {\"file\": \"t.body.json\"}, {\"sphere\": 2},\n"
    "{\"box\": [1, 1, 1]}, {\"file\": \"t.obj\"}]}]}");
  write_text("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  write_text("t.body.json",
             "{\"mesh\": \"t.obj\",\n\"polyhedra\": [{\"planes\": [[0,0,1,0,0,1]]}]}");
  REQUIRE_OK(scene_file_read(path, s));
}

static void together(void)
{
  static const size_t first[8] = {0, 1, 1, 0, 4, 5, 6, 1};
  scene_def s;
  scene_bodies b;
  read_scene(&s);
  REQUIRE_OK(scene_bodies_load(&s, &b));
  require(CHECK_EQUAL(b.count, 8));
  for (size_t i = 0; i < 8; i++) {
    CHECK_EQUAL(b.first[i], first[i]);
  }
  CHECK(b.def[0]->core_count == 1 && b.def[3] == b.def[0] && b.def[5] != b.def[0]);
  CHECK(!b.def[1] && b.def[2] && b.def[7] == b.def[2]); /* a density asks for the mesh */
  CHECK(b.def[2]->face_count == 4 && b.def[4]->face_count == 4 && b.def[4] != b.def[2]);
  CHECK_EQUAL(b.def[6]->core_count, 1);
  scene_bodies_free(&b);
  CHECK(!b.def && !b.count);
  scene_def_free(&s);
}

static abut_status load_once(const scene_def *s)
{
  scene_bodies b;
  scene_constants c;
  abut_status status = scene_bodies_load(s, &b);
  if (status != ABUT_SUCCESS) {
    CHECK(!b.memory.at);
    return status;
  }
  status = scene_constants_make(s, b.def, &c);
  CHECK(status == ABUT_SUCCESS || !c.memory.at);
  scene_constants_free(&c);
  scene_bodies_free(&b);
  return status;
}

static void each_allocation(void)
{
  scene_def s;
  long allowed = 0;
  abut_status status;
  read_scene(&s);
  do {
    allocations_fail_after(allowed++);
    status = load_once(&s);
    allocations_end();
    require(CHECK(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY));
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 50);
  scene_def_free(&s);
}

static void each_allocation_of_capsules(void)
{
  static const double size[3] = {1, 1, 0};
  long allowed = 0;
  abut_status status;
  do {
    arena memory = {0};
    abut_body_def def;
    allocations_fail_after(allowed++);
    status = body_shape_make(SHAPE_CAPSULE, size, 0.0, &memory, &def);
    allocations_end();
    require(CHECK(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY));
    arena_free(&memory);
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 4);
}

int main(void)
{
  abut_context_def def = abut_default_context_def();
  def.precision = ABUT_FLOAT64;
  REQUIRE_OK(abut_find_device("host", &def.device));
  REQUIRE_OK(abut_create_context(&def, &context));
  folder_make();
  each_shape();
  flat_sides();
  refusals();
  round_edges();
  most_slender();
  together();
  each_allocation();
  each_allocation_of_capsules();
  folder_remove();
  abut_destroy_context(context);
  return check_finish();
}
