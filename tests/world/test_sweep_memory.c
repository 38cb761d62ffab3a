/* Each allocation of a scene that sweeps, and of its worlds' first step and of that step's
 * gradient, fails once: an error, no crash, nothing left behind. */
#include "support.h"
#include "support/allocations.h"
#include "world/loaded.h"
#include "world/sweep.h"
#include <abut/world.h>

#include <string.h>

static abut_context home;

/* Two boxes that share a mesh, a wall, and a plane. */
static const char scene[] =
  "{\"contact_model\": \"%s\", \"sweep\": true, \"timestep\": 0.01, \"gravity\": [0, 0, 0], "
  "\"links\": [{\"bodies\": "
  "[{\"box\": [0.005, 1, 1]}, {\"plane\": [3, 3]}]}, {\"position\": [-0.3, 0, 0.5], \"joint\": "
  "{\"type\": \"free\"}, "
  "\"density\": 500, \"bodies\": [{\"box\": [0.01, 0.01, 0.01]}]}, {\"position\": [-0.4, 0, 0.5], "
  "\"joint\": {\"type\": "
  "\"free\"}, \"density\": 500, \"bodies\": [{\"box\": [0.01, 0.01, 0.01]}]}], \"pairs\": [{\"a\": "
  "1, \"b\": 0}, "
  "{\"a\": 2, \"b\": 0}, {\"a\": 1, \"b\": 2}, {\"a\": 1, \"b\": [0, 1]}]}";

static abut_status load(const char *law, abut_scene *out)
{
  char text[2048];
  snprintf(text, sizeof text, scene, law);
  return scene_of_text(home, text, out);
}

static abut_status step(abut_scene s, double q[14], bool back)
{
  double v[12] = {50.0, 0, 0, 0, 0, 0, 50.0, 0, 0, 0, 0, 0}, next_v[12], bars[24] = {1.0}, by_v[12];
  uint32_t status = 0;
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = w.q_next = q;
  w.v = v;
  w.v_next = next_v;
  w.status = &status;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = bars;
  g.v = by_v;
  const abut_status done = back ? abut_vjp_worlds(s, &w, &g) : abut_step_worlds(s, &w);
  CHECK(done != ABUT_SUCCESS || (status & ABUT_WORLD_SWEPT));
  return done;
}

static void each_allocation_of_steps(const char *law, bool back)
{
  long allowed = 0;
  abut_status status;
  abut_scene s = {0, 0};
  double q[14];
  do {
    REQUIRE_OK(load(law, &s));
    REQUIRE_OK(abut_get_scene_start(s, q));
    allocations_fail_after(allowed);
    allowed += allowed < 100 ? 1 : 7;
    status = step(s, q, back);
    const bool failed = allocations_end();
    CHECK(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY);
    status = failed ? ABUT_ERROR_MEMORY : status;
    CHECK_OK(abut_destroy_scene(s));
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 50);
}

static void each_allocation(const char *law)
{
  long allowed = 0;
  abut_status status;
  abut_scene s = {0, 0};
  REQUIRE_OK(load(law, &s));
  const loaded_scene *there = scene_get(s);
  CHECK(there->meshes[1].generation);
  CHECK(there->meshes[2].generation && !there->meshes[3].generation); /* boxes alike have one */
  CHECK_OK(abut_destroy_scene(s));
  const long before = allocations_held();
  do {
    allocations_fail_after(allowed++);
    status = load(law, &s);
    allocations_end();
    require(CHECK(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY));
    if (status == ABUT_SUCCESS) {
      CHECK_OK(abut_destroy_scene(s));
    }
    CHECK_EQUAL(allocations_held(), before);
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 100);
}

int main(void)
{
  abut_context_def def = abut_default_context_def();
  REQUIRE_OK(abut_find_device("host", &def.device));
  def.precision = ABUT_FLOAT64;
  REQUIRE_OK(abut_create_context(&def, &home));
  abut_scene s;
  double q[14];
  REQUIRE_OK(load("cone", &s)); /* self-tests, which keep things */
  REQUIRE_OK(abut_get_scene_start(s, q));
  CHECK_OK(step(s, q, false));
  REQUIRE_OK(abut_get_scene_start(s, q));
  CHECK_OK(step(s, q, true));
  CHECK_OK(abut_destroy_scene(s));
  each_allocation("cone");
  each_allocation("spring");
  each_allocation_of_steps("cone", false);
  each_allocation_of_steps("cone", true);
  each_allocation_of_steps("spring", false);
  each_allocation_of_steps("spring", true);
  return finish_context(home);
}
