/* Meshes in the formats that abut reads with Assimp: glTF and COLLADA. Assimp's parser is as large
 * as abut and processes untrusted input. So it runs in a separate process, a program next to the
 * library (src/reader), and no file can crash the caller. */
#ifndef ABUT_FORMAT_ASSIMP_MESH_H
#define ABUT_FORMAT_ASSIMP_MESH_H

#include "format/mesh.h"
#include <stdbool.h>

/* Whether a file has the extension of one of these formats, even if Assimp is not in the build. */
bool is_assimp_mesh(const char *path);

/* Reads the file. If Assimp is not in the build, fails with that reason. */
abut_status assimp_mesh_read(const char *path, mesh *out);

/* Parses the program's output. `path` is used in error texts. */
abut_status assimp_record_parse(const char *path, const char *bytes, size_t count, mesh *out);

#endif
