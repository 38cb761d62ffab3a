/* Fields kept on disk, found again by the mesh and the options that they are made of. */
#ifndef ABUT_IO_FIELD_CACHE_H
#define ABUT_IO_FIELD_CACHE_H

#include "base/cache_folder.h"
#include <abut/field.h>

extern const cache_kind field_cache_kind;

/* The key of a mesh's vertices and faces and of what the options say of its field. */
cache_key field_cache_key(const abut_body_def *mesh, const abut_field_options *options);

/* False where there is none; *field is as it was then. */
bool field_cache_read(const cache_key *key, abut_field *field);

/* What cannot be kept is not. */
void field_cache_write(const cache_key *key, const abut_field *field);

#endif
