#include "scene/bodies.h"

#include "base/error.h"
#include "body/family/height_file.h"
#include "io/body_mesh.h"
#include "scene/body_shapes.h"
#include "scene/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(const scene_body *a, const scene_body *b)
{
  if (a->shape != b->shape) {
    return false;
  }
  return a->shape == SHAPE_FILE           ? strcmp(a->file, b->file) == 0
         : a->shape == SHAPE_HEIGHT_FIELD ? height_field_is_same(a->heights, b->heights)
                                          : memcmp(a->size, b->size, sizeof a->size) == 0 &&
                                              memcmp(&a->round, &b->round, sizeof a->round) == 0;
}

/* The current body with its place in the scene. */
typedef struct turn {
  const scene_link *link;
  const scene_body *body;
  size_t number;
  scene_place place;
} turn;

static abut_status read_mesh(const scene_def *s, const turn *t, mesh *out)
{
  return scene_blame(s, t->place, "its file, ", body_mesh_read(t->body->file, false, out));
}

static abut_status load_file(const scene_def *s, const turn *t, scene_bodies *b)
{
  const size_t first = b->first[t->number];
  if (t->link->density <= 0.0) {
    return ABUT_SUCCESS;
  }
  mesh *m = &b->meshes[first];
  abut_body_def *def = &b->of_meshes[first];
  if (!m->vertices) {
    TRY(read_mesh(s, t, m));
    def->vertices = m->vertices;
    def->vertex_count = m->vertex_count;
    def->face_sizes = m->face_sizes;
    def->face_indices = m->face_indices;
    def->face_count = m->face_count;
  }
  b->def[t->number] = def;
  return ABUT_SUCCESS;
}

static abut_status make_shape(const scene_def *s, const turn *t, scene_bodies *b)
{
  void *memory;
  const size_t first = b->first[t->number];
  if (first == t->number) {
    TRY(arena_allocate(&b->memory, &memory, 1, sizeof(abut_body_def)));
    const abut_status status =
      t->body->shape == SHAPE_HEIGHT_FIELD
        ? body_of_heights(t->body->heights, &b->memory, memory)
        : body_shape_make(t->body->shape, t->body->size, t->body->round, &b->memory, memory);
    if (status == ABUT_ERROR_BODY) {
      char cause[512];
      snprintf(cause, sizeof cause, "%s", abut_last_error());
      return scene_fail(s, t->place, "%s", cause);
    }
    TRY(status);
    b->def[first] = memory;
  }
  b->def[t->number] = b->def[first];
  return ABUT_SUCCESS;
}

/* Returns the first body that equals body number `count`, which may be the same one. */
static size_t find_first(const scene_body *const *all, size_t count)
{
  size_t i = 0;
  while (i < count && !is_same(all[i], all[count])) {
    ++i;
  }
  return i;
}

static abut_status load_all(const scene_def *s, const scene_body **all, scene_bodies *b)
{
  turn t = {.number = 0};
  for (size_t i = 0; i < s->link_count; ++i) {
    t.link = &s->links[i];
    for (size_t k = 0; k < t.link->body_count; ++k, ++t.number) {
      t.body = all[t.number] = &t.link->bodies[k];
      t.place = (scene_place){"links", i, "bodies", true, k};
      b->first[t.number] = find_first(all, t.number);
      TRY(t.body->shape == SHAPE_FILE ? load_file(s, &t, b) : make_shape(s, &t, b));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status make_room(scene_bodies *b, const scene_body ***all)
{
  void *memory;
  TRY(arena_allocate(&b->memory, &memory, b->count, sizeof *b->first));
  b->first = memory;
  TRY(arena_allocate(&b->memory, &memory, b->count, sizeof *b->def));
  b->def = memory;
  TRY(arena_allocate(&b->memory, &memory, b->count, sizeof **all));
  *all = memory;
  TRY(arena_allocate(&b->memory, &memory, b->count, sizeof *b->meshes));
  b->meshes = memory;
  TRY(arena_allocate(&b->memory, &memory, b->count, sizeof *b->of_meshes));
  b->of_meshes = memory;
  return ABUT_SUCCESS;
}

abut_status scene_bodies_load(const scene_def *s, scene_bodies *out)
{
  const scene_body **all;
  *out = (scene_bodies){.count = scene_body_number(s, s->link_count)};
  abut_status status = make_room(out, &all);
  if (status == ABUT_SUCCESS) {
    status = load_all(s, all, out);
  }
  if (status != ABUT_SUCCESS) {
    scene_bodies_free(out);
  }
  return status;
}

void scene_bodies_free(scene_bodies *b)
{
  for (size_t i = 0; b->meshes && i < b->count; ++i) {
    mesh_free(&b->meshes[i]);
  }
  arena_free(&b->memory);
  *b = (scene_bodies){0};
}
