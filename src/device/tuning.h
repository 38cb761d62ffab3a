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

#endif
