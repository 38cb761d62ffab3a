/* Whether a body's mesh lies where its field is 0. */
#ifndef ABUT_MANIFOLD_MISFIT_H
#define ABUT_MANIFOLD_MISFIT_H

#include <abut/body.h>

#define MISFIT_MOST 0.15 /* of the mesh's diagonal: a median that is larger is a diagnostic */

/* The median of the field's size at the mesh's vertices [m], of many of them, and the diagonal of
 * their box. Computed here, by no device. The definition must have passed abut_create_body. */
abut_status find_misfit(const abut_body_def *def, double *median, double *diagonal);

#endif
