/* Moves a chunk's arrays between the caller's memory and a device. */
#ifndef ABUT_BATCH_ARRAYS_H
#define ABUT_BATCH_ARRAYS_H

#include "engine/batch/batch.h"

/* Checks a call's arrays. Refuses OpenCL memory that does not belong to the context or is too
 * short, state arrays of another state or of another width, and outputs that overlap each other or
 * the memory listed in `beside`. */
abut_status arrays_check(const batch_call *c);

/* Sets c->in_place if an output occupies exactly the rows that an input is read from. Inputs that
 * overlap an output in any other way are copied as a whole and read from the copy. `copies` holds
 * these copies until arrays_forget. */
abut_status arrays_part(batch_call *c, void *copies[BATCH_ARRAYS]);
void arrays_forget(void *copies[BATCH_ARRAYS]);

/* Returns whether the device's kernels can work directly in all of the caller's arrays. */
bool arrays_can_borrow(const batch_on *on);

/* Raises on->bytes to what the arrays need for a chunk of the slot's group. */
void arrays_bytes(batch_on *on, size_t slot);

/* Returns how many bytes of an element are copied between the caller's host memory and the device,
 * for a chunk of the slot's group. */
size_t arrays_copied(const batch_on *on, size_t slot);

/* Substitutes the caller's memory for buffers wherever possible, for one chunk. arrays_unbind
 * undoes this. */
abut_status arrays_bind(batch_on *on, size_t slot, chunk c);
void arrays_unbind(batch_on *on, size_t slot);

abut_status arrays_up(batch_on *on, size_t slot, chunk c);

/* Makes what kernels write into the caller's host memory visible there. Call it after the chunk's
 * kernels are launched and before waiting for them. */
abut_status arrays_sync(batch_on *on, size_t slot);

/* Enqueues reads of a chunk's outputs behind its kernels, as far as they are short: arrays_down
 * then has no command for them. */
abut_status arrays_ahead(const batch_on *on, size_t slot, chunk c);

/* Reads a chunk's outputs back. If the call replaces its inputs, the outputs stay in host memory
 * until arrays_hand_over: a read may fail after others succeeded, and the device that repeats the
 * chunk needs the original inputs. Outputs whose rows are not contiguous are held back, too. */
abut_status arrays_down(batch_on *on, size_t slot, chunk c);
void arrays_hand_over(const batch_on *on, size_t slot, chunk c);

#endif
