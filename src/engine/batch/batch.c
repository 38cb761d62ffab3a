#include "engine/batch/batch.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/batch/arrays.h"
#include "engine/batch/owning_devices.h"
#include <stdlib.h>
#include <string.h>

void batch_add(batch_call *c, batch_array a)
{
  if (c->array_count < BATCH_ARRAYS) {
    c->arrays[c->array_count] = a;
  }
  ++c->array_count;
}

/* ---- a device ---- */

/* Finds the most elements of a chunk. Slots share the budget where there is more than one chunk.
 * Memory that is borrowed takes none of it. */
static abut_status size_chunks(const batch_on *on, const worker *w, size_t *most)
{
  enum { BUFFERS = BUFFER_POOLS * POOL_BUFFERS };
  const uint64_t allocation = device_info(w->device)->allocation_bytes;
  const size_t *bytes = &on->bytes[0][0];
  uint64_t budget = on->call->context->def.scratch_bytes;
  budget = budget ? budget : device_scratch_bytes(w->device, on->call->operation->module);
  const uint64_t fixed = on->fixed * device_slots(w->device);
  budget = on->borrows ? UINT64_MAX : budget > fixed ? budget - fixed : 0;
  TRY(size_chunk(bytes, BUFFERS, budget, allocation, most));
  if (*most < w->job->total && !on->borrows) {
    TRY(size_chunk(bytes, BUFFERS, budget / device_slots(w->device), allocation, most));
  }
  *most -= *most > on->granule ? *most % on->granule : 0;
  *most = *most < on->most ? *most : on->most;
  return ABUT_SUCCESS;
}

static void take_buffer_pools(batch_on *on, buffer_pools *all)
{
  for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
    for (size_t i = 0; i < BUFFER_POOLS; ++i) {
      on->memory[slot][i].pool = &all->of[slot][i];
    }
  }
}

/* Sets on->bytes, and what `enter` sets, up for a chunk of a group in the slot. */
static abut_status enter(batch_on *on, size_t slot, size_t group)
{
  const operation *o = on->call->operation;
  if (o->enter) {
    memset(on->bytes, 0, sizeof on->bytes);
    memset(on->rows, 0, sizeof on->rows);
    on->fixed = 0;
    TRY(o->enter(on, slot, group));
  }
  arrays_bytes(on, slot);
  return ABUT_SUCCESS;
}

static abut_status size_groups(batch_on *on, worker *w)
{
  void *memory = NULL;
  TRY(allocate(&memory, w->job->group_count, sizeof *on->mosts));
  w->most = on->mosts = memory;
  for (size_t i = 0; i < w->job->group_count; ++i) {
    TRY(enter(on, 0, i));
    TRY(size_chunks(on, w, &w->most[i]));
  }
  return ABUT_SUCCESS;
}

static abut_status open_worker(worker *w)
{
  batch_call *c = w->job->user;
  void *memory = NULL;
  buffer_pools *all = NULL;
  TRY(allocate(&memory, 1, sizeof(batch_on)));
  batch_on *on = memory;
  w->user = on;
  on->call = c;
  on->device = w->device;
  on->place = w->member;
  on->granule = 1;
  on->most = c->count;
  TRY(c->operation->test(c, w->member));
  TRY(context_buffer_pools(c->context, w->member, &all));
  take_buffer_pools(on, all);
  on->borrows = arrays_can_borrow(on);
  w->in_place = on->borrows;
  TRY(c->operation->place(on));
  return size_groups(on, w);
}

static void let_go_of_slot(worker *w, size_t slot)
{
  arrays_unbind(w->user, slot);
  buffer_pools_empty(w->job->context->members[w->member].pools, slot);
}

static void close_worker(worker *w)
{
  batch_on *on = w->user;
  if (!on) {
    return;
  }
  for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
    arrays_unbind(on, slot);
  }
  if (on->call->operation->leave) {
    on->call->operation->leave(on);
  }
  free(on->zeros.at);
  free(on->planes.at);
  free(on->gathered.at);
  free(on->staged.at);
  free(on->mosts);
  free(on);
}

/* ---- a chunk ---- */

static abut_status prepare_buffer_pools(const batch_on *on, size_t slot, size_t count)
{
  const size_t room = (count + on->granule - 1) / on->granule * on->granule;
  for (size_t i = 0; i < BUFFER_POOLS; ++i) {
    const chunk_memory *m = &on->memory[slot][i];
    for (size_t k = 0; k < POOL_BUFFERS; ++k) {
      if (!m->external[k]) {
        const size_t rows = on->rows[i][k] ? count : room;
        TRY(buffer_pool_prepare(m->pool, on->device, k, on->bytes[i][k] * rows));
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status upload_chunk(worker *w, size_t slot, chunk c)
{
  batch_on *on = w->user;
  const operation *o = on->call->operation;
  arrays_unbind(on, slot);
  TRY(enter(on, slot, c.group));
  TRY(arrays_bind(on, slot, c));
  TRY(prepare_buffer_pools(on, slot, c.count));
  TRY(arrays_up(on, slot, c));
  return o->upload ? o->upload(on, slot, c) : ABUT_SUCCESS;
}

static abut_status launch_chunk(worker *w, size_t slot, chunk c)
{
  batch_on *on = w->user;
  TRY(on->call->operation->launch(on, slot, c));
  return arrays_sync(on, slot);
}

/* Waits for copies into the caller's OpenCL memory, which are launched like kernels. */
static abut_status end_copies(const batch_on *on)
{
  double ended;
  bool any = false;
  for (size_t i = 0; i < on->call->array_count; ++i) {
    any = any || on->call->arrays[i].memory == ABUT_MEMORY_OPENCL;
  }
  if (!any) {
    return ABUT_SUCCESS;
  }
  TRY(device_submit(on->device));
  return device_wait(on->device, &ended);
}

/* `add` and what waits to be handed over come last: nothing of them may have happened when a chunk
 * fails on the way, for it is then done again elsewhere. */
static abut_status collect_chunk(worker *w, size_t slot, chunk c)
{
  batch_on *on = w->user;
  const operation *o = on->call->operation;
  on->computed = 0.0;
  TRY(arrays_down(on, slot, c));
  if (o->collect) {
    TRY(o->collect(on, slot, c));
  }
  w->computed = on->computed;
  TRY(end_copies(on));
  arrays_hand_over(on, slot, c);
  if (o->add) {
    pthread_mutex_lock(&on->call->lock);
    o->add(on, c);
    pthread_mutex_unlock(&on->call->lock);
  }
  return ABUT_SUCCESS;
}

/* ---- the whole call ---- */

static size_t count_failures(const context *c)
{
  size_t count = 0;
  for (size_t i = 0; i < MEMBERS; ++i) {
    count += c->members[i].status != ABUT_SUCCESS;
  }
  return count;
}

static abut_status share(batch_call *c)
{
  job_group whole = {.end = c->count, .rates = c->rates};
  job j = {.context = c->context,
           .steps = {open_worker, upload_chunk, launch_chunk, collect_chunk, let_go_of_slot,
                     close_worker},
           .user = c,
           .total = c->count,
           .bound = c->unbounded ? 0 : c->context->def.chunk,
           .multiple = c->multiple,
           .least = c->least,
           .groups = c->groups ? c->groups : &whole,
           .group_count = c->groups ? c->group_count : 1,
           .progress = c->progress,
           .progress_user = c->progress_user};
  const size_t before = count_failures(c->context);
  const abut_status status = c->state ? run_on_owning_devices(&j) : schedule(&j);
  c->failures = count_failures(c->context) - before;
  return status;
}

abut_status batch_run(batch_call *c)
{
  void *copies[BATCH_ARRAYS] = {NULL};
  c->failures = 0;
  if (c->array_count > BATCH_ARRAYS) {
    return fail(ABUT_ERROR_ARGUMENT, "a call has %zu arrays; %d are the most", c->array_count,
                BATCH_ARRAYS);
  }
  TRY(arrays_check(c));
  pthread_mutex_init(&c->lock, NULL);
  abut_status status = arrays_part(c, copies);
  status = status == ABUT_SUCCESS ? share(c) : status;
  arrays_forget(copies);
  pthread_mutex_destroy(&c->lock);
  return status;
}
