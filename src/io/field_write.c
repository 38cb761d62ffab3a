#include "base/error.h"
#include "base/memory.h"
#include "base/reals.h"
#include "io/written_body.h"
#include <abut/files.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MOST 8
#define ARRAYS (3 + 2 * LEVELS_MOST)
#define BLOCK_NODES ((size_t)ABUT_GRID_BLOCK * ABUT_GRID_BLOCK * ABUT_GRID_BLOCK)

/* ---- the body file ---- */

static abut_status fail_name(const char *path)
{
  json_t *any = json_string_nocheck("");
  const bool memory = !any;
  json_decref(any);
  return memory ? fail(ABUT_ERROR_MEMORY, "not enough memory for '%s'", path)
                : fail_at(ABUT_ERROR_ARGUMENT, path, 0, "the name of a body file must be UTF-8");
}

/* Names the surface of a body, if any. Returns whether that succeeded. */
static bool add_surface(json_t *root, const body_names *n, const abut_body_def *def)
{
  return !def->surface.face_count ||
         json_object_set_new(root, "surface", json_string(n->surface_beside)) == 0;
}

static abut_status make_body(const body_names *n, const abut_body_def *def, char **out)
{
  json_t *root = json_pack("{s:s, s:s, s:[{s:s}]}", "name", n->name, "mesh", n->contact_beside,
                           "grids", "file", n->grid_beside);
  if (root && !add_surface(root, n, def)) {
    json_decref(root);
    root = NULL;
  }
  if (!root) {
    return fail_name(n->body);
  }
  *out = json_dumps(root, JSON_INDENT(1) | JSON_ENSURE_ASCII);
  json_decref(root);
  return *out ? ABUT_SUCCESS : fail(ABUT_ERROR_MEMORY, "not enough memory for '%s'", n->body);
}

/* Appends an element to a list, which is taken over. Returns NULL on failure. */
static json_t *with_one(json_t *list, json_t *one)
{
  if (json_array_append_new(list, one) != 0) {
    json_decref(list);
    return NULL;
  }
  return list;
}

static json_t *numbers_of(const double *x, size_t count)
{
  json_t *out = json_array();
  for (size_t i = 0; out && i < count; ++i) {
    out = with_one(out, json_real(x[i]));
  }
  return out;
}

/* Adds the operation to a subtracted primitive; an added one has none. */
static json_t *with_operation(json_t *primitive, abut_operation operation)
{
  if (primitive && operation == ABUT_SUBTRACT &&
      json_object_set_new(primitive, "operation", json_string("subtract")) != 0) {
    json_decref(primitive);
    primitive = NULL;
  }
  return primitive;
}

static json_t *superquadric_of(const abut_superquadric *s)
{
  return with_operation(json_pack("{s:o, s:o, s:o, s:o}", "axes", numbers_of(s->axes, 3),
                                  "exponents", numbers_of(s->exponents, 2), "position",
                                  numbers_of(s->position, 3), "quaternion",
                                  numbers_of(s->quaternion, 4)),
                        s->operation);
}

static json_t *polyhedron_of(const abut_polyhedron *p)
{
  json_t *planes = json_array();
  for (size_t i = 0; planes && i < p->count; ++i) {
    planes = with_one(planes, numbers_of(p->planes + 6 * i, 6));
  }
  return with_operation(planes ? json_pack("{s:o}", "planes", planes) : NULL, p->operation);
}

/* Adds the primitives of a kind to a body, if there are any. Returns whether that succeeded. */
static bool add_primitives(json_t *root, const char *kind, json_t *list)
{
  if (list && !json_array_size(list)) {
    json_decref(list);
    return true;
  }
  return json_object_set_new(root, kind, list) == 0;
}

static json_t *superquadrics_of(const abut_body_def *def)
{
  json_t *list = json_array();
  for (size_t i = 0; list && i < def->superquadric_count; ++i) {
    list = with_one(list, superquadric_of(&def->superquadrics[i]));
  }
  return list;
}

static json_t *polyhedra_of(const abut_body_def *def)
{
  json_t *list = json_array();
  for (size_t i = 0; list && i < def->polyhedron_count; ++i) {
    list = with_one(list, polyhedron_of(&def->polyhedra[i]));
  }
  return list;
}

/* Makes a body of superquadrics and polyhedra, with the temperature of their union. */
static abut_status make_primitives(const body_names *n, const abut_body_def *def, char **out)
{
  json_t *root =
    json_pack("{s:s, s:s, s:f}", "name", n->name, "mesh", n->contact_beside, "union", def->union_);
  if (root && (!add_surface(root, n, def) ||
               !add_primitives(root, "superquadrics", superquadrics_of(def)) ||
               !add_primitives(root, "polyhedra", polyhedra_of(def)))) {
    json_decref(root);
    root = NULL;
  }
  if (!root) {
    return fail_name(n->body);
  }
  *out = json_dumps(root, JSON_INDENT(1) | JSON_ENSURE_ASCII);
  json_decref(root);
  return *out ? ABUT_SUCCESS : fail(ABUT_ERROR_MEMORY, "not enough memory for '%s'", n->body);
}

/* ---- the grid ---- */

typedef struct arrays {
  abut_array at[ARRAYS];
  size_t count;
  char label[ARRAYS][32];
  arena memory;
} arrays;

/* level: below LEVELS_MOST; for 0, the name has no number. */
static abut_array *next_array(arrays *a, const char *name, size_t level)
{
  abut_array *next = &a->at[a->count];
  char *label = a->label[a->count++];
  const char tail[3] = {level ? '_' : '\0', (char)('0' + level % LEVELS_MOST), '\0'};
  snprintf(label, sizeof a->label[0], "%.16s%s", name, tail);
  *next = (abut_array){.name = label};
  return next;
}

/* Uses float32 if all numbers are exactly representable. */
static abut_status narrowed(arrays *a, const double *from, size_t count, abut_array *out)
{
  void *memory;
  out->type = ABUT_ARRAY_FLOAT64;
  out->data = from;
  if (!reals_are_floats(from, count)) {
    return ABUT_SUCCESS;
  }
  TRY(arena_allocate(&a->memory, &memory, count, sizeof(float)));
  for (size_t i = 0; i < count; ++i) {
    ((float *)memory)[i] = (float)from[i];
  }
  out->type = ABUT_ARRAY_FLOAT32;
  out->data = memory;
  return ABUT_SUCCESS;
}

static abut_status add_level(arrays *a, const abut_grid_level *l, size_t level)
{
  abut_array *blocks = next_array(a, "blocks", level);
  blocks->type = ABUT_ARRAY_INT32;
  blocks->dimensions = 2;
  blocks->shape[0] = l->block_count;
  blocks->shape[1] = 3;
  blocks->data = l->blocks;
  abut_array *corrections = next_array(a, "corrections", level);
  corrections->dimensions = 4;
  corrections->shape[0] = l->block_count;
  for (size_t k = 1; k < 4; ++k) {
    corrections->shape[k] = ABUT_GRID_BLOCK;
  }
  return narrowed(a, l->coefficients, l->block_count * BLOCK_NODES, corrections);
}

static abut_status make_arrays(const abut_grid *g, arrays *a)
{
  abut_array *coefficients = next_array(a, "coefficients", 0);
  coefficients->dimensions = 3;
  memcpy(coefficients->shape, g->size, sizeof g->size);
  TRY(narrowed(a, g->coefficients, g->size[0] * g->size[1] * g->size[2], coefficients));
  abut_array *origin = next_array(a, "origin", 0), *spacing = next_array(a, "spacing", 0);
  origin->type = spacing->type = ABUT_ARRAY_FLOAT64;
  origin->dimensions = 1;
  origin->shape[0] = 3;
  origin->data = g->origin;
  spacing->data = &g->spacing;
  for (size_t i = 0; i < g->level_count; ++i) {
    TRY(add_level(a, &g->levels[i], i + 1));
  }
  return ABUT_SUCCESS;
}

/* ---- all of it ---- */

static abut_status check_field(const abut_field *field)
{
  const abut_body_def *def = &field->def;
  if (def->grid_count != 1 || !def->grids || !def->grids->coefficients ||
      def->grids->level_count > LEVELS_MOST || !def->vertices || !def->vertex_count) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_write_field: the field was not made by abut_make_field or abut_load_field");
  }
  return ABUT_SUCCESS;
}

abut_status abut_write_field(const char *path, const abut_field *field)
{
  if (!path || !field) {
    return fail(ABUT_ERROR_ARGUMENT, "path or field is NULL");
  }
  body_names n = {0};
  arrays a = {.count = 0};
  body_texts t = {0};
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(check_field(field));
  TRY_DONE(body_names_make(path, &n));
  TRY_DONE(make_body(&n, &field->def, &t.body));
  TRY_DONE(body_texts_make(&field->def, &t));
  TRY_DONE(make_arrays(field->def.grids, &a));
  t.grid = a.at;
  t.grid_count = a.count;
  TRY_DONE(write_body_files(&n, &t));
done:
  body_texts_free(&t);
  arena_free(&a.memory);
  arena_free(&n.memory);
  return status;
}

abut_status abut_write_decomposition(const char *path, const abut_decomposition *decomposition)
{
  if (!path || !decomposition ||
      !(decomposition->def.superquadric_count || decomposition->def.polyhedron_count) ||
      !decomposition->def.vertex_count) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_write_decomposition: the path is NULL, or the "
                                     "decomposition was not made by abut_decompose");
  }
  body_names n = {0};
  body_texts t = {0};
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(body_names_make(path, &n));
  TRY_DONE(make_primitives(&n, &decomposition->def, &t.body));
  TRY_DONE(body_texts_make(&decomposition->def, &t));
  TRY_DONE(write_body_files(&n, &t));
done:
  body_texts_free(&t);
  arena_free(&n.memory);
  return status;
}
