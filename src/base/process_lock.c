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
/* Between attempts [ns]. What is short is not waited for much longer than it takes. */
#define PAUSE_FIRST 1000000
#define PAUSE_MOST 50000000

/* Anybody may make a folder in /tmp: only one that is the user's own, and that nobody else writes to, is taken. */
static bool is_own(const char *folder)
{
  struct stat info;
  return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         !(info.st_mode & (S_IWGRP | S_IWOTH));
}

/* Makes the folder where it is not there. False: there is none. */
static bool find_folder(char folder[PATH_ROOM])
{
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  const int length = runtime && *runtime == '/' ? snprintf(folder, PATH_ROOM, "%s/abut", runtime)
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
  snprintf(path, sizeof path, "%s/%016" PRIx64 "%016" PRIx64 ".lock", folder, key->half[0], key->half[1]);
  return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

process_lock process_lock_take(const cache_key *key, double seconds)
{
  const int file = open_file(key);
  const double until = now() + seconds;
  long pause = PAUSE_FIRST;
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  while (file >= 0 && fcntl(file, F_SETLK, &whole) != 0) {
    if ((errno != EACCES && errno != EAGAIN && errno != EINTR) || now() > until) {
      close(file);
      return -1;
    }
    nanosleep(&(struct timespec){0, pause}, NULL);
    pause = 2 * pause < PAUSE_MOST ? 2 * pause : PAUSE_MOST;
  }
  return file;
}

void process_lock_give_back(process_lock lock)
{
  if (lock >= 0) {
    close(lock);
  }
}
