/* This is what a device and its buffers are, for the files that implement device.h alone. */
#ifndef ABUT_DEVICE_DEVICE_PRIVATE_H
#define ABUT_DEVICE_DEVICE_PRIVATE_H

#include "device/device.h"

#include "device/discovery.h"
#include "device/kernels.h"
#include "device/opencl.h"
#include "device/tuning.h"

struct device {
  found_device found;
  bool lost;
  abut_precision precision;
  tuning settings[MODULE_COUNT]; /* the lanes of all are the same */
  double timeout;
  abut_counters counters;
  opencl *cl;  /* NULL on the host path */
  bool shares; /* its buffers lie where the host reads and writes them itself */
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

#endif
