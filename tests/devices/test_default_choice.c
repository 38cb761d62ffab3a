/* A context for which nobody names a device: test_default_choice KERNEL_FOLDER. Drivers of which
 * the first devices build nothing, or cannot be opened, take the place of the real ones. */
#include "core/scene.h"

#include <CL/cl.h>
#include <math.h>
#include <string.h>

enum { POSES = 3, NUMBERS = 2 * POSES, REPORTS = ABUT_DEVICES_MOST + 1, SEEN = 64 };

static const char build_log[] = "error: unknown target CPU 'newer'\nmore of it\n";

/* ---- drivers; the linker puts these before the real ones ---- */

static struct {
  size_t broken;            /* devices that build nothing: so many of those that are asked first */
  size_t closed;            /* the same of those that open */
  size_t narrow;            /* and of those that have no float64, of all that are described */
  cl_device_id asked[SEEN]; /* in order */
  size_t asked_count;
} drivers;

cl_int __real_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                             void *data);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                             void *data);
cl_int __wrap_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                    cl_program_build_info what, size_t room, void *out,
                                    size_t *bytes);
cl_context __real_clCreateContext(
  const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *code);
cl_context __wrap_clCreateContext(
  const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *code);

cl_int __real_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *out,
                              size_t *bytes);
cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *out,
                              size_t *bytes);

/* How many other devices were asked before this one. */
static size_t place_of(cl_device_id device)
{
  size_t i = 0;
  while (i < drivers.asked_count && drivers.asked[i] != device) {
    ++i;
  }
  if (i == drivers.asked_count && i < SEEN) {
    drivers.asked[drivers.asked_count++] = device;
  }
  return i;
}

cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                             void *data)
{
  return place_of(devices[0]) < drivers.broken
           ? CL_BUILD_PROGRAM_FAILURE
           : __real_clBuildProgram(program, count, devices, options, notify, data);
}

cl_int __wrap_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                    cl_program_build_info what, size_t room, void *out,
                                    size_t *bytes)
{
  (void)program;
  (void)device;
  (void)what; /* the library asks for the log alone */
  if (bytes) {
    *bytes = sizeof build_log;
  }
  if (out && room >= sizeof build_log) {
    memcpy(out, build_log, sizeof build_log);
  }
  return CL_SUCCESS;
}

cl_context __wrap_clCreateContext(
  const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *code)
{
  if (place_of(devices[0]) < drivers.closed) {
    *code = CL_DEVICE_NOT_AVAILABLE;
    return NULL;
  }
  return __real_clCreateContext(properties, count, devices, notify, data, code);
}

cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *out,
                              size_t *bytes)
{
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG && drivers.narrow && place_of(device) < drivers.narrow) {
    memset(out, 0, room);
    return CL_SUCCESS;
  }
  return __real_clGetDeviceInfo(device, what, room, out, bytes);
}

static void set_drivers(size_t broken, size_t closed)
{
  memset(&drivers, 0, sizeof drivers);
  drivers.broken = broken;
  drivers.closed = closed;
}

/* ---- what is computed ---- */

static const float pose1[6 * POSES];
static const float pose2[6 * POSES] = {0, 0, 0.9f, 0, 0,    0,    0.1f, 0, 0.9f,
                                       0, 0, 0.3f, 0, 0.2f, 1.1f, 0.1f, 0, 0};

static abut_status compute(abut_pair pair, float numbers[NUMBERS])
{
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.reductions.minimum_distance = numbers;
  batch.reductions.energy = numbers + POSES;
  return abut_contacts(pair, &batch);
}

/* By the host path, which was named. */
static bool compute_expected(float numbers[NUMBERS])
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_pair pair;
  if (!CHECK_OK(abut_find_device("host", &def.device)) ||
      !CHECK_OK(abut_create_context(&def, &context))) {
    return false;
  }
  const bool well = CHECK_OK(make_cubes(context, &pair)) && CHECK_OK(compute(pair, numbers));
  CHECK_OK(abut_destroy_context(context));
  return well;
}

/* ---- who computes ---- */

static float expected[NUMBERS];
static size_t there; /* OpenCL devices */
static abut_device_report reports[REPORTS];
static size_t report_count;

static void read_reports(abut_context context)
{
  CHECK_OK(abut_context_devices(context, reports, REPORTS, &report_count));
}

static void check_failed(size_t i, abut_status status, const char *text, const char *what)
{
  check(i < report_count && reports[i].status == status && strstr(reports[i].text, text) &&
          reports[i].elements == 0,
        "%s: device %zu of %zu has status %d: %s", what, i, report_count, reports[i].status,
        reports[i].text);
}

static void check_worked(size_t i, uint64_t elements, bool host, const char *what)
{
  check(i + 1 == report_count && reports[i].status == ABUT_SUCCESS &&
          reports[i].elements == elements && (reports[i].info.type == ABUT_DEVICE_HOST) == host,
        "%s: device %zu of %zu (%s) has status %d and did %llu: %s", what, i, report_count,
        reports[i].info.name, reports[i].status, (unsigned long long)reports[i].elements,
        reports[i].text);
}

static void check_numbers(const float got[NUMBERS], const char *what)
{
  for (size_t i = 0; i < NUMBERS; ++i) {
    check(fabsf(got[i] - expected[i]) <= 1e-4f * (1.0f + fabsf(expected[i])),
          "%s: number %zu is %g, not %g", what, i, (double)got[i], (double)expected[i]);
  }
}

/* Twice, of which the second call meets no device that fails any more. */
static void compute_twice(abut_context context, const char *what)
{
  float got[NUMBERS];
  abut_pair pair;
  if (!CHECK_OK(make_cubes(context, &pair))) {
    return;
  }
  for (int i = 0; i < 2; ++i) {
    if (check_ok(compute(pair, got), what)) {
      check_numbers(got, what);
    }
  }
  read_reports(context);
}

static void test_builds(size_t broken, const char *folder)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_device_info first;
  char what[64], kept[1024];
  snprintf(what, sizeof what, "%zu of %zu build nothing%s", broken, there,
           folder ? ", folder" : "");
  set_drivers(broken, 0);
  snprintf(kept, sizeof kept, "%s", folder ? folder : "");
  def.kernel_directory = folder ? kept : NULL;
  if (!CHECK_OK(abut_create_context(&def, &context))) {
    return;
  }
  memset(kept, 'x', sizeof kept - 1); /* the definition need not last */
  read_reports(context);
  check(report_count == 1 && reports[0].status == ABUT_SUCCESS, "%s: opening told so", what);
  compute_twice(context, what);
  for (size_t i = 0; i < broken; ++i) {
    check_failed(i, CL_BUILD_PROGRAM_FAILURE, "unknown target CPU", what);
  }
  check_worked(broken, 2 * POSES, broken == there, what);
  CHECK_OK(abut_context_device(context, &first));
  check(first.index == reports[0].info.index, "%s: the first device is another one", what);
  CHECK_OK(abut_destroy_context(context));
}

static void test_opens(size_t closed)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  char what[64];
  snprintf(what, sizeof what, "%zu of %zu cannot be opened", closed, there);
  set_drivers(0, closed);
  if (!check_ok(abut_create_context(&def, &context), what)) {
    return;
  }
  compute_twice(context, what);
  for (size_t i = 0; i < closed; ++i) {
    check_failed(i, CL_DEVICE_NOT_AVAILABLE, reports[i].info.name, what);
  }
  check_worked(closed, 2 * POSES, closed == there, what);
  CHECK_OK(abut_destroy_context(context));
}

/* In float64, which the first devices do not have. */
static void test_precision(size_t narrow)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  char what[64];
  snprintf(what, sizeof what, "%zu of %zu have no float64", narrow, there);
  set_drivers(0, 0);
  drivers.narrow = narrow;
  def.precision = ABUT_FLOAT64;
  if (check_ok(abut_create_context(&def, &context), what)) {
    read_reports(context);
    for (size_t i = 0; i < narrow; ++i) {
      check_failed(i, ABUT_ERROR_PRECISION, reports[i].info.name, what);
    }
    check_worked(narrow, 0, narrow == there, what);
    CHECK_OK(abut_destroy_context(context));
  }
  set_drivers(0, 0);
}

/* For a device that was named the host path stands in, and no other. */
static void test_named(void)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  set_drivers(1, 0);
  CHECK_OK(abut_find_device(NULL, &def.device));
  if (CHECK_OK(abut_create_context(&def, &context))) {
    compute_twice(context, "named");
    check_failed(0, CL_BUILD_PROGRAM_FAILURE, "unknown target CPU", "named");
    check_worked(1, 2 * POSES, true, "named");
    CHECK_OK(abut_destroy_context(context));
  }
  set_drivers(0, 1);
  check(abut_create_context(&def, &context) == CL_DEVICE_NOT_AVAILABLE, "named, not opened");
}

static void test_no_fallback(void)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_pair pair;
  float got[NUMBERS];
  def.fallback = ABUT_FALLBACK_NONE;
  set_drivers(1, 0);
  if (CHECK_OK(abut_create_context(&def, &context))) {
    check(make_cubes(context, &pair) == ABUT_SUCCESS &&
            compute(pair, got) == CL_BUILD_PROGRAM_FAILURE &&
            strstr(abut_last_error(), "unknown target CPU"),
          "no fallback: %s", abut_last_error());
    read_reports(context);
    check(report_count == 1, "no fallback: %zu devices", report_count);
    CHECK_OK(abut_destroy_context(context));
  }
  set_drivers(0, 1);
  check(abut_create_context(&def, &context) == CL_DEVICE_NOT_AVAILABLE, "no fallback, not opened");
}

/* What stands in fails in a later program: the next one does the call. */
static void test_one_after_the_other(void)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_pair pair;
  float got[NUMBERS], slopes[6 * POSES];
  abut_gradients gradients = {NULL, slopes};
  set_drivers(1, 0);
  if (!CHECK_OK(abut_create_context(&def, &context))) {
    return;
  }
  CHECK_OK(make_cubes(context, &pair));
  CHECK_OK(compute(pair, got));
  drivers.broken = 2;
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.reductions.energy = got + POSES;
  CHECK_OK(abut_gradient(pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_ENERGY, &gradients));
  check_numbers(got, "one after the other");
  check(isfinite(slopes[2]), "one after the other: a gradient of %g", (double)slopes[2]);
  read_reports(context);
  check(report_count == 3 && reports[0].status == CL_BUILD_PROGRAM_FAILURE &&
          reports[1].status == CL_BUILD_PROGRAM_FAILURE && reports[1].elements == POSES,
        "one after the other: %zu devices, the second did %llu", report_count,
        (unsigned long long)reports[1].elements);
  check_worked(2, POSES, there == 2, "one after the other");
  CHECK_OK(abut_destroy_context(context));
}

static void test_state(size_t broken)
{
  const size_t widths[] = {6, 6, 1};
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_pair pair;
  abut_state state;
  float got[NUMBERS];
  memcpy(got, expected, sizeof got);
  set_drivers(broken, 0);
  if (!CHECK_OK(abut_create_context(&def, &context))) {
    return;
  }
  if (CHECK_OK(make_cubes(context, &pair)) &&
      CHECK_OK(abut_create_state(context, POSES, widths, 3, NULL, &state))) {
    abut_state_array of1 = {state, 0}, of2 = {state, 1}, nearest = {state, 2};
    abut_batch batch = abut_default_batch();
    batch.count = POSES;
    batch.memory = ABUT_MEMORY_STATE;
    batch.pose1 = &of1;
    batch.pose2 = &of2;
    batch.reductions.minimum_distance = &nearest;
    CHECK_OK(abut_write_state(of1, 0, POSES, pose1));
    CHECK_OK(abut_write_state(of2, 0, POSES, pose2));
    CHECK_OK(abut_contacts(pair, &batch));
    memset(got, 0, POSES * sizeof *got);
    CHECK_OK(abut_read_state(nearest, 0, POSES, got));
    check_numbers(got, "a state");
    read_reports(context);
    check_failed(0, CL_BUILD_PROGRAM_FAILURE, "unknown target CPU", "a state");
    check_worked(broken, POSES, broken == there, "a state");
  }
  CHECK_OK(abut_destroy_context(context));
}

int main(int argc, char **argv)
{
  size_t count = 0;
  if (!CHECK_OK(abut_list_devices(NULL, 0, &count))) {
    return check_finish();
  }
  if (count < 3) {
    puts("not run: there are no two OpenCL devices");
    return 77;
  }
  there = count - 1;
  if (compute_expected(expected)) {
    for (size_t n = 0; n <= there; ++n) {
      test_builds(n, NULL);
      test_opens(n);
      test_precision(n);
    }
    if (argc > 1) {
      test_builds(1, argv[1]);
    }
    test_named();
    test_no_fallback();
    test_one_after_the_other();
    test_state(1);
    test_state(there);
  }
  return check_finish();
}
