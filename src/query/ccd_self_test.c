#include "self_test/runner.h"
static abut_status test(context *one) { (void)one; return ABUT_SUCCESS; }
#define PART {[PROGRAM_KIND(PROGRAM_PLAIN, false)] = test, [PROGRAM_KIND(PROGRAM_PLAIN, true)] = test}
const module_self_tests ccd_self_tests = {{PART, PART, PART, PART, PART}};
