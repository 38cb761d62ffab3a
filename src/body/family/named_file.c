#include "body/family/named_file.h"

#include "base/error.h"
#include "format/json_line.h"
#include "format/whole_file.h"
#include <stdio.h>
#include <string.h>

abut_status named_file_read(const json_file *f, const json_at *at, const char *what, arena *memory,
                            const char **path, char **bytes, size_t *count)
{
  const char *text;
  void *room;
  *bytes = NULL;
  TRY(json_text(f, at, &text));
  if (!*text) {
    return json_fail(f, at, "the path is empty");
  }
  const char *slash = strrchr(f->name, '/');
  const size_t folder = slash && *text != '/' ? (size_t)(slash - f->name) + 1 : 0;
  TRY(arena_allocate(memory, &room, folder + strlen(text) + 1, 1));
  memcpy(room, f->name, folder);
  memcpy((char *)room + folder, text, strlen(text) + 1);
  *path = room;
  const abut_status status = whole_file_read(*path, bytes, count);
  if (status == ABUT_ERROR_READ) {
    char cause[1024];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    return fail_at(status, f->name, json_line(f, at), "%s, %s", what, cause);
  }
  return status;
}
