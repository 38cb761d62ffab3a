/* Worlds by their numbers, in warnings. */
#ifndef ABUT_CLI_WORLD_NAMES_H
#define ABUT_CLI_WORLD_NAMES_H

#include <stddef.h>

#define NAMED 5 /* worlds of a warning */

/* Of which one thing is told: how many they are, and the first of them by number. */
typedef struct named_worlds {
  size_t found, used;
  char text[NAMED * 24 + 8];
} named_worlds;

/* As "2 of 64 worlds (3, 17)". */
typedef struct worlds_text {
  char text[NAMED * 24 + 80];
} worlds_text;

void name_world(named_worlds *n, size_t world);
worlds_text print_worlds(const named_worlds *n, size_t count);

#endif
