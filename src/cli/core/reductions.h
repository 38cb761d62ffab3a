/* The reductions of a manifold by their names on the command line. */
#ifndef ABUT_CLI_REDUCTIONS_H
#define ABUT_CLI_REDUCTIONS_H

#include "core/cli.h"
#include "geometry/reductions.h"

/* By abut_reduction. */
extern const char *const reduction_names[REDUCTIONS_SLOPED];
/* Sets the destination of this reduction's results in the batch. */
void want_reduction(abut_batch *batch, abut_reduction reduction, void *values);

#endif
