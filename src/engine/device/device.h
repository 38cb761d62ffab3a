/* An open device has memory, kernels and queues. No other folder calls OpenCL.
 *
 * The host path is a device too: the same kernels, compiled as C11 into the library and called in
 * loops. Launches may return before they are done; a write returns when its source may be reused, a
 * read when its data is there.
 *
 * Work goes to slots, a queue each: while the kernels of one run, another is filled or read. One
 * thread at a time uses a device.
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
  uint32_t lanes, group, items; /* 0: by the table */
  const char *kernel_directory; /* NULL: embedded */
  double timeout;               /* longest wait for kernels [s] */
  bool host;                    /* the host path instead of `choice`, by the table alone,
                                   whatever has become of OpenCL and of the user's file */
} device_options;

/* Opens a device; nothing is built yet. On failure *out is NULL. */
abut_status device_open(const device_options *options, device **out);

/* Makes a device that could not be opened, for its device_info alone: nothing can be done on it. */
abut_status device_describe(const found_device *found, device **out);
void device_close(device *d);

/* So many slots overlap. device_select chooses the one that copies and launches go to. */
#define DEVICE_SLOTS 2
size_t device_slots(const device *d);
void device_select(device *d, size_t slot);

/* Sends the slot's work off, and waits until it has ended; *ended: when that was, by now(). A
 * device whose kernels do not end in time is lost: ABUT_ERROR_TIMEOUT from then on. Copies wait for
 * kernels with the same bound. */
abut_status device_submit(device *d);
abut_status device_wait(device *d, double *ended);

/* Sends the slot's work off without waiting for it, only for what the call before this one sent
 * off: no more than two pieces of work are under way. */
abut_status device_pace(device *d);

/* Whether its kernels have not ended in time, so that they may still write what they were given. */
bool device_lost(const device *d);

/* Waits, after an error, until nothing runs that might use the caller's memory, or the device is
 * lost. The error's text stays. */
void device_drain(device *d);

const abut_device_info *device_info(const device *d);
/* Writes the name of the device that this is a part of, or its own: parts have its programs. */
void device_whole_name(const device *d, char *out, size_t room);
abut_counters *device_counters(device *d);
uint32_t device_lanes(const device *d);
uint32_t device_group(const device *d, module_id module);         /* work-items of a work-group */
uint64_t device_scratch_bytes(const device *d, module_id module); /* of a chunk, where the caller
                                                                     names none */
size_t device_real_bytes(const device *d);                        /* 4 or 8 */

/* Allocates at least `bytes` of device memory, whose content is undefined. On failure *out is NULL.
 * Where a CPU can share it with the host, copies are the host's own, and buffer_destroy waits for
 * kernels. */
abut_status buffer_create(device *d, size_t bytes, buffer **out);
void buffer_destroy(buffer *b); /* NULL is allowed */

/* Whether kernels run on the host's own memory, where copies only cost time, and can borrow it. */
bool device_on_host_memory(const device *d);

/* There, makes the caller's memory a buffer, until buffer_destroy. It must be aligned to its
 * numbers and overlap no other buffer's; only where it is `written` kernels may write it, and what
 * they have written is there once buffer_sync has been called for it and a call that waits has
 * returned. */
abut_status buffer_borrow(device *d, size_t bytes, void *host, bool written, buffer **out);
abut_status buffer_sync(buffer *b);
size_t buffer_bytes(const buffer *b);

/* Whether its copies are the host's own, so that many small ones cost no more than a large one. */
bool buffer_on_host(const buffer *b);

/* Makes a buffer of a part of a cl_mem of the device's context, without a copy. Where it does not
 * begin where the device can address it, *out is NULL without an error. */
abut_status buffer_wrap(device *d, void *cl_memory, size_t offset, size_t bytes, buffer **out);

/* Does the same with a part of a buffer, which must outlive the part. */
abut_status buffer_part(buffer *of, size_t offset, size_t bytes, buffer **out);

/* Copies rows that lie `pitch` bytes apart to another buffer of the device's, where they lie
 * `to_pitch` bytes apart, in order with the slot's work. */
abut_status buffer_copy_rows(buffer *from, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             buffer *to, size_t to_offset, size_t to_pitch);

/* On a device that merges: makes *view, which may be NULL, a buffer of a part of another one, that
 * must outlive it, and that is shared (buffer_on_host). buffer_view_free frees it. */
abut_status buffer_view(buffer *of, size_t offset, size_t bytes, buffer **view);
void buffer_view_free(buffer *view); /* NULL is allowed */

/* Refuses what is no cl_mem of the device's context with so many bytes. `what` names it. */
abut_status check_memory(const device *d, void *cl_memory, size_t bytes, const char *what);

/* Finds where a cl_mem lies: at *offset in *whole, which is the buffer itself, or the one that it
 * is a part of. */
abut_status memory_place(void *cl_memory, const void **whole, size_t *offset);

/* Makes a buffer with a copy of host memory. */
abut_status buffer_upload(device *d, size_t bytes, const void *from, buffer **out);

/* Makes a buffer that nothing writes of host memory that outlives it: on the host path without a
 * copy. It must be aligned to its numbers. */
abut_status buffer_lend(device *d, size_t bytes, const void *from, buffer **out);

/* Copies host memory up. It may be reused when the call returns. */
abut_status buffer_write(buffer *b, size_t offset, size_t bytes, const void *from);
abut_status buffer_read(buffer *b, size_t offset, size_t bytes, void *to);

/* Reads `rows` rows of `bytes`, which lie `pitch` bytes apart, side by side into `to`. */
abut_status buffer_read_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *to);

/* Writes rows that lie side by side in `from` to where they lie `pitch` bytes apart. */
abut_status buffer_write_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                              const void *from);

/* Copies between a buffer and a cl_mem of the device's context, in order with the slot's work.
 * Rows lie `pitch` bytes apart in the buffer, side by side in the cl_mem. */
abut_status buffer_take(buffer *b, void *cl_memory, size_t offset, size_t bytes);
abut_status buffer_take_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *cl_memory, size_t from_offset);
abut_status buffer_give_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *cl_memory, size_t to_offset);

/* A launch has one of these for each of the kernel's arguments, in its order. */
typedef struct launch_argument {
  argument_kind kind;
  buffer *memory;
  int integer;
  double number;
  const void *structure;
  size_t bytes; /* of the structure */
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

/* Runs a kernel of a program, which is built at its first use, over (x, y) work-items, or x
 * work-groups where the kernel works in groups. Nothing where x or y is 0. A NULL buffer is passed
 * as some valid memory that the kernel will not touch. */
abut_status device_launch(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                          const launch_argument *arguments, size_t count);

/* Where a launch costs as much as hundreds of contacts do, those that do not wait for each other
 * can be made fewer: device_merges says whether. From device_record on launches are kept;
 * device_track begins a track of them, which neither reads nor writes what other tracks write;
 * device_play launches all tracks side by side, each in its order. It takes the status of what was
 * done in between, and after a failure launches nothing. Elsewhere launches are carried out at
 * once. */
bool device_merges(const device *d);
abut_status device_record(device *d);
abut_status device_track(device *d);
abut_status device_play(device *d, abut_status status);

#define LAUNCH_IN(d, program, kernel, x, y, ...)                                  \
  device_launch(d, program, kernel, x, y, (const launch_argument[]){__VA_ARGS__}, \
                sizeof((const launch_argument[]){__VA_ARGS__}) / sizeof(launch_argument))
#define LAUNCH(d, kernel, x, y, ...) LAUNCH_IN(d, PROGRAM_PLAIN, kernel, x, y, __VA_ARGS__)

#endif
