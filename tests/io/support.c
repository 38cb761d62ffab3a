#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

void folder_make(void)
{
  snprintf(folder, sizeof folder, "/tmp/abut-test-XXXXXX");
  REQUIRE(mkdtemp(folder));
}

const char *in_folder(const char *name)
{
  static char paths[8][512];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static size_t each_entry(int remove_them)
{
  size_t count = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
      continue;
    }
    count++;
    if (remove_them) {
      unlink(in_folder(e->d_name));
    }
  }
  if (d) {
    closedir(d);
  }
  return count;
}

size_t folder_entries(void)
{
  return each_entry(0);
}

void folder_remove(void)
{
  each_entry(1);
  CHECK(!rmdir(folder));
}

const char *write_file(const char *name, const void *bytes, size_t count)
{
  const char *path = in_folder(name);
  FILE *file = fopen(path, "wb");
  REQUIRE(file);
  CHECK_EQUAL(fwrite(bytes, 1, count, file), count);
  CHECK_EQUAL(fclose(file), 0);
  return path;
}

const char *write_text(const char *name, const char *text)
{
  return write_file(name, text, strlen(text));
}

char *slurp(const char *path, size_t *count)
{
  FILE *file = fopen(path, "rb");
  REQUIRE(file);
  CHECK_EQUAL(fseek(file, 0, SEEK_END), 0);
  long length = ftell(file);
  CHECK(length >= 0);
  rewind(file);
  char *bytes = malloc((size_t)length + 1);
  REQUIRE(bytes);
  *count = fread(bytes, 1, (size_t)length, file);
  CHECK_EQUAL(*count, length);
  bytes[length] = 0;
  fclose(file);
  return bytes;
}

void expect_failure(abut_status got, abut_status wanted, const char *start, const char *part)
{
  const char *text = abut_last_error();
  CHECK_EQUAL(got, wanted);
  check(strncmp(text, start, strlen(start)) == 0 && strstr(text, part),
        "'%s' does not start with '%s' and hold '%s'", text, start, part);
}
