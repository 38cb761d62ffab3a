/* Worlds with springs between clouds against golden answers: test_spring_worlds PRECISION ROOT, the
 * folder of these. On the device of ABUT_TEST_DEVICE. */
#include "spring/scenes.h"

enum { NV = 5, NU = 2, STEPS = 200, HOLD_MS = 16 };

static const char *const integrators[] = {"euler", "rk4", "implicit"};
static const int lengths[] = {2, 8, 16};

/* NULL where the case has none. */
static const double *find_reals(const abut_npz *all, const char *integrator, int ms,
                                const char *what)
{
  char name[64];
  snprintf(name, sizeof name, "%s_%d_%s", integrator, ms, what);
  for (size_t i = 0; i < all->count; ++i) {
    if (strcmp(all->arrays[i].name, name) == 0) {
      return all->arrays[i].data;
    }
  }
  return NULL;
}

static size_t count_of(const abut_npz *all, const char *name)
{
  const abut_array *a = find_array(all, name);
  REQUIRE(a != NULL);
  return a->shape[0];
}

/* ---- what a state gives ---- */

static void test_forces(const char *name, const abut_npz *force)
{
  const size_t count = count_of(force, "q");
  abut_worlds w = abut_default_worlds();
  abut_scene scene = scene_of(name, "scene.json", "euler", "0.002");
  void *q = to_reals(reals_of(force, "q"), NV * count, precision);
  void *v = to_reals(reals_of(force, "v"), NV * count, precision);
  void *u = to_reals(reals_of(force, "u"), NU * count, precision);
  const double *lambda = reals_of(force, "force"), *wrench = reals_of(force, "wrench");
  const double *acceleration = reals_of(force, "acceleration");
  w.count = count;
  w.q = q;
  w.v = v;
  w.u = u;
  w.constraint = room(NV * count);
  w.acceleration = room(NV * count);
  w.multipliers = room(3 * count);
  void *a = to_reals(reals_of(force, "a"), NV * count, precision);
  const double *tau = reals_of(force, "tau");
  w.a = a;
  w.inverse = room(NV * count);
  CHECK_OK(abut_step_worlds(scene, &w));
  expect("generalised forces", off(w.constraint, lambda, NV * count) / largest(lambda, NV * count),
         1e-10, 2e-4);
  expect("accelerations",
         off(w.acceleration, acceleration, NV * count) / largest(acceleration, NV * count), 1e-10,
         2e-4);
  expect("forces for accelerations", off(w.inverse, tau, NV * count) / largest(tau, NV * count),
         1e-10, 2e-4);
  double worst = 0.0;
  for (size_t i = 0; i < 3 * count; ++i) {
    worst = fmax(worst, fabs(number(w.multipliers, i) - wrench[i / 3 * 12 + i % 3]));
  }
  expect("forces on the object", worst / largest(wrench, 12 * count), 1e-10, 2e-4);
  abut_destroy_scene(scene);
  free(q);
  free(v);
  free(u);
  free(w.constraint);
  free(w.acceleration);
  free(w.multipliers);
  free(w.inverse);
  free(a);
}

/* ---- steps ---- */

static void test_matrices(abut_scene scene, const abut_npz *step, const char *integrator, int ms,
                          abut_worlds *w)
{
  const double *A = find_reals(step, integrator, ms, "A"),
               *B = find_reals(step, integrator, ms, "B");
  abut_worlds_transition t = abut_default_worlds_transition();
  if (!A) {
    return;
  }
  const size_t count = w->count, a = 4 * NV * NV * count, b = 2 * NV * NU * count;
  t.A = room(a);
  t.B = room(b);
  CHECK_OK(abut_transition_worlds(scene, w, &t));
  expect("  A", off(t.A, A, a) / largest(A, a), 1e-9, 2e-3);
  expect("  B", off(t.B, B, b) / largest(B, b), 1e-9, 2e-3);
  free(t.A);
  free(t.B);
}

/* How far a step goes astray because its state is rounded to float, by the library's own in double:
 * stiff springs make much of that, and nothing that begins from such a state can do better. */
typedef struct astray {
  double q, v;
} astray;

#define STAGES 3.0 /* times that: what happens within a step is rounded, too */

static astray rounded_step(const char *name, const char *integrator, const char *timestep,
                           const abut_worlds *of, const double *by_q, const double *by_v)
{
  const size_t count = of->count;
  const void *const from[] = {of->q, of->v, of->u};
  const size_t widths[] = {NV, NV, NU};
  double *in[3], *q1 = doubles(NV * count), *v1 = doubles(NV * count);
  const abut_context outer = context;
  abut_worlds w = abut_default_worlds();
  astray a;
  precision = ABUT_FLOAT64;
  REQUIRE(test_context(precision, &context));
  abut_scene scene = scene_of(name, "scene.json", integrator, timestep);
  for (int k = 0; k < 3; ++k) {
    in[k] = doubles(widths[k] * count);
    for (size_t i = 0; i < widths[k] * count; ++i) {
      in[k][i] = (double)((const float *)from[k])[i];
    }
  }
  w.count = count;
  w.q = in[0];
  w.v = in[1];
  w.u = in[2];
  w.q_next = q1;
  w.v_next = v1;
  CHECK_OK(abut_step_worlds(scene, &w));
  a.q = off(q1, by_q, NV * count);
  a.v = off(v1, by_v, NV * count);
  CHECK_OK(abut_destroy_context(context));
  context = outer;
  precision = ABUT_FLOAT32;
  for (int k = 0; k < 3; ++k) {
    free(in[k]);
  }
  free(q1);
  free(v1);
  return a;
}

/* Leaves what rounding does by integrator and length. */
static void test_steps(const char *name, const abut_npz *force, const abut_npz *step,
                       astray rounding[9])
{
  const size_t count = count_of(force, "q");
  void *q = to_reals(reals_of(force, "q"), NV * count, precision);
  void *v = to_reals(reals_of(force, "v"), NV * count, precision);
  void *u = to_reals(reals_of(force, "u"), NU * count, precision);
  void *q1 = room(NV * count), *v1 = room(NV * count);
  for (int i = 0; i < 9; ++i) {
    const char *integrator = integrators[i / 3];
    const int ms = lengths[i % 3];
    const double *by_q = find_reals(step, integrator, ms, "q");
    const double *by_v = find_reals(step, integrator, ms, "v");
    char timestep[16], what[64];
    if (!by_q) {
      continue;
    }
    snprintf(timestep, sizeof timestep, "%.3f", ms / 1000.0);
    abut_scene scene = scene_of(name, "scene.json", integrator, timestep);
    abut_worlds w = abut_default_worlds();
    w.count = count;
    w.q = q;
    w.v = v;
    w.u = u;
    w.q_next = q1;
    w.v_next = v1;
    CHECK_OK(abut_step_worlds(scene, &w));
    const astray more = precision == ABUT_FLOAT64
                          ? (astray){0.0, 0.0}
                          : rounded_step(name, integrator, timestep, &w, by_q, by_v);
    rounding[i] = more;
    snprintf(what, sizeof what, "%s, %s of %d ms: q", name, integrator, ms);
    expect(what, off(q1, by_q, NV * count), 1e-12, 1e-6 + STAGES * more.q);
    expect_most(what, q1, by_q, NV * count, 1e-7 + STAGES * more.q);
    expect("  v", off(v1, by_v, NV * count), 1e-12, 1e-5 + STAGES * more.v);
    expect_most("  v", v1, by_v, NV * count, 2e-6 + STAGES * more.v);
    test_matrices(scene, step, integrator, ms, &w);
    abut_destroy_scene(scene);
  }
  free(q);
  free(v);
  free(u);
  free(q1);
  free(v1);
}

/* ---- rollouts ---- */

/* Steps' own controls: a row holds for HOLD_MS. */
static void *controls_of(const double *rows, int ms)
{
  double *all = doubles(STEPS * NU);
  for (int i = 0; i < STEPS * NU; ++i) {
    all[i] = rows[i / NU * ms / HOLD_MS * NU + i % NU];
  }
  void *reals = to_reals(all, STEPS * NU, precision);
  free(all);
  return reals;
}

static void check_gradient(const char *what, const void *got, const double *wanted, size_t count)
{
  expect(what, off(got, wanted, count) / largest(wanted, count), 1e-7, 2e-2);
}

static void test_gradients(abut_scene scene, const abut_npz *all, const char *integrator, int ms,
                           abut_worlds *w)
{
  const double *by_q = find_reals(all, integrator, ms, "q0_bar");
  if (!by_q) {
    return;
  }
  const size_t rows = (size_t)((STEPS * ms + HOLD_MS - 1) / HOLD_MS);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  void *bar = to_reals(reals_of(all, "end_bar"), 2 * NV, precision);
  double held[STEPS * NU] = {0.0};
  g.state = bar;
  g.q = room(NV);
  g.v = room(NV);
  g.u = room(STEPS * NU);
  g.springs = room(6);
  CHECK_OK(abut_vjp_worlds(scene, w, &g));
  for (int i = 0; i < STEPS * NU; ++i) {
    held[i / NU * ms / HOLD_MS * NU + i % NU] += number(g.u, (size_t)i);
  }
  void *sums = to_reals(held, rows * NU, precision);
  check_gradient("  by q", g.q, by_q, NV);
  check_gradient("  by v", g.v, find_reals(all, integrator, ms, "v0_bar"), NV);
  check_gradient("  by controls", sums, find_reals(all, integrator, ms, "controls_bar"), rows * NU);
  /* Numbers of other units are no part of each other's scale. */
  for (size_t i = 0; i < 6; ++i) {
    const double *wanted = find_reals(all, integrator, ms, "parameters_bar") + i;
    check_gradient("  by a parameter", (const char *)g.springs + i * real_size(precision), wanted,
                   1);
  }
  free(bar);
  free(sums);
  free(g.q);
  free(g.v);
  free(g.u);
  free(g.springs);
}

/* Lengths of the step are numbers alone: each integrator with one of them in the usual run and
 * under sanitizers. */
static int every(void)
{
  return usual_share() ? 4 : UNLESS_SANITIZED(1, 4);
}

/* In float the state is rounded at each step, the last one, too. */
static void test_rollouts(const char *name, const abut_npz *all, const astray rounding[9])
{
  void *q = to_reals(reals_of(all, "q0"), NV, precision), *q_all = room(STEPS * NV);
  void *v = to_reals(reals_of(all, "v0"), NV, precision), *v_all = room(STEPS * NV);
  for (int i = 0; i < 9; i += every()) {
    const char *integrator = integrators[i / 3];
    const int ms = lengths[i % 3];
    const double *by_q = find_reals(all, integrator, ms, "q");
    char timestep[16], what[64];
    if (!by_q) {
      continue;
    }
    snprintf(timestep, sizeof timestep, "%.3f", ms / 1000.0);
    abut_scene scene = scene_of(name, "scene.json", integrator, timestep);
    void *u = controls_of(reals_of(all, "controls"), ms);
    abut_worlds w = abut_default_worlds();
    w.count = 1;
    w.q = q;
    w.v = v;
    w.u = u;
    w.controls = true;
    w.steps = STEPS;
    w.record = 1;
    w.q_record = q_all;
    w.v_record = v_all;
    CHECK_OK(abut_step_worlds(scene, &w));
    const double grows = fmax(1.0, find_reals(all, integrator, ms, "amplification")[0]);
    snprintf(what, sizeof what, "%s, %d steps of %s, %d ms: q", name, STEPS, integrator, ms);
    expect(what, off(q_all, by_q + NV, STEPS * NV) / grows, 1e-11, 1e-6);
    expect("  v", off(v_all, find_reals(all, integrator, ms, "v") + NV, STEPS * NV) / grows, 1e-11,
           1e-6 + STAGES * rounding[i].v);
    test_gradients(scene, all, integrator, ms, &w);
    abut_destroy_scene(scene);
    free(u);
  }
  free(q);
  free(v);
  free(q_all);
  free(v_all);
}

static void test_case(const char *name)
{
  abut_npz force, step, rollout;
  astray rounding[9] = {{0.0, 0.0}};
  read_npz(name, "force", &force);
  read_npz(name, "step", &step);
  read_npz(name, "rollout", &rollout);
  test_forces(name, &force);
  test_steps(name, &force, &step, rounding);
  test_rollouts(name, &rollout, rounding);
  abut_free_npz(&force);
  abut_free_npz(&step);
  abut_free_npz(&rollout);
}

/* Worlds of entirely different bodies in one batch, each on its own scene. */
static void test_mixed(void)
{
  enum { WORLDS = 4, MIXED_STEPS = 50 };
  abut_npz all;
  abut_scene scenes[WORLDS];
  uint32_t which[WORLDS];
  read_npz("spring-mixed-batch", "expected", &all);
  for (uint32_t i = 0; i < WORLDS; ++i) {
    char file[32];
    snprintf(file, sizeof file, "scene-%u.json", (unsigned)i);
    scenes[i] = scene_of("spring-mixed-batch", file, NULL, NULL);
    which[i] = i;
  }
  void *q = to_reals(reals_of(&all, "q0"), NV * WORLDS, precision), *v = room(NV * WORLDS);
  void *u = to_reals(reals_of(&all, "controls"), WORLDS * MIXED_STEPS * NU, precision);
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = q;
  w.v = v;
  w.u = u;
  w.controls = true;
  w.steps = MIXED_STEPS;
  w.record = 1;
  w.q_record = room(WORLDS * MIXED_STEPS * NV);
  w.v_record = room(WORLDS * MIXED_STEPS * NV);
  w.scenes = scenes;
  w.scene_count = WORLDS;
  w.scene = which;
  CHECK_OK(abut_step_worlds(scenes[0], &w));
  for (size_t i = 0; i < WORLDS; ++i) {
    char name[16];
    const size_t row = MIXED_STEPS * NV * real_size(precision);
    snprintf(name, sizeof name, "q_%zu", i);
    expect("mixed batch: q",
           off((char *)w.q_record + i * row, reals_of(&all, name) + NV, MIXED_STEPS * NV), 1e-11,
           2e-6);
    snprintf(name, sizeof name, "v_%zu", i);
    expect("  v", off((char *)w.v_record + i * row, reals_of(&all, name) + NV, MIXED_STEPS * NV),
           1e-11, 2e-5);
  }
  for (size_t i = 0; i < WORLDS; ++i) {
    abut_destroy_scene(scenes[i]);
  }
  free(q);
  free(v);
  free(u);
  free(w.q_record);
  free(w.v_record);
  abut_free_npz(&all);
}

/* What a scene states of its springs. */
static void test_numbers(void)
{
  static const double stated[6] = {5000.0, 0.5, 0.1, 0.01, 5e-4, 2e-4};
  double springs[6];
  const abut_scene scene = scene_of("spring-t26-finger", "scene.json", NULL, NULL);
  CHECK(abut_get_scene_springs(scene, NULL) == ABUT_ERROR_ARGUMENT);
  REQUIRE_OK(abut_get_scene_springs(scene, springs));
  for (int i = 0; i < 6; ++i) {
    CHECK(springs[i] == stated[i]);
  }
  CHECK_OK(abut_destroy_scene(scene));
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  root = argv[2];
  context = require_context(precision);
  test_numbers();
  test_mixed();
  test_case("spring-t26-finger");
  test_case("spring-t4k-finger");
  return finish_context(context);
}
