/* Waiting for started processes; used by both the library and the command. */
#ifndef ABUT_BASE_CHILD_H
#define ABUT_BASE_CHILD_H

#include <sys/types.h>

/* How a process ended. */
typedef struct child_end {
  int code;   /* exit status; -1 if a signal ended it or if it is unknown */
  int signal; /* signal that ended it, or 0 */
} child_end;

/* Waits for the end of a process, even if signals interrupt the wait. */
child_end child_wait(pid_t child);

#endif
