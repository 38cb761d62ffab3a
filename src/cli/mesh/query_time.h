/* Cost of a contact query of a pair. */
#ifndef ABUT_CLI_QUERY_TIME_H
#define ABUT_CLI_QUERY_TIME_H

#include "core/cli.h"

/* Poses per timed batch. */
#define QUERY_POSES 256

/* Measures the seconds per pose for p, d, n and activity, in batches of poses near contact. */
exit_code time_query(const session *s, double *seconds);

#endif
