/* What self-tests share: arrays in the context's precision, and answers against what is known. */
#ifndef ABUT_SELF_TEST_SELF_TEST_H
#define ABUT_SELF_TEST_SELF_TEST_H

#include "base/reals.h"
#include "engine/device/context.h"

/* Everything is taken from one array. */
typedef struct self_test {
  context *one; /* of the device alone */
  reals room;
  size_t used;
} self_test;

/* What must come back: rows, of poses or queries, of some slots with some components. */
typedef struct answer {
  const char *name;
  const double *expected;
  size_t slots, components;
  double tolerances[2]; /* by precision */
  bool relative;        /* these are parts of the largest number expected */
} answer;

/* The table of docs/dev/spec.md, section 9, in float32 its line for 99 % of the entries. PoCL,
 * Intel's CPU runtime and the host path keep to a twentieth of that, in float64 to a two
 * hundredth. */
#define OF_P {3e-5, 1e-9}, false
#define OF_D {2e-4, 1e-9}, false
#define OF_N {1e-3, 1e-8}, false
#define OF_ACTIVITY {3e-5, 1e-9}, false
#define OF_WEIGHT {1e-4, 1e-9}, false
#define OF_SLOPES {2e-3, 1e-7}, true

abut_status self_test_open(self_test *t, context *one, size_t numbers);

/* Leaves the numbers where kernels that have not ended in time may still use them. */
void self_test_close(self_test *t);

/* Opens a self-test with room for `numbers`, runs it and closes it. */
abut_status self_test_run(context *one, size_t numbers, abut_status (*test)(self_test *));

abut_context self_test_context(const self_test *t);

/* The next `count` numbers, from an array whose first `period` are repeated. */
void *self_test_put(self_test *t, const double *from, size_t count, size_t period);

/* Room for an answer, which a device that does nothing leaves without numbers. */
void *self_test_room(self_test *t, size_t count);

/* What lies at a place that self_test_put or self_test_room has given. */
double self_test_number(const self_test *t, const void *array, size_t i);

/* Fails where `rows` rows of an answer are not as expected, where they are repeated after
 * `period` rows. */
abut_status self_test_compare(const self_test *t, const answer *a, const void *got, size_t rows,
                              size_t period);

#endif
