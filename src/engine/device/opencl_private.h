/* The struct opencl, for the files that implement opencl.h. */
#ifndef ABUT_DEVICE_OPENCL_PRIVATE_H
#define ABUT_DEVICE_OPENCL_PRIVATE_H

#include "engine/device/opencl.h"

#include "base/error.h"
#include "engine/device/waiter.h"

struct opencl {
  cl_context context;
  cl_command_queue queues[OPENCL_SLOTS];
  waiter *waiters[OPENCL_SLOTS]; /* for the last submitted work; NULL: none */
  waiter *paces[OPENCL_SLOTS];   /* for the work last submitted by opencl_pace; NULL: none */
  bool running[OPENCL_SLOTS];    /* something was launched and not waited for */
  bool reached;                  /* a copy has completed since the last launch */
  cl_mem probe;                  /* destination of that copy */
  size_t slot;
  cl_program programs[PROGRAM_COUNT];
  cl_kernel kernels[PROGRAM_NUMBERS][KERNEL_COUNT];
  cl_kernel merged[PROGRAM_NUMBERS][KERNEL_COUNT]; /* of launched kernels */
  opencl_options options;
  char *kernel_directory; /* a copy, because programs are built later */
};

/* Records that a command of the slot is running that has not been waited for. */
void mark_running(opencl *o);

static inline abut_status check(cl_int code, const char *call)
{
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : fail(code, "%s failed: %s", call, abut_status_name(code));
}

#endif
