/* Computes witness points without pairs, on edges and on faces. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "query/query.h"
#include <abut/derivatives.h>
#include <stdlib.h>

/* The variants of a query, which differ in time: values, tangents, and adjoints. */
enum { PLAIN, ALONG, BACK, WAYS };
#define EDGES 0
#define FACES WAYS

_Static_assert(2 * WAYS <= QUERY_LCP, "a context keeps rates of all of them");

static size_t blocks_of(const batch_on *on, size_t count)
{
  const size_t lanes = device_lanes(on->device);
  return (count + lanes - 1) / lanes;
}

static void set_kind(query_call *q, int way, int of)
{
  q->program = way == ALONG ? PROGRAM_DUAL : PROGRAM_PLAIN;
  q->base.rates = q->base.context->query_rates[of + way];
  q->adjoint = way == BACK;
}

/* ---- edges ---- */

/* The buffers of the forward kernel, followed by those of its adjoint. The adjoint reads cotangents
 * from the forward kernel's output buffers. */
enum { EDGES_1, EDGES_2, POINTS_1, POINTS_2, INTERIOR, EDGES_1_BAR, EDGES_2_BAR };

static abut_status launch_edges(batch_on *on, size_t slot, chunk c)
{
  const query_call *q = (const query_call *)on->call;
  const query_on *at = on->user;
  const size_t blocks = blocks_of(on, c.count);
  if (!q->adjoint) {
    return LAUNCH_IN(on->device, q->program, KERNEL_WITNESS_EDGES, blocks, 1, AT(on, slot, EDGES_1),
                     AT(on, slot, EDGES_2), ARG_INT(c.count), ARG_INT(c.count),
                     ARG_BUFFER(at->coefficients), AT(on, slot, POINTS_1), AT(on, slot, POINTS_2),
                     AT(on, slot, INTERIOR));
  }
  return LAUNCH(on->device, KERNEL_WITNESS_EDGES_ADJOINT, blocks, 1, AT(on, slot, EDGES_1),
                AT(on, slot, EDGES_2), ARG_INT(c.count), ARG_INT(c.count),
                ARG_BUFFER(at->coefficients), AT(on, slot, POINTS_1), AT(on, slot, POINTS_2),
                AT(on, slot, INTERIOR), AT(on, slot, EDGES_1_BAR), AT(on, slot, EDGES_2_BAR));
}

static const operation edges_operation = {.base = &query_operation,
                                          .module = MODULE_WITNESS,
                                          .launch = launch_edges};

/* Checks and sets up a call on edges. */
static abut_status start_edges(query_call *q, abut_context handle_, const abut_smoothing *smoothing,
                               int way, size_t count, const void *edges1, const void *edges2)
{
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!smoothing || (count && (!edges1 || !edges2))) {
    return fail(ABUT_ERROR_ARGUMENT,
                "witness points of edges: the smoothing or the edges are NULL");
  }
  TRY(query_start(q, owner, &edges_operation, count, smoothing));
  set_kind(q, way, EDGES);
  return ABUT_SUCCESS;
}

abut_status abut_witness_edges(abut_context handle_, const abut_smoothing *smoothing, size_t count,
                               const void *edges1, const void *edges2, void *points1, void *points2,
                               void *interior)
{
  ENTER(context_pool, handle_);
  query_call q;
  TRY(start_edges(&q, handle_, smoothing, PLAIN, count, edges1, edges2));
  query_input(&q, "edges1", EDGES_1, 6, edges1, NULL);
  query_input(&q, "edges2", EDGES_2, 6, edges2, NULL);
  query_output(&q, "points1", POINTS_1, 3, points1);
  query_output(&q, "points2", POINTS_2, 3, points2);
  query_output(&q, "interior", INTERIOR, 1, interior);
  return batch_run(&q.base);
}

abut_status abut_witness_edges_jvp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *edges1, const void *edges2,
                                   const void *edges1_tangent, const void *edges2_tangent,
                                   void *points1_tangent, void *points2_tangent,
                                   void *interior_tangent)
{
  ENTER(context_pool, handle_);
  query_call q;
  TRY(start_edges(&q, handle_, smoothing, ALONG, count, edges1, edges2));
  query_input(&q, "edges1", EDGES_1, 6, edges1, edges1_tangent);
  query_input(&q, "edges2", EDGES_2, 6, edges2, edges2_tangent);
  query_output(&q, "the tangent of points1", POINTS_1, 3, points1_tangent);
  query_output(&q, "the tangent of points2", POINTS_2, 3, points2_tangent);
  query_output(&q, "the tangent of interior", INTERIOR, 1, interior_tangent);
  return batch_run(&q.base);
}

abut_status abut_witness_edges_vjp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *edges1, const void *edges2,
                                   const void *points1_bar, const void *points2_bar,
                                   const void *interior_bar, void *edges1_bar, void *edges2_bar)
{
  ENTER(context_pool, handle_);
  query_call q;
  TRY(start_edges(&q, handle_, smoothing, BACK, count, edges1, edges2));
  query_input(&q, "edges1", EDGES_1, 6, edges1, NULL);
  query_input(&q, "edges2", EDGES_2, 6, edges2, NULL);
  query_input(&q, "the cotangent of points1", POINTS_1, 3, points1_bar, NULL);
  query_input(&q, "the cotangent of points2", POINTS_2, 3, points2_bar, NULL);
  query_input(&q, "the cotangent of interior", INTERIOR, 1, interior_bar, NULL);
  query_output(&q, "the cotangent of edges1", EDGES_1_BAR, 6, edges1_bar);
  query_output(&q, "the cotangent of edges2", EDGES_2_BAR, 6, edges2_bar);
  return batch_run(&q.base);
}

/* ---- faces ---- */

enum { POINTS, TRIANGLES, PROJECTED, POINTS_BAR, TRIANGLES_BAR, STATUSES };

/* A query call on faces also counts statuses other than 0. */
typedef struct faces_call {
  query_call query;
  uint8_t *status; /* the caller's array; our own if only the count is wanted; or NULL */
  size_t rejected;
} faces_call;

static abut_status launch_faces(batch_on *on, size_t slot, chunk c)
{
  const query_call *q = (const query_call *)on->call;
  const query_on *at = on->user;
  const size_t blocks = blocks_of(on, c.count);
  if (!q->adjoint) {
    return LAUNCH_IN(on->device, q->program, KERNEL_WITNESS_FACES, blocks, 1, AT(on, slot, POINTS),
                     AT(on, slot, TRIANGLES), ARG_INT(c.count), ARG_INT(c.count),
                     ARG_BUFFER(at->coefficients), AT(on, slot, PROJECTED), AT(on, slot, STATUSES));
  }
  return LAUNCH(on->device, KERNEL_WITNESS_FACES_ADJOINT, blocks, 1, AT(on, slot, POINTS),
                AT(on, slot, TRIANGLES), ARG_INT(c.count), ARG_INT(c.count),
                ARG_BUFFER(at->coefficients), AT(on, slot, PROJECTED), AT(on, slot, POINTS_BAR),
                AT(on, slot, TRIANGLES_BAR), AT(on, slot, STATUSES));
}

static void count_rejected(batch_on *on, chunk c)
{
  faces_call *f = (faces_call *)on->call; /* its query call is the first member */
  for (size_t i = 0; f->status && i < c.count; ++i) {
    f->rejected += f->status[c.first + i];
  }
}

static const operation faces_operation = {.base = &query_operation,
                                          .module = MODULE_WITNESS,
                                          .launch = launch_faces,
                                          .add = count_rejected};

/* Checks and sets up a call on faces. */
static abut_status start_faces(faces_call *f, abut_context handle_, const abut_smoothing *smoothing,
                               int way, size_t count, const void *points, const void *triangles,
                               uint8_t *statuses)
{
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!smoothing || (count && (!points || !triangles))) {
    return fail(ABUT_ERROR_ARGUMENT,
                "projections onto faces: the smoothing, the points or the triangles are NULL");
  }
  *f = (faces_call){.status = statuses};
  TRY(query_start(&f->query, owner, &faces_operation, count, smoothing));
  set_kind(&f->query, way, FACES);
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

/* Runs a call on faces. Our own statuses are leaked if a device was lost during the call, because
 * it may still write to them. */
static abut_status run_faces(faces_call *f, size_t *rejected)
{
  batch_call *c = &f->query.base;
  const size_t lost = count_lost(c->context);
  void *memory = NULL;
  if (rejected && !f->status) {
    TRY(allocate(&memory, c->count, sizeof *f->status));
    f->status = memory;
  }
  batch_add(c, (batch_array){.name = "status",
                             .out = f->status,
                             .width = 1,
                             .size = sizeof *f->status,
                             .buffer = STATUSES,
                             .in_place = f->query.program == PROGRAM_PLAIN});
  const abut_status status = batch_run(c);
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
  ENTER(context_pool, handle_);
  faces_call f;
  if (count && !projected) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_witness_faces: the output array is NULL");
  }
  TRY(start_faces(&f, handle_, smoothing, PLAIN, count, points, triangles, statuses));
  query_input(&f.query, "points", POINTS, 3, points, NULL);
  query_input(&f.query, "triangles", TRIANGLES, 9, triangles, NULL);
  query_output(&f.query, "projected", PROJECTED, 3, projected);
  return run_faces(&f, rejected);
}

abut_status abut_witness_faces_jvp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *points, const void *triangles,
                                   const void *points_tangent, const void *triangles_tangent,
                                   void *projected_tangent, uint8_t *statuses, size_t *rejected)
{
  ENTER(context_pool, handle_);
  faces_call f;
  TRY(start_faces(&f, handle_, smoothing, ALONG, count, points, triangles, statuses));
  query_input(&f.query, "points", POINTS, 3, points, points_tangent);
  query_input(&f.query, "triangles", TRIANGLES, 9, triangles, triangles_tangent);
  query_output(&f.query, "the tangent of projected", PROJECTED, 3, projected_tangent);
  return run_faces(&f, rejected);
}

abut_status abut_witness_faces_vjp(abut_context handle_, const abut_smoothing *smoothing,
                                   size_t count, const void *points, const void *triangles,
                                   const void *projected_bar, void *points_bar, void *triangles_bar,
                                   uint8_t *statuses, size_t *rejected)
{
  ENTER(context_pool, handle_);
  faces_call f;
  TRY(start_faces(&f, handle_, smoothing, BACK, count, points, triangles, statuses));
  query_input(&f.query, "points", POINTS, 3, points, NULL);
  query_input(&f.query, "triangles", TRIANGLES, 9, triangles, NULL);
  query_input(&f.query, "the cotangent of projected", PROJECTED, 3, projected_bar, NULL);
  query_output(&f.query, "the cotangent of points", POINTS_BAR, 3, points_bar);
  query_output(&f.query, "the cotangent of triangles", TRIANGLES_BAR, 9, triangles_bar);
  return run_faces(&f, rejected);
}
