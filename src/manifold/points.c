/* Batched calls that need no pair: a body's field, and witness points alone. */
#include "base/error.h"
#include "base/memory.h"
#include "manifold/queries.h"
#include "manifold/smoothing.h"
#include <abut/derivatives.h>
#include <stdlib.h>
#include <string.h>

/* All kernels of witness points take their arrays in order: two inputs, count and stride, the
 * coefficients, the others. */
static abut_status edges_chunk(size_t first, size_t count, query_call *c)
{
  query_array *a = c->arrays;
  const size_t lanes = device_lanes(c->device), blocks = (count + lanes - 1) / lanes;
  TRY(upload_arrays(c, first, count));
  if (c->kernel == KERNEL_WITNESS_EDGES) {
    TRY(LAUNCH_IN(c->device, c->program, c->kernel, blocks, 1, ARG_BUFFER(a[0].memory),
                  ARG_BUFFER(a[1].memory), ARG_INT(count), ARG_INT(count),
                  ARG_BUFFER(c->coefficients), ARG_BUFFER(a[2].memory), ARG_BUFFER(a[3].memory),
                  ARG_BUFFER(a[4].memory)));
  } else {
    TRY(LAUNCH(c->device, c->kernel, blocks, 1, ARG_BUFFER(a[0].memory), ARG_BUFFER(a[1].memory),
               ARG_INT(count), ARG_INT(count), ARG_BUFFER(c->coefficients),
               ARG_BUFFER(a[2].memory), ARG_BUFFER(a[3].memory), ARG_BUFFER(a[4].memory),
               ARG_BUFFER(a[5].memory), ARG_BUFFER(a[6].memory)));
  }
  return download_arrays(c, first, count);
}

/* Checks and sets up a call on edges: the first two arrays. */
static abut_status start_edges(query_call *c, abut_context handle_,
                               const abut_smoothing *smoothing, size_t count, const void *edges1,
                               const void *edges2)
{
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!smoothing || (count && (!edges1 || !edges2))) {
    return fail(ABUT_ERROR_ARGUMENT, "witness points of edges need smoothing and edges");
  }
  TRY(check_smoothing(smoothing));
  const size_t size = context_real_bytes(owner);
  *c = (query_call){.context = owner, .smoothing = smoothing, .kernel = KERNEL_WITNESS_EDGES,
                    .count = 5};
  c->arrays[0] = (query_array){.in = edges1, .width = 6, .size = size};
  c->arrays[1] = (query_array){.in = edges2, .width = 6, .size = size};
  c->arrays[2] = (query_array){.width = 3, .size = size};
  c->arrays[3] = (query_array){.width = 3, .size = size};
  c->arrays[4] = (query_array){.width = 1, .size = size};
  return ABUT_SUCCESS;
}

abut_status abut_witness_edges(abut_context handle_, const abut_smoothing *smoothing, size_t count,
                               const void *edges1, const void *edges2, void *points1,
                               void *points2, void *interior)
{
  query_call c;
  TRY(start_edges(&c, handle_, smoothing, count, edges1, edges2));
  c.arrays[2].out = points1;
  c.arrays[3].out = points2;
  c.arrays[4].out = interior;
  return run_queries(&c, count, edges_chunk);
}

abut_status abut_witness_edges_jvp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *edges1, const void *edges2,
                                   const void *edges1_tangent, const void *edges2_tangent,
                                   void *points1_tangent, void *points2_tangent,
                                   void *interior_tangent)
{
  query_call c;
  TRY(start_edges(&c, handle_, smoothing, count, edges1, edges2));
  c.program = PROGRAM_DUAL;
  c.arrays[0].tangent_in = edges1_tangent;
  c.arrays[1].tangent_in = edges2_tangent;
  c.arrays[2].tangent_out = points1_tangent;
  c.arrays[3].tangent_out = points2_tangent;
  c.arrays[4].tangent_out = interior_tangent;
  return run_queries(&c, count, edges_chunk);
}

/* An input that is not given is zero: the chunk's zeros go up in its place. */
static void cotangent_in(query_array *a, const void *given)
{
  a->in = given;
  a->absent = !given;
}

abut_status abut_witness_edges_vjp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *edges1, const void *edges2,
                                   const void *points1_bar, const void *points2_bar,
                                   const void *interior_bar, void *edges1_bar, void *edges2_bar)
{
  query_call c;
  TRY(start_edges(&c, handle_, smoothing, count, edges1, edges2));
  c.kernel = KERNEL_WITNESS_EDGES_ADJOINT;
  c.count = 7;
  cotangent_in(&c.arrays[2], points1_bar);
  cotangent_in(&c.arrays[3], points2_bar);
  cotangent_in(&c.arrays[4], interior_bar);
  c.arrays[5] = (query_array){.out = edges1_bar, .width = 6, .size = c.arrays[0].size};
  c.arrays[6] = (query_array){.out = edges2_bar, .width = 6, .size = c.arrays[0].size};
  return run_queries(&c, count, edges_chunk);
}

/* What abut_witness_faces adds to a query call: the count of statuses other than 0. */
typedef struct faces_call {
  query_call query;
  uint8_t *status; /* the caller's, or our own where only the count is asked for; or NULL */
  size_t rejected;
} faces_call;

static abut_status faces_chunk(size_t first, size_t count, query_call *c)
{
  faces_call *f = (faces_call *)c; /* its query call comes first */
  query_array *a = c->arrays;
  const size_t lanes = device_lanes(c->device), blocks = (count + lanes - 1) / lanes;
  TRY(upload_arrays(c, first, count));
  buffer *statuses = a[c->count - 1].memory; /* there only now where it is borrowed */
  if (c->kernel == KERNEL_WITNESS_FACES) {
    TRY(LAUNCH_IN(c->device, c->program, c->kernel, blocks, 1, ARG_BUFFER(a[0].memory),
                  ARG_BUFFER(a[1].memory), ARG_INT(count), ARG_INT(count),
                  ARG_BUFFER(c->coefficients), ARG_BUFFER(a[2].memory), ARG_BUFFER(statuses)));
  } else {
    TRY(LAUNCH(c->device, c->kernel, blocks, 1, ARG_BUFFER(a[0].memory), ARG_BUFFER(a[1].memory),
               ARG_INT(count), ARG_INT(count), ARG_BUFFER(c->coefficients),
               ARG_BUFFER(a[2].memory), ARG_BUFFER(a[3].memory), ARG_BUFFER(a[4].memory),
               ARG_BUFFER(statuses)));
  }
  TRY(download_arrays(c, first, count));
  for (size_t i = 0; f->status && i < count; ++i) {
    f->rejected += f->status[first + i];
  }
  return ABUT_SUCCESS;
}

/* Checks and sets up a call on faces: points, triangles and what is projected; the statuses come
 * last, once the caller has added its own arrays. */
static abut_status start_faces(faces_call *f, abut_context handle_,
                               const abut_smoothing *smoothing, size_t count, const void *points,
                               const void *triangles, uint8_t *statuses)
{
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!smoothing || (count && (!points || !triangles))) {
    return fail(ABUT_ERROR_ARGUMENT, "projections onto faces need smoothing, points and "
                "triangles");
  }
  TRY(check_smoothing(smoothing));
  const size_t size = context_real_bytes(owner);
  *f = (faces_call){.query = {.context = owner, .smoothing = smoothing,
                              .kernel = KERNEL_WITNESS_FACES, .count = 3}, .status = statuses};
  f->query.arrays[0] = (query_array){.in = points, .width = 3, .size = size};
  f->query.arrays[1] = (query_array){.in = triangles, .width = 9, .size = size};
  f->query.arrays[2] = (query_array){.width = 3, .size = size};
  return ABUT_SUCCESS;
}

static size_t count_lost(const context *c)
{
  size_t lost = 0;
  for (size_t i = 0; i < MEMBERS && c->members[i].device; ++i) {
    lost += device_lost(c->members[i].device);
  }
  return lost;
}

/* Statuses of our own are left behind where a device that has not ended may still write them. */
static abut_status run_faces(faces_call *f, size_t count, size_t *rejected)
{
  query_call *c = &f->query;
  const size_t lost = count_lost(c->context);
  void *memory = NULL;
  if (rejected && !f->status) {
    TRY(allocate(&memory, count, sizeof *f->status));
    f->status = memory;
  }
  c->arrays[c->count++] =
    (query_array){.out = f->status, .width = 1, .size = sizeof *f->status};
  const abut_status status = run_queries(c, count, faces_chunk);
  if (status == ABUT_SUCCESS && rejected) {
    *rejected = f->rejected;
  }
  if (count_lost(c->context) == lost) {
    free(memory);
  }
  return status;
}

abut_status abut_witness_faces(abut_context handle_, const abut_smoothing *smoothing, size_t count,
                               const void *points, const void *triangles, void *projected,
                               uint8_t *statuses, size_t *rejected)
{
  faces_call f;
  if (count && !projected) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_witness_faces needs room for what it projects");
  }
  TRY(start_faces(&f, handle_, smoothing, count, points, triangles, statuses));
  f.query.arrays[2].out = projected;
  return run_faces(&f, count, rejected);
}

abut_status abut_witness_faces_jvp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *points, const void *triangles,
                                   const void *points_tangent, const void *triangles_tangent,
                                   void *projected_tangent, uint8_t *statuses, size_t *rejected)
{
  faces_call f;
  TRY(start_faces(&f, handle_, smoothing, count, points, triangles, statuses));
  f.query.program = PROGRAM_DUAL;
  f.query.arrays[0].tangent_in = points_tangent;
  f.query.arrays[1].tangent_in = triangles_tangent;
  f.query.arrays[2].tangent_out = projected_tangent;
  return run_faces(&f, count, rejected);
}

abut_status abut_witness_faces_vjp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *points, const void *triangles,
                                   const void *projected_bar, void *points_bar,
                                   void *triangles_bar, uint8_t *statuses, size_t *rejected)
{
  faces_call f;
  TRY(start_faces(&f, handle_, smoothing, count, points, triangles, statuses));
  const size_t size = f.query.arrays[0].size;
  f.query.kernel = KERNEL_WITNESS_FACES_ADJOINT;
  f.query.count = 5;
  cotangent_in(&f.query.arrays[2], projected_bar);
  f.query.arrays[3] = (query_array){.out = points_bar, .width = 3, .size = size};
  f.query.arrays[4] = (query_array){.out = triangles_bar, .width = 9, .size = size};
  return run_faces(&f, count, rejected);
}

/* Points (count, 3) as planes of whole blocks, the last point repeated. */
static abut_status points_chunk(size_t first, size_t count, query_call *c)
{
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
  body *b = body_get(handle_);
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
  const size_t size = context_real_bytes(b->context);
  query_call c = {.context = b->context, .of = b, .smoothing = &smoothing, .count = 3};
  c.kernel = normal ? KERNEL_FIELD : KERNEL_FIELD_DISTANCE;
  c.arrays[0] = (query_array){.in = points, .width = 3, .size = size};
  c.arrays[1] = (query_array){.out = distance, .width = 4, .size = size};
  c.arrays[2] = (query_array){.out = normal};
  return run_queries(&c, count, points_chunk);
}
