#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include "manifold/forward.h"
#include "schedule/chunks.h"
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

/* A call in progress. */
typedef struct call {
  forward_run run;
  abut_batch *batch;
  size_t real_bytes;
  int *status;    /* (chunk) */
  double *values; /* room for what is scattered: reductions, compact list */
  int *list;
  size_t list_capacity;
} call;

static bool wants_reductions(const abut_reductions *r)
{
  return r->mean_distance || r->activity || r->energy || r->minimum_distance || r->soft_minimum;
}

static wanted wanted_of(const abut_batch *b)
{
  const abut_compact *c = b->compact;
  wanted w = {0, wants_reductions(&b->reductions), c != NULL};
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

/* Reads `count` elements of `size` bytes into the caller's array from element `first` on, if it
 * is there. */
static abut_status fetch(const call *c, scratch_id id, void *array, size_t first, size_t count,
                         size_t size)
{
  if (!array) {
    return ABUT_SUCCESS;
  }
  return buffer_read(c->run.pair->scratch[id], 0, count * size, at(array, first * size));
}

static abut_status fetch_arrays(const call *c, size_t first, size_t count)
{
  const abut_batch *b = c->batch;
  const size_t row = c->run.pair->layout.contacts * c->real_bytes;
  TRY(fetch(c, SCRATCH_P, b->p, first, count, 3 * row));
  TRY(fetch(c, SCRATCH_D, b->d, first, count, row));
  TRY(fetch(c, SCRATCH_N, b->n, first, count, 3 * row));
  return fetch(c, SCRATCH_ACTIVITY, b->activity, first, count, row);
}

static abut_status fetch_status(call *c, size_t first, size_t count)
{
  TRY(buffer_read(c->run.pair->scratch[SCRATCH_STATUS], 0, count * sizeof(int), c->status));
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
  if (!c->run.wanted.reduced) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(c->run.pair->scratch[SCRATCH_REDUCED], 0, count * REDUCED_REALS * c->real_bytes,
                  c->values));
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
  buffer **scratch = c->run.pair->scratch;
  int found = 0;
  TRY(buffer_read(scratch[SCRATCH_OFFSETS], poses * sizeof(int), sizeof found, &found));
  const size_t base = out->count < out->capacity ? out->count : out->capacity;
  const size_t room = out->capacity - base;
  const size_t count = (size_t)found < room ? (size_t)found : room;
  out->count += (size_t)found;
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

static abut_status run_chunk(size_t first, size_t count, void *user)
{
  call *c = user;
  const abut_batch *b = c->batch;
  const size_t row = (size_t)c->run.pose_width * c->real_bytes;
  buffer **scratch = c->run.pair->scratch;
  const void *pose1 = (const char *)b->pose1 + first * row;
  const void *pose2 = (const char *)b->pose2 + first * row;
  ++device_counters(c->run.device)->chunks;
  TRY(buffer_write(scratch[SCRATCH_POSE_1], 0, count * row, pose1));
  TRY(buffer_write(scratch[SCRATCH_POSE_2], 0, count * row, pose2));
  const size_t most = count * c->run.pair->layout.contacts;
  const size_t capacity = b->compact && b->compact->capacity < most ? b->compact->capacity : most;
  TRY(forward_chunk(&c->run, count, b->compact ? b->compact->threshold : 0.0, capacity));
  TRY(fetch_arrays(c, first, count));
  TRY(fetch_status(c, first, count));
  TRY(fetch_reductions(c, first, count));
  return fetch_compact(c, first, count);
}

static abut_status chunk_of(const call *c, size_t *chunk)
{
  const context *owner = c->run.pair->context;
  const abut_device_info *info = device_info(c->run.device);
  uint64_t budget = owner->def.scratch_bytes;
  if (!budget) {
    budget = info->type == ABUT_DEVICE_GPU ? SCRATCH_GPU : SCRATCH_CPU;
  }
  size_t bytes[SCRATCH_BUFFERS];
  scratch_bytes(&c->run, bytes);
  TRY(size_chunk(bytes, SCRATCH_BUFFERS, budget, info->allocation_bytes, owner->def.chunk, chunk));
  size_t most = CHUNK_CONTACTS / (c->run.pair->layout.contacts + 1);
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
  TRY(prepare_scratch(&c->run, *chunk));
  void *memory = NULL;
  TRY(allocate(&memory, *chunk, sizeof(int)));
  c->status = memory;
  return grow_list(c, *chunk); /* of either kind; the reductions' rows are shorter */
}

abut_status abut_contacts(abut_pair handle_, abut_batch *batch)
{
  pair *p = pair_get(handle_);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check_batch(batch));
  const body *body1 = body_get(p->bodies[0]);
  const body *body2 = body1 ? body_get(p->bodies[1]) : NULL;
  if (!body2) {
    return ABUT_ERROR_HANDLE;
  }
  call c = {{p, {body1, body2}, p->context->device, wanted_of(batch),
             batch->poses == ABUT_POSE_TWIST ? 6 : 7},
            batch, device_real_bytes(p->context->device), NULL, NULL, NULL, 0};
  size_t chunk = 0;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(prepare_call(&c, &chunk));
  TRY_DONE(run_chunks(batch->count, chunk, run_chunk, &c, batch->progress, batch->user));
  const abut_compact *list = batch->compact;
  if (list && list->count > list->capacity) {
    status = fail(ABUT_ERROR_OVERFLOW, "%zu contacts are active; the compact list has room for %zu",
                  list->count, list->capacity);
  }
done:
  free(c.status);
  free(c.values);
  free(c.list);
  return status;
}
