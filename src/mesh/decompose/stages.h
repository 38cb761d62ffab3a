/* The stages of a decomposition, once its samples are there. */
#ifndef ABUT_DECOMPOSE_STAGES_H
#define ABUT_DECOMPOSE_STAGES_H

#include "mesh/decompose/decompose.h"

/* Finds a body of options->primitives primitives. */
abut_status stages_by_count(decomposition *d, primitives *out);

/* Finds the smallest one that keeps to options->error. */
abut_status stages_by_error(decomposition *d, primitives *out);

/* Tries bodies of as many primitives as *p, of which some are taken away: one replaces it where the
 * objective of the final samples is lower by a clear share. */
abut_status stages_take_away(decomposition *d, primitives *p);

/* Replaces superquadrics by polyhedra where the objective of the final samples gets lower by a
 * clear share. What is taken away reaches out of the mesh again after that. */
abut_status stages_convert(decomposition *d, primitives *p);

#endif
