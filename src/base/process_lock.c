#include "base/process_lock.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM 4096
/* Pauses between attempts [ns]. They start short, so that a short wait is not prolonged much. */
#define PAUSE_FIRST 1000000
#define PAUSE_MOST 50000000

/* Any user can create a folder in /tmp. Only a folder that the user owns and that others cannot
 * write to is accepted. */
static bool is_own(const char *folder)
{
  struct stat info;
  return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         !(info.st_mode & (S_IWGRP | S_IWOTH));
}

/* Finds or creates the folder. Returns false if there is none. */
static bool find_folder(char folder[PATH_ROOM])
{
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  const int length = runtime && *runtime == '/'
                       ? snprintf(folder, PATH_ROOM, "%s/abut", runtime)
                       : snprintf(folder, PATH_ROOM, "/tmp/abut-%lu", (unsigned long)geteuid());
  if (length < 0 || length >= PATH_ROOM) {
    return false;
  }
  return (mkdir(folder, 0700) == 0 || errno == EEXIST) && is_own(folder);
}

static int open_file(const cache_key *key)
{
  char folder[PATH_ROOM], path[PATH_ROOM + 64];
  if (!find_folder(folder)) {
    return -1;
  }
  snprintf(path, sizeof path, "%s/%016" PRIx64 "%016" PRIx64 ".lock", folder, key->half[0],
           key->half[1]);
  return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* A byte in the file marks completed work. */
static bool is_done(int file)
{
  struct stat info;
  return fstat(file, &info) == 0 && info.st_size > 0;
}

process_lock process_lock_take(const cache_key *key, double seconds)
{
  const int file = open_file(key);
  const double until = now() + seconds;
  long pause = PAUSE_FIRST;
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool wanted = file >= 0 && !is_done(file);
  while (wanted && fcntl(file, F_SETLK, &whole) != 0) {
    if ((errno != EACCES && errno != EAGAIN && errno != EINTR) || now() > until) {
      wanted = false;
      break;
    }
    nanosleep(&(struct timespec){0, pause}, NULL);
    pause = 2 * pause < PAUSE_MOST ? 2 * pause : PAUSE_MOST;
    wanted = !is_done(file);
  }
  if (file >= 0 && (!wanted || is_done(file))) {
    close(file); /* which also releases the lock */
    return -1;
  }
  return file;
}

void process_lock_give_back(process_lock lock, bool done)
{
  if (lock >= 0) {
    const char byte = 1;
    /* If it cannot be written, the next process locks again and repeats the finished work. */
    const bool written = !done || pwrite(lock, &byte, 1, 0) == 1;
    (void)written;
    close(lock);
  }
}
