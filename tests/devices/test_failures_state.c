/* What a state is after a device has failed, as told to the caller: back at its copy, or as if
 * nothing had happened where that is no older; noticed late where a kernel ends with an error; its
 * copy readable when no device is left; smaller chunks where memory is short. */
#include "failures.h"

#include "core/scene.h"
#include "shim.h"
#include <stdlib.h>
#include <string.h>

#define CODE CL_INVALID_COMMAND_QUEUE /* one that speaks of no memory */
#define FOR_GOOD 1000000000

enum { POSE1, POSE2, SLOPE, SOFT, ARRAYS };

typedef struct scene {
  setting setting;
  world world;
  abut_state state;
  abut_state_array arrays[ARRAYS];
  double start[POSES * 7];
  own_queue *queue; /* of the caller's, or NULL */
} scene;

static bool open_scene(scene *s, uint32_t devices, abut_fallback fallback, uint32_t chunk)
{
  static const size_t widths[ARRAYS] = {7, 7, 7, 1};
  double fixed[POSES * 7];
  uint64_t seed = 5;
  if (!find_setting(devices, &s->setting) || s->setting.count != devices) {
    return false;
  }
  s->setting.fallback = fallback;
  s->setting.chunk = chunk;
  if (s->queue && !open_own(&s->setting, s->queue)) {
    return false;
  }
  if (!CHECK_OK(create_context(&s->setting, &s->world)) || !CHECK_OK(create_bodies(&s->world)) ||
      !CHECK_OK(abut_create_state(s->world.context, POSES, widths, ARRAYS, NULL, &s->state))) {
    exit(check_finish());
  }
  for (size_t i = 0; i < POSES; ++i) {
    random_pose(&seed, 0.2, &fixed[7 * i]);
    random_pose(&seed, 0.4, &s->start[7 * i]);
  }
  for (uint32_t i = 0; i < ARRAYS; ++i) {
    s->arrays[i] = (abut_state_array){s->state, i};
  }
  CHECK_OK(abut_write_state(s->arrays[POSE1], 0, POSES, fixed));
  CHECK_OK(abut_write_state(s->arrays[POSE2], 0, POSES, s->start));
  return true;
}

static void close_scene(scene *s)
{
  long live = 0;
  CHECK_OK(abut_destroy_context(s->world.context));
  const char *kind = shim_live(&live);
  check(!kind, "%ld %s are left", live, kind ? kind : "");
  shim_forget_live();
}

static size_t failures; /* of devices, that the last look told of */

static abut_status look(scene *s)
{
  abut_batch batch = abut_default_batch();
  const abut_gradients gradients = {NULL, &s->arrays[SLOPE]};
  batch.count = POSES;
  batch.memory = ABUT_MEMORY_STATE;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = &s->arrays[POSE1];
  batch.pose2 = &s->arrays[POSE2];
  batch.reductions.soft_minimum = &s->arrays[SOFT];
  const abut_status status =
    abut_gradient(s->world.pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
  failures = batch.failures;
  return status;
}

/* The same of one pose in memory: the device's self-test, which takes larger buffers, is over
 * then. */
static abut_status look_once(scene *s)
{
  static const double pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  double least, slope[7];
  abut_batch batch = abut_default_batch();
  const abut_gradients gradients = {NULL, slope};
  batch.count = 1;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = batch.pose2 = pose;
  batch.reductions.soft_minimum = &least;
  return abut_gradient(s->world.pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
}

static abut_status move(scene *s)
{
  return abut_combine_state(s->arrays[POSE2], 1.0, s->arrays[SLOPE], 0.01);
}

static uint64_t changes_of(const scene *s)
{
  abut_state_info info = {0};
  CHECK_OK(abut_get_state_info(s->state, &info));
  return info.changes;
}

/* The poses after `steps` from the start, where nothing fails. */
static void poses_after(scene *s, int steps, double poses[POSES * 7])
{
  CHECK_OK(abut_write_state(s->arrays[POSE2], 0, POSES, s->start));
  for (int i = 0; i < steps; ++i) {
    CHECK_OK(look(s));
    CHECK_OK(move(s));
  }
  CHECK_OK(abut_read_state(s->arrays[POSE2], 0, POSES, poses));
  CHECK_OK(abut_write_state(s->arrays[POSE2], 0, POSES, s->start));
  CHECK_OK(abut_save_state(s->state));
}

static void same_poses(const scene *s, const double *expected, const char *what)
{
  double got[POSES * 7];
  CHECK_OK(abut_read_state(s->arrays[POSE2], 0, POSES, got));
  check(!memcmp(got, expected, sizeof got), "%s: other poses", what);
}

/* Two steps back, and on from there with the device that is left. */
static void test_rewind(void)
{
  static scene s;
  double two[POSES * 7];
  if (!open_scene(&s, 2, ABUT_FALLBACK_NONE, 0)) {
    return;
  }
  poses_after(&s, 2, two);
  const uint64_t saved = changes_of(&s);
  CHECK_OK(look(&s));
  CHECK_OK(move(&s));
  CHECK_OK(look(&s));
  check(changes_of(&s) == saved + 3, "three changes");
  shim_fail(SHIM_CALLS, 1, 1, CODE);
  check(move(&s) == ABUT_ERROR_STATE, "a device that fails sends the state back");
  shim_stop();
  check(strstr(abut_last_error(), "4 changes ago") && strstr(abut_last_error(), "saved copy") &&
          strstr(abut_last_error(), "CL_INVALID_COMMAND_QUEUE"),
        "says: %s", abut_last_error());
  check(changes_of(&s) == saved, "it is as when it was saved");
  same_poses(&s, s.start, "back");
  CHECK_OK(look(&s));
  check(failures == 0, "the other device goes on");
  CHECK_OK(move(&s));
  CHECK_OK(look(&s));
  CHECK_OK(move(&s));
  same_poses(&s, two, "done again");
  close_scene(&s);
}

/* Nothing is lost right after it was saved: not the call either. */
static void test_saved(void)
{
  static scene s;
  double two[POSES * 7];
  if (!open_scene(&s, 2, ABUT_FALLBACK_NONE, 0)) {
    return;
  }
  poses_after(&s, 2, two);
  CHECK_OK(look(&s));
  CHECK_OK(move(&s));
  CHECK_OK(abut_save_state(s.state));
  const uint64_t saved = changes_of(&s);
  shim_fail(SHIM_CALLS, 3, 3, CODE);
  CHECK_OK(look(&s));
  shim_stop();
  check(failures == 1 && changes_of(&s) == saved + 1, "%zu devices failed", failures);
  CHECK_OK(move(&s));
  same_poses(&s, two, "done by the other device");
  close_scene(&s);
}

/* A kernel's error is told when its end is waited for. */
static void test_late(void)
{
  static scene s;
  double two[POSES * 7], got[POSES * 7];
  if (!open_scene(&s, 1, ABUT_FALLBACK_HOST, POSES)) {
    return;
  }
  poses_after(&s, 2, two);
  CHECK_OK(look(&s));
  shim_end_event(1, CL_OUT_OF_RESOURCES);
  CHECK_OK(move(&s)); /* it is what this one has sent off */
  const abut_status status = abut_read_state(s.arrays[POSE2], 0, POSES, got);
  const abut_status later = status == ABUT_SUCCESS ? move(&s) : status;
  shim_end_event(0, 0);
  check(later == ABUT_ERROR_STATE && strstr(abut_last_error(), "CL_OUT_OF_RESOURCES"),
        "a kernel that ends with an error gives %d: %s", later, abut_last_error());
  same_poses(&s, s.start, "after a late error");
  CHECK_OK(look(&s)); /* by the host path */
  CHECK_OK(move(&s));
  close_scene(&s);
}

/* What was saved can be read when nobody can compute any more. */
static void test_none_left(void)
{
  static scene s;
  double two[POSES * 7];
  if (!open_scene(&s, 1, ABUT_FALLBACK_NONE, 0)) {
    return;
  }
  poses_after(&s, 2, two);
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(look(&s));
    CHECK_OK(move(&s));
  }
  CHECK_OK(abut_save_state(s.state));
  CHECK_OK(look(&s));
  shim_fail(SHIM_CALLS, 1, FOR_GOOD, CODE);
  check(move(&s) == ABUT_ERROR_STATE, "the last device fails");
  check(look(&s) == CODE && strstr(abut_last_error(), "failed, and no other device is left:"),
        "says: %s", abut_last_error());
  same_poses(&s, two, "without a device");
  CHECK_OK(abut_save_state(s.state));
  CHECK_OK(abut_write_state(s.arrays[POSE2], 0, POSES, s.start));
  same_poses(&s, s.start, "written without a device");
  shim_stop();
  close_scene(&s);
}

/* The state fits, a chunk of all rows does not. */
static void test_short_memory(void)
{
  static scene s;
  double two[POSES * 7];
  abut_counters before, after;
  if (!open_scene(&s, 1, ABUT_FALLBACK_NONE, POSES)) {
    return;
  }
  poses_after(&s, 2, two);
  close_scene(&s);
  open_scene(&s, 1, ABUT_FALLBACK_NONE, POSES);
  CHECK_OK(look_once(&s));
  CHECK_OK(abut_get_counters(s.world.context, &before));
  shim_limit_memory(6000, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  CHECK_OK(look(&s));
  CHECK_OK(move(&s));
  CHECK_OK(look(&s));
  CHECK_OK(move(&s));
  check(shim_limit_memory(0, 0) > 0, "memory was not short");
  CHECK_OK(abut_get_counters(s.world.context, &after));
  check(failures == 0 && after.chunks - before.chunks > 4, "%llu chunks",
        (unsigned long long)(after.chunks - before.chunks));
  same_poses(&s, two, "in smaller chunks");
  close_scene(&s);
}

/* On a queue that the caller brings, the state is the context's own all the same. */
static void test_own_queue(void)
{
  static scene s;
  static own_queue queue;
  double two[POSES * 7];
  if (!open_scene(&s, 1, ABUT_FALLBACK_NONE, 0)) {
    return;
  }
  poses_after(&s, 2, two);
  close_scene(&s);
  s.queue = &queue;
  if (open_scene(&s, 1, ABUT_FALLBACK_NONE, 0)) {
    for (int i = 0; i < 2; ++i) {
      CHECK_OK(look(&s));
      CHECK_OK(move(&s));
    }
    same_poses(&s, two, "on the caller's queue");
    CHECK_OK(abut_destroy_context(s.world.context));
    close_own(&queue);
  }
}

int main(void)
{
  setting s;
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  if (!find_setting(1, &s)) {
    return 77;
  }
  test_rewind();
  test_saved();
  test_late();
  test_none_left();
  test_short_memory();
  test_own_queue();
  return check_finish();
}
