#include "device/choices.h"

#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TEXT_MOST 256
#define PARTS_MOST 256

/* A driver that cannot divide a device may have no such function at all: it is asked first. */
static bool divides(cl_device_id device)
{
  cl_device_partition_property kinds[16] = {0};
  size_t bytes = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof kinds, kinds, &bytes) !=
      CL_SUCCESS) {
    return false;
  }
  for (size_t i = 0; i < bytes / sizeof kinds[0]; ++i) {
    if (kinds[i] == CL_DEVICE_PARTITION_EQUALLY) {
      return true;
    }
  }
  return false;
}

static uint32_t parts_of(const abut_device_info *info, uint32_t units)
{
  return units ? info->compute_units / units : 0;
}

static abut_status check_parts(const found_device *found, const abut_device_choice *choice)
{
  const uint32_t parts = parts_of(&found->info, choice->units);
  if (!found->platform || !divides(found->device)) {
    return fail(ABUT_ERROR_DEVICE, "device %u (%s) cannot be divided", found->info.index,
                found->info.name);
  }
  if (choice->part >= parts || parts > PARTS_MOST) {
    return fail(ABUT_ERROR_DEVICE, "device %u (%s) of %u compute units has no part %u of %u",
                found->info.index, found->info.name, found->info.compute_units, choice->part,
                choice->units);
  }
  return ABUT_SUCCESS;
}

static void name_part(abut_device_info *info, const abut_device_choice *choice)
{
  char text[sizeof info->name];
  const int used = snprintf(text, sizeof text, " [%u of %u units, part %u]", choice->units,
                            info->compute_units, choice->part);
  const size_t room = sizeof info->name - (size_t)used - 1, length = strlen(info->name);
  memcpy(info->name + (length < room ? length : room), text, (size_t)used + 1);
  info->compute_units = choice->units;
}

abut_status take_part(found_device *found, const abut_device_choice *choice, cl_device_id *part)
{
  const cl_device_partition_property equally[] = {
    CL_DEVICE_PARTITION_EQUALLY, (cl_device_partition_property)choice->units, 0};
  cl_device_id all[PARTS_MOST];
  cl_uint count = 0;
  TRY(check_parts(found, choice));
  const cl_int code = clCreateSubDevices(found->device, equally, PARTS_MOST, all, &count);
  if (code != CL_SUCCESS) {
    return fail(code, "device %u (%s) cannot be divided: %s", found->info.index, found->info.name,
                abut_status_name(code));
  }
  for (cl_uint i = 0; i < count; ++i) {
    if (i != choice->part) {
      clReleaseDevice(all[i]);
    }
  }
  if (choice->part >= count) {
    return fail(ABUT_ERROR_DEVICE, "device %u (%s) was divided into %u parts, not %u",
                found->info.index, found->info.name, count, choice->part + 1);
  }
  *part = found->device = all[choice->part];
  name_part(&found->info, choice);
  return ABUT_SUCCESS;
}

/* "/UNITS" or "/UNITS.PART" at the end of a user's words. */
typedef struct division {
  unsigned units, part;
  bool one;
} division;

static abut_status read_division(const char *text, division *out)
{
  int used = 0;
  *out = (division){0, 0, false};
  if (sscanf(text, "/%9u.%9u%n", &out->units, &out->part, &used) == 2 && !text[used]) {
    out->one = true;
  } else if (sscanf(text, "/%9u%n", &out->units, &used) != 1 || text[used]) {
    out->units = 0;
  }
  return out->units ? ABUT_SUCCESS
                    : fail(ABUT_ERROR_DEVICE, "\"%s\" is no division of a device: /UNITS or "
                           "/UNITS.PART is meant", text);
}

static abut_status add(const abut_device_choice *choice, abut_device_choice *choices,
                       size_t *count)
{
  if (*count == ABUT_DEVICES_MOST) {
    return fail(ABUT_ERROR_DEVICE, "more than %d devices", ABUT_DEVICES_MOST);
  }
  choices[(*count)++] = *choice;
  return ABUT_SUCCESS;
}

static abut_status add_divided(uint32_t device, const division *d, abut_device_choice *choices,
                               size_t *count)
{
  abut_device_choice choice = {device, d->units, d->part};
  if (!d->units) {
    return add(&choice, choices, count);
  }
  found_device found;
  TRY(discover(device, &found));
  TRY(check_parts(&found, &choice));
  if (d->one) {
    return add(&choice, choices, count);
  }
  for (; choice.part < parts_of(&found.info, d->units); ++choice.part) {
    TRY(add(&choice, choices, count));
  }
  return ABUT_SUCCESS;
}

abut_status abut_find_devices(const char *text, abut_device_choice *choices, size_t *count)
{
  char words[TEXT_MOST];
  if (!choices || !count || (text && strlen(text) >= sizeof words)) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_find_devices needs room for its answer, and a short "
                "text");
  }
  *count = 0;
  division d = {0, 0, false};
  snprintf(words, sizeof words, "%s", text ? text : "");
  char *slash = strrchr(words, '/');
  if (slash && slash[1] >= '0' && slash[1] <= '9') {
    TRY(read_division(slash, &d));
    *slash = '\0';
  }
  uint32_t device = 0;
  if (strcasecmp(words, "all") != 0) {
    TRY(abut_find_device(words, &device));
    return add_divided(device, &d, choices, count);
  }
  size_t there = 0;
  TRY(abut_list_devices(NULL, 0, &there));
  for (; device + 1 < there; ++device) { /* the last one is the host path */
    TRY(add_divided(device, &d, choices, count));
  }
  return *count ? ABUT_SUCCESS : fail(ABUT_ERROR_DEVICE, "there is no OpenCL device");
}
