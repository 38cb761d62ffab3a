/* The output of tools/make_help.py from src/cli/help: the options, and the text of each --help. */
#ifndef ABUT_CLI_OPTION_TABLE_H
#define ABUT_CLI_OPTION_TABLE_H

#include "core/cli.h"

typedef struct option_entry {
  const char *name, *metavar; /* metavar: NULL for a flag */
  char letter;                /* or 0 */
  bool repeat;                /* it may be given several times */
  int commands;
} option_entry;

extern const option_entry option_table[OPTION_COUNT];

typedef struct help_entry {
  const char *name; /* of a command or a program; NULL ends the table */
  const char *const *lines;
} help_entry;

extern const help_entry help_table[];

#endif
