/* The stages of a decomposition, once its samples are there. */
#ifndef ABUT_DECOMPOSE_STAGES_H
#define ABUT_DECOMPOSE_STAGES_H

#include "decompose/decompose.h"

/* Finds a body of options->primitives primitives. */
abut_status stages_by_count(decomposition *d, primitives *out);

/* Finds the smallest one that keeps to options->error. */
abut_status stages_by_error(decomposition *d, primitives *out);

#endif
