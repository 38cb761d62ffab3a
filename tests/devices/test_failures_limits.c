/* Devices that are too small for a batch, or for a chunk of it, beside others and alone; shares by
 * a throughput that was measured on something else; which of several failures is told of; what a
 * timeline says of kernels that are launched late. */
#include "failures.h"

#include "core/scene.h"
#include "contact/pair.h"
#include "shim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CODE CL_INVALID_COMMAND_QUEUE
#define FOR_GOOD 1000000000

static answer expected, got;

/* A context of devices on which all is built, and what the task answers there; the world keeps no
 * bodies. False where there is no PoCL, or no second part of it. */
static bool start(const task *of, uint32_t devices, abut_fallback fallback, world *w)
{
  setting s;
  if (!find_setting(devices, &s) || s.count != devices) {
    return false;
  }
  s.fallback = fallback;
  if (!CHECK_OK(create_context(&s, w))) {
    exit(check_finish());
  }
  warm_up(of, w, &expected);
  return true;
}

static size_t reports_of(const world *w, abut_device_report reports[ABUT_DEVICES_MOST + 1])
{
  size_t count = 0;
  CHECK_OK(abut_context_devices(w->context, reports, ABUT_DEVICES_MOST + 1, &count));
  return count;
}

static uint64_t elements_of(const world *w, size_t i)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  return i < reports_of(w, reports) ? reports[i].elements : 0;
}

/* ---- too small for one pose ---- */

/* A device that says so: no buffer may be larger. */
static void set_largest(const world *w, size_t i, uint64_t bytes)
{
  const device *d = context_get(w->context)->members[i].device;
  abut_device_info info = *device_info(d);
  info.allocation_bytes = bytes;
  memcpy((void *)(uintptr_t)device_info(d), &info, sizeof info);
}

static abut_status one_pose(const world *w)
{
  static const double pose[7] = {0, 0, 0, 1, 0, 0, 0};
  abut_batch batch = abut_default_batch();
  double d[4096];
  batch.count = 1;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = batch.pose2 = pose;
  batch.d = d;
  const abut_status status = abut_contacts(w->pair, &batch);
  check(batch.failures == 0, "one pose cost %zu devices", batch.failures);
  return status;
}

static void test_one_too_small(void)
{
  world w;
  const task *of = task_named("contacts");
  if (!start(of, 2, ABUT_FALLBACK_NONE, &w)) {
    return;
  }
  CHECK_OK(create_bodies(&w));
  set_largest(&w, 0, 16);
  const uint64_t before = elements_of(&w, 1);
  CHECK_OK(one_pose(&w));
  check(elements_of(&w, 1) == before + 1, "one pose was not done by the larger device");
  for (int i = 0; i < 20; ++i) { /* either device may be first, or late */
    set_largest(&w, (size_t)(i % 2), 16);
    set_largest(&w, (size_t) !(i % 2), (uint64_t)1 << 30);
    CHECK_OK(of->run(&w, &got));
    same_answer(&got, &expected, "beside a device that is too small");
    check(got.failures == 0, "a device that is too small has failed");
  }
  set_largest(&w, 0, 16);
  set_largest(&w, 1, 16);
  const abut_status status = of->run(&w, &got);
  check(status == ABUT_ERROR_TOO_LARGE && strstr(abut_last_error(), "one pose needs"),
        "two devices that are too small give %d: %s", status, abut_last_error());
  CHECK_OK(abut_destroy_context(w.context));
}

/* The host path does what no device can, and nothing else. */
static void test_all_too_small(void)
{
  world w;
  const task *of = task_named("contacts");
  if (!start(of, 2, ABUT_FALLBACK_HOST, &w)) {
    return;
  }
  CHECK_OK(create_bodies(&w));
  set_largest(&w, 0, 16);
  set_largest(&w, 1, 16);
  CHECK_OK(of->run(&w, &got));
  near_answer(&got, &expected, "on devices that are too small");
  check(got.failures == 0 && elements_of(&w, 2) == POSES, "the host path has done %llu poses",
        (unsigned long long)elements_of(&w, 2));
  set_largest(&w, 0, (uint64_t)1 << 30);
  CHECK_OK(of->run(&w, &got));
  same_answer(&got, &expected, "on a device beside the host path");
  check(elements_of(&w, 2) == POSES, "the host path takes part beside a device");
  shim_fail(SHIM_CALLS, 1, FOR_GOOD, CODE); /* the one that is large enough fails later */
  set_largest(&w, 0, 16);
  set_largest(&w, 1, (uint64_t)1 << 30);
  CHECK_OK(of->run(&w, &got));
  shim_stop();
  near_answer(&got, &expected, "where one device is too small and the other fails");
  check(got.failures == 1, "%zu devices failed", got.failures);
  CHECK_OK(abut_destroy_context(w.context));
}

static void test_too_small_and_failed(void)
{
  world w;
  const task *of = task_named("contacts");
  if (!start(of, 2, ABUT_FALLBACK_NONE, &w)) {
    return;
  }
  CHECK_OK(create_bodies(&w));
  set_largest(&w, 0, 16);
  CHECK_OK(of->run(&w, &got)); /* all that there is to bring up is there */
  shim_fail(SHIM_CALLS, 1, FOR_GOOD, CODE);
  const abut_status status = of->run(&w, &got);
  shim_stop();
  check(status == ABUT_ERROR_TOO_LARGE, "one device too small, the other failed: %d", status);
  CHECK_OK(abut_destroy_context(w.context));
}

/* ---- too little memory for a chunk ---- */

/* The next call asks for memory again. */
static void forget_memory(const world *w)
{
  context *c = context_get(w->context);
  for (size_t i = 0; i < c->count; ++i) {
    buffer_pools_free(c->members[i].pools);
    c->members[i].pools = NULL;
  }
}

/* The most bytes that a task takes, beside what is there without it. */
static size_t bytes_of_task(world *w, const task *of, uint32_t chunk)
{
  context_get(w->context)->def.chunk = chunk;
  CHECK_OK(create_bodies(w));
  forget_memory(w);
  shim_most_memory();
  CHECK_OK(of->run(w, &got));
  const size_t most = shim_most_memory();
  destroy_bodies(w);
  return most;
}

/* Chunks of 16 in two slots, with `bytes` to have: how many devices it costs. */
static size_t run_within(world *w, const task *of, size_t bytes, cl_int code, const char *what)
{
  context *c = context_get(w->context);
  char text[128];
  snprintf(text, sizeof text, "%s, %s, code %d", of->name, what, code);
  c->def.chunk = CHUNK;
  CHECK_OK(create_bodies(w));
  shim_bound_memory(bytes, code, code != CL_MEM_OBJECT_ALLOCATION_FAILURE);
  check_ok(of->run(w, &got), text);
  if (!got.failures) {
    same_answer(&got, &expected, text);
    check_ok(of->run(w, &got), text); /* again, with what is held already */
    same_answer(&got, &expected, text);
  } else {
    near_answer(&got, &expected, text);
  }
  shim_bound_memory(0, 0, false);
  const size_t failed = got.failures;
  destroy_bodies(w);
  for (size_t i = 0; i < c->count; ++i) {
    c->members[i].status = ABUT_SUCCESS;
  }
  forget_memory(w);
  return failed;
}

static bool test_memory(const task *of)
{
  static const cl_int codes[] = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
                                 CL_OUT_OF_HOST_MEMORY};
  world w;
  if (!start(of, 1, ABUT_FALLBACK_HOST, &w)) {
    return false;
  }
  const size_t one = bytes_of_task(&w, of, 1), two = bytes_of_task(&w, of, 2);
  const size_t pose = (two - one) / 2, rest = one - 2 * pose; /* two slots hold as much each */
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i) {
    check(!run_within(&w, of, rest + 2 * CHUNK * pose, codes[i], "all"), "%s: enough is not enough",
          of->name);
    check(!run_within(&w, of, rest + CHUNK * pose, codes[i], "one slot"), "%s: one slot", of->name);
    check(!run_within(&w, of, rest + 5 * pose, codes[i], "five poses"), "%s: five poses", of->name);
    check(!run_within(&w, of, rest + pose, codes[i], "one pose"), "%s: one pose", of->name);
    check(run_within(&w, of, rest + pose - 1, codes[i], "none") == 1, "%s: less than a pose",
          of->name);
  }
  CHECK_OK(abut_destroy_context(w.context));
  return true;
}

/* Of several pairs one's buffers make room for another's, where there is none for both. */
static void test_memory_of_pairs(void)
{
  world w;
  const task *of = task_named("mixed");
  if (!start(of, 1, ABUT_FALLBACK_HOST, &w)) {
    return;
  }
  const size_t one = bytes_of_task(&w, of, 1), two = bytes_of_task(&w, of, 2);
  const size_t pose = (two - one) / 2, rest = one - 2 * pose;
  check(!run_within(&w, of, rest + CHUNK * pose, CL_OUT_OF_RESOURCES, "one slot"),
        "pairs in turn: one slot");
  check(!run_within(&w, of, rest + 5 * pose, CL_OUT_OF_RESOURCES, "five poses"),
        "pairs in turn: five poses");
  check(!run_within(&w, of, rest + pose - 1, CL_MEM_OBJECT_ALLOCATION_FAILURE, "one at a time"),
        "pairs in turn: not both at once");
  check(run_within(&w, of, rest + pose / 4, CL_MEM_OBJECT_ALLOCATION_FAILURE, "none") == 1,
        "pairs in turn: less than a pose");
  CHECK_OK(abut_destroy_context(w.context));
}

/* How many entries a list has is known once the kernels have run: room for these may be what is
 * not there. */
static void test_memory_of_lists(void)
{
  enum { STEPS = 12 };
  world w;
  const task *of = task_named("lists");
  if (!start(of, 1, ABUT_FALLBACK_HOST, &w)) {
    return;
  }
  const size_t least = bytes_of_task(&w, of, 1), most = bytes_of_task(&w, of, CHUNK);
  for (size_t i = 0; i <= STEPS; ++i) {
    const size_t bytes = least + (most - least) * i / STEPS;
    check(!run_within(&w, of, bytes, CL_MEM_OBJECT_ALLOCATION_FAILURE, "part"),
          "lists: %zu bytes of %zu to %zu cost the device", bytes, least, most);
  }
  CHECK_OK(abut_destroy_context(w.context));
}

/* ---- shares ---- */

/* Throughput of another pair says nothing of this one: no device takes all of its poses. */
static void test_rates_of_a_pair(void)
{
  world w;
  static abut_span spans[16 * POSES];
  size_t count = 0;
  const task *of = task_named("contacts");
  if (!start(of, 2, ABUT_FALLBACK_NONE, &w)) {
    return;
  }
  context *c = context_get(w.context);
  c->def.chunk = 0;
  CHECK_OK(create_bodies(&w));
  const abut_pair other = w.pair;
  pair *p = pair_get(other);
  for (size_t i = 0; i < 2 * RATE_KINDS; ++i) {
    p->rates[i / 2][i % 2] = 1e9;
  }
  CHECK_OK(abut_create_pair(w.bodies[0], w.bodies[1], &p->smoothing, &w.pair));
  CHECK_OK(abut_start_timeline(w.context));
  CHECK_OK(of->run(&w, &got));
  same_answer(&got, &expected, "with another pair's rates");
  CHECK_OK(abut_get_timeline(w.context, spans, sizeof spans / sizeof *spans, &count));
  check(count > 0, "nothing was recorded");
  for (size_t i = 0; i < count && i < sizeof spans / sizeof *spans; ++i) {
    if (spans[i].first == 0) { /* taken before anything of this pair was measured */
      check(spans[i].count <= POSES / 2 + 1, "a device took %llu of %d poses",
            (unsigned long long)spans[i].count, POSES);
    }
  }
  const pair *own = pair_get(w.pair);
  check(own->rates[0][0] + own->rates[0][1] > 0.0, "no throughput of the pair's own was kept");
  for (size_t i = 0; i < 2; ++i) { /* 0: the other was done before this one began */
    check(own->rates[0][i] >= 0.0 && own->rates[0][i] < 1e9, "a pair's own throughput is %g",
          own->rates[0][i]);
    check(p->rates[0][i] == 1e9, "another pair's throughput became %g", p->rates[0][i]);
  }
  CHECK_OK(abut_destroy_context(w.context));
}

/* A device takes little as long as another one's throughput is unknown, which may be much more. */
static void test_wary_chunks(void)
{
  const double rate = 500.0;
  world w;
  static abut_span spans[16 * POSES];
  size_t count = 0;
  double measured = INFINITY; /* when the first chunk of either was */
  const task *of = task_named("contacts");
  if (!start(of, 2, ABUT_FALLBACK_NONE, &w)) {
    return;
  }
  context_get(w.context)->def.chunk = 0;
  CHECK_OK(create_bodies(&w));
  pair *p = pair_get(w.pair);
  for (size_t i = 0; i < RATE_KINDS; ++i) {
    p->rates[i][0] = rate;
    p->rates[i][1] = 0.0;
  }
  CHECK_OK(abut_start_timeline(w.context));
  CHECK_OK(of->run(&w, &got));
  same_answer(&got, &expected, "with one device's rate");
  CHECK_OK(abut_get_timeline(w.context, spans, sizeof spans / sizeof *spans, &count));
  count = count < sizeof spans / sizeof *spans ? count : sizeof spans / sizeof *spans;
  for (size_t i = 0; i < count; ++i) {
    if (spans[i].phase == ABUT_PHASE_DOWNLOAD) {
      measured = fmin(measured, spans[i].end);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const abut_span *s = &spans[i];
    if (s->device == 0 && s->phase == ABUT_PHASE_UPLOAD && s->begin < measured) {
      check((double)s->count <= 1.0 + 0.01 * rate, "%llu poses while the other may be faster",
            (unsigned long long)s->count);
    }
  }
  CHECK_OK(abut_destroy_context(w.context));
}

/* ---- words ---- */

static void test_last_failure(void)
{
  world w;
  if (!start(task_named("contacts"), 2, ABUT_FALLBACK_NONE, &w)) {
    return;
  }
  context *c = context_get(w.context);
  CHECK_OK(create_bodies(&w));
  fail(CL_INVALID_VALUE, "the first failure");
  context_fail(c, 1, CL_INVALID_VALUE);
  fail(CODE, "the second failure");
  context_fail(c, 0, CODE);
  const abut_status status = task_named("contacts")->run(&w, &got);
  check(status == CODE && strstr(abut_last_error(), "the second failure"),
        "two failed devices give %d: %s", status, abut_last_error());
  CHECK_OK(abut_destroy_context(w.context));
}

/* ---- a timeline of kernels that are launched late ---- */

static void check_late(const world *w, const char *what)
{
  abut_span spans[16];
  size_t count = 0;
  double computed = 0.0, read = 0.0;
  CHECK_OK(abut_get_timeline(w->context, spans, 16, &count));
  for (size_t i = 0; i < count && i < 16; ++i) {
    computed = spans[i].phase == ABUT_PHASE_COMPUTE ? spans[i].end : computed;
    read = spans[i].phase == ABUT_PHASE_DOWNLOAD ? spans[i].begin : read;
  }
  const double launched = shim_launched() - context_get(w->context)->timeline_begin;
  check(count == 3, "%s: a chunk has %zu spans", what, count);
  check(computed >= launched && read >= computed,
        "%s: kernels end at %g s and are read at %g s; the last was launched at %g s", what,
        computed, read, launched);
}

/* Those of a list's entries, and of a Jacobian's blocks. */
static void test_late_kernels(void)
{
  static const double poses[2][7] = {{0, 0, 0, 1, 0, 0, 0}, {0.78, 0.05, 0.1, 1, 0, 0, 0}};
  world w;
  double d[256];
  abut_smoothing smoothing;
  abut_pair gated;
  abut_compact list = {.threshold = 0.02, .capacity = 256, .d = d};
  abut_batch batch = abut_default_batch();
  if (!start(task_named("jacobian"), 1, ABUT_FALLBACK_NONE, &w)) {
    return;
  }
  CHECK_OK(create_bodies(&w));
  CHECK_OK(abut_start_timeline(w.context));
  CHECK_OK(task_named("jacobian")->run(&w, &got));
  check_late(&w, "Jacobian");
  CHECK_OK(abut_fit_smoothing(w.bodies[0], w.bodies[1], &smoothing));
  CHECK_OK(abut_create_pair(w.bodies[0], w.bodies[1], &smoothing, &gated));
  batch.count = 1;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = poses[0];
  batch.pose2 = poses[1];
  batch.compact = &list;
  CHECK_OK(abut_start_timeline(w.context));
  CHECK_OK(abut_contacts(gated, &batch));
  check(list.count > 0, "nothing is listed");
  check_late(&w, "list");
  CHECK_OK(abut_destroy_context(w.context));
}

int main(void)
{
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  if (!test_memory(task_named("contacts")) || !test_memory(task_named("gradient")) ||
      !test_memory(task_named("jvp"))) {
    return 77;
  }
  test_memory_of_pairs();
  test_memory_of_lists();
  test_one_too_small();
  test_all_too_small();
  test_too_small_and_failed();
  test_rates_of_a_pair();
  test_wary_chunks();
  test_last_failure();
  test_late_kernels();
  return check_finish();
}
