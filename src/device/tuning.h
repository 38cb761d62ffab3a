/* Launch parameters by measurement. */
#ifndef ABUT_DEVICE_TUNING_H
#define ABUT_DEVICE_TUNING_H

#include <abut/device.h>

typedef struct tuning {
  uint32_t lanes[2];   /* elements a work-item carries, by abut_precision */
  uint32_t group;      /* work-items of a work-group where a kernel works in groups */
  uint32_t items;      /* work-items of a work-group elsewhere */
} tuning;

/* The row that fits a device best: by name, else by platform, else by type. */
tuning tuning_for(const abut_device_info *info);

/* The same with a lane width of the caller's, 0 for the table's. One lane is the GPUs' way on
 * every OpenCL device, with their work-groups: so a CPU can test it. */
tuning tuning_with_lanes(const abut_device_info *info, uint32_t lanes);

#endif
