/* A launch that never ends on a device whose queues cannot be marked any more: the wait that is
 * left, clFinish, has a bound too, in the call and when the context goes. And buffers outlive the
 * kernels that use them. */
#include "failures.h"

#include "engine/device/context.h"
#include "shim.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define TIMEOUT 1.0 /* [s] */
#define KERNEL_FAILS CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
#define PATIENCE 30 /* [s] until a wait counts as one without bound */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool over;
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Gives whether the wait had to be ended. */
static void *watch(void *user)
{
  bool *bitten = user;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  pthread_mutex_lock(&guard.lock);
  while (!guard.over && !*bitten) {
    *bitten = pthread_cond_timedwait(&guard.changed, &guard.lock, &until) == ETIMEDOUT;
  }
  pthread_mutex_unlock(&guard.lock);
  if (*bitten) {
    shim_end_hang(CL_COMPLETE);
  }
  return NULL;
}

static abut_status run_guarded(const task *of, const world *w, answer *out, bool *bitten)
{
  pthread_t thread;
  guard.over = *bitten = false;
  check(pthread_create(&thread, NULL, watch, bitten) == 0, "no thread");
  const abut_status status = of ? of->run(w, out) : abut_destroy_context(w->context);
  pthread_mutex_lock(&guard.lock);
  guard.over = true;
  pthread_cond_signal(&guard.changed);
  pthread_mutex_unlock(&guard.lock);
  pthread_join(thread, NULL);
  return status;
}

static size_t count_failed(const world *w)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t count = 0, failed = 0;
  CHECK_OK(abut_context_devices(w->context, reports, ABUT_DEVICES_MOST + 1, &count));
  for (size_t i = 0; i < count; ++i) {
    failed += reports[i].status != ABUT_SUCCESS;
  }
  return failed;
}

static void try_hang(const task *of, const setting *s, const answer *expected)
{
  static answer got;
  bool bitten = false;
  world w;
  if (!CHECK_OK(create_context(s, &w)) || !CHECK_OK(create_bodies(&w))) {
    return;
  }
  shim_fail_while_hung("clEnqueueMarkerWithWaitList", CL_OUT_OF_RESOURCES);
  shim_hang_launch(1, SHIM_HANG_QUEUE);
  check_ok(run_guarded(of, &w, &got, &bitten), of->name);
  check(!bitten, "%s on %u devices waits without bound", of->name, s->count);
  check(bitten || shim_hung(), "%s: nothing hung", of->name);
  check(count_failed(&w) >= 1, "%s: no device failed", of->name);
  near_answer(&got, expected, of->name);
  CHECK_OK(run_guarded(NULL, &w, NULL, &bitten));
  check(!bitten, "%s: a context does not let go of a device", of->name);
  shim_end_hang(CL_COMPLETE);
  shim_fail_while_hung(NULL, CL_SUCCESS);
}

/* ---- buffers of kernels that run ---- */

static void *end_soon(void *user)
{
  const struct timespec soon = {0, 300000000};
  (void)user;
  nanosleep(&soon, NULL);
  shim_end_hang(CL_COMPLETE);
  return NULL;
}

static abut_status launch(device *d, buffer *counts, buffer *offsets)
{
  TRY(LAUNCH(d, KERNEL_OFFSETS, 1, 1, ARG_BUFFER(counts), ARG_INT(1), ARG_BUFFER(offsets)));
  return device_submit(d);
}

/* What a buffer of the other slot's holds comes and goes meanwhile. */
static buffer *use_other_slot(device *d)
{
  const int there[2] = {17, 4};
  int back[2] = {0, 0};
  buffer *b = NULL;
  device_select(d, 1);
  CHECK_OK(buffer_create(d, sizeof there, &b));
  CHECK_OK(buffer_write(b, 0, sizeof there, there));
  CHECK_OK(buffer_read(b, 0, sizeof back, back));
  check(!memcmp(there, back, sizeof there) && shim_hung(), "the other slot's copies are wrong");
  device_select(d, 0);
  return b;
}

/* A buffer of a kernel that ends soon, or never, is destroyed. */
static void destroy_under_kernel(device *d, bool ends)
{
  buffer *counts = NULL, *offsets = NULL;
  pthread_t thread;
  if (!CHECK_OK(buffer_create(d, 64, &counts)) || !CHECK_OK(buffer_create(d, 64, &offsets))) {
    return;
  }
  shim_hang_launch(1, SHIM_HANG_QUEUE);
  CHECK_OK(launch(d, counts, offsets));
  check(shim_hung(), "nothing hung");
  buffer *other = use_other_slot(d);
  check(!ends || pthread_create(&thread, NULL, end_soon, NULL) == 0, "no thread");
  buffer_destroy(offsets);
  if (ends) {
    check(!shim_hung() && !device_lost(d), "a buffer goes while a kernel may write it");
    pthread_join(thread, NULL);
  } else {
    check(shim_hung() && device_lost(d), "a buffer of a kernel that hangs is not left behind");
    shim_end_hang(CL_COMPLETE);
  }
  buffer_destroy(counts);
  buffer_destroy(other);
}

/* That a buffer goes does not hide how a kernel ended. */
static void destroy_under_failure(device *d)
{
  buffer *counts = NULL, *offsets = NULL;
  double ended;
  if (!CHECK_OK(buffer_create(d, 64, &counts)) || !CHECK_OK(buffer_create(d, 64, &offsets))) {
    return;
  }
  shim_end_event(1, KERNEL_FAILS);
  CHECK_OK(launch(d, counts, offsets));
  buffer_destroy(offsets);
  const abut_status status = device_wait(d, &ended);
  check(status == KERNEL_FAILS, "a kernel that fails gives %d", status);
  buffer_destroy(counts);
  shim_end_event(0, CL_COMPLETE);
}

/* Shared memory is not the driver's to keep for its kernels, as a cl_mem is. */
static bool test_buffers(void)
{
  setting s;
  world w;
  if (!find_setting(1, &s)) {
    return false;
  }
  s.timeout = TIMEOUT;
  if (CHECK_OK(create_context(&s, &w))) {
    device *d = context_get(w.context)->members[0].device;
    destroy_under_failure(d);
    if (shim_shares_memory()) {
      destroy_under_kernel(d, true);
      destroy_under_kernel(d, false);
    }
    CHECK_OK(abut_destroy_context(w.context));
  }
  return true;
}

/* ---- kernels that fail while others run ---- */

/* Each chunk's in turn: the host path does it again. */
static bool test_failing_kernels(const task *of)
{
  static answer expected, got;
  setting s;
  if (!find_expected(of, 1, &s, &expected)) {
    return false;
  }
  for (uint32_t chunk = CHUNK / 4; chunk <= CHUNK; chunk *= 2) {
    for (long n = 1; n <= POSES / (long)chunk; ++n) {
      world w;
      s.chunk = chunk;
      if (!CHECK_OK(create_context(&s, &w)) || !CHECK_OK(create_bodies(&w))) {
        return true;
      }
      shim_end_event(n, KERNEL_FAILS);
      check_ok(of->run(&w, &got), of->name);
      shim_end_event(0, CL_COMPLETE);
      near_answer(&got, &expected, of->name);
      check(count_failed(&w) == 1, "chunk %ld of %u poses fails: %zu devices did", n, chunk,
            count_failed(&w));
      CHECK_OK(abut_destroy_context(w.context));
    }
  }
  return true;
}

static bool try_task(const task *of, uint32_t devices)
{
  static answer expected;
  setting s;
  if (!find_expected(of, devices, &s, &expected)) {
    return false;
  }
  s.timeout = TIMEOUT;
  try_hang(of, &s, &expected);
  return true;
}

int main(void)
{
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  if (!test_buffers() || !test_failing_kernels(&tasks[0])) {
    return 77;
  }
  for (size_t i = 0; i < TASKS; ++i) {
    const bool wanted = !strcmp(tasks[i].name, "contacts") || !strcmp(tasks[i].name, "witness");
    for (uint32_t devices = 1; wanted && devices <= 2; ++devices) {
      if (!try_task(&tasks[i], devices)) {
        return 77;
      }
    }
  }
  shim_forget_live(); /* what was left behind with the devices */
  return check_finish();
}
