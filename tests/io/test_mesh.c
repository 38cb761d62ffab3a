#include "format/mesh.h"
#include "samples.h"
#include "support.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mesh parse(mesh_format format, const char *text)
{
  mesh m;
  REQUIRE_OK(mesh_parse("t", format, text, strlen(text), &m));
  return m;
}

static bool vertex_is(const mesh *m, size_t k, double x, double y, double z)
{
  const double *v = m->vertices + 3 * k;
  return k < m->vertex_count && v[0] == x && v[1] == y && v[2] == z;
}

static void expect_vertex(const mesh *m, size_t k, double x, double y, double z)
{
  check(vertex_is(m, k, x, y, z), "vertex %zu is not %.17g %.17g %.17g", k, x, y, z);
}

/* Sizes and then indices of all faces, ended by -1. */
static void expect_faces(const mesh *m, size_t faces, const int *sizes, const int *indices)
{
  size_t at = 0;
  require(CHECK_EQUAL(m->face_count, faces));
  for (size_t k = 0; k < faces; k++) {
    CHECK_EQUAL(m->face_sizes[k], sizes[k]);
    at += m->face_sizes[k];
  }
  require(CHECK_EQUAL(m->index_count, at));
  for (size_t i = 0; i < at; i++) {
    CHECK_EQUAL(m->face_indices[i], indices[i]);
  }
}

static void expect_edges(const mesh *m, size_t edges, const uint32_t *ends)
{
  require(CHECK_EQUAL(m->edge_count, edges));
  for (size_t i = 0; i < 2 * edges; i++) {
    CHECK_EQUAL(m->edges[i], ends[i]);
  }
}

static void obj_forms(void)
{
  sample s[SAMPLE_LIMIT];
  samples_make(SAMPLE_OBJ, s);
  mesh m = parse(MESH_OBJ, s[0].bytes);
  CHECK_EQUAL(m.vertex_count, 8);
  expect_vertex(&m, 0, -1, -1, -1);
  expect_vertex(&m, 2, 1, 1, -1);  /* its colour is nan */
  expect_vertex(&m, 3, -1, 1, -1); /* a backslash joins its lines */
  expect_vertex(&m, 4, -.5, -1, 1);
  static const int sizes[] = {4, 4, 4, 4, 4, 4};
  static const int indices[] = {3, 2, 1, 0, 4, 5, 6, 7, 0, 1, 5, 4,
                                1, 2, 6, 5, 2, 3, 7, 6, 0, 4, 7, 3};
  expect_faces(&m, 6, sizes, indices);
  static const uint32_t ends[] = {0, 6, 7, 1, 1, 2}; /* backwards, and over a joined line */
  expect_edges(&m, 3, ends);
  mesh_free(&m);
  free(s[0].bytes);
}

static void obj_odds(void)
{
  static const int sizes[] = {3, 5}, indices[] = {0, 1, 1, 0, 1, 2, 3, 2};
  mesh m = parse(MESH_OBJ, "\xEF\xBB\xBFv .8e-1 -.7e+2 -5.532511\nv +1. 2 3 4\n\r"
                           "f 1// 2/ 2/1/\nunknown \\\n f 9\nv 1 1 1\rv 2 2 2\r\n"
                           "f 1 2 3 \\\n 4\\\r\n 3 # f\n# comment \\\nl 1 2\np 3");
  CHECK_EQUAL(m.vertex_count, 4);
  expect_vertex(&m, 0, .8e-1, -.7e+2, -5.532511);
  expect_vertex(&m, 1, 1, 2, 3);
  expect_faces(&m, 2, sizes, indices); /* equal corners are kept */
  static const uint32_t first[] = {0, 1}, ends[] = {1, 1, 1, 3};
  expect_edges(&m, 1, first); /* a comment ends with its line */
  mesh_free(&m);
  m = parse(MESH_OBJ, "l 2 2/1/1 4 # of vertices that follow\nv 1 2 3\nv 4 5 6\nv 7 8 9\nv 0 0 0");
  CHECK_EQUAL(m.face_count, 0);
  expect_edges(&m, 2, ends);
  mesh_free(&m);
  m = parse(MESH_OBJ, "f 3 2 1\nv 1 2 3\nv 4 5 6\nv 7 8 9");
  CHECK_EQUAL(m.face_count, 1);
  mesh_free(&m);
  m = parse(MESH_OBJ, "v 1 2 3");
  CHECK_EQUAL(m.face_count, 0);
  mesh_free(&m);
}

static void stl_forms(void)
{
  static const int sizes[] = {3, 3, 3, 3}, indices[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 2, 1, 3};
  sample s[SAMPLE_LIMIT];
  size_t count = samples_make(SAMPLE_STL, s);
  require(CHECK_EQUAL(count, 3));
  for (size_t i = 0; i < count; i++) {
    mesh m;
    REQUIRE_OK(mesh_parse("t", MESH_STL, s[i].bytes, s[i].count, &m));
    CHECK_EQUAL(m.vertex_count, 4);
    expect_vertex(&m, 1, 0, 1, 0); /* order of first appearance */
    expect_vertex(&m, 2, 1, 0, 0);
    expect_faces(&m, 4, sizes, indices);
    mesh_free(&m);
    free(s[i].bytes);
  }
}

static void stl_odds(void)
{
  static const int sizes[] = {3, 3}, indices[] = {0, 1, 0, 0, 2, 1};
  mesh m = parse(MESH_STL, "\n SOLID a\\b # c\n FACET NORMAL nan nan nan\nouter loop\n"
                           "vertex 0 0 0\nvertex 1 0 0\nvertex -0 0 -0.0\n"
                           "endloop endfacet\nendsolid\n"
                           "solid second\nfacet normal 0 0 0\nouter loop vertex 0 0 0\n"
                           "vertex 1 1e-320 0\nvertex 1 0 0\nendloop\nendfacet\nendsolid x\n");
  CHECK_EQUAL(m.vertex_count, 3);
  expect_faces(&m, 2, sizes, indices); /* -0 equals 0, a denormal does not */
  mesh_free(&m);
}

/* More vertices than the first hash table holds. */
static void stl_welds_many(void)
{
  enum { SIDE = 60 };
  buffer b = {0};
  mesh m;
  buffer_text(&b, "solid grid\n");
  for (int k = 0; k < SIDE * SIDE; k++) {
    int x = k % SIDE, y = k / SIDE;
    buffer_text(&b,
                "facet normal 0 0 1\nouter loop\nvertex %d %d 0\nvertex %d %d 0\n"
                "vertex %d %d 0\nendloop\nendfacet\n",
                x, y, x + 1, y, x + 1, y + 1);
  }
  buffer_text(&b, "endsolid\n");
  REQUIRE_OK(mesh_parse("t", MESH_STL, b.bytes, b.count, &m));
  CHECK_EQUAL(m.vertex_count, (SIDE + 1) * (SIDE + 1) - 1);
  CHECK_EQUAL(m.face_count, SIDE * SIDE);
  size_t wrong_faces = 0;
  for (size_t i = 0; i < m.face_count; i++) {
    const uint32_t *f = m.face_indices + 3 * i;
    const double x = (double)(i % SIDE), y = (double)(i / SIDE);
    wrong_faces += !vertex_is(&m, f[0], x, y, 0) || !vertex_is(&m, f[2], x + 1, y + 1, 0);
  }
  CHECK_EQUAL(wrong_faces, 0);
  mesh_free(&m);
  free(b.bytes);
}

static void ply_forms(void)
{
  static const int sizes[] = {4, 3, 3, 3, 3};
  static const int indices[] = {0, 3, 2, 1, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
  sample s[SAMPLE_LIMIT];
  size_t count = samples_make(SAMPLE_PLY, s);
  require(CHECK_EQUAL(count, 3));
  for (size_t i = 0; i < count; i++) {
    mesh m;
    REQUIRE_OK(mesh_parse("t", MESH_PLY, s[i].bytes, s[i].count, &m));
    CHECK_EQUAL(m.vertex_count, 5);
    expect_vertex(&m, 1, 1, 0, 0);
    expect_vertex(&m, 4, .5, .5, 1.5);
    expect_faces(&m, 5, sizes, indices);
    mesh_free(&m);
    free(s[i].bytes);
  }
}

static void ply_types(void)
{
  buffer b = {0};
  mesh m;
  buffer_text(&b, "ply\r\nformat binary_little_endian 1.0\r\nelement vertex 2\r\n"
                  "property int8 x\r\nproperty ushort y\r\nproperty double z\r\n"
                  "element edge 1\r\nproperty int16 a\r\nend_header\r\n");
  buffer_put(&b, "\x80\xFF\xFF\0\0\0\0\0\0\xF0\x3F", 11);
  buffer_put(&b, "\x7F\x01\x80\0\0\0\0\0\0\0\xC0", 11);
  buffer_put(&b, "\1\2\n", 3);
  REQUIRE_OK(mesh_parse("t", MESH_PLY, b.bytes, b.count, &m));
  expect_vertex(&m, 0, -128, 65535, 1);
  expect_vertex(&m, 1, 127, 32769, -2);
  CHECK_EQUAL(m.face_count, 0);
  mesh_free(&m);
  free(b.bytes);
  static const int sizes[] = {3}, indices[] = {2, 1, 0};
  m = parse(MESH_PLY, "ply\nformat ascii 1.0\nelement face 1\nproperty list int uint vertex_index\n"
                      "element vertex 3\nproperty double x\nproperty double y\nproperty int z\n"
                      "end_header\n3 2 1 0 9 9\n\n0 0 0\n1 0 0\n  1 1 1e0  \n");
  expect_vertex(&m, 2, 1, 1, 1);
  expect_faces(&m, 1, sizes, indices);
  mesh_free(&m);
}

#define PLY(text) "ply\nformat ascii 1.0\n" text
#define PLY_V "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
#define PLY_F "element face 1\nproperty list uchar int vertex_indices\n"
#define PLY_S "element tristrips 1\nproperty list int int vertex_indices\n"

/* A tetrahedron in one strip; then strips with a vertex that is there twice, of three vertices and
 * of too few. */
static void ply_strips(void)
{
  static const int sizes[] = {3, 3, 3, 3, 3};
  static const int indices[] = {0, 1, 2, 2, 1, 3, 2, 3, 0, 0, 3, 1, 1, 2, 3};
  mesh m = parse(MESH_PLY, PLY("element vertex 4\nproperty float x\nproperty float y\n"
                               "property float z\n" PLY_S "end_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
                               "18 0 1 2 3 0 1 -1 1 2 3 3 1 -1 -1 0 1 -1 2\n"));
  expect_faces(&m, 5, sizes, indices);
  mesh_free(&m);
}

static void off_forms(void)
{
  static const int sizes[] = {4, 3, 3, 3, 3};
  static const int indices[] = {0, 3, 2, 1, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
  sample s[SAMPLE_LIMIT];
  samples_make(SAMPLE_OFF, s);
  mesh m = parse(MESH_OFF, s[0].bytes);
  CHECK_EQUAL(m.vertex_count, 5);
  expect_vertex(&m, 4, .5, .5, 1.5);
  expect_faces(&m, 5, sizes, indices);
  mesh_free(&m);
  free(s[0].bytes);
  static const char *const headers[] = {"OFF\n1 0 0\n",
                                        "OFF 1 0 0\n",
                                        "OFF1 0\n",
                                        "NOFF\n1 0 0\n",
                                        " \t COFF # c\n# d\n\n1 0 0 # e\r\n",
                                        "STCNOFF 1 0\r\n"};
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
    char text[128];
    strcat(strcpy(text, headers[i]), "1 2 3 0 0 1\n");
    m = parse(MESH_OFF, text);
    expect_vertex(&m, 0, 1, 2, 3);
    mesh_free(&m);
  }
}

#define FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"

static const struct {
  mesh_format format;
  const char *text, *start, *part;
} wrong[] = {
  {MESH_OBJ, "", "t: ", "contains no vertices"},
  {MESH_OBJ, "# nothing\n", "t: ", "contains no vertices"},
  {MESH_OBJ, "v 1 2\nv 0 0 0", "t:1: ", "missing"},
  {MESH_OBJ, "\nv 1 2 nan", "t:2: ", "'nan' is not finite"},
  {MESH_OBJ, "v -inf 2 3", "t:1: ", "not finite"},
  {MESH_OBJ, "v 1e999 2 3", "t:1: ", "not finite"},
  {MESH_OBJ, "v 1 \\\n2 \\\nx", "t:3: ", "'x' is not a number"},
  {MESH_OBJ, "v 1,5 2 3", "t:1: ", "not a number"},
  {MESH_OBJ, "v 0x1 2 3", "t:1: ", "not a number"},
  {MESH_OBJ, "v 1.#IND 2 3", "t:1: ", "missing"},
  {MESH_OBJ, "v 1e 2 3", "t:1: ", "not a number"},
  {MESH_OBJ, "v . 2 3", "t:1: ", "not a number"},
  {MESH_OBJ, "v 1 \x1b[31m 3", "t:1: ", "'?[31m'"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 0", "t:2: ", "'0' is out of range"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 -2", "t:2: ", "'-2' is out of range"},
  {MESH_OBJ, "v 0 0 0\r\nf 1 1 1\r\n\r\nf 1 2 1\r\nf 1 1 1", "t:4: ", "names vertex 2"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 4294967297", "t:2: ", "out of range"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 99999999999999999999", "t:2: ", "' must be v, v/vt, v//vn or v/vt/vn"},
  {MESH_OBJ, "v 0 0 0\nf 1 1", "t:2: ", "a face has 2 corners; it needs at least 3"},
  {MESH_OBJ, "v 0 0 0\nf", "t:2: ", "a face has 0 corners; it needs at least 3"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 1/2/3/4", "t:2: ", "' must be v, v/vt, v//vn or v/vt/vn"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 /1", "t:2: ", "' must be v, v/vt, v//vn or v/vt/vn"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 1.0", "t:2: ", "' must be v, v/vt, v//vn or v/vt/vn"},
  {MESH_OBJ, "v 0 0 0\nf 1 1 1/a", "t:2: ", "' must be v, v/vt, v//vn or v/vt/vn"},
  {MESH_OBJ, "v 0 0 0\nl 1 1\nl 1 3\nf 1 1 2", "t:3: ", "a line names vertex 3"},
  {MESH_OBJ, "v 0 0 0\nl 1 2\nf 1 1 3", "t:3: ", "a face names vertex 3"},
  {MESH_OBJ, "v 0 0 0\nl 1", "t:2: ", "a line has 1 corners; it needs at least 2"},
  {MESH_OBJ, "v 0 0 0\nl", "t:2: ", "a line has 0 corners; it needs at least 2"},
  {MESH_OBJ, "v 0 0 0\nl 1 0", "t:2: ", "line corner '0' is out of range"},
  {MESH_OBJ, "v 0 0 0\nl 1 x", "t:2: ", "the line corner 'x' must be v, v/vt, v//vn or v/vt/vn"},
  {MESH_OBJ, "f -4 -3 -2", "t:1: ", "' is out of range: the file has 0 vertices up to here"},
  {MESH_STL, "", "t: ", "0 bytes"},
  {MESH_STL, "solid", "t:1: ", "endsolid"},
  {MESH_STL, "solid\nendsolid\n", "t: ", "contains no vertices"},
  {MESH_STL, "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "t:4: ", "missing"},
  {MESH_STL, "solid\n" FACET "vertex 1 nan 0\n", "t:6: ", "not finite"},
  {MESH_STL, "solid\n" FACET "endloop\n", "t:6: ", "', expected 'vertex'"},
  {MESH_STL, "solid\n" FACET "vertex 1 1 0\nvertex 0 1 0\n", "t:7: ", "', expected 'endloop'"},
  {MESH_STL, "solid\n" FACET "vertex 1 1 0\nendloop\nendfacet\n", "t:9: ", "ends without"},
  {MESH_STL, "solid\nfacets\n", "t:2: ", "'facet' or 'endsolid'"},
  {MESH_PLY, "", "t:1: ", "does not start with 'ply'"},
  {MESH_PLY, "ply\n", "t:2: ", "end_header"},
  {MESH_PLY, "ply\nformat ascii 2.0\n", "t:2: ", "version"},
  {MESH_PLY, "ply\nformat text 1.0\n", "t:2: ", "'text' is not a PLY format"},
  {MESH_PLY, "ply\nelement vertex 1\n", "t:2: ", "unexpected 'element'"},
  {MESH_PLY, PLY("end_header\n"), "t: ", "contains no vertices"},
  {MESH_PLY, PLY("property float x\n"), "t:3: ", "before the first element"},
  {MESH_PLY, PLY("element vertex -1\n"), "t:3: ", "whole number"},
  {MESH_PLY, PLY("element vertex 9999999999999999999999\n"), "t:3: ", "whole number"},
  {MESH_PLY, PLY(PLY_V "element vertex 1\n"), "t:7: ", "second element"},
  {MESH_PLY, PLY(PLY_V "property float x\n"), "t:7: ", "second property"},
  {MESH_PLY, PLY("element vertex 1\nproperty long x\n"), "t:4: ", "'long' is not a PLY type"},
  {MESH_PLY, PLY("element vertex 1\nproperty list uchar float x\n"), "t:4: ", "is a list"},
  {MESH_PLY, PLY("element e 1\nproperty list float int x\n"),
   "t:4: ", "the count of a list must have an integer type"},
  {MESH_PLY, PLY("element face 1\nproperty int vertex_indices\n"),
   "t:4: ", "the vertex indices of faces must be a list of an integer type"},
  {MESH_PLY, PLY("element vertex 1\nproperty float x\nend_header\n0\n"), "t:5: ", "no x, y and z"},
  {MESH_PLY, PLY(PLY_V "element face 1\nend_header\n0 0 0\n"), "t:8: ", "no vertex_indices"},
  {MESH_PLY, PLY(PLY_V "end_header\n0 0\n"), "t:8: ", "vertex 0: a number is missing"},
  {MESH_PLY, PLY(PLY_V "end_header\n0 0 inf\n"), "t:8: ", "not finite"},
  {MESH_PLY, PLY(PLY_V "end_header\n0 0 z\n"), "t:8: ", "'z' is not a number"},
  {MESH_PLY, PLY(PLY_V "end_header\n"), "t:8: ", "the file ends before it; the header announces 1"},
  {MESH_PLY, PLY(PLY_V PLY_F "end_header\n0 0 0\n3 0 0 1\n"), "t:11: ", "names vertex 1"},
  {MESH_PLY, PLY(PLY_V PLY_F "end_header\n0 0 0\n3 0 0 -1\n"), "t:11: ", "out of range"},
  {MESH_PLY, PLY(PLY_V PLY_F "end_header\n0 0 0\n3 0 0 .5\n"), "t:11: ", "out of range"},
  {MESH_PLY, PLY(PLY_V PLY_F "end_header\n0 0 0\n2 0 0\n"), "t:11: ", "2 corners"},
  {MESH_PLY, PLY(PLY_V PLY_F "end_header\n0 0 0\n4000000000 0 0\n"), "t:11: ", "missing"},
  {MESH_PLY, PLY(PLY_V PLY_F "end_header\n0 0 0\nnan 0 0\n"), "t:11: ", "out of range"},
  {MESH_PLY, PLY("element tristrips 1\nproperty int vertex_indices\n"),
   "t:4: ", "the vertex indices of tristrips must be a list of an integer type"},
  {MESH_PLY, PLY(PLY_V "element tristrips 1\nproperty list int int at\nend_header\n"),
   "t:9: ", "the tristrips have no vertex_indices"},
  {MESH_PLY, PLY(PLY_V PLY_S PLY_S), "t:9: ", "a second element 'tristrips'"},
  {MESH_PLY, PLY(PLY_V PLY_S "end_header\n0 0 0\n3 0 0 -2\n"),
   "t:11: ", "tristrips 0: vertex index -2 is out of range"},
  {MESH_PLY, PLY(PLY_V PLY_S "end_header\n0 0 0\n3 0 1 2\n"), "t:11: ", "a face names vertex 2"},
  {MESH_OFF, "", "t:1: ", "empty"},
  {MESH_OFF, "FOO\n", "t:1: ", "expected OFF, COFF or NOFF, found 'FOO'"},
  {MESH_OFF, "4OFF\n1 0 0\n0 0 0 0\n", "t:1: ", "expected OFF, COFF or NOFF, found '"},
  {MESH_OFF, "OFF BINARY\n", "t:1: ", "whole number"},
  {MESH_OFF, "OFF\n", "t:2: ", "counts are missing"},
  {MESH_OFF, "OFF\n1\n", "t:2: ", "face count"},
  {MESH_OFF, "OFF\n-1 0 0\n", "t:2: ", "whole number"},
  {MESH_OFF, "OFF\n1 0 0 0\n", "t:2: ", "after the counts"},
  {MESH_OFF, "OFF\n0 0 0\n", "t: ", "contains no vertices"},
  {MESH_OFF, "OFF\n4294967295 4294967295 0\n0 0 0\n", "t:4: ", "after 1 of 4294967295 vertices"},
  {MESH_OFF, "OFF\n1 0 0\n0 0\n", "t:3: ", "missing"},
  {MESH_OFF, "OFF\n1 0 0\n0 0 nan\n", "t:3: ", "not finite"},
  {MESH_OFF, "OFF\n1 4294967295 0\n0 0 0\n3 0 0 0\n", "t:5: ", "after 1 of 4294967295 faces"},
  {MESH_OFF, "OFF\n1 1 0\n0 0 0\n3 0 0 1\n", "t:4: ", "names vertex 1"},
  {MESH_OFF, "OFF\n1 1 0\n0 0 0\n3 0 0\n", "t:4: ", "missing"},
  {MESH_OFF, "OFF\n1 1 0\n0 0 0\n2 0 0\n", "t:4: ", "2 corners"},
  {MESH_OFF, "OFF\n1 1 0\n0 0 0\n4294967295 0 0\n", "t:4: ", "missing"},
  {MESH_OFF, "OFF\n1 1 0\n0 0 0\n3 0 0 -1\n", "t:4: ", "whole number"},
};

static void wrong_texts(void)
{
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    mesh m;
    abut_status status = mesh_parse("t", wrong[i].format, wrong[i].text, strlen(wrong[i].text), &m);
    expect_failure(status, ABUT_ERROR_FORMAT, wrong[i].start, wrong[i].part);
    CHECK(!m.vertices);
    CHECK_EQUAL(m.face_count, 0);
  }
}

static void wrong_binaries(void)
{
  mesh m;
  buffer b = {0};
  buffer_binary_stl(&b, "solid liar", 5);
  expect_failure(mesh_parse("t", MESH_STL, b.bytes, b.count, &m), ABUT_ERROR_FORMAT,
                 "t: ", "truncated");
  memcpy(b.bytes + 80, "\xFF\xFF\xFF\xFF", 4);
  expect_failure(mesh_parse("t", MESH_STL, b.bytes, b.count, &m), ABUT_ERROR_FORMAT,
                 "t: ", "4294967295 triangles");
  memcpy(b.bytes + 80, "\4\0\0\0", 4);
  memcpy(b.bytes + 84 + 50 + 12, "\0\0\xC0\x7F", 4);
  expect_failure(mesh_parse("t", MESH_STL, b.bytes, b.count, &m), ABUT_ERROR_FORMAT,
                 "t: ", "triangle 1 has a corner that is not finite");
  memset(b.bytes + 80, 0, 4);
  expect_failure(mesh_parse("t", MESH_STL, b.bytes, 84, &m), ABUT_ERROR_FORMAT,
                 "t: ", "contains no vertices");
  free(b.bytes);
  b = (buffer){0};
  buffer_text(&b, "ply\nformat binary_big_endian 1.0\n" PLY_V
                  "element face 4294967295\nproperty list uint int vertex_indices\nend_header\n");
  buffer_put(&b,
             "\0\0\0\0\0\0\0\0\0\0\0\0"
             "\xFF\xFF\xFF\xFE\0\0\0\0",
             20);
  expect_failure(mesh_parse("t", MESH_PLY, b.bytes, b.count, &m), ABUT_ERROR_FORMAT,
                 "t: ", "face 0: the file is truncated");
  free(b.bytes);
}

/* What lies behind a mesh's end is left out and counted; blanks and ends of lines are nothing. */
static void trailing(void)
{
  static const struct {
    mesh_format format;
    const char *text;
    size_t vertices, faces, trailing;
  } texts[] = {
    {MESH_STL, "solid\n" FACET "vertex 1 1 0\nendloop\nendfacet\nendsolid\nmore\n", 3, 1, 5},
    {MESH_STL, "solid\n" FACET "vertex 1 1 0\nendloop\nendfacet\nendsolid\n \n\n", 3, 1, 0},
    {MESH_STL, "solid\nendsolid\nsolid\n" FACET "vertex 1 1 0\nendloop\nendfacet\nendsolid\n1", 3,
     1, 1},
    {MESH_PLY, PLY(PLY_V "end_header\n0 0 0\n0 0 0\n"), 1, 0, 6},
    {MESH_PLY, PLY(PLY_V "end_header\n0 0 0\n \n"), 1, 0, 0},
    {MESH_OFF, "OFF\n1 0 0\n0 0 0\n3 0 0 0\n", 1, 0, 8},
  };
  mesh m;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    m = parse(texts[i].format, texts[i].text);
    CHECK_EQUAL(m.vertex_count, texts[i].vertices);
    CHECK_EQUAL(m.face_count, texts[i].faces);
    CHECK_EQUAL(m.trailing, texts[i].trailing);
    mesh_free(&m);
  }
  const int kinds[] = {SAMPLE_STL, SAMPLE_PLY};
  for (size_t kind = 0; kind < 2; kind++) {
    sample s[SAMPLE_LIMIT];
    const size_t count = samples_make(kinds[kind], s);
    for (size_t i = 0; i < count; i++) {
      mesh plain;
      buffer b = {0};
      buffer_put(&b, s[i].bytes, s[i].count);
      buffer_put(&b, "\0\0\0\0\0\0\0", 7);
      const mesh_format format = kind ? MESH_PLY : MESH_STL;
      REQUIRE_OK(mesh_parse("t", format, s[i].bytes, s[i].count, &plain));
      REQUIRE_OK(mesh_parse("t", format, b.bytes, b.count, &m));
      CHECK_EQUAL(plain.trailing, 0);
      CHECK_EQUAL(m.trailing, 7);
      CHECK_EQUAL(m.vertex_count, plain.vertex_count);
      CHECK_EQUAL(m.face_count, plain.face_count);
      mesh_free(&plain);
      mesh_free(&m);
      free(b.bytes);
      free(s[i].bytes);
    }
  }
}

static void by_extension(void)
{
  mesh m;
  REQUIRE_OK(mesh_read(write_text("A.OBJ", "v 1 2 3\n"), &m));
  expect_vertex(&m, 0, 1, 2, 3);
  mesh_free(&m);
  const char *path = write_text("a.off", "OFF\n1 0 0\n1 2\n");
  expect_failure(mesh_read(path, &m), ABUT_ERROR_FORMAT, path, "a.off:3: ");
  path = write_text("a.txt", "v 1 2 3\n");
  expect_failure(mesh_read(path, &m), ABUT_ERROR_FORMAT, path, ".obj, .stl, .ply or .off");
  path = in_folder("none.ply");
  expect_failure(mesh_read(path, &m), ABUT_ERROR_READ, path, "No such file");
  expect_failure(mesh_parse("t", (mesh_format)9, "", 0, &m), ABUT_ERROR_ARGUMENT, "", "9");
}

/* The decimal point stays one where the locale has a comma. */
static void comma_locale(void)
{
  static const char *const names[] = {"de_DE.utf8", "de_DE.UTF-8", "fr_FR.utf8", "de_DE"};
  const char *found = NULL;
  for (size_t i = 0; i < 4 && !found; i++) {
    found = setlocale(LC_ALL, names[i]);
  }
  if (!found) {
    printf("not run: no locale with a decimal comma\n");
    return;
  }
  mesh m = parse(MESH_OBJ, "v 1.5 2.25 3\n");
  double point = strtod("1,5", NULL);
  setlocale(LC_ALL, "C");
  expect_vertex(&m, 0, 1.5, 2.25, 3);
  mesh_free(&m);
  CHECK(point == 1.5); /* the caller's locale is back */
}

int main(void)
{
  folder_make();
  obj_forms();
  obj_odds();
  stl_forms();
  stl_odds();
  stl_welds_many();
  ply_forms();
  ply_types();
  ply_strips();
  off_forms();
  wrong_texts();
  wrong_binaries();
  trailing();
  by_extension();
  comma_locale();
  folder_remove();
  return check_finish();
}
