/* What devices are asked about worlds: one step of two worlds, repeated so that they fill whole
 * blocks of lanes and begin another. */
#include "modules/modules.h"
#include "modules/question.h"
#include "world/loaded.h"

#include "world/self_test_answers.inl"

#define KNOWN 2
#define WORLDS 19
#define NQ 9
#define NV 8
#define CONTACTS 3
#define ROOM (WORLDS * (2 * NQ + 3 * NV + 1 + 8 * CONTACTS))

static void *put(question *q, const double *from, size_t width)
{
  return question_put(q, from, WORLDS * width, KNOWN * width);
}

static abut_status compare(const question *q, const answer *a, const void *got)
{
  return question_compare(q, a, got, WORLDS, KNOWN);
}

static abut_status step(question *q, abut_scene scene)
{
  static const int32_t owner[] = {0, 2, 0}, opposing[] = {-1, -1, 2}, pair[] = {0, 0, 0};
  static const answer answers[] = {{"positions after a step", next_q, 1, NQ, {2e-5, 1e-9}, true},
                                   {"velocities after a step", next_v, 1, NV, {1e-4, 1e-9}, true},
                                   {"accelerations", accelerations, 1, NV, {2e-3, 1e-8}, true}};
  const abut_given_contacts contacts = {.count = CONTACTS,
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
  w.contacts = &contacts;
  w.q_next = question_ask(q, WORLDS * NQ);
  w.v_next = question_ask(q, WORLDS * NV);
  w.acceleration = question_ask(q, WORLDS * NV);
  TRY(abut_step_worlds(scene, &w));
  TRY(compare(q, &answers[0], w.q_next));
  TRY(compare(q, &answers[1], w.v_next));
  return compare(q, &answers[2], w.acceleration);
}

static abut_status ask(context *one)
{
  question q;
  abut_scene scene;
  TRY(question_open(&q, one, ROOM));
  abut_status status = scene_of_text(question_context(&q), scene_text, &scene);
  if (status == ABUT_SUCCESS) {
    status = step(&q, scene);
    abut_destroy_scene(scene);
  }
  question_close(&q);
  return status;
}

const module_questions world_questions = {{{ask, ask}}};
