#include "format/json_line.h"

#include <string.h>

typedef struct walk {
  const char *at, *end;
  size_t line;
} walk;

static void skip_blanks(walk *w)
{
  while (w->at != w->end && *w->at && strchr(" \t\r\n", *w->at)) {
    w->line += *w->at == '\n';
    w->at++;
  }
}

static bool take(walk *w, char c)
{
  skip_blanks(w);
  bool found = w->at != w->end && *w->at == c;
  w->at += found;
  return found;
}

/* The string's length including its quotes. Strings have no line breaks. */
static size_t string_length(const walk *w)
{
  const char *at = w->at + 1;
  while (at < w->end && *at != '"') {
    at += *at == '\\' && w->end - at > 1 ? 2 : 1;
  }
  return (size_t)(at < w->end ? at + 1 - w->at : w->end - w->at);
}

/* Brackets are balanced, so counting them is enough. */
static void skip_value(walk *w)
{
  size_t depth = 0;
  skip_blanks(w);
  while (w->at != w->end) {
    char c = *w->at;
    if (depth == 0 && (c == ',' || c == ']' || c == '}')) {
      return;
    }
    depth += c == '[' || c == '{';
    depth -= c == ']' || c == '}';
    w->line += c == '\n';
    w->at += c == '"' ? string_length(w) : 1;
  }
}

/* Escapes can encode a key in many ways, so keys with escapes are left to the parser. */
static bool key_is(const walk *w, size_t length, const char *key)
{
  if (!memchr(w->at, '\\', length)) {
    return strlen(key) == length - 2 && memcmp(w->at + 1, key, length - 2) == 0;
  }
  json_t *decoded = json_loadb(w->at, length, JSON_DECODE_ANY, NULL);
  bool same = decoded && strcmp(json_string_value(decoded), key) == 0;
  json_decref(decoded);
  return same;
}

/* Moves to the value of a key. *line: the line of the key. */
static bool enter_member(walk *w, const char *key, size_t *line)
{
  if (!take(w, '{')) {
    return false;
  }
  while (skip_blanks(w), w->at != w->end && *w->at == '"') {
    size_t length = string_length(w);
    bool found = key_is(w, length, key);
    *line = w->line;
    w->at += length;
    take(w, ':');
    skip_blanks(w);
    if (found) {
      return true;
    }
    skip_value(w);
    take(w, ',');
  }
  return false;
}

static bool enter_element(walk *w, size_t index, size_t *line)
{
  if (!take(w, '[')) {
    return false;
  }
  for (size_t i = 0; i < index; i++) {
    skip_value(w);
    take(w, ',');
  }
  skip_blanks(w);
  *line = w->line;
  return true;
}

static bool enter(walk *w, const json_at *at, size_t *line)
{
  if (!at->parent) {
    skip_blanks(w);
    *line = w->line;
    return true;
  }
  return enter(w, at->parent, line) &&
         (at->key ? enter_member(w, at->key, line) : enter_element(w, at->index, line));
}

size_t json_line(const json_file *f, const json_at *at)
{
  walk w = {f->bytes, f->bytes + f->count, 1};
  size_t line = 1;
  enter(&w, at, &line);
  return line;
}
