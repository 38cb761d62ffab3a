/* Starts of many processes at once, as mpirun and srun make them. */
#ifndef ABUT_CLI_LAUNCHER_H
#define ABUT_CLI_LAUNCHER_H

#include "core/cli.h"

/* One of several ranks, each of which would compute everything and write it over what the others
 * write: --shard says which part this one is; or they work together by MPI, see ranks.h, which sets
 * options; or it is refused. */
exit_code launcher_check(options *o);

#endif
