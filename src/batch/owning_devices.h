/* A job on the arrays of a state: the device that owns a range computes it, chunk by chunk. */
#ifndef ABUT_BATCH_OWNING_DEVICES_H
#define ABUT_BATCH_OWNING_DEVICES_H

#include "schedule/schedule.h"

/* Does a job of batch_run, whose call has a state, whole or fails. On return kernels may be at work
 * still. Where a device fails the state goes back to its copy: the job is then done again if the
 * copy is what it began with, else ABUT_ERROR_STATE. */
abut_status run_on_owning_devices(job *j);

#endif
