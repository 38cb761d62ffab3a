/* Meshes of collision in time on the host: what is refused, which features they have, what is
 * packed; those of bodies and of files. Its argument is the folder of assets. */
#include "body/ccd_mesh.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context wide, narrow; /* in double, in float */

static const double square[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 5, 5, 5};

static abut_ccd_mesh_def def_of(const double *vertices, size_t count)
{
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  def.vertices = vertices;
  def.vertex_count = count;
  return def;
}

static abut_ccd_mesh make(abut_context c, const abut_ccd_mesh_def *def)
{
  abut_ccd_mesh made = {0, 0};
  REQUIRE_OK(abut_create_ccd_mesh(c, def, &made));
  return made;
}

static abut_ccd_mesh_info info_of(abut_ccd_mesh of)
{
  abut_ccd_mesh_info info = {0};
  CHECK_OK(abut_get_ccd_mesh_info(of, &info));
  return info;
}

/* What a mesh tells of itself. */
typedef struct features {
  abut_ccd_mesh_info info;
  double *vertices;
  uint32_t *triangles, *edges;
} features;

static features features_of(abut_ccd_mesh of)
{
  features f = {.info = info_of(of)};
  f.vertices = calloc(f.info.vertices + 1, 3 * sizeof(double));
  f.triangles = calloc(f.info.triangles + 1, 3 * sizeof(uint32_t));
  f.edges = calloc(f.info.edges + 1, 2 * sizeof(uint32_t));
  REQUIRE(f.vertices && f.triangles && f.edges);
  CHECK_OK(abut_get_ccd_mesh_features(of, f.vertices, f.triangles, f.edges));
  return f;
}

static void features_free(features *f)
{
  free(f->vertices);
  free(f->triangles);
  free(f->edges);
}

/* Features in the order in which they are expected. */
static void has_features(abut_ccd_mesh of, const uint32_t *triangles, size_t triangle_count,
                         const uint32_t *edges, size_t edge_count, const char *what)
{
  features f = features_of(of);
  check(f.info.triangles == triangle_count && f.info.edges == edge_count,
        "%s: %zu triangles, %zu edges", what, f.info.triangles, f.info.edges);
  if (f.info.triangles == triangle_count) {
    check(!triangle_count ||
            !memcmp(f.triangles, triangles, triangle_count * 3 * sizeof *triangles),
          "%s: triangles differ", what);
  }
  if (f.info.edges == edge_count) {
    check(!edge_count || !memcmp(f.edges, edges, edge_count * 2 * sizeof *edges),
          "%s: edges differ", what);
  }
  features_free(&f);
}

/* ---- what is refused ---- */

static void refuses(const abut_ccd_mesh_def *def, const char *text)
{
  abut_ccd_mesh made;
  expect_failure(abut_create_ccd_mesh(wide, def, &made), ABUT_ERROR_ARGUMENT, "", text);
}

static void test_refused_vertices(void)
{
  static const double wrong[] = {NAN, INFINITY, -INFINITY, 1.0001e6, -1.0001e6};
  double vertices[9] = {0, 0, 0, 1, 2, 3, 1e6, -1e6, 0};
  abut_ccd_mesh_def def = def_of(NULL, 0);
  refuses(&def, "a mesh needs vertices: the count is 0, and the array is NULL");
  def.vertex_count = 3;
  refuses(&def, "a mesh needs vertices: the count is 3, and the array is NULL");
  def = def_of(vertices, 0);
  refuses(&def, "a mesh needs vertices: the count is 0, and the array is given");
  def.vertex_count = (size_t)1 << 31;
  refuses(&def, "2147483648 vertices");
  def.vertex_count = 3;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    vertices[5] = wrong[i];
    refuses(&def, "vertex 1 of the mesh is not within +-1e+06");
  }
  vertices[5] = 3;
  CHECK_OK(abut_destroy_ccd_mesh(make(wide, &def))); /* of vertices alone, up to the bound */
}

static void test_refused_faces(void)
{
  uint32_t sizes[] = {4, 3}, indices[] = {0, 1, 2, 3, 2, 1, 0};
  abut_ccd_mesh_def def = def_of(square, 5);
  def.face_count = 2;
  refuses(&def, "the mesh has 2 faces, but their array is NULL");
  def.face_indices = indices;
  def.face_sizes = sizes;
  sizes[1] = 2;
  refuses(&def, "face 1 of the mesh has 2 corners");
  sizes[1] = 0;
  refuses(&def, "face 1 of the mesh has 0 corners");
  sizes[1] = 3;
  indices[6] = 5;
  refuses(&def, "face 1 of the mesh uses vertex 5, but there are only 5 vertices");
  indices[0] = UINT32_MAX;
  refuses(&def, "face 0 of the mesh uses vertex 4294967295");
  def.face_sizes = NULL;
  def.face_count = 1;
  refuses(&def, "face 0 of the mesh uses vertex 4294967295");
  def.face_count = (size_t)1 << 31;
  refuses(&def, "2147483648 faces");
}

static void test_refused_edges(void)
{
  const uint32_t edges[] = {0, 1, 3, 5};
  abut_ccd_mesh_def def = def_of(square, 5);
  def.edge_count = 2;
  refuses(&def, "the mesh has 2 edges, but their array is NULL");
  def.edges = edges;
  refuses(&def, "edge 1 of the mesh uses vertex 5, but there are only 5 vertices");
  def.edge_count = (size_t)1 << 31;
  refuses(&def, "2147483648 edges");
}

static void test_refused_calls(void)
{
  const abut_context none = {0, 0};
  const abut_ccd_mesh null = {0, 0};
  const abut_body no_body = {0, 0};
  abut_ccd_mesh_def def = def_of(square, 5);
  abut_ccd_mesh made = make(wide, &def);
  abut_ccd_mesh_info info;
  expect_failure(abut_create_ccd_mesh(none, &def, &made), ABUT_ERROR_HANDLE, "",
                 "context handle is null");
  expect_failure(abut_create_ccd_mesh(wide, NULL, &made), ABUT_ERROR_ARGUMENT, "",
                 "abut_create_ccd_mesh: the handle is NULL, or the definition was not made by");
  expect_failure(abut_create_ccd_mesh(wide, &def, NULL), ABUT_ERROR_ARGUMENT, "",
                 "the handle is NULL");
  expect_failure(abut_create_body_ccd_mesh(no_body, &made), ABUT_ERROR_HANDLE, "",
                 "body handle is null");
  expect_failure(abut_destroy_ccd_mesh(null), ABUT_ERROR_HANDLE, "", "mesh handle is null");
  expect_failure(abut_get_ccd_mesh_info(null, &info), ABUT_ERROR_HANDLE, "", "null");
  expect_failure(abut_get_ccd_mesh_info(made, NULL), ABUT_ERROR_ARGUMENT, "", "a place");
  expect_failure(abut_get_ccd_mesh_features(null, NULL, NULL, NULL), ABUT_ERROR_HANDLE, "", "null");
  CHECK_OK(abut_get_ccd_mesh_features(made, NULL, NULL, NULL));
  CHECK_OK(abut_destroy_ccd_mesh(made));
  expect_failure(abut_destroy_ccd_mesh(made), ABUT_ERROR_HANDLE, "", "mesh handle is stale");
  expect_failure(abut_get_ccd_mesh_info(made, &info), ABUT_ERROR_HANDLE, "", "stale");
  def.cookie = 0;
  refuses(&def, "abut_default_ccd_mesh_def");
}

/* ---- features ---- */

static void test_bare(void)
{
  const double one[3] = {1, -2, 3};
  const abut_ccd_mesh_def def = def_of(one, 1);
  const abut_ccd_mesh made = make(wide, &def);
  const abut_ccd_mesh_info info = info_of(made);
  CHECK(info.vertices == 1 && !info.triangles && !info.edges);
  CHECK(!memcmp(info.lower, one, sizeof one) && !memcmp(info.upper, one, sizeof one));
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

/* Triangles stay as they are given, turned either way; shared edges are there once. */
static void test_triangles(void)
{
  static const uint32_t indices[] = {2, 0, 1, 3, 0, 2}, extra[] = {4, 2, 1, 0, 2, 4, 3, 3};
  static const uint32_t edges[] = {0, 1, 0, 2, 0, 3, 1, 2, 2, 3},
                        more[] = {0, 1, 0, 2, 0, 3, 1, 2, 2, 3, 2, 4};
  static const double lower[] = {0, 0, 0}, upper[] = {5, 5, 5};
  abut_ccd_mesh_def def = def_of(square, 5);
  def.face_indices = indices;
  def.face_count = 2;
  abut_ccd_mesh made = make(wide, &def);
  has_features(made, indices, 2, edges, 5, "two triangles");
  const abut_ccd_mesh_info info = info_of(made);
  CHECK(info.vertices == 5 && !memcmp(info.lower, lower, sizeof lower) &&
        !memcmp(info.upper, upper, sizeof upper));
  CHECK_OK(abut_destroy_ccd_mesh(made));
  def.edges = extra; /* twice the same edge, one of a face, and one of a vertex with itself */
  def.edge_count = 4;
  made = make(wide, &def);
  has_features(made, indices, 2, more, 6, "two triangles and edges");
  CHECK_OK(abut_destroy_ccd_mesh(made));
  def.face_count = 0;
  made = make(wide, &def);
  static const uint32_t own[] = {0, 1, 2, 4};
  has_features(made, NULL, 0, own, 2, "edges alone");
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

/* A face that has a vertex twice leaves its edge. */
static void test_degenerate(void)
{
  static const uint32_t indices[] = {1, 1, 4, 0, 1, 2, 3, 3, 3, 2, 3, 2, 0, 4, 0};
  static const uint32_t triangle[] = {0, 1, 2}, edges[] = {0, 1, 0, 2, 0, 4, 1, 2, 1, 4, 2, 3};
  abut_ccd_mesh_def def = def_of(square, 5);
  def.face_indices = indices;
  def.face_count = 5;
  const abut_ccd_mesh made = make(wide, &def);
  has_features(made, triangle, 1, edges, 6, "faces with a vertex twice");
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

/* A face without area, of three vertices that lie on a line or on one point, stays a triangle. */
static void test_flat(void)
{
  static const double line[] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 2, 0, 0};
  static const uint32_t indices[] = {0, 1, 2, 1, 2, 3}, edges[] = {0, 1, 0, 2, 1, 2, 1, 3, 2, 3};
  abut_ccd_mesh_def def = def_of(line, 4);
  def.face_indices = indices;
  def.face_count = 2;
  const abut_ccd_mesh made = make(wide, &def);
  has_features(made, indices, 2, edges, 5, "triangles without area");
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

static double area_of(const features *f)
{
  double sum = 0.0;
  for (size_t i = 0; i < f->info.triangles; ++i) {
    const double *a = f->vertices + 3 * f->triangles[3 * i],
                 *b = f->vertices + 3 * f->triangles[3 * i + 1],
                 *c = f->vertices + 3 * f->triangles[3 * i + 2];
    sum += 0.5 * fabs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  }
  return sum;
}

/* A polygon is cut within itself, however it is bent in. */
static void test_polygons(void)
{
  static const double arrow[] = {0, 0, 0, 4, -2, 0,
                                 1, 0, 0, 4, 2,  0}; /* its third corner is bent in */
  static const uint32_t four[] = {4}, corners[] = {0, 1, 2, 3};
  abut_ccd_mesh_def def = def_of(arrow, 4);
  def.face_sizes = four;
  def.face_indices = corners;
  def.face_count = 1;
  abut_ccd_mesh made = make(wide, &def);
  features f = features_of(made);
  CHECK(f.info.triangles == 2 && f.info.edges == 5 && fabs(area_of(&f) - 2.0) < 1e-15);
  features_free(&f);
  CHECK_OK(abut_destroy_ccd_mesh(made));
  enum { TEETH = 50 };
  double star[6 * TEETH], area = 0.0;
  uint32_t around[2 * TEETH];
  const uint32_t size = 2 * TEETH;
  for (uint32_t i = 0; i < size; ++i) {
    const double angle = 3.14159265358979323846 * i / TEETH, radius = i % 2 ? 1.0 : 2.0;
    star[3 * i] = radius * cos(angle);
    star[3 * i + 1] = radius * sin(angle);
    star[3 * i + 2] = 0.0;
    around[i] = i;
    area += 0.5 * 2.0 * sin(3.14159265358979323846 / TEETH);
  }
  def = def_of(star, size);
  def.face_sizes = &size;
  def.face_indices = around;
  def.face_count = 1;
  made = make(wide, &def);
  f = features_of(made);
  CHECK(f.info.triangles == size - 2 && f.info.edges == 2 * size - 3 &&
        fabs(area_of(&f) - area) < 1e-12);
  features_free(&f);
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

/* Polygons of several sizes are cut face by face, in their order. */
static void test_mixed(void)
{
  static const uint32_t sizes[] = {3, 4, 3}, corners[] = {4, 0, 1, 0, 1, 2, 3, 2, 3, 4};
  abut_ccd_mesh_def def = def_of(square, 5);
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 3;
  const abut_ccd_mesh made = make(wide, &def);
  features f = features_of(made);
  require(CHECK_EQUAL(f.info.triangles, 4));
  CHECK(!memcmp(f.triangles, corners, 3 * sizeof *corners));
  CHECK(!memcmp(f.triangles + 9, corners + 7, 3 * sizeof *corners));
  features_free(&f);
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

/* ---- what is packed ---- */

/* Whether ids are all of the numbers below count, and fills where each one is. */
static bool is_order(const int *ids, size_t count, size_t *at)
{
  bool *met = calloc(count + 1, sizeof *met), is = true;
  REQUIRE(met);
  for (size_t i = 0; i < count && is; ++i) {
    is = ids[i] >= 0 && (size_t)ids[i] < count && !met[ids[i]];
    if (is) {
      met[ids[i]] = true;
      at[ids[i]] = i;
    }
  }
  free(met);
  return is;
}

/* Features name the same vertices, corner by corner, by places and by ids. */
static void check_ends(const ccd_mesh *m, const uint32_t *given, size_t count, size_t corners,
                       int ends_at, int ids_at)
{
  const int *ends = m->ints + ends_at, *ids = m->ints + ids_at;
  const int *vertex_ids = m->ints + m->ints[CCD_MESH_VERTEX_IDS];
  size_t wrong = 0;
  for (size_t i = 0; i < count * corners; ++i) {
    const int end = ends[i];
    wrong += end < 0 || (size_t)end >= m->info.vertices ||
             (uint32_t)vertex_ids[end] != given[corners * (size_t)ids[i / corners] + i % corners];
  }
  CHECK_EQUAL(wrong, 0);
}

/* The ball around each group holds its features' vertices, and is no wider than the farthest of
 * them asks for. */
static void check_balls(const ccd_mesh *m, int which, const int *ends, size_t corners, size_t count)
{
  const abut_precision precision = m->numbers.size == 8 ? ABUT_FLOAT64 : ABUT_FLOAT32;
  for (size_t g = 0; g < CCD_GROUPS(count); ++g) {
    const size_t at = (size_t)m->ints[which] + CCD_BALL_REALS * g, first = g * CCD_GROUP;
    const size_t end = first + CCD_GROUP < count ? first + CCD_GROUP : count;
    const long double radius = real_at(m->numbers.data, precision, at + 3);
    long double farthest = 0.0L;
    for (size_t i = corners * first; i < corners * end; ++i) {
      const size_t vertex = ends ? (size_t)ends[i] : i;
      long double sum = 0.0L;
      for (size_t k = 0; k < 3; ++k) {
        const long double d =
          (long double)real_at(m->numbers.data, precision, CCD_MESH_POINTS + 3 * vertex + k) -
          (long double)real_at(m->numbers.data, precision, at + k);
        sum += d * d;
      }
      farthest = fmaxl(farthest, sqrtl(sum));
    }
    CHECK(farthest <= radius && radius <= farthest * (1.0L + 3e-6L));
  }
}

static void check_packed(abut_ccd_mesh made)
{
  const ccd_mesh *m = ccd_mesh_get(made);
  REQUIRE(m);
  const int *h = m->ints;
  const size_t size = m->numbers.size, vertices = m->info.vertices, triangles = m->info.triangles,
               edges = m->info.edges;
  const abut_precision precision = size == 8 ? ABUT_FLOAT64 : ABUT_FLOAT32;
  size_t most = vertices > edges ? vertices : edges, wrong = 0;
  most = triangles > most ? triangles : most;
  size_t *at = calloc(most + 1, sizeof *at);
  REQUIRE(at);
  CHECK(h[CCD_MESH_VERTICES] == (int)vertices && h[CCD_MESH_TRIANGLES] == (int)triangles &&
        h[CCD_MESH_EDGES] == (int)edges);
  CHECK_EQUAL(h[CCD_MESH_TRIANGLE_ENDS], CCD_MESH_INTS);
  CHECK_EQUAL(h[CCD_MESH_EDGE_ENDS], CCD_MESH_INTS + 3 * (int)triangles);
  CHECK_EQUAL(h[CCD_MESH_VERTEX_IDS], h[CCD_MESH_EDGE_ENDS] + 2 * (int)edges);
  CHECK_EQUAL(h[CCD_MESH_TRIANGLE_IDS], h[CCD_MESH_VERTEX_IDS] + (int)vertices);
  CHECK_EQUAL(h[CCD_MESH_EDGE_IDS], h[CCD_MESH_TRIANGLE_IDS] + (int)triangles);
  CHECK_EQUAL(m->ints_count, (size_t)h[CCD_MESH_EDGE_IDS] + edges);
  CHECK_EQUAL(h[CCD_MESH_VERTEX_BALLS], CCD_MESH_POINTS + 3 * vertices);
  CHECK_EQUAL(h[CCD_MESH_TRIANGLE_BALLS],
              h[CCD_MESH_VERTEX_BALLS] + CCD_BALL_REALS * CCD_GROUPS(vertices));
  CHECK_EQUAL(h[CCD_MESH_EDGE_BALLS],
              h[CCD_MESH_TRIANGLE_BALLS] + CCD_BALL_REALS * CCD_GROUPS(triangles));
  CHECK_EQUAL(m->numbers.count, h[CCD_MESH_EDGE_BALLS] + CCD_BALL_REALS * CCD_GROUPS(edges));
  REQUIRE(is_order(h + h[CCD_MESH_TRIANGLE_IDS], triangles, at));
  REQUIRE(is_order(h + h[CCD_MESH_EDGE_IDS], edges, at));
  REQUIRE(is_order(h + h[CCD_MESH_VERTEX_IDS], vertices, at));
  check_ends(m, m->triangles, triangles, 3, h[CCD_MESH_TRIANGLE_ENDS], h[CCD_MESH_TRIANGLE_IDS]);
  check_ends(m, m->edges, edges, 2, h[CCD_MESH_EDGE_ENDS], h[CCD_MESH_EDGE_IDS]);
  check_balls(m, CCD_MESH_VERTEX_BALLS, NULL, 1, vertices);
  check_balls(m, CCD_MESH_TRIANGLE_BALLS, h + h[CCD_MESH_TRIANGLE_ENDS], 3, triangles);
  check_balls(m, CCD_MESH_EDGE_BALLS, h + h[CCD_MESH_EDGE_ENDS], 2, edges);
  double largest = 0.0;
  for (size_t i = 0; i < vertices; ++i) {
    long double sum = 0.0L;
    for (size_t k = 0; k < 3; ++k) {
      const double x = m->vertices[3 * i + k] - m->origin[k];
      const double got = real_at(m->numbers.data, precision, CCD_MESH_POINTS + 3 * at[i] + k);
      wrong += got != (size == 8 ? x : (double)(float)x);
      sum += (long double)fabs(x);
    }
    wrong += (long double)real_at(m->numbers.data, precision, CCD_MESH_SIZE) < sum;
    largest = fmax(largest, (double)sum);
  }
  CHECK_EQUAL(wrong, 0);
  CHECK(real_at(m->numbers.data, precision, CCD_MESH_SIZE) <=
        largest * (1.0 + (size == 8 ? 2e-15 : 3e-7)));
  free(at);
}

/* A sheet of triangles in a wild order. */
#define SIDE 40

static void make_sheet(double *vertices, uint32_t *indices)
{
  uint64_t seed = 5;
  for (size_t i = 0; i < SIDE * SIDE; ++i) {
    const size_t place = i * 1009 % (SIDE * SIDE); /* coprime: a permutation */
    vertices[3 * place] = (double)(i % SIDE) + 0.1 * random_uniform(&seed);
    vertices[3 * place + 1] = (double)(i / SIDE) + 0.1 * random_uniform(&seed);
    vertices[3 * place + 2] = 0.3 * random_uniform(&seed) - 7.0;
  }
  for (size_t i = 0; i < (SIDE - 1) * (SIDE - 1); ++i) {
    const size_t first = i % (SIDE - 1) + SIDE * (i / (SIDE - 1));
    const size_t corners[6] = {first,        first + 1, first + SIDE,
                               first + SIDE, first + 1, first + SIDE + 1};
    const size_t place = i * 1009 % ((SIDE - 1) * (SIDE - 1));
    for (size_t k = 0; k < 6; ++k) {
      indices[6 * place + k] = (uint32_t)(corners[k] * 1009 % (SIDE * SIDE));
    }
  }
}

/* Returns the largest extent of a group of features, of any side. */
static double widest_group(const ccd_mesh *m, int ends_at, size_t count, size_t corners)
{
  double widest = 0.0;
  for (size_t first = 0; first < count; first += CCD_GROUP) {
    const size_t end = first + CCD_GROUP < count ? first + CCD_GROUP : count;
    for (size_t k = 0; k < 3; ++k) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (size_t i = corners * first; i < corners * end; ++i) {
        const size_t vertex = ends_at < 0 ? i : (size_t)m->ints[(size_t)ends_at + i];
        const double x = real_at(m->numbers.data, ABUT_FLOAT64, CCD_MESH_POINTS + 3 * vertex + k);
        low = fmin(low, x);
        high = fmax(high, x);
      }
      widest = fmax(widest, high - low);
    }
  }
  return widest;
}

/* Sorting changes no numbers of features, and what is behind one another is close. */
static void test_sorted(void)
{
  static double vertices[3 * SIDE * SIDE];
  static uint32_t indices[6 * (SIDE - 1) * (SIDE - 1)];
  make_sheet(vertices, indices);
  abut_ccd_mesh_def def = def_of(vertices, SIDE * SIDE);
  def.face_indices = indices;
  def.face_count = 2 * (SIDE - 1) * (SIDE - 1);
  const abut_ccd_mesh made = make(wide, &def), again = make(narrow, &def);
  const ccd_mesh *m = ccd_mesh_get(made);
  features f = features_of(made);
  CHECK(!memcmp(f.vertices, vertices, sizeof vertices) &&
        !memcmp(f.triangles, indices, sizeof indices));
  CHECK_EQUAL(f.info.edges, 2 * SIDE * (SIDE - 1) + (SIDE - 1) * (SIDE - 1));
  for (size_t i = 0; i < f.info.edges; ++i) {
    const uint32_t *e = f.edges + 2 * i;
    CHECK(e[0] < e[1] && (!i || e[-2] < e[0] || (e[-2] == e[0] && e[-1] < e[1])));
  }
  check_packed(made);
  check_packed(again);
  CHECK(widest_group(m, -1, f.info.vertices, 1) < 12.0);
  CHECK(widest_group(m, m->ints[CCD_MESH_TRIANGLE_ENDS], f.info.triangles, 3) < 12.0);
  CHECK(widest_group(m, m->ints[CCD_MESH_EDGE_ENDS], f.info.edges, 2) < 12.0);
  features_free(&f);
  CHECK_OK(abut_destroy_ccd_mesh(made));
  CHECK_OK(abut_destroy_ccd_mesh(again));
}

/* The size is never short: of numbers that float rounds down, of sums that double rounds down. The
 * second vertex keeps the mesh's origin at 0. */
static void test_size(void)
{
  static const double cases[][3] = {{0.1, 0.2, 0.3},   {1e6, -1e6, 1e6}, {-1, 1e-17, -1e-17},
                                    {999999.96, 0, 0}, {1e-300, 0, 0},   {0, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const double *vertex = cases[i], both[6] = {vertex[0], vertex[1], vertex[2], 0, 0, 0};
    const abut_ccd_mesh_def def = def_of(both, 2);
    const abut_ccd_mesh made[2] = {make(wide, &def), make(narrow, &def)};
    for (size_t k = 0; k < 2; ++k) {
      const ccd_mesh *m = ccd_mesh_get(made[k]);
      const double size = real_at(m->numbers.data, k ? ABUT_FLOAT32 : ABUT_FLOAT64, CCD_MESH_SIZE);
      const long double sum =
        (long double)fabs(vertex[0]) + (long double)fabs(vertex[1]) + (long double)fabs(vertex[2]);
      check((long double)size >= sum, "the size of case %zu is %.17g", i, size);
      CHECK_OK(abut_destroy_ccd_mesh(made[k]));
    }
  }
}

/* A mesh that is far from 0 has an origin of its own, from which float holds its vertices to a
 * share of their own size. */
static void test_far_off(void)
{
  static const double at[3] = {1e5, -7e4, 3e4},
                      near[12] = {0.1, 0.2, 0.3, -0.3, 0.1, 0.2, 0.2, -0.1, 0.1, 0.3, 0.3, -0.2};
  double vertices[12];
  for (size_t i = 0; i < 12; ++i) {
    vertices[i] = near[i] + at[i % 3];
  }
  const abut_ccd_mesh_def def = def_of(vertices, 4);
  const abut_ccd_mesh made = make(narrow, &def);
  const ccd_mesh *m = ccd_mesh_get(made);
  const int *ids = m->ints + m->ints[CCD_MESH_VERTEX_IDS];
  for (size_t i = 0; i < 12; ++i) {
    const double packed = real_at(m->numbers.data, ABUT_FLOAT32, CCD_MESH_POINTS + i);
    const double origin = real_at(m->numbers.data, ABUT_FLOAT32, CCD_MESH_ORIGIN + i % 3);
    const double given = vertices[3 * (size_t)ids[i / 3] + i % 3];
    check(fabs(packed + origin - given) < 1e-7, "number %zu is off by %g", i,
          packed + origin - given);
  }
  CHECK(real_at(m->numbers.data, ABUT_FLOAT32, CCD_MESH_SIZE) < 1.5);
  check_packed(made);
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

/* On a device it lies once, and goes with the context. */
static void test_on_devices(abut_context home)
{
  const abut_ccd_mesh_def def = def_of(square, 5);
  const context *c = context_get(home);
  ccd_mesh *m = ccd_mesh_get(make(home, &def));
  const size_t place = context_first(c);
  CHECK(!m->ints_on[place] && !m->numbers_on[place]);
  CHECK_OK(ccd_mesh_on(m, place));
  const buffer *ints = m->ints_on[place], *numbers = m->numbers_on[place];
  CHECK(ints && numbers);
  CHECK_OK(ccd_mesh_on(m, place));
  CHECK(m->ints_on[place] == ints && m->numbers_on[place] == numbers);
}

/* ---- bodies ---- */

static void expect_same(abut_ccd_mesh got, abut_ccd_mesh wanted, const char *what)
{
  const ccd_mesh *a = ccd_mesh_get(got), *b = ccd_mesh_get(wanted);
  REQUIRE(a && b);
  check(!memcmp(&a->info, &b->info, sizeof a->info),
        "%s: %zu, %zu, %zu features, not %zu, %zu, %zu", what, a->info.vertices, a->info.triangles,
        a->info.edges, b->info.vertices, b->info.triangles, b->info.edges);
  require(check(a->ints_count == b->ints_count && a->numbers.count == b->numbers.count,
                "%s: packed alike", what));
  check(!memcmp(a->ints, b->ints, a->ints_count * sizeof *a->ints), "%s: integers differ", what);
  check(!memcmp(a->numbers.data, b->numbers.data, a->numbers.count * a->numbers.size),
        "%s: numbers differ", what);
  check(!memcmp(a->vertices, b->vertices, a->info.vertices * 3 * sizeof(double)) &&
          (!a->info.triangles ||
           !memcmp(a->triangles, b->triangles, a->info.triangles * 3 * sizeof(uint32_t))) &&
          (!a->info.edges || !memcmp(a->edges, b->edges, a->info.edges * 2 * sizeof(uint32_t))),
        "%s: features differ", what);
}

static abut_body body_of(const abut_ccd_mesh_def *mesh)
{
  static const abut_superquadric ball = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  abut_body made = {0, 0};
  def.vertices = mesh->vertices;
  def.vertex_count = mesh->vertex_count;
  def.face_sizes = mesh->face_sizes;
  def.face_indices = mesh->face_indices;
  def.face_count = mesh->face_count;
  def.edges = mesh->edges;
  def.edge_count = mesh->edge_count;
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  REQUIRE_OK(abut_create_body(wide, &def, &made));
  return made;
}

/* A body's mesh is that of its definition, also when the body has gone. */
static void test_bodies(void)
{
  static const uint32_t sizes[] = {4, 3, 3, 5},
                        corners[] = {0, 1, 2, 3, 4, 4, 1, 2, 3, 4, 0, 0, 2, 2, 4};
  static const uint32_t edges[] = {4, 0, 3, 3};
  for (size_t faces = 1; faces <= 4; ++faces) {
    abut_ccd_mesh_def def = def_of(square, 5);
    def.face_sizes = sizes;
    def.face_indices = corners;
    def.face_count = faces;
    def.edges = edges;
    def.edge_count = faces % 2 ? 2 : 0;
    const abut_body body = body_of(&def);
    const abut_ccd_mesh wanted = make(wide, &def);
    abut_ccd_mesh got = {0, 0};
    expect_failure(abut_create_body_ccd_mesh(body, NULL), ABUT_ERROR_ARGUMENT, "",
                   "the handle is NULL");
    CHECK_OK(abut_create_body_ccd_mesh(body, &got));
    CHECK_OK(abut_destroy_body(body));
    expect_same(got, wanted, "a body's mesh");
    check_packed(got);
    CHECK_OK(abut_destroy_ccd_mesh(got));
    CHECK_OK(abut_destroy_ccd_mesh(wanted));
    expect_failure(abut_create_body_ccd_mesh(body, &got), ABUT_ERROR_HANDLE, "", "stale");
  }
}

/* What has no faces would let everything through. */
static void test_bodies_without_faces(void)
{
  static const uint32_t edges[] = {4, 0, 3, 1};
  abut_ccd_mesh_def def = def_of(square, 5);
  abut_ccd_mesh got = {0, 0};
  def.edges = edges;
  def.edge_count = 2;
  const abut_body body = body_of(&def);
  expect_failure(abut_create_body_ccd_mesh(body, &got), ABUT_ERROR_BODY, "the body cannot collide",
                 "has no faces");
  CHECK_OK(abut_destroy_body(body));
}

/* A surface is what collides, whatever the mesh beside it is. */
static void test_surfaces(void)
{
  static const abut_superquadric ball = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  static const uint32_t sizes[] = {3, 4}, corners[] = {4, 1, 2, 0, 1, 2, 3},
                        lost[] = {4, 1, 2, 0, 1, 2, 5};
  abut_ccd_mesh_def wanted = def_of(square, 5);
  abut_body_def def = abut_default_body_def();
  abut_body body = {0, 0};
  abut_ccd_mesh got = {0, 0};
  wanted.face_sizes = sizes;
  wanted.face_indices = corners;
  wanted.face_count = 2;
  def.vertices = square;
  def.vertex_count = 1;
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  def.surface = (abut_surface){square, 5, sizes, corners, 2};
  REQUIRE_OK(abut_create_body(wide, &def, &body));
  CHECK_OK(abut_create_body_ccd_mesh(body, &got));
  const abut_ccd_mesh made = make(wide, &wanted);
  expect_same(got, made, "a body's surface");
  CHECK_OK(abut_destroy_ccd_mesh(made));
  CHECK_OK(abut_destroy_ccd_mesh(got));
  CHECK_OK(abut_destroy_body(body));
  def.surface.face_indices = lost;
  expect_failure(abut_create_body(wide, &def, &body), ABUT_ERROR_BODY, "",
                 "face 1 uses vertex 5, but there are only 5 vertices");
}

/* ---- files ---- */

/* A bare mesh collides as it is, made anew or found among kept fields. */
static void test_bare_files(const char *folder)
{
  char obj[1024];
  snprintf(obj, sizeof obj, "%s/box.obj", folder);
  for (int time = 0; time < 2; ++time) {
    abut_body body;
    abut_ccd_mesh of_body, of_file;
    REQUIRE_OK(abut_load_body(wide, obj, &body));
    REQUIRE_OK(abut_create_body_ccd_mesh(body, &of_body));
    REQUIRE_OK(abut_load_ccd_mesh(wide, obj, &of_file));
    expect_same(of_body, of_file, "a bare mesh");
    CHECK_OK(abut_destroy_ccd_mesh(of_body));
    CHECK_OK(abut_destroy_ccd_mesh(of_file));
    CHECK_OK(abut_destroy_body(body));
  }
}

/* Its vertices at one place become one, and one of no face is left out. So is it with the body file
 * of its field, which names the surface. */
static void test_bare_unified(void)
{
  static const char text[] =
    "v 9 9 9\nv 0 0 0\nv 0 2 0\nv 2 0 0\nv 0 0 0\nv 2 0 0\nv 0 0 2\nv 0 0 0\nv 0 0 2\n"
    "v 0 2 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 2 3 4\nf 5 6 7\nf 8 9 10\nf 11 12 13\n";
  static const uint32_t triangles[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 2, 1, 3},
                        edges[] = {0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3};
  const char *path = write_text("soup.obj", text);
  const abut_field_options options = abut_default_field_options();
  abut_body body;
  abut_ccd_mesh made;
  abut_field field;
  REQUIRE_OK(abut_load_body(wide, path, &body));
  REQUIRE_OK(abut_create_body_ccd_mesh(body, &made));
  has_features(made, triangles, 4, edges, 6, "a soup of triangles");
  CHECK_EQUAL(info_of(made).vertices, 4);
  CHECK_OK(abut_destroy_ccd_mesh(made));
  CHECK_OK(abut_destroy_body(body));
  REQUIRE_OK(abut_load_field(path, &options, &field));
  const char *written = in_folder("soup.body.json");
  REQUIRE_OK(abut_write_field(written, &field));
  abut_free_field(&field);
  REQUIRE_OK(abut_load_body(wide, written, &body));
  REQUIRE_OK(abut_create_body_ccd_mesh(body, &made));
  has_features(made, triangles, 4, edges, 6, "a body file's surface");
  CHECK_OK(abut_destroy_ccd_mesh(made));
  CHECK_OK(abut_destroy_body(body));
  REQUIRE_OK(abut_load_ccd_mesh(wide, written, &made));
  has_features(made, triangles, 4, edges, 6, "the surface that a body file names");
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

static void test_asset(const char *folder, const char *name)
{
  char json[1024], obj[1024];
  abut_body body;
  abut_body_info info;
  abut_ccd_mesh of_body, of_json, of_obj;
  snprintf(json, sizeof json, "%s/%s.body.json", folder, name);
  snprintf(obj, sizeof obj, "%s/%s.obj", folder, name);
  REQUIRE_OK(abut_load_body(wide, json, &body));
  REQUIRE_OK(abut_get_body_info(body, &info));
  REQUIRE_OK(abut_create_body_ccd_mesh(body, &of_body));
  REQUIRE_OK(abut_load_ccd_mesh(wide, json, &of_json));
  REQUIRE_OK(abut_load_ccd_mesh(wide, obj, &of_obj));
  expect_same(of_json, of_obj, json);
  expect_same(of_body, of_obj, name);
  check_packed(of_obj);
  const abut_ccd_mesh_info got = info_of(of_obj);
  CHECK_EQUAL(got.vertices, info.vertices);
  CHECK(got.triangles >= info.faces && got.edges >= info.edges);
  CHECK(!memcmp(got.lower, info.lower, sizeof got.lower) &&
        !memcmp(got.upper, info.upper, sizeof got.upper));
  CHECK_OK(abut_destroy_ccd_mesh(of_body));
  CHECK_OK(abut_destroy_ccd_mesh(of_json));
  CHECK_OK(abut_destroy_ccd_mesh(of_obj));
  CHECK_OK(abut_destroy_body(body));
}

/* A file's mesh is as it is: lines of an .obj are edges, points of no face are vertices. */
static void test_files(void)
{
  static const uint32_t triangles[] = {0, 1, 2}, edges[] = {0, 1, 0, 2, 1, 2, 2, 3};
  abut_ccd_mesh made;
  REQUIRE_OK(abut_load_ccd_mesh(
    wide, write_text("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 2 2 2\nf 1 2 3\nl 3 4\n"),
    &made));
  has_features(made, triangles, 1, edges, 4, "an .obj");
  CHECK_EQUAL(info_of(made).vertices, 5);
  CHECK_OK(abut_destroy_ccd_mesh(made));
  REQUIRE_OK(abut_load_ccd_mesh(wide,
                                write_text("m.off", "OFF\n3 1 0\n0 0 0\n2 0 0\n0 2 0\n3 0 1 2\n"),
                                &made));
  has_features(made, triangles, 1, edges, 3, "an .off");
  CHECK_OK(abut_destroy_ccd_mesh(made));
  REQUIRE_OK(abut_load_ccd_mesh(wide, write_text("points.obj", "v 1 0 0\nv 1 0 4\n"), &made));
  has_features(made, NULL, 0, NULL, 0, "points alone");
  CHECK_OK(abut_destroy_ccd_mesh(made));
}

static void test_files_refused(void)
{
  static const struct {
    const char *name, *text, *part;
    abut_status status;
  } cases[] = {
    {"bad.obj", "v 0 0 0\nv 1 zero 0\n", ":2: ", ABUT_ERROR_FORMAT},
    {"empty.obj", "# nothing\n", "no vertices", ABUT_ERROR_FORMAT},
    {"far.obj", "v 0 0 0\nv 0 2e6 0\n", "vertex 1 of the mesh is not within", ABUT_ERROR_FORMAT},
    {"lost.obj", "v 0 0 0\nv 0 1 0\nf 1 2 3\n", ":3: ", ABUT_ERROR_FORMAT},
    {"two.obj", "v 0 0 0\nv 0 1 0\nf 1 2\n", ":3: ", ABUT_ERROR_FORMAT},
    {"short.off", "OFF\n3 1 0\n0 0 0\n2 0 0\n", "", ABUT_ERROR_FORMAT},
    {"bad.body.json", "{\"mesh\": \"m.obj\",\n\"superquadrics\": 1}", ":2: ", ABUT_ERROR_FORMAT},
    {"lost.body.json", "{\"mesh\": \"none.obj\", \"aopc\": {\"source\": \"faces\"}}", "its mesh, ",
     ABUT_ERROR_READ},
    {"mesh.txt", "v 0 0 0\n", ".obj, .stl", ABUT_ERROR_FORMAT},
  };
  abut_ccd_mesh made;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char *path = write_text(cases[i].name, cases[i].text);
    made = (abut_ccd_mesh){7, 7};
    expect_failure(abut_load_ccd_mesh(wide, path, &made), cases[i].status, path, cases[i].part);
    CHECK(!made.index && !made.generation);
  }
  const abut_context none = {0, 0};
  expect_failure(abut_load_ccd_mesh(wide, in_folder("none.obj"), &made), ABUT_ERROR_READ, "",
                 "none.obj");
  expect_failure(abut_load_ccd_mesh(wide, NULL, &made), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_load_ccd_mesh(wide, "m.obj", NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_load_ccd_mesh(none, in_folder("m.obj"), &made), ABUT_ERROR_HANDLE, "",
                 "null");
}

static size_t meshes_there(void)
{
  size_t count = 0;
  for (const owned *o = context_get(wide)->newest; o; o = o->next) {
    count += o->pool == &ccd_mesh_pool;
  }
  return count;
}

int main(int argc, char **argv)
{
  static const char *const assets[] = {"box", "figure", "part", "ring"};
  REQUIRE(argc == 2);
  folder_make();
  if (!test_context(ABUT_FLOAT64, &wide) || !test_context(ABUT_FLOAT32, &narrow)) {
    return check_finish();
  }
  test_refused_vertices();
  test_refused_faces();
  test_refused_edges();
  test_refused_calls();
  test_bare();
  test_triangles();
  test_degenerate();
  test_flat();
  test_polygons();
  test_mixed();
  test_sorted();
  test_size();
  test_far_off();
  test_bodies();
  test_bodies_without_faces();
  test_surfaces();
  test_bare_files(argv[1]);
  test_bare_unified();
  for (size_t i = 0; i < sizeof assets / sizeof *assets; ++i) {
    test_asset(argv[1], assets[i]);
  }
  test_files();
  test_files_refused();
  CHECK_EQUAL(meshes_there(), 0);
  test_on_devices(wide);
  test_on_devices(narrow);
  CHECK_OK(abut_destroy_context(wide));
  CHECK_OK(abut_destroy_context(narrow));
  folder_remove();
  return check_finish();
}
