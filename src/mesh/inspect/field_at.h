/* Evaluates a body's field at points and on lattices, in pieces that bound the memory. */
#ifndef ABUT_INSPECT_FIELD_AT_H
#define ABUT_INSPECT_FIELD_AT_H

#include "mesh/surface/level_set.h"
#include <abut/body.h>

/* A field: a body with its temperatures [m]. */
typedef struct field_of {
  abut_body body;
  double union_tau, plane_tau;
} field_of;

/* Gives the field [m] at the nodes origin + spacing (i, j, k), the last index fastest.
 * value: (size[0] size[1] size[2]). */
abut_status field_at_nodes(const field_of *f, const double origin[3], const double spacing[3],
                           const size_t size[3], float *value);

/* Gives the field [m] at points (count, 3). value: (count). */
abut_status field_at_places(const field_of *f, const double *points, size_t count, float *value);

#endif
