/* Passes a kernel to the object that contains it: there is one for each group of modules and each
 * kind of number. */
#include "engine/device/host_path.h"

#include "host_groups.inl"

typedef void (*host_launcher)(kernel_id kernel, size_t x, size_t y, const host_argument *arguments);

#define DECLARE(group, name)                                              \
  void host_launch_##name##_##group(kernel_id kernel, size_t x, size_t y, \
                                    const host_argument *arguments);
#define ENTRY(group, name) host_launch_##name##_##group,
#define DEFINE(name)                                                                            \
  EACH_HOST_GROUP(DECLARE, name)                                                                \
  void host_launch_##name(kernel_id kernel, size_t x, size_t y, const host_argument *arguments) \
  {                                                                                             \
    static const host_launcher launchers[] = {EACH_HOST_GROUP(ENTRY, name)};                    \
    launchers[host_groups[kernel]](kernel, x, y, arguments);                                    \
  }

DEFINE(f32)
DEFINE(f64)
DEFINE(f32_dual)
DEFINE(f64_dual)
DEFINE(f32_dual6)
DEFINE(f64_dual6)
