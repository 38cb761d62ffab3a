#define ZLIB_CONST /* inputs are const */
#include "view/page.h"

#include "base/error.h"
#include "base/memory.h"
#include "page_text.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define TYPE(type, name, element, ...) [type] = {#name, sizeof(element)},
static const struct {
  const char *name;
  size_t bytes;
} types[] = {WIRE_TYPES(TYPE)};

static abut_status no_memory(void)
{
  return fail(ABUT_ERROR_MEMORY, "not enough memory for a page");
}

abut_status page_begin(page *p)
{
  *p = (page){.root = json_object()};
  p->arrays = json_object();
  return p->root && page_set(p->root, "arrays", p->arrays) == ABUT_SUCCESS ? ABUT_SUCCESS
                                                                           : no_memory();
}

void page_free(page *p)
{
  json_decref(p->root);
  free(p->bytes);
  free(p->picture);
  *p = (page){0};
}

abut_status page_set(json_t *object, const char *name, json_t *value)
{
  return value && json_object_set_new(object, name, value) == 0 ? ABUT_SUCCESS : no_memory();
}

json_t *page_count(size_t count)
{
  return json_integer((json_int_t)count);
}

json_t *page_numbers(const double *numbers, size_t count)
{
  json_t *list = json_array();
  for (size_t i = 0; list && i < count; ++i) {
    json_t *number = json_real(numbers[i]);
    if (!number || json_array_append_new(list, number) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

json_t *page_text(const char *text)
{
  json_t *value = json_string(text);
  if (value) {
    return value;
  }
  char *plain = strdup(text);
  for (char *c = plain; c && *c; ++c) {
    *c = (unsigned char)*c < 128 ? *c : '?';
  }
  value = plain ? json_string(plain) : NULL;
  free(plain);
  return value;
}

/* Stores rows as planes of bytes: the first bytes of all rows, then the second bytes, and so on.
 * Neighbouring rows have similar bytes, so this compresses better. */
static void lay_planes(const uint8_t *from, size_t rows, size_t width, uint8_t *to)
{
  for (size_t k = 0; k < width; ++k) {
    for (size_t i = 0; i < rows; ++i) {
      to[k * rows + i] = from[i * width + k];
    }
  }
}

abut_status page_add(page *p, const char *name, page_type type, size_t rows, size_t columns,
                     const void *data)
{
  const size_t width = columns * types[type].bytes;
  void *bytes = p->bytes;
  if (rows > (SIZE_MAX - p->used) / (width ? width : 1)) {
    return no_memory();
  }
  const size_t end = p->used + rows * width;
  TRY(grow(&bytes, &p->room, end, 1));
  p->bytes = bytes;
  lay_planes(data, rows, width, p->bytes + p->used);
  TRY(page_set(p->arrays, name,
               json_pack("{s:s, s:I, s:I, s:I}", "type", types[type].name, "rows", (json_int_t)rows,
                         "columns", (json_int_t)columns, "at", (json_int_t)p->used)));
  p->used = end;
  return ABUT_SUCCESS;
}

abut_status page_add_indices(page *p, const char *name, size_t rows, size_t columns, size_t end,
                             const uint32_t *data)
{
  if (end > WIRE_NO_INDEX16) {
    return page_add(p, name, PAGE_U32, rows, columns, data);
  }
  void *memory = NULL;
  TRY(allocate(&memory, rows * columns, sizeof(uint16_t)));
  for (size_t i = 0; i < rows * columns; ++i) {
    ((uint16_t *)memory)[i] = data[i] < end ? (uint16_t)data[i] : WIRE_NO_INDEX16;
  }
  const abut_status status = page_add(p, name, PAGE_U16, rows, columns, memory);
  free(memory);
  return status;
}

/* ---- text ---- */

static void put_base64(FILE *to, const uint8_t *bytes, size_t count)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < count; i += 3) {
    const size_t left = count - i;
    const uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0u) |
                          (left > 2 ? bytes[i + 2] : 0u);
    fputc(digits[word >> 18], to);
    fputc(digits[word >> 12 & 63], to);
    fputc(left > 1 ? digits[word >> 6 & 63] : '=', to);
    fputc(left > 2 ? digits[word & 63] : '=', to);
  }
}

/* A name in the object must not close the HTML element that contains it. '<' occurs only in
 * strings, in which it can be escaped. */
static abut_status put_object(FILE *to, const json_t *root)
{
  char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
  if (!text) {
    return no_memory();
  }
  for (const char *c = text; *c; ++c) {
    if (*c == '<') {
      fputs("\\u003c", to);
    } else {
      fputc(*c, to);
    }
  }
  free(text);
  return ABUT_SUCCESS;
}

#define WINDOW (-MAX_WBITS) /* a stream without a header: "deflate-raw" in the page */

/* Compresses bytes, for size or for speed. The caller frees *out. */
static abut_status deflate_bytes(const uint8_t *bytes, size_t count, bool quickly, uint8_t **out,
                                 size_t *out_count)
{
  z_stream z = {.next_in = bytes, .avail_in = (uInt)count};
  if (count > UINT_MAX / 2) { /* more than zlib or a browser can process at once */
    return fail(ABUT_ERROR_ARGUMENT,
                "the page is too large: it has %zu bytes, and at most %u are possible", count,
                UINT_MAX / 2);
  }
  if (deflateInit2(&z, quickly ? Z_BEST_SPEED : Z_BEST_COMPRESSION, Z_DEFLATED, WINDOW, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory to compress a page of %zu bytes", count);
  }
  const uLong most = deflateBound(&z, (uLong)count); /* slightly more than `count` */
  uint8_t *packed = malloc(most);
  z.next_out = packed;
  z.avail_out = packed ? (uInt)most : 0;
  const bool whole = packed && deflate(&z, Z_FINISH) == Z_STREAM_END;
  *out_count = z.total_out;
  deflateEnd(&z);
  if (!whole) {
    free(packed);
    return fail(ABUT_ERROR_MEMORY, "not enough memory to compress a page of %zu bytes", count);
  }
  *out = packed;
  return ABUT_SUCCESS;
}

static abut_status put_page(FILE *to, const page *p)
{
  uint8_t *packed = NULL;
  size_t count = 0;
  fwrite(page_head, 1, sizeof page_head, to);
  fputs(p->live ? "; connect-src 'self'" : "", to);
  fwrite(page_before_object, 1, sizeof page_before_object, to);
  TRY(put_object(to, p->root));
  fwrite(page_before_arrays, 1, sizeof page_before_arrays, to);
  TRY(deflate_bytes(p->bytes, p->used, p->live, &packed, &count));
  put_base64(to, packed, count);
  free(packed);
  fwrite(page_before_picture, 1, sizeof page_before_picture, to);
  if (p->picture) {
    fputs(
      "<img id=\"picture\" alt=\"The frame, as abut render draws it\" src=\"data:image/png;base64,",
      to);
    put_base64(to, p->picture, p->picture_bytes);
    fputs("\">", to);
  }
  fwrite(page_tail, 1, sizeof page_tail, to);
  return ABUT_SUCCESS;
}

abut_status page_format(page *p, char **html, size_t *bytes)
{
  char *text = NULL;
  size_t count = 0;
  FILE *to = open_memstream(&text, &count);
  if (!to) {
    return no_memory();
  }
  abut_status status = put_page(to, p);
  const bool bad = ferror(to) != 0;
  if ((fclose(to) != 0 || bad) && status == ABUT_SUCCESS) {
    status = no_memory();
  }
  if (status != ABUT_SUCCESS) {
    free(text);
    return status;
  }
  *html = text;
  *bytes = count;
  return ABUT_SUCCESS;
}
