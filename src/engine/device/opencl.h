/* An OpenCL context of one device with its queues and programs.
 *
 * There are two queues, so that the copies of one slot overlap with the kernels of the other, or
 * one queue if the caller supplied it. Commands go to the queue of the selected slot. */
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
  bool lends_threads; /* a thread that waits in clFinish executes kernels meanwhile */
  bool polls_events;  /* see waiter_create */
  bool merges;        /* programs contain the merged forms of kernels */
  const char *kernel_directory;
} opencl_options;

typedef struct opencl_argument {
  cl_mem memory;
  void *shared; /* address of the memory made by opencl_share; NULL: use `memory` */
  int integer;
  double number;
  const void *structure;
  size_t bytes; /* size of the structure */
} opencl_argument;

/* Opens a context without building any program. */
abut_status opencl_open(const opencl_options *options, opencl **out);

/* Releases everything after kernels have ended. Objects of kernels that still run after `seconds`
 * are leaked. Does not wait for the caller's own work in its queue. NULL is allowed. */
void opencl_close(opencl *o, double seconds);

/* Leaks everything, for kernels that never end: releasing it could block as long. */
void opencl_abandon(opencl *o);

size_t opencl_slots(const opencl *o);
void opencl_select(opencl *o, size_t slot);

/* Submits the slot's queue to the device and marks the end of the work. */
abut_status opencl_submit(opencl *o);

/* Waits until everything submitted in the slot has ended; *ended is the end time by now(). Fails
 * with ABUT_ERROR_TIMEOUT after `seconds`. */
abut_status opencl_wait(opencl *o, double seconds, double *ended);

/* Submits the slot's queue, and waits at most `seconds` for the work submitted by the previous
 * call. */
abut_status opencl_pace(opencl *o, double seconds);

/* Waits at most `seconds` until everything launched in the slot has ended. */
abut_status opencl_end(opencl *o, double seconds);

/* Waits until a copy in the slot no longer has to wait for kernels: until those of the slot have
 * ended, and a copy of a few bytes has completed beside those of other slots. Each wait takes at
 * most `seconds`. This is needed because blocking copies have no time limit. */
abut_status opencl_reach(opencl *o, double seconds);

/* Waits for the kernels of every slot, at most `seconds` each. If a slot's end cannot be marked, it
 * waits by clFinish on a separate thread. */
abut_status opencl_drain(opencl *o, double seconds);

/* Waits likewise, but leaves the status of each slot's work to opencl_wait. */
abut_status opencl_settle(opencl *o, double seconds);

cl_context opencl_context(const opencl *o);
abut_status opencl_allocate(opencl *o, size_t bytes, cl_mem *out);

/* Returns whether a device is a CPU whose buffers the host can access directly, without a command,
 * while no kernel uses them (fine-grained shared virtual memory, OpenCL 2.0). */
bool opencl_can_share(cl_device_id device);

/* Creates such a buffer and returns its address. Returns false, and neither, if the driver refuses:
 * a caller's context may contain other devices, and shared memory may be scarcer. */
bool opencl_share(opencl *o, size_t bytes, cl_mem *out, void **host);

/* Releases a buffer. `host` is the address of a shared buffer that no kernel may use any more, else
 * NULL. */
void opencl_release(opencl *o, cl_mem memory, void *host);

/* Creates a sub-buffer, or retains the memory itself; NULL if the device cannot address it. */
abut_status opencl_part(opencl *o, cl_mem of, size_t offset, size_t bytes, cl_mem *out);

/* Creates a buffer in `host` memory. After opencl_sync and the end of the slot's work, that memory
 * contains the kernels' results. */
abut_status opencl_borrow(opencl *o, size_t bytes, void *host, bool written, cl_mem *out);
abut_status opencl_sync(opencl *o, cl_mem memory, size_t bytes, void *host);

abut_status opencl_write(opencl *o, cl_mem to, size_t offset, size_t bytes, const void *from);
abut_status opencl_read(opencl *o, cl_mem from, size_t offset, size_t bytes, void *to);

/* Make and release room for reads ahead, which copies of a device that shares memory, or whose
 * queue is the caller's, do not use: that queue may hold what waits for the caller. */
abut_status opencl_open_ahead(opencl *o);
void opencl_close_ahead(opencl *o);

/* Enqueues a read behind what the slot does, unless there is no room for it. opencl_was_read
 * returns where its bytes are once the slot's work has ended. It returns NULL if they were not read
 * ahead, or if the slot has been given other work since. */
abut_status opencl_read_ahead(opencl *o, cl_mem from, size_t offset, size_t bytes);
const void *opencl_was_read(const opencl *o, cl_mem from, size_t offset, size_t bytes);
void opencl_forget_ahead(opencl *o);

abut_status opencl_read_rows(opencl *o, cl_mem from, size_t offset, size_t pitch, size_t bytes,
                             size_t rows, void *to);
abut_status opencl_write_rows(opencl *o, cl_mem to, size_t offset, size_t pitch, size_t bytes,
                              size_t rows, const void *from);

/* Copy from device to device, in order with the slot's other work. */
abut_status opencl_copy(opencl *o, cl_mem from, size_t from_offset, cl_mem to, size_t to_offset,
                        size_t bytes);
abut_status opencl_copy_rows(opencl *o, cl_mem from, size_t from_offset, size_t from_pitch,
                             cl_mem to, size_t to_offset, size_t to_pitch, size_t bytes,
                             size_t rows);

/* Builds the program of a kernel unless it is already built; *built is set if it was built now. */
abut_status opencl_need(opencl *o, program_id program, kernel_id kernel, bool *built);
abut_status opencl_launch(opencl *o, program_id program, kernel_id kernel, size_t x, size_t y,
                          const opencl_argument *arguments);

/* Launches the merged form of a kernel for `items` work-items in total. Arguments: a table of
 * launches, their number, the number of entries of each, `items`, and a buffer. */
#define MERGED_ARGUMENTS 5
abut_status opencl_launch_merged(opencl *o, program_id program, kernel_id kernel, size_t items,
                                 const opencl_argument arguments[MERGED_ARGUMENTS]);

#endif
