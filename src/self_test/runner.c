#include "self_test/runner.h"

#include <string.h>

static const module_self_tests *const self_tests[MODULE_COUNT] = {
  [MODULE_MANIFOLD] = &manifold_self_tests,
  [MODULE_WITNESS] = &witness_self_tests,
  [MODULE_FIELD] = &field_self_tests,
  [MODULE_RENDER] = &render_self_tests,
  [MODULE_WORLD] = &world_self_tests,
  [MODULE_LCP] = &lcp_self_tests,
  [MODULE_SPRING] = &spring_self_tests,
  [MODULE_CLOSEST] = &closest_self_tests,
  [MODULE_CCD] = &ccd_self_tests,
  [MODULE_DECOMPOSE] = &decompose_self_tests,
  [MODULE_SHAPE] = &shape_self_tests,
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

/* In a context of the member alone, whose programs are not tested once more. */
static abut_status run(context *c, size_t place, module_self_test test)
{
  context *one = NULL;
  TRY(context_lend(c, place, &one));
  memset(one->members[0].tested, true, sizeof one->members[0].tested);
  const abut_status status = explain(one, test(one));
  context_take_back(one);
  return status;
}

abut_status test_member(context *c, size_t place, module_id module, program_id numbers,
                        bool adjoint, self_test_part part)
{
  member *m = &c->members[place];
  bool *tested = &m->tested[part][PROGRAM_OF(module, numbers, adjoint)];
  if (*tested) {
    return ABUT_SUCCESS;
  }
  const module_self_tests *all = self_tests[module];
  const module_self_test test = all ? all->run[part][PROGRAM_KIND(numbers, adjoint)] : NULL;
  if (!test) {
    return fail(ABUT_ERROR_SELF_TEST, "program %d of module %s has no self-test",
                PROGRAM_KIND(numbers, adjoint), module_name(module));
  }
  abut_counters *counters = device_counters(m->device), before = *counters;
  const abut_status status = run(c, place, test);
  before.builds = counters->builds;
  before.resident = counters->resident;
  *counters = before;
  *tested = status == ABUT_SUCCESS;
  return status;
}
