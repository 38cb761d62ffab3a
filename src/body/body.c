#include "body/body.h"

#include "base/error.h"
#include "base/reals.h"
#include "body/parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab070002u

abut_body_def abut_default_body_def(void)
{
  abut_body_def def;
  memset(&def, 0, sizeof def);
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

static void resident_free(resident_body *r)
{
  if (!r) {
    return;
  }
  buffer_destroy(r->head);
  buffer_destroy(r->shape);
  buffer_destroy(r->vertex_planes);
  buffer_destroy(r->sorted_planes);
  buffer_destroy(r->order);
  buffer_destroy(r->rank);
  buffer_destroy(r->edge_index);
  buffer_destroy(r->edge_ends);
  buffer_destroy(r->edge_starts);
  buffer_destroy(r->edges_at);
  free(r);
}

static void body_free(body *b)
{
  if (!b) {
    return;
  }
  for (size_t i = 0; i < MEMBERS; ++i) {
    resident_free(b->on[i]);
  }
  free(b->vertices);
  free(b->edges);
  free(b->head);
  free(b->shape.data);
  free(b);
}

static void destroy_owned(owned *self)
{
  body *b = (body *)self;
  pool_remove(&body_pool, b->self);
  body_free(b);
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

static void set_info(body *b, const abut_body_def *def, size_t cloud_points)
{
  abut_body_info *info = &b->info;
  info->vertices = def->vertex_count;
  info->faces = def->face_count;
  info->superquadrics = def->superquadric_count;
  info->polyhedra = def->polyhedron_count;
  info->pointclouds = def->pointcloud_count + (cloud_points ? 1 : 0);
  info->points = cloud_points;
  for (size_t i = 0; i < def->polyhedron_count; ++i) {
    info->planes += def->polyhedra[i].count;
  }
  for (size_t i = 0; i < def->pointcloud_count; ++i) {
    info->points += def->pointclouds[i].count;
  }
  info->primitives = info->superquadrics + info->polyhedra + info->pointclouds;
}

static abut_status copy_mesh(body *b, const abut_body_def *def)
{
  void *memory = NULL;
  TRY(allocate(&memory, def->vertex_count, 3 * sizeof(double)));
  b->vertices = memory;
  memcpy(b->vertices, def->vertices, def->vertex_count * 3 * sizeof(double));
  set_box(&b->info, def);
  return make_edges(def, &b->edges, &b->info.edges);
}

static abut_status pack(body *b, const abut_body_def *def)
{
  abut_status status = ABUT_SUCCESS;
  double *points = NULL;
  abut_pointcloud cloud = {NULL, 0, ABUT_ADD};
  if (def->cloud_from_mesh) {
    TRY_DONE(make_mesh_cloud(def, b->info.diagonal, b->edges, b->info.edges, &points,
                             &cloud.count));
    cloud.points = points;
  }
  TRY_DONE(pack_primitives(def, points ? &cloud : NULL, context_real_bytes(b->context), &b->head,
                           &b->head_count, &b->shape));
  set_info(b, def, cloud.count);
done:
  free(points);
  return status;
}

/* Vertices in an order (NULL: the mesh's) as planes; padding repeats the last one. */
static abut_status upload_vertices(const body *b, const resident_body *r, const uint32_t *order,
                                   buffer **out)
{
  const size_t count = b->info.vertices, padding = r->vertex_padded;
  reals planes;
  TRY(reals_create(&planes, 3 * padding, device_real_bytes(r->device)));
  for (size_t i = 0; i < padding; ++i) {
    const size_t at = i < count ? i : count - 1;
    const size_t from = order ? order[at] : at;
    for (size_t k = 0; k < 3; ++k) {
      reals_set(&planes, k * padding + i, b->vertices[3 * from + k]);
    }
  }
  const abut_status status =
    buffer_upload(r->device, planes.count * planes.size, planes.data, out);
  free(planes.data);
  return status;
}

static abut_status upload_edge_ends(const body *b, resident_body *r)
{
  const size_t count = b->info.edges, padding = r->edge_padded;
  reals ends;
  TRY(reals_create(&ends, 6 * padding, device_real_bytes(r->device)));
  for (size_t i = 0; count && i < padding; ++i) {
    const size_t from = i < count ? i : count - 1;
    for (size_t k = 0; k < 6; ++k) {
      const size_t vertex = b->edges[2 * from + k / 3];
      reals_set(&ends, k * padding + i, b->vertices[3 * vertex + k % 3]);
    }
  }
  const abut_status status =
    buffer_upload(r->device, ends.count * ends.size, ends.data, &r->edge_ends);
  free(ends.data);
  return status;
}

/* The sorted order, its inverse, and the edges by places among the sorted vertices. */
static abut_status upload_order(const body *b, resident_body *r, uint32_t *order, uint32_t *rank,
                                uint32_t *edges)
{
  const size_t count = b->info.vertices, edge_bytes = b->info.edges * 2 * sizeof(uint32_t);
  for (size_t i = 0; i < count; ++i) {
    rank[order[i]] = (uint32_t)i;
  }
  for (size_t i = 0; i < 2 * b->info.edges; ++i) {
    edges[i] = rank[b->edges[i]];
  }
  TRY(buffer_upload(r->device, count * sizeof(uint32_t), order, &r->order));
  TRY(buffer_upload(r->device, count * sizeof(uint32_t), rank, &r->rank));
  return buffer_upload(r->device, edge_bytes, edges, &r->edge_index);
}

/* The edges at each sorted vertex, by counting; an edge of one vertex is there twice. edges: by
 * places among the sorted vertices. */
static abut_status upload_incidence(const body *b, resident_body *r, const uint32_t *edges)
{
  const size_t vertices = b->info.vertices, ends = 2 * b->info.edges;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *list = NULL;
  TRY_DONE(allocate(&memory, vertices + 2, sizeof(uint32_t)));
  TRY_DONE(allocate(&list, ends, sizeof(uint32_t)));
  uint32_t *starts = memory, *at = list;
  for (size_t i = 0; i < ends; ++i) {
    ++starts[edges[i] + 2];
  }
  for (size_t i = 2; i < vertices + 2; ++i) {
    starts[i] += starts[i - 1];
  }
  for (size_t i = 0; i < ends; ++i) { /* starts[v + 1] moves on to where v's edges end */
    at[starts[edges[i] + 1]++] = (uint32_t)(i / 2);
  }
  TRY_DONE(buffer_upload(r->device, (vertices + 1) * sizeof(uint32_t), starts, &r->edge_starts));
  TRY_DONE(buffer_upload(r->device, ends * sizeof(uint32_t), at, &r->edges_at));
done:
  free(memory);
  free(list);
  return status;
}

static abut_status upload_mesh(const body *b, resident_body *r)
{
  abut_status status = ABUT_SUCCESS;
  const uint32_t lanes = device_lanes(r->device);
  void *order = NULL, *rank = NULL, *edges = NULL;
  r->vertex_padded = padded(b->info.vertices, lanes);
  r->edge_padded = padded(b->info.edges, lanes);
  TRY_DONE(allocate(&order, b->info.vertices, sizeof(uint32_t)));
  TRY_DONE(allocate(&rank, b->info.vertices, sizeof(uint32_t)));
  TRY_DONE(allocate(&edges, b->info.edges, 2 * sizeof(uint32_t)));
  sort_in_space(b->vertices, b->info.vertices, lanes, order);
  TRY_DONE(upload_vertices(b, r, NULL, &r->vertex_planes));
  TRY_DONE(upload_vertices(b, r, order, &r->sorted_planes));
  TRY_DONE(upload_order(b, r, order, rank, edges));
  TRY_DONE(upload_incidence(b, r, edges));
  TRY_DONE(upload_edge_ends(b, r));
done:
  free(order);
  free(rank);
  free(edges);
  return status;
}

abut_status body_on(body *b, size_t place, const resident_body **out)
{
  abut_status status = ABUT_SUCCESS;
  resident_body *r = NULL;
  if (!b->on[place]) {
    void *memory = NULL;
    TRY(allocate(&memory, 1, sizeof(resident_body)));
    r = memory;
    r->info = &b->info;
    r->device = b->context->members[place].device;
    TRY_DONE(buffer_upload(r->device, b->head_count * sizeof(int), b->head, &r->head));
    TRY_DONE(buffer_upload(r->device, b->shape.count * b->shape.size, b->shape.data, &r->shape));
    TRY_DONE(upload_mesh(b, r));
    b->on[place] = r;
    r = NULL;
  }
  *out = b->on[place];
done:
  resident_free(r);
  return status;
}

static abut_status bring(context *c, size_t place, void *user)
{
  (void)c;
  const resident_body *there;
  return body_on(user, place, &there);
}

abut_status abut_create_body(abut_context handle_, const abut_body_def *def, abut_body *out)
{
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  if (!def || !out || def->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_body needs a handle and a definition made by "
                "abut_default_body_def");
  }
  TRY(check_body_def(def));
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(body)));
  body *b = memory;
  abut_status status = ABUT_SUCCESS;
  b->context = c;
  b->base.destroy = destroy_owned;
  TRY_DONE(copy_mesh(b, def));
  TRY_DONE(pack(b, def));
  TRY_DONE(context_on_each(c, bring, b));
  TRY_DONE(pool_add(&body_pool, b, &b->self));
  context_adopt(c, &b->base);
  *out = (abut_body){b->self.index, b->self.generation};
  b = NULL;
done:
  body_free(b);
  return status;
}

abut_status abut_destroy_body(abut_body handle_)
{
  body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  context_release(b->context, &b->base);
  destroy_owned(&b->base);
  return ABUT_SUCCESS;
}

abut_status abut_get_body_info(abut_body handle_, abut_body_info *info)
{
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

abut_status abut_get_body_mesh(abut_body handle_, double *vertices, uint32_t *edges)
{
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
