/* What calls of worlds give where little is left of them: no degree of freedom, a mass matrix that
 * is singular for a moment, a contact that cannot move its links; and outputs that a reverse pass
 * must leave alone:
 *
 *   test_edges PRECISION SCENES */
#include "support/check.h"
#include <abut/world.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORLDS = 12, STEPS = 6, ROOM = WORLDS * STEPS * 256 };

typedef struct trial {
  abut_context context;
  abut_precision precision;
} trial;

static void load_text(const trial *t, const char *text, abut_scene *scene)
{
  char path[64];
  snprintf(path, sizeof path, "edges-%ld.scene.json", (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  REQUIRE_OK(abut_load_scene(t->context, path, scene));
  remove(path);
}

static void *room(void)
{
  void *memory = calloc(ROOM, sizeof(double));
  REQUIRE(memory != NULL);
  return memory;
}

/* All worlds as the scene states it. */
static void *start_of(const trial *t, abut_scene scene, const abut_scene_info *info)
{
  double start[64];
  void *q = room();
  REQUIRE(info->nq <= 64);
  REQUIRE_OK(abut_get_scene_start(scene, start));
  for (size_t i = 0; i < WORLDS * info->nq; ++i) {
    real_put(q, t->precision, i, start[i % info->nq]);
  }
  return q;
}

/* ---- a reverse pass beside other outputs ---- */

/* Energies of kept states, and states that are made once more for the way back, are nobody's
 * business but the caller's who asked for them. */
static void check_outputs(const trial *t, const char *scenes)
{
  char path[1024];
  abut_scene scene;
  abut_scene_info info;
  uint32_t iterations[3][WORLDS];
  snprintf(path, sizeof path, "%s/two-boxes.scene.json", scenes);
  REQUIRE_OK(abut_load_scene(t->context, path, &scene));
  REQUIRE_OK(abut_get_scene_info(scene, &info));
  void *q = start_of(t, scene, &info), *v = room(), *bar = room(), *energy = room();
  void *gradient[2] = {room(), room()};
  uint64_t random = 4;
  for (size_t i = 0; i < 2 * WORLDS * info.nv; ++i) {
    real_put(bar, t->precision, i, random_normal(&random));
    real_put(v, t->precision, i, 0.3);
  }
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.steps = STEPS;
  w.record = 2;
  w.q = q;
  w.v = v;
  w.iterations = iterations[0];
  CHECK_OK(abut_step_worlds(scene, &w));
  for (int i = 0; i < 2; ++i) {
    abut_worlds_gradients g = abut_default_worlds_gradients();
    g.state = bar;
    g.q = gradient[i];
    g.segment = i ? 1 : STEPS; /* with 1 all steps but the last are made once more */
    w.energy_record = i ? NULL : energy;
    w.iterations = iterations[1 + i];
    CHECK_OK(abut_vjp_worlds(scene, &w, &g));
    CHECK(!memcmp(iterations[1 + i], iterations[0], sizeof iterations[0]));
  }
  CHECK(!memcmp(gradient[0], gradient[1], WORLDS * info.nv * real_size(t->precision)));
  CHECK(real_at(energy, t->precision, 1) != 0.0 && real_at(gradient[0], t->precision, 0) != 0.0);
  CHECK_OK(abut_destroy_scene(scene));
  free(q);
  free(v);
  free(bar);
  free(energy);
  free(gradient[0]);
  free(gradient[1]);
}

/* ---- nothing that moves ---- */

static void check_still(const trial *t)
{
  abut_scene scene;
  abut_scene_info info;
  uint32_t status[WORLDS];
  void *none = room(), *gravity = room(), *energy = room();
  load_text(t,
            "{\"links\": [{\"mass\": 2, \"com\": [0, 0, 3], \"bodies\": [{\"box\": [1, 1, 1]}]}]}",
            &scene);
  REQUIRE_OK(abut_get_scene_info(scene, &info));
  CHECK_EQUAL(info.nq + info.nv + info.nu, 0);
  memset(status, 7, sizeof status);
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = w.v = w.q_next = w.v_next = w.w_next = w.mass = w.bias = none;
  w.acceleration = w.constraint = none;
  w.energy = energy;
  w.status = status;
  w.steps = 2;
  w.record = 1;
  w.q_record = w.v_record = none;
  CHECK_OK(abut_step_worlds(scene, &w));
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = g.q = g.v = none;
  g.gravity = gravity;
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
  abut_worlds_tangents along = abut_default_worlds_tangents();
  along.q = along.q_next = along.v_next = none;
  CHECK_OK(abut_jvp_worlds(scene, &w, &along));
  abut_worlds_transition m = abut_default_worlds_transition();
  m.A = m.B = m.gravity = none;
  w.steps = 1;
  CHECK_OK(abut_transition_worlds(scene, &w, &m));
  for (size_t i = 0; i < WORLDS; ++i) {
    CHECK_EQUAL(status[i], ABUT_WORLD_OK);
    CHECK(fabs(real_at(energy, t->precision, 2 * i + 1) - 2.0 * 3.0 * 9.81) < 1e-4);
    CHECK(real_at(gravity, t->precision, 3 * i + 2) == 0.0);
  }
  CHECK_OK(abut_destroy_scene(scene));
  free(none);
  free(gravity);
  free(energy);
}

/* ---- singular for a moment ---- */

/* An arm of two links with a point mass at its end, which is stretched for a moment and has no
 * inertia along itself there: each integrator sees it where the step begins. */
static const char arm[] =
  "{\"integrator\": \"%s\", \"gravity\": [0, 0, 0], \"links\": ["
  "{\"joint\": {\"type\": \"hinge\"}},"
  "{\"parent\": 0, \"position\": [1, 0, 0], \"quaternion\": [1, 0, 0, 1], \"mass\": 1,"
  " \"com\": [1, 0, 0], \"joint\": {\"type\": \"hinge\"}}]}";

static void check_singular(const trial *t)
{
  uint32_t status[2][WORLDS];
  size_t singular = 0;
  void *q = room(), *v = room(), *next = room();
  for (size_t i = 0; i < WORLDS; ++i) {
    real_put(q, t->precision, 2 * i, 0.13 * (double)i);
    real_put(q, t->precision, 2 * i + 1, -1.5707963267948966);
    real_put(v, t->precision, 2 * i + 1, 3.0);
  }
  for (int rk4 = 0; rk4 < 2; ++rk4) {
    abut_scene scene;
    char text[sizeof arm + 8];
    snprintf(text, sizeof text, arm, rk4 ? "rk4" : "euler");
    load_text(t, text, &scene);
    abut_worlds w = abut_default_worlds();
    w.count = WORLDS;
    w.q = q;
    w.v = v;
    w.q_next = next;
    w.status = status[rk4];
    CHECK_OK(abut_step_worlds(scene, &w));
    CHECK_OK(abut_destroy_scene(scene));
    for (size_t i = 0; i < WORLDS; ++i) {
      const bool stopped = status[rk4][i] & ABUT_WORLD_SINGULAR;
      const size_t row = 2 * real_size(t->precision);
      CHECK(!stopped || !memcmp((char *)next + i * row, (char *)q + i * row, row));
      singular += stopped;
    }
  }
  for (size_t i = 0; i < WORLDS; ++i) {
    CHECK_EQUAL(status[1][i], status[0][i]);
  }
  CHECK(singular > 0);
  free(q);
  free(v);
  free(next);
}

/* ---- call after call ---- */

/* What a call that went wrong has left on a device does nothing to the next one. */
static void check_left(const trial *t)
{
  void *q = room(), *v = room(), *bad = room(), *along = room(), *got[2] = {room(), room()};
  for (int rk4 = 0; rk4 < 2; ++rk4) {
    abut_scene scene;
    char text[sizeof arm + 8];
    snprintf(text, sizeof text, arm, rk4 ? "rk4" : "euler");
    load_text(t, text, &scene);
    for (size_t i = 0; i < 2 * WORLDS; ++i) {
      real_put(q, t->precision, i, 0.1 * (double)i);
      real_put(v, t->precision, i, 1.0);
      real_put(bad, t->precision, i, NAN);
      real_put(along, t->precision, i, 1.0);
    }
    for (int call = 0; call < 3; ++call) {
      abut_worlds w = abut_default_worlds();
      w.count = WORLDS;
      w.q = call == 1 ? bad : q;
      w.v = v;
      w.steps = 2;
      abut_worlds_tangents a = abut_default_worlds_tangents();
      a.q = a.v = along;
      a.v_next = got[call == 2];
      if (call != 1) {
        CHECK_OK(abut_jvp_worlds(scene, &w, &a));
      } else {
        CHECK_OK(abut_step_worlds(scene, &w));
      }
    }
    CHECK_OK(abut_destroy_scene(scene));
    CHECK(real_at(got[0], t->precision, 1) != 0.0);
    CHECK(!memcmp(got[0], got[1], 2 * WORLDS * real_size(t->precision)));
  }
  free(q);
  free(v);
  free(bad);
  free(along);
  free(got[0]);
  free(got[1]);
}

/* ---- a contact that cannot move its links along its normal ---- */

/* A wheel is pressed exactly towards its axle: neither its inverse weight nor the exact diagonal
 * says anything of the contact. The gradient against central differences of the acceleration. */
static void check_axle(const trial *t)
{
  static const int32_t owner[] = {0}, opposing[] = {-1}, pair[] = {0};
  const double at[3] = {1.0, 0.0, 0.0}, normal[3] = {-1.0, 0.0, 0.0}, usual[2] = {-5e-4, 0.5};
  const double step[2] = {t->precision == ABUT_FLOAT64 ? 1e-8 : 1e-5,
                          t->precision == ABUT_FLOAT64 ? 1e-5 : 1e-2};
  const double limit = t->precision == ABUT_FLOAT64 ? 1e-5 : 3e-2;
  abut_scene scene;
  double p[3], n[3], q[1] = {0.0}, v[1], acceleration[1], bar[1], by[2];
  load_text(t,
            "{\"gravity\": [0, 0, 0], \"links\": [{\"mass\": 1, \"inertia\": "
            "[[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"joint\": {\"type\": \"hinge\"}}],"
            " \"pairs\": [{}]}",
            &scene);
  for (size_t k = 0; k < 3; ++k) {
    real_put(p, t->precision, k, at[k]);
    real_put(n, t->precision, k, normal[k]);
  }
  real_put(v, t->precision, 0, 0.3);
  real_put(bar, t->precision, 0, 1.0);
  for (size_t which = 0; which < 2; ++which) { /* by distance, by activity */
    double of[2], difference = 0.0;
    abut_given_contacts c = {1, owner, opposing, pair, p, &of[0], n, &of[1]};
    abut_worlds w = abut_default_worlds();
    w.count = 1;
    w.q = q;
    w.v = v;
    w.contacts = &c;
    for (int side = -1; side < 2; ++side) {
      real_put(&of[0], t->precision, 0, usual[0] + (which == 0 ? side * step[0] : 0.0));
      real_put(&of[1], t->precision, 0, usual[1] + (which == 1 ? side * step[1] : 0.0));
      w.acceleration = acceleration;
      CHECK_OK(abut_step_worlds(scene, &w));
      difference += side * real_at(acceleration, t->precision, 0) / (2.0 * step[which]);
    }
    real_put(&of[0], t->precision, 0, usual[0]);
    real_put(&of[1], t->precision, 0, usual[1]);
    abut_worlds_gradients g = abut_default_worlds_gradients();
    g.acceleration = bar;
    g.d = &by[0];
    g.activity = &by[1];
    CHECK_OK(abut_vjp_worlds(scene, &w, &g));
    const double got = real_at(&by[which], t->precision, 0);
    check(fabs(difference) > 1.0 && fabs(got - difference) <= limit * fabs(difference),
          "by %s: %g, differences say %g", which ? "activity" : "distance", got, difference);
  }
  CHECK_OK(abut_destroy_scene(scene));
}

/* ---- outputs that overlap ---- */

static void check_refused(abut_status got, const char *one, const char *two)
{
  CHECK_EQUAL(got, ABUT_ERROR_ARGUMENT);
  check(strstr(abut_last_error(), one) && strstr(abut_last_error(), two) &&
          strstr(abut_last_error(), "overlap"),
        "%s and %s: %s", one, two, abut_last_error());
}

/* They are refused, and nothing is written; a state may take its own place as a whole. */
static void check_overlaps(const trial *t, const char *scenes)
{
  const size_t r = real_size(t->precision);
  char path[1024];
  abut_scene scene;
  abut_scene_info info;
  snprintf(path, sizeof path, "%s/two-boxes.scene.json", scenes);
  REQUIRE_OK(abut_load_scene(t->context, path, &scene));
  REQUIRE_OK(abut_get_scene_info(scene, &info));
  void *q = start_of(t, scene, &info), *v = room(), *bar = room(), *next = room();
  void *apart[2] = {room(), room()};
  char *out = room(), *none = room();
  const abut_worlds_gradients empty = abut_default_worlds_gradients();
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.steps = STEPS;
  w.record = 2;
  w.q = q;
  w.v = v;
  w.q_next = out;
  w.v_next = out + (WORLDS * info.nq - 1) * r;
  check_refused(abut_step_worlds(scene, &w), "q_next", "v_next");
  w.v_next = NULL;
  w.q_record = out;
  check_refused(abut_step_worlds(scene, &w), "q_next", "q_record");
  w.q_record = NULL;
  w.status = (uint32_t *)(void *)(out + r);
  check_refused(abut_step_worlds(scene, &w), "q_next", "status");
  w.iterations = w.status + WORLDS - 1;
  w.q_next = NULL;
  check_refused(abut_step_worlds(scene, &w), "status", "iterations");
  w.status = w.iterations = NULL;
  w.link_forces = w.energy = out;
  check_refused(abut_step_worlds(scene, &w), "link_forces", "energy");
  w.link_forces = w.energy = NULL;
  abut_worlds_gradients g = empty;
  g.state = bar;
  g.q = g.v = out;
  check_refused(abut_vjp_worlds(scene, &w, &g), "q gradient", "v gradient");
  abut_worlds_tangents along = abut_default_worlds_tangents();
  along.q = bar;
  along.q_next = out;
  along.v_record = out;
  check_refused(abut_jvp_worlds(scene, &w, &along), "q_next tangent", "v_record tangent");
  abut_worlds_transition m = abut_default_worlds_transition();
  m.A = m.friction = out;
  w.steps = 1;
  w.record = 0;
  check_refused(abut_transition_worlds(scene, &w, &m), "A and", "friction");
  CHECK(!memcmp(out, none, ROOM * sizeof(double)));
  memcpy(next, q, WORLDS * info.nq * r);
  w.q = next;
  w.q_next = (char *)next + r;
  check_refused(abut_step_worlds(scene, &w), "q_next", "overlaps the input q in memory");
  CHECK(!memcmp(next, q, WORLDS * info.nq * r));
  w.q_next = next;
  w.v_next = apart[1];
  CHECK_OK(abut_step_worlds(scene, &w));
  w.q = q;
  w.q_next = apart[0];
  CHECK_OK(abut_step_worlds(scene, &w));
  CHECK(!memcmp(next, apart[0], WORLDS * info.nq * r));
  g.q = apart[0];
  g.v = NULL;
  for (size_t i = 0; i < 2 * WORLDS * info.nv; ++i) {
    real_put(bar, t->precision, i, 1.0);
  }
  w.q_next = w.v_next = NULL;
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
  memcpy(next, q, WORLDS * info.nq * r);
  w.q = w.q_next = next;
  g.q = apart[1];
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
  CHECK(!memcmp(apart[0], apart[1], WORLDS * info.nv * r) && memcmp(next, q, WORLDS * info.nq * r));
  CHECK_OK(abut_destroy_scene(scene));
  void *const all[] = {q, v, bar, next, apart[0], apart[1], out, none};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  trial t = {.precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64};
  t.context = require_context(t.precision);
  check_outputs(&t, argv[2]);
  check_still(&t);
  check_singular(&t);
  check_left(&t);
  check_axle(&t);
  check_overlaps(&t, argv[2]);
  return finish_context(t.context);
}
