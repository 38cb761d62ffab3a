/* Lists the available devices. */
#ifndef ABUT_DEVICE_DISCOVERY_H
#define ABUT_DEVICE_DISCOVERY_H

#include <CL/cl.h>
#include <abut/device.h>

typedef struct found_device {
  abut_device_info info;
  cl_platform_id platform; /* NULL for the host path */
  cl_device_id device;
  cl_int code;      /* of the first query that the driver failed to answer */
  size_t part_text; /* trailing bytes of info.name that identify the part of a device */
} found_device;

/* Finds the device at an index of abut_list_devices. */
abut_status discover(uint32_t index, found_device *out);

/* Finds the first device in the order of preference (abut_find_device) for which `taken` is false,
 * or the host path if it is true for all others. Failed queries are reported only when the device
 * is opened. */
typedef bool (*discovery_test)(const abut_device_info *info, const void *user);
abut_status discover_preferred(discovery_test taken, const void *user, found_device *out);

/* Describes the host path without reading OpenCL or the user's file. */
void discover_host(found_device *out);

/* Describes an OpenCL device supplied by the caller, which may be part of a device. */
abut_status discover_device(cl_device_id device, found_device *out);

#endif
