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
  cl_program programs[PROGRAM_COUNT];
  cl_kernel kernels[2][KERNEL_COUNT]; /* plain, dual */
  opencl_options options;
  char *kernel_directory; /* a copy: programs are built later too */
  const kernel_entry *table;
};

static abut_status check(cl_int code, const char *call)
{
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : fail(code, "%s failed: %s", call, abut_status_name(code));
}

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
  fail(code, "the kernels do not build: %s\n%s", abut_status_name(code), log ? log : "");
  free(memory);
  return code;
}

/* Builds the embedded text, or suite.cl of a directory with that directory to include from. */
static abut_status build(opencl *o, int program)
{
  const opencl_options *options = &o->options;
  const char *embedded = kernel_source;
  const char *loaded = "#include \"kernels/suite.cl\"\n";
  const char *source = o->kernel_directory ? loaded : embedded;
  cl_int code;
  o->programs[program] = clCreateProgramWithSource(o->context, 1, &source, NULL, &code);
  TRY(check(code, "clCreateProgramWithSource"));
  char text[4096];
  int used = snprintf(text, sizeof text,
                      "-cl-std=CL1.2 -DREAL_DOUBLE=%d -DWIDE=%d -DLANES=%u -DWG=%u -DTANGENTS=%d "
                      "-DWITH_FORWARD=%d -DWITH_ADJOINT=%d",
                      options->float64, options->has_float64, options->lanes, options->group,
                      program / 2 * (DUAL_PARTS - 1), program % 2 == 0, program % 2);
  if (o->kernel_directory) {
    used += snprintf(text + used, sizeof text - (size_t)used, " -I%s", o->kernel_directory);
  }
  if ((size_t)used >= sizeof text) {
    return fail(ABUT_ERROR_ARGUMENT, "the kernel directory's name is too long");
  }
  code = clBuildProgram(o->programs[program], 1, &options->device, text, NULL, NULL);
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : build_failed(o->programs[program], options->device, code);
}

static bool is_of(const kernel_entry *kernel, int program)
{
  const bool dual = program >= PROGRAM_OF(PROGRAM_DUAL, false);
  return PROGRAM_OF(dual, kernel->adjoint) == program && !(dual && kernel->plain_only);
}

static abut_status create_kernels(opencl *o, int program)
{
  for (int i = 0; i < KERNEL_COUNT; ++i) {
    if (!is_of(&o->table[i], program)) {
      continue;
    }
    cl_int code;
    o->kernels[program / 2][i] = clCreateKernel(o->programs[program], o->table[i].name, &code);
    TRY(check(code, "clCreateKernel"));
  }
  return ABUT_SUCCESS;
}

static void release_program(opencl *o, int program)
{
  for (int i = 0; i < KERNEL_COUNT; ++i) {
    cl_kernel *kernel = &o->kernels[program / 2][i];
    if (*kernel && is_of(&o->table[i], program)) {
      clReleaseKernel(*kernel);
      *kernel = NULL;
    }
  }
  if (o->programs[program]) {
    clReleaseProgram(o->programs[program]);
    o->programs[program] = NULL;
  }
}

abut_status opencl_need(opencl *o, program_id numbers, kernel_id kernel, bool *built)
{
  const int program = PROGRAM_OF(numbers, o->table[kernel].adjoint);
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

abut_status opencl_open(const opencl_options *options, const kernel_entry *table, opencl **out)
{
  *out = NULL;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(opencl)));
  opencl *o = memory;
  abut_status status = ABUT_SUCCESS;
  o->options = *options;
  o->table = table;
  bool built = false;
  TRY_DONE(copy_directory(o));
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              (cl_context_properties)options->platform, 0};
  cl_int code;
  o->context = clCreateContext(properties, 1, &options->device, NULL, NULL, &code);
  TRY_DONE(check(code, "clCreateContext"));
  o->queue = clCreateCommandQueue(o->context, options->device, 0, &code);
  TRY_DONE(check(code, "clCreateCommandQueue"));
  TRY_DONE(opencl_need(o, PROGRAM_PLAIN, KERNEL_POSES, &built));
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
  for (int i = 0; i < PROGRAM_COUNT; ++i) {
    release_program(o, i);
  }
  if (o->queue) {
    clFinish(o->queue);
    clReleaseCommandQueue(o->queue);
  }
  if (o->context) {
    clReleaseContext(o->context);
  }
  free(o->kernel_directory);
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

abut_status opencl_read_rows(opencl *o, cl_mem from, size_t offset, size_t pitch, size_t bytes,
                             size_t rows, void *to)
{
  const size_t buffer_origin[3] = {offset % pitch, offset / pitch, 0}, host_origin[3] = {0, 0, 0};
  const size_t region[3] = {bytes, rows, 1};
  return check(clEnqueueReadBufferRect(o->queue, from, CL_TRUE, buffer_origin, host_origin, region,
                                       pitch, 0, bytes, 0, to, 0, NULL, NULL),
               "clEnqueueReadBufferRect");
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
  } else if (o->options.float64) {
    code = clSetKernelArg(kernel, i, sizeof a->number, &a->number);
  } else {
    code = clSetKernelArg(kernel, i, sizeof narrow, &narrow);
  }
  return check(code, "clSetKernelArg");
}

abut_status opencl_launch(opencl *o, program_id program, kernel_id kernel, size_t x, size_t y,
                          const opencl_argument *arguments)
{
  const kernel_entry *entry = &o->table[kernel];
  cl_kernel compiled = o->kernels[program][kernel];
  for (int i = 0; i < entry->arguments; ++i) {
    TRY(set_argument(o, compiled, (cl_uint)i, entry->kinds[i], &arguments[i]));
  }
  size_t local[2] = {entry->grouped ? o->options.group : o->options.items, 1};
  size_t global[2] = {x, y};
  if (entry->grouped) {
    global[0] = x * local[0];
  } else {
    global[0] = (x + local[0] - 1) / local[0] * local[0];
  }
  const cl_int code =
    clEnqueueNDRangeKernel(o->queue, compiled, 2, NULL, global, local, 0, NULL, NULL);
  return code == CL_SUCCESS ? ABUT_SUCCESS
                            : fail(code, "kernel %s cannot be launched: %s", entry->name,
                                   abut_status_name(code));
}
