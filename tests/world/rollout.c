#include "rollout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As the scene states it. */
static const double start[ROLL_NQ] = {0, 0, 0.0996, 1, 0, 0, 0, 0.02, 0.01, 0.2792, 1, 0, 0, 0, 0};

static const int32_t owner[ROLL_CONTACTS] = {1, 2, 1}, opposing[ROLL_CONTACTS] = {0, 1, 0},
                     pair[ROLL_CONTACTS] = {0, 1, 0};

/* The middle and the width of an input's numbers, before what is stated of each. */
static const double middle[ROLL_OUTPUTS] = {
  [ROLL_MASS_SCALE] = 1.0, [ROLL_FRICTION] = 0.7, [ROLL_STIFFNESS] = 1.0, [ROLL_ACTIVITY] = 0.5};
static const double usual_springs[] = {5000.0, 0.5, 0.1, 0.01, 5e-4, 2e-4};
static const double around[ROLL_OUTPUTS] = {
  [ROLL_V] = 0.1,        [ROLL_W] = 0.1,         [ROLL_U] = 0.2,       [ROLL_MASS_SCALE] = 0.1,
  [ROLL_FRICTION] = 0.1, [ROLL_STIFFNESS] = 0.1, [ROLL_GRAVITY] = 0.1, [ROLL_P] = 0.1,
  [ROLL_D] = 5e-4,       [ROLL_N] = 0.1,         [ROLL_ACTIVITY] = 0.1};

static double input(int array, size_t k, uint64_t *seed)
{
  double x = middle[array] + around[array] * random_normal(seed);
  x += array == ROLL_Q ? start[k] : 0.0;
  x += array == ROLL_GRAVITY && k == 2 ? -9.81 : 0.0;
  if (array == ROLL_SPRINGS) {
    return usual_springs[k % 6] * exp(0.1 * random_normal(seed));
  }
  return array == ROLL_N && k % 3 == 2 ? 1.0 : x;
}

roll_given roll_given_to(const char *scene)
{
  const char *folder = strrchr(scene, '/');
  return strstr(folder ? folder : scene, "spring") ? GIVEN_SPRINGS : GIVEN_CONTACTS;
}

void rollout_create(rollout *r, size_t worlds, size_t steps, abut_precision precision,
                    roll_given given)
{
  const size_t contacts = given == GIVEN_CONTACTS ? ROLL_CONTACTS : 0;
  const size_t width[ROLL_ARRAYS] = {ROLL_NQ,
                                     ROLL_NV,
                                     ROLL_NV,
                                     steps,
                                     4,
                                     2,
                                     2,
                                     3,
                                     3 * contacts,
                                     contacts,
                                     3 * contacts,
                                     contacts,
                                     given == GIVEN_SPRINGS ? 12 : 0,
                                     ROLL_NQ,
                                     ROLL_NV,
                                     ROLL_NV,
                                     steps * ROLL_NQ,
                                     steps * ROLL_NV,
                                     ROLL_NV * ROLL_NV,
                                     ROLL_NV,
                                     ROLL_NV,
                                     ROLL_NV,
                                     ROLL_NV};
  uint64_t seed = 7;
  *r = (rollout){.worlds = worlds, .steps = steps, .precision = precision, .given = given};
  memcpy(r->width, width, sizeof width);
  for (int a = 0; a < ROLL_ARRAYS; ++a) {
    r->at[a] = calloc(worlds * width[a] + 1, real_size(precision));
    REQUIRE(r->at[a] != NULL);
    for (size_t i = 0; a < ROLL_OUTPUTS && i < worlds * width[a]; ++i) {
      real_put(r->at[a], precision, i, input(a, i % width[a], &seed));
    }
  }
  r->status = calloc(worlds + 1, sizeof *r->status);
  r->iterations = calloc(worlds + 1, sizeof *r->iterations);
  REQUIRE(r->status && r->iterations);
}

void rollout_free(rollout *r)
{
  for (int a = 0; a < ROLL_ARRAYS; ++a) {
    free(r->at[a]);
  }
  free(r->status);
  free(r->iterations);
}

size_t rollout_bytes(const rollout *r, int array)
{
  return r->worlds * r->width[array] * real_size(r->precision);
}

abut_worlds rollout_call(const rollout *r, void *const at[ROLL_ARRAYS],
                         abut_given_contacts *contacts)
{
  abut_worlds w = abut_default_worlds();
  *contacts = (abut_given_contacts){ROLL_CONTACTS, owner,      opposing,   pair,
                                    at[ROLL_P],    at[ROLL_D], at[ROLL_N], at[ROLL_ACTIVITY]};
  w.count = r->worlds;
  w.steps = r->steps;
  w.record = 1;
  w.controls = true;
  w.contacts = r->given == GIVEN_CONTACTS ? contacts : NULL;
  w.springs = r->given == GIVEN_SPRINGS ? at[ROLL_SPRINGS] : NULL;
  w.q = at[ROLL_Q];
  w.v = at[ROLL_V];
  w.w = at[ROLL_W];
  w.u = at[ROLL_U];
  w.mass_scale = at[ROLL_MASS_SCALE];
  w.friction = at[ROLL_FRICTION];
  w.stiffness = at[ROLL_STIFFNESS];
  w.gravity = at[ROLL_GRAVITY];
  w.q_next = at[ROLL_Q_NEXT];
  w.v_next = at[ROLL_V_NEXT];
  w.w_next = at[ROLL_W_NEXT];
  w.q_record = at[ROLL_Q_RECORD];
  w.v_record = at[ROLL_V_RECORD];
  w.mass = at[ROLL_MASS];
  w.bias = at[ROLL_BIAS];
  w.smooth = at[ROLL_SMOOTH];
  w.acceleration = at[ROLL_ACCELERATION];
  w.constraint = at[ROLL_CONSTRAINT];
  w.status = r->status;
  w.iterations = r->iterations;
  return w;
}

abut_status rollout_run(abut_context context, const char *path, rollout *r)
{
  abut_scene scene;
  abut_given_contacts contacts;
  abut_status status = abut_load_scene(context, path, &scene);
  if (status == ABUT_SUCCESS) {
    abut_worlds w = rollout_call(r, r->at, &contacts);
    status = abut_step_worlds(scene, &w);
    CHECK_OK(abut_destroy_scene(scene));
  }
  return status;
}

bool rollout_moved(const rollout *r, size_t i)
{
  const size_t row = r->width[ROLL_V] * real_size(r->precision);
  return memcmp((char *)r->at[ROLL_V] + i * row, (char *)r->at[ROLL_V_NEXT] + i * row, row) != 0;
}

bool rollout_same(const rollout *a, size_t i, const rollout *b, size_t k)
{
  bool same = a->status[i] == b->status[k] && a->iterations[i] == b->iterations[k];
  for (int array = ROLL_OUTPUTS; same && array < ROLL_ARRAYS; ++array) {
    const size_t row = a->width[array] * real_size(a->precision);
    same = check(!memcmp((char *)a->at[array] + i * row, (char *)b->at[array] + k * row, row),
                 "world %zu, array %d differs", i, array);
  }
  return check(same, "world %zu differs, of status %u and %u", i, a->status[i], b->status[k]);
}
