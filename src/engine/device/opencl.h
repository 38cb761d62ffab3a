/* An OpenCL context of one device has queues and programs.
 *
 * There are two queues, or one where the caller brought it, so that one slot's copies overlap with
 * the other's kernels. Commands go to the queue of the slot that is selected. */
#ifndef ABUT_DEVICE_OPENCL_H
#define ABUT_DEVICE_OPENCL_H

#include "engine/device/kernels.h"
#include <CL/cl.h>
#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct opencl opencl;

#define OPENCL_SLOTS 2

typedef struct opencl_options {
  cl_platform_id platform;
  cl_device_id device;
  cl_command_queue queue; /* the caller's, with its context; or NULL */
  uint32_t lanes;         /* see tuning.h */
  uint32_t group[MODULE_COUNT], items[MODULE_COUNT];
  bool float64;       /* kernels compute in float64 */
  bool has_float64;   /* the device could */
  bool lends_threads; /* whoever waits by clFinish works on the kernels meanwhile */
  bool polls_events;  /* see waiter_create */
  bool merges;        /* programs have the merged forms of kernels */
  const char *kernel_directory;
} opencl_options;

typedef struct opencl_argument {
  cl_mem memory;
  void *shared; /* where the memory is, of what opencl_share has made; NULL: memory tells */
  int integer;
  double number;
  const void *structure;
  size_t bytes; /* of the structure */
} opencl_argument;

/* Opens a context, and builds nothing yet. */
abut_status opencl_open(const opencl_options *options, opencl **out);

/* Releases everything once kernels have ended; what has not within so many seconds is left behind.
 * Waits for nothing of the caller's in its queue. NULL is allowed. */
void opencl_close(opencl *o, double seconds);

/* Leaves everything behind, for kernels that never end: releasing them could take as long. */
void opencl_abandon(opencl *o);

size_t opencl_slots(const opencl *o);
void opencl_select(opencl *o, size_t slot);

/* Sends what the slot's queue holds to the device, and marks its end. */
abut_status opencl_submit(opencl *o);

/* Waits until all that was submitted in the slot has ended; *ended: when that was, by now(). Fails
 * with ABUT_ERROR_TIMEOUT after so many seconds. */
abut_status opencl_wait(opencl *o, double seconds, double *ended);

/* Sends off what the slot's queue holds, and waits, no longer than that, for what the call before
 * this one has sent off. */
abut_status opencl_pace(opencl *o, double seconds);

/* Waits, no longer than that, until all that was launched in the slot has ended. */
abut_status opencl_end(opencl *o, double seconds);

/* Waits, each time no longer than that, until a copy in the slot does not wait for kernels: until
 * those of the slot have ended, and a few bytes have passed beside those of the others. Copies that
 * block have no bound of their own. */
abut_status opencl_reach(opencl *o, double seconds);

/* Waits for the kernels of every slot, so long for each; by clFinish, on a thread of its own, where
 * the slot's end cannot be marked. */
abut_status opencl_drain(opencl *o, double seconds);

/* Waits likewise, but leaves it to opencl_wait to say how each slot's work went. */
abut_status opencl_settle(opencl *o, double seconds);

cl_context opencl_context(const opencl *o);
abut_status opencl_allocate(opencl *o, size_t bytes, cl_mem *out);

/* Whether a device is a CPU whose buffers can lie where the host reads and writes them itself
 * whenever no kernel that uses them runs, without a command (fine-grained shared virtual memory,
 * OpenCL 2.0). */
bool opencl_can_share(cl_device_id device);

/* Makes such a buffer, and says where it lies. False, with neither, where the driver refuses: a
 * caller's context may hold other devices, and shared memory may be scarcer. */
bool opencl_share(opencl *o, size_t bytes, cl_mem *out, void **host);

/* Releases a buffer. `host` is that of one that is shared, which no kernel may use any more, else
 * NULL. */
void opencl_release(opencl *o, cl_mem memory, void *host);

/* Makes a sub-buffer, or retains the memory itself; NULL where the device cannot address its
 * begin. */
abut_status opencl_part(opencl *o, cl_mem of, size_t offset, size_t bytes, cl_mem *out);

/* Makes a buffer in `host` memory. opencl_sync makes that memory hold what kernels have written,
 * once the slot's work has ended. */
abut_status opencl_borrow(opencl *o, size_t bytes, void *host, bool written, cl_mem *out);
abut_status opencl_sync(opencl *o, cl_mem memory, size_t bytes, void *host);

abut_status opencl_write(opencl *o, cl_mem to, size_t offset, size_t bytes, const void *from);
abut_status opencl_read(opencl *o, cl_mem from, size_t offset, size_t bytes, void *to);
abut_status opencl_read_rows(opencl *o, cl_mem from, size_t offset, size_t pitch, size_t bytes,
                             size_t rows, void *to);
abut_status opencl_write_rows(opencl *o, cl_mem to, size_t offset, size_t pitch, size_t bytes,
                              size_t rows, const void *from);

/* Copy from device to device, in order with what else the slot does. */
abut_status opencl_copy(opencl *o, cl_mem from, size_t from_offset, cl_mem to, size_t to_offset,
                        size_t bytes);
abut_status opencl_copy_rows(opencl *o, cl_mem from, size_t from_offset, size_t from_pitch,
                             cl_mem to, size_t to_offset, size_t to_pitch, size_t bytes,
                             size_t rows);

/* Builds the program of a kernel unless that has been done; *built says whether it was now. */
abut_status opencl_need(opencl *o, program_id program, kernel_id kernel, bool *built);
abut_status opencl_launch(opencl *o, program_id program, kernel_id kernel, size_t x, size_t y,
                          const opencl_argument *arguments);

/* Launches the merged form of a kernel for so many work-items in all: a table of launches, how many
 * there are, how many numbers each has, `items`, and a buffer. */
#define MERGED_ARGUMENTS 5
abut_status opencl_launch_merged(opencl *o, program_id program, kernel_id kernel, size_t items,
                                 const opencl_argument arguments[MERGED_ARGUMENTS]);

#endif
