/* Tells how far a body's mesh and its features lie from where its field is 0. */
#ifndef ABUT_CONTACT_MISFIT_H
#define ABUT_CONTACT_MISFIT_H

#include <abut/body.h>

#define MISFIT_MOST 0.15 /* a larger median, as a share of the diagonal, is a diagnostic */

#define FEATURE_MISFIT_MOST 0.02 /* likewise of `features` */

typedef struct misfit {
  double median;   /* of the field's size at many of the mesh's vertices [m] */
  double diagonal; /* of the box around these [m] */
  double features; /* how far the surface of a stated vertex's ball, or of a stated edge's capsule
                      at its middle, is off the field's, at most of many [m] */
} misfit;

/* Finds them. It is computed here, by no device. The definition must have passed
 * abut_create_body. */
abut_status find_misfit(const abut_body_def *def, misfit *out);

#endif
