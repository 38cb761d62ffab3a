/* Grids of body files, each in an .npz of its own. */
#ifndef ABUT_FAMILY_GRID_FILE_H
#define ABUT_FAMILY_GRID_FILE_H

#include "base/memory.h"
#include "format/json.h"
#include <abut/body.h>

/* The archive that a member of a body file names, found from that file's folder. What *out points
 * to is of `memory`. */
abut_status grid_file_read(const json_file *f, const json_at *at, arena *memory, abut_grid *out);

/* The same from its bytes. */
abut_status grid_file_parse(const char *name, const char *bytes, size_t count, arena *memory,
                            abut_grid *out);

#endif
