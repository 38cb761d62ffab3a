#include "scene/clouds.h"

#include "base/error.h"
#include "base/limits.h"
#include "format/text.h"
#include "io/body_file.h"
#include "scene/cloud_gap.h"
#include "scene/shape_clouds.h"
#include "scene/file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WANTED (-2) /* the body is in a pair, but its cloud is not made yet */
#define EPS1_LEAST 1e-18
#define EPS1_MOST 1e18

/* ---- clouds of files ---- */

/* Adds the file's name to an error text, because the functions that make clouds from numbers do not
 * have it. */
static abut_status of_file(const char *path, abut_status status)
{
  char cause[ERROR_TEXT_BYTES];
  if (status != ABUT_ERROR_BODY && status != ABUT_ERROR_ARGUMENT) {
    return status;
  }
  keep_error_text(cause);
  return fail_at(status, path, 0, "%s", cause);
}

/* If a mesh named in a body file cannot be read, the error names the body file. */
static abut_status load_faces(const char *path, const body_file *b, double eps1, abut_cloud *out)
{
  char cause[ERROR_TEXT_BYTES];
  if (!b->mesh_path) {
    return fail_at(ABUT_ERROR_FORMAT, path, 0, "a height field has no point cloud");
  }
  const abut_status status =
    of_file(b->mesh_path, abut_load_cloud(b->mesh_path, eps1 > 0.0 ? eps1 : b->cloud.eps1,
                                          b->cloud.area_weight, out));
  if (status != ABUT_ERROR_READ) {
    return status;
  }
  keep_error_text(cause);
  return fail_at(status, path, 0, "its mesh, %s", cause);
}

static abut_status take_points(const char *path, const body_cloud *c, double eps1, abut_cloud *out)
{
  TRY(of_file(path, abut_make_cloud_of_points(c->count, c->points, out)));
  for (size_t i = 0; eps1 > 0.0 && i < out->count; ++i) {
    out->eps1[i] = eps1;
  }
  return ABUT_SUCCESS;
}

static abut_status load_file(const char *path, double eps1, abut_cloud *out)
{
  body_file b;
  if (!has_extension(path, ".json")) {
    return of_file(path, abut_load_cloud(path, eps1, false, out));
  }
  TRY(body_file_read(path, &b));
  const abut_status status = b.cloud.source == CLOUD_POINTS ? take_points(path, &b.cloud, eps1, out)
                                                            : load_faces(path, &b, eps1, out);
  body_file_free(&b);
  return status;
}

/* ---- clouds of bodies ---- */

/* Refuses numbers outside the kernels' range here, where the error can name the body. */
static abut_status check_range(const abut_cloud *c)
{
  for (size_t i = 0; i < c->count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      if (!(fabs(c->points[3 * i + k]) <= COORDINATE_MOST)) {
        return fail(ABUT_ERROR_BODY, "point %zu is farther out than %g m", i, COORDINATE_MOST);
      }
    }
    if (!(c->eps1[i] >= EPS1_LEAST && c->eps1[i] <= EPS1_MOST)) {
      return fail(ABUT_ERROR_BODY, "eps1 of point %zu is %g m^2, not in [%g, %g]", i, c->eps1[i],
                  EPS1_LEAST, EPS1_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status make_cloud(const scene_def *s, const scene_body *b, scene_place place,
                              abut_cloud *out)
{
  const bool named = b->shape != SHAPE_FILE;
  if (b->shape == SHAPE_HEIGHT_FIELD) {
    return scene_fail(s, place,
                      "a height field has no point cloud, so contacts that are springs "
                      "(contact_model \"spring\") cannot use it");
  }
  TRY(scene_blame(s, place, named ? "its cloud: " : "its file, ",
                  named ? shape_cloud_make(b->shape, b->size, b->eps1, out)
                        : load_file(b->file, b->eps1, out)));
  const abut_status status = scene_blame(s, place, "its cloud: ", check_range(out));
  if (status != ABUT_SUCCESS) {
    abut_free_cloud(out);
  }
  return status;
}

/* Returns whether two bodies have the same cloud. All planes have, because each is a half-space
 * whatever its lengths. */
static bool is_same(const scene_body *a, const scene_body *b)
{
  if (a->shape != b->shape || a->eps1 < b->eps1 || a->eps1 > b->eps1) {
    return false;
  }
  return a->shape == SHAPE_PLANE ||
         (a->shape == SHAPE_FILE ? strcmp(a->file, b->file) == 0
                                 : memcmp(a->size, b->size, sizeof a->size) == 0);
}

/* ---- clouds of a scene ---- */

typedef struct loader {
  const scene_def *s;
  scene_clouds *out;
  const scene_body **kinds; /* for each cloud the first body that has it */
  size_t *first;            /* for each link the number of its first body */
} loader;

static abut_status mark_pairs(const loader *l)
{
  const scene_def *s = l->s;
  for (size_t i = 0; i < s->pair_count; ++i) {
    const scene_pair *p = &s->pairs[i];
    if (p->link[0] == WORLD) {
      continue;
    }
    if (scene_side(s, p, 0)->shape == SHAPE_PLANE && scene_side(s, p, 1)->shape == SHAPE_PLANE) {
      return scene_fail(s, (scene_place){"pairs", i, NULL, false, 0},
                        "two planes have no points that can touch");
    }
    for (int side = 0; side < 2; ++side) {
      l->out->of[l->first[p->link[side]] + (size_t)p->body[side]] = WANTED;
    }
  }
  return ABUT_SUCCESS;
}

static abut_status take_body(loader *l, const scene_body *b, size_t number, scene_place place)
{
  scene_clouds *out = l->out;
  size_t kind = 0;
  if (out->of[number] != WANTED) {
    return ABUT_SUCCESS;
  }
  while (kind < out->count && !is_same(l->kinds[kind], b)) {
    ++kind;
  }
  if (kind == out->count) {
    TRY(make_cloud(l->s, b, place, &out->clouds[kind]));
    l->kinds[kind] = b;
    ++out->count;
    double gap = 0.0;
    if (b->shape == SHAPE_FILE) {
      TRY(cloud_gap(&out->clouds[kind], &gap));
    }
    if (gap > out->gap) {
      out->gap = gap;
      out->gap_link = place.index;
      out->gap_body = place.part_index;
    }
  }
  out->of[number] = (int)kind;
  return ABUT_SUCCESS;
}

static abut_status load_all(loader *l)
{
  const scene_def *s = l->s;
  TRY(mark_pairs(l));
  for (size_t i = 0; i < s->link_count; ++i) {
    for (size_t k = 0; k < s->links[i].body_count; ++k) {
      TRY(take_body(l, &s->links[i].bodies[k], l->first[i] + k,
                    (scene_place){"links", i, "bodies", true, k}));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status make_room(loader *l, arena *memory)
{
  const size_t bodies = scene_body_number(l->s, l->s->link_count);
  void *at;
  TRY(arena_allocate(memory, &at, bodies, sizeof *l->kinds));
  l->kinds = at;
  TRY(arena_allocate(memory, &at, l->s->link_count, sizeof *l->first));
  l->first = at;
  TRY(allocate(&at, bodies, sizeof *l->out->clouds));
  l->out->clouds = at;
  TRY(allocate(&at, bodies, sizeof *l->out->of));
  l->out->of = at;
  for (size_t i = 0; i < bodies; ++i) {
    l->out->of[i] = -1;
  }
  for (size_t i = 1; i < l->s->link_count; ++i) {
    l->first[i] = l->first[i - 1] + l->s->links[i - 1].body_count;
  }
  return ABUT_SUCCESS;
}

abut_status scene_clouds_load(const scene_def *s, scene_clouds *out)
{
  arena memory = {0};
  loader l = {.s = s, .out = out};
  *out = (scene_clouds){0};
  abut_status status = make_room(&l, &memory);
  if (status == ABUT_SUCCESS) {
    status = load_all(&l);
  }
  arena_free(&memory);
  if (status != ABUT_SUCCESS) {
    scene_clouds_free(out);
  }
  return status;
}

void scene_clouds_free(scene_clouds *c)
{
  for (size_t i = 0; i < c->count; ++i) {
    abut_free_cloud(&c->clouds[i]);
  }
  free(c->clouds);
  free(c->of);
  *c = (scene_clouds){0};
}
