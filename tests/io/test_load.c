/* Bodies and smoothing through the library, on the host: the only device that every machine has,
 * and the only one whose driver no sanitizer trips over. */
#include "samples.h"
#include "support.h"

#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static abut_context context;

static void start(void)
{
  setenv("OCL_ICD_VENDORS", "/nonexistent", 1); /* the loader finds no driver then */
  abut_context_def def = abut_default_context_def();
  REQUIRE_OK(abut_find_device("host", &def.device));
  REQUIRE_OK(abut_create_context(&def, &context));
  folder_make();
}

static void stop(void)
{
  abut_destroy_context(context);
  folder_remove();
}

static const char tetrahedron[] =
  "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static const char ball[] =
  "{\"mesh\": \"t.obj\",\n\"superquadrics\": [{\"axes\": [1, 1, 1], \"exponents\": [1, 1],\n"
  "\"position\": [0, 0, 0], \"quaternion\": [2, 0, 0, 0]}]}";

static void good(void)
{
  static const char *const names[] = {"t.obj", "b.body.json"};
  write_text("t.obj", tetrahedron);
  write_text("b.body.json", ball);
  for (size_t i = 0; i < 2; i++) {
    abut_body body;
    abut_body_info info;
    REQUIRE_OK(abut_load_body(context, in_folder(names[i]), &body));
    REQUIRE_OK(abut_get_body_info(body, &info));
    CHECK(i == 0 ? info.vertices >= 4 : info.vertices == 4);
    CHECK(i == 0 ? info.edges >= 6 : info.edges == 6);
    CHECK_EQUAL(info.pointclouds, 0);
    CHECK_EQUAL(info.grids, i == 0);
    CHECK_EQUAL(info.superquadrics, i == 1);
    CHECK_EQUAL(info.suspicions, 0);
    abut_destroy_body(body);
  }
}

/* A body file whose mesh is beside its primitives, or in millimetres, tells it; one whose mesh is a
 * little off does not. */
static void misfits(void)
{
  static const struct {
    double scale, shift;
    uint32_t suspicions;
  } cases[] = {{1.0, 0.0, 0},
               {1.05, 0.0, 0},
               {1.0, 2.0, ABUT_SUSPECT_MISFIT},
               {1000.0, 0.0, ABUT_SUSPECT_MISFIT},
               {0.001, 0.0, ABUT_SUSPECT_MISFIT}};
  char text[512];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double s = cases[i].scale, low = cases[i].shift - s, high = cases[i].shift + s;
    abut_body body;
    abut_body_info info;
    snprintf(text, sizeof text, "v %g 0 0\nv %g 0 0\nv %g %g 0\nv %g 0 %g\nf 1 2 3\nf 1 3 4\n", low,
             high, cases[i].shift, s, cases[i].shift, s);
    write_text("t.obj", text);
    REQUIRE_OK(abut_load_body(context, in_folder("b.body.json"), &body));
    REQUIRE_OK(abut_get_body_info(body, &info));
    check(info.suspicions == cases[i].suspicions,
          "a mesh of scale %g at %g: suspicions %u, misfit %g", s, cases[i].shift,
          (unsigned)info.suspicions, info.misfit);
    const abut_field_report r = {.suspicions = info.suspicions,
                                 .misfit = info.misfit,
                                 .diagonal = info.diagonal};
    CHECK((abut_suspicion_text(&r, ABUT_SUSPECT_MISFIT, text, sizeof text) > 0) ==
          (cases[i].suspicions != 0));
    abut_destroy_body(body);
  }
  write_text("t.obj", tetrahedron);
}

/* Features that are off the unit ball's surface by more than 2 % of the mesh's diagonal, sqrt 3,
 * are told. At the centre the field itself is off by 2e-6. */
static void features(void)
{
  static const struct {
    const char *stated;
    double misfit;
    uint32_t suspicions;
  } cases[] = {{"[1, 0, 0, 0], [0, 1, 0, 0]], \"arcs\": [[0, 1, 0, 0, 0, 0, 0, 0, 1]]", 0.0, 0},
               {"[0, 0, 0, 1]]", 0.0, 0},
               {"[0.5, 0, 0, 0.52], [0, 0.5, 0, 0.5]]", 0.02, 0},
               {"[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.4]]", 0.1, ABUT_SUSPECT_FEATURES},
               {"[1, 0, 0, 0], [0, 1, 0, 0]], \"edges\": [[0, 1, 0]]", 0.29289321881345248,
                ABUT_SUSPECT_FEATURES},
               {"[1, 0, 0, 0], [0, 1, 0, 0]], \"arcs\": [[1, 0, 0.25, 0, 0, 4, 0, 0, -1]]", 0.25,
                ABUT_SUSPECT_FEATURES}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[512];
    abut_body body;
    abut_body_info info;
    snprintf(text, sizeof text, "%.*s, \"features\": {\"vertices\": [%s}}", (int)strlen(ball) - 1,
             ball, cases[i].stated);
    write_text("f.body.json", text);
    REQUIRE_OK(abut_load_body(context, in_folder("f.body.json"), &body));
    REQUIRE_OK(abut_get_body_info(body, &info));
    check(info.suspicions == cases[i].suspicions &&
            fabs(info.feature_misfit - cases[i].misfit) < 1e-5,
          "features %zu: suspicions %u, misfit %.9g", i, (unsigned)info.suspicions,
          info.feature_misfit);
    const abut_field_report r = {.suspicions = info.suspicions,
                                 .diagonal = info.diagonal,
                                 .feature_misfit = info.feature_misfit};
    CHECK((abut_suspicion_text(&r, ABUT_SUSPECT_FEATURES, text, sizeof text) > 0) ==
          (cases[i].suspicions != 0));
    abut_destroy_body(body);
  }
}

/* A mesh's cones are counted when it is there. */
static void cones_of_the_mesh(void)
{
  char text[512];
  abut_body body;
  snprintf(text, sizeof text, "%.*s, \"cones\": {\"vertices\": [[0, 0, 1, 90]]}}",
           (int)strlen(ball) - 1, ball);
  const char *path = write_text("f.body.json", text);
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_BODY, path,
                 "1 cones are given for 4 vertices");
}

/* The same mesh with all faces the other way. */
static void diagnostics(void)
{
  abut_body body;
  abut_body_info info;
  const char *path = write_text("inside-out.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                                  "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
  REQUIRE_OK(abut_load_body(context, path, &body));
  REQUIRE_OK(abut_get_body_info(body, &info));
  CHECK_EQUAL(info.suspicions, ABUT_SUSPECT_INSIDE_OUT);
  abut_destroy_body(body);
}

static void expect_same(const abut_body bodies[2])
{
  enum { POINTS = 50 };
  abut_body_info info[2];
  float points[3 * POINTS], distance[2][POINTS], normal[2][3 * POINTS];
  double *vertices[2];
  uint32_t *edges[2];
  uint64_t random = 1;
  for (size_t i = 0; i < 3 * POINTS; i++) {
    points[i] = (float)(3.0 * random_uniform(&random) - 1.0);
  }
  for (int i = 0; i < 2; i++) {
    REQUIRE_OK(abut_get_body_info(bodies[i], &info[i]));
    vertices[i] = calloc(info[i].vertices, 3 * sizeof(double));
    edges[i] = calloc(info[i].edges, 2 * sizeof(uint32_t));
    REQUIRE(vertices[i] && edges[i]);
    REQUIRE_OK(abut_get_body_mesh(bodies[i], vertices[i], edges[i]));
    REQUIRE_OK(abut_evaluate_body(bodies[i], 1e-3, 1e-3, POINTS, points, distance[i], normal[i]));
  }
  REQUIRE(info[0].vertices == info[1].vertices && info[0].edges == info[1].edges);
  CHECK(info[0].grids == 1 && info[1].grids == 1 && info[0].blocks == info[1].blocks);
  CHECK(!memcmp(vertices[0], vertices[1], info[0].vertices * 3 * sizeof(double)));
  CHECK(!memcmp(edges[0], edges[1], info[0].edges * 2 * sizeof(uint32_t)));
  CHECK(!memcmp(distance[0], distance[1], sizeof distance[0]));
  CHECK(!memcmp(normal[0], normal[1], sizeof normal[0]));
  for (int i = 0; i < 2; i++) {
    free(vertices[i]);
    free(edges[i]);
  }
}

/* A field that is written is read back as the same body. */
static void written(void)
{
  abut_field_options options = abut_default_field_options();
  abut_field field;
  abut_body bodies[2];
  options.cells = 12;
  options.vertices = 40;
  REQUIRE_OK(abut_load_field(in_folder("t.obj"), &options, &field));
  REQUIRE_OK(abut_create_body(context, &field.def, &bodies[0]));
  REQUIRE_OK(abut_write_field(in_folder("w.body.json"), &field));
  REQUIRE_OK(abut_load_body(context, in_folder("w.body.json"), &bodies[1]));
  expect_same(bodies);
  abut_free_field(&field);
}

static void wrong(void)
{
  abut_body body;
  const char *path = write_text("points.obj", "v 0 0 0\nv 1 0 0\n");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_FORMAT, path,
                 "contains no faces, so no field can be made");
  path = write_text("far.obj", "v 0 0 0\nv 1e7 0 0\nv 0 1 0\nf 1 2 3\n");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_BODY, path, ": ");
  path = write_text("a.body.json", "{\"mesh\": \"none.obj\", \"polyhedra\":\n"
                                   "[{\"planes\": [[0, 0, 1, 0, 0, 0]]}]}");
  char cause[1024];
  snprintf(cause, sizeof cause, ": its mesh, %s: No such file", in_folder("none.obj"));
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_READ, path, cause);
  path = write_text("c.body.json", "{\"mesh\": \"t.obj\",\n\"polyhedra\": 1}");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_FORMAT, path, "json:2: ");
  path = in_folder("none.body.json");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_READ, path, "No such file");
  path = write_text("a.xyz", "");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_FORMAT, path, ".obj, .stl");
  expect_failure(abut_load_body(context, NULL, &body), ABUT_ERROR_ARGUMENT, "", "NULL");
}

/* A grid's archive lies beside the body file; its faults are told with file and member. */
static void grids(void)
{
  sample s[SAMPLE_LIMIT];
  abut_body body;
  abut_body_info info;
  char cause[1024];
  const size_t count = samples_make(SAMPLE_GRID, s);
  const char *path = write_text("g.body.json", "{\"mesh\": \"t.obj\",\n\"grids\": [\n"
                                               "{\"file\": \"g.npz\"}]}");
  snprintf(cause, sizeof cause, "json:3: its grid, %s: No such file", in_folder("g.npz"));
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_READ, path, cause);
  for (size_t i = 0; i < count; i++) {
    write_file("g.npz", s[i].bytes, s[i].count);
    REQUIRE_OK(abut_load_body(context, path, &body));
    REQUIRE_OK(abut_get_body_info(body, &info));
    CHECK_EQUAL(info.grids, 1);
    CHECK_EQUAL(info.blocks, 2 * i);
    REQUIRE_OK(abut_destroy_body(body));
    free(s[i].bytes);
  }
  path = write_text("h.body.json", "{\"mesh\": \"t.obj\",\n\"grids\": [{\"file\": \"\"}]}");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_FORMAT, path,
                 "json:2: grids[0].file: the path is empty");
  path = write_text("h.body.json", "{\"mesh\": \"t.obj\",\n\"grids\": [{\"name\": \"g.npz\"}]}");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_FORMAT, path, "json:2: ");
}

/* Archives that lack something, or hold something else. */
static void wrong_grids(void)
{
  static double c[343];
  static const double origin[3] = {0, 0, 0}, spacing = 0.5, narrow = 0.0, far[3] = {0, 2e6, 0};
  static const int32_t blocks[3] = {0, 0, 0};
  static const float corrections[512] = {NAN};
  for (size_t i = 0; i < 343; i++) {
    c[i] = 1.0;
  }
  const abut_array good[5] = {{"coefficients", ABUT_ARRAY_FLOAT64, 3, {7, 7, 7}, c},
                              {"origin", ABUT_ARRAY_FLOAT64, 1, {3}, origin},
                              {"spacing", ABUT_ARRAY_FLOAT64, 0, {0}, &spacing},
                              {"blocks_1", ABUT_ARRAY_INT32, 2, {1, 3}, blocks},
                              {"corrections_1", ABUT_ARRAY_FLOAT32, 4, {1, 8, 8, 8}, corrections}};
  const struct {
    int place; /* of `good` that is another */
    abut_array array;
    const char *text;
  } cases[] = {
    {0, {"coefs", ABUT_ARRAY_FLOAT64, 3, {7, 7, 7}, c}, "'coefficients': missing"},
    {1, {"o", ABUT_ARRAY_FLOAT64, 1, {3}, origin}, "'origin': missing"},
    {2, {"s", ABUT_ARRAY_FLOAT64, 0, {0}, &spacing}, "'spacing': missing"},
    {0,
     {"coefficients", ABUT_ARRAY_INT32, 3, {7, 7, 7}, c},
     "array 'coefficients': has dtype int32, expected float32 or float64"},
    {0,
     {"coefficients", ABUT_ARRAY_FLOAT64, 2, {7, 7}, c},
     "array 'coefficients': has 2 dimensions, expected 3"},
    {0, {"coefficients", ABUT_ARRAY_FLOAT64, 3, {7, 5, 7}, c}, "5 nodes along axis 1"},
    {1, {"origin", ABUT_ARRAY_FLOAT64, 1, {2}, origin}, "'origin': must have shape (3,)"},
    {1, {"origin", ABUT_ARRAY_FLOAT64, 1, {3}, far}, "'origin': number 1"},
    {2,
     {"spacing", ABUT_ARRAY_FLOAT64, 1, {1}, &spacing},
     "'spacing': has 1 dimensions, expected 0"},
    {2, {"spacing", ABUT_ARRAY_FLOAT64, 0, {0}, &narrow}, "'spacing': 0 is not in [1e-09, 1e+06]"},
    {3, {"blocks_2", ABUT_ARRAY_INT32, 2, {1, 3}, blocks}, "'blocks_1': missing"},
    {3, {"blocks_1", ABUT_ARRAY_INT64, 2, {1, 3}, c}, "has dtype int64, expected int32"},
    {3,
     {"blocks_1", ABUT_ARRAY_INT32, 2, {3, 1}, blocks},
     "'blocks_1': must have shape (B, 3), one row per block"},
    {3,
     {"blocks_1", ABUT_ARRAY_INT32, 2, {0, 3}, blocks},
     "'blocks_1': must have shape (B, 3), one row per block"},
    {4,
     {"corrections_2", ABUT_ARRAY_FLOAT32, 4, {1, 8, 8, 8}, corrections},
     "'corrections_1': missing"},
    {4,
     {"corrections_1", ABUT_ARRAY_FLOAT32, 4, {1, 8, 4, 16}, corrections},
     "array 'corrections_1': must have shape (1, 8, 8, 8)"},
    {4, {"corrections_9", ABUT_ARRAY_FLOAT32, 4, {1, 8, 8, 8}, corrections}, "9 levels"},
    {1, {"origin", ABUT_ARRAY_FLOAT64, 1, {3}, origin}, "'corrections_1': number 0"},
  };
  write_text("w.body.json", "{\"mesh\": \"t.obj\",\n\"grids\": [{\"file\": \"w.npz\"}]}");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    abut_array arrays[5];
    abut_body body;
    memcpy(arrays, good, sizeof good);
    arrays[cases[i].place] = cases[i].array;
    const char *archive = in_folder("w.npz");
    REQUIRE_OK(abut_write_npz(archive, arrays, 5));
    expect_failure(abut_load_body(context, in_folder("w.body.json"), &body), ABUT_ERROR_FORMAT,
                   archive, cases[i].text);
  }
}

static void smoothing(void)
{
  abut_smoothing s = abut_default_smoothing(), again;
  char *text;
  s.sort = 0.1;
  REQUIRE_OK(abut_format_smoothing(&s, &text));
  REQUIRE_OK(abut_load_smoothing(write_text("s.json", text), &again));
  abut_free(text);
  CHECK(again.sort == 0.1 && again.length == s.length && again.cookie == s.cookie);
  s.edge_contacts = ABUT_EDGES_FIELD;
  s.cone_inner = 15.0;
  s.cone_outer = 35.0;
  s.cone_hold = 2.0;
  REQUIRE_OK(abut_format_smoothing(&s, &text));
  REQUIRE_OK(abut_load_smoothing(write_text("s.json", text), &again));
  CHECK(again.edge_contacts == ABUT_EDGES_FIELD && again.cone_inner == 15.0 &&
        again.cone_outer == 35.0 && again.cone_hold == 2.0);
  /* Files that do not state cones have none, and none is out of range. */
  char *cones = strstr(text, " \"cone_inner\"");
  char *behind = cones ? strchr(strstr(cones, "\"cone_hold\""), '\n') + 1 : text;
  REQUIRE(cones != NULL);
  memmove(cones, behind, strlen(behind) + 1);
  REQUIRE_OK(abut_load_smoothing(write_text("s.json", text), &again));
  CHECK(again.cone_inner == 0.0 && again.cone_outer == 0.0 && again.cone_hold == 0.0 &&
        again.tilt == s.tilt);
  abut_free(text);
  s.cone_outer = 181.0;
  REQUIRE_OK(abut_format_smoothing(&s, &text));
  const char *wide = write_text("s.json", text);
  abut_free(text);
  expect_failure(abut_load_smoothing(wide, &again), ABUT_ERROR_FORMAT, wide,
                 "cone_outer: 181 is not in [0, 180]");
  const char *path = write_text("s.json", "{\n\"length\": 0}");
  expect_failure(abut_load_smoothing(path, &again), ABUT_ERROR_FORMAT, path, "json:2: length: ");
  path = in_folder("none.json");
  expect_failure(abut_load_smoothing(path, &again), ABUT_ERROR_READ, path, "No such file");
}

int main(void)
{
  start();
  good();
  misfits();
  features();
  cones_of_the_mesh();
  diagnostics();
  written();
  wrong();
  grids();
  wrong_grids();
  smoothing();
  stop();
  return check_finish();
}
