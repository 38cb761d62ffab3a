#include "engine/device/kernels.h"

#include <string.h>

#include "kernel_table.inl"

const kernel_entry *kernel_entry_of(kernel_id kernel)
{
  return &kernel_table[kernel];
}

bool kernel_is_on(kernel_id kernel, program_id numbers)
{
  const kernel_entry *k = &kernel_table[kernel];
  return !(numbers != PROGRAM_PLAIN && k->plain_only) &&
         !(numbers != PROGRAM_DUAL && k->dual_only) && !(numbers == PROGRAM_DUAL6 && k->adjoint);
}

const char *module_name(module_id module)
{
  return module_names[module];
}

module_id module_named(const char *name)
{
  int module = 0;
  while (module < MODULE_COUNT && strcmp(module_names[module], name) != 0) {
    ++module;
  }
  return (module_id)module;
}
