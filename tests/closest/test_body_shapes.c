/* Shapes of bodies: hulls of meshes, superquadrics and polyhedra that add; and hulls of mesh files.
 * Its argument is the folder of assets. */
#include "query/shape.h"
#include "samples.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context home;

static const double cube[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                              -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};
static const uint32_t face[] = {0, 1, 3};
static const uint32_t face_sizes[] = {3};

/* Six planes of a box of half lengths 1, 2, 3 around (0, 0, 10). */
static const double box_planes[] = {2, 0,  0, 1, 0,  10, -1, 0, 0, -1, 0, 10, 0, 3, 0,  0, 2, 10,
                                    0, -1, 0, 0, -2, 10, 0,  0, 1, 0,  0, 13, 0, 0, -1, 0, 0, 7};
static const double empty_planes[] = {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0};
static const double open_planes[] = {1, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0};

static const abut_superquadric superquadrics[] = {
  {{1, 2, 3}, {0.05, 1}, {4, 5, 6}, {0, 0, 0, 2}, ABUT_ADD},
  {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_SUBTRACT},
  {{0.1, 0.2, 0.3}, {1.5, 2}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD},
};

static abut_body make(const abut_polyhedron *polyhedra, size_t count)
{
  abut_body_def def = abut_default_body_def();
  abut_body body = {0, 0};
  def.vertices = cube;
  def.vertex_count = 8;
  def.face_indices = face;
  def.face_sizes = face_sizes;
  def.face_count = 1;
  def.superquadrics = superquadrics;
  def.superquadric_count = 3;
  def.polyhedra = polyhedra;
  def.polyhedron_count = count;
  REQUIRE_OK(abut_create_body(home, &def, &body));
  return body;
}

static size_t count_of(abut_body body, abut_body_part part)
{
  size_t count = 99;
  CHECK_OK(abut_count_body_shapes(body, part, &count));
  return count;
}

static void test_parts(void)
{
  const abut_polyhedron polyhedra[] = {{box_planes, 6, ABUT_SUBTRACT}, {box_planes, 6, ABUT_ADD}};
  const abut_body body = make(polyhedra, 2);
  abut_shape hull, box, parts[2];
  abut_shape_info info;
  CHECK_EQUAL(count_of(body, ABUT_PART_HULL), 1);
  CHECK_EQUAL(count_of(body, ABUT_PART_SUPERQUADRICS), 2);
  CHECK_EQUAL(count_of(body, ABUT_PART_POLYHEDRA), 1);
  CHECK_OK(abut_create_body_shapes(body, ABUT_PART_HULL, 1, &hull));
  CHECK_OK(abut_get_shape_info(hull, &info));
  CHECK(info.vertices == 8 && fabs(info.diagonal - sqrt(12)) < 1e-15);
  CHECK_OK(abut_create_body_shapes(body, ABUT_PART_SUPERQUADRICS, 2, parts));
  CHECK_OK(abut_create_body_shapes(body, ABUT_PART_POLYHEDRA, 1, &box));
  CHECK_OK(abut_destroy_body(body)); /* everything is copied */
  const double *one = shape_get(parts[0])->record, *two = shape_get(parts[1])->record;
  CHECK(one[SHAPE_SIZE + 1] == 2 && one[SHAPE_OFFSET] == 4 && one[SHAPE_ROTATION] == -1);
  CHECK(fabs(one[SHAPE_EXPONENTS] - 2.0 / 1.9) < 1e-15 && one[SHAPE_EXPONENTS + 1] == 2.0);
  CHECK(two[SHAPE_EXPONENTS] == 4.0 && fabs(two[SHAPE_EXPONENTS + 1] - 20.0) < 1e-12);
  CHECK_OK(abut_get_shape_info(box, &info));
  CHECK(info.kind == ABUT_SHAPE_HULL && info.vertices == 8 && info.dimensions == 3);
  CHECK(fabs(info.diagonal - sqrt(56)) < 1e-14);
  CHECK(fabs(shape_get(box)->record[SHAPE_OFFSET + 2] - 10) < 1e-14);
}

static size_t shapes_there(void)
{
  size_t count = 0;
  for (const owned *o = context_get(home)->newest; o; o = o->next) {
    count += o->pool == &shape_pool;
  }
  return count;
}

static void test_refused(void)
{
  const abut_polyhedron empty[] = {{box_planes, 6, ABUT_ADD}, {empty_planes, 3, ABUT_ADD}};
  const abut_polyhedron open[] = {{box_planes, 6, ABUT_ADD},
                                  {open_planes, 2, ABUT_SUBTRACT},
                                  {open_planes, 2, ABUT_ADD}};
  const abut_body bodies[3] = {make(empty, 2), make(open, 3), make(NULL, 0)};
  const abut_body none = {0, 0};
  abut_shape made[3];
  size_t count;
  const size_t before = shapes_there();
  expect_failure(abut_create_body_shapes(bodies[0], ABUT_PART_POLYHEDRA, 2, made), ABUT_ERROR_BODY,
                 "", "polyhedron 1 is empty");
  expect_failure(abut_create_body_shapes(bodies[1], ABUT_PART_POLYHEDRA, 2, made), ABUT_ERROR_BODY,
                 "", "polyhedron 2 is not bounded within +-1e6 m");
  CHECK_EQUAL(shapes_there(), before); /* none is left */
  CHECK_EQUAL(count_of(bodies[2], ABUT_PART_POLYHEDRA), 0);
  expect_failure(abut_create_body_shapes(bodies[2], ABUT_PART_POLYHEDRA, 0, made),
                 ABUT_ERROR_ARGUMENT, "", "the body has 0 added polyhedra, but ");
  expect_failure(abut_create_body_shapes(bodies[2], ABUT_PART_SUPERQUADRICS, 3, made),
                 ABUT_ERROR_ARGUMENT, "", "the body has 2 added superquadrics, but 3 shapes are ");
  expect_failure(abut_create_body_shapes(bodies[2], ABUT_PART_HULL, 1, NULL), ABUT_ERROR_ARGUMENT,
                 "", "the body has 1 added meshes");
  expect_failure(abut_create_body_shapes(bodies[2], (abut_body_part)3, 1, made),
                 ABUT_ERROR_ARGUMENT, "", "unknown part of bodies 3");
  expect_failure(abut_count_body_shapes(bodies[2], (abut_body_part)-1, &count), ABUT_ERROR_ARGUMENT,
                 "", "unknown part of bodies -1");
  expect_failure(abut_count_body_shapes(bodies[2], ABUT_PART_HULL, NULL), ABUT_ERROR_ARGUMENT, "",
                 "place");
  expect_failure(abut_count_body_shapes(none, ABUT_PART_HULL, &count), ABUT_ERROR_HANDLE, "",
                 "null");
  expect_failure(abut_create_body_shapes(none, ABUT_PART_HULL, 1, made), ABUT_ERROR_HANDLE, "",
                 "null");
}

static abut_shape_info info_of(abut_shape of)
{
  abut_shape_info info = {0};
  CHECK_OK(abut_get_shape_info(of, &info));
  return info;
}

/* The hull of a file is that of all its vertices, in their order; the faces count for nothing. */
static void test_files(void)
{
  static const char body[] =
    "{\"mesh\": \"apex.obj\",\n\"superquadrics\": [{\"axes\": [1, 1, 1], \"exponents\": [1, 1],\n"
    "\"position\": [0, 0, 0], \"quaternion\": [1, 0, 0, 0]}]}";
  static const char *const names[] = {"apex.obj", "apex.off", "apex.body.json"};
  abut_shape hull;
  double vertices[15];
  write_text("apex.obj", "v 0 0 0\nv 2 0 0\nv 0.5 0.5 0.25\nv 0 2 0\nv 0 0 2\nv 3 3 3\nf 1 2 4\n");
  write_text("apex.off", "OFF\n6 1 0\n0 0 0\n2 0 0\n0.5 0.5 0.25\n0 2 0\n0 0 2\n3 3 3\n3 0 1 3\n");
  write_text("apex.body.json", body);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    REQUIRE_OK(abut_load_hull(home, in_folder(names[i]), &hull));
    const abut_shape_info info = info_of(hull);
    CHECK(info.kind == ABUT_SHAPE_HULL && info.vertices == 5 && info.dimensions == 3);
    CHECK(fabs(info.span - sqrt(27)) < 1e-15);
    CHECK_OK(abut_get_shape_vertices(hull, vertices));
    CHECK(vertices[3] == 2 && vertices[7] == 2 && vertices[12] == 3); /* the third is inside */
    CHECK_OK(abut_destroy_shape(hull));
  }
  /* Of an .stl of binary numbers, and of points alone. */
  buffer stl = {0};
  buffer_binary_stl(&stl, "a tetrahedron", 4);
  REQUIRE_OK(abut_load_hull(home, write_file("t.stl", stl.bytes, stl.count), &hull));
  CHECK(info_of(hull).vertices == 4);
  CHECK_OK(abut_destroy_shape(hull));
  free(stl.bytes);
  REQUIRE_OK(abut_load_hull(home, write_text("points.obj", "v 1 0 0\nv 1 0 4\n"), &hull));
  CHECK(info_of(hull).dimensions == 1 && info_of(hull).diagonal == 4);
  CHECK_OK(abut_destroy_shape(hull));
}

static void test_files_refused(void)
{
  abut_shape hull = {7, 7};
  const size_t before = shapes_there();
  const char *path = write_text("bad.obj", "v 0 0 0\nv 1 zero 0\n");
  expect_failure(abut_load_hull(home, path, &hull), ABUT_ERROR_FORMAT, path, ":2: ");
  CHECK(!hull.index && !hull.generation);
  path = write_text("empty.obj", "# nothing\n");
  expect_failure(abut_load_hull(home, path, &hull), ABUT_ERROR_FORMAT, path, "no vertices");
  path = write_text("far.obj", "v 0 0 0\nv 0 2e6 0\n");
  expect_failure(abut_load_hull(home, path, &hull), ABUT_ERROR_FORMAT, path,
                 "vertex 1 of the hull is not within");
  path = write_text("bad.body.json", "{\"mesh\": \"t.obj\",\n\"superquadrics\": 1}");
  expect_failure(abut_load_hull(home, path, &hull), ABUT_ERROR_FORMAT, path, ":2: ");
  path =
    write_text("lost.body.json", "{\"mesh\": \"lost.obj\", \"aopc\": {\"source\": \"faces\"}}");
  expect_failure(abut_load_hull(home, path, &hull), ABUT_ERROR_READ, path, "its mesh, ");
  path = write_text("mesh.txt", "v 0 0 0\n");
  expect_failure(abut_load_hull(home, path, &hull), ABUT_ERROR_FORMAT, path, ".obj, .stl");
  expect_failure(abut_load_hull(home, in_folder("lost.obj"), &hull), ABUT_ERROR_READ, "",
                 "lost.obj");
  expect_failure(abut_load_hull(home, NULL, &hull), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_load_hull(home, path, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  const abut_context none = {0, 0};
  expect_failure(abut_load_hull(none, in_folder("apex.obj"), &hull), ABUT_ERROR_HANDLE, "", "null");
  CHECK_EQUAL(shapes_there(), before);
}

/* A part of the body's own frame is where the body's mesh is. */
static void test_asset(const char *folder, const char *name, size_t superquadric_count,
                       size_t polyhedra)
{
  char path[1024];
  abut_body body;
  abut_body_info info;
  abut_shape shapes[32];
  abut_shape_info of;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  REQUIRE_OK(abut_load_body(home, path, &body));
  CHECK_OK(abut_get_body_info(body, &info));
  CHECK_EQUAL(count_of(body, ABUT_PART_SUPERQUADRICS), superquadric_count);
  CHECK_EQUAL(count_of(body, ABUT_PART_POLYHEDRA), polyhedra);
  CHECK_OK(abut_create_body_shapes(body, ABUT_PART_HULL, 1, shapes));
  CHECK_OK(abut_get_shape_info(shapes[0], &of));
  check(fabs(of.diagonal - info.diagonal) < 1e-12 * info.diagonal && of.vertices <= info.vertices,
        "%s: a hull of %g m around a mesh of %g m", name, of.diagonal, info.diagonal);
  CHECK_OK(abut_create_body_shapes(body, ABUT_PART_SUPERQUADRICS, superquadric_count, shapes));
  if (polyhedra) {
    CHECK_OK(abut_create_body_shapes(body, ABUT_PART_POLYHEDRA, polyhedra, shapes));
    CHECK_OK(abut_get_shape_info(shapes[0], &of));
    check(of.dimensions == 3 && of.diagonal < 1.01 * info.diagonal, "%s: a polyhedron of %g m",
          name, of.diagonal);
  }
}

int main(int count, char **arguments)
{
  REQUIRE(count > 1);
  folder_make();
  if (test_context(ABUT_FLOAT64, &home)) {
    test_parts();
    test_refused();
    test_files();
    test_files_refused();
    test_asset(arguments[1], "figure.body.json", 18, 0);
    test_asset(arguments[1], "part.body.json", 1, 1);
    CHECK_OK(abut_destroy_context(home));
  }
  folder_remove();
  return check_finish();
}
