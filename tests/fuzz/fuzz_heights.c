#include "base/memory.h"
#include "body/family/height_file.h"
#include "fuzz.h"
#include <math.h>

const sample_kind fuzz_seeds = SAMPLE_HEIGHTS;

static void check_whole(const abut_height_field *h)
{
  PROMISE(h->rows >= 2 && h->columns >= 2 && h->rows <= 2048 && h->columns <= 2048);
  for (size_t i = 0; i < h->rows * h->columns; i++) {
    PROMISE(isfinite(h->heights[i]));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  for (int png = 0; png < 2; png++) {
    arena memory = {0};
    abut_height_field h = {0};
    if ((png ? heights_parse_png : heights_parse_npy)("fuzz", (const char *)bytes, count, 0.5,
                                                      &memory, &h) == ABUT_SUCCESS) {
      check_whole(&h);
    }
    arena_free(&memory);
  }
  return 0;
}
