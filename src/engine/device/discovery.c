#include "engine/device/discovery.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/device/driver_lock.h"
#include "engine/device/tuning_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_PLATFORMS 32
#define MAX_DEVICES 64

/* Queries a property that every driver must report: without it, the device would be mistaken for
 * another one. */
static void query_device(found_device *d, cl_device_info what, size_t bytes, void *to)
{
  const cl_int code = clGetDeviceInfo(d->device, what, bytes, to, NULL);
  d->code = d->code == CL_SUCCESS ? code : d->code;
}

static void query_text(found_device *d, cl_device_info what, char *out, size_t bytes)
{
  char text[1024] = "";
  query_device(d, what, sizeof text - 1, text);
  snprintf(out, bytes, "%.*s", (int)bytes - 1, text);
}

static void query_platform(found_device *d)
{
  abut_device_info *info = &d->info;
  char text[1024] = "";
  d->code = clGetPlatformInfo(d->platform, CL_PLATFORM_NAME, sizeof text - 1, text, NULL);
  snprintf(info->platform, sizeof info->platform, "%.*s", (int)sizeof info->platform - 1, text);
}

static abut_device_type query_type(found_device *d)
{
  cl_device_type type = 0;
  query_device(d, CL_DEVICE_TYPE, sizeof type, &type);
  if (type & CL_DEVICE_TYPE_CPU || strstr(d->info.name, "llvmpipe")) {
    return ABUT_DEVICE_CPU;
  }
  return type & CL_DEVICE_TYPE_GPU ? ABUT_DEVICE_GPU : ABUT_DEVICE_OTHER;
}

/* A driver without float64 may not support this query. */
static bool query_float64(found_device *d)
{
  cl_device_fp_config doubles = 0;
  const cl_int code =
    clGetDeviceInfo(d->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
  d->code = d->code == CL_SUCCESS && code != CL_INVALID_VALUE ? code : d->code;
  return doubles != 0;
}

/* AMD's drivers put the architecture first in the name, "gfx90a:sramecc+:xnack-". NVIDIA's have a
 * query. */
static void find_architecture(cl_device_id device, abut_device_info *info)
{
  enum { MAJOR = 0x4000, MINOR = 0x4001 }; /* of cl_nv_device_attribute_query */
  cl_uint major = 0, minor = 0;
  if (strncmp(info->name, "gfx", 3) == 0) {
    snprintf(info->architecture, sizeof info->architecture, "%.*s", (int)strcspn(info->name, ": "),
             info->name);
  } else if (strstr(info->vendor, "NVIDIA") &&
             clGetDeviceInfo(device, MAJOR, sizeof major, &major, NULL) == CL_SUCCESS &&
             clGetDeviceInfo(device, MINOR, sizeof minor, &minor, NULL) == CL_SUCCESS) {
    snprintf(info->architecture, sizeof info->architecture, "sm_%u%u", major, minor);
  }
}

static void describe(found_device *d)
{
  abut_device_info *info = &d->info;
  cl_uint units = 0, clock = 0;
  cl_ulong memory = 0, most = 0;
  memset(info, 0, sizeof *info);
  query_platform(d);
  query_text(d, CL_DEVICE_NAME, info->name, sizeof info->name);
  query_text(d, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
  query_text(d, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
  query_text(d, CL_DEVICE_VERSION, info->version, sizeof info->version);
  info->type = query_type(d);
  find_architecture(d->device, info);
  info->has_float64 = query_float64(d);
  query_device(d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units);
  query_device(d, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory);
  query_device(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most);
  clGetDeviceInfo(d->device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof clock, &clock, NULL);
  info->compute_units = units;
  info->clock_mhz = clock;
  info->memory_bytes = memory;
  info->allocation_bytes = most;
}

static void describe_host(abut_device_info *info)
{
  memset(info, 0, sizeof *info);
  info->type = ABUT_DEVICE_HOST;
  info->has_float64 = true;
  info->compute_units = 1;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  info->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
  info->allocation_bytes = info->memory_bytes;
  snprintf(info->name, sizeof info->name, "host");
  snprintf(info->platform, sizeof info->platform, "abut");
  snprintf(info->vendor, sizeof info->vendor, "abut");
  snprintf(info->driver, sizeof info->driver, "%s", abut_version());
  snprintf(info->version, sizeof info->version, "C11");
}

/* Errors in the user's file are reported when a context is created, not in every list. */
static void find_lanes(found_device *devices, size_t count)
{
  char *path = NULL;
  tuning_file file = {NULL, 0};
  if (tuning_file_path(&path) == ABUT_SUCCESS) {
    tuning_file_read(path, &file);
  }
  for (size_t i = 0; i < 2 * count; ++i) {
    abut_device_info *info = &devices[i / 2].info;
    info->lanes[i % 2] = tuning_find(&file, info, (abut_precision)(i % 2), NULL, NULL).lanes;
  }
  tuning_file_free(&file);
  free(path);
}

/* Lists up to `capacity` devices and returns their number. A platform that fails is skipped. */
static size_t discover_all(found_device *out, size_t capacity)
{
  size_t count = 0;
  cl_platform_id platforms[MAX_PLATFORMS];
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) {
    platform_count = 0;
  }
  platform_count = platform_count < MAX_PLATFORMS ? platform_count : MAX_PLATFORMS;
  if (platform_count) {
    drivers_asked();
  }
  for (cl_uint i = 0; i < platform_count; ++i) {
    cl_device_id devices[MAX_DEVICES];
    cl_uint device_count = 0;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &device_count) !=
        CL_SUCCESS) {
      continue;
    }
    for (cl_uint j = 0; j < device_count && j < MAX_DEVICES; ++j, ++count) {
      if (count < capacity) {
        out[count].platform = platforms[i];
        out[count].device = devices[j];
        describe(&out[count]);
        out[count].info.index = (uint32_t)count;
      }
    }
  }
  if (count < capacity) {
    out[count] = (found_device){.platform = NULL};
    describe_host(&out[count].info);
    out[count].info.index = (uint32_t)count;
  }
  return count + 1;
}

/* The host path's index when devices were last listed. */
static _Atomic uint32_t host_index = UINT32_MAX;

/* Lists all devices in an array that the caller frees. The devices' `lanes` are not yet set. */
static abut_status discover_locked(found_device **out, size_t *count)
{
  *count = discover_all(NULL, 0);
  void *memory;
  TRY(allocate(&memory, *count, sizeof(found_device)));
  *out = memory;
  const size_t again = discover_all(*out, *count);
  if (again != *count) { /* an index would no longer mean the same device */
    free(memory);
    *out = NULL;
    return fail(ABUT_ERROR_DEVICE, "OpenCL reported %zu devices, and then %zu", *count, again);
  }
  host_index = (*out)[*count - 1].info.index;
  return ABUT_SUCCESS;
}

static abut_status forked(void)
{
  return fail(ABUT_ERROR_DEVICE,
              "OpenCL was in use before fork(), and its drivers do not work after fork(): start "
              "workers with spawn, or use the device \"host\"");
}

static abut_status discover_host_alone(found_device **out, size_t *count)
{
  void *memory;
  TRY(allocate(&memory, 1, sizeof(found_device)));
  *out = memory;
  *count = 1;
  describe_host(&(*out)->info);
  host_index = 0;
  return ABUT_SUCCESS;
}

static abut_status discover_array(found_device **out, size_t *count)
{
  if (drivers_are_here()) {
    driver_lock();
    const abut_status status = discover_locked(out, count);
    driver_unlock();
    TRY(status);
  } else {
    TRY(discover_host_alone(out, count));
  }
  find_lanes(*out, *count);
  return ABUT_SUCCESS;
}

static abut_status check_answers(const found_device *d)
{
  return d->code == CL_SUCCESS ? ABUT_SUCCESS
                               : fail(d->code, "device %u (%s) does not report its properties: %s",
                                      d->info.index, d->info.name, abut_status_name(d->code));
}

abut_status discover(uint32_t index, found_device *out)
{
  found_device *all = NULL;
  size_t count = 0;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(discover_array(&all, &count));
  if (index >= count) {
    status = !drivers_are_here() ? forked()
                                 : fail(ABUT_ERROR_DEVICE,
                                        "there is no device %u; the last one is "
                                        "%zu",
                                        index, count - 1);
    goto done;
  }
  *out = all[index];
  status = check_answers(out);
done:
  free(all);
  return status;
}

void discover_host(found_device *out)
{
  *out = (found_device){.platform = NULL};
  describe_host(&out->info);
  out->info.index = host_index;
  out->info.lanes[0] = out->info.lanes[1] = 1;
}

abut_status discover_device(cl_device_id device, found_device *out)
{
  TRY(drivers_are_here() ? ABUT_SUCCESS : forked());
  found_device *all = NULL;
  size_t count = 0;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(discover_array(&all, &count));
  for (size_t i = 0; i < count; ++i) {
    if (all[i].device == device) {
      *out = all[i];
      status = check_answers(out);
      goto done;
    }
  }
  memset(out, 0, sizeof *out);
  out->device = device;
  const cl_int code =
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof out->platform, &out->platform, NULL);
  if (code != CL_SUCCESS) {
    status = fail(code, "clGetDeviceInfo failed: %s", abut_status_name(code));
    goto done;
  }
  describe(out);
  out->info.index = UINT32_MAX;
  find_lanes(out, 1);
  status = check_answers(out);
done:
  free(all);
  return status;
}

abut_status abut_list_devices(abut_device_info *infos, size_t capacity, size_t *count)
{
  if (!count || (capacity && !infos)) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_list_devices: the pointer to the count is NULL, or the "
                                     "capacity is above 0 and infos is NULL");
  }
  found_device *all = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(discover_array(&all, count));
  for (size_t i = 0; i < *count && i < capacity; ++i) {
    infos[i] = all[i].info;
  }
done:
  free(all);
  return status;
}

static bool contains(const char *text, const char *part)
{
  const size_t n = strlen(part);
  for (; *text; ++text) {
    if (strncasecmp(text, part, n) == 0) {
      return true;
    }
  }
  return n == 0;
}

/* Rates how well a device matches a user's choice; 0: not at all. The exact name is better than a
 * part of it. */
static int match(const abut_device_info *info, const char *text)
{
  static const char *const types[] = {"host", "cpu", "gpu", "other"};
  if (!strcasecmp(text, info->name) || !strcasecmp(text, types[info->type])) {
    return 3;
  }
  const bool pocl = !strcasecmp(text, "pocl") && strstr(info->platform, "Portable Computing");
  return pocl || contains(info->name, text) || contains(info->platform, text) ? 2 : 0;
}

/* Prefers a GPU, else PoCL, else another CPU device, else another device, else the host path. */
static int preference(const abut_device_info *info)
{
  switch (info->type) {
  case ABUT_DEVICE_GPU:
    return 5;
  case ABUT_DEVICE_CPU:
    return strstr(info->platform, "Portable Computing") ? 4 : 3;
  case ABUT_DEVICE_OTHER:
    return 2;
  default:
    return 1;
  }
}

abut_status discover_preferred(discovery_test taken, const void *user, found_device *out)
{
  TRY(drivers_are_here() ? ABUT_SUCCESS : forked());
  found_device *all = NULL;
  size_t count = 0;
  TRY(discover_array(&all, &count));
  const found_device *best = &all[count - 1];
  for (size_t i = 0; i + 1 < count; ++i) {
    if (preference(&all[i].info) > preference(&best->info) && !taken(&all[i].info, user)) {
      best = &all[i];
    }
  }
  *out = *best;
  free(all);
  return ABUT_SUCCESS;
}

abut_status abut_find_device(const char *text, uint32_t *index)
{
  if (!index) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_find_device: the pointer to the index is NULL");
  }
  TRY((text && *text) || drivers_are_here() ? ABUT_SUCCESS : forked());
  found_device *all = NULL;
  size_t count = 0;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(discover_array(&all, &count));
  char *end = NULL;
  const unsigned long number = text && *text ? strtoul(text, &end, 10) : 0;
  const bool numeric = text && text[0] >= '0' && text[0] <= '9' && !*end;
  int best = 0;
  for (size_t i = 0; i < count; ++i) {
    int score = !text || !*text ? preference(&all[i].info)
                : numeric       ? number == i
                                : match(&all[i].info, text);
    if (score > best) {
      best = score;
      *index = (uint32_t)i;
    }
  }
  if (!best) {
    status = !drivers_are_here() ? forked()
                                 : fail(ABUT_ERROR_DEVICE,
                                        "no device is called \"%s\"; `abut "
                                        "devices` lists them",
                                        text);
  }
done:
  free(all);
  return status;
}
