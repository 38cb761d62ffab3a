/* Loads a body with settings for the field of a bare mesh. */
#ifndef ABUT_IO_BODY_LOAD_H
#define ABUT_IO_BODY_LOAD_H

#include <abut/field.h>

/* Loads a body in the same way as abut_load_body. */
abut_status body_load(abut_context context, const char *path, const abut_field_options *options,
                      abut_body *body);

#endif
