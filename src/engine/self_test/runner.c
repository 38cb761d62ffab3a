#include "engine/self_test/runner.h"

#include "base/process_lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest wait of a process for another one that compiles the same program [s]. */
#define COMPILED_WITHIN 120.0

static const module_self_tests *const self_tests[MODULE_COUNT] = {
  [MODULE_MANIFOLD] = &manifold_self_tests, [MODULE_WITNESS] = &witness_self_tests,
  [MODULE_FIELD] = &field_self_tests,       [MODULE_RENDER] = &render_self_tests,
  [MODULE_WORLD] = &world_self_tests,       [MODULE_LCP] = &lcp_self_tests,
  [MODULE_SPRING] = &spring_self_tests,     [MODULE_CLOSEST] = &closest_self_tests,
  [MODULE_CCD] = &ccd_self_tests,           [MODULE_DECOMPOSE] = &decompose_self_tests,
  [MODULE_SHAPE] = &shape_self_tests,
};

/* If a device failed during the test, the device's own error text is used. */
static abut_status explain(const context *one, abut_status status)
{
  const member *m = &one->members[0];
  return m->status != ABUT_SUCCESS ? fail(m->status, "device %s cannot run the self-test: %s",
                                          device_info(m->device)->name, m->text)
                                   : status;
}

/* Runs the test in a context of only this member, whose programs are not tested again. */
static abut_status run(context *c, size_t place, module_self_test test)
{
  context *one = NULL;
  TRY(context_lend(c, place, &one));
  memset(one->members[0].tested, true, sizeof one->members[0].tested);
  const abut_status status = explain(one, test(one));
  context_take_back(one);
  return status;
}

/* Identifies a program and its cache folders: processes that differ in any of these need not wait
 * for each other. Ranks on parts of one device share its programs. */
static cache_key key_of(const context *c, const member *m, int program)
{
  static const char *const folders[] = {"ABUT_CACHE_DIR", "POCL_CACHE_DIR", "XDG_CACHE_HOME",
                                        "HOME"};
  const abut_device_info *info = device_info(m->device);
  cache_key key = cache_key_begin();
  char text[64], name[sizeof info->name];
  device_whole_name(m->device, name, sizeof name);
  snprintf(text, sizeof text, "%d of precision %d", program, (int)c->def.precision);
  cache_key_add(&key, ABUT_VERSION);
  cache_key_add(&key, text);
  cache_key_add(&key, name);
  cache_key_add(&key, info->platform);
  cache_key_add(&key, info->driver);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
    const char *folder = getenv(folders[i]);
    cache_key_add(&key, folder ? folder : "");
  }
  return key;
}

/* Drivers compile a program when it is built, or each kernel when it is first launched, and the
 * self-test launches the kernels in use. If processes start together, one compiles and the others
 * load the cached result. Later ones do not wait; if the cached files have been removed, they
 * compile concurrently. */
static process_lock wait_for_others(const context *c, const member *m, int program)
{
  static const cache_kind any = {.folder = NULL};
  char *folder = cache_folder_path(&any);
  process_lock lock = -1;
  if (folder && device_info(m->device)->type != ABUT_DEVICE_HOST) {
    const cache_key key = key_of(c, m, program);
    lock = process_lock_take(&key, COMPILED_WITHIN);
  }
  free(folder);
  return lock;
}

/* The host path builds nothing. */
static void report_building(const context *c, const member *m, module_id module, bool done)
{
  const abut_device_info *info = device_info(m->device);
  char what[sizeof info->name + 64];
  if (c->def.building && info->type != ABUT_DEVICE_HOST) {
    snprintf(what, sizeof what, "kernels of module %s for %s", module_name(module), info->name);
    c->def.building(c->def.user, what, done);
  }
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
  const process_lock lock = wait_for_others(c, m, PROGRAM_OF(module, numbers, adjoint));
  report_building(c, m, module, false);
  const abut_status status = run(c, place, test);
  report_building(c, m, module, true);
  process_lock_give_back(lock, status == ABUT_SUCCESS);
  before.builds = counters->builds;
  before.resident = counters->resident;
  *counters = before;
  *tested = status == ABUT_SUCCESS;
  return status;
}
