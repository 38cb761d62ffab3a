#include "format/npz.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/npy_read.h"
#include "format/text.h"
#include "format/whole_file.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMBER_LIMIT 4096
#define DEFLATE_RATIO 1040 /* deflate compresses by at most a factor of 1032 */

static abut_status fail_zip(const char *name, zip_error_t *error)
{
  abut_status status = zip_error_code_zip(error) == ZIP_ER_MEMORY ? ABUT_ERROR_MEMORY
                                                                  : ABUT_ERROR_FORMAT;
  return fail_at(status, name, 0, "is not an .npz archive: %s", zip_error_strerror(error));
}

/* Takes the source over, and the error, which is set if the source is NULL. */
static abut_status open_source(const char *name, zip_source_t *source, zip_error_t *error,
                               zip_t **out)
{
  abut_status status = ABUT_SUCCESS;
  *out = source ? zip_open_from_source(source, ZIP_RDONLY, error) : NULL;
  if (!*out) {
    zip_source_free(source);
    status = fail_zip(name, error);
  }
  zip_error_fini(error);
  return status;
}

static abut_status fail_empty(const char *name)
{
  return fail_at(ABUT_ERROR_FORMAT, name, 0, "is not an .npz archive: the file is empty");
}

abut_status npz_open(const char *name, const char *bytes, size_t count, zip_t **out)
{
  zip_error_t error;
  *out = NULL;
  if (count == 0) { /* libzip would treat it as an empty archive */
    return fail_empty(name);
  }
  zip_error_init(&error);
  return open_source(name, zip_source_buffer_create(bytes, count, 0, &error), &error, out);
}

/* libzip has misleading errors for missing and empty files. */
abut_status npz_open_file(const char *path, zip_t **out)
{
  struct stat about;
  zip_error_t error;
  *out = NULL;
  if (stat(path, &about) != 0 || access(path, R_OK) != 0) {
    return fail_errno(ABUT_ERROR_READ, path);
  }
  if (!S_ISREG(about.st_mode)) {
    return ABUT_SUCCESS;
  }
  if (about.st_size == 0) {
    return fail_empty(path);
  }
  zip_error_init(&error);
  return open_source(path, zip_source_file_create(path, 0, 0, &error), &error, out);
}

static abut_status read_exactly(npy_where where, void *from, void *out, size_t count)
{
  zip_file_t *member = from;
  char *at = out;
  while (count) {
    zip_int64_t got = zip_fread(member, at, count);
    if (got < 0) {
      return npy_fail(where, "cannot be decompressed: %s",
                      zip_error_strerror(zip_file_get_error(member)));
    }
    if (got == 0) {
      return npy_fail(where, "truncated");
    }
    at += got;
    count -= (size_t)got;
  }
  return ABUT_SUCCESS;
}

static abut_status read_data(npy_where where, zip_file_t *member, const npy *header,
                             abut_array *out)
{
  void *data;
  char beyond;
  TRY(allocate(&data, header->data_bytes, 1));
  abut_status status = read_exactly(where, member, data, header->data_bytes);
  if (status == ABUT_SUCCESS && zip_fread(member, &beyond, 1) != 0) {
    status = npy_fail(where, "is damaged: the checksum differs"); /* checked only at the end */
  }
  if (status != ABUT_SUCCESS) {
    free(data);
    return status;
  }
  return npy_store(where, header, data, out);
}

/* Checks the sizes in the directory before allocating memory. */
static abut_status check_member(npy_where where, const zip_stat_t *info)
{
  zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((info->valid & wanted) != wanted) {
    return npy_fail(where, "its directory entry is incomplete");
  }
  if (info->comp_method != ZIP_CM_STORE && info->comp_method != ZIP_CM_DEFLATE) {
    return npy_fail(where, "is compressed with method %d; only deflate can be read",
                    info->comp_method);
  }
  if (info->size / DEFLATE_RATIO > info->comp_size) {
    return npy_fail(where, "%llu bytes cannot be decompressed from %llu bytes",
                    (unsigned long long)info->size, (unsigned long long)info->comp_size);
  }
  return ABUT_SUCCESS;
}

/* Opens *member and reads its header. Closes it on failure. */
static abut_status open_member(npy_where where, zip_t *archive, zip_uint64_t index,
                               const zip_stat_t *info, npy *header, size_t *header_bytes,
                               zip_file_t **member)
{
  abut_status status = ABUT_SUCCESS;
  TRY(check_member(where, info));
  *member = zip_fopen_index(archive, index, 0);
  if (!*member) {
    return npy_fail(where, "cannot be decompressed: %s", zip_strerror(archive));
  }
  const npy_source source = {read_exactly, *member};
  TRY_DONE(npy_read_header(where, &source, header, header_bytes));
  if (info->size < *header_bytes || info->size - *header_bytes != header->data_bytes) {
    status = npy_fail(where, "has %llu bytes of data, but its shape needs %zu",
                      (unsigned long long)info->size - *header_bytes, header->data_bytes);
  }
done:
  if (status != ABUT_SUCCESS) {
    zip_fclose(*member);
    *member = NULL;
  }
  return status;
}

static abut_status read_member(npy_where where, zip_t *archive, zip_uint64_t index,
                               const zip_stat_t *info, abut_array *out)
{
  npy header;
  size_t header_bytes = 0;
  zip_file_t *member = NULL;
  TRY(open_member(where, archive, index, info, &header, &header_bytes, &member));
  const abut_status status = read_data(where, member, &header, out);
  zip_fclose(member);
  return status;
}

/* Copies the member's name without ".npy". */
static abut_status copy_name(const char *file, const char *member, char **out)
{
  if (!has_extension(member, ".npy")) {
    return fail_at(ABUT_ERROR_FORMAT, file, 0, "'%s' is not an .npy array",
                   string_shown(member).text);
  }
  void *name;
  size_t length = strlen(member) - 4;
  TRY(allocate(&name, length + 1, 1));
  memcpy(name, member, length);
  *out = name;
  return ABUT_SUCCESS;
}

static abut_status find_member(const char *name, zip_t *archive, zip_uint64_t index,
                               zip_stat_t *info)
{
  zip_stat_init(info);
  return zip_stat_index(archive, index, 0, info) == 0 && (info->valid & ZIP_STAT_NAME)
           ? ABUT_SUCCESS
           : fail_at(ABUT_ERROR_FORMAT, name, 0, "%s", zip_strerror(archive));
}

abut_status npz_open_array(const char *name, zip_t *archive, zip_uint64_t index, npy *header,
                           size_t *header_bytes, bool *stored, zip_file_t **member)
{
  zip_stat_t info;
  char *array = NULL;
  *member = NULL;
  TRY(find_member(name, archive, index, &info));
  TRY(copy_name(name, info.name, &array));
  const abut_status status =
    open_member((npy_where){name, array}, archive, index, &info, header, header_bytes, member);
  free(array);
  *stored = status == ABUT_SUCCESS && info.comp_method == ZIP_CM_STORE;
  return status;
}

abut_status npz_read_array(const char *name, zip_t *archive, zip_uint64_t index, abut_array *out)
{
  zip_stat_t info;
  char *array = NULL;
  *out = (abut_array){0};
  TRY(find_member(name, archive, index, &info));
  TRY(copy_name(name, info.name, &array));
  out->name = array;
  abut_status status = read_member((npy_where){name, array}, archive, index, &info, out);
  if (status != ABUT_SUCCESS) {
    npy_free(out);
  }
  return status;
}

/* The requested arrays: all if names is NULL. */
typedef struct wanted {
  const char *const *names;
  size_t count;
} wanted;

/* A member without a name is read, so that the error is reported. */
static bool is_wanted(const wanted *w, const char *member)
{
  const size_t length = member && has_extension(member, ".npy") ? strlen(member) - 4 : 0;
  bool found = !w->names || !member;
  for (size_t i = 0; i < w->count && !found; i++) {
    found = length && strlen(w->names[i]) == length && memcmp(w->names[i], member, length) == 0;
  }
  return found;
}

static abut_status check_once(const char *name, const abut_npz *npz)
{
  const size_t last = npz->count - 1;
  for (size_t k = 0; k < last; k++) {
    if (strcmp(npz->arrays[k].name, npz->arrays[last].name) == 0) {
      return npy_fail((npy_where){name, npz->arrays[last].name}, "is stored twice");
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read_members(const char *name, zip_t *archive, const wanted *w, abut_npz *out)
{
  zip_int64_t members = zip_get_num_entries(archive, 0);
  void *arrays;
  if (members < 0 || members > MEMBER_LIMIT) {
    return fail_at(ABUT_ERROR_FORMAT, name, 0, "contains more than %d arrays", MEMBER_LIMIT);
  }
  TRY(allocate(&arrays, (size_t)members, sizeof *out->arrays));
  out->arrays = arrays;
  for (zip_int64_t i = 0; i < members; i++) {
    if (is_wanted(w, zip_get_name(archive, (zip_uint64_t)i, 0))) {
      TRY(npz_read_array(name, archive, (zip_uint64_t)i, &out->arrays[out->count]));
      out->count++;
      TRY(check_once(name, out));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status parse(const char *name, const char *bytes, size_t count, const wanted *w,
                         abut_npz *out)
{
  zip_t *archive;
  *out = (abut_npz){0};
  TRY(npz_open(name, bytes, count, &archive));
  abut_status status = read_members(name, archive, w, out);
  zip_discard(archive);
  if (status != ABUT_SUCCESS) {
    abut_free_npz(out);
  }
  return status;
}

abut_status npz_parse(const char *name, const char *bytes, size_t count, abut_npz *out)
{
  return parse(name, bytes, count, &(wanted){NULL, 0}, out);
}

static abut_status read_wanted(const char *path, const wanted *w, abut_npz *npz)
{
  char *bytes = NULL;
  size_t count = 0;
  *npz = (abut_npz){0};
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = parse(path, bytes, count, w, npz);
  }
  free(bytes);
  return status;
}

abut_status abut_read_npz(const char *path, abut_npz *npz)
{
  return path && npz ? read_wanted(path, &(wanted){NULL, 0}, npz)
                     : fail(ABUT_ERROR_ARGUMENT, "path or npz is NULL");
}

abut_status abut_read_npz_arrays(const char *path, const char *const *names, size_t name_count,
                                 abut_npz *npz)
{
  if (!path || !names || !npz) {
    return fail(ABUT_ERROR_ARGUMENT, "path, names or npz is NULL");
  }
  *npz = (abut_npz){0};
  for (size_t i = 0; i < name_count; i++) {
    if (!names[i]) {
      return fail(ABUT_ERROR_ARGUMENT, "name %zu is NULL", i);
    }
  }
  return read_wanted(path, &(wanted){names, name_count}, npz);
}

void abut_free_npz(abut_npz *npz)
{
  for (size_t i = 0; npz && i < npz->count; i++) {
    npy_free(&npz->arrays[i]);
  }
  if (npz) {
    free(npz->arrays);
    *npz = (abut_npz){0};
  }
}
