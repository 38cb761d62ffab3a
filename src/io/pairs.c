#include "io/pairs.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/text.h"
#include "format/whole_file.h"
#include <stdlib.h>
#include <string.h>

typedef struct list {
  abut_pair_files *out;
  size_t bodies_room, lines_room;
} list;

/* Gives the path of a file relative to the list's folder. */
static abut_status path_beside(const char *name, word file, char **out)
{
  void *memory;
  const char *slash = strrchr(name, '/');
  const size_t folder = slash && *file.start != '/' ? (size_t)(slash - name) + 1 : 0;
  TRY(allocate(&memory, folder + file.length + 1, 1));
  *out = memory;
  memcpy(*out, name, folder);
  memcpy(*out + folder, file.start, file.length);
  return ABUT_SUCCESS;
}

/* Binary data has control characters. */
static bool has_control(word w)
{
  for (size_t i = 0; i < w.length; i++) {
    if ((unsigned char)w.start[i] < ' ' || w.start[i] == 127) {
      return true;
    }
  }
  return false;
}

static abut_status check_line(const scan *t, const word *files, size_t count)
{
  if (count != 2) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "has %zu file%s; a pair needs two", count,
                   count == 1 ? "" : "s");
  }
  for (size_t i = 0; i < 2; i++) {
    if (!files[i].length) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the name of body %zu is empty", i + 1);
    }
    if (has_control(files[i])) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "'%s' contains a control character",
                     word_shown(files[i]).text);
    }
  }
  return ABUT_SUCCESS;
}

/* A line is included only after both its names are stored. */
static abut_status add_line(const scan *t, const word *files, list *l)
{
  abut_pair_files *p = l->out;
  void *bodies = p->bodies, *lines = p->lines;
  abut_status status = grow(&bodies, &l->bodies_room, 2 * p->count + 2, sizeof *p->bodies);
  p->bodies = bodies;
  TRY(status);
  status = grow(&lines, &l->lines_room, p->count + 1, sizeof *p->lines);
  p->lines = lines;
  TRY(status);
  char **to = p->bodies + 2 * p->count;
  TRY(path_beside(t->name, files[0], &to[0]));
  status = path_beside(t->name, files[1], &to[1]);
  if (status != ABUT_SUCCESS) {
    free(to[0]);
    return status;
  }
  p->lines[p->count++] = t->line;
  return ABUT_SUCCESS;
}

static abut_status read_lines(scan *t, list *l)
{
  t->comment = '#';
  while (text_content(t)) {
    word files[2];
    TRY(check_line(t, files, text_fields(t, files, 2)));
    TRY(add_line(t, files, l));
    text_next_line(t);
  }
  return l->out->count ? ABUT_SUCCESS
                       : fail_at(ABUT_ERROR_FORMAT, t->name, 0, "contains no pair of bodies");
}

abut_status pairs_parse(const char *name, const char *bytes, size_t count, abut_pair_files *out)
{
  scan t;
  list l = {.out = out};
  *out = (abut_pair_files){0};
  abut_status status = text_open(&t, name, bytes, count);
  if (status == ABUT_SUCCESS) {
    status = read_lines(&t, &l);
  }
  text_close(&t);
  if (status != ABUT_SUCCESS) {
    abut_free_pairs(out);
  }
  return status;
}

abut_status abut_load_pairs(const char *path, abut_pair_files *pairs)
{
  char *bytes = NULL;
  size_t count = 0;
  if (!path || !pairs) {
    return fail(ABUT_ERROR_ARGUMENT, "path or pairs is NULL");
  }
  *pairs = (abut_pair_files){0};
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = pairs_parse(path, bytes, count, pairs);
  }
  free(bytes);
  return status;
}

void abut_free_pairs(abut_pair_files *pairs)
{
  if (pairs) {
    for (size_t i = 0; i < 2 * pairs->count; i++) {
      free(pairs->bodies[i]);
    }
    free(pairs->bodies);
    free(pairs->lines);
    *pairs = (abut_pair_files){0};
  }
}
