/* Runs a call on the arrays of a state: each range is computed by the device that owns it, chunk by
 * chunk. */
#ifndef ABUT_BATCH_OWNING_DEVICES_H
#define ABUT_BATCH_OWNING_DEVICES_H

#include "engine/batch/batch.h"

/* Runs a whole call on a state, or fails. Kernels may still be running on return. If a device
 * fails, the state returns to its copy. If the call started from that copy, it is repeated;
 * otherwise it fails with ABUT_ERROR_STATE. */
abut_status run_on_owning_devices(batch_call *c);

#endif
