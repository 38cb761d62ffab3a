#include "engine/device/device_private.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/device/choices.h"
#include "engine/device/driver_lock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the device. A part of a device has the whole device's launch parameters. */
static abut_status find(device *d, const device_options *options)
{
  const tuning wanted = {options->lanes, options->group, options->items, 0};
  if (options->host) {
    discover_host(&d->found);
    for (int i = 0; i < MODULE_COUNT; ++i) {
      d->settings[i] = tuning_of_row(tuning_row_of(&d->found.info, module_name((module_id)i)),
                                     &d->found.info, options->precision);
    }
    return ABUT_SUCCESS;
  }
  if (options->queue) {
    cl_device_id id = NULL;
    const cl_int code =
      clGetCommandQueueInfo(options->queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    TRY(code == CL_SUCCESS
          ? discover_device(id, &d->found)
          : fail(code, "the command queue is not valid: %s", abut_status_name(code)));
    return tuning_with(&d->found.info, options->precision, &wanted, d->settings);
  }
  TRY(discover(options->choice.device, &d->found));
  TRY(tuning_with(&d->found.info, options->precision, &wanted, d->settings));
  return options->choice.units ? take_part(&d->found, &options->choice) : ABUT_SUCCESS;
}

/* Intel's CPU runtime (2026) has one thread fewer than compute units; the thread that waits in
 * clFinish is its last worker. Not used for parts of a device, which must not exceed their units,
 * nor for a caller's queue, which may contain work that waits for the caller. */
static bool lends_threads(const device *d, const device_options *options)
{
  return d->found.info.type == ABUT_DEVICE_CPU && !options->choice.units && !options->queue &&
         strstr(d->found.info.platform, "Intel(R) OpenCL");
}

/* Kernels from a folder have no merged form, and a caller's queue may contain work that waits for
 * the caller. OpenCL does not let kernels use addresses in tables unless each buffer is declared,
 * but PoCL's CPU devices do. */
static bool merges(const device *d, const device_options *options)
{
  bool alone = opencl_can_share(d->found.device) && !options->kernel_directory && !options->queue &&
               strstr(d->found.info.platform, "Portable Computing Language");
  for (int i = 0; i < MODULE_COUNT; ++i) {
    alone = alone && d->settings[i].group == 1;
  }
  return alone;
}

static abut_status open_opencl(device *d, const device_options *options)
{
  opencl_options cl = {.platform = d->found.platform,
                       .device = d->found.device,
                       .queue = options->queue,
                       .lanes = device_lanes(d),
                       .float64 = options->precision == ABUT_FLOAT64,
                       .has_float64 = d->found.info.has_float64,
                       .lends_threads = lends_threads(d, options),
                       .polls_events = d->found.info.type == ABUT_DEVICE_GPU,
                       .kernel_directory = options->kernel_directory};
  cl.merges = merges(d, options);
  for (int i = 0; i < MODULE_COUNT; ++i) {
    cl.group[i] = d->settings[i].group;
    cl.items[i] = d->settings[i].items;
  }
  driver_lock();
  const abut_status status = opencl_open(&cl, &d->cl);
  driver_unlock();
  if (status != ABUT_SUCCESS) {
    char text[ERROR_TEXT_BYTES];
    keep_error_text(text);
    return fail(status, "device %u (%s): %s", d->found.info.index, d->found.info.name, text);
  }
  d->shares = opencl_can_share(d->found.device);
  d->merges = cl.merges;
  return ABUT_SUCCESS;
}

abut_status device_open(const device_options *options, device **out)
{
  *out = NULL;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(device)));
  device *d = memory;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(find(d, options));
  d->precision = options->precision;
  d->timeout = options->timeout;
  if (options->precision == ABUT_FLOAT64 && !d->found.info.has_float64) {
    status = fail(ABUT_ERROR_PRECISION, "device %u (%s) has no float64", d->found.info.index,
                  d->found.info.name);
    goto done;
  }
  if (d->found.platform) {
    TRY_DONE(open_opencl(d, options));
  }
  *out = d;
  d = NULL;
done:
  device_close(d);
  return status;
}

abut_status device_describe(const found_device *found, device **out)
{
  void *memory = NULL;
  *out = NULL;
  TRY(allocate(&memory, 1, sizeof(device)));
  *out = memory;
  (*out)->found = *found;
  return ABUT_SUCCESS;
}

void device_close(device *d)
{
  if (!d) {
    return;
  }
  recorder_free(d->recorder);
  for (size_t i = 0; !d->lost && i < DEVICE_SLOTS; ++i) {
    buffer_destroy(d->tables[i].memory);
  }
  if (d->lost) { /* its kernels may never end: what they use is leaked */
    opencl_abandon(d->cl);
  } else {
    opencl_close(d->cl, d->timeout);
  }
  free(d);
}

size_t device_slots(const device *d)
{
  return d->cl ? opencl_slots(d->cl) : 1;
}

void device_select(device *d, size_t slot)
{
  d->slot = slot;
  if (d->cl) {
    opencl_select(d->cl, slot);
  }
}

abut_status device_check_there(const device *d)
{
  return d->lost ? fail(ABUT_ERROR_TIMEOUT, "the device's kernels have not finished")
                 : ABUT_SUCCESS;
}

abut_status device_submit(device *d)
{
  TRY(device_check_there(d));
  return d->cl ? opencl_submit(d->cl) : ABUT_SUCCESS;
}

/* Returns the status of a wait, and marks the device as lost after a timeout. */
static abut_status waited(device *d, abut_status status)
{
  d->lost = d->lost || status == ABUT_ERROR_TIMEOUT;
  return status;
}

abut_status device_wait(device *d, double *ended)
{
  TRY(device_check_there(d));
  if (!d->cl) {
    *ended = now();
    return ABUT_SUCCESS;
  }
  return waited(d, opencl_wait(d->cl, d->timeout, ended));
}

abut_status device_pace(device *d)
{
  TRY(device_check_there(d));
  return d->cl ? waited(d, opencl_pace(d->cl, d->timeout)) : ABUT_SUCCESS;
}

abut_status device_end(device *d)
{
  TRY(device_check_there(d));
  return d->cl ? waited(d, opencl_end(d->cl, d->timeout)) : ABUT_SUCCESS;
}

/* Returns whether the host copies directly, without a command. */
static bool on_host(const buffer *b)
{
  return !b->owner->cl || (b->host && !b->wraps);
}

/* Waits before each blocking copy. */
static abut_status reach(const buffer *b)
{
  device *d = b->owner;
  TRY(device_check_there(d));
  if (!d->cl) {
    return ABUT_SUCCESS;
  }
  return waited(d, on_host(b) ? opencl_end(d->cl, d->timeout) : opencl_reach(d->cl, d->timeout));
}

bool device_lost(const device *d)
{
  return d->lost;
}

/* Waits until nothing is running, or the device is lost. Retains the error text. */
static void wait_for_all(device *d, abut_status (*wait)(opencl *, double))
{
  char text[ERROR_TEXT_BYTES];
  if (!d->cl || d->lost) {
    return;
  }
  keep_error_text(text);
  waited(d, wait(d->cl, d->timeout));
  fail(ABUT_SUCCESS, "%s", text);
}

void device_drain(device *d)
{
  wait_for_all(d, opencl_drain);
}

const abut_device_info *device_info(const device *d)
{
  return &d->found.info;
}

void device_whole_name(const device *d, char *out, size_t room)
{
  const char *name = d->found.info.name;
  snprintf(out, room, "%.*s", (int)(strlen(name) - d->found.part_text), name);
}

abut_counters *device_counters(device *d)
{
  return &d->counters;
}

uint32_t device_lanes(const device *d)
{
  return d->found.platform ? d->settings[0].lanes : 1;
}

uint32_t device_group(const device *d, module_id module)
{
  return d->cl ? d->settings[module].group : 1;
}

uint64_t device_scratch_bytes(const device *d, module_id module)
{
  return d->settings[module].scratch_bytes;
}

size_t device_real_bytes(const device *d)
{
  return d->precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
}

abut_status buffer_create(device *d, size_t bytes, buffer **out)
{
  *out = NULL;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(buffer)));
  buffer *b = memory;
  abut_status status = ABUT_SUCCESS;
  b->owner = d;
  b->bytes = bytes ? bytes : sizeof(double);
  if (d->cl && !(d->shares && opencl_share(d->cl, b->bytes, &b->memory, &b->host))) {
    TRY_DONE(opencl_allocate(d->cl, b->bytes, &b->memory));
  } else if (!d->cl) {
    TRY_DONE(allocate(&b->host, b->bytes, 1));
  }
  d->counters.resident += b->bytes;
  *out = b;
  b = NULL;
done:
  free(b);
  return status;
}

bool device_on_host_memory(const device *d)
{
  /* Oclgrind treats borrowed memory as uninitialized. rusticl of Mesa 22.3 gains nothing. */
  return !d->cl ||
         (d->found.info.type == ABUT_DEVICE_CPU && !strstr(d->found.info.platform, "Oclgrind") &&
          !strstr(d->found.info.platform, "rusticl"));
}

abut_status buffer_borrow(device *d, size_t bytes, void *host, bool written, buffer **out)
{
  *out = NULL;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(buffer)));
  buffer *b = memory;
  *b = (buffer){.owner = d, .bytes = bytes, .host = host, .wraps = true};
  const abut_status status = d->cl ? opencl_borrow(d->cl, bytes, host, written, &b->memory)
                                   : ABUT_SUCCESS;
  if (status != ABUT_SUCCESS) {
    free(b);
    return status;
  }
  *out = b;
  return ABUT_SUCCESS;
}

abut_status buffer_sync(buffer *b)
{
  return b->owner->cl ? opencl_sync(b->owner->cl, b->memory, b->bytes, b->host) : ABUT_SUCCESS;
}

void buffer_destroy(buffer *b)
{
  if (!b) {
    return;
  }
  void *shared = b->memory && !b->wraps ? b->host : NULL;
  if (shared) {
    /* a driver retains a cl_mem for its kernels, but not shared memory */
    wait_for_all(b->owner, opencl_settle);
  }
  if (b->memory && !b->owner->lost) { /* otherwise kernels may still use it */
    opencl_release(b->owner->cl, b->memory, shared);
  }
  if (!b->wraps) {
    b->owner->counters.resident -= b->bytes;
  }
  if (!b->owner->cl && !b->wraps) {
    free(b->host);
  }
  free(b);
}

/* Makes a buffer of foreign memory: a cl_mem, which the buffer then owns, or host memory. */
static abut_status wrap(device *d, cl_mem part, void *host, size_t bytes, buffer **out)
{
  void *memory = NULL;
  const abut_status status = allocate(&memory, 1, sizeof(buffer));
  if (status != ABUT_SUCCESS) {
    if (part) {
      clReleaseMemObject(part);
    }
    return status;
  }
  buffer *b = memory;
  *b = (buffer){.owner = d, .bytes = bytes, .memory = part, .host = host, .wraps = true};
  *out = b;
  return ABUT_SUCCESS;
}

abut_status buffer_wrap(device *d, void *cl_memory, size_t offset, size_t bytes, buffer **out)
{
  *out = NULL;
  cl_mem part = NULL;
  TRY(opencl_part(d->cl, cl_memory, offset, bytes, &part));
  return part ? wrap(d, part, NULL, bytes, out) : ABUT_SUCCESS;
}

abut_status buffer_part(buffer *of, size_t offset, size_t bytes, buffer **out)
{
  return of->owner->cl ? buffer_wrap(of->owner, of->memory, offset, bytes, out)
                       : wrap(of->owner, NULL, (char *)of->host + offset, bytes, out);
}

abut_status buffer_view(buffer *of, size_t offset, size_t bytes, buffer **view)
{
  void *memory = *view;
  if (!memory) {
    TRY(allocate(&memory, 1, sizeof(buffer)));
    *view = memory;
  }
  **view = (buffer){.owner = of->owner,
                    .bytes = bytes,
                    .memory = of->memory,
                    .host = (char *)of->host + offset};
  return ABUT_SUCCESS;
}

void buffer_view_free(buffer *view)
{
  free(view);
}

abut_status check_memory(const device *d, void *cl_memory, size_t bytes, const char *what)
{
  cl_context owner = NULL;
  size_t size = 0;
  cl_int code = clGetMemObjectInfo(cl_memory, CL_MEM_CONTEXT, sizeof owner, &owner, NULL);
  if (code == CL_SUCCESS) {
    code = clGetMemObjectInfo(cl_memory, CL_MEM_SIZE, sizeof size, &size, NULL);
  }
  if (code != CL_SUCCESS || !d->cl || owner != opencl_context(d->cl)) {
    return fail(ABUT_ERROR_ARGUMENT, "%s is not a cl_mem of the queue's cl_context", what);
  }
  return size >= bytes
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "%s has %zu bytes, but %zu are needed", what, size, bytes);
}

abut_status memory_place(void *cl_memory, const void **whole, size_t *offset)
{
  cl_mem parent = NULL;
  *offset = 0;
  cl_int code =
    clGetMemObjectInfo(cl_memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
  if (code == CL_SUCCESS && parent) {
    code = clGetMemObjectInfo(cl_memory, CL_MEM_OFFSET, sizeof *offset, offset, NULL);
  }
  *whole = parent ? parent : cl_memory;
  return code == CL_SUCCESS
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "OpenCL does not report the address of a cl_mem");
}

abut_status buffer_upload(device *d, size_t bytes, const void *from, buffer **out)
{
  TRY(buffer_create(d, bytes, out));
  const abut_status status = buffer_write(*out, 0, bytes, from);
  if (status != ABUT_SUCCESS) {
    buffer_destroy(*out);
    *out = NULL;
  }
  return status;
}

abut_status buffer_lend(device *d, size_t bytes, const void *from, buffer **out)
{
  return d->cl ? buffer_upload(d, bytes, from, out)
               : buffer_borrow(d, bytes, (void *)(uintptr_t)from, false, out);
}

size_t buffer_bytes(const buffer *b)
{
  return b->bytes;
}

static abut_status check_range(const buffer *b, size_t offset, size_t bytes)
{
  if (offset > b->bytes || bytes > b->bytes - offset) {
    return fail(ABUT_ERROR_ARGUMENT, "bytes %zu + %zu are outside a buffer of %zu bytes", offset,
                bytes, b->bytes);
  }
  return ABUT_SUCCESS;
}

bool buffer_on_host(const buffer *b)
{
  return on_host(b);
}

abut_status buffer_write(buffer *b, size_t offset, size_t bytes, const void *from)
{
  TRY(check_range(b, offset, bytes));
  if (!bytes) {
    return ABUT_SUCCESS;
  }
  TRY(reach(b));
  b->owner->counters.bytes_up += bytes;
  if (!on_host(b)) {
    return opencl_write(b->owner->cl, b->memory, offset, bytes, from);
  }
  memcpy((char *)b->host + offset, from, bytes);
  return ABUT_SUCCESS;
}

abut_status buffer_read_ahead(buffer *b, size_t offset, size_t bytes)
{
  TRY(check_range(b, offset, bytes));
  TRY(device_check_there(b->owner));
  return !bytes || on_host(b) ? ABUT_SUCCESS
                              : opencl_read_ahead(b->owner->cl, b->memory, offset, bytes);
}

abut_status buffer_read(buffer *b, size_t offset, size_t bytes, void *to)
{
  TRY(check_range(b, offset, bytes));
  if (!bytes) {
    return ABUT_SUCCESS;
  }
  const void *ready = on_host(b) ? NULL : opencl_was_read(b->owner->cl, b->memory, offset, bytes);
  if (ready) {
    TRY(device_end(b->owner));
    b->owner->counters.bytes_down += bytes;
    memcpy(to, ready, bytes);
    return ABUT_SUCCESS;
  }
  TRY(reach(b));
  b->owner->counters.bytes_down += bytes;
  if (!on_host(b)) {
    return opencl_read(b->owner->cl, b->memory, offset, bytes, to);
  }
  memcpy(to, (const char *)b->host + offset, bytes);
  return ABUT_SUCCESS;
}

abut_status buffer_read_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *to)
{
  if (!bytes || !rows) {
    return ABUT_SUCCESS;
  }
  TRY(check_range(b, offset, (rows - 1) * pitch + bytes));
  TRY(reach(b));
  b->owner->counters.bytes_down += rows * bytes;
  if (!on_host(b)) {
    return opencl_read_rows(b->owner->cl, b->memory, offset, pitch, bytes, rows, to);
  }
  for (size_t i = 0; i < rows; ++i) {
    memcpy((char *)to + i * bytes, (char *)b->host + offset + i * pitch, bytes);
  }
  return ABUT_SUCCESS;
}

abut_status buffer_write_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                              const void *from)
{
  if (!bytes || !rows) {
    return ABUT_SUCCESS;
  }
  if (pitch == bytes) {
    return buffer_write(b, offset, rows * bytes, from);
  }
  TRY(check_range(b, offset, (rows - 1) * pitch + bytes));
  TRY(reach(b));
  b->owner->counters.bytes_up += rows * bytes;
  if (!on_host(b)) {
    return opencl_write_rows(b->owner->cl, b->memory, offset, pitch, bytes, rows, from);
  }
  for (size_t i = 0; i < rows; ++i) {
    memcpy((char *)b->host + offset + i * pitch, (const char *)from + i * bytes, bytes);
  }
  return ABUT_SUCCESS;
}

abut_status buffer_take(buffer *b, void *cl_memory, size_t offset, size_t bytes)
{
  TRY(check_range(b, 0, bytes));
  return bytes ? opencl_copy(b->owner->cl, cl_memory, offset, b->memory, 0, bytes) : ABUT_SUCCESS;
}

/* Copies rows between two cl_mem. */
static abut_status copy_rows(opencl *cl, void *from, size_t from_offset, size_t from_pitch,
                             void *to, size_t to_offset, size_t to_pitch, size_t bytes, size_t rows)
{
  if (from_pitch == bytes && to_pitch == bytes) {
    return opencl_copy(cl, from, from_offset, to, to_offset, rows * bytes);
  }
  return opencl_copy_rows(cl, from, from_offset, from_pitch, to, to_offset, to_pitch, bytes, rows);
}

abut_status buffer_take_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *cl_memory, size_t from_offset)
{
  if (!bytes || !rows) {
    return ABUT_SUCCESS;
  }
  TRY(check_range(b, offset, (rows - 1) * pitch + bytes));
  return copy_rows(b->owner->cl, cl_memory, from_offset, bytes, b->memory, offset, pitch, bytes,
                   rows);
}

abut_status buffer_give_rows(buffer *b, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             void *cl_memory, size_t to_offset)
{
  if (!bytes || !rows) {
    return ABUT_SUCCESS;
  }
  TRY(check_range(b, offset, (rows - 1) * pitch + bytes));
  return copy_rows(b->owner->cl, b->memory, offset, pitch, cl_memory, to_offset, bytes, bytes,
                   rows);
}

abut_status buffer_copy_rows(buffer *from, size_t offset, size_t pitch, size_t bytes, size_t rows,
                             buffer *to, size_t to_offset, size_t to_pitch)
{
  if (!bytes || !rows) {
    return ABUT_SUCCESS;
  }
  TRY(check_range(to, to_offset, (rows - 1) * to_pitch + bytes));
  TRY(check_range(from, offset, (rows - 1) * pitch + bytes));
  if (from->owner->cl) {
    return copy_rows(from->owner->cl, from->memory, offset, pitch, to->memory, to_offset, to_pitch,
                     bytes, rows);
  }
  for (size_t i = 0; i < rows; ++i) {
    memcpy((char *)to->host + to_offset + i * to_pitch,
           (const char *)from->host + offset + i * pitch, bytes);
  }
  return ABUT_SUCCESS;
}
