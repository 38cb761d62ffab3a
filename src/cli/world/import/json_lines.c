#define _POSIX_C_SOURCE 200809L
#include "world/import/json_lines.h"

#include "core/json_text.h"
#include <math.h>
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
  j->members[j->depth].key = key;
  ++j->members[j->depth].count;
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
  if (j->depth + 1 < JSON_DEPTH) {
    j->members[++j->depth] = (json_member){0};
  } else {
    j->bad = true;
  }
  j->more = false;
}

void json_close(json_lines *j, char bracket)
{
  if (j->to) {
    fputc(bracket, j->to);
  }
  j->depth -= j->depth > 0;
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

void json_put_flag(json_lines *j, const char *key, bool x)
{
  if (lead(j, key)) {
    fputs(x ? "true" : "false", j->to);
  }
}

void json_put_whole(json_lines *j, const char *key, long long x)
{
  if (lead(j, key)) {
    fprintf(j->to, "%lld", x);
  }
}

/* As readers of scenes name places: links[3].joint.limits[0] */
static void refuse(json_lines *j, double x)
{
  char *text = j->refused;
  size_t used = 0;
  for (size_t i = 1; i <= j->depth; ++i) { /* what is around the outermost has no name */
    const json_member *m = &j->members[i];
    const size_t room = sizeof j->refused - used;
    const int length = m->key ? snprintf(text + used, room, "%s%s", used ? "." : "", m->key)
                              : snprintf(text + used, room, "[%zu]", m->count - 1);
    used = (size_t)length < room ? used + (size_t)length : sizeof j->refused - 1;
  }
  snprintf(text + used, sizeof j->refused - used, " is %g", isnan(x) ? (double)NAN : x); /* without its sign */
}

static void put_real(json_lines *j, double x)
{
  if (!isfinite(x)) {
    j->bad = true;
    if (!*j->refused) {
      refuse(j, x);
    }
    return;
  }
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
  json_open(j, key, '[');
  for (size_t i = 0; i < count; ++i) {
    json_put_real(j, NULL, x[i]);
  }
  json_close(j, ']');
}
