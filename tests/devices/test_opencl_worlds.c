/* Worlds in the caller's OpenCL memory are to the bit those of host arrays:
 * test_opencl_worlds PRECISION SCENE
 *
 * On the device of ABUT_TEST_DEVICE; 77 where it is not there. */
#include "opencl_caller.h"

#include "core/scene.h"
#include "world/rollout.h"
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 61, STEPS = 4 };

static const char *path;

static abut_status run_in_place(abut_scene scene, const rollout *r, void *const at[ROLL_ARRAYS])
{
  abut_given_contacts contacts;
  abut_worlds w = rollout_call(r, at, &contacts);
  w.memory = ABUT_MEMORY_OPENCL;
  return abut_step_worlds(scene, &w);
}

static void make_memory(const rollout *r, void *at[ROLL_ARRAYS])
{
  for (int a = 0; a < ROLL_ARRAYS; ++a) {
    const size_t bytes = rollout_bytes(r, a);
    at[a] = bytes ? new_memory(me.context, bytes, r->at[a]) : NULL;
  }
}

static void free_memory(void *const at[ROLL_ARRAYS])
{
  for (int a = 0; a < ROLL_ARRAYS; ++a) {
    if (at[a]) {
      check(is_held_once(at[a]), "array %d is held by others", a);
      clReleaseMemObject(at[a]);
    }
  }
}

static void read_outputs(rollout *r, void *const at[ROLL_ARRAYS])
{
  for (int a = 0; a < ROLL_ARRAYS; ++a) {
    if (at[a]) {
      check_cl(clEnqueueReadBuffer(me.queue, at[a], CL_TRUE, 0, rollout_bytes(r, a), r->at[a], 0,
                                   NULL, NULL),
               "clEnqueueReadBuffer");
    }
  }
}

/* Each array in turn a byte too short. */
static void test_refusals(abut_scene scene, const rollout *r, void *const right[ROLL_ARRAYS])
{
  for (int a = 0; a < ROLL_ARRAYS; ++a) {
    void *at[ROLL_ARRAYS];
    memcpy(at, right, sizeof at);
    if (right[a]) {
      at[a] = new_memory(me.context, rollout_bytes(r, a) - 1, NULL);
      check(run_in_place(scene, r, at) == ABUT_ERROR_ARGUMENT, "array %d too short is taken", a);
      clReleaseMemObject(at[a]);
    }
  }
}

static void test_chunks(uint32_t chunk, roll_given given)
{
  abut_context_def def = def_of(true, chunk);
  abut_context context;
  abut_scene scene;
  rollout host, device;
  void *at[ROLL_ARRAYS];
  rollout_create(&host, WORLDS, STEPS, precision, given);
  rollout_create(&device, WORLDS, STEPS, precision, given);
  make_memory(&device, at);
  REQUIRE_OK(abut_create_context(&def, &context));
  CHECK_OK(rollout_run(context, path, &host));
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  CHECK_OK(run_in_place(scene, &device, at));
  read_outputs(&device, at);
  for (size_t i = 0; i < WORLDS; ++i) {
    rollout_same(&host, i, &device, i);
    check(rollout_moved(&device, i), "world %zu did not move", i);
  }
  if (!chunk) {
    test_refusals(scene, &device, at);
    CHECK_OK(run_in_place(scene, &device, at));
  }
  CHECK_OK(abut_destroy_context(context));
  free_memory(at);
  rollout_free(&host);
  rollout_free(&device);
}

/* On a device that is the library's own. */
static void test_without_queue(void)
{
  abut_context_def def = def_of(false, 0);
  abut_context context;
  abut_scene scene;
  rollout r;
  rollout_create(&r, 2, 1, precision, GIVEN_NOTHING);
  REQUIRE_OK(abut_create_context(&def, &context));
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  CHECK(run_in_place(scene, &r, r.at) == ABUT_ERROR_ARGUMENT);
  CHECK_OK(abut_destroy_context(context));
  rollout_free(&r);
}

int main(int argc, char **argv)
{
  cl_int code = CL_SUCCESS;
  REQUIRE(argc > 2);
  precision = precision_of(argc, argv);
  path = argv[2];
  if (!find_device()) {
    return 77;
  }
  me.context = new_context();
  me.queue = clCreateCommandQueue(me.context, me.device, 0, &code);
  REQUIRE(check_cl(code, "clCreateCommandQueue"));
  const references before = count_references(NULL);
  for (int given = 0; given < 2; ++given) {
    const roll_given what = given ? roll_given_to(path) : GIVEN_NOTHING;
    test_chunks(0, what);
    test_chunks(7, what); /* later ones begin where a device cannot address */
    test_chunks(32, what);
  }
  test_without_queue();
  const references after = count_references(&before);
  check(before.context == after.context && before.queue == after.queue,
        "the context is held %u times, not %u; the queue %u, not %u", after.context, before.context,
        after.queue, before.queue);
  check_cl(clReleaseCommandQueue(me.queue), "clReleaseCommandQueue");
  check_cl(clReleaseContext(me.context), "clReleaseContext");
  return check_finish();
}
