#include "core/cli.h"
#include "core/folder/launcher.h"
#include "core/folder/ranks.h"
#include "core/option_table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const program *running;

static void print_lines(const char *name)
{
  for (const help_entry *e = help_table; e->name; ++e) {
    for (const char *const *line = e->lines; strcmp(e->name, name) == 0 && *line; ++line) {
      puts(*line);
    }
  }
}

static void print_readers(const program *p, const command *c)
{
  if (p->print_readers) {
    p->print_readers(c);
  }
}

static void print_help(const program *p, const command *c)
{
  if (c) {
    print_lines(c->name);
    print_readers(p, c);
  } else {
    printf("%s %s: ", p->name, abut_version());
    print_lines(p->name);
  }
}

static exit_code ask_for_command(const program *p)
{
  char names[512] = "";
  for (size_t i = 0, used = 0; i < p->command_count && used < sizeof names; ++i) {
    const char *between = i == 0 ? "" : i + 1 < p->command_count ? ", " : " or ";
    used +=
      (size_t)snprintf(names + used, sizeof names - used, "%s%s", between, p->commands[i].name);
  }
  return usage_error(NULL, "a command is missing: use %s", names);
}

static exit_code dispatch(options *o)
{
  const program *p = o->program;
  if (o->value[OPTION_HELP]) {
    print_help(p, o->command);
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

/* This detects a full disk behind a pipe or a redirection. */
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

/* Removes unfinished files; then the signal ends the process by its default action. */
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
    if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) { /* not nohup */
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
  signal(SIGXFSZ, SIG_IGN); /* so that writing too large a file is an error */
  exit_code code = read_options(p, argc, argv, &o);
  if (code == EXIT_GOOD) {
    code = flush_stdout(ranks_end(dispatch(&o)));
  }
  free(o.operands);
  free(o.also);
  return code;
}
