#include "base/array_type.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/npy.h"
#include "format/npz.h"
#include "format/text.h"
#include "format/whole_file.h"
#include "format/zip_sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DAY (1 << 5 | 1) /* 1 January 1980, so that equal results give equal files */

/* Checks everything except the name and the data. */
static abut_status check_shape(const abut_array *a, size_t *bytes)
{
  size_t count;
  if ((unsigned)a->type > ABUT_ARRAY_INT64 || a->dimensions > NPY_DIMENSIONS ||
      (a->type == ABUT_ARRAY_TEXT && a->dimensions != 1)) {
    return fail(ABUT_ERROR_ARGUMENT, "array '%s': type or dimensions are out of range", a->name);
  }
  if (!npy_count(a->dimensions, a->shape, &count) || count > SIZE_MAX / array_type_bytes(a->type)) {
    return fail(ABUT_ERROR_ARGUMENT, "array '%s': the shape is too large", a->name);
  }
  *bytes = count * array_type_bytes(a->type);
  return ABUT_SUCCESS;
}

static abut_status check_array(const abut_array *a, size_t *bytes)
{
  if (!a->name || !*a->name || strchr(a->name, '/')) {
    return fail(ABUT_ERROR_ARGUMENT, "an array's name is missing, empty or has a '/'");
  }
  TRY(check_shape(a, bytes));
  return *bytes && !a->data ? fail(ABUT_ERROR_ARGUMENT, "array '%s': data is NULL", a->name)
                            : ABUT_SUCCESS;
}

abut_status abut_format_npy_header(const abut_array *array, char **bytes, size_t *count)
{
  size_t unused;
  if (!array || !bytes || !count) {
    return fail(ABUT_ERROR_ARGUMENT, "array, bytes or count is NULL");
  }
  *bytes = NULL;
  *count = 0;
  abut_array named = *array;
  named.name = array->name ? array->name : "";
  TRY(check_shape(&named, &unused));
  return array->type == ABUT_ARRAY_TEXT ? fail(ABUT_ERROR_ARGUMENT, "a text has no separate header")
                                        : npy_format(array, 0, bytes, count);
}

static abut_status check_arguments(const char *path, const abut_array *arrays, size_t count)
{
  if (!path || (!arrays && count)) {
    return fail(ABUT_ERROR_ARGUMENT, "path or arrays is NULL");
  }
  for (size_t i = 0; i < count; i++) {
    size_t bytes;
    TRY(check_array(&arrays[i], &bytes));
    for (size_t k = 0; k < i; k++) {
      if (strcmp(arrays[i].name, arrays[k].name) == 0) {
        return fail(ABUT_ERROR_ARGUMENT, "two arrays are named '%s'", arrays[i].name);
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status fail_zip(const char *path, zip_t *archive)
{
  return fail_at(ABUT_ERROR_WRITE, path, 0, "%s", zip_strerror(archive));
}

/* Header and data of one member. The data belongs to the caller or is the encoded text. */
typedef struct member {
  char *header;
  unsigned char *text;
  zip_buffer_fragment_t parts[2];
} member;

static abut_status make_member(const char *path, const abut_array *a, member *m)
{
  size_t bytes, code_points = 0, header_bytes;
  const void *data = a->data;
  TRY(check_array(a, &bytes));
  if (a->type == ABUT_ARRAY_TEXT) {
    TRY(npy_encode_text((npy_where){path, a->name}, a->data, bytes, &m->text, &code_points));
    data = m->text;
    bytes = 4 * code_points;
  }
  TRY(npy_format(a, code_points, &m->header, &header_bytes));
  m->parts[0] = (zip_buffer_fragment_t){(zip_uint8_t *)m->header, header_bytes};
  m->parts[1] = (zip_buffer_fragment_t){(zip_uint8_t *)(uintptr_t)data, bytes};
  return ABUT_SUCCESS;
}

static abut_status add_member(const char *path, zip_t *archive, const abut_array *a, member *m)
{
  void *name;
  size_t room = strlen(a->name) + 5;
  TRY(make_member(path, a, m));
  zip_source_t *source =
    zip_source_buffer_fragment(archive, m->parts, m->parts[1].length ? 2 : 1, 0);
  if (!source) {
    return fail_zip(path, archive);
  }
  abut_status status = allocate(&name, room, 1);
  if (status != ABUT_SUCCESS) {
    zip_source_free(source);
    return status;
  }
  snprintf(name, room, "%s.npy", a->name);
  zip_int64_t index = zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8);
  free(name);
  if (index < 0) {
    zip_source_free(source);
    return fail_zip(path, archive);
  }
  /* Stored uncompressed like numpy.savez: floats compress poorly, and deflating takes far longer
   * than computing. */
  if (zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, (zip_uint64_t)index, 0, FIRST_DAY, 0) != 0) {
    return fail_zip(path, archive);
  }
  return ABUT_SUCCESS;
}

static abut_status open_archive(const char *path, zip_sink *sink, int file, zip_t **out)
{
  zip_error_t error;
  abut_status status = ABUT_SUCCESS;
  zip_error_init(&error);
  zip_source_t *source = zip_sink_create(sink, file, &error);
  *out = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
  if (!*out) {
    zip_source_free(source);
    status = fail_at(ABUT_ERROR_WRITE, path, 0, "%s", zip_error_strerror(&error));
  }
  zip_error_fini(&error);
  return status;
}

static abut_status write_archive(const char *path, int file, const abut_array *arrays, size_t count,
                                 member *members)
{
  zip_sink sink;
  zip_t *archive;
  abut_status status = ABUT_SUCCESS;
  TRY(open_archive(path, &sink, file, &archive));
  for (size_t i = 0; i < count; i++) {
    TRY_DONE(add_member(path, archive, &arrays[i], &members[i]));
  }
  if (zip_close(archive) != 0) {
    status = fail_zip(path, archive);
    goto done;
  }
  archive = NULL;
done:
  if (archive) {
    zip_discard(archive);
  }
  return status;
}

/* Writes an empty archive, which libzip does not support. */
static abut_status write_empty(const char *path)
{
  static const char end[22] = "PK\5\6";
  return whole_file_write(path, end, sizeof end);
}

abut_status abut_write_npz(const char *path, const abut_array *arrays, size_t count)
{
  void *members;
  whole_file f;
  TRY(check_arguments(path, arrays, count));
  if (count == 0) {
    return write_empty(path);
  }
  TRY(allocate(&members, count, sizeof(member)));
  abut_status status = whole_file_begin(path, &f);
  if (status == ABUT_SUCCESS) {
    status = whole_file_end(&f, write_archive(path, f.file, arrays, count, members));
  }
  for (size_t i = 0; i < count; i++) {
    free(((member *)members)[i].header);
    free(((member *)members)[i].text);
  }
  free(members);
  return status;
}
