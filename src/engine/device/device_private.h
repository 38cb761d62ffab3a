/* This is what a device and its buffers are, for the files that implement device.h alone. */
#ifndef ABUT_DEVICE_DEVICE_PRIVATE_H
#define ABUT_DEVICE_DEVICE_PRIVATE_H

#include "engine/device/device.h"

#include "engine/device/discovery.h"
#include "engine/device/kernels.h"
#include "engine/device/opencl.h"
#include "engine/device/tuning.h"

typedef struct recorder recorder;

/* Memory of a slot that its kernels read tables from, one behind the other. */
typedef struct launch_table {
  buffer *memory;
  size_t used;
} launch_table;

struct device {
  found_device found;
  bool lost;
  abut_precision precision;
  tuning settings[MODULE_COUNT]; /* the lanes of all are the same */
  double timeout;
  abut_counters counters;
  opencl *cl;  /* NULL on the host path */
  bool shares; /* its buffers lie where the host reads and writes them itself */
  bool merges; /* kernels find these by addresses in tables */
  size_t slot;
  recorder *recorder; /* of launches; NULL: there was none yet */
  launch_table tables[DEVICE_SLOTS];
};

struct buffer {
  device *owner;
  size_t bytes;
  cl_mem memory;
  void *host; /* on the host path; of a buffer that is shared; of the caller's that is borrowed */
  bool wraps; /* memory of the caller's */
};

/* Fails once kernels of the device have not ended in time. */
abut_status device_check_there(const device *d);

/* Waits until all that was launched in the slot has ended. */
abut_status device_end(device *d);

/* Whether a kernel is carried out by the host in the device's place. */
bool device_runs_on_host(const device *d, kernel_id kernel);

/* Whether launches are kept, and keeps one. */
bool device_records(const device *d);
abut_status device_keep(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                        const launch_argument *arguments, size_t count);
void recorder_free(recorder *r); /* NULL is allowed */

#endif
