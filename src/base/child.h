/* The library and the command wait for processes that they start. Both have this text. */
#ifndef ABUT_BASE_CHILD_H
#define ABUT_BASE_CHILD_H

#include <sys/types.h>

/* This is how a process ended. */
typedef struct child_end {
  int code;   /* its exit status; -1 where a signal ended it, or where nobody can tell */
  int signal; /* that ended it; 0 where none did */
} child_end;

/* Waits for a process's end, whatever signals come meanwhile. */
child_end child_wait(pid_t child);

#endif
