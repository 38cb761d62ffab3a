/* The oriented point clouds of a scene's bodies: those of shapes against closed forms, those of
 * files, what is refused and where; each allocation fails once. */
#include "geometry/spring.h"
#include "support.h"
#include "support/allocations.h"
#include "scene/cloud_gap.h"
#include "scene/shape_clouds.h"
#include "scene/clouds.h"
#include "scene/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- fields ---- */

static double exponent(const abut_cloud *c, size_t i, const double x[3])
{
  double square = 0.0;
  for (size_t k = 0; k < 3; k++) {
    square += (x[k] - c->points[3 * i + k]) * (x[k] - c->points[3 * i + k]);
  }
  return c->log_weights[i] - square / c->eps1[i];
}

/* phi of docs/dev/spring-formulas.md, all points one after the other. */
static double field(const abut_cloud *c, const double x[3])
{
  double most = -INFINITY, weights = 0.0, sum = 0.0;
  for (size_t i = 0; i < c->count; i++) {
    most = fmax(most, exponent(c, i, x));
  }
  for (size_t i = 0; i < c->count; i++) {
    const double w = exp(exponent(c, i, x) - most);
    double depth = 0.0;
    for (size_t k = 0; k < 3; k++) {
      depth += c->normals[3 * i + k] * (x[k] - c->points[3 * i + k]);
    }
    weights += w;
    sum += w * depth;
  }
  return sum / weights;
}

static abut_cloud make(body_shape shape, double a, double b, double c)
{
  const double size[3] = {a, b, c};
  abut_cloud cloud;
  REQUIRE_OK(shape_cloud_make(shape, size, 0.0, &cloud));
  for (size_t i = 0; i < cloud.count; i++) {
    const double *n = cloud.normals + 3 * i;
    CHECK(fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1.0) < 1e-14);
    CHECK(cloud.eps1[i] == cloud.eps1[0] && !cloud.kernels);
  }
  return cloud;
}

static double between(uint64_t *random, double least, double most)
{
  return least + (most - least) * random_uniform(random);
}

/* The least and the largest value of a field. */
typedef struct span {
  double least, most;
} span;

static void stretch(span *s, double x)
{
  s->least = x >= s->least ? s->least : x; /* one that is no number stays */
  s->most = x <= s->most ? s->most : x;
}

static void check_span(const char *what, span s, double least, double most)
{
  printf("%-36s %8.4f to %7.4f\n", what, s.least, s.most);
  check(s.least >= least && s.most <= most, "%s: from %g to %g", what, s.least, s.most);
}

/* ---- boxes ---- */

typedef struct box_case {
  double half[3];
  size_t count;
  double cell; /* at edges */
} box_case;

static const box_case boxes[] = {
  {{0.1, 0.1, 0.1}, 384, 0.025}, /* 8 x 8 cells a side */
  {{0.3, 0.2, 0.1}, 248, 0.05},   {{0.5, 0.5, 0.01}, 1560, 0.01},
  {{1.0, 0.02, 0.02}, 792, 0.02}, {{0.1, 0.102, 0.5}, 88, 0.1},
};

/* A point on a side; how far it is from the nearest edge. */
static double on_box(const double half[3], uint64_t *random, double x[3])
{
  const size_t side = (size_t)between(random, 0.0, 3.0);
  double edge = INFINITY;
  for (size_t k = 0; k < 3; k++) {
    x[k] = half[k] * between(random, -1.0, 1.0);
    edge = k == side ? edge : fmin(edge, half[k] - fabs(x[k]));
  }
  x[side] = random_uniform(random) < 0.5 ? -half[side] : half[side];
  return edge;
}

/* In cells: half a cell off the edges and beyond it is the side, at edges a little is cut off. */
static void box(const box_case *b)
{
  abut_cloud c = make(SHAPE_BOX, b->half[0], b->half[1], b->half[2]);
  span all = {0}, flat = {0};
  uint64_t random = 3;
  CHECK_EQUAL(c.count, b->count);
  CHECK(fabs(c.eps1[0] - b->cell * b->cell / 8.0) < 1e-15);
  for (size_t i = 0; i < c.count; i++) {
    const double *p = c.points + 3 * i, *n = c.normals + 3 * i;
    const double wanted =
      fabs(n[0]) * b->half[0] + fabs(n[1]) * b->half[1] + fabs(n[2]) * b->half[2];
    CHECK(c.log_weights[i] == 0.0);
    CHECK(fabs(n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - wanted) < 1e-12);
  }
  for (int i = 0; i < 5000; i++) {
    double x[3];
    const double edge = on_box(b->half, &random, x), phi = field(&c, x) / b->cell;
    stretch(&all, phi);
    if (edge > 0.5 * b->cell) {
      stretch(&flat, phi);
    }
  }
  check_span("a box's side, in cells", flat, -0.02, 1e-12);
  check_span("up to its edges", all, -0.06, 1e-12);
  abut_free_cloud(&c);
}

/* ---- round bodies, in radii: polyhedra with a little less volume ---- */

static span around(const abut_cloud *c, double r, double half, double off_rim, bool ball)
{
  span s = {0};
  uint64_t random = 5;
  for (int i = 0; i < 5000; i++) {
    const double angle = between(&random, 0.0, 2.0 * PI), up = ball ? random_uniform(&random) : 0.0;
    const double across = r * sqrt(1.0 - up * up);
    const double z = ball ? half + r * up : (half - off_rim) * between(&random, -1.0, 1.0);
    stretch(&s, field(c, (const double[]){across * cos(angle), across * sin(angle), z}) / r);
  }
  return s;
}

static span on_end(const abut_cloud *c, double r, double half, double off_rim)
{
  span s = {0};
  uint64_t random = 7;
  for (int i = 0; i < 5000; i++) {
    const double angle = between(&random, 0.0, 2.0 * PI);
    const double across = (r - off_rim) * sqrt(random_uniform(&random));
    const double z = random_uniform(&random) < 0.5 ? -half : half;
    stretch(&s, field(c, (const double[]){across * cos(angle), across * sin(angle), z}) / r);
  }
  return s;
}

static void cylinder(double r, double half, size_t count)
{
  abut_cloud c = make(SHAPE_CYLINDER, r, half, 0.0);
  const double cell = sqrt(8.0 * c.eps1[0]), wide = 2.0 * PI / 32.0 * r;
  CHECK_EQUAL(c.count, count);
  CHECK(cell <= wide * (1.0 + 1e-9) && cell >= fmin(half, 0.5 * wide) * (1.0 - 1e-9));
  check_span("a cylinder's side, in radii", around(&c, r, half, 0.5 * cell, false), -0.002, 0.005);
  check_span("up to its rim", around(&c, r, half, 0.0, false), -0.007, 0.005);
  check_span("its ends", on_end(&c, r, half, 0.5 * cell), -0.003, 1e-12);
  check_span("up to their rim", on_end(&c, r, half, 0.0), -0.008, 0.005);
  abut_free_cloud(&c);
}

static void capsule(double r, double half, size_t count)
{
  abut_cloud c = make(SHAPE_CAPSULE, r, half, 0.0);
  CHECK_EQUAL(c.count, count);
  check_span("a capsule's side, in radii", around(&c, r, half, 0.0, false), -0.001, 0.005);
  check_span("its ends", around(&c, r, half, 0.0, true), -0.001, 0.01);
  abut_free_cloud(&c);
}

/* The closed form of a dense sphere, r L(2 r R / eps1) - R with L(x) = coth x - 1 / x. */
static double sphere_field(double r, double radius, double eps1)
{
  const double x = 2.0 * r * radius / eps1;
  return r * (1.0 / tanh(x) - 1.0 / x) - radius;
}

/* R: how far the faces' planes are from the middle, in the mean by area. */
static void sphere(double radius, double eps1, double bound)
{
  const double size[3] = {radius, 0.0, 0.0};
  double planes = 0.0, weights = 0.0, most = 0.0;
  uint64_t random = 11;
  abut_cloud c;
  REQUIRE_OK(shape_cloud_make(SHAPE_SPHERE, size, eps1 * radius * radius, &c));
  CHECK_EQUAL(c.count, 1280);
  for (size_t i = 0; i < c.count; i++) {
    const double *p = c.points + 3 * i, *n = c.normals + 3 * i, w = exp(c.log_weights[i]);
    planes += w * (n[0] * p[0] + n[1] * p[1] + n[2] * p[2]);
    weights += w;
  }
  CHECK(fabs(weights / 1280.0 - 1.0) < 1e-12); /* shares of the area */
  for (int i = 0; i < 2000; i++) {
    const double angle = between(&random, 0.0, 2.0 * PI), z = between(&random, -1.0, 1.0);
    const double r = radius * between(&random, 0.5, 1.5), across = r * sqrt(1.0 - z * z);
    const double got = field(&c, (const double[]){across * cos(angle), across * sin(angle), r * z});
    most = fmax(most, fabs(got - sphere_field(r, planes / weights, c.eps1[0])) / radius);
  }
  printf("%-36s %8.1e\n", "a sphere's closed form, in radii", most);
  check(most < bound, "a sphere's field is up to %g radii off its closed form", most);
  abut_free_cloud(&c);
}

static void ellipsoid(void)
{
  abut_cloud c = make(SHAPE_ELLIPSOID, 0.1, 0.2, 0.3);
  span s = {0};
  uint64_t random = 13;
  for (int i = 0; i < 5000; i++) {
    const double angle = between(&random, 0.0, 2.0 * PI), z = between(&random, -1.0, 1.0);
    const double across = sqrt(1.0 - z * z);
    const double x[3] = {0.1 * across * cos(angle), 0.2 * across * sin(angle), 0.3 * z};
    stretch(&s, field(&c, x) / 0.1);
  }
  check_span("an ellipsoid, in half lengths", s, -0.002, 0.012);
  abut_free_cloud(&c);
}

/* A half space: z to the bit, near and far; as a point it counts for nothing. */
static void plane(void)
{
  abut_cloud c = make(SHAPE_PLANE, 2.0, 3.0, 0.0);
  uint64_t random = 17;
  CHECK(c.count == 1 && c.log_weights[0] == -SPRING_NEVER);
  CHECK(c.points[2] == 0.0 && c.normals[2] == 1.0 && c.eps1[0] == 1.0);
  for (int i = 0; i < 100; i++) {
    const double x[3] = {between(&random, -100, 100), between(&random, -100, 100),
                         between(&random, -10, 10)};
    CHECK(field(&c, x) == x[2]);
  }
  abut_free_cloud(&c);
}

static void too_unlike(void)
{
  const double box_size[3] = {1.0, 0.9e-5, 1.0}, last_size[3] = {1.0, 1e-5, 1.0};
  const double capsule_size[3] = {1.0, 1e-6, 0.0}, plane_size[3] = {1e6, 1e-6, 0.0};
  abut_cloud c;
  expect_failure(shape_cloud_make(SHAPE_BOX, box_size, 0.0, &c), ABUT_ERROR_BODY,
                 "the lengths 9e-06", "and 1 m differ too much");
  CHECK(!c.points && !c.count);
  expect_failure(shape_cloud_make(SHAPE_CAPSULE, capsule_size, 0.0, &c), ABUT_ERROR_BODY,
                 "the lengths", "m differ too much");
  CHECK_OK(shape_cloud_make(SHAPE_BOX, last_size, 0.0, &c));
  abut_free_cloud(&c);
  CHECK_OK(shape_cloud_make(SHAPE_PLANE, plane_size, 0.0, &c));
  abut_free_cloud(&c);
}

/* ---- bodies of a scene ---- */

#define CUBE_VERTICES "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
#define CUBE_FACES "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\n"

static void write_files(void)
{
  write_text("cube.obj", CUBE_VERTICES CUBE_FACES "f 1 5 8 4\n");
  /* One side in two halves, between which a vertex hangs. */
  write_text("halves.obj",
             CUBE_VERTICES "v 0 0.5 0\nv 0 0.5 1\n" CUBE_FACES "f 1 5 10 9\nf 9 10 8 4\n");
  write_text("open.obj", CUBE_VERTICES CUBE_FACES);
  write_text("inside.obj", CUBE_VERTICES "f 2 3 4 1\nf 8 7 6 5\nf 5 6 2 1\nf 7 8 4 3\n"
                                         "f 6 7 3 2\nf 4 8 5 1\n");
  write_text("far.obj", "v 2e6 0 0\nv 3e6 0 0\nv 2e6 1e6 0\nv 2e6 0 1e6\n"
                        "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  write_text("faces.body.json", "{\"mesh\": \"halves.obj\", \"aopc\": {\"source\": \"faces\",\n"
                                "\"eps1\": 1e-4, \"area_weight\": true}}");
  write_text("points.body.json", "{\"mesh\": \"none.obj\", \"aopc\": {\"source\": \"points\",\n"
                                 "\"points\": [[1, 2, 3, 0, 0, 2, 0.1],\n"
                                 "[0, 0, 0, 3, 4, 0, 0.2]]}}");
  write_text("plain.body.json", "{\"mesh\": \"halves.obj\",\n"
                                "\"polyhedra\": [{\"planes\": [[0, 0, 1, 0, 0, 1]]}]}");
  write_text("lost.body.json", "{\"mesh\": \"none.obj\", \"aopc\": {\"source\": \"faces\"}}");
  write_text("torn.body.json", "{\"mesh\": \"open.obj\", \"aopc\": {\"source\": \"faces\"}}");
  write_text("wrong.body.json", "{\"mesh\": \"cube.obj\",\n\"aopc\": {\"source\": \"face\"}}");
}

#define LINK "{\"joint\": {\"type\": \"free\"}, \"mass\": 1, \"bodies\": [\n"
#define SCENE(bodies, pairs)                                                                       \
  "{\"contact_model\": \"spring\", \"links\": [{\"bodies\": [{\"plane\": [1, 1]}]},\n" LINK bodies \
  "]}], \"pairs\": [\n" pairs "]}"

static const char scene[] =
  SCENE("{\"file\": \"cube.obj\"}, {\"file\": \"faces.body.json\"},\n"
        "{\"file\": \"points.body.json\"}, {\"file\": \"plain.body.json\"},\n"
        "{\"file\": \"faces.body.json\", \"position\": [1, 0, 0]}, {\"sphere\": 1},\n"
        "{\"file\": \"faces.body.json\", \"eps1\": 0.3},\n"
        "{\"file\": \"points.body.json\", \"eps1\": 3},\n"
        "{\"file\": \"none.obj\"}, {\"box\": [1, 1, 1]}, {\"box\": [1, 1, 1]},\n"
        "{\"box\": [1, 1, 2]}]},\n"
        "{\"bodies\": [{\"plane\": [2, 2]}",
        "{\"a\": [1, 0], \"b\": 0}, {\"a\": [1, 1], \"b\": 0}, {\"a\": [1, 2], \"b\": 2},\n"
        "{\"a\": [1, 3], \"b\": 0}, {\"a\": [1, 4], \"b\": 0}, {\"a\": [1, 6], \"b\": 0},\n"
        "{\"a\": [1, 7], \"b\": 0}, {\"a\": [1, 9], \"b\": 0}, {\"a\": 2, \"b\": [1, 10]},\n"
        "{\"a\": 0, \"b\": [1, 11]}");

static void check_files(const scene_clouds *c)
{
  const abut_cloud *cube = &c->clouds[c->of[1]], *faces = &c->clouds[c->of[2]];
  const abut_cloud *points = &c->clouds[c->of[3]], *plain = &c->clouds[c->of[4]];
  CHECK(cube->count == 6 && cube->eps1[0] == 0.125 && cube->log_weights[0] == 0.0);
  CHECK(faces->count == 7 && faces->eps1[6] == 1e-4);
  CHECK(fabs(faces->log_weights[0] - log(7.0 / 6.0)) < 1e-15);
  CHECK(fabs(faces->log_weights[6] - log(3.5 / 6.0)) < 1e-15);
  CHECK(faces->points[18] == 0.0 && faces->points[19] == 0.75 && faces->normals[18] == -1.0);
  CHECK(plain->count == 7 && fabs(plain->eps1[0] - 6.0 / 7.0 / 8.0) < 1e-15);
  CHECK(plain->log_weights[6] == 0.0);
  CHECK(points->count == 2 && points->eps1[0] == 0.1 && points->eps1[1] == 0.2);
  CHECK(points->normals[2] == 1.0 && fabs(points->normals[4] - 0.8) < 1e-15);
  CHECK(points->points[1] == 2.0 && points->log_weights[1] == 0.0);
  CHECK(c->clouds[c->of[7]].eps1[3] == 0.3 && c->clouds[c->of[7]].log_weights[6] < 0.0);
  CHECK(c->clouds[c->of[8]].eps1[0] == 3.0 && c->clouds[c->of[8]].eps1[1] == 3.0);
}

/* ---- how far a field is off ---- */

/* Cells of width 1, 1 and `high`, of which the middle column above the floor is left out: a cup, or
 * a block with nothing left out. Faces between a cell and none. */
static abut_cloud cup(double high, bool hollow)
{
  enum { SIDE = 3, FACES = 6 * SIDE * SIDE * SIDE };
  static double vertices[12 * FACES];
  static uint32_t sizes[FACES], corners[4 * FACES];
  size_t count = 0;
  abut_cloud c;
  for (int i = 0; i < SIDE * SIDE * SIDE * 6; ++i) {
    const int at[3] = {i / 6 % SIDE, i / 6 / SIDE % SIDE, i / 6 / SIDE / SIDE}, axis = i % 6 / 2,
              up = i % 2;
    int next[3] = {at[0], at[1], at[2]};
    next[axis] += up ? 1 : -1;
    const bool out = next[axis] < 0 || next[axis] >= SIDE;
    if ((hollow && at[0] == 1 && at[1] == 1 && at[2] > 0) ||
        !(out || (hollow && next[0] == 1 && next[1] == 1 && next[2] > 0))) {
      continue;
    }
    for (int k = 0; k < 4; ++k) {
      double *x = vertices + 12 * count + 3 * k;
      const int first = k == 1 || k == 2, second = k > 1;
      x[axis] = at[axis] + up;
      x[(axis + 1) % 3] = at[(axis + 1) % 3] + (up ? first : second);
      x[(axis + 2) % 3] = at[(axis + 2) % 3] + (up ? second : first);
      x[2] *= high;
      corners[4 * count + (size_t)k] = (uint32_t)(4 * count + (size_t)k);
    }
    sizes[count++] = 4;
  }
  REQUIRE_OK(abut_make_cloud(4 * count, vertices, count, sizes, corners, 0.0, false, &c));
  return c;
}

/* A cup of squares is open; where its walls' cells are long, its rim is nearer than they, and
 * closes it. */
static void gaps(void)
{
  static const struct {
    double high;
    bool hollow;
    double least, most;
  } of[] = {{1.0, false, 0.0, 0.03}, {1.0, true, 0.0, 0.03}, {16.0, true, 0.04, 1.0}};
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    abut_cloud c = cup(of[i].high, of[i].hollow);
    double gap;
    REQUIRE_OK(cloud_gap(&c, &gap));
    check(gap >= of[i].least && gap <= of[i].most, "cup %zu has a gap of %g", i, gap);
    abut_free_cloud(&c);
  }
}

/* Bodies alike share a cloud; what no pair names is not opened. */
static void together(void)
{
  static const int of[] = {0, 1, 2, 3, 4, 2, -1, 5, 6, -1, 7, 7, 8, 0};
  scene_def s;
  scene_clouds c;
  REQUIRE_OK(scene_file_read(write_text("s.scene.json", scene), &s));
  REQUIRE_OK(scene_clouds_load(&s, &c));
  CHECK_EQUAL(c.count, 9);
  CHECK_EQUAL(scene_body_number(&s, s.link_count), sizeof of / sizeof *of);
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    CHECK_EQUAL(c.of[i], of[i]);
  }
  check_files(&c);
  scene_clouds_free(&c);
  CHECK(!c.clouds && !c.of && !c.count);
  scene_def_free(&s);
}

#define BODY(body) SCENE("{\"sphere\": 1},\n{" body "}", "{\"a\": [1, 1], \"b\": 0}")
#define PLACE "s.scene.json:4: links[1].bodies[1]"

static const struct {
  const char *text;
  abut_status status;
  const char *place, *part;
} wrong[] = {
  {BODY("\"file\": \"none.obj\""), ABUT_ERROR_READ, PLACE ": its file, ", "none.obj: "},
  {BODY("\"file\": \"none.body.json\""), ABUT_ERROR_READ, PLACE ": its file, ", "none.body.json: "},
  {BODY("\"file\": \"lost.body.json\""), ABUT_ERROR_READ, PLACE ": its file, ", "its mesh, "},
  {BODY("\"file\": \"torn.body.json\""), ABUT_ERROR_BODY, PLACE ": its file, ",
   "open.obj: the mesh is open"},
  {BODY("\"file\": \"open.obj\""), ABUT_ERROR_BODY, PLACE ": its file, ",
   "open.obj: the mesh is open"},
  {BODY("\"file\": \"inside.obj\""), ABUT_ERROR_BODY, PLACE ": its file, ",
   "inside.obj: the mesh is inside out"},
  {BODY("\"file\": \"wrong.body.json\""), ABUT_ERROR_FORMAT, PLACE ": its file, ",
   "wrong.body.json:2: aopc.source: must be"},
  {BODY("\"file\": \"far.obj\""), ABUT_ERROR_BODY, PLACE ": its ", "farther out than 1e+06 m"},
  {BODY("\"sphere\": 1, \"eps1\": 1e19"), ABUT_ERROR_BODY,
   PLACE ": its cloud: ", "eps1 of point 0 is 1e+19 m^2, not in ["},
  {BODY("\"box\": [1, 1, 1e-6]"), ABUT_ERROR_BODY, PLACE ": its cloud: ", "m differ too much"},
  {BODY("\"plane\": [1, 1]"), ABUT_ERROR_FORMAT, "s.scene.json:5: pairs[0]",
   "two planes have no points"},
};

static void refusals(void)
{
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    scene_def s;
    scene_clouds c;
    const char *path = write_text("s.scene.json", wrong[i].text);
    REQUIRE_OK(scene_file_read(path, &s));
    CHECK_EQUAL(scene_clouds_load(&s, &c), wrong[i].status);
    check(strstr(abut_last_error(), wrong[i].place) && strstr(abut_last_error(), wrong[i].part),
          "case %zu: \"%s\"", i, abut_last_error());
    CHECK(!c.clouds && !c.of && !c.count);
    scene_def_free(&s);
  }
}

static void each_allocation(void)
{
  scene_def s;
  long allowed = 0;
  abut_status status;
  REQUIRE_OK(scene_file_read(write_text("s.scene.json", scene), &s));
  const long before = allocations_held();
  do {
    scene_clouds c;
    allocations_fail_after(allowed++);
    status = scene_clouds_load(&s, &c);
    allocations_end();
    require(CHECK(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY));
    CHECK(status == ABUT_SUCCESS || (!c.clouds && !c.of && !c.count));
    scene_clouds_free(&c);
    CHECK_EQUAL(allocations_held(), before);
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 50);
  scene_def_free(&s);
}

int main(void)
{
  folder_make();
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    box(&boxes[i]);
  }
  cylinder(0.1, 0.1, 408);
  cylinder(0.1, 0.01, 280);
  cylinder(0.1, 0.002, 536);
  cylinder(0.02, 0.9, 2424);
  capsule(0.1, 0.1, 768);
  capsule(0.02, 0.9, 2816);
  sphere(0.25, 0.0, 6e-3);
  sphere(2.0, 0.05, 1e-3);
  ellipsoid();
  plane();
  too_unlike();
  gaps();
  write_files();
  together();
  refusals();
  each_allocation();
  folder_remove();
  return check_finish();
}
