#include "device/opencl.h"

#include "base/error.h"
#include "base/memory.h"
#include "kernel_source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opencl {
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_device_id device;
  cl_kernel kernels[KERNEL_COUNT];
  const kernel_entry *table;
  uint32_t group, items;
  bool float64;
};

static abut_status check(cl_int code, const char *call)
{
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : fail(code, "%s failed: %s", call, abut_status_name(code));
}

static abut_status build_failed(opencl *o, cl_int code)
{
  char *log = NULL;
  size_t bytes = 0;
  void *memory = NULL;
  clGetProgramBuildInfo(o->program, o->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  if (bytes && allocate(&memory, bytes + 1, 1) == ABUT_SUCCESS) {
    log = memory;
    clGetProgramBuildInfo(o->program, o->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
  }
  fail(code, "the kernels do not build: %s\n%s", abut_status_name(code), log ? log : "");
  free(memory);
  return code;
}

/* Builds the embedded text, or suite.cl of a directory with that directory to include from. */
static abut_status build(opencl *o, const opencl_options *options)
{
  const char *embedded = kernel_source;
  const char *loaded = "#include \"kernels/suite.cl\"\n";
  const char *source = options->kernel_directory ? loaded : embedded;
  cl_int code;
  o->program = clCreateProgramWithSource(o->context, 1, &source, NULL, &code);
  TRY(check(code, "clCreateProgramWithSource"));
  char text[4096];
  int used = snprintf(text, sizeof text,
                      "-cl-std=CL1.2 -DREAL_DOUBLE=%d -DWIDE=%d -DLANES=%u -DWG=%u",
                      options->float64, options->has_float64, options->lanes, options->group);
  if (options->kernel_directory) {
    used += snprintf(text + used, sizeof text - (size_t)used, " -I%s", options->kernel_directory);
  }
  if ((size_t)used >= sizeof text) {
    return fail(ABUT_ERROR_ARGUMENT, "the kernel directory's name is too long");
  }
  code = clBuildProgram(o->program, 1, &options->device, text, NULL, NULL);
  return code == CL_SUCCESS ? ABUT_SUCCESS : build_failed(o, code);
}

static abut_status create_kernels(opencl *o)
{
  for (int i = 0; i < KERNEL_COUNT; ++i) {
    cl_int code;
    o->kernels[i] = clCreateKernel(o->program, o->table[i].name, &code);
    TRY(check(code, "clCreateKernel"));
  }
  return ABUT_SUCCESS;
}

abut_status opencl_open(const opencl_options *options, const kernel_entry *table, opencl **out)
{
  *out = NULL;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(opencl)));
  opencl *o = memory;
  abut_status status = ABUT_SUCCESS;
  o->device = options->device;
  o->table = table;
  o->group = options->group;
  o->items = options->items;
  o->float64 = options->float64;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              (cl_context_properties)options->platform, 0};
  cl_int code;
  o->context = clCreateContext(properties, 1, &options->device, NULL, NULL, &code);
  TRY_DONE(check(code, "clCreateContext"));
  o->queue = clCreateCommandQueue(o->context, options->device, 0, &code);
  TRY_DONE(check(code, "clCreateCommandQueue"));
  TRY_DONE(build(o, options));
  TRY_DONE(create_kernels(o));
  *out = o;
  o = NULL;
done:
  opencl_close(o);
  return status;
}

void opencl_close(opencl *o)
{
  if (!o) {
    return;
  }
  for (int i = 0; i < KERNEL_COUNT; ++i) {
    if (o->kernels[i]) {
      clReleaseKernel(o->kernels[i]);
    }
  }
  if (o->program) {
    clReleaseProgram(o->program);
  }
  if (o->queue) {
    clFinish(o->queue);
    clReleaseCommandQueue(o->queue);
  }
  if (o->context) {
    clReleaseContext(o->context);
  }
  free(o);
}

abut_status opencl_allocate(opencl *o, size_t bytes, cl_mem *out)
{
  cl_int code;
  *out = clCreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  return check(code, "clCreateBuffer");
}

abut_status opencl_write(opencl *o, cl_mem to, size_t offset, size_t bytes, const void *from)
{
  return check(clEnqueueWriteBuffer(o->queue, to, CL_TRUE, offset, bytes, from, 0, NULL, NULL),
               "clEnqueueWriteBuffer");
}

abut_status opencl_read(opencl *o, cl_mem from, size_t offset, size_t bytes, void *to)
{
  return check(clEnqueueReadBuffer(o->queue, from, CL_TRUE, offset, bytes, to, 0, NULL, NULL),
               "clEnqueueReadBuffer");
}

static abut_status set_argument(const opencl *o, cl_kernel kernel, cl_uint i, argument_kind kind,
                                const opencl_argument *a)
{
  const float narrow = (float)a->number;
  cl_int code;
  if (kind == ARGUMENT_BUFFER) {
    code = clSetKernelArg(kernel, i, sizeof(cl_mem), &a->memory);
  } else if (kind == ARGUMENT_INT) {
    const cl_int integer = a->integer;
    code = clSetKernelArg(kernel, i, sizeof integer, &integer);
  } else if (o->float64) {
    code = clSetKernelArg(kernel, i, sizeof a->number, &a->number);
  } else {
    code = clSetKernelArg(kernel, i, sizeof narrow, &narrow);
  }
  return check(code, "clSetKernelArg");
}

abut_status opencl_launch(opencl *o, kernel_id kernel, size_t x, size_t y,
                          const opencl_argument *arguments)
{
  const kernel_entry *entry = &o->table[kernel];
  for (int i = 0; i < entry->arguments; ++i) {
    TRY(set_argument(o, o->kernels[kernel], (cl_uint)i, entry->kinds[i], &arguments[i]));
  }
  size_t local[2] = {entry->grouped ? o->group : o->items, 1};
  size_t global[2] = {x, y};
  if (entry->grouped) {
    global[0] = x * local[0];
  } else {
    global[0] = (x + local[0] - 1) / local[0] * local[0];
  }
  const cl_int code =
    clEnqueueNDRangeKernel(o->queue, o->kernels[kernel], 2, NULL, global, local, 0, NULL, NULL);
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : fail(code, "kernel %s cannot be launched: %s", entry->name,
                                   abut_status_name(code));
}
