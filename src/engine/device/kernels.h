/* The build knows this of each kernel, and of the programs that they are built in. */
#ifndef ABUT_DEVICE_KERNELS_H
#define ABUT_DEVICE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum argument_kind {
  ARGUMENT_BUFFER,
  ARGUMENT_INT,
  ARGUMENT_REAL,
  ARGUMENT_STRUCT /* by value, of ints alone */
} argument_kind;

#include "kernel_ids.h"

/* A module's suite is built on plain numbers, on duals and on duals of six tangents; its forward
 * kernels and its adjoint ones each for themselves, but the last forward alone. So a program is one
 * of {module, numbers, adjoint}. Each is built when a kernel of it is first launched. */
typedef enum program_id { PROGRAM_PLAIN, PROGRAM_DUAL, PROGRAM_DUAL6, PROGRAM_NUMBERS } program_id;

/* So many programs has a module, and so many all of them. */
#define PROGRAM_KINDS (2 * PROGRAM_NUMBERS)
#define PROGRAM_KIND(numbers, adjoint) (2 * (int)(numbers) + ((adjoint) != 0))
#define PROGRAM_COUNT (PROGRAM_KINDS * MODULE_COUNT)
#define PROGRAM_OF(module, numbers, adjoint) \
  (PROGRAM_KINDS * (int)(module) + PROGRAM_KIND(numbers, adjoint))

/* Returns how many reals a number has: a value, and a derivative along each tangent. */
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
  int merged; /* has another form, which carries out several launches at once: MERGED in
                 cl/num/real.h */
  argument_kind kinds[KERNEL_ARGUMENTS];
} kernel_entry;

const kernel_entry *kernel_entry_of(kernel_id kernel);

/* Whether a module's program on such numbers has the kernel. */
bool kernel_is_on(kernel_id kernel, program_id numbers);

/* Return a module's name, such as "manifold", and the module of a name, or MODULE_COUNT. */
const char *module_name(module_id module);
module_id module_named(const char *name);

#endif
