/* Worlds that several devices share are the same to the bit as on one, and a world that is none
 * stops alone; so are the pairs that may touch: test_shares_worlds PRECISION SCENE
 * [AUTOMATIC_SCENE]
 *
 * On the device of ABUT_TEST_DEVICE, as test_shares. 77 where it is not there. */
#include "shares.h"
#include "world/rollout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5, WORLDS = 67 };

static const char *scene;

static bool open_context(const variant *v, uint32_t chunk, abut_context *out)
{
  abut_context_def def = abut_default_context_def();
  def.devices = v->choices;
  def.device_count = (uint32_t)v->count;
  def.precision = precision;
  def.chunk = chunk;
  def.fallback = ABUT_FALLBACK_NONE;
  return CHECK_OK(abut_create_context(&def, out));
}

static void run_on(const variant *v, uint32_t chunk, rollout *r)
{
  abut_context context;
  if (open_context(v, chunk, &context)) {
    CHECK_OK(rollout_run(context, scene, r));
    CHECK_OK(abut_destroy_context(context));
  }
}

static void compare(const variant *v, uint32_t chunk, roll_given given, const rollout *whole)
{
  rollout r;
  size_t same = 0;
  rollout_create(&r, WORLDS, STEPS, precision, given);
  run_on(v, chunk, &r);
  for (size_t i = 0; i < WORLDS; ++i) {
    same += rollout_same(whole, i, &r, i);
  }
  check(same == WORLDS, "%s, chunks of %u: %zu of %d worlds are the same", v->name, chunk, same,
        WORLDS);
  rollout_free(&r);
}

static void test_splits(const variant v[VARIANTS], roll_given given)
{
  static const uint32_t chunks[] = {0, 1, 7, 32};
  rollout whole;
  rollout_create(&whole, WORLDS, STEPS, precision, given);
  run_on(&v[WHOLE], 0, &whole);
  for (size_t i = 0; i < WORLDS; ++i) {
    check(!whole.status[i] && rollout_moved(&whole, i),
          "world %zu has status %u after %u iterations", i, whole.status[i], whole.iterations[i]);
  }
  for (int i = WHOLE; i < ALL; ++i) {
    for (size_t k = 0; v[i].count && k < sizeof chunks / sizeof *chunks; ++k) {
      compare(&v[i], chunks[k], given, &whole);
    }
  }
  rollout_free(&whole);
}

/* ---- pairs that may touch ---- */

/* Boxes moved at random, so that some are near each other. */
static void find_on(const variant *v, uint32_t chunk, const char *path, abut_items *out)
{
  abut_context context;
  abut_scene boxes;
  abut_scene_info info;
  uint64_t random = 3;
  REQUIRE(open_context(v, chunk, &context));
  REQUIRE_OK(abut_load_scene(context, path, &boxes));
  REQUIRE_OK(abut_get_scene_info(boxes, &info));
  double *start = calloc(info.nq, sizeof *start);
  void *q = calloc(WORLDS * info.nq, real_size(precision));
  REQUIRE(start && q);
  REQUIRE_OK(abut_get_scene_start(boxes, start));
  for (size_t i = 0; i < WORLDS * info.nq; ++i) {
    real_put(q, precision, i,
             start[i % info.nq] + (i % 7 < 2 ? 0.2 * random_normal(&random) : 0.0));
  }
  REQUIRE_OK(abut_find_items(boxes, q, WORLDS, out));
  CHECK(out->count > WORLDS && out->count < WORLDS * info.candidates);
  free(start);
  free(q);
  CHECK_OK(abut_destroy_scene(boxes));
  CHECK_OK(abut_destroy_context(context));
}

static void test_items(const variant v[VARIANTS], const char *path)
{
  static const uint32_t chunks[] = {0, 1, 32};
  abut_items whole, found;
  find_on(&v[WHOLE], 0, path, &whole);
  for (int i = WHOLE; i < ALL; ++i) {
    for (size_t k = 0; v[i].count && k < sizeof chunks / sizeof *chunks; ++k) {
      find_on(&v[i], chunks[k], path, &found);
      check(found.count == whole.count &&
              !memcmp(found.items, whole.items, 3 * whole.count * sizeof(uint32_t)) &&
              !memcmp(found.candidates, whole.candidates, whole.count * sizeof(uint32_t)),
            "%s, chunks of %u: other pairs", v[i].name, chunks[k]);
      abut_free_items(&found);
    }
  }
  abut_free_items(&whole);
}

/* ---- worlds that stop ---- */

static void spoil(rollout *r, int array, size_t i, size_t k, double value)
{
  real_put(r->at[array], precision, i * r->width[array] + k, value);
}

typedef struct fault {
  int array;
  size_t k;
  double value;
  uint32_t status;
} fault;

static const fault faults[] = {
  {ROLL_Q, 0, NAN, ABUT_WORLD_BAD_INPUT},
  {ROLL_Q, 9, INFINITY, ABUT_WORLD_BAD_INPUT},
  {ROLL_Q, 3, 0.0, ABUT_WORLD_BAD_INPUT}, /* what is left of it is zeros */
  {ROLL_V, 12, NAN, ABUT_WORLD_BAD_INPUT},
  {ROLL_V, 2, 2e6, ABUT_WORLD_DIVERGED},
  {ROLL_U, 0, NAN, ABUT_WORLD_BAD_INPUT},
  {ROLL_U, STEPS - 1, NAN, ABUT_WORLD_BAD_INPUT},
  {ROLL_W, 5, NAN, ABUT_WORLD_BAD_INPUT},
  {ROLL_GRAVITY, 2, -INFINITY, ABUT_WORLD_BAD_INPUT},
  {ROLL_MASS_SCALE, 2, NAN, ABUT_WORLD_BAD_INPUT},
  {ROLL_MASS_SCALE, 1, -1.0, ABUT_WORLD_SINGULAR},
  {ROLL_FRICTION, 1, NAN, ABUT_WORLD_BAD_INPUT},
  {ROLL_STIFFNESS, 0, NAN, ABUT_WORLD_BAD_INPUT},
};
enum { FAULTS = sizeof faults / sizeof *faults };

/* The state of before: that of the beginning, or of the steps until then. */
static void check_kept(const rollout *r, size_t i, const fault *f, const rollout *whole)
{
  const size_t real = real_size(precision), row = ROLL_NQ * real;
  const bool late = f->array == ROLL_U && f->k;
  const char *kept = (const char *)r->at[ROLL_Q_NEXT] + i * row;
  const char *before = late ? (const char *)whole->at[ROLL_Q_RECORD] + (i * STEPS + f->k - 1) * row
                            : (const char *)r->at[ROLL_Q] + i * row;
  check(!memcmp(kept, before, row), "fault %zu: not the last state", (size_t)(f - faults));
}

static void test_stops(const variant *v, uint32_t chunk)
{
  rollout whole, r;
  rollout_create(&whole, WORLDS, STEPS, precision, GIVEN_NOTHING);
  rollout_create(&r, WORLDS, STEPS, precision, GIVEN_NOTHING);
  run_on(v, 0, &whole);
  for (size_t i = 0; i < FAULTS; ++i) {
    const fault *f = &faults[i];
    spoil(&r, f->array, 1 + 3 * i, f->k, f->value);
  }
  run_on(v, chunk, &r);
  for (size_t i = 0; i < WORLDS; ++i) {
    const fault *f = i % 3 == 1 && i / 3 < FAULTS ? &faults[i / 3] : NULL;
    if (f) {
      check((r.status[i] & ~(uint32_t)ABUT_WORLD_NOT_CONVERGED) == f->status,
            "fault %zu: status %u, not %u", i / 3, r.status[i], f->status);
      check_kept(&r, i, f, &whole);
    } else {
      check(rollout_same(&whole, i, &r, i), "world %zu sees its neighbours stop", i);
      check(!r.status[i], "world %zu has status %u", i, r.status[i]);
    }
  }
  rollout_free(&whole);
  rollout_free(&r);
}

int main(int argc, char **argv)
{
  const char *device = getenv("ABUT_TEST_DEVICE");
  variant v[VARIANTS];
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  scene = argv[2];
  if (!find_variants(device && *device ? device : "host", v)) {
    return 77;
  }
  test_splits(v, GIVEN_NOTHING);
  test_splits(v, roll_given_to(scene));
  if (argc > 3) {
    test_items(v, argv[3]);
  }
  test_stops(&v[WHOLE], 0);
  test_stops(&v[WHOLE], 4);
  return check_finish();
}
