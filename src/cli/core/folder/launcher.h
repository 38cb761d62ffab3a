/* Detection of several processes started at once, as by mpirun and srun. */
#ifndef ABUT_CLI_LAUNCHER_H
#define ABUT_CLI_LAUNCHER_H

#include "core/cli.h"

/* Handles a process that is one of several ranks. Without coordination each would compute
 * everything and overwrite the others' files. Either --shard gives this process's part, or the
 * ranks cooperate with MPI (see ranks.h), which sets options; otherwise the start is refused. */
exit_code launcher_check(options *o);

#endif
