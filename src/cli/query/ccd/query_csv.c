#include "query/ccd/query_csv.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 7
#define LINES_OF_QUERY 8

typedef struct reader {
  const char *at, *end;
  size_t line;       /* that is being read, from 1 */
  size_t first_line; /* of the query */
  size_t rows;       /* lines of the query that have been read */
  const rational_format *format;
  query_csv *out;
  query_fault *fault;
} reader;

__attribute__((format(printf, 3, 4))) static bool fail_at(reader *r, size_t line,
                                                          const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->fault->text, sizeof r->fault->text, format, arguments);
  va_end(arguments);
  r->fault->line = line;
  return false;
}

/* ---- lines and fields ---- */

typedef struct shown {
  char text[40];
} shown;

/* A field as errors show it: cut where it is long, and without what no terminal shows. */
static shown show(digits field)
{
  shown s;
  size_t used = 0;
  for (; used < field.length && used < sizeof s.text - 4; ++used) {
    const char c = field.start[used];
    s.text[used] = (char)(c < ' ' || c > '~' ? '?' : c);
  }
  strcpy(s.text + used, used < field.length ? "..." : "");
  return s;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static digits trim(digits field)
{
  while (field.length && is_blank(*field.start)) {
    ++field.start;
    --field.length;
  }
  while (field.length && is_blank(field.start[field.length - 1])) {
    --field.length;
  }
  return field;
}

/* The next line that is not blank; false at the end. */
static bool next_line(reader *r, digits *line)
{
  while (r->at < r->end) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *stop = newline ? newline : r->end;
    *line = trim((digits){r->at, (size_t)(stop - r->at)});
    r->at = newline ? newline + 1 : r->end;
    ++r->line;
    if (line->length) {
      return true;
    }
  }
  return false;
}

/* How many fields there are, of which `fields` gets the first COLUMNS. */
static size_t split(digits line, digits fields[COLUMNS])
{
  size_t count = 0;
  for (const char *at = line.start, *end = line.start + line.length; at; ++count) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    const char *stop = comma ? comma : end;
    if (count < COLUMNS) {
      fields[count] = trim((digits){at, (size_t)(stop - at)});
    }
    at = comma ? comma + 1 : NULL;
  }
  return count;
}

/* ---- numbers ---- */

static bool is_whole(digits field)
{
  for (size_t i = 0; i < field.length; ++i) {
    if (field.start[i] < '0' || field.start[i] > '9') {
      return false;
    }
  }
  return field.length > 0;
}

static bool is_zero(digits field)
{
  for (size_t i = 0; i < field.length; ++i) {
    if (field.start[i] != '0') {
      return false;
    }
  }
  return true;
}

/* Takes a '-' away, and tells whether there was one. */
static bool take_sign(digits *field)
{
  const bool negative = field->length && *field->start == '-';
  if (negative) {
    ++field->start;
    --field->length;
  }
  return negative;
}

static bool check_quotient(reader *r, const digits *fields, size_t column, digits numerator)
{
  const digits denominator = fields[column + 1];
  if (!is_whole(numerator)) {
    return fail_at(r, r->line, "column %zu: '%s' is not a whole number", column + 1,
                   show(fields[column]).text);
  }
  return is_whole(denominator) && !is_zero(denominator)
           ? true
           : fail_at(r, r->line,
                     "column %zu: '%s' is not a whole number above 0, as denominators are",
                     column + 2, show(denominator).text);
}

static bool fail_quotient(reader *r, size_t column, rational_kind kind)
{
  const bool narrow = r->format == &rational_f32;
  r->fault->no_memory = kind == RATIONAL_NO_MEMORY;
  return r->fault->no_memory
           ? fail_at(r, r->line, "no memory for the quotient of columns %zu and %zu", column + 1,
                     column + 2)
           : fail_at(r, r->line, "columns %zu and %zu: the quotient is beyond %s", column + 1,
                     column + 2, narrow ? "float32; try --precision f64" : "float64");
}

/* What rounding left in doubt. */
static query_rounding rounding_of(const reader *r, rational_kind kind, double value)
{
  const double normal = r->format == &rational_f32 ? (double)FLT_MIN : DBL_MIN;
  return kind == RATIONAL_EXACT ? QUERY_EXACT : value < normal ? QUERY_SMALL : QUERY_ROUNDED;
}

static bool read_quotient(reader *r, const digits *fields, size_t column, double *out)
{
  digits numerator = fields[column];
  const bool negative = take_sign(&numerator);
  uint8_t *rounding = &r->out->rounding[r->out->count];
  double value = 0.0;
  if (!check_quotient(r, fields, column, numerator)) {
    return false;
  }
  const rational_kind kind = rational_round(numerator, fields[column + 1], r->format, &value);
  if (kind == RATIONAL_TOO_LARGE || kind == RATIONAL_NO_MEMORY) {
    return fail_quotient(r, column, kind);
  }
  const query_rounding here = rounding_of(r, kind, value);
  *rounding = (uint8_t)(here > *rounding ? here : *rounding);
  *out = negative ? -value : value;
  return true;
}

/* All lines of a query say the same. */
static bool read_hit(reader *r, digits field)
{
  uint8_t *hit = &r->out->hit[r->out->count];
  if (field.length != 1 || (*field.start != '0' && *field.start != '1')) {
    return fail_at(r, r->line, "column %d: '%s' is neither 0, free, nor 1, a hit", COLUMNS,
                   show(field).text);
  }
  const uint8_t here = *field.start == '1';
  if (r->rows && here != *hit) {
    return fail_at(r, r->line, "column %d: %d, but %d in line %zu of the same query", COLUMNS, here,
                   *hit, r->first_line);
  }
  *hit = here;
  return true;
}

/* ---- rows ---- */

static bool read_row(reader *r, digits line)
{
  digits fields[COLUMNS];
  const size_t count = split(line, fields);
  double *to = r->out->x + r->out->count * QUERY_NUMBERS + 3 * r->rows;
  if (count != COLUMNS) {
    return fail_at(r, r->line,
                   "%zu column%s, not the %d of a vertex: numerator and denominator of x, y and z, "
                   "and 0 or 1",
                   count, count == 1 ? "" : "s", COLUMNS);
  }
  for (size_t k = 0; k < 3; ++k) {
    if (!read_quotient(r, fields, 2 * k, &to[k])) {
      return false;
    }
  }
  return read_hit(r, fields[COLUMNS - 1]);
}

static bool read_rows(reader *r)
{
  digits line;
  while (next_line(r, &line)) {
    r->first_line = r->rows ? r->first_line : r->line;
    if (!read_row(r, line)) {
      return false;
    }
    r->rows = (r->rows + 1) % LINES_OF_QUERY;
    r->out->count += r->rows == 0;
  }
  if (r->rows) {
    return fail_at(r, r->first_line,
                   "the last query has %zu lines, not the %d of four vertices at two times",
                   r->rows, LINES_OF_QUERY);
  }
  return r->out->count ? true : fail_at(r, 0, "holds no queries");
}

/* Room for as many queries as there may be, and the one that is being read. */
static bool take_memory(reader *r, size_t bytes)
{
  size_t lines = 1;
  for (size_t i = 0; i < bytes; ++i) {
    lines += r->at[i] == '\n';
  }
  const size_t room = lines / LINES_OF_QUERY + 1;
  r->out->x = calloc(room, QUERY_NUMBERS * sizeof *r->out->x);
  r->out->hit = calloc(room, sizeof *r->out->hit);
  r->out->rounding = calloc(room, sizeof *r->out->rounding);
  r->fault->no_memory = !r->out->x || !r->out->hit || !r->out->rounding;
  return r->fault->no_memory ? fail_at(r, 0, "no memory for %zu queries", room) : true;
}

bool query_csv_parse(const char *bytes, size_t count, const rational_format *format, query_csv *out,
                     query_fault *fault)
{
  reader r = {.at = bytes, .end = bytes + count, .format = format, .out = out, .fault = fault};
  *out = (query_csv){0};
  *fault = (query_fault){0};
  const bool good = take_memory(&r, count) && read_rows(&r);
  if (!good) {
    query_csv_free(out);
  }
  return good;
}

void query_csv_free(query_csv *q)
{
  free(q->x);
  free(q->hit);
  free(q->rounding);
  *q = (query_csv){0};
}
