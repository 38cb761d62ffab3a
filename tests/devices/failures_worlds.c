/* Worlds that move: a scene is read, and a batch of its worlds rolled out. */
#include "failures.h"

#include "engine/device/context.h"
#include <abut/kinematics.h>
#include <math.h>
#include <string.h>

#define AUTOMATIC ABUT_TEST_SCENES "/automatic-boxes.scene.json"
#define BOXES ABUT_TEST_SCENES "/two-boxes.scene.json"
/* These boxes with a tendon, and with a weld to a moved link. */
#define HELD_BOXES ABUT_TEST_SCENES "/held-boxes.scene.json"
/* Balls, held likewise, whose rows' classes do not depend on rounding, in which devices differ. */
#define HELD_HARD_BALLS ABUT_TEST_SCENES "/held-balls-hard.scene.json"

enum { NQ = 15, NV = 13, NU = 7, STEPS = 3, LINKS = 5, PAIRS = 2 };

typedef struct start {
  double q[POSES * NQ], v[POSES * NV], u[POSES * STEPS * NU], mass_scale[POSES * LINKS];
} start;

/* Bodies in touch, each thrown a little, and a link that is moved a little in each step. Three
 * worlds are none. */
static abut_status start_worlds(abut_scene scene, start *s)
{
  double q[NQ];
  uint64_t seed = 7;
  abut_scene_info info;
  abut_status status = abut_get_scene_info(scene, &info);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  REQUIRE(info.nq == NQ && info.nv == NV && info.nu == NU && info.links == LINKS &&
          info.candidates == PAIRS);
  status = abut_get_scene_start(scene, q);
  for (size_t i = 0; i < POSES; ++i) {
    memcpy(&s->q[i * NQ], q, sizeof q);
    for (size_t k = 0; k < NV; ++k) {
      s->v[i * NV + k] = 0.1 * random_normal(&seed);
    }
    for (size_t k = 0; k < STEPS * NU; ++k) {
      s->u[i * STEPS * NU + k] = (k % NU ? 0.002 : 0.2) * random_normal(&seed);
    }
    for (size_t k = 0; k < LINKS; ++k) {
      s->mass_scale[i * LINKS + k] = 0.8 + 0.4 * random_uniform(&seed);
    }
  }
  s->q[9 * NQ] = (double)NAN;
  memset(&s->q[20 * NQ + 3], 0, 4 * sizeof(double));
  s->v[33 * NV + 2] = 2e6;
  return status;
}

/* A step with contacts in place of the bodies', whose tables live as long as the call. */
static abut_status step_given(abut_scene scene, const start *s, answer *out)
{
  enum { CONTACTS = 3 };
  static const int32_t owner[CONTACTS] = {1, 2, 1}, opposing[CONTACTS] = {0, 1, 0},
                       pair[CONTACTS] = {0, 1, 0};
  static double p[3 * CONTACTS * POSES], d[CONTACTS * POSES], n[3 * CONTACTS * POSES],
    activity[CONTACTS * POSES];
  for (size_t i = 0; i < CONTACTS * POSES; ++i) {
    n[3 * i + 2] = 1.0;
    d[i] = -1e-3 * (double)(i % 4);
    activity[i] = 0.1 * (double)(i % 7);
  }
  const abut_given_contacts contacts = {CONTACTS, owner, opposing, pair, p, d, n, activity};
  abut_worlds w = abut_default_worlds();
  w.count = POSES;
  w.q = s->q;
  w.v = s->v;
  w.contacts = &contacts;
  w.q_next = room(out, POSES * NQ, sizeof(double), 1e-7);
  w.v_next = room(out, POSES * NV, sizeof(double), -1.0);
  w.status = room(out, POSES, sizeof(uint32_t), -1.0);
  const abut_status status = abut_step_worlds(scene, &w);
  out->failures += w.failures;
  return status;
}

static abut_status roll(abut_scene scene, answer *out)
{
  static start s;
  abut_worlds w = abut_default_worlds();
  const abut_status status = start_worlds(scene, &s);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  w.count = POSES;
  w.steps = STEPS;
  w.record = 1;
  w.q = s.q;
  w.v = s.v;
  w.u = s.u;
  w.controls = true;
  w.mass_scale = s.mass_scale;
  w.q_next = room(out, POSES * NQ, sizeof(double), 1e-7);
  w.v_next = room(out, POSES * NV, sizeof(double), -1.0);
  w.w_next = room(out, POSES * NV, sizeof(double), -1.0);
  w.q_record = room(out, POSES * STEPS * NQ, sizeof(double), 1e-7);
  w.v_record = room(out, POSES * STEPS * NV, sizeof(double), -1.0);
  w.status = room(out, POSES, sizeof(uint32_t), -1.0);
  w.iterations = room(out, POSES, sizeof(uint32_t), -1.0);
  w.mass = room(out, POSES * NV * NV, sizeof(double), -1.0);
  w.constraint = room(out, POSES * NV, sizeof(double), -1.0);
  w.link_forces = room(out, POSES * LINKS * 6, sizeof(double), -1.0);
  w.pair_normals = room(out, POSES * PAIRS, sizeof(double), -1.0);
  const abut_status done = abut_step_worlds(scene, &w);
  out->failures = w.failures;
  return done == ABUT_SUCCESS ? step_given(scene, &s, out) : done;
}

/* The gradient of a sum over a rollout, of which states are kept at segments. */
static abut_status go_back(abut_scene scene, answer *out)
{
  static start s;
  static double bars[POSES * 6 * LINKS]; /* of states, 2 NV numbers, too */
  abut_worlds w = abut_default_worlds();
  abut_worlds_gradients g = abut_default_worlds_gradients();
  abut_scene_info info = {.hard = true};
  const abut_status status = start_worlds(scene, &s);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  for (size_t i = 0; i < POSES * 6 * LINKS; ++i) {
    bars[i] = sin((double)i);
  }
  w.count = POSES;
  w.steps = STEPS;
  w.q = s.q;
  w.v = s.v;
  w.u = s.u;
  w.controls = true;
  w.mass_scale = s.mass_scale;
  w.status = room(out, POSES, sizeof(uint32_t), -1.0);
  g.state = bars;
  CHECK_OK(abut_get_scene_info(scene, &info));
  g.link_forces = info.hard ? NULL : bars;
  g.q = room(out, POSES * NV, sizeof(double), -1.0);
  g.v = room(out, POSES * NV, sizeof(double), 1e-6);
  g.u = room(out, POSES * STEPS * NU, sizeof(double), 1e-6);
  g.mass_scale = room(out, POSES * LINKS, sizeof(double), 1e-6);
  g.friction = room(out, POSES * 2, sizeof(double), 1e-6);
  const abut_status done = abut_vjp_worlds(scene, &w, &g);
  out->failures = w.failures;
  return done;
}

abut_status load_boxes(const world *w, abut_scene *out)
{
  return abut_load_scene(w->context, BOXES, out);
}

/* Nothing of a scene is left in its context, whether it was made or not. */
abut_status run_scene(const world *w, answer *out, const char *path,
                      abut_status (*run)(abut_scene scene, answer *out))
{
  const owned *newest = context_get(w->context)->newest;
  abut_scene scene;
  start_answer(out);
  abut_status status = abut_load_scene(w->context, path, &scene);
  if (status == ABUT_SUCCESS) {
    status = run(scene, out);
    CHECK_OK(abut_destroy_scene(scene));
  }
  check(context_get(w->context)->newest == newest, "bodies or pairs of a scene are left");
  return status;
}

abut_status run_worlds(const world *w, answer *out)
{
  return run_scene(w, out, HELD_BOXES, roll);
}

abut_status run_worlds_vjp(const world *w, answer *out)
{
  return run_scene(w, out, HELD_BOXES, go_back);
}

abut_status run_hard_worlds(const world *w, answer *out)
{
  return run_scene(w, out, HELD_HARD_BALLS, roll);
}

abut_status run_hard_worlds_vjp(const world *w, answer *out)
{
  return run_scene(w, out, HELD_HARD_BALLS, go_back);
}

/* Boxes of which some touch; each world has its own. */
enum { POSITIONS = 21, SPEEDS = 18, CANDIDATES = 6 };

static abut_status place_boxes(abut_scene scene, double q[POSES * POSITIONS])
{
  double first[POSITIONS];
  uint64_t seed = 3;
  const abut_status status = abut_get_scene_start(scene, first);
  for (size_t i = 0; status == ABUT_SUCCESS && i < POSES * POSITIONS; ++i) {
    q[i] = first[i % POSITIONS] + (i % 7 < 2 ? 0.05 * random_normal(&seed) : 0.0);
  }
  return status;
}

static abut_status list_world_contacts(abut_scene scene, answer *out)
{
  double q[POSES * POSITIONS];
  abut_items items;
  abut_compact list = {.threshold = 0.05, .grows = true};
  const abut_status status = place_boxes(scene, q);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  uint32_t *pairs = room(out, POSES * CANDIDATES * 3, sizeof(uint32_t), -1.0);
  uint32_t *counts = room(out, POSES, sizeof(uint32_t), -1.0);
  const abut_status done = abut_find_contacts(scene, q, POSES, &items, &list);
  if (done == ABUT_SUCCESS) {
    REQUIRE(items.count && items.count < POSES * CANDIDATES && list.count);
    memcpy(pairs, items.items, 3 * items.count * sizeof *pairs);
    for (size_t i = 0; i < list.count; ++i) {
      ++counts[items.items[3 * list.pose[i]]];
    }
    abut_free_items(&items);
    abut_free_compact(&list);
  }
  check(done == ABUT_SUCCESS || !items.items, "pairs are left after an error");
  return done;
}

abut_status run_world_contacts(const world *w, answer *out)
{
  return run_scene(w, out, AUTOMATIC, list_world_contacts);
}

/* All candidates, and a distance that is the least of two. */
static abut_status measure_worlds(abut_scene scene, answer *out)
{
  enum { DISTANCES = CANDIDATES + 1 };
  static const uint32_t candidates[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 6, 3, 6};
  double q[POSES * POSITIONS], bars[POSES * DISTANCES];
  abut_distances d = abut_default_distances();
  abut_status status = place_boxes(scene, q);
  for (size_t i = 0; i < POSES * DISTANCES; ++i) {
    bars[i] = sin((double)i);
  }
  status = status == ABUT_SUCCESS
             ? abut_find_poses(scene, POSES, q, room(out, POSES * 28, sizeof(double), 1e-12))
             : status;
  if (status != ABUT_SUCCESS) {
    return status;
  }
  d.count = POSES;
  d.q = q;
  d.pairs = DISTANCES;
  d.candidates = candidates;
  d.candidate_count = sizeof candidates / sizeof *candidates / 2;
  d.d = room(out, POSES * DISTANCES, sizeof(double), 1e-9);
  d.gradient = room(out, POSES * DISTANCES * SPEEDS, sizeof(double), 1e-7);
  d.d_bar = bars;
  d.q_gradient = room(out, POSES * SPEEDS, sizeof(double), 1e-7);
  status = abut_find_distances(scene, &d);
  out->failures = d.failures;
  return status;
}

abut_status run_world_distances(const world *w, answer *out)
{
  return run_scene(w, out, AUTOMATIC, measure_worlds);
}
