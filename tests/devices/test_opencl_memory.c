/* Arrays in the caller's OpenCL memory, on the caller's queue: test_opencl_memory PRECISION
 *
 * Every output and derivative to the bit as with host arrays, whole and in chunks that begin where
 * a device can and cannot address a part of an array; nothing copied through the host; what is
 * refused; and the caller's objects as they were. On the device of ABUT_TEST_DEVICE; 77 where it is
 * not there. */
#include "opencl_caller.h"

#include "core/scene.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void compare(const arrays *host, const arrays *device, int which, const char *what)
{
  for (int i = TANGENTS; i < ARRAYS; ++i) {
    void *got = malloc(host->bytes[i]);
    check_cl(clEnqueueReadBuffer(me.queue, device->at[i], CL_TRUE, 0, host->bytes[i], got, 0, NULL,
                                 NULL),
             "clEnqueueReadBuffer");
    check(!memcmp(got, host->at[i], host->bytes[i]), "%s: call %d, array %d differs", what, which,
          i);
    free(got);
  }
  check(!memcmp(host->status, device->status, host->count), "%s: statuses differ", what);
  check(!memcmp(host->reduced, device->reduced, sizeof host->reduced), "%s: energies differ", what);
}

/* What no call has written yet must agree too. */
static void clear_outputs(arrays *host, const arrays *device)
{
  for (int i = TANGENTS; i < ARRAYS; ++i) {
    memset(host->at[i], 0x5a, host->bytes[i]);
    check_cl(clEnqueueWriteBuffer(me.queue, device->at[i], CL_FALSE, 0, host->bytes[i], host->at[i],
                                  0, NULL, NULL),
             "clEnqueueWriteBuffer");
  }
  check_cl(clFinish(me.queue), "clFinish");
}

/* Blocks stay on the host with their list. */
static void compare_jacobians(const world *on_host, const world *on_device, arrays *host,
                              arrays *device, const char *what)
{
  enum { ENTRIES = 1 << 13, BLOCK = 8 * 12 };
  double *blocks[2];
  size_t found[2];
  for (int i = 0; i < 2; ++i) {
    abut_batch b = batch_of(i ? device : host);
    abut_compact list = {.threshold = 0.1, .capacity = ENTRIES};
    b.compact = &list;
    blocks[i] = calloc((size_t)ENTRIES * BLOCK, sizeof(double));
    CHECK_OK(abut_jacobian(i ? on_device->pair : on_host->pair, ABUT_SAME_PAIR, &b, blocks[i]));
    found[i] = list.count;
  }
  check(found[0] == found[1] && (host->count < 16 || found[0]) &&
          !memcmp(blocks[0], blocks[1], (size_t)ENTRIES * BLOCK * sizeof(double)),
        "%s: Jacobian blocks differ", what);
  free(blocks[0]);
  free(blocks[1]);
}

static void mix(arrays *a, const world *w)
{
  a->pairs = w->pairs;
  for (size_t i = 0; i < a->count; ++i) {
    a->pair[i] = (uint32_t)(i * i % 7 % 3);
  }
}

static void test_calls(uint32_t chunk, size_t count, bool mixed)
{
  char what[64];
  static arrays host, device;
  world on_host, on_device;
  abut_layout layout;
  snprintf(what, sizeof what, "chunks of %u, %zu poses%s", chunk, count, mixed ? ", mixed" : "");
  if (world_open(false, 0, &on_host) && world_open(true, chunk, &on_device) &&
      CHECK_OK(abut_get_layout(on_host.pairs[mixed ? 2 : 0], &layout))) {
    host_arrays(&host, count, layout.contacts);
    device_arrays(&device, &host);
    if (mixed) {
      mix(&host, &on_host);
      mix(&device, &on_device);
      on_host.pair = on_device.pair = ABUT_BATCH_PAIRS;
    }
    for (int i = 0; i < CALLS; ++i) {
      clear_outputs(&host, &device);
      CHECK_OK(call(on_host.pair, &host, i));
      CHECK_OK(call(on_device.pair, &device, i));
      compare(&host, &device, i, what);
    }
    compare_jacobians(&on_host, &on_device, &host, &device, what);
    CHECK_OK(abut_destroy_context(on_host.context));
    CHECK_OK(abut_destroy_context(on_device.context));
    free_arrays(&host);
    free_arrays(&device);
  }
}

/* ---- bytes ---- */

/* Statuses alone come down. Where the host makes the frames of poses, more moves. */
static void test_bytes(uint32_t chunk)
{
  static arrays host, device;
  abut_counters before, after;
  abut_layout layout;
  world w;
  if (!me.info.has_float64 || !world_open(true, chunk, &w) ||
      !CHECK_OK(abut_get_layout(w.pair, &layout))) {
    return;
  }
  host_arrays(&host, MOST, layout.contacts);
  device_arrays(&device, &host);
  for (int i = 0; i < CALLS; ++i) {
    for (int twice = 0; twice < 2; ++twice) { /* what is brought up once counts the first time */
      CHECK_OK(abut_get_counters(w.context, &before));
      CHECK_OK(i ? call(w.pair, &device, i) : contacts(w.pair, &device, false));
      CHECK_OK(abut_get_counters(w.context, &after));
    }
    check(after.bytes_up == before.bytes_up, "call %d, chunks of %u: %llu bytes go up", i, chunk,
          (unsigned long long)(after.bytes_up - before.bytes_up));
    check(after.bytes_down - before.bytes_down == MOST * sizeof(cl_int),
          "call %d, chunks of %u: %llu bytes come down", i, chunk,
          (unsigned long long)(after.bytes_down - before.bytes_down));
  }
  CHECK_OK(abut_destroy_context(w.context));
  free_arrays(&host);
  free_arrays(&device);
}

/* ---- refusals ---- */

static void refused(const world *w, arrays *a, int which, int array, const char *name)
{
  const abut_status status = call(w->pair, a, which);
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), name), "array %d, %s: %s, %s",
        array, name, abut_status_name(status), abut_last_error());
}

/* Each array a byte too short, and of another context. */
static void test_arrays_refused(void)
{
  static const struct {
    int array, call;
    const char *name;
  } cases[] = {{POSE, 0, "pose1"},
               {POSE + 1, 0, "pose2"},
               {OUT, 0, "p "},
               {OUT + 1, 0, "d "},
               {OUT + 2, 0, "n "},
               {OUT + 3, 0, "activity"},
               {BARS, 1, "the cotangent of p"},
               {BARS + 1, 1, "the cotangent of d"},
               {BARS + 2, 1, "the cotangent of n"},
               {BARS + 3, 1, "the cotangent of activity"},
               {GRADIENT, 1, "the gradient of pose1"},
               {GRADIENT + 1, 3, "the gradient of pose2"},
               {ALONG, JVP, "the tangent of pose1"},
               {ALONG + 1, JVP, "the tangent of pose2"},
               {TANGENTS, JVP, "the tangent of p"},
               {TANGENTS + 1, JVP, "the tangent of d"},
               {TANGENTS + 2, JVP, "the tangent of n"},
               {TANGENTS + 3, JVP, "the tangent of activity"},
               {PRODUCT, 7, "the gradient of pose1"},
               {PRODUCT + 1, 8, "the gradient of pose2"}};
  static arrays host, device;
  abut_layout layout;
  world w;
  const cl_context elsewhere = new_context();
  if (!world_open(true, 0, &w) || !CHECK_OK(abut_get_layout(w.pair, &layout))) {
    return;
  }
  host_arrays(&host, 5, layout.contacts);
  device_arrays(&device, &host);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int at = cases[i].array;
    void *right = device.at[at];
    device.at[at] = new_memory(me.context, host.bytes[at] - 1, NULL);
    refused(&w, &device, cases[i].call, at, cases[i].name);
    clReleaseMemObject(device.at[at]);
    device.at[at] = new_memory(elsewhere, host.bytes[at], NULL);
    refused(&w, &device, cases[i].call, at, cases[i].name);
    clReleaseMemObject(device.at[at]);
    device.at[at] = right;
  }
  CHECK_OK(call(w.pair, &device, 0));
  CHECK_OK(abut_destroy_context(w.context));
  free_arrays(&host);
  free_arrays(&device);
  check_cl(clReleaseContext(elsewhere), "clReleaseContext");
}

/* Parts of one buffer, of which the second begins `at` bytes behind the first. */
static void in_one(const arrays *host, int one, int other, size_t at, cl_mem parts[2])
{
  const size_t ends = at + host->bytes[other];
  const cl_mem whole =
    new_memory(me.context, ends > host->bytes[one] ? ends : host->bytes[one], NULL);
  const cl_buffer_region regions[] = {{0, host->bytes[one]}, {at, host->bytes[other]}};
  for (int i = 0; i < 2; ++i) {
    cl_int code = CL_SUCCESS;
    parts[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &regions[i], &code);
    check_cl(code, "clCreateSubBuffer");
  }
  clReleaseMemObject(whole);
}

/* Outputs in one buffer, or in parts of one that overlap; an output where an input is. */
static void test_overlaps(void)
{
  static arrays host, device;
  abut_layout layout;
  world w;
  if (!world_open(true, 0, &w) || !CHECK_OK(abut_get_layout(w.pair, &layout))) {
    return;
  }
  host_arrays(&host, 67, layout.contacts);
  device_arrays(&device, &host);
  void *const d = device.at[OUT + 1], *const n = device.at[OUT + 2];
  void *const pose = device.at[POSE], *const gradient = device.at[GRADIENT];
  device.at[OUT + 1] = device.at[OUT];
  refused(&w, &device, 0, OUT + 1, "p and d overlap in OpenCL memory, and both are written");
  cl_mem parts[2];
  check(host.bytes[OUT] > 4096, "p has only %zu bytes", host.bytes[OUT]);
  for (int apart = 0; apart < 2; ++apart) {
    void *const p = device.at[OUT];
    in_one(&host, OUT, OUT + 1, apart ? (host.bytes[OUT] + 4095) / 4096 * 4096 : 4096, parts);
    device.at[OUT] = parts[0];
    device.at[OUT + 1] = parts[1];
    if (apart) {
      CHECK_OK(call(w.pair, &device, 0));
    } else {
      refused(&w, &device, 0, OUT + 1, "p and d overlap in OpenCL memory");
    }
    clReleaseMemObject(parts[0]);
    clReleaseMemObject(parts[1]);
    device.at[OUT] = p;
  }
  device.at[OUT + 1] = d;
  device.at[POSE] = n;
  refused(&w, &device, 0, POSE, "pose1 and n overlap in OpenCL memory, and one is written");
  device.at[POSE] = pose;
  CHECK_OK(call(w.pair, &device, 1));
  static double apart[MOST * 7], replaced[MOST * 7];
  clEnqueueReadBuffer(me.queue, gradient, CL_TRUE, 0, host.bytes[GRADIENT], apart, 0, NULL, NULL);
  device.at[GRADIENT] = pose;
  CHECK_OK(call(w.pair, &device, 1));
  clEnqueueReadBuffer(me.queue, pose, CL_TRUE, 0, host.bytes[GRADIENT], replaced, 0, NULL, NULL);
  check(!memcmp(apart, replaced, host.bytes[GRADIENT]), "a gradient in its pose's place");
  device.at[GRADIENT] = gradient;
  CHECK_OK(abut_destroy_context(w.context));
  free_arrays(&host);
  free_arrays(&device);
}

static void test_contexts_refused(void)
{
  static arrays host, device;
  const abut_device_choice choice = {me.index, 0, 0};
  abut_context_def def = def_of(true, 0);
  abut_context context;
  abut_layout layout;
  world w;
  cl_int code = CL_SUCCESS;
  def.devices = &choice;
  def.device_count = 1;
  check(abut_create_context(&def, &context) == ABUT_ERROR_ARGUMENT, "a queue beside devices");
  const cl_command_queue loose =
    clCreateCommandQueue(me.context, me.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (code == CL_SUCCESS) {
    def = def_of(true, 0);
    def.opencl_queue = loose;
    check(abut_create_context(&def, &context) == ABUT_ERROR_ARGUMENT &&
            strstr(abut_last_error(), "order"),
          "a queue without order: %s", abut_last_error());
    check_cl(clReleaseCommandQueue(loose), "clReleaseCommandQueue");
  }
  if (world_open(false, 0, &w) && CHECK_OK(abut_get_layout(w.pair, &layout))) {
    host_arrays(&host, 2, layout.contacts);
    device_arrays(&device, &host);
    check(call(w.pair, &device, 0) == ABUT_ERROR_ARGUMENT, "cl_mem without a queue");
    CHECK_OK(abut_destroy_context(w.context));
    free_arrays(&host);
    free_arrays(&device);
  }
}

/* ---- the caller's own use ---- */

/* Parts of larger buffers as arrays, of which no part can be made; the wholes may be released
 * before. Poses that the caller has brought up on the queue without waiting. */
static void test_parts(uint32_t chunk, bool keep_wholes)
{
  static arrays host, device;
  abut_layout layout;
  world on_host, on_device;
  cl_mem wholes[ARRAYS];
  if (!world_open(false, 0, &on_host) || !world_open(true, chunk, &on_device) ||
      !CHECK_OK(abut_get_layout(on_host.pair, &layout))) {
    return;
  }
  host_arrays(&host, MOST, layout.contacts);
  device_arrays(&device, &host);
  for (int i = 0; i < ARRAYS; ++i) {
    const cl_buffer_region region = {8192, host.bytes[i]};
    cl_int code = CL_SUCCESS;
    wholes[i] = new_memory(me.context, 8192 + host.bytes[i] + 100, NULL);
    clReleaseMemObject(device.at[i]);
    device.at[i] = clCreateSubBuffer(wholes[i], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    check_cl(code, "clCreateSubBuffer");
    if (!keep_wholes) {
      clReleaseMemObject(wholes[i]);
    }
    check_cl(clEnqueueWriteBuffer(me.queue, device.at[i], CL_FALSE, 0, host.bytes[i], host.at[i], 0,
                                  NULL, NULL),
             "clEnqueueWriteBuffer");
  }
  for (int i = 0; i < CALLS; ++i) {
    CHECK_OK(call(on_host.pair, &host, i));
    CHECK_OK(call(on_device.pair, &device, i));
    compare(&host, &device, i, "parts");
  }
  CHECK_OK(abut_destroy_context(on_host.context));
  CHECK_OK(abut_destroy_context(on_device.context));
  free_arrays(&host);
  free_arrays(&device);
  for (int i = 0; keep_wholes && i < ARRAYS; ++i) {
    check(is_held_once(wholes[i]), "the whole of array %d is held by others", i);
    clReleaseMemObject(wholes[i]);
  }
}

/* ---- poses that no host may touch ---- */

/* Also where the host makes the frames of poses. */
static void test_no_host_access(void)
{
  static arrays host, device;
  abut_layout layout;
  world on_host, on_device;
  if (!world_open(false, 0, &on_host) || !world_open(true, 0, &on_device) ||
      !CHECK_OK(abut_get_layout(on_host.pair, &layout))) {
    return;
  }
  host_arrays(&host, 5, layout.contacts);
  device_arrays(&device, &host);
  for (int i = POSE; i < BARS; ++i) {
    const cl_mem_flags flags = CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS | CL_MEM_COPY_HOST_PTR;
    cl_int code = CL_SUCCESS;
    clReleaseMemObject(device.at[i]);
    device.at[i] = clCreateBuffer(me.context, flags, host.bytes[i], host.at[i], &code);
    check_cl(code, "clCreateBuffer");
  }
  for (int i = 0; i <= JVP; i += JVP) {
    clear_outputs(&host, &device);
    CHECK_OK(call(on_host.pair, &host, i));
    CHECK_OK(call(on_device.pair, &device, i));
    compare(&host, &device, i, "no host access");
  }
  CHECK_OK(abut_destroy_context(on_host.context));
  CHECK_OK(abut_destroy_context(on_device.context));
  free_arrays(&host);
  free_arrays(&device);
}

/* ---- the end ---- */

static struct {
  cl_event event;
  _Atomic bool over;
  bool late;
} gate;

/* Ends the caller's event once the context is gone, or after ten seconds. */
static void *open_gate(void *user)
{
  const struct timespec pause = {0, 10000000};
  for (int i = 0; i < 1000 && !gate.over; ++i) {
    nanosleep(&pause, NULL);
  }
  gate.late = !gate.over;
  clSetUserEventStatus(gate.event, CL_COMPLETE);
  return user;
}

/* What the caller has in its queue, and waits for the caller, is nothing to wait for. */
static void test_pending_event(void)
{
  static arrays host, device;
  abut_layout layout;
  pthread_t thread;
  cl_int code = CL_SUCCESS;
  world w;
  if (!world_open(true, 0, &w) || !CHECK_OK(abut_get_layout(w.pair, &layout))) {
    return;
  }
  host_arrays(&host, 5, layout.contacts);
  device_arrays(&device, &host);
  CHECK_OK(call(w.pair, &device, 0));
  gate.event = clCreateUserEvent(me.context, &code);
  check_cl(code, "clCreateUserEvent");
  check_cl(clEnqueueMarkerWithWaitList(me.queue, 1, &gate.event, NULL),
           "clEnqueueMarkerWithWaitList");
  check_cl(clFlush(me.queue), "clFlush");
  check(pthread_create(&thread, NULL, open_gate, NULL) == 0, "no thread");
  CHECK_OK(abut_destroy_context(w.context));
  gate.over = true;
  pthread_join(thread, NULL);
  check(!gate.late, "a context waits for the caller's event");
  check_cl(clFinish(me.queue), "clFinish");
  clReleaseEvent(gate.event);
  free_arrays(&host);
  free_arrays(&device);
}

int main(int argc, char **argv)
{
  static const uint32_t chunks[] = {7, 0, 1, 128};
  const bool some = getenv("ABUT_TEST_SOME") != NULL; /* where each context takes long to open */
  cl_int code = CL_SUCCESS;
  precision = precision_of(argc, argv);
  if (!find_device()) {
    return 77;
  }
  me.context = new_context();
  me.queue = clCreateCommandQueue(me.context, me.device, 0, &code);
  if (!check_cl(code, "clCreateCommandQueue")) {
    return check_finish();
  }
  const references before = count_references(NULL);
  test_no_host_access();
  for (size_t i = 0; i < (some ? 1 : sizeof chunks / sizeof *chunks); ++i) {
    test_calls(chunks[i], chunks[i] == 1 ? 67 : MOST, false);
  }
  test_calls(16, MOST, true);
  if (!some) {
    test_calls(0, 61, true);
    test_calls(0, 1, false);
    test_bytes(0);
  }
  test_bytes(7);
  test_arrays_refused();
  test_overlaps();
  test_contexts_refused();
  test_parts(128, true);
  if (!some) {
    test_parts(0, false);
    test_parts(128, false);
  }
  test_pending_event();
  const references after = count_references(&before);
  check(before.context == after.context && before.queue == after.queue,
        "the context is held %u times, not %u; the queue %u, not %u", after.context, before.context,
        after.queue, before.queue);
  check_cl(clFinish(me.queue), "clFinish");
  check_cl(clReleaseCommandQueue(me.queue), "clReleaseCommandQueue");
  check_cl(clReleaseContext(me.context), "clReleaseContext");
  return check_finish();
}
