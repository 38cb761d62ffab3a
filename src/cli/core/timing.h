/* Measurement of the time of calls. */
#ifndef ABUT_CLI_TIMING_H
#define ABUT_CLI_TIMING_H

#include "core/cli.h"

typedef struct timing {
  double median, least; /* [s] per call */
  double ratio;         /* to another call in the same rounds, median; 0 if that was not timed */
} timing;

/* Sorts the numbers. */
double median_of(double *numbers, size_t count);
/* Times several calls in turn: one warm-up call each, then rounds of all calls, for half a second
 * each and at least 5 rounds, but at most 10 seconds each. base: the call to which ratios refer;
 * `count`: none. */
typedef exit_code (*timed_call)(void *user, size_t i);
exit_code time_rounds(timed_call call, void *user, size_t count, size_t base, timing *out);
/* Reports an error if devices failed in a timed call. */
exit_code report_failures(size_t failures);

#endif
