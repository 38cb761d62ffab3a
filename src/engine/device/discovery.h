/* These functions say which devices there are. */
#ifndef ABUT_DEVICE_DISCOVERY_H
#define ABUT_DEVICE_DISCOVERY_H

#include <CL/cl.h>
#include <abut/device.h>

typedef struct found_device {
  abut_device_info info;
  cl_platform_id platform; /* NULL for the host path */
  cl_device_id device;
  cl_int code;      /* of the first question that the driver did not answer */
  size_t part_text; /* how many of info.name's last bytes tell which part of a device this is */
} found_device;

/* Finds the device at an index of abut_list_devices. */
abut_status discover(uint32_t index, found_device *out);

/* Finds the first one in the order of preference (abut_find_device) of which `taken` does not hold,
 * or the host path where it holds of all others. Whether it answers all questions shows when it
 * opens. */
typedef bool (*discovery_test)(const abut_device_info *info, const void *user);
abut_status discover_preferred(discovery_test taken, const void *user, found_device *out);

/* Finds the host path, whatever becomes of OpenCL and of the user's file: neither is asked. */
void discover_host(found_device *out);

/* Does the same with an OpenCL device that a caller brought; a part of one is described as it
 * is. */
abut_status discover_device(cl_device_id device, found_device *out);

#endif
