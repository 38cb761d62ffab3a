/* Bare meshes: their fields, and reports on them. */
#ifndef ABUT_CLI_FIELDS_H
#define ABUT_CLI_FIELDS_H

#include "core/cli.h"
#include <stdio.h>

/* Returns false for a body file, which states its field. */
bool is_bare_mesh(const char *path);

/* Reads --cells, --vertices, --scale, and for `field` the other options, over the defaults. */
exit_code field_options(const options *o, abut_field_options *out);
/* Refuses bad values of these options before any work, and options for bare meshes if no operand is
 * one; `listed`: the operands are not known yet. */
exit_code check_field_options(const options *o, bool listed);

/* Loads a bare mesh's field, with progress. */
abut_status load_field(const options *o, const char *path, const abut_field_options *settings,
                       abut_field *field);
/* Prints a line with the mesh and the properties of its field. */
/* Warns of trailing bytes after a mesh in its file. */
void warn_trailing(const options *o, const char *path, size_t trailing);
void tell_field(FILE *to, const char *path, const abut_field_report *r);
/* Warns of the diagnostics of a mesh, and of a large field before it is used or written. */
void warn_field(const options *o, const char *path, const abut_field_report *r);
/* Warns of operands that are bare meshes whose field errors exceed the penetration scale [m]. */
void warn_clearance(const options *o, double penetration);
/* Loads a body from a file. For a bare mesh, a line is printed once unless --quiet is given. */
abut_status load_body(const session *s, const options *o, const char *path, abut_body *body);

#endif
