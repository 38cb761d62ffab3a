#include "io/body_file.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "io/json.h"
#include "io/whole_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_KEYS(file, at, keys) json_check_keys(file, at, keys, sizeof(keys) / sizeof *(keys))

static abut_status check_range(const json_file *f, const json_at *array, size_t first,
                               size_t count, double low, double high)
{
  for (size_t i = first; i < first + count; i++) {
    json_at element = json_element(array, i);
    double value = json_number_value(element.value);
    if (!(value >= low && value <= high)) {
      return json_fail(f, &element, "%.9g is not within %g to %g", value, low, high);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_not_zero(const json_file *f, const json_at *at, const double *numbers,
                                  size_t count, const char *what)
{
  for (size_t i = 0; i < count; i++) {
    if (numbers[i] != 0) {
      return ABUT_SUCCESS;
    }
  }
  return json_fail(f, at, "%s has no length", what);
}

static abut_status read_vector(const json_file *f, const json_at *parent, const char *key,
                               size_t count, double *out, json_at *at)
{
  TRY(json_need(f, parent, key, at));
  return json_numbers(f, at, count, out);
}

static abut_status read_operation(const json_file *f, const json_at *parent, abut_operation *out)
{
  json_at at;
  const char *word;
  *out = ABUT_ADD;
  if (!json_find(parent, "operation", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_text(f, &at, &word));
  if (strcmp(word, "add") != 0 && strcmp(word, "subtract") != 0) {
    return json_fail(f, &at, "neither \"add\" nor \"subtract\"");
  }
  *out = strcmp(word, "add") == 0 ? ABUT_ADD : ABUT_SUBTRACT;
  return ABUT_SUCCESS;
}

static abut_status read_exponents(const json_file *f, const json_at *parent, double *out)
{
  json_at at;
  TRY(read_vector(f, parent, "exponents", 2, out, &at));
  for (size_t i = 0; i < 2; i++) {
    if (!(out[i] > 0 && out[i] <= 2)) {
      json_at element = json_element(&at, i);
      return json_fail(f, &element, "%.9g is not above 0 and at most 2", out[i]);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read_superquadric(const json_file *f, const json_at *at, body_file *b, size_t i)
{
  static const char *const keys[] = {"axes", "exponents", "position", "quaternion", "operation"};
  abut_superquadric *s = &b->superquadrics[i];
  json_at member;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(read_vector(f, at, "axes", 3, s->axes, &member));
  TRY(check_range(f, &member, 0, 3, AXIS_LEAST, COORDINATE_MOST));
  TRY(read_exponents(f, at, s->exponents));
  TRY(read_vector(f, at, "position", 3, s->position, &member));
  TRY(check_range(f, &member, 0, 3, -COORDINATE_MOST, COORDINATE_MOST));
  TRY(read_vector(f, at, "quaternion", 4, s->quaternion, &member));
  TRY(check_not_zero(f, &member, s->quaternion, 4, "the quaternion"));
  return read_operation(f, at, &s->operation);
}

/* Rows of `width` numbers; *rows and *count are theirs in b->numbers. */
static abut_status read_rows(const json_file *f, const json_at *at, size_t width, body_file *b,
                             const double **rows, size_t *count)
{
  TRY(json_check_array(f, at, 0));
  *count = json_array_size(at->value);
  if (*count == 0) {
    return json_fail(f, at, "holds nothing");
  }
  double *next = b->numbers + b->number_count;
  *rows = next;
  for (size_t i = 0; i < *count; i++, next += width) {
    json_at row = json_element(at, i);
    TRY(json_numbers(f, &row, width, next));
  }
  b->number_count += *count * width;
  return ABUT_SUCCESS;
}

static abut_status read_polyhedron(const json_file *f, const json_at *at, body_file *b, size_t i)
{
  static const char *const keys[] = {"planes", "operation"};
  abut_polyhedron *p = &b->polyhedra[i];
  json_at planes;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(json_need(f, at, "planes", &planes));
  TRY(read_rows(f, &planes, 6, b, &p->planes, &p->count));
  for (size_t k = 0; k < p->count; k++) {
    json_at row = json_element(&planes, k);
    TRY(check_not_zero(f, &row, p->planes + 6 * k, 3, "the normal"));
    TRY(check_range(f, &row, 3, 3, -COORDINATE_MOST, COORDINATE_MOST));
  }
  return read_operation(f, at, &p->operation);
}

static abut_status read_pointcloud(const json_file *f, const json_at *at, body_file *b, size_t i)
{
  static const char *const keys[] = {"points", "operation"};
  abut_pointcloud *c = &b->pointclouds[i];
  json_at points;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(json_need(f, at, "points", &points));
  TRY(read_rows(f, &points, 7, b, &c->points, &c->count));
  for (size_t k = 0; k < c->count; k++) {
    json_at row = json_element(&points, k);
    TRY(check_range(f, &row, 0, 3, -COORDINATE_MOST, COORDINATE_MOST));
    TRY(check_not_zero(f, &row, c->points + 7 * k + 3, 3, "the normal"));
    TRY(check_range(f, &row, 6, 1, WIDTH_LEAST, COORDINATE_MOST));
  }
  return read_operation(f, at, &c->operation);
}

typedef abut_status (*primitive_reader)(const json_file *, const json_at *, body_file *, size_t);

/* A list that may be missing. The arrays that `read` fills are there already, see make_room. */
static abut_status read_list(const json_file *f, const json_at *root, const char *key,
                             primitive_reader read, body_file *b, size_t *count)
{
  json_at list;
  if (!json_find(root, key, &list)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(f, &list, 0));
  *count = json_array_size(list.value);
  for (size_t i = 0; i < *count; i++) {
    json_at element = json_element(&list, i);
    TRY(read(f, &element, b, i));
  }
  return ABUT_SUCCESS;
}

/* How many rows all primitives of a list have; what is no array counts as empty here. */
static size_t count_rows(const json_t *list, const char *key)
{
  size_t rows = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    rows += json_array_size(json_object_get(json_array_get(list, i), key));
  }
  return rows;
}

static abut_status make_room(const json_t *root, body_file *b)
{
  void *memory;
  const json_t *superquadrics = json_object_get(root, "superquadrics");
  const json_t *polyhedra = json_object_get(root, "polyhedra");
  const json_t *pointclouds = json_object_get(root, "pointclouds");
  TRY(allocate(&memory, json_array_size(superquadrics), sizeof *b->superquadrics));
  b->superquadrics = memory;
  TRY(allocate(&memory, json_array_size(polyhedra), sizeof *b->polyhedra));
  b->polyhedra = memory;
  TRY(allocate(&memory, json_array_size(pointclouds), sizeof *b->pointclouds));
  b->pointclouds = memory;
  size_t numbers = 6 * count_rows(polyhedra, "planes") + 7 * count_rows(pointclouds, "points");
  TRY(allocate(&memory, numbers, sizeof *b->numbers));
  b->numbers = memory;
  return ABUT_SUCCESS;
}

static abut_status check_added(const json_file *f, const json_at *root, const body_file *b)
{
  size_t added = 0;
  for (size_t i = 0; i < b->superquadric_count; i++) {
    added += b->superquadrics[i].operation == ABUT_ADD;
  }
  for (size_t i = 0; i < b->polyhedron_count; i++) {
    added += b->polyhedra[i].operation == ABUT_ADD;
  }
  for (size_t i = 0; i < b->pointcloud_count; i++) {
    added += b->pointclouds[i].operation == ABUT_ADD;
  }
  return added ? ABUT_SUCCESS : json_fail(f, root, "no primitive is added");
}

/* `folder` bytes of `before` and the text; NULL without memory. */
static char *join(const char *before, size_t folder, const char *text)
{
  size_t length = strlen(text);
  char *joined = malloc(folder + length + 1);
  if (joined) {
    memcpy(joined, before, folder);
    memcpy(joined + folder, text, length + 1);
  }
  return joined;
}

static abut_status read_texts(const json_file *f, const json_at *root, body_file *b)
{
  json_at at;
  const char *text;
  if (json_find(root, "name", &at)) {
    TRY(json_text(f, &at, &text));
    b->name = join("", 0, text);
    if (!b->name) {
      return fail(ABUT_ERROR_MEMORY, "no memory for a name");
    }
  }
  TRY(json_need(f, root, "mesh", &at));
  TRY(json_text(f, &at, &text));
  if (!*text) {
    return json_fail(f, &at, "an empty path");
  }
  const char *slash = strrchr(f->name, '/');
  size_t folder = slash && *text != '/' ? (size_t)(slash - f->name) + 1 : 0;
  b->mesh_path = join(f->name, folder, text);
  return b->mesh_path ? ABUT_SUCCESS : fail(ABUT_ERROR_MEMORY, "no memory for a path");
}

static abut_status read_root(const json_file *f, const json_at *root, body_file *b)
{
  static const char *const keys[] = {"name", "mesh", "superquadrics", "polyhedra", "pointclouds"};
  TRY(CHECK_KEYS(f, root, keys));
  TRY(read_texts(f, root, b));
  TRY(make_room(root->value, b));
  TRY(read_list(f, root, "superquadrics", read_superquadric, b, &b->superquadric_count));
  TRY(read_list(f, root, "polyhedra", read_polyhedron, b, &b->polyhedron_count));
  TRY(read_list(f, root, "pointclouds", read_pointcloud, b, &b->pointcloud_count));
  return check_added(f, root, b);
}

abut_status body_file_parse(const char *name, const char *bytes, size_t count, body_file *out)
{
  json_file f;
  json_at root;
  *out = (body_file){0};
  abut_status status = json_file_open(&f, name, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    status = read_root(&f, &root, out);
  }
  json_file_close(&f);
  if (status != ABUT_SUCCESS) {
    body_file_free(out);
  }
  return status;
}

abut_status body_file_read(const char *path, body_file *out)
{
  char *bytes = NULL;
  size_t count = 0;
  *out = (body_file){0};
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = body_file_parse(path, bytes, count, out);
  }
  free(bytes);
  return status;
}

void body_file_free(body_file *b)
{
  free(b->name);
  free(b->mesh_path);
  free(b->superquadrics);
  free(b->polyhedra);
  free(b->pointclouds);
  free(b->numbers);
  *b = (body_file){0};
}
