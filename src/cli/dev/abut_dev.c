/* The program `abut-dev`: subcommands for developers of abut. */
#include "dev/commands.h"

static const command commands[] = {
  {"gradcheck", COMMAND_GRADCHECK, cmd_gradcheck},
  {"bench", COMMAND_BENCH, cmd_bench},
  {"tune", COMMAND_TUNE, cmd_tune},
};

int main(int argc, char **argv)
{
  const program p = {.name = "abut-dev",
                     .commands = commands,
                     .command_count = sizeof commands / sizeof *commands};
  return run_program(&p, argc, argv);
}
