/* The ranks of an MPI start, one of which is this process.
 *
 * Errors: a rank's error text is held back until the next call of ranks_agree, where all ranks
 * agree on whether one has failed. The first failed rank then prints its text, and all end with its
 * status. If ranks fail while blocks are computed, each prints its own text and the others
 * continue. Between two calls of ranks_agree either nothing fails, or no rank waits for another. */
#ifndef ABUT_CLI_RANKS_H
#define ABUT_CLI_RANKS_H

#include "core/cli.h"

#include <stdint.h>

/* Returns whether this process is one of several cooperating ranks. */
bool ranks_started(void);
/* Opens the plug-in and starts MPI. `said`: the number of ranks according to the launcher's
 * variable `by`; 0: unknown. Without the plug-in *there is false, and `why` may have details. */
exit_code ranks_begin(const char *by, size_t said, bool *there, char *why, size_t room);
/* Gives each rank of a node its own device if --device names none: GPUs in turn, or a part of a
 * CPU. All ranks except the first are quiet. */
exit_code ranks_set_options(options *o);
/* Warns if a rank may run on fewer cores than its device has threads. */
void ranks_check_cores(const session *s);

size_t ranks_own(void);
size_t ranks_count(void);
/* Returns the common status of all ranks; without ranks the given one. */
exit_code ranks_agree(exit_code code);
/* The last agreement, unless a failure was agreed on before; ends MPI. */
exit_code ranks_end(exit_code code);

/* Sends data from rank 0 to the others, which free *bytes. */
exit_code ranks_broadcast(void **bytes, size_t *count);
uint64_t ranks_from_first(uint64_t number);
void ranks_sum(uint64_t *numbers, int count);
/* Bound on numbers for ranks_least, because MPICH 4.0 compares them as signed. */
#define RANKS_MOST ((uint64_t)INT64_MAX)
void ranks_least(uint64_t *numbers, int count);
void ranks_wait(void);

/* Starts the distribution of `total` poses, at most `most` at once. */
exit_code ranks_handing_begin(uint64_t total, uint64_t most);
/* Takes of[1] poses starting at of[0]; of[1] is 0 at the end. `speed` as for shares_next. */
void ranks_take(double speed, uint64_t of[2]);
void ranks_handing_end(void);

#endif
