/* The structs of a device and its buffers, only for the files that implement device.h. */
#ifndef ABUT_DEVICE_DEVICE_PRIVATE_H
#define ABUT_DEVICE_DEVICE_PRIVATE_H

#include "engine/device/device.h"

#include "engine/device/discovery.h"
#include "engine/device/kernels.h"
#include "engine/device/opencl.h"
#include "engine/device/tuning.h"

typedef struct recorder recorder;

/* Memory of a slot for the tables that its kernels read, one after the other. */
typedef struct launch_table {
  buffer *memory;
  size_t used;
} launch_table;

struct device {
  found_device found;
  bool lost;
  abut_precision precision;
  tuning settings[MODULE_COUNT]; /* `lanes` is the same in all */
  double timeout;
  abut_counters counters;
  opencl *cl;  /* NULL on the host path */
  bool shares; /* the host accesses its buffers directly */
  bool merges; /* kernels find buffers by addresses in tables */
  size_t slot;
  recorder *recorder; /* of launches; NULL: none yet */
  launch_table tables[DEVICE_SLOTS];
};

struct buffer {
  device *owner;
  size_t bytes;
  cl_mem memory;
  void *host; /* on the host path, of a shared buffer, or of borrowed memory of the caller */
  bool wraps; /* the caller's memory */
};

/* Fails if kernels of the device have exceeded the time limit. */
abut_status device_check_there(const device *d);

/* Waits until everything launched in the slot has ended. */
abut_status device_end(device *d);

/* Returns whether the host executes a kernel in place of the device. */
bool device_runs_on_host(const device *d, kernel_id kernel);

/* Return whether launches are being recorded; record one. */
bool device_records(const device *d);
abut_status device_keep(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                        const launch_argument *arguments, size_t count);
void recorder_free(recorder *r); /* NULL is allowed */

#endif
