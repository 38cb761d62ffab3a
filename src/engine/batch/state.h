/* Arrays that stay on devices: ranges of rows, each owned by a device, and the host's copy.
 *
 * A state that has no ranges is what its copy says; it is brought to devices when a computation
 * needs it. So all that has to be done after a failure is to let go of the ranges. */
#ifndef ABUT_BATCH_STATE_H
#define ABUT_BATCH_STATE_H

#include "engine/device/context.h"
#include <abut/manifold.h>
#include <abut/state.h>

/* Rows first .. first + count - 1, which a member of the context owns, in a buffer for each
 * array. */
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
  double parts[ABUT_DEVICES_MOST];    /* each member's part of the rows */
  uint64_t changes, saved;
  range *ranges;
  size_t range_count, range_capacity;
} state;

/* Returns the state of a handle, or NULL with an error text. */
state *state_get(abut_state s);

/* Finds the state of an array; fails if the state has no such array. */
abut_status state_of(const abut_state_array *array, state **out);

/* Does the same, and refuses a state of another context, or without a row for each of `count`
 * elements, which errors call `what`. */
abut_status state_for(const abut_state_array *array, const context *owner, size_t count,
                      const char *what, state **out);

/* Finds the state in which a batch's arrays lie, NULL where they lie elsewhere, and refuses memory
 * that the context cannot use. `inputs` is one of its arrays; errors call the batch's elements
 * `what`. */
abut_status state_of_memory(abut_memory memory, const char *what, const void *inputs, size_t count,
                            const context *owner, state **out);

/* Returns how many bytes a row of an array has. */
static inline size_t state_row(const state *s, size_t array)
{
  return s->widths[array] * s->real_bytes;
}

/* Tells whether the devices hold something that the copy does not. */
static inline bool state_changed(const state *s)
{
  return s->changes != s->saved;
}

/* Brings all rows to working devices, unless they are there already. Fails where none can take
 * them. */
abut_status state_place(state *s);

/* Returns the range that a row is in. */
range *state_range(const state *s, size_t row);

/* Waits for what is at work on the state and lets go of its ranges: it is then what its copy
 * says. */
void state_go_back(state *s);

/* Lets the state go back to its copy after a device has failed, for which context_fail has been
 * called. Succeeds where the copy was not older than the state, else returns ABUT_ERROR_STATE. */
abut_status state_fall_back(state *s);

#endif
