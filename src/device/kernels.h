/* What the build knows of each kernel. */
#ifndef ABUT_DEVICE_KERNELS_H
#define ABUT_DEVICE_KERNELS_H

typedef enum argument_kind {
  ARGUMENT_BUFFER,
  ARGUMENT_INT,
  ARGUMENT_REAL
} argument_kind;

#include "kernel_ids.h"

/* The suite is built on plain numbers and, at its first use, on duals. */
typedef enum program_id {
  PROGRAM_PLAIN,
  PROGRAM_DUAL,
  PROGRAM_COUNT
} program_id;

#define DUAL_PARTS 2 /* reals of a number on duals: a value and a derivative */

typedef struct kernel_entry {
  const char *name;
  int arguments;
  int grouped; /* runs in work-groups with local memory */
  int plain_only;
  argument_kind kinds[KERNEL_ARGUMENTS];
} kernel_entry;

#endif
