/* What commands say of depths by a body's field. */
#ifndef ABUT_CLI_DEPTHS_H
#define ABUT_CLI_DEPTHS_H

#include "cli.h"

/* A line on standard output. */
void tell_depths(const abut_fit *fit);
/* Warns where depths of a body that was made of the mesh `path` are far from those in the mesh. */
void warn_depths(const char *path, const abut_decompose_report *r);

#endif
