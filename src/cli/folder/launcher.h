/* Starts of many processes at once, as mpirun and srun make them. */
#ifndef ABUT_CLI_LAUNCHER_H
#define ABUT_CLI_LAUNCHER_H

#include "cli.h"

/* Refuses to be one of several ranks, each of which would compute everything and write it over what the
 * others write, unless --shard says which part this one is. */
exit_code launcher_check(const options *o);

#endif
