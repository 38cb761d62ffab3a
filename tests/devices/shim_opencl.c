/* Every OpenCL function that the library calls: counted, made to fail or to hang, handed on. */
#include "shim.h"

#include "shim_private.h"
#include <pthread.h>

#define REAL(name)        \
  __typeof__(&name) real; \
  cl_int wrong;           \
  shim_find(#name, &real)

#define ASKS(name, parameters, arguments)                      \
  cl_int name parameters                                       \
  {                                                            \
    REAL(name);                                                \
    return shim_fails(#name, &wrong) ? wrong : real arguments; \
  }

#define CREATES(type, name, kind, parameters, arguments) \
  type name parameters                                   \
  {                                                      \
    REAL(name);                                          \
    if (shim_fails(#name, &wrong)) {                     \
      if (code) {                                        \
        *code = wrong;                                   \
      }                                                  \
      return NULL;                                       \
    }                                                    \
    const type made = real arguments;                    \
    shim_count_live(kind, made != NULL);                 \
    return made;                                         \
  }

#define RETAINS(name, type, kind)    \
  cl_int name(type object)           \
  {                                  \
    REAL(name);                      \
    if (shim_fails(#name, &wrong)) { \
      return wrong;                  \
    }                                \
    shim_count_live(kind, 1);        \
    return real(object);             \
  }

#define RELEASES(name, type, kind)                       \
  cl_int name(type object)                               \
  {                                                      \
    REAL(name);                                          \
    const cl_int right = real(object);                   \
    shim_count_live(kind, right == CL_SUCCESS ? -1 : 0); \
    return shim_fails(#name, &wrong) ? wrong : right;    \
  }

/* What the library waits for by lists of events would be lost here: it has none. */
#define ENQUEUES(name, command, blocks, bytes, parameters, arguments)        \
  cl_int name parameters                                                     \
  {                                                                          \
    REAL(name);                                                              \
    cl_event gate = NULL;                                                    \
    const bool launch = command == SHIM_LAUNCH;                              \
    if (shim_fails(#name, &wrong) || (launch && shim_overfull(0, &wrong))) { \
      return wrong;                                                          \
    }                                                                        \
    if (count || list) {                                                     \
      return CL_INVALID_EVENT_WAIT_LIST;                                     \
    }                                                                        \
    shim_count_command(command, blocks, bytes);                              \
    if (launch && !event && shim_skips_kernels()) {                          \
      return CL_SUCCESS;                                                     \
    }                                                                        \
    list = shim_waits_for(queue, launch, &gate);                             \
    count = list ? 1 : 0;                                                    \
    const cl_int right = real arguments;                                     \
    shim_count_live(EVENT, event &&right == CL_SUCCESS ? 1 : 0);             \
    return right;                                                            \
  }

ASKS(clGetPlatformIDs, (cl_uint most, cl_platform_id *out, cl_uint *count), (most, out, count))
ASKS(clGetPlatformInfo,
     (cl_platform_id of, cl_platform_info what, size_t room, void *to, size_t *size),
     (of, what, room, to, size))
ASKS(clGetDeviceIDs,
     (cl_platform_id of, cl_device_type type, cl_uint most, cl_device_id *out, cl_uint *count),
     (of, type, most, out, count))
cl_int clGetDeviceInfo(cl_device_id of, cl_device_info what, size_t room, void *to, size_t *size)
{
  REAL(clGetDeviceInfo);
  if (shim_fails("clGetDeviceInfo", &wrong)) {
    return wrong;
  }
  if (what == CL_DEVICE_SVM_CAPABILITIES && !shim_shares_memory()) {
    return CL_INVALID_VALUE;
  }
  const cl_int code = real(of, what, room, to, size);
  shim_answer_as_gpu(what, room, to);
  return code;
}

ASKS(clCreateSubDevices,
     (cl_device_id of, const cl_device_partition_property *how, cl_uint most, cl_device_id *out,
      cl_uint *count),
     (of, how, most, out, count))
ASKS(clGetCommandQueueInfo,
     (cl_command_queue of, cl_command_queue_info what, size_t room, void *to, size_t *size),
     (of, what, room, to, size))
ASKS(clGetMemObjectInfo, (cl_mem of, cl_mem_info what, size_t room, void *to, size_t *size),
     (of, what, room, to, size))
ASKS(clGetEventInfo, (cl_event of, cl_event_info what, size_t room, void *to, size_t *size),
     (of, what, room, to, size))
ASKS(clGetProgramInfo, (cl_program of, cl_program_info what, size_t room, void *to, size_t *size),
     (of, what, room, to, size))
ASKS(clGetProgramBuildInfo,
     (cl_program of, cl_device_id device, cl_program_build_info what, size_t room, void *to,
      size_t *size),
     (of, device, what, room, to, size))
ASKS(clBuildProgram,
     (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
      void(CL_CALLBACK *notify)(cl_program, void *), void *user),
     (program, count, devices, options, notify, user))
ASKS(clSetKernelArg, (cl_kernel kernel, cl_uint i, size_t size, const void *value),
     (kernel, i, size, value))
ASKS(clSetKernelArgSVMPointer, (cl_kernel kernel, cl_uint i, const void *value), (kernel, i, value))

typedef void(CL_CALLBACK *notified)(cl_event, cl_int, void *);

static struct {
  long count, at;
  cl_int status;
  notified notify;
  void *user;
} told; /* under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void shim_end_event(long n, cl_int status)
{
  pthread_mutex_lock(&lock);
  told.count = 0;
  told.at = n;
  told.status = status;
  pthread_mutex_unlock(&lock);
}

static void CL_CALLBACK tell_otherwise(cl_event event, cl_int status, void *user)
{
  (void)status;
  (void)user;
  told.notify(event, told.status, told.user);
}

cl_int clSetEventCallback(cl_event event, cl_int type, notified notify, void *user)
{
  REAL(clSetEventCallback);
  if (shim_fails("clSetEventCallback", &wrong)) {
    return wrong;
  }
  pthread_mutex_lock(&lock);
  const bool otherwise = told.at && ++told.count == told.at;
  if (otherwise) {
    told.notify = notify;
    told.user = user;
  }
  pthread_mutex_unlock(&lock);
  return real(event, type, otherwise ? tell_otherwise : notify, user);
}

cl_int clFlush(cl_command_queue queue)
{
  REAL(clFlush);
  shim_count_command(SHIM_FLUSH, false, 0);
  return shim_fails("clFlush", &wrong) ? wrong : real(queue);
}

/* On a device that fails, too, kernels have ended then: PoCL does not bear what they use to go. */
cl_int clFinish(cl_command_queue queue)
{
  REAL(clFinish);
  const cl_int right = real(queue);
  return shim_fails("clFinish", &wrong) ? wrong : right;
}

/* Memory is unmapped where the library releases it, also if that fails. */
cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *at, cl_uint count,
                               const cl_event *list, cl_event *event)
{
  REAL(clEnqueueUnmapMemObject);
  const cl_int right = real(queue, memory, at, count, list, event);
  return shim_fails("clEnqueueUnmapMemObject", &wrong) ? wrong : right;
}

CREATES(cl_context, clCreateContext, CONTEXT,
        (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
         cl_int *code),
        (properties, count, devices, notify, user, code))
CREATES(cl_command_queue, clCreateCommandQueue, QUEUE,
        (cl_context context, cl_device_id device, cl_command_queue_properties properties,
         cl_int *code),
        (context, device, properties, code))
CREATES(cl_program, clCreateProgramWithSource, PROGRAM,
        (cl_context context, cl_uint count, const char **texts, const size_t *sizes, cl_int *code),
        (context, count, texts, sizes, code))
CREATES(cl_program, clCreateProgramWithBinary, PROGRAM,
        (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,
         const unsigned char **binaries, cl_int *each, cl_int *code),
        (context, count, devices, sizes, binaries, each, code))
CREATES(cl_kernel, clCreateKernel, KERNEL, (cl_program program, const char *name, cl_int *code),
        (program, name, code))
CREATES(cl_mem, clCreateSubBuffer, MEMORY,
        (cl_mem of, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
         cl_int *code),
        (of, flags, type, region, code))

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *code)
{
  REAL(clCreateBuffer);
  const bool own = !(flags & CL_MEM_USE_HOST_PTR);
  if (shim_fails("clCreateBuffer", &wrong) || shim_too_much(bytes, &wrong) ||
      (own && shim_overfull(bytes, &wrong))) {
    *code = wrong;
    return NULL;
  }
  const cl_mem made = real(context, flags, bytes, host, code);
  shim_count_live(MEMORY, made != NULL);
  if (own && made) {
    shim_add_memory(made, bytes);
  }
  return made;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags how,
                         size_t offset, size_t bytes, cl_uint count, const cl_event *list,
                         cl_event *event, cl_int *code)
{
  REAL(clEnqueueMapBuffer);
  if (shim_fails("clEnqueueMapBuffer", &wrong)) {
    *code = wrong;
    return NULL;
  }
  return real(queue, memory, wait, how, offset, bytes, count, list, event, code);
}

/* Buffers are counted until the library lets go of them, which never retains its own: a driver's
 * references last as long as its commands. */
cl_int clReleaseMemObject(cl_mem object)
{
  REAL(clReleaseMemObject);
  shim_forget_memory(object);
  const cl_int right = real(object);
  shim_count_live(MEMORY, right == CL_SUCCESS ? -1 : 0);
  return shim_fails("clReleaseMemObject", &wrong) ? wrong : right;
}

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
  REAL(clSVMAlloc);
  if (shim_fails("clSVMAlloc", &wrong) || shim_overfull(bytes, &wrong)) {
    return NULL;
  }
  void *made = real(context, flags, bytes, alignment);
  shim_count_live(SHARED, made != NULL);
  if (made) {
    shim_add_memory(made, bytes);
  }
  return made;
}

void clSVMFree(cl_context context, void *memory)
{
  REAL(clSVMFree);
  shim_forget_memory(memory);
  (void)wrong;
  real(context, memory);
  shim_count_live(SHARED, -1);
}

RETAINS(clRetainContext, cl_context, CONTEXT)
RETAINS(clRetainCommandQueue, cl_command_queue, QUEUE)
RETAINS(clRetainMemObject, cl_mem, MEMORY)
RETAINS(clRetainEvent, cl_event, EVENT)

RELEASES(clReleaseContext, cl_context, CONTEXT)
RELEASES(clReleaseCommandQueue, cl_command_queue, QUEUE)
RELEASES(clReleaseProgram, cl_program, PROGRAM)
RELEASES(clReleaseKernel, cl_kernel, KERNEL)
RELEASES(clReleaseEvent, cl_event, EVENT)

ENQUEUES(clEnqueueNDRangeKernel, SHIM_LAUNCH, false, 0,
         (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
          const size_t *global, const size_t *local, cl_uint count, const cl_event *list,
          cl_event *event),
         (queue, kernel, dimensions, offset, global, local, count, list, event))
ENQUEUES(clEnqueueMarkerWithWaitList, SHIM_MARKER, false, 0,
         (cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event),
         (queue, count, list, event))
ENQUEUES(clEnqueueReadBuffer, SHIM_READ, wait, bytes,
         (cl_command_queue queue, cl_mem from, cl_bool wait, size_t offset, size_t bytes, void *to,
          cl_uint count, const cl_event *list, cl_event *event),
         (queue, from, wait, offset, bytes, to, count, list, event))
ENQUEUES(clEnqueueReadBufferRect, SHIM_READ, wait, region[0] * region[1],
         (cl_command_queue queue, cl_mem from, cl_bool wait, const size_t *from_origin,
          const size_t *to_origin, const size_t *region, size_t from_pitch, size_t from_slice,
          size_t to_pitch, size_t to_slice, void *to, cl_uint count, const cl_event *list,
          cl_event *event),
         (queue, from, wait, from_origin, to_origin, region, from_pitch, from_slice, to_pitch,
          to_slice, to, count, list, event))
ENQUEUES(clEnqueueWriteBuffer, SHIM_WRITE, wait, bytes,
         (cl_command_queue queue, cl_mem to, cl_bool wait, size_t offset, size_t bytes,
          const void *from, cl_uint count, const cl_event *list, cl_event *event),
         (queue, to, wait, offset, bytes, from, count, list, event))
ENQUEUES(clEnqueueWriteBufferRect, SHIM_WRITE, wait, region[0] * region[1],
         (cl_command_queue queue, cl_mem to, cl_bool wait, const size_t *to_origin,
          const size_t *from_origin, const size_t *region, size_t to_pitch, size_t to_slice,
          size_t from_pitch, size_t from_slice, const void *from, cl_uint count,
          const cl_event *list, cl_event *event),
         (queue, to, wait, to_origin, from_origin, region, to_pitch, to_slice, from_pitch,
          from_slice, from, count, list, event))
ENQUEUES(clEnqueueCopyBuffer, SHIM_COPY, false, bytes,
         (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
          size_t bytes, cl_uint count, const cl_event *list, cl_event *event),
         (queue, from, to, from_offset, to_offset, bytes, count, list, event))
ENQUEUES(clEnqueueCopyBufferRect, SHIM_COPY, false, region[0] * region[1],
         (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
          const size_t *to_origin, const size_t *region, size_t from_pitch, size_t from_slice,
          size_t to_pitch, size_t to_slice, cl_uint count, const cl_event *list, cl_event *event),
         (queue, from, to, from_origin, to_origin, region, from_pitch, from_slice, to_pitch,
          to_slice, count, list, event))
