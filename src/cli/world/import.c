/* Imports models as scenes, with a Python program that uses MuJoCo: python/abut/_import_mujoco.py
 * has the rules. */
#include "base/child.h"
#include "core/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#define SCRIPT "import_mujoco.py"
#define ANY_PYTHON "python3"

static const char *python(void)
{
  const char *named = getenv("ABUT_PYTHON");
  return named && *named ? named : ANY_PYTHON;
}

static noreturn void become_python(const options *o, const char *script)
{
  const size_t room = strlen(o->value[OPTION_OUTPUT]) + sizeof "--output=";
  char *output = malloc(room); /* as one word, because the path may start with a dash */
  const char *words[9] = {python(), script, output};
  char *own[sizeof words / sizeof *words];
  size_t count = 3;
  if (!output) {
    _exit((int)report(EXIT_RUN, "not enough memory for a path"));
  }
  snprintf(output, room, "--output=%s", o->value[OPTION_OUTPUT]);
  if (o->value[OPTION_LIST_PAIRS]) {
    words[count++] = "--list-pairs";
  }
  if (o->value[OPTION_VERBOSE]) {
    words[count++] = "--verbose";
  }
  if (o->value[OPTION_QUIET]) {
    words[count++] = "-q";
  }
  words[count++] = "--";
  words[count] = o->operands[0];
  memcpy(own, words, sizeof own); /* the call does not modify them */
  execvp(own[0], own);
  _exit((int)report(EXIT_INPUT,
                    "import needs Python with the package `mujoco`, but %s cannot be run (%s): set "
                    "ABUT_PYTHON to another Python (docs/import.md)",
                    own[0], strerror(errno)));
}

/* Runs in a separate process: MuJoCo's parser crashes on some files (2.2.2 on an unknown URDF joint
 * type). */
static exit_code import_apart(const options *o)
{
  char script[8192];
  if (!find_own_file(SCRIPT, ABUT_DATADIR, ABUT_DATADIR_WHOLE, script, sizeof script)) {
    return report(EXIT_RUN, "%s/abut/" SCRIPT ", which is a part of abut, is missing",
                  ABUT_DATADIR_WHOLE);
  }
  signal(SIGCHLD, SIG_DFL); /* if the caller ignored it, the child's exit status would be lost */
  const pid_t parent = getpid(), child = fork();
  if (child < 0) {
    return report(EXIT_RUN, "no process could be started to read %s: %s", o->operands[0],
                  strerror(errno));
  }
  if (child == 0) {
#ifdef __linux__ /* on other systems, a child whose parent is killed still writes its scene */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != parent) {
      _exit(EXIT_RUN);
    }
    become_python(o, script);
  }
  const child_end end = child_wait(child);
  const int sign = end.signal;
  if (sign) {
    if (sign == SIGINT || sign == SIGTERM || sign == SIGHUP || sign == SIGPIPE) {
      raise(sign); /* sent to both processes */
    }
    return report(sign == SIGKILL ? EXIT_RUN : EXIT_INPUT,
                  "%s: the process that reads it with MuJoCo was stopped by a signal (%s)",
                  o->operands[0], strsignal(sign));
  }
  return end.code < 0 ? report(EXIT_RUN, "%s: the result of the process that reads it is unknown",
                               o->operands[0])
                      : (exit_code)end.code;
}

/* Reads the package's metadata, which is faster than importing it. The current folder is removed
 * from Python's search path first, because it may contain untrusted files. */
const char *reader_of_models(void)
{
  static char text[256];
  FILE *answer =
    popen("\"${ABUT_PYTHON:-" ANY_PYTHON "}\" -c '"
          "import sys; sys.path[:] = [p for p in sys.path if p]; import importlib.metadata as m; "
          "print(m.version(\"mujoco\"))' 2>/dev/null </dev/null",
          "r");
  const bool there = answer && fgets(text, sizeof text, answer);
  if (answer) {
    pclose(answer);
  }
  text[strcspn(text, "\n")] = '\0';
  if (!there || !*text) {
    snprintf(text, sizeof text, "none found by %s (docs/import.md)", python());
  }
  return text;
}

exit_code cmd_import(const options *o)
{
  CLI_TRY(need_operands(o, 1, "a model"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(check_own_output(o));
  return import_apart(o);
}
