/* `abut decompose`: what is asked for, and what becomes of it. */
#ifndef ABUT_CLI_DECOMPOSE_WORK_H
#define ABUT_CLI_DECOMPOSE_WORK_H

#include "mesh/contact_meshes.h"

typedef struct decompose_work {
  abut_decompose_options settings;
  abut_contact_mesh_options mesh_settings;
  abut_precision precision;
  abut_superquadrics table; /* of --import */
  abut_mesh_file input;     /* the mesh that a table is measured against */
  abut_decomposition made;
  abut_body body; /* with the contact mesh that `made` came with */
  bool measured;
  abut_fit fit;
  abut_contact_mesh mesh; /* without vertices where it cannot be made */
  double seconds_measuring, seconds_mesh, seconds;
} decompose_work;

/* The file that the primitives come from. */
const char *decompose_source(const options *o);

/* Figures as JSON, or as lines. */
exit_code decompose_print(const options *o, const session *s, const decompose_work *w);

/* Warns of what a caller should know of a body that is not quite what was asked for. */
void decompose_warn(const options *o, const decompose_work *w);

#endif
