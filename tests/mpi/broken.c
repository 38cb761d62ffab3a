/* Loaded before a program (LD_PRELOAD): while ABUT_TEST_BROKEN is set, no kernel can be
 * launched. */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *items, const size_t *group,
                              cl_uint waits, const cl_event *wait, cl_event *event)
{
  static cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                        const size_t *, cl_uint, const cl_event *, cl_event *);
  void *found = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
  memcpy(&real, &found, sizeof real);
  return getenv("ABUT_TEST_BROKEN")
           ? CL_OUT_OF_RESOURCES
           : real(queue, kernel, dimensions, offset, items, group, waits, wait, event);
}
