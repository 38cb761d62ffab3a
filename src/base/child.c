#include "base/child.h"

#include <errno.h>
#include <sys/wait.h>

child_end child_wait(pid_t child)
{
  int how = 0;
  while (waitpid(child, &how, 0) < 0) {
    if (errno != EINTR) {
      return (child_end){.code = -1}; /* the caller's process ignores SIGCHLD, or waits for all */
    }
  }
  return WIFSIGNALED(how) ? (child_end){.code = -1, .signal = WTERMSIG(how)}
                          : (child_end){.code = WEXITSTATUS(how)};
}
