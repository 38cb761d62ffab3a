/* Worlds in the arrays of a state: steps from one pair of arrays to another and back, and their
 * gradients, are those of host memory to the bit:
 *   test_states PRECISION SCENE [WORLDS]
 * WORLDS is 37 by default. */
#include "support/check.h"

#include <abut/state.h>
#include <abut/world.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, PLACES = 64 };

static size_t worlds = 37;

/* The state's arrays. */
enum { Q_0, V_0, W_0, Q_1, V_1, W_1, COTANGENT, Q_BAR, V_BAR, ARRAYS };

typedef struct trial {
  abut_precision precision;
  abut_scene scene;
  abut_scene_info info;
  abut_state state;
  void *q, *v, *cotangent;       /* of the start */
  void *next_q, *next_v, *q_bar; /* as host memory gives them */
} trial;

static void *numbers(const trial *t, size_t width, double spread, const double *around)
{
  const size_t size = real_size(t->precision);
  void *to = calloc(worlds * width, size);
  uint64_t random = 11;
  REQUIRE(to);
  for (size_t i = 0; i < worlds * width; ++i) {
    real_put(to, t->precision, i,
             (around ? around[i % width] : 0.0) + spread * random_normal(&random));
  }
  return to;
}

static abut_state_array array_of(const trial *t, uint32_t i)
{
  return (abut_state_array){t->state, i};
}

static void check_array(const trial *t, uint32_t i, size_t width, const void *expected)
{
  const size_t bytes = worlds * width * real_size(t->precision);
  void *got = calloc(1, bytes);
  REQUIRE(got);
  CHECK_OK(abut_read_state(array_of(t, i), 0, worlds, got));
  check(!memcmp(got, expected, bytes), "array %u of the state is not as in host memory", i);
  free(got);
}

static void step_in_host(trial *t)
{
  const size_t size = real_size(t->precision);
  t->next_q = calloc(worlds * t->info.nq, size);
  t->next_v = calloc(worlds * t->info.nv, size);
  t->q_bar = calloc(worlds * t->info.nv, size);
  REQUIRE(t->next_q && t->next_v && t->q_bar);
  abut_worlds w = abut_default_worlds();
  w.count = worlds;
  w.q = t->q;
  w.v = t->v;
  w.steps = STEPS;
  w.q_next = t->next_q;
  w.v_next = t->next_v;
  CHECK_OK(abut_step_worlds(t->scene, &w));
  abut_worlds_gradients g = abut_default_worlds_gradients();
  w.q_next = w.v_next = NULL;
  g.state = t->cotangent;
  g.q = t->q_bar;
  CHECK_OK(abut_vjp_worlds(t->scene, &w, &g));
}

static void step_in_state(const trial *t)
{
  abut_state_array a[ARRAYS];
  for (uint32_t i = 0; i < ARRAYS; ++i) {
    a[i] = array_of(t, i);
  }
  CHECK_OK(abut_write_state(a[Q_0], 0, worlds, t->q));
  CHECK_OK(abut_write_state(a[V_0], 0, worlds, t->v));
  CHECK_OK(abut_write_state(a[COTANGENT], 0, worlds, t->cotangent));
  abut_worlds w = abut_default_worlds();
  w.count = worlds;
  w.memory = ABUT_MEMORY_STATE;
  w.q = &a[Q_0];
  w.v = &a[V_0];
  w.steps = STEPS;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = &a[COTANGENT];
  g.q = &a[Q_BAR];
  g.v = &a[V_BAR];
  CHECK_OK(abut_vjp_worlds(t->scene, &w, &g));
  check_array(t, Q_BAR, t->info.nv, t->q_bar);
  w.steps = 1;
  for (int step = 0; step < STEPS; ++step) {
    const int from = step % 2 ? Q_1 : Q_0, to = step % 2 ? Q_0 : Q_1;
    w.q = &a[from];
    w.v = &a[from + 1];
    w.w = &a[from + 2];
    w.q_next = &a[to];
    w.v_next = &a[to + 1];
    w.w_next = &a[to + 2];
    CHECK_OK(abut_step_worlds(t->scene, &w));
  }
  check_array(t, Q_0, t->info.nq, t->next_q);
  check_array(t, V_0, t->info.nv, t->next_v);
}

static void check_refusals(const trial *t)
{
  abut_state_array q = array_of(t, Q_0), v = array_of(t, V_0), none = array_of(t, ARRAYS);
  abut_state_array other = array_of(t, Q_1);
  abut_worlds w = abut_default_worlds();
  w.memory = ABUT_MEMORY_STATE;
  w.count = worlds;
  w.q = &q;
  w.v = &q; /* of another width */
  w.q_next = &other;
  CHECK(abut_step_worlds(t->scene, &w) == ABUT_ERROR_ARGUMENT);
  w.v = &none;
  CHECK(abut_step_worlds(t->scene, &w) == ABUT_ERROR_ARGUMENT);
  w.v = &v;
  w.q_next = &q; /* read and written */
  CHECK(abut_step_worlds(t->scene, &w) == ABUT_ERROR_ARGUMENT);
  w.q_next = &other;
  w.count = worlds - 1;
  CHECK(abut_step_worlds(t->scene, &w) == ABUT_ERROR_ARGUMENT);
  w.count = worlds;
  CHECK_OK(abut_step_worlds(t->scene, &w));
  abut_state gone = t->state;
  gone.generation += 7;
  q.state = gone;
  CHECK(abut_step_worlds(t->scene, &w) == ABUT_ERROR_HANDLE);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  trial t = {.precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64};
  double start[PLACES];
  worlds = argc > 3 ? (size_t)atoi(argv[3]) : worlds;
  abut_context context = require_context(t.precision);
  REQUIRE_OK(abut_load_scene(context, argv[2], &t.scene));
  REQUIRE_OK(abut_get_scene_info(t.scene, &t.info));
  REQUIRE(t.info.nq <= PLACES);
  REQUIRE_OK(abut_get_scene_start(t.scene, start));
  const size_t nq = t.info.nq, nv = t.info.nv;
  const size_t widths[ARRAYS] = {nq, nv, nv, nq, nv, nv, 2 * nv, nv, nv};
  REQUIRE_OK(abut_create_state(context, worlds, widths, ARRAYS, NULL, &t.state));
  t.q = numbers(&t, nq, 0.0, start);
  t.v = numbers(&t, nv, 0.2, NULL);
  t.cotangent = numbers(&t, 2 * nv, 1.0, NULL);
  step_in_host(&t);
  step_in_state(&t);
  check_refusals(&t);
  CHECK_OK(abut_destroy_state(t.state));
  CHECK_OK(abut_destroy_scene(t.scene));
  CHECK_OK(abut_destroy_context(context));
  void *const all[] = {t.q, t.v, t.cotangent, t.next_q, t.next_v, t.q_bar};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
  return check_finish();
}
