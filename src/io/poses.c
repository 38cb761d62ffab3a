#include "io/poses.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/npy_read.h"
#include "format/npz.h"
#include "format/text.h"
#include "format/whole_file.h"
#include "io/indices.h"
#include "io/pose_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of both poses; their number in the header determines the format. One more column may name
 * a pair. */
#define TWIST_COLUMNS 12
#define QUATERNION_COLUMNS 14
#define COLUMNS_MOST (QUATERNION_COLUMNS + 1)

/* The destination of the rows. */
typedef struct rows {
  abut_poses *out;
  size_t rooms[4];
  size_t columns; /* per row, from the header */
  size_t width;   /* numbers per pose */
} rows;

static bool names_pairs(const rows *r)
{
  return r->columns > 2 * r->width;
}

/* ---- the header ---- */

/* Reduces a column's name to its meaning: "x1", "x_1", "pose1.x" and "Body_1_X" all give "x". */
static void column_meaning(word name, char out[16])
{
  size_t end = name.length, start = 0, used = 0;
  while (end && strchr("0123456789_[]()", name.start[end - 1])) {
    --end;
  }
  for (size_t i = 0; i < end; ++i) {
    if (strchr("._/: ", name.start[i])) {
      start = i + 1;
    }
  }
  for (size_t i = start; i < end && used < 15; ++i) {
    const char c = name.start[i];
    out[used++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  out[used] = '\0';
}

/* A quaternion with w last, or names that begin with the body, would silently give wrong poses. So
 * names must end with the meaning of their number. */
static abut_status check_quaternion(const scan *t, const word *fields)
{
  static const char ends[] = "xyzwxyz";
  for (size_t i = 0; i < QUATERNION_COLUMNS; ++i) {
    char meaning[16];
    column_meaning(fields[i], meaning);
    const size_t length = strlen(meaning);
    if (!length || meaning[length - 1] != ends[i % 7]) {
      return fail_at(
        ABUT_ERROR_FORMAT, t->name, t->line,
        "column %zu is '%s'; 14 columns must be x y z qw qx qy qz of body 1 and then of body 2",
        i + 1, word_shown(fields[i]).text);
    }
  }
  return ABUT_SUCCESS;
}

/* Names of twists are not standardised, so only impossible ones are rejected. */
static abut_status check_twist(const scan *t, const word *fields)
{
  static const char *const others[] = {"qw", "qx", "qy", "qz", "roll", "pitch", "yaw"};
  static const char places[] = "xyz";
  for (size_t i = 0; i < TWIST_COLUMNS; ++i) {
    char meaning[16];
    column_meaning(fields[i], meaning);
    bool wrong = strlen(meaning) == 1 && strchr(places, *meaning) && i % 6 < 3 &&
                 *meaning != places[i % 6];
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
      wrong = wrong || strcmp(meaning, others[k]) == 0;
    }
    if (wrong) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line,
                     "column %zu is '%s'; 12 columns must be the twist of body 1 and then of body "
                     "2: the position if there is no rotation, and the rotation vector [rad] (use "
                     "14 columns for quaternions)",
                     i + 1, word_shown(fields[i]).text);
    }
  }
  return ABUT_SUCCESS;
}

/* Suggests a different separator if there is only one column. */
static const char *separator_of(const word *fields, size_t count)
{
  return count != 1 ? ""
         : memchr(fields[0].start, ';', fields[0].length)
           ? " (columns are separated by commas, not by semicolons)"
         : memchr(fields[0].start, '\t', fields[0].length)
           ? " (columns are separated by commas, not by tabs)"
           : "";
}

static abut_status fail_header(const scan *t, const word *fields, size_t count)
{
  return fail_at(
    ABUT_ERROR_FORMAT, t->name, t->line,
    "has %zu column%s%s, expected 12 (twists s1, s2) or 14 (x y z qw qx qy qz, twice), followed by "
    "`pair` if there are several pairs; .npz files contain s1, s2 or pose1, pose2",
    count, count == 1 ? "" : "s", separator_of(fields, count));
}

/* A header of numbers would be a lost pose. */
static abut_status read_header(scan *t, rows *r)
{
  word fields[COLUMNS_MOST];
  if (!text_content(t)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the file is empty; expected a header");
  }
  r->columns = text_fields(t, fields, COLUMNS_MOST);
  if (r->columns < TWIST_COLUMNS || r->columns > COLUMNS_MOST) {
    return fail_header(t, fields, r->columns);
  }
  r->width = r->columns < QUATERNION_COLUMNS ? 6 : 7;
  bool numbers = true;
  for (size_t i = 0; i < 2 * r->width; i++) {
    double unused;
    numbers = numbers && word_any_number(fields[i], &unused);
  }
  if (numbers) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "expected a header, found numbers");
  }
  if (names_pairs(r) && !word_is(fields[r->columns - 1], "pair")) {
    return fail_header(t, fields, r->columns);
  }
  r->out->kind = r->width == 6 ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION;
  TRY((r->width == 6 ? check_twist : check_quaternion)(t, fields));
  text_next_line(t);
  return ABUT_SUCCESS;
}

/* ---- rows ---- */

static abut_status read_row(const scan *t, const rows *r, double *row, uint32_t *pair)
{
  word fields[COLUMNS_MOST];
  int64_t index = 0;
  const size_t count = text_fields(t, fields, COLUMNS_MOST);
  if (count != r->columns) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "has %zu columns, but the header has %zu",
                   count, r->columns);
  }
  for (size_t i = 0; i < 2 * r->width; i++) {
    if (!word_any_number(fields[i], &row[i])) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "column %zu: '%s' is not a number", i + 1,
                     word_shown(fields[i]).text);
    }
  }
  if (names_pairs(r) &&
      (!word_integer(fields[count - 1], &index) || index < 0 || index > UINT32_MAX)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "pair: '%s' is not an index of a pair",
                   word_shown(fields[count - 1]).text);
  }
  *pair = (uint32_t)index;
  return ABUT_SUCCESS;
}

static abut_status add_row(rows *r, const double *row, uint32_t pair, size_t line)
{
  abut_poses *p = r->out;
  const size_t width = r->width, bytes = width * sizeof *row;
  void *pose1 = p->pose1, *pose2 = p->pose2, *pairs = p->pair, *lines = p->lines;
  abut_status status = grow(&pose1, &r->rooms[0], p->count + 1, bytes);
  p->pose1 = pose1;
  TRY(status);
  status = grow(&pose2, &r->rooms[1], p->count + 1, bytes);
  p->pose2 = pose2;
  TRY(status);
  status = grow(&lines, &r->rooms[3], p->count + 1, sizeof *p->lines);
  p->lines = lines;
  TRY(status);
  if (names_pairs(r)) {
    status = grow(&pairs, &r->rooms[2], p->count + 1, sizeof pair);
    p->pair = pairs;
    TRY(status);
    p->pair[p->count] = pair;
  }
  memcpy(p->pose1 + width * p->count, row, bytes);
  memcpy(p->pose2 + width * p->count, row + width, bytes);
  p->lines[p->count++] = line;
  return ABUT_SUCCESS;
}

static abut_status read_rows(scan *t, abut_poses *out)
{
  rows r = {.out = out};
  TRY(read_header(t, &r));
  if (names_pairs(&r)) { /* the array exists even without rows */
    void *pairs = NULL;
    TRY(grow(&pairs, &r.rooms[2], 1, sizeof *out->pair));
    out->pair = pairs;
  }
  while (text_content(t)) {
    double row[QUATERNION_COLUMNS];
    uint32_t pair = 0;
    TRY(read_row(t, &r, row, &pair));
    TRY(add_row(&r, row, pair, t->line));
    text_next_line(t);
  }
  return ABUT_SUCCESS;
}

abut_status poses_parse_csv(const char *name, const char *bytes, size_t count, abut_poses *out)
{
  scan t;
  *out = (abut_poses){0};
  abut_status status = text_open(&t, name, bytes, count);
  if (status == ABUT_SUCCESS) {
    status = read_rows(&t, out);
  }
  text_close(&t);
  if (status != ABUT_SUCCESS) {
    abut_free_poses(out);
  }
  return status;
}

static const char *const pose_names[] = {"s1", "s2", "pose1", "pose2"};

/* Fails, and names the existing members. */
static abut_status fail_mixed(const char *name, const zip_int64_t at[4])
{
  char held[64] = "";
  size_t left = 0, used = 0;
  for (int i = 0; i < 4; i++) {
    left += at[i] >= 0;
  }
  for (int i = 0; i < 4; i++) {
    if (at[i] >= 0) {
      left--;
      used += (size_t)snprintf(held + used, sizeof held - used, "%s%s",
                               !used  ? ""
                               : left ? ", "
                                      : " and ",
                               pose_names[i]);
    }
  }
  return fail_at(ABUT_ERROR_FORMAT, name, 0,
                 "contains %s; poses must be s1 and s2, or pose1 and pose2", held);
}

/* Finds which of the two pairs of names the archive has. */
abut_status poses_find_members(const char *name, zip_t *archive, abut_pose_kind *kind,
                               zip_int64_t found[2])
{
  zip_int64_t at[4];
  for (int i = 0; i < 4; i++) {
    char member[16];
    snprintf(member, sizeof member, "%s.npy", pose_names[i]);
    at[i] = zip_name_locate(archive, member, 0);
  }
  bool twists = at[0] >= 0 || at[1] >= 0, quaternions = at[2] >= 0 || at[3] >= 0;
  if (twists && quaternions) {
    return fail_mixed(name, at);
  }
  if (!twists && !quaternions) {
    return fail_at(ABUT_ERROR_FORMAT, name, 0,
                   "contains no poses: expected s1, s2 or pose1, pose2");
  }
  int first = twists ? 0 : 2;
  for (int i = 0; i < 2; i++) {
    found[i] = at[first + i];
    if (found[i] < 0) {
      return fail_at(ABUT_ERROR_FORMAT, name, 0, "array '%s' is missing", pose_names[first + i]);
    }
  }
  *kind = twists ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION;
  return ABUT_SUCCESS;
}

static abut_status convert(const char *name, const abut_array *a, size_t width, double **out)
{
  npy_where where = {name, a->name};
  if (a->type == ABUT_ARRAY_TEXT) {
    return npy_fail(where, "is a text; expected numbers");
  }
  if (a->dimensions != 2 || a->shape[1] != width) {
    return npy_fail(where, "must have shape (N, %zu)", width);
  }
  void *numbers;
  size_t count = a->shape[0] * width;
  TRY(allocate(&numbers, count, sizeof **out));
  *out = numbers;
  for (size_t i = 0; i < count; i++) {
    (*out)[i] = npy_real(a, i);
  }
  return ABUT_SUCCESS;
}

/* Reads each pose's pair, if the archive has them. */
static abut_status read_indices(const char *name, zip_t *archive, abut_poses *out)
{
  return indices_find(name, archive, "pair", "a pair", out->count, &out->pair);
}

static abut_status read_pair(const char *name, zip_t *archive, abut_poses *out)
{
  zip_int64_t members[2];
  double **poses[2] = {&out->pose1, &out->pose2};
  size_t counts[2];
  TRY(poses_find_members(name, archive, &out->kind, members));
  for (int i = 0; i < 2; i++) {
    abut_array array;
    TRY(npz_read_array(name, archive, (zip_uint64_t)members[i], &array));
    counts[i] = array.shape[0];
    abut_status status = convert(name, &array, out->kind == ABUT_POSE_TWIST ? 6 : 7, poses[i]);
    npy_free(&array);
    TRY(status);
  }
  out->count = counts[0];
  return counts[0] == counts[1]
           ? read_indices(name, archive, out)
           : fail_at(ABUT_ERROR_FORMAT, name, 0, "has %zu poses of body 1, but %zu of body 2",
                     counts[0], counts[1]);
}

abut_status poses_parse_npz(const char *name, const char *bytes, size_t count, abut_poses *out)
{
  zip_t *archive;
  *out = (abut_poses){0};
  TRY(npz_open(name, bytes, count, &archive));
  abut_status status = read_pair(name, archive, out);
  zip_discard(archive);
  if (status != ABUT_SUCCESS) {
    abut_free_poses(out);
  }
  return status;
}

abut_status abut_load_poses(const char *path, abut_poses *poses)
{
  if (!path || !poses) {
    return fail(ABUT_ERROR_ARGUMENT, "path or poses is NULL");
  }
  *poses = (abut_poses){0};
  if (has_extension(path, ".npy")) {
    return pose_file_load(path, poses);
  }
  bool is_csv = has_extension(path, ".csv");
  if (!is_csv && !has_extension(path, ".npz")) {
    return fail_at(ABUT_ERROR_FORMAT, path, 0,
                   "the name of a file of poses must end with .npz, .npy or .csv");
  }
  char *bytes = NULL;
  size_t count = 0;
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = is_csv ? poses_parse_csv(path, bytes, count, poses)
                    : poses_parse_npz(path, bytes, count, poses);
  }
  free(bytes);
  return status;
}

void abut_free_poses(abut_poses *poses)
{
  if (poses) {
    free(poses->pose1);
    free(poses->pose2);
    free(poses->pair);
    free(poses->lines);
    *poses = (abut_poses){0};
  }
}
