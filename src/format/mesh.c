#include "format/mesh.h"

#include "base/error.h"
#include "format/assimp_mesh.h"
#include "format/builder.h"
#include "format/text.h"
#include "format/whole_file.h"
#include <stdlib.h>
#include <string.h>

#define MESH_PARSER(extension, id) extension##_parse
#define MESH_EXTENSION(extension, id) "." #extension

abut_status mesh_parse(const char *name, mesh_format format, const char *bytes, size_t count,
                       mesh *out)
{
  static const mesh_parser parsers[] = {MESH_FORMATS(MESH_PARSER, MESH_COMMA, MESH_COMMA)};
  builder b = {.name = name};
  abut_status status;
  if ((int)format < 0 || format >= MESH_FORMAT_COUNT) {
    status = fail(ABUT_ERROR_ARGUMENT, "unknown mesh format %d", (int)format);
  } else {
    status = parsers[format](&b, bytes, count);
  }
  return builder_finish(&b, status, out);
}

abut_status mesh_read(const char *path, mesh *out)
{
  static const char *const extensions[] = {MESH_FORMATS(MESH_EXTENSION, MESH_COMMA, MESH_COMMA)};
  *out = (mesh){0};
  for (int i = 0; i < MESH_FORMAT_COUNT; i++) {
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
                                        "the name of a mesh must end with " MESH_FORMATS_OR
                                        ", or with " ASSIMP_FORMATS_OR " (read by Assimp)");
}

void mesh_free(mesh *m)
{
  free(m->vertices);
  free(m->face_sizes);
  free(m->face_indices);
  free(m->edges);
  *m = (mesh){0};
}
