#include "io/indices.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/npy_read.h"
#include <stdio.h>
#include <stdlib.h>

static int64_t index_at(const abut_array *a, size_t i)
{
  switch (a->type) {
  case ABUT_ARRAY_UINT8:
    return ((const uint8_t *)a->data)[i];
  case ABUT_ARRAY_UINT32:
    return ((const uint32_t *)a->data)[i];
  case ABUT_ARRAY_INT32:
    return ((const int32_t *)a->data)[i];
  default:
    return ((const int64_t *)a->data)[i];
  }
}

static abut_status check(npy_where where, const abut_array *a, const char *what, size_t first,
                         size_t poses)
{
  if (a->type <= ABUT_ARRAY_FLOAT64 || a->type == ABUT_ARRAY_TEXT) {
    return npy_fail(where, "has dtype %s, expected uint8, uint32, int32 or int64",
                    npy_type_name(a->type));
  }
  if (a->dimensions != 1 || a->shape[0] != poses) {
    return npy_fail(where, "must have shape (N,) for the %zu poses", poses);
  }
  for (size_t i = 0; i < poses; i++) {
    const int64_t index = index_at(a, i);
    if (index < 0 || index > UINT32_MAX) {
      return npy_fail(where, "row %zu (0-based): %lld is not an index of %s", first + i,
                      (long long)index, what);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status convert(const abut_array *a, size_t count, uint32_t **out)
{
  void *indices;
  TRY(allocate(&indices, count, sizeof **out));
  *out = indices;
  for (size_t i = 0; i < count; i++) {
    (*out)[i] = (uint32_t)index_at(a, i);
  }
  return ABUT_SUCCESS;
}

abut_status indices_of(npy_where where, const abut_array *a, const char *what, size_t first,
                       size_t count, uint32_t **out)
{
  *out = NULL;
  TRY(check(where, a, what, first, count));
  return convert(a, count, out);
}

abut_status indices_find(const char *name, zip_t *archive, const char *array, const char *what,
                         size_t count, uint32_t **out)
{
  abut_array a;
  char file[32];
  *out = NULL;
  snprintf(file, sizeof file, "%s.npy", array);
  const zip_int64_t member = zip_name_locate(archive, file, 0);
  if (member < 0) {
    return ABUT_SUCCESS;
  }
  TRY(npz_read_array(name, archive, (zip_uint64_t)member, &a));
  const abut_status status = indices_of((npy_where){name, a.name}, &a, what, 0, count, out);
  npy_free(&a);
  return status;
}
