/* What a contact query of a pair costs. */
#ifndef ABUT_CLI_QUERY_TIME_H
#define ABUT_CLI_QUERY_TIME_H

#include "core/cli.h"

/* Poses of a batch that is timed. */
#define QUERY_POSES 256

/* Seconds a pose of p, d, n and activity, in batches of random poses around touching. */
exit_code time_query(const session *s, double *seconds);

#endif
