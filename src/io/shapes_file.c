#include "io/shapes_file.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/parts.h"
#include "format/whole_file.h"
#include <stdlib.h>
#include <string.h>

/* Format of a shape: the groups of its numbers. */
typedef struct shape_word {
  const char *word;
  size_t groups, sizes; /* sizes: in the first group; 0: it is a single number, or vertices */
} shape_word;

static const shape_word words[ABUT_SHAPE_KINDS] = {
  [ABUT_SHAPE_HULL] = {"hull", 1, 0},       [ABUT_SHAPE_SPHERE] = {"sphere", 1, 0},
  [ABUT_SHAPE_BOX] = {"box", 1, 3},         [ABUT_SHAPE_ELLIPSOID] = {"ellipsoid", 1, 3},
  [ABUT_SHAPE_CAPSULE] = {"capsule", 1, 2}, [ABUT_SHAPE_CYLINDER] = {"cylinder", 1, 2},
  [ABUT_SHAPE_CONE] = {"cone", 1, 2},       [ABUT_SHAPE_SUPERQUADRIC] = {"superquadric", 2, 3},
};

static abut_status read_kind(const json_file *f, const json_at *parent, abut_shape_kind *out)
{
  json_at at;
  const char *word;
  TRY(json_need(f, parent, "kind", &at));
  TRY(json_text(f, &at, &word));
  for (int i = 0; i < ABUT_SHAPE_KINDS; ++i) {
    if (strcmp(word, words[i].word) == 0) {
      *out = (abut_shape_kind)i;
      return ABUT_SUCCESS;
    }
  }
  return json_fail(f, &at, "unknown kind of shape");
}

static abut_status read_bounded(const json_file *f, const json_at *at, double low, double *out)
{
  TRY(json_number(f, at, out));
  return *out >= low && *out <= COORDINATE_MOST
           ? ABUT_SUCCESS
           : json_fail(f, at, "%.9g is not in [%g, %g]", *out, low, COORDINATE_MOST);
}

static abut_status read_vertices(const json_file *f, const json_at *at, arena *memory,
                                 abut_shape_def *out)
{
  TRY(read_rows(f, at, 3, memory, &out->vertices, &out->vertex_count));
  if (out->vertex_count > ELEMENT_LIMIT) {
    return json_fail(f, at, "has %zu vertices; at most %zu are possible", out->vertex_count,
                     ELEMENT_LIMIT);
  }
  for (size_t i = 0; i < out->vertex_count; ++i) {
    const json_at row = json_element(at, i);
    TRY(check_range(f, &row, 0, 3, -COORDINATE_MOST, COORDINATE_MOST));
  }
  return ABUT_SUCCESS;
}

static abut_status read_numbers(const json_file *f, const json_at *parent, arena *memory,
                                abut_shape_def *out)
{
  const shape_word *w = &words[out->kind];
  const bool divides = out->kind == ABUT_SHAPE_ELLIPSOID || out->kind == ABUT_SHAPE_SUPERQUADRIC;
  json_at at;
  TRY(json_need(f, parent, "numbers", &at));
  TRY(json_check_array(f, &at, w->groups));
  const json_at first = json_element(&at, 0), second = json_element(&at, 1);
  if (out->kind == ABUT_SHAPE_HULL) {
    return read_vertices(f, &first, memory, out);
  }
  if (out->kind == ABUT_SHAPE_SPHERE) {
    return read_bounded(f, &first, 0.0, &out->size[0]);
  }
  TRY(json_numbers(f, &first, w->sizes, out->size));
  TRY(check_range(f, &first, 0, w->sizes, divides ? SHAPE_AXIS_LEAST : 0.0, COORDINATE_MOST));
  if (out->kind == ABUT_SHAPE_SUPERQUADRIC) {
    TRY(json_numbers(f, &second, 2, out->exponents));
    TRY(check_range(f, &second, 0, 2, SHAPE_EXPONENT_LEAST, SHAPE_EXPONENT_MOST));
  }
  return ABUT_SUCCESS;
}

static abut_status read_shape(const json_file *f, const json_at *at, arena *memory,
                              abut_shape_def *out)
{
  static const char *const keys[] = {"kind", "numbers", "radius", "position", "quaternion"};
  json_at member;
  *out = abut_default_shape_def();
  TRY(CHECK_KEYS(f, at, keys));
  TRY(read_kind(f, at, &out->kind));
  TRY(read_numbers(f, at, memory, out));
  if (json_find(at, "radius", &member)) {
    TRY(read_bounded(f, &member, 0.0, &out->radius));
  }
  if (json_find(at, "position", &member)) {
    TRY(json_numbers(f, &member, 3, out->position));
    TRY(check_range(f, &member, 0, 3, -COORDINATE_MOST, COORDINATE_MOST));
  }
  if (json_find(at, "quaternion", &member)) {
    TRY(json_numbers(f, &member, 4, out->quaternion));
    TRY(check_not_zero(f, &member, out->quaternion, 4, "the quaternion"));
  }
  return ABUT_SUCCESS;
}

static abut_status read_shapes(const json_file *f, const json_at *root, shapes_file *out)
{
  void *memory;
  const size_t count = json_array_size(root->value);
  if (!count) {
    return json_fail(f, root, "contains no shape");
  }
  TRY(arena_allocate(&out->memory, &memory, count, sizeof *out->defs));
  out->defs = memory;
  out->count = count;
  for (size_t i = 0; i < count; ++i) {
    const json_at element = json_element(root, i);
    TRY(read_shape(f, &element, &out->memory, &out->defs[i]));
  }
  return ABUT_SUCCESS;
}

abut_status shapes_file_parse(const char *name, const char *bytes, size_t count, shapes_file *out)
{
  json_file f;
  json_at root;
  *out = (shapes_file){0};
  abut_status status = json_file_open_array(&f, name, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    status = read_shapes(&f, &root, out);
  }
  json_file_close(&f);
  if (status != ABUT_SUCCESS) {
    shapes_file_free(out);
  }
  return status;
}

void shapes_file_free(shapes_file *s)
{
  arena_free(&s->memory);
  *s = (shapes_file){0};
}

/* Makes all shapes or none. */
static abut_status make(abut_context context, const shapes_file *s, abut_shape **out)
{
  void *memory = NULL;
  size_t made = 0;
  abut_status status = allocate(&memory, s->count, sizeof **out);
  abut_shape *shapes = memory;
  while (status == ABUT_SUCCESS && made < s->count) {
    status = abut_create_shape(context, &s->defs[made], &shapes[made]);
    made += status == ABUT_SUCCESS;
  }
  if (status == ABUT_SUCCESS) {
    *out = shapes;
    return status;
  }
  while (made > 0) {
    abut_destroy_shape(shapes[--made]);
  }
  free(shapes);
  return status;
}

abut_status abut_load_shapes(abut_context context, const char *path, size_t *count,
                             abut_shape **shapes)
{
  char *bytes = NULL;
  size_t size = 0;
  shapes_file s = {0};
  if (!path || !count || !shapes) {
    return fail(ABUT_ERROR_ARGUMENT, "path, count or shapes is NULL");
  }
  *count = 0;
  *shapes = NULL;
  abut_status status = whole_file_read(path, &bytes, &size);
  if (status == ABUT_SUCCESS) {
    status = shapes_file_parse(path, bytes, size, &s);
  }
  free(bytes);
  if (status == ABUT_SUCCESS) {
    status = make(context, &s, shapes);
    *count = status == ABUT_SUCCESS ? s.count : 0;
  }
  shapes_file_free(&s);
  return status;
}
