#include "format/mesh.h"

#include "base/error.h"
#include "format/assimp_mesh.h"
#include "format/builder.h"
#include "format/text.h"
#include "format/whole_file.h"
#include <stdlib.h>
#include <string.h>

abut_status mesh_parse(const char *name, mesh_format format, const char *bytes, size_t count,
                       mesh *out)
{
  builder b = {.name = name};
  abut_status status;
  switch (format) {
  case MESH_OBJ:
    status = obj_parse(&b, bytes, count);
    break;
  case MESH_STL:
    status = stl_parse(&b, bytes, count);
    break;
  case MESH_PLY:
    status = ply_parse(&b, bytes, count);
    break;
  case MESH_OFF:
    status = off_parse(&b, bytes, count);
    break;
  default:
    status = fail(ABUT_ERROR_ARGUMENT, "no mesh format has the number %d", (int)format);
  }
  return builder_finish(&b, status, out);
}

abut_status mesh_read(const char *path, mesh *out)
{
  static const char *const extensions[] = {".obj", ".stl", ".ply", ".off"};
  *out = (mesh){0};
  for (int i = 0; i < 4; i++) {
    if (has_extension(path, extensions[i])) {
      char *bytes = NULL;
      size_t count = 0;
      abut_status status = whole_file_read(path, &bytes, &count);
      if (status == ABUT_SUCCESS) {
        status = mesh_parse(path, (mesh_format)i, bytes, count, out);
      }
      free(bytes);
      return status;
    }
  }
  return is_assimp_mesh(path) ? assimp_mesh_read(path, out)
                              : fail_at(ABUT_ERROR_FORMAT, path, 0,
                                        "a mesh ends with .obj, .stl, .ply or .off, or by Assimp "
                                        "with .glb, .gltf or .dae");
}

void mesh_free(mesh *m)
{
  free(m->vertices);
  free(m->face_sizes);
  free(m->face_indices);
  free(m->edges);
  *m = (mesh){0};
}
