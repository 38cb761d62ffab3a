/* Opening a context while OpenCL or memory fails: it fails whole, says which device and why, and
 * leaves nothing behind; or it is right. The same of what is built at the first call of a kind, and
 * of a queue that the caller brings. Every N is tried, every third under a sanitizer, and every
 * third of these of the first calls after contacts', which build in the same way; each program is
 * built once for all of them (shim_keep_builds). ABUT_TEST_ALL=1 tries every N, builds for each. */
#include "failures.h"

#include "shim.h"
#include <string.h>

#define CODE CL_OUT_OF_RESOURCES
#define FOR_GOOD 1000000000
#define STRIDE 3

typedef struct trial {
  setting setting;
  const task *task;
  answer expected, got;
  char name[128]; /* of the device */
  shim_kind kind;
  long n, last;
  long most; /* calls without a fault: two devices do not always share the work alike */
} trial;

static const char *what(const trial *t)
{
  static char text[256];
  snprintf(text, sizeof text, "%s, %u devices%s: %s %ld%s (%s)", t->task->name, t->setting.count,
           t->setting.queue ? " by a queue" : "",
           t->kind == SHIM_ALLOCATIONS ? "allocation" : "call", t->n,
           t->last > t->n ? " and all after it fail" : " fails", shim_first_failed());
  return text;
}

static void check_nothing_left(const trial *t)
{
  long live = 0;
  const char *kind = shim_live(&live);
  check(!kind, "%s: %ld %s are left", what(t), live, kind ? kind : "");
}

/* ---- opening ---- */

static bool says(const char *words)
{
  return strstr(abut_last_error(), words) != NULL;
}

static void judge_failure(const trial *t, abut_status status)
{
  if (t->kind == SHIM_ALLOCATIONS) {
    check(status == ABUT_ERROR_MEMORY && *abut_last_error(), "%s: gives %d", what(t), status);
    return;
  }
  const bool listing = status == ABUT_ERROR_DEVICE && says("device");
  const bool named = says(t->name) || says(") does not report its properties:") || t->setting.queue;
  check(listing || (status == CODE && named), "%s: gives %d: %s", what(t), status,
        abut_last_error());
}

/* The device that was asked for; or the host path where nothing can be told of devices. */
static void judge_success(trial *t, world *w)
{
  abut_device_info info;
  CHECK_OK(create_bodies(w));
  check_ok(t->task->run(w, &t->got), what(t));
  CHECK_OK(abut_context_device(w->context, &info));
  if (info.type == ABUT_DEVICE_HOST) {
    check(t->last > t->n, "%s: opened another device", what(t));
    near_answer(&t->got, &t->expected, what(t));
  } else {
    same_answer(&t->got, &t->expected, what(t));
  }
}

static bool try_opening(trial *t)
{
  world w;
  shim_fail(t->kind, t->n, t->last, CODE);
  const abut_status status = create_context(&t->setting, &w);
  const bool came = shim_failed() > 0;
  shim_stop();
  if (status == ABUT_SUCCESS) {
    judge_success(t, &w);
    CHECK_OK(abut_destroy_context(w.context));
  } else {
    judge_failure(t, status);
  }
  if (!t->setting.queue) {
    check_nothing_left(t);
  }
  return came;
}

static void sweep_opening(trial *t, shim_kind kind, bool for_good)
{
  t->kind = kind;
  t->n = 1;
  do {
    t->last = for_good ? FOR_GOOD : t->n;
    if (!try_opening(t)) {
      break;
    }
    t->n += SANITIZED(STRIDE);
  } while (true);
  printf("%s\n", what(t));
}

/* ---- the first call of a kind ---- */

/* Devices that cannot build a program are not used any more. */
static bool try_first_call(trial *t)
{
  world w;
  if (!CHECK_OK(create_context(&t->setting, &w)) || !CHECK_OK(create_bodies(&w))) {
    return false;
  }
  shim_fail(t->kind, t->n, t->last, CODE);
  check_ok(t->task->run(&w, &t->got), what(t));
  const bool came = shim_failed() > 0;
  const long count = shim_stop();
  t->most = !came && count > t->most ? count : t->most;
  check(t->got.failures <= 1, "%s: cost %zu devices", what(t), t->got.failures);
  same_answer(&t->got, &t->expected, what(t));
  check_ok(t->task->run(&w, &t->got), what(t));
  same_answer(&t->got, &t->expected, what(t));
  CHECK_OK(abut_destroy_context(w.context));
  check_nothing_left(t);
  return came;
}

static bool start_trial(trial *t, const task *of, uint32_t devices)
{
  world w;
  abut_device_info info;
  memset(t, 0, sizeof *t);
  t->task = of;
  if (!find_setting(devices, &t->setting)) {
    return false;
  }
  if (CHECK_OK(create_context(&t->setting, &w)) && CHECK_OK(create_bodies(&w))) {
    check_ok(of->run(&w, &t->expected), of->name);
    CHECK_OK(abut_context_device(w.context, &info));
    memcpy(t->name, info.name, strcspn(info.name, " "));
    CHECK_OK(abut_destroy_context(w.context));
  }
  return true;
}

/* ---- a queue of the caller's ---- */

static bool sweep_own_queue(trial *t)
{
  own_queue q;
  if (!start_trial(t, &tasks[0], 1)) {
    return false;
  }
  if (open_own(&t->setting, &q)) {
    sweep_opening(t, SHIM_CALLS, false);
    close_own(&q);
    check_nothing_left(t);
  }
  return true;
}

int main(void)
{
  static trial t;
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  if (!test_all()) {
    shim_keep_builds();
  }
  for (uint32_t devices = 1; devices <= 2; ++devices) {
    if (!start_trial(&t, &tasks[0], devices)) {
      return 77;
    }
    sweep_opening(&t, SHIM_CALLS, false);
    sweep_opening(&t, SHIM_CALLS, true);
    sweep_opening(&t, SHIM_ALLOCATIONS, false);
  }
  for (int i = 0; i <= 2; ++i) { /* one builds contacts, one adjoints, one duals */
    start_trial(&t, &tasks[i], 2);
    t.kind = SHIM_CALLS;
    const long step = SANITIZED(STRIDE) * (i > 0 && !test_all() ? STRIDE : 1);
    for (t.n = t.last = 1; try_first_call(&t) || t.n <= t.most; t.last = t.n += step) {
    }
    printf("%s\n", what(&t));
  }
  if (!sweep_own_queue(&t)) {
    return 77;
  }
  return check_finish();
}
