#include "sample_read.h"

#include "engine/device/tuning_file.h"
#include "format/assimp_mesh.h"
#include "io/body_file.h"
#include "body/family/grid_file.h"
#include "body/family/height_file.h"
#include "format/mesh.h"
#include "format/npz.h"
#include "io/pairs.h"
#include "io/pose_file.h"
#include "io/poses.h"
#include "io/shapes_file.h"
#include "io/superquadric_table.h"
#include "scene/file.h"
#include "io/smoothing_file.h"
#include "sound_mesh.h"
#include "support.h"

static abut_status read_mesh(sample_kind kind, const char *bytes, size_t count)
{
  mesh m;
  abut_status status = kind == SAMPLE_ASSIMP ? assimp_record_parse("t", bytes, count, &m)
                                             : mesh_parse("t", (mesh_format)kind, bytes, count, &m);
  if (status == ABUT_SUCCESS) {
    if (!mesh_is_sound(&m)) {
      check(false, "a mesh that is not sound was taken");
    }
  }
  mesh_free(&m);
  return status;
}

/* One pose after the other. */
static abut_status read_ranges(const char *bytes, size_t count)
{
  abut_pose_file *file;
  abut_pose_file_info info;
  abut_poses p;
  abut_status status = pose_file_open_npy("t", (pose_bytes){bytes, count, -1}, &file, &info);
  for (size_t i = 0; status == ABUT_SUCCESS && i < info.count; i++) {
    status = abut_read_poses(file, i, 1, &p);
    abut_free_poses(&p);
  }
  abut_close_poses(file);
  return status;
}

abut_status sample_read(sample_kind kind, const char *bytes, size_t count)
{
  body_file b;
  abut_grid g;
  abut_height_field heights;
  arena memory = {0};
  abut_smoothing s;
  abut_pair_files f;
  tuning_file t;
  scene_def d;
  shapes_file h;
  abut_superquadrics q;
  abut_npz n;
  abut_poses p;
  abut_status status;
  switch (kind) {
  case SAMPLE_BODY:
    status = body_file_parse("t", bytes, count, &b);
    body_file_free(&b);
    return status;
  case SAMPLE_SMOOTHING:
    return smoothing_parse("t", bytes, count, &s);
  case SAMPLE_TUNING:
    status = tuning_file_parse("t", bytes, count, &t);
    tuning_file_free(&t);
    return status;
  case SAMPLE_TABLE:
    status = superquadric_table_parse("t", bytes, count, 1.0, &q);
    abut_free_superquadrics(&q);
    return status;
  case SAMPLE_PAIRS:
    status = pairs_parse("t", bytes, count, &f);
    abut_free_pairs(&f);
    return status;
  case SAMPLE_SCENE:
    status = scene_file_parse("t", bytes, count, &d);
    scene_def_free(&d);
    return status;
  case SAMPLE_SHAPES:
    status = shapes_file_parse("t", bytes, count, &h);
    shapes_file_free(&h);
    return status;
  case SAMPLE_GRID:
    status = grid_file_parse("t", bytes, count, &memory, &g);
    arena_free(&memory);
    return status;
  case SAMPLE_HEIGHTS:
    status = (count && *bytes == '\x93' ? heights_parse_npy : heights_parse_png)("t", bytes, count,
                                                                                 0.5, &memory,
                                                                                 &heights);
    arena_free(&memory);
    return status;
  case SAMPLE_NPZ:
    status = npz_parse("t", bytes, count, &n);
    abut_free_npz(&n);
    return status;
  case SAMPLE_CSV:
    status = poses_parse_csv("t", bytes, count, &p);
    abut_free_poses(&p);
    return status;
  case SAMPLE_POSES:
    return read_ranges(bytes, count);
  default:
    return read_mesh(kind, bytes, count);
  }
}
