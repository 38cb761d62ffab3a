/* for sched_getaffinity, if the system has it */
#define _GNU_SOURCE
#include "mpi/own_device.h"

#include <sched.h>
#include <stdio.h>

#define DEVICES_LISTED 256

size_t own_cores(void)
{
#ifdef __linux__
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 ? (size_t)CPU_COUNT(&mask) : 0;
#else
  return 0;
#endif
}

abut_device_choice own_part(uint32_t device, uint32_t units, size_t cores, size_t rank,
                            size_t ranks, uint32_t *idle)
{
  const size_t share = units / ranks ? units / ranks : 1,
               of = cores && cores < share ? cores : share;
  *idle = (uint32_t)(share - of);
  return (abut_device_choice){device, (uint32_t)of, (uint32_t)(rank % (units / of))};
}

/* Returns whether the driver can create such a part. */
static bool divides(abut_device_choice c)
{
  char name[64];
  size_t found = 0;
  snprintf(name, sizeof name, "%u/%u.%u", c.device, c.units, c.part);
  return abut_find_devices(name, &c, 1, &found) == ABUT_SUCCESS && found == 1;
}

abut_status find_own_device(size_t rank, size_t ranks, own_device *own)
{
  abut_device_info list[DEVICES_LISTED];
  size_t count = 0, alike = 0, at = 0;
  uint32_t first = 0;
  *own = (own_device){0};
  abut_status status = abut_list_devices(list, DEVICES_LISTED, &count);
  status = status ? status : abut_find_device(NULL, &first);
  count = count < DEVICES_LISTED ? count : DEVICES_LISTED;
  if (status || first >= count) {
    return status;
  }
  own->choice.device = first;
  if (list[first].type == ABUT_DEVICE_CPU && list[first].compute_units) {
    uint32_t idle;
    const abut_device_choice part =
      own_part(first, list[first].compute_units, own_cores(), rank, ranks, &idle);
    if (divides(part)) {
      *own = (own_device){part, true, idle};
    }
    return ABUT_SUCCESS;
  }
  for (size_t i = 0; i < count; ++i) {
    alike += list[i].type == ABUT_DEVICE_GPU;
  }
  for (size_t i = 0; i < count && list[first].type == ABUT_DEVICE_GPU; ++i) {
    if (list[i].type == ABUT_DEVICE_GPU && at++ == rank % alike) {
      own->choice = (abut_device_choice){list[i].index, 0, 0};
      own->chosen = true;
    }
  }
  return ABUT_SUCCESS;
}
