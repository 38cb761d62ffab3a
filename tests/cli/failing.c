/* Loaded before OpenCL (LD_PRELOAD): launches of kernels over at least ABUT_TEST_LARGE work-items
 * fail, ABUT_TEST_FAILURES times; the self-test's are smaller. Of what is built, the
 * ABUT_TEST_BUILD-th does not build, from 1, for ten reasons. ABUT_TEST_NAME is every device's
 * name. ABUT_TEST_SILENT: devices do not say how many compute units they have.
 *
 * And of files: ABUT_TEST_SIGNAL is sent to oneself where an output is written, but not yet in
 * place; with ABUT_TEST_NAMED no file is without a name. */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_long failures, builds;
static const char log_text[] = "reason 1\nreason 2\nreason 3\nreason 4\nreason 5\n"
                               "reason 6\nreason 7\nreason 8\nreason 9\nreason 10\n";

static size_t number(const char *name)
{
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *wait, cl_event *event)
{
  cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                 const size_t *, cl_uint, const cl_event *, cl_event *);
  size_t items = 1;
  for (cl_uint i = 0; i < dimensions; ++i) {
    items *= global[i];
  }
  if (items >= number("ABUT_TEST_LARGE") &&
      atomic_fetch_add(&failures, 1) < (long)number("ABUT_TEST_FAILURES")) {
    return CL_INVALID_COMMAND_QUEUE;
  }
  *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
  return real(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to,
                       size_t *bytes)
{
  cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
  const char *name = getenv("ABUT_TEST_NAME");
  if (what == CL_DEVICE_MAX_COMPUTE_UNITS && getenv("ABUT_TEST_SILENT")) {
    return CL_OUT_OF_RESOURCES;
  }
  if (what != CL_DEVICE_NAME || !name) {
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    return real(device, what, room, to, bytes);
  }
  if (bytes) {
    *bytes = strlen(name) + 1;
  }
  if (to && room > strlen(name)) {
    strcpy(to, name);
  }
  return CL_SUCCESS;
}

cl_int clBuildProgram(cl_program program, cl_uint devices, const cl_device_id *device,
                      const char *options, void (*notify)(cl_program, void *), void *user)
{
  cl_int (*real)(cl_program, cl_uint, const cl_device_id *, const char *,
                 void (*)(cl_program, void *), void *);
  if (atomic_fetch_add(&builds, 1) + 1 == (long)number("ABUT_TEST_BUILD")) {
    return CL_BUILD_PROGRAM_FAILURE;
  }
  *(void **)&real = dlsym(RTLD_NEXT, "clBuildProgram");
  return real(program, devices, device, options, notify, user);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                             size_t room, void *out, size_t *bytes)
{
  (void)program;
  (void)device;
  (void)what; /* the library asks for the log alone */
  if (bytes) {
    *bytes = sizeof log_text;
  }
  if (out && room >= sizeof log_text) {
    memcpy(out, log_text, sizeof log_text);
  }
  return CL_SUCCESS;
}

int fsync(int file)
{
  int (*real)(int);
  if (number("ABUT_TEST_SIGNAL")) {
    raise((int)number("ABUT_TEST_SIGNAL"));
  }
  *(void **)&real = dlsym(RTLD_NEXT, "fsync");
  return real(file);
}

/* The mode stands behind the flags where a file may be made. */
int open(const char *path, int flags, ...)
{
  int (*real)(const char *, int, ...);
  const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = unnamed || (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (unnamed && getenv("ABUT_TEST_NAMED")) {
    errno = EOPNOTSUPP;
    return -1;
  }
  *(void **)&real = dlsym(RTLD_NEXT, "open");
  return real(path, flags, mode);
}
