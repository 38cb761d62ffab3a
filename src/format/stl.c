#include "base/error.h"
#include "base/memory.h"
#include "format/builder.h"
#include "format/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 84   /* 80 of text and the number of triangles */
#define TRIANGLE_BYTES 50 /* normal, three corners, two bytes of attributes */

/* Vertices by position: a hash table with open addressing, where 0 marks a free entry and k + 1
 * vertex k. */
typedef struct weld {
  uint32_t *places;
  size_t size; /* a power of two */
} weld;

static uint64_t hash(const double position[3])
{
  uint64_t h = 0;
  for (int i = 0; i < 3; i++) {
    double value = position[i] + 0.0; /* turns -0 into 0 */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    h = (h ^ bits) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9u;
    h ^= h >> 32;
  }
  return h;
}

static uint32_t *find_place(const weld *w, const builder *b, const double position[3])
{
  size_t at = (size_t)hash(position) & (w->size - 1);
  while (w->places[at]) {
    const double *other = b->m.vertices + 3 * (size_t)(w->places[at] - 1);
    if (other[0] == position[0] && other[1] == position[1] && other[2] == position[2]) {
      break;
    }
    at = (at + 1) & (w->size - 1);
  }
  return &w->places[at];
}

static abut_status make_room(weld *w, const builder *b)
{
  if (w->size > 2 * b->m.vertex_count) {
    return ABUT_SUCCESS;
  }
  weld bigger = {NULL, w->size ? 2 * w->size : 256};
  void *places;
  TRY(allocate(&places, bigger.size, sizeof *bigger.places));
  bigger.places = places;
  for (size_t k = 0; k < b->m.vertex_count; k++) {
    *find_place(&bigger, b, b->m.vertices + 3 * k) = (uint32_t)k + 1;
  }
  free(w->places);
  *w = bigger;
  return ABUT_SUCCESS;
}

static abut_status add_corner(weld *w, builder *b, const double position[3], size_t line)
{
  TRY(make_room(w, b));
  uint32_t *place = find_place(w, b, position);
  if (!*place) {
    TRY(builder_vertex(b, position));
    *place = (uint32_t)b->m.vertex_count;
  }
  return builder_corner(b, *place - 1, line);
}

static abut_status expect(scan *t, const char *wanted)
{
  word w;
  if (!text_content(t)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the file ends; expected '%s'", wanted);
  }
  text_word(t, &w);
  if (!word_is_any_case(w, wanted)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "found '%s', expected '%s'",
                   word_shown(w).text, wanted);
  }
  return ABUT_SUCCESS;
}

/* Reads the part after "facet". Skips the normal: some exporters write nan for zero areas. */
static abut_status read_facet(scan *t, weld *w, builder *b)
{
  TRY(expect(t, "normal"));
  text_next_line(t);
  TRY(expect(t, "outer"));
  TRY(expect(t, "loop"));
  for (int corner = 0; corner < 3; corner++) {
    double position[3];
    TRY(expect(t, "vertex"));
    for (int i = 0; i < 3; i++) {
      TRY(text_number(t, "vertex", &position[i]));
    }
    TRY(add_corner(w, b, position, t->line));
  }
  TRY(expect(t, "endloop"));
  TRY(expect(t, "endfacet"));
  return builder_face(b, t->line);
}

/* Reads the part after "solid", whose name takes the rest of the line. */
static abut_status read_solid(scan *t, weld *w, builder *b)
{
  text_next_line(t);
  for (;;) {
    word keyword;
    if (!text_content(t)) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the file ends without 'endsolid'");
    }
    text_word(t, &keyword);
    if (word_is_any_case(keyword, "endsolid")) {
      text_next_line(t);
      return ABUT_SUCCESS;
    }
    if (!word_is_any_case(keyword, "facet")) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line,
                     "found '%s', expected 'facet' or 'endsolid'", word_shown(keyword).text);
    }
    TRY(read_facet(t, w, b));
  }
}

/* Whether the next word is "solid". Does not advance. */
static bool is_at_solid(const scan *t)
{
  scan ahead = *t;
  word w;
  return text_content(&ahead) && text_word(&ahead, &w) && word_is_any_case(w, "solid");
}

/* zeros: number of zero bytes after the text. */
static abut_status read_ascii(builder *b, weld *w, const char *bytes, size_t count, size_t zeros)
{
  scan t;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(text_open(&t, b->name, bytes, count));
  do {
    TRY_DONE(expect(&t, "solid"));
    TRY_DONE(read_solid(&t, w, b));
  } while (is_at_solid(&t));
  b->m.trailing = text_rest(&t) + zeros;
done:
  text_close(&t);
  return status;
}

static uint32_t little_u32(const char *bytes)
{
  unsigned char b[4];
  memcpy(b, bytes, 4);
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static abut_status read_triangle(builder *b, weld *w, const char *bytes, size_t number)
{
  for (int corner = 0; corner < 3; corner++) {
    double position[3];
    for (int i = 0; i < 3; i++) {
      uint32_t bits = little_u32(bytes + 12 + 12 * corner + 4 * i);
      float value;
      memcpy(&value, &bits, sizeof value);
      position[i] = (double)value;
      if (!isfinite(position[i])) {
        return fail_at(ABUT_ERROR_FORMAT, b->name, 0,
                       "triangle %zu has a corner that is not "
                       "finite",
                       number);
      }
    }
    TRY(add_corner(w, b, position, 0));
  }
  return builder_face(b, 0);
}

static abut_status read_binary(builder *b, weld *w, const char *bytes, size_t count)
{
  if (count < HEADER_BYTES) {
    return fail_at(ABUT_ERROR_FORMAT, b->name, 0,
                   "the file has only %zu bytes: it is not an ASCII STL, and is too short for a "
                   "binary STL",
                   count);
  }
  uint32_t triangles = little_u32(bytes + HEADER_BYTES - 4);
  if ((uint64_t)triangles * TRIANGLE_BYTES > count - HEADER_BYTES) {
    return fail_at(ABUT_ERROR_FORMAT, b->name, 0,
                   "truncated: the header announces %u triangles, but only %zu bytes follow",
                   triangles, count - HEADER_BYTES);
  }
  b->m.trailing = count - HEADER_BYTES - (size_t)triangles * TRIANGLE_BYTES;
  for (size_t k = 0; k < triangles; k++) {
    TRY(read_triangle(b, w, bytes + HEADER_BYTES + TRIANGLE_BYTES * k, k));
  }
  return ABUT_SUCCESS;
}

/* A binary header may start with "solid" too. The size identifies it or, if it is truncated or has
 * trailing data, the zeros, which text does not contain. text: length without zeros at the end. */
static bool is_ascii(const char *bytes, size_t count, size_t text)
{
  if (count >= HEADER_BYTES &&
      (uint64_t)little_u32(bytes + HEADER_BYTES - 4) * TRIANGLE_BYTES == count - HEADER_BYTES) {
    return false;
  }
  size_t at = text_mark(bytes, count);
  while (at < count && strchr(" \t\r\n", bytes[at]) && bytes[at]) {
    at++;
  }
  word start = {bytes + at, count - at < 5 ? count - at : 5};
  return word_is_any_case(start, "solid") && !memchr(bytes, 0, text);
}

abut_status stl_parse(builder *b, const char *bytes, size_t count)
{
  weld w = {NULL, 0};
  size_t text = count;
  while (text && !bytes[text - 1]) {
    --text;
  }
  abut_status status = is_ascii(bytes, count, text) ? read_ascii(b, &w, bytes, text, count - text)
                                                    : read_binary(b, &w, bytes, count);
  free(w.places);
  return status;
}
