/* The host path contains the kernels as C11, in both precisions, for plain numbers, duals, and
 * duals with six tangents. */
#ifndef ABUT_DEVICE_HOST_PATH_H
#define ABUT_DEVICE_HOST_PATH_H

#include "engine/device/kernels.h"
#include <stddef.h>

typedef struct host_argument {
  void *pointer;
  int integer;
  double number;
  const void *structure;
} host_argument;

typedef void (*host_function)(const host_argument *arguments);

void host_launch_f32(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);
void host_launch_f64(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);
void host_launch_f32_dual(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);
void host_launch_f64_dual(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);
void host_launch_f32_dual6(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);
void host_launch_f64_dual6(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);

#endif
