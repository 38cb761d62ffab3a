/* An OpenCL context, queue and program of one device. */
#ifndef ABUT_DEVICE_OPENCL_H
#define ABUT_DEVICE_OPENCL_H

#include "device/kernels.h"
#include <CL/cl.h>
#include <abut/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct opencl opencl;

typedef struct opencl_options {
  cl_platform_id platform;
  cl_device_id device;
  uint32_t lanes, group, items; /* see tuning.h */
  bool float64;                 /* kernels compute in float64 */
  bool has_float64;             /* the device could */
  const char *kernel_directory;
} opencl_options;

typedef struct opencl_argument {
  cl_mem memory;
  int integer;
  double number;
} opencl_argument;

/* Builds the plain forward program. */
abut_status opencl_open(const opencl_options *options, const kernel_entry *table, opencl **out);
void opencl_close(opencl *o);
abut_status opencl_allocate(opencl *o, size_t bytes, cl_mem *out);
abut_status opencl_write(opencl *o, cl_mem to, size_t offset, size_t bytes, const void *from);
abut_status opencl_read(opencl *o, cl_mem from, size_t offset, size_t bytes, void *to);
abut_status opencl_read_rows(opencl *o, cl_mem from, size_t offset, size_t pitch, size_t bytes,
                             size_t rows, void *to);

/* Builds the program of a kernel unless that has been done; *built says whether it was now. */
abut_status opencl_need(opencl *o, program_id program, kernel_id kernel, bool *built);
abut_status opencl_launch(opencl *o, program_id program, kernel_id kernel, size_t x, size_t y,
                          const opencl_argument *arguments);

#endif
