#include "io/pose_file.h"

#include "base/error.h"
#include "base/memory.h"
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

_Static_assert(sizeof(off_t) == 8, "files of poses may be longer than 2^31 bytes");

/* What is read whole at most. */
#define WHOLE_MOST ((size_t)10000000)
#define TEXT_BYTES 65536

/* An array whose rows are read by range. */
typedef struct rows_of {
  npy header;
  uint64_t data;      /* where its numbers begin */
  zip_file_t *member; /* NULL of a file that is one array */
  char name[8];       /* "" likewise */
} rows_of;

enum { POSE1, POSE2, PAIR, ARRAYS };

struct abut_pose_file {
  char *name;
  abut_pose_file_info info;
  pose_bytes from;       /* of a .npy; file -1 without one */
  zip_t *archive;        /* of an .npz */
  rows_of arrays[ARRAYS]; /* of a .npy the first alone, which has the columns of both bodies */
  bool has_whole;
  abut_poses whole;      /* what cannot be read by ranges */
};

void abut_close_poses(abut_pose_file *f)
{
  if (!f) {
    return;
  }
  for (int i = 0; i < ARRAYS; i++) {
    if (f->arrays[i].member) {
      zip_fclose(f->arrays[i].member);
    }
  }
  if (f->archive) {
    zip_discard(f->archive);
  }
  if (f->from.file >= 0) {
    close(f->from.file);
  }
  abut_free_poses(&f->whole);
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

/* What was opened goes out, or is closed. */
static abut_status hand_over(abut_pose_file *f, abut_status status, abut_pose_file **out, abut_pose_file_info *info)
{
  if (status != ABUT_SUCCESS) {
    f->from.file = -1; /* the caller's again */
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

static abut_status read_bytes(npy_where where, const pose_bytes *from, uint64_t at, void *out, size_t count)
{
  char *to = out;
  if (from->bytes) {
    if (at > from->count || count > from->count - at) {
      return npy_fail(where, "truncated");
    }
    memcpy(out, from->bytes + at, count);
    return ABUT_SUCCESS;
  }
  while (count) {
    const ssize_t got = pread(from->file, to, count, (off_t)at);
    if (got < 0 && errno != EINTR) {
      return fail_errno(ABUT_ERROR_READ, where.file);
    }
    if (got == 0) {
      return npy_fail(where, "truncated");
    }
    to += got < 0 ? 0 : got;
    at += (uint64_t)(got < 0 ? 0 : got);
    count -= (size_t)(got < 0 ? 0 : got);
  }
  return ABUT_SUCCESS;
}

/* A header is read from the file's beginning on. */
typedef struct reading {
  const pose_bytes *from;
  uint64_t at;
} reading;

static abut_status read_next(npy_where where, void *from, void *out, size_t count)
{
  reading *r = from;
  TRY(read_bytes(where, r->from, r->at, out, count));
  r->at += count;
  return ABUT_SUCCESS;
}

static abut_status find_npy(abut_pose_file *f)
{
  const npy_where where = {f->name, NULL};
  rows_of *a = &f->arrays[POSE1];
  const npy *h = &a->header;
  reading r = {&f->from, 0};
  size_t header_bytes = 0;
  TRY(npy_read_header(where, &(npy_source){read_next, &r}, &a->header, &header_bytes));
  if (h->type == ABUT_ARRAY_TEXT) {
    return npy_fail(where, "a text, not numbers");
  }
  if (h->dimensions != 2 || (h->shape[1] != 12 && h->shape[1] != 14)) {
    return npy_fail(where, "not of shape (N, 12) (twists s1, s2) or (N, 14) (x y z qw qx qy qz, twice)");
  }
  if (f->from.count - header_bytes != h->data_bytes) {
    return npy_fail(where, "%llu bytes of data, but its shape needs %zu",
                    (unsigned long long)(f->from.count - header_bytes), h->data_bytes);
  }
  a->data = header_bytes;
  f->info = (abut_pose_file_info){.count = h->shape[0], .by_range = true,
                                  .kind = h->shape[1] == 12 ? ABUT_POSE_TWIST : ABUT_POSE_QUATERNION};
  return ABUT_SUCCESS;
}

abut_status pose_file_open_npy(const char *name, pose_bytes from, abut_pose_file **file, abut_pose_file_info *info)
{
  abut_pose_file *f;
  *file = NULL;
  TRY(create(name, &f));
  f->from = from;
  return hand_over(f, find_npy(f), file, info);
}

/* ---- .npz ---- */

static const char *const member_names[][ARRAYS] = {[ABUT_POSE_TWIST] = {"s1", "s2", "pair"},
                                                   [ABUT_POSE_QUATERNION] = {"pose1", "pose2", "pair"}};

/* *whole: a member is compressed. */
static abut_status open_rows(abut_pose_file *f, int which, zip_int64_t member, bool *whole)
{
  rows_of *a = &f->arrays[which];
  size_t header_bytes = 0;
  bool stored = false;
  snprintf(a->name, sizeof a->name, "%s", member_names[f->info.kind][which]);
  TRY(npz_open_array(f->name, f->archive, (zip_uint64_t)member, &a->header, &header_bytes, &stored, &a->member));
  a->data = header_bytes;
  *whole = *whole || !stored;
  return ABUT_SUCCESS;
}

static abut_status check_rows(const abut_pose_file *f)
{
  const size_t width = width_of(f->info.kind);
  for (int i = POSE1; i <= POSE2; i++) {
    const npy *h = &f->arrays[i].header;
    const npy_where where = {f->name, f->arrays[i].name};
    if (h->type == ABUT_ARRAY_TEXT) {
      return npy_fail(where, "a text, not numbers");
    }
    if (h->dimensions != 2 || h->shape[1] != width) {
      return npy_fail(where, "not of shape (N, %zu)", width);
    }
  }
  const size_t counts[2] = {f->arrays[POSE1].header.shape[0], f->arrays[POSE2].header.shape[0]};
  if (counts[0] != counts[1]) {
    return fail_at(ABUT_ERROR_FORMAT, f->name, 0, "%zu poses of body 1, but %zu of body 2", counts[0], counts[1]);
  }
  const npy *pair = &f->arrays[PAIR].header;
  if (f->info.pairs && (pair->type == ABUT_ARRAY_TEXT || pair->dimensions != 1 || pair->shape[0] != counts[0])) {
    return npy_fail((npy_where){f->name, "pair"}, "not of shape (N,) of the %zu poses", counts[0]);
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
  f->info.count = f->arrays[POSE1].header.shape[0];
  f->info.by_range = !*whole;
  return ABUT_SUCCESS;
}

abut_status pose_file_open_npz(const char *name, const char *bytes, size_t count, abut_pose_file **file,
                               abut_pose_file_info *info)
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

/* ---- what is read whole ---- */

/* What a line of Python calls the file between apostrophes. */
static const char *quoted(const char *path)
{
  return strpbrk(path, "'\\\"$`\n") ? "FILE" : path;
}

static abut_status fail_large(const char *path)
{
  return fail_at(ABUT_ERROR_FORMAT, path, 0,
                 "more than %zu poses, compressed, of which no range can be read; this line converts them: "
                 "python3 -c \"import numpy as n; n.savez('stored.npz', **n.load('%s'))\"",
                 WHOLE_MOST, quoted(path));
}

static abut_status fail_large_text(const char *path)
{
  return fail_at(ABUT_ERROR_FORMAT, path, 0,
                 "more than %zu poses as a text, of which no range can be read; this line converts them: "
                 "python3 -c \"import numpy as n; n.save('poses.npy', n.loadtxt('%s', delimiter=',', skiprows=1))\"",
                 WHOLE_MOST, quoted(path));
}

/* Looks at no more than it must. */
static abut_status check_lines(const char *path)
{
  char text[TEXT_BYTES];
  size_t lines = 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return fail_errno(ABUT_ERROR_READ, path);
  }
  for (ssize_t got; lines <= WHOLE_MOST + 1 && (got = read(file, text, sizeof text)) != 0;) {
    for (const char *at = text; got > 0 && (at = memchr(at, '\n', (size_t)(text + got - at))); at++) {
      lines++;
    }
    if (got < 0 && errno != EINTR) {
      break; /* what reads it whole says why */
    }
  }
  close(file);
  return lines > WHOLE_MOST + 1 ? fail_large_text(path) : ABUT_SUCCESS;
}

static abut_status read_whole(abut_pose_file *f)
{
  TRY(abut_load_poses(f->name, &f->whole));
  f->has_whole = true;
  f->info = (abut_pose_file_info){.count = f->whole.count, .kind = f->whole.kind, .pairs = f->whole.pair != NULL};
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
  abut_status status = fstat(fd, &about) != 0   ? fail_errno(ABUT_ERROR_READ, path)
                       : !S_ISREG(about.st_mode) ? fail_at(ABUT_ERROR_READ, path, 0, "not a regular file")
                                                 : ABUT_SUCCESS;
  if (status == ABUT_SUCCESS) {
    status = pose_file_open_npy(path, (pose_bytes){NULL, (uint64_t)about.st_size, fd}, file, info);
  }
  if (status != ABUT_SUCCESS) {
    close(fd);
  }
  return status;
}

/* libzip tells a file that is not there as an archive that is none. */
static abut_status open_archive(abut_pose_file *f)
{
  struct stat about;
  bool whole = false;
  if (stat(f->name, &about) != 0 || access(f->name, R_OK) != 0) {
    return fail_errno(ABUT_ERROR_READ, f->name);
  }
  if (!S_ISREG(about.st_mode)) { /* a pipe has no ranges */
    return read_whole(f);
  }
  if (about.st_size == 0) {
    return fail_at(ABUT_ERROR_FORMAT, f->name, 0, "not an .npz archive: the file is empty");
  }
  TRY(npz_open_file(f->name, &f->archive));
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

static abut_status read_at(const abut_pose_file *f, const rows_of *a, uint64_t at, void *out, size_t count)
{
  const npy_where where = where_of(f, a);
  char *to = out;
  if (!a->member) {
    return read_bytes(where, &f->from, at, out, count);
  }
  if (count && (at > INT64_MAX || zip_fseek(a->member, (zip_int64_t)at, SEEK_SET) != 0)) {
    return npy_fail(where, "cannot be read at byte %llu: %s", (unsigned long long)at,
                    zip_error_strerror(zip_file_get_error(a->member)));
  }
  while (count) {
    const zip_int64_t got = zip_fread(a->member, to, count);
    if (got < 0) {
      return npy_fail(where, "cannot be unpacked: %s", zip_error_strerror(zip_file_get_error(a->member)));
    }
    if (got == 0) {
      return npy_fail(where, "truncated");
    }
    to += got;
    count -= (size_t)got;
  }
  return ABUT_SUCCESS;
}

/* Rows first .. first + count - 1 as an array of their own. In Fortran order, columns lie apart. */
static abut_status read_rows(const abut_pose_file *f, const rows_of *a, size_t first, size_t count, abut_array *out)
{
  const npy_where where = where_of(f, a);
  const size_t item = a->header.item_bytes, width = a->header.dimensions == 2 ? a->header.shape[1] : 1;
  npy part = a->header;
  void *data;
  abut_status status = ABUT_SUCCESS;
  *out = (abut_array){0};
  part.shape[0] = count;
  part.data_bytes = count * width * item; /* not more than the file has, whose shape was checked */
  TRY(allocate(&data, part.data_bytes, 1));
  if (!part.fortran || width == 1) {
    status = read_at(f, a, a->data + (uint64_t)first * width * item, data, part.data_bytes);
  }
  for (size_t k = 0; k < width && part.fortran && width > 1 && status == ABUT_SUCCESS; k++) {
    status = read_at(f, a, a->data + ((uint64_t)k * a->header.shape[0] + first) * item,
                     (char *)data + k * count * item, count * item);
  }
  if (status != ABUT_SUCCESS) {
    free(data);
    return status;
  }
  return npy_store(where, &part, data, out);
}

/* Columns from `column` on, of a row each. */
static void take_columns(const abut_array *a, size_t column, size_t width, double *out)
{
  for (size_t i = 0; i < a->shape[0]; i++) {
    for (size_t k = 0; k < width; k++) {
      out[i * width + k] = npy_real(a, i * a->shape[1] + column + k);
    }
  }
}

static abut_status read_poses_of(const abut_pose_file *f, size_t first, size_t count, abut_poses *out)
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
  const abut_status status = indices_of((npy_where){f->name, "pair"}, &a, "a pair", first, count, &out->pair);
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

abut_status abut_read_poses(abut_pose_file *f, size_t first, size_t count, abut_poses *poses)
{
  if (!f || !poses) {
    return fail(ABUT_ERROR_ARGUMENT, "file or poses is NULL");
  }
  *poses = (abut_poses){0};
  if (first > f->info.count || count > f->info.count - first) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: poses %zu to %zu of %zu", f->name, first, first + count, f->info.count);
  }
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

abut_status pose_file_load(const char *path, abut_poses *poses)
{
  abut_pose_file *f;
  abut_pose_file_info info;
  TRY(abut_open_poses(path, &f, &info));
  const abut_status status = abut_read_poses(f, 0, info.count, poses);
  abut_close_poses(f);
  return status;
}
