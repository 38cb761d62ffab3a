/* Shared by self-tests: arrays in the context's precision, and comparison with known results. */
#ifndef ABUT_SELF_TEST_SELF_TEST_H
#define ABUT_SELF_TEST_SELF_TEST_H

#include "base/reals.h"
#include "engine/device/context.h"

/* All arrays are allocated from `room`. */
typedef struct self_test {
  context *one; /* context with only the device */
  reals room;
  size_t used;
} self_test;

/* Expected result: rows, of poses or queries, with slots of several components. */
typedef struct answer {
  const char *name;
  const double *expected;
  size_t slots, components;
  double tolerances[2]; /* by precision */
  bool relative;        /* tolerances are relative to the largest expected number */
} answer;

/* The table of docs/dev/spec.md, section 9; in float32 its line for 99 % of the entries. Errors of
 * PoCL, Intel's CPU runtime and the host path are at most a twentieth of these, in float64 a two
 * hundredth. */
#define OF_P {3e-5, 1e-9}, false
#define OF_D {2e-4, 1e-9}, false
#define OF_N {1e-3, 1e-8}, false
#define OF_ACTIVITY {3e-5, 1e-9}, false
#define OF_WEIGHT {1e-4, 1e-9}, false
#define OF_SLOPES {2e-3, 1e-7}, true

abut_status self_test_open(self_test *t, context *one, size_t numbers);

/* Leaks the numbers if kernels that exceeded the time limit may still use them. */
void self_test_close(self_test *t);

/* Opens a self-test with room for `numbers`, runs it and closes it. */
abut_status self_test_run(context *one, size_t numbers, abut_status (*test)(self_test *));

abut_context self_test_context(const self_test *t);

/* Returns a copy of the next `count` numbers; the first `period` numbers of `from` are repeated. */
void *self_test_put(self_test *t, const double *from, size_t count, size_t period);

/* Returns room for a result. A device that does nothing leaves NaNs there. */
void *self_test_room(self_test *t, size_t count);

/* Returns a number at a place that self_test_put or self_test_room has returned. */
double self_test_number(const self_test *t, const void *array, size_t i);

/* Fails if `rows` rows of a result differ from the expected ones, repeated every `period` rows. */
abut_status self_test_compare(const self_test *t, const answer *a, const void *got, size_t rows,
                              size_t period);

#endif
