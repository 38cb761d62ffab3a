/* Meshes in the formats that Assimp reads for abut: glTF and COLLADA. Its parser is as large as
 * abut and is fed by strangers, so that it runs in a process of its own, a program that lies beside
 * the library (src/reader): whatever a file does to it, the caller goes on. */
#ifndef ABUT_FORMAT_ASSIMP_MESH_H
#define ABUT_FORMAT_ASSIMP_MESH_H

#include "format/mesh.h"
#include <stdbool.h>

/* Whether a file's ending is one of them, with or without Assimp in the build. */
bool is_assimp_mesh(const char *path);

/* Reads it. Without Assimp in the build it fails, and says so. */
abut_status assimp_mesh_read(const char *path, mesh *out);

/* The mesh of what the program has written; `path` stands in error texts. */
abut_status assimp_record_parse(const char *path, const char *bytes, size_t count, mesh *out);

#endif
