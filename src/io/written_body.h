/* A body file that is written, with what lies beside it. */
#ifndef ABUT_IO_WRITTEN_BODY_H
#define ABUT_IO_WRITTEN_BODY_H

#include "base/memory.h"
#include "io/obj_text.h"
#include <abut/files.h>

/* Paths, and how the body file names what lies beside it. */
typedef struct body_names {
  const char *body;
  char *grid, *contact, *surface;
  char *name; /* NAME of NAME.body.json */
  const char *grid_beside, *contact_beside, *surface_beside;
  arena memory;
} body_names;

/* Fails where the path does not end as body files do. `out` begins as zeros;
 * arena_free(&out->memory) frees it, on failure, too. */
abut_status body_names_make(const char *path, body_names *out);

/* The text of a body file and of what lies beside it. */
typedef struct body_texts {
  char *body; /* of malloc */
  obj_text contact;
  obj_text surface; /* no bytes: it is not written */
  const abut_array *grid;
  size_t grid_count; /* 0: it is not written */
} body_texts;

/* Makes the texts of a definition's contact mesh and of its surface, if it has one. */
abut_status body_texts_make(const abut_body_def *def, body_texts *t);
void body_texts_free(body_texts *t);

/* Writes the body file and what lies beside it, all or none. */
abut_status write_body_files(const body_names *n, const body_texts *t);

#endif
