/* Distributes a batch among the devices of a context; independent of the operation.
 *
 * Each working device has a thread; a single device uses the caller's thread. A thread takes the
 * next piece of the batch whenever a slot of its device is free. Pieces are large at first, by the
 * device's measured throughput, and smaller towards the end, so that all devices end together.
 * While the kernels of one slot run, data of the other is transferred. The pieces of a failed
 * device return to the others.
 */
#ifndef ABUT_BATCH_SCHEDULE_H
#define ABUT_BATCH_SCHEDULE_H

#include "engine/batch/batch.h"

/* Runs a whole call, or fails. Its groups cover the whole batch in order, and none is empty. */
abut_status schedule(batch_call *c);

#endif
