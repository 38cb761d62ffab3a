/* What is foreseen of long calls, on a clock that the test turns. */
#include "core/cli.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const command commands[1] = {{"contacts", COMMAND_CONTACTS, NULL}};
const size_t command_count = 1;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static time_t seconds = 1000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
  (void)clock;
  *out = (struct timespec){seconds, 0};
  return 0;
}

typedef struct step {
  time_t after; /* the one before [s] */
  size_t done;
} step;

/* Whether the warnings of such steps, of 1000, are this text. */
static void expect(const char *what, const progress *of, const step *steps, size_t count,
                   const char *wanted)
{
  char got[512] = "";
  progress p = *of;
  FILE *file = tmpfile();
  const int before = dup(STDERR_FILENO);
  if (!check(file && before >= 0, "%s: no file", what)) {
    return;
  }
  dup2(fileno(file), STDERR_FILENO);
  for (size_t i = 0; i < count; ++i) {
    seconds += steps[i].after;
    progress_step(steps[i].done, 1000, &p);
  }
  dup2(before, STDERR_FILENO);
  close(before);
  rewind(file);
  got[fread(got, 1, sizeof got - 1, file)] = '\0';
  fclose(file);
  check(strcmp(got, wanted) == 0, "%s: '%s', not '%s'", what, got, wanted);
}

int main(void)
{
  const options o = {.command = commands};
  progress p = progress_begin(&o, "contacts, poses");
  p.contacts = 300;
  p.bytes = 5e9;
  /* An hour of compiling before the first report is not held against the rest. */
  const step slow[] = {{3600, 10}, {1, 11}, {1, 12}, {1, 13}}, fast[] = {{3600, 10}, {1, 30}};
  const step once[] = {{3600, 1000}}, long_steps[] = {{60, 1}, {300, 2}};
  const step jumps[] = {{0, 100}, {0, 500}, {0, 900}}, last[] = {{10, 1}, {900, 1000}};
  expect("slow", &p, slow, 4,
         "abut: warning: contacts, poses: about 17 minutes to go, 11 of 1000 "
         "done, 300 contacts a pose, 5 GB to write\n");
  expect("fast", &p, fast, 2, "");
  expect("at once", &p, once, 1, "");
  expect("no time", &p, jumps, 3, "");
  expect("the last step", &p, last, 2, "");
  p.contacts = 0;
  p.bytes = 0.0;
  expect("long steps", &p, long_steps, 2,
         "abut: warning: contacts, poses: about 4990 minutes to go, 2 of 1000 done\n");
  return check_finish();
}
