/* Fields cached on disk, found by their mesh and options. */
#ifndef ABUT_IO_FIELD_CACHE_H
#define ABUT_IO_FIELD_CACHE_H

#include "base/cache_folder.h"
#include <abut/field.h>

extern const cache_kind field_cache_kind;

/* The key of a mesh's vertices and faces and of the options that affect its field. */
cache_key field_cache_key(const abut_body_def *mesh, const abut_field_options *options);

/* Returns false if there is none; then *field is unchanged. */
bool field_cache_read(const cache_key *key, abut_field *field);

/* Fields that cannot be stored are skipped. */
void field_cache_write(const cache_key *key, const abut_field *field);

#endif
