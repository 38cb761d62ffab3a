/* Loaded before OpenCL (LD_PRELOAD): launches of kernels over at least ABUT_TEST_LARGE work-items
 * fail, ABUT_TEST_FAILURES times; the self-test's are smaller. */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long failures;

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
    return CL_OUT_OF_RESOURCES;
  }
  *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
  return real(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}
