/* This is what an opencl is, for the files that implement opencl.h. */
#ifndef ABUT_DEVICE_OPENCL_PRIVATE_H
#define ABUT_DEVICE_OPENCL_PRIVATE_H

#include "engine/device/opencl.h"

#include "base/error.h"
#include "engine/device/waiter.h"

struct opencl {
  cl_context context;
  cl_command_queue queues[OPENCL_SLOTS];
  waiter *waiters[OPENCL_SLOTS]; /* for what was submitted last; NULL: nothing */
  waiter *paces[OPENCL_SLOTS];   /* for what opencl_pace has sent off last; NULL: nothing */
  bool running[OPENCL_SLOTS];    /* something was launched and not waited for */
  bool reached;                  /* a copy has passed since the last launch */
  cl_mem probe;                  /* where that copy goes */
  size_t slot;
  cl_program programs[PROGRAM_COUNT];
  cl_kernel kernels[PROGRAM_NUMBERS][KERNEL_COUNT];
  cl_kernel merged[PROGRAM_NUMBERS][KERNEL_COUNT]; /* their merged forms, of those that were
                                                      launched */
  opencl_options options;
  char *kernel_directory; /* a copy: programs are built later too */
};

/* Notes that a command of the slot's runs for which nobody has waited. */
void mark_running(opencl *o);

static inline abut_status check(cl_int code, const char *call)
{
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : fail(code, "%s failed: %s", call, abut_status_name(code));
}

#endif
