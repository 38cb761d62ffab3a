/* Bare meshes: their fields, and what the command says of them. */
#ifndef ABUT_CLI_FIELDS_H
#define ABUT_CLI_FIELDS_H

#include "core/cli.h"
#include <stdio.h>

/* A body file is none: its field is written down. */
bool is_bare_mesh(const char *path);

/* --cells, --vertices, --scale, and of `field` the others, over the defaults. */
exit_code field_options(const options *o, abut_field_options *out);
/* The same, unused: a bad value is refused before anything is done, and so is an option that no
 * operand is a bare mesh for; `listed`: that is not known yet. */
exit_code check_field_options(const options *o, bool listed);

/* Loads a bare mesh's field, with progress. */
abut_status load_field(const options *o, const char *path, const abut_field_options *settings,
                       abut_field *field);
/* One line, of which mesh the field is and what became of it. */
/* Warns of bytes behind a mesh's end in its file, if there are some. */
void warn_trailing(const options *o, const char *path, size_t trailing);
void tell_field(FILE *to, const char *path, const abut_field_report *r);
/* Warns of the diagnostics of a mesh, and says before it is used or written that a field is
 * large. */
void warn_field(const options *o, const char *path, const abut_field_report *r);
/* Warns of operands that are bare meshes whose fields are farther off than contacts are told apart
 * [m]. */
void warn_clearance(const options *o, double penetration);
/* A body of a file. Of a bare mesh a line is said unless --quiet, once for each. */
abut_status load_body(const session *s, const options *o, const char *path, abut_body *body);

#endif
