/* A device that fails in the middle loses no pose: the N-th OpenCL call fails for every N, once and
 * for good, then the N-th allocation. Of clSetKernelArg, which the library treats alike wherever it
 * is called, every seventh is taken; of all calls for pictures too, every 29th for Jacobians of two
 * poses at once, every 61st for descents and so on (failures_tasks.c): all are one engine's, which
 * contacts are swept through whole. Fewer under a sanitizer, and where memory is not shared.
 * ABUT_TEST_ALL=1 takes them all. */
#include "failures.h"

#include "engine/device/context.h"
#include "shim.h"
#include <stdlib.h>
#include <string.h>

#define CODE CL_INVALID_COMMAND_QUEUE /* one that speaks of no memory */
#define STRIDE 7

#define NOT_SHARED 3 /* of contacts, every call: the others go through the same copies */

/* One context for many faults: a device that was made to fail is whole, and is healed. */
typedef struct trial {
  setting setting;
  const task *task;
  world world;
  answer expected, first, second;
  char name[128]; /* of the device */
  shim_kind kind;
  bool for_good;
  long n;
  long most; /* calls without a fault: devices share the work as it comes, once so, once so */
} trial;

static long stride_of(const trial *t)
{
  const bool fewer = !shim_shares_memory() && t->task != &tasks[0];
  const long step =
    (t->kind == SHIM_ARGUMENTS ? STRIDE : 1) * t->task->stride * (fewer ? NOT_SHARED : 1);
  return test_all() ? 1 : step * SANITIZED(t->task->sanitized);
}

static const char *what(const trial *t)
{
  static const char *const kinds[] = {"call", "argument", "allocation"};
  static char text[256];
  snprintf(text, sizeof text, "%s, %u devices, fallback %d: %s %ld%s (%s)", t->task->name,
           t->setting.count, (int)t->setting.fallback, kinds[t->kind], t->n,
           t->for_good ? " and all after it fail" : " fails", shim_first_failed());
  return text;
}

/* ---- the devices' own words ---- */

typedef struct state {
  size_t failed;
  uint64_t elements;
} state;

static state state_of(const trial *t)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t count = 0;
  state s = {0, 0};
  CHECK_OK(abut_context_devices(t->world.context, reports, ABUT_DEVICES_MOST + 1, &count));
  for (size_t i = 0; i < count; ++i) {
    s.failed += reports[i].status != ABUT_SUCCESS;
    s.elements += reports[i].elements;
    check((reports[i].status == ABUT_SUCCESS) == (reports[i].text[0] == '\0'),
          "%s: device %zu has status %d and the words \"%s\"", what(t), i, reports[i].status,
          reports[i].text);
    check(reports[i].status == ABUT_SUCCESS || reports[i].status == CODE,
          "%s: device %zu has status %d", what(t), i, reports[i].status);
  }
  return s;
}

/* A failure of what only asks or lets go need not cost a device, nor one of memory that could be
 * shared: there is memory of the device's own, and smaller chunks. */
static bool must_cost_a_device(const char *call)
{
  return !shim_has_substitute(call) && strncmp(call, "clRelease", 9) && strcmp(call, "clFinish") &&
         strcmp(call, "clGetDeviceInfo") && strcmp(call, "nothing");
}

static void heal(trial *t)
{
  context *c = context_get(t->world.context);
  for (size_t i = 0; i < c->count; ++i) {
    c->members[i].status = ABUT_SUCCESS;
    c->members[i].text[0] = '\0';
    buffer_pools_free(c->members[i].pools); /* as new: the next trial asks for memory again */
    c->members[i].pools = NULL;
  }
  member_close(&c->members[c->count]); /* the host path, which stood in */
}

/* ---- one fault ---- */

/* Equal to the bit, but where the host path took part; every pose done once. */
static void judge_success(const trial *t, const answer *got, state before, state after)
{
  const uint64_t elements = after.elements - before.elements;
  if (after.failed == t->setting.count) {
    near_answer(got, &t->expected, what(t));
  } else {
    same_answer(got, &t->expected, what(t));
  }
  check(!t->task->elements || elements == t->task->elements, "%s: %llu elements were counted",
        what(t), (unsigned long long)elements);
}

static void judge_first(const trial *t, abut_status status, state before, bool made)
{
  const bool device_fault = t->kind != SHIM_ALLOCATIONS;
  const state s = state_of(t);
  const bool may_fail =
    device_fault ? t->setting.fallback == ABUT_FALLBACK_NONE && s.failed == t->setting.count : true;
  const abut_status right = device_fault ? CODE : ABUT_ERROR_MEMORY;
  if (status == ABUT_SUCCESS) {
    judge_success(t, &t->first, before, s);
    check(!t->task->elements || !made || t->first.failures <= s.failed, "%s: %zu failures of %zu",
          what(t), t->first.failures, s.failed);
  } else {
    check(may_fail && status == right, "%s: gives %d", what(t), status);
    check(abut_last_error()[0] != '\0', "%s: fails without words", what(t));
    check(!device_fault || strstr(abut_last_error(), t->name), "%s: names no device: %s", what(t),
          abut_last_error());
  }
  if (device_fault && !t->for_good && must_cost_a_device(shim_first_failed())) {
    check(s.failed == 1, "%s: cost %zu devices", what(t), s.failed);
  }
  check(device_fault || s.failed == 0, "%s: cost %zu devices", what(t), s.failed);
}

/* Whether the fault came at all. */
static bool try_fault(trial *t)
{
  const long last = t->for_good ? 1000000000 : t->n;
  world *w = &t->world;
  const state before = state_of(t);
  shim_fail(t->kind, t->n, last, CODE);
  abut_status status = create_bodies(w);
  const bool made = status == ABUT_SUCCESS;
  status = made ? t->task->run(w, &t->first) : status;
  const bool came = shim_failed() > 0;
  const long count = shim_stop();
  t->most = !came && count > t->most ? count : t->most;
  judge_first(t, status, before, made);
  const state between = state_of(t);
  if (made && (status == ABUT_SUCCESS || t->kind == SHIM_ALLOCATIONS)) {
    check_ok(t->task->run(w, &t->second), what(t));
    judge_success(t, &t->second, between, state_of(t));
    check(t->second.failures == 0, "%s: costs devices later", what(t));
  }
  destroy_bodies(w);
  heal(t);
  return came;
}

/* ---- all of them ---- */

static bool start_trial(trial *t, const task *of, uint32_t devices, abut_fallback fallback)
{
  abut_device_info info;
  memset(t, 0, sizeof *t);
  t->task = of;
  if (!find_setting(devices, &t->setting)) {
    return false;
  }
  t->setting.fallback = fallback;
  if (!CHECK_OK(create_context(&t->setting, &t->world)) ||
      !CHECK_OK(abut_context_device(t->world.context, &info))) {
    exit(check_finish());
  }
  memcpy(t->name, info.name, strcspn(info.name, " "));
  warm_up(of, &t->world, &t->expected);
  return true;
}

static void end_trial(trial *t)
{
  long live = 0;
  CHECK_OK(abut_destroy_context(t->world.context));
  const char *kind = shim_live(&live);
  check(!kind, "%s: %ld %s are left", t->task->name, live, kind ? kind : "");
  shim_forget_live();
}

static void sweep(trial *t, shim_kind kind, bool for_good)
{
  const long step = stride_of(t);
  t->kind = kind;
  t->for_good = for_good;
  t->most = 0;
  for (t->n = 1; try_fault(t) || t->n <= t->most; t->n += step) {
  }
  printf("%s\n", what(t));
}

static bool sweep_task(const task *of)
{
  static trial t;
  static const struct {
    uint32_t devices;
    abut_fallback fallback;
  } settings[] = {{2, ABUT_FALLBACK_HOST}, {1, ABUT_FALLBACK_HOST}, {2, ABUT_FALLBACK_NONE}};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i) {
    if (!start_trial(&t, of, settings[i].devices, settings[i].fallback)) {
      return false;
    }
    if (i < 2 || of == &tasks[0] || test_all()) { /* one that is left differs in nothing */
      sweep(&t, SHIM_CALLS, false);
    }
    if (i == 0) {
      sweep(&t, SHIM_ARGUMENTS, false);
      sweep(&t, SHIM_ALLOCATIONS, false);
    }
    if (settings[i].devices == 2) {
      sweep(&t, SHIM_CALLS, true);
    }
    end_trial(&t);
  }
  return true;
}

int main(int argc, char **argv)
{
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  for (size_t i = 0; i < TASKS; ++i) {
    const bool wanted = argc < 2 || !strcmp(argv[1], tasks[i].name);
    if (wanted && !sweep_task(&tasks[i])) {
      return 77;
    }
  }
  return check_finish();
}
