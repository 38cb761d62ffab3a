#include "format/npy_range.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/npy_read.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "files of arrays may be longer than 2^31 bytes");

/* ---- bytes ---- */

static abut_status read_bytes(npy_where where, const npy_bytes *from, uint64_t at, void *out,
                              size_t count)
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

static abut_status read_at(npy_where where, const npy_stored *a, uint64_t at, void *out,
                           size_t count)
{
  char *to = out;
  if (!a->member) {
    return read_bytes(where, &a->from, at, out, count);
  }
  if (count && (at > INT64_MAX || zip_fseek(a->member, (zip_int64_t)at, SEEK_SET) != 0)) {
    return npy_fail(where, "cannot be read at byte %llu: %s", (unsigned long long)at,
                    zip_error_strerror(zip_file_get_error(a->member)));
  }
  while (count) {
    const zip_int64_t got = zip_fread(a->member, to, count);
    if (got < 0) {
      return npy_fail(where, "cannot be decompressed: %s",
                      zip_error_strerror(zip_file_get_error(a->member)));
    }
    if (got == 0) {
      return npy_fail(where, "truncated");
    }
    to += got;
    count -= (size_t)got;
  }
  return ABUT_SUCCESS;
}

/* ---- a file with a single array ---- */

/* Reads a header from the start of the file. */
typedef struct reading {
  const npy_bytes *from;
  uint64_t at;
} reading;

static abut_status read_next(npy_where where, void *from, void *out, size_t count)
{
  reading *r = from;
  TRY(read_bytes(where, r->from, r->at, out, count));
  r->at += count;
  return ABUT_SUCCESS;
}

abut_status npy_find(npy_where where, npy_bytes from, npy_stored *out)
{
  reading r = {&from, 0};
  size_t header_bytes = 0;
  *out = (npy_stored){.from = from};
  TRY(npy_read_header(where, &(npy_source){read_next, &r}, &out->header, &header_bytes));
  out->data = header_bytes;
  return ABUT_SUCCESS;
}

abut_status npy_check_bytes(npy_where where, const npy_stored *a)
{
  return a->from.count - a->data == a->header.data_bytes
           ? ABUT_SUCCESS
           : npy_fail(where, "has %llu bytes of data, but its shape needs %zu",
                      (unsigned long long)(a->from.count - a->data), a->header.data_bytes);
}

/* ---- ranges ---- */

/* A range of an array whose last index varies fastest, for either order of the file. */
typedef struct box {
  uint32_t dimensions;
  size_t shape[NPY_DIMENSIONS], first[NPY_DIMENSIONS], count[NPY_DIMENSIONS];
} box;

static box box_of(const npy *h, const size_t *first, const size_t *count)
{
  box b = {.dimensions = h->dimensions};
  for (uint32_t i = 0; i < h->dimensions; i++) {
    const uint32_t k = h->fortran ? h->dimensions - 1 - i : i;
    b.shape[i] = h->shape[k];
    b.first[i] = first[k];
    b.count[i] = count[k];
  }
  return b;
}

/* Finds the dimension from which the range is contiguous, and the contiguous elements' number. */
static uint32_t piece_of(const box *b, size_t *elements)
{
  uint32_t k = b->dimensions;
  bool whole = true;
  *elements = 1;
  while (k > 0 && whole) {
    k--;
    whole = b->count[k] == b->shape[k];
    *elements *= b->count[k];
  }
  return k;
}

/* Advances the indices of the dimensions before `end`, relative to the start of the range. Returns
 * false after the last. */
static bool step(const box *b, uint32_t end, size_t *at)
{
  for (uint32_t i = end; i > 0; i--) {
    if (++at[i - 1] < b->count[i - 1]) {
      return true;
    }
    at[i - 1] = 0;
  }
  return false;
}

/* The index of a contiguous piece among all elements. */
static uint64_t place(const box *b, const size_t *at)
{
  uint64_t element = 0;
  for (uint32_t i = 0; i < b->dimensions; i++) {
    element = element * b->shape[i] + b->first[i] + at[i];
  }
  return element;
}

static abut_status read_pieces(npy_where where, const npy_stored *a, const box *b, char *to)
{
  size_t elements, at[NPY_DIMENSIONS] = {0};
  const uint32_t end = piece_of(b, &elements);
  const size_t bytes = elements * a->header.item_bytes;
  do {
    TRY(read_at(where, a, a->data + place(b, at) * a->header.item_bytes, to, bytes));
    to += bytes;
  } while (step(b, end, at));
  return ABUT_SUCCESS;
}

abut_status npy_read_range(npy_where where, const npy_stored *a, const size_t *first,
                           const size_t *count, abut_array *out)
{
  const box b = box_of(&a->header, first, count);
  npy part = a->header;
  void *data;
  size_t elements = 1;
  *out = (abut_array){0};
  for (uint32_t i = 0; i < b.dimensions; i++) {
    part.shape[i] = count[i];
    elements *= count[i]; /* at most the file's number of elements, which has been checked */
  }
  part.data_bytes = elements * part.item_bytes;
  TRY(allocate(&data, part.data_bytes, 1));
  const abut_status status = elements ? read_pieces(where, a, &b, data) : ABUT_SUCCESS;
  if (status != ABUT_SUCCESS) {
    free(data);
    return status;
  }
  return npy_store(where, &part, data, out);
}
