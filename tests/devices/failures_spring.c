/* Springs between two octahedra, near touch, and their gradients; worlds of bricks with springs. */
#include "failures.h"

#include <abut/spring.h>
#include <math.h>
#include <string.h>

enum { FACES = 8, PAIRS = 37 };

static abut_status octahedron(double size, abut_cloud *out)
{
  static const uint32_t sizes[FACES] = {3, 3, 3, 3, 3, 3, 3, 3};
  static const uint32_t corners[3 * FACES] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4,
                                              2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
  double vertices[18] = {0};
  for (size_t i = 0; i < 6; ++i) {
    vertices[3 * i + i / 2] = i % 2 ? -size : size;
  }
  return abut_make_cloud(6, vertices, FACES, sizes, corners, 0.0, true, out);
}

typedef struct start {
  double pose1[7 * PAIRS], pose2[7 * PAIRS], twist1[6 * PAIRS], bar[6 * PAIRS];
} start;

static void fill(start *s)
{
  memset(s, 0, sizeof *s);
  for (size_t i = 0; i < PAIRS; ++i) {
    s->pose1[7 * i + 3] = s->pose2[7 * i + 3] = 1.0;
    s->pose1[7 * i + 4] = sin((double)i);
    s->pose2[7 * i] = 0.13 + 0.02 * cos(3.0 * (double)i);
    s->pose2[7 * i + 6] = cos((double)(i * i));
    for (size_t k = 6 * i; k < 6 * i + 6; ++k) {
      s->twist1[k] = 0.1 * sin(1.0 + (double)(k * k));
      s->bar[k] = cos(2.0 + (double)k);
    }
  }
}

static abut_status run(const world *w, const abut_cloud *clouds, answer *out)
{
  static start s;
  abut_spring p = abut_default_spring();
  abut_spring_gradients g = abut_default_spring_gradients();
  fill(&s);
  p.clouds = clouds;
  p.cloud_count = 2;
  p.count = PAIRS;
  p.pose1 = s.pose1;
  p.pose2 = s.pose2;
  p.twist1 = s.twist1;
  p.eps2 = 5e-3;
  p.eps3 = 2e-3;
  p.wrench1 = room(out, 6 * PAIRS, sizeof(double), 1e-9);
  p.distance = room(out, PAIRS, sizeof(double), 1e-12);
  p.width = 2 * FACES;
  p.weights = room(out, 2 * FACES * PAIRS, sizeof(double), 1e-10);
  g.wrench1 = s.bar;
  g.pose2 = room(out, 7 * PAIRS, sizeof(double), 1e-7);
  g.parameters = room(out, 6 * PAIRS, sizeof(double), 1e-7);
  const abut_status status = abut_spring_vjp(w->context, &p, &g);
  out->failures = p.failures;
  return status;
}

abut_status run_spring(const world *w, answer *out)
{
  abut_cloud clouds[2] = {0};
  start_answer(out);
  abut_status status = octahedron(0.1, &clouds[0]);
  if (status == ABUT_SUCCESS) {
    status = octahedron(0.07, &clouds[1]);
  }
  if (status == ABUT_SUCCESS) {
    status = run(w, clouds, out);
  }
  abut_free_cloud(&clouds[0]);
  abut_free_cloud(&clouds[1]);
  return status;
}

/* ---- worlds ---- */

#define BRICK ABUT_TEST_SCENES "/brick-on-slides-spring.scene.json"

enum { NQ = 3, STEPS = 2, SCENE_PAIRS = 2, LAW = 6 };

typedef struct world_start {
  double q[POSES * NQ], v[POSES * NQ], u[POSES], springs[POSES * SCENE_PAIRS * LAW];
} world_start;

/* Bricks in touch; two worlds are none, and one diverges. */
static abut_worlds start_worlds(world_start *s, answer *out)
{
  static const double usual[LAW] = {5000.0, 0.5, 0.1, 0.01, 5e-4, 2e-4};
  uint64_t seed = 7;
  memset(s, 0, sizeof *s);
  for (size_t i = 0; i < POSES * NQ; ++i) {
    s->q[i] = i % NQ ? 2e-4 * random_normal(&seed) : 0.05 * random_normal(&seed);
    s->v[i] = 0.1 * random_normal(&seed);
  }
  for (size_t i = 0; i < POSES * SCENE_PAIRS * LAW; ++i) {
    s->springs[i] = usual[i % LAW] * (0.9 + 0.2 * random_uniform(&seed));
  }
  s->q[9 * NQ] = (double)NAN;
  s->v[33 * NQ + 1] = 2e6;
  s->springs[20 * SCENE_PAIRS * LAW + 3] = (double)NAN;
  abut_worlds w = abut_default_worlds();
  w.count = POSES;
  w.q = s->q;
  w.v = s->v;
  w.u = s->u;
  w.springs = s->springs;
  w.steps = STEPS;
  w.status = room(out, POSES, sizeof(uint32_t), -1.0);
  return w;
}

static abut_status roll_springs(abut_scene scene, answer *out)
{
  static world_start s;
  abut_worlds w = start_worlds(&s, out);
  w.record = 1;
  w.q_next = room(out, POSES * NQ, sizeof(double), 1e-9);
  w.v_next = room(out, POSES * NQ, sizeof(double), 1e-7);
  w.v_record = room(out, POSES * STEPS * NQ, sizeof(double), 1e-7);
  w.multipliers = room(out, POSES * 3 * SCENE_PAIRS, sizeof(double), 1e-6);
  w.mass = room(out, POSES * NQ * NQ, sizeof(double), 1e-12);
  const abut_status status = abut_step_worlds(scene, &w);
  out->failures = w.failures;
  return status;
}

static abut_status go_back_springs(abut_scene scene, answer *out)
{
  static world_start s;
  static double bars[POSES * 2 * NQ];
  abut_worlds w = start_worlds(&s, out);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  for (size_t i = 0; i < POSES * 2 * NQ; ++i) {
    bars[i] = sin((double)i);
  }
  g.state = bars;
  g.q = room(out, POSES * NQ, sizeof(double), -1.0);
  g.v = room(out, POSES * NQ, sizeof(double), 1e-6);
  g.u = room(out, POSES, sizeof(double), 1e-9);
  g.springs = room(out, POSES * SCENE_PAIRS * LAW, sizeof(double), -1.0);
  const abut_status status = abut_vjp_worlds(scene, &w, &g);
  out->failures = w.failures;
  return status;
}

abut_status run_spring_worlds(const world *w, answer *out)
{
  return run_scene(w, out, BRICK, roll_springs);
}

abut_status run_spring_worlds_vjp(const world *w, answer *out)
{
  return run_scene(w, out, BRICK, go_back_springs);
}
