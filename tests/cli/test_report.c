/* What is foreseen of long calls, on a clock that the test turns. */
#include "core/cli.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Standard error in a file. */
typedef struct caught {
  FILE *file;
  int before;
} caught;

static caught catch_errors(void)
{
  const caught c = {tmpfile(), dup(STDERR_FILENO)};
  REQUIRE(c.file && c.before >= 0);
  dup2(fileno(c.file), STDERR_FILENO);
  return c;
}

/* Whether what was written is this text. */
static void expect_text(caught c, const char *what, const char *wanted)
{
  char got[1024] = "";
  dup2(c.before, STDERR_FILENO);
  close(c.before);
  rewind(c.file);
  got[fread(got, 1, sizeof got - 1, c.file)] = '\0';
  fclose(c.file);
  check(strcmp(got, wanted) == 0, "%s: '%s', not '%s'", what, got, wanted);
}

/* Whether the warnings of such steps, of 1000, are this text. */
static void expect(const char *what, const progress *of, const step *steps, size_t count,
                   const char *wanted)
{
  progress p = *of;
  const caught c = catch_errors();
  for (size_t i = 0; i < count; ++i) {
    seconds += steps[i].after;
    progress_step(steps[i].done, 1000, &p);
  }
  expect_text(c, what, wanted);
}

/* Where stderr is no terminal: whole lines, ten seconds apart, whichever step they are of. */
static void test_lines(void)
{
  options o = {.command = commands};
  unsetenv("ABUT_TEST_PROGRESS");
  for (int quiet = 0; quiet < 2; ++quiet) {
    const caught c = catch_errors();
    o.value[OPTION_QUIET] = quiet ? "" : NULL;
    progress p = progress_begin(&o, "contacts, poses");
    for (size_t done = 1; done < 23; ++done) {
      seconds += 1;
      progress_step(done, 23, &p);
    }
    progress_end(&p);
    p = progress_begin(&o, "finger.obj");
    seconds += 7; /* 29 s */
    progress_share(&p, "field", 0.25);
    seconds += 1;
    progress_share(&p, "field", 0.5);
    seconds += 1;
    progress_share(&p, "field", 0.75);
    progress_end(&p);
    expect_text(c, quiet ? "quiet" : "lines",
                quiet ? ""
                      : "contacts, poses: 10 of 23, 43 %\ncontacts, poses: 20 of 23, 87 %\n"
                        "finger.obj: field, 50 %\n");
  }
  report_as_rank(1);
  const caught c = catch_errors();
  o.value[OPTION_QUIET] = NULL;
  progress p = progress_begin(&o, "contacts, poses");
  seconds += 60;
  progress_step(1, 2, &p);
  progress_end(&p);
  expect_text(c, "the second rank", "");
}

int main(void)
{
  const options o = {.command = commands};
  setenv("ABUT_TEST_PROGRESS", "0", 1);
  progress p = progress_begin(&o, "contacts, poses");
  p.contacts = 300;
  p.bytes = 5e9;
  /* An hour of compiling before the first report is not held against the rest. */
  const step slow[] = {{3600, 10}, {1, 11}, {1, 12}, {1, 13}}, fast[] = {{3600, 10}, {1, 30}};
  const step once[] = {{3600, 1000}}, long_steps[] = {{60, 1}, {300, 2}};
  const step jumps[] = {{0, 100}, {0, 500}, {0, 900}}, last[] = {{10, 1}, {900, 1000}};
  expect("slow", &p, slow, 4,
         "abut: warning: contacts, poses: about 17 minutes remain, 11 of 1000 "
         "done, 300 contacts per pose, 5 GB to write\n");
  expect("fast", &p, fast, 2, "");
  expect("at once", &p, once, 1, "");
  expect("no time", &p, jumps, 3, "");
  expect("the last step", &p, last, 2, "");
  p.contacts = 0;
  p.bytes = 0.0;
  expect("long steps", &p, long_steps, 2,
         "abut: warning: contacts, poses: about 4990 minutes remain, 2 of 1000 done\n");
  test_lines();
  return check_finish();
}
