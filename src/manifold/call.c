#include "manifold/call.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include "manifold/caller_arrays.h"
#include "manifold/self_test.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab070104u
/* Contacts of a chunk are counted in int. */
#define CHUNK_CONTACTS ((size_t)1 << 30)
#define CHUNK_POSES 65535 /* work-groups along a second dimension that every driver takes */
/* Poses of a chunk whose arrays begin where any device can address a part of the caller's. */
#define ALIGNED_POSES 128

abut_batch abut_default_batch(void)
{
  abut_batch b;
  memset(&b, 0, sizeof b);
  b.cookie = COOKIE;
  return b;
}

static bool wants_reductions(const abut_reductions *r)
{
  return r->mean_distance || r->activity || r->energy || r->minimum_distance || r->soft_minimum;
}

static wanted wanted_of(const abut_batch *b)
{
  const abut_compact *c = b->compact;
  wanted w = {.reduced = wants_reductions(&b->reductions), .compact = c != NULL};
  w.arrays |= b->p || (c && c->p) ? WANT_P : 0;
  w.arrays |= b->d || (c && c->d) || w.reduced ? WANT_D : 0;
  w.arrays |= b->n || (c && c->n) ? WANT_N : 0;
  w.arrays |= b->activity || c || w.reduced ? WANT_ACTIVITY : 0;
  return w;
}

static abut_status check_batch(const abut_batch *b)
{
  if (!b || b->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "make batches by abut_default_batch");
  }
  if (b->poses != ABUT_POSE_TWIST && b->poses != ABUT_POSE_QUATERNION) {
    return fail(ABUT_ERROR_ARGUMENT, "there is no pose kind %d", (int)b->poses);
  }
  if (b->memory != ABUT_MEMORY_HOST && b->memory != ABUT_MEMORY_OPENCL) {
    return fail(ABUT_ERROR_ARGUMENT, "there is no memory %d", (int)b->memory);
  }
  if (b->count && (!b->pose1 || !b->pose2)) {
    return fail(ABUT_ERROR_ARGUMENT, "%zu poses are counted but not given", b->count);
  }
  if (b->count > UINT32_MAX && b->compact) {
    return fail(ABUT_ERROR_ARGUMENT, "a compact list counts poses in 32 bits; split the batch");
  }
  return ABUT_SUCCESS;
}

/* ---- a chunk: up ---- */

static abut_status make_room(call_on *on, size_t poses)
{
  if (poses <= on->room) {
    return ABUT_SUCCESS;
  }
  free(on->status);
  free(on->values);
  free(on->zeros);
  on->status = NULL;
  on->values = NULL;
  on->zeros = NULL;
  on->room = 0;
  void *memory = NULL;
  TRY(allocate(&memory, poses, sizeof(int)));
  on->status = memory;
  TRY(allocate(&memory, poses, REDUCED_REALS * sizeof(double)));
  on->values = memory;
  TRY(allocate(&memory, poses, (size_t)on->call->runs[0].pose_width * sizeof(double)));
  on->zeros = memory;
  on->room = poses;
  return ABUT_SUCCESS;
}

/* Tangents that the caller has not given are zero. */
static abut_status put_tangents(const call_on *on, run *r, int side, chunk c)
{
  const void *along = on->call->along[side];
  const scratch_id id = OF_SIDE(SCRATCH_TANGENT_1, side);
  const size_t width = (size_t)r->pose_width;
  return along ? put_rows(r, id, along, c, width)
               : buffer_write(r->scratch[id], 0, c.count * width * on->call->real_bytes, on->zeros);
}

static abut_status put_poses(const call_on *on, run *r, chunk c)
{
  const abut_batch *b = on->call->batch;
  TRY(put_rows(r, SCRATCH_POSE_1, b->pose1, c, (size_t)r->pose_width));
  TRY(put_rows(r, SCRATCH_POSE_2, b->pose2, c, (size_t)r->pose_width));
  for (int i = 0; r->program == PROGRAM_DUAL && i < 2; ++i) {
    TRY(put_tangents(on, r, i, c));
  }
  return ABUT_SUCCESS;
}

static abut_status upload_chunk(worker *w, size_t slot, chunk c)
{
  call_on *on = w->user;
  const call *all = on->call;
  TRY(make_room(on, c.count));
  for (int i = 0; i < all->run_count; ++i) {
    run *r = &on->runs[slot][i];
    unbind(r);
    if (i == 0) {
      TRY(bind_outputs(all, r, c));
    }
    TRY(prepare_scratch(r, c.count));
    TRY(put_poses(on, r, c));
  }
  return all->upload ? all->upload(on, slot, c) : ABUT_SUCCESS;
}

/* ---- kernels ---- */

/* The forward pass of the first run, with its reductions and compact list. */
static abut_status launch_chunk(worker *w, size_t slot, chunk c)
{
  call_on *on = w->user;
  const run *values = values_on(on, slot);
  const abut_compact *list = on->call->batch->compact;
  TRY(run_forward(values, c.count));
  if (values->wanted.reduced) {
    TRY(run_reductions(values, c.count));
  }
  if (values->wanted.compact) {
    const size_t most = c.count * values->pair->layout.contacts;
    const size_t capacity = list->capacity < most ? list->capacity : most;
    TRY(run_compact(values, c.count, list->threshold, capacity));
  }
  return on->call->launch ? on->call->launch(on, slot, c) : ABUT_SUCCESS;
}

/* ---- down ---- */

static abut_status fetch_arrays(const run *r, const abut_batch *b, chunk c)
{
  const size_t contacts = r->pair->layout.contacts;
  TRY(get_rows(r, SCRATCH_P, 0, b->p, c, 3 * contacts));
  TRY(get_rows(r, SCRATCH_D, 0, b->d, c, contacts));
  TRY(get_rows(r, SCRATCH_N, 0, b->n, c, 3 * contacts));
  return get_rows(r, SCRATCH_ACTIVITY, 0, b->activity, c, contacts);
}

static abut_status fetch_status(call_on *on, const run *r, chunk c, size_t *rejected)
{
  TRY(buffer_read(r->scratch[SCRATCH_STATUS], 0, c.count * sizeof(int), on->status));
  uint8_t *to = on->call->batch->status;
  for (size_t i = 0; i < c.count; ++i) {
    *rejected += on->status[i] != ABUT_POSE_OK;
    if (to) {
      to[c.first + i] = (uint8_t)on->status[i];
    }
  }
  return ABUT_SUCCESS;
}

static abut_status fetch_reductions(call_on *on, const run *r, chunk c)
{
  const abut_reductions *to_ = &on->call->batch->reductions;
  const size_t size = on->call->real_bytes;
  if (!r->wanted.reduced) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(r->scratch[SCRATCH_REDUCED], 0, c.count * REDUCED_REALS * size, on->values));
  void *const to[REDUCED_REALS] = {to_->mean_distance, to_->activity, to_->energy,
                                   to_->minimum_distance, to_->soft_minimum};
  const char *from = (const char *)on->values;
  for (size_t k = 0; k < REDUCED_REALS; ++k) {
    for (size_t i = 0; to[k] && i < c.count; ++i) {
      memcpy(bytes_behind(to[k], (c.first + i) * size), from + (i * REDUCED_REALS + k) * size,
             size);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status fetch_compact(call_on *on, const run *r, chunk c)
{
  const compact_list *list = on->call->list;
  int found = 0;
  if (!list) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(r->scratch[SCRATCH_OFFSETS], c.count * sizeof(int), sizeof found, &found));
  piece_free(on->piece);
  TRY(piece_create(list, c.first, c.count, (size_t)found, &on->piece));
  const size_t entries = on->piece->entries;
  TRY(buffer_read(r->scratch[SCRATCH_LIST], 0, entries * COMPACT_INTS * sizeof(int),
                  on->piece->ints));
  return buffer_read(r->scratch[SCRATCH_VALUES], 0, entries * COMPACT_REALS * list->real_bytes,
                     on->piece->reals);
}

/* Copies within OpenCL memory are waited for too. */
static abut_status end_copies(const worker *w, const call *c)
{
  double ended;
  if (c->batch->memory == ABUT_MEMORY_HOST) {
    return ABUT_SUCCESS;
  }
  TRY(device_submit(w->device));
  return device_wait(w->device, &ended);
}

/* What adds to the batch comes last: a chunk that fails on the way is done again elsewhere. */
static abut_status collect_chunk(worker *w, size_t slot, chunk c)
{
  call_on *on = w->user;
  const call *all = on->call;
  const run *values = values_on(on, slot);
  size_t rejected = 0;
  TRY(fetch_arrays(values, all->batch, c));
  TRY(fetch_status(on, values, c, &rejected));
  TRY(fetch_reductions(on, values, c));
  TRY(fetch_compact(on, values, c));
  on->computed = 0.0;
  if (all->collect) {
    TRY(all->collect(on, slot, c));
  }
  w->computed = on->computed;
  TRY(end_copies(w, all));
  pthread_mutex_lock(all->lock);
  all->batch->rejected += rejected;
  if (all->list) {
    compact_list_add(all->list, on->piece);
    on->piece = NULL;
  }
  pthread_mutex_unlock(all->lock);
  return ABUT_SUCCESS;
}

/* ---- a device ---- */

/* Kernels count the blocks of a pose in int. */
static abut_status check_parts(const run *r)
{
  const size_t most = (size_t)INT_MAX / 4, lanes = device_lanes(r->device);
  for (int side = 0; side < 2 && r->wanted.cotangents && !gated(r); ++side) {
    const resident_body *b = r->bodies[side];
    const size_t vertices = r->pair->selected_vertices[side] ? r->pair->layout.vertices[side] : 0;
    const size_t edges = r->pair->selected_edges[side] ? r->pair->layout.edges[side] : 0;
    if (vertices * (b->vertex_padded / lanes) > most || edges * (b->edge_padded / lanes) > most) {
      return fail(ABUT_ERROR_TOO_LARGE, "SoftSort's derivatives of %zu vertices and %zu edges kept "
                  "of body %d are too many: keep fewer", vertices, edges, side + 1);
    }
  }
  return ABUT_SUCCESS;
}

/* A run in a slot of a member. */
static abut_status place_run(run *r, const call *c, int which, size_t place, size_t slot)
{
  *r = c->runs[which];
  r->device = c->context->members[place].device;
  TRY(pair_on(r->pair, place, &r->on));
  r->scratch = r->on->scratch[slot][r->program];
  for (int i = 0; i < 2; ++i) {
    body *b = body_get(r->pair->bodies[i]);
    if (!b) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_on(b, place, &r->bodies[i]));
  }
  TRY(check_parts(r));
  return check_scratch(r);
}

/* Bytes a pose of all runs in a slot. */
static void bytes_of(const call_on *on, size_t bytes[2 * SCRATCH_BUFFERS])
{
  memset(bytes, 0, 2 * SCRATCH_BUFFERS * sizeof *bytes);
  for (int i = 0; i < on->call->run_count; ++i) {
    scratch_bytes(&on->runs[0][i], bytes + i * SCRATCH_BUFFERS);
  }
}

/* Slots share the budget, where there is more than one chunk. */
static abut_status size_chunks(const call_on *on, worker *w)
{
  const abut_device_info *info = device_info(w->device);
  const size_t contacts = on->call->runs[0].pair->layout.contacts;
  uint64_t budget = on->call->context->def.scratch_bytes;
  budget = budget ? budget : device_scratch_bytes(w->device);
  size_t bytes[2 * SCRATCH_BUFFERS];
  bytes_of(on, bytes);
  TRY(size_chunk(bytes, 2 * SCRATCH_BUFFERS, budget, info->allocation_bytes, &w->most));
  if (w->most < w->job->total) {
    TRY(size_chunk(bytes, 2 * SCRATCH_BUFFERS, budget / device_slots(w->device),
                   info->allocation_bytes, &w->most));
  }
  size_t most = CHUNK_CONTACTS / (contacts + 1);
  most = most < CHUNK_POSES ? most : CHUNK_POSES;
  w->most = w->most < most ? w->most : most;
  return ABUT_SUCCESS;
}

/* Each program that the call needs has answered a known question before. */
static abut_status test_programs(const worker *w)
{
  const call *c = w->job->user;
  for (int i = 0; i < c->run_count; ++i) {
    const run *r = &c->runs[i];
    TRY(test_member(c->context, w->member, r->program, false));
    if (r->wanted.cotangents) {
      TRY(test_member(c->context, w->member, r->program, true));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status open_worker(worker *w)
{
  const call *c = w->job->user;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(call_on)));
  call_on *on = memory;
  w->user = on;
  on->call = c;
  TRY(test_programs(w));
  for (int i = 0; i < c->run_count; ++i) {
    for (size_t slot = 0; slot < device_slots(w->device); ++slot) {
      TRY(place_run(&on->runs[slot][i], c, i, w->member, slot));
    }
  }
  return size_chunks(on, w);
}

static void let_go_of_slot(worker *w, size_t slot)
{
  call_on *on = w->user;
  for (int i = 0; i < on->call->run_count; ++i) {
    unbind(&on->runs[slot][i]);
    free_scratch(on->runs[slot][i].on, slot);
  }
}

static void close_worker(worker *w)
{
  call_on *on = w->user;
  if (!on) {
    return;
  }
  for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
    unbind(&on->runs[slot][0]);
    unbind(&on->runs[slot][1]);
  }
  free(on->status);
  free(on->values);
  free(on->zeros);
  piece_free(on->piece);
  free(on);
}

/* ---- the whole call ---- */

run *values_run(call *c)
{
  return &c->runs[0];
}

run *derivatives_run(call *c)
{
  return &c->runs[c->run_count - 1];
}

run *values_on(call_on *on, size_t slot)
{
  return &on->runs[slot][0];
}

run *derivatives_on(call_on *on, size_t slot)
{
  return &on->runs[slot][on->call->run_count - 1];
}

static abut_status run_of(run *r, abut_pair handle_, program_id program, const abut_batch *b)
{
  pair *p = pair_get(handle_);
  if (!p || !body_get(p->bodies[0]) || !body_get(p->bodies[1])) {
    return ABUT_ERROR_HANDLE;
  }
  *r = (run){.pair = p, .program = program, .memory = b->memory,
             .pose_width = b->poses == ABUT_POSE_TWIST ? 6 : 7};
  return ABUT_SUCCESS;
}

abut_status call_start(call *c, abut_pair handle_, abut_batch *batch)
{
  memset(c, 0, sizeof *c);
  if (!pair_get(handle_)) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check_batch(batch));
  TRY(run_of(&c->runs[0], handle_, PROGRAM_PLAIN, batch));
  c->runs[0].wanted = wanted_of(batch);
  c->run_count = 1;
  c->batch = batch;
  c->context = c->runs[0].pair->context;
  c->real_bytes = context_real_bytes(c->context);
  return check_arrays(c);
}

/* Slots that mean the same: as many, and on both sides in mesh order or in the order of rank. */
static bool same_slots(const pair *a, const pair *b)
{
  const abut_layout *k = &a->layout, *l = &b->layout;
  return !memcmp(k->vertices, l->vertices, sizeof k->vertices) &&
         !memcmp(k->edges, l->edges, sizeof k->edges) &&
         !memcmp(a->selected_vertices, b->selected_vertices, sizeof a->selected_vertices) &&
         !memcmp(a->selected_edges, b->selected_edges, sizeof a->selected_edges);
}

static bool same_body(abut_body a, abut_body b)
{
  return a.index == b.index && a.generation == b.generation;
}

abut_status call_add_run(call *c, abut_pair handle_, program_id program)
{
  run *r = &c->runs[1];
  const pair *values = c->runs[0].pair;
  TRY(run_of(r, handle_, program, c->batch));
  if (!same_body(r->pair->bodies[0], values->bodies[0]) ||
      !same_body(r->pair->bodies[1], values->bodies[1])) {
    return fail(ABUT_ERROR_ARGUMENT, "the pair for derivatives is of other bodies");
  }
  if (!same_slots(r->pair, values)) {
    return fail(ABUT_ERROR_ARGUMENT, "the pair for derivatives keeps %zu contacts a pose in "
                "another layout than the pair for values, %zu: both must keep as many vertices and "
                "edges, either all in mesh order (0) or so many by rank",
                r->pair->layout.contacts, values->layout.contacts);
  }
  c->run_count = 2;
  return ABUT_SUCCESS;
}

static size_t failures(const context *c)
{
  size_t count = 0;
  for (size_t i = 0; i < MEMBERS; ++i) {
    count += c->members[i].status != ABUT_SUCCESS;
  }
  return count;
}

static abut_status schedule_call(call *c)
{
  const run *last = &c->runs[c->run_count - 1];
  const int program = PROGRAM_OF(last->program, last->wanted.cotangents);
  job j = {.context = c->context,
           .steps = {open_worker, upload_chunk, launch_chunk, collect_chunk, let_go_of_slot,
                     close_worker},
           .user = c,
           .total = c->batch->count,
           .bound = c->context->def.chunk,
           .multiple = c->batch->memory == ABUT_MEMORY_OPENCL ? ALIGNED_POSES : 0,
           .rates = last->pair->rates[last->wanted.blocks ? PROGRAM_COUNT : program],
           .progress = c->batch->progress,
           .progress_user = c->batch->user};
  const size_t before = failures(c->context);
  const abut_status status = schedule(&j);
  c->batch->failures = failures(c->context) - before;
  return status;
}

abut_status call_finish(call *c)
{
  abut_batch *batch = c->batch;
  abut_compact *out = batch->compact;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  compact_list list = {.out = out, .real_bytes = c->real_bytes};
  if (c->list) { /* where a Jacobian's blocks go */
    list.blocks = c->list->blocks;
    list.block_bytes = c->list->block_bytes;
  }
  c->lock = &lock;
  c->list = out ? &list : NULL;
  batch->rejected = 0;
  batch->failures = 0;
  if (out) {
    out->count = 0;
  }
  abut_status status = schedule_call(c);
  if (status == ABUT_SUCCESS && out && out->count > out->capacity) {
    status = fail(ABUT_ERROR_OVERFLOW, "%zu contacts are active; the compact list has room for %zu",
                  out->count, out->capacity);
  }
  compact_list_free(&list);
  return status;
}

abut_status abut_contacts(abut_pair handle_, abut_batch *batch)
{
  call c;
  TRY(call_start(&c, handle_, batch));
  return call_finish(&c);
}
