/* Arrays that stay on devices: ranges of rows, each owned by a device, and a copy on the host.
 *
 * A state without ranges equals its copy, and is uploaded to devices when a computation needs it.
 * Recovery from a failure therefore only has to free the ranges. */
#ifndef ABUT_BATCH_STATE_H
#define ABUT_BATCH_STATE_H

#include "engine/device/context.h"
#include <abut/manifold.h>
#include <abut/state.h>

/* Rows first .. first + count - 1, owned by one member of the context, with a buffer per array. */
typedef struct range {
  size_t first, count, place;
  buffer *buffers[ABUT_STATE_ARRAYS_MOST];
} range;

typedef struct state {
  owned base;
  context *context;
  size_t count, array_count, real_bytes;
  size_t widths[ABUT_STATE_ARRAYS_MOST];
  char *copy[ABUT_STATE_ARRAYS_MOST]; /* whole arrays as they were at `saved` */
  double parts[ABUT_DEVICES_MOST];    /* each member's share of the rows */
  uint64_t changes, saved;
  range *ranges;
  size_t range_count, range_capacity;
} state;

/* Returns the state of a handle, or NULL with an error text. */
state *state_get(abut_state s);

/* Finds the state of an array. Fails if the state has no such array. */
abut_status state_of(const abut_state_array *array, state **out);

/* Does the same, and refuses a state of another context or one whose row count is not `count`.
 * `what` names the elements in errors. */
abut_status state_for(const abut_state_array *array, const context *owner, size_t count,
                      const char *what, state **out);

/* Finds the state that holds a batch's arrays, or NULL if they are in other memory. Refuses memory
 * that the context cannot use. `inputs` is one of the arrays; `what` names the batch's elements in
 * errors. */
abut_status state_of_memory(abut_memory memory, const char *what, const void *inputs, size_t count,
                            const context *owner, state **out);

/* Returns the number of bytes in a row of an array. */
static inline size_t state_row(const state *s, size_t array)
{
  return s->widths[array] * s->real_bytes;
}

/* Returns whether the devices hold changes that the copy does not have. */
static inline bool state_changed(const state *s)
{
  return s->changes != s->saved;
}

/* Uploads all rows to working devices, unless they are already there. Fails if no device can take
 * them. */
abut_status state_place(state *s);

/* Returns the range that contains a row. */
range *state_range(const state *s, size_t row);

/* Waits for work in progress on the state and frees its ranges. The state then equals its copy. */
void state_go_back(state *s);

/* Returns the state to its copy after a device has failed and context_fail has been called.
 * Succeeds if the copy was up to date, else returns ABUT_ERROR_STATE. */
abut_status state_fall_back(state *s);

#endif
