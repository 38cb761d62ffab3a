/* Batched calls that need no pair: a body's field, and witness points alone. */
#include "base/error.h"
#include "base/memory.h"
#include "base/reals.h"
#include "body/body.h"
#include "geometry/layout.h"
#include "manifold/smoothing.h"
#include "schedule/chunks.h"
#include <stdlib.h>
#include <string.h>

#define QUERY_CHUNK ((size_t)1 << 20)
#define QUERY_ARRAYS 6

/* An array of a query call: `width` elements of `size` bytes a query. */
typedef struct query_array {
  const void *in; /* caller's memory to upload, or NULL */
  void *out;      /* caller's memory to download to, or NULL */
  size_t width, size;
  buffer *memory;
} query_array;

typedef struct query_call {
  device *device;
  const body *body; /* of abut_evaluate_body */
  kernel_id kernel;
  buffer *coefficients;
  query_array arrays[QUERY_ARRAYS];
  int count; /* of arrays */
} query_call;

/* Room for whole blocks of lanes. */
static abut_status create_arrays(query_call *c, size_t chunk)
{
  chunk = padded(chunk, device_lanes(c->device));
  for (int i = 0; i < c->count; ++i) {
    query_array *a = &c->arrays[i];
    TRY(buffer_create(c->device, chunk * a->width * a->size, &a->memory));
  }
  return ABUT_SUCCESS;
}

static abut_status upload_arrays(query_call *c, size_t first, size_t count)
{
  for (int i = 0; i < c->count; ++i) {
    const query_array *a = &c->arrays[i];
    const size_t row = a->width * a->size;
    if (a->in) {
      TRY(buffer_write(a->memory, 0, count * row, (const char *)a->in + first * row));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status download_arrays(query_call *c, size_t first, size_t count)
{
  for (int i = 0; i < c->count; ++i) {
    const query_array *a = &c->arrays[i];
    const size_t row = a->width * a->size;
    if (a->out) {
      TRY(buffer_read(a->memory, 0, count * row, (char *)a->out + first * row));
    }
  }
  return ABUT_SUCCESS;
}

static size_t chunk_for(size_t count)
{
  return count < QUERY_CHUNK ? count : QUERY_CHUNK;
}

static abut_status run_queries(query_call *c, size_t count, chunk_function run)
{
  abut_status status = create_arrays(c, chunk_for(count));
  if (status == ABUT_SUCCESS) {
    status = run_chunks(count, chunk_for(count), run, c, NULL, NULL);
  }
  for (int i = 0; i < c->count; ++i) {
    buffer_destroy(c->arrays[i].memory);
  }
  buffer_destroy(c->coefficients);
  return status;
}

static abut_status edges_chunk(size_t first, size_t count, void *user)
{
  query_call *c = user;
  query_array *a = c->arrays;
  const size_t lanes = device_lanes(c->device);
  TRY(upload_arrays(c, first, count));
  TRY(LAUNCH(c->device, KERNEL_WITNESS_EDGES, (count + lanes - 1) / lanes, 1,
             ARG_BUFFER(a[0].memory), ARG_BUFFER(a[1].memory), ARG_INT(count), ARG_INT(count),
             ARG_BUFFER(c->coefficients), ARG_BUFFER(a[2].memory), ARG_BUFFER(a[3].memory),
             ARG_BUFFER(a[4].memory)));
  return download_arrays(c, first, count);
}

abut_status abut_witness_edges(abut_context handle_, const abut_smoothing *smoothing, size_t count,
                               const void *edges1, const void *edges2, void *points1,
                               void *points2, void *interior)
{
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!smoothing || (count && (!edges1 || !edges2))) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_witness_edges needs smoothing and edges");
  }
  TRY(check_smoothing(smoothing));
  const size_t size = device_real_bytes(owner->device);
  query_call c = {.device = owner->device, .count = 5};
  c.arrays[0] = (query_array){edges1, NULL, 6, size, NULL};
  c.arrays[1] = (query_array){edges2, NULL, 6, size, NULL};
  c.arrays[2] = (query_array){NULL, points1, 3, size, NULL};
  c.arrays[3] = (query_array){NULL, points2, 3, size, NULL};
  c.arrays[4] = (query_array){NULL, interior, 1, size, NULL};
  TRY(upload_coefficients(owner, smoothing, &c.coefficients));
  return run_queries(&c, count, edges_chunk);
}

/* What abut_witness_faces adds to a query call: statuses as bytes, and their count. */
typedef struct faces_call {
  query_call query;
  int *status; /* (chunk) */
  uint8_t *out;
  size_t rejected;
} faces_call;

static abut_status faces_chunk(size_t first, size_t count, void *user)
{
  faces_call *f = (faces_call *)user; /* its query call comes first */
  query_call *c = &f->query;
  query_array *a = c->arrays;
  const size_t lanes = device_lanes(c->device);
  TRY(upload_arrays(c, first, count));
  TRY(LAUNCH(c->device, KERNEL_WITNESS_FACES, (count + lanes - 1) / lanes, 1,
             ARG_BUFFER(a[0].memory), ARG_BUFFER(a[1].memory), ARG_INT(count), ARG_INT(count),
             ARG_BUFFER(c->coefficients), ARG_BUFFER(a[2].memory), ARG_BUFFER(a[3].memory)));
  TRY(download_arrays(c, first, count));
  TRY(buffer_read(a[3].memory, 0, count * sizeof(int), f->status));
  for (size_t i = 0; i < count; ++i) {
    f->rejected += f->status[i] != 0;
    if (f->out) {
      f->out[first + i] = (uint8_t)f->status[i];
    }
  }
  return ABUT_SUCCESS;
}

abut_status abut_witness_faces(abut_context handle_, const abut_smoothing *smoothing, size_t count,
                               const void *points, const void *triangles, void *projected,
                               uint8_t *statuses, size_t *rejected)
{
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!smoothing || (count && (!points || !triangles || !projected))) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_witness_faces needs smoothing, points, triangles and "
                "room for what it projects");
  }
  TRY(check_smoothing(smoothing));
  const size_t size = device_real_bytes(owner->device);
  faces_call f = {{.device = owner->device, .count = 4}, NULL, statuses, 0};
  f.query.arrays[0] = (query_array){points, NULL, 3, size, NULL};
  f.query.arrays[1] = (query_array){triangles, NULL, 9, size, NULL};
  f.query.arrays[2] = (query_array){NULL, projected, 3, size, NULL};
  f.query.arrays[3] = (query_array){NULL, NULL, 1, sizeof(int), NULL};
  void *memory = NULL;
  TRY(allocate(&memory, chunk_for(count), sizeof(int)));
  f.status = memory;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(upload_coefficients(owner, smoothing, &f.query.coefficients));
  TRY_DONE(run_queries(&f.query, count, faces_chunk));
  if (rejected) {
    *rejected = f.rejected;
  }
done:
  free(f.status);
  return status;
}

/* Points (count, 3) as planes of whole blocks, the last point repeated. */
static abut_status points_chunk(size_t first, size_t count, void *user)
{
  query_call *c = user;
  query_array *a = c->arrays;
  const size_t size = a[0].size;
  const size_t lanes = device_lanes(c->device);
  const size_t slots = padded(count, (uint32_t)lanes);
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY(allocate(&memory, slots, 4 * size));
  char *planes = memory;
  const char *from = (const char *)a[0].in + first * 3 * size;
  for (size_t i = 0; i < slots; ++i) {
    const size_t point = i < count ? i : count - 1;
    for (size_t k = 0; k < 3; ++k) {
      memcpy(planes + (k * slots + i) * size, from + (3 * point + k) * size, size);
    }
  }
  TRY_DONE(buffer_write(a[0].memory, 0, 3 * slots * size, planes));
  TRY_DONE(LAUNCH(c->device, c->kernel, slots / lanes, 1, ARG_BUFFER(a[0].memory), ARG_INT(0),
                  ARG_INT(0), ARG_INT(slots), ARG_BUFFER(a[0].memory), ARG_INT(-1),
                  ARG_BUFFER(c->body->head), ARG_BUFFER(c->body->shape),
                  ARG_BUFFER(c->coefficients), ARG_BUFFER(a[1].memory)));
  TRY_DONE(buffer_read(a[1].memory, 0, (c->kernel == KERNEL_FIELD ? 4 : 1) * slots * size, planes));
  if (a[1].out) {
    memcpy((char *)a[1].out + first * size, planes, count * size);
  }
  char *normal = a[2].out;
  for (size_t i = 0; normal && i < count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      memcpy(normal + (3 * (first + i) + k) * size, planes + ((1 + k) * slots + i) * size, size);
    }
  }
done:
  free(memory);
  return status;
}

abut_status abut_evaluate_body(abut_body handle_, double union_tau, double plane_tau, size_t count,
                               const void *points, void *distance, void *normal)
{
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  if (count && !points) {
    return fail(ABUT_ERROR_ARGUMENT, "%zu points are counted but not given", count);
  }
  abut_smoothing smoothing = abut_default_smoothing();
  smoothing.union_ = union_tau;
  smoothing.plane = plane_tau;
  TRY(check_smoothing(&smoothing));
  const size_t size = device_real_bytes(b->context->device);
  query_call c = {.device = b->context->device, .body = b, .count = 3};
  c.kernel = normal ? KERNEL_FIELD : KERNEL_FIELD_DISTANCE;
  c.arrays[0] = (query_array){points, NULL, 3, size, NULL};
  c.arrays[1] = (query_array){NULL, distance, 4, size, NULL};
  c.arrays[2] = (query_array){NULL, normal, 0, 0, NULL};
  TRY(upload_coefficients(b->context, &smoothing, &c.coefficients));
  return run_queries(&c, count, points_chunk);
}
