#include "io/body_file.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/family.h"
#include "body/family/height_mesh.h"
#include "format/json.h"
#include "format/whole_file.h"
#include "io/features_file.h"
#include <abut/spring.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const family height_fields_family;

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
    return json_fail(f, &at, "must be \"add\" or \"subtract\"");
  }
  *out = strcmp(word, "add") == 0 ? ABUT_ADD : ABUT_SUBTRACT;
  return ABUT_SUCCESS;
}

/* Reads the primitives of a family, whose list may be missing. */
static abut_status read_family(const json_file *f, const json_at *root, const family *kind,
                               body_file *b)
{
  json_at list;
  if (!json_find(root, kind->key, &list)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(f, &list, 0));
  const size_t count = json_array_size(list.value);
  void *memory;
  TRY(arena_allocate(&b->memory, &memory, count, kind->size));
  char *one = memory;
  for (size_t i = 0; i < count; i++, one += kind->size) {
    json_at element = json_element(&list, i);
    abut_operation operation;
    TRY(kind->read(f, &element, &b->memory, one));
    TRY(read_operation(f, &element, &operation));
    memcpy(one + kind->operation, &operation, sizeof operation);
  }
  family_set(kind, &b->def, memory, count);
  return ABUT_SUCCESS;
}

/* Returns the first `folder` bytes of `before` followed by `text`; NULL without memory. */
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

/* Reads the path of a file named by the body file. A relative path is prefixed with the body file's
 * folder. */
static abut_status read_path(const json_file *f, const json_at *at, char **out)
{
  const char *text;
  TRY(json_text(f, at, &text));
  if (!*text) {
    return json_fail(f, at, "the path is empty");
  }
  const char *slash = strrchr(f->name, '/');
  const size_t folder = slash && *text != '/' ? (size_t)(slash - f->name) + 1 : 0;
  *out = join(f->name, folder, text);
  return *out ? ABUT_SUCCESS : fail(ABUT_ERROR_MEMORY, "not enough memory for a path");
}

static abut_status read_texts(const json_file *f, const json_at *root, body_file *b)
{
  json_at at;
  const char *text;
  if (json_find(root, "name", &at)) {
    TRY(json_text(f, &at, &text));
    b->name = join("", 0, text);
    if (!b->name) {
      return fail(ABUT_ERROR_MEMORY, "not enough memory for a name");
    }
  }
  if (json_find(root, "surface", &at)) {
    TRY(read_path(f, &at, &b->surface_path));
  }
  if (!json_find(root, "mesh", &at) && json_find(root, height_fields_family.key, &at)) {
    return ABUT_SUCCESS; /* the height field's own mesh is used: height_mesh_add */
  }
  TRY(json_need(f, root, "mesh", &at));
  return read_path(f, &at, &b->mesh_path);
}

/* ---- the cloud ---- */

/* Reads one element of `points`, and normalises its normal. */
static abut_status read_point(const json_file *f, const json_at *at, double out[7])
{
  double *n = out + 3;
  TRY(json_numbers(f, at, 7, out));
  const double most = fmax(fmax(fabs(n[0]), fabs(n[1])), fabs(n[2]));
  if (!(most >= DBL_MIN)) {
    return json_fail(f, at, "the normal has length 0");
  }
  const double x = n[0] / most, y = n[1] / most, z = n[2] / most;
  const double length = sqrt(x * x + y * y + z * z);
  n[0] = x / length;
  n[1] = y / length;
  n[2] = z / length;
  if (!(out[6] > 0.0)) {
    const json_at eps1 = json_element(at, 6);
    return json_fail(f, &eps1, "%.9g must be above 0", out[6]);
  }
  return ABUT_SUCCESS;
}

static abut_status read_cloud_points(const json_file *f, const json_at *at, body_file *b)
{
  static const char *const keys[] = {"source", "points"};
  json_at list;
  void *memory;
  TRY(json_check_keys(f, at, keys, 2));
  TRY(json_need(f, at, "points", &list));
  TRY(json_check_array(f, &list, 0));
  const size_t count = json_array_size(list.value);
  if (!count || count > ABUT_CLOUD_POINTS_MOST) {
    return json_fail(f, &list, "has %zu points, expected 1 to %d", count, ABUT_CLOUD_POINTS_MOST);
  }
  TRY(arena_allocate(&b->memory, &memory, count, 7 * sizeof(double)));
  double *points = memory;
  for (size_t i = 0; i < count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_point(f, &element, points + 7 * i));
  }
  b->cloud.points = points;
  b->cloud.count = count;
  return ABUT_SUCCESS;
}

static abut_status read_cloud_faces(const json_file *f, const json_at *at, body_cloud *c)
{
  static const char *const keys[] = {"source", "eps1", "area_weight"};
  json_at member;
  TRY(json_check_keys(f, at, keys, 3));
  if (json_find(at, "eps1", &member)) {
    TRY(json_number(f, &member, &c->eps1));
    if (!(c->eps1 > 0.0)) {
      return json_fail(f, &member, "%.9g must be above 0", c->eps1);
    }
  }
  return json_find(at, "area_weight", &member) ? json_flag(f, &member, &c->area_weight)
                                               : ABUT_SUCCESS;
}

static abut_status read_cloud(const json_file *f, const json_at *root, body_file *b)
{
  json_at at, source;
  const char *word;
  if (!json_find(root, "aopc", &at)) {
    return ABUT_SUCCESS;
  }
  if (!json_is_object(at.value)) {
    return json_fail(f, &at, "must be an object");
  }
  TRY(json_need(f, &at, "source", &source));
  TRY(json_text(f, &source, &word));
  if (strcmp(word, "faces") == 0) {
    b->cloud.source = CLOUD_FACES;
    return read_cloud_faces(f, &at, &b->cloud);
  }
  if (strcmp(word, "points") == 0) {
    b->cloud.source = CLOUD_POINTS;
    return read_cloud_points(f, &at, b);
  }
  return json_fail(f, &source, "must be \"faces\" or \"points\"");
}

/* ---- all of it ---- */

static abut_status read_union(const json_file *f, const json_at *root, body_file *b)
{
  json_at at;
  if (!json_find(root, "union", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_number(f, &at, &b->def.union_));
  return b->def.union_ >= SMOOTHING_LENGTH_LEAST && b->def.union_ <= SMOOTHING_MOST
           ? ABUT_SUCCESS
           : json_fail(f, &at, "%.9g is not in [%g, %g]", b->def.union_, SMOOTHING_LENGTH_LEAST,
                       SMOOTHING_MOST);
}

static abut_status read_root(const json_file *f, const json_at *root, body_file *b)
{
  enum { OWN = 8 };
  const char *keys[OWN + FAMILY_COUNT] = {"name",  "mesh",     "surface", "aopc",
                                          "union", "features", "sharp",   "cones"};
  for (size_t i = 0; i < FAMILY_COUNT; i++) {
    keys[OWN + i] = families[i]->key;
  }
  json_at links;
  if (json_find(root, "links", &links)) {
    return json_fail(f, root, "this is a scene file; expected a body file");
  }
  TRY(json_check_keys(f, root, keys, OWN + FAMILY_COUNT));
  TRY(read_texts(f, root, b));
  TRY(read_union(f, root, b));
  TRY(read_cloud(f, root, b));
  for (size_t i = 0; i < FAMILY_COUNT; i++) {
    TRY(read_family(f, root, families[i], b));
  }
  TRY(features_read(f, root, &b->memory, &b->def));
  if (!b->mesh_path) {
    TRY(height_mesh_add(&b->memory, &b->def));
    if (!b->def.vertex_count) {
      return json_fail(f, root,
                       "the body needs a mesh, or an added height field, which has its own mesh");
    }
  }
  return family_any_added(&b->def) || b->cloud.source
           ? ABUT_SUCCESS
           : json_fail(f, root, "no primitive has the operation \"add\"");
}

abut_status body_file_parse(const char *name, const char *bytes, size_t count, body_file *out)
{
  json_file f;
  json_at root;
  *out = (body_file){.def.sharp = abut_default_body_def().sharp};
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
  free(b->surface_path);
  arena_free(&b->memory);
  *b = (body_file){0};
}
