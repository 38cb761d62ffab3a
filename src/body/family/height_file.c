#include "body/family/height_file.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/named_file.h"
#include "body/family/parts.h"
#include "format/npy_read.h"
#include "format/png_read.h"
#include "format/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_side(size_t nodes)
{
  return nodes >= HEIGHT_SIDE_LEAST && nodes <= HEIGHT_SIDE_MOST;
}

/* ---- checks of heights ---- */

static bool is_too_steep(double a, double b, double apart)
{
  return fabs(a - b) > HEIGHT_SLOPE_MOST * apart;
}

bool height_field_fault(const abut_height_field *h, size_t *at, char *cause, size_t room)
{
  const double dx = 2.0 * h->size[0] / (double)(h->columns - 1);
  const double dy = 2.0 * h->size[1] / (double)(h->rows - 1);
  for (size_t i = 0; i < h->rows * h->columns; ++i) {
    const double z = h->heights[i];
    *at = i;
    if (!(fabs(z) <= COORDINATE_MOST)) {
      snprintf(cause, room, "the height %g m is not within +-%g", z, COORDINATE_MOST);
      return true;
    }
    if (!(z > -h->base)) {
      snprintf(cause, room, "the height %g m is not above the base at %g m", z, -h->base);
      return true;
    }
    if ((i % h->columns && is_too_steep(z, h->heights[i - 1], dx)) ||
        (i >= h->columns && is_too_steep(z, h->heights[i - h->columns], dy))) {
      snprintf(cause, room,
               "the slope from the previous height to the height %g m is steeper than %g", z,
               HEIGHT_SLOPE_MOST);
      return true;
    }
  }
  return false;
}

static bool are_same(const double *a, const double *b, size_t count)
{
  size_t i = 0;
  while (i < count && a[i] >= b[i] && a[i] <= b[i]) {
    ++i;
  }
  return i == count;
}

bool height_field_is_same(const abut_height_field *a, const abut_height_field *b)
{
  return a->rows == b->rows && a->columns == b->columns && a->step == b->step &&
         are_same(a->size, b->size, 2) && are_same(&a->base, &b->base, 1) &&
         are_same(a->heights, b->heights, a->rows * a->columns);
}

/* ---- files of heights ---- */

static abut_status check_sides(const char *name, size_t rows, size_t columns)
{
  return is_side(rows) && is_side(columns)
           ? ABUT_SUCCESS
           : fail_at(ABUT_ERROR_FORMAT, name, 0, "has %zu by %zu heights; each side needs %d to %d",
                     rows, columns, HEIGHT_SIDE_LEAST, HEIGHT_SIDE_MOST);
}

static abut_status take_room(arena *memory, size_t rows, size_t columns, abut_height_field *out,
                             double **heights)
{
  void *room;
  TRY(arena_allocate(memory, &room, rows * columns, sizeof **heights));
  *heights = room;
  out->heights = room;
  out->rows = rows;
  out->columns = columns;
  return ABUT_SUCCESS;
}

static abut_status take_array(const char *name, const abut_array *a, double scale, arena *memory,
                              abut_height_field *out)
{
  double *heights;
  if (a->type == ABUT_ARRAY_TEXT || a->dimensions != 2) {
    return fail_at(ABUT_ERROR_FORMAT, name, 0,
                   "has dtype %s and %u dimensions, expected a 2-dimensional array of numbers",
                   npy_type_name(a->type), a->dimensions);
  }
  TRY(check_sides(name, a->shape[0], a->shape[1]));
  TRY(take_room(memory, a->shape[0], a->shape[1], out, &heights));
  for (size_t i = 0; i < a->shape[0] * a->shape[1]; ++i) {
    heights[i] = scale * npy_real(a, i);
    if (!isfinite(heights[i])) {
      return fail_at(ABUT_ERROR_FORMAT, name, 0,
                     "row %zu, column %zu is %g; heights must be finite", i / a->shape[1],
                     i % a->shape[1], heights[i]);
    }
  }
  return ABUT_SUCCESS;
}

abut_status heights_parse_npy(const char *name, const char *bytes, size_t count, double scale,
                              arena *memory, abut_height_field *out)
{
  abut_array a;
  TRY(npy_read(name, bytes, count, &a));
  const abut_status status = take_array(name, &a, scale, memory, out);
  npy_free(&a);
  return status;
}

/* Reverses the order of rows, and scales the heights. */
static void place_rows(double *heights, size_t rows, size_t columns, double scale)
{
  for (size_t i = 0; i < rows * columns; ++i) {
    const size_t r = i / columns, other = (rows - 1 - r) * columns + i % columns;
    if (r < rows - 1 - r) {
      const double height = heights[i];
      heights[i] = heights[other];
      heights[other] = height;
    }
  }
  for (size_t i = 0; i < rows * columns; ++i) {
    heights[i] *= scale;
  }
}

abut_status heights_parse_png(const char *name, const char *bytes, size_t count, double scale,
                              arena *memory, abut_height_field *out)
{
  size_t rows, columns;
  double *heights;
  TRY(png_size(name, bytes, count, &columns, &rows));
  TRY(check_sides(name, rows, columns));
  TRY(take_room(memory, rows, columns, out, &heights));
  TRY(png_read_grey(name, bytes, count, heights));
  place_rows(heights, rows, columns, scale);
  return ABUT_SUCCESS;
}

static abut_status read_file(const json_file *f, const json_at *at, double scale, arena *memory,
                             abut_height_field *out)
{
  const char *path, *text;
  char *bytes;
  size_t count = 0;
  TRY(json_text(f, at, &text));
  const bool png = has_extension(text, ".png");
  if (!png && !has_extension(text, ".npy")) {
    return json_fail(f, at, "must end with .png or .npy");
  }
  TRY(named_file_read(f, at, "its heights", memory, &path, &bytes, &count));
  const abut_status status = png ? heights_parse_png(path, bytes, count, scale, memory, out)
                                 : heights_parse_npy(path, bytes, count, scale, memory, out);
  free(bytes);
  return status;
}

/* ---- rows of heights ---- */

static abut_status read_rows_of(const json_file *f, const json_at *at, double scale, arena *memory,
                                abut_height_field *out)
{
  double *heights;
  TRY(json_check_array(f, at, 0));
  const size_t rows = json_array_size(at->value);
  if (!is_side(rows)) {
    return json_fail(f, at, "has %zu rows, expected %d to %d", rows, HEIGHT_SIDE_LEAST,
                     HEIGHT_SIDE_MOST);
  }
  json_at row = json_element(at, 0);
  TRY(json_check_array(f, &row, 0));
  const size_t columns = json_array_size(row.value);
  if (!is_side(columns)) {
    return json_fail(f, &row, "has %zu heights, expected %d to %d", columns, HEIGHT_SIDE_LEAST,
                     HEIGHT_SIDE_MOST);
  }
  TRY(take_room(memory, rows, columns, out, &heights));
  for (size_t r = 0; r < rows; ++r) {
    row = json_element(at, r);
    TRY(json_check_array(f, &row, 0));
    if (json_array_size(row.value) != columns) {
      return json_fail(f, &row, "has %zu heights, but the first row has %zu",
                       json_array_size(row.value), columns);
    }
    TRY(json_numbers(f, &row, columns, heights + r * columns));
  }
  for (size_t i = 0; i < rows * columns; ++i) {
    heights[i] *= scale;
  }
  return ABUT_SUCCESS;
}

static abut_status read_heights(const json_file *f, const json_at *at, double scale, arena *memory,
                                abut_height_field *out)
{
  json_at heights, file;
  const bool rows = json_find(at, "heights", &heights), named = json_find(at, "file", &file);
  if (rows == named) {
    return json_fail(f, at,
                     rows ? "has both heights and a file; give one of them"
                          : "has no heights and no file; give one of them");
  }
  return rows ? read_rows_of(f, &heights, scale, memory, out)
              : read_file(f, &file, scale, memory, out);
}

/* ---- all of it ---- */

/* Reads a length; leaves *out unchanged if it is missing. */
static abut_status read_length(const json_file *f, const json_at *parent, const char *key,
                               double *out)
{
  json_at at;
  if (!json_find(parent, key, &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_number(f, &at, out));
  return *out >= AXIS_LEAST && *out <= COORDINATE_MOST
           ? ABUT_SUCCESS
           : json_fail(f, &at, "%.9g is not in [%g, %g]", *out, AXIS_LEAST, COORDINATE_MOST);
}

static abut_status read_step(const json_file *f, const json_at *parent, size_t *out)
{
  json_at at;
  json_int_t step = 0;
  if (!json_find(parent, "step", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_whole(f, &at, HEIGHT_SIDE_MOST, &step));
  *out = (size_t)step;
  return step ? ABUT_SUCCESS : json_fail(f, &at, "is 0; it must be above 0");
}

/* Reports an invalid height by its position in the file. */
static abut_status check_heights(const json_file *f, const json_at *at, const abut_height_field *h)
{
  char cause[160];
  json_at list, row, one;
  size_t i;
  if (!height_field_fault(h, &i, cause, sizeof cause)) {
    return ABUT_SUCCESS;
  }
  if (json_find(at, "file", &list)) {
    return json_fail(f, &list, "row %zu, column %zu (0-based, from the lower ends of y and x): %s",
                     i / h->columns, i % h->columns, cause);
  }
  json_find(at, "heights", &list);
  row = json_element(&list, i / h->columns);
  one = json_element(&row, i % h->columns);
  return json_fail(f, &one, "%s", cause);
}

abut_status height_field_read(const json_file *f, const json_at *at, bool primitive, arena *memory,
                              abut_height_field *out)
{
  static const char *const keys[] = {"heights", "file", "size",     "scale",
                                     "base",    "step", "operation"};
  const size_t count = sizeof keys / sizeof *keys;
  json_at size, base;
  double scale = 1.0;
  *out = (abut_height_field){0};
  TRY(json_check_keys(f, at, keys, primitive ? count : count - 1));
  TRY(read_vector(f, at, "size", 2, out->size, &size));
  TRY(check_range(f, &size, 0, 2, AXIS_LEAST, COORDINATE_MOST));
  TRY(json_need(f, at, "base", &base));
  TRY(read_length(f, at, "base", &out->base));
  TRY(read_length(f, at, "scale", &scale));
  TRY(read_step(f, at, &out->step));
  TRY(read_heights(f, at, scale, memory, out));
  return check_heights(f, at, out);
}
