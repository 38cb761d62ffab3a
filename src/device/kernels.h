/* What the build knows of each kernel. */
#ifndef ABUT_DEVICE_KERNELS_H
#define ABUT_DEVICE_KERNELS_H

typedef enum argument_kind {
  ARGUMENT_BUFFER,
  ARGUMENT_INT,
  ARGUMENT_REAL
} argument_kind;

#include "kernel_ids.h"

typedef struct kernel_entry {
  const char *name;
  int arguments;
  int grouped; /* runs in work-groups with local memory */
  argument_kind kinds[KERNEL_ARGUMENTS];
} kernel_entry;

#endif
