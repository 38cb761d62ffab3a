/* Loaded before a driver (LD_PRELOAD): notes in the file ABUT_TEST_KEPT, a line each, the files
 * that are renamed into place. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rename(const char *from, const char *to)
{
  char line[4096];
  const char *note = getenv("ABUT_TEST_KEPT");
  const int code = renameat(AT_FDCWD, from, AT_FDCWD, to);
  const int file = code == 0 && note ? open(note, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                                     : -1;
  if (file >= 0) {
    const int length = snprintf(line, sizeof line, "%s\n", to);
    if (write(file, line, (size_t)length) != length) {
      abort();
    }
    close(file);
  }
  return code;
}
