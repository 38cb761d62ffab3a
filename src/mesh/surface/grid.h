/* These are the steps from a solid to a grid of its distance. */
#ifndef ABUT_SURFACE_GRID_H
#define ABUT_SURFACE_GRID_H

#include "mesh/surface/samples.h"
#include <abut/field.h>

/* Somebody is told what is done, and how far it is. */
typedef struct telling {
  const abut_field_options *options;
  double from, share; /* of the whole: where a step begins, and what it is */
} telling;

/* Fails with ABUT_ERROR_CANCELLED where the caller wants an end. done is of the step, 0 to 1. */
abut_status tell(const telling *t, const char *what, double done);

/* Makes the spline of a solid, and what the report says of it. */
abut_status grid_make(const surface *s, solid *inside, const abut_field_options *options,
                      spline *out, abut_field_report *report);

/* Returns the bytes of a spline on a device that computes in float. */
size_t grid_bytes(const spline *s);

#endif
