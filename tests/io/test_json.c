#include "body/family/family.h"
#include "io/body_file.h"
#include "io/smoothing_file.h"
#include "samples.h"
#include "support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void good_body(void)
{
  sample s[SAMPLE_LIMIT];
  body_file b;
  require(CHECK_EQUAL(samples_make(SAMPLE_BODY, s), 4));
  REQUIRE_OK(body_file_parse("some/where/x.body.json", s[0].bytes, s[0].count, &b));
  CHECK_TEXT(b.name, "part");
  CHECK_TEXT(b.mesh_path, "some/where/part.obj");
  require(CHECK_EQUAL(b.def.superquadric_count, 1));
  CHECK(b.def.union_ == 0.005);
  CHECK(b.def.superquadrics[0].axes[2] == 0.2 && b.def.superquadrics[0].exponents[1] == 2);
  CHECK(b.def.superquadrics[0].position[1] == -1);
  CHECK(b.def.superquadrics[0].quaternion[0] == 1);
  CHECK_EQUAL(b.def.superquadrics[0].operation, ABUT_SUBTRACT);
  require(CHECK_EQUAL(b.def.polyhedron_count, 1));
  require(CHECK_EQUAL(b.def.polyhedra[0].count, 2));
  CHECK(b.def.polyhedra[0].planes[8] == -1);
  CHECK_EQUAL(b.def.polyhedra[0].operation, ABUT_ADD); /* unless given */
  require(CHECK_EQUAL(b.def.pointcloud_count, 1));
  CHECK(b.def.pointclouds[0].count == 1 && b.def.pointclouds[0].points[6] == 0.1);
  require(CHECK_EQUAL(b.def.core_count, 2));
  const abut_core *c = b.def.cores;
  CHECK(c[0].kind == ABUT_CORE_BOX && c[0].half[1] == 0 && c[0].half[2] == 2 &&
        c[0].radius == 0.25);
  CHECK(c[0].position[1] == 1 && c[0].quaternion[1] == 1 && c[0].operation == ABUT_ADD);
  CHECK(c[1].kind == ABUT_CORE_DISC && c[1].half[0] == 0.5 && c[1].half[1] == 0.125 &&
        c[1].radius == 0.1);
  CHECK(c[1].position[2] == 3 && c[1].quaternion[3] == 1 && c[1].operation == ABUT_SUBTRACT);
  CHECK(b.cloud.source == CLOUD_FACES && b.cloud.eps1 == 1e-4 && b.cloud.area_weight);
  CHECK(!b.cloud.points && !b.cloud.count);
  CHECK(!b.def.states_features && b.def.sharp == 20.0 && b.def.cones == ABUT_CONES_OF_MESH);
  body_file_free(&b);
  free(s[0].bytes);
  /* A cloud alone: no field. */
  REQUIRE_OK(body_file_parse("x.body.json", s[1].bytes, s[1].count, &b));
  CHECK(b.cloud.source == CLOUD_POINTS && !b.cloud.area_weight && b.cloud.eps1 == 0.0);
  require(CHECK_EQUAL(b.cloud.count, 2));
  CHECK(b.cloud.points[2] == 0.5 && b.cloud.points[5] == 1.0 && b.cloud.points[6] == 1e-3);
  CHECK(fabs(b.cloud.points[10] - 0.6) < 1e-15 && fabs(b.cloud.points[12] - 0.8) < 1e-15);
  CHECK(!b.def.superquadric_count && !b.def.polyhedron_count && !b.def.pointcloud_count);
  body_file_free(&b);
  free(s[1].bytes);
  free(s[2].bytes);
  free(s[3].bytes);
}

/* Features are as the file has them: edges first, then arcs. */
static void good_features(void)
{
  static const double vertices[12] = {0, 0, 0, 0.1, 0.5, 0, 0, 0, 0, 0.5, 0, 0.25};
  static const double cones[12] = {0, 0, 1, 45, 0, 0, 0, 180, 3, 0, 0, 0.5};
  sample s[SAMPLE_LIMIT];
  const size_t count = samples_make(SAMPLE_BODY, s);
  body_file b;
  REQUIRE_OK(body_file_parse("x.body.json", s[3].bytes, s[3].count, &b));
  CHECK(b.def.states_features && b.def.sharp == 12.5 && b.def.cones == ABUT_CONES_GIVEN);
  require(CHECK_EQUAL(b.def.feature_vertex_count, 3) && CHECK_EQUAL(b.def.feature_edge_count, 2));
  CHECK(!memcmp(b.def.feature_vertices, vertices, sizeof vertices));
  const abut_feature_edge *e = b.def.feature_edges;
  CHECK(e[0].from == 1 && e[0].to == 0 && e[0].radius == 0.1 && !e[0].arc);
  CHECK(e[1].from == 2 && e[1].to == 1 && e[1].radius == 0.2 && e[1].arc);
  CHECK(e[1].centre[2] == 3 && e[1].axis[2] == -2 && e[1].axis[0] == 0);
  require(CHECK_EQUAL(b.def.feature_circle_count, 1));
  const abut_feature_circle *c = b.def.feature_circles;
  CHECK(c->centre[2] == 1 && c->axis[1] == 2 && c->size == 0.5 && c->radius == 0.125);
  require(CHECK_EQUAL(b.def.vertex_cone_count, 3) && CHECK_EQUAL(b.def.edge_cone_count, 1));
  CHECK(!memcmp(b.def.vertex_cones, cones, sizeof cones));
  CHECK(b.def.edge_cone_ends[0] == 1 && b.def.edge_cone_ends[1] == 2);
  CHECK(b.def.edge_cones[2] == 1 && b.def.edge_cones[3] == 60);
  body_file_free(&b);
  const char *text =
    "{\"mesh\": \"a\", \"polyhedra\": [{\"planes\": [[0,0,1,0,0,0]]}], \"cones\": false,\n"
    "\"features\": {\"vertices\": []}}";
  REQUIRE_OK(body_file_parse("x.body.json", text, strlen(text), &b));
  CHECK(b.def.cones == ABUT_CONES_NONE && b.def.states_features && !b.def.feature_vertex_count);
  body_file_free(&b);
  for (size_t i = 0; i < count; ++i) {
    free(s[i].bytes);
  }
}

/* Rows begin at the lower end of y; without a mesh the body has the height field's. */
static void good_heights(void)
{
  static const double wanted[6] = {0.0, 0.25, -0.125, 0.5, 1.0, 0.0625};
  sample s[SAMPLE_LIMIT];
  const size_t count = samples_make(SAMPLE_BODY, s);
  body_file b;
  REQUIRE_OK(body_file_parse("x.body.json", s[2].bytes, s[2].count, &b));
  require(CHECK_EQUAL(b.def.height_field_count, 1));
  const abut_height_field *h = b.def.height_fields;
  CHECK(h->rows == 2 && h->columns == 3 && h->step == 2 && h->base == 0.25);
  CHECK(h->size[0] == 0.75 && h->size[1] == 0.5 && h->operation == ABUT_ADD);
  CHECK(memcmp(h->heights, wanted, sizeof wanted) == 0);
  CHECK(!b.mesh_path && !b.def.face_count);
  CHECK_EQUAL(b.def.vertex_count, 4 + 4); /* of columns 0 and 2, and the base's corners */
  CHECK(b.def.vertices[3] == 0.75 && b.def.vertices[5] == -0.125);
  body_file_free(&b);
  for (size_t i = 0; i < count; ++i) {
    free(s[i].bytes);
  }
}

/* Heights of files: .npy from the lower end of y, .png from the higher one. */
static void heights_of_files(void)
{
  static const double wanted[4][6] = {{0, 0.5, -0.25, 1, 2, 0.125},
                                      {0, -3, 1, 4, 2, 5},
                                      {0.6, 1 / 65535.0, 0.4, 0, 1, 0.2},
                                      {0.8, 0.6, 0.2, 0.4, 0, 1}};
  sample s[SAMPLE_LIMIT];
  const size_t count = samples_make(SAMPLE_HEIGHTS, s);
  for (size_t i = 0; i < count; ++i) {
    char text[160];
    body_file b;
    write_file(i < 2 ? "h.NPY" : "h.png", s[i].bytes, s[i].count);
    snprintf(
      text, sizeof text,
      "{\"height_fields\": [{\"file\": \"%s\", \"size\": [1, 1], \"scale\": 3, \"base\": 10}]}",
      i < 2 ? "h.NPY" : "h.png");
    const char *path = write_text("h.body.json", text);
    if (CHECK_OK(body_file_read(path, &b))) {
      const abut_height_field *h = b.def.height_fields;
      CHECK(h->rows * h->columns == 6 && h->columns == (i % 3 ? i == 1 ? 2 : 3 : i ? 2 : 3));
      for (size_t k = 0; k < 6; ++k) {
        check(fabs(h->heights[k] - 3.0 * wanted[i][k]) < 1e-15, "file %zu: height %zu is %.17g", i,
              k, h->heights[k]);
      }
      body_file_free(&b);
    }
    free(s[i].bytes);
  }
}

/* Heights of 16 bits, as height maps come, times the scale. */
static void heights_of_16_bits(void)
{
  static const uint16_t heights[] = {0, 1000, 65535, 32768, 1, 2};
  char bytes[192], header[118];
  body_file b;
  snprintf(header, sizeof header, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }");
  memset(bytes, ' ', 10 + sizeof header);
  memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy(bytes + 10, header, strlen(header));
  memcpy(bytes + 10 + sizeof header, heights, sizeof heights);
  write_file("h.npy", bytes, 10 + sizeof header + sizeof heights);
  const char *path = write_text("h.body.json",
                                "{\"height_fields\": [{\"file\": \"h.npy\", \"size\": [9, 9], "
                                "\"scale\": 0.0001, \"base\": 1}]}");
  REQUIRE_OK(body_file_read(path, &b));
  for (size_t k = 0; k < 6; ++k) {
    check(fabs(b.def.height_fields->heights[k] - 1e-4 * heights[k]) < 1e-15, "height %zu is %.17g",
          k, b.def.height_fields->heights[k]);
  }
  body_file_free(&b);
}

/* A file has a field where it has primitives of whatever family. */
static void any_family(void)
{
  const int place = 0;
  abut_body_def def = {0};
  CHECK(!family_any(&def));
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    family_set(families[i], &def, &place, 1);
    check(family_any(&def), "%s make no field", families[i]->key);
    family_set(families[i], &def, NULL, 0);
  }
}

static void mesh_paths(void)
{
  static const char *const cases[][3] = {
    {"a.json", "m.obj", "m.obj"},
    {"/d/a.json", "../m.obj", "/d/../m.obj"},
    {"/d/a.json", "/e/m.obj", "/e/m.obj"},
    {"d/e/a.json", "f/m.obj", "d/e/f/m.obj"},
  };
  for (size_t i = 0; i < 4; i++) {
    char json[256];
    body_file b;
    snprintf(json, sizeof json,
             "{\"mesh\": \"%s\", \"polyhedra\": [{\"planes\": [[1,0,0,0,0,0]]}]}", cases[i][1]);
    REQUIRE_OK(body_file_parse(cases[i][0], json, strlen(json), &b));
    CHECK_TEXT(b.mesh_path, cases[i][2]);
    CHECK(!b.name);
    body_file_free(&b);
  }
}

/* Editors on Windows put a byte order mark before the text. Lines count as without it, and a mark
 * anywhere else is a fault. */
static void byte_order_mark(void)
{
  static const char bad[] = "\xEF\xBB\xBF{\n\"mesh\": 3}";
  static const char inner[] = "{\n\xEF\xBB\xBF}";
  sample s[SAMPLE_LIMIT];
  body_file b;
  const size_t count = samples_make(SAMPLE_BODY, s);
  char *marked = malloc(3 + s[0].count);
  require(marked != NULL);
  memcpy(marked, "\xEF\xBB\xBF", 3);
  memcpy(marked + 3, s[0].bytes, s[0].count);
  REQUIRE_OK(body_file_parse("x.body.json", marked, 3 + s[0].count, &b));
  CHECK_TEXT(b.name, "part");
  CHECK(b.def.superquadrics[0].axes[2] == 0.2);
  body_file_free(&b);
  free(marked);
  for (size_t i = 0; i < count; ++i) {
    free(s[i].bytes);
  }
  expect_failure(body_file_parse("b", bad, sizeof bad - 1, &b), ABUT_ERROR_FORMAT,
                 "b:2: ", "mesh: must be a string");
  expect_failure(body_file_parse("b", inner, sizeof inner - 1, &b), ABUT_ERROR_FORMAT, "b:2: ", "");
}

#define SQ(axes, exponents, position, quaternion, more)               \
  "{\n\"mesh\": \"a.obj\",\n\"superquadrics\": [\n{\n\"axes\": " axes \
  ",\n\"exponents\": " exponents ",\n\"position\": " position         \
  ",\n\"quaternion\": " quaternion more "\n}\n]\n}\n"
#define GOOD_SQ                                                       \
  "{\"axes\": [1,1,1], \"exponents\": [1,1], \"position\": [0,0,0], " \
  "\"quaternion\": [1,0,0,0]}"
#define PH(rows) "{\n\"mesh\": \"a.obj\",\n\"polyhedra\": [\n{\"planes\": " rows "}]}"
#define PC(rows) "{\n\"mesh\": \"a.obj\",\n\"pointclouds\": [\n{\"points\": " rows "}]}"

#define AOPC(what) "{\n\"mesh\": \"a.obj\",\n\"aopc\": " what "}"
#define AOPC_POINTS(rows) AOPC("{\"source\": \"points\", \"points\":\n" rows "}")

#define CORE(lengths, radius)                                                      \
  "{\n\"mesh\": \"a.obj\",\n\"cores\": [\n{" lengths "\n\"radius\": " radius ",\n" \
  "\"position\": [0, 0, 0],\n\"quaternion\": [1, 0, 0, 0]}]}"
#define FE(members) \
  "{\"mesh\": \"a.obj\", \"polyhedra\": [{\"planes\": [[0,0,1,0,0,0]]}],\n" members "}"
#define FE_ROOM "\"vertices\": [[0,0,0,0], [1,0,0,0], [0,1,0,0]],\n"
#define FE_EDGES(rows) FE("\"features\": {" FE_ROOM "\"edges\": " rows "}")
#define FE_ARCS(rows) FE("\"features\": {" FE_ROOM "\"edges\": [[0, 1, 0]], \"arcs\": " rows "}")
#define FE_CIRCLES(rows) FE("\"features\": {" FE_ROOM "\"circles\": " rows "}")
#define FE_CONES(cones) FE("\"features\": {" FE_ROOM "\"edges\": [[0, 1, 0]]}, \"cones\":\n" cones)

#define HF(members) "{\"height_fields\": [\n{" members "}]}"
#define HFS "\"size\": [1, 1], "

static const struct {
  const char *text, *start, *part;
} wrong_bodies[] = {
  {"", "b:1: ", ""},
  {"[]", "b:1: ", "must be an object"},
  {"{\n\"mesh\": \"a\",\n}", "b:3: ", "expected"},
  {"{}", "b:1: ", "the key 'mesh' is missing"},
  {"\n\n{\"name\": \"x\"}", "b:3: ", "the key 'mesh' is missing"},
  {"{\"mesh\": 3}", "b:1: ", "mesh: must be a string"},
  {"{\"mesh\": \"\"}", "b:1: ", "mesh: the path is empty"},
  {"{\"mesh\": \"a\",\n\"surface\": \"\"}", "b:2: ", "surface: the path is empty"},
  {"{\"mesh\": \"a\",\n\"surface\": false}", "b:2: ", "surface: must be a string"},
  {"{\"mesh\": \"a\\u0000b\"}", "b:1: ", "NUL"},
  {"{\n\"name\": null,\n\"mesh\": \"a\"}", "b:2: ", "name: must be a string"},
  {"{\n\"mesh\": \"a\",\n\"mesh\": \"b\"}", "b:3: ", "duplicate"},
  {"{\n\"mesh\": \"a\",\n\"spheres\": []}", "b:3: ", "spheres: unknown key"},
  {"{\"mesh\": \"a\",\n\"spher\\u0065s\": []}", "b:2: ", "spheres: unknown key"},
  {"{\"mesh\": \"a\"}", "b:1: ", "no primitive has the operation \"add\""},
  {"{\"mesh\": \"a\",\n\"superquadrics\": {}}", "b:2: ", "superquadrics: must be an array"},
  {"{\"mesh\": \"a\",\n\"union\": 0}", "b:2: ", "union: 0 is not in [1e-06, 1e+09]"},
  {"{\"mesh\": \"a\",\n\"union\": -0.1}", "b:2: ", "union: -0.1 is not in"},
  {"{\"mesh\": \"a\",\n\"union\": \"thin\"}", "b:2: ", "union: must be a number"},
  {"{\"mesh\": \"a\",\n\"superquadrics\": [\n3]}", "b:3: ", "superquadrics[0]: must be an object"},
  {"{\"mesh\": \"a\",\n\"superquadrics\": [" GOOD_SQ ",\n\n{}]}",
   "b:4: ", "superquadrics[1]: the key 'axes' is missing"},
  {SQ("[1, 1]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ""),
   "b:5: ", "superquadrics[0].axes: has 2 elements, expected 3"},
  {SQ("3", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ""), "b:5: ", "axes: must be an array"},
  {SQ("[1,\n\"1\", 1]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ""),
   "b:6: ", "superquadrics[0].axes[1]: must be a number"},
  {SQ("[1, 1,\n\n0]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ""),
   "b:7: ", "superquadrics[0].axes[2]: 0 is not in [1e-06, 1e+06]"},
  {SQ("[1, -1, 1]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ""),
   "b:5: ", "superquadrics[0].axes[1]: -1 is not in [1e-06, 1e+06]"},
  {SQ("[1, 1, 1]", "[0, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ""),
   "b:6: ", "exponents[0]: 0 is not in (0, 2]"},
  {SQ("[1, 1, 1]", "[1, 2.001]", "[0, 0, 0]", "[1, 0, 0, 0]", ""),
   "b:6: ", "superquadrics[0].exponents[1]: 2.001 is not in (0, 2]"},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, 2e6]", "[1, 0, 0, 0]", ""), "b:7: ", "position[2]"},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, 1e999]", "[1, 0, 0, 0]", ""), "b:7: ", "overflow"},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, NaN]", "[1, 0, 0, 0]", ""), "b:7: ", "invalid token"},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, 0]", "[0, 0.0, 0, -0.0]", ""),
   "b:8: ", "superquadrics[0].quaternion: the quaternion has length 0"},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ",\n\"operation\": \"cut\""),
   "b:9: ", "operation: must be \"add\" or \"subtract\""},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ",\n\"operation\": 1"),
   "b:9: ", "operation: must be a string"},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ",\n\n\"radius\": 1"),
   "b:10: ", "superquadrics[0].radius: unknown key"},
  {SQ("[1, 1, 1]", "[1, 1]", "[0, 0, 0]", "[1, 0, 0, 0]", ",\"operation\": \"subtract\""),
   "b:1: ", "no primitive has the operation \"add\""},
  {PH("[]"), "b:4: ", "planes: must not be empty"},
  {PH("{}"), "b:4: ", "planes: must be an array"},
  {PH("[1]"), "b:4: ", "planes[0]: must be an array"},
  {PH("[[0,0,1,0,0,0],\n[0,0,1,0,0]]"),
   "b:5: ", "polyhedra[0].planes[1]: has 5 elements, expected 6"},
  {PH("[[0,0,1,0,0,0],\n\n[0,0,0,0,0,0]]"), "b:6: ", "the normal has length 0"},
  {PH("[[0,0,1,0,0,\n1e7]]"), "b:5: ", "planes[0][5]"},
  {PC("[[0,0,0,0,0,0,1]]"), "b:4: ", "points[0]: the normal has length 0"},
  {PC("[[0,0,0,0,0,1,\n0]]"), "b:5: ", "points[0][6]: 0 is not in [1e-06, 1e+06]"},
  {PC("[[0,0,0,0,0,1,-1]]"), "b:4: ", "points[0][6]: -1 is not in [1e-06, 1e+06]"},
  {PC("[[0,0,0,0,0,1,1],\n[0,0,0,0,0,1,9.9e-7]]"),
   "b:5: ", "points[1][6]: 9.9e-07 is not in [1e-06, 1e+06]"},
  {PC("[[0,0,0,0,0,1,\n\n1.1e6]]"), "b:6: ", "points[0][6]: 1100000 is not in [1e-06, 1e+06]"},
  {PC("[[0,0,0,0,0,1]]"), "b:4: ", "pointclouds[0].points[0]: has 6 elements, expected 7"},
  {"{\"mesh\": \"a\", \"polyhedra\": [{}]}", "b:1: ", "the key 'planes' is missing"},
  {"{\"mesh\": \"a\", \"pointclouds\": [{\"points\": [[1,2,3]], \"planes\": 1}]}",
   "b:1: ", "planes: unknown key"},
  {"{\"mesh\": \"a\",\n\"cores\": [{\"box\": [1, 1, 1]}]}",
   "b:2: ", "cores[0]: the key 'radius' is missing"},
  {"{\"mesh\": \"a\",\n\"cores\": [{\"box\": [1, 1, 1], \"radius\": 1}]}",
   "b:2: ", "cores[0]: the key 'position' is missing"},
  {CORE("", "1"), "b:4: ", "cores[0]: has no box and no disc; a core has one of them"},
  {CORE("\"box\": [1, 1, 1], \"disc\": [1, 1],", "1"),
   "b:4: ", "cores[0]: has both a box and a disc; a core has only one of them"},
  {CORE("\"box\": [1, 1],", "1"), "b:4: ", "cores[0].box: has 2 elements, expected 3"},
  {CORE("\"disc\": [1, 1, 1],", "1"), "b:4: ", "cores[0].disc: has 3 elements, expected 2"},
  {CORE("\"box\": [1,\n-1e-9, 1],", "1"),
   "b:5: ", "cores[0].box[1]: is -1e-09; it must be 0 or above and at most 1e+06"},
  {CORE("\"box\": [1, 1,\n2e6],", "1"),
   "b:5: ", "cores[0].box[2]: is 2000000; it must be 0 or above and at most 1e+06"},
  {CORE("\"disc\": [1,\n0],", "1"),
   "b:5: ", "cores[0].disc[1]: is 0; it must be above 0 and at most 1e+06"},
  {CORE("\"disc\": [\n-1, 1],", "1"),
   "b:5: ", "cores[0].disc[0]: is -1; it must be above 0 and at most 1e+06"},
  {CORE("\"box\": [1, 1, 1],", "0"), "b:5: ", "cores[0].radius: 0 is not in [1e-09, 1e+06]"},
  {CORE("\"box\": [1, 1, 1],", "-2"), "b:5: ", "cores[0].radius: -2 is not in [1e-09, 1e+06]"},
  {CORE("\"box\": [1, 1, 1],", "1e7"),
   "b:5: ", "cores[0].radius: 10000000 is not in [1e-09, 1e+06]"},
  {CORE("\"box\": [1, 1, 1],", "[1]"), "b:5: ", "cores[0].radius: must be a number"},
  {CORE("\"box\": [1, 1, 1],", "1, \"axes\": 1"), "b:5: ", "cores[0].axes: unknown key"},
  {"{\"name\": \"n\", \"height_fields\": []}",
   "b:1: ", "the body needs a mesh, or an added height field, which has its own mesh"},
  {HF("\"heights\": [[0, 1], [0, 1]], \"base\": 1"), "b:2: ", "the key 'size' is missing"},
  {HF("\"heights\": [[0, 1], [0, 1]], \"size\": [1, 1]"), "b:2: ", "the key 'base' is missing"},
  {HF(HFS "\"base\": 1"),
   "b:2: ", "height_fields[0]: has no heights and no file; give one of them"},
  {HF(HFS "\"base\": 1, \"heights\": [], \"file\": \"h.png\""), "b:2: ", "both heights and a file"},
  {HF(HFS "\"base\": 1, \"heights\": [[0, 1]]"),
   "b:2: ", "heights: has 1 rows, expected 2 to 2048"},
  {HF(HFS "\"base\": 1, \"heights\": [[0],\n[1]]"),
   "b:2: ", "heights[0]: has 1 heights, expected 2 to 2048"},
  {HF(HFS "\"base\": 1, \"heights\": [[0, 1],\n[0, 1],\n[0, 1, 2]]"),
   "b:4: ", "height_fields[0].heights[2]: has 3 heights, but the first row has 2"},
  {HF(HFS "\"base\": 1, \"heights\": [[0, 1],\n[0, \"x\"]]"),
   "b:3: ", "heights[1][1]: must be a number"},
  {HF(HFS "\"base\": 1, \"heights\": [[0, 1],\n[0, -1]]"),
   "b:3: ", "heights[1][1]: the height -1 m is not above the base at -1 m"},
  {HF(HFS "\"base\": 1, \"heights\": [[0, 1],\n[2e7, 1]]"),
   "b:3: ", "heights[1][0]: the height 2e+07 m is not within +-1e+06"},
  {HF(HFS "\"base\": 1, \"heights\": [[0, 1],\n[5e5, 1]]"), "b:3: ", "steeper than 10000"},
  {HF(HFS "\"base\": 1, \"heights\": [[0, 1],\n[0, NaN]]"), "b:3: ", "invalid token"},
  {HF(HFS "\n\"base\": 0, \"heights\": [[0, 1], [0, 1]]"),
   "b:3: ", "base: 0 is not in [1e-06, 1e+06]"},
  {HF(HFS "\n\"base\": 1, \"scale\": -1, \"heights\": [[0, 1], [0, 1]]"),
   "b:3: ", "scale: -1 is not in [1e-06, 1e+06]"},
  {HF(HFS "\n\"base\": 1, \"step\": 0, \"heights\": [[0, 1], [0, 1]]"),
   "b:3: ", "step: is 0; it must be above 0"},
  {HF("\"size\": [1,\n-1], \"base\": 1, \"heights\": [[0, 1], [0, 1]]"),
   "b:3: ", "size[1]: -1 is not in [1e-06, 1e+06]"},
  {HF(HFS "\"base\": 1, \"file\": \"h.jpg\""), "b:2: ", "file: must end with .png or .npy"},
  {AOPC("1"), "b:3: ", "aopc: must be an object"},
  {FE("\"features\": 1"), "b:2: ", "features: must be an object"},
  {FE("\"features\": {}"), "b:2: ", "features: the key 'vertices' is missing"},
  {FE("\"features\": {\"vertices\": [],\n\"faces\": []}"), "b:3: ", "features.faces: unknown key"},
  {FE("\"features\": {\"vertices\": 1}"), "b:2: ", "features.vertices: must be an array"},
  {FE("\"features\": {\"vertices\": [[0,0,0]]}"),
   "b:2: ", "features.vertices[0]: has 3 elements, expected 4"},
  {FE("\"features\": {\"vertices\": [[0,0,0,0],\n[0,0,0,-1]]}"),
   "b:3: ", "vertices[1]: its radius is -1, not in [0, "},
  {FE("\"features\": {\"vertices\": [[0,0,0,1e7]]}"), "b:2: ", "vertices[0]: its radius is 1e+07"},
  {FE("\"features\": {\"vertices\": [[0,-2e6,0,1]]}"),
   "b:2: ", "vertices[0]: its place is 0 -2e+06 0, not within"},
  {FE("\"features\": {\"vertices\": [], \"edges\": [\n[0, 1, 0]]}"),
   "b:3: ", "edges[0]: the body has no vertices"},
  {FE_EDGES("3"), "b:3: ", "features.edges: must be an array"},
  {FE_EDGES("[[0, 1]]"), "b:3: ", "features.edges[0]: has 2 elements, expected 3"},
  {FE_EDGES("[[0, 1, 0],\n[0, 3, 0]]"), "b:4: ", "edges[1][1]: must be a whole number from 0 to 2"},
  {FE_EDGES("[[-1, 1, 0]]"), "b:3: ", "edges[0][0]: must be a whole number from 0 to 2"},
  {FE_EDGES("[[0.5, 1, 0]]"), "b:3: ", "edges[0][0]: must be a whole number from 0 to 2"},
  {FE_EDGES("[[2, 2, 0]]"), "b:3: ", "edges[0]: both of its ends are vertex 2"},
  {FE_EDGES("[[0, 2, -0.1]]"), "b:3: ", "edges[0]: its radius is -0.1"},
  {FE_EDGES("[[0, 2, 0],\n[0, 1, 0],\n[2, 0, 1]]"),
   "b:5: ", "edges[2]: has the same ends as edge 0"},
  {FE_ARCS("[[1, 2, 0, 0,0,0, 0,0]]"), "b:3: ", "features.arcs[0]: has 8 elements, expected 9"},
  {FE_ARCS("[[1, 2, 0, 0,0,0, 0,0,0]]"), "b:3: ", "arcs[0]: its axis is 0 0 0, not a direction"},
  {FE_ARCS("[[1, 2, 0, 0,0,2e6, 0,0,1]]"), "b:3: ", "arcs[0]: its centre is 0 0 2e+06, not within"},
  {FE_ARCS("[[1, 2, 0, 0.1,0,0, 0,0,1]]"), "b:3: ",
   "arcs[0]: its ends are 0.9 and 1.00498756 from the axis, so they are not on one circle"},
  {FE_ARCS("[[1, 2, 0, 0.5,0.5,0, 1,0,1]]"),
   "b:3: ", "features.arcs[0]: its ends are at 0.353553391 and -0.353553391 along the axis"},
  {FE_ARCS("[[2, 1, 0, 0,0,0, 0,0,1]]"),
   "b:3: ", "arcs[0]: it turns by -1.570796 rad about its axis"},
  {FE_ARCS("[[1, 2, 0, 0.5,0.5,0, 0,0,1]]"), "b:3: ", "arcs[0]: it turns by "},
  {FE_CIRCLES("1"), "b:3: ", "features.circles: must be an array"},
  {FE_CIRCLES("[[0,0,0, 0,0,1, 1]]"), "b:3: ", "features.circles[0]: has 7 elements, expected 8"},
  {FE_CIRCLES("[[0,0,0, 0,0,1, 1,0],\n[0,0,0, 0,0,0, 1,0]]"),
   "b:4: ", "circles[1]: its axis is 0 0 0, not a direction"},
  {FE_CIRCLES("[[0,2e6,0, 0,0,1, 1,0]]"),
   "b:3: ", "circles[0]: its centre is 0 2e+06 0, not within"},
  {FE_CIRCLES("[[0,0,0, 0,0,1, 0,0]]"), "b:3: ", "circles[0]: its size is 0, not in (0, 1e+06]"},
  {FE_CIRCLES("[[0,0,0, 0,0,1, 1,-1]]"), "b:3: ", "circles[0]: its radius is -1, not in [0, "},
  {FE_ARCS("[[1, 2, 0, 0,0,0, 0,0,1],\n[1, 0, 0, 0.5,-1,0, 0,0,1]]"),
   "b:4: ", "arcs[1]: has the same ends as edge 0"},
  {FE_ARCS("[[1, 2, 0, 0,0,0, 0,0,1],\n[2, 1, 0, 0,0,0, 0,0,-1]]"),
   "b:4: ", "arcs[1]: has the same ends as arc 0"},
  {FE("\"sharp\": -1"), "b:2: ", "sharp: sharp is -1 degrees, not in [0, 180)"},
  {FE("\"sharp\": 180"), "b:2: ", "sharp: sharp is 180 degrees"},
  {FE("\"sharp\": true"), "b:2: ", "sharp: must be a number"},
  {FE("\"cones\": true"), "b:2: ", "cones: must be an object or false"},
  {FE_CONES("{\"faces\": []}"), "b:4: ", "cones.faces: unknown key"},
  {FE_CONES("{\"vertices\": [[0,0,1,1]]}"), "b:4: ", "cones.vertices: has 1 cones for 3 vertices"},
  {FE_CONES("{\"vertices\": [[0,0,1]]}"), "b:4: ", "cones.vertices[0]: has 3 elements, expected 4"},
  {FE_CONES("{\"vertices\": [[0,0,1,181]]}"),
   "b:4: ", "vertices[0]: its half angle is 181 degrees, not in [0, 180]"},
  {FE_CONES("{\"vertices\": [[0,0,0,90]]}"),
   "b:4: ", "vertices[0]: its axis is 0 0 0, not a direction"},
  {FE_CONES("{\"edges\": [[0,1,0,0,1]]}"), "b:4: ", "cones.edges[0]: has 5 elements, expected 6"},
  {FE_CONES("{\"edges\": [[0,3,0,0,1,1]]}"),
   "b:4: ", "cones.edges[0][1]: must be a whole number from 0 to 2"},
  {FE_CONES("{\"edges\": [[0,1,0,0,1,\n-1]]}"),
   "b:4: ", "cones.edges[0]: its half angle is -1 degrees"},
  {FE_CONES("{\"edges\": [[0,1,0,0,1,1],[2,0,0,0,1,1]]}"),
   "b:4: ", "cones.edges: edge cone 1 names vertices 2 and 0, but no edge joins them"},
  {FE_CONES("{\"edges\": [[0,1,0,0,1,1],[1,0,0,0,1,1]]}"),
   "b:4: ", "edge cone 1 has the same ends as edge cone 0"},
  {AOPC("{}"), "b:3: ", "aopc: the key 'source' is missing"},
  {AOPC("{\"source\": 1}"), "b:3: ", "aopc.source: must be a string"},
  {AOPC("{\n\"source\": \"mesh\"}"), "b:4: ", "aopc.source: must be \"faces\" or \"points\""},
  {AOPC("{\"source\": \"faces\",\n\"points\": []}"), "b:4: ", "aopc.points: unknown key"},
  {AOPC("{\"source\": \"faces\",\n\"eps1\": 0}"), "b:4: ", "aopc.eps1: 0 must be above 0"},
  {AOPC("{\"source\": \"faces\",\n\"area_weight\": 1}"),
   "b:4: ", "aopc.area_weight: must be true or false"},
  {AOPC("{\"source\": \"points\"}"), "b:3: ", "aopc: the key 'points' is missing"},
  {AOPC("{\"source\": \"points\",\n\"eps1\": 1}"), "b:4: ", "aopc.eps1: unknown key"},
  {AOPC_POINTS("[]"), "b:3: ", "aopc.points: has 0 points, expected 1 to 1048576"},
  {AOPC_POINTS("{}"), "b:3: ", "aopc.points: must be an array"},
  {AOPC_POINTS("[[0,0,0,0,0,1,1],\n[0,0,0,0,0,1]]"),
   "b:5: ", "points[1]: has 6 elements, expected 7"},
  {AOPC_POINTS("[[0,0,0,0,0,0,1]]"), "b:4: ", "points[0]: the normal has length 0"},
  {AOPC_POINTS("[[0,0,0,0,0,1,\n-1]]"), "b:5: ", "aopc.points[0][6]: -1 must be above 0"},
  /* brackets and quotes within strings do not lead the search for the line astray */
  {"{\"name\": \"}]\\\"{[\",\n\"mesh\": \"a\",\n\"polyhedra\": [{\"planes\": []}]}",
   "b:3: ", "must not be empty"},
};

static void wrong_body(void)
{
  for (size_t i = 0; i < sizeof wrong_bodies / sizeof *wrong_bodies; i++) {
    body_file b;
    const char *text = wrong_bodies[i].text;
    expect_failure(body_file_parse("b", text, strlen(text), &b), ABUT_ERROR_FORMAT,
                   wrong_bodies[i].start, wrong_bodies[i].part);
    CHECK(!b.mesh_path && !b.def.superquadrics && !b.memory.at);
  }
  body_file b;
  const char *path = in_folder("none.body.json");
  expect_failure(body_file_read(path, &b), ABUT_ERROR_READ, path, "No such file");
  path = write_text("a.body.json", "{\"mesh\": \"a\",\n\"x\": 1}");
  expect_failure(body_file_read(path, &b), ABUT_ERROR_FORMAT, path, "a.body.json:2: x: ");
  path = write_text("a.body.json", HF(HFS "\"base\": 1, \"file\": \"none.npy\""));
  expect_failure(body_file_read(path, &b), ABUT_ERROR_READ, path, "a.body.json:2: its heights, ");
}

/* A deep nest is refused by the parser, not by the stack. */
static void deep_nest(void)
{
  enum { DEPTH = 100000 };
  buffer b = {0};
  body_file file;
  buffer_text(&b, "{\"mesh\": \"a\", \"polyhedra\": ");
  for (int i = 0; i < DEPTH; i++) {
    buffer_put(&b, "[", 1);
  }
  expect_failure(body_file_parse("b", b.bytes, b.count, &file), ABUT_ERROR_FORMAT,
                 "b:1: ", "depth");
  free(b.bytes);
}

static abut_smoothing read_sample(void)
{
  sample s[SAMPLE_LIMIT];
  abut_smoothing m;
  memset(&m, 0, sizeof m);
  samples_make(SAMPLE_SMOOTHING, s);
  REQUIRE_OK(smoothing_parse("s", s[0].bytes, s[0].count, &m));
  free(s[0].bytes);
  return m;
}

static void good_smoothing(void)
{
  abut_smoothing m = read_sample();
  CHECK(m.length == 1 && m.union_ == 0.01 && m.plane == 0.01 && m.normal == 1e-12);
  CHECK(m.penetration == 0.01 && m.neighbour == 0.01 && m.clash == 0.1 && m.sign == 0.1);
  CHECK(m.sort == 0.01 && m.clip == 0.1 && m.minimum == 0.1 && m.compare == 0.1);
  CHECK(m.ridge == 0.01 && m.distance == 1e-10 && m.trace == 2 && !m.inside);
  CHECK(m.select == ABUT_SELECT_GATE && m.edge_edge && m.two_sided);
  CHECK(m.edges[0] == 18 && m.edges[1] == 0);
  CHECK(m.vertices[0] == 0 && m.vertices[1] == UINT32_MAX);
  CHECK(m.floor == 0.001);
}

static void check_round_trip(const abut_smoothing *m)
{
  abut_smoothing again;
  char *text;
  memset(&again, 0, sizeof again);
  REQUIRE_OK(abut_format_smoothing(m, &text));
  require(check(smoothing_parse("again", text, strlen(text), &again) == ABUT_SUCCESS, "%s in %s",
                abut_last_error(), text));
  CHECK(!memcmp(m, &again, sizeof again));
  abut_free(text);
}

static void round_trip(void)
{
  abut_smoothing m = read_sample();
  check_round_trip(&m);
  m.length = 0.024320165358262882;
  m.union_ = 1e9;
  m.plane = 1e-6;
  m.normal = 1.0 / 3;
  m.sort = nextafter(1, 2);
  m.distance = 1e-18;
  m.ridge = nextafter(1e9, 0);
  m.select = ABUT_SELECT_SOFTSORT;
  m.inside = true;
  m.edge_edge = m.two_sided = false;
  m.trace = 64;
  m.floor = 0.0;
  check_round_trip(&m);
  m.floor = 0.5;
  check_round_trip(&m);
  setlocale(LC_ALL, "de_DE.utf8"); /* where there is one */
  check_round_trip(&m);
  setlocale(LC_ALL, "C");
}

static void format_refuses(void)
{
  abut_smoothing m = read_sample();
  char *text;
  expect_failure(abut_format_smoothing(NULL, &text), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_format_smoothing(&m, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  m.clash = NAN;
  expect_failure(abut_format_smoothing(&m, &text), ABUT_ERROR_ARGUMENT, "", "clash is not finite");
  CHECK(!text);
  m = read_sample();
  m.floor = INFINITY;
  expect_failure(abut_format_smoothing(&m, &text), ABUT_ERROR_ARGUMENT, "", "floor is not finite");
}

/* The sample with the value of one key replaced; an empty one drops the key. */
static char *with(const char *key, const char *value)
{
  sample s[SAMPLE_LIMIT];
  char name[32];
  buffer b = {0};
  samples_make(SAMPLE_SMOOTHING, s);
  snprintf(name, sizeof name, "\"%s\":", key);
  char *at = strstr(s[0].bytes, name);
  REQUIRE(at);
  char *end = at + strlen(name);
  for (int depth = 0; depth > 0 || (*end != ',' && *end != '}'); end++) {
    depth += *end == '[';
    depth -= *end == ']';
  }
  buffer_put(&b, s[0].bytes, (size_t)(at - s[0].bytes));
  if (*value) {
    buffer_text(&b, "%s %s", name, value);
  } else if (*end == ',') {
    end++;
  } else {
    while (b.bytes[--b.count] != ',') { /* the last key: from the comma before it on */
    }
  }
  buffer_text(&b, "%s", end);
  free(s[0].bytes);
  return b.bytes;
}

static void each_key_is_needed(void)
{
  static const char *const keys[] = {"length",      "union",     "plane",     "normal",
                                     "penetration", "neighbour", "clash",     "sign",
                                     "sort",        "clip",      "minimum",   "compare",
                                     "ridge",       "distance",  "trace",     "inside",
                                     "select",      "edge_edge", "two_sided", "edges",
                                     "vertices"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    abut_smoothing m;
    char *text = with(keys[i], ""), part[64];
    snprintf(part, sizeof part, "the key '%s' is missing", keys[i]);
    expect_failure(smoothing_parse("s", text, strlen(text), &m), ABUT_ERROR_FORMAT, "s:1: ", part);
    free(text);
    text = with(keys[i], "{}");
    snprintf(part, sizeof part, " %s: must be ", keys[i]);
    expect_failure(smoothing_parse("s", text, strlen(text), &m), ABUT_ERROR_FORMAT, "s:", part);
    free(text);
  }
}

/* Files from before it was there say nothing of it: off. */
static void absent_is_off(void)
{
  abut_smoothing m = read_sample();
  char *text = with("floor", "");
  REQUIRE_OK(smoothing_parse("s", text, strlen(text), &m));
  CHECK(m.floor == 0.0);
  free(text);
}

/* What was taken out is refused by name, but for 0, which was off. */
static void taken_out(void)
{
  static const char *const keys[] = {"near", "reach", "ends", "agree"};
  for (size_t i = 0; i < 4; i++) {
    abut_smoothing m = read_sample();
    char value[64], part[96];
    snprintf(value, sizeof value, "0.001,\n\"%s\": 0.5", keys[i]);
    snprintf(part, sizeof part,
             "%s: this key was removed in version 0.3: use edge contacts in fields "
             "(\"edge_contacts\": \"field\")",
             keys[i]);
    char *text = with("floor", value);
    expect_failure(smoothing_parse("s", text, strlen(text), &m), ABUT_ERROR_FORMAT, "s:7: ", part);
    free(text);
    snprintf(value, sizeof value, "0.001, \"%s\": \"off\"", keys[i]);
    snprintf(part, sizeof part, "%s: must be a number", keys[i]);
    text = with("floor", value);
    expect_failure(smoothing_parse("s", text, strlen(text), &m), ABUT_ERROR_FORMAT, "s:6: ", part);
    free(text);
    snprintf(value, sizeof value, "0.001, \"%s\": 0.0", keys[i]);
    text = with("floor", value);
    CHECK_OK(smoothing_parse("s", text, strlen(text), &m));
    free(text);
  }
}

static const struct {
  const char *key, *value, *start, *part;
} wrong_values[] = {
  {"length", "0", "s:1: ", "length: 0 is not in [1e-06, 1e+09]"},
  {"penetration", "-0.5", "s:2: ", "penetration: -0.5 is not in [1e-06, 1e+09]"},
  {"clip", "true", "s:3: ", "clip: must be a number"},
  {"ridge", "0.0", "s:3: ", "ridge: 0 is not in [1e-18, 1e+09]"},
  {"distance", "1e400", "s:3: ", "overflow"},
  {"trace", "65", "s:4: ", "trace: must be a whole number from 0 to 64"},
  {"trace", "-1", "s:4: ", "trace: must be a whole number from 0 to 64"},
  {"trace", "2.0", "s:4: ", "trace: must be a whole number from 0 to 64"},
  {"inside", "0", "s:4: ", "inside: must be true or false"},
  {"select", "\"hard\"", "s:4: ", "select: must be \"softsort\" or \"gate\""},
  {"edges", "[1]", "s:5: ", "edges: has 1 elements, expected 2"},
  {"edges", "[1,\n-1]", "s:6: ", "edges[1]: must be a whole number from 0 to 4294967295"},
  {"vertices", "[1, 4294967296]",
   "s:5: ", "vertices[1]: must be a whole number from 0 to 4294967295"},
  {"floor", "0.51", "s:6: ", "floor: 0.51 is not in [0, 0.5]"},
  {"floor", "-0.1", "s:6: ", "floor: -0.1 is not in [0, 0.5]"},
  {"vertices", "[0, 0],\n\"extra\": 1", "s:6: ", "extra: unknown key"},
  {"vertices", "[0, 0], \"sort\": 1", "s:5: ", "duplicate"},
};

static void wrong_smoothing(void)
{
  for (size_t i = 0; i < sizeof wrong_values / sizeof *wrong_values; i++) {
    abut_smoothing m;
    char *text = with(wrong_values[i].key, wrong_values[i].value);
    expect_failure(smoothing_parse("s", text, strlen(text), &m), ABUT_ERROR_FORMAT,
                   wrong_values[i].start, wrong_values[i].part);
    free(text);
  }
}

/* Both ends of every range are in, and what is beyond is told. */
static void ranges(void)
{
  static const char *const lengths[] = {"length",      "union",     "plane",
                                        "penetration", "neighbour", "sort"};
  static const char *const others[] = {"normal",  "clash",   "sign",  "clip",
                                       "minimum", "compare", "ridge", "distance"};
  static const char *const values[2][4] = {{"1e-6", "1e9", "9.99e-7", "1.01e9"},
                                           {"1e-18", "1e9", "9.99e-19", "1.01e9"}};
  for (size_t i = 0; i < 14; i++) {
    const char *key = i < 6 ? lengths[i] : others[i - 6];
    for (size_t k = 0; k < 4; k++) {
      abut_smoothing m;
      char *text = with(key, values[i >= 6][k]), part[64];
      abut_status got = smoothing_parse("s", text, strlen(text), &m);
      snprintf(part, sizeof part, ": %s: ", key);
      if (k < 2) {
        CHECK_OK(got);
      } else {
        expect_failure(got, ABUT_ERROR_FORMAT, "s:", part);
        CHECK(strstr(abut_last_error(), "is not in ["));
      }
      free(text);
    }
  }
}

int main(void)
{
  folder_make();
  good_body();
  good_features();
  good_heights();
  heights_of_files();
  heights_of_16_bits();
  any_family();
  mesh_paths();
  byte_order_mark();
  wrong_body();
  deep_nest();
  good_smoothing();
  round_trip();
  format_refuses();
  each_key_is_needed();
  wrong_smoothing();
  ranges();
  absent_is_off();
  taken_out();
  folder_remove();
  return check_finish();
}
