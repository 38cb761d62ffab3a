/* Loaded before the command (LD_PRELOAD): every file lies on a file system of the type
 * ABUT_TEST_FSTYPE, a number. What is done with files is noted in the file ABUT_TEST_NOTE, a line
 * each: OPEN, LOCK, UNLOCK and WRITE, then what is at the end of the file's path, the first byte
 * and how many. With ABUT_TEST_LOCK_FAILS no range of an array can be locked. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* else the names below would be those of files of any length */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static void note(const char *what, int file, long long first, long long count)
{
  char link[64], path[4096], line[4200];
  const char *to = getenv("ABUT_TEST_NOTE");
  const int error = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  const char *slash = strrchr(path, '/');
  const int out =
    to ? (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
       : -1;
  if (out >= 0) {
    const int bytes = snprintf(line, sizeof line, "%s %s %lld %lld\n", what,
                               slash ? slash + 1 : path, first, count);
    if (syscall(SYS_write, out, line, bytes) != bytes) {
      abort();
    }
    close(out);
  }
  errno = error;
}

static void set_type(struct statfs *about)
{
  const char *type = getenv("ABUT_TEST_FSTYPE");
  if (type) {
    about->f_type = (__typeof__(about->f_type))strtol(type, NULL, 0);
  }
}

int fstatfs(int file, struct statfs *about)
{
  const int code = (int)syscall(SYS_fstatfs, file, about);
  set_type(about);
  return code;
}

static int lock(int file, int command, struct flock *range)
{
  if (command == F_SETLKW && getenv("ABUT_TEST_LOCK_FAILS")) {
    errno = ENOLCK;
    return -1;
  }
  const int code = (int)syscall(SYS_fcntl, file, command, range);
  if (code == 0 && command != F_GETLK) {
    note(range->l_type == F_UNLCK ? "UNLOCK" : "LOCK", file, range->l_start, range->l_len);
  }
  return code;
}

int fcntl(int file, int command, ...)
{
  va_list more;
  va_start(more, command);
  void *argument = va_arg(more, void *);
  va_end(more);
  return command == F_SETLK || command == F_SETLKW
           ? lock(file, command, argument)
           : (int)syscall(SYS_fcntl, file, command, argument);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
  note("WRITE", file, at, (long long)count);
  return syscall(SYS_pwrite64, file, bytes, count, at);
}

int open(const char *path, int flags, ...)
{
  va_list more;
  va_start(more, flags);
  const int file =
    (int)syscall(SYS_openat, AT_FDCWD, path, flags, flags & O_CREAT ? va_arg(more, unsigned) : 0);
  va_end(more);
  if (file >= 0) {
    note("OPEN", file, 0, 0);
  }
  return file;
}

/* The same by the names of files of any length, which are alike on systems of 64 bits. */
int fstatfs64(int file, struct statfs64 *about)
{
  return fstatfs(file, (struct statfs *)about);
}

int fcntl64(int file, int command, ...) __attribute__((alias("fcntl")));
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at)
  __attribute__((alias("pwrite")));
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
