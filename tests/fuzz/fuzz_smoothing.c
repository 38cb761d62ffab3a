#include "fuzz.h"
#include "io/smoothing_file.h"
#include <abut/files.h>
#include <stdlib.h>
#include <string.h>

const sample_kind fuzz_seeds = SAMPLE_SMOOTHING;

/* What was read is written and read again to the bit. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  abut_smoothing first, second;
  char *text = NULL;
  memset(&first, 0, sizeof first);
  memset(&second, 0, sizeof second);
  if (smoothing_parse("fuzz", (const char *)bytes, count, &first) != ABUT_SUCCESS) {
    return 0;
  }
  PROMISE(first.length > 0 && first.distance > 0 && first.trace <= 64);
  PROMISE(abut_format_smoothing(&first, &text) == ABUT_SUCCESS);
  PROMISE(smoothing_parse("again", text, strlen(text), &second) == ABUT_SUCCESS);
  PROMISE(memcmp(&first, &second, sizeof first) == 0);
  abut_free(text);
  return 0;
}
