/* for O_TMPFILE */
#define _GNU_SOURCE
#include "format/unnamed_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define LINK_ROOM 32

/* The link to an open file in /proc. The direct call for a descriptor needs root. */
static void print_link(int file, char link[LINK_ROOM])
{
  snprintf(link, LINK_ROOM, "/proc/self/fd/%d", file);
}

int unnamed_file_open(const char *folder)
{
#ifdef O_TMPFILE
  char link[LINK_ROOM];
  const int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) {
    return -1;
  }
  print_link(file, link);
  if (access(link, F_OK) == 0) {
    return file;
  }
  close(file);
#else
  (void)folder;
#endif
  return -1;
}

int unnamed_file_link(int file, const char *name)
{
  char link[LINK_ROOM];
  print_link(file, link);
  return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}
