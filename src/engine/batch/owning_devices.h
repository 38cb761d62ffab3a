/* A call on the arrays of a state: the device that owns a range computes it, chunk by chunk. */
#ifndef ABUT_BATCH_OWNING_DEVICES_H
#define ABUT_BATCH_OWNING_DEVICES_H

#include "engine/batch/batch.h"

/* Does a call whole that has a state, or fails. Kernels may still be at work on return. Where a
 * device fails the state goes back to its copy: if the call began from that copy
 * it is done again, else the call fails with ABUT_ERROR_STATE. */
abut_status run_on_owning_devices(batch_call *c);

#endif
