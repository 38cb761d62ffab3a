#include "core/cli.h"
#include "core/folder/launcher.h"
#include "core/folder/ranks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const program *running;

static void print_usage(const program *p)
{
  printf("%s %s: %s\n\nusage:\n", p->name, abut_version(), p->about);
  for (size_t i = 0; i < p->command_count; ++i) {
    const command *c = &p->commands[i];
    char line[80];
    snprintf(line, sizeof line, "%s %s%s%s", p->name, c->name, c->operands, c->required);
    printf("  %-52s %s\n", line, c->summary);
  }
  printf("\noptions of all commands:\n");
  print_options(NULL);
  printf("\n`%s COMMAND --help`, or `%s help COMMAND`, lists the options of a command.\n"
         "Exit status: 0; 1 for a failure at run time; 2 for bad usage or input.\n",
         p->name, p->name);
}

static void print_readers(const program *p, const command *c)
{
  if (p->print_readers) {
    p->print_readers(c);
  }
}

static void print_help(const program *p, const command *c)
{
  printf("usage: %s %s%s%s [options]\n\n%s\n\noptions:\n", p->name, c->name, c->operands,
         c->required, c->about);
  print_options(c);
  print_readers(p, c);
  printf("\nexample, from the root of a checkout:\n  %s\n", c->example);
}

static exit_code ask_for_command(const program *p)
{
  char names[512] = "";
  for (size_t i = 0, used = 0; i < p->command_count && used < sizeof names; ++i) {
    const char *between = i == 0 ? "" : i + 1 < p->command_count ? ", " : " or ";
    used +=
      (size_t)snprintf(names + used, sizeof names - used, "%s%s", between, p->commands[i].name);
  }
  return usage_error(NULL, "which command? %s", names);
}

static exit_code dispatch(options *o)
{
  const program *p = o->program;
  if (o->value[OPTION_HELP]) {
    if (o->command) {
      print_help(p, o->command);
    } else {
      print_usage(p);
    }
    return EXIT_GOOD;
  }
  if (o->value[OPTION_VERSION]) {
    printf("%s %s\n", p->name, abut_version());
    print_readers(p, NULL);
    return EXIT_GOOD;
  }
  if (!o->command) {
    return ask_for_command(p);
  }
  CLI_TRY(launcher_check(o));
  return o->command->run(o);
}

/* A full disk behind a pipe or a redirection shows up here at the latest. */
static exit_code flush_stdout(exit_code code)
{
  errno = 0;
  const bool bad = ferror(stdout) != 0;
  if (fflush(stdout) != 0 || bad) {
    return report(code ? code : EXIT_RUN, "standard output: %s",
                  errno ? strerror(errno) : "cannot be written");
  }
  return code;
}

/* What is half written goes, and then the signal ends the process as it does by default. */
static void end_by_signal(int number)
{
  abut_remove_unfinished();
  if (running->remove_unfinished) {
    running->remove_unfinished();
  }
  raise(number);
}

static void catch_ends(void)
{
  static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
    struct sigaction before;
    if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) { /* not nohup's */
      sigaction(ends[i],
                &(struct sigaction){.sa_handler = end_by_signal,
                                    .sa_flags = SA_RESETHAND | SA_NODEFER},
                NULL);
    }
  }
}

int run_program(const program *p, int argc, char **argv)
{
  options o;
  running = p;
  report_as_program(p->name);
  catch_ends();
  signal(SIGXFSZ, SIG_IGN); /* a file too large is an error of write, not the end */
  exit_code code = read_options(p, argc, argv, &o);
  if (code == EXIT_GOOD) {
    code = flush_stdout(ranks_end(dispatch(&o)));
  }
  free(o.operands);
  free(o.also);
  return code;
}
