/* What the build knows of each kernel. */
#ifndef ABUT_DEVICE_KERNELS_H
#define ABUT_DEVICE_KERNELS_H

typedef enum argument_kind {
  ARGUMENT_BUFFER,
  ARGUMENT_INT,
  ARGUMENT_REAL
} argument_kind;

#include "kernel_ids.h"

/* The suite is built on plain numbers and on duals, its forward and its adjoint kernels each for
 * themselves: PROGRAM_COUNT programs, of which a context builds the plain forward one when it is
 * made and the others when they are first needed. */
typedef enum program_id {
  PROGRAM_PLAIN,
  PROGRAM_DUAL
} program_id;

#define PROGRAM_COUNT 4
#define PROGRAM_OF(numbers, adjoint) (2 * (int)(numbers) + ((adjoint) != 0))

#define DUAL_PARTS 2 /* reals of a number on duals: a value and a derivative */

typedef struct kernel_entry {
  const char *name;
  int arguments;
  int grouped; /* runs in work-groups with local memory */
  int plain_only;
  int adjoint;
  argument_kind kinds[KERNEL_ARGUMENTS];
} kernel_entry;

#endif
