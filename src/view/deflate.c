/* libzip deflates what a page holds: it is linked already, and a member of an archive in memory is just that. */
#include "base/error.h"
#include "view/page.h"
#include <stdlib.h>
#include <zip.h>

#define SMALLEST 9 /* libzip's level of compression that takes longest, */
#define QUICKEST 1 /* and that which takes least */

static abut_status fail_archive(zip_t *archive, zip_source_t *whole)
{
  const abut_status status = fail(ABUT_ERROR_MEMORY, "cannot pack a page: %s",
                                  archive ? zip_strerror(archive) : "no memory");
  if (archive) {
    zip_discard(archive);
  }
  if (whole) {
    zip_source_free(whole);
  }
  return status;
}

/* Writes an archive of one member into `whole`, which stays the caller's. */
static abut_status pack(zip_source_t *whole, const uint8_t *bytes, size_t count, bool quickly)
{
  zip_t *archive = zip_open_from_source(whole, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  if (!archive) {
    return fail_archive(NULL, whole);
  }
  zip_source_keep(whole);
  zip_source_t *member = zip_source_buffer(archive, bytes, count, 0);
  const zip_int64_t at = member ? zip_file_add(archive, "page", member, 0) : -1;
  if (at < 0) {
    zip_source_free(member);
    return fail_archive(archive, whole);
  }
  if (zip_set_file_compression(archive, (zip_uint64_t)at, ZIP_CM_DEFLATE, quickly ? QUICKEST : SMALLEST) != 0 || zip_close(archive) != 0) {
    return fail_archive(archive, whole);
  }
  return ABUT_SUCCESS;
}

static abut_status unpack(zip_t *archive, uint8_t **out, size_t *out_count)
{
  zip_stat_t info;
  if (zip_stat_index(archive, 0, 0, &info) != 0 || info.comp_method != ZIP_CM_DEFLATE) {
    return fail(ABUT_ERROR_MEMORY, "cannot pack a page: %s", zip_strerror(archive));
  }
  zip_file_t *file = zip_fopen_index(archive, 0, ZIP_FL_COMPRESSED);
  uint8_t *bytes = file ? malloc(info.comp_size + 1) : NULL;
  const bool good = bytes && zip_fread(file, bytes, info.comp_size) == (zip_int64_t)info.comp_size;
  if (file) {
    zip_fclose(file);
  }
  if (!good) {
    free(bytes);
    return fail(ABUT_ERROR_MEMORY, "no memory for a page");
  }
  *out = bytes;
  *out_count = info.comp_size;
  return ABUT_SUCCESS;
}

abut_status deflate_bytes(const uint8_t *bytes, size_t count, bool quickly, uint8_t **out, size_t *out_count)
{
  zip_source_t *whole = zip_source_buffer_create(NULL, 0, 0, NULL);
  if (!whole) {
    return fail(ABUT_ERROR_MEMORY, "no memory for a page");
  }
  TRY(pack(whole, bytes, count, quickly));
  zip_t *archive = zip_open_from_source(whole, ZIP_RDONLY, NULL);
  if (!archive) {
    return fail_archive(NULL, whole);
  }
  const abut_status status = unpack(archive, out, out_count);
  zip_discard(archive); /* which frees `whole`, too */
  return status;
}
