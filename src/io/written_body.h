/* A body file that is written, with what lies beside it. */
#ifndef ABUT_IO_WRITTEN_BODY_H
#define ABUT_IO_WRITTEN_BODY_H

#include "base/memory.h"
#include "io/obj_text.h"
#include <abut/files.h>

/* Paths, and how the body file names what lies beside it. */
typedef struct body_names {
  const char *body;
  char *grid, *contact;
  char *name;              /* NAME of NAME.body.json */
  const char *grid_beside, *contact_beside;
  arena memory;
} body_names;

/* Fails where the path does not end as body files do. `out` begins as zeros; arena_free(&out->memory) frees it, on
 * failure, too. */
abut_status body_names_make(const char *path, body_names *out);

/* Writes the body file, the contact mesh and, where there are arrays, the grid, all or none. */
abut_status write_body_files(const body_names *n, const abut_array *grid, size_t grid_count,
                             const obj_text *contact, const char *body);

#endif
