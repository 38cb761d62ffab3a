#include "format/unfinished.h"

#include <abut/files.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PLACES 8 /* maximum number of files written at once */

typedef enum place_state { FREE, TAKEN, SET } place_state;

/* Never freed, so that a signal handler can read it at any time. */
static struct {
  atomic_int state;
  char path[PATH_MAX];
} places[PLACES];

int unfinished_add(const char *path)
{
  for (int i = 0; i < PLACES && strlen(path) < PATH_MAX; i++) {
    int free_ = FREE;
    if (atomic_compare_exchange_strong(&places[i].state, &free_, TAKEN)) {
      strcpy(places[i].path, path);
      atomic_store(&places[i].state, SET);
      return i;
    }
  }
  return -1;
}

void unfinished_drop(int place)
{
  if (place >= 0) {
    atomic_store(&places[place].state, FREE);
  }
}

void abut_remove_unfinished(void)
{
  for (int i = 0; i < PLACES; i++) {
    if (atomic_load(&places[i].state) == SET) {
      unlink(places[i].path);
    }
  }
}
