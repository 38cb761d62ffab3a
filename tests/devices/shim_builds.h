/* What stands in for real OpenCL functions where programs are built once for many contexts. */
#ifndef ABUT_TESTS_SHIM_BUILDS_H
#define ABUT_TESTS_SHIM_BUILDS_H

#include <stdbool.h>

/* The function that is called in place of a real one, as a pointer's bytes; false: the real one. */
bool shim_builds_instead(const char *name, void *function);

/* A real function of libOpenCL's. */
void shim_find_real(const char *name, void *function);

#endif
