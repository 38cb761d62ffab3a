/* The settings and results of `abut decompose`. */
#ifndef ABUT_CLI_DECOMPOSE_WORK_H
#define ABUT_CLI_DECOMPOSE_WORK_H

#include "mesh/contact_meshes.h"

typedef struct decompose_work {
  abut_decompose_options settings;
  abut_contact_mesh_options mesh_settings;
  abut_precision precision;
  abut_superquadrics table; /* from --import */
  abut_mesh_file input;     /* the mesh that a table is compared with */
  abut_decomposition made;
  abut_body body; /* with the original contact mesh of `made` */
  bool measured;
  abut_fit fit;
  abut_contact_mesh mesh; /* without vertices if it cannot be made */
  double seconds_measuring, seconds_mesh, seconds;
} decompose_work;

/* The file that the primitives come from. */
const char *decompose_source(const options *o);

/* Prints the figures as JSON or as text. */
exit_code decompose_print(const options *o, const session *s, const decompose_work *w);

/* Warns of differences between the body and the request. */
void decompose_warn(const options *o, const decompose_work *w);

#endif
