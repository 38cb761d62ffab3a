#include "engine/batch/batch_on.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/batch/arrays.h"
#include <stdlib.h>
#include <string.h>

/* Runs a step of an operation: first that of its base, then its own. */
#define TRY_EACH(o, step, ...)                                                       \
  do {                                                                               \
    TRY((o)->base && (o)->base->step ? (o)->base->step(__VA_ARGS__) : ABUT_SUCCESS); \
    TRY((o)->step ? (o)->step(__VA_ARGS__) : ABUT_SUCCESS);                          \
  } while (0)

/* Runs a step of an operation or base that cannot fail; does nothing for NULL. */
#define CALL(o, step, ...)    \
  do {                        \
    if ((o) && (o)->step) {   \
      (o)->step(__VA_ARGS__); \
    }                         \
  } while (0)

/* At least so many chunks if a chunk then copies more than so many bytes of the caller's arrays. */
#define OVERLAP_CHUNKS 4
#define OVERLAP_BYTES ((size_t)16 << 20)

/* ---- a device ---- */

/* Finds the largest number of elements in a chunk that fits into `budget` bytes, with no buffer
 * above `allocation`. bytes: bytes per element of each buffer. Fails if a single element does not
 * fit. */
static abut_status size_chunk(const size_t *bytes, size_t buffers, uint64_t budget,
                              uint64_t allocation, size_t *most)
{
  uint64_t sum = 0, largest = 1;
  for (size_t i = 0; i < buffers; ++i) {
    sum += bytes[i];
    largest = bytes[i] > largest ? bytes[i] : largest;
  }
  uint64_t fits = budget / (sum ? sum : 1);
  if (allocation / largest == 0) {
    return fail(ABUT_ERROR_TOO_LARGE,
                "one pose needs a buffer of %llu bytes, but the device allows at most %llu",
                (unsigned long long)largest, (unsigned long long)allocation);
  }
  fits = fits ? fits : 1; /* one element may exceed the budget, but not the device */
  fits = allocation / largest < fits ? allocation / largest : fits;
  *most = (size_t)fits;
  return ABUT_SUCCESS;
}

/* Finds the largest number of elements in a chunk. Slots share the budget if there is more than one
 * chunk. Borrowed memory does not count. */
static abut_status size_chunks(const batch_on *on, size_t *most)
{
  enum { BUFFERS = BUFFER_POOLS * POOL_BUFFERS };
  const uint64_t allocation = device_info(on->device)->allocation_bytes;
  const size_t *bytes = &on->bytes[0][0];
  uint64_t budget = on->call->context->def.scratch_bytes;
  budget = budget ? budget : device_scratch_bytes(on->device, on->call->operation->module);
  const uint64_t fixed = on->fixed * device_slots(on->device);
  budget = on->borrows ? UINT64_MAX : budget > fixed ? budget - fixed : 0;
  TRY(size_chunk(bytes, BUFFERS, budget, allocation, most));
  if (*most < on->call->count && !on->borrows) {
    TRY(size_chunk(bytes, BUFFERS, budget / device_slots(on->device), allocation, most));
  }
  *most -= *most > on->granule ? *most % on->granule : 0;
  *most = *most < on->most ? *most : on->most;
  return ABUT_SUCCESS;
}

/* On a GPU a chunk's copies take as long as its kernels where rows are long. They overlap with the
 * kernels of other chunks only, so that there must be several. */
static void split_copies(const batch_on *on, size_t elements, size_t *most)
{
  const size_t share = (elements + OVERLAP_CHUNKS - 1) / OVERLAP_CHUNKS, granule = on->granule;
  const size_t whole = (share + granule - 1) / granule * granule, each = arrays_copied(on, 0);
  if (device_info(on->device)->type == ABUT_DEVICE_GPU && device_slots(on->device) > 1 && each &&
      share > OVERLAP_BYTES / each) {
    *most = *most < whole ? *most : whole;
  }
}

static void set_buffer_pools(batch_on *on, buffer_pools *all)
{
  for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
    for (size_t i = 0; i < BUFFER_POOLS; ++i) {
      on->memory[slot][i].pool = &all->of[slot][i];
    }
  }
}

/* Sets on->bytes and what `enter` sets for a chunk of a group in the slot. */
static abut_status enter(batch_on *on, size_t slot, size_t group)
{
  const operation *o = on->call->operation;
  if (o->enter || (o->base && o->base->enter)) {
    memset(on->bytes, 0, sizeof on->bytes);
    memset(on->rows, 0, sizeof on->rows);
    on->fixed = 0;
    TRY_EACH(o, enter, on, slot, group);
  }
  arrays_bytes(on, slot);
  return ABUT_SUCCESS;
}

static abut_status size_groups(batch_on *on)
{
  void *memory = NULL;
  TRY(allocate(&memory, on->call->group_count, sizeof *on->mosts));
  on->mosts = memory;
  for (size_t i = 0; i < on->call->group_count; ++i) {
    TRY(enter(on, 0, i));
    TRY(size_chunks(on, &on->mosts[i]));
    const size_t begin = i ? on->call->groups[i - 1].end : 0;
    split_copies(on, on->call->groups[i].end - begin, &on->mosts[i]);
  }
  return ABUT_SUCCESS;
}

abut_status batch_on_open(batch_call *c, size_t place, batch_on **out)
{
  void *memory = NULL;
  buffer_pools *all = NULL;
  TRY(allocate(&memory, 1, sizeof(batch_on)));
  batch_on *on = memory;
  *out = on;
  on->call = c;
  on->device = c->context->members[place].device;
  on->place = place;
  on->granule = 1;
  on->most = c->count;
  TRY_EACH(c->operation, test, c, place);
  TRY(context_buffer_pools(c->context, place, &all));
  set_buffer_pools(on, all);
  on->borrows = arrays_can_borrow(on);
  TRY_EACH(c->operation, place, on);
  return size_groups(on);
}

void batch_on_let_go(batch_on *on, size_t slot)
{
  arrays_unbind(on, slot);
  buffer_pools_empty(on->call->context->members[on->place].pools, slot);
}

void batch_on_close(batch_on *on)
{
  if (!on) {
    return;
  }
  for (size_t slot = 0; slot < DEVICE_SLOTS; ++slot) {
    arrays_unbind(on, slot);
  }
  CALL(on->call->operation, leave, on);
  CALL(on->call->operation->base, leave, on);
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

abut_status batch_on_upload(batch_on *on, size_t slot, chunk c)
{
  arrays_unbind(on, slot);
  TRY(enter(on, slot, c.group));
  TRY(arrays_bind(on, slot, c));
  TRY(prepare_buffer_pools(on, slot, c.count));
  TRY(arrays_up(on, slot, c));
  TRY_EACH(on->call->operation, upload, on, slot, c);
  return ABUT_SUCCESS;
}

abut_status batch_on_launch(batch_on *on, size_t slot, chunk c)
{
  TRY_EACH(on->call->operation, launch, on, slot, c);
  TRY_EACH(on->call->operation, ahead, on, slot, c);
  TRY(arrays_ahead(on, slot, c));
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

/* `add` and the staged outputs must be last. If a chunk fails before, it is repeated elsewhere, so
 * nothing of it may have reached the results. */
abut_status batch_on_collect(batch_on *on, size_t slot, chunk c)
{
  on->computed = 0.0;
  TRY(arrays_down(on, slot, c));
  TRY_EACH(on->call->operation, collect, on, slot, c);
  TRY(end_copies(on));
  arrays_hand_over(on, slot, c);
  pthread_mutex_lock(&on->call->lock);
  CALL(on->call->operation->base, add, on, c);
  CALL(on->call->operation, add, on, c);
  pthread_mutex_unlock(&on->call->lock);
  return ABUT_SUCCESS;
}

void batch_again(batch_call *c)
{
  CALL(c->operation->base, again, c);
  CALL(c->operation, again, c);
}
