/* Arrays read by ranges: the same numbers as all at once, in whatever order and however packed they
 * lie. */
#include "samples.h"
#include "support.h"

#include <abut/files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#define A 4
#define B 3
#define C 5

/* Every range of the (A, B, C) array whose element (a, b, c) is 100 a + 10 b + c, those of a whole
 * dimension and of none among them; how many these are. */
static size_t check_ranges(abut_array_file *file, size_t index)
{
  size_t ranges = 0;
  for (size_t i = 0; i < (A + 1) * (B + 1) * (C + 1) * (A + 1) * (B + 1) * (C + 1); i++) {
    const size_t k = i / ((A + 1) * (B + 1) * (C + 1));
    const size_t first[3] = {i % (A + 1), i / (A + 1) % (B + 1), i / ((A + 1) * (B + 1)) % (C + 1)};
    const size_t count[3] = {k % (A + 1), k / (A + 1) % (B + 1), k / ((A + 1) * (B + 1))};
    void *data;
    if (first[0] + count[0] > A || first[1] + count[1] > B || first[2] + count[2] > C) {
      continue;
    }
    REQUIRE_OK(abut_read_array(file, index, first, count, &data));
    ranges++;
    for (size_t at = 0; at < count[0] * count[1] * count[2]; at++) {
      const size_t a = first[0] + at / (count[1] * count[2]),
                   b = first[1] + at / count[2] % count[1];
      CHECK_EQUAL(((const int32_t *)data)[at],
                  (int32_t)(100 * a + 10 * b + first[2] + at % count[2]));
    }
    abut_free(data);
  }
  return ranges;
}

/* First and count of each dimension, whose sum is at most its length. */
#define RANGES ((A + 1) * (A + 2) / 2 * ((B + 1) * (B + 2) / 2) * ((C + 1) * (C + 2) / 2))

static const char *npy_file(const char *name, const char *dict, const void *data, size_t bytes)
{
  buffer b = {0};
  const char length[2] = {(char)strlen(dict), 0};
  buffer_put(&b, "\x93NUMPY\x01\x00", 8);
  buffer_put(&b, length, 2);
  buffer_put(&b, dict, strlen(dict));
  buffer_put(&b, data, bytes);
  const char *path = write_file(name, b.bytes, b.count);
  free(b.bytes);
  return path;
}

static void expect_list(abut_array_file *file, size_t wanted, size_t index, const char *name,
                        abut_array_type type)
{
  const abut_array *arrays;
  size_t count;
  REQUIRE_OK(abut_list_arrays(file, &arrays, &count));
  REQUIRE(count == wanted);
  CHECK(strcmp(arrays[index].name, name) == 0);
  CHECK(!arrays[index].data);
  CHECK_EQUAL(arrays[index].type, type);
}

/* C and Fortran order, and numbers that become int32. */
static void one_array(void)
{
  int32_t rows[A * B * C], columns[A * B * C];
  int16_t narrow[A * B * C];
  for (size_t a = 0; a < A; a++) {
    for (size_t b = 0; b < B; b++) {
      for (size_t c = 0; c < C; c++) {
        const int32_t x = (int32_t)(100 * a + 10 * b + c);
        rows[(a * B + b) * C + c] = columns[(c * B + b) * A + a] = x;
        narrow[(c * B + b) * A + a] = (int16_t)x;
      }
    }
  }
  const struct {
    const char *dict;
    const void *data;
    size_t bytes;
  } files[] = {
    {"{'descr': '<i4', 'fortran_order': False, 'shape': (4, 3, 5), }", rows, sizeof rows},
    {"{'descr': '<i4', 'fortran_order': True, 'shape': (4, 3, 5), }", columns, sizeof columns},
    {"{'descr': '<i2', 'fortran_order': True, 'shape': (4, 3, 5), }", narrow, sizeof narrow}};
  for (size_t i = 0; i < 3; i++) {
    abut_array_file *file;
    REQUIRE_OK(
      abut_open_arrays(npy_file("a.npy", files[i].dict, files[i].data, files[i].bytes), &file));
    expect_list(file, 1, 0, "", ABUT_ARRAY_INT32);
    CHECK_EQUAL(check_ranges(file, 0), RANGES);
    abut_close_arrays(file);
  }
}

static void archives(void)
{
  int32_t rows[A * B * C];
  const double numbers[2] = {1.5, 2.5};
  for (size_t i = 0; i < A * B * C; i++) {
    rows[i] = (int32_t)(100 * (i / (B * C)) + 10 * (i / C % B) + i % C);
  }
  const abut_array arrays[] = {{"note", ABUT_ARRAY_TEXT, 1, {4}, "text"},
                               {"rows", ABUT_ARRAY_INT32, 3, {A, B, C}, rows},
                               {"pair", ABUT_ARRAY_FLOAT64, 1, {2}, numbers}};
  const char *path = in_folder("a.npz");
  REQUIRE_OK(abut_write_npz(path, arrays, 3));
  for (int packed = 0; packed < 2; packed++) {
    abut_array_file *file;
    const size_t first[3] = {1, 0, 0}, count[3] = {1, 0, 0}, beyond[3] = {2, 0, 0};
    void *data;
    if (packed) {
      zip_t *zip = zip_open(path, 0, NULL);
      REQUIRE(zip);
      CHECK_EQUAL(zip_set_file_compression(zip, 1, ZIP_CM_DEFLATE, 0), 0);
      CHECK_EQUAL(zip_close(zip), 0);
    }
    REQUIRE_OK(abut_open_arrays(path, &file));
    expect_list(file, 3, 0, "note", ABUT_ARRAY_TEXT);
    expect_list(file, 3, 1, "rows", ABUT_ARRAY_INT32);
    CHECK_EQUAL(check_ranges(file, 1), RANGES);
    REQUIRE_OK(abut_read_array(file, 2, first, count, &data));
    CHECK(*(const double *)data == 2.5);
    abut_free(data);
    expect_failure(abut_read_array(file, 0, first, count, &data), ABUT_ERROR_FORMAT, path,
                   "array 'note': is a text; expected numbers");
    CHECK(!data);
    expect_failure(abut_read_array(file, 2, beyond, count, &data), ABUT_ERROR_ARGUMENT, path,
                   "array 'pair', dimension 0: 1 entries from 2 on are outside its 2 entries");
    expect_failure(abut_read_array(file, 3, first, count, &data), ABUT_ERROR_ARGUMENT, path,
                   "there is no array 3; there are 3");
    abut_close_arrays(file);
  }
}

static void wrong(void)
{
  static const char dict[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
  abut_array_file *file;
  const abut_array *list;
  size_t count;
  void *data;
  expect_failure(abut_open_arrays(in_folder("none.npz"), &file), ABUT_ERROR_READ,
                 in_folder("none.npz"), "No such file");
  expect_failure(abut_open_arrays(in_folder("none.npy"), &file), ABUT_ERROR_READ,
                 in_folder("none.npy"), "No such file");
  expect_failure(abut_open_arrays(write_file("e.npz", "", 0), &file), ABUT_ERROR_FORMAT,
                 in_folder("e.npz"), "the file is empty");
  expect_failure(abut_open_arrays("/dev/null", &file), ABUT_ERROR_READ, "/dev/null",
                 "not a regular file");
  expect_failure(abut_open_arrays(npy_file("s.npy", dict, dict, 8), &file), ABUT_ERROR_FORMAT,
                 in_folder("s.npy"), "8 bytes of data, but its shape needs 12");
  CHECK(!file);
  CHECK_EQUAL(abut_open_arrays(NULL, &file), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_open_arrays("a.npy", NULL), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_list_arrays(NULL, &list, &count), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_read_array(NULL, 0, &count, &count, &data), ABUT_ERROR_ARGUMENT);
  abut_close_arrays(NULL);
}

/* Compressed shapes of which the second ones are wrong: what was read of the first is freed each
 * time. */
static void wrong_shape_rows(void)
{
  double poses[6 * C] = {0};
  const uint32_t one[C] = {0, 1, 2, 3, 4};
  const int32_t two[C] = {4, 3, -2, 1, 0};
  const abut_array arrays[] = {{"s1", ABUT_ARRAY_FLOAT64, 2, {C, 6}, poses},
                               {"s2", ABUT_ARRAY_FLOAT64, 2, {C, 6}, poses},
                               {"one", ABUT_ARRAY_UINT32, 1, {C}, one},
                               {"two", ABUT_ARRAY_INT32, 1, {C}, two}};
  const char *path = in_folder("wrong.npz");
  abut_pose_file *file;
  uint32_t *a, *b;
  REQUIRE_OK(abut_write_npz(path, arrays, 4));
  zip_t *zip = zip_open(path, 0, NULL);
  REQUIRE(zip);
  CHECK_EQUAL(zip_set_file_compression(zip, 2, ZIP_CM_DEFLATE, 0), 0);
  CHECK_EQUAL(zip_close(zip), 0);
  REQUIRE_OK(abut_open_poses(path, &file, NULL));
  for (int again = 0; again < 2; again++) {
    expect_failure(abut_read_shape_rows(file, 0, 1, &a, &b), ABUT_ERROR_FORMAT, path,
                   "row 2 (0-based): -2 is not an index of a shape");
  }
  abut_close_poses(file);
}

/* Which shapes poses are of, by ranges. */
static void shape_rows(void)
{
  double poses[6 * C] = {0};
  const uint32_t one[C] = {0, 1, 2, 3, 4}, two[C] = {4, 3, 2, 1, 0};
  const abut_array arrays[] = {{"s1", ABUT_ARRAY_FLOAT64, 2, {C, 6}, poses},
                               {"s2", ABUT_ARRAY_FLOAT64, 2, {C, 6}, poses},
                               {"one", ABUT_ARRAY_UINT32, 1, {C}, one},
                               {"two", ABUT_ARRAY_UINT32, 1, {C}, two}};
  const char *path = in_folder("rows.npz");
  for (size_t count = 2; count <= 4; count++) {
    abut_pose_file *file;
    uint32_t *a, *b;
    REQUIRE_OK(abut_write_npz(path, arrays, count));
    REQUIRE_OK(abut_open_poses(path, &file, NULL));
    if (count == 3) {
      expect_failure(abut_read_shape_rows(file, 0, 1, &a, &b), ABUT_ERROR_FORMAT, path,
                     "array 'two' is missing");
    } else {
      REQUIRE_OK(abut_read_shape_rows(file, 1, 3, &a, &b));
      CHECK(count == 2 ? !a && !b : a[0] == 1 && a[2] == 3 && b[0] == 3 && b[2] == 1);
      abut_free(a);
      abut_free(b);
    }
    expect_failure(abut_read_shape_rows(file, 3, 3, &a, &b), ABUT_ERROR_ARGUMENT, path,
                   "poses 3 to 6 are outside its 5 poses");
    CHECK_EQUAL(abut_read_shape_rows(file, 0, 1, NULL, &b), ABUT_ERROR_ARGUMENT);
    abut_close_poses(file);
  }
}

int main(void)
{
  folder_make();
  one_array();
  archives();
  wrong();
  shape_rows();
  wrong_shape_rows();
  folder_remove();
  return check_finish();
}
