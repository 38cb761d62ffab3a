/* Loaded before the command (LD_PRELOAD): a disk that fails. The call of fdatasync whose number,
 * from 1 on, ABUT_TEST_DATA_FAILS has, and that of fsync for a journal's file whose number
 * ABUT_TEST_JOURNAL_FAILS has, end with EIO. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(const char *name, atomic_int *calls)
{
  const char *at = getenv(name);
  const int fail = at && atomic_fetch_add(calls, 1) + 1 == atoi(at);
  errno = fail ? EIO : errno;
  return fail;
}

int fdatasync(int file)
{
  static atomic_int calls;
  return fails("ABUT_TEST_DATA_FAILS", &calls) ? -1 : (int)syscall(SYS_fdatasync, file);
}

int fsync(int file)
{
  static atomic_int calls;
  static const char ending[] = ".journal";
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path),
                from = length - (ssize_t)(sizeof ending - 1);
  const int is_journal = from > 0 && memcmp(path + from, ending, sizeof ending - 1) == 0;
  return is_journal && fails("ABUT_TEST_JOURNAL_FAILS", &calls) ? -1
                                                                : (int)syscall(SYS_fsync, file);
}
