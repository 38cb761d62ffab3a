#include "fuzz.h"
#include "io/pairs.h"
#include <stdlib.h>
#include <string.h>

const sample_kind fuzz_seeds = SAMPLE_PAIRS;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  abut_pair_files pairs;
  if (pairs_parse("folder/fuzz", (const char *)bytes, count, &pairs) == ABUT_SUCCESS) {
    PROMISE(pairs.count > 0);
    for (size_t i = 0; i < 2 * pairs.count; i++) {
      const char *file = pairs.bodies[i];
      PROMISE(*file == '/' || (!strncmp(file, "folder/", 7) && file[7]));
      PROMISE(!strpbrk(file, ",#\r\n\t\x1b"));
    }
    for (size_t i = 0; i < pairs.count; i++) {
      PROMISE(pairs.lines[i] > (i ? pairs.lines[i - 1] : 0));
    }
    abut_free_pairs(&pairs);
  } else {
    PROMISE(pairs.count == 0 && !pairs.bodies && !pairs.lines);
  }
  return 0;
}
