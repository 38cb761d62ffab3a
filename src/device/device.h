/* One open device: memory, kernels and a queue. The only folder that calls OpenCL.
 *
 * The host path is a device too: the same kernels, compiled as C11 into the library and called in
 * loops. Launches and writes may return before they are done; a read returns when its data is
 * there.
 */
#ifndef ABUT_DEVICE_DEVICE_H
#define ABUT_DEVICE_DEVICE_H

#include "device/kernels.h"
#include <abut/device.h>

typedef struct device device;
typedef struct buffer buffer;

typedef struct device_options {
  uint32_t index;
  abut_precision precision;
  uint32_t lanes, group, items; /* 0: by the table */
  const char *kernel_directory; /* NULL: embedded */
} device_options;

/* Opens a device and builds its program. On failure *out is NULL. */
abut_status device_open(const device_options *options, device **out);
void device_close(device *d);

const abut_device_info *device_info(const device *d);
abut_counters *device_counters(device *d);
uint32_t device_lanes(const device *d);
uint64_t device_scratch_bytes(const device *d); /* of a chunk, where the caller names none */
size_t device_real_bytes(const device *d); /* 4 or 8 */

/* Device memory of at least `bytes`; its content is undefined. On failure *out is NULL. */
abut_status buffer_create(device *d, size_t bytes, buffer **out);
void buffer_destroy(buffer *b); /* NULL is allowed */
size_t buffer_bytes(const buffer *b);

/* Copies host memory up. It may be reused when the call returns. */
abut_status buffer_write(buffer *b, size_t offset, size_t bytes, const void *from);
abut_status buffer_read(buffer *b, size_t offset, size_t bytes, void *to);

/* Reads `rows` rows of `bytes`, which lie `pitch` bytes apart, side by side into `to`. */
abut_status buffer_read_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *to);

/* One argument of a launch, in the kernel's order. */
typedef struct launch_argument {
  argument_kind kind;
  buffer *memory;
  int integer;
  double number;
} launch_argument;

#define ARG_BUFFER(b) {ARGUMENT_BUFFER, (b), 0, 0.0}
#define ARG_INT(i) {ARGUMENT_INT, NULL, (int)(i), 0.0}
#define ARG_REAL(x) {ARGUMENT_REAL, NULL, 0, (x)}

/* Runs a kernel of a program, which is built at its first use, over (x, y) work-items, or x
 * work-groups where the kernel works in groups. Nothing where x or y is 0. A NULL buffer is passed
 * as some valid memory that the kernel will not touch. */
abut_status device_launch(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                          const launch_argument *arguments, size_t count);

#define LAUNCH_IN(d, program, kernel, x, y, ...)                                      \
  device_launch(d, program, kernel, x, y, (const launch_argument[]){__VA_ARGS__},     \
                sizeof((const launch_argument[]){__VA_ARGS__}) / sizeof(launch_argument))
#define LAUNCH(d, kernel, x, y, ...) LAUNCH_IN(d, PROGRAM_PLAIN, kernel, x, y, __VA_ARGS__)

#endif
