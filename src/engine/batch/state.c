#include "engine/batch/state.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* ---- ranges ---- */

static device *owning_device(const state *s, const range *r)
{
  return s->context->members[r->place].device;
}

static void free_range(range *r)
{
  for (size_t i = 0; i < ABUT_STATE_ARRAYS_MOST; ++i) {
    buffer_destroy(r->buffers[i]);
  }
}

/* Frees all ranges. The state then equals its copy. */
static void let_go(state *s)
{
  for (size_t i = 0; i < s->range_count; ++i) {
    free_range(&s->ranges[i]);
  }
  s->range_count = 0;
  s->changes = s->saved;
}

static abut_status add_range(state *s, size_t first, size_t count, size_t place)
{
  void *ranges = s->ranges;
  TRY(grow(&ranges, &s->range_capacity, s->range_count + 1, sizeof(range)));
  s->ranges = ranges;
  s->ranges[s->range_count++] = (range){first, count, place, {NULL}};
  return ABUT_SUCCESS;
}

/* Gives rows first .. end - 1 to a member, in as many ranges as needed for each to fit the member's
 * largest buffer. */
static abut_status add_ranges(state *s, size_t first, size_t end, size_t place)
{
  const uint64_t bytes = device_info(s->context->members[place].device)->allocation_bytes;
  size_t row = 1;
  for (size_t i = 0; i < s->array_count; ++i) {
    row = state_row(s, i) > row ? state_row(s, i) : row;
  }
  const size_t most = bytes / row ? (size_t)(bytes / row) : 1;
  while (first < end) {
    const size_t count = end - first < most ? end - first : most;
    TRY(add_range(s, first, count, place));
    first += count;
  }
  return ABUT_SUCCESS;
}

/* Returns a member's share of the rows. A substitute for failed devices has no share of its own and
 * takes all rows. */
static double part_of(const state *s, size_t place)
{
  return place < s->context->count ? s->parts[place] : 1.0;
}

static bool holds_rows(const state *s, size_t place, double sum)
{
  const context *c = s->context;
  return context_works(c, place) && (place < c->count || context_first(c) == place) &&
         (sum <= 0.0 || part_of(s, place) > 0.0);
}

/* Divides the rows among the members by their shares, or equally if no working member has a share
 * above 0. */
static abut_status divide(state *s)
{
  double sum = 0.0, before = 0.0;
  size_t members = 0, first = 0;
  for (size_t i = 0; i < MEMBERS; ++i) {
    sum += holds_rows(s, i, 0.0) ? part_of(s, i) : 0.0;
    members += holds_rows(s, i, 0.0);
  }
  for (size_t i = 0; i < MEMBERS; ++i) {
    if (holds_rows(s, i, sum)) {
      before += sum > 0.0 ? part_of(s, i) / sum : 1.0 / (double)members;
      const size_t end = (size_t)(before * (double)s->count + 0.5);
      TRY(add_ranges(s, first, end < s->count ? end : s->count, i));
      first = end;
    }
  }
  if (s->range_count) { /* the shares' sum may differ from 1 by rounding */
    range *last = &s->ranges[s->range_count - 1];
    last->count = s->count - last->first;
  }
  return ABUT_SUCCESS;
}

static abut_status fill_range(const state *s, range *r)
{
  device *owner = owning_device(s, r);
  device_select(owner, 0);
  for (size_t i = 0; i < s->array_count; ++i) {
    const size_t row = state_row(s, i);
    TRY(buffer_upload(owner, r->count * row, s->copy[i] + r->first * row, &r->buffers[i]));
  }
  return ABUT_SUCCESS;
}

/* Returns the status of work on a range's owning device. A device that failed is removed from the
 * context. */
static abut_status on_owning_device(const state *s, const range *r, abut_status status)
{
  if (status != ABUT_SUCCESS) {
    device_drain(owning_device(s, r));
  }
  if (is_device_error(status)) {
    context_fail(s->context, r->place, status);
  }
  return status;
}

static abut_status fill_ranges(state *s)
{
  TRY(divide(s));
  for (size_t i = 0; i < s->range_count; ++i) {
    TRY(on_owning_device(s, &s->ranges[i], fill_range(s, &s->ranges[i])));
  }
  return ABUT_SUCCESS;
}

abut_status state_place(state *s)
{
  while (s->count && !s->range_count) {
    if (context_first(s->context) == MEMBERS) {
      TRY(context_stand_in(s->context));
    }
    const abut_status status = fill_ranges(s);
    if (status != ABUT_SUCCESS) {
      let_go(s);
    }
    if (!is_device_error(status)) {
      TRY(status);
    }
  }
  return ABUT_SUCCESS;
}

range *state_range(const state *s, size_t row)
{
  size_t i = 0;
  while (i + 1 < s->range_count && s->ranges[i + 1].first <= row) {
    ++i;
  }
  return &s->ranges[i];
}

static const member *failed_last(const context *c)
{
  const member *m = &c->members[0];
  for (size_t i = 1; i < MEMBERS; ++i) {
    m = c->members[i].failure > m->failure ? &c->members[i] : m;
  }
  return m;
}

void state_go_back(state *s)
{
  for (size_t i = 0; i < s->range_count; ++i) { /* kernels may still be using them */
    device_drain(owning_device(s, &s->ranges[i]));
  }
  let_go(s);
}

abut_status state_fall_back(state *s)
{
  const unsigned long long lost = s->changes - s->saved;
  const member *m = failed_last(s->context);
  state_go_back(s);
  return lost ? fail(ABUT_ERROR_STATE,
                     "device %s failed: %s; the state is back at its last saved "
                     "copy, %llu changes ago",
                     device_info(m->device)->name, m->text, lost)
              : ABUT_SUCCESS;
}

/* ---- properties ---- */

state *state_get(abut_state s)
{
  return pool_get(&state_pool, (handle){s.index, s.generation});
}

abut_status state_of(const abut_state_array *array, state **out)
{
  *out = state_get(array->state);
  if (!*out) {
    return ABUT_ERROR_HANDLE;
  }
  return array->array < (*out)->array_count
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "the state has %zu arrays; there is no array %u",
                  (*out)->array_count, array->array);
}

abut_status state_for(const abut_state_array *array, const context *owner, size_t count,
                      const char *what, state **out)
{
  const abut_state s = array->state;
  call_lock *its = pool_call_lock(&state_pool, (handle){s.index, s.generation});
  if (!its) {
    return ABUT_ERROR_HANDLE;
  }
  if (its != owner->call_lock) {
    return fail(ABUT_ERROR_ARGUMENT, "the state belongs to another context than the call");
  }
  TRY(state_of(array, out));
  return (*out)->count == count
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "the call has %zu %s, but the state has %zu rows", count,
                  what, (*out)->count);
}

abut_status state_of_memory(abut_memory memory, const char *what, const void *inputs, size_t count,
                            const context *owner, state **out)
{
  *out = NULL;
  if (memory == ABUT_MEMORY_OPENCL && !owner->def.opencl_queue) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "arrays in OpenCL memory need a context that was made from the caller's command queue");
  }
  if ((uint32_t)memory > ABUT_MEMORY_STATE) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown kind of memory %d", (int)memory);
  }
  return memory == ABUT_MEMORY_STATE && inputs ? state_for(inputs, owner, count, what, out)
                                               : ABUT_SUCCESS;
}

static void state_free(void *object)
{
  state *s = object;
  if (!s) {
    return;
  }
  let_go(s);
  free(s->ranges);
  for (size_t i = 0; i < ABUT_STATE_ARRAYS_MOST; ++i) {
    free(s->copy[i]);
  }
  free(s);
}

static abut_status set_widths(state *s, const size_t *widths, size_t arrays)
{
  if (!arrays || arrays > ABUT_STATE_ARRAYS_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "a state needs 1 to %d arrays, but the count is %zu",
                ABUT_STATE_ARRAYS_MOST, arrays);
  }
  if (!widths) {
    return fail(ABUT_ERROR_ARGUMENT, "a state has %zu arrays, but their widths are NULL", arrays);
  }
  s->array_count = arrays;
  for (size_t i = 0; i < arrays; ++i) {
    const size_t most = SIZE_MAX / 2 / s->real_bytes / (s->count + 1);
    if (!widths[i]) {
      return fail(ABUT_ERROR_ARGUMENT, "array %zu of a state must have at least 1 number per row",
                  i);
    }
    if (widths[i] > most) {
      return fail(ABUT_ERROR_ARGUMENT, "array %zu of a state is too large: %zu rows of %zu numbers",
                  i, s->count, widths[i]);
    }
    s->widths[i] = widths[i];
  }
  return ABUT_SUCCESS;
}

static abut_status set_parts(state *s, const double *parts)
{
  double sum = 0.0;
  for (size_t i = 0; i < s->context->count; ++i) {
    s->parts[i] = parts ? parts[i] : 1.0;
    if (!(s->parts[i] >= 0.0 && s->parts[i] <= 1e100)) {
      return fail(ABUT_ERROR_ARGUMENT, "the share of device %zu is %g, which is not possible", i,
                  s->parts[i]);
    }
    sum += s->parts[i];
  }
  return sum > 0.0 ? ABUT_SUCCESS
                   : fail(ABUT_ERROR_ARGUMENT, "every device's share of the state is 0");
}

abut_status abut_create_state(abut_context handle_, size_t count, const size_t *widths,
                              size_t arrays, const double *parts, abut_state *out)
{
  ENTER(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_state: the handle is NULL");
  }
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY(allocate(&memory, 1, sizeof(state)));
  state *s = memory;
  s->context = c;
  s->count = count;
  s->real_bytes = context_real_bytes(c);
  TRY_DONE(set_widths(s, widths, arrays));
  TRY_DONE(set_parts(s, parts));
  for (size_t i = 0; i < arrays; ++i) {
    TRY_DONE(allocate(&memory, count, state_row(s, i)));
    s->copy[i] = memory;
  }
  TRY_DONE(context_adopt(c, &state_pool, &s->base, state_free));
  *out = (abut_state){s->base.self.index, s->base.self.generation};
  s = NULL;
done:
  state_free(s);
  return status;
}

abut_status abut_destroy_state(abut_state handle_)
{
  ENTER_ALONE(state_pool, handle_);
  state *s = state_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  context_discard(s->context, &s->base);
  return ABUT_SUCCESS;
}

abut_status abut_get_state_info(abut_state handle_, abut_state_info *info)
{
  ENTER(state_pool, handle_);
  const state *s = state_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_state_info needs a place for its answer");
  }
  *info = (abut_state_info){s->count, s->array_count, s->changes, s->saved, s->range_count};
  return ABUT_SUCCESS;
}
