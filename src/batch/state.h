/* Arrays that stay on devices: ranges of rows, each owned by a device, and the host's copy.
 *
 * A state that has no ranges is what its copy says; it is brought to devices when a computation
 * needs it. So what a failure needs is to let go of the ranges. */
#ifndef ABUT_BATCH_STATE_H
#define ABUT_BATCH_STATE_H

#include "device/context.h"
#include <abut/state.h>

/* Rows first .. first + count - 1 on a member of the context: a buffer of each array. */
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
  double parts[ABUT_DEVICES_MOST];    /* of the rows, by member */
  uint64_t changes, saved;
  range *ranges;
  size_t range_count, range_capacity;
} state;

/* The state of a handle, or NULL with an error text. */
state *state_get(abut_state s);

/* The same of an array's, which is one of it. */
abut_status state_of(const abut_state_array *array, state **out);

/* The same, of a context and with a row for each of `count` elements, which errors call `what`. */
abut_status state_for(const abut_state_array *array, const context *owner, size_t count,
                      const char *what, state **out);

/* Bytes of a row. */
static inline size_t state_row(const state *s, size_t array)
{
  return s->widths[array] * s->real_bytes;
}

/* Whether the devices have something that the copy has not. */
static inline bool state_changed(const state *s)
{
  return s->changes != s->saved;
}

/* Brings all rows to working devices, unless they are there. Fails where none can take them. */
abut_status state_place(state *s);

/* The range that a row is in. */
range *state_range(const state *s, size_t row);

/* Waits for what is at work on the state, and lets go of its ranges: it is what its copy says. */
void state_go_back(state *s);

/* A device has failed, for which context_fail has been called. The state goes back to its copy;
 * succeeds where that was no older, else ABUT_ERROR_STATE. */
abut_status state_fall_back(state *s);

#endif
