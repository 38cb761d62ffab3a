/* Reports on how well a body's field represents a mesh. */
#ifndef ABUT_CLI_FITS_H
#define ABUT_CLI_FITS_H

#include "core/cli.h"

/* Prints a line on depths in the field. */
void tell_depths(const abut_fit *fit);
/* Prints a line if holes of the mesh were closed in the field's surface. */
void tell_holes(const abut_fit *fit);
/* Returns whether depths with this median ratio differ strongly from those in the mesh. */
bool depths_are_off(double median);
/* Warns if depths in the body `path` differ strongly from those in its mesh. at: position of the
 * largest ratio [m] */
void warn_depths(const char *path, double median, double most, const double at[3]);
/* Warns if a body with this number of primitives is far from its mesh, and suggests a remedy. */
void warn_poor(const char *path, double iou, double coverage, size_t primitives);

#endif
