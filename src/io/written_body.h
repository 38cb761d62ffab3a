/* Writes a body file and its companion files. */
#ifndef ABUT_IO_WRITTEN_BODY_H
#define ABUT_IO_WRITTEN_BODY_H

#include "base/memory.h"
#include "io/obj_text.h"
#include <abut/files.h>

/* Paths, and the companion files' names in the body file. */
typedef struct body_names {
  const char *body;
  char *grid, *contact, *surface;
  char *name; /* NAME of NAME.body.json */
  const char *grid_beside, *contact_beside, *surface_beside;
  arena memory;
} body_names;

/* Fails if the path does not have the extension of body files. `out` must be zero-initialised.
 * arena_free(&out->memory) frees it, even after a failure. */
abut_status body_names_make(const char *path, body_names *out);

/* The contents of a body file and its companion files. */
typedef struct body_texts {
  char *body; /* from malloc */
  obj_text contact;
  obj_text surface; /* empty: it is not written */
  const abut_array *grid;
  size_t grid_count; /* 0: it is not written */
} body_texts;

/* Makes the texts of a definition's contact mesh and of its surface, if any. */
abut_status body_texts_make(const abut_body_def *def, body_texts *t);
void body_texts_free(body_texts *t);

/* Writes the body file and its companion files; all or none. */
abut_status write_body_files(const body_names *n, const body_texts *t);

#endif
