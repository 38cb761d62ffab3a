/* Moves a state's rows between the host and the devices, and updates its copy. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/batch/state.h"
#include <stdlib.h>
#include <string.h>

/* A transfer of rows first .. first + rows - 1 of an array; exactly one of `from` and `to` is not
 * NULL. */
typedef struct transfer {
  size_t array, first, rows;
  const char *from;
  char *to;
} transfer;

/* Transfers the rows that are in a range. */
static abut_status transfer_range(const state *s, const range *r, const transfer *t)
{
  const size_t row = state_row(s, t->array), range_end = r->first + r->count;
  const size_t first = t->first > r->first ? t->first : r->first;
  const size_t end = t->first + t->rows < range_end ? t->first + t->rows : range_end;
  if (first >= end) {
    return ABUT_SUCCESS;
  }
  const size_t offset = (first - r->first) * row, at = (first - t->first) * row;
  const size_t bytes = (end - first) * row;
  device_select(s->context->members[r->place].device, 0);
  return t->from ? buffer_write(r->buffers[t->array], offset, bytes, t->from + at)
                 : buffer_read(r->buffers[t->array], offset, bytes, t->to + at);
}

static abut_status transfer_all(state *s, const transfer *t)
{
  for (size_t i = 0; i < s->range_count; ++i) {
    const range *r = &s->ranges[i];
    const abut_status status = transfer_range(s, r, t);
    if (is_device_error(status)) {
      context_fail(s->context, r->place, status);
      return state_fall_back(s);
    }
    if (status != ABUT_SUCCESS && !state_changed(s)) { /* possibly only some rows are written */
      state_go_back(s);
    }
    TRY(status);
  }
  return ABUT_SUCCESS;
}

static abut_status check_rows(const abut_state_array *array, size_t first, size_t rows,
                              const void *memory, state **out)
{
  TRY(state_of(array, out));
  const state *s = *out;
  if (first > s->count || rows > s->count - first) {
    return fail(ABUT_ERROR_ARGUMENT, "rows %zu + %zu are outside a state of %zu rows", first, rows,
                s->count);
  }
  return memory || !rows
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "the count is %zu rows, but their array is NULL", rows);
}

abut_status abut_write_state(abut_state_array array, size_t first, size_t rows, const void *from)
{
  ENTER(state_pool, array.state);
  state *s = NULL;
  TRY(check_rows(&array, first, rows, from, &s));
  if (!rows) {
    return ABUT_SUCCESS;
  }
  const size_t row = state_row(s, array.array);
  const transfer t = {array.array, first, rows, from, NULL};
  if (!state_changed(s)) { /* it remains unchanged, because the copy is written, too */
    memcpy(s->copy[array.array] + first * row, from, rows * row);
  } else {
    ++s->changes;
  }
  return transfer_all(s, &t);
}

abut_status abut_read_state(abut_state_array array, size_t first, size_t rows, void *to)
{
  ENTER(state_pool, array.state);
  state *s = NULL;
  TRY(check_rows(&array, first, rows, to, &s));
  if (!rows) {
    return ABUT_SUCCESS;
  }
  const size_t row = state_row(s, array.array);
  const transfer t = {array.array, first, rows, NULL, to};
  if (state_changed(s)) {
    return transfer_all(s, &t);
  }
  memcpy(to, s->copy[array.array] + first * row, rows * row);
  return ABUT_SUCCESS;
}

abut_status abut_save_state(abut_state handle_)
{
  ENTER(state_pool, handle_);
  char *next[ABUT_STATE_ARRAYS_MOST] = {NULL};
  abut_status status = ABUT_SUCCESS;
  state *s = state_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!state_changed(s)) {
    return ABUT_SUCCESS;
  }
  for (size_t i = 0; i < s->array_count; ++i) {
    void *memory = NULL;
    TRY_DONE(allocate(&memory, s->count, state_row(s, i)));
    next[i] = memory;
    const transfer t = {i, 0, s->count, NULL, next[i]};
    TRY_DONE(transfer_all(s, &t));
  }
  for (size_t i = 0; i < s->array_count; ++i) { /* `next` takes the older ones, to free them */
    char *copy = s->copy[i];
    s->copy[i] = next[i];
    next[i] = copy;
  }
  s->saved = s->changes;
done:
  for (size_t i = 0; i < s->array_count; ++i) {
    free(next[i]);
  }
  return status;
}

abut_status abut_restore_state(abut_state handle_)
{
  ENTER(state_pool, handle_);
  state *s = state_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  state_go_back(s);
  return ABUT_SUCCESS;
}
