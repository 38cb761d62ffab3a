/* Contact meshes on the surfaces of bodies: their options, their file, and reports on them. */
#ifndef ABUT_CLI_CONTACT_MESHES_H
#define ABUT_CLI_CONTACT_MESHES_H

#include "core/cli.h"
#include <jansson.h>

/* Reads --vertices over the defaults. */
exit_code contact_mesh_options(const options *o, abut_contact_mesh_options *out);

/* Converts a report to a JSON object, or NULL without memory. */
json_t *contact_mesh_json(const abut_contact_mesh_report *r);
/* Prints three lines of the report on standard output, the first of which names `path`. */
void tell_contact_mesh(const char *path, const abut_contact_mesh_report *r);
/* Warns of pieces of the surface of `path` that the mesh omits. */
void warn_parts(const char *path, const abut_contact_mesh_report *r);

#endif
