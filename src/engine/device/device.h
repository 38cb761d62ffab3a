/* An open device with its memory, kernels and queues. No other folder calls OpenCL.
 *
 * The host path is also a device: the same kernels, compiled as C11 into the library and called in
 * loops. Launches may return before they end. A write returns when its source may be reused, a read
 * when its data has arrived.
 *
 * Work is submitted to slots with one queue each. While the kernels of one slot run, data of
 * another is transferred. Only one thread at a time may use a device.
 */
#ifndef ABUT_DEVICE_DEVICE_H
#define ABUT_DEVICE_DEVICE_H

#include "engine/device/kernels.h"
#include <abut/device.h>

typedef struct device device;
typedef struct buffer buffer;
typedef struct found_device found_device;

typedef struct device_options {
  abut_device_choice choice;
  void *queue; /* the caller's cl_command_queue instead of `choice`, or NULL */
  abut_precision precision;
  uint32_t lanes, group, items; /* 0: from the table */
  const char *kernel_directory; /* NULL: embedded */
  double timeout;               /* longest wait for kernels [s] */
  bool host; /* the host path instead of `choice`, with settings from the table only, independent of
                OpenCL and of the user's file */
} device_options;

/* Opens a device without building any program. On failure *out is NULL. */
abut_status device_open(const device_options *options, device **out);

/* Creates a device that could not be opened, for its device_info only. It has no other use. */
abut_status device_describe(const found_device *found, device **out);
void device_close(device *d);

/* Number of slots whose work overlaps. device_select chooses the slot for copies and launches. */
#define DEVICE_SLOTS 2
size_t device_slots(const device *d);
void device_select(device *d, size_t slot);

/* Submit the slot's work, and wait until it has ended. *ended is the end time by now(). If kernels
 * exceed the time limit, the device is lost and returns ABUT_ERROR_TIMEOUT from then on. Copies
 * wait for kernels with the same limit. */
abut_status device_submit(device *d);
abut_status device_wait(device *d, double *ended);

/* Submits the slot's work and waits only for the work submitted by the previous call. At most two
 * pieces of work are therefore in progress. */
abut_status device_pace(device *d);

/* Returns whether kernels exceeded the time limit. They may then still write to their memory. */
bool device_lost(const device *d);

/* Waits, after an error, until nothing running can use the caller's memory, or the device is lost.
 * Retains the error text. */
void device_drain(device *d);

const abut_device_info *device_info(const device *d);
/* Writes the name of the whole device, also for a part of it: parts share its programs. */
void device_whole_name(const device *d, char *out, size_t room);
abut_counters *device_counters(device *d);
uint32_t device_lanes(const device *d);
uint32_t device_group(const device *d, module_id module);         /* work-items per work-group */
uint64_t device_scratch_bytes(const device *d, module_id module); /* of a chunk, if not stated */
size_t device_real_bytes(const device *d);                        /* 4 or 8 */

/* Allocates at least `bytes` of device memory with undefined content. On failure *out is NULL. If a
 * CPU can share the buffer with the host, the host makes copies itself, and buffer_destroy waits
 * for kernels. */
abut_status buffer_create(device *d, size_t bytes, buffer **out);
void buffer_destroy(buffer *b); /* NULL is allowed */

/* Returns whether kernels run on the host's own memory. They can then borrow it, and copies only
 * cost time. */
bool device_on_host_memory(const device *d);

/* On such a device, makes the caller's memory a buffer until buffer_destroy. The memory must be
 * aligned to its numbers and must not overlap another buffer's. Kernels may write to it only if it
 * is `written`. The results are there after buffer_sync and a later call that waits. */
abut_status buffer_borrow(device *d, size_t bytes, void *host, bool written, buffer **out);
abut_status buffer_sync(buffer *b);
size_t buffer_bytes(const buffer *b);

/* Returns whether the host copies to and from the buffer itself. Many small copies then cost no
 * more than a large one. */
bool buffer_on_host(const buffer *b);

/* Makes a buffer from part of a cl_mem of the device's context, without a copy. If the device
 * cannot address its start, *out is NULL without an error. */
abut_status buffer_wrap(device *d, void *cl_memory, size_t offset, size_t bytes, buffer **out);

/* Does the same with part of a buffer. `of` must outlive the part. */
abut_status buffer_part(buffer *of, size_t offset, size_t bytes, buffer **out);

/* Copies rows that are `pitch` bytes apart into another buffer of the device, where they are
 * `to_pitch` bytes apart, in order with the slot's work. */
abut_status buffer_copy_rows(buffer *from, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             buffer *to, size_t to_offset, size_t to_pitch);

/* On a device that merges launches: makes *view, which may be NULL, a buffer for part of a shared
 * buffer (buffer_on_host). `of` must outlive the view. Free it with buffer_view_free. */
abut_status buffer_view(buffer *of, size_t offset, size_t bytes, buffer **view);
void buffer_view_free(buffer *view); /* NULL is allowed */

/* Refuses anything except a cl_mem of the device's context with at least `bytes`. `what` names it
 * in errors. */
abut_status check_memory(const device *d, void *cl_memory, size_t bytes, const char *what);

/* Finds the position of a cl_mem: *offset in *whole, which is the buffer itself or its parent
 * buffer. */
abut_status memory_place(void *cl_memory, const void **whole, size_t *offset);

/* Makes a buffer with a copy of host memory. */
abut_status buffer_upload(device *d, size_t bytes, const void *from, buffer **out);

/* Makes a read-only buffer of host memory that must outlive it and be aligned to its numbers; on
 * the host path without a copy. */
abut_status buffer_lend(device *d, size_t bytes, const void *from, buffer **out);

/* Copies host memory to the device. The host memory may be reused when the call returns. */
abut_status buffer_write(buffer *b, size_t offset, size_t bytes, const void *from);
abut_status buffer_read(buffer *b, size_t offset, size_t bytes, void *to);

/* Enqueues a read behind what was launched in the slot, and does not wait. A buffer_read of the
 * same bytes then only waits for the slot's work, if the slot gets no other work in between. It
 * does nothing where copies are the host's own, or the bytes are many. */
abut_status buffer_read_ahead(buffer *b, size_t offset, size_t bytes);

/* Reads `rows` rows of `bytes` bytes, `pitch` bytes apart in the buffer, into contiguous rows in
 * `to`. */
abut_status buffer_read_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *to);

/* Writes contiguous rows in `from` to rows that are `pitch` bytes apart in the buffer. */
abut_status buffer_write_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                              const void *from);

/* Copy between a buffer and a cl_mem of the device's context, in order with the slot's work. Rows
 * are `pitch` bytes apart in the buffer and contiguous in the cl_mem. */
abut_status buffer_take(buffer *b, void *cl_memory, size_t offset, size_t bytes);
abut_status buffer_take_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *cl_memory, size_t from_offset);
abut_status buffer_give_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *cl_memory, size_t to_offset);

/* One argument of a launch, in the order of the kernel's parameters. */
typedef struct launch_argument {
  argument_kind kind;
  buffer *memory;
  int integer;
  double number;
  const void *structure;
  size_t bytes; /* size of the structure */
} launch_argument;

#define ARG_BUFFER(b)                      \
  {                                        \
    .kind = ARGUMENT_BUFFER, .memory = (b) \
  }
#define ARG_INT(i)                            \
  {                                           \
    .kind = ARGUMENT_INT, .integer = (int)(i) \
  }
#define ARG_REAL(x)                      \
  {                                      \
    .kind = ARGUMENT_REAL, .number = (x) \
  }
#define ARG_STRUCT(s)                                              \
  {                                                                \
    .kind = ARGUMENT_STRUCT, .structure = &(s), .bytes = sizeof(s) \
  }

/* Runs a kernel over (x, y) work-items, or over x work-groups if the kernel works in groups. The
 * program is built at its first use. Does nothing if x or y is 0. For a NULL buffer, some valid
 * memory is passed that the kernel does not access. */
abut_status device_launch(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                          const launch_argument *arguments, size_t count);

/* Merging of independent launches, for devices on which one launch costs as much as hundreds of
 * contacts. device_merges returns whether a device does this. Launches are recorded from
 * device_record on. device_track starts a track of launches, which must not read or write what
 * other tracks write. device_play runs all tracks side by side, each in its order. It is given the
 * status of the steps in between and launches nothing after a failure. Other devices run launches
 * immediately. */
bool device_merges(const device *d);
abut_status device_record(device *d);
abut_status device_track(device *d);
abut_status device_play(device *d, abut_status status);

#define LAUNCH_IN(d, program, kernel, x, y, ...)                                  \
  device_launch(d, program, kernel, x, y, (const launch_argument[]){__VA_ARGS__}, \
                sizeof((const launch_argument[]){__VA_ARGS__}) / sizeof(launch_argument))
#define LAUNCH(d, kernel, x, y, ...) LAUNCH_IN(d, PROGRAM_PLAIN, kernel, x, y, __VA_ARGS__)

#endif
