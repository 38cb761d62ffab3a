/* What commands say of how a body's field stands for a mesh. */
#ifndef ABUT_CLI_FITS_H
#define ABUT_CLI_FITS_H

#include "core/cli.h"

/* A line on standard output, of depths by the field. */
void tell_depths(const abut_fit *fit);
/* A line on standard output where holes of the mesh were closed beside the field's surface. */
void tell_holes(const abut_fit *fit);
/* Says whether depths by a field whose median ratio that is are far from those in the mesh. */
bool depths_are_off(double median);
/* Warns where depths of the body `path` are far from those in its mesh. at: of the most [m] */
void warn_depths(const char *path, double median, double most, const double at[3]);
/* Warns where a body of that many primitives is far from its mesh, and says what to do. */
void warn_poor(const char *path, double iou, double coverage, size_t primitives);

#endif
