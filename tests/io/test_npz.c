#include "samples.h"
#include "support.h"

#include <abut/closest.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* A member as it stands in the archive: bytes that this test makes up. */
typedef struct raw {
  const char *name;
  buffer bytes;
} raw;

static raw npy(const char *name, const char *dict, const void *data, size_t count)
{
  raw r = {name, {0}};
  char length[2] = {(char)(strlen(dict) & 0xFF), (char)(strlen(dict) >> 8)};
  buffer_put(&r.bytes, "\x93NUMPY\x01\x00", 8);
  buffer_put(&r.bytes, length, 2);
  buffer_put(&r.bytes, dict, strlen(dict));
  buffer_put(&r.bytes, data, count);
  return r;
}

/* Writes members as an archive, takes their bytes, and returns the path. */
static const char *archive(const char *file, raw *members, size_t count, int method)
{
  const char *path = in_folder(file);
  zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  REQUIRE(zip);
  for (size_t i = 0; i < count; i++) {
    buffer *b = &members[i].bytes;
    zip_source_t *source = zip_source_buffer(zip, b->bytes, b->count, 0);
    zip_int64_t index = zip_file_add(zip, members[i].name, source, 0);
    CHECK(index >= 0);
    CHECK_EQUAL(zip_set_file_compression(zip, (zip_uint64_t)index, method, 0), 0);
  }
  CHECK_EQUAL(zip_close(zip), 0);
  for (size_t i = 0; i < count; i++) {
    free(members[i].bytes.bytes);
  }
  return path;
}

static const char *one(const char *dict, const void *data, size_t count)
{
  raw member = npy("x.npy", dict, data, count);
  return archive("one.npz", &member, 1, ZIP_CM_DEFLATE);
}

static void round_trip(void)
{
  static const float f[6] = {1, -2.5f, 3e-30f, NAN, INFINITY, 0};
  static const double d[2] = {0.1, -1e300};
  static const uint32_t u[4] = {0, 1, UINT32_MAX, 7};
  static const int32_t w[2] = {INT32_MIN, 5};
  static const int64_t l[2] = {INT64_MIN, INT64_MAX};
  static const char utf8[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  const abut_array arrays[] = {
    {"f", ABUT_ARRAY_FLOAT32, 3, {1, 2, 3}, f},
    {"d", ABUT_ARRAY_FLOAT64, 1, {2}, d},
    {"b", ABUT_ARRAY_UINT8, 2, {2, 3}, "abcdef"},
    {"u", ABUT_ARRAY_UINT32, 4, {1, 1, 4, 1}, u},
    {"none", ABUT_ARRAY_FLOAT32, 2, {0, 3}, NULL},
    {"scalar", ABUT_ARRAY_FLOAT64, 0, {0}, d},
    {"text", ABUT_ARRAY_TEXT, 1, {sizeof utf8 - 1}, utf8},
    {"empty", ABUT_ARRAY_TEXT, 1, {0}, NULL},
    {"i", ABUT_ARRAY_INT32, 1, {2}, w},
    {"l", ABUT_ARRAY_INT64, 2, {2, 1}, l},
  };
  size_t count = sizeof arrays / sizeof *arrays;
  static const size_t bytes[] = {24, 16, 6, 16, 0, 8, sizeof utf8 - 1, 0, 8, 16};
  const char *path = in_folder("all.npz");
  abut_npz npz;
  REQUIRE_OK(abut_write_npz(path, arrays, count));
  REQUIRE_OK(abut_read_npz(path, &npz));
  require(CHECK_EQUAL(npz.count, count));
  for (size_t i = 0; i < count; i++) {
    const abut_array *a = &npz.arrays[i];
    CHECK_TEXT(a->name, arrays[i].name);
    CHECK_EQUAL(a->type, arrays[i].type);
    CHECK_EQUAL(a->dimensions, arrays[i].dimensions);
    CHECK(!memcmp(a->shape, arrays[i].shape, a->dimensions * sizeof *a->shape));
    if (bytes[i]) {
      CHECK(!memcmp(a->data, arrays[i].data, bytes[i]));
    }
  }
  abut_free_npz(&npz);
  CHECK(!npz.arrays);
}

/* The bytes that NumPy looks at: magic, alignment of the data, the dictionary. */
static void header_bytes(void)
{
  const abut_array arrays[] = {{"d", ABUT_ARRAY_FLOAT64, 1, {1}, &(double){1}},
                               {"t", ABUT_ARRAY_TEXT, 1, {2}, "hi"}};
  static const char *const dicts[] = {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
                                      "{'descr': '<U2', 'fortran_order': False, 'shape': (), }"};
  const char *path = in_folder("h.npz");
  REQUIRE_OK(abut_write_npz(path, arrays, 2));
  zip_t *zip = zip_open(path, ZIP_RDONLY, NULL);
  REQUIRE(zip);
  for (zip_uint64_t i = 0; i < 2; i++) {
    char bytes[256];
    zip_stat_t info;
    CHECK_EQUAL(zip_stat_index(zip, i, 0, &info), 0);
    CHECK_TEXT(info.name, i ? "t.npy" : "d.npy");
    CHECK_EQUAL(info.comp_method, ZIP_CM_STORE);
    zip_file_t *file = zip_fopen_index(zip, i, 0);
    zip_int64_t got = zip_fread(file, bytes, sizeof bytes);
    zip_fclose(file);
    CHECK_EQUAL(got, 128 + 8);
    CHECK(!memcmp(bytes, "\x93NUMPY\x01\x00\x76\x00", 10));
    CHECK(!memcmp(bytes + 10, dicts[i], strlen(dicts[i])));
    CHECK_EQUAL(bytes[127], '\n');
    CHECK(!memcmp(bytes + 128, i ? "h\0\0\0i\0\0\0" : "\0\0\0\0\0\0\xF0\x3F", 8));
  }
  zip_discard(zip);
}

/* Python's own reader agrees, where there is one with NumPy. */
static void numpy_reads_it(void)
{
  if (system("python3 -c 'import numpy' 2>/dev/null") != 0) {
    printf("not run: no Python with NumPy\n");
    return;
  }
  static const float f[4] = {1, 2, 3, 4};
  const abut_array arrays[] = {{"f", ABUT_ARRAY_FLOAT32, 2, {2, 2}, f},
                               {"t", ABUT_ARRAY_TEXT, 1, {3}, "a\xC3\xA9"},
                               {"e", ABUT_ARRAY_TEXT, 1, {0}, NULL}};
  char command[1024];
  const char *path = in_folder("n.npz");
  REQUIRE_OK(abut_write_npz(path, arrays, 3));
  snprintf(command, sizeof command,
           "python3 -c 'import numpy as n; z = n.load(\"%s\", allow_pickle=False);"
           "assert z[\"f\"].tolist() == [[1, 2], [3, 4]] and z[\"f\"].dtype == n.float32;"
           "assert z[\"t\"][()] == \"a\\u00e9\" and z[\"e\"][()] == \"\"'",
           path);
  CHECK_EQUAL(system(command), 0);
}

static void accepted_headers(void)
{
  static const double d[6] = {1, 2, 3, 4, 5, 6};
  static const char *const dicts[] = {
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }      \n",
    "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f8\"}",
    "  { 'shape' : ( 2 , 3 , ) , 'descr' : '<f8' , 'fortran_order' : False }\n"};
  for (size_t i = 0; i < 3; i++) {
    abut_npz npz;
    REQUIRE_OK(abut_read_npz(one(dicts[i], d, sizeof d), &npz));
    CHECK_EQUAL(npz.arrays[0].shape[0], 2);
    CHECK_EQUAL(npz.arrays[0].shape[1], 3);
    CHECK(!memcmp(npz.arrays[0].data, d, sizeof d));
    abut_free_npz(&npz);
  }
  for (char version = 2; version < 4; version++) {
    abut_npz npz;
    raw r = {"x.npy", {0}};
    const char dict[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
    buffer_put(&r.bytes, "\x93NUMPY", 6);
    buffer_put(&r.bytes, &version, 1);
    buffer_put(&r.bytes, "", 1);
    buffer_u32(&r.bytes, sizeof dict - 1, 0);
    buffer_text(&r.bytes, "%sq", dict);
    REQUIRE_OK(abut_read_npz(archive("v.npz", &r, 1, ZIP_CM_STORE), &npz));
    CHECK_EQUAL(*(const char *)npz.arrays[0].data, 'q');
    abut_free_npz(&npz);
  }
}

#define DICT(descr, order, shape) \
  "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

/* Counted off by hand: element (i, j, k) is 100 i + 10 j + k, and i runs fastest. */
static void fortran_order(void)
{
  static const float cube[12] = {0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121};
  static const float sorted[12] = {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};
  abut_npz npz;
  const char *path = one(DICT("'<f4'", "True", "(2, 3, 2)"), cube, sizeof cube);
  REQUIRE_OK(abut_read_npz(path, &npz));
  CHECK_EQUAL(npz.arrays[0].dimensions, 3);
  CHECK(npz.arrays[0].shape[0] == 2 && npz.arrays[0].shape[1] == 3);
  CHECK(!memcmp(npz.arrays[0].data, sorted, sizeof sorted));
  abut_free_npz(&npz);
  path = one(DICT("'<f4'", "True", "(12,)"), cube, sizeof cube);
  REQUIRE_OK(abut_read_npz(path, &npz));
  CHECK(!memcmp(npz.arrays[0].data, cube, sizeof cube));
  abut_free_npz(&npz);
  path = one(DICT("'|b1'", "False", "(2,)"), "\1", 2);
  REQUIRE_OK(abut_read_npz(path, &npz));
  CHECK(npz.arrays[0].type == ABUT_ARRAY_UINT8 && !memcmp(npz.arrays[0].data, "\1", 2));
  abut_free_npz(&npz);
  path = one(DICT("'<f4'", "True", "(3, 0, 2)"), cube, 0);
  REQUIRE_OK(abut_read_npz(path, &npz));
  abut_free_npz(&npz);
}

/* Narrow whole numbers become int32, also those in Fortran order. */
static void narrow_numbers(void)
{
  static const int8_t bytes[] = {-128, 127, 0, -1, 5, 6};
  static const int16_t shorts[] = {-32768, 32767, 0, -1, 5, 6};
  static const uint16_t counts[] = {65535, 32768, 0, 1, 5, 6};
  static const struct {
    const char *dict;
    const void *data;
    size_t size;
    int32_t wanted[6];
  } cases[] = {
    {DICT("'|i1'", "False", "(2, 3)"), bytes, 1, {-128, 127, 0, -1, 5, 6}},
    {DICT("'<i2'", "False", "(2, 3)"), shorts, 2, {-32768, 32767, 0, -1, 5, 6}},
    {DICT("'<i2'", "True", "(2, 3)"), shorts, 2, {-32768, 0, 5, 32767, -1, 6}},
    {DICT("'<u2'", "False", "(2, 3)"), counts, 2, {65535, 32768, 0, 1, 5, 6}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    abut_npz npz;
    REQUIRE_OK(abut_read_npz(one(cases[i].dict, cases[i].data, 6 * cases[i].size), &npz));
    CHECK(npz.count == 1 && npz.arrays[0].type == ABUT_ARRAY_INT32 && npz.arrays[0].shape[1] == 3);
    CHECK(!memcmp(npz.arrays[0].data, cases[i].wanted, sizeof cases[i].wanted));
    abut_free_npz(&npz);
  }
}

static void wrong_headers(void)
{
  static const struct {
    const char *dict, *part;
  } cases[] = {
    {DICT("'>f8'", "False", "(2,)"),
     "dtype '>f8' is big-endian; only little-endian data can be read"},
    {DICT("'|O'", "False", "(2,)"), "Python objects"},
    {DICT("'<f2'", "False", "(2,)"), "array 'x': dtype '<f2' (float16) is not supported"},
    {DICT("'<u8'", "False", "(2,)"), "array 'x': dtype '<u8' (uint64) is not supported"},
    {DICT("'>i8'", "False", "(2,)"),
     "dtype '>i8' is big-endian; only little-endian data can be read"},
    {DICT("'<c8'", "False", "(2,)"), "array 'x': dtype '<c8' (complex64) is not supported"},
    {DICT("'>i2'", "False", "(8,)"),
     "dtype '>i2' is big-endian; only little-endian data can be read"},
    {DICT("'|S16'", "False", "()"), "array 'x': dtype '|S16' is not supported"},
    {DICT("[('a', '<f8')]", "False", "(2,)"), "structured"},
    {DICT("'<f8'", "false", "(2,)"), "fortran_order is not True or False"},
    {DICT("'<f8'", "True", "(3, 3)"), "16 bytes of data, but its shape needs 72"},
    {DICT("'<f8'", "False", "(3,)"), "16 bytes of data, but its shape needs 24"},
    {DICT("'<f8'", "False", "(1,)"), "16 bytes of data, but its shape needs 8"},
    {DICT("'<f8'", "False", "(-2,)"),
     "array 'x': the shape is too large, or has an entry that is not a whole"},
    {DICT("'<f8'", "False", "(2)"), "not a tuple"},
    {DICT("'<f8'", "False", "2"), "not a tuple"},
    {DICT("'<f8'", "False", "(2, , )"),
     "array 'x': the shape is too large, or has an entry that is not a whole"},
    {DICT("'<f8'", "False", "(2 1)"),
     "array 'x': the shape is too large, or has an entry that is not a whole"},
    {DICT("'<f8'", "False", "(99999999999999999999,)"), "too large"},
    {DICT("'<f8'", "False", "(4294967296, 4294967296)"), "the shape is too large for memory"},
    {DICT("'<f8'", "False", "(2305843009213693952, )"), "the shape is too large for memory"},
    {DICT("'<f8'", "False", "(1152921504606846976, )"), "its shape needs 9223372036854775808"},
    {DICT("'<f8'", "False", "(1, 1, 1, 1, 2)"), "more than 4 dimensions"},
    {DICT("'<U4'", "False", "(1,)"), "is an array of texts; expected numbers, or a single text"},
    {DICT("'<U'", "False", "()"), "array 'x': dtype '<U' is not supported"},
    {DICT("'<Ux'", "False", "()"), "unknown dtype '"},
    {DICT("'<U4'", "False", "()"), "character 0 is not a Unicode character"},
    {DICT("'<f8', 'descr': '<f8'", "False", "(2,)"), "unknown key 'descr'"},
    {DICT("'<f8', 'extra': 1", "False", "(2,)"), "unknown key 'extra'"},
    {"{'descr': '<f8', 'shape': (2,)}\n", "lacks a key"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} 1",
     "array 'x': the header lacks a key, or has data after its dictionary"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)", "not a dictionary"},
    {"{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}", "not a dictionary"},
    {"", "not a dictionary"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    abut_npz npz;
    const char *path = one(cases[i].dict, "\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, cases[i].part);
    CHECK(strstr(abut_last_error(), "array 'x': "));
    CHECK(!npz.arrays);
  }
}

/* Arrays that cannot be read are no matter where others are asked for. */
static void named_arrays(void)
{
  static const char *const names[] = {"c", "a", "not there"}, *const holes[] = {"a", NULL};
  raw r[4] = {npy("a.npy", DICT("'<f8'", "False", "(1,)"), &(double){1}, 8),
              npy("texts.npy", DICT("'<U1'", "False", "(1,)"), "x\0\0\0", 4),
              npy("c.npy", DICT("'<f8'", "False", "(1,)"), &(double){2}, 8),
              {"a.txt", {0}}};
  buffer_text(&r[3].bytes, "x");
  abut_npz npz;
  const char *path = archive("named.npz", r, 4, ZIP_CM_STORE);
  REQUIRE_OK(abut_read_npz_arrays(path, names, 3, &npz));
  require(CHECK_EQUAL(npz.count, 2));
  CHECK_TEXT(npz.arrays[0].name, "a");
  CHECK_TEXT(npz.arrays[1].name, "c");
  CHECK(((const double *)npz.arrays[1].data)[0] == 2.0);
  abut_free_npz(&npz);
  CHECK_OK(abut_read_npz_arrays(path, names, 0, &npz));
  CHECK_EQUAL(npz.count, 0);
  abut_free_npz(&npz);
  expect_failure(abut_read_npz_arrays(path, &(const char *){"texts"}, 1, &npz), ABUT_ERROR_FORMAT,
                 path, "'texts': is an array of texts; expected numbers, or a single text");
  CHECK(!npz.arrays);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path,
                 "'texts': is an array of texts; expected numbers, or a single text");
  expect_failure(abut_read_npz_arrays(path, holes, 2, &npz), ABUT_ERROR_ARGUMENT, "",
                 "name 1 is NULL");
  expect_failure(abut_read_npz_arrays(path, NULL, 0, &npz), ABUT_ERROR_ARGUMENT, "", "is NULL");
}

static void wrong_members(void)
{
  static const char dict[] = DICT("'<f8'", "False", "(1,)");
  abut_npz npz;
  raw r[2] = {{"a.npy", {0}}, {"a.txt", {0}}};
  buffer_text(&r[0].bytes, "not an array, but long enough");
  const char *path = archive("m.npz", r, 1, ZIP_CM_STORE);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "'a': is not an .npy array");
  r[0].bytes = (buffer){0};
  buffer_put(&r[0].bytes, "\x93NUM", 4);
  path = archive("m.npz", r, 1, ZIP_CM_STORE);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "'a': truncated");
  r[0].bytes = (buffer){0};
  buffer_put(&r[0].bytes, "\x93NUMPY\x04\x00\x01\x00{", 11);
  path = archive("m.npz", r, 1, ZIP_CM_STORE);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "version 4.0");
  r[0].bytes = (buffer){0};
  buffer_put(&r[0].bytes, "\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{", 13);
  path = archive("m.npz", r, 1, ZIP_CM_STORE);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path,
                 "array 'a': the header has 4294967295 bytes, which is too many");
  r[0].bytes = (buffer){0};
  buffer_put(&r[0].bytes, "\x93NUMPY\x01\x00\xF0\x00{}", 12);
  path = archive("m.npz", r, 1, ZIP_CM_DEFLATE);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "'a': truncated");
  r[0] = npy("a.npy", dict, &(double){1}, 8);
  r[1].bytes = (buffer){0};
  buffer_text(&r[1].bytes, "x");
  path = archive("m.npz", r, 2, ZIP_CM_STORE);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "'a.txt' is not an .npy");
  path = write_text("m.npz", "not an archive");
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "not an .npz archive");
  path = write_text("m.npz", "");
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "not an .npz archive");
  path = in_folder("none.npz");
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_READ, path, "No such file");
}

/* Stored data changed, which only the checksum can tell; a size that deflate cannot reach. */
static void damaged_members(void)
{
  static const char dict[] = DICT("'<f8'", "False", "(1,)");
  abut_npz npz;
  size_t count;
  raw r = npy("a.npy", dict, "\1\2\3\4\5\6\7\10", 8);
  char *bytes = slurp(archive("c.npz", &r, 1, ZIP_CM_STORE), &count);
  char *at = memchr(bytes, 3, count);
  while (at && memcmp(at - 2, "\1\2\3\4\5", 5) != 0) {
    at = memchr(at + 1, 3, count - (size_t)(at + 1 - bytes));
  }
  REQUIRE(at);
  *at = 9;
  const char *path = write_file("c.npz", bytes, count);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "checksum");
  *at = 3;
  char *directory = bytes;
  while (memcmp(directory, "PK\1\2", 4) != 0) {
    directory++;
  }
  memcpy(directory + 24, "\0\0\0\x40", 4); /* the size it unpacks to: 1 GiB */
  path = write_file("c.npz", bytes, count);
  expect_failure(abut_read_npz(path, &npz), ABUT_ERROR_FORMAT, path, "1073741824 bytes cannot");
  free(bytes);
}

static const char *poses_file(const char *name1, const char *dict1, const char *name2,
                              const char *dict2)
{
  static const char zeros[112];
  raw r[2] = {npy(name1, dict1, zeros, 0), npy(name2, dict2, zeros, 0)};
  const char *dicts[2] = {dict1, dict2};
  for (int i = 0; i < 2; i++) {
    int rows = 0, columns = 0, size = 8;
    const char *shape = strchr(dicts[i], '(');
    sscanf(strstr(dicts[i], "descr") + 10, "%*c%d", &size);
    if (sscanf(shape, "(%d, %d", &rows, &columns) < 2) {
      columns = 1;
    }
    buffer_put(&r[i].bytes, zeros, (size_t)(rows * columns * size));
  }
  return archive("p.npz", r, 2, ZIP_CM_DEFLATE);
}

static void good_poses(void)
{
  sample s[SAMPLE_LIMIT];
  size_t count = samples_make(SAMPLE_NPZ, s);
  require(CHECK_EQUAL(count, 3));
  for (size_t i = 0; i < 2; i++) {
    abut_poses p;
    REQUIRE_OK(abut_load_poses(write_file("p.npz", s[i].bytes, s[i].count), &p));
    require(CHECK_EQUAL(p.count, 2));
    CHECK_EQUAL(p.kind, i ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST);
    CHECK(p.pose1[0] == 0.5 && p.pose1[2] == 2);
    CHECK(p.pose2[1] == 1.75); /* the high half of 0.5 as a double, read as a float */
    abut_free_poses(&p);
    free(s[i].bytes);
  }
  abut_poses p;
  const char *path = write_file("p.npz", s[2].bytes, s[2].count);
  REQUIRE_OK(abut_load_poses(path, &p));
  CHECK(p.pose1[0] == 1 && p.pose1[1] == 3 && p.pose1[6] == 2 && p.pose1[3] == -7);
  CHECK(p.pose2[0] == 1 && p.pose2[1] == -2);
  CHECK(p.pair[0] == UINT32_MAX && p.pair[1] == 0 && !p.lines);
  abut_free_poses(&p);
  free(s[2].bytes);
  path = poses_file("s1.npy", DICT("'<f4'", "False", "(0, 6)"), "s2.npy",
                    DICT("'<f8'", "False", "(0, 6)"));
  REQUIRE_OK(abut_load_poses(path, &p));
  CHECK_EQUAL(p.count, 0);
  abut_free_poses(&p);
}

static void wrong_poses(void)
{
  static const char good[] = DICT("'<f8'", "False", "(2, 6)");
  static const struct {
    const char *name1, *dict1, *name2, *dict2, *part;
  } cases[] = {
    {"s1.npy", good, "s2.npy", DICT("'<f8'", "False", "(1, 6)"), "2 poses of body 1, but 1"},
    {"s1.npy", good, "s2.npy", DICT("'<f8'", "False", "(2, 7)"), "'s2': must have shape (N, 6)"},
    {"s1.npy", good, "s2.npy", DICT("'<f8'", "False", "(12,)"), "'s2': must have shape (N, 6)"},
    {"s1.npy", DICT("'<u8'", "False", "(2, 6)"), "s2.npy", good, "'s1': dtype '<u8' (uint64)"},
    {"s1.npy", good, "pose2.npy", good,
     "contains s1 and pose2; poses must be s1 and s2, or pose1 and "
     "pose2"},
    {"s1.npy", good, "x.npy", good, "array 's2' is missing"},
    {"pose2.npy", good, "x.npy", good, "array 'pose1' is missing"},
    {"x.npy", good, "y.npy", good, "contains no poses: expected s1, s2 or pose1, pose2"},
    {"pose1.npy", good, "pose2.npy", good, "'pose1': must have shape (N, 7)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    abut_poses p;
    const char *path = poses_file(cases[i].name1, cases[i].dict1, cases[i].name2, cases[i].dict2);
    expect_failure(abut_load_poses(path, &p), ABUT_ERROR_FORMAT, path, cases[i].part);
    CHECK(p.count == 0 && !p.pose1 && !p.pose2);
  }
}

#define PAIR_HEAD "x1,y1,z1,a1,b1,c1,x2,y2,z2,a2,b2,c2,pair\n"
#define HEAD7 "x1,y1,z1,qw1,qx1,qy1,qz1,x2,y2,z2,qw2,qx2,qy2,qz2\n"
#define HEAD "x1,y1,z1,a1,b1,c1,x2,y2,z2,a2,b2,c2\n"

static void csv_poses(void)
{
  sample s[SAMPLE_LIMIT];
  abut_poses p;
  samples_make(SAMPLE_CSV, s);
  REQUIRE_OK(abut_load_poses(write_text("p.CSV", s[0].bytes), &p));
  require(CHECK_EQUAL(p.count, 2));
  CHECK_EQUAL(p.kind, ABUT_POSE_TWIST);
  CHECK(p.pose2[0] == 1 && p.pose2[5] == 0.3 && p.pose1[6] == 1e-3);
  CHECK(isnan(p.pose1[7]) && p.pose1[8] == INFINITY && p.pose1[9] == -INFINITY);
  CHECK(!p.pair);
  abut_free_poses(&p);
  free(s[0].bytes);
  REQUIRE_OK(abut_load_poses(write_text("p.csv", s[1].bytes), &p));
  CHECK(p.lines[0] == 2 && p.lines[1] == 3);
  CHECK(p.count == 2 && p.pair[0] == UINT32_MAX && p.pair[1] == 0 && p.pose1[6] == 1);
  abut_free_poses(&p);
  free(s[1].bytes);
  free(s[2].bytes);
  REQUIRE_OK(abut_load_poses(write_text("p.csv", HEAD7 "1,2,3,4,5,6,7,8,9,10,11,12,13,14\n"), &p));
  CHECK(p.count == 1 && p.kind == ABUT_POSE_QUATERNION && !p.pair);
  for (int i = 0; i < 7; ++i) {
    CHECK(p.pose1[i] == i + 1 && p.pose2[i] == i + 8);
  }
  abut_free_poses(&p);
  static const char *const heads[] = {
    "x_1,y_1,z_1,qw_1,qx_1,qy_1,qz_1,x_2,y_2,z_2,qw_2,qx_2,qy_2,qz_2,pair\n",
    "a.X,a.Y,a.Z,a.q_w,a.q_x,a.q_y,a.q_z,b.X,b.Y,b.Z,b.q_w,b.q_x,b.q_y,b.q_z,pair\n"};
  for (int i = 0; i < 2; ++i) {
    char text[256];
    snprintf(text, sizeof text, "%s0,0,0,1,0,0,0,0,0,0,1,0,0,2,3\n", heads[i]);
    REQUIRE_OK(abut_load_poses(write_text("p.csv", text), &p));
    CHECK(p.kind == ABUT_POSE_QUATERNION && p.pair[0] == 3 && p.pose2[6] == 2);
    abut_free_poses(&p);
  }
  REQUIRE_OK(abut_load_poses(write_text("p.csv", "\xEF\xBB\xBF" HEAD "\n\n"), &p));
  CHECK_EQUAL(p.count, 0);
  abut_free_poses(&p);
  static const struct {
    const char *text, *at, *part;
  } wrong[] = {
    {"", ":1: ", "empty"},
    {"0,0,0,0,0,0,0,0,0,0,0,0\n", ":1: ", "expected a header, found numbers"},
    {"x,y\n", ":1: ", "2 columns"},
    {HEAD "0,0,0,0,0,0,0,0,0,0,0\n", ":2: ", "11 columns"},
    {HEAD "\n0,0,0,0,0,0,0,0,0,0,0,0,\n", ":3: ", "13 columns"},
    {HEAD "0;0;0;0;0;0;0;0;0;0;0;0\n", ":2: ", "1 columns"},
    {HEAD "0,0,0,0,0,0,0,0,0,0,0,0\n0,0,0,0,0,,0,0,0,0,0,0\n", ":3: ", "column 6: ''"},
    {HEAD "0,0,0,0,0,0,0,0,0,0,0,1 2\n", ":2: ", "column 12: '1 2'"},
    {HEAD "0,0x1,0,0,0,0,0,0,0,0,0,0\n", ":2: ", "column 2: '0x1'"},
    {"x1,y1,z1,a1,b1,c1,x2,y2,z2,a2,b2,c2,part\n", ":1: ", "13 columns"},
    {PAIR_HEAD "0,0,0,0,0,0,0,0,0,0,0,0\n", ":2: ", "has 12 columns, but the header has 13"},
    {PAIR_HEAD "0,0,0,0,0,0,0,0,0,0,0,0,-1\n", ":2: ", "pair: '-1'"},
    {PAIR_HEAD "0,0,0,0,0,0,0,0,0,0,0,0,0.5\n", ":2: ", "pair: '0.5'"},
    {PAIR_HEAD "0,0,0,0,0,0,0,0,0,0,0,0,4294967296\n",
     ":2: ", "pair: '4294967296' is not an index of a pair"},
    {"x,y\n", ":1: has 2 columns",
     ", expected 12 (twists s1, s2) or 14 (x y z qw qx qy qz, twice), followed by `pair` if there "
     "are several pairs; .npz files contain s1, s2 or pose1, pose2"},
    {"x;y;z\n", ":1: has 1 column (", "separated by commas, not by semicolons), expected 12"},
    {"x\ty\n", ":1: has 1 column (", "separated by commas, not by tabs), expected 12"},
    {HEAD7 "0,0,0,1,0,0,0,0,0,0,1,0,0\n", ":2: ", "has 13 columns, but the header has 14"},
    {"x1,y1,z1,qx1,qy1,qz1,qw1,x2,y2,z2,qx2,qy2,qz2,qw2\n",
     ":1: ", "column 4 is 'qx1'; 14 columns must be x y z qw qx qy qz of body"},
    {"1,2,3,4,5,6,7,8,9,10,11,12,13,14\n", ":1: ", "expected a header, found numbers"},
    {"a,b,c,d,e,f,g,h,i,j,k,l,m,n\n",
     ":1: ", "column 1 is 'a'; 14 columns must be x y z qw qx qy qz of body 1"},
    {"x1,y1,z1,qw1,qx1,qy1,qz1,x2,y2,z2,qw2,qx2,qy2,qz2,part\n", ":1: ", "15 columns"},
    {"x,y,z,roll,pitch,yaw,x,y,z,roll,pitch,yaw\n", ":1: ",
     "column 4 is 'roll'; 12 columns must be the twist of body 1 and then of body 2: the position "
     "if there is no rotation, and the rotation vector [rad] (use 14 columns for quaternions)"},
    {"y1,x1,z1,a1,b1,c1,x2,y2,z2,a2,b2,c2\n", ":1: ",
     "column 1 is 'y1'; 12 columns must be the twist of body 1 and then of body 2: the position if "
     "there is no rotation, and the rotation vector [rad] (use 14 columns for quaternions)"},
    {"x1,y1,z1,a1,b1,c1,z2,y2,x2,a2,b2,c2\n", ":1: ",
     "column 7 is 'z2'; 12 columns must be the twist of body 1 and then of body 2: the position if "
     "there is no rotation"},
    {"qw,qx,qy,qz,a,b,c,d,e,f,g,h\n", ":1: ",
     "column 1 is 'qw'; 12 columns must be the twist of body 1 and then of body 2: the position if "
     "there is no rotation"},
    {HEAD "0,nano,0,0,0,0,0,0,0,0,0,0\n", ":2: ", "column 2: 'nano'"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const char *path = write_text("p.csv", wrong[i].text);
    char start[512];
    snprintf(start, sizeof start, "%s%s", path, wrong[i].at);
    expect_failure(abut_load_poses(path, &p), ABUT_ERROR_FORMAT, start, wrong[i].part);
    CHECK(!p.pose1 && !p.pose2 && !p.pair);
  }
  const char *path = write_text("p.txt", HEAD);
  expect_failure(abut_load_poses(path, &p), ABUT_ERROR_FORMAT, path, ".npz, .npy or .csv");
  expect_failure(abut_load_poses(NULL, &p), ABUT_ERROR_ARGUMENT, "", "NULL");
}

/* Archives of poses with such an array of pairs. */
static void npz_pairs(void)
{
  static const double numbers[14];
  static const uint32_t words[2] = {7, 0};
  static const int64_t longs[5] = {7, 0, -1, (int64_t)UINT32_MAX + 1, 0};
  static const struct {
    abut_array array;
    const char *part;
  } cases[] = {
    {{"pair", ABUT_ARRAY_UINT32, 1, {2}, words}, NULL},
    {{"pair", ABUT_ARRAY_UINT8, 1, {2}, words}, NULL},
    {{"pair", ABUT_ARRAY_UINT32, 1, {1}, words}, "'pair': must have shape (N,) for the 2 poses"},
    {{"pair", ABUT_ARRAY_UINT32, 2, {2, 1}, words}, "'pair': must have shape (N,) for the 2 poses"},
    {{"pair", ABUT_ARRAY_INT32, 1, {2}, words}, NULL},
    {{"pair", ABUT_ARRAY_INT64, 1, {2}, longs}, NULL},
    {{"pair", ABUT_ARRAY_INT64, 1, {2}, longs + 1},
     "'pair': row 1 (0-based): -1 is not an index of "},
    {{"pair", ABUT_ARRAY_INT64, 1, {2}, longs + 3},
     "'pair': row 0 (0-based): 4294967296 is not an index of "},
    {{"pair", ABUT_ARRAY_FLOAT32, 1, {2}, words},
     "'pair': has dtype float32, expected uint8, uint32, int32 or int64"},
    {{"pair", ABUT_ARRAY_TEXT, 1, {2}, "ab"},
     "'pair': has dtype text, expected uint8, uint32, int32 or int64"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    abut_poses p;
    const char *path = in_folder("p.npz");
    const abut_array arrays[] = {{"pose1", ABUT_ARRAY_FLOAT64, 2, {2, 7}, numbers},
                                 {"pose2", ABUT_ARRAY_FLOAT64, 2, {2, 7}, numbers},
                                 cases[i].array};
    REQUIRE_OK(abut_write_npz(path, arrays, 3));
    if (cases[i].part) {
      expect_failure(abut_load_poses(path, &p), ABUT_ERROR_FORMAT, path, cases[i].part);
      CHECK(!p.pose1 && !p.pair);
    } else {
      REQUIRE_OK(abut_load_poses(path, &p));
      CHECK(p.pair[0] == 7 && p.pair[1] == 0);
      abut_free_poses(&p);
    }
  }
}

/* Archives of poses with arrays of shapes. */
static void npz_shapes(void)
{
  static const double numbers[14];
  static const uint8_t bytes[2] = {1, 0};
  static const int64_t longs[4] = {(int64_t)UINT32_MAX, 3, -1, 0};
  static const struct {
    size_t count; /* of the arrays below, from the first */
    abut_array rows[2];
    const char *part;
  } cases[] = {
    {2, {{"one", ABUT_ARRAY_UINT8, 1, {2}, bytes}, {"two", ABUT_ARRAY_INT64, 1, {2}, longs}}, NULL},
    {1, {{"one", ABUT_ARRAY_UINT8, 1, {2}, bytes}}, "array 'two' is missing"},
    {1, {{"two", ABUT_ARRAY_UINT8, 1, {2}, bytes}}, "array 'one' is missing"},
    {2,
     {{"one", ABUT_ARRAY_UINT8, 1, {2}, bytes}, {"two", ABUT_ARRAY_INT64, 1, {2}, longs + 2}},
     "'two': row 0 (0-based): -1 is not an index of a shape"},
    {2,
     {{"one", ABUT_ARRAY_FLOAT64, 1, {2}, numbers}, {"two", ABUT_ARRAY_INT64, 1, {2}, longs}},
     "'one': has dtype float64, expected uint8, uint32, int32 or int64"},
    {2,
     {{"one", ABUT_ARRAY_UINT8, 1, {1}, bytes}, {"two", ABUT_ARRAY_INT64, 1, {2}, longs}},
     "'one': must have shape (N,) for the 2 poses"},
  };
  uint32_t *one, *two;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = in_folder("rows.npz");
    const abut_array arrays[] = {{"pose1", ABUT_ARRAY_FLOAT64, 2, {2, 7}, numbers},
                                 {"pose2", ABUT_ARRAY_FLOAT64, 2, {2, 7}, numbers},
                                 cases[i].rows[0],
                                 cases[i].rows[1]};
    REQUIRE_OK(abut_write_npz(path, arrays, 2 + cases[i].count));
    if (cases[i].part) {
      expect_failure(abut_load_shape_rows(path, 2, &one, &two), ABUT_ERROR_FORMAT, path,
                     cases[i].part);
      CHECK(!one && !two);
    } else {
      REQUIRE_OK(abut_load_shape_rows(path, 2, &one, &two));
      CHECK(one[0] == 1 && one[1] == 0 && two[0] == UINT32_MAX && two[1] == 3);
      abut_free(one);
      abut_free(two);
    }
    REQUIRE_OK(abut_write_npz(path, arrays, 2));
    REQUIRE_OK(abut_load_shape_rows(path, 2, &one, &two));
    CHECK(!one && !two);
  }
  REQUIRE_OK(abut_load_shape_rows("none.csv", 2, &one, &two));
  CHECK(!one && !two);
  expect_failure(abut_load_shape_rows(in_folder("none.npz"), 2, &one, &two), ABUT_ERROR_READ, "",
                 "none.npz");
  expect_failure(abut_load_shape_rows(NULL, 2, &one, &two), ABUT_ERROR_ARGUMENT, "", "NULL");
}

static void pair_lists(void)
{
  sample s[SAMPLE_LIMIT];
  abut_pair_files f;
  samples_make(SAMPLE_PAIRS, s);
  const char *path = write_text("pairs.csv", s[0].bytes);
  free(s[0].bytes);
  REQUIRE_OK(abut_load_pairs(path, &f));
  require(CHECK_EQUAL(f.count, 2));
  CHECK(f.lines[0] == 2 && f.lines[1] == 4);
  CHECK_TEXT(f.bodies[0], in_folder("cube.obj"));
  CHECK_TEXT(f.bodies[1], in_folder("a folder/slab.body.json"));
  CHECK_TEXT(f.bodies[2], "/tmp/cube.obj");
  CHECK_TEXT(f.bodies[3], in_folder("cube.obj"));
  abut_free_pairs(&f);
  static const struct {
    const char *text, *at, *part;
  } wrong[] = {
    {"", ": ", "no pair"},
    {" # a,b\n\n", ": ", "no pair"},
    {"a,b\nc\n", ":2: ", "has 1 file; a pair needs two"},
    {"a,b,c\n", ":1: ", "has 3 files; a pair needs two"},
    {"a,b\n\n\n,c\n", ":4: ", "the name of body 1 is empty"},
    {"a, # b\n", ":1: ", "the name of body 2 is empty"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char start[512];
    path = write_text("pairs.csv", wrong[i].text);
    snprintf(start, sizeof start, "%s%s", path, wrong[i].at);
    expect_failure(abut_load_pairs(path, &f), ABUT_ERROR_FORMAT, start, wrong[i].part);
    CHECK(!f.count && !f.bodies && !f.lines);
  }
  path = write_file("pairs.csv", "a\0b,c\n", 6);
  expect_failure(abut_load_pairs(path, &f), ABUT_ERROR_FORMAT, path,
                 "1: 'a?b' contains a control character");
  expect_failure(abut_load_pairs(in_folder("none.csv"), &f), ABUT_ERROR_READ, "", "none.csv");
  expect_failure(abut_load_pairs(NULL, &f), ABUT_ERROR_ARGUMENT, "", "NULL");
}

int main(void)
{
  folder_make();
  round_trip();
  header_bytes();
  numpy_reads_it();
  accepted_headers();
  narrow_numbers();
  wrong_headers();
  named_arrays();
  wrong_members();
  damaged_members();
  good_poses();
  wrong_poses();
  csv_poses();
  npz_pairs();
  npz_shapes();
  pair_lists();
  fortran_order();
  folder_remove();
  return check_finish();
}
