/* Programs kept on disk: test_program_cache PRECISION [KERNEL_FOLDER]. A small program by itself,
 * in every way that an entry or a driver may fail; then the library's own. On drivers for which the
 * library keeps none, this test makes it. */
#define _XOPEN_SOURCE 700
#include "cache_drivers.h"
#include "cache_files.h"
#include "core/scene.h"

#include "engine/device/discovery.h"
#include "engine/device/program_cache.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ITEMS = 8 };

static char scratch[64];

/* ---- a small program ---- */

static const char text[] = "__kernel void ramp(__global int *out)\n"
                           "{\n"
                           "  out[get_global_id(0)] = FACTOR * (int)get_global_id(0) + 1;\n"
                           "}\n"
                           "__kernel void other(__global int *out) { out[0] = FACTOR; }\n";

typedef struct driver {
  cl_context context;
  cl_command_queue queue;
  found_device found;
} driver;

static bool driver_open(driver *d)
{
  uint32_t index = 0;
  cl_int code = CL_SUCCESS;
  const char *name = getenv("ABUT_TEST_DEVICE");
  if (!CHECK_OK(abut_find_device(name, &index)) || !CHECK_OK(discover(index, &d->found))) {
    return false;
  }
  d->context = clCreateContext(NULL, 1, &d->found.device, NULL, NULL, &code);
  d->queue = clCreateCommandQueue(d->context, d->found.device, 0, &code);
  return check(code == CL_SUCCESS, "there is no queue");
}

static void driver_close(driver *d)
{
  clReleaseCommandQueue(d->queue);
  clReleaseContext(d->context);
}

static program_recipe recipe_of(const driver *d)
{
  return (program_recipe){d->context, d->found.device, text, "-DFACTOR=3"};
}

static cl_program compile(const program_recipe *r)
{
  const char *source = r->text;
  cl_int code = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(r->context, 1, &source, NULL, &code);
  check(code == CL_SUCCESS &&
          clBuildProgram(program, 1, &r->device, r->options, NULL, NULL) == CL_SUCCESS,
        "the small program does not build");
  return program;
}

static void store(const program_recipe *r)
{
  cl_program program = compile(r);
  program_cache_store(r, program);
  clReleaseProgram(program);
}

static bool gives_ramp(const driver *d, cl_program program, int factor)
{
  cl_int code = CL_SUCCESS, out[ITEMS] = {0};
  const size_t items = ITEMS;
  bool good = true;
  cl_kernel kernel = clCreateKernel(program, "ramp", &code);
  cl_mem memory = clCreateBuffer(d->context, CL_MEM_READ_WRITE, sizeof out, NULL, &code);
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
  code = clEnqueueReadBuffer(d->queue, memory, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL);
  for (int i = 0; i < ITEMS; ++i) {
    good = good && out[i] == factor * i + 1;
  }
  clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  return check(code == CL_SUCCESS && good, "the small program's numbers are wrong");
}

/* Whether an entry is found; if so its numbers must be right. */
static bool loads(const driver *d, const program_recipe *r, int factor)
{
  cl_program program = program_cache_load(r);
  if (program) {
    gives_ramp(d, program, factor);
    clReleaseProgram(program);
  }
  return program != NULL;
}

/* ---- the small program's entries ---- */

static void test_keys(const driver *d)
{
  char one[512];
  program_recipe r = recipe_of(d), options = r, other = r;
  options.options = "-DFACTOR=4";
  other.text = "/* */ __kernel void ramp(__global int *out) { out[get_global_id(0)] = 0; }";
  check(!loads(d, &r, 3), "an empty folder has a program");
  store(&r);
  check(count_files(scratch, one) == 1, "a program is not one file");
  check(loads(d, &r, 3), "a program is not found again");
  check(!loads(d, &options, 4), "other options find it");
  check(!loads(d, &other, 3), "another text finds it");
  static const cl_device_info says[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION,
                                        CL_DEVICE_VERSION, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT};
  for (size_t i = 0; i < sizeof says / sizeof *says; ++i) {
    replaced = says[i];
    check(!loads(d, &r, 3), "a device that says %#x otherwise finds it", says[i]);
    store(&r);
    check(loads(d, &r, 3), "and does not find its own");
    replaced = 0;
    check(count_files(scratch, one) == i + 2, "it has no file of its own");
  }
  store(&options);
  check(loads(d, &options, 4) && loads(d, &r, 3), "two programs' entries are mixed up");
}

/* Every entry gone but the small program's. */
static void start_anew(const program_recipe *r, char path[512])
{
  while (count_files(scratch, path)) {
    remove(path);
  }
  store(r);
  check(count_files(scratch, path) == 1, "a program is not one file");
}

static void test_damage(const driver *d)
{
  char path[512], again[512];
  const program_recipe r = recipe_of(d);
  file_content whole;
  start_anew(&r, path);
  if (!file_take(path, &whole)) {
    return;
  }
  for (size_t i = 0; i < 40; ++i) {
    const size_t length = i < 20 ? 4 * i : whole.count - 1 - (i - 20) * (whole.count / 20);
    file_put(path, whole.bytes, length);
    check(!loads(d, &r, 3), "the first %zu of %zu bytes are a program", length, whole.count);
  }
  for (size_t i = 0; i < whole.count; i += i < 64 ? 1 : whole.count / 100 + 1) {
    whole.bytes[i] ^= 0x10;
    file_put(path, whole.bytes, whole.count);
    check(!loads(d, &r, 3), "a program with another byte %zu of %zu", i, whole.count);
    whole.bytes[i] ^= 0x10;
  }
  store(&r);
  check(loads(d, &r, 3), "a damaged program is not replaced");
  check(count_files(scratch, again) == 1 && !strcmp(path, again), "it is replaced by another file");
  free(whole.bytes);
}

static void test_refused(const driver *d)
{
  char path[512];
  const program_recipe r = recipe_of(d);
  start_anew(&r, path);
  for (binaries = NOT_CREATED; binaries <= OTHER_KERNELS; ++binaries) {
    check(!loads(d, &r, 3), "a binary is taken that the driver refuses (%d)", (int)binaries);
  }
  binaries = NO_TROUBLE;
  check(loads(d, &r, 3), "the binary is not taken any more");
}

/* The file's own key, from its name and its header. */
static bool key_in(const char *path, const file_content *f, cache_key *key)
{
  memcpy(key, f->bytes + sizeof(uint64_t), sizeof *key);
  char *expected = cache_folder_file(scratch, &program_cache_kind, key);
  const bool same = expected && !strcmp(expected, path);
  free(expected);
  return check(same, "an entry's header does not hold its name");
}

/* An entry that is whole on disk, whose content no driver has made. */
static void test_nonsense(const driver *d)
{
  char path[512];
  const program_recipe r = recipe_of(d);
  file_content whole;
  cache_key key;
  start_anew(&r, path);
  if (!file_take(path, &whole) || !key_in(path, &whole, &key)) {
    return;
  }
  static const size_t lengths[] = {0, 1, 8, 9, 1000};
  unsigned char nonsense[1000];
  memset(nonsense, 'x', sizeof nonsense);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    cache_folder_write(scratch, &program_cache_kind, &key, nonsense, lengths[i]);
    check(!loads(d, &r, 3), "%zu bytes of nonsense are a program", lengths[i]);
  }
  free(whole.bytes);
}

static void test_off(const driver *d)
{
  char path[512], home[80];
  const program_recipe r = recipe_of(d);
  start_anew(&r, path);
  setenv("ABUT_CACHE_DIR", "off", 1);
  check(!loads(d, &r, 3), "a program is found while there is to be no folder");
  setenv("ABUT_CACHE_DIR", "/proc/nowhere/at/all", 1);
  store(&r);
  check(!loads(d, &r, 3), "a program is found in no folder");
  unsetenv("ABUT_CACHE_DIR");
  snprintf(home, sizeof home, "%s/home", scratch);
  setenv("XDG_CACHE_HOME", home, 1);
  store(&r);
  check(loads(d, &r, 3), "a program is not found in XDG_CACHE_HOME");
  setenv("ABUT_CACHE_DIR", scratch, 1);
  remove_folder(home);
}

/* One process's whole way, from an empty folder or from the other one's entry. */
static bool load_or_store(void *data, int process)
{
  driver d;
  (void)data;
  (void)process;
  if (!driver_open(&d)) {
    return false;
  }
  const program_recipe r = recipe_of(&d);
  cl_program program = program_cache_load(&r);
  if (!program) {
    program = compile(&r);
    program_cache_store(&r, program);
  }
  const bool good = gives_ramp(&d, program, 3) && loads(&d, &r, 3);
  clReleaseProgram(program);
  driver_close(&d);
  return check(good, "a process does not find its program");
}

static bool is_absent(void *data, int process)
{
  uint32_t index = 0;
  (void)data;
  (void)process;
  const bool absent = abut_find_device(getenv("ABUT_TEST_DEVICE"), &index) == ABUT_ERROR_DEVICE;
  if (absent) {
    printf("not run: %s\n", abut_last_error());
  }
  return absent;
}

/* Before this process has opened a driver, whose threads a fork would lose. */
static void test_processes(void)
{
  char path[512];
  for (int i = 0; i < 4; ++i) {
    in_processes(2, load_or_store, NULL, "two processes");
    check(count_files(scratch, path) == 1, "two processes leave %zu files",
          count_files(scratch, path));
    remove(path);
  }
}

/* Of a context of two devices, as a caller's may be, nothing is kept. */
static bool store_of_two(void *data, int process)
{
  driver d = {0};
  cl_device_id devices[2];
  cl_uint count = 0;
  cl_int code = CL_SUCCESS;
  char one[512];
  (void)data;
  (void)process;
  setenv("POCL_DEVICES", "pthread basic", 1);
  if (!driver_open(&d)) {
    return false;
  }
  clGetDeviceIDs(d.found.platform, CL_DEVICE_TYPE_ALL, 2, devices, &count);
  if (count != 2) {
    return true; /* not PoCL */
  }
  cl_context both = clCreateContext(NULL, 2, devices, NULL, NULL, &code);
  if (code != CL_SUCCESS) {
    return check(false, "no context of two devices: %d", code);
  }
  bool good = true;
  for (int i = 0; i < 2; ++i) {
    const program_recipe r = {both, devices[i], text, "-DFACTOR=3"};
    store(&r);
    good = check(!loads(&d, &r, 3), "device %d of two has a program", i) && good;
  }
  clReleaseContext(both);
  driver_close(&d);
  return check(count_files(scratch, one) == 0, "a program of two devices is kept") && good;
}

/* ---- the library's own ---- */

static const double pose1[6] = {0}, pose2[6] = {0.1, 0.9, 0.05, 0.3, 0.1, -0.2};

/* A batch in a context of its own; `folder` may be NULL. Returns how many programs were
 * compiled. */
static size_t run_library(abut_precision precision, const char *folder, outputs *o)
{
  static const double half[3] = {0.5, 0.4, 0.6};
  const size_t before = compiled;
  abut_context context;
  abut_body a, b;
  abut_pair pair;
  uint32_t index = 0;
  const abut_smoothing smoothing = abut_default_smoothing();
  abut_context_def def = abut_default_context_def();
  const char *lanes = getenv("ABUT_TEST_LANES");
  if (!CHECK_OK(abut_find_device(getenv("ABUT_TEST_DEVICE"), &index))) {
    return 0;
  }
  def.device = index;
  def.precision = precision;
  def.lanes = lanes ? (uint32_t)atoi(lanes) : 0;
  def.kernel_directory = folder;
  if (CHECK_OK(abut_create_context(&def, &context)) && make_box(context, half, &a) &&
      make_box(context, half, &b) && CHECK_OK(abut_create_pair(a, b, &smoothing, &pair)) &&
      outputs_create(o, pair, precision, 1, 100, 0.1)) {
    CHECK_OK(run_poses(pair, ABUT_POSE_TWIST, pose1, pose2, o));
    CHECK_OK(abut_destroy_context(context));
  }
  return compiled - before;
}

/* Witness points in a context of their own; returns how many programs were compiled. */
static size_t run_witness(abut_precision precision)
{
  static const double numbers[12] = {0, 0, 0, 1, 0, 0, 0, 1, 1, 0, -1, 1};
  const size_t before = compiled;
  const abut_smoothing smoothing = abut_default_smoothing();
  abut_context context;
  uint32_t index = 0;
  abut_context_def def = abut_default_context_def();
  double points[2][3];
  if (!CHECK_OK(abut_find_device(getenv("ABUT_TEST_DEVICE"), &index))) {
    return 0;
  }
  def.device = index;
  def.precision = precision;
  char *edges = to_reals(numbers, 12, precision);
  if (CHECK_OK(abut_create_context(&def, &context))) {
    CHECK_OK(abut_witness_edges(context, &smoothing, 1, edges, edges + 6 * real_size(precision),
                                points[0], points[1], NULL));
    CHECK_OK(abut_destroy_context(context));
  }
  free(edges);
  return compiled - before;
}

/* Of a process that asks for nothing else, one small program is kept, beside which that of contacts
 * lies then. */
static void test_witness_alone(abut_precision precision)
{
  char path[512], again[512];
  while (count_files(scratch, path)) {
    remove(path);
  }
  check(run_witness(precision) == 1, "witness points do not compile one program");
  check(count_files(scratch, path) == 1, "witness points are not one file");
  const unsigned long long identity = file_identity(path);
  check(run_witness(precision) == 0, "the second context compiles");
  check(count_files(scratch, again) == 1 && file_identity(again) == identity,
        "what was loaded is written again");
}

static void test_library(abut_precision precision, const char *kernels)
{
  char path[512], again[512];
  outputs first = {0}, second = {0};
  file_content whole;
  while (count_files(scratch, path)) {
    remove(path);
  }
  if (kernels) {
    check(run_library(precision, kernels, &second) == 1, "a folder of kernels is not compiled");
    check(count_files(scratch, path) == 0, "a folder of kernels is kept");
    outputs_free(&second);
  }
  check(run_library(precision, NULL, &first) == 1, "a new program is not compiled");
  check(count_files(scratch, path) == 1, "the forward program is not one file");
  const unsigned long long identity = file_identity(path);
  check(run_library(precision, NULL, &second) == 0, "the second context compiles");
  check(outputs_same(&first, &second, "from disk"), "answers differ");
  outputs_free(&second);
  if (kernels) {
    check(run_library(precision, kernels, &second) == 1, "a folder's kernels are not its own");
    outputs_free(&second);
  }
  check(count_files(scratch, again) == 1 && file_identity(path) == identity,
        "what was loaded is written again");
  if (file_take(path, &whole)) {
    file_put(path, whole.bytes, whole.count / 2);
    check(run_library(precision, NULL, &second) == 1, "half a program is not compiled again");
    check(outputs_same(&first, &second, "after damage"), "answers differ");
    outputs_free(&second);
    check(run_library(precision, NULL, &second) == 0, "a damaged program is not replaced");
    outputs_free(&second);
    free(whole.bytes);
  }
  outputs_free(&first);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  driver d;
  if (in_process(is_absent, NULL, 0)) {
    return 77;
  }
  if (!make_scratch(scratch)) {
    return 1;
  }
  setenv("ABUT_CACHE_DIR", scratch, 1);
  in_processes(1, store_of_two, NULL, "two devices");
  test_processes();
  if (driver_open(&d)) {
    const bool pocl = strstr(d.found.info.platform, "Portable Computing") != NULL;
    check(__real_program_cache_serves(d.found.device) != pocl, "programs are kept for PoCL alone");
    test_keys(&d);
    test_damage(&d);
    test_refused(&d);
    if (pocl) { /* others may crash on what only a broken disk with a right checksum would give */
      test_nonsense(&d);
    }
    test_off(&d);
    driver_close(&d);
    test_witness_alone(precision);
    test_library(precision, argc > 2 ? argv[2] : NULL);
  }
  remove_folder(scratch);
  return check_finish();
}
