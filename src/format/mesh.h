/* Mesh files: OBJ, STL, PLY, OFF; and by Assimp, in a process of its own, glTF and COLLADA. */
#ifndef ABUT_FORMAT_MESH_H
#define ABUT_FORMAT_MESH_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

/* Vertices as written and in order; corners of STL welded by exact equality. */
typedef struct mesh {
  double *vertices; /* (vertex_count, 3) */
  size_t vertex_count;
  uint32_t *face_sizes; /* (face_count), at least 3 each */
  size_t face_count;
  uint32_t *face_indices; /* (index_count), all below vertex_count */
  size_t index_count;
  uint32_t *edges; /* (edge_count, 2), all below vertex_count: of OBJ's lines */
  size_t edge_count;
} mesh;

typedef enum mesh_format { MESH_OBJ, MESH_STL, MESH_PLY, MESH_OFF } mesh_format;

/* Reads a mesh file; its format by the file's extension, case ignored. */
abut_status mesh_read(const char *path, mesh *out);

/* The same from bytes in memory; `name` stands in error texts. */
abut_status mesh_parse(const char *name, mesh_format format, const char *bytes, size_t count,
                       mesh *out);

void mesh_free(mesh *m);

#endif
