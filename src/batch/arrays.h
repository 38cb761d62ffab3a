/* A chunk's arrays between the caller's memory and a device. */
#ifndef ABUT_BATCH_ARRAYS_H
#define ABUT_BATCH_ARRAYS_H

#include "batch/batch.h"

/* Refuses what is no OpenCL memory of the context's, or too short. */
abut_status arrays_check(const batch_call *c);

/* Whether an output lies where an input is read from. Inputs that are overlapped otherwise than row
 * by row are copied as a whole: `copies` holds them until arrays_forget. */
abut_status arrays_part(batch_call *c, void *copies[BATCH_ARRAYS]);
void arrays_forget(void *copies[BATCH_ARRAYS]);

/* Whether kernels of the device can work in all of the caller's arrays. */
bool arrays_can_borrow(const batch_on *on);

/* Adds what arrays take to on->bytes, for a chunk of the slot's group. */
void arrays_bytes(batch_on *on, size_t slot);

/* Puts the caller's memory in place of buffers where that is possible, for a chunk; and takes it
 * away. */
abut_status arrays_bind(batch_on *on, size_t slot, chunk c);
void arrays_unbind(batch_on *on, size_t slot);

abut_status arrays_up(batch_on *on, size_t slot, chunk c);

/* After the chunk's kernels, before they are waited for: what they write in the caller's host
 * memory will be there. */
abut_status arrays_sync(batch_on *on, size_t slot);

/* Outputs of a call that replaces its inputs wait on the host until arrays_hand_over: a read that
 * fails may follow others, and another device takes the chunk's inputs then. So do rows that do not
 * lie side by side. */
abut_status arrays_down(batch_on *on, size_t slot, chunk c);
void arrays_hand_over(const batch_on *on, size_t slot, chunk c);

#endif
