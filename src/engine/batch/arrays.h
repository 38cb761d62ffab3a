/* How a chunk's arrays travel between the caller's memory and a device. */
#ifndef ABUT_BATCH_ARRAYS_H
#define ABUT_BATCH_ARRAYS_H

#include "engine/batch/batch.h"

/* Refuses arrays that should lie in OpenCL memory but are none of the context's, or are too short,
 * arrays of a state that is not the call's, or that have another width, and outputs that overlap
 * each other, or what the call lists in `beside`. */
abut_status arrays_check(const batch_call *c);

/* Sets c->in_place where an output lies, row by row, exactly where an input is read from. Inputs
 * that outputs overlap in any other way are copied as a whole and read from there: `copies` holds
 * the copies until arrays_forget. */
abut_status arrays_part(batch_call *c, void *copies[BATCH_ARRAYS]);
void arrays_forget(void *copies[BATCH_ARRAYS]);

/* Tells whether kernels of the device can work in all of the caller's arrays. */
bool arrays_can_borrow(const batch_on *on);

/* Raises on->bytes to what the arrays take, for a chunk of the slot's group. */
void arrays_bytes(batch_on *on, size_t slot);

/* Puts the caller's memory in place of buffers wherever that is possible, for a chunk;
 * arrays_unbind takes it away again. */
abut_status arrays_bind(batch_on *on, size_t slot, chunk c);
void arrays_unbind(batch_on *on, size_t slot);

abut_status arrays_up(batch_on *on, size_t slot, chunk c);

/* Makes what kernels write into the caller's host memory visible there. It is called when the
 * chunk's kernels have been launched and before they are waited for. */
abut_status arrays_sync(batch_on *on, size_t slot);

/* Brings a chunk's outputs down. Those of a call that replaces its inputs wait on the host until
 * arrays_hand_over: a read that fails may follow others that succeeded, and the device that does
 * the chunk again needs the inputs as they were. Rows that do not lie side by side wait, too. */
abut_status arrays_down(batch_on *on, size_t slot, chunk c);
void arrays_hand_over(const batch_on *on, size_t slot, chunk c);

#endif
