#include "shim.h"

#include "base/clock.h"
#include "shim_builds.h"
#include "shim_private.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[KINDS] = {"contexts", "queues",        "programs", "kernels",
                                              "memory",   "shared memory", "events"};

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
  size_t end; /* behind the last one of `made` that was ever used */
  cl_int code;
  bool late;
  struct {
    void *object; /* a cl_mem, or shared memory */
    size_t bytes;
  } made[BUFFERS];
} buffers;
static double launched;

static struct {
  bool presented, skips;
  uint64_t memory, allocation;
} gpu;
static shim_commands commands;

static void *library;

bool shim_open(void)
{
  library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != NULL;
}

bool shim_shares_memory(void)
{
  const char *sharing = getenv("ABUT_TEST_SHARING");
  return !gpu.presented && (!sharing || strcmp(sharing, "off") != 0);
}

/* ---- a GPU ---- */

void shim_present_gpu(uint64_t memory, uint64_t allocation)
{
  pthread_mutex_lock(&lock);
  gpu.presented = true;
  gpu.memory = memory;
  gpu.allocation = allocation;
  pthread_mutex_unlock(&lock);
}

static void replace(size_t room, void *to, const void *by, size_t bytes)
{
  if (to && room >= bytes) {
    memcpy(to, by, bytes);
  }
}

void shim_answer_as_gpu(cl_device_info what, size_t room, void *to)
{
  const cl_device_type type = CL_DEVICE_TYPE_GPU;
  pthread_mutex_lock(&lock);
  const cl_ulong memory = gpu.memory, allocation = gpu.allocation;
  const bool presented = gpu.presented;
  pthread_mutex_unlock(&lock);
  if (presented && what == CL_DEVICE_TYPE) {
    replace(room, to, &type, sizeof type);
  } else if (presented && what == CL_DEVICE_GLOBAL_MEM_SIZE) {
    replace(room, to, &memory, sizeof memory);
  } else if (presented && what == CL_DEVICE_MAX_MEM_ALLOC_SIZE) {
    replace(room, to, &allocation, sizeof allocation);
  }
}

void shim_skip_kernels(bool skip)
{
  pthread_mutex_lock(&lock);
  gpu.skips = skip;
  pthread_mutex_unlock(&lock);
}

bool shim_skips_kernels(void)
{
  pthread_mutex_lock(&lock);
  const bool skips = gpu.skips;
  pthread_mutex_unlock(&lock);
  return skips;
}

void shim_count_command(shim_command what, bool blocks, size_t bytes)
{
  pthread_mutex_lock(&lock);
  commands.launches += what == SHIM_LAUNCH;
  commands.markers += what == SHIM_MARKER;
  commands.flushes += what == SHIM_FLUSH;
  commands.reads += what == SHIM_READ && blocks;
  commands.writes += what == SHIM_WRITE && blocks;
  commands.large_copies += blocks && bytes > SHIM_LARGE;
  commands.down += what == SHIM_READ ? bytes : 0;
  commands.up += what == SHIM_WRITE ? bytes : 0;
  pthread_mutex_unlock(&lock);
}

shim_commands shim_count_commands(void)
{
  pthread_mutex_lock(&lock);
  const shim_commands counted = commands;
  memset(&commands, 0, sizeof commands);
  pthread_mutex_unlock(&lock);
  return counted;
}

/* ---- faults ---- */

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

bool shim_too_much(size_t bytes, cl_int *code)
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

bool shim_fails(const char *name, cl_int *code)
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

void shim_count_live(int kind, long change)
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

bool shim_overfull(size_t bytes, cl_int *code)
{
  pthread_mutex_lock(&lock);
  const bool full = buffers.bound && buffers.bytes + bytes > buffers.bound;
  const bool strike = full && buffers.late == (bytes == 0);
  *code = strike ? buffers.code : *code;
  pthread_mutex_unlock(&lock);
  return strike;
}

void shim_add_memory(void *object, size_t bytes)
{
  size_t i = 0;
  pthread_mutex_lock(&lock);
  while (i < BUFFERS && buffers.made[i].object) {
    ++i;
  }
  if (i < BUFFERS) {
    buffers.end = i < buffers.end ? buffers.end : i + 1;
    buffers.made[i].object = object;
    buffers.made[i].bytes = bytes;
    buffers.bytes += bytes;
  }
  buffers.most = buffers.bytes > buffers.most ? buffers.bytes : buffers.most;
  pthread_mutex_unlock(&lock);
}

void shim_forget_memory(const void *object)
{
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < buffers.end; ++i) {
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

void shim_find(const char *name, void *function)
{
  if (!shim_builds_instead(name, function)) {
    shim_find_real(name, function);
  }
}

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
  shim_find("clSetUserEventStatus", &set);
  shim_find("clReleaseEvent", &release);
  pthread_mutex_lock(&lock);
  const cl_event event = hang.event;
  memset(&hang, 0, sizeof hang);
  pthread_mutex_unlock(&lock);
  return event && set(event, status) == CL_SUCCESS && release(event) == CL_SUCCESS;
}

cl_event *shim_waits_for(cl_command_queue queue, bool launch, cl_event *event)
{
  cl_int (*ask)(cl_command_queue, cl_command_queue_info, size_t, void *, size_t *) = NULL;
  cl_event (*create)(cl_context, cl_int *) = NULL;
  cl_context context = NULL;
  shim_find("clGetCommandQueueInfo", &ask);
  ask(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  pthread_mutex_lock(&lock);
  hang.launches += launch;
  launched = launch ? now() : launched;
  if (launch && hang.at && hang.launches == hang.at) {
    shim_find("clCreateUserEvent", &create);
    hang.event = create(context, NULL);
    hang.context = context;
    *event = hang.event;
  } else if (hang.event && hang.how == SHIM_HANG_DEVICE && hang.context == context) {
    *event = hang.event;
  }
  pthread_mutex_unlock(&lock);
  return *event ? event : NULL;
}

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
