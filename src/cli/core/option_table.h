/* What each option is called, which commands take it, and what help says of it. */
#ifndef ABUT_CLI_OPTION_TABLE_H
#define ABUT_CLI_OPTION_TABLE_H

#include "core/cli.h"

typedef struct option_entry {
  const char *name, *metavar; /* metavar: NULL for a flag */
  char letter;                /* or 0 */
  int commands;
  const char *help;
  const char *const *words; /* NULL, or which ones the help ends with */
  size_t word_count;
} option_entry;

extern const option_entry option_table[OPTION_COUNT];

#endif
