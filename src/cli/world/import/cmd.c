#include "core/cli.h"

#if ABUT_WITH_MUJOCO
#include "base/child.h"
#include "world/import/model.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

/* In a process of its own: MuJoCo's parser takes a process down with some files (2.2.2 by a URDF joint type
 * that it does not know). */
static exit_code import_apart(const options *o)
{
  fflush(NULL); /* or the child writes it, too */
  signal(SIGCHLD, SIG_DFL); /* a caller may have had it ignored, and nobody could tell how the child ended */
  const pid_t parent = getpid(), child = fork();
  if (child < 0) {
    return report(EXIT_RUN, "no process to read %s in: %s", o->operands[0], strerror(errno));
  }
  if (child == 0) {
#ifdef __linux__ /* elsewhere a child whose parent is killed writes its scene all the same */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != parent) {
      _exit(EXIT_RUN);
    }
    const exit_code code = import_model(o);
    const bool written = fflush(stdout) == 0 && !ferror(stdout);
    _exit((int)(code == EXIT_GOOD && !written ? report(EXIT_RUN, "standard output: cannot be written") : code));
  }
  const child_end end = child_wait(child);
  const int sign = end.signal;
  if (sign) {
    if (sign == SIGINT || sign == SIGTERM || sign == SIGHUP || sign == SIGPIPE) {
      raise(sign); /* meant for both */
    }
    return report(sign == SIGKILL ? EXIT_RUN : EXIT_INPUT,
                  "%s: the process that reads it with MuJoCo %s was ended by a signal (%s)", o->operands[0],
                  import_mujoco_version(), strsignal(sign));
  }
  return end.code < 0 ? report(EXIT_RUN, "%s: nobody can tell whether it was read", o->operands[0])
                      : (exit_code)end.code;
}

const char *reader_of_models(void)
{
  return import_mujoco_version();
}
#else
static exit_code import_apart(const options *o)
{
  return report(EXIT_INPUT, "%s: this abut is built without MuJoCo, which reads models; its option "
                "`mujoco` of meson setup names one, and `python -m abut.mujoco` needs none (docs/import.md)", o->operands[0]);
}

const char *reader_of_models(void)
{
  return "none in this build; `python -m abut.mujoco` needs none (docs/import.md)";
}
#endif

exit_code cmd_import(const options *o)
{
  CLI_TRY(need_operands(o, 1, "a model"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(check_own_output(o));
  return import_apart(o);
}
