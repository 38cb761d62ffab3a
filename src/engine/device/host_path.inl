/* The kernels of one group of modules on one kind of number. host_path.c.in includes this file
 * after setting REAL_DOUBLE, TANGENTS, HOST_SHIMS and HOST_LAUNCH, and WITH_ADJOINT to 0 to omit
 * adjoint kernels. */
#include "engine/device/denormals.h"
#include "engine/device/host_path.h"

#include <stddef.h>

#define LANES 1
#define WIDE 1
#define WG 1

static _Thread_local size_t work_item[2];
#define get_global_id(i) work_item[i]
#define get_group_id(i) work_item[i]
#define get_local_id(i) 0

/* The suites serve every variant of the generic number; no variant uses all of them. */
#pragma GCC diagnostic ignored "-Wunused-function"
#ifndef __clang__
/* At -O3 gcc does not see that parts of a mixture that are missing are never read: the same flags
 * control both. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include HOST_SHIMS

void HOST_LAUNCH(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);

void HOST_LAUNCH(kernel_id kernel, size_t x, size_t y, const host_argument *arguments)
{
  const unsigned before = flush_denormals();
  for (work_item[1] = 0; work_item[1] < y; ++work_item[1]) {
    for (work_item[0] = 0; work_item[0] < x; ++work_item[0]) {
      host_functions[kernel](arguments);
    }
  }
  restore_denormals(before);
}
