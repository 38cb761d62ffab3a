#include "format/text.h"

#include "base/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

abut_status number_locale_enter(number_locale *l)
{
  l->before = (locale_t)0;
  l->made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (l->made == (locale_t)0) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for a locale");
  }
  l->before = uselocale(l->made);
  return ABUT_SUCCESS;
}

void number_locale_leave(number_locale *l)
{
  if (l->made != (locale_t)0) {
    uselocale(l->before);
    freelocale(l->made);
    l->made = (locale_t)0;
  }
}

size_t text_mark(const char *bytes, size_t count)
{
  return count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

abut_status text_open(scan *t, const char *name, const char *bytes, size_t count)
{
  *t = (scan){.name = name, .at = bytes + text_mark(bytes, count), .end = bytes + count, .line = 1};
  return number_locale_enter(&t->locale);
}

void text_close(scan *t)
{
  number_locale_leave(&t->locale);
}

/* The length of the line end at `at`; 0 if there is none. */
static size_t line_end(const char *at, const char *end)
{
  if (at == end || (*at != '\n' && *at != '\r')) {
    return 0;
  }
  return *at == '\r' && end - at > 1 && at[1] == '\n' ? 2 : 1;
}

static size_t join_length(const scan *t)
{
  if (!t->joins || t->at == t->end || *t->at != '\\') {
    return 0;
  }
  size_t length = line_end(t->at + 1, t->end);
  return length ? length + 1 : 0;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static void skip_blanks(scan *t)
{
  while (t->at != t->end) {
    size_t join = join_length(t);
    if (join) {
      t->at += join;
      t->line++;
    } else if (is_blank(*t->at)) {
      t->at++;
    } else {
      return;
    }
  }
}

static bool at_word(const scan *t)
{
  return t->at != t->end && !line_end(t->at, t->end) && !(t->comment && *t->at == t->comment);
}

bool text_word(scan *t, word *w)
{
  skip_blanks(t);
  if (!at_word(t)) {
    return false;
  }
  w->start = t->at;
  while (at_word(t) && !is_blank(*t->at) && !join_length(t)) {
    t->at++;
  }
  w->length = (size_t)(t->at - w->start);
  return true;
}

void text_next_line(scan *t)
{
  bool comment = false;
  while (t->at != t->end) {
    size_t ends = line_end(t->at, t->end);
    if (ends) {
      t->at += ends;
      t->line++;
      return;
    }
    comment = comment || (t->comment && *t->at == t->comment);
    size_t join = comment ? 0 : join_length(t);
    t->at += join ? join : 1;
    t->line += join != 0;
  }
}

bool text_content(scan *t)
{
  for (;;) {
    skip_blanks(t);
    if (at_word(t)) {
      return true;
    }
    if (t->at == t->end) {
      return false;
    }
    text_next_line(t);
  }
}

size_t text_rest(scan *t)
{
  const size_t rest = (size_t)(t->end - t->at);
  return text_content(t) ? rest : 0;
}

abut_status text_number(scan *t, const char *what, double *out)
{
  word w;
  if (!text_word(t, &w)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "%s: a number is missing", what);
  }
  if (!word_any_number(w, out)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "%s: '%s' is not a number", what,
                   word_shown(w).text);
  }
  if (!isfinite(*out)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "%s: '%s' is not finite", what,
                   word_shown(w).text);
  }
  return ABUT_SUCCESS;
}

abut_status text_count(scan *t, const char *what, uint64_t limit, uint64_t *out)
{
  word w;
  int64_t value;
  if (!text_word(t, &w)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "%s: a whole number is missing", what);
  }
  if (!word_integer(w, &value) || value < 0 || (uint64_t)value > limit) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line,
                   "%s: '%s' is not a whole number from 0 to %llu", what, word_shown(w).text,
                   (unsigned long long)limit);
  }
  *out = (uint64_t)value;
  return ABUT_SUCCESS;
}

static word without_blanks(const char *from, const char *to)
{
  while (from != to && (*from == ' ' || *from == '\t')) {
    from++;
  }
  while (to != from && (to[-1] == ' ' || to[-1] == '\t')) {
    to--;
  }
  return (word){from, (size_t)(to - from)};
}

size_t text_fields(const scan *t, word *fields, size_t room)
{
  const char *end = t->at;
  while (end != t->end && *end != '\n' && *end != '\r' && !(t->comment && *end == t->comment)) {
    end++;
  }
  size_t count = 0;
  for (const char *at = t->at;; at++) {
    const char *stop = memchr(at, ',', (size_t)(end - at));
    stop = stop ? stop : end;
    if (count < room) {
      fields[count] = without_blanks(at, stop);
    }
    count++;
    at = stop;
    if (at == end) {
      return count;
    }
  }
}

static size_t digits(word w, size_t from)
{
  size_t at = from;
  while (at < w.length && w.start[at] >= '0' && w.start[at] <= '9') {
    at++;
  }
  return at - from;
}

static size_t sign_length(word w, size_t at)
{
  return at < w.length && (w.start[at] == '+' || w.start[at] == '-') ? 1 : 0;
}

void number_format(double value, char out[32])
{
  int places = 15;
  do {
    snprintf(out, 32, "%.*g", places, value);
  } while (++places <= 17 && strtod(out, NULL) != value);
}

/* strtod also accepts hexadecimal numbers. */
static bool is_decimal(word w)
{
  size_t at = sign_length(w, 0);
  size_t whole = digits(w, at);
  at += whole;
  size_t fraction = 0;
  if (at < w.length && w.start[at] == '.') {
    fraction = digits(w, at + 1);
    at += 1 + fraction;
  }
  if (whole + fraction == 0) {
    return false;
  }
  if (at < w.length && (w.start[at] == 'e' || w.start[at] == 'E')) {
    at += 1 + sign_length(w, at + 1);
    size_t exponent = digits(w, at);
    at += exponent;
    if (exponent == 0) {
      return false;
    }
  }
  return at == w.length;
}

bool word_number(word w, double *out)
{
  char copy[512]; /* longer than any double printed with %f */
  if (w.length >= sizeof copy || !is_decimal(w)) {
    return false;
  }
  memcpy(copy, w.start, w.length);
  copy[w.length] = 0;
  *out = strtod(copy, NULL);
  return true;
}

bool word_any_number(word w, double *out)
{
  size_t sign = sign_length(w, 0);
  bool minus = sign && w.start[0] == '-';
  word rest = {w.start + sign, w.length - sign};
  if (word_is_any_case(rest, "nan")) {
    *out = minus ? -NAN : NAN;
    return true;
  }
  if (word_is_any_case(rest, "inf") || word_is_any_case(rest, "infinity")) {
    *out = minus ? -INFINITY : INFINITY;
    return true;
  }
  return word_number(w, out);
}

bool word_integer(word w, int64_t *out)
{
  size_t sign = sign_length(w, 0);
  size_t count = digits(w, sign);
  if (count == 0 || sign + count != w.length) {
    return false;
  }
  int64_t value = 0;
  for (size_t i = sign; i < w.length; i++) {
    if (value > (INT64_MAX - 9) / 10) {
      return false;
    }
    value = value * 10 + (w.start[i] - '0');
  }
  *out = sign && w.start[0] == '-' ? -value : value;
  return true;
}

bool word_is(word w, const char *other)
{
  return strlen(other) == w.length && memcmp(w.start, other, w.length) == 0;
}

bool word_is_any_case(word w, const char *other)
{
  return strlen(other) == w.length && strncasecmp(w.start, other, w.length) == 0;
}

shown word_shown(word w)
{
  shown s;
  size_t room = sizeof s.text - 4;
  size_t length = w.length < room ? w.length : room;
  for (size_t i = 0; i < length; i++) {
    s.text[i] = w.start[i] >= ' ' && w.start[i] <= '~' ? w.start[i] : '?';
  }
  memcpy(s.text + length, w.length > room ? "..." : "", w.length > room ? 4 : 1);
  return s;
}

shown string_shown(const char *s)
{
  return word_shown((word){s, strlen(s)});
}

bool has_extension(const char *path, const char *extension)
{
  size_t length = strlen(path), tail = strlen(extension);
  return length > tail && strcasecmp(path + length - tail, extension) == 0;
}
