/* What devices are asked about worlds: one step of two worlds, repeated so that they fill whole
 * blocks of lanes and begin another; and a step of a large one. */
#include "modules/modules.h"
#include "modules/question.h"
#include "world/loaded.h"

#include <stdio.h>

#include "world/self_test_answers.inl"

#define KNOWN 2
#define WORLDS 19
#define NQ 9
#define NV 8
#define CONTACTS 3
#define ROOM (WORLDS * (2 * NQ + 5 * NV + 2 + 8 * CONTACTS))

static void *put(question *q, const double *from, size_t width)
{
  return question_put(q, from, WORLDS * width, KNOWN * width);
}

static abut_status compare(const question *q, const answer *a, const void *got)
{
  return question_compare(q, a, got, WORLDS, KNOWN);
}

/* The arrays of both questions; the caller's struct holds the contacts. */
static abut_worlds known_worlds(question *q, abut_given_contacts *contacts)
{
  static const int32_t owner[] = {0, 2, 0}, opposing[] = {-1, -1, 2}, pair[] = {0, 0, 0};
  *contacts = (abut_given_contacts){.count = CONTACTS,
                                    .owner = owner,
                                    .opposing = opposing,
                                    .pair = pair,
                                    .p = put(q, points, 3 * CONTACTS),
                                    .d = put(q, distances, CONTACTS),
                                    .n = put(q, normals, 3 * CONTACTS),
                                    .activity = put(q, activities, CONTACTS)};
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = put(q, start_q, NQ);
  w.v = put(q, start_v, NV);
  w.u = put(q, controls, 1);
  w.contacts = contacts;
  return w;
}

static abut_status step(question *q, abut_scene scene)
{
  static const answer answers[] = {{"positions after a step", next_q, 1, NQ, {2e-5, 1e-9}, true},
                                   {"velocities after a step", next_v, 1, NV, {1e-4, 1e-9}, true},
                                   {"accelerations", accelerations, 1, NV, {2e-3, 1e-8}, true}};
  abut_given_contacts contacts;
  abut_worlds w = known_worlds(q, &contacts);
  w.q_next = question_ask(q, WORLDS * NQ);
  w.v_next = question_ask(q, WORLDS * NV);
  w.acceleration = question_ask(q, WORLDS * NV);
  TRY(abut_step_worlds(scene, &w));
  TRY(compare(q, &answers[0], w.q_next));
  TRY(compare(q, &answers[1], w.v_next));
  return compare(q, &answers[2], w.acceleration);
}

static abut_status step_back(question *q, abut_scene scene)
{
  static const answer answers[] = {
    {"gradients by positions", q_gradients, 1, NV, {1e-2, 1e-7}, true},
    {"gradients by velocities", v_gradients, 1, NV, {1e-2, 1e-7}, true},
    {"gradients by controls", control_gradients, 1, 1, {1e-2, 1e-7}, true}};
  abut_given_contacts contacts;
  abut_worlds w = known_worlds(q, &contacts);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = put(q, cotangents, 2 * NV);
  g.q = question_ask(q, WORLDS * NV);
  g.v = question_ask(q, WORLDS * NV);
  g.u = question_ask(q, WORLDS);
  TRY(abut_vjp_worlds(scene, &w, &g));
  TRY(compare(q, &answers[0], g.q));
  TRY(compare(q, &answers[1], g.v));
  return compare(q, &answers[2], g.u);
}

/* ---- long loops ---- */

/* As many slides as a scene may have, which begin to fall side by side against friction: the loops
 * of the solver's work-item take some 1.4e5 rounds. Mesa's llvmpipe (22.3) gives all loops of a
 * kernel together 65535, leaves each after one round from then on, and what follows may never run;
 * contacts bring scenes of a dozen degrees of freedom to that. */
#define SLIDES SCENE_DOFS_MOST
#define SLIDE_TEXT                                                            \
  "{\"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"joint\": " \
  "{\"type\": \"slide\", \"axis\": [0, 0, 1], \"frictionloss\": 20}}"
#define SLIDES_TEXT "{\"timestep\": 0.01, \"gravity\": [0, 0, -10], \"links\": ["

static void write_slides(char *to, size_t bytes)
{
  size_t at = (size_t)snprintf(to, bytes, "%s%s", SLIDES_TEXT, SLIDE_TEXT);
  for (int i = 1; i < SLIDES; ++i) {
    at += (size_t)snprintf(to + at, bytes - at, ", %s", SLIDE_TEXT);
  }
  snprintf(to + at, bytes - at, "]}");
}

/* Friction of d(0) = 0.9 leaves a tenth of gravity; docs/dynamics.md, section 8. */
static abut_status fall(question *q, abut_scene scene)
{
  static const double still[] = {0.0}, expected[] = {-0.01};
  const answer velocity = {"velocities of many links", expected, 1, 1, {1e-4, 1e-9}, true};
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = question_put(q, still, SLIDES, 1);
  w.v = question_put(q, still, SLIDES, 1);
  w.v_next = question_ask(q, SLIDES);
  TRY(abut_step_worlds(scene, &w));
  return question_compare(q, &velocity, w.v_next, SLIDES, 1);
}

static abut_status ask_of(context *one, const char *text,
                          abut_status (*of_scene)(question *, abut_scene))
{
  question q;
  abut_scene scene;
  TRY(question_open(&q, one, ROOM));
  abut_status status = scene_of_text(question_context(&q), text, &scene);
  if (status == ABUT_SUCCESS) {
    status = of_scene(&q, scene);
    abut_destroy_scene(scene);
  }
  question_close(&q);
  return status;
}

static abut_status ask(context *one)
{
  char slides[sizeof SLIDES_TEXT + SLIDES * sizeof SLIDE_TEXT + 2 * SLIDES];
  TRY(ask_of(one, scene_text, step));
  write_slides(slides, sizeof slides);
  return ask_of(one, slides, fall);
}

static abut_status ask_back(context *one)
{
  return ask_of(one, scene_text, step_back);
}

const module_questions world_questions = {{{ask, ask_back}}};
