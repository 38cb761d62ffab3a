/* Grids of body files, each in its own .npz file. */
#ifndef ABUT_FAMILY_GRID_FILE_H
#define ABUT_FAMILY_GRID_FILE_H

#include "base/memory.h"
#include "format/json.h"
#include <abut/body.h>

/* Reads the archive named by a member of a body file, relative to that file's folder. Arrays of
 * *out are allocated from `memory`. */
abut_status grid_file_read(const json_file *f, const json_at *at, arena *memory, abut_grid *out);

/* Does the same from the archive's bytes. */
abut_status grid_file_parse(const char *name, const char *bytes, size_t count, arena *memory,
                            abut_grid *out);

#endif
