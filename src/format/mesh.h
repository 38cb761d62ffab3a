/* Mesh files in the formats of base/mesh_formats.h. */
#ifndef ABUT_FORMAT_MESH_H
#define ABUT_FORMAT_MESH_H

#include "base/mesh_formats.h"
#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

/* Vertices are in the order of the file. Corners of STL are merged if exactly equal. */
typedef struct mesh {
  double *vertices; /* (vertex_count, 3) */
  size_t vertex_count;
  uint32_t *face_sizes; /* (face_count), at least 3 each */
  size_t face_count;
  uint32_t *face_indices; /* (index_count), all below vertex_count */
  size_t index_count;
  uint32_t *edges; /* (edge_count, 2), all below vertex_count; from lines in OBJ */
  size_t edge_count;
  size_t trailing; /* number of ignored bytes after the mesh's end */
} mesh;

#define MESH_FORMAT_NUMBER(extension, id) MESH_##id
typedef enum mesh_format {
  MESH_FORMATS(MESH_FORMAT_NUMBER, MESH_COMMA, MESH_COMMA),
  MESH_FORMAT_COUNT
} mesh_format;

/* Reads a mesh file. The extension determines the format, ignoring case. */
abut_status mesh_read(const char *path, mesh *out);

/* Does the same from bytes in memory. `name` is used in error texts. */
abut_status mesh_parse(const char *name, mesh_format format, const char *bytes, size_t count,
                       mesh *out);

void mesh_free(mesh *m);

#endif
