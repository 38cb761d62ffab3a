/* The build's description of each kernel and of the programs that contain it. */
#ifndef ABUT_DEVICE_KERNELS_H
#define ABUT_DEVICE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum argument_kind {
  ARGUMENT_BUFFER,
  ARGUMENT_INT,
  ARGUMENT_REAL,
  ARGUMENT_STRUCT /* by value, with int members only */
} argument_kind;

#include "kernel_ids.h"

/* A module's suite is built for plain numbers, duals, and duals with six tangents. Forward and
 * adjoint kernels are separate programs; duals with six tangents have only forward kernels. A
 * program is therefore identified by {module, numbers, adjoint}. It is built when one of its
 * kernels is first launched. */
typedef enum program_id { PROGRAM_PLAIN, PROGRAM_DUAL, PROGRAM_DUAL6, PROGRAM_NUMBERS } program_id;

/* Number of programs of a module, and of all modules. */
#define PROGRAM_KINDS (2 * PROGRAM_NUMBERS)
#define PROGRAM_KIND(numbers, adjoint) (2 * (int)(numbers) + ((adjoint) != 0))
#define PROGRAM_COUNT (PROGRAM_KINDS * MODULE_COUNT)
#define PROGRAM_OF(module, numbers, adjoint) \
  (PROGRAM_KINDS * (int)(module) + PROGRAM_KIND(numbers, adjoint))

/* Returns the reals per number: a value, and a derivative along each tangent. */
static inline size_t number_parts(program_id numbers)
{
  static const size_t parts[PROGRAM_NUMBERS] = {1, 2, 7};
  return parts[numbers];
}

typedef struct kernel_entry {
  const char *name;
  module_id module;
  int arguments;
  int grouped; /* runs in work-groups with local memory */
  int plain_only, dual_only;
  int adjoint;
  int merged; /* has a form for several launches at once: MERGED in cl/num/real.h */
  argument_kind kinds[KERNEL_ARGUMENTS];
} kernel_entry;

const kernel_entry *kernel_entry_of(kernel_id kernel);

/* Returns whether a module's program for these numbers contains the kernel. */
bool kernel_is_on(kernel_id kernel, program_id numbers);

/* Return a module's name, such as "manifold", and the module with a name, or MODULE_COUNT. */
const char *module_name(module_id module);
module_id module_named(const char *name);

#endif
