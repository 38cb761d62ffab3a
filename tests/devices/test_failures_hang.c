/* A launch that never ends costs its device after a bounded wait, and no pose: the others, or the
 * host path, do the work. What the device may still use is left behind when its context goes, and
 * nothing happens when the launch ends after all.
 *
 * Of each kind of call the first launch hangs and the last one, alone and with all copies, on one
 * device and on two. Each trial waits a second: under a sanitizer, and where memory is not shared,
 * a half of the eight, where each launch still hangs in each way, on one device or on two.
 * ABUT_TEST_ALL=1 takes all. */
#include "failures.h"

#include "shim.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define TIMEOUT 1.0 /* [s]: long beside a chunk, even on a machine that does other things too */
#define PATIENCE 60 /* [s] until a wait counts as one without bound */

/* ---- a wait without bound ends by a failure, not never ---- */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool over, bitten;
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *watch(void *user)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  pthread_mutex_lock(&guard.lock);
  while (!guard.over && !guard.bitten) {
    guard.bitten = pthread_cond_timedwait(&guard.changed, &guard.lock, &until) == ETIMEDOUT;
  }
  pthread_mutex_unlock(&guard.lock);
  if (guard.bitten) {
    shim_end_hang(CL_COMPLETE);
  }
  return user;
}

static void start_guard(void)
{
  guard.over = guard.bitten = false;
  check(pthread_create(&guard.thread, NULL, watch, NULL) == 0, "no thread");
}

static bool end_guard(void)
{
  pthread_mutex_lock(&guard.lock);
  guard.over = true;
  pthread_cond_signal(&guard.changed);
  pthread_mutex_unlock(&guard.lock);
  pthread_join(guard.thread, NULL);
  return !guard.bitten;
}

/* ---- one hang ---- */

typedef struct trial {
  const task *task;
  setting setting;
  long launch;
  shim_hang how;
  answer expected, got;
} trial;

static const char *what(const trial *t)
{
  static char text[128];
  snprintf(text, sizeof text, "%s on %u devices, launch %ld hangs, %s", t->task->name,
           t->setting.count, t->launch, t->how == SHIM_HANG_DEVICE ? "and all copies" : "alone");
  return text;
}

static size_t count_failed(const trial *t, const world *w)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t count = 0, failed = 0;
  CHECK_OK(abut_context_devices(w->context, reports, ABUT_DEVICES_MOST + 1, &count));
  for (size_t i = 0; i < count; ++i) {
    if (reports[i].status != ABUT_SUCCESS) {
      ++failed;
      check(reports[i].status == ABUT_ERROR_TIMEOUT && strstr(reports[i].text, "ended"),
            "%s: device %zu has status %d: %s", what(t), i, reports[i].status, reports[i].text);
    }
  }
  return failed;
}

/* A slow machine may cost a device that is well, too. */
static void judge(const trial *t, const world *w)
{
  if (count_failed(t, w) < t->setting.count) {
    same_answer(&t->got, &t->expected, what(t));
  } else {
    near_answer(&t->got, &t->expected, what(t));
  }
}

/* With `late`, the launch ends when nothing of its device is in use any more. */
static void try_hang(trial *t, bool late)
{
  world w;
  if (!CHECK_OK(create_context(&t->setting, &w)) || !CHECK_OK(create_bodies(&w))) {
    return;
  }
  start_guard();
  shim_hang_launch(t->launch, t->how);
  check_ok(t->task->run(&w, &t->got), what(t));
  check(end_guard(), "%s: waits without bound", what(t));
  if (check(shim_hung(), "%s: it did not come so far", what(t))) {
    check(count_failed(t, &w) >= 1, "%s: no device failed", what(t));
    judge(t, &w);
    check_ok(t->task->run(&w, &t->got), what(t));
    judge(t, &w);
  }
  if (!late) {
    check(shim_end_hang(CL_COMPLETE), "%s: nothing hung", what(t));
  }
  start_guard();
  CHECK_OK(abut_destroy_context(w.context));
  check(end_guard(), "%s: does not let go of a device", what(t));
  if (late) {
    check(shim_end_hang(CL_COMPLETE), "%s: nothing hung", what(t));
  }
}

static bool try_task(const task *of, uint32_t devices, long last)
{
  static trial t;
  const bool all = test_all() || (SANITIZED(2) == 1 && shim_shares_memory());
  t.task = of;
  if (!find_expected(of, devices, &t.setting, &t.expected)) {
    return false;
  }
  t.setting.timeout = TIMEOUT;
  for (t.launch = 1; t.launch <= last; t.launch += last > 1 ? last - 1 : 1) {
    for (int how = SHIM_HANG_QUEUE; how <= SHIM_HANG_DEVICE; ++how) {
      const bool passed_over = ((t.launch == 1) == (how == SHIM_HANG_QUEUE)) == (devices == 1);
      t.how = (shim_hang)how;
      if (all || !passed_over) {
        try_hang(&t, t.launch == 1);
      }
    }
  }
  return true;
}

int main(void)
{
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  for (size_t i = 0; i < TASKS; ++i) {
    for (uint32_t devices = 1; devices <= 2; ++devices) {
      if (!try_task(&tasks[i], devices, tasks[i].launches)) {
        return 77;
      }
    }
  }
  shim_forget_live(); /* what was left behind with the devices */
  return check_finish();
}
