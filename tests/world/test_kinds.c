/* Worlds of several scenes in one call: each gets what a call of its own scene gives, to the bit,
 * steps, gradients and matrices:
 *   test_kinds PRECISION [CONTACT_MODEL] */
#include "play.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS = 3, WORLDS = 29, STEPS = 12 };

static const char *const bodies[KINDS] = {"\"bodies\": [{\"box\": [0.1, 0.08, 0.06]}]",
                                          "\"bodies\": [{\"sphere\": 0.07}]",
                                          "\"bodies\": [{\"capsule\": [0.05, 0.1]}]"};

#define FLOOR "{\"name\": \"floor\", \"bodies\": [{\"plane\": [5, 5]}]}"

typedef struct answers {
  char *q, *v, *gradient, *matrix;
} answers;

typedef struct trial {
  abut_precision precision;
  const char *law;
  play plays[KINDS];
  size_t nq, nv;
  char *q, *v, *cotangent;
  uint32_t kind[WORLDS];
} trial;

static void open_kind(trial *t, abut_context context, int i)
{
  char text[600];
  snprintf(text, sizeof text,
           "{\"contact_model\": \"%s\", \"timestep\": 0.004, \"links\": [" FLOOR
           ", {\"name\": \"body\", \"density\": %d, "
           "\"joint\": {\"type\": \"free\"}, \"position\": [0, 0, 0.1], %s}], "
           "\"pairs\": [{\"a\": \"body\", \"b\": \"floor\"}]}",
           t->law, 300 + 200 * i, bodies[i]);
  play_open_text(&t->plays[i], context, t->precision, text, 1);
}

static answers answers_of(const trial *t, size_t count)
{
  const size_t size = real_size(t->precision), nv = t->nv;
  answers a = {calloc(count * t->nq, size), calloc(count * nv, size), calloc(count * nv, size),
               calloc(count * 4 * nv * nv, size)};
  REQUIRE(a.q && a.v && a.gradient && a.matrix);
  return a;
}

static void answers_free(answers *a)
{
  free(a->q);
  free(a->v);
  free(a->gradient);
  free(a->matrix);
}

/* Steps, a gradient through them, and the matrix of the first one. */
static void ask(abut_scene scene, abut_worlds w, const void *cotangent, answers *a)
{
  w.steps = STEPS;
  w.q_next = a->q;
  w.v_next = a->v;
  CHECK_OK(abut_step_worlds(scene, &w));
  w.q_next = w.v_next = NULL;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = cotangent;
  g.v = a->gradient;
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
  abut_worlds_transition m = abut_default_worlds_transition();
  m.A = a->matrix;
  w.steps = 1;
  CHECK_OK(abut_transition_worlds(scene, &w, &m));
}

static void compare(const trial *t, const answers *all, size_t world, const answers *one)
{
  const size_t size = real_size(t->precision), nv = t->nv;
  check(!memcmp(all->q + world * t->nq * size, one->q, t->nq * size) &&
          !memcmp(all->v + world * nv * size, one->v, nv * size),
        "world %zu moves otherwise than alone", world);
  check(!memcmp(all->gradient + world * nv * size, one->gradient, nv * size) &&
          !memcmp(all->matrix + world * 4 * nv * nv * size, one->matrix, 4 * nv * nv * size),
        "derivatives of world %zu are not those of a call of its scene", world);
}

static void check_together(const trial *t)
{
  const size_t size = real_size(t->precision), nv = t->nv;
  const abut_scene scenes[KINDS] = {t->plays[0].scene, t->plays[1].scene, t->plays[2].scene};
  answers all = answers_of(t, WORLDS), one = answers_of(t, 1);
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = t->q;
  w.v = t->v;
  w.scenes = scenes;
  w.scene_count = KINDS;
  w.scene = t->kind;
  ask(scenes[1], w, t->cotangent, &all);
  CHECK(memcmp(all.q, t->q, WORLDS * t->nq * size)); /* something has moved */
  for (size_t i = 0; i < WORLDS; ++i) {
    abut_worlds alone = abut_default_worlds();
    alone.count = 1;
    alone.q = t->q + i * t->nq * size;
    alone.v = t->v + i * nv * size;
    ask(scenes[t->kind[i]], alone, t->cotangent + i * 2 * nv * size, &one);
    compare(t, &all, i, &one);
  }
  answers_free(&all);
  answers_free(&one);
}

static void check_refusals(const trial *t, abut_context context)
{
  play other;
  play_open_text(&other, context, t->precision,
                 "{\"links\": [" FLOOR ", {\"density\": 100, \"joint\": {\"type\": \"free\"}, "
                 "\"position\": [0, 0, 0.2], \"bodies\": [{\"sphere\": 0.1}]}]}",
                 1);
  abut_scene scenes[2] = {t->plays[0].scene, other.scene};
  uint32_t kind[WORLDS] = {0};
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = t->q;
  w.v = t->v;
  w.scenes = scenes;
  w.scene_count = 2;
  CHECK(abut_step_worlds(scenes[0], &w) == ABUT_ERROR_ARGUMENT); /* which world is of which? */
  w.scene = kind;
  CHECK(abut_step_worlds(scenes[0], &w) == ABUT_ERROR_ARGUMENT); /* without a pair */
  w.scene_count = 1;
  CHECK_OK(abut_step_worlds(scenes[0], &w));
  kind[3] = 1;
  CHECK(abut_step_worlds(scenes[0], &w) == ABUT_ERROR_ARGUMENT); /* beyond the list */
  scenes[0].generation += 5;
  CHECK(abut_step_worlds(t->plays[1].scene, &w) == ABUT_ERROR_HANDLE);
  play_close(&other);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  trial t = {.precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64};
  t.law = argc > 2 ? argv[2] : "cone";
  abut_context context = require_context(t.precision);
  for (int i = 0; i < KINDS; ++i) {
    open_kind(&t, context, i);
  }
  const size_t size = real_size(t.precision);
  t.nq = t.plays[0].info.nq;
  t.nv = t.plays[0].info.nv;
  t.q = calloc(WORLDS * t.nq, size);
  t.v = calloc(WORLDS * t.nv, size);
  t.cotangent = calloc(WORLDS * 2 * t.nv, size);
  REQUIRE(t.q && t.v && t.cotangent && t.nq == 7);
  uint64_t random = 17;
  for (size_t i = 0; i < WORLDS; ++i) {
    t.kind[i] = (uint32_t)((i * i + i / 3) % KINDS);
    for (size_t k = 0; k < t.nq; ++k) {
      real_put(t.q, t.precision, i * t.nq + k,
               k == 2   ? 0.06
               : k == 3 ? 1.0
                        : 0.02 * random_normal(&random));
    }
    for (size_t k = 0; k < t.nv; ++k) {
      real_put(t.v, t.precision, i * t.nv + k, 0.3 * random_normal(&random));
    }
    for (size_t k = 0; k < 2 * t.nv; ++k) {
      real_put(t.cotangent, t.precision, 2 * i * t.nv + k, random_normal(&random));
    }
  }
  check_together(&t);
  check_refusals(&t, context);
  for (int i = 0; i < KINDS; ++i) {
    play_close(&t.plays[i]);
  }
  CHECK_OK(abut_destroy_context(context));
  free(t.q);
  free(t.v);
  free(t.cotangent);
  return check_finish();
}
