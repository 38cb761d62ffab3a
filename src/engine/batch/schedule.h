/* Shares a batch among the devices of a context. Knows no geometry.
 *
 * Each working device has a thread, one alone the caller's. A thread takes the next piece of
 * the batch whenever a slot of its device is free: large pieces first, by the device's measured
 * throughput, smaller ones towards the end, so that all end together. While the kernels of one slot
 * run, the other is filled or read. What a failed device held goes back to the others.
 */
#ifndef ABUT_BATCH_SCHEDULE_H
#define ABUT_BATCH_SCHEDULE_H

#include "engine/batch/batch.h"

/* Does a call whole, or fails. Its groups are those of the whole batch, in order, none of them
 * empty. */
abut_status schedule(batch_call *c);

#endif
