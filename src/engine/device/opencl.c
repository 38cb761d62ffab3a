#include "engine/device/opencl_private.h"

#include "base/clock.h"
#include "base/memory.h"
#include "engine/device/program_cache.h"
#include "kernel_source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Source of a small copy that tests whether copies complete. It stays valid as long as any device
 * may read it. */
static const cl_int no_bytes = 0;

static abut_status build_failed(cl_program program, cl_device_id device, cl_int code)
{
  char *log = NULL;
  size_t bytes = 0;
  void *memory = NULL;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  if (bytes && allocate(&memory, bytes + 1, 1) == ABUT_SUCCESS) {
    log = memory;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
  }
  fail(code, "the kernels do not compile: %s\n%s", abut_status_name(code), log ? log : "");
  free(memory);
  return code;
}

static module_id module_of(int program)
{
  return (module_id)(program / PROGRAM_KINDS);
}

static program_id numbers_of(int program)
{
  return (program_id)(program % PROGRAM_KINDS / 2);
}

static bool is_adjoint(int program)
{
  return program % 2;
}

static abut_status write_options(const opencl *o, int program, char *text, size_t room)
{
  const opencl_options *options = &o->options;
  int used = snprintf(text, room,
                      "-cl-std=CL1.2 -cl-denorms-are-zero -DREAL_DOUBLE=%d -DWIDE=%d -DLANES=%u "
                      "-DWG=%u -DTANGENTS=%zu -DWITH_FORWARD=%d -DWITH_ADJOINT=%d",
                      options->float64, options->has_float64, options->lanes,
                      options->group[module_of(program)], number_parts(numbers_of(program)) - 1,
                      !is_adjoint(program), is_adjoint(program));
  if (options->merges) {
    used += snprintf(text + used, room - (size_t)used, " -DWITH_MERGED=1");
  }
  if (o->kernel_directory) {
    used += snprintf(text + used, room - (size_t)used, " -I%s", o->kernel_directory);
  }
  return (size_t)used < room
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "the name of the kernel folder is too long");
}

/* Joins the pieces of a suite's text, which the caller frees. If there is a kernel directory, the
 * suite is read from it. */
static abut_status source_of(const opencl *o, module_id module, char **out)
{
  char loaded[128];
  snprintf(loaded, sizeof loaded, "#include \"kernels/%s/suite.cl\"\n", module_name(module));
  const char *const read[2] = {loaded, NULL}, *const *pieces =
                                                o->kernel_directory ? read : kernel_sources[module];
  size_t bytes = 1, used = 0;
  void *memory = NULL;
  for (size_t i = 0; pieces[i]; ++i) {
    bytes += strlen(pieces[i]);
  }
  TRY(allocate(&memory, bytes, 1));
  char *text = memory;
  for (size_t i = 0; pieces[i]; ++i) {
    const size_t length = strlen(pieces[i]);
    memcpy(text + used, pieces[i], length);
    used += length;
  }
  text[used] = '\0';
  *out = text;
  return ABUT_SUCCESS;
}

static abut_status build_source(opencl *o, int program, const char *source)
{
  const cl_device_id device = o->options.device;
  char text[4096];
  TRY(write_options(o, program, text, sizeof text));
  const program_recipe recipe = {o->context, device, source, text};
  const bool kept = !o->kernel_directory && program_cache_serves(device);
  o->programs[program] = kept ? program_cache_load(&recipe) : NULL;
  if (o->programs[program]) {
    return ABUT_SUCCESS;
  }
  cl_int code;
  o->programs[program] = clCreateProgramWithSource(o->context, 1, &source, NULL, &code);
  TRY(check(code, "clCreateProgramWithSource"));
  code = clBuildProgram(o->programs[program], 1, &device, text, NULL, NULL);
  if (code != CL_SUCCESS) {
    return build_failed(o->programs[program], device, code);
  }
  if (kept) {
    program_cache_store(&recipe, o->programs[program]);
  }
  return ABUT_SUCCESS;
}

static abut_status build(opencl *o, int program)
{
  char *source = NULL;
  TRY(source_of(o, module_of(program), &source));
  const abut_status status = build_source(o, program, source);
  free(source);
  return status;
}

static bool is_of(kernel_id kernel, int program)
{
  const kernel_entry *k = kernel_entry_of(kernel);
  const program_id numbers = numbers_of(program);
  return PROGRAM_OF(k->module, numbers, k->adjoint) == program && kernel_is_on(kernel, numbers);
}

static abut_status create_kernels(opencl *o, int program)
{
  for (int i = 0; i < KERNEL_COUNT; ++i) {
    if (!is_of((kernel_id)i, program)) {
      continue;
    }
    cl_int code;
    o->kernels[numbers_of(program)][i] =
      clCreateKernel(o->programs[program], kernel_entry_of((kernel_id)i)->name, &code);
    TRY(check(code, "clCreateKernel"));
  }
  return ABUT_SUCCESS;
}

static void release_program(opencl *o, int program)
{
  for (int i = 0; i < KERNEL_COUNT; ++i) {
    cl_kernel *const forms[] = {&o->kernels[numbers_of(program)][i],
                                &o->merged[numbers_of(program)][i]};
    for (size_t k = 0; k < 2; ++k) {
      if (*forms[k] && is_of((kernel_id)i, program)) {
        clReleaseKernel(*forms[k]);
        *forms[k] = NULL;
      }
    }
  }
  if (o->programs[program]) {
    clReleaseProgram(o->programs[program]);
    o->programs[program] = NULL;
  }
}

abut_status opencl_need(opencl *o, program_id numbers, kernel_id kernel, bool *built)
{
  const kernel_entry *entry = kernel_entry_of(kernel);
  const int program = PROGRAM_OF(entry->module, numbers, entry->adjoint);
  *built = !o->programs[program];
  if (!*built) {
    return ABUT_SUCCESS;
  }
  abut_status status = build(o, program);
  if (status == ABUT_SUCCESS) {
    status = create_kernels(o, program);
  }
  if (status != ABUT_SUCCESS) {
    release_program(o, program);
  }
  return status;
}

static abut_status copy_directory(opencl *o)
{
  if (!o->options.kernel_directory) {
    return ABUT_SUCCESS;
  }
  const size_t bytes = strlen(o->options.kernel_directory) + 1;
  void *memory = NULL;
  TRY(allocate(&memory, bytes, 1));
  o->kernel_directory = memcpy(memory, o->options.kernel_directory, bytes);
  return ABUT_SUCCESS;
}

/* Uses the caller's queue with its context. They are released only if they were retained. */
static abut_status adopt_queue(opencl *o)
{
  const cl_command_queue queue = o->options.queue;
  cl_command_queue_properties properties = 0;
  cl_context context = NULL;
  TRY(check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
            "clGetCommandQueueInfo"));
  if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {
    return fail(ABUT_ERROR_ARGUMENT, "the caller's command queue must be in-order");
  }
  TRY(check(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL),
            "clGetCommandQueueInfo"));
  TRY(check(clRetainContext(context), "clRetainContext"));
  o->context = context;
  TRY(check(clRetainCommandQueue(queue), "clRetainCommandQueue"));
  o->queues[0] = queue;
  return ABUT_SUCCESS;
}

static abut_status open_queues(opencl *o)
{
  const opencl_options *options = &o->options;
  cl_int code;
  if (options->queue) {
    return adopt_queue(o);
  }
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              (cl_context_properties)options->platform, 0};
  o->context = clCreateContext(properties, 1, &options->device, NULL, NULL, &code);
  TRY(check(code, "clCreateContext"));
  for (size_t i = 0; i < OPENCL_SLOTS; ++i) {
    o->queues[i] = clCreateCommandQueue(o->context, options->device, 0, &code);
    TRY(check(code, "clCreateCommandQueue"));
  }
  return ABUT_SUCCESS;
}

abut_status opencl_open(const opencl_options *options, opencl **out)
{
  *out = NULL;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(opencl)));
  opencl *o = memory;
  abut_status status = ABUT_SUCCESS;
  o->options = *options;
  TRY_DONE(copy_directory(o));
  TRY_DONE(open_queues(o));
  TRY_DONE(opencl_allocate(o, sizeof no_bytes, &o->probe));
  TRY_DONE(opencl_open_ahead(o));
  *out = o;
  o = NULL;
done:
  opencl_close(o, 0.0); /* nothing was launched */
  return status;
}

/* clFinish could block on the caller's queue, which may contain work that waits for the caller. Our
 * own queues are empty by then. */
void opencl_close(opencl *o, double seconds)
{
  if (!o) {
    return;
  }
  if (opencl_drain(o, seconds) == ABUT_ERROR_TIMEOUT) {
    opencl_abandon(o);
    return;
  }
  opencl_close_ahead(o);
  for (size_t i = 0; i < opencl_slots(o) && !o->options.queue; ++i) {
    clFinish(o->queues[i]);
  }
  for (int i = 0; i < PROGRAM_COUNT; ++i) {
    release_program(o, i);
  }
  if (o->probe) {
    clReleaseMemObject(o->probe);
  }
  for (size_t i = 0; i < opencl_slots(o); ++i) {
    clReleaseCommandQueue(o->queues[i]);
  }
  if (o->context) {
    clReleaseContext(o->context);
  }
  opencl_abandon(o);
}

void opencl_abandon(opencl *o)
{
  if (!o) {
    return;
  }
  for (size_t i = 0; i < OPENCL_SLOTS; ++i) {
    waiter_leave(o->waiters[i]);
    waiter_leave(o->paces[i]);
  }
  free(o->kernel_directory);
  free(o);
}

size_t opencl_slots(const opencl *o)
{
  size_t count = 0;
  while (count < OPENCL_SLOTS && o->queues[count]) {
    ++count;
  }
  return count;
}

void opencl_select(opencl *o, size_t slot)
{
  o->slot = slot;
}

cl_context opencl_context(const opencl *o)
{
  return o->context;
}

/* Submits the slot's work. The waiter waits for `event`, which is released. */
static abut_status watch(opencl *o, cl_event event)
{
  waiter_leave(o->waiters[o->slot]);
  o->waiters[o->slot] = NULL;
  const abut_status status = waiter_create(event, o->options.polls_events, &o->waiters[o->slot]);
  clReleaseEvent(event);
  TRY(status);
  return check(clFlush(o->queues[o->slot]), "clFlush");
}

abut_status opencl_submit(opencl *o)
{
  cl_event event = NULL;
  TRY(check(clEnqueueMarkerWithWaitList(o->queues[o->slot], 0, NULL, &event),
            "clEnqueueMarkerWithWaitList"));
  return watch(o, event);
}

static abut_status not_ended(double seconds)
{
  return fail(ABUT_ERROR_TIMEOUT, "the kernels did not finish within %g s", seconds);
}

abut_status opencl_wait(opencl *o, double seconds, double *ended)
{
  waiter *w = o->waiters[o->slot];
  if (!w) {
    *ended = now();
    return ABUT_SUCCESS;
  }
  cl_int code = CL_SUCCESS;
  o->waiters[o->slot] = NULL;
  const double until = now() + seconds;
  if (o->options.lends_threads) {
    waiter_finish(o->queues[o->slot], seconds);
  }
  const double left = until - now();
  const bool done = waiter_wait(w, left > 0.0 ? left : 0.0, &code, ended);
  waiter_leave(w);
  if (!done) {
    return not_ended(seconds);
  }
  o->running[o->slot] = false;
  return check(code, "a kernel");
}

abut_status opencl_pace(opencl *o, double seconds)
{
  cl_event event = NULL;
  cl_int code = CL_SUCCESS;
  double ended;
  if (o->options.lends_threads) {
    TRY(opencl_submit(o));
    return opencl_wait(o, seconds, &ended);
  }
  waiter *before = o->paces[o->slot];
  o->paces[o->slot] = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(check(clEnqueueMarkerWithWaitList(o->queues[o->slot], 0, NULL, &event),
                 "clEnqueueMarkerWithWaitList"));
  status = waiter_create(event, o->options.polls_events, &o->paces[o->slot]);
  clReleaseEvent(event);
  TRY_DONE(status);
  TRY_DONE(check(clFlush(o->queues[o->slot]), "clFlush"));
  if (before) {
    TRY_DONE(waiter_wait(before, seconds, &code, &ended) ? ABUT_SUCCESS : not_ended(seconds));
    TRY_DONE(check(code, "a kernel"));
  }
done:
  waiter_leave(before);
  return status;
}

abut_status opencl_end(opencl *o, double seconds)
{
  double ended;
  if (!o->running[o->slot]) {
    return ABUT_SUCCESS;
  }
  if (!o->waiters[o->slot]) {
    TRY(opencl_submit(o));
  }
  return opencl_wait(o, seconds, &ended);
}

abut_status opencl_reach(opencl *o, double seconds)
{
  bool others = false;
  cl_event event = NULL;
  double ended;
  TRY(opencl_end(o, seconds));
  for (size_t i = 0; i < OPENCL_SLOTS; ++i) {
    others = others || o->running[i];
  }
  if (!others || o->reached) {
    return ABUT_SUCCESS;
  }
  o->running[o->slot] = true;
  TRY(check(clEnqueueWriteBuffer(o->queues[o->slot], o->probe, CL_FALSE, 0, sizeof no_bytes,
                                 &no_bytes, 0, NULL, &event),
            "clEnqueueWriteBuffer"));
  TRY(watch(o, event));
  TRY(opencl_wait(o, seconds, &ended));
  o->reached = true;
  return ABUT_SUCCESS;
}

abut_status opencl_drain(opencl *o, double seconds)
{
  abut_status status = ABUT_SUCCESS;
  const size_t selected = o->slot;
  for (size_t i = 0; i < opencl_slots(o); ++i) {
    o->slot = i;
    abut_status ended = opencl_end(o, seconds);
    if (ended != ABUT_SUCCESS && ended != ABUT_ERROR_TIMEOUT) {
      ended = waiter_finish(o->queues[i], seconds) ? ended : not_ended(seconds);
      o->running[i] = ended == ABUT_ERROR_TIMEOUT;
    }
    waiter_leave(o->paces[i]); /* of failed work, which is done again */
    o->paces[i] = NULL;
    status = status == ABUT_SUCCESS || ended == ABUT_ERROR_TIMEOUT ? ended : status;
  }
  o->slot = selected;
  return status;
}

/* If a slot's end cannot be marked, waits by clFinish. */
static abut_status settle_slot(opencl *o, double seconds)
{
  cl_int code = CL_SUCCESS;
  double ended;
  if (!o->waiters[o->slot] && opencl_submit(o) != ABUT_SUCCESS) {
    return waiter_finish(o->queues[o->slot], seconds) ? ABUT_SUCCESS : not_ended(seconds);
  }
  const bool done = waiter_wait(o->waiters[o->slot], seconds, &code, &ended);
  return done ? ABUT_SUCCESS : not_ended(seconds);
}

abut_status opencl_settle(opencl *o, double seconds)
{
  const size_t selected = o->slot;
  abut_status status = ABUT_SUCCESS;
  for (size_t i = 0; i < opencl_slots(o) && status == ABUT_SUCCESS; ++i) {
    o->slot = i;
    status = o->running[i] ? settle_slot(o, seconds) : ABUT_SUCCESS;
  }
  o->slot = selected;
  return status;
}

void mark_running(opencl *o)
{
  opencl_forget_ahead(o);
  mark_reading(o);
}

void mark_reading(opencl *o)
{
  waiter_leave(o->waiters[o->slot]); /* the old one covers less work */
  o->waiters[o->slot] = NULL;
  o->running[o->slot] = true;
  o->reached = false;
}

/* Shared memory is passed to a kernel by address. For memory objects, drivers do bookkeeping at
 * each launch, which costs PoCL a third of a launch. */
static abut_status set_argument(const opencl *o, cl_kernel kernel, cl_uint i, argument_kind kind,
                                const opencl_argument *a)
{
  const float narrow = (float)a->number;
  cl_int code;
  if (kind == ARGUMENT_BUFFER && a->shared) {
    code = clSetKernelArgSVMPointer(kernel, i, a->shared);
  } else if (kind == ARGUMENT_BUFFER) {
    code = clSetKernelArg(kernel, i, sizeof(cl_mem), &a->memory);
  } else if (kind == ARGUMENT_INT) {
    const cl_int integer = a->integer;
    code = clSetKernelArg(kernel, i, sizeof integer, &integer);
  } else if (kind == ARGUMENT_STRUCT) {
    code = clSetKernelArg(kernel, i, a->bytes, a->structure);
  } else if (o->options.float64) {
    code = clSetKernelArg(kernel, i, sizeof a->number, &a->number);
  } else {
    code = clSetKernelArg(kernel, i, sizeof narrow, &narrow);
  }
  return check(code, "clSetKernelArg");
}

static abut_status enqueue(opencl *o, cl_kernel kernel, const char *name, const size_t global[2],
                           size_t items)
{
  const size_t local[2] = {items, 1};
  mark_running(o);
  const cl_int code =
    clEnqueueNDRangeKernel(o->queues[o->slot], kernel, 2, NULL, global, local, 0, NULL, NULL);
  return code == CL_SUCCESS
           ? ABUT_SUCCESS
           : fail(code, "kernel %s cannot be launched: %s", name, abut_status_name(code));
}

abut_status opencl_launch(opencl *o, program_id program, kernel_id kernel, size_t x, size_t y,
                          const opencl_argument *arguments)
{
  const kernel_entry *entry = kernel_entry_of(kernel);
  cl_kernel compiled = o->kernels[program][kernel];
  for (int i = 0; i < entry->arguments; ++i) {
    TRY(set_argument(o, compiled, (cl_uint)i, entry->kinds[i], &arguments[i]));
  }
  const size_t local = entry->grouped ? o->options.group[entry->module]
                                      : o->options.items[entry->module];
  const size_t global[2] = {entry->grouped ? x * local : (x + local - 1) / local * local, y};
  return enqueue(o, compiled, entry->name, global, local);
}

abut_status opencl_launch_merged(opencl *o, program_id program, kernel_id kernel, size_t items,
                                 const opencl_argument arguments[MERGED_ARGUMENTS])
{
  static const argument_kind kinds[MERGED_ARGUMENTS] = {ARGUMENT_BUFFER, ARGUMENT_INT, ARGUMENT_INT,
                                                        ARGUMENT_INT, ARGUMENT_BUFFER};
  const kernel_entry *entry = kernel_entry_of(kernel);
  cl_kernel *compiled = &o->merged[program][kernel];
  if (!*compiled) {
    char name[128];
    cl_int code;
    snprintf(name, sizeof name, "%s_merged", entry->name);
    *compiled =
      clCreateKernel(o->programs[PROGRAM_OF(entry->module, program, entry->adjoint)], name, &code);
    TRY(check(code, "clCreateKernel"));
  }
  for (int i = 0; i < MERGED_ARGUMENTS; ++i) {
    TRY(set_argument(o, *compiled, (cl_uint)i, kinds[i], &arguments[i]));
  }
  const size_t local = o->options.items[entry->module],
               global[2] = {(items + local - 1) / local * local, 1};
  return enqueue(o, *compiled, entry->name, global, local);
}
