#include "io/shape_rows.h"

#include "base/error.h"
#include "format/text.h"
#include "format/whole_file.h"
#include "io/indices.h"
#include <abut/closest.h>
#include <stdlib.h>

static abut_status read_rows(const char *name, zip_t *archive, size_t count, uint32_t **one,
                             uint32_t **two)
{
  TRY(indices_find(name, archive, "one", "a shape", count, one));
  TRY(indices_find(name, archive, "two", "a shape", count, two));
  return !*one == !*two
           ? ABUT_SUCCESS
           : fail_at(ABUT_ERROR_FORMAT, name, 0, "array '%s' is missing", *one ? "two" : "one");
}

abut_status shape_rows_parse(const char *name, const char *bytes, size_t size, size_t count,
                             uint32_t **one, uint32_t **two)
{
  zip_t *archive;
  *one = *two = NULL;
  TRY(npz_open(name, bytes, size, &archive));
  const abut_status status = read_rows(name, archive, count, one, two);
  zip_discard(archive);
  if (status != ABUT_SUCCESS) {
    free(*one);
    free(*two);
    *one = *two = NULL;
  }
  return status;
}

abut_status abut_load_shape_rows(const char *path, size_t count, uint32_t **one, uint32_t **two)
{
  char *bytes = NULL;
  size_t size = 0;
  if (!path || !one || !two) {
    return fail(ABUT_ERROR_ARGUMENT, "path, one or two is NULL");
  }
  *one = *two = NULL;
  if (!has_extension(path, ".npz")) {
    return ABUT_SUCCESS;
  }
  abut_status status = whole_file_read(path, &bytes, &size);
  if (status == ABUT_SUCCESS) {
    status = shape_rows_parse(path, bytes, size, count, one, two);
  }
  free(bytes);
  return status;
}
