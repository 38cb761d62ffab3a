/* A rollout of the worlds of tests/world/scenes/two-boxes.scene.json, two-boxes-hard.scene.json or
 * two-bricks-spring.scene.json, with all arrays that a call takes and gives, to be compared to the
 * bit with others. */
#ifndef ABUT_TESTS_ROLLOUT_H
#define ABUT_TESTS_ROLLOUT_H

#include "support/check.h"
#include <abut/world.h>

/* Inputs, then outputs; statuses and iterations stay on the host. */
enum {
  ROLL_Q,
  ROLL_V,
  ROLL_W,
  ROLL_U,
  ROLL_MASS_SCALE,
  ROLL_FRICTION,
  ROLL_STIFFNESS,
  ROLL_GRAVITY,
  ROLL_P,
  ROLL_D,
  ROLL_N,
  ROLL_ACTIVITY,
  ROLL_SPRINGS,
  ROLL_Q_NEXT,
  ROLL_V_NEXT,
  ROLL_W_NEXT,
  ROLL_Q_RECORD,
  ROLL_V_RECORD,
  ROLL_MASS,
  ROLL_BIAS,
  ROLL_SMOOTH,
  ROLL_ACCELERATION,
  ROLL_CONSTRAINT,
  ROLL_ARRAYS,
  ROLL_OUTPUTS = ROLL_Q_NEXT
};
enum { ROLL_NQ = 15, ROLL_NV = 13, ROLL_CONTACTS = 3 };

/* What a call gives beside the bodies: contacts in place of theirs, or the springs' numbers. */
typedef enum roll_given { GIVEN_NOTHING, GIVEN_CONTACTS, GIVEN_SPRINGS } roll_given;

/* What is given to worlds of a scene, first nothing, then what it may take. */
roll_given roll_given_to(const char *scene);

typedef struct rollout {
  size_t worlds, steps;
  abut_precision precision;
  roll_given given;
  void *at[ROLL_ARRAYS];
  size_t width[ROLL_ARRAYS]; /* numbers of a world */
  uint32_t *status, *iterations;
} rollout;

/* Boxes in touch, each thrown a little. */
void rollout_create(rollout *r, size_t worlds, size_t steps, abut_precision precision,
                    roll_given given);
void rollout_free(rollout *r);

size_t rollout_bytes(const rollout *r, int array);

/* Of arrays like its own, from host or OpenCL memory; `contacts` is filled where it is given
 * some. */
abut_worlds rollout_call(const rollout *r, void *const at[ROLL_ARRAYS],
                         abut_given_contacts *contacts);

/* All worlds of a scene that is loaded for it. */
abut_status rollout_run(abut_context context, const char *scene, rollout *r);

/* Whether a world's velocities are others at the end. */
bool rollout_moved(const rollout *r, size_t i);

/* World i of a and k of b, what they begin with aside. */
bool rollout_same(const rollout *a, size_t i, const rollout *b, size_t k);

#endif
