/* The linker puts these before the real ones (-Wl,--wrap). */
#include "cache_drivers.h"

trouble binaries;
size_t compiled;
static bool from_binary; /* the last program was made from one */
cl_device_info replaced;

bool __wrap_program_cache_serves(cl_device_id device);
cl_int __real_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *out,
                              size_t *needed);
cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *out,
                              size_t *needed);
cl_int __real_clGetProgramInfo(cl_program program, cl_program_info what, size_t bytes, void *out,
                               size_t *needed);
cl_int __wrap_clGetProgramInfo(cl_program program, cl_program_info what, size_t bytes, void *out,
                               size_t *needed);
cl_program __real_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                            const size_t *lengths, cl_int *code);
cl_program __wrap_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                            const size_t *lengths, cl_int *code);
cl_program __real_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                            const cl_device_id *devices, const size_t *lengths,
                                            const unsigned char **texts, cl_int *status,
                                            cl_int *code);
cl_program __wrap_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                            const cl_device_id *devices, const size_t *lengths,
                                            const unsigned char **texts, cl_int *status,
                                            cl_int *code);
cl_int __real_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                             void *data);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                             void *data);

bool __wrap_program_cache_serves(cl_device_id device)
{
  (void)device;
  return true;
}

cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *out,
                              size_t *needed)
{
  const cl_int code = __real_clGetDeviceInfo(device, what, bytes, out, needed);
  if (code == CL_SUCCESS && what == replaced && out) {
    *(char *)out ^= 1;
  }
  return code;
}

cl_int __wrap_clGetProgramInfo(cl_program program, cl_program_info what, size_t bytes, void *out,
                               size_t *needed)
{
  const cl_int code = __real_clGetProgramInfo(program, what, bytes, out, needed);
  if (what == CL_PROGRAM_NUM_KERNELS && from_binary && binaries == OTHER_KERNELS) {
    *(size_t *)out += 1;
  }
  return code;
}

cl_program __wrap_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                            const size_t *lengths, cl_int *code)
{
  from_binary = false;
  ++compiled;
  return __real_clCreateProgramWithSource(context, count, texts, lengths, code);
}

cl_program __wrap_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                            const cl_device_id *devices, const size_t *lengths,
                                            const unsigned char **texts, cl_int *status,
                                            cl_int *code)
{
  from_binary = true;
  if (binaries == NOT_CREATED) {
    *code = CL_INVALID_BINARY;
    return NULL;
  }
  cl_program program =
    __real_clCreateProgramWithBinary(context, count, devices, lengths, texts, status, code);
  if (binaries == NOT_ACCEPTED) {
    *status = CL_INVALID_BINARY;
  }
  return program;
}

cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                             void *data)
{
  if (from_binary && binaries == NOT_BUILT) {
    return CL_BUILD_PROGRAM_FAILURE;
  }
  return __real_clBuildProgram(program, count, devices, options, notify, data);
}
