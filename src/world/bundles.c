/* Bundles: waves whose manifolds have room beside each other, so that one launch of a kernel does
 * for all of them. */
#include "base/error.h"
#include "contact/active.h"
#include "world/waves.h"
#include <stdlib.h>
#include <string.h>

#define VIEW_ALIGNMENT 256 /* at which a wave's part of a buffer begins [bytes] */

struct wave_memory {
  chunk_memory memory;
  buffer_pool views; /* parts of the buffers of the slot's pool */
};

static size_t aligned(size_t bytes)
{
  return (bytes + VIEW_ALIGNMENT - 1) / VIEW_ALIGNMENT * VIEW_ALIGNMENT;
}

/* Sets what a wave takes of each buffer, and returns the sum. Given contacts have no manifold. */
static abut_status bytes_of_wave(const stepping *s, size_t i, size_t bytes[SCRATCH_BUFFERS],
                                 size_t *sum)
{
  const wave_rows *w = &items_of(s)->waves[i];
  run r;
  *sum = 0;
  memset(bytes, 0, SCRATCH_BUFFERS * sizeof *bytes);
  if (s->call->worlds->contacts) {
    return ABUT_SUCCESS;
  }
  TRY(run_sizes(s->call, s->kind, w->kind, s->on, s->slot, &r));
  bytes_of_run(s->call, &r, bytes);
  for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
    bytes[k] = aligned(bytes[k] * padded(w->count, device_lanes(s->device)));
    *sum += bytes[k];
  }
  return ABUT_SUCCESS;
}

static abut_status add_bundle(slot_items *own, size_t wave)
{
  void *memory = own->bundles;
  TRY(grow(&memory, &own->bundle_room, own->bundle_count + 1, sizeof *own->bundles));
  own->bundles = memory;
  own->bundles[own->bundle_count++] = (wave_bundle){.first = wave, .item = own->waves[wave].first};
  return ABUT_SUCCESS;
}

/* Makes bundles of as many waves as memory has room for, and finds the most that a bundle takes of
 * each buffer. */
static abut_status fill_bundles(const stepping *s, bool merges, size_t most[SCRATCH_BUFFERS])
{
  const uint64_t room = wave_bytes(s->on) / device_slots(s->device);
  slot_items *own = items_of(s);
  size_t taken[SCRATCH_BUFFERS], all = 0;
  own->bundle_count = 0;
  memset(most, 0, SCRATCH_BUFFERS * sizeof *most);
  for (size_t i = 0; i < own->wave_count; ++i) {
    size_t bytes[SCRATCH_BUFFERS] = {0}, sum = 0;
    TRY(merges ? bytes_of_wave(s, i, bytes, &sum) : ABUT_SUCCESS);
    if (!i || !merges || sum > room || all > room - sum) {
      TRY(add_bundle(own, i));
      memset(taken, 0, sizeof taken);
      all = 0;
    }
    wave_bundle *b = &own->bundles[own->bundle_count - 1];
    ++b->count;
    b->items += own->waves[i].count;
    all += sum;
    for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
      taken[k] += bytes[k];
      most[k] = b->count > 1 && taken[k] > most[k] ? taken[k] : most[k];
    }
  }
  return ABUT_SUCCESS;
}

/* Makes room for them. *shared: whether kernels find all of it by addresses. */
static abut_status prepare_bundles(const stepping *s, const size_t most[SCRATCH_BUFFERS],
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

static abut_status make_memory(slot_items *own, size_t wave)
{
  void *memory = own->memories;
  TRY(grow(&memory, &own->memory_room, wave + 1, sizeof *own->memories));
  own->memories = memory;
  while (own->memory_count <= wave) {
    TRY(allocate(&memory, 1, sizeof(wave_memory)));
    wave_memory *m = memory;
    m->memory.pool = &m->views;
    own->memories[own->memory_count++] = m;
  }
  return ABUT_SUCCESS;
}

/* Gives each wave of a bundle its part of the buffers. */
static abut_status share_out(const stepping *s, const wave_bundle *b)
{
  const buffer_pool *all = s->on->memory[s->slot][0].pool;
  slot_items *own = items_of(s);
  size_t at[SCRATCH_BUFFERS] = {0};
  for (size_t i = b->first; i < b->first + b->count; ++i) {
    size_t bytes[SCRATCH_BUFFERS], sum;
    TRY(bytes_of_wave(s, i, bytes, &sum));
    TRY(make_memory(own, i));
    wave_memory *m = own->memories[i];
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

abut_status list_bundles(const stepping *s)
{
  const slot_items *own = items_of(s);
  size_t most[SCRATCH_BUFFERS];
  bool shared = device_merges(s->device);
  TRY(fill_bundles(s, shared, most));
  if (shared) {
    const abut_status prepared = prepare_bundles(s, most, &shared);
    shared = shared && prepared == ABUT_SUCCESS;
    /* wave by wave there may be enough */
    TRY(prepared == ABUT_ERROR_MEMORY ? ABUT_SUCCESS : prepared);
    TRY(shared ? ABUT_SUCCESS : fill_bundles(s, false, most));
  }
  for (size_t i = 0; !s->call->worlds->contacts && i < own->bundle_count; ++i) {
    TRY(own->bundles[i].count > 1 ? share_out(s, &own->bundles[i]) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

item_wave bundle_items(const stepping *s, size_t i)
{
  const wave_bundle *b = &items_of(s)->bundles[i];
  return (item_wave){.index = i, .rows = {.first = b->item, .count = b->items}};
}

static abut_status open_wave(const stepping *s, const wave_bundle *b, size_t i, item_wave *w)
{
  const slot_items *own = items_of(s);
  TRY(keep_pace(s));
  *w = (item_wave){.index = i, .rows = own->waves[i]};
  if (s->call->worlds->contacts) {
    return ABUT_SUCCESS;
  }
  TRY(run_of(s->call, s->kind, w->rows.kind, s->on, s->slot, &w->run));
  w->run.memory = b->count > 1 ? &own->memories[i]->memory : w->run.memory;
  return ABUT_SUCCESS;
}

static abut_status work_on(const stepping *s, const wave_bundle *b, size_t i, wave_work work,
                           const void *user)
{
  item_wave w;
  TRY(device_track(s->device));
  TRY(open_wave(s, b, i, &w));
  return work(s, &w, user);
}

abut_status each_wave(const stepping *s, size_t i, wave_work work, const void *user)
{
  const wave_bundle *b = &items_of(s)->bundles[i];
  abut_status status = ABUT_SUCCESS;
  TRY(b->count > 1 ? device_record(s->device) : ABUT_SUCCESS);
  for (size_t k = b->first; k < b->first + b->count && status == ABUT_SUCCESS; ++k) {
    status = work_on(s, b, k, work, user);
  }
  return device_play(s->device, status);
}

void bundles_free(slot_items *own)
{
  for (size_t i = 0; i < own->memory_count; ++i) {
    for (size_t k = 0; k < SCRATCH_BUFFERS; ++k) {
      buffer_view_free(own->memories[i]->views.buffers[k]);
    }
    free(own->memories[i]);
  }
  free(own->memories);
  free(own->bundles);
}
