#include "manifold/call.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include "schedule/chunks.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab070004u
/* Scratch of one chunk: small enough to stay in a CPU's last cache, large enough to fill a GPU. */
#define SCRATCH_CPU ((uint64_t)16 << 20)
#define SCRATCH_GPU ((uint64_t)512 << 20)
/* Contacts of a chunk are counted in int. */
#define CHUNK_CONTACTS ((size_t)1 << 30)
#define CHUNK_POSES 65535 /* work-groups along a second dimension that every driver takes */

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
  if (b->count && (!b->pose1 || !b->pose2)) {
    return fail(ABUT_ERROR_ARGUMENT, "%zu poses are counted but not given", b->count);
  }
  if (b->count > UINT32_MAX && b->compact) {
    return fail(ABUT_ERROR_ARGUMENT, "a compact list counts poses in 32 bits; split the batch");
  }
  return ABUT_SUCCESS;
}

static char *at(void *array, size_t bytes)
{
  return array ? (char *)array + bytes : NULL;
}

abut_status put_rows(const run *r, scratch_id id, const void *array, size_t first, size_t count,
                     size_t bytes)
{
  return buffer_write(r->pair->scratch[id], 0, count * bytes, (const char *)array + first * bytes);
}

abut_status get_rows(const run *r, scratch_id id, int part, void *array, size_t first,
                     size_t count, size_t width)
{
  const size_t row = width * device_real_bytes(r->device);
  buffer *from = r->pair->scratch[id];
  if (!array) {
    return ABUT_SUCCESS;
  }
  if (r->program == PROGRAM_PLAIN) {
    return buffer_read(from, 0, count * row, at(array, first * row));
  }
  return buffer_read_rows(from, (size_t)part * row, DUAL_PARTS * row, row, count,
                          at(array, first * row));
}

static abut_status fetch_arrays(call *c, size_t first, size_t count)
{
  const abut_batch *b = c->batch;
  const run *r = values_run(c);
  const size_t contacts = r->pair->layout.contacts;
  TRY(get_rows(r, SCRATCH_P, 0, b->p, first, count, 3 * contacts));
  TRY(get_rows(r, SCRATCH_D, 0, b->d, first, count, contacts));
  TRY(get_rows(r, SCRATCH_N, 0, b->n, first, count, 3 * contacts));
  return get_rows(r, SCRATCH_ACTIVITY, 0, b->activity, first, count, contacts);
}

static abut_status fetch_status(call *c, size_t first, size_t count)
{
  TRY(buffer_read(values_run(c)->pair->scratch[SCRATCH_STATUS], 0, count * sizeof(int), c->status));
  for (size_t i = 0; i < count; ++i) {
    c->batch->rejected += c->status[i] != ABUT_POSE_OK;
    if (c->batch->status) {
      c->batch->status[first + i] = (uint8_t)c->status[i];
    }
  }
  return ABUT_SUCCESS;
}

/* Column `column` of rows of `stride` reals in c->values into `to` from element `first` on. */
static void scatter(const call *c, void *to, size_t first, size_t count, size_t stride,
                    size_t column, size_t width)
{
  const char *from = (const char *)c->values;
  for (size_t i = 0; to && i < count; ++i) {
    memcpy(at(to, (first + i) * width * c->real_bytes),
           from + (i * stride + column) * c->real_bytes, width * c->real_bytes);
  }
}

static abut_status fetch_reductions(call *c, size_t first, size_t count)
{
  const abut_reductions *r = &c->batch->reductions;
  if (!values_run(c)->wanted.reduced) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(values_run(c)->pair->scratch[SCRATCH_REDUCED], 0,
                  count * REDUCED_REALS * c->real_bytes, c->values));
  void *const to[REDUCED_REALS] = {r->mean_distance, r->activity, r->energy, r->minimum_distance,
                                   r->soft_minimum};
  for (size_t i = 0; i < REDUCED_REALS; ++i) {
    scatter(c, to[i], first, count, REDUCED_REALS, i, 1);
  }
  return ABUT_SUCCESS;
}

/* Room for `count` entries of the compact list on the host. */
static abut_status grow_list(call *c, size_t count)
{
  if (count <= c->list_capacity) {
    return ABUT_SUCCESS;
  }
  free(c->list);
  free(c->values);
  c->list = NULL;
  c->values = NULL;
  c->list_capacity = 0;
  void *memory = NULL;
  TRY(allocate(&memory, count, COMPACT_INTS * sizeof(int)));
  c->list = memory;
  TRY(allocate(&memory, count, COMPACT_REALS * sizeof(double)));
  c->values = memory;
  c->list_capacity = count;
  return ABUT_SUCCESS;
}

static abut_status fetch_compact(call *c, size_t first, size_t poses)
{
  abut_compact *out = c->batch->compact;
  if (!out) {
    return ABUT_SUCCESS;
  }
  buffer **scratch = values_run(c)->pair->scratch;
  int found = 0;
  TRY(buffer_read(scratch[SCRATCH_OFFSETS], poses * sizeof(int), sizeof found, &found));
  const size_t base = out->count < out->capacity ? out->count : out->capacity;
  const size_t room = out->capacity - base;
  const size_t count = (size_t)found < room ? (size_t)found : room;
  out->count += (size_t)found;
  c->list_first = base;
  c->list_found = count;
  TRY(grow_list(c, count));
  TRY(buffer_read(scratch[SCRATCH_LIST], 0, count * COMPACT_INTS * sizeof(int), c->list));
  TRY(buffer_read(scratch[SCRATCH_VALUES], 0, count * COMPACT_REALS * c->real_bytes, c->values));
  for (size_t i = 0; i < count; ++i) {
    const int *entry = c->list + i * COMPACT_INTS;
    if (out->pose) {
      out->pose[base + i] = (uint32_t)(first + (size_t)entry[0]);
    }
    if (out->slot) {
      out->slot[base + i] = (uint32_t)entry[1];
    }
    if (out->feature) {
      out->feature[2 * (base + i)] = (uint32_t)entry[2];
      out->feature[2 * (base + i) + 1] = (uint32_t)entry[3];
    }
  }
  scatter(c, out->p, base, count, COMPACT_REALS, 0, 3);
  scatter(c, out->d, base, count, COMPACT_REALS, 3, 1);
  scatter(c, out->n, base, count, COMPACT_REALS, 4, 3);
  scatter(c, out->activity, base, count, COMPACT_REALS, 7, 1);
  return ABUT_SUCCESS;
}

/* The forward pass of the first run, with its reductions and compact list. */
static abut_status forward_values(call *c, size_t count)
{
  const run *values = values_run(c);
  const abut_compact *list = c->batch->compact;
  TRY(run_forward(values, count));
  if (values->wanted.reduced) {
    TRY(run_reductions(values, count));
  }
  if (values->wanted.compact) {
    const size_t most = count * values->pair->layout.contacts;
    const size_t capacity = list->capacity < most ? list->capacity : most;
    TRY(run_compact(values, count, list->threshold, capacity));
  }
  return ABUT_SUCCESS;
}

static abut_status put_poses(const call *c, const run *r, size_t first, size_t count)
{
  const size_t row = (size_t)r->pose_width * c->real_bytes;
  TRY(put_rows(r, SCRATCH_POSE_1, c->batch->pose1, first, count, row));
  TRY(put_rows(r, SCRATCH_POSE_2, c->batch->pose2, first, count, row));
  for (int i = 0; r->program == PROGRAM_DUAL && i < 2; ++i) {
    const void *tangent = c->along[i] ? c->along[i] : c->zeros;
    TRY(put_rows(r, OF_SIDE(SCRATCH_TANGENT_1, i), tangent, c->along[i] ? first : 0, count, row));
  }
  return ABUT_SUCCESS;
}

/* Values are read before a second run of the same pair takes their memory. */
static abut_status run_chunk(size_t first, size_t count, void *user)
{
  call *c = user;
  ++device_counters(c->runs[0].device)->chunks;
  for (int i = 0; i < c->run_count; ++i) {
    TRY(put_poses(c, &c->runs[i], first, count));
  }
  TRY(forward_values(c, count));
  TRY(fetch_arrays(c, first, count));
  TRY(fetch_status(c, first, count));
  TRY(fetch_reductions(c, first, count));
  TRY(fetch_compact(c, first, count));
  return c->chunk ? c->chunk(c, first, count) : ABUT_SUCCESS;
}

/* Bytes a pose of all runs: of one pair they share buffers. */
static void bytes_of(const call *c, size_t bytes[2 * SCRATCH_BUFFERS])
{
  scratch_bytes(&c->runs[0], bytes);
  memset(bytes + SCRATCH_BUFFERS, 0, SCRATCH_BUFFERS * sizeof *bytes);
  if (c->run_count < 2) {
    return;
  }
  scratch_bytes(&c->runs[1], bytes + SCRATCH_BUFFERS);
  for (int i = 0; c->runs[0].pair == c->runs[1].pair && i < SCRATCH_BUFFERS; ++i) {
    const size_t second = bytes[SCRATCH_BUFFERS + i];
    bytes[i] = second > bytes[i] ? second : bytes[i];
    bytes[SCRATCH_BUFFERS + i] = 0;
  }
}

/* Kernels count the numbers of a pose in int. */
static abut_status check_parts(const run *r)
{
  const size_t most = (size_t)INT_MAX / 4, lanes = device_lanes(r->device);
  for (int side = 0; side < 2 && r->wanted.cotangents && !gated(r); ++side) {
    const body *b = r->bodies[side];
    const size_t vertices = r->pair->selected_vertices[side] ? r->pair->layout.vertices[side] : 0;
    const size_t edges = r->pair->selected_edges[side] ? r->pair->layout.edges[side] : 0;
    if (vertices * (b->vertex_padded / lanes) > most || edges * (b->edge_padded / lanes) > most) {
      return fail(ABUT_ERROR_TOO_LARGE, "SoftSort's derivatives of %zu vertices and %zu edges kept "
                  "of body %d are too many: keep fewer", vertices, edges, side + 1);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status chunk_of(const call *c, size_t *chunk)
{
  for (int i = 0; i < c->run_count; ++i) {
    TRY(check_parts(&c->runs[i]));
  }
  const run *r = &c->runs[0];
  const context *owner = r->pair->context;
  const abut_device_info *info = device_info(r->device);
  uint64_t budget = owner->def.scratch_bytes;
  if (!budget) {
    budget = info->type == ABUT_DEVICE_GPU ? SCRATCH_GPU : SCRATCH_CPU;
  }
  size_t bytes[2 * SCRATCH_BUFFERS];
  bytes_of(c, bytes);
  TRY(size_chunk(bytes, 2 * SCRATCH_BUFFERS, budget, info->allocation_bytes, owner->def.chunk,
                 chunk));
  size_t most = CHUNK_CONTACTS / (r->pair->layout.contacts + 1);
  most = most < CHUNK_POSES ? most : CHUNK_POSES;
  *chunk = *chunk < most ? *chunk : most;
  *chunk = *chunk < c->batch->count ? *chunk : c->batch->count;
  return ABUT_SUCCESS;
}

static abut_status prepare_call(call *c, size_t *chunk)
{
  c->batch->rejected = 0;
  if (c->batch->compact) {
    c->batch->compact->count = 0;
  }
  TRY(chunk_of(c, chunk));
  for (int i = 0; i < c->run_count; ++i) {
    TRY(prepare_scratch(&c->runs[i], *chunk));
  }
  void *memory = NULL;
  TRY(allocate(&memory, *chunk, sizeof(int)));
  c->status = memory;
  TRY(allocate(&memory, *chunk, (size_t)c->runs[0].pose_width * c->real_bytes));
  c->zeros = memory;
  return grow_list(c, *chunk); /* of either kind; the reductions' rows are shorter */
}

run *values_run(call *c)
{
  return &c->runs[0];
}

run *derivatives_run(call *c)
{
  return &c->runs[c->run_count - 1];
}

static abut_status run_of(run *r, abut_pair handle_, program_id program, abut_pose_kind poses)
{
  pair *p = pair_get(handle_);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  const body *body1 = body_get(p->bodies[0]);
  const body *body2 = body1 ? body_get(p->bodies[1]) : NULL;
  if (!body2) {
    return ABUT_ERROR_HANDLE;
  }
  *r = (run){.pair = p, .bodies = {body1, body2}, .device = p->context->device,
             .program = program, .pose_width = poses == ABUT_POSE_TWIST ? 6 : 7};
  return ABUT_SUCCESS;
}

abut_status call_start(call *c, abut_pair handle_, abut_batch *batch)
{
  memset(c, 0, sizeof *c);
  if (!pair_get(handle_)) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check_batch(batch));
  TRY(run_of(&c->runs[0], handle_, PROGRAM_PLAIN, batch->poses));
  c->runs[0].wanted = wanted_of(batch);
  c->run_count = 1;
  c->batch = batch;
  c->real_bytes = device_real_bytes(c->runs[0].device);
  return ABUT_SUCCESS;
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

abut_status call_add_run(call *c, abut_pair handle_, program_id program)
{
  run *r = &c->runs[1];
  const pair *values = c->runs[0].pair;
  TRY(run_of(r, handle_, program, c->batch->poses));
  if (r->bodies[0] != c->runs[0].bodies[0] || r->bodies[1] != c->runs[0].bodies[1]) {
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

abut_status call_finish(call *c)
{
  size_t chunk = 0;
  abut_batch *batch = c->batch;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(prepare_call(c, &chunk));
  TRY_DONE(run_chunks(batch->count, chunk, run_chunk, c, batch->progress, batch->user));
  const abut_compact *list = batch->compact;
  if (list && list->count > list->capacity) {
    status = fail(ABUT_ERROR_OVERFLOW, "%zu contacts are active; the compact list has room for %zu",
                  list->count, list->capacity);
  }
done:
  free(c->status);
  free(c->zeros);
  free(c->values);
  free(c->list);
  return status;
}

abut_status abut_contacts(abut_pair handle_, abut_batch *batch)
{
  call c;
  TRY(call_start(&c, handle_, batch));
  return call_finish(&c);
}
