#include "engine/device/opencl_private.h"

#include <stdint.h>

/* Drivers of OpenCL 1.2 have no shared memory and reject the query. */
bool opencl_can_share(cl_device_id device)
{
  cl_device_svm_capabilities can = 0;
  cl_device_type type = 0;
  return clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
         type & CL_DEVICE_TYPE_CPU &&
         clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL) ==
           CL_SUCCESS &&
         can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
}

abut_status opencl_allocate(opencl *o, size_t bytes, cl_mem *out)
{
  cl_int code;
  *out = clCreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  return check(code, "clCreateBuffer");
}

bool opencl_share(opencl *o, size_t bytes, cl_mem *out, void **host)
{
  cl_int code;
  void *memory = clSVMAlloc(o->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 0);
  if (!memory) {
    return false;
  }
  *out = clCreateBuffer(o->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &code);
  if (code != CL_SUCCESS) {
    *out = NULL;
    clSVMFree(o->context, memory);
    return false;
  }
  *host = memory;
  return true;
}

void opencl_release(opencl *o, cl_mem memory, void *host)
{
  clReleaseMemObject(memory);
  if (host) {
    clSVMFree(o->context, host);
  }
}

/* Returns the required alignment of a sub-buffer in bytes. If the device does not report it, no
 * offset is aligned. */
static size_t alignment(const opencl *o)
{
  cl_uint bits = 0;
  clGetDeviceInfo(o->options.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
  return bits ? bits / 8 : SIZE_MAX;
}

abut_status opencl_part(opencl *o, cl_mem of, size_t offset, size_t bytes, cl_mem *out)
{
  const cl_buffer_region region = {offset, bytes};
  cl_mem whole = NULL; /* parent of a sub-buffer: sub-buffers of sub-buffers are not allowed */
  cl_int code = clGetMemObjectInfo(of, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
  *out = NULL;
  TRY(check(code, "clGetMemObjectInfo"));
  if (offset == 0) {
    code = clRetainMemObject(of);
    *out = code == CL_SUCCESS ? of : NULL;
    return check(code, "clRetainMemObject");
  }
  if (!whole && offset % alignment(o) == 0) {
    *out = clCreateSubBuffer(of, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  }
  return check(code, "clCreateSubBuffer");
}

abut_status opencl_borrow(opencl *o, size_t bytes, void *host, bool written, cl_mem *out)
{
  const cl_mem_flags access = written ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;
  cl_int code;
  *out = clCreateBuffer(o->context, access | CL_MEM_USE_HOST_PTR, bytes, host, &code);
  return check(code, "clCreateBuffer");
}

/* Reads into the buffer's own host memory, which OpenCL allows (clEnqueueReadBuffer, notes). This
 * is one command instead of two for map and unmap. */
abut_status opencl_sync(opencl *o, cl_mem memory, size_t bytes, void *host)
{
  mark_running(o);
  return check(clEnqueueReadBuffer(o->queues[o->slot], memory, CL_FALSE, 0, bytes, host, 0, NULL,
                                   NULL),
               "clEnqueueReadBuffer");
}

abut_status opencl_write(opencl *o, cl_mem to, size_t offset, size_t bytes, const void *from)
{
  opencl_forget_ahead(o);
  return check(clEnqueueWriteBuffer(o->queues[o->slot], to, CL_TRUE, offset, bytes, from, 0, NULL,
                                    NULL),
               "clEnqueueWriteBuffer");
}

abut_status opencl_read(opencl *o, cl_mem from, size_t offset, size_t bytes, void *to)
{
  return check(clEnqueueReadBuffer(o->queues[o->slot], from, CL_TRUE, offset, bytes, to, 0, NULL,
                                   NULL),
               "clEnqueueReadBuffer");
}

abut_status opencl_open_ahead(opencl *o)
{
  cl_int code = CL_SUCCESS;
  if (o->options.queue || opencl_can_share(o->options.device)) {
    return ABUT_SUCCESS;
  }
  for (size_t i = 0; i < opencl_slots(o); ++i) {
    reads_ahead *a = &o->ahead[i];
    a->memory = clCreateBuffer(o->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, AHEAD_BYTES,
                               NULL, &code);
    TRY(check(code, "clCreateBuffer"));
    a->at = clEnqueueMapBuffer(o->queues[i], a->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                               AHEAD_BYTES, 0, NULL, NULL, &code);
    TRY(check(code, "clEnqueueMapBuffer"));
  }
  return ABUT_SUCCESS;
}

void opencl_close_ahead(opencl *o)
{
  for (size_t i = 0; i < opencl_slots(o); ++i) {
    reads_ahead *a = &o->ahead[i];
    if (a->at) {
      clEnqueueUnmapMemObject(o->queues[i], a->memory, a->at, 0, NULL, NULL);
    }
    if (a->memory) {
      clReleaseMemObject(a->memory);
    }
    *a = (reads_ahead){.at = NULL};
  }
}

void opencl_forget_ahead(opencl *o)
{
  o->ahead[o->slot].count = o->ahead[o->slot].used = 0;
}

abut_status opencl_read_ahead(opencl *o, cl_mem from, size_t offset, size_t bytes)
{
  reads_ahead *a = &o->ahead[o->slot];
  if (!a->at || a->count == AHEAD_READS || bytes > AHEAD_BYTES - a->used) {
    return ABUT_SUCCESS;
  }
  mark_reading(o);
  TRY(check(clEnqueueReadBuffer(o->queues[o->slot], from, CL_FALSE, offset, bytes, a->at + a->used,
                                0, NULL, NULL),
            "clEnqueueReadBuffer"));
  a->reads[a->count].from = from;
  a->reads[a->count].offset = offset;
  a->reads[a->count].bytes = bytes;
  a->reads[a->count++].begin = a->used;
  a->used += bytes;
  return ABUT_SUCCESS;
}

const void *opencl_was_read(const opencl *o, cl_mem from, size_t offset, size_t bytes)
{
  const reads_ahead *a = &o->ahead[o->slot];
  for (size_t i = 0; i < a->count; ++i) {
    if (a->reads[i].from == from && a->reads[i].offset == offset && a->reads[i].bytes == bytes) {
      return a->at + a->reads[i].begin;
    }
  }
  return NULL;
}

abut_status opencl_read_rows(opencl *o, cl_mem from, size_t offset, size_t pitch, size_t bytes,
                             size_t rows, void *to)
{
  const size_t buffer_origin[3] = {offset % pitch, offset / pitch, 0}, host_origin[3] = {0, 0, 0};
  const size_t region[3] = {bytes, rows, 1};
  return check(clEnqueueReadBufferRect(o->queues[o->slot], from, CL_TRUE, buffer_origin,
                                       host_origin, region, pitch, 0, bytes, 0, to, 0, NULL, NULL),
               "clEnqueueReadBufferRect");
}

abut_status opencl_write_rows(opencl *o, cl_mem to, size_t offset, size_t pitch, size_t bytes,
                              size_t rows, const void *from)
{
  const size_t buffer_origin[3] = {offset % pitch, offset / pitch, 0}, host_origin[3] = {0, 0, 0};
  const size_t region[3] = {bytes, rows, 1};
  opencl_forget_ahead(o);
  return check(clEnqueueWriteBufferRect(o->queues[o->slot], to, CL_TRUE, buffer_origin, host_origin,
                                        region, pitch, 0, bytes, 0, from, 0, NULL, NULL),
               "clEnqueueWriteBufferRect");
}

abut_status opencl_copy(opencl *o, cl_mem from, size_t from_offset, cl_mem to, size_t to_offset,
                        size_t bytes)
{
  mark_running(o);
  return check(clEnqueueCopyBuffer(o->queues[o->slot], from, to, from_offset, to_offset, bytes, 0,
                                   NULL, NULL),
               "clEnqueueCopyBuffer");
}

/* Returns the parent of a sub-buffer, with *offset from its start. Returns the memory itself if it
 * is no sub-buffer or the parent is unusable: Intel's runtime (2026) refuses a buffer that its
 * owner has released. */
static cl_mem whole_of(cl_mem memory, size_t *offset)
{
  cl_mem whole = NULL;
  size_t begin = 0, bytes = 0;
  if (clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL) !=
        CL_SUCCESS ||
      !whole ||
      clGetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof begin, &begin, NULL) != CL_SUCCESS ||
      clGetMemObjectInfo(whole, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) != CL_SUCCESS) {
    return memory;
  }
  *offset += begin;
  return whole;
}

abut_status opencl_copy_rows(opencl *o, cl_mem from, size_t from_offset, size_t from_pitch,
                             cl_mem to, size_t to_offset, size_t to_pitch, size_t bytes,
                             size_t rows)
{
  from = whole_of(from, &from_offset); /* PoCL 3.1 crashes when it copies rows of a sub-buffer */
  to = whole_of(to, &to_offset);
  const size_t from_origin[3] = {from_offset % from_pitch, from_offset / from_pitch, 0};
  const size_t to_origin[3] = {to_offset % to_pitch, to_offset / to_pitch, 0};
  const size_t region[3] = {bytes, rows, 1};
  mark_running(o);
  return check(clEnqueueCopyBufferRect(o->queues[o->slot], from, to, from_origin, to_origin, region,
                                       from_pitch, 0, to_pitch, 0, 0, NULL, NULL),
               "clEnqueueCopyBufferRect");
}
