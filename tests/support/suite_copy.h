/* Copies of the kernels with another text in one place. */
#ifndef ABUT_TESTS_SUITE_COPY_H
#define ABUT_TESTS_SUITE_COPY_H

#include <stdbool.h>

/* Copies the kernel suite `kernels` to the folder `to`, where in `file`, the end of a path, the
 * first text `before` is replaced by `after`. */
bool copy_suite(const char *kernels, const char *to, const char *file, const char *before,
                const char *after);

#endif
