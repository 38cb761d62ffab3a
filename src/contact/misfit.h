/* Measures the distance between a body's mesh or features and the zero set of its field. */
#ifndef ABUT_CONTACT_MISFIT_H
#define ABUT_CONTACT_MISFIT_H

#include <abut/body.h>

/* a larger median, as a share of the diagonal, gives a diagnostic */
#define MISFIT_MOST 0.15

#define FEATURE_MISFIT_MOST 0.02 /* the same for `features` */

typedef struct misfit {
  double median;   /* of the absolute field at many of the mesh's vertices [m] */
  double diagonal; /* of the bounding box of these vertices [m] */
  double features; /* largest distance from the field's surface, over many features: of the surface
                      of a stated vertex's ball, or of a stated edge's capsule at its middle [m] */
} misfit;

/* Measures them on the host. The definition must have passed abut_create_body. */
abut_status find_misfit(const abut_body_def *def, misfit *out);

#endif
