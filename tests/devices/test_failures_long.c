/* Calls of many steps: what a device holds of them does not grow with the steps, and its time-out
 * is for a part of them. */
#include "failures.h"

#include "base/clock.h"
#include "shim.h"

enum { NQ = 15, NV = 13, STEPS = 300, WORLDS = 96 };

#define HELD_MOST 1024 /* launches that nobody has waited for; a step is dozens */

typedef enum kind { KIND_STEPS, KIND_VJP, KIND_JVP, KINDS } kind;

static const char *const names[KINDS] = {"steps", "a VJP", "a JVP"};

static abut_status run(abut_scene scene, kind of, size_t worlds, size_t steps)
{
  static double q[WORLDS * NQ], v[WORLDS * NV], bars[WORLDS * 2 * NV], along[WORLDS * NV],
    out[WORLDS * NV];
  abut_worlds w = abut_default_worlds();
  abut_worlds_gradients g = abut_default_worlds_gradients();
  abut_worlds_tangents t = abut_default_worlds_tangents();
  for (size_t i = 0; i < worlds; ++i) {
    REQUIRE_OK(abut_get_scene_start(scene, q + i * NQ));
  }
  w.count = worlds;
  w.steps = steps;
  w.q = q;
  w.v = v;
  g.state = bars;
  g.v = out;
  t.v = along;
  t.v_next = out;
  bars[0] = along[0] = 1.0;
  return of == KIND_STEPS ? abut_step_worlds(scene, &w)
         : of == KIND_VJP ? abut_vjp_worlds(scene, &w, &g)
                          : abut_jvp_worlds(scene, &w, &t);
}

static uint64_t launches(const world *w)
{
  abut_counters c;
  REQUIRE_OK(abut_get_counters(w->context, &c));
  return c.launches;
}

/* With a device that has passed its self-tests. */
static void open_scene(const setting *s, kind of, world *w, abut_scene *scene)
{
  REQUIRE_OK(create_context(s, w));
  REQUIRE_OK(load_boxes(w, scene));
  check_ok(run(*scene, of, WORLDS, 2), names[of]);
}

/* PoCL compiles at a first launch: not where time counts. */
static void compile(const setting *s, kind of)
{
  world w;
  abut_scene scene;
  open_scene(s, of, &w, &scene);
  CHECK_OK(abut_destroy_context(w.context));
}

static void hang(setting s, kind of)
{
  world w;
  abut_scene scene;
  s.timeout = 1.0;
  open_scene(&s, of, &w, &scene);
  const uint64_t before = launches(&w);
  shim_hang_launch(1, SHIM_HANG_QUEUE);
  const abut_status status = run(scene, of, 1, STEPS);
  check(status == ABUT_ERROR_TIMEOUT, "%s: %d, not a time-out", names[of], status);
  const uint64_t held = launches(&w) - before;
  check(held > 128 && held < HELD_MOST, "%s: a device that hangs holds %llu launches", names[of],
        (unsigned long long)held);
  CHECK_OK(abut_destroy_context(w.context));
  check(shim_end_hang(CL_COMPLETE), "%s: nothing hung", names[of]);
}

/* As many steps as take several times as long as the device may, which has more to do with them
 * than the host with sending them off. */
static void take_long(setting s, kind of)
{
  world w;
  abut_scene scene;
  double seconds = 0.0;
  s.timeout = 0.5;
  open_scene(&s, of, &w, &scene);
  for (size_t steps = 100; seconds < 4.0 * s.timeout; steps *= 2) {
    const double begin = now();
    if (!check_ok(run(scene, of, WORLDS, steps), names[of])) {
      break;
    }
    seconds = now() - begin;
  }
  CHECK_OK(abut_destroy_context(w.context));
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
  s.fallback = ABUT_FALLBACK_NONE;
  s.chunk = WORLDS;
  for (int of = 0; of < KINDS; ++of) {
    compile(&s, (kind)of);
    take_long(s, (kind)of);
    hang(s, (kind)of);
  }
  shim_forget_live(); /* what was left behind with the devices */
  return check_finish();
}
