/* The self-tests of the kernel modules: for each program, a call with known results that each
 * device must reproduce before the first use. */
#ifndef ABUT_SELF_TEST_RUNNER_H
#define ABUT_SELF_TEST_RUNNER_H

#include "engine/device/context.h"

/* Runs in a context of one device. Fails with ABUT_ERROR_SELF_TEST and a text that names the device
 * if a number is wrong. */
typedef abut_status (*module_self_test)(context *one);

/* By PROGRAM_KIND; NULL for a program that the module does not use. A new module adds its own to
 * the table in runner.c. */
typedef struct module_self_tests {
  module_self_test run[SELF_TEST_PARTS][PROGRAM_KINDS];
} module_self_tests;

extern const module_self_tests manifold_self_tests, witness_self_tests, field_self_tests,
  render_self_tests, world_self_tests, lcp_self_tests, spring_self_tests, closest_self_tests,
  ccd_self_tests, decompose_self_tests, shape_self_tests;

/* Runs the module's self-test on a member, once for each program and part. A program without a
 * self-test is refused. Fails with ABUT_ERROR_SELF_TEST if the result is wrong, or with the
 * device's own error if it cannot compute it. Leaves nothing on the device, and only the builds in
 * its counters. Called on the member's thread. */
abut_status test_member(context *c, size_t place, module_id module, program_id numbers,
                        bool adjoint, self_test_part part);

#endif
