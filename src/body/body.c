#include "body/body.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/reals.h"
#include "body/diagnostics.h"
#include "body/touching.h"
#include "body/feature_check.h"
#include "body/family/family.h"
#include "body/family/height_mesh.h"
#include "body/family/polyhedron_mesh.h"
#include "geometry/layout.h"
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

static void resident_free(resident_body *r)
{
  if (!r) {
    return;
  }
  if (!r->borrows) {
    buffer_destroy(r->head);
    buffer_destroy(r->shape);
  }
  if (r->names != r->order) {
    buffer_destroy(r->names);
  }
  buffer_destroy(r->vertex_planes);
  buffer_destroy(r->sorted_planes);
  buffer_destroy(r->order);
  buffer_destroy(r->rank);
  buffer_destroy(r->edge_index);
  buffer_destroy(r->edge_ends);
  buffer_destroy(r->edge_starts);
  buffer_destroy(r->edges_at);
  buffer_destroy(r->vertex_balls);
  buffer_destroy(r->longest_edges);
  buffer_destroy(r->radii);
  buffer_destroy(r->rails);
  free(r);
}

void body_free(void *object)
{
  body *b = object;
  if (!b) {
    return;
  }
  for (size_t i = 0; i < MEMBERS; ++i) {
    resident_free(b->on[i]);
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

/* Adds the cloud of the mesh to the definition's. The caller frees both arrays. */
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

/* Uploads vertices in an order (NULL: the mesh's) as planes; padding repeats the last one. */
static abut_status upload_vertices(const body *b, const resident_body *r, const uint32_t *order,
                                   buffer **out)
{
  const size_t count = b->info.vertices, padding = r->vertex_padded;
  reals planes;
  TRY(reals_create(&planes, POINT_PLANES * padding, device_real_bytes(r->device)));
  for (size_t i = 0; i < padding; ++i) {
    const size_t at = i < count ? i : count - 1;
    const size_t from = order ? order[at] : at;
    for (size_t k = 0; k < 3; ++k) {
      reals_set(&planes, k * padding + i, b->vertices[3 * from + k]);
    }
  }
  const abut_status status = buffer_upload(r->device, planes.count * planes.size, planes.data, out);
  free(planes.data);
  return status;
}

/* Finds the sphere around a run of sorted vertices; its centre is that of their box. */
static void ball_around(const body *b, const uint32_t *order, size_t first, size_t end,
                        double ball[VERTEX_BALL_PLANES])
{
  double radius = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = first; i < end; ++i) {
      low = fmin(low, b->vertices[3 * (size_t)order[i] + k]);
      high = fmax(high, b->vertices[3 * (size_t)order[i] + k]);
    }
    ball[k] = 0.5 * (low + high);
  }
  for (size_t i = first; i < end; ++i) {
    const double *v = b->vertices + 3 * (size_t)order[i];
    radius = fmax(radius, hypot(hypot(v[0] - ball[0], v[1] - ball[1]), v[2] - ball[2]));
  }
  const double size = fabs(ball[0]) + fabs(ball[1]) + fabs(ball[2]);
  ball[3] = radius + 1e-6 * (radius + size); /* more than either precision rounds */
}

static abut_status upload_balls(const body *b, resident_body *r, const uint32_t *order)
{
  const size_t count = b->info.vertices;
  reals planes;
  r->balls = (count + BALL_VERTICES - 1) / BALL_VERTICES;
  r->ball_padded = padded(r->balls, device_lanes(r->device));
  TRY(reals_create(&planes, VERTEX_BALL_PLANES * r->ball_padded, device_real_bytes(r->device)));
  for (size_t i = 0; i < r->balls; ++i) {
    const size_t first = i * BALL_VERTICES;
    double ball[VERTEX_BALL_PLANES];
    ball_around(b, order, first, first + BALL_VERTICES < count ? first + BALL_VERTICES : count,
                ball);
    for (size_t k = 0; k < VERTEX_BALL_PLANES; ++k) {
      reals_set(&planes, k * r->ball_padded + i, ball[k]);
    }
  }
  const abut_status status =
    buffer_upload(r->device, planes.count * planes.size, planes.data, &r->vertex_balls);
  free(planes.data);
  return status;
}

static double edge_length(const body *b, size_t edge)
{
  const double *from = b->vertices + 3 * (size_t)b->edges[2 * edge];
  const double *to = b->vertices + 3 * (size_t)b->edges[2 * edge + 1];
  return hypot(hypot(to[0] - from[0], to[1] - from[1]), to[2] - from[2]);
}

/* Uploads the longest edge at each sorted vertex, and finds that of all, and their mean. rank:
 * places among the sorted. Rounded up by more than either precision rounds; padding repeats the
 * last vertex. */
static abut_status upload_lengths(const body *b, resident_body *r, const uint32_t *rank)
{
  const size_t count = b->info.vertices;
  reals row;
  void *memory = NULL;
  TRY(allocate(&memory, r->vertex_padded, sizeof(double)));
  double *longest = memory;
  for (size_t i = 0; i < b->info.edges; ++i) {
    const double length = (1.0 + 1e-6) * edge_length(b, i);
    for (size_t k = 0; k < 2; ++k) {
      double *at = &longest[rank[b->edges[2 * i + k]]];
      *at = fmax(*at, length);
    }
    r->longest_edge = fmax(r->longest_edge, length);
    r->mean_edge += length / (double)b->info.edges;
  }
  abut_status status = reals_create(&row, r->vertex_padded, device_real_bytes(r->device));
  if (status == ABUT_SUCCESS) {
    for (size_t i = 0; i < r->vertex_padded; ++i) {
      reals_set(&row, i, longest[i < count ? i : count - 1]);
    }
    status = buffer_upload(r->device, row.count * row.size, row.data, &r->longest_edges);
    free(row.data);
  }
  free(memory);
  return status;
}

static abut_status upload_edge_ends(const body *b, resident_body *r)
{
  const size_t count = b->info.edges, padding = r->edge_padded;
  reals ends;
  TRY(reals_create(&ends, ENDS_PLANES * padding, device_real_bytes(r->device)));
  for (size_t i = 0; count && i < padding; ++i) {
    const size_t from = i < count ? i : count - 1;
    for (size_t k = 0; k < ENDS_PLANES; ++k) {
      const size_t vertex = b->edges[2 * from + k / 3];
      reals_set(&ends, k * padding + i, b->vertices[3 * vertex + k % 3]);
    }
  }
  const abut_status status =
    buffer_upload(r->device, ends.count * ends.size, ends.data, &r->edge_ends);
  free(ends.data);
  return status;
}

/* Uploads edges as two planes of `edge_padded`. edges: by places among the sorted vertices. */
static abut_status upload_edge_index(const body *b, resident_body *r, const uint32_t *edges)
{
  const size_t count = b->info.edges, padding = r->edge_padded;
  void *memory = NULL;
  TRY(allocate(&memory, 2 * padding, sizeof(uint32_t)));
  uint32_t *planes = memory;
  for (size_t i = 0; count && i < padding; ++i) {
    const size_t from = i < count ? i : count - 1;
    planes[i] = edges[2 * from];
    planes[padding + i] = edges[2 * from + 1];
  }
  const abut_status status =
    buffer_upload(r->device, 2 * padding * sizeof *planes, planes, &r->edge_index);
  free(memory);
  return status;
}

/* Uploads the indices of a part's sorted vertices in the mesh of the whole. */
static abut_status upload_names(const body *b, resident_body *r, const uint32_t *order)
{
  void *memory = NULL;
  if (!b->names) {
    r->names = r->order;
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, b->info.vertices, sizeof *b->names));
  uint32_t *names = memory;
  for (size_t i = 0; i < b->info.vertices; ++i) {
    names[i] = b->names[order[i]];
  }
  const abut_status status =
    buffer_upload(r->device, b->info.vertices * sizeof *names, names, &r->names);
  free(memory);
  return status;
}

/* Uploads the sorted order, its inverse, and the edges by places among the sorted vertices. */
static abut_status upload_order(const body *b, resident_body *r, uint32_t *order, uint32_t *rank,
                                uint32_t *edges)
{
  const size_t count = b->info.vertices;
  for (size_t i = 0; i < count; ++i) {
    rank[order[i]] = (uint32_t)i;
  }
  for (size_t i = 0; i < 2 * b->info.edges; ++i) {
    edges[i] = rank[b->edges[i]];
  }
  TRY(buffer_upload(r->device, count * sizeof(uint32_t), order, &r->order));
  TRY(buffer_upload(r->device, count * sizeof(uint32_t), rank, &r->rank));
  return upload_edge_index(b, r, edges);
}

/* Uploads the edges at each sorted vertex, by counting; an edge of one vertex is there twice.
 * edges: by places among the sorted vertices. */
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

/* Sorts the vertices that may be in contact, and behind them the others. */
static void sort_vertices(const body *b, uint32_t lanes, uint32_t *order)
{
  sort_in_space(b->vertices, b->held, lanes, order);
  sort_in_space(b->vertices + 3 * b->held, b->info.vertices - b->held, lanes, order + b->held);
  for (size_t i = b->held; i < b->info.vertices; ++i) {
    order[i] += (uint32_t)b->held;
  }
}

static abut_status upload_mesh(const body *b, resident_body *r)
{
  abut_status status = ABUT_SUCCESS;
  const uint32_t lanes = device_lanes(r->device);
  void *order = NULL, *rank = NULL, *edges = NULL;
  r->vertex_padded = padded(b->info.vertices, lanes);
  r->held = b->held;
  r->edge_padded = padded(b->info.edges, lanes);
  TRY_DONE(allocate(&order, b->info.vertices, sizeof(uint32_t)));
  TRY_DONE(allocate(&rank, b->info.vertices, sizeof(uint32_t)));
  TRY_DONE(allocate(&edges, b->info.edges, 2 * sizeof(uint32_t)));
  sort_vertices(b, lanes, order);
  TRY_DONE(upload_vertices(b, r, NULL, &r->vertex_planes));
  TRY_DONE(upload_vertices(b, r, order, &r->sorted_planes));
  TRY_DONE(upload_order(b, r, order, rank, edges));
  TRY_DONE(upload_names(b, r, order));
  TRY_DONE(upload_balls(b, r, order));
  TRY_DONE(upload_lengths(b, r, rank));
  TRY_DONE(upload_incidence(b, r, edges));
  TRY_DONE(upload_edge_ends(b, r));
  if (b->touches) {
    TRY_DONE(upload_touching(b, order, r));
  }
done:
  free(order);
  free(rank);
  free(edges);
  return status;
}

/* The primitives of a part are there with the whole, which context_on_each has brought before. */
static abut_status upload_field(const body *b, size_t place, resident_body *r)
{
  if (b->whole) {
    const resident_body *there;
    TRY(body_on(b->whole, place, &there));
    r->borrows = true;
    r->head = there->head;
    r->shape = there->shape;
    return ABUT_SUCCESS;
  }
  TRY(buffer_upload(r->device, b->head_count * sizeof(int), b->head, &r->head));
  return buffer_upload(r->device, b->shape.count * b->shape.size, b->shape.data, &r->shape);
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
    TRY_DONE(upload_field(b, place, r));
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

/* Adds a mesh that is a height field's, whose primitives are checked before it is made of them, or
 * faces that are a polyhedron's. */
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
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_body needs a handle and a definition made by "
                                     "abut_default_body_def");
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

void body_set_diagnostics(abut_body handle_, uint32_t diagnostics, double misfit,
                          double feature_misfit)
{
  call_lock *entered = NULL;
  if (call_lock_acquire(&body_pool, (handle){handle_.index, handle_.generation}, &entered) ==
      ABUT_SUCCESS) {
    body_get(handle_)->info.suspicions = diagnostics;
    body_get(handle_)->info.misfit = misfit;
    body_get(handle_)->info.feature_misfit = feature_misfit;
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
