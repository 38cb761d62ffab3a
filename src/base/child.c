#include "base/child.h"

#include <errno.h>
#include <sys/wait.h>

child_end child_wait(pid_t child)
{
  int how = 0;
  while (waitpid(child, &how, 0) < 0) {
    if (errno != EINTR) {
      return (child_end){.code = -1}; /* the caller ignores SIGCHLD or reaps all children */
    }
  }
  return WIFSIGNALED(how) ? (child_end){.code = -1, .signal = WTERMSIG(how)}
                          : (child_end){.code = WEXITSTATUS(how)};
}
