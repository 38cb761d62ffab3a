/* The subcommands of `abut-dev`. */
#ifndef ABUT_CLI_DEV_COMMANDS_H
#define ABUT_CLI_DEV_COMMANDS_H

#include "core/cli.h"

exit_code cmd_gradcheck(const options *o);
exit_code cmd_bench(const options *o);
exit_code cmd_tune(const options *o);

#endif
