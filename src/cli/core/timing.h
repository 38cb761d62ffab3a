/* How long calls take. */
#ifndef ABUT_CLI_TIMING_H
#define ABUT_CLI_TIMING_H

#include "core/cli.h"

typedef struct timing {
  double median, least; /* [s] a call */
  double ratio;         /* to another call of the same round, median; 0 where that was not timed */
} timing;

/* Sorts them. */
double median_of(double *numbers, size_t count);
/* Times calls by turns: one warm-up call each, then rounds of all, for half a second each and at
 * least 5 rounds, but not beyond 10 seconds each. base: the call that ratios are to; `count`:
 * none. */
typedef exit_code (*timed_call)(void *user, size_t i);
exit_code time_rounds(timed_call call, void *user, size_t count, size_t base, timing *out);
/* Says so where devices failed in a call that is timed. */
exit_code report_failures(size_t failures);

#endif
