#include "engine/device/device_private.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/device/host_path.h"
#include <stdlib.h>

static abut_status check_arguments(program_id program, kernel_id kernel,
                                   const launch_argument *arguments, size_t count)
{
  const kernel_entry *entry = kernel_entry_of(kernel);
  bool same = count == (size_t)entry->arguments && kernel_is_on(kernel, program);
  for (size_t i = 0; same && i < count; ++i) {
    same = arguments[i].kind == entry->kinds[i];
  }
  return same
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "kernel %s was launched with wrong arguments", entry->name);
}

/* Returns some buffer of the launch, for arguments that its kernel does not access. */
static buffer *any_buffer(const launch_argument *arguments, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].memory) {
      return arguments[i].memory;
    }
  }
  return NULL;
}

typedef void (*host_launch)(kernel_id, size_t, size_t, const host_argument *);

static void launch_host(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                        const launch_argument *arguments, size_t count)
{
  host_argument a[KERNEL_ARGUMENTS];
  const buffer *spare = any_buffer(arguments, count);
  for (size_t i = 0; i < count; ++i) {
    const launch_argument *from = &arguments[i];
    const buffer *b = from->memory ? from->memory : spare;
    a[i] = (host_argument){b ? b->host : NULL, from->integer, from->number, from->structure};
  }
  static const host_launch launches[2][PROGRAM_NUMBERS] = {{host_launch_f32, host_launch_f32_dual,
                                                            host_launch_f32_dual6},
                                                           {host_launch_f64, host_launch_f64_dual,
                                                            host_launch_f64_dual6}};
  launches[d->precision][program](kernel, x, y, a);
}

/* Frames of poses are computed in float64. If the device has no float64, the host path computes
 * them from copies of the kernel's buffers. */
bool device_runs_on_host(const device *d, kernel_id kernel)
{
  return d->cl && !d->found.info.has_float64 && kernel == KERNEL_POSES;
}

#define POSES_WRITES 6 /* the first argument that KERNEL_POSES writes; all before it are const */

/* The caller may have created its memory without host access, so it is copied first. */
static abut_status read_through_copy(buffer *from, void *to)
{
  buffer *copy = NULL;
  TRY(buffer_create(from->owner, from->bytes, &copy));
  abut_status status = buffer_take(copy, from->memory, 0, from->bytes);
  if (status == ABUT_SUCCESS) {
    status = buffer_read(copy, 0, from->bytes, to);
  }
  buffer_destroy(copy);
  return status;
}

static abut_status copy_down(const launch_argument *arguments, size_t count,
                             buffer copies[KERNEL_ARGUMENTS])
{
  for (size_t i = 0; i < count; ++i) {
    buffer *from = arguments[i].memory;
    if (from) {
      TRY(from->wraps ? read_through_copy(from, copies[i].host)
                      : buffer_read(from, 0, from->bytes, copies[i].host));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status copy_up(const launch_argument *arguments, size_t count,
                           buffer copies[KERNEL_ARGUMENTS])
{
  for (size_t i = POSES_WRITES; i < count; ++i) {
    buffer *to = arguments[i].memory;
    if (to) {
      TRY(buffer_write(to, 0, to->bytes, copies[i].host));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status launch_on_copies(device *d, program_id program, kernel_id kernel, size_t x,
                                    size_t y, const launch_argument *arguments, size_t count)
{
  abut_status status = ABUT_SUCCESS;
  buffer copies[KERNEL_ARGUMENTS] = {{0}};
  launch_argument a[KERNEL_ARGUMENTS] = {{0}};
  for (size_t i = 0; i < count; ++i) {
    a[i] = arguments[i];
    if (a[i].memory) {
      copies[i].owner = d;
      copies[i].bytes = a[i].memory->bytes;
      TRY_DONE(allocate(&copies[i].host, copies[i].bytes, 1));
      a[i].memory = &copies[i];
    }
  }
  TRY_DONE(copy_down(arguments, count, copies));
  launch_host(d, program, kernel, x, y, a, count);
  TRY_DONE(copy_up(arguments, count, copies));
done:
  for (size_t i = 0; i < count; ++i) {
    free(copies[i].host);
  }
  return status;
}

abut_status device_launch(device *d, program_id program, kernel_id kernel, size_t x, size_t y,
                          const launch_argument *arguments, size_t count)
{
  TRY(device_check_there(d));
  TRY(check_arguments(program, kernel, arguments, count));
  if (!x || !y) {
    return ABUT_SUCCESS;
  }
  if (device_records(d)) {
    return device_keep(d, program, kernel, x, y, arguments, count);
  }
  ++d->counters.launches;
  if (!d->cl) {
    launch_host(d, program, kernel, x, y, arguments, count);
    return ABUT_SUCCESS;
  }
  if (device_runs_on_host(d, kernel)) {
    return launch_on_copies(d, program, kernel, x, y, arguments, count);
  }
  opencl_argument a[KERNEL_ARGUMENTS];
  buffer *spare = any_buffer(arguments, count);
  for (size_t i = 0; i < count; ++i) {
    const launch_argument *from = &arguments[i];
    const buffer *b = from->memory ? from->memory : spare;
    a[i] = (opencl_argument){b ? b->memory : NULL, b && !b->wraps ? b->host : NULL,
                             from->integer,        from->number,
                             from->structure,      from->bytes};
  }
  bool built = false;
  TRY(opencl_need(d->cl, program, kernel, &built));
  d->counters.builds += built;
  return opencl_launch(d->cl, program, kernel, x, y, a);
}
