/* realpath */
#define _XOPEN_SOURCE 700
#include "io/whole_file.h"

#include "base/error.h"
#include "base/memory.h"
#include <abut/files.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_TRIES 1000

static abut_status fail_errno(abut_status status, const char *path)
{
  char cause[128];
  int error = errno;
  if (strerror_r(error, cause, sizeof cause) != 0) {
    snprintf(cause, sizeof cause, "error %d", error);
  }
  return fail_at(status, path, 0, "%s", cause);
}

static abut_status read_all(const char *path, int file, char **bytes, size_t *count)
{
  struct stat info;
  size_t room = 0, guess = 4096;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0
      && (uintmax_t)info.st_size < SIZE_MAX / 2) {
    guess = (size_t)info.st_size + 2; /* the zero, and a byte to meet the end with */
  }
  for (*count = 0;;) {
    void *grown = *bytes;
    abut_status status = grow(&grown, &room, *count + 2 < guess ? guess : *count + 2, 1);
    *bytes = grown;
    TRY(status);
    ssize_t got = read(file, *bytes + *count, room - *count - 1);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail_errno(ABUT_ERROR_READ, path);
    }
    *count += (size_t)got;
    if (got == 0) {
      (*bytes)[*count] = 0;
      return ABUT_SUCCESS;
    }
  }
}

abut_status whole_file_read(const char *path, char **bytes, size_t *count)
{
  *bytes = NULL;
  *count = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return fail_errno(ABUT_ERROR_READ, path);
  }
  abut_status status = read_all(path, file, bytes, count);
  close(file);
  if (status != ABUT_SUCCESS) {
    free(*bytes);
    *bytes = NULL;
  }
  return status;
}

#define LINK_LIMIT 40

/* Follows links of which the last leads to no file yet, so that the file is made where they say.
 * Takes *target, replaces it, and leaves it alone where it is no link. */
static abut_status follow_dangling(const char *path, char **target)
{
  for (int i = 0; i < LINK_LIMIT; i++) {
    char to[PATH_MAX];
    ssize_t length = readlink(*target, to, sizeof to - 1);
    if (length < 0) {
      return ABUT_SUCCESS;
    }
    to[length] = 0;
    const char *slash = to[0] == '/' ? NULL : strrchr(*target, '/');
    size_t folder = slash ? (size_t)(slash - *target) + 1 : 0;
    void *next;
    TRY(allocate(&next, folder + (size_t)length + 1, 1));
    memcpy(next, *target, folder);
    memcpy((char *)next + folder, to, (size_t)length);
    free(*target);
    *target = next;
  }
  errno = ELOOP;
  return fail_errno(ABUT_ERROR_WRITE, path);
}

/* The path that the file will have, with links followed. */
static abut_status resolve(const char *path, char **target)
{
  struct stat info;
  if (!*path) {
    return fail(ABUT_ERROR_WRITE, "an output file's path is empty");
  }
  if (stat(path, &info) == 0) {
    if (!S_ISREG(info.st_mode)) {
      return fail_at(ABUT_ERROR_WRITE, path, 0, "exists and is not a regular file");
    }
    if (access(path, W_OK) != 0) {
      return fail_errno(ABUT_ERROR_WRITE, path);
    }
    *target = realpath(path, NULL);
  } else {
    *target = strdup(path);
    return *target ? follow_dangling(path, target) : fail_errno(ABUT_ERROR_WRITE, path);
  }
  return *target ? ABUT_SUCCESS : fail_errno(ABUT_ERROR_WRITE, path);
}

/* open rather than mkstemp: the file gets the mode that the user's umask asks for. */
static abut_status create_temporary(const char *path, whole_file *f, size_t room)
{
  static atomic_uint counter;
  const char *slash = strrchr(f->target, '/');
  int folder = slash ? (int)(slash - f->target) + 1 : 0;
  for (int i = 0; i < NAME_TRIES; i++) {
    snprintf(f->temporary, room, "%.*s.abut-%ld-%u.tmp", folder, f->target, (long)getpid(),
             atomic_fetch_add(&counter, 1u));
    int file = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      close(file);
      return ABUT_SUCCESS;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return fail_errno(ABUT_ERROR_WRITE, path);
}

abut_status whole_file_begin(const char *path, whole_file *f)
{
  *f = (whole_file){NULL, NULL};
  abut_status status = resolve(path, &f->target);
  size_t room = status == ABUT_SUCCESS ? strlen(f->target) + 64 : 0;
  if (status == ABUT_SUCCESS && room > INT_MAX) {
    status = fail(ABUT_ERROR_ARGUMENT, "a path of %zu bytes", room);
  }
  void *temporary = NULL;
  TRY_DONE(status);
  TRY_DONE(allocate(&temporary, room, 1));
  f->temporary = temporary;
  TRY_DONE(create_temporary(path, f, room));
done:
  if (status != ABUT_SUCCESS) {
    free(f->target);
    free(f->temporary);
    *f = (whole_file){NULL, NULL};
  }
  return status;
}

static abut_status sync_path(const char *path, int flags)
{
  int file = open(path, flags | O_CLOEXEC);
  if (file < 0) {
    return fail_errno(ABUT_ERROR_WRITE, path);
  }
  int failed = fsync(file);
  abut_status status = failed ? fail_errno(ABUT_ERROR_WRITE, path) : ABUT_SUCCESS;
  close(file);
  return status;
}

/* The name is in the folder, so that must reach the disk too; not every file system can say so. */
static void sync_folder(char *target)
{
  char *slash = strrchr(target, '/');
  int file;
  if (slash && slash != target) {
    *slash = 0;
    file = open(target, O_RDONLY | O_CLOEXEC);
  } else {
    file = open(slash ? "/" : ".", O_RDONLY | O_CLOEXEC);
  }
  if (file >= 0) {
    fsync(file);
    close(file);
  }
}

abut_status whole_file_end(whole_file *f, abut_status so_far)
{
  abut_status status = so_far;
  if (status == ABUT_SUCCESS) {
    status = sync_path(f->temporary, O_WRONLY);
  }
  if (status == ABUT_SUCCESS && rename(f->temporary, f->target) != 0) {
    status = fail_errno(ABUT_ERROR_WRITE, f->target);
  }
  if (status == ABUT_SUCCESS) {
    sync_folder(f->target);
  } else {
    unlink(f->temporary);
  }
  free(f->target);
  free(f->temporary);
  *f = (whole_file){NULL, NULL};
  return status;
}

static abut_status write_all(const char *path, int file, const char *bytes, size_t count)
{
  while (count) {
    ssize_t put = write(file, bytes, count < SSIZE_MAX ? count : SSIZE_MAX);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return fail_errno(ABUT_ERROR_WRITE, path);
    }
    bytes += put;
    count -= (size_t)put;
  }
  return ABUT_SUCCESS;
}

abut_status whole_file_write(const char *path, const void *bytes, size_t count)
{
  whole_file f;
  TRY(whole_file_begin(path, &f));
  int file = open(f.temporary, O_WRONLY | O_CLOEXEC);
  abut_status status = file < 0 ? fail_errno(ABUT_ERROR_WRITE, path) : ABUT_SUCCESS;
  if (status == ABUT_SUCCESS) {
    status = write_all(path, file, bytes, count);
  }
  if (file >= 0 && close(file) != 0 && status == ABUT_SUCCESS) {
    status = fail_errno(ABUT_ERROR_WRITE, path);
  }
  return whole_file_end(&f, status);
}
