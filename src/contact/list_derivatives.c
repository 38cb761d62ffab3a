/* Derivatives of the entries of a list of contacts. If bounds can decide what is active, only what
 * the entries depend on is computed. Otherwise the whole manifold is computed, and the entries are
 * picked from it. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/reals.h"
#include "geometry/layout.h"
#include "contact/active.h"
#include "contact/call.h"
#include "contact/outputs.h"
#include <stdlib.h>
#include <string.h>

typedef struct list_call {
  const abut_compact *list;
  const abut_cotangents *cotangents; /* of a VJP; may be NULL for an empty list */
  const abut_tangents *tangents;     /* of a JVP; otherwise NULL */
} list_call;

static bool is_vjp(const list_call *l)
{
  return !l->tangents;
}

/* The range of a pose's entries in the list. */
typedef struct entry_range {
  size_t first, count;
} entry_range;

static size_t first_of_pose(const abut_compact *l, size_t pose)
{
  size_t low = 0, high = l->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (l->pose[middle] < pose) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Finds the entries of a chunk's i-th pose. In a batch of several pairs, its index in the caller's
 * arrays differs. */
static entry_range entries_of(const call_on *on, chunk c, size_t i)
{
  const abut_compact *l = ((const list_call *)on->call->user)->list;
  const size_t pose = batch_row(&on->call->base, c.first + i), first = first_of_pose(l, pose);
  return (entry_range){first, first_of_pose(l, pose + 1) - first};
}

static size_t count_entries(const call_on *on, chunk c)
{
  size_t count = 0;
  for (size_t i = 0; i < c.count; ++i) {
    count += entries_of(on, c, i).count;
  }
  return count;
}

static size_t contacts_of(const abut_batch *b, const run *r, size_t pose)
{
  const pair *p = is_mixed(b) ? pair_get(b->pairs[b->pair[pose]]) : r->pair;
  return p->layout.contacts;
}

static abut_status check_list(const abut_compact *l, const abut_batch *b, const run *r)
{
  if (l->count && (!l->pose || !l->slot)) {
    return fail(ABUT_ERROR_ARGUMENT, "derivatives of a list need the list's poses and slots");
  }
  for (size_t i = 0; i < l->count; ++i) {
    if (l->pose[i] >= b->count) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "entry %zu of the list names pose %u, but there are only %zu poses", i,
                  (unsigned)l->pose[i], b->count);
    }
    const size_t contacts = contacts_of(b, r, l->pose[i]);
    if (l->slot[i] >= contacts) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "entry %zu of the list names contact %u of pose %u, which has only %zu contacts",
                  i, (unsigned)l->slot[i], (unsigned)l->pose[i], contacts);
    }
    if (i && (l->pose[i] < l->pose[i - 1] ||
              (l->pose[i] == l->pose[i - 1] && l->slot[i] <= l->slot[i - 1]))) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "the list must be sorted by pose and then by slot; entry %zu is out of order", i);
    }
  }
  return ABUT_SUCCESS;
}

/* ---- upload ---- */

static abut_status put(const run *r, scratch_id id, size_t bytes, const void *from)
{
  TRY(buffer_pool_prepare(r->memory->pool, r->device, id, bytes ? bytes : 1));
  return buffer_write(run_buffer(r, id), 0, bytes, from);
}

static abut_status put_places(const call_on *on, const run *r, chunk c, size_t entries)
{
  const abut_compact *l = ((const list_call *)on->call->user)->list;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *places = NULL;
  TRY_DONE(allocate(&memory, c.count + 1, sizeof(int)));
  TRY_DONE(allocate(&places, entries + 1, sizeof(int)));
  int *offsets = memory, *slots = places, at = 0;
  for (size_t i = 0; i < c.count; ++i) {
    const entry_range e = entries_of(on, c, i);
    offsets[i] = at;
    for (size_t k = 0; k < e.count; ++k) {
      slots[at++] = (int)l->slot[e.first + k];
    }
  }
  offsets[c.count] = at;
  TRY_DONE(put(r, SCRATCH_OFFSETS, (c.count + 1) * sizeof(int), offsets));
  TRY_DONE(put(r, SCRATCH_SLOTS, entries * sizeof(int), slots));
done:
  free(memory);
  free(places);
  return status;
}

/* Copies an output's numbers, `components` per entry, between rows of a chunk's entries and an
 * array of the caller. */
static void copy_rows(const call_on *on, chunk c, const contact_output *o, char *rows, char *array,
                      size_t size, bool down)
{
  const size_t bytes = o->components * size;
  char *row = rows + o->column * size;
  for (size_t i = 0; array && i < c.count; ++i) {
    const entry_range e = entries_of(on, c, i);
    for (size_t k = 0; k < e.count; ++k, row += COMPACT_REALS * size) {
      char *at = array + (e.first + k) * bytes;
      memcpy(down ? at : row, down ? row : at, bytes);
    }
  }
}

/* Uploads rows of cotangents, with 0 for outputs without any. */
static abut_status put_rows(const call_on *on, const run *r, chunk c, size_t entries)
{
  const list_call *l = on->call->user;
  const size_t size = device_real_bytes(r->device);
  reals rows;
  TRY(reals_create(&rows, (entries + 1) * COMPACT_REALS, size));
  for (size_t i = 0; l->cotangents && i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    copy_rows(on, c, o, rows.data, output_array(o, OUTPUT_COTANGENTS, l->cotangents), size, false);
  }
  const abut_status status = put(r, SCRATCH_ROWS, entries * COMPACT_REALS * size, rows.data);
  free(rows.data);
  return status;
}

static abut_status list_upload(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const list_call *l = on->call->user;
  const run *r = derivatives_on(on, slot);
  const size_t entries = count_entries(on, c);
  TRY(put_places(on, r, c, entries));
  if (is_vjp(l)) {
    return put_rows(on, r, c, entries);
  }
  const size_t number = number_parts(r->program) * device_real_bytes(r->device);
  return buffer_pool_prepare(r->memory->pool, r->device, SCRATCH_ROWS,
                             (entries + 1) * COMPACT_REALS * number);
}

/* ---- kernels ---- */

static abut_status scatter_bars(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_ENTRIES_SCATTERED, poses, 1, BUFFER(r, SCRATCH_OFFSETS),
                    BUFFER(r, SCRATCH_SLOTS), BUFFER(r, SCRATCH_ROWS), HEAD(r),
                    ARG_INT(r->wanted.cotangents), OUTPUT_BUFFERS_OF_BARS);
}

/* Launches the derivatives. If all contacts are computed, the forward pass has been launched
 * already. */
static abut_status list_launch(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const list_call *l = on->call->user;
  const run *r = derivatives_on(on, slot);
  const bool listed = r->wanted.listed;
  const entry_list list = {run_buffer(r, SCRATCH_OFFSETS), run_buffer(r, SCRATCH_SLOTS), 0, 1,
                           count_entries(on, c)};
  TRY(listed ? run_listed(r, c.count, &list) : ABUT_SUCCESS);
  if (is_vjp(l)) {
    TRY(listed ? run_row_bars(r, c.count) : scatter_bars(r, c.count));
    return listed ? run_active_reverse(r, c.count) : run_reverse(r, c.count);
  }
  if (!listed) {
    return run_picked_rows(r, c.count, &list, 0, list.count);
  }
  TRY(run_listed_values(r, c.count));
  return run_listed_rows(r, c.count, 0, list.count);
}

/* ---- download ---- */

static abut_status list_collect(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const list_call *l = on->call->user;
  const run *r = derivatives_on(on, slot);
  const size_t entries = is_vjp(l) ? 0 : count_entries(on, c);
  const size_t size = device_real_bytes(r->device), row = COMPACT_REALS * size;
  void *rows = NULL;
  if (!entries) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&rows, entries, row));
  const abut_status status = buffer_read_rows(run_buffer(r, SCRATCH_ROWS), row,
                                              number_parts(r->program) * row, row, entries, rows);
  for (size_t i = 0; status == ABUT_SUCCESS && i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    copy_rows(on, c, o, rows, output_array(o, OUTPUT_TANGENTS, l->tangents), size, true);
  }
  free(rows);
  return status;
}

static const operation list_operation = {.base = &poses_operation,
                                         .module = MODULE_MANIFOLD,
                                         .upload = list_upload,
                                         .launch = list_launch,
                                         .collect = list_collect};

/* ---- calls ---- */

/* Lists the memory of the caller's entries that the call reads and writes. */
static void add_entries(call *c, const list_call *l)
{
  const abut_compact *list = l->list;
  call_add_range(c, "the list's pose", list->pose, list->count, sizeof *list->pose, MEMORY_READ);
  call_add_range(c, "the list's slot", list->slot, list->count, sizeof *list->slot, MEMORY_READ);
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    const size_t row = o->components * c->real_bytes;
    if (l->cotangents) {
      call_add_range(c, o->names[OUTPUT_COTANGENTS],
                     output_array(o, OUTPUT_COTANGENTS, l->cotangents), list->count, row,
                     MEMORY_READ);
    }
    if (l->tangents) {
      call_add_range(c, o->names[OUTPUT_TANGENTS], output_array(o, OUTPUT_TANGENTS, l->tangents),
                     list->count, row, MEMORY_WRITTEN);
    }
  }
}

/* Sets up a call whose batch only has poses. */
static abut_status list_start(call *c, abut_pair handle_, abut_batch *batch, list_call *l,
                              program_id program)
{
  TRY(call_start(c, handle_, batch));
  run *r = &c->runs[0];
  if (batch->compact || r->wanted.arrays) {
    return fail(ABUT_ERROR_ARGUMENT,
                "derivatives of a list need a batch that has only poses, without outputs");
  }
  if (batch->derivatives) {
    return fail(ABUT_ERROR_ARGUMENT, "derivatives of a list do not take a second smoothing");
  }
  TRY(check_list(l->list, batch, r));
  r->program = program;
  r->wanted.listed = true; /* choose_cutoff resets it for pairs without bounds */
  c->base.operation = &list_operation;
  c->user = l;
  add_entries(c, l);
  return ABUT_SUCCESS;
}

abut_status abut_list_vjp(abut_pair handle_, abut_batch *batch, const abut_compact *list,
                          const abut_cotangents *cotangents, const abut_gradients *gradients)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  list_call l = {.list = list, .cotangents = cotangents};
  const int given = cotangents ? outputs_given(OUTPUT_COTANGENTS, cotangents) : 0;
  if (!list || !gradients || (!given && list->count)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_list_vjp needs a list, a cotangent of its entries, and a gradient array");
  }
  TRY(list_start(&c, handle_, batch, &l, PROGRAM_PLAIN));
  c.runs[0].wanted.cotangents = given ? given : WANT_D;
  call_add_gradients(&c, 0, gradients);
  return call_finish(&c);
}

abut_status abut_list_jvp(abut_pair handle_, abut_batch *batch, const abut_compact *list,
                          const abut_pose_tangents *along, const abut_tangents *tangents)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  list_call l = {.list = list, .tangents = tangents};
  if (!list || !along || !tangents) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_list_jvp needs a list, a tangent of the poses, and an "
                                     "array for a tangent of its entries");
  }
  TRY(list_start(&c, handle_, batch, &l, PROGRAM_DUAL));
  c.runs[0].wanted.arrays = outputs_given(OUTPUT_TANGENTS, tangents);
  c.along = along;
  return call_finish(&c);
}
