/* The struct opencl, for the files that implement opencl.h. */
#ifndef ABUT_DEVICE_OPENCL_PRIVATE_H
#define ABUT_DEVICE_OPENCL_PRIVATE_H

#include "engine/device/opencl.h"

#include "base/error.h"
#include "engine/device/waiter.h"

/* Reads of a slot that were enqueued behind its kernels. They go to memory of the opencl's own,
 * which is left behind with a device that is lost. A driver copies to it while the host goes on, if
 * it can pin it. */
#define AHEAD_READS 16
#define AHEAD_BYTES ((size_t)4 << 20)
typedef struct reads_ahead {
  cl_mem memory;
  char *at; /* where `memory` is mapped; NULL: nothing is read ahead */
  size_t used, count;
  struct {
    cl_mem from;
    size_t offset, bytes, begin; /* `begin`: behind `at` */
  } reads[AHEAD_READS];
} reads_ahead;

struct opencl {
  cl_context context;
  cl_command_queue queues[OPENCL_SLOTS];
  waiter *waiters[OPENCL_SLOTS]; /* for the last submitted work; NULL: none */
  waiter *paces[OPENCL_SLOTS];   /* for the work last submitted by opencl_pace; NULL: none */
  bool running[OPENCL_SLOTS];    /* something was launched and not waited for */
  reads_ahead ahead[OPENCL_SLOTS];
  bool reached; /* a copy has completed since the last launch */
  cl_mem probe; /* destination of that copy */
  size_t slot;
  cl_program programs[PROGRAM_COUNT];
  cl_kernel kernels[PROGRAM_NUMBERS][KERNEL_COUNT];
  cl_kernel merged[PROGRAM_NUMBERS][KERNEL_COUNT]; /* of launched kernels */
  opencl_options options;
  char *kernel_directory; /* a copy, because programs are built later */
};

/* Records that a command of the slot is running that has not been waited for. What was read ahead
 * is forgotten: the command may change it. */
void mark_running(opencl *o);

/* Records the same of a command that changes nothing that was read ahead. */
void mark_reading(opencl *o);

static inline abut_status check(cl_int code, const char *call)
{
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : fail(code, "%s failed: %s", call, abut_status_name(code));
}

#endif
