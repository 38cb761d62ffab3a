#include "shim.h"

#include "base/clock.h"
#include "shim_builds.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  CONTEXT, QUEUE, PROGRAM, KERNEL, MEMORY, SHARED, EVENT,
  KINDS
};

static const char *const kind_names[KINDS] = {"contexts", "queues", "programs", "kernels",
                                              "memory", "shared memory", "events"};

/* All of it under `lock`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  shim_kind kind;
  long count, first, last, failed;
  cl_int code;
  const char *name;
} fault;
static long live[KINDS];
static struct {
  long launches, at;
  shim_hang how;
  cl_event event;
  cl_context context;
} hang;

static struct {
  size_t bytes;
  cl_int code;
  long refused;
} limit;
static struct {
  const char *name;
  cl_int code;
} while_hung;

#define BUFFERS 4096 /* more are not counted */
static struct {
  size_t bytes, most, bound;
  cl_int code;
  bool late;
  struct {
    void *object; /* a cl_mem, or shared memory */
    size_t bytes;
  } made[BUFFERS];
} buffers;
static double launched;

static void *library;

/* ---- faults ---- */

bool shim_open(void)
{
  library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != NULL;
}

bool shim_shares_memory(void)
{
  const char *sharing = getenv("ABUT_TEST_SHARING");
  return !sharing || strcmp(sharing, "off") != 0;
}

bool shim_has_substitute(const char *call)
{
  return shim_shares_memory() && (!strcmp(call, "clSVMAlloc") || !strcmp(call, "clCreateBuffer"));
}

void shim_fail(shim_kind kind, long first, long last, cl_int code)
{
  pthread_mutex_lock(&lock);
  memset(&fault, 0, sizeof fault);
  fault.kind = kind;
  fault.first = first;
  fault.last = last;
  fault.code = code;
  pthread_mutex_unlock(&lock);
}

long shim_stop(void)
{
  pthread_mutex_lock(&lock);
  const long count = fault.count;
  fault.first = fault.last = 0;
  pthread_mutex_unlock(&lock);
  return count;
}

long shim_failed(void)
{
  pthread_mutex_lock(&lock);
  const long failed = fault.failed;
  pthread_mutex_unlock(&lock);
  return failed;
}

const char *shim_first_failed(void)
{
  return fault.name ? fault.name : "nothing";
}

long shim_limit_memory(size_t bytes, cl_int code)
{
  pthread_mutex_lock(&lock);
  const long refused = limit.refused;
  limit.bytes = bytes;
  limit.code = code;
  limit.refused = 0;
  pthread_mutex_unlock(&lock);
  return refused;
}

static bool too_much(size_t bytes, cl_int *code)
{
  pthread_mutex_lock(&lock);
  const bool refused = limit.bytes && bytes > limit.bytes;
  limit.refused += refused;
  *code = limit.code;
  pthread_mutex_unlock(&lock);
  return refused;
}

static bool strikes(shim_kind kind, const char *name, cl_int *code)
{
  pthread_mutex_lock(&lock);
  const bool counts = fault.kind == kind;
  fault.count += counts;
  const bool strike = counts && fault.first && fault.count >= fault.first &&
                      fault.count <= fault.last;
  fault.failed += strike;
  fault.name = strike && !fault.name ? name : fault.name;
  *code = fault.code;
  pthread_mutex_unlock(&lock);
  return strike;
}

void shim_fail_while_hung(const char *name, cl_int code)
{
  pthread_mutex_lock(&lock);
  while_hung.name = name;
  while_hung.code = code;
  pthread_mutex_unlock(&lock);
}

static bool fails_while_hung(const char *name, cl_int *code)
{
  pthread_mutex_lock(&lock);
  const bool strike = hang.event && while_hung.name && !strcmp(name, while_hung.name);
  *code = while_hung.code;
  pthread_mutex_unlock(&lock);
  return strike;
}

static bool fails(const char *name, cl_int *code)
{
  if (fails_while_hung(name, code)) {
    return true;
  }
  const bool argument = strcmp(name, "clSetKernelArg") == 0;
  return strikes(argument ? SHIM_ARGUMENTS : SHIM_CALLS, name, code);
}

static bool no_memory(const char *name)
{
  cl_int code;
  return strikes(SHIM_ALLOCATIONS, name, &code);
}

/* ---- objects ---- */

static void count_live(int kind, long change)
{
  pthread_mutex_lock(&lock);
  live[kind] += change;
  pthread_mutex_unlock(&lock);
}

const char *shim_live(long *count)
{
  const char *name = NULL;
  *count = 0;
  pthread_mutex_lock(&lock);
  for (int i = KINDS - 1; i >= 0; --i) {
    name = live[i] ? kind_names[i] : name;
    *count = live[i] ? live[i] : *count;
  }
  pthread_mutex_unlock(&lock);
  return name;
}

void shim_forget_live(void)
{
  pthread_mutex_lock(&lock);
  memset(live, 0, sizeof live);
  pthread_mutex_unlock(&lock);
}

/* ---- memory ---- */

void shim_bound_memory(size_t bytes, cl_int code, bool late)
{
  pthread_mutex_lock(&lock);
  buffers.bound = bytes;
  buffers.code = code;
  buffers.late = late;
  pthread_mutex_unlock(&lock);
}

size_t shim_most_memory(void)
{
  pthread_mutex_lock(&lock);
  const size_t most = buffers.most;
  buffers.most = buffers.bytes;
  pthread_mutex_unlock(&lock);
  return most;
}

double shim_launched(void)
{
  pthread_mutex_lock(&lock);
  const double last = launched;
  pthread_mutex_unlock(&lock);
  return last;
}

/* Whether there is no room for so many bytes more; 0: whether a launch has too little. */
static bool overfull(size_t bytes, cl_int *code)
{
  pthread_mutex_lock(&lock);
  const bool full = buffers.bound && buffers.bytes + bytes > buffers.bound;
  const bool strike = full && buffers.late == (bytes == 0);
  *code = strike ? buffers.code : *code;
  pthread_mutex_unlock(&lock);
  return strike;
}

static void add_memory(void *object, size_t bytes)
{
  size_t i = 0;
  pthread_mutex_lock(&lock);
  while (i < BUFFERS && buffers.made[i].object) {
    ++i;
  }
  if (i < BUFFERS) {
    buffers.made[i].object = object;
    buffers.made[i].bytes = bytes;
    buffers.bytes += bytes;
  }
  buffers.most = buffers.bytes > buffers.most ? buffers.bytes : buffers.most;
  pthread_mutex_unlock(&lock);
}

static void forget_memory(const void *object)
{
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < BUFFERS; ++i) {
    if (buffers.made[i].object == object) {
      buffers.bytes -= buffers.made[i].bytes;
      buffers.made[i].object = NULL;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
}

/* ---- the real functions ---- */

/* An object's address as a function's, which C has no cast for. */
void shim_find_real(const char *name, void *function)
{
  void *address = library ? dlsym(library, name) : NULL;
  memcpy(function, &address, sizeof address);
}

static void find(const char *name, void *function)
{
  if (!shim_builds_instead(name, function)) {
    shim_find_real(name, function);
  }
}

#define REAL(name)           \
  __typeof__(&name) real;    \
  cl_int wrong;              \
  find(#name, &real)

/* ---- launches that hang ---- */

void shim_hang_launch(long n, shim_hang how)
{
  pthread_mutex_lock(&lock);
  hang.launches = 0;
  hang.at = n;
  hang.how = how;
  pthread_mutex_unlock(&lock);
}

bool shim_hung(void)
{
  pthread_mutex_lock(&lock);
  const bool hung = hang.event != NULL;
  pthread_mutex_unlock(&lock);
  return hung;
}

bool shim_end_hang(cl_int status)
{
  cl_int (*set)(cl_event, cl_int) = NULL;
  cl_int (*release)(cl_event) = NULL;
  find("clSetUserEventStatus", &set);
  find("clReleaseEvent", &release);
  pthread_mutex_lock(&lock);
  const cl_event event = hang.event;
  memset(&hang, 0, sizeof hang);
  pthread_mutex_unlock(&lock);
  return event && set(event, status) == CL_SUCCESS && release(event) == CL_SUCCESS;
}

/* What a command must wait for: nothing, or the event that ends the hang. */
static cl_event *waits_for(cl_command_queue queue, bool launch, cl_event *event)
{
  cl_int (*ask)(cl_command_queue, cl_command_queue_info, size_t, void *, size_t *) = NULL;
  cl_event (*create)(cl_context, cl_int *) = NULL;
  cl_context context = NULL;
  find("clGetCommandQueueInfo", &ask);
  ask(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  pthread_mutex_lock(&lock);
  hang.launches += launch;
  launched = launch ? now() : launched;
  if (launch && hang.at && hang.launches == hang.at) {
    find("clCreateUserEvent", &create);
    hang.event = create(context, NULL);
    hang.context = context;
    *event = hang.event;
  } else if (hang.event && hang.how == SHIM_HANG_DEVICE && hang.context == context) {
    *event = hang.event;
  }
  pthread_mutex_unlock(&lock);
  return *event ? event : NULL;
}

/* ---- OpenCL ---- */

#define ASKS(name, parameters, arguments)              \
  cl_int name parameters                               \
  {                                                    \
    REAL(name);                                        \
    return fails(#name, &wrong) ? wrong : real arguments; \
  }

#define CREATES(type, name, kind, parameters, arguments) \
  type name parameters                                   \
  {                                                      \
    REAL(name);                                          \
    if (fails(#name, &wrong)) {                          \
      if (code) {                                        \
        *code = wrong;                                   \
      }                                                  \
      return NULL;                                       \
    }                                                    \
    const type made = real arguments;                    \
    count_live(kind, made != NULL);                      \
    return made;                                         \
  }

#define RETAINS(name, type, kind)     \
  cl_int name(type object)            \
  {                                   \
    REAL(name);                       \
    if (fails(#name, &wrong)) {       \
      return wrong;                   \
    }                                 \
    count_live(kind, 1);              \
    return real(object);              \
  }

#define RELEASES(name, type, kind)                     \
  cl_int name(type object)                             \
  {                                                    \
    REAL(name);                                        \
    const cl_int right = real(object);                 \
    count_live(kind, right == CL_SUCCESS ? -1 : 0);    \
    return fails(#name, &wrong) ? wrong : right;       \
  }

/* What the library waits for by lists of events would be lost here: it has none. */
#define ENQUEUES(name, launch, parameters, arguments)                     \
  cl_int name parameters                                                  \
  {                                                                       \
    REAL(name);                                                           \
    cl_event gate = NULL;                                                 \
    if (fails(#name, &wrong) || (launch && overfull(0, &wrong))) {        \
      return wrong;                                                       \
    }                                                                     \
    if (count || list) {                                                  \
      return CL_INVALID_EVENT_WAIT_LIST;                                  \
    }                                                                     \
    list = waits_for(queue, launch, &gate);                               \
    count = list ? 1 : 0;                                                 \
    const cl_int right = real arguments;                                  \
    count_live(EVENT, event && right == CL_SUCCESS ? 1 : 0);              \
    return right;                                                         \
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
  if (fails("clGetDeviceInfo", &wrong)) {
    return wrong;
  }
  return what == CL_DEVICE_SVM_CAPABILITIES && !shim_shares_memory()
           ? CL_INVALID_VALUE
           : real(of, what, room, to, size);
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

typedef void(CL_CALLBACK *notified)(cl_event, cl_int, void *);

static struct {
  long count, at;
  cl_int status;
  notified notify;
  void *user;
} told; /* under `lock` */

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
  if (fails("clSetEventCallback", &wrong)) {
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

ASKS(clFlush, (cl_command_queue queue), (queue))

/* On a device that fails, too, kernels have ended then: PoCL does not bear what they use to go. */
cl_int clFinish(cl_command_queue queue)
{
  REAL(clFinish);
  const cl_int right = real(queue);
  return fails("clFinish", &wrong) ? wrong : right;
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
  if (fails("clCreateBuffer", &wrong) || too_much(bytes, &wrong) ||
      (own && overfull(bytes, &wrong))) {
    *code = wrong;
    return NULL;
  }
  const cl_mem made = real(context, flags, bytes, host, code);
  count_live(MEMORY, made != NULL);
  if (own && made) {
    add_memory(made, bytes);
  }
  return made;
}

/* Buffers are counted until the library lets go of them, which never retains its own: a driver's
 * references last as long as its commands. */
cl_int clReleaseMemObject(cl_mem object)
{
  REAL(clReleaseMemObject);
  forget_memory(object);
  const cl_int right = real(object);
  count_live(MEMORY, right == CL_SUCCESS ? -1 : 0);
  return fails("clReleaseMemObject", &wrong) ? wrong : right;
}

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
  REAL(clSVMAlloc);
  if (fails("clSVMAlloc", &wrong) || overfull(bytes, &wrong)) {
    return NULL;
  }
  void *made = real(context, flags, bytes, alignment);
  count_live(SHARED, made != NULL);
  if (made) {
    add_memory(made, bytes);
  }
  return made;
}

void clSVMFree(cl_context context, void *memory)
{
  REAL(clSVMFree);
  forget_memory(memory);
  (void)wrong;
  real(context, memory);
  count_live(SHARED, -1);
}

RETAINS(clRetainContext, cl_context, CONTEXT)
RETAINS(clRetainCommandQueue, cl_command_queue, QUEUE)
RETAINS(clRetainMemObject, cl_mem, MEMORY)

RELEASES(clReleaseContext, cl_context, CONTEXT)
RELEASES(clReleaseCommandQueue, cl_command_queue, QUEUE)
RELEASES(clReleaseProgram, cl_program, PROGRAM)
RELEASES(clReleaseKernel, cl_kernel, KERNEL)
RELEASES(clReleaseEvent, cl_event, EVENT)

ENQUEUES(clEnqueueNDRangeKernel, true,
         (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
          const size_t *global, const size_t *local, cl_uint count, const cl_event *list,
          cl_event *event),
         (queue, kernel, dimensions, offset, global, local, count, list, event))
ENQUEUES(clEnqueueMarkerWithWaitList, false,
         (cl_command_queue queue, cl_uint count, const cl_event *list, cl_event *event),
         (queue, count, list, event))
ENQUEUES(clEnqueueReadBuffer, false,
         (cl_command_queue queue, cl_mem from, cl_bool wait, size_t offset, size_t bytes, void *to,
          cl_uint count, const cl_event *list, cl_event *event),
         (queue, from, wait, offset, bytes, to, count, list, event))
ENQUEUES(clEnqueueReadBufferRect, false,
         (cl_command_queue queue, cl_mem from, cl_bool wait, const size_t *from_origin,
          const size_t *to_origin, const size_t *region, size_t from_pitch, size_t from_slice,
          size_t to_pitch, size_t to_slice, void *to, cl_uint count, const cl_event *list,
          cl_event *event),
         (queue, from, wait, from_origin, to_origin, region, from_pitch, from_slice, to_pitch,
          to_slice, to, count, list, event))
ENQUEUES(clEnqueueWriteBuffer, false,
         (cl_command_queue queue, cl_mem to, cl_bool wait, size_t offset, size_t bytes,
          const void *from, cl_uint count, const cl_event *list, cl_event *event),
         (queue, to, wait, offset, bytes, from, count, list, event))
ENQUEUES(clEnqueueCopyBuffer, false,
         (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
          size_t bytes, cl_uint count, const cl_event *list, cl_event *event),
         (queue, from, to, from_offset, to_offset, bytes, count, list, event))
ENQUEUES(clEnqueueCopyBufferRect, false,
         (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
          const size_t *to_origin, const size_t *region, size_t from_pitch, size_t from_slice,
          size_t to_pitch, size_t to_slice, cl_uint count, const cl_event *list, cl_event *event),
         (queue, from, to, from_origin, to_origin, region, from_pitch, from_slice, to_pitch,
          to_slice, count, list, event))

/* ---- host memory ---- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
  return no_memory("malloc") ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t size)
{
  return no_memory("calloc") ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
  return no_memory("realloc") ? NULL : __real_realloc(memory, bytes);
}
