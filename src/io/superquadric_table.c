/* Superquadrics from tables, in the format of fitting programs, and from body files. */
#include "io/superquadric_table.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "body/family/family.h"
#include "body/family/superquadric_row.h"
#include "format/npy.h"
#include "format/npy_read.h"
#include "format/text.h"
#include "format/whole_file.h"
#include "io/body_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS ((size_t)ABUT_TABLE_COLUMNS)
#define COLUMN_NAMES "e1 e2, half axes x y z, angles about z y x, centre x y z"

/* Superquadrics read so far, and the capacity. */
typedef struct growing {
  abut_superquadrics *out;
  size_t room;
  double scale;
} growing;

static abut_status add_row(growing *g, const char *name, size_t line,
                           const double row[ABUT_TABLE_COLUMNS])
{
  abut_superquadrics *s = g->out;
  void *memory = s->superquadrics;
  if (s->count >= ELEMENT_LIMIT) {
    return fail_at(ABUT_ERROR_FORMAT, name, line, "has more than %zu rows", ELEMENT_LIMIT);
  }
  const abut_status grown = grow(&memory, &g->room, s->count + 1, sizeof *s->superquadrics);
  s->superquadrics = memory;
  TRY(grown);
  if (superquadric_from_row(row, g->scale, &s->superquadrics[s->count]) != ABUT_SUCCESS) {
    char cause[256];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    return line ? fail_at(ABUT_ERROR_FORMAT, name, line, "%s", cause)
                : fail_at(ABUT_ERROR_FORMAT, name, 0, "row %zu, %s", s->count + 1, cause);
  }
  ++s->count;
  return ABUT_SUCCESS;
}

/* ---- text ---- */

/* Splits a line at commas if it has any, otherwise at blanks. Returns the number of fields; at most
 * COLUMNS are stored. */
static size_t fields_of(scan *t, word *fields)
{
  size_t count = text_fields(t, fields, COLUMNS);
  if (count != 1) {
    return count;
  }
  word next;
  for (count = 0; text_word(t, &next); ++count) {
    if (count < COLUMNS) {
      fields[count] = next;
    }
  }
  return count;
}

/* Whether a line is a header: none of its fields is a number. */
static bool is_header(const word *fields, size_t count)
{
  double unused;
  for (size_t i = 0; i < count && i < COLUMNS; ++i) {
    if (word_any_number(fields[i], &unused)) {
      return false;
    }
  }
  return true;
}

static abut_status read_line(scan *t, growing *g, bool first)
{
  word fields[ABUT_TABLE_COLUMNS];
  double row[ABUT_TABLE_COLUMNS];
  const size_t line = t->line, count = fields_of(t, fields);
  if (first && is_header(fields, count)) {
    return ABUT_SUCCESS;
  }
  if (count != COLUMNS) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, line,
                   "has %zu column%s, expected the 11 of a superquadric: " COLUMN_NAMES, count,
                   count == 1 ? "" : "s");
  }
  for (size_t i = 0; i < COLUMNS; ++i) {
    if (!word_any_number(fields[i], &row[i])) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, line, "column %zu: '%s' is not a number", i + 1,
                     word_shown(fields[i]).text);
    }
  }
  return add_row(g, t->name, line, row);
}

static abut_status read_text(scan *t, growing *g)
{
  t->comment = '#';
  for (bool first = true; text_content(t); first = false) {
    TRY(read_line(t, g, first));
    text_next_line(t);
  }
  return g->out->count
           ? ABUT_SUCCESS
           : fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the file contains no row of numbers");
}

/* ---- .npy ---- */

static abut_status read_array(const char *name, const abut_array *a, growing *g)
{
  const npy_where where = {name, NULL};
  const bool one = a->dimensions == 1 && a->shape[0] == COLUMNS;
  if (a->type == ABUT_ARRAY_TEXT) {
    return npy_fail(where, "is a text; expected numbers");
  }
  if (!one && (a->dimensions != 2 || a->shape[1] != COLUMNS || !a->shape[0])) {
    return npy_fail(where, "must have shape (K, 11), one superquadric per row: " COLUMN_NAMES);
  }
  for (size_t i = 0; i < (one ? 1 : a->shape[0]); ++i) {
    double row[ABUT_TABLE_COLUMNS];
    for (size_t k = 0; k < COLUMNS; ++k) {
      row[k] = npy_real(a, COLUMNS * i + k);
    }
    TRY(add_row(g, name, 0, row));
  }
  return ABUT_SUCCESS;
}

static abut_status read_npy(const char *name, const char *bytes, size_t count, growing *g)
{
  abut_array array;
  TRY(npy_read(name, bytes, count, &array));
  const abut_status status = read_array(name, &array, g);
  npy_free(&array);
  return status;
}

/* ---- files ---- */

abut_status superquadric_table_parse(const char *name, const char *bytes, size_t count,
                                     double scale, abut_superquadrics *out)
{
  growing g = {.out = out, .scale = scale};
  abut_status status;
  *out = (abut_superquadrics){0};
  if (count && *bytes == '\x93') {
    status = read_npy(name, bytes, count, &g);
  } else {
    scan t;
    status = text_open(&t, name, bytes, count);
    status = status == ABUT_SUCCESS ? read_text(&t, &g) : status;
    text_close(&t);
  }
  if (status != ABUT_SUCCESS) {
    abut_free_superquadrics(out);
  }
  return status;
}

/* A table can only hold added superquadrics. A body with anything else would change. */
static abut_status check_body(const char *path, const abut_body_def *def)
{
  size_t all = 0;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    all += family_count(families[i], def);
  }
  for (size_t i = 0; i < def->superquadric_count; ++i) {
    if (def->superquadrics[i].operation != ABUT_ADD) {
      return fail_at(ABUT_ERROR_FORMAT, path, 0,
                     "superquadric %zu is subtracted, which a table cannot represent", i);
    }
  }
  if (!def->superquadric_count || all != def->superquadric_count) {
    return fail_at(
      ABUT_ERROR_FORMAT, path, 0,
      "has %zu superquadrics among %zu primitives: tables can contain only superquadrics",
      def->superquadric_count, all);
  }
  return ABUT_SUCCESS;
}

static abut_status read_body(const char *path, double scale, abut_superquadrics *out)
{
  body_file file;
  void *memory = NULL;
  TRY(body_file_read(path, &file));
  const abut_body_def *def = &file.def;
  abut_status status = check_body(path, def);
  if (status == ABUT_SUCCESS) {
    status = allocate(&memory, def->superquadric_count, sizeof *def->superquadrics);
  }
  if (status == ABUT_SUCCESS) {
    memcpy(memory, def->superquadrics, def->superquadric_count * sizeof *def->superquadrics);
    *out = (abut_superquadrics){memory, def->superquadric_count, def->union_ * scale};
  }
  for (size_t i = 0; i < out->count; ++i) {
    for (int k = 0; k < 3; ++k) {
      out->superquadrics[i].axes[k] *= scale;
      out->superquadrics[i].position[k] *= scale;
    }
  }
  body_file_free(&file);
  return status;
}

abut_status abut_load_superquadrics(const char *path, double scale, abut_superquadrics *out)
{
  char *bytes = NULL;
  size_t count = 0;
  if (!path || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "path or superquadrics is NULL");
  }
  *out = (abut_superquadrics){0};
  if (!(scale == 0.0 || (scale >= SCALE_LEAST && scale <= SCALE_MOST))) {
    return fail(ABUT_ERROR_ARGUMENT, "scale: %g is not in [%g, %g]", scale, SCALE_LEAST,
                SCALE_MOST);
  }
  const double unit = scale == 0.0 ? 1.0 : scale;
  if (has_extension(path, ".json")) {
    return read_body(path, unit, out);
  }
  if (has_extension(path, ".mat")) {
    return fail_at(ABUT_ERROR_FORMAT, path, 0,
                   "MATLAB's own format cannot be read: write the table as text in MATLAB, with "
                   "writematrix(x, 'NAME.csv')");
  }
  TRY(whole_file_read(path, &bytes, &count));
  const abut_status status = superquadric_table_parse(path, bytes, count, unit, out);
  free(bytes);
  return status;
}

void abut_free_superquadrics(abut_superquadrics *s)
{
  if (s) {
    free(s->superquadrics);
    *s = (abut_superquadrics){0};
  }
}

/* ---- writing ---- */

static abut_status make_npy(const double *rows, size_t count, char **bytes, size_t *size)
{
  const abut_array array = {.type = ABUT_ARRAY_FLOAT64, .dimensions = 2, .shape = {count, COLUMNS}};
  const size_t data = count * COLUMNS * sizeof(double);
  char *header = NULL;
  void *all = NULL;
  size_t length = 0;
  TRY(npy_format(&array, 0, &header, &length));
  const abut_status status = allocate(&all, length + data, 1);
  if (status == ABUT_SUCCESS) {
    memcpy(all, header, length);
    memcpy((char *)all + length, rows, data);
  }
  free(header);
  *bytes = all;
  *size = length + data;
  return status;
}

static abut_status make_text(const double *rows, size_t count, char between, char **bytes,
                             size_t *size)
{
  void *memory;
  number_locale l = {0};
  TRY(allocate(&memory, count * COLUMNS + 1, 33));
  *bytes = memory;
  *size = 0;
  const abut_status status = number_locale_enter(&l);
  for (size_t i = 0; status == ABUT_SUCCESS && i < count * COLUMNS; ++i) {
    char number[32];
    number_format(rows[i], number);
    const size_t length = strlen(number);
    memcpy(*bytes + *size, number, length);
    *size += length;
    (*bytes)[(*size)++] = (i + 1) % COLUMNS ? between : '\n';
  }
  number_locale_leave(&l);
  return status;
}

abut_status abut_write_superquadrics(const char *path, const abut_superquadric *superquadrics,
                                     size_t count)
{
  void *rows = NULL;
  char *bytes = NULL;
  size_t size = 0;
  abut_status status = ABUT_SUCCESS;
  if (!path || !superquadrics || !count) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_write_superquadrics: the path or the superquadrics are NULL");
  }
  const bool binary = has_extension(path, ".npy"), commas = has_extension(path, ".csv");
  if (!binary && !commas && !has_extension(path, ".txt")) {
    return fail(ABUT_ERROR_ARGUMENT,
                "%s: the name of a table of superquadrics must end with .csv, .txt or .npy", path);
  }
  TRY_DONE(allocate(&rows, count, COLUMNS * sizeof(double)));
  TRY_DONE(abut_superquadrics_to_rows(superquadrics, count, rows));
  TRY_DONE(binary ? make_npy(rows, count, &bytes, &size)
                  : make_text(rows, count, commas ? ',' : ' ', &bytes, &size));
  TRY_DONE(whole_file_write(path, bytes, size));
done:
  free(rows);
  free(bytes);
  return status;
}
