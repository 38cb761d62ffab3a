/* Reads a sample by the parser of its kind, for tests that damage samples or let memory run out. */
#ifndef ABUT_TESTS_IO_SAMPLE_READ_H
#define ABUT_TESTS_IO_SAMPLE_READ_H

#include "samples.h"
#include <abut/status.h>

/* Reads and frees it; "t" stands for its file in errors. A mesh that is taken and not sound fails a
 * check. */
abut_status sample_read(sample_kind kind, const char *bytes, size_t count);

#endif
