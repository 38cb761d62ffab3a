#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "format/mesh.h"
#include <abut/files.h>
#include <stdlib.h>
#include <string.h>

abut_status abut_load_mesh(const char *path, double scale, abut_mesh_file *out)
{
  void *memory;
  if (!path || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_load_mesh: the path or the output pointer is NULL");
  }
  if (!(scale >= SCALE_LEAST && scale <= SCALE_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "the unit of length of a mesh is %g m, not in [%g, %g]", scale,
                SCALE_LEAST, SCALE_MOST);
  }
  memset(out, 0, sizeof *out);
  TRY(allocate(&memory, 1, sizeof(mesh)));
  mesh *m = memory;
  const abut_status status = mesh_read(path, m);
  if (status != ABUT_SUCCESS) {
    free(memory);
    return status;
  }
  for (size_t i = 0; i < 3 * m->vertex_count; ++i) {
    m->vertices[i] *= scale;
  }
  out->memory = memory;
  out->trailing = m->trailing;
  out->def = abut_default_body_def();
  out->def.vertices = m->vertices;
  out->def.vertex_count = m->vertex_count;
  out->def.face_sizes = m->face_sizes;
  out->def.face_indices = m->face_indices;
  out->def.face_count = m->face_count;
  out->def.edges = m->edges;
  out->def.edge_count = m->edge_count;
  return ABUT_SUCCESS;
}

void abut_free_mesh(abut_mesh_file *m)
{
  if (m) {
    if (m->memory) {
      mesh_free(m->memory);
      free(m->memory);
    }
    memset(m, 0, sizeof *m);
  }
}
