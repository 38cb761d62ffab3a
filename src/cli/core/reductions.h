/* The reductions of a manifold by their names on the command line. */
#ifndef ABUT_CLI_REDUCTIONS_H
#define ABUT_CLI_REDUCTIONS_H

#include "core/cli.h"

#define REDUCTION_COUNT 6

/* By abut_reduction. */
extern const char *const reduction_names[REDUCTION_COUNT];
/* Where the batch's answers of this reduction go. */
void want_reduction(abut_batch *batch, abut_reduction reduction, void *values);

#endif
