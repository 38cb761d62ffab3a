/* The stages of a decomposition after sampling. */
#ifndef ABUT_DECOMPOSE_STAGES_H
#define ABUT_DECOMPOSE_STAGES_H

#include "mesh/decompose/decompose.h"

/* Finds a body of options->primitives primitives. */
abut_status stages_by_count(decomposition *d, primitives *out);

/* Finds the smallest body that meets options->error. */
abut_status stages_by_error(decomposition *d, primitives *out);

/* Tries bodies with the same number of primitives as *p, some of them subtracted. A body replaces
 * *p if its objective on the final samples is clearly lower. */
abut_status stages_take_away(decomposition *d, primitives *p);

/* Replaces superquadrics by polyhedra if that clearly lowers the objective on the final samples.
 * Then extends subtracted primitives out of the mesh again. */
abut_status stages_convert(decomposition *d, primitives *p);

#endif
