/* Launch parameters by measurement. */
#ifndef ABUT_DEVICE_TUNING_H
#define ABUT_DEVICE_TUNING_H

#include <abut/device.h>

/* Of one device at one precision. */
typedef struct tuning {
  uint32_t lanes;         /* elements a work-item carries */
  uint32_t group;         /* work-items of a work-group where a kernel works in groups */
  uint32_t items;         /* work-items of a work-group elsewhere */
  uint64_t scratch_bytes; /* device memory for one chunk of poses */
} tuning;

/* The row that fits a device best: by name, else by platform, else by type. */
tuning tuning_for(const abut_device_info *info, abut_precision precision);

/* The same with values of the caller's, where they are not 0. One lane is the GPUs' way on every
 * OpenCL device, with their work-groups: so a CPU can test it. */
abut_status tuning_with(const abut_device_info *info, abut_precision precision,
                        const tuning *wanted, tuning *out);

#endif
