#include "format/npy.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64 /* of the data, as in NumPy */
#define PREFIX 10    /* magic, version and length in version 1.0 */

abut_status npy_fail(npy_where where, const char *format, ...)
{
  char cause[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  return where.array ? fail_at(ABUT_ERROR_FORMAT, where.file, 0, "array '%s': %s",
                               string_shown(where.array).text, cause)
                     : fail_at(ABUT_ERROR_FORMAT, where.file, 0, "%s", cause);
}

bool npy_count(uint32_t dimensions, const size_t *shape, size_t *out)
{
  bool empty = false, fits = true;
  *out = 1;
  for (uint32_t i = 0; i < dimensions; i++) {
    empty = empty || shape[i] == 0;
    fits = fits && (shape[i] == 0 || *out <= SIZE_MAX / shape[i]);
    *out = fits ? *out * (shape[i] ? shape[i] : 1) : 0;
  }
  *out = empty ? 0 : *out;
  return fits;
}

/* A position in the dictionary. */
typedef struct dict {
  const char *at, *end;
} dict;

static bool take(dict *d, const char *wanted)
{
  while (d->at != d->end && (*d->at == ' ' || *d->at == '\n' || *d->at == '\t')) {
    d->at++;
  }
  size_t length = strlen(wanted);
  if ((size_t)(d->end - d->at) < length || memcmp(d->at, wanted, length) != 0) {
    return false;
  }
  d->at += length;
  return true;
}

static bool take_string(dict *d, word *out)
{
  char quote = 0;
  if (take(d, "'")) {
    quote = '\'';
  } else if (take(d, "\"")) {
    quote = '"';
  } else {
    return false;
  }
  const char *end = memchr(d->at, quote, (size_t)(d->end - d->at));
  if (!end) {
    return false;
  }
  *out = (word){d->at, (size_t)(end - d->at)};
  d->at = end + 1;
  return true;
}

static bool take_size(dict *d, size_t *out)
{
  take(d, ""); /* skips blanks */
  word digits = {d->at, 0};
  while (d->at != d->end && *d->at >= '0' && *d->at <= '9') {
    d->at++;
    digits.length++;
  }
  int64_t value;
  if (!word_integer(digits, &value)) {
    return false;
  }
  *out = (size_t)value;
  return (uint64_t)value <= SIZE_MAX;
}

static abut_status read_shape(npy_where where, dict *d, npy *out)
{
  bool comma = true;
  if (!take(d, "(")) {
    return npy_fail(where, "the shape is not a tuple");
  }
  for (out->dimensions = 0; !take(d, ")"); out->dimensions++) {
    if (out->dimensions == NPY_DIMENSIONS) {
      return npy_fail(where, "has more than %d dimensions", NPY_DIMENSIONS);
    }
    if (!comma || !take_size(d, &out->shape[out->dimensions])) {
      return npy_fail(where, "the shape is too large, or has an entry that is not a whole number");
    }
    comma = take(d, ",");
  }
  if (out->dimensions == 1 && !comma) {
    return npy_fail(where, "the shape is not a tuple");
  }
  return ABUT_SUCCESS;
}

/* Reads '<U' and the number of code points. */
static abut_status read_text_type(npy_where where, word descr, npy *out)
{
  int64_t points;
  if (!word_integer((word){descr.start + 2, descr.length - 2}, &points) || points < 0 ||
      (uint64_t)points > SIZE_MAX / 8) {
    return npy_fail(where, "unknown dtype '%s'", word_shown(descr).text);
  }
  out->type = ABUT_ARRAY_TEXT;
  out->item_bytes = 4 * (size_t)points;
  return ABUT_SUCCESS;
}

static abut_status fail_type(npy_where where, word descr)
{
  static const char *const names[][2] = {{"<u8", " (uint64)"},
                                         {"<f2", " (float16)"},
                                         {"<c8", " (complex64)"},
                                         {"<c16", " (complex128)"}};
  const char *name = "";
  if (descr.length && descr.start[0] == '>') {
    return npy_fail(where, "dtype '%s' is big-endian; only little-endian data can be read",
                    word_shown(descr).text);
  }
  if (descr.length > 1 && descr.start[1] == 'O') {
    return npy_fail(where, "dtype '%s' holds Python objects, which cannot be read",
                    word_shown(descr).text);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    name = word_is(descr, names[i][0]) ? names[i][1] : name;
  }
  return npy_fail(where,
                  "dtype '%s'%s is not supported; use float32, float64, bool, int8, uint8, int16, "
                  "uint16, int32, uint32, int64 or text",
                  word_shown(descr).text, name);
}

static abut_status read_type(npy_where where, dict *d, npy *out)
{
  static const struct {
    const char *descr;
    abut_array_type type;
    size_t bytes;
    npy_narrow narrow;
  } types[] = {
    {"<f4", ABUT_ARRAY_FLOAT32, 4, NPY_AS_IT_IS}, {"<f8", ABUT_ARRAY_FLOAT64, 8, NPY_AS_IT_IS},
    {"|u1", ABUT_ARRAY_UINT8, 1, NPY_AS_IT_IS},   {"<u1", ABUT_ARRAY_UINT8, 1, NPY_AS_IT_IS},
    {"|b1", ABUT_ARRAY_UINT8, 1, NPY_AS_IT_IS}, /* 0 or 1 */
    {"|i1", ABUT_ARRAY_INT32, 1, NPY_INT8},       {"<i1", ABUT_ARRAY_INT32, 1, NPY_INT8},
    {"<i2", ABUT_ARRAY_INT32, 2, NPY_INT16},      {"<u2", ABUT_ARRAY_INT32, 2, NPY_UINT16},
    {"<u4", ABUT_ARRAY_UINT32, 4, NPY_AS_IT_IS},  {"<i4", ABUT_ARRAY_INT32, 4, NPY_AS_IT_IS},
    {"<i8", ABUT_ARRAY_INT64, 8, NPY_AS_IT_IS}};
  word descr;
  if (!take_string(d, &descr)) {
    return npy_fail(where, "structured dtypes cannot be read");
  }
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (word_is(descr, types[i].descr)) {
      out->type = types[i].type;
      out->item_bytes = types[i].bytes;
      out->narrow = types[i].narrow;
      return ABUT_SUCCESS;
    }
  }
  if (descr.length > 2 && descr.start[0] == '<' && descr.start[1] == 'U') {
    return read_text_type(where, descr, out);
  }
  return fail_type(where, descr);
}

static abut_status read_order(npy_where where, dict *d, npy *out)
{
  out->fortran = take(d, "True");
  return out->fortran || take(d, "False") ? ABUT_SUCCESS
                                          : npy_fail(where, "fortran_order is not True or False");
}

enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };

static abut_status read_entry(npy_where where, dict *d, npy *out, unsigned *seen)
{
  word key;
  if (!take_string(d, &key) || !take(d, ":")) {
    return npy_fail(where, "the header is not a dictionary");
  }
  unsigned entry = word_is(key, "descr")           ? DESCR
                   : word_is(key, "fortran_order") ? ORDER
                   : word_is(key, "shape")         ? SHAPE
                                                   : 0;
  if (!entry || (*seen & entry)) {
    return npy_fail(where, "the header has the unknown key '%s'", word_shown(key).text);
  }
  *seen |= entry;
  return entry == DESCR   ? read_type(where, d, out)
         : entry == ORDER ? read_order(where, d, out)
                          : read_shape(where, d, out);
}

static abut_status check_size(npy_where where, npy *out)
{
  size_t count;
  if (out->type == ABUT_ARRAY_TEXT && out->dimensions != 0) {
    return npy_fail(where, "is an array of texts; expected numbers, or a single text");
  }
  if (!npy_count(out->dimensions, out->shape, &count) ||
      (out->item_bytes && count > SIZE_MAX / out->item_bytes)) {
    return npy_fail(where, "the shape is too large for memory");
  }
  out->data_bytes = count * out->item_bytes;
  return ABUT_SUCCESS;
}

abut_status npy_parse(npy_where where, const char *text, size_t length, npy *out)
{
  dict d = {text, text + length};
  unsigned seen = 0;
  bool comma = true;
  *out = (npy){0};
  if (!take(&d, "{")) {
    return npy_fail(where, "the header is not a dictionary");
  }
  while (!take(&d, "}")) {
    if (!comma) {
      return npy_fail(where, "the header is not a dictionary");
    }
    TRY(read_entry(where, &d, out, &seen));
    comma = take(&d, ",");
  }
  take(&d, ""); /* skips blanks */
  if (seen != ALL || d.at != d.end) {
    return npy_fail(where, "the header lacks a key, or has data after its dictionary");
  }
  return check_size(where, out);
}

const char *npy_type_name(abut_array_type type)
{
  static const char *const names[] = {"float32", "float64", "uint8", "uint32",
                                      "text",    "int32",   "int64"};
  return names[type];
}

double npy_real(const abut_array *array, size_t i)
{
  switch (array->type) {
  case ABUT_ARRAY_FLOAT32:
    return (double)((const float *)array->data)[i];
  case ABUT_ARRAY_UINT8:
    return ((const uint8_t *)array->data)[i];
  case ABUT_ARRAY_UINT32:
    return ((const uint32_t *)array->data)[i];
  case ABUT_ARRAY_INT32:
    return ((const int32_t *)array->data)[i];
  case ABUT_ARRAY_INT64:
    return (double)((const int64_t *)array->data)[i];
  default:
    return ((const double *)array->data)[i];
  }
}

void npy_widen(npy_narrow narrow, const void *from, size_t count, int32_t *to)
{
  for (size_t i = 0; i < count; ++i) {
    to[i] = narrow == NPY_INT8    ? ((const int8_t *)from)[i]
            : narrow == NPY_INT16 ? ((const int16_t *)from)[i]
                                  : ((const uint16_t *)from)[i];
  }
}

/* Visits the elements in C order, and `from` by strides accordingly. */
void npy_transpose(const npy *header, const void *from, void *to)
{
  size_t at[NPY_DIMENSIONS] = {0}, strides[NPY_DIMENSIONS] = {0}, stride = header->item_bytes;
  const char *next = from;
  for (uint32_t i = 0; i < header->dimensions; i++) {
    strides[i] = stride;
    stride *= header->shape[i];
  }
  for (size_t done = 0; done < header->data_bytes; done += header->item_bytes) {
    memcpy((char *)to + done, next, header->item_bytes);
    for (uint32_t i = header->dimensions; i-- > 0;) {
      next += strides[i];
      if (++at[i] < header->shape[i]) {
        break;
      }
      next -= strides[i] * at[i];
      at[i] = 0;
    }
  }
}

abut_status npy_format(const abut_array *array, size_t code_points, char **bytes, size_t *count)
{
  static const char *const descr[] = {"<f4", "<f8", "|u1", "<u4", NULL, "<i4", "<i8"};
  char type[32], shape[NPY_DIMENSIONS * 24] = "";
  void *memory;
  *bytes = NULL;
  snprintf(type, sizeof type, "<U%zu", code_points);
  bool is_text = array->type == ABUT_ARRAY_TEXT;
  uint32_t dimensions = is_text ? 0 : array->dimensions;
  size_t used = 0;
  for (uint32_t i = 0; i < dimensions; i++) {
    used +=
      (size_t)snprintf(shape + used, sizeof shape - used, "%s%zu", i ? ", " : "", array->shape[i]);
  }
  TRY(allocate(&memory, 4 * ALIGNMENT, 1));
  char *header = memory;
  int length = snprintf(header + PREFIX, 4 * ALIGNMENT - PREFIX,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }",
                        is_text ? type : descr[array->type], shape, dimensions == 1 ? "," : "");
  size_t total = (PREFIX + (size_t)length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(header + PREFIX + length, ' ', total - PREFIX - (size_t)length - 1);
  header[total - 1] = '\n';
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((total - PREFIX) & 0xFF);
  header[9] = (char)((total - PREFIX) >> 8);
  *bytes = header;
  *count = total;
  return ABUT_SUCCESS;
}

static size_t put_utf8(uint32_t c, char *out)
{
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
  for (size_t i = tail; i > 0; i--, c >>= 6) {
    out[i] = (char)(0x80 | (c & 0x3F));
  }
  out[0] = (char)(lead[tail] | c);
  return tail + 1;
}

static bool is_code_point(uint32_t c)
{
  return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF);
}

static uint32_t point_at(const unsigned char *utf32, size_t i)
{
  const unsigned char *b = utf32 + 4 * i;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

abut_status npy_decode_text(npy_where where, const unsigned char *utf32, size_t code_points,
                            char **out, size_t *length)
{
  void *memory;
  *out = NULL;
  *length = 0;
  while (code_points && point_at(utf32, code_points - 1) == 0) {
    code_points--;
  }
  TRY(allocate(&memory, 4 * code_points + 1, 1));
  char *text = memory;
  for (size_t i = 0; i < code_points; i++) {
    if (!is_code_point(point_at(utf32, i))) {
      free(text);
      return npy_fail(where, "character %zu is not a Unicode character", i);
    }
    *length += put_utf8(point_at(utf32, i), text + *length);
  }
  *out = text;
  return ABUT_SUCCESS;
}

/* Decodes the code point at `at` and advances. Returns false for invalid UTF-8. */
static bool get_utf8(const unsigned char **at, const unsigned char *end, uint32_t *out)
{
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  unsigned char lead = *(*at)++;
  size_t tail = lead < 0x80 ? 0 : lead < 0xC0 ? 4 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  if (tail == 4 || lead >= 0xF8 || (size_t)(end - *at) < tail) {
    return false;
  }
  *out = tail ? lead & (0x3Fu >> tail) : lead;
  for (size_t i = 0; i < tail; i++, (*at)++) {
    if ((**at & 0xC0) != 0x80) {
      return false;
    }
    *out = *out << 6 | (**at & 0x3F);
  }
  return *out >= least[tail] && is_code_point(*out);
}

abut_status npy_encode_text(npy_where where, const char *text, size_t length, unsigned char **utf32,
                            size_t *code_points)
{
  const unsigned char *at = (const unsigned char *)text, *end = at + length;
  void *memory;
  *utf32 = NULL;
  *code_points = 0;
  TRY(allocate(&memory, length ? length : 1, 4));
  unsigned char *out = memory;
  while (at != end) {
    uint32_t c;
    if (!get_utf8(&at, end, &c)) {
      free(out);
      return fail(ABUT_ERROR_ARGUMENT, "%s: text '%s' is not UTF-8", where.file, where.array);
    }
    for (size_t i = 0; i < 4; i++, c >>= 8) {
      out[4 * *code_points + i] = (unsigned char)(c & 0xFF);
    }
    (*code_points)++;
  }
  *code_points += *code_points == 0; /* NumPy has no text type of length 0; a zero is padding */
  *utf32 = out;
  return ABUT_SUCCESS;
}
