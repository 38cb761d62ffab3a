#include "engine/device/choices.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/device/driver_lock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TEXT_MOST 256
#define PARTS_MOST 256

/* A driver that cannot divide a device may lack the function for it, so the capability is queried
 * first. */
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
  if (!parts || parts > PARTS_MOST) {
    return fail(ABUT_ERROR_DEVICE,
                "device %u (%s) cannot be divided into parts of %u compute units: it has only %u",
                found->info.index, found->info.name, choice->units, found->info.compute_units);
  }
  if (choice->part >= parts) {
    return fail(ABUT_ERROR_DEVICE,
                "device %u (%s) with %u compute units has no part %u: with %u units per part it "
                "has %u parts (0-based)",
                found->info.index, found->info.name, found->info.compute_units, choice->part,
                choice->units, parts);
  }
  return ABUT_SUCCESS;
}

static void name_part(found_device *found, const abut_device_choice *choice)
{
  abut_device_info *info = &found->info;
  char text[sizeof info->name];
  const int used = snprintf(text, sizeof text, " [%u of %u units, part %u]", choice->units,
                            info->compute_units, choice->part);
  const size_t room = sizeof info->name - (size_t)used - 1, length = strlen(info->name);
  memcpy(info->name + (length < room ? length : room), text, (size_t)used + 1);
  info->compute_units = choice->units;
  found->part_text = (size_t)used;
}

/* A device divided into parts of `units` compute units. PoCL 3.1 accesses a part once more after
 * its last queue and event are released. Parts are therefore retained, and reused when the device
 * is divided the same way again. */
typedef struct divided {
  struct divided *next;
  cl_device_id device;
  uint32_t units;
  cl_uint count;
  cl_device_id parts[PARTS_MOST];
} divided;

static divided *all_divided; /* under the driver's lock */

static abut_status divide(const found_device *found, uint32_t units, divided **out)
{
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY,
                                                  (cl_device_partition_property)units, 0};
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(divided)));
  divided *d = memory;
  d->device = found->device;
  d->units = units;
  const cl_int code = clCreateSubDevices(found->device, equally, PARTS_MOST, d->parts, &d->count);
  if (code != CL_SUCCESS) {
    free(d);
    return fail(code, "device %u (%s) cannot be divided: %s", found->info.index, found->info.name,
                abut_status_name(code));
  }
  d->next = all_divided;
  *out = all_divided = d;
  return ABUT_SUCCESS;
}

static abut_status find_divided(const found_device *found, uint32_t units, divided **out)
{
  divided *d = all_divided;
  while (d && (d->device != found->device || d->units != units)) {
    d = d->next;
  }
  *out = d;
  return d ? ABUT_SUCCESS : divide(found, units, out);
}

abut_status take_part(found_device *found, const abut_device_choice *choice)
{
  divided *d = NULL;
  TRY(check_parts(found, choice));
  driver_lock();
  const abut_status status = find_divided(found, choice->units, &d);
  driver_unlock();
  TRY(status);
  if (choice->part >= d->count) {
    return fail(ABUT_ERROR_DEVICE, "device %u (%s) was divided into %u parts, expected %u",
                found->info.index, found->info.name, d->count, choice->part + 1);
  }
  found->device = d->parts[choice->part];
  name_part(found, choice);
  return ABUT_SUCCESS;
}

/* Reads "/UNITS" or "/UNITS.PART" at the end of a device choice. */
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
                    : fail(ABUT_ERROR_DEVICE,
                           "\"%s\" is not a division of a device: use /UNITS or /UNITS.PART", text);
}

typedef struct found_choices {
  abut_device_choice *choices;
  size_t capacity, count;
} found_choices;

static void add(found_choices *f, const abut_device_choice *choice)
{
  if (f->count < f->capacity) {
    f->choices[f->count] = *choice;
  }
  ++f->count;
}

static abut_status add_divided(uint32_t device, const division *d, found_choices *f)
{
  abut_device_choice choice = {device, d->units, d->part};
  if (!d->units) {
    add(f, &choice);
    return ABUT_SUCCESS;
  }
  found_device found;
  TRY(discover(device, &found));
  TRY(check_parts(&found, &choice));
  if (d->one) {
    add(f, &choice);
    return ABUT_SUCCESS;
  }
  for (; choice.part < parts_of(&found.info, d->units); ++choice.part) {
    add(f, &choice);
  }
  return ABUT_SUCCESS;
}

static abut_status find_words(const char *words, const division *d, found_choices *f)
{
  uint32_t device = 0;
  if (strcasecmp(words, "all") != 0) {
    TRY(abut_find_device(words, &device));
    return add_divided(device, d, f);
  }
  size_t there = 0;
  TRY(abut_list_devices(NULL, 0, &there));
  for (; device + 1 < there; ++device) { /* the last one is the host path */
    TRY(add_divided(device, d, f));
  }
  return f->count ? ABUT_SUCCESS
                  : fail(ABUT_ERROR_DEVICE, "there is no OpenCL device%s",
                         drivers_are_here() ? "" : " after fork(): start workers with spawn");
}

abut_status abut_find_devices(const char *text, abut_device_choice *choices, size_t capacity,
                              size_t *count)
{
  char words[TEXT_MOST];
  if ((!choices && capacity) || !count || (text && strlen(text) >= sizeof words)) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "abut_find_devices: the output pointer is NULL, or the text is missing or too long");
  }
  *count = 0;
  division d = {0, 0, false};
  snprintf(words, sizeof words, "%s", text ? text : "");
  char *slash = strrchr(words, '/');
  if (slash && slash[1] >= '0' && slash[1] <= '9') {
    TRY(read_division(slash, &d));
    *slash = '\0';
  }
  found_choices f = {choices, capacity, 0};
  TRY(find_words(words, &d, &f));
  *count = f.count;
  return ABUT_SUCCESS;
}
