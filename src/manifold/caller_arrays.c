#include "manifold/caller_arrays.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include <stdint.h>
#include <string.h>

/* A cl_mem is a handle: that it is written through says nothing of its constness. */
static void *handle_of(const void *array)
{
  void *out = NULL;
  memcpy(&out, &array, sizeof out);
  return out;
}

abut_status check_array(const call *c, const void *array, size_t width, const char *what)
{
  if (!array || c->batch->memory == ABUT_MEMORY_HOST || !c->batch->count) {
    return ABUT_SUCCESS;
  }
  const size_t row = width * c->real_bytes;
  if (c->batch->count > SIZE_MAX / row) {
    return fail(ABUT_ERROR_ARGUMENT, "%zu poses are too many", c->batch->count);
  }
  return check_memory(c->context->members[0].device, handle_of(array), c->batch->count * row,
                      what);
}

abut_status check_arrays(const call *c)
{
  const abut_batch *b = c->batch;
  const size_t contacts = c->runs[0].pair->layout.contacts;
  if (b->memory == ABUT_MEMORY_OPENCL && !c->context->def.opencl_queue) {
    return fail(ABUT_ERROR_ARGUMENT, "arrays in OpenCL memory need a context made from the "
                "caller's queue");
  }
  TRY(check_array(c, b->pose1, (size_t)c->runs[0].pose_width, "pose1"));
  TRY(check_array(c, b->pose2, (size_t)c->runs[0].pose_width, "pose2"));
  TRY(check_array(c, b->p, 3 * contacts, "p"));
  TRY(check_array(c, b->d, contacts, "d"));
  TRY(check_array(c, b->n, 3 * contacts, "n"));
  return check_array(c, b->activity, contacts, "activity");
}

/* Lets kernels use rows of the caller's cl_mem in place of scratch, where they can be addressed. */
static abut_status bind_rows(run *r, scratch_id id, const void *array, chunk c, size_t width)
{
  const size_t row = width * device_real_bytes(r->device);
  if (!array || r->memory == ABUT_MEMORY_HOST || r->external[id]) {
    return ABUT_SUCCESS;
  }
  return buffer_wrap(r->device, handle_of(array), c.first * row, c.count * row, &r->external[id]);
}

void unbind(run *r)
{
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    buffer_destroy(r->external[i]);
    r->external[i] = NULL;
  }
}

abut_status put_rows(run *r, scratch_id id, const void *array, chunk c, size_t width)
{
  const size_t row = width * device_real_bytes(r->device);
  if (r->memory == ABUT_MEMORY_HOST) {
    return buffer_write(r->scratch[id], 0, c.count * row, (const char *)array + c.first * row);
  }
  TRY(bind_rows(r, id, array, c, width));
  return r->external[id]
           ? ABUT_SUCCESS
           : buffer_take(r->scratch[id], handle_of(array), c.first * row, c.count * row);
}

abut_status get_rows(const run *r, scratch_id id, int part, void *array, chunk c, size_t width)
{
  const bool plain = r->program == PROGRAM_PLAIN;
  const size_t row = width * device_real_bytes(r->device), pitch = plain ? row : DUAL_PARTS * row;
  buffer *from = r->scratch[id];
  if (!array || r->external[id]) {
    return ABUT_SUCCESS;
  }
  if (r->memory == ABUT_MEMORY_OPENCL) {
    return buffer_give_rows(from, (size_t)part * row, pitch, row, c.count, array, c.first * row);
  }
  if (plain) {
    return buffer_read(from, 0, c.count * row, bytes_behind(array, c.first * row));
  }
  return buffer_read_rows(from, (size_t)part * row, pitch, row, c.count,
                          bytes_behind(array, c.first * row));
}

/* Outputs of plain runs that the caller wants in OpenCL memory are written there. */
abut_status bind_outputs(const call *c, run *r, chunk at_)
{
  const abut_batch *b = c->batch;
  const size_t contacts = r->pair->layout.contacts;
  if (r->program != PROGRAM_PLAIN) {
    return ABUT_SUCCESS;
  }
  TRY(bind_rows(r, SCRATCH_P, b->p, at_, 3 * contacts));
  TRY(bind_rows(r, SCRATCH_D, b->d, at_, contacts));
  TRY(bind_rows(r, SCRATCH_N, b->n, at_, 3 * contacts));
  return bind_rows(r, SCRATCH_ACTIVITY, b->activity, at_, contacts);
}
