#include "io/pose_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/npy_range.h"
#include "format/npy_read.h"
#include "format/npz.h"
#include "format/text.h"
#include "io/indices.h"
#include "io/poses.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Size limit for files that must be read as a whole. */
#define WHOLE_MOST ((size_t)10000000)
#define TEXT_BYTES 65536

/* An array whose rows are read by range. */
typedef struct rows_of {
  npy_stored stored;
  char name[8]; /* "" for a file that is a single array */
} rows_of;

enum { POSE1, POSE2, PAIR, ONE, TWO, ARRAYS };

struct abut_pose_file {
  char *name;
  abut_pose_file_info info;
  pose_bytes from;        /* of a .npy; without one, file is -1 */
  zip_t *archive;         /* of an .npz */
  rows_of arrays[ARRAYS]; /* for a .npy only the first, which has the columns of both bodies */
  bool has_whole;
  abut_poses whole;    /* used if ranges cannot be read */
  bool has_shapes;     /* ONE and TWO have been searched for */
  uint32_t *shapes[2]; /* those of them whose ranges cannot be read */
};

static void close_member(rows_of *a)
{
  if (a->stored.member) {
    zip_fclose(a->stored.member);
    a->stored.member = NULL;
  }
}

void abut_close_poses(abut_pose_file *f)
{
  if (!f) {
    return;
  }
  for (int i = 0; i < ARRAYS; i++) {
    close_member(&f->arrays[i]);
  }
  if (f->archive) {
    zip_discard(f->archive);
  }
  if (f->from.file >= 0) {
    close(f->from.file);
  }
  abut_free_poses(&f->whole);
  free(f->shapes[0]);
  free(f->shapes[1]);
  free(f->name);
  free(f);
}

static abut_status create(const char *name, abut_pose_file **out)
{
  void *memory, *copy;
  const size_t length = strlen(name) + 1;
  *out = NULL;
  TRY(allocate(&memory, 1, sizeof **out));
  abut_pose_file *f = memory;
  f->from.file = -1;
  const abut_status status = allocate(&copy, length, 1);
  if (status != ABUT_SUCCESS) {
    free(f);
    return status;
  }
  f->name = copy;
  memcpy(f->name, name, length);
  *out = f;
  return ABUT_SUCCESS;
}

/* Hands the opened file over, or closes it on failure. */
static abut_status hand_over(abut_pose_file *f, abut_status status, abut_pose_file **out,
                             abut_pose_file_info *info)
{
  if (status != ABUT_SUCCESS) {
    f->from.file = -1; /* the caller owns it again */
    abut_close_poses(f);
    return status;
  }
  *out = f;
  *info = f->info;
  return ABUT_SUCCESS;
}

static size_t width_of(abut_pose_kind kind)
{
  return kind == ABUT_POSE_TWIST ? 6 : 7;
}

/* ---- .npy ---- */

static abut_status find_npy(abut_pose_file *f)
{
  const npy_where where = {f->name, NULL};
  rows_of *a = &f->arrays[POSE1];
  const npy *h = &a->stored.header;
  TRY(npy_find(where, f->from, &a->stored));
  if (h->type == ABUT_ARRAY_TEXT) {
    return npy_fail(where, "is a text; expected numbers");
  }
  if (h->dimensions != 2 || (h->shape[1] != 12 && h->shape[1] != 14)) {
    return npy_fail(
      where, "must have shape (N, 12) (twists s1, s2) or (N, 14) (x y z qw qx qy qz, twice)");
  }
  TRY(npy_check_bytes(where, &a->stored));
  f->info =
    (abut_pose_file_info){.count = h->shape[0],
                          .by_range = true,
                          .kind = h->shape[1] == 12 ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION};
  return ABUT_SUCCESS;
}

abut_status pose_file_open_npy(const char *name, pose_bytes from, abut_pose_file **file,
                               abut_pose_file_info *info)
{
  abut_pose_file *f;
  *file = NULL;
  TRY(create(name, &f));
  f->from = from;
  return hand_over(f, find_npy(f), file, info);
}

/* ---- .npz ---- */

static const char *const member_names[][ARRAYS] = {[ABUT_POSE_TWIST] = {"s1", "s2", "pair", "one",
                                                                        "two"},
                                                   [ABUT_POSE_QUATERNION] = {"pose1", "pose2",
                                                                             "pair", "one", "two"}};

/* *whole: whether a member is compressed. */
static abut_status open_rows(abut_pose_file *f, int which, zip_int64_t member, bool *whole)
{
  rows_of *a = &f->arrays[which];
  npy_stored *to = &a->stored;
  size_t header_bytes = 0;
  bool stored = false;
  snprintf(a->name, sizeof a->name, "%s", member_names[f->info.kind][which]);
  TRY(npz_open_array(f->name, f->archive, (zip_uint64_t)member, &to->header, &header_bytes, &stored,
                     &to->member));
  to->data = header_bytes;
  *whole = *whole || !stored;
  return ABUT_SUCCESS;
}

static abut_status check_rows(const abut_pose_file *f)
{
  const size_t width = width_of(f->info.kind);
  for (int i = POSE1; i <= POSE2; i++) {
    const npy *h = &f->arrays[i].stored.header;
    const npy_where where = {f->name, f->arrays[i].name};
    if (h->type == ABUT_ARRAY_TEXT) {
      return npy_fail(where, "is a text; expected numbers");
    }
    if (h->dimensions != 2 || h->shape[1] != width) {
      return npy_fail(where, "must have shape (N, %zu)", width);
    }
  }
  const size_t counts[2] = {f->arrays[POSE1].stored.header.shape[0],
                            f->arrays[POSE2].stored.header.shape[0]};
  if (counts[0] != counts[1]) {
    return fail_at(ABUT_ERROR_FORMAT, f->name, 0, "has %zu poses of body 1, but %zu of body 2",
                   counts[0], counts[1]);
  }
  const npy *pair = &f->arrays[PAIR].stored.header;
  if (f->info.pairs &&
      (pair->type == ABUT_ARRAY_TEXT || pair->dimensions != 1 || pair->shape[0] != counts[0])) {
    return npy_fail((npy_where){f->name, "pair"}, "must have shape (N,) for the %zu poses",
                    counts[0]);
  }
  return ABUT_SUCCESS;
}

static abut_status find_npz(abut_pose_file *f, bool *whole)
{
  zip_int64_t members[2];
  TRY(poses_find_members(f->name, f->archive, &f->info.kind, members));
  for (int i = POSE1; i <= POSE2; i++) {
    TRY(open_rows(f, i, members[i], whole));
  }
  const zip_int64_t pair = zip_name_locate(f->archive, "pair.npy", 0);
  f->info.pairs = pair >= 0;
  if (pair >= 0) {
    TRY(open_rows(f, PAIR, pair, whole));
  }
  TRY(check_rows(f));
  f->info.count = f->arrays[POSE1].stored.header.shape[0];
  f->info.by_range = !*whole;
  return ABUT_SUCCESS;
}

abut_status pose_file_open_npz(const char *name, const char *bytes, size_t count,
                               abut_pose_file **file, abut_pose_file_info *info)
{
  abut_pose_file *f;
  bool whole = false;
  *file = NULL;
  TRY(create(name, &f));
  abut_status status = npz_open(name, bytes, count, &f->archive);
  status = status == ABUT_SUCCESS ? find_npz(f, &whole) : status;
  if (status == ABUT_SUCCESS && whole) {
    status = poses_parse_npz(name, bytes, count, &f->whole);
    f->has_whole = true;
  }
  return hand_over(f, status, file, info);
}

/* ---- files read as a whole ---- */

/* The file's name for a suggested Python line in single quotes. */
static const char *quoted(const char *path)
{
  return strpbrk(path, "'\\\"$`\n") ? "FILE" : path;
}

static abut_status fail_large(const char *path)
{
  return fail_at(ABUT_ERROR_FORMAT, path, 0,
                 "has more than %zu compressed poses, which cannot be read in parts; convert them "
                 "with: python3 -c \"import numpy as n; n.savez('stored.npz', **n.load('%s'))\"",
                 WHOLE_MOST, quoted(path));
}

static abut_status fail_large_text(const char *path)
{
  return fail_at(
    ABUT_ERROR_FORMAT, path, 0,
    "has more than %zu poses as text, which cannot be read in parts; convert them with: python3 -c "
    "\"import numpy as n; n.save('poses.npy', n.loadtxt('%s', delimiter=',', skiprows=1))\"",
    WHOLE_MOST, quoted(path));
}

/* Reads only as much as necessary. */
static abut_status check_lines(const char *path)
{
  char text[TEXT_BYTES];
  size_t lines = 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return fail_errno(ABUT_ERROR_READ, path);
  }
  for (ssize_t got; lines <= WHOLE_MOST + 1 && (got = read(file, text, sizeof text)) != 0;) {
    for (const char *at = text; got > 0 && (at = memchr(at, '\n', (size_t)(text + got - at)));
         at++) {
      lines++;
    }
    if (got < 0 && errno != EINTR) {
      break; /* reading the whole file reports the error */
    }
  }
  close(file);
  return lines > WHOLE_MOST + 1 ? fail_large_text(path) : ABUT_SUCCESS;
}

static abut_status read_whole(abut_pose_file *f)
{
  TRY(abut_load_poses(f->name, &f->whole));
  f->has_whole = true;
  f->info = (abut_pose_file_info){.count = f->whole.count,
                                  .kind = f->whole.kind,
                                  .pairs = f->whole.pair != NULL};
  return ABUT_SUCCESS;
}

/* ---- by path ---- */

static abut_status open_npy(const char *path, abut_pose_file **file, abut_pose_file_info *info)
{
  struct stat about;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail_errno(ABUT_ERROR_READ, path);
  }
  abut_status status = fstat(fd, &about) != 0 ? fail_errno(ABUT_ERROR_READ, path)
                       : !S_ISREG(about.st_mode)
                         ? fail_at(ABUT_ERROR_READ, path, 0, "is not a regular file")
                         : ABUT_SUCCESS;
  if (status == ABUT_SUCCESS) {
    status = pose_file_open_npy(path, (pose_bytes){NULL, (uint64_t)about.st_size, fd}, file, info);
  }
  if (status != ABUT_SUCCESS) {
    close(fd);
  }
  return status;
}

static abut_status open_archive(abut_pose_file *f)
{
  bool whole = false;
  TRY(npz_open_file(f->name, &f->archive));
  if (!f->archive) {
    return read_whole(f);
  }
  TRY(find_npz(f, &whole));
  if (!whole) {
    return ABUT_SUCCESS;
  }
  return f->info.count > WHOLE_MOST ? fail_large(f->name) : read_whole(f);
}

static abut_status open_text(abut_pose_file *f)
{
  struct stat about;
  if (stat(f->name, &about) == 0 && S_ISREG(about.st_mode)) {
    TRY(check_lines(f->name));
  }
  return read_whole(f);
}

abut_status abut_open_poses(const char *path, abut_pose_file **file, abut_pose_file_info *info)
{
  abut_pose_file *f;
  abut_pose_file_info unwanted;
  if (!path || !file) {
    return fail(ABUT_ERROR_ARGUMENT, "path or file is NULL");
  }
  *file = NULL;
  info = info ? info : &unwanted;
  *info = (abut_pose_file_info){0};
  if (has_extension(path, ".npy")) {
    return open_npy(path, file, info);
  }
  TRY(create(path, &f));
  return hand_over(f, has_extension(path, ".npz") ? open_archive(f) : open_text(f), file, info);
}

/* ---- ranges ---- */

static npy_where where_of(const abut_pose_file *f, const rows_of *a)
{
  return (npy_where){f->name, a->name[0] ? a->name : NULL};
}

/* Reads rows first .. first + count - 1 as a separate array. */
static abut_status read_rows(const abut_pose_file *f, const rows_of *a, size_t first, size_t count,
                             abut_array *out)
{
  const size_t from[NPY_DIMENSIONS] = {first};
  size_t counts[NPY_DIMENSIONS];
  memcpy(counts, a->stored.header.shape, sizeof counts);
  counts[0] = count;
  return npy_read_range(where_of(f, a), &a->stored, from, counts, out);
}

/* Takes `width` columns from `column` on. */
static void take_columns(const abut_array *a, size_t column, size_t width, double *out)
{
  for (size_t i = 0; i < a->shape[0]; i++) {
    for (size_t k = 0; k < width; k++) {
      out[i * width + k] = npy_real(a, i * a->shape[1] + column + k);
    }
  }
}

static abut_status read_poses_of(const abut_pose_file *f, size_t first, size_t count,
                                 abut_poses *out)
{
  const size_t width = width_of(f->info.kind);
  abut_array a;
  double *const to[2] = {out->pose1, out->pose2};
  if (!f->archive) {
    TRY(read_rows(f, &f->arrays[POSE1], first, count, &a));
    take_columns(&a, 0, width, to[0]);
    take_columns(&a, width, width, to[1]);
    npy_free(&a);
    return ABUT_SUCCESS;
  }
  for (int i = POSE1; i <= POSE2; i++) {
    TRY(read_rows(f, &f->arrays[i], first, count, &a));
    take_columns(&a, 0, width, to[i]);
    npy_free(&a);
  }
  if (!f->info.pairs) {
    return ABUT_SUCCESS;
  }
  TRY(read_rows(f, &f->arrays[PAIR], first, count, &a));
  const abut_status status =
    indices_of((npy_where){f->name, "pair"}, &a, "a pair", first, count, &out->pair);
  npy_free(&a);
  return status;
}

static void copy_lines(const abut_pose_file *f, size_t first, abut_poses *out)
{
  const size_t width = width_of(f->info.kind), count = out->count;
  memcpy(out->pose1, f->whole.pose1 + first * width, count * width * sizeof *out->pose1);
  memcpy(out->pose2, f->whole.pose2 + first * width, count * width * sizeof *out->pose2);
  if (f->whole.pair) {
    memcpy(out->pair, f->whole.pair + first, count * sizeof *out->pair);
  }
  if (f->whole.lines) {
    memcpy(out->lines, f->whole.lines + first, count * sizeof *out->lines);
  }
}

static abut_status make_room(const abut_pose_file *f, size_t count, abut_poses *out)
{
  void *memory;
  const size_t width = width_of(f->info.kind);
  TRY(allocate(&memory, count, width * sizeof *out->pose1));
  out->pose1 = memory;
  TRY(allocate(&memory, count, width * sizeof *out->pose2));
  out->pose2 = memory;
  if (f->has_whole && f->whole.pair) {
    TRY(allocate(&memory, count, sizeof *out->pair));
    out->pair = memory;
  }
  if (f->has_whole && f->whole.lines) {
    TRY(allocate(&memory, count, sizeof *out->lines));
    out->lines = memory;
  }
  return ABUT_SUCCESS;
}

static abut_status check_range(const abut_pose_file *f, size_t first, size_t count)
{
  return first > f->info.count || count > f->info.count - first
           ? fail(ABUT_ERROR_ARGUMENT, "%s: poses %zu to %zu are outside its %zu poses", f->name,
                  first, first + count, f->info.count)
           : ABUT_SUCCESS;
}

abut_status abut_read_poses(abut_pose_file *f, size_t first, size_t count, abut_poses *poses)
{
  if (!f || !poses) {
    return fail(ABUT_ERROR_ARGUMENT, "file or poses is NULL");
  }
  *poses = (abut_poses){0};
  TRY(check_range(f, first, count));
  poses->kind = f->info.kind;
  poses->count = count;
  abut_status status = make_room(f, count, poses);
  if (status == ABUT_SUCCESS && !f->has_whole) {
    status = read_poses_of(f, first, count, poses);
  } else if (status == ABUT_SUCCESS && count) {
    copy_lines(f, first, poses);
  }
  if (status != ABUT_SUCCESS) {
    abut_free_poses(poses);
  }
  return status;
}

/* ---- shape indices of poses ---- */

static abut_status open_shapes(abut_pose_file *f, const zip_int64_t members[2])
{
  bool whole = false;
  for (int i = 0; i < 2; i++) {
    rows_of *a = &f->arrays[ONE + i];
    TRY(open_rows(f, ONE + i, members[i], &whole));
    if (a->stored.header.dimensions != 1 || a->stored.header.shape[0] != f->info.count) {
      return npy_fail(where_of(f, a), "must have shape (N,) for the %zu poses", f->info.count);
    }
  }
  for (int i = 0; i < 2 && whole; i++) {
    TRY(indices_find(f->name, f->archive, f->arrays[ONE + i].name, "a shape", f->info.count,
                     &f->shapes[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status find_shapes(abut_pose_file *f)
{
  if (f->has_shapes) {
    return ABUT_SUCCESS;
  }
  const zip_int64_t members[2] = {zip_name_locate(f->archive, "one.npy", 0),
                                  zip_name_locate(f->archive, "two.npy", 0)};
  if ((members[0] < 0) != (members[1] < 0)) {
    return fail_at(ABUT_ERROR_FORMAT, f->name, 0, "array '%s' is missing",
                   members[0] < 0 ? "one" : "two");
  }
  const abut_status status = members[0] < 0 ? ABUT_SUCCESS : open_shapes(f, members);
  for (int i = ONE; i <= TWO && status != ABUT_SUCCESS; i++) {
    close_member(&f->arrays[i]);
    free(f->shapes[i - ONE]); /* one may have been read before the other failed */
    f->shapes[i - ONE] = NULL;
  }
  f->has_shapes = status == ABUT_SUCCESS;
  return status;
}

static abut_status read_shapes(const abut_pose_file *f, int which, size_t first, size_t count,
                               uint32_t **out)
{
  const uint32_t *whole = f->shapes[which - ONE];
  abut_array a;
  void *copy;
  if (whole) {
    TRY(allocate(&copy, count, sizeof *whole));
    *out = copy;
    memcpy(copy, whole + first, count * sizeof *whole);
    return ABUT_SUCCESS;
  }
  TRY(read_rows(f, &f->arrays[which], first, count, &a));
  const abut_status status =
    indices_of(where_of(f, &f->arrays[which]), &a, "a shape", first, count, out);
  npy_free(&a);
  return status;
}

abut_status abut_read_shape_rows(abut_pose_file *f, size_t first, size_t count, uint32_t **one,
                                 uint32_t **two)
{
  if (!f || !one || !two) {
    return fail(ABUT_ERROR_ARGUMENT, "file, one or two is NULL");
  }
  *one = *two = NULL;
  TRY(check_range(f, first, count));
  TRY(f->archive ? find_shapes(f) : ABUT_SUCCESS);
  if (!f->archive || !f->arrays[ONE].stored.member) {
    return ABUT_SUCCESS;
  }
  abut_status status = read_shapes(f, ONE, first, count, one);
  status = status == ABUT_SUCCESS ? read_shapes(f, TWO, first, count, two) : status;
  if (status != ABUT_SUCCESS) {
    free(*one);
    free(*two);
    *one = *two = NULL;
  }
  return status;
}

abut_status pose_file_load(const char *path, abut_poses *poses)
{
  abut_pose_file *f;
  abut_pose_file_info info;
  TRY(abut_open_poses(path, &f, &info));
  const abut_status status = abut_read_poses(f, 0, info.count, poses);
  abut_close_poses(f);
  return status;
}
