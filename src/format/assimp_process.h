/* The program that reads meshes by Assimp (src/reader), run for one file. */
#ifndef ABUT_FORMAT_ASSIMP_PROCESS_H
#define ABUT_FORMAT_ASSIMP_PROCESS_H

#include "base/child.h"
#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>

#define ASSIMP_PROGRAM "abut-read-mesh"

/* Where it is: where ABUT_MESH_READER says; else beside the library, as in a build folder; in the
 * package of a wheel; where it is installed. */
bool assimp_find_program(char *program, size_t room);

/* Runs it. All that it writes, on either output, is in *bytes, with a zero behind it, which the
 * caller frees, also on failure. *end is how it ended, of a success. */
abut_status assimp_run(const char *program, const char *path, char **bytes, size_t *count,
                       child_end *end);

#endif
