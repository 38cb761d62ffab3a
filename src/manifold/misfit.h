/* Tells how far a body's mesh lies from where its field is 0. */
#ifndef ABUT_MANIFOLD_MISFIT_H
#define ABUT_MANIFOLD_MISFIT_H

#include <abut/body.h>

#define MISFIT_MOST 0.15 /* a larger median, as a share of the diagonal, is a diagnostic */

/* Finds the median of the field's size at many of the mesh's vertices [m], and the diagonal of the
 * box around them. It is computed here, by no device. The definition must have passed
 * abut_create_body. */
abut_status find_misfit(const abut_body_def *def, double *median, double *diagonal);

#endif
