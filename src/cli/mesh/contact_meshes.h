/* Contact meshes on the surfaces of bodies: their option, their file, and what the command says of
 * them. */
#ifndef ABUT_CLI_CONTACT_MESHES_H
#define ABUT_CLI_CONTACT_MESHES_H

#include "core/cli.h"
#include <jansson.h>

/* --vertices, over the defaults. */
exit_code contact_mesh_options(const options *o, abut_contact_mesh_options *out);

/* The figures of a report as an object, or NULL where there is no memory. */
json_t *contact_mesh_json(const abut_contact_mesh_report *r);
/* Three lines of them on standard output, the first of which names `path`. */
void tell_contact_mesh(const char *path, const abut_contact_mesh_report *r);
/* Warns of pieces of the surface of `path` that the mesh leaves out. */
void warn_parts(const char *path, const abut_contact_mesh_report *r);

#endif
