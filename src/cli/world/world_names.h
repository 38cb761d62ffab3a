/* Lists of world numbers for warnings. */
#ifndef ABUT_CLI_WORLD_NAMES_H
#define ABUT_CLI_WORLD_NAMES_H

#include <stddef.h>

#define NAMED 5 /* worlds named in a warning */

/* Worlds with a common property: their count, and the first numbers. */
typedef struct named_worlds {
  size_t found, used;
  char text[NAMED * 24 + 8];
} named_worlds;

/* Text such as "2 of 64 worlds (3, 17)". */
typedef struct worlds_text {
  char text[NAMED * 24 + 80];
} worlds_text;

void name_world(named_worlds *n, size_t world);
worlds_text print_worlds(const named_worlds *n, size_t count);

#endif
