/* Locks among processes: one at a time has a key's; a process that is killed has none any more, nor
 * do children of a fork; waiting has a bound, and an end when the work is done, and what cannot be
 * locked is done without. */
#define _XOPEN_SOURCE 700
#include "cache_files.h"

#include "base/clock.h"
#include "base/process_lock.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORT 0.2
#define LONG 60.0

static char scratch[64];

static cache_key key_of(const char *text)
{
  cache_key key = cache_key_begin();
  cache_key_add(&key, text);
  return key;
}

static bool is_free(const char *text, double seconds)
{
  const cache_key key = key_of(text);
  const process_lock lock = process_lock_take(&key, seconds);
  process_lock_give_back(lock, false);
  return lock >= 0;
}

typedef struct holder {
  pid_t process;
  int ready[2], stop[2]; /* pipes: it has the lock; and it ends when this one does */
} holder;

/* A process that holds a lock until it is stopped, and with `forks` ends at once and leaves a child
 * of its own. */
static holder hold(const char *text, bool forks)
{
  holder h = {.process = -1};
  char byte = 0;
  REQUIRE(pipe(h.ready) == 0 && pipe(h.stop) == 0);
  h.process = fork();
  REQUIRE(h.process >= 0);
  if (h.process == 0) {
    const cache_key key = key_of(text);
    byte = process_lock_take(&key, LONG) >= 0;
    close(h.stop[1]);
    if (!forks || fork() == 0) {
      const bool said = write(h.ready[1], &byte, 1) == 1;
      _exit(said && read(h.stop[0], &byte, 1) == 0);
    }
    _exit(0);
  }
  check(read(h.ready[0], &byte, 1) == 1 && byte == 1, "%s could not be locked", text);
  return h;
}

static void stop(holder *h)
{
  for (int i = 0; i < 2; ++i) {
    close(h->ready[i]);
    close(h->stop[i]);
  }
}

static void held(void)
{
  holder h = hold("program", false);
  const double start = now();
  CHECK(!is_free("program", SHORT));
  const double took = now() - start;
  check(took >= SHORT && took < LONG, "a wait of at most %g s took %g s", SHORT, took);
  CHECK(is_free("another program", 0.0));
  CHECK(kill(h.process, SIGKILL) == 0 && waitpid(h.process, NULL, 0) == h.process);
  CHECK(is_free("program", LONG));
  stop(&h);
}

static void inherited(void)
{
  holder h = hold("forked", true);
  CHECK(waitpid(h.process, NULL, 0) == h.process);
  CHECK(is_free("forked", 0.0)); /* its child is still there */
  stop(&h);
}

/* Whoever waits stops when the work is done, and whoever comes later does not begin to. */
static void done(void)
{
  int ready[2];
  char byte = 0;
  REQUIRE(pipe(ready) == 0);
  const pid_t process = fork();
  REQUIRE(process >= 0);
  const cache_key key = key_of("work");
  if (process == 0) {
    const process_lock lock = process_lock_take(&key, LONG);
    const bool said = write(ready[1], &byte, 1) == 1;
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    process_lock_give_back(lock, true);
    _exit(!said || lock < 0);
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  const double start = now();
  CHECK(!is_free("work", LONG));
  CHECK(now() - start < LONG);
  int status = 1;
  CHECK(waitpid(process, &status, 0) == process && status == 0);
  CHECK(!is_free("work", 0.0) && is_free("other work", 0.0));
  close(ready[0]);
  close(ready[1]);
}

static void without(void)
{
  char path[128];
  setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
  CHECK(!is_free("program", LONG));
  snprintf(path, sizeof path, "%s/all", scratch);
  CHECK(mkdir(path, 0700) == 0);
  setenv("XDG_RUNTIME_DIR", path, 1);
  CHECK(is_free("program", 0.0)); /* it makes a folder of its own there */
  strcat(path, "/abut");
  CHECK(chmod(path, 0777) == 0);
  CHECK(!is_free("program", LONG)); /* others may write to it */
  setenv("XDG_RUNTIME_DIR", scratch, 1);
}

int main(void)
{
  REQUIRE(make_scratch(scratch));
  setenv("XDG_RUNTIME_DIR", scratch, 1);
  held();
  without();
  inherited();
  done();
  remove_folder(scratch);
  return check_finish();
}
