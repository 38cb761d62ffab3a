/* Runs the program that reads meshes with Assimp (src/reader) for one file. */
#ifndef ABUT_FORMAT_ASSIMP_PROCESS_H
#define ABUT_FORMAT_ASSIMP_PROCESS_H

#include "base/child.h"
#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>

#define ASSIMP_PROGRAM "abut-read-mesh"

/* Finds the program: at ABUT_MESH_READER if set; else next to the library, as in a build folder; in
 * the package of a wheel; in the installation. */
bool assimp_find_program(char *program, size_t room);

/* Runs the program. *bytes receives all its output, with a zero appended; the caller frees it, even
 * after a failure. *end: its exit, valid after success. */
abut_status assimp_run(const char *program, const char *path, char **bytes, size_t *count,
                       child_end *end);

#endif
