/* What every fuzz target has. */
#ifndef ABUT_TESTS_FUZZ_H
#define ABUT_TESTS_FUZZ_H

#include "samples.h"
#include <stdint.h>

/* libFuzzer's entry, or the driver's. Aborts where a promise is broken. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Which samples the driver mutates. */
extern const sample_kind fuzz_seeds;

#define PROMISE(condition) \
  do {                     \
    if (!(condition)) {    \
      abort();             \
    }                      \
  } while (0)

#endif
