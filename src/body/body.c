#include "body/body.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "body/diagnostics.h"
#include "body/touching.h"
#include "body/feature_check.h"
#include "body/family/family.h"
#include "body/family/height_mesh.h"
#include "body/family/polyhedron_mesh.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab07000du
#define SHARP 20.0 /* degrees */

abut_body_def abut_default_body_def(void)
{
  abut_body_def def;
  memset(&def, 0, sizeof def);
  def.sharp = SHARP;
  def.cookie = COOKIE;
  return def;
}

size_t padded(size_t count, uint32_t lanes)
{
  const size_t blocks = count ? (count + lanes - 1) / lanes : 1;
  return blocks * lanes;
}

body *body_get(abut_body b)
{
  return pool_get(&body_pool, (handle){b.index, b.generation});
}

bool same_body(abut_body a, abut_body b)
{
  return a.index == b.index && a.generation == b.generation;
}

void body_free(void *object)
{
  body *b = object;
  if (!b) {
    return;
  }
  for (size_t i = 0; i < MEMBERS; ++i) {
    resident_body_free(b->on[i]);
  }
  for (size_t i = 0; i < b->touching_count; ++i) {
    body_touching_free(b->touching[i]);
  }
  free(b->touching);
  free(b->name);
  free(b->vertices);
  free(b->face_sizes);
  free(b->face_indices);
  free(b->edges);
  free_parts(&b->parts);
  free(b->names);
  if (!b->whole) {
    free(b->head);
    free(b->shape.data);
  }
  free(b);
}

/* Bounding box of the vertices. */
static void set_box(abut_body_info *info, const abut_body_def *def)
{
  double size2 = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    info->lower[k] = info->upper[k] = def->vertices[k];
    for (size_t i = 1; i < def->vertex_count; ++i) {
      info->lower[k] = fmin(info->lower[k], def->vertices[3 * i + k]);
      info->upper[k] = fmax(info->upper[k], def->vertices[3 * i + k]);
    }
    size2 += (info->upper[k] - info->lower[k]) * (info->upper[k] - info->lower[k]);
  }
  info->diagonal = sqrt(size2);
}

static void set_info(abut_body_info *info, const abut_body_def *def)
{
  info->vertices = def->vertex_count;
  info->faces = def->face_count;
  info->union_ = def->union_;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const size_t count = family_count(families[i], def);
    for (size_t k = 0; k < count; ++k) {
      families[i]->inform(family_one(families[i], def, k), info);
    }
    info->primitives += count;
  }
}

static abut_status copy_faces(body *b, const abut_body_def *def)
{
  size_t corners = 0;
  void *memory = NULL;
  for (size_t i = 0; i < def->face_count; ++i) {
    corners += def->face_sizes[i];
  }
  TRY(allocate(&memory, def->face_count, sizeof *b->face_sizes));
  b->face_sizes = memory;
  TRY(allocate(&memory, corners, sizeof *b->face_indices));
  b->face_indices = memory;
  if (def->face_count) {
    memcpy(b->face_sizes, def->face_sizes, def->face_count * sizeof *b->face_sizes);
    memcpy(b->face_indices, def->face_indices, corners * sizeof *b->face_indices);
  }
  return ABUT_SUCCESS;
}

static abut_status copy_mesh(body *b, const abut_body_def *def)
{
  void *memory = NULL;
  TRY(allocate(&memory, def->vertex_count, 3 * sizeof(double)));
  b->vertices = memory;
  memcpy(b->vertices, def->vertices, def->vertex_count * 3 * sizeof(double));
  b->held = def->vertex_count;
  set_box(&b->info, def);
  TRY(copy_faces(b, def));
  return make_edges(def, &b->edges, &b->info.edges);
}

/* Adds the cloud of the mesh to the definition's clouds. The caller frees both arrays. */
static abut_status add_mesh_cloud(const body *b, abut_body_def *def, double **points,
                                  abut_pointcloud **clouds)
{
  void *memory = NULL;
  const size_t given = def->pointcloud_count;
  TRY(allocate(&memory, given + 1, sizeof **clouds));
  *clouds = memory;
  if (given) {
    memcpy(*clouds, def->pointclouds, given * sizeof **clouds);
  }
  abut_pointcloud *cloud = &(*clouds)[given];
  TRY(make_mesh_cloud(def, b->info.diagonal, b->edges, b->info.edges, points, &cloud->count));
  cloud->points = *points;
  cloud->operation = ABUT_ADD;
  def->pointclouds = *clouds;
  def->pointcloud_count = given + 1;
  return ABUT_SUCCESS;
}

static abut_status pack(body *b, const abut_body_def *given)
{
  abut_status status = ABUT_SUCCESS;
  abut_body_def def = *given;
  abut_pointcloud *clouds = NULL;
  double *points = NULL;
  if (def.cloud_from_mesh) {
    TRY_DONE(add_mesh_cloud(b, &def, &points, &clouds));
  }
  TRY_DONE(
    pack_primitives(&def, context_real_bytes(b->context), &b->head, &b->head_count, &b->shape));
  set_info(&b->info, &def);
  TRY_DONE(keep_outlines(&def, &b->parts));
done:
  free(points);
  free(clouds);
  return status;
}

static abut_status bring(context *c, size_t place, void *user)
{
  (void)c;
  const resident_body *there;
  return body_on(user, place, &there);
}

/* If the definition has no mesh, adds the mesh of its height field, whose primitives are checked
 * first. Adds faces to the vertices of a polyhedron. */
static abut_status complete_def(arena *memory, abut_body_def *def)
{
  if (!def->vertex_count && !def->face_count && def->height_field_count) {
    TRY(check_primitives(def));
    TRY(height_mesh_add(memory, def));
  }
  TRY(check_body_def(def));
  return polyhedron_faces_add(memory, def);
}

abut_status body_adopt(body *b, abut_body *out)
{
  abut_status status = context_on_each(b->context, bring, b);
  status = status == ABUT_SUCCESS ? context_adopt(b->context, &body_pool, &b->base, body_free)
                                  : status;
  if (status != ABUT_SUCCESS) {
    body_free(b);
    return status;
  }
  *out = (abut_body){b->base.self.index, b->base.self.generation};
  return ABUT_SUCCESS;
}

static abut_status create(context *c, const abut_body_def *def, abut_body *out)
{
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(body)));
  body *b = memory;
  abut_status status = ABUT_SUCCESS;
  b->context = c;
  TRY_DONE(copy_mesh(b, def));
  TRY_DONE(check_edge_cones(def, b->edges, b->info.edges));
  TRY_DONE(keep_parts(def, &b->parts));
  TRY_DONE(pack(b, def));
  b->info.thickness = body_thickness(b, b->middle);
  b->info.feature_radius = largest_radius(&b->parts.features);
  return body_adopt(b, out);
done:
  body_free(b);
  return status;
}

abut_status abut_create_body(abut_context handle_, const abut_body_def *def, abut_body *out)
{
  ENTER(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  if (!def || !out || def->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_body: the handle is NULL, or the definition was "
                                     "not made by abut_default_body_def");
  }
  abut_body_def whole = *def;
  arena added = {0};
  abut_status status = complete_def(&added, &whole);
  if (status == ABUT_SUCCESS) {
    status = create(c, &whole, out);
  }
  arena_free(&added);
  return status;
}

abut_status abut_destroy_body(abut_body handle_)
{
  ENTER_ALONE(body_pool, handle_);
  body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  context_discard(b->context, &b->base);
  return ABUT_SUCCESS;
}

void body_set_report(abut_body handle_, const abut_field_report *report)
{
  call_lock *entered = NULL;
  if (call_lock_acquire(&body_pool, (handle){handle_.index, handle_.generation}, &entered) ==
      ABUT_SUCCESS) {
    body *b = body_get(handle_);
    b->report = *report;
    b->info.suspicions = report->suspicions;
    b->info.misfit = report->misfit;
    b->info.feature_misfit = report->feature_misfit;
  }
  call_lock_release(&entered);
}

abut_status body_set_name(abut_body handle_, const char *path)
{
  ENTER(body_pool, handle_);
  body *b = body_get(handle_);
  void *memory = NULL;
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(allocate(&memory, strlen(path) + 1, 1));
  memcpy(memory, path, strlen(path) + 1);
  free(b->name);
  b->name = memory;
  return ABUT_SUCCESS;
}

abut_status abut_get_body_info(abut_body handle_, abut_body_info *info)
{
  ENTER(body_pool, handle_);
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_body_info needs a place for its answer");
  }
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  *info = b->info;
  return ABUT_SUCCESS;
}

abut_status abut_get_body_report(abut_body handle_, abut_field_report *report)
{
  ENTER(body_pool, handle_);
  if (!report) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_body_report needs a place for its answer");
  }
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  *report = b->report;
  return ABUT_SUCCESS;
}

abut_status abut_get_body_mesh(abut_body handle_, double *vertices, uint32_t *edges)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  if (vertices) {
    memcpy(vertices, b->vertices, b->info.vertices * 3 * sizeof(double));
  }
  if (edges && b->info.edges) {
    memcpy(edges, b->edges, b->info.edges * 2 * sizeof(uint32_t));
  }
  return ABUT_SUCCESS;
}
