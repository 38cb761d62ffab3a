#include "self_test/runner.h"
static abut_status test(context *one) { (void)one; return ABUT_SUCCESS; }
const module_self_tests ccd_self_tests = {{[SELF_TEST_MAIN] = {
  [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test,
  [PROGRAM_KIND(PROGRAM_PLAIN, true)] = test,
}}};
