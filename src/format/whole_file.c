/* for realpath */
#define _XOPEN_SOURCE 700
#include "format/whole_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/unfinished.h"
#include "format/unnamed_file.h"
#include <abut/files.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_TRIES 1000
#define NAME_ROOM 96 /* for a name after its folder */
#define COPY_BYTES 65536

static abut_status read_all(const char *path, int file, char **bytes, size_t *count)
{
  struct stat info;
  size_t room = 0, guess = 4096;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
      (uintmax_t)info.st_size < SIZE_MAX / 2) {
    guess = (size_t)info.st_size + 2; /* the zero, and a byte to detect the end */
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

/* Follows dangling links, so that the file is created where the last one points. Replaces *target,
 * or leaves it unchanged if it is not a link. */
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

/* Finds the final path of the file, with links followed. */
static abut_status resolve(const char *path, whole_file *f, bool *in_place)
{
  struct stat info;
  *in_place = false;
  if (!*path) {
    return fail(ABUT_ERROR_WRITE, "the path of an output file is empty");
  }
  if (stat(path, &info) != 0) {
    f->target = strdup(path);
    return f->target ? follow_dangling(path, &f->target) : fail_errno(ABUT_ERROR_WRITE, path);
  }
  *in_place = S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode);
  if (!*in_place && !S_ISREG(info.st_mode)) {
    return fail_at(ABUT_ERROR_WRITE, path, 0, "exists and is not a regular file");
  }
  if (access(path, W_OK) != 0) {
    return fail_errno(ABUT_ERROR_WRITE, path);
  }
  f->target = *in_place ? strdup(path) : realpath(path, NULL);
  return f->target ? ABUT_SUCCESS : fail_errno(ABUT_ERROR_WRITE, path);
}

/* ---- under a temporary name ---- */

static abut_status make_room(whole_file *f)
{
  void *temporary;
  const size_t room = strlen(f->target) + NAME_ROOM;
  if (room > INT_MAX) {
    return fail(ABUT_ERROR_ARGUMENT, "the path has %zu bytes, which is too many", room);
  }
  TRY(allocate(&temporary, room, 1));
  f->temporary = temporary;
  return ABUT_SUCCESS;
}

static void next_name(whole_file *f)
{
  static atomic_uint counter;
  const char *slash = strrchr(f->target, '/');
  const int folder = slash ? (int)(slash - f->target) + 1 : 0;
  struct timespec now = {0, 0}; /* processes on two machines may have the same number */
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(f->temporary, strlen(f->target) + NAME_ROOM, "%.*s.abut-%ld-%u-%lx.tmp", folder,
           f->target, (long)getpid(), atomic_fetch_add(&counter, 1u),
           (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec);
}

/* Uses open instead of mkstemp, so that the file has the mode of the user's umask. */
static bool create(whole_file *f)
{
  f->file = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return f->file >= 0;
}

static bool link_name(whole_file *f)
{
  return unnamed_file_link(f->file, f->temporary) == 0;
}

/* Takes the first unused name, for a new file or an existing one. It is recorded before the file
 * exists, because a signal may arrive in between. */
static abut_status take_name(whole_file *f, bool (*take)(whole_file *))
{
  TRY(f->temporary ? ABUT_SUCCESS : make_room(f));
  for (int i = 0; i < NAME_TRIES; i++) {
    next_name(f);
    f->place = unfinished_add(f->temporary);
    if (take(f)) {
      return ABUT_SUCCESS;
    }
    const int error = errno;
    unfinished_drop(f->place);
    errno = error;
    if (error != EEXIST) {
      break;
    }
  }
  free(f->temporary);
  f->temporary = NULL;
  return fail_errno(ABUT_ERROR_WRITE, f->target);
}

static char *folder_of(const char *target)
{
  const char *slash = strrchr(target, '/');
  return slash == target ? strdup("/")
         : slash         ? strndup(target, (size_t)(slash - target))
                         : strdup(".");
}

static abut_status open_unnamed(whole_file *f)
{
  char *folder = folder_of(f->target);
  f->file = folder ? unnamed_file_open(folder) : -1;
  free(folder);
  return folder ? ABUT_SUCCESS : fail(ABUT_ERROR_MEMORY, "not enough memory for a path");
}

/* ---- in place ---- */

/* Pipes do not support seeking, so their data is first assembled in a file without a name. */
static abut_status open_in_place(whole_file *f)
{
  f->in_place = open(f->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (f->in_place < 0) {
    return fail_errno(ABUT_ERROR_WRITE, f->target);
  }
  if (lseek(f->in_place, 0, SEEK_CUR) >= 0) {
    f->file = f->in_place;
    return ABUT_SUCCESS;
  }
  FILE *whole = tmpfile();
  f->file = whole ? dup(fileno(whole)) : -1;
  const int error = errno;
  if (whole) {
    fclose(whole);
  }
  errno = error;
  return f->file < 0 ? fail_errno(ABUT_ERROR_WRITE, f->target) : ABUT_SUCCESS;
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

static abut_status copy_in_place(const whole_file *f)
{
  char bytes[COPY_BYTES];
  if (lseek(f->file, 0, SEEK_SET) < 0) {
    return fail_errno(ABUT_ERROR_WRITE, f->target);
  }
  for (ssize_t got; (got = read(f->file, bytes, sizeof bytes)) != 0;) {
    if (got < 0 && errno != EINTR) {
      return fail_errno(ABUT_ERROR_WRITE, f->target);
    }
    TRY(write_all(f->target, f->in_place, bytes, got < 0 ? 0 : (size_t)got));
  }
  return ABUT_SUCCESS;
}

/* ---- begin, write, end ---- */

static void forget(whole_file *f)
{
  if (f->in_place >= 0) {
    close(f->in_place);
  }
  if (f->file >= 0 && f->file != f->in_place) {
    close(f->file);
  }
  free(f->target);
  free(f->temporary);
  *f = (whole_file){NULL, NULL, -1, -1, -1};
}

abut_status whole_file_begin(const char *path, whole_file *f)
{
  bool in_place;
  abut_status status = ABUT_SUCCESS;
  *f = (whole_file){NULL, NULL, -1, -1, -1};
  TRY_DONE(resolve(path, f, &in_place));
  TRY_DONE(in_place ? open_in_place(f) : open_unnamed(f));
  TRY_DONE(f->file < 0 ? take_name(f, create) : ABUT_SUCCESS);
done:
  if (status != ABUT_SUCCESS) {
    forget(f);
  }
  return status;
}

/* The folder has the name, so it must be written to the disk, too. Some file systems do not support
 * this. */
static void sync_folder(const char *target)
{
  char *folder = folder_of(target);
  const int file = folder ? open(folder, O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) {
    fsync(file);
    close(file);
  }
  free(folder);
}

/* A file without a name takes the target's name directly if that is unused. */
static abut_status move_into_place(whole_file *f)
{
  if (fsync(f->file) != 0) {
    return fail_errno(ABUT_ERROR_WRITE, f->target);
  }
  if (!f->temporary) {
    if (unnamed_file_link(f->file, f->target) == 0) {
      return ABUT_SUCCESS;
    }
    TRY(errno == EEXIST ? take_name(f, link_name) : fail_errno(ABUT_ERROR_WRITE, f->target));
  }
  if (rename(f->temporary, f->target) != 0) {
    return fail_errno(ABUT_ERROR_WRITE, f->target);
  }
  unfinished_drop(f->place);
  free(f->temporary);
  f->temporary = NULL;
  return ABUT_SUCCESS;
}

static abut_status end_in_place(whole_file *f)
{
  TRY(f->file == f->in_place ? ABUT_SUCCESS : copy_in_place(f));
  const int failed = close(f->in_place);
  f->file = f->file == f->in_place ? -1 : f->file;
  f->in_place = -1;
  return failed ? fail_errno(ABUT_ERROR_WRITE, f->target) : ABUT_SUCCESS;
}

abut_status whole_file_end(whole_file *f, abut_status so_far)
{
  abut_status status = so_far;
  if (status == ABUT_SUCCESS && f->in_place >= 0) {
    status = end_in_place(f);
  } else if (status == ABUT_SUCCESS) {
    status = move_into_place(f);
    if (status == ABUT_SUCCESS) {
      sync_folder(f->target);
    }
  }
  if (f->temporary) { /* it was not renamed to the target */
    unlink(f->temporary);
    unfinished_drop(f->place);
  }
  forget(f);
  return status;
}

abut_status whole_file_put(const whole_file *f, const void *bytes, size_t count)
{
  return write_all(f->target, f->file, bytes, count);
}

abut_status whole_file_write(const char *path, const void *bytes, size_t count)
{
  whole_file f;
  TRY(whole_file_begin(path, &f));
  return whole_file_end(&f, write_all(path, f.file, bytes, count));
}

abut_status abut_write_file(const char *path, const void *bytes, size_t count)
{
  return path && (bytes || !count) ? whole_file_write(path, bytes, count)
                                   : fail(ABUT_ERROR_ARGUMENT, "path or bytes is NULL");
}
