/* The modules of kernels, as far as the host must know them: a question with known answers for each
 * of their programs, asked to each device before the first use. */
#ifndef ABUT_SELF_TEST_RUNNER_H
#define ABUT_SELF_TEST_RUNNER_H

#include "device/context.h"

/* Asks a context of one device, and fails with ABUT_ERROR_SELF_TEST, with a text that names the
 * device, where a number is not what it must be. */
typedef abut_status (*module_question)(context *one);

/* By PROGRAM_KIND; NULL for a program that the module has no use for. A new module adds its own to
 * the table in runner.c. */
typedef struct module_questions {
  module_question ask[QUESTION_PARTS][PROGRAM_KINDS];
} module_questions;

extern const module_questions manifold_questions, witness_questions, field_questions,
  render_questions, world_questions, lcp_questions, spring_questions;

/* Has a member answer, once for each program and part, what the module asks; a program that no
 * question is for is refused. Fails with ABUT_ERROR_SELF_TEST where the answer is wrong; with the
 * device's own error where it cannot answer. Leaves nothing on the device, and of its counters only
 * the builds. For the member's thread. */
abut_status test_member(context *c, size_t place, module_id module, program_id numbers,
                        bool adjoint, question_part part);

#endif
