#include "format/npy_read.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

#define HEADER_LIMIT 65536

abut_status npy_read_header(npy_where where, const npy_source *source, npy *header, size_t *bytes)
{
  unsigned char start[12];
  size_t prefix = 10;
  TRY(source->get(where, source->from, start, prefix));
  if (memcmp(start, "\x93NUMPY", 6) != 0) {
    return npy_fail(where, "is not an .npy array");
  }
  if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
    return npy_fail(where, "unknown .npy version %d.%d", start[6], start[7]);
  }
  size_t length = start[8] | (size_t)start[9] << 8;
  if (start[6] > 1) {
    TRY(source->get(where, source->from, start + prefix, 2));
    length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    prefix = 12;
  }
  if (length > HEADER_LIMIT) {
    return npy_fail(where, "the header has %zu bytes, which is too many", length);
  }
  void *text;
  TRY(allocate(&text, length, 1));
  abut_status status = source->get(where, source->from, text, length);
  if (status == ABUT_SUCCESS) {
    status = npy_parse(where, text, length, header);
  }
  free(text);
  *bytes = prefix + length;
  return status;
}

/* Converts data to C order. */
static abut_status sort_data(const npy *header, void **data)
{
  void *sorted;
  if (!header->fortran || header->dimensions < 2) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&sorted, header->data_bytes, 1));
  npy_transpose(header, *data, sorted);
  free(*data);
  *data = sorted;
  return ABUT_SUCCESS;
}

/* Converts narrow numbers to int32. */
static abut_status widen_data(const npy *header, void **data)
{
  const size_t count = header->data_bytes / (header->item_bytes ? header->item_bytes : 1);
  void *wide;
  if (header->narrow == NPY_AS_IT_IS) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&wide, count, sizeof(int32_t)));
  npy_widen(header->narrow, *data, count, wide);
  free(*data);
  *data = wide;
  return ABUT_SUCCESS;
}

abut_status npy_store(npy_where where, const npy *header, void *data, abut_array *out)
{
  abut_status status = sort_data(header, &data);
  status = status == ABUT_SUCCESS ? widen_data(header, &data) : status;
  if (status != ABUT_SUCCESS) {
    free(data);
    return status;
  }
  out->type = header->type;
  out->dimensions = header->dimensions;
  memcpy(out->shape, header->shape, sizeof out->shape);
  out->data = data;
  if (header->type != ABUT_ARRAY_TEXT) {
    return ABUT_SUCCESS;
  }
  char *text;
  size_t length;
  status = npy_decode_text(where, data, header->item_bytes / 4, &text, &length);
  free(data);
  out->data = text;
  out->dimensions = 1;
  out->shape[0] = length;
  return status;
}

/* ---- a separate file ---- */

/* The unread part of a file. */
typedef struct rest {
  const char *at;
  size_t count;
} rest;

static abut_status get_bytes(npy_where where, void *from, void *out, size_t count)
{
  rest *r = from;
  if (count > r->count) {
    return npy_fail(where, "truncated");
  }
  memcpy(out, r->at, count);
  r->at += count;
  r->count -= count;
  return ABUT_SUCCESS;
}

abut_status npy_read(const char *name, const char *bytes, size_t count, abut_array *out)
{
  const npy_where where = {name, NULL};
  rest left = {bytes, count};
  const npy_source source = {get_bytes, &left};
  npy header;
  size_t header_bytes;
  void *data;
  *out = (abut_array){0};
  TRY(npy_read_header(where, &source, &header, &header_bytes));
  if (left.count != header.data_bytes) {
    return npy_fail(where, "has %zu bytes of data, but its shape needs %zu", left.count,
                    header.data_bytes);
  }
  TRY(allocate(&data, header.data_bytes, 1));
  memcpy(data, left.at, header.data_bytes);
  return npy_store(where, &header, data, out);
}

/* The array's pointers are to const, because callers of abut_write_npz own their arrays. */
static void free_const(const void *memory)
{
  free((void *)(uintptr_t)memory);
}

void npy_free(abut_array *array)
{
  free_const(array->name);
  free_const(array->data);
  *array = (abut_array){0};
}
