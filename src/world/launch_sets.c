/* Launch sets: pair batches that fit into memory together, so each kernel of the manifold is
 * launched once for all of them. */
#include "base/error.h"
#include "contact/active.h"
#include "world/pair_batches.h"
#include <stdlib.h>
#include <string.h>

#define VIEW_ALIGNMENT 256 /* alignment of a pair batch's part of a buffer [bytes] */

struct pair_batch_memory {
  chunk_memory memory;
  buffer_pool views; /* parts of the buffers of the slot's pool */
};

static size_t aligned(size_t bytes)
{
  return (bytes + VIEW_ALIGNMENT - 1) / VIEW_ALIGNMENT * VIEW_ALIGNMENT;
}

/* Sets the bytes of a pair batch in each buffer, and returns the sum. Given contacts have no
 * manifold. */
static abut_status bytes_of_pair_batch(const stepping *s, size_t i, size_t bytes[SCRATCH_BUFFERS],
                                       size_t *sum)
{
  const batch_rows *w = &slot_pairs_of(s)->pair_batches[i];
  run r;
  *sum = 0;
  memset(bytes, 0, SCRATCH_BUFFERS * sizeof *bytes);
  if (s->call->worlds->contacts) {
    return ABUT_SUCCESS;
  }
  TRY(run_sizes(s->call, s->type, w->type, s->on, s->slot, &r));
  bytes_of_run(s->call, &r, bytes);
  for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
    bytes[k] = aligned(bytes[k] * padded(w->count, device_lanes(s->device)));
    *sum += bytes[k];
  }
  return ABUT_SUCCESS;
}

static abut_status add_launch_set(slot_pairs *own, size_t batch)
{
  void *memory = own->launch_sets;
  TRY(grow(&memory, &own->launch_set_room, own->launch_set_count + 1, sizeof *own->launch_sets));
  own->launch_sets = memory;
  own->launch_sets[own->launch_set_count++] =
    (launch_set){.first = batch, .pair = own->pair_batches[batch].first};
  return ABUT_SUCCESS;
}

/* Puts as many pair batches into each launch set as memory allows, and finds the largest use of
 * each buffer by a launch set. */
static abut_status fill_launch_sets(const stepping *s, bool merges, size_t most[SCRATCH_BUFFERS])
{
  const uint64_t room = pair_batch_bytes(s->on) / device_slots(s->device);
  slot_pairs *own = slot_pairs_of(s);
  size_t taken[SCRATCH_BUFFERS], all = 0;
  own->launch_set_count = 0;
  memset(most, 0, SCRATCH_BUFFERS * sizeof *most);
  for (size_t i = 0; i < own->pair_batch_count; ++i) {
    size_t bytes[SCRATCH_BUFFERS] = {0}, sum = 0;
    TRY(merges ? bytes_of_pair_batch(s, i, bytes, &sum) : ABUT_SUCCESS);
    if (!i || !merges || sum > room || all > room - sum) {
      TRY(add_launch_set(own, i));
      memset(taken, 0, sizeof taken);
      all = 0;
    }
    launch_set *b = &own->launch_sets[own->launch_set_count - 1];
    ++b->count;
    b->pairs += own->pair_batches[i].count;
    all += sum;
    for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
      taken[k] += bytes[k];
      most[k] = b->count > 1 && taken[k] > most[k] ? taken[k] : most[k];
    }
  }
  return ABUT_SUCCESS;
}

/* Allocates their memory. *shared: whether kernels can address all of it. */
static abut_status prepare_launch_sets(const stepping *s, const size_t most[SCRATCH_BUFFERS],
                                       bool *shared)
{
  buffer_pool *all = s->on->memory[s->slot][0].pool;
  for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
    if (most[k] && (!all->buffers[k] || buffer_bytes(all->buffers[k]) < most[k])) {
      TRY(buffer_pool_prepare(all, s->device, k, most[k] + most[k] / 4));
    }
    *shared = *shared && (!most[k] || buffer_on_host(all->buffers[k]));
  }
  return ABUT_SUCCESS;
}

static abut_status make_memory(slot_pairs *own, size_t batch)
{
  void *memory = own->memories;
  TRY(grow(&memory, &own->memory_room, batch + 1, sizeof *own->memories));
  own->memories = memory;
  while (own->memory_count <= batch) {
    TRY(allocate(&memory, 1, sizeof(pair_batch_memory)));
    pair_batch_memory *m = memory;
    m->memory.pool = &m->views;
    own->memories[own->memory_count++] = m;
  }
  return ABUT_SUCCESS;
}

/* Assigns each pair batch of a launch set its part of the buffers. */
static abut_status share_out(const stepping *s, const launch_set *b)
{
  const buffer_pool *all = s->on->memory[s->slot][0].pool;
  slot_pairs *own = slot_pairs_of(s);
  size_t at[SCRATCH_BUFFERS] = {0};
  for (size_t i = b->first; i < b->first + b->count; ++i) {
    size_t bytes[SCRATCH_BUFFERS], sum;
    TRY(bytes_of_pair_batch(s, i, bytes, &sum));
    TRY(make_memory(own, i));
    pair_batch_memory *m = own->memories[i];
    for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
      buffer *of = all->buffers[k];
      TRY(of && buffer_on_host(of)
            ? buffer_view(of, bytes[k] ? at[k] : 0, bytes[k], &m->views.buffers[k])
            : ABUT_SUCCESS);
      at[k] += bytes[k];
    }
  }
  return ABUT_SUCCESS;
}

abut_status list_launch_sets(const stepping *s)
{
  const slot_pairs *own = slot_pairs_of(s);
  size_t most[SCRATCH_BUFFERS];
  bool shared = device_merges(s->device);
  TRY(fill_launch_sets(s, shared, most));
  if (shared) {
    const abut_status prepared = prepare_launch_sets(s, most, &shared);
    shared = shared && prepared == ABUT_SUCCESS;
    /* Single pair batches may still fit. */
    TRY(prepared == ABUT_ERROR_MEMORY ? ABUT_SUCCESS : prepared);
    TRY(shared ? ABUT_SUCCESS : fill_launch_sets(s, false, most));
  }
  for (size_t i = 0; !s->call->worlds->contacts && i < own->launch_set_count; ++i) {
    TRY(own->launch_sets[i].count > 1 ? share_out(s, &own->launch_sets[i]) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

pair_batch launch_set_pairs(const stepping *s, size_t i)
{
  const launch_set *b = &slot_pairs_of(s)->launch_sets[i];
  return (pair_batch){.index = i, .rows = {.first = b->pair, .count = b->pairs}};
}

static abut_status open_pair_batch(const stepping *s, const launch_set *b, size_t i, pair_batch *w)
{
  const slot_pairs *own = slot_pairs_of(s);
  TRY(keep_pace(s));
  *w = (pair_batch){.index = i, .rows = own->pair_batches[i]};
  if (s->call->worlds->contacts) {
    return ABUT_SUCCESS;
  }
  TRY(run_of(s->call, s->type, w->rows.type, s->on, s->slot, &w->run));
  w->run.memory = b->count > 1 ? &own->memories[i]->memory : w->run.memory;
  return ABUT_SUCCESS;
}

static abut_status work_on(const stepping *s, const launch_set *b, size_t i, pair_batch_work work,
                           const void *user)
{
  pair_batch w;
  TRY(device_track(s->device));
  TRY(open_pair_batch(s, b, i, &w));
  return work(s, &w, user);
}

abut_status each_pair_batch(const stepping *s, size_t i, pair_batch_work work, const void *user)
{
  const launch_set *b = &slot_pairs_of(s)->launch_sets[i];
  abut_status status = ABUT_SUCCESS;
  TRY(b->count > 1 ? device_record(s->device) : ABUT_SUCCESS);
  for (size_t k = b->first; k < b->first + b->count && status == ABUT_SUCCESS; ++k) {
    status = work_on(s, b, k, work, user);
  }
  return device_play(s->device, status);
}

void launch_sets_free(slot_pairs *own)
{
  for (size_t i = 0; i < own->memory_count; ++i) {
    for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
      buffer_view_free(own->memories[i]->views.buffers[k]);
    }
    free(own->memories[i]);
  }
  free(own->memories);
  free(own->launch_sets);
}
