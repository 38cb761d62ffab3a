#include "engine/device/program_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 1024

const cache_kind program_cache_kind = {NULL, ".program", 128, (uint64_t)256 << 20};

/* ---- what a program depends on ---- */

static cl_platform_id platform_of(cl_device_id device)
{
  cl_platform_id platform = NULL;
  clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
  return platform;
}

static const char *platform_text(cl_platform_id platform, cl_platform_info what,
                                 char out[TEXT_BYTES])
{
  memset(out, 0, TEXT_BYTES);
  return clGetPlatformInfo(platform, what, TEXT_BYTES - 1, out, NULL) == CL_SUCCESS ? out : "";
}

static const char *device_text(cl_device_id device, cl_device_info what, char out[TEXT_BYTES])
{
  memset(out, 0, TEXT_BYTES);
  return clGetDeviceInfo(device, what, TEXT_BYTES - 1, out, NULL) == CL_SUCCESS ? out : "";
}

static void add_device(cache_key *key, cl_device_id device)
{
  static const cl_device_info texts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION,
                                         CL_DEVICE_VERSION, CL_DEVICE_OPENCL_C_VERSION};
  static const cl_device_info numbers[] = {CL_DEVICE_VENDOR_ID, CL_DEVICE_ADDRESS_BITS,
                                           CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
                                           CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
                                           CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE};
  char text[TEXT_BYTES];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    cache_key_add(key, device_text(device, texts[i], text));
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    cl_uint number = 0;
    clGetDeviceInfo(device, numbers[i], sizeof number, &number, NULL);
    snprintf(text, sizeof text, "%u", number);
    cache_key_add(key, text);
  }
}

/* A CPU's name does not show which features a virtual machine hides, and several machines may share
 * a home folder. An unsupported instruction would end the process. */
static void add_processor(cache_key *key)
{
  FILE *file = fopen("/proc/cpuinfo", "re");
  char line[8192];
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) {
      cache_key_add(key, line);
      break;
    }
  }
  if (file) {
    fclose(file);
  }
}

static cache_key key_of(const program_recipe *recipe)
{
  cache_key key = cache_key_begin();
  char text[TEXT_BYTES];
  const cl_platform_id platform = platform_of(recipe->device);
  cl_device_type type = 0;
  cache_key_add(&key, ABUT_VERSION);
  cache_key_add(&key, platform_text(platform, CL_PLATFORM_NAME, text));
  cache_key_add(&key, platform_text(platform, CL_PLATFORM_VERSION, text));
  add_device(&key, recipe->device);
  clGetDeviceInfo(recipe->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  if (type & CL_DEVICE_TYPE_CPU) {
    add_processor(&key);
  }
  cache_key_add(&key, recipe->options);
  cache_key_add(&key, recipe->text);
  return key;
}

/* PoCL has its own cache for each launched kernel, and compiles all other kernels before it returns
 * a program's binary: 13 s once, to save 0.07 s of 0.2 s at each start. Oclgrind has options that
 * are not part of ours. */
bool program_cache_serves(cl_device_id device)
{
  static const char *const without[] = {"Portable Computing Language", "Oclgrind"};
  char text[TEXT_BYTES];
  const char *platform = platform_text(platform_of(device), CL_PLATFORM_NAME, text);
  bool serves = *platform != '\0'; /* a platform without a name may be either */
  for (size_t i = 0; i < sizeof without / sizeof *without; ++i) {
    serves = serves && !strstr(platform, without[i]);
  }
  return serves;
}

/* ---- an entry: the number of kernels, and the driver's binary ---- */

#define COUNT_BYTES sizeof(uint64_t)

static uint64_t count_kernels(cl_program program)
{
  size_t count = 0;
  return clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL) == CL_SUCCESS
           ? count
           : 0;
}

/* Nothing is cached for a context of several devices, as a caller's may be: drivers disagree on
 * which binary belongs to which device if a program is built for only one of them. The buffer has
 * exactly the size of one binary, because rusticl ends the process if it is larger. */
static unsigned char *entry_of(cl_program program, size_t *bytes)
{
  cl_uint devices = 0;
  size_t size = 0;
  const uint64_t kernels = count_kernels(program);
  if (!kernels ||
      clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL) !=
        CL_SUCCESS ||
      devices != 1 ||
      clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS ||
      !size || size > program_cache_kind.bytes) {
    return NULL;
  }
  *bytes = COUNT_BYTES + size;
  unsigned char *entry = malloc(*bytes);
  unsigned char *binary = entry ? entry + COUNT_BYTES : NULL;
  if (entry) {
    memcpy(entry, &kernels, COUNT_BYTES);
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) !=
        CL_SUCCESS) {
      free(entry);
      entry = NULL;
    }
  }
  return entry;
}

static cl_program program_of(const program_recipe *recipe, const unsigned char *entry, size_t bytes)
{
  uint64_t kernels = 0;
  if (bytes <= COUNT_BYTES) {
    return NULL;
  }
  memcpy(&kernels, entry, COUNT_BYTES);
  const unsigned char *binary = entry + COUNT_BYTES;
  const size_t size = bytes - COUNT_BYTES;
  cl_int accepted = CL_SUCCESS, code = CL_SUCCESS;
  cl_program program = clCreateProgramWithBinary(recipe->context, 1, &recipe->device, &size,
                                                 &binary, &accepted, &code);
  if (!program || code != CL_SUCCESS) {
    return NULL;
  }
  if (accepted != CL_SUCCESS ||
      clBuildProgram(program, 1, &recipe->device, recipe->options, NULL, NULL) != CL_SUCCESS ||
      count_kernels(program) != kernels) {
    clReleaseProgram(program);
    return NULL;
  }
  return program;
}

cl_program program_cache_load(const program_recipe *recipe)
{
  char *folder = cache_folder_path(&program_cache_kind);
  cl_program program = NULL;
  if (folder) {
    const cache_key key = key_of(recipe);
    unsigned char *entry = NULL;
    size_t bytes = 0;
    if (cache_folder_read(folder, &program_cache_kind, &key, &entry, &bytes)) {
      program = program_of(recipe, entry, bytes);
      free(entry);
    }
  }
  free(folder);
  return program;
}

void program_cache_store(const program_recipe *recipe, cl_program built)
{
  char *folder = cache_folder_path(&program_cache_kind);
  size_t bytes = 0;
  unsigned char *entry = folder ? entry_of(built, &bytes) : NULL;
  if (entry) {
    const cache_key key = key_of(recipe);
    cache_folder_write(folder, &program_cache_kind, &key, entry, bytes);
  }
  free(entry);
  free(folder);
}
