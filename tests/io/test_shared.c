/* Files of others, where ABUT_SHARED names the folder that holds them. */
#include "format/mesh.h"
#include "io/body_file.h"
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shared;

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
  {"tinyobj_invalid-relative-vertex-index.obj",
   "1: the face corner '-4' is out of range: the file has 0 vertices up to here", 0, 0},
  {"tinyobj_issue-140-zero-face-idx.obj",
   "16: the face corner '0/0/0' is out of range: the file has 4 vertices up to here", 0, 0},
  {"tinyobj_issue-161-inconsistent-f.obj", NULL, 8, 12}, /* the last face has no texture */
  {"tinyobj_leading-decimal-dot-issue-201.obj", NULL, 3, 1},
  {"tinyobj_test-nan.obj", ":12: vertex: 'nan' is not finite", 0, 0},
  {"trimesh_busted.STL", NULL, 1941, 3878},    /* sound, whatever its name says */
  {"trimesh_fuze_ascii.ply", NULL, 502, 1000}, /* lines longer than the header tells */
  {"trimesh_multibody.stl", NULL, 20, 32},
  {"trimesh_nancolor.obj", NULL, 8, 12},
  {"trimesh_negative_indices.obj", NULL, 8, 6},
  {"trimesh_obj_empty.obj", ": contains no vertices", 0, 0},
  {"trimesh_ply_empty_header.ply", ": contains no vertices", 0, 0},
  {"trimesh_soup.stl", NULL, 300, 100},
  {"trimesh_stl_empty_bin.stl", ": contains no vertices", 0, 0},
  {"trimesh_whitespace.off", NULL, 8, 6},
};

static void malformed_files(void)
{
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
    mesh m;
    const char *path = at("data/malformed", malformed[i].name);
    abut_status status = mesh_read(path, &m);
    if (malformed[i].error) {
      expect_failure(status, ABUT_ERROR_FORMAT, path, malformed[i].error);
      continue;
    }
    REQUIRE_OK(status);
    check(m.vertex_count == malformed[i].vertices && m.face_count == malformed[i].faces,
          "%s: %zu vertices, %zu faces", path, m.vertex_count, m.face_count);
    mesh_free(&m);
  }
}

/* No file of the folder lacks an expectation above. */
static void all_malformed_known(void)
{
  DIR *d = opendir(at("data", "malformed"));
  REQUIRE(d);
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    size_t i = 0, count = sizeof malformed / sizeof *malformed;
    while (i < count && strcmp(malformed[i].name, e->d_name) != 0) {
      i++;
    }
    check(i < count || e->d_name[0] == '.', "nothing is expected of %s", e->d_name);
  }
  closedir(d);
}

static void real_meshes(void)
{
  static const char *const folders[] = {"data/meshes", "data/hulls", "data/paper-resolution",
                                        "data/bodies"};
  size_t read = 0;
  for (size_t i = 0; i < 4; i++) {
    DIR *d = opendir(at(folders[i], ""));
    REQUIRE(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
      mesh m;
      if (e->d_name[0] == '.' || strstr(e->d_name, ".json")) {
        continue;
      }
      REQUIRE_OK(mesh_read(at(folders[i], e->d_name), &m));
      CHECK(m.vertex_count > 0 && m.face_count > 0);
      mesh_free(&m);
      read++;
    }
    closedir(d);
  }
  CHECK(read >= 23);
}

static void check_body(const char *path, size_t primitives, size_t vertices)
{
  body_file b;
  mesh m;
  REQUIRE_OK(body_file_read(path, &b));
  REQUIRE_OK(mesh_read(b.mesh_path, &m));
  CHECK(b.def.superquadric_count + b.def.polyhedron_count + b.def.pointcloud_count > 0);
  CHECK(!primitives || b.def.superquadric_count == primitives);
  CHECK(!vertices || m.vertex_count == vertices);
  mesh_free(&m);
  body_file_free(&b);
}

static void real_bodies(void)
{
  check_body(at("data/bodies", "armadillo.body.json"), 18, 305);
  check_body(at("data/bodies", "airplane.body.json"), 31, 584);
  check_body(at("data/bodies", "drill.body.json"), 17, 276);
  check_body(at("data/bodies", "screwdriver.body.json"), 4, 165);
}

static void golden_files(void)
{
  static const char *const cases[] = {"airplane-drill",    "armadillo-pair",
                                      "box-on-box",        "composed",
                                      "figure-floor",      "figure-gate",
                                      "figure-gate-floor", "figure-one-sided",
                                      "figure-softsort",   "figure-vertices-only"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char folder[64];
    abut_smoothing s;
    abut_poses p;
    abut_npz expected;
    snprintf(folder, sizeof folder, "golden/%s", cases[i]);
    check_body(at(folder, "a.body.json"), 0, 0);
    check_body(at(folder, "b.body.json"), 0, 0);
    REQUIRE_OK(abut_load_smoothing(at(folder, "smoothing.json"), &s));
    REQUIRE_OK(abut_load_poses(at(folder, "poses.npz"), &p));
    REQUIRE_OK(abut_read_npz(at(folder, "expected.npz"), &expected));
    for (size_t k = 0; k < expected.count; k++) {
      if (strcmp(expected.arrays[k].name, "p") == 0) {
        CHECK_EQUAL(expected.arrays[k].dimensions, 3);
        CHECK_EQUAL(expected.arrays[k].shape[0], p.count);
      }
    }
    CHECK(expected.count >= 4);
    abut_free_npz(&expected);
    abut_free_poses(&p);
  }
  abut_npz witness;
  REQUIRE_OK(abut_read_npz(at("golden", "witness.npz"), &witness));
  CHECK_EQUAL(witness.count, 17);
  abut_free_npz(&witness);
}

int main(void)
{
  shared = getenv("ABUT_SHARED");
  if (!shared) {
    printf("not run: ABUT_SHARED names no folder\n");
    return 77;
  }
  malformed_files();
  all_malformed_known();
  real_meshes();
  real_bodies();
  golden_files();
  return check_finish();
}
