/* The self-tests of the modules of kernels: for each of their programs a call with known answers,
 * which each device must pass before the first use. */
#ifndef ABUT_SELF_TEST_RUNNER_H
#define ABUT_SELF_TEST_RUNNER_H

#include "engine/device/context.h"

/* Runs in a context of one device, and fails with ABUT_ERROR_SELF_TEST, with a text that names the
 * device, where a number is not what it must be. */
typedef abut_status (*module_self_test)(context *one);

/* By PROGRAM_KIND; NULL for a program that the module has no use for. A new module adds its own to
 * the table in runner.c. */
typedef struct module_self_tests {
  module_self_test run[SELF_TEST_PARTS][PROGRAM_KINDS];
} module_self_tests;

extern const module_self_tests manifold_self_tests, witness_self_tests, field_self_tests,
  render_self_tests, world_self_tests, lcp_self_tests, spring_self_tests, closest_self_tests,
  ccd_self_tests, decompose_self_tests, shape_self_tests;

/* Has a member pass, once for each program and part, the module's self-test; a program that none is
 * for is refused. Fails with ABUT_ERROR_SELF_TEST where the answer is wrong; with the device's own
 * error where it cannot answer. Leaves nothing on the device, and of its counters only the builds.
 * For the member's thread. */
abut_status test_member(context *c, size_t place, module_id module, program_id numbers,
                        bool adjoint, self_test_part part);

#endif
