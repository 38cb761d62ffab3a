#include "self_test/runner.h"

#include <string.h>

static const module_questions *const questions[MODULE_COUNT] = {
  [MODULE_MANIFOLD] = &manifold_questions,
  [MODULE_WITNESS] = &witness_questions,
  [MODULE_FIELD] = &field_questions,
  [MODULE_RENDER] = &render_questions,
  [MODULE_WORLD] = &world_questions,
  [MODULE_LCP] = &lcp_questions,
  [MODULE_SPRING] = &spring_questions,
};

/* A device that fails on the way says so by its own words. */
static abut_status explain(const context *one, abut_status status)
{
  const member *m = &one->members[0];
  return m->status != ABUT_SUCCESS
           ? fail(m->status, "device %s cannot answer the self-test: %s",
                  device_info(m->device)->name, m->text)
           : status;
}

/* In a context of the member alone, whose programs are not asked once more. */
static abut_status ask(context *c, size_t place, module_question question)
{
  context *one = NULL;
  TRY(context_lend(c, place, &one));
  memset(one->members[0].tested, true, sizeof one->members[0].tested);
  const abut_status status = explain(one, question(one));
  context_take_back(one);
  return status;
}

abut_status test_member(context *c, size_t place, module_id module, program_id numbers,
                        bool adjoint, question_part part)
{
  member *m = &c->members[place];
  bool *tested = &m->tested[part][PROGRAM_OF(module, numbers, adjoint)];
  if (*tested) {
    return ABUT_SUCCESS;
  }
  const module_questions *all = questions[module];
  const module_question question = all ? all->ask[part][PROGRAM_KIND(numbers, adjoint)] : NULL;
  if (!question) {
    return fail(ABUT_ERROR_SELF_TEST, "program %d of module %s has no self-test",
                PROGRAM_KIND(numbers, adjoint), module_name(module));
  }
  abut_counters *counters = device_counters(m->device), before = *counters;
  const abut_status status = ask(c, place, question);
  before.builds = counters->builds;
  before.resident = counters->resident;
  *counters = before;
  *tested = status == ABUT_SUCCESS;
  return status;
}
