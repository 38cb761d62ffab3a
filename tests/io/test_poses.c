/* Poses read by ranges: the same as all at once, wherever they lie. */
#include "samples.h"
#include "support.h"

#include <abut/files.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#define DICT(type, order, shape) \
  "{'descr': " type ", 'fortran_order': " order ", 'shape': " shape ", }"
#define WHOLE_MOST 10000000

static void put_npy(buffer *b, const char *dict, const void *data, size_t count)
{
  const size_t length = strlen(dict);
  const char bytes[2] = {(char)(length & 0xFF), (char)(length >> 8)};
  buffer_put(b, "\x93NUMPY\x01\x00", 8);
  buffer_put(b, bytes, 2);
  buffer_put(b, dict, length);
  buffer_put(b, data, count);
}

static const char *npy_file(const char *name, const char *dict, const void *data, size_t count)
{
  buffer b = {0};
  put_npy(&b, dict, data, count);
  const char *path = write_file(name, b.bytes, b.count);
  free(b.bytes);
  return path;
}

/* Number k of pose i of a body. */
static double number(size_t body, size_t i, size_t k)
{
  return (double)(1000 * body + 10 * i + k);
}

/* Ranges of every length give what the numbers are, and what all at once gives. */
static void check_ranges(const char *path, size_t count, abut_pose_kind kind, bool by_range)
{
  const size_t width = kind == ABUT_POSE_TWIST ? 6 : 7;
  abut_pose_file *file;
  abut_pose_file_info info;
  abut_poses all, p;
  REQUIRE_OK(abut_open_poses(path, &file, &info));
  REQUIRE_OK(abut_load_poses(path, &all));
  CHECK_EQUAL(info.count, count);
  CHECK_EQUAL(all.count, count);
  CHECK_EQUAL(info.kind, kind);
  CHECK_EQUAL(info.by_range, by_range);
  CHECK_EQUAL(info.pairs, all.pair != NULL);
  for (size_t first = 0; first <= count; first++) {
    for (size_t rows = 0; first + rows <= count; rows++) {
      REQUIRE_OK(abut_read_poses(file, first, rows, &p));
      CHECK_EQUAL(p.count, rows);
      CHECK_EQUAL(p.kind, kind);
      for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < width; k++) {
          CHECK(p.pose1[i * width + k] == number(1, first + i, k) &&
                p.pose2[i * width + k] == number(2, first + i, k));
          CHECK(all.pose1[(first + i) * width + k] == number(1, first + i, k));
        }
        CHECK(!all.pair == !p.pair && (!p.pair || p.pair[i] == all.pair[first + i]));
        CHECK(!all.lines == !p.lines && (!p.lines || p.lines[i] == all.lines[first + i]));
      }
      abut_free_poses(&p);
    }
  }
  expect_failure(abut_read_poses(file, count, 1, &p), ABUT_ERROR_ARGUMENT, path, "poses");
  expect_failure(abut_read_poses(file, count + 1, 0, &p), ABUT_ERROR_ARGUMENT, path, "poses");
  expect_failure(abut_read_poses(file, 1, SIZE_MAX, &p), ABUT_ERROR_ARGUMENT, path, "poses");
  abut_free_poses(&all);
  abut_close_poses(file);
}

#define ROWS 5

static void arrays_of_npy(void)
{
  double rows[ROWS * 12], columns[12 * ROWS];
  float quaternions[ROWS * 14];
  short narrow[ROWS * 12];
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t k = 0; k < 12; k++) {
      const double x = number(k < 6 ? 1 : 2, i, k % 6);
      rows[12 * i + k] = columns[ROWS * k + i] = x;
      narrow[12 * i + k] = (short)x;
    }
    for (size_t k = 0; k < 14; k++) {
      quaternions[14 * i + k] = (float)number(k < 7 ? 1 : 2, i, k % 7);
    }
  }
  check_ranges(npy_file("p.npy", DICT("'<f8'", "False", "(5, 12)"), rows, sizeof rows), ROWS,
               ABUT_POSE_TWIST, true);
  check_ranges(npy_file("p.NPY", DICT("'<f8'", "True", "(5, 12)"), columns, sizeof columns), ROWS,
               ABUT_POSE_TWIST, true);
  check_ranges(npy_file("p.npy", DICT("'<i2'", "False", "(5, 12)"), narrow, sizeof narrow), ROWS,
               ABUT_POSE_TWIST, true);
  check_ranges(npy_file("p.npy", DICT("'<f4'", "False", "(5, 14)"), quaternions,
                        sizeof quaternions),
               ROWS, ABUT_POSE_QUATERNION, true);
  check_ranges(npy_file("p.npy", DICT("'<f4'", "False", "(0, 14)"), NULL, 0), 0,
               ABUT_POSE_QUATERNION, true);
}

static void archives(void)
{
  double pose1[ROWS * 7], pose2[ROWS * 7];
  const uint32_t pair[ROWS] = {4, 0, UINT32_MAX, 7, 1};
  for (int kind = 0; kind < 2; kind++) {
    const size_t width = kind == ABUT_POSE_TWIST ? 6 : 7;
    for (size_t i = 0; i < ROWS * width; i++) {
      pose1[i] = number(1, i / width, i % width);
      pose2[i] = number(2, i / width, i % width);
    }
    const abut_array arrays[] = {
      {kind ? "pose1" : "s1", ABUT_ARRAY_FLOAT64, 2, {ROWS, width}, pose1},
      {kind ? "pose2" : "s2", ABUT_ARRAY_FLOAT64, 2, {ROWS, width}, pose2},
      {"pair", ABUT_ARRAY_UINT32, 1, {ROWS}, pair}};
    const char *path = in_folder("p.npz");
    for (size_t count = 2; count <= 3; count++) {
      REQUIRE_OK(abut_write_npz(path, arrays, count));
      check_ranges(path, ROWS, (abut_pose_kind)kind, true);
    }
    zip_t *zip = zip_open(path, 0, NULL); /* the same, one member of it compressed */
    REQUIRE(zip);
    CHECK_EQUAL(zip_set_file_compression(zip, 1, ZIP_CM_DEFLATE, 0), 0);
    CHECK_EQUAL(zip_close(zip), 0);
    check_ranges(path, ROWS, (abut_pose_kind)kind, false);
  }
  buffer b = {0};
  buffer_text(&b, "a1,b1,c1,d1,e1,f1,a2,b2,c2,d2,e2,f2\n");
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t k = 0; k < 12; k++) {
      buffer_text(&b, "%g%s", number(k < 6 ? 1 : 2, i, k % 6), k < 11 ? "," : "\n\n");
    }
  }
  check_ranges(write_file("p.csv", b.bytes, b.count), ROWS, ABUT_POSE_TWIST, false);
  free(b.bytes);
}

static void wrong(const char *path, abut_status status, const char *part)
{
  abut_pose_file *file;
  abut_pose_file_info info;
  abut_poses p;
  expect_failure(abut_open_poses(path, &file, &info), status, path, part);
  CHECK(!file && !info.count);
  expect_failure(abut_load_poses(path, &p), status, path, part);
  CHECK(!p.count && !p.pose1);
}

static void wrong_files(void)
{
  static const double numbers[28];
  static const int32_t bad_pair[2] = {3, -1};
  wrong(npy_file("p.npy", DICT("'<f8'", "False", "(2, 13)"), numbers, 208), ABUT_ERROR_FORMAT,
        "(N, 12)");
  wrong(npy_file("p.npy", DICT("'<f8'", "False", "(24,)"), numbers, 192), ABUT_ERROR_FORMAT,
        "(N, 12)");
  wrong(npy_file("p.npy", DICT("'<U12'", "False", "()"), numbers, 48), ABUT_ERROR_FORMAT, "a text");
  wrong(npy_file("p.npy", DICT("'<f8'", "False", "(2, 12)"), numbers, 191), ABUT_ERROR_FORMAT,
        "191 bytes of data, but its shape needs 192");
  wrong(npy_file("p.npy", DICT("'<f8'", "False", "(2, 12)"), numbers, 193), ABUT_ERROR_FORMAT,
        "193 bytes");
  wrong(write_text("p.npy", "\x93NUM"), ABUT_ERROR_FORMAT, "truncated");
  wrong(write_text("p.npz", ""), ABUT_ERROR_FORMAT, "empty");
  wrong(in_folder("none.npy"), ABUT_ERROR_READ, "No such file");
  wrong(in_folder("none.npz"), ABUT_ERROR_READ, "No such file");
  wrong(in_folder("none.csv"), ABUT_ERROR_READ, "No such file");
  wrong(write_text("p.txt", ""), ABUT_ERROR_FORMAT, ".npz, .npy or .csv");
  const abut_array arrays[] = {{"s1", ABUT_ARRAY_FLOAT64, 2, {2, 6}, numbers},
                               {"s2", ABUT_ARRAY_FLOAT64, 2, {1, 6}, numbers},
                               {"s2", ABUT_ARRAY_FLOAT64, 2, {2, 6}, numbers},
                               {"pair", ABUT_ARRAY_INT32, 1, {2}, bad_pair}};
  const char *path = in_folder("p.npz");
  REQUIRE_OK(abut_write_npz(path, arrays, 1));
  wrong(path, ABUT_ERROR_FORMAT, "array 's2' is missing");
  REQUIRE_OK(abut_write_npz(path, arrays, 2));
  wrong(path, ABUT_ERROR_FORMAT, "2 poses of body 1, but 1 of body 2");
  const abut_array paired[] = {arrays[0], arrays[2], arrays[3]};
  REQUIRE_OK(abut_write_npz(path, paired, 3));
  abut_pose_file *file;
  abut_poses p;
  REQUIRE_OK(abut_open_poses(path, &file, NULL));
  REQUIRE_OK(abut_read_poses(file, 0, 1, &p));
  CHECK_EQUAL(p.pair[0], 3);
  abut_free_poses(&p);
  expect_failure(abut_read_poses(file, 1, 1, &p), ABUT_ERROR_FORMAT, path,
                 "row 1 (0-based): -1 is not an index of ");
  CHECK(!p.count && !p.pose1 && !p.pair);
  abut_close_poses(file);
  abut_close_poses(NULL);
  expect_failure(abut_open_poses(NULL, &file, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_open_poses(path, NULL, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_read_poses(NULL, 0, 0, &p), ABUT_ERROR_ARGUMENT, "", "NULL");
}

/* A file that is cut short while it is open. */
static void cut_short(void)
{
  static const double numbers[24];
  const char *path = npy_file("p.npy", DICT("'<f8'", "False", "(2, 12)"), numbers, sizeof numbers);
  abut_pose_file *file;
  abut_poses p;
  REQUIRE_OK(abut_open_poses(path, &file, NULL));
  CHECK_EQUAL(truncate(path, 150), 0);
  expect_failure(abut_read_poses(file, 1, 1, &p), ABUT_ERROR_FORMAT, path, "truncated");
  abut_close_poses(file);
}

/* ---- beyond 2^31 bytes: files of holes ---- */

static void put_at(int file, off_t at, const void *bytes, size_t count)
{
  REQUIRE(pwrite(file, bytes, count, at) == (ssize_t)count);
}

static void check_far(const char *path, size_t count)
{
  abut_pose_file *file;
  abut_pose_file_info info;
  abut_poses p;
  REQUIRE_OK(abut_open_poses(path, &file, &info));
  CHECK_EQUAL(info.count, count);
  CHECK(info.by_range);
  REQUIRE_OK(abut_read_poses(file, count - 2, 2, &p));
  CHECK(p.pose1[0] == 0 && p.pose1[6] == 1.5 && p.pose1[11] == 0);
  CHECK(p.pose2[0] == 0 && p.pose2[6] == 0 && p.pose2[11] == -2.5);
  abut_free_poses(&p);
  REQUIRE_OK(abut_read_poses(file, 0, 1, &p));
  CHECK(p.pose1[0] == 0);
  abut_free_poses(&p);
  abut_close_poses(file);
}

#define MANY 60000000 /* poses: 5.8 GB in double; 1.4 GB of a body in float */

static void far_npy(void)
{
  static const char dict[] = DICT("'<f8'", "False", "(60000000, 12)");
  const double first = 1.5, last = -2.5;
  const char *path = npy_file("far.npy", dict, NULL, 0);
  const off_t data = 10 + (off_t)strlen(dict), end = data + (off_t)MANY * 12 * 8;
  const int file = open(path, O_WRONLY);
  REQUIRE(file >= 0);
  put_at(file, end - 12 * 8, &first, sizeof first);
  put_at(file, end - 8, &last, sizeof last);
  close(file);
  check_far(path, MANY);
  unlink(path);
}

static void put_number(unsigned char *at, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++) {
    at[i] = (unsigned char)(value >> 8 * i);
  }
}

/* An archive's two members, stored, by hand: APPNOTE 6.3, 4.3.7, 4.3.12 and 4.3.16. */
static void far_npz(void)
{
  static const char dict[] = DICT("'<f4'", "False", "(60000000, 6)");
  static const char *const names[2] = {"s1.npy", "s2.npy"};
  const float first = 1.5f, last = -2.5f;
  const uint64_t header = 10 + strlen(dict), size = header + (uint64_t)MANY * 24,
                 member = 36 + size;
  const char *path = in_folder("far.npz");
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  buffer b = {0};
  unsigned char directory[2][52] = {{0}}, end[22] = "PK\5\6";
  REQUIRE(file >= 0);
  put_npy(&b, dict, NULL, 0);
  for (int i = 0; i < 2; i++) {
    unsigned char local[36] = "PK\3\4";
    put_number(local + 4, 20, 2);
    put_number(local + 18, size, 4);
    put_number(local + 22, size, 4);
    put_number(local + 26, 6, 2);
    memcpy(local + 30, names[i], 6);
    put_at(file, (off_t)(i * member), local, 36);
    put_at(file, (off_t)(i * member + 36), b.bytes, b.count);
    memcpy(directory[i], "PK\1\2", 4);
    put_number(directory[i] + 4, 20, 2);
    memcpy(directory[i] + 6, local + 4, 26);
    put_number(directory[i] + 42, i * member, 4);
    memcpy(directory[i] + 46, names[i], 6);
  }
  put_number(end + 8, 2, 2);
  put_number(end + 10, 2, 2);
  put_number(end + 12, sizeof directory, 4);
  put_number(end + 16, 2 * member, 4);
  put_at(file, (off_t)(member - 24), &first, sizeof first);
  put_at(file, (off_t)(2 * member - 4), &last, sizeof last);
  put_at(file, (off_t)(2 * member), directory, sizeof directory);
  put_at(file, (off_t)(2 * member + sizeof directory), end, sizeof end);
  close(file);
  free(b.bytes);
  check_far(path, MANY);
  unlink(path);
}

/* ---- what is read whole, and too long for that ---- */

static void long_text(void)
{
  char *lines = malloc(WHOLE_MOST + 3);
  REQUIRE(lines);
  memset(lines, '\n', WHOLE_MOST + 3);
  abut_pose_file *file;
  const char *path = write_file("long.csv", lines, WHOLE_MOST + 3);
  expect_failure(abut_open_poses(path, &file, NULL), ABUT_ERROR_FORMAT, path, "n.loadtxt('");
  CHECK(!file);
  unlink(path);
  free(lines);
}

static void long_archive(void)
{
  static const char dict[] = DICT("'|i1'", "False", "(10000001, 6)");
  static const char *const names[2] = {"s1.npy", "s2.npy"};
  buffer b = {0};
  char *zeros = calloc(WHOLE_MOST + 1, 6);
  const char *path = in_folder("long.npz");
  zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  REQUIRE(zip && zeros);
  put_npy(&b, dict, zeros, (WHOLE_MOST + 1) * (size_t)6);
  free(zeros);
  for (int i = 0; i < 2; i++) {
    const zip_int64_t index =
      zip_file_add(zip, names[i], zip_source_buffer(zip, b.bytes, b.count, 0), 0);
    CHECK_EQUAL(zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_DEFLATE, 1), 0);
  }
  CHECK_EQUAL(zip_close(zip), 0);
  free(b.bytes);
  abut_pose_file *file;
  expect_failure(abut_open_poses(path, &file, NULL), ABUT_ERROR_FORMAT, path,
                 "n.savez('stored.npz'");
  CHECK(!file);
  unlink(path);
}

/* ---- the header of an array ---- */

static void headers(void)
{
  static const uint32_t numbers[3] = {1, 2, 3};
  char *bytes;
  size_t count, whole;
  abut_array a = {"a", ABUT_ARRAY_UINT32, 1, {3}, numbers};
  const char *path = in_folder("a.npz");
  REQUIRE_OK(abut_write_npz(path, &a, 1));
  char *archive = slurp(path, &whole);
  a.name = NULL;
  a.data = NULL;
  REQUIRE_OK(abut_format_npy_header(&a, &bytes, &count));
  /* behind the member's name, APPNOTE 4.3.7 */
  CHECK(memcmp(archive + 30 + strlen("a.npy"), bytes, count) == 0);
  abut_free(bytes);
  free(archive);
  a.type = ABUT_ARRAY_TEXT;
  expect_failure(abut_format_npy_header(&a, &bytes, &count), ABUT_ERROR_ARGUMENT, "", "text");
  CHECK(!bytes);
  a = (abut_array){NULL, ABUT_ARRAY_FLOAT64, 2, {SIZE_MAX / 2, 8}, NULL};
  expect_failure(abut_format_npy_header(&a, &bytes, &count), ABUT_ERROR_ARGUMENT, "", "too large");
  expect_failure(abut_format_npy_header(NULL, &bytes, &count), ABUT_ERROR_ARGUMENT, "", "NULL");
}

int main(void)
{
  folder_make();
  arrays_of_npy();
  archives();
  wrong_files();
  cut_short();
  far_npy();
  far_npz();
  long_text();
  long_archive();
  headers();
  folder_remove();
  return check_finish();
}
