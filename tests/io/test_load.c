/* Bodies and smoothing through the library, on the host: the only device that every machine has,
 * and the only one whose driver no sanitizer trips over. */
#include "support.h"

#include <abut/abut.h>
#include <stdio.h>
#include <stdlib.h>

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
    CHECK_EQUAL(info.vertices, 4);
    CHECK_EQUAL(info.faces, 4);
    CHECK_EQUAL(info.edges, 6);
    CHECK_EQUAL(info.pointclouds, i == 0);
    CHECK_EQUAL(info.superquadrics, i == 1);
    abut_destroy_body(body);
  }
}

static void wrong(void)
{
  abut_body body;
  const char *path = write_text("points.obj", "v 0 0 0\nv 1 0 0\n");
  expect_failure(abut_load_body(context, path, &body), ABUT_ERROR_FORMAT, path, "holds no faces");
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

static void smoothing(void)
{
  abut_smoothing s = abut_default_smoothing(), again;
  char *text;
  s.sort = 0.1;
  REQUIRE_OK(abut_format_smoothing(&s, &text));
  REQUIRE_OK(abut_load_smoothing(write_text("s.json", text), &again));
  abut_free(text);
  CHECK(again.sort == 0.1 && again.length == s.length && again.cookie == s.cookie);
  const char *path = write_text("s.json", "{\n\"length\": 0}");
  expect_failure(abut_load_smoothing(path, &again), ABUT_ERROR_FORMAT, path, "json:2: length: ");
  path = in_folder("none.json");
  expect_failure(abut_load_smoothing(path, &again), ABUT_ERROR_READ, path, "No such file");
}

int main(void)
{
  start();
  good();
  wrong();
  smoothing();
  stop();
  return check_finish();
}
