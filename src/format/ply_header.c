#include "format/ply_header.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>

static const struct {
  const char *name;
  ply_type type;
} type_names[] = {
  {"char", PLY_INT8},       {"int8", PLY_INT8},       {"uchar", PLY_UINT8},
  {"uint8", PLY_UINT8},     {"short", PLY_INT16},     {"int16", PLY_INT16},
  {"ushort", PLY_UINT16},   {"uint16", PLY_UINT16},   {"int", PLY_INT32},
  {"int32", PLY_INT32},     {"uint", PLY_UINT32},     {"uint32", PLY_UINT32},
  {"float", PLY_FLOAT32},   {"float32", PLY_FLOAT32}, {"double", PLY_FLOAT64},
  {"float64", PLY_FLOAT64},
};

size_t ply_type_bytes(ply_type type)
{
  static const size_t bytes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};
  return bytes[type];
}

static abut_status wrong(const scan *t, const char *what)
{
  return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "%s", what);
}

static abut_status need_word(scan *t, const char *what, word *w)
{
  return text_word(t, w) ? ABUT_SUCCESS
                         : fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "%s is missing", what);
}

static abut_status end_line(scan *t)
{
  word w;
  if (text_word(t, &w)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "unexpected '%s'", word_shown(w).text);
  }
  text_next_line(t);
  return ABUT_SUCCESS;
}

static abut_status read_type(scan *t, ply_type *type)
{
  word w;
  TRY(need_word(t, "a property's type", &w));
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
    if (word_is(w, type_names[i].name)) {
      *type = type_names[i].type;
      return ABUT_SUCCESS;
    }
  }
  return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "'%s' is not a PLY type", word_shown(w).text);
}

static abut_status read_format(scan *t, ply_header *h)
{
  word w, version;
  TRY(need_word(t, "the format", &w));
  if (word_is(w, "ascii")) {
    h->storage = PLY_ASCII;
  } else if (word_is(w, "binary_little_endian")) {
    h->storage = PLY_LITTLE;
  } else if (word_is(w, "binary_big_endian")) {
    h->storage = PLY_BIG;
  } else {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "'%s' is not a PLY format",
                   word_shown(w).text);
  }
  TRY(need_word(t, "the format's version", &version));
  return word_is(version, "1.0") ? end_line(t) : wrong(t, "the version of the format must be 1.0");
}

static abut_status read_element(scan *t, ply_header *h)
{
  word name;
  uint64_t count;
  TRY(need_word(t, "an element's name", &name));
  TRY(text_count(t, "element count", INT64_MAX, &count));
  void *elements = h->elements;
  abut_status status = grow(&elements, &h->element_room, h->element_count + 1, sizeof *h->elements);
  h->elements = elements;
  TRY(status);
  ply_kind kind = word_is(name, "vertex")      ? PLY_VERTICES
                  : word_is(name, "face")      ? PLY_FACES
                  : word_is(name, "tristrips") ? PLY_STRIPS
                                               : PLY_OTHER;
  for (size_t i = 0; i < h->element_count; i++) {
    if (kind != PLY_OTHER && h->elements[i].kind == kind) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "a second element '%s'",
                     word_shown(name).text);
    }
  }
  h->elements[h->element_count++] = (ply_element){.kind = kind,
                                                  .name = word_shown(name),
                                                  .count = count,
                                                  .first = h->property_count};
  return end_line(t);
}

static ply_role role_of(ply_kind kind, word name)
{
  if (kind == PLY_VERTICES) {
    return word_is(name, "x")   ? PLY_X
           : word_is(name, "y") ? PLY_Y
           : word_is(name, "z") ? PLY_Z
                                : PLY_UNUSED;
  }
  bool face = word_is(name, "vertex_indices") || word_is(name, "vertex_index");
  return kind != PLY_OTHER && face ? PLY_FACE : PLY_UNUSED;
}

/* The elements with lists of vertices. */
static const char *plural_of(const ply_element *e)
{
  return e->kind == PLY_STRIPS ? "tristrips" : "faces";
}

static abut_status check_property(const scan *t, const ply_header *h, ply_property p)
{
  const ply_element *e = &h->elements[h->element_count - 1];
  if (p.count_type >= PLY_FLOAT32) {
    return wrong(t, "the count of a list must have an integer type");
  }
  if (p.role == PLY_FACE && (p.count_type == PLY_NONE || p.type >= PLY_FLOAT32)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line,
                   "the vertex indices of %s must be a list of an integer type", plural_of(e));
  }
  if (p.role >= PLY_X && p.role <= PLY_Z && p.count_type != PLY_NONE) {
    return wrong(t, "a vertex coordinate is a list");
  }
  for (size_t i = 0; i < e->properties; i++) {
    if (p.role != PLY_UNUSED && h->properties[e->first + i].role == p.role) {
      return wrong(t, "a second property of this name");
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read_property(scan *t, ply_header *h)
{
  if (h->element_count == 0) {
    return wrong(t, "a property before the first element");
  }
  word w, name;
  scan before = *t;
  ply_property p = {PLY_NONE, PLY_NONE, PLY_UNUSED};
  TRY(need_word(t, "a property's type", &w));
  if (word_is(w, "list")) {
    TRY(read_type(t, &p.count_type));
  } else {
    t->at = before.at;
  }
  TRY(read_type(t, &p.type));
  TRY(need_word(t, "a property's name", &name));
  ply_element *e = &h->elements[h->element_count - 1];
  p.role = role_of(e->kind, name);
  TRY(check_property(t, h, p));
  void *properties = h->properties;
  abut_status status =
    grow(&properties, &h->property_room, h->property_count + 1, sizeof *h->properties);
  h->properties = properties;
  TRY(status);
  h->properties[h->property_count++] = p;
  e->properties++;
  return end_line(t);
}

/* A vertex needs its three coordinates, a face its list. */
static abut_status check_header(const scan *t, const ply_header *h)
{
  for (size_t i = 0; i < h->element_count; i++) {
    const ply_element *e = &h->elements[i];
    unsigned roles = 0;
    for (size_t k = 0; k < e->properties; k++) {
      ply_role role = h->properties[e->first + k].role;
      roles |= role == PLY_UNUSED ? 0 : 1u << role;
    }
    if (e->kind == PLY_VERTICES && roles != 7) {
      return wrong(t, "the vertices have no x, y and z");
    }
    if ((e->kind == PLY_FACES || e->kind == PLY_STRIPS) && roles == 0) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the %s have no vertex_indices",
                     plural_of(e));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read_keyword(scan *t, ply_header *h, bool *formatted, bool *ended)
{
  word w;
  text_word(t, &w);
  if (word_is(w, "comment") || word_is(w, "obj_info")) {
    text_next_line(t);
    return ABUT_SUCCESS;
  }
  if (word_is(w, "format") && !*formatted) {
    *formatted = true;
    return read_format(t, h);
  }
  if (word_is(w, "element") && *formatted) {
    return read_element(t, h);
  }
  if (word_is(w, "property")) {
    return read_property(t, h);
  }
  if (word_is(w, "end_header") && *formatted) {
    *ended = true;
    TRY(check_header(t, h));
    return end_line(t);
  }
  return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "unexpected '%s'", word_shown(w).text);
}

abut_status ply_read_header(scan *t, ply_header *h)
{
  word w;
  bool formatted = false, ended = false;
  if (!text_word(t, &w) || !word_is(w, "ply")) {
    return wrong(t, "the file does not start with 'ply'");
  }
  TRY(end_line(t));
  while (!ended) {
    if (!text_content(t)) {
      return wrong(t, "the file ends before 'end_header'");
    }
    TRY(read_keyword(t, h, &formatted, &ended));
  }
  return ABUT_SUCCESS;
}

void ply_free_header(ply_header *h)
{
  free(h->elements);
  free(h->properties);
  *h = (ply_header){0};
}
