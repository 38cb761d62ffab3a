/* The ranks of a start by MPI, of which this process is one.
 *
 * Errors: a rank's own text is kept until all ranks agree, in the places where ranks_agree stands,
 * on whether one has failed. The first of those says its text, and all end with its status; but
 * where ranks fail while blocks are computed, each says its own, and the others go on. Between two
 * of these places either nothing fails, or no rank waits for another. */
#ifndef ABUT_CLI_RANKS_H
#define ABUT_CLI_RANKS_H

#include "core/cli.h"

#include <stdint.h>

/* Whether this process is one of several ranks that work together. */
bool ranks_started(void);
/* Opens the plug-in and starts MPI. `said`: how many ranks `by`, a variable of the launcher, says
 * there are; 0: it does not say. Without the plug-in *there is false, and `why` says more where
 * there is more to say. */
exit_code ranks_begin(const char *by, size_t said, bool *there, char *why, size_t room);
/* A device of its own for each rank of a node, where --device names none: of GPUs by turns; of a
 * CPU a part. Ranks but the first are silent. */
exit_code ranks_set_options(options *o);
/* Warns where a rank may run on fewer cores than its device has threads. */
void ranks_check_cores(const session *s);

size_t ranks_own(void);
size_t ranks_count(void);
/* The status of all ranks; without ranks the one that is given. */
exit_code ranks_agree(exit_code code);
/* The last of it: agrees, unless a failure was agreed on, and ends MPI. */
exit_code ranks_end(exit_code code);

/* From rank 0 to the others, for which *bytes is to be freed. */
exit_code ranks_broadcast(void **bytes, size_t *count);
uint64_t ranks_from_first(uint64_t number);
void ranks_sum(uint64_t *numbers, int count);
/* Of numbers up to this: MPICH 4.0 compares them as if they had a sign. */
#define RANKS_MOST ((uint64_t)INT64_MAX)
void ranks_least(uint64_t *numbers, int count);
void ranks_wait(void);

/* Poses are handed out: `total` of them, at most `most` at once. */
exit_code ranks_handing_begin(uint64_t total, uint64_t most);
/* of[0], and of[1] of them, of which 0 are left at the end. `speed` as of shares_next. */
void ranks_take(double speed, uint64_t of[2]);
void ranks_handing_end(void);

#endif
