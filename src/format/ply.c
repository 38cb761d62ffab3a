#include "base/error.h"
#include "format/builder.h"
#include "format/ply_header.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Position of the reader: the line of a text file, or the element's number in a binary file. */
typedef struct ply {
  scan t;
  ply_header header;
  builder *b;
  const ply_element *element;
  uint64_t number;
} ply;

__attribute__((format(printf, 2, 3))) static abut_status wrong(const ply *p, const char *format,
                                                               ...)
{
  char cause[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  return fail_at(ABUT_ERROR_FORMAT, p->t.name, p->header.storage == PLY_ASCII ? p->t.line : 0,
                 "%s %llu: %s", p->element->name.text, (unsigned long long)p->number, cause);
}

static uint64_t read_bits(const ply *p, size_t size)
{
  uint64_t bits = 0;
  for (size_t i = 0; i < size; i++) {
    unsigned char byte = (unsigned char)p->t.at[p->header.storage == PLY_BIG ? i : size - 1 - i];
    bits = bits << 8 | byte;
  }
  return bits;
}

/* A double represents every type of PLY exactly. */
static double decode(uint64_t bits, ply_type type)
{
  uint32_t low = (uint32_t)bits;
  float single;
  double value;
  switch (type) {
  case PLY_INT8:
    return bits < 0x80 ? (double)bits : (double)bits - 0x100;
  case PLY_INT16:
    return bits < 0x8000 ? (double)bits : (double)bits - 0x10000;
  case PLY_INT32:
    return bits < 0x80000000u ? (double)bits : (double)bits - 0x100000000;
  case PLY_FLOAT32:
    memcpy(&single, &low, sizeof single);
    return (double)single;
  case PLY_FLOAT64:
    memcpy(&value, &bits, sizeof value);
    return value;
  default:
    return (double)bits;
  }
}

static abut_status next_value(ply *p, ply_type type, double *out)
{
  if (p->header.storage == PLY_ASCII) {
    word w;
    if (!text_word(&p->t, &w)) {
      return wrong(p, "a number is missing");
    }
    return word_any_number(w, out) ? ABUT_SUCCESS
                                   : wrong(p, "'%s' is not a number", word_shown(w).text);
  }
  size_t size = ply_type_bytes(type);
  if ((size_t)(p->t.end - p->t.at) < size) {
    return wrong(p, "the file is truncated");
  }
  *out = decode(read_bits(p, size), type);
  p->t.at += size;
  return ABUT_SUCCESS;
}

static abut_status check_whole(const ply *p, const char *what, double value, uint32_t *out)
{
  if (!(value >= 0 && value < UINT32_MAX) || floor(value) != value) {
    return wrong(p, "%s %g is out of range", what, value);
  }
  *out = (uint32_t)value;
  return ABUT_SUCCESS;
}

static abut_status next_whole(ply *p, ply_type type, const char *what, uint32_t *out)
{
  double value;
  TRY(next_value(p, type, &value));
  return check_whole(p, what, value, out);
}

/* Triangles of three consecutive vertices each, with every second one reversed. -1 ends a strip.
 * Repeated vertices, which join strips, give degenerate triangles. */
static abut_status read_strips(ply *p, const ply_property *property, uint32_t count, size_t line)
{
  uint32_t before[2] = {0, 0}; /* alternating, so that all triangles have the same orientation */
  size_t length = 0;
  for (uint32_t i = 0; i < count; i++) {
    double value;
    TRY(next_value(p, property->type, &value));
    if (value == -1) {
      length = 0;
      continue;
    }
    uint32_t index = 0;
    TRY(check_whole(p, "vertex index", value, &index));
    if (length >= 2 && before[0] != before[1] && index != before[0] && index != before[1]) {
      TRY(builder_corner(p->b, before[0], line));
      TRY(builder_corner(p->b, before[1], line));
      TRY(builder_corner(p->b, index, line));
      TRY(builder_face(p->b, line));
    }
    before[length++ % 2] = index;
  }
  return ABUT_SUCCESS;
}

static abut_status read_list(ply *p, const ply_property *property)
{
  uint32_t count = 0, index = 0;
  double unused;
  size_t line = p->header.storage == PLY_ASCII ? p->t.line : 0;
  TRY(next_whole(p, property->count_type, "the list count", &count));
  if (property->role == PLY_FACE && p->element->kind == PLY_STRIPS) {
    return read_strips(p, property, count, line);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (property->role == PLY_FACE) {
      TRY(next_whole(p, property->type, "vertex index", &index));
      TRY(builder_corner(p->b, index, line));
    } else {
      TRY(next_value(p, property->type, &unused));
    }
  }
  if (property->role != PLY_FACE) {
    return ABUT_SUCCESS;
  }
  return count < 3 ? wrong(p, "has %u corners; it needs at least 3", count)
                   : builder_face(p->b, line);
}

static abut_status read_properties(ply *p)
{
  double position[3] = {0, 0, 0};
  for (size_t i = 0; i < p->element->properties; i++) {
    const ply_property *property = &p->header.properties[p->element->first + i];
    double value;
    if (property->count_type != PLY_NONE) {
      TRY(read_list(p, property));
      continue;
    }
    TRY(next_value(p, property->type, &value));
    if (property->role == PLY_UNUSED) {
      continue;
    }
    if (!isfinite(value)) {
      return wrong(p, "a coordinate is not finite");
    }
    position[property->role] = value;
  }
  return p->element->kind == PLY_VERTICES ? builder_vertex(p->b, position) : ABUT_SUCCESS;
}

/* In ascii files, a record is a line. Data after the declared properties is skipped, since VCGLIB
 * writes more columns than its headers declare. */
static abut_status read_record(ply *p)
{
  if (p->header.storage != PLY_ASCII) {
    return read_properties(p);
  }
  if (!text_content(&p->t)) {
    return wrong(p, "the file ends before it; the header announces %llu",
                 (unsigned long long)p->element->count);
  }
  TRY(read_properties(p));
  text_next_line(&p->t);
  return ABUT_SUCCESS;
}

static abut_status read_element(ply *p)
{
  if (p->element->properties == 0) {
    return ABUT_SUCCESS; /* needs no memory for any number of elements */
  }
  for (p->number = 0; p->number < p->element->count; p->number++) {
    TRY(read_record(p));
  }
  return ABUT_SUCCESS;
}

static abut_status read_file(ply *p)
{
  TRY(ply_read_header(&p->t, &p->header));
  for (size_t i = 0; i < p->header.element_count; i++) {
    p->element = &p->header.elements[i];
    TRY(read_element(p));
  }
  p->b->m.trailing = text_rest(&p->t);
  return ABUT_SUCCESS;
}

abut_status ply_parse(builder *b, const char *bytes, size_t count)
{
  ply p = {.b = b};
  abut_status status = text_open(&p.t, b->name, bytes, count);
  if (status == ABUT_SUCCESS) {
    status = read_file(&p);
  }
  ply_free_header(&p.header);
  text_close(&p.t);
  return status;
}
