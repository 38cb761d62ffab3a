#include "support/suite_copy.h"

#include "support/check.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 1024 };

static bool copy_file(const char *from, const char *to, const char *before, const char *after)
{
  static char text[1 << 18];
  FILE *file = fopen(from, "rb");
  const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) {
    fclose(file);
  }
  text[size] = '\0';
  char *at = before ? strstr(text, before) : NULL;
  if (!check(size && size < sizeof text - 1 && (!before || at), "%s has no %s", from, before)) {
    return false;
  }
  file = fopen(to, "wb");
  if (!check(file != NULL, "%s cannot be written", to)) {
    return false;
  }
  const size_t kept = at ? (size_t)(at - text) : size;
  fwrite(text, 1, kept, file);
  if (at) {
    fprintf(file, "%s%s", after, at + strlen(before));
  }
  return check(fclose(file) == 0, "%s cannot be written", to);
}

/* Whether `path` ends with whole names: "listed.cl" is not the end of "edge_listed.cl". */
static bool ends_with(const char *path, const char *end)
{
  const size_t length = strlen(path), part = strlen(end);
  return length > part && path[length - part - 1] == '/' && strcmp(path + length - part, end) == 0;
}

/* A copy of a folder, where in `file`, the end of a path, the first text `before` is `after`
 * instead. */
static bool copy_folder(const char *from, const char *to, const char *file, const char *before,
                        const char *after)
{
  bool written = true;
  struct stat info;
  mkdir(to, 0777);
  DIR *directory = opendir(from);
  for (struct dirent *e; directory && (e = readdir(directory)) != NULL;) {
    char whole[2 * PATH], copy[2 * PATH];
    snprintf(whole, sizeof whole, "%s/%s", from, e->d_name);
    snprintf(copy, sizeof copy, "%s/%s", to, e->d_name);
    const bool changed = ends_with(whole, file);
    if (e->d_name[0] == '.' || stat(whole, &info) != 0) {
      continue;
    }
    written = (S_ISDIR(info.st_mode) ? copy_folder(whole, copy, file, before, after)
                                     : copy_file(whole, copy, changed ? before : NULL, after)) &&
              written;
  }
  if (directory) {
    closedir(directory);
  }
  return written;
}

bool copy_suite(const char *kernels, const char *to, const char *file, const char *before,
                const char *after)
{
  static const char *const parts[] = {"num", "geometry", "kernels"};
  bool written = true;
  mkdir(to, 0777);
  for (size_t i = 0; i < 3; ++i) {
    char from[PATH + 16], copy[PATH + 16];
    snprintf(from, sizeof from, "%s/%s", kernels, parts[i]);
    snprintf(copy, sizeof copy, "%s/%s", to, parts[i]);
    written = copy_folder(from, copy, file, before, after) && written;
  }
  return written;
}
