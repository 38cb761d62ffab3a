/* The steps from a solid to a grid of its distance. */
#ifndef ABUT_SURFACE_GRID_H
#define ABUT_SURFACE_GRID_H

#include "mesh/surface/samples.h"
#include <abut/field.h>

/* Reports progress to the caller. */
typedef struct telling {
  const abut_field_options *options;
  double from, share; /* of the whole: start and share of a step */
} telling;

/* Fails with ABUT_ERROR_CANCELLED if the caller cancels. done: progress of the step, 0 to 1. */
abut_status tell(const telling *t, const char *what, double done);

/* Makes the spline of a solid, and fills in the report. */
abut_status grid_make(const surface *s, solid *inside, const abut_field_options *options,
                      spline *out, abut_field_report *report);

/* Returns the size of a spline in bytes on a device that computes in float. */
size_t grid_bytes(const spline *s);

#endif
