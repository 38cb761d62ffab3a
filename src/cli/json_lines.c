#define _POSIX_C_SOURCE 200809L
#include "json_lines.h"

#include "json_text.h"
#include <stdlib.h>

void json_lines_begin(json_lines *j)
{
  *j = (json_lines){0};
  j->to = open_memstream(&j->text, &j->length);
  j->bad = !j->to;
}

bool json_lines_end(json_lines *j)
{
  if (j->to) {
    fputc('\n', j->to);
    j->bad = ferror(j->to) != 0 || j->bad;
    j->bad = fclose(j->to) != 0 || j->bad;
    j->to = NULL;
  }
  return !j->bad;
}

void json_lines_free(json_lines *j)
{
  json_lines_end(j);
  free(j->text);
  j->text = NULL;
}

static void put_string(json_lines *j, const char *text)
{
  json_t *value = json_text(text);
  char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
  j->bad = j->bad || !quoted;
  if (quoted) {
    fputs(quoted, j->to);
  }
  free(quoted);
  json_decref(value);
}

/* What stands before a value: a comma, and its key. */
static bool lead(json_lines *j, const char *key)
{
  if (!j->to) {
    return false;
  }
  fputs(j->more ? ", " : "", j->to);
  j->more = true;
  if (key) {
    fprintf(j->to, "\"%s\": ", key);
  }
  return true;
}

void json_open(json_lines *j, const char *key, char bracket)
{
  if (lead(j, key)) {
    fputc(bracket, j->to);
  }
  j->more = false;
}

void json_close(json_lines *j, char bracket)
{
  if (j->to) {
    fputc(bracket, j->to);
  }
  j->more = true;
}

void json_line(json_lines *j, int indent)
{
  if (j->to) {
    fprintf(j->to, "%s\n%*s", j->more ? "," : "", indent, "");
  }
  j->more = false;
}

void json_put_text(json_lines *j, const char *key, const char *text)
{
  if (lead(j, key)) {
    put_string(j, text);
  }
}

void json_put_whole(json_lines *j, const char *key, long long x)
{
  if (lead(j, key)) {
    fprintf(j->to, "%lld", x);
  }
}

static void put_real(json_lines *j, double x)
{
  char text[32];
  for (int digits = 15; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, x + 0.0); /* -0 is 0 */
    const double back = strtod(text, NULL);
    if (!(back < x || back > x)) {
      break;
    }
  }
  fputs(text, j->to);
}

void json_put_real(json_lines *j, const char *key, double x)
{
  if (lead(j, key)) {
    put_real(j, x);
  }
}

void json_put_reals(json_lines *j, const char *key, const double *x, size_t count)
{
  if (!lead(j, key)) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    fputs(i ? ", " : "[", j->to);
    put_real(j, x[i]);
  }
  fputc(']', j->to);
}
