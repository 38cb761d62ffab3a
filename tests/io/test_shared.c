/* Files of others, where ABUT_SHARED names the folder that holds them. */
#include "io/body_file.h"
#include "io/mesh.h"
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shared;

static int find(void **state)
{
  (void)state;
  shared = getenv("ABUT_SHARED");
  return 0;
}

static const char *at(const char *folder, const char *name)
{
  static char paths[4][1024];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s/%s", shared, folder, name);
  return path;
}

/* What each file is known for, and what must come of it. */
static const struct {
  const char *name, *error; /* behind the path; NULL where it must be read */
  size_t vertices, faces;
} malformed[] = {
  {"libigl_degenerated.obj", NULL, 7, 24},
  {"mujoco_malformed_face.obj", NULL, 4, 4}, /* the last face runs clockwise */
  {"tinyobj_invalid-relative-vertex-index.obj", ":1: face corner '-4' is out of range", 0, 0},
  {"tinyobj_issue-140-zero-face-idx.obj", ":16: face corner '0/0/0' is out of range", 0, 0},
  {"tinyobj_issue-161-inconsistent-f.obj", NULL, 8, 12}, /* the last face has no texture */
  {"tinyobj_leading-decimal-dot-issue-201.obj", NULL, 3, 1},
  {"tinyobj_test-nan.obj", ":12: vertex: 'nan' is not finite", 0, 0},
  {"trimesh_busted.STL", NULL, 1941, 3878}, /* sound, whatever its name says */
  {"trimesh_fuze_ascii.ply", NULL, 502, 1000}, /* lines longer than the header tells */
  {"trimesh_multibody.stl", NULL, 20, 32},
  {"trimesh_nancolor.obj", NULL, 8, 12},
  {"trimesh_negative_indices.obj", NULL, 8, 6},
  {"trimesh_obj_empty.obj", ": holds no vertices", 0, 0},
  {"trimesh_ply_empty_header.ply", ": holds no vertices", 0, 0},
  {"trimesh_soup.stl", NULL, 300, 100},
  {"trimesh_stl_empty_bin.stl", ": holds no vertices", 0, 0},
  {"trimesh_whitespace.off", NULL, 8, 6},
};

static void malformed_files(void **state)
{
  (void)state;
  if (!shared) {
    skip();
  }
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
    mesh m;
    const char *path = at("data/malformed", malformed[i].name);
    abut_status status = mesh_read(path, &m);
    if (malformed[i].error) {
      expect_failure(status, ABUT_ERROR_FORMAT, path, malformed[i].error);
      continue;
    }
    if (status != ABUT_SUCCESS) {
      fail_msg("%s", abut_last_error());
    }
    if (m.vertex_count != malformed[i].vertices || m.face_count != malformed[i].faces) {
      fail_msg("%s: %zu vertices, %zu faces", path, m.vertex_count, m.face_count);
    }
    mesh_free(&m);
  }
}

/* No file of the folder lacks an expectation above. */
static void all_malformed_known(void **state)
{
  (void)state;
  DIR *d = shared ? opendir(at("data", "malformed")) : NULL;
  if (!d) {
    skip();
  }
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    size_t i = 0, count = sizeof malformed / sizeof *malformed;
    while (i < count && strcmp(malformed[i].name, e->d_name) != 0) {
      i++;
    }
    assert_true(i < count || e->d_name[0] == '.');
  }
  closedir(d);
}

static void real_meshes(void **state)
{
  (void)state;
  static const char *const folders[] = {"data/meshes", "data/hulls", "data/paper-resolution",
                                        "data/bodies"};
  if (!shared) {
    skip();
  }
  size_t read = 0;
  for (size_t i = 0; i < 4; i++) {
    DIR *d = opendir(at(folders[i], ""));
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
      mesh m;
      if (e->d_name[0] == '.' || strstr(e->d_name, ".json")) {
        continue;
      }
      if (mesh_read(at(folders[i], e->d_name), &m) != ABUT_SUCCESS) {
        fail_msg("%s", abut_last_error());
      }
      assert_true(m.vertex_count > 0 && m.face_count > 0);
      mesh_free(&m);
      read++;
    }
    closedir(d);
  }
  assert_true(read >= 23);
}

static void check_body(const char *path, size_t primitives, size_t vertices)
{
  body_file b;
  mesh m;
  if (body_file_read(path, &b) != ABUT_SUCCESS || mesh_read(b.mesh_path, &m) != ABUT_SUCCESS) {
    fail_msg("%s", abut_last_error());
  }
  assert_true(b.def.superquadric_count + b.def.polyhedron_count + b.def.pointcloud_count > 0);
  assert_true(!primitives || b.def.superquadric_count == primitives);
  assert_true(!vertices || m.vertex_count == vertices);
  mesh_free(&m);
  body_file_free(&b);
}

static void real_bodies(void **state)
{
  (void)state;
  if (!shared) {
    skip();
  }
  check_body(at("data/bodies", "armadillo.body.json"), 18, 305);
  check_body(at("data/bodies", "airplane.body.json"), 31, 584);
  check_body(at("data/bodies", "drill.body.json"), 17, 276);
  check_body(at("data/bodies", "screwdriver.body.json"), 4, 165);
}

static void golden_files(void **state)
{
  (void)state;
  static const char *const cases[] = {"airplane-drill", "armadillo-pair",   "box-on-box",
                                      "composed",       "figure-active",    "figure-floor",
                                      "figure-gate",    "figure-gate-floor", "figure-one-sided",
                                      "figure-softsort", "figure-vertices-only"};
  if (!shared) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char folder[64];
    abut_smoothing s;
    abut_poses p;
    abut_npz expected;
    snprintf(folder, sizeof folder, "golden/%s", cases[i]);
    check_body(at(folder, "a.body.json"), 0, 0);
    check_body(at(folder, "b.body.json"), 0, 0);
    assert_int_equal(abut_load_smoothing(at(folder, "smoothing.json"), &s), ABUT_SUCCESS);
    assert_int_equal(abut_load_poses(at(folder, "poses.npz"), &p), ABUT_SUCCESS);
    assert_int_equal(abut_read_npz(at(folder, "expected.npz"), &expected), ABUT_SUCCESS);
    for (size_t k = 0; k < expected.count; k++) {
      if (strcmp(expected.arrays[k].name, "p") == 0) {
        assert_int_equal(expected.arrays[k].dimensions, 3);
        assert_int_equal(expected.arrays[k].shape[0], p.count);
      }
    }
    assert_true(expected.count >= 4);
    abut_free_npz(&expected);
    abut_free_poses(&p);
  }
  abut_npz witness;
  assert_int_equal(abut_read_npz(at("golden", "witness.npz"), &witness), ABUT_SUCCESS);
  assert_int_equal(witness.count, 17);
  abut_free_npz(&witness);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(malformed_files), cmocka_unit_test(all_malformed_known),
    cmocka_unit_test(real_meshes),     cmocka_unit_test(real_bodies),
    cmocka_unit_test(golden_files),
  };
  return cmocka_run_group_tests(tests, find, NULL);
}
