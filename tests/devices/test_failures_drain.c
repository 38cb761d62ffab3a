/* A launch that never ends on a device whose queues cannot be marked any more: the wait that is
 * left, clFinish, has a bound too, in the call and when the context goes. */
#include "failures.h"

#include "shim.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define TIMEOUT 1.0 /* [s] */
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
