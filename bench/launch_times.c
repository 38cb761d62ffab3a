/* How long a program's kernels run, by name: a library to be preloaded (LD_PRELOAD), which turns on
 * the profiling of its queues and, when the program ends, writes {"kernel": {"launches": n,
 * "seconds": s}, ...} to the file that LAUNCH_TIMES names. bench/peers/shares.py uses it. */
#include <CL/cl.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 1024, NAME = 96 };

typedef struct total {
  char name[NAME];
  unsigned long launches;
  double seconds;
} total;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static total totals[KERNELS];

/* The next definition of a function behind this one. */
static void find(const char *name, void *to, size_t size)
{
  void *at = dlsym(RTLD_NEXT, name);
  if (!at) {
    fprintf(stderr, "launch_times: there is no %s\n", name);
    abort();
  }
  memcpy(to, &at, size);
}

/* Under the lock. */
static total *total_of(const char *name)
{
  for (int i = 0; i < KERNELS; ++i) {
    if (!totals[i].name[0]) {
      snprintf(totals[i].name, NAME, "%s", name);
    }
    if (!strcmp(totals[i].name, name)) {
      return &totals[i];
    }
  }
  fprintf(stderr, "launch_times: more than %d kernels\n", KERNELS);
  abort();
}

static void CL_CALLBACK ended(cl_event event, cl_int status, void *of)
{
  cl_ulong begin = 0, end = 0;
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  pthread_mutex_lock(&lock);
  total *t = of;
  ++t->launches;
  t->seconds += status == CL_COMPLETE ? 1e-9 * (double)(end - begin) : 0.0;
  pthread_mutex_unlock(&lock);
  clReleaseEvent(event);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *code)
{
  __typeof__(&clCreateCommandQueue) real;
  find("clCreateCommandQueue", &real, sizeof real);
  return real(context, device, properties | CL_QUEUE_PROFILING_ENABLE, code);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *size, const size_t *local,
                              cl_uint count, const cl_event *list, cl_event *event)
{
  __typeof__(&clEnqueueNDRangeKernel) real;
  cl_event own = NULL;
  char name[NAME] = "";
  find("clEnqueueNDRangeKernel", &real, sizeof real);
  const cl_int code = real(queue, kernel, dimensions, offset, size, local, count, list, &own);
  if (code != CL_SUCCESS) {
    return code;
  }
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
  pthread_mutex_lock(&lock);
  total *of = total_of(name);
  pthread_mutex_unlock(&lock);
  if (event) {
    clRetainEvent(own);
    *event = own;
  }
  clSetEventCallback(own, CL_COMPLETE, ended, of);
  return CL_SUCCESS;
}

__attribute__((destructor)) static void write_totals(void)
{
  const char *path = getenv("LAUNCH_TIMES");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) {
    return; /* of a child that launches nothing, too */
  }
  fprintf(file, "{");
  for (int i = 0; i < KERNELS && totals[i].name[0]; ++i) {
    fprintf(file, "%s\n \"%s\": {\"launches\": %lu, \"seconds\": %.9g}", i ? "," : "",
            totals[i].name, totals[i].launches, totals[i].seconds);
  }
  fprintf(file, "}\n");
  fclose(file);
}
